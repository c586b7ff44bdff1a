/* kmeans_initialization.c - the first centers of k-means: KmeansPlusPlusInitialization and KMC2ChainInitialization.
 *
 * k-means++ draws each center among the points, with a probability that grows with the squared distance to the nearest
 * center so far.  Of 1 + num_retries_per_sample draws it keeps the one that leaves the smallest sum of distances; a
 * negative number stands for 2 + log(num_to_sample) retries.  k-MC2 replaces the draw over all points with a Markov
 * chain over a few of them.  The numbers are drawn in TensorFlow's order. */
#include "base/alloc.h"
#include "base/philox.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include <math.h>
#include <string.h>

typedef struct centers_draw {
  const float *points;
  int64_t n, depth;
  philox_reader random;
  float *nearest;     /* per point, the squared distance to the nearest center; infinite before the first */
  float *with, *best; /* the same with the center that was drawn last, and with the best one */
  long_work *work;
  int64_t spent;
} centers_draw;

/* Returns a number in [0, n) without bias. */
static int64_t draw_below(philox_reader *r, uint64_t n) {
  const uint64_t last = UINT64_MAX - (UINT64_MAX % n + 1) % n;
  for (;;) {
    const uint64_t low = weft__philox_word(r), v = low | (uint64_t)weft__philox_word(r) << 32;
    if (v <= last) return (int64_t)(v % n);
  }
}

/* Returns a point, drawn with a probability proportional to its distance. */
static int64_t draw_far(centers_draw *d) {
  float total = 0, sum = 0;
  for (int64_t i = 0; i < d->n; i++) total += d->nearest[i];
  const float to = weft__philox_to_float(weft__philox_word(&d->random)) * total;
  for (int64_t i = 0; i < d->n; i++)
    if ((sum += d->nearest[i]) >= to) return i;
  return d->n - 1;
}

/* Fills d->with for a center at point c, and returns its sum. */
static float draw_measure(centers_draw *d, int64_t c) {
  float total = 0;
  for (int64_t i = 0; i < d->n; i++) {
    float far = 0;
    for (int64_t j = 0; j < d->depth; j++) {
      const float by = d->points[i * d->depth + j] - d->points[c * d->depth + j];
      far += by * by;
    }
    d->with[i] = fminf(d->nearest[i], far);
    total += d->with[i];
  }
  return total;
}

/* Returns the point that becomes the next center, and updates the distances. */
static int64_t draw_center(centers_draw *d, bool first, int64_t retries) {
  float least = INFINITY;
  int64_t chosen = 0;
  for (int64_t i = 0; i <= retries; i++) {
    if (weft__long_work_spent(d->work, &d->spent, d->n * (d->depth + 4)) && i > 0) break;
    const int64_t c = first ? draw_below(&d->random, (uint64_t)d->n) : draw_far(d);
    const float total = draw_measure(d, c);
    if (i > 0 && !(total < least)) continue;
    least = total, chosen = c;
    float *other = d->best;
    d->best = d->with, d->with = other;
  }
  memcpy(d->nearest, d->best, sizeof(float) * (size_t)d->n);
  return chosen;
}

typedef struct plus_plus_counts {
  int64_t wanted, retries;
} plus_plus_counts;

enum { MAX_RETRIES = 10000 }; /* beyond it the op would hold its thread for ever; TensorFlow's does */

/* Reads the counts once, and checks what was read: a peer may still write to them. */
static weft_err plus_plus_check(const kernel *k, plus_plus_counts *out) {
  static const char *const names[] = {"num_to_sample", "seed", "num_retries_per_sample"};
  const shape *p = &k->in[0]->shape;
  if (p->rank != 2) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input points should be a matrix.");
  for (int i = 1; i < 4; i++)
    if (k->in[i]->shape.rank != 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input %s should be a scalar.", names[i - 1]);
  const int64_t wanted = weft__tensor_int(k->in[1], 0);
  if (p->dim[0] <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected points.rows() > 0.");
  if (wanted <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected num_to_sample > 0.");
  if (wanted > p->dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected num_to_sample <= points.rows(). %lld vs %lld.",
                             (long long)wanted, (long long)p->dim[0]);
  const int64_t asked = weft__tensor_int(k->in[3], 0);
  if (asked > MAX_RETRIES)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_retries_per_sample is %lld; at most %d are possible",
                             (long long)asked, MAX_RETRIES);
  *out = (plus_plus_counts){wanted, asked < 0 ? 2 + (int64_t)log((double)wanted) : asked};
  return WEFT_OK;
}

static weft_err plus_plus_cpu(kernel *k) {
  plus_plus_counts counts;
  WEFT_TRY(plus_plus_check(k, &counts));
  const shape *p = &k->in[0]->shape;
  const int64_t wanted = counts.wanted, n = p->dim[0], depth = p->dim[1];
  weft_tensor *out = weft__out(k, 0, &SHAPE2(wanted, depth));
  float *space = weft__alloc(3 * sizeof(float) * (size_t)n);
  if (!out || !space) {
    weft__free(space);
    return WEFT_OOM;
  }
  long_work work = weft__long_work(k);
  centers_draw d = {.points = TENSOR_DATA(k->in[0], float),
                    .n = n,
                    .depth = depth,
                    .random = weft__philox_reader(weft__philox((uint64_t)weft__tensor_int(k->in[2], 0), 0)),
                    .work = &work,
                    .nearest = space,
                    .with = space + n,
                    .best = space + 2 * n};
  for (int64_t i = 0; i < n; i++) d.nearest[i] = INFINITY;
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < wanted && !err; i++) {
    const int64_t c = draw_center(&d, i == 0, counts.retries);
    err = weft__long_work_end(&work);
    memcpy(TENSOR_DATA(out, float) + i * depth, d.points + c * depth, sizeof(float) * (size_t)depth);
  }
  weft__free(space);
  return err;
}

/* Each candidate replaces the one before with the probability of the quotient of their distances. */
static weft_err chain_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  if (x->shape.rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input distances should be a vector.");
  if (k->in[1]->shape.rank != 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input seed should be a scalar.");
  const int64_t n = x->shape.dim[0];
  if (n <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected distances_tensor.size() > 0.");
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  philox_reader random = weft__philox_reader(weft__philox((uint64_t)weft__tensor_int(k->in[1], 0), 0));
  const float *distances = TENSOR_DATA(x, float);
  int64_t chosen = 0;
  for (int64_t i = 1; i < n; i++)
    if (distances[i] / distances[chosen] > weft__philox_to_float(weft__philox_word(&random))) chosen = i;
  *TENSOR_DATA(out, int64_t) = chosen;
  return WEFT_OK;
}

static const op_case plus_plus_cases[] = {
    {"f32[9,2] rand; i64[] 5; i64[] 3; i64[] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[9,2] rand; i64[] 9; i64[] 12345678901; i64[] 3", NULL, NULL, CASE_NO_GRAD},
    {"f32[40,3] rand; i64[] 7; i64[] 1; i64[] 2", NULL, NULL, CASE_NO_GRAD},
    {"f32[8,3] rand; i64[] 1; i64[] 1; i64[] -1", NULL, NULL, CASE_NO_GRAD},
    {"f32[30,2] rand; i64[] 8; i64[] 5; i64[] -1", NULL, NULL, CASE_NO_GRAD},
    {"f32[30,2] rand; i64[] 25; i64[] 6; i64[] -3", NULL, NULL, CASE_NO_GRAD},
    {"f32[4,2] 1; i64[] 3; i64[] 1; i64[] 0", "f32[3,2] 1", NULL, CASE_NO_GRAD},
    {"f32[4,2] 1; i64[] 0; i64[] 1; i64[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[4,2] 1; i64[] 5; i64[] 1; i64[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[4,2] 1; i64[] 1; i64[] 1; i64[] 10001", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {"f32[0,2]; i64[] 1; i64[] 1; i64[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[4] 1; i64[] 1; i64[] 1; i64[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[4,2] 1; i64[1] 1; i64[] 1; i64[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case chain_cases[] = {
    {"f32[20] unit; i64[] 3", NULL, NULL, 0},
    {"f32[50] pos; i64[] 12345678901", NULL, NULL, 0},
    {"f32[4] 1 0 0 2; i64[] 1", "i64[] 3", NULL, 0},
    {"f32[5] 0; i64[] 1", NULL, NULL, 0},
    {"f32[0]; i64[] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,2] 1; i64[] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2] 1; i64[1] 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(kmeans_initialization) = {
    {"KmeansPlusPlusInitialization(points:float, num_to_sample:int64, seed:int64, num_retries_per_sample:int64) -> "
     "(samples:float)",
     "Points that are far from one another, as the first centers of k-means.", .infer = weft__infer_none,
     .cpu = plus_plus_cpu, .cases = plus_plus_cases},
    {"KMC2ChainInitialization(distances:float, seed:int64) -> (index:int64)",
     "The place of one of the large distances, drawn by a Markov chain.", .infer = weft__infer_scalar, .cpu = chain_cpu,
     .cases = chain_cases},
    {0},
};
