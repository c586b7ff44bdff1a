/* bias.c - BiasAdd, which adds a vector along the channels, and its gradient, the sum over all other axes.
 *
 * A tensor is seen as (outer, channels, inner): in NHWC the channels are last and inner is 1; in NCHW they are
 * second.  Signed integers are added as unsigned ones, which gives the same bits without overflow.  Sums are
 * computed in blocks whose size does not depend on the number of threads, so the result does not either. */
#include "base/alloc.h"
#include "base/target_clones.h"
#include "graph/build.h"
#include "graph/fusion.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/simd/widen.h"

typedef struct bias_work {
  int64_t outer, channels, inner;
  const void *x, *b;
  void *y;
  void *partial; /* one row of channel sums per block */
  int64_t block; /* rows in a block */
} bias_work;

static bool bias_channels_second(const weft_node *n) { return weft__node_str_is(n, "data_format", "NCHW"); }

/* ---- y = x + b ---- */

#define DEFINE_BIAS_ADD(name, T)                                                                                       \
  WEFT_TARGET_CLONES static void name(void *arg, int64_t begin, int64_t end) {                                         \
    const bias_work *j = arg;                                                                                          \
    const int64_t C = j->channels, inner = j->inner;                                                                   \
    const T *b = j->b;                                                                                                 \
    for (int64_t r = begin; r < end; r++) {                                                                            \
      const T *x = (const T *)j->x + r * C * inner;                                                                    \
      T *y = (T *)j->y + r * C * inner;                                                                                \
      if (inner == 1) {                                                                                                \
        WEFT_IVDEP for (int64_t c = 0; c < C; c++) y[c] = (T)(x[c] + b[c]);                                            \
        continue;                                                                                                      \
      }                                                                                                                \
      for (int64_t c = 0; c < C; c++, x += inner, y += inner) {                                                        \
        const T add = b[c];                                                                                            \
        WEFT_IVDEP for (int64_t i = 0; i < inner; i++) y[i] = (T)(x[i] + add);                                         \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_BIAS_ADD(add_8, uint8_t)
DEFINE_BIAS_ADD(add_16, uint16_t)
DEFINE_BIAS_ADD(add_32, uint32_t)
DEFINE_BIAS_ADD(add_64, uint64_t)
DEFINE_BIAS_ADD(add_float, float)
DEFINE_BIAS_ADD(add_double, double)
DEFINE_BIAS_ADD(add_complex64, float complex)
DEFINE_BIAS_ADD(add_complex128, double complex)

/* The same as elementwise loops for fusion, which requires that the channels are last. */
EACH_FLOAT(BINARY, bias, x + y)
static const elem_op bias_op = {COST_CHEAP, {ROWS_FLOAT(bias)}};

/* ---- db = sum of dy over all axes but the channels ---- */

/* Adds `rows` rows of C to acc.  Several short rows are processed as one long row, so that vectors are full. */
#define DEFINE_SUM_ROWS(name, T)                                                                                       \
  WEFT_TARGET_CLONES static void name##_rows(const T *restrict x, int64_t rows, int64_t C, T *restrict acc) {          \
    enum { WIDE = 256 };                                                                                               \
    T folded[WIDE];                                                                                                    \
    const int64_t fold = C < WIDE ? WIDE / C : 1, width = fold * C;                                                    \
    if (fold > 1 && rows > fold) {                                                                                     \
      for (int64_t i = 0; i < width; i++) folded[i] = 0;                                                               \
      for (; rows >= fold; rows -= fold, x += width)                                                                   \
        for (int64_t i = 0; i < width; i++) folded[i] = (T)(folded[i] + x[i]);                                         \
      for (int64_t f = 0; f < fold; f++)                                                                               \
        for (int64_t c = 0; c < C; c++) acc[c] = (T)(acc[c] + folded[f * C + c]);                                      \
    }                                                                                                                  \
    for (int64_t r = 0; r < rows; r++, x += C)                                                                         \
      for (int64_t c = 0; c < C; c++) acc[c] = (T)(acc[c] + x[c]);                                                     \
  }                                                                                                                    \
  WEFT_TARGET_CLONES static T name##_span(const T *x, int64_t n) { /* the sum of n elements, in lanes */               \
    enum { LANES = 16 };                                                                                               \
    T lane[LANES] = {0}, sum = 0;                                                                                      \
    int64_t i = 0;                                                                                                     \
    for (; i + LANES <= n; i += LANES)                                                                                 \
      for (int l = 0; l < LANES; l++) lane[l] = (T)(lane[l] + x[i + l]);                                               \
    for (int l = 0; l < LANES; l++) sum = (T)(sum + lane[l]);                                                          \
    for (; i < n; i++) sum = (T)(sum + x[i]);                                                                          \
    return sum;                                                                                                        \
  }

/* NAME_blocks computes a partial sum per block of rows; NAME_join adds them. */
#define DEFINE_SUM(name, T)                                                                                            \
  DEFINE_SUM_ROWS(name, T)                                                                                             \
  static void name##_blocks(void *arg, int64_t begin, int64_t end) {                                                   \
    const bias_work *j = arg;                                                                                          \
    const int64_t C = j->channels, inner = j->inner;                                                                   \
    for (int64_t i = begin; i < end; i++) {                                                                            \
      T *acc = (T *)j->partial + i * C;                                                                                \
      const int64_t first = i * j->block, left = j->outer - first, rows = left < j->block ? left : j->block;           \
      const T *x = (const T *)j->x + first * C * inner;                                                                \
      for (int64_t c = 0; c < C; c++) acc[c] = 0;                                                                      \
      if (inner == 1)                                                                                                  \
        name##_rows(x, rows, C, acc);                                                                                  \
      else                                                                                                             \
        for (int64_t r = 0; r < rows; r++)                                                                             \
          for (int64_t c = 0; c < C; c++, x += inner) acc[c] = (T)(acc[c] + name##_span(x, inner));                    \
    }                                                                                                                  \
  }                                                                                                                    \
  static void name##_join(const bias_work *j, int64_t blocks) {                                                        \
    for (int64_t c = 0; c < j->channels; c++) ((T *)j->y)[c] = 0;                                                      \
    name##_rows(j->partial, blocks, j->channels, j->y);                                                                \
  }
DEFINE_SUM(sum_8, uint8_t)
DEFINE_SUM(sum_16, uint16_t)
DEFINE_SUM(sum_32, uint32_t)
DEFINE_SUM(sum_64, uint64_t)
DEFINE_SUM(sum_float, float)
DEFINE_SUM(sum_double, double)
DEFINE_SUM(sum_complex64, float complex)
DEFINE_SUM(sum_complex128, double complex)

/* ---- the loops of each type ---- */

typedef struct bias_type {
  pool_loop *add, *blocks;
  void (*join)(const bias_work *j, int64_t blocks);
  weft_dtype as; /* the type to compute in, with the same arithmetic */
} bias_type;

static bool bias_type_of(weft_dtype t, bias_type *out) {
  switch ((int)t) { /* fits: an enum */
  case WEFT_INT8:
  case WEFT_UINT8: *out = (bias_type){add_8, sum_8_blocks, sum_8_join, t}; return true;
  case WEFT_INT16:
  case WEFT_UINT16: *out = (bias_type){add_16, sum_16_blocks, sum_16_join, t}; return true;
  case WEFT_INT32:
  case WEFT_UINT32: *out = (bias_type){add_32, sum_32_blocks, sum_32_join, t}; return true;
  case WEFT_INT64:
  case WEFT_UINT64: *out = (bias_type){add_64, sum_64_blocks, sum_64_join, t}; return true;
  case WEFT_HALF:
  case WEFT_BFLOAT16:
  case WEFT_FLOAT: *out = (bias_type){add_float, sum_float_blocks, sum_float_join, WEFT_FLOAT}; return true;
  case WEFT_DOUBLE: *out = (bias_type){add_double, sum_double_blocks, sum_double_join, t}; return true;
  case WEFT_COMPLEX64: *out = (bias_type){add_complex64, sum_complex64_blocks, sum_complex64_join, t}; return true;
  case WEFT_COMPLEX128: *out = (bias_type){add_complex128, sum_complex128_blocks, sum_complex128_join, t}; return true;
  default: return false;
  }
}

/* Sets the view of the tensor as (outer, channels, inner). */
static weft_err bias_view(const kernel *k, bias_work *j) {
  const shape *s = &k->in[0]->shape;
  if (s->rank < 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input tensor must be at least 2D: %s", weft__shape_text(s));
  const int axis = bias_channels_second(k->node) ? 1 : s->rank - 1;
  j->channels = s->dim[axis];
  j->outer = weft__shape_product(s, 0, axis);
  j->inner = weft__shape_product(s, axis + 1, s->rank);
  return WEFT_OK;
}

static weft_err bias_add_cpu(kernel *k) {
  bias_work j;
  bias_type type;
  const weft_tensor *x = k->in[0], *b = k->in[1];
  if (!bias_type_of(x->dtype, &type)) return weft__kernel_no_type(k, x->dtype);
  WEFT_TRY(bias_view(k, &j));
  if (b->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Biases must be 1D: %s", weft__shape_text(&b->shape));
  if (b->shape.dim[0] != j.channels)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Must provide as many biases as the last dimension of the input tensor: %s vs. %s",
                             weft__shape_text(&b->shape), weft__shape_text(&x->shape));
  weft_tensor *y = weft__out_over(k, 0, 0, &x->shape);
  if (!y) return WEFT_OOM;
  const int64_t row = j.channels * j.inner;
  widened wx = {0}, wb = {0}, wy = {0};
  weft_err err = WEFT_OK;
  j.x = x->data, j.b = b->data, j.y = y->data;
  if (type.as != x->dtype) {
    if (!err) err = weft__widened_load(&wx, x);
    if (!err) err = weft__widened_load(&wb, b);
    if (!err) err = weft__widened_output(&wy, y);
    j.x = wx.data, j.b = wb.data, j.y = wy.data;
  }
  if (!err && row) weft__kernel_loop(k, j.outer, row / 4 + 1, type.add, &j);
  if (!err && type.as != x->dtype) weft__widened_store(&wy, y);
  weft__widened_finish(&wx), weft__widened_finish(&wb), weft__widened_finish(&wy);
  return err;
}

/* Returns the rows of a block: about 16 k elements, at least one row. */
static int64_t block_rows(const bias_work *j) {
  const int64_t row = j->channels * j->inner, rows = 16384 / (row ? row : 1);
  return rows < 1 ? 1 : rows;
}

static weft_err bias_sums(kernel *k, bias_work *j, const bias_type *type) {
  j->block = block_rows(j);
  const int64_t blocks = (j->outer + j->block - 1) / j->block, row = j->channels * j->inner;
  weft_tensor partial = {0};
  WEFT_TRY(weft__scratch(k, &partial, type->as, &SHAPE2(blocks, j->channels)));
  j->partial = partial.data;
  if (j->channels) {
    weft__kernel_loop(k, blocks, j->block * row / 8 + 1, type->blocks, j);
    type->join(j, blocks);
  }
  weft__tensor_clear(&partial);
  return WEFT_OK;
}

static weft_err bias_add_grad_cpu(kernel *k) {
  bias_work j;
  bias_type type;
  const weft_tensor *x = k->in[0];
  if (!bias_type_of(x->dtype, &type)) return weft__kernel_no_type(k, x->dtype);
  WEFT_TRY(bias_view(k, &j));
  weft_tensor *y = weft__out(k, 0, &SHAPE1(j.channels));
  if (!y) return WEFT_OOM;
  if (type.as == x->dtype) {
    j.x = x->data, j.y = y->data;
    return bias_sums(k, &j, &type);
  }
  widened wx = {0}, wy = {0};
  weft_err err = weft__widened_load(&wx, x);
  if (!err) err = weft__widened_output(&wy, y);
  j.x = wx.data, j.y = wy.data;
  if (!err) err = bias_sums(k, &j, &type);
  if (!err) weft__widened_store(&wy, y);
  weft__widened_finish(&wx), weft__widened_finish(&wy);
  return err;
}

/* ---- shapes ---- */

static weft_err bias_add_infer(infer *s) {
  const bool second = bias_channels_second(s->node);
  shape bias;
  WEFT_TRY(weft__infer_rank_at_least(s, 0, second ? 3 : 2));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &bias));
  s->out[0] = s->in[0];
  if (s->in[0].rank < 0) return WEFT_OK;
  int64_t *channels = &s->out[0].dim[second ? 1 : s->in[0].rank - 1];
  if (*channels >= 0 && bias.dim[0] >= 0 && *channels != bias.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)*channels,
                            (long long)bias.dim[0]);
  if (*channels < 0) *channels = bias.dim[0];
  return WEFT_OK;
}

static weft_err bias_add_grad_infer(infer *s) {
  const bool second = bias_channels_second(s->node);
  WEFT_TRY(weft__infer_rank_at_least(s, 0, second ? 3 : 2));
  s->out[0] = SHAPE1(s->in[0].rank < 0 ? -1 : s->in[0].dim[second ? 1 : s->in[0].rank - 1]);
  return WEFT_OK;
}

/* ---- gradients ---- */

static weft_out with_format(backprop *b, const char *type, int n, const weft_out *in) {
  const char *format = bias_channels_second(b->node) ? "NCHW" : "NHWC";
  return weft__b_node(b->graph, type, NULL, n, in, 1, &A_STR("data_format", format));
}

static weft_err bias_add_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(b->dout[0]);
  b->din[1] = GRAD_DENSE(with_format(b, "BiasAddGrad", 1, b->dout));
  return weft__b_ok(b->graph);
}

/* The sum is linear, so its gradient is the output gradient, repeated along all other axes. */
static weft_err bias_add_grad_grad(backprop *b) {
  const weft_out in[] = {weft__b_zeros_like(b->graph, b->in[0]), b->dout[0]};
  b->din[0] = GRAD_DENSE(with_format(b, "BiasAdd", 2, in));
  return weft__b_ok(b->graph);
}

static const op_case bias_add_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; f32[3] 10 20 30", "f32[2,3] 11 22 33 14 25 36", NULL, 0},
    {"f32[2,3,2,2] rand; f32[3] rand", NULL, "data_format='NCHW'", 0},
    {"f32[2,5,4,3] rand; f32[3] rand", NULL, NULL, 0},
    {"i32[2,2] 1 2 3 2147483647; i32[2] 1 1", "i32[2,2] 2 3 4 -2147483648", NULL, CASE_FIXED_TYPE},
    {"i8[3,4] rand; i8[4] rand", NULL, NULL, 0},
    {"c64[2,2] rand; c64[2] rand", NULL, NULL, 0},
    {"f32[0,3] 0; f32[3] rand", NULL, NULL, 0},
    {"f32[3,0] 0; f32[0] 0", NULL, NULL, 0},
    {"f32[64,9,9,33] rand; f32[33] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[4] rand; f32[4] rand", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] rand; f32[2] rand", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case bias_add_v1_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; f32[3] 10 20 30", "f32[2,3] 11 22 33 14 25 36", NULL, 0},
    {"f64[2,3,4] rand; f64[4] rand", NULL, NULL, 0},
    {0},
};

static const op_case bias_add_grad_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6", "f32[3] 5 7 9", NULL, 0},
    {"f32[2,3,2,2] rand", NULL, "data_format='NCHW'", 0},
    {"f32[2,5,4,3] rand", NULL, NULL, 0},
    {"i16[3,4] rand", NULL, NULL, 0},
    {"f32[0,3] 0", "f32[3] 0", NULL, 0},
    {"f32[3,0] 0", NULL, NULL, 0},
    {"f32[7,2,3,40,50] rand", NULL, "data_format='NCHW'", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[50,40,33] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[300,300] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3] rand", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

/* Returns true if the op is a broadcast addition: the channels are last and the bias is known to be a vector. */
static bool adds_last(const weft_node *n) {
  const weft_graph *g = n->graph;
  const shape *x = weft__out_shape(g, n->in[0]), *b = weft__out_shape(g, n->in[1]);
  return !weft__node_str_is(n, "data_format", "NCHW") && x->rank > 1 && b->rank == 1 && b->dim[0] >= 0 &&
         x->dim[x->rank - 1] == b->dim[0];
}

static const fusion sums_rows = {ROLE_COLUMNS};
static const fusion bias_fusion = {.elementwise = adds_last};

OPS(bias) = {
    {"BiasAdd(value:T, bias:T) -> (output:T) | T:type{number} data_format:string{'NHWC','NCHW'}='NHWC'",
     "A vector added along the channels.", .flags = OP_INPLACE, .infer = bias_add_infer, .cpu = bias_add_cpu,
     .elem = &bias_op, .fusion = &bias_fusion, .grad = bias_add_grad, .cases = bias_add_cases, .amp = AMP_INFER},
    {"BiasAddV1(value:T, bias:T) -> (output:T) | T:type{number}", "A vector added along the last axis.",
     .flags = OP_INPLACE, .infer = bias_add_infer, .cpu = bias_add_cpu, .elem = &bias_op, .fusion = &bias_fusion,
     .grad = bias_add_grad, .cases = bias_add_v1_cases, .amp = AMP_INFER},
    {"BiasAddGrad(out_backprop:T) -> (output:T) | T:type{number} data_format:string{'NHWC','NCHW'}='NHWC'",
     "The sum over all axes but the channels.", .infer = bias_add_grad_infer, .cpu = bias_add_grad_cpu,
     .grad = bias_add_grad_grad, .fusion = &sums_rows, .cases = bias_add_grad_cases, .amp = AMP_INFER},
    {0},
};
