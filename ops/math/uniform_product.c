/* uniform_product.c - sums and products of uniformly quantized integers: UniformQuantizedAdd, UniformQuantizedDot and
 * UniformQuantizedDotHybrid.
 *
 * A sum is made of operands that were each brought to the output's scale, and so rounded.  The hybrid product quantizes
 * each row of its left operand to 8 bits first, over the row's range, which always has zero in it. */
#include "base/alloc.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/work/long_work.h"
#include "ops/math/quantized.h"
#include "ops/math/uniform.h"
#include <math.h>

static weft_err read_scales(const kernel *k, const shape *x, int at, const char *attr_name, uniform_scale *u) {
  WEFT_TRY(weft__uniform_read(k, x, at, attr_name, u));
  return weft__uniform_check(k, at);
}

/* ---- sums ---- */

/* The operands and the output may have scales along one axis of the output, or one scale each. */
static weft_err add_axes(const kernel *k, const shape *out) {
  static const char *const name[] = {"lhs_quantization_axis", "rhs_quantization_axis", "output_quantization_axis"};
  const int64_t to = weft__node_int(k->node, name[2], -1);
  for (int i = 0; i < 2; i++) {
    const int64_t axis = weft__node_int(k->node, name[i], -1);
    const int64_t there = axis < 0 ? -1 : axis + out->rank - k->in[i]->shape.rank;
    if (to >= 0 && there != to)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "with output_quantization_axis %lld, %s must name the same axis, but is %lld",
                               (long long)to, name[i], (long long)axis);
  }
  return WEFT_OK;
}

/* Returns element i of operand p at the scale of the output's element `at`. */
static double add_term(const kernel *k, const uniform_scale *u, int p, int64_t i, const uniform_scale *to, int64_t at) {
  const int64_t from = weft__uniform_place(u, i);
  const double scale = (double)u->scale[from] / (double)to->scale[at];
  return floor((double)(weft__quantized_get(k->in[p], i) - u->zero[from]) * scale + 0.5);
}

static weft_err uniform_product_add_cpu(kernel *k) {
  static const char *const axis[] = {"lhs_quantization_axis", "rhs_quantization_axis"};
  uniform_scale in[2], to;
  shape s;
  WEFT_TRY(weft__kernel_in(k, weft__shape_broadcast(&s, &k->in[0]->shape, &k->in[1]->shape)));
  for (int p = 0; p < 2; p++) WEFT_TRY(read_scales(k, &k->in[p]->shape, 2 + 2 * p, axis[p], &in[p]));
  WEFT_TRY(read_scales(k, &s, 6, "output_quantization_axis", &to));
  WEFT_TRY(add_axes(k, &s));
  const int64_t low = weft__node_int(k->node, "output_quantization_min_val", 0),
                high = weft__node_int(k->node, "output_quantization_max_val", 0);
  weft_tensor *y = weft__out(k, 0, &s);
  if (!y) return weft__out_refused(&s);
  for (int64_t i = 0, n = weft__tensor_count(y); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const int64_t at = weft__uniform_place(&to, i);
    double sum = to.zero[at];
    for (int p = 0; p < 2; p++)
      sum += add_term(k, &in[p], p, weft__elementwise_index(&s, &k->in[p]->shape, i), &to, at);
    weft__quantized_put(y, i, weft__uniform_clamp(sum, low, high));
  }
  return WEFT_OK;
}

/* ---- products ---- */

/* Checks that the inputs are matrices that fit, and stores the shape of the product. */
static weft_err dot_shape(const kernel *k, shape *out) {
  const shape *a = &k->in[0]->shape, *b = &k->in[1]->shape;
  if (a->rank != 2 || b->rank != 2 || a->dim[1] != b->dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "lhs and rhs must be matrices that fit, but have shapes %s and %s", weft__shape_text(a),
                             weft__shape_text(b));
  *out = SHAPE2(a->dim[0], b->dim[1]);
  return WEFT_OK;
}

/* Reads the scales of rhs, of which there may be one for each column. */
static weft_err read_columns(const kernel *k, int at, uniform_scale *u) {
  if (weft__node_int(k->node, "rhs_quantization_axis", -1) == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "rhs_quantization_axis must be -1 or 1, but is 0");
  return read_scales(k, &k->in[1]->shape, at, "rhs_quantization_axis", u);
}

/* Returns the product of a row of integers and column c of rhs.  Hostile zero points may make it wrap around. */
static int64_t dot_column(const int64_t *row, const weft_tensor *rhs, int64_t c, const uniform_scale *of) {
  const int64_t inner = rhs->shape.dim[0], cols = rhs->shape.dim[1], zero = of->zero[c % of->n];
  const int8_t *v = TENSOR_DATA(rhs, const int8_t);
  uint64_t sum = 0;
  for (int64_t i = 0; i < inner; i++) sum += (uint64_t)row[i] * (uint64_t)(v[i * cols + c] - zero);
  return (int64_t)sum;
}

static weft_err dot_check_output(const kernel *k, const uniform_scale *rhs, const uniform_scale *to) {
  if (weft__node_int(k->node, "output_quantization_axis", -1) == 0 || (to->n > 1 && rhs->n == 1))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "output_quantization_axis must be -1, or 1 if rhs_quantization_axis is, but is %lld",
                             (long long)weft__node_int(k->node, "output_quantization_axis", -1));
  return WEFT_OK;
}

static weft_err dot_cpu(kernel *k) {
  shape s;
  uniform_scale a, b, to;
  WEFT_TRY(dot_shape(k, &s));
  WEFT_TRY(read_scales(k, &k->in[0]->shape, 2, "lhs_quantization_axis", &a));
  if (k->in[2]->shape.rank) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "lhs_quantization_axis must be -1");
  WEFT_TRY(read_columns(k, 4, &b));
  WEFT_TRY(read_scales(k, &s, 6, "output_quantization_axis", &to));
  WEFT_TRY(dot_check_output(k, &b, &to));
  const int64_t low = weft__node_int(k->node, "output_quantization_min_val", 0),
                high = weft__node_int(k->node, "output_quantization_max_val", 0), inner = k->in[0]->shape.dim[1];
  weft_tensor *y = weft__out(k, 0, &s);
  int64_t *row = weft__alloc(((size_t)inner + 1) * sizeof *row);
  if (!y || !row) {
    weft__free(row);
    return y ? WEFT_OOM : weft__out_refused(&s);
  }
  for (int64_t r = 0; r < s.dim[0]; r++) {
    for (int64_t i = 0; i < inner; i++) row[i] = weft__quantized_get(k->in[0], r * inner + i) - a.zero[0];
    for (int64_t c = 0; c < s.dim[1]; c++) {
      const int64_t at = c % to.n;
      const double scale = (double)a.scale[0] * (double)b.scale[c % b.n] / (double)to.scale[at];
      const double steps = floor((double)dot_column(row, k->in[1], c, &b) * scale + 0.5);
      weft__quantized_put(y, r * s.dim[1] + c, weft__uniform_clamp(steps + to.zero[at], low, high));
    }
  }
  weft__free(row);
  return WEFT_OK;
}

/* Quantizes n numbers to 8 bits over their range, and stores the integers less the zero point.  Returns the scale. */
static float quantize_row(const float *x, int64_t n, int64_t *out) {
  uniform_range range = {0};
  for (int64_t i = 0; i < n; i++) weft__uniform_range_add(&range, x[i]);
  const float scale = weft__uniform_range_end(&range);
  for (int64_t i = 0; i < n; i++) out[i] = weft__uniform_near(&range, x[i]);
  return scale;
}

static weft_err dot_hybrid_cpu(kernel *k) {
  shape s;
  uniform_scale b;
  WEFT_TRY(dot_shape(k, &s));
  WEFT_TRY(read_columns(k, 2, &b));
  const int64_t inner = k->in[0]->shape.dim[1];
  weft_tensor *y = weft__out(k, 0, &s);
  int64_t *row = weft__alloc(((size_t)inner + 1) * sizeof *row);
  if (!y || !row) {
    weft__free(row);
    return y ? WEFT_OOM : weft__out_refused(&s);
  }
  for (int64_t r = 0; r < s.dim[0]; r++) {
    const float scale = quantize_row(TENSOR_DATA(k->in[0], const float) + r * inner, inner, row);
    for (int64_t c = 0; c < s.dim[1]; c++)
      TENSOR_DATA(y, float)[r * s.dim[1] + c] = (float)dot_column(row, k->in[1], c, &b) * (scale * b.scale[c % b.n]);
  }
  weft__free(row);
  return WEFT_OK;
}

static weft_err dot_infer(infer *s) {
  shape a, b;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &a));
  WEFT_TRY(weft__infer_rank(s, 1, 2, &b));
  if (a.dim[1] >= 0 && b.dim[0] >= 0 && a.dim[1] != b.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)a.dim[1],
                            (long long)b.dim[0]);
  s->out[0] = SHAPE2(a.dim[0], b.dim[1]);
  return WEFT_OK;
}

#define AXIS(prefix_)                                                                                                  \
  " " prefix_ "_quantization_axis:int=-1 " prefix_ "_quantization_min_val:int " prefix_ "_quantization_max_val:int"
#define SCALES "lhs_scales:float, lhs_zero_points:int32, rhs_scales:float, rhs_zero_points:int32, output_scales:float, "

OPS(uniform_product) = {
    {"UniformQuantizedAdd(lhs:T, rhs:T, " SCALES "output_zero_points:int32) -> (output:T) |" AXIS("lhs") AXIS("rhs")
         AXIS("output") " T:type{qint32}",
     "The sum of integers of different scales, as integers of another one.", .infer = weft__infer_broadcast,
     .cpu = uniform_product_add_cpu},
    {"UniformQuantizedDot(lhs:Tin, rhs:Tin, " SCALES
     "output_zero_points:int32) -> (output:Tout) | Tin:type{qint8} Tout:type{qint32}" AXIS("lhs") AXIS("rhs")
         AXIS("output"),
     "The product of two matrices of integers, as integers of another scale.", .infer = dot_infer, .cpu = dot_cpu},
    {"UniformQuantizedDotHybrid(lhs:Tlhs, rhs:Trhs, rhs_scales:float, rhs_zero_points:int32) -> (output:Tout) | "
     "Tlhs:type{float} Trhs:type{qint8} Tout:type{float}" AXIS("rhs"),
     "The product of numbers, which are quantized row by row, and a matrix of integers.", .infer = dot_infer,
     .cpu = dot_hybrid_cpu},
    {.scenario = "tests/parity/test_quantize.py"},
};
