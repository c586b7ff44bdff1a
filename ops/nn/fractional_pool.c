/* fractional_pool.c - FractionalMaxPool and FractionalAvgPool with their gradients.
 *
 * The windows of an axis have sizes k and k + 1 in a random order, so the ratio of input to output need not be an
 * integer (B.  Graham, "Fractional Max-Pooling").  A pooling sequence lists the borders of the windows.  With
 * `overlapping`, a window includes the first element of the next one. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/paste.h"
#include "base/philox.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/random/philox.h"
#include <math.h>
#include <string.h>
#include <sys/random.h>

/* ---- the borders of windows ---- */

/* Draws windows of sizes k and k + 1: lists the larger ones first, then shuffles them. */
static void random_borders(philox_reader *r, int64_t in, int64_t out, int64_t *border) {
  const int64_t small = in / out, larger = in - small * out;
  int64_t *size = border + 1;
  for (int64_t i = 0; i < out; i++) size[i] = small + (i < larger);
  for (int64_t i = 0; i < out; i++) {
    const int64_t j = i + weft__philox_below(r, (uint32_t)weft__int_sat(out - i)), old = size[i];
    size[i] = size[j];
    size[j] = old;
  }
  border[0] = 0;
  for (int64_t i = 0; i < out; i++) border[i + 1] += border[i];
}

/* Places the borders at ceil(ratio * (i + u)) for one random u. u is bounded so that the first and the last window
 * fit. */
static void pseudo_borders(philox_reader *r, int64_t in, int64_t out, int64_t *border) {
  const double ratio = (double)in / (double)out, k = floor(ratio);
  const double bound = fmin((k + 2) / ratio - 1, ((double)in + 1 - k) / ratio - (double)(out - 1));
  const double u = weft__philox_double(r) * bound;
  border[0] = 0;
  for (int64_t i = 1; i < out; i++) border[i] = (int64_t)ceil(ratio * ((double)i + u)) - 1;
  border[out] = in;
}

/* Draws the numbers for one axis and advances the generator by whole blocks. */
static void fill_borders(philox *gen, bool pseudo_random, int64_t in, int64_t out, int64_t *border) {
  philox_reader r = weft__philox_reader(*gen);
  weft__philox_skip(gen, pseudo_random ? 1 : (uint64_t)(out + 3) / 4);
  if (in == out)
    for (int64_t i = 0; i <= out; i++) border[i] = i;
  else if (pseudo_random)
    pseudo_borders(&r, in, out, border);
  else
    random_borders(&r, in, out, border);
}

static weft_err make_generator(const kernel *k, philox *out) {
  uint64_t seed[2] = {(uint64_t)weft__node_int(k->node, "seed", 0), (uint64_t)weft__node_int(k->node, "seed2", 0)};
  const bool deterministic = weft__node_bool(k->node, "deterministic", false);
  if (!deterministic && (seed[0] || seed[1]))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Both seed and seed2 should be 0 if deterministic is false.");
  if (!seed[0] && !seed[1] && getrandom(seed, sizeof seed, 0) != (ssize_t)sizeof seed)
    return weft__kernel_fail(k, WEFT_INTERNAL, "the system gave no random seed");
  *out = weft__philox(seed[0], seed[1]);
  return WEFT_OK;
}

/* ---- windows ---- */

typedef struct pool_window {
  int64_t row, row_end, col, col_end; /* range in the input */
  int64_t cols, depth;                /* size of the input */
  int64_t image, place;               /* offset of the image in the input, and of the result in the output */
} pool_window;

typedef void window_fn(const pool_window *w, const void *x, const void *g, void *out);

typedef struct window_loops {
  window_fn *max, *max_grad, *mean, *mean_grad;
} window_loops;

#define T float
#define SUM float
#include "ops/nn/fractional_pool.inc"
#define T double
#define SUM double
#include "ops/nn/fractional_pool.inc"
#define T int32_t
#define SUM uint32_t
#include "ops/nn/fractional_pool.inc"
#define T int64_t
#define SUM uint64_t
#include "ops/nn/fractional_pool.inc"

static weft_err fractional_pool_find_loops(const kernel *k, weft_dtype t, const window_loops **out) {
  *out = t == WEFT_FLOAT    ? &float_loops
         : t == WEFT_DOUBLE ? &double_loops
         : t == WEFT_INT32  ? &int32_t_loops
         : t == WEFT_INT64  ? &int64_t_loops
                            : NULL;
  return *out ? WEFT_OK : weft__kernel_no_type(k, t);
}

typedef struct pool_plan {
  const shape *in, *out;
  const int64_t *row, *col; /* borders */
  bool overlapping;
} pool_plan;

/* Returns the end of window i.  A gradient may be given a border beyond the input; it is clamped to the input. */
static int64_t window_end(const pool_plan *p, const int64_t *border, int64_t i, int64_t size) {
  return border[i + 1] < size ? border[i + 1] + p->overlapping : size;
}

static void each_window(const pool_plan *p, window_fn *fn, const void *x, const void *g, void *out) {
  const int64_t rows = p->in->dim[1], cols = p->in->dim[2], depth = p->in->dim[3];
  const int64_t out_rows = p->out->dim[1], out_cols = p->out->dim[2];
  pool_window w = {.cols = cols, .depth = depth};
  for (int64_t b = 0; b < p->out->dim[0]; b++) {
    w.image = b * rows * cols * depth;
    for (int64_t i = 0; i < out_rows; i++)
      for (int64_t j = 0; j < out_cols; j++) {
        w.row = p->row[i], w.row_end = window_end(p, p->row, i, rows);
        w.col = p->col[j], w.col_end = window_end(p, p->col, j, cols);
        w.place = ((b * out_rows + i) * out_cols + j) * depth;
        fn(&w, x, g, out);
      }
  }
}

/* ---- pooling ---- */

static weft_err pooled_shape(const kernel *k, shape *out) {
  const shape *in = &k->in[0]->shape;
  const attr *ratio = weft__node_attr(k->node, "pooling_ratio");
  if (in->rank != 4 || !ratio || ratio->n != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "value and pooling_ratio must be of 4 dimensions, but value is %s", weft__shape_text(in));
  *out = *in;
  for (int i = 0; i < 4; i++) {
    if ((float)in->dim[i] < ratio->fs[i])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Pooling ratio is higher than input dimension size for dimension %d. Input dim size: "
                               "%lld pooling ratio: %g",
                               i, (long long)in->dim[i], (double)ratio->fs[i]);
    if (i % 3) out->dim[i] = (int64_t)floorf((float)in->dim[i] / ratio->fs[i]);
    if (out->dim[i] > INT32_MAX)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "value is too large: %s", weft__shape_text(in));
  }
  return WEFT_OK;
}

static weft_err fractional_pool(kernel *k, bool is_max) {
  const weft_tensor *x = k->in[0];
  const attr *ratio = weft__node_attr(k->node, "pooling_ratio");
  const window_loops *loops;
  shape s;
  philox gen;
  if (ratio && ratio->n == 4 && (ratio->fs[0] != 1 || ratio->fs[3] != 1))
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED,
                             "Fractional %s pooling is not yet supported on the batch nor channel dimension.",
                             is_max ? "max" : "average");
  WEFT_TRY(fractional_pool_find_loops(k, x->dtype, &loops));
  WEFT_TRY(pooled_shape(k, &s));
  WEFT_TRY(make_generator(k, &gen));
  weft_tensor *y = weft__out(k, 0, &s), *row = weft__out(k, 1, &SHAPE1(s.dim[1] + 1));
  weft_tensor *col = weft__out(k, 2, &SHAPE1(s.dim[2] + 1));
  if (!y || !row || !col) return WEFT_OOM;
  const bool pseudo_random = weft__node_bool(k->node, "pseudo_random", false);
  fill_borders(&gen, pseudo_random, x->shape.dim[1], s.dim[1], row->data);
  fill_borders(&gen, pseudo_random, x->shape.dim[2], s.dim[2], col->data);
  const pool_plan p = {&x->shape, &s, row->data, col->data, weft__node_bool(k->node, "overlapping", false)};
  each_window(&p, is_max ? loops->max : loops->mean, x->data, NULL, y->data);
  return WEFT_OK;
}

static weft_err max_pool_cpu(kernel *k) { return fractional_pool(k, true); }
static weft_err avg_pool_cpu(kernel *k) { return fractional_pool(k, false); }

static weft_err fractional_pool_infer(infer *s) {
  shape in;
  const attr *ratio = weft__node_attr(s->node, "pooling_ratio");
  WEFT_TRY(weft__infer_rank(s, 0, 4, &in));
  if (!ratio || ratio->n != 4) return weft__infer_fail(s, "pooling_ratio field must specify 4 dimensions");
  s->out[0] = in;
  for (int i = 0; i < 4; i++) {
    if (!(ratio->fs[i] >= 1))
      return weft__infer_fail(s, "pooling_ratio cannot be smaller than 1, got: %g", (double)ratio->fs[i]);
    if (in.dim[i] >= 0) s->out[0].dim[i] = (int64_t)floorf((float)in.dim[i] / ratio->fs[i]);
  }
  for (int i = 1; i < 3; i++) s->out[i] = SHAPE1(s->out[0].dim[i] < 0 ? -1 : s->out[0].dim[i] + 1);
  return WEFT_OK;
}

/* ---- gradients ---- */

/* Checks that borders i and i + 1 of every window ascend and are in the input. */
static weft_err check_borders(const kernel *k, int i, const char *arg, int64_t windows, int64_t size) {
  const weft_tensor *t = k->in[i];
  const int64_t n = weft__tensor_count(t), *border = t->data;
  if (t->shape.rank != 1 || n <= windows)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must have at least %lld elements, but has shape %s", arg,
                             (long long)windows + 1, weft__shape_text(&t->shape));
  for (int64_t j = 0; j < windows; j++)
    if (border[j] < 0 || border[j] >= size || border[j + 1] <= border[j])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "%s must rise from 0 to at most %lld, but element %lld is %lld and the next is %lld",
                               arg, (long long)size, (long long)j, (long long)border[j], (long long)border[j + 1]);
  return WEFT_OK;
}

/* Plans the windows of a gradient, for an input of shape `in` and output gradients of shape `out`. */
static weft_err grad_plan(const kernel *k, const shape *in, const shape *out, int first, pool_plan *p) {
  if (in->rank != 4 || out->rank != 4 || in->dim[0] != out->dim[0] || in->dim[3] != out->dim[3])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the input %s and out_backprop %s do not fit",
                             weft__shape_text(in), weft__shape_text(out));
  WEFT_TRY(check_borders(k, first, "row_pooling_sequence", out->dim[1], in->dim[1]));
  WEFT_TRY(check_borders(k, first + 1, "col_pooling_sequence", out->dim[2], in->dim[2]));
  *p = (pool_plan){in, out, k->in[first]->data, k->in[first + 1]->data, weft__node_bool(k->node, "overlapping", false)};
  return WEFT_OK;
}

static weft_err max_grad_cpu(kernel *k) {
  const weft_tensor *x = k->in[0], *g = k->in[2];
  const window_loops *loops;
  pool_plan p;
  WEFT_TRY(fractional_pool_find_loops(k, x->dtype, &loops));
  if (!weft__shape_equal(&k->in[1]->shape, &g->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "orig_output and out_backprop must have one shape, not %s and %s",
                             weft__shape_text(&k->in[1]->shape), weft__shape_text(&g->shape));
  WEFT_TRY(grad_plan(k, &x->shape, &g->shape, 3, &p));
  weft_tensor *dx = weft__out(k, 0, &x->shape);
  if (!dx) return WEFT_OOM;
  memset(dx->data, 0, weft__tensor_bytes(dx));
  each_window(&p, loops->max_grad, x->data, g->data, dx->data);
  return WEFT_OK;
}

static void store_sums(weft_tensor *to, const double *from) {
  for (int64_t i = 0, n = weft__tensor_count(to); i < n; i++) switch (to->dtype) {
    case WEFT_FLOAT: TENSOR_DATA(to, float)[i] = (float)from[i]; break;
    case WEFT_DOUBLE: TENSOR_DATA(to, double)[i] = from[i]; break;
    case WEFT_INT32: TENSOR_DATA(to, int32_t)[i] = (int32_t)from[i]; break;
    default: TENSOR_DATA(to, int64_t)[i] = fabs(from[i]) < 0x1p63 ? (int64_t)from[i] : INT64_MIN; break;
    }
}

static weft_err avg_grad_cpu(kernel *k) {
  const weft_tensor *g = k->in[1];
  const window_loops *loops;
  shape s;
  pool_plan p;
  weft_tensor sums = {0};
  WEFT_TRY(fractional_pool_find_loops(k, g->dtype, &loops));
  WEFT_TRY(weft__kernel_dims(k, 0, "orig_input_tensor_shape", &s));
  WEFT_TRY(grad_plan(k, &s, &g->shape, 2, &p));
  weft_tensor *dx = weft__out(k, 0, &s);
  if (!dx) return weft__out_refused(&s);
  WEFT_TRY(weft__scratch(k, &sums, WEFT_DOUBLE, &s));
  memset(sums.data, 0, weft__tensor_bytes(&sums));
  each_window(&p, loops->mean_grad, NULL, g->data, sums.data);
  store_sums(dx, sums.data);
  weft__tensor_clear(&sums);
  return WEFT_OK;
}

static weft_err avg_grad_infer(infer *s) {
  WEFT_TRY(weft__infer_shape_value(s, 0, &s->out[0]));
  if (s->out[0].rank < 0) s->out[0] = SHAPE4(-1, -1, -1, -1);
  if (s->out[0].rank != 4) return weft__infer_fail(s, "orig_input_tensor_shape must have 4 elements");
  return WEFT_OK;
}

static weft_err max_pool_grad(backprop *b) {
  const weft_out in[] = {b->in[0], b->out[0], b->dout[0], b->out[1], b->out[2]};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "FractionalMaxPoolGrad", NULL, 5, in, 1,
                                      &A_BOOL("overlapping", weft__node_bool(b->node, "overlapping", false))));
  return WEFT_OK;
}

static weft_err avg_pool_grad(backprop *b) {
  const weft_out dims = weft__b_node(b->graph, "Shape", NULL, 1, b->in, 1, &A_TYPE("out_type", WEFT_INT64));
  const weft_out in[] = {dims, b->dout[0], b->out[1], b->out[2]};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "FractionalAvgPoolGrad", NULL, 4, in, 1,
                                      &A_BOOL("overlapping", weft__node_bool(b->node, "overlapping", false))));
  return WEFT_OK;
}

/* ---- table ---- */

#define SEEDED " deterministic=true seed=1 seed2=2"
static const op_case pool_cases[] = {
    {"f32[2,7,7,2] rand", NULL, "pooling_ratio=[1.0,1.44,1.73,1.0] pseudo_random=true" SEEDED, 0},
    {"f32[1,20,9,1] rand", NULL, "pooling_ratio=[1.0,1.3,1.44,1.0]" SEEDED, 0},
    {"f32[1,20,31,1] rand", NULL, "pooling_ratio=[1.0,1.3,2.5,1.0] overlapping=true" SEEDED, 0},
    {"f32[1,6,13,1] rand", NULL, "pooling_ratio=[1.0,1.0,1.2,1.0] overlapping=true pseudo_random=true" SEEDED, 0},
    {"f32[1,13,13,1] rand", NULL, "pooling_ratio=[1.0,1.0,1.1,1.0]" SEEDED, 0},
    {"i32[1,5,6,1] rand", NULL, "pooling_ratio=[1.0,2.0,1.5,1.0]" SEEDED, CASE_NO_GRAD},
    {"f32[1,5,6,1] rand", "error INVALID_ARGUMENT", "pooling_ratio=[1.0,0.5,1.5,1.0]", CASE_NO_GRAD},
    {"f32[1,5,6,1] rand", "error INVALID_ARGUMENT", "pooling_ratio=[1.0,6.0,1.5,1.0]", CASE_NO_GRAD},
    {"f32[1,5,6,1] rand", "error INVALID_ARGUMENT", "pooling_ratio=[1.0,2.0,1.5,1.0] seed=3", CASE_NO_GRAD},
    {"f32[1,5,6,2] rand", "error UNIMPLEMENTED", "pooling_ratio=[1.0,2.0,1.5,2.0]", CASE_NO_GRAD},
    {0},
};
#define BORDERS "i64[5] 0 2 3 5 7; i64[4] 0 1 3 5"
static const op_case max_grad_cases[] = {
    {"f32[1,7,5,1] seq; f32[1,4,3,1] 5 7 9 10 12 14 20 22 24 30 32 34; f32[1,4,3,1] rand; " BORDERS, NULL, NULL,
     CASE_NO_GRAD},
    {"f32[1,7,5,1] seq; f32[1,4,3,1] 11 13 14 16 18 19 26 28 29 31 33 34; f32[1,4,3,1] rand; " BORDERS, NULL,
     "overlapping=true", CASE_NO_GRAD},
    {"f32[1,7,5,1] 1; f32[1,4,3,1] 1; f32[1,4,3,1] seq; " BORDERS, NULL, NULL, CASE_NO_GRAD},
    {"f32[1,7,5,1] 1; f32[1,4,3,1] 1; f32[1,4,3,1] 1; i64[5] 0 9 3 5 7; i64[4] 0 1 3 5", "error INVALID_ARGUMENT", NULL,
     CASE_NO_GRAD | CASE_NO_PARITY},
    {0},
};
static const op_case avg_grad_cases[] = {
    {"i64[4] 2 7 5 2; f32[2,4,3,2] rand; " BORDERS, NULL, NULL, CASE_NO_GRAD},
    {"i64[4] 2 7 5 2; f32[2,4,3,2] rand; " BORDERS, NULL, "overlapping=true", CASE_NO_GRAD},
    {"i64[4] 1 7 5 1; i64[1,4,3,1] 90; " BORDERS, NULL, NULL, CASE_NO_GRAD},
    {"i64[4] 2 7 5 2; f32[2,4,3,2] rand; i64[5] 0 2 3 5 9223372036854775807; i64[4] 0 1 3 5", NULL, "overlapping=true",
     CASE_NO_GRAD | CASE_NO_PARITY},
    {"i64[4] 2 7 5 2; f32[2,4,3,2] rand; i64[4] 0 2 5 7; i64[4] 0 1 3 5", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

#define POOLED                                                                                                         \
  "(value:T) -> (output:T, row_pooling_sequence:int64, col_pooling_sequence:int64) | pooling_ratio:list(float)>=4 "    \
  "pseudo_random:bool=false overlapping:bool=false deterministic:bool=false seed:int=0 seed2:int=0 " TYPES
#define TYPES "T:type{float,double,int32,int64}"

OPS(fractional_pool) = {
    {"FractionalMaxPool" POOLED, "The greatest of windows of random sizes.", OP_NO_FOLD | OP_SEED,
     .infer = fractional_pool_infer, .cpu = max_pool_cpu, .grad = max_pool_grad, .cases = pool_cases},
    {"FractionalAvgPool" POOLED, "The means of windows of random sizes.", OP_NO_FOLD | OP_SEED,
     .infer = fractional_pool_infer, .cpu = avg_pool_cpu, .grad = avg_pool_grad, .cases = pool_cases},
    {"FractionalMaxPoolGrad(orig_input:T, orig_output:T, out_backprop:T, row_pooling_sequence:int64, "
     "col_pooling_sequence:int64) -> (output:T) | overlapping:bool=false " TYPES,
     "The gradient of FractionalMaxPool.", .infer = weft__infer_same, .cpu = max_grad_cpu, .cases = max_grad_cases},
    {"FractionalAvgPoolGrad(orig_input_tensor_shape:int64, out_backprop:T, row_pooling_sequence:int64, "
     "col_pooling_sequence:int64) -> (output:T) | overlapping:bool=false " TYPES,
     "The gradient of FractionalAvgPool.", .infer = avg_grad_infer, .cpu = avg_grad_cpu, .cases = avg_grad_cases},
    {0},
};
