/* histogram.c - counting: Bincount, DenseBincount, SparseBincount, HistogramFixedWidth, Bucketize. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/target_clones.h"
#include "graph/kernel.h"
#include "kernels/ragged/ragged.h"
#include "kernels/sparse/sparse.h"
#include "kernels/work/long_work.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* ---- Bincount and DenseBincount: the counts of 0 .. size-1, or the sums of the weights where they occur ---- */
typedef struct counting {
  const weft_tensor *values, *weights; /* weights: one per value, or empty if each counts 1 */
  weft_tensor *out;                    /* (rows, size) */
  int64_t rows, size;
  bool binary_output;    /* 1 for a value that occurs, instead of its count */
  const int64_t *row_of; /* the row of each value, with stride `row_step`; NULL: each row has equally many values */
  int64_t row_step;
} counting;

enum { BLOCK = 256 }; /* values that are located at a time */

/* Computes where values [first, first + n) are counted: at[i] is an index in the output, or -1 for a value that is not
 * below size.  Returns false if a value is negative. */
static bool locate_values(const counting *c, int64_t first, int64_t n, int64_t per_row, int64_t *at) {
  int64_t signs = 0;
  if (c->values->dtype == WEFT_INT32)
    for (int64_t i = 0; i < n; i++) signs |= at[i] = TENSOR_DATA(c->values, int32_t)[first + i];
  else
    for (int64_t i = 0; i < n; i++) signs |= at[i] = weft__tensor_int(c->values, first + i);
  if (signs < 0) return false;
  for (int64_t i = 0; i < n; i++) at[i] = at[i] < c->size ? at[i] : -1;
  if (c->rows == 1 && !c->row_of) return true;
  for (int64_t i = 0; i < n; i++) {
    const int64_t row = c->row_of ? c->row_of[(first + i) * c->row_step] : (first + i) / per_row;
    if (at[i] >= 0) at[i] += row * c->size;
  }
  return true;
}

#define ADD_VALUES(T)                                                                                                  \
  do {                                                                                                                 \
    T *z = c->out->data;                                                                                               \
    const T *weights = is_weighted ? (const T *)c->weights->data + first : NULL;                                       \
    for (int64_t i = 0; i < n; i++)                                                                                    \
      if (at[i] >= 0) z[at[i]] = c->binary_output ? 1 : z[at[i]] + (weights ? weights[i] : 1);                         \
  } while (0)

static void add_values(const counting *c, int64_t first, int64_t n, const int64_t *at) {
  const bool is_weighted = weft__tensor_count(c->weights) > 0;
  switch (c->out->dtype) {
  case WEFT_INT32: ADD_VALUES(uint32_t); break;
  case WEFT_INT64: ADD_VALUES(uint64_t); break;
  case WEFT_FLOAT: ADD_VALUES(float); break;
  default: ADD_VALUES(double);
  }
}

#define COUNT_ROW(V, Z)                                                                                                \
  do {                                                                                                                 \
    const V *v = c->values->data;                                                                                      \
    Z *z = c->out->data;                                                                                               \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      signs |= v[i];                                                                                                   \
      if (v[i] >= 0 && v[i] < c->size) z[v[i]] += 1;                                                                   \
    }                                                                                                                  \
  } while (0)
#define COUNT_ROW_OF(V)                                                                                                \
  switch (c->out->dtype) {                                                                                             \
  case WEFT_INT32: COUNT_ROW(V, uint32_t); break;                                                                      \
  case WEFT_INT64: COUNT_ROW(V, uint64_t); break;                                                                      \
  case WEFT_FLOAT: COUNT_ROW(V, float); break;                                                                         \
  default: COUNT_ROW(V, double);                                                                                       \
  }

/* Counts the values of a single row without weights.  Returns false if one is negative. */
static bool count_plain(const counting *c, int64_t n) {
  int64_t signs = 0;
  if (c->values->dtype == WEFT_INT32)
    COUNT_ROW_OF(int32_t)
  else
    COUNT_ROW_OF(int64_t)
  return signs >= 0;
}

static weft_err count_values(kernel *k, const counting *c) {
  const int64_t n = weft__tensor_count(c->values), per_row = c->rows > 0 ? n / c->rows : 0;
  int64_t at[BLOCK];
  memset(c->out->data, 0, weft__tensor_bytes(c->out));
  if (c->rows == 1 && !c->row_of && !c->binary_output && weft__tensor_count(c->weights) == 0)
    return count_plain(c, n) ? WEFT_OK : weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input arr must be non-negative!");
  for (int64_t i = 0; i < n; i += BLOCK) {
    const int64_t some = n - i < BLOCK ? n - i : BLOCK;
    if (!locate_values(c, i, some, per_row, at))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input arr must be non-negative!");
    add_values(c, i, some, at);
  }
  return WEFT_OK;
}

static weft_err histogram_read_size(kernel *k, int in, int64_t *size) {
  if (k->in[in]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Shape must be rank 0 but is rank %d", k->in[in]->shape.rank);
  *size = weft__tensor_int(k->in[in], 0);
  if (*size < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "size (%lld) must be non-negative", (long long)*size);
  return WEFT_OK;
}

static weft_err bincount_cpu(kernel *k) {
  counting c = {.values = k->in[0], .weights = k->in[2], .rows = 1};
  WEFT_TRY(histogram_read_size(k, 1, &c.size));
  const int64_t n = weft__tensor_count(c.values), weights = weft__tensor_count(c.weights);
  if (weights > 0 && weights != n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input indices and weights must have the same size.");
  c.out = weft__out(k, 0, &SHAPE1(c.size));
  return c.out ? count_values(k, &c) : WEFT_OOM;
}

static weft_err dense_bincount_cpu(kernel *k) {
  const shape *s = &k->in[0]->shape;
  counting c = {.values = k->in[0], .weights = k->in[2], .rows = s->rank == 2 ? s->dim[0] : 1};
  if (s->rank > 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Shape must be at most rank 2 but is rank %d", s->rank);
  WEFT_TRY(histogram_read_size(k, 1, &c.size));
  if (weft__tensor_count(c.weights) > 0 && !weft__shape_equal(&c.weights->shape, s))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts "
                             "as all weights equal to 1. Received %s",
                             weft__shape_text(&c.weights->shape));
  c.binary_output = weft__node_bool(k->node, "binary_output", false);
  c.out = weft__out(k, 0, s->rank == 2 ? &SHAPE2(c.rows, c.size) : &SHAPE1(c.size));
  return c.out ? count_values(k, &c) : WEFT_OOM;
}

/* Counts each value in the row that its first index names. */
static weft_err sparse_bincount_cpu(kernel *k) {
  const weft_tensor *indices = k->in[0];
  WEFT_TRY(weft__sparse_check(k, indices, k->in[1], k->in[2]));
  const int64_t depth = indices->shape.dim[1];
  if (depth < 1 || depth > 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input must be less than rank 2, not %lld", (long long)depth);
  WEFT_TRY(weft__sparse_inside(k, indices, k->in[2]));
  counting c = {.values = k->in[1], .weights = k->in[4], .rows = depth == 2 ? TENSOR_DATA(k->in[2], int64_t)[0] : 1};
  WEFT_TRY(histogram_read_size(k, 3, &c.size));
  const int64_t weights = weft__tensor_count(c.weights);
  if (weights > 0 && weights != weft__tensor_count(c.values))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input indices and weights must have the same size.");
  c.binary_output = weft__node_bool(k->node, "binary_output", false);
  if (depth == 2) c.row_of = TENSOR_DATA(indices, int64_t), c.row_step = 2;
  const shape s = depth == 2 ? SHAPE2(c.rows, c.size) : SHAPE1(c.size);
  c.out = weft__out(k, 0, &s);
  return c.out ? count_values(k, &c) : weft__out_refused(&s);
}

/* Counts the values of ragged rows. */
static weft_err ragged_bincount_cpu(kernel *k) {
  counting c = {.values = k->in[1], .weights = k->in[3]};
  if (c.values->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "values must be a vector, not of shape %s",
                             weft__shape_text(&c.values->shape));
  const int64_t n = c.values->shape.dim[0], weights = weft__tensor_count(c.weights);
  WEFT_TRY(weft__ragged_check_splits(k, k->in[0], n));
  WEFT_TRY(histogram_read_size(k, 2, &c.size));
  if (weights > 0 && weights != n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "there are %lld weights for %lld values", (long long)weights,
                             (long long)n);
  c.binary_output = weft__node_bool(k->node, "binary_output", false);
  c.rows = k->in[0]->shape.dim[0] - 1;
  const int64_t *splits = TENSOR_DATA(k->in[0], int64_t);
  int64_t *row_of = weft__alloc((size_t)(n + 1) * sizeof *row_of);
  if (!row_of) return WEFT_OOM;
  for (int64_t r = 0; r < c.rows; r++)
    for (int64_t i = splits[r]; i < splits[r + 1]; i++) row_of[i] = r;
  c.row_of = row_of, c.row_step = 1;
  const shape s = SHAPE2(c.rows, c.size);
  c.out = weft__out(k, 0, &s);
  const weft_err err = c.out ? count_values(k, &c) : weft__out_refused(&s);
  weft__free(row_of);
  return err;
}

/* Reads a dimension from input i; -1 if it is not known. */
static weft_err size_value(infer *s, int i, int64_t *size) {
  WEFT_TRY(weft__infer_rank(s, i, 0, NULL));
  const weft_tensor *v = weft__infer_value(s, i);
  *size = v ? weft__tensor_int(v, 0) : -1;
  if (v && *size < 0) return weft__infer_fail(s, "size (%lld) must be non-negative", (long long)*size);
  return WEFT_OK;
}

static weft_err bincount_infer(infer *s) {
  int64_t size;
  WEFT_TRY(size_value(s, 1, &size));
  s->out[0] = SHAPE1(size);
  return WEFT_OK;
}

static weft_err dense_bincount_infer(infer *s) {
  int64_t size;
  if (s->in[0].rank > 2) return weft__infer_fail(s, "Shape must be at most rank 2 but is rank %d", s->in[0].rank);
  WEFT_TRY(size_value(s, 1, &size));
  if (s->in[0].rank >= 0) s->out[0] = s->in[0].rank == 2 ? SHAPE2(s->in[0].dim[0], size) : SHAPE1(size);
  return WEFT_OK;
}

static weft_err sparse_bincount_infer(infer *s) {
  int64_t size;
  WEFT_TRY(size_value(s, 3, &size));
  const weft_tensor *dims = weft__infer_value(s, 2);
  if (!dims) return WEFT_OK;
  if (weft__tensor_count(dims) > 2) return weft__infer_fail(s, "Input must be less than rank 2");
  s->out[0] = weft__tensor_count(dims) == 2 ? SHAPE2(weft__tensor_int(dims, 0), size) : SHAPE1(size);
  return WEFT_OK;
}

static weft_err ragged_bincount_infer(infer *s) {
  int64_t size;
  shape splits;
  WEFT_TRY(weft__infer_rank(s, 0, 1, &splits));
  WEFT_TRY(size_value(s, 2, &size));
  s->out[0] = SHAPE2(splits.dim[0] > 0 ? splits.dim[0] - 1 : -1, size);
  return WEFT_OK;
}

/* ---- HistogramFixedWidth ---- */
static weft_err check_range(kernel *k, double *low, double *high, int64_t *bins) {
  if (k->in[1]->shape.rank != 1 || k->in[1]->shape.dim[0] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "value_range should be a vector of 2 elements.");
  WEFT_TRY(weft__kernel_scalar(k, 2, "nbins"));
  *low = weft__tensor_double(k->in[1], 0);
  *high = weft__tensor_double(k->in[1], 1);
  *bins = weft__tensor_int(k->in[2], 0);
  if (!(*low < *high))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "value_range should satisfy value_range[0] < value_range[1], but got '[%g, %g]'", *low,
                             *high);
  if (*bins <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "nbins should be a positive number, but got '%lld'",
                             (long long)*bins);
  return WEFT_OK;
}

/* Reads values [first, first + n).  Returns false if one is NaN. */
static bool load_values(const weft_tensor *x, int64_t first, int64_t n, double *v) {
  int ordered = 1;
  if (x->dtype == WEFT_FLOAT)
    for (int64_t i = 0; i < n; i++) v[i] = (double)TENSOR_DATA(x, float)[first + i];
  else
    for (int64_t i = 0; i < n; i++) v[i] = weft__tensor_double(x, first + i);
  for (int64_t i = 0; i < n; i++) ordered &= v[i] == v[i];
  return ordered;
}

/* Replaces values by the numbers of their bins.  Those outside of the range are in the first or the last bin.  If the
 * range is infinite, the quotient is NaN, and the bin is the first. */
WEFT_TARGET_CLONES static void find_bins(double *v, int64_t n, double low, double width, double last) {
  for (int64_t i = 0; i < n; i++) {
    const double at = (v[i] - low) / width, inside = at < last ? at : last;
    v[i] = at >= 0 ? inside : 0;
  }
}

typedef struct histogram_work {
  const weft_tensor *x;
  weft_tensor *out;
  double low, width;
  int64_t bins;
  atomic_bool has_nan, failed; /* failed: memory was exhausted */
} histogram_work;

static void add_counts(weft_tensor *out, const int64_t *count, int64_t bins) {
  for (int64_t b = 0; b < bins; b++)
    if (out->dtype == WEFT_INT32)
      __atomic_fetch_add(TENSOR_DATA(out, int32_t) + b, weft__int_sat(count[b]), __ATOMIC_RELAXED);
    else
      __atomic_fetch_add(TENSOR_DATA(out, int64_t) + b, count[b], __ATOMIC_RELAXED);
}

/* Counts the values of blocks [begin, end) by themselves, and adds the counts to those of the other threads. */
static void histogram_blocks(void *arg, int64_t begin, int64_t end) {
  histogram_work *j = arg;
  const int64_t all = weft__tensor_count(j->x), last = end * BLOCK < all ? end * BLOCK : all;
  int64_t *count = weft__alloc_zero((size_t)j->bins, sizeof *count);
  double v[BLOCK];
  if (!count) atomic_store(&j->failed, true);
  for (int64_t i = begin * BLOCK; count && i < last; i += BLOCK) {
    const int64_t n = last - i < BLOCK ? last - i : BLOCK;
    if (!load_values(j->x, i, n, v)) {
      atomic_store(&j->has_nan, true);
      break;
    }
    find_bins(v, n, j->low, j->width, (double)(j->bins - 1));
    for (int64_t e = 0; e < n; e++) count[(int64_t)v[e]]++;
  }
  if (count) add_counts(j->out, count, j->bins);
  weft__free(count);
}

static weft_err histogram_cpu(kernel *k) {
  double high;
  histogram_work j = {.x = k->in[0]};
  WEFT_TRY(check_range(k, &j.low, &high, &j.bins));
  if (!(j.out = weft__out(k, 0, &SHAPE1(j.bins)))) return WEFT_OOM;
  memset(j.out->data, 0, weft__tensor_bytes(j.out));
  j.width = (high - j.low) / (double)j.bins;
  const int64_t blocks = (weft__tensor_count(j.x) + BLOCK - 1) / BLOCK;
  if (j.bins < blocks * BLOCK / 8)
    WEFT_TRY(weft__long_loop(k, blocks, 2 * BLOCK, histogram_blocks, &j));
  else /* each thread would only add up bins */
    histogram_blocks(&j, 0, blocks);
  if (atomic_load(&j.has_nan))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Histogram values must not contain NaN");
  return atomic_load(&j.failed) ? WEFT_OOM : WEFT_OK;
}

static weft_err histogram_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 2, 0, NULL));
  const weft_tensor *bins = weft__infer_value(s, 2);
  s->out[0] = SHAPE1(bins && weft__tensor_int(bins, 0) > 0 ? weft__tensor_int(bins, 0) : -1);
  return WEFT_OK;
}

/* ---- Bucketize: the number of boundaries that are <= each element ---- */
static weft_err bucketize_cpu(kernel *k) {
  const attr *a = weft__node_attr(k->node, "boundaries");
  const int n_bounds = a ? a->n : 0;
  for (int i = 1; i < n_bounds; i++)
    if (a->fs[i] < a->fs[i - 1]) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected sorted boundaries");
  weft_tensor *out = weft__out(k, 0, &k->in[0]->shape);
  if (!out) return WEFT_OOM;
  const int64_t n = weft__tensor_count(out);
  for (int64_t i = 0; i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const double v = weft__tensor_double(k->in[0], i);
    int low = 0, high = n_bounds; /* the result is in [low, high] */
    while (low < high) {
      const int mid = (low + high) / 2;
      if ((double)a->fs[mid] <= v)
        low = mid + 1;
      else
        high = mid;
    }
    TENSOR_DATA(out, int32_t)[i] = low;
  }
  return WEFT_OK;
}

/* ---- cases ---- */
static const op_case ragged_bincount_cases[] = {
    {"i64[4] 0 2 2 3; i32[3] 4 4 1; i32[] 6; f32[0]", NULL, NULL, 0},
    {"i64[4] 0 2 2 3; i64[3] 4 4 1; i64[] 3; f64[3] 1 2 3", NULL, NULL, 0},
    {"i64[4] 0 2 2 3; i32[3] 4 4 1; i32[] 6; i32[0]", NULL, "binary_output=true", 0},
    {"i64[3] 0 2 5; i32[3] 4 4 1; i32[] 6; i32[0]", "error INVALID_ARGUMENT", NULL, 0},
    {"i64[2] 0 2; i32[2] 4 -4; i32[] 6; i32[0]", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case bincount_cases[] = {
    {"i32[5] 1 1 0 2 9; i32[] 4; f32[0]", "f32[4] 1 2 1 0"},
    {"i32[3] 1 1 0; i32[] 2; f32[3] 0.5 1 2", "f32[2] 2 1.5", NULL, CASE_FIXED_TYPE},
    {"i32[0]; i32[] 3; i32[0]", "i32[3] 0"},
    {"i32[2] 1 2; i32[] 0; i64[0]", "i64[0]"},
    {"i32[200] below:7; i32[] 7; f64[0]"},
    {"i32[2] -1 2; i32[] 3; f32[0]", "error INVALID_ARGUMENT"},
    {"i32[2] 1 2; i32[] 3; f32[1] 1", "error INVALID_ARGUMENT"},
    {"i32[2] 1 2; i32[] -3; f32[0]", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case dense_cases[] = {
    {"i32[5] 1 1 0 2 9; i32[] 4; f32[0]", "f32[4] 1 2 1 0"},
    {"i64[2,3] 1 1 0 2 2 2; i64[] 3; i32[0]", "i32[2,3] 1 2 0 0 0 3"},
    {"i32[2,3] 1 1 0 2 2 2; i32[] 3; i64[0]", "i64[2,3] 1 1 0 0 0 1", "binary_output=true"},
    {"i32[2,2] 0 1 1 1; i32[] 2; f32[2,2] 1 2 3 4", "f32[2,2] 1 2 0 7"},
    {"i32[0]; i32[] 3; f64[0]", "f64[3] 0"},
    {"i32[2] -1 2; i32[] 3; f32[0]", "error INVALID_ARGUMENT"},
    {"i32[1,1,2] 1 2; i32[] 3; f32[0]", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case histogram_cases[] = {
    {"f32[6] -1 0 1.5 2 5 15; f32[2] 0 5; i32[] 5", "i32[5] 2 1 1 0 2", "dtype=int32"},
    {"i32[6] -1 0 1 2 5 15; i32[2] 0 5; i32[] 5", "i64[5] 2 1 1 0 2", "dtype=int64"},
    {"f64[200] normal; f64[2] -1 1; i32[] 9", NULL, "dtype=int32"},
    {"f32[0]; f32[2] 0 5; i32[] 2", "i32[2] 0", "dtype=int32"},
    {"f32[2] 1 2; f32[2] -inf inf; i32[] 3", "i32[3] 2 0 0", "dtype=int32", CASE_NO_PARITY},
    {"f32[1] 1; f32[2] 5 5; i32[] 2", "error INVALID_ARGUMENT", "dtype=int32"},
    {"f32[1] nan; f32[2] 0 5; i32[] 2", "error INVALID_ARGUMENT", "dtype=int32", CASE_FIXED_TYPE},
    {"f32[1] 1; f32[2] 0 5; i32[] 0", "error INVALID_ARGUMENT", "dtype=int32"},
    {0},
};

static const op_case bucketize_cases[] = {
    {"f32[5] -1 0 5 10 11", "i32[5] 0 1 2 3 3", "boundaries=[0.0,5.0,10.0]"},
    {"i64[] 7", "i32[] 2", "boundaries=[0.0,5.0,10.0]"},
    {"f64[0]", "i32[0]", "boundaries=[0.0]"},
    {"f32[200] normal", NULL, "boundaries=[-1.5,-0.5,0.0,0.25,1.0]"},
    {"f32[1] 1", "error INVALID_ARGUMENT", "boundaries=[0.0,5.0,1.0]"},
    {0},
};

static const op_case sparse_bincount_cases[] = {
    {"i64[2,1] 0 2; i32[2] 1 1; i64[1] 3; i32[] 4; f32[0] 0", "f32[4] 0 2 0 0", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i64[3,2] 0 0 0 1 1 2; i32[3] 1 1 3; i64[2] 2 4; i32[] 5; f32[3] 1 2 3", NULL, NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i64[3,2] 0 0 0 1 1 2; i64[3] 1 1 9; i64[2] 2 4; i64[] 5; i32[0] 0", NULL, "binary_output=true",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i64[2,1] 0 2; i32[2] 1 -1; i64[1] 3; i32[] 4; f32[0] 0", "error INVALID_ARGUMENT", NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i64[2,2] 0 0 7 0; i32[2] 1; i64[2] 3 3; i32[] 4; f32[0] 0", "error INVALID_ARGUMENT", NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

OPS(histogram) = {
    {"SparseBincount(indices:int64, values:Tidx, dense_shape:int64, size:Tidx, weights:T) -> (output:T) | "
     "Tidx:type{int32,int64} T:type{int32,int64,float,double} binary_output:bool=false",
     "How often each number below size occurs in each row of a sparse tensor.", .infer = sparse_bincount_infer,
     .cpu = sparse_bincount_cpu, .cases = sparse_bincount_cases},
    {"Bincount(arr:int32, size:int32, weights:T) -> (bins:T) | T:type{int32,int64,float,double}",
     "How often each number below size occurs.", .infer = bincount_infer, .cpu = bincount_cpu, .cases = bincount_cases},
    {"DenseBincount(input:Tidx, size:Tidx, weights:T) -> (output:T) | Tidx:type{int32,int64} "
     "T:type{int32,int64,float,double} binary_output:bool=false",
     "How often each number below size occurs, in all or in each row.", .infer = dense_bincount_infer,
     .cpu = dense_bincount_cpu, .cases = dense_cases},
    {"HistogramFixedWidth(values:T, value_range:T, nbins:int32) -> (out:dtype) | T:type{int32,int64,float,double} "
     "dtype:type{int32,int64}=int32",
     "How many values fall into each of nbins equal parts of a range.", .infer = histogram_infer, .cpu = histogram_cpu,
     .cases = histogram_cases},
    {"Bucketize(input:T) -> (output:int32) | T:type{int32,int64,float,double} boundaries:list(float)",
     "Between which boundaries each element lies.", .infer = weft__infer_same, .cpu = bucketize_cpu,
     .cases = bucketize_cases},
    {"RaggedBincount(splits:int64, values:Tidx, size:Tidx, weights:T) -> (output:T) | Tidx:type{int32,int64} "
     "T:type{int32,int64,float,double} binary_output:bool=false",
     "How often each number occurs in each ragged row.", .infer = ragged_bincount_infer, .cpu = ragged_bincount_cpu,
     .cases = ragged_bincount_cases},
    {0},
};
