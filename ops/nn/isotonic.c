/* isotonic.c - isotonic regression: for each row, the closest non-increasing sequence, by pooling adjacent
 * violators. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "ops/math/cast.h"

typedef struct block {
  double sum;
  int64_t count;
} block;

static void isotonic_row(const double *x, int64_t n, block *blocks, double *y, int32_t *segment) {
  int64_t top = 0;
  for (int64_t i = 0; i < n; i++) {
    blocks[top++] = (block){x[i], 1};
    while (top > 1 &&
           blocks[top - 1].sum / (double)blocks[top - 1].count > blocks[top - 2].sum / (double)blocks[top - 2].count) {
      blocks[top - 2].sum += blocks[top - 1].sum;
      blocks[top - 2].count += blocks[top - 1].count;
      top--;
    }
  }
  for (int64_t b = 0, i = 0; b < top; b++)
    for (int64_t j = 0; j < blocks[b].count; j++, i++) {
      y[i] = blocks[b].sum / (double)blocks[b].count;
      segment[i] = weft__int_sat(b);
    }
}

static weft_err isotonic_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  const shape *s = &x->shape;
  if (s->rank < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must have at least one dimension");
  weft_tensor *y = weft__out(k, 0, s), *segments = y ? weft__out(k, 1, s) : NULL, from = {0}, to = {0};
  if (!segments) return WEFT_OOM;
  const int64_t n = s->dim[s->rank - 1], rows = weft__shape_product(s, 0, s->rank - 1);
  block *blocks = weft__alloc_zero((size_t)n + 1, sizeof *blocks);
  weft_err err = blocks ? weft__scratch(k, &from, WEFT_DOUBLE, s) : WEFT_OOM;
  if (!err) err = weft__scratch(k, &to, WEFT_DOUBLE, s);
  if (!err) err = weft__cast_elements(k, x, &from);
  if (!err) {
    for (int64_t r = 0; r < rows; r++)
      isotonic_row(TENSOR_DATA(&from, double) + r * n, n, blocks, TENSOR_DATA(&to, double) + r * n,
                   TENSOR_DATA(segments, int32_t) + r * n);
    err = weft__cast_elements(k, &to, y);
  }
  weft__tensor_clear(&from), weft__tensor_clear(&to);
  weft__free(blocks);
  return err;
}

static weft_err isotonic_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  s->out[0] = s->out[1] = s->in[0];
  return WEFT_OK;
}

/* The gradient of each element is the mean over its segment.  Segments are numbered within a row, so the row's start
 * is added. */
static weft_err isotonic_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out dy = b->dout[0], flat = weft__b_ints(g, (int64_t[]){-1}, 1), zero = weft__b_scalar(g, WEFT_INT32, 0);
  const weft_out shape_of = weft__b_shape(g, dy), total = weft__b_size(g, dy), one = weft__b_scalar(g, WEFT_INT32, 1);
  const weft_out slice_in[] = {shape_of,
                               weft__b_sub(g,
                                           weft__b_reshape(g, weft__b_rank(g, dy), weft__b_ints(g, (int64_t[]){1}, 1)),
                                           weft__b_ints(g, (int64_t[]){1}, 1)),
                               weft__b_ints(g, (int64_t[]){1}, 1)};
  const weft_out width =
      weft__b_reshape(g, weft__b_node(g, "Slice", NULL, 3, slice_in, 0, NULL), weft__b_ints(g, NULL, 0));
  const weft_out range_in[] = {zero, total, one};
  const weft_out range = weft__b_node(g, "Range", NULL, 3, range_in, 0, NULL);
  const weft_out start = weft__b_mul(g, weft__b_binary(g, "FloorDiv", range, width), width);
  const weft_out ids = weft__b_add(g, weft__b_reshape(g, b->out[1], flat), start);
  const weft_out values = weft__b_reshape(g, dy, flat);
  const weft_out sum_in[] = {values, ids, total}, count_in[] = {weft__b_ones_like(g, values), ids, total};
  const weft_out sums = weft__b_node(g, "UnsortedSegmentSum", NULL, 3, sum_in, 0, NULL);
  const weft_out counts = weft__b_node(g, "UnsortedSegmentSum", NULL, 3, count_in, 0, NULL);
  const weft_out means = weft__b_gather(g, weft__b_binary(g, "DivNoNan", sums, counts), ids, zero);
  b->din[0] = GRAD_DENSE(weft__b_cast(g, weft__b_reshape(g, means, shape_of), weft__out_type(g, b->in[0])));
  return weft__b_ok(g);
}

static const op_case isotonic_cases[] = {
    {"f32[2,5] 3 1 2 5 4 1 2 3 4 5", "f32[2,5] 3; i32[2,5] 0 1 1 1 1 0 0 0 0 0", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,7] rand", NULL, NULL, CASE_FIXED_TYPE},
    {"i32[2,2,5] rand", NULL, "output_dtype=double", CASE_NO_GRAD},
    {"f64[6] rand", NULL, "output_dtype=double", CASE_FIXED_TYPE},
    {0},
};

OPS(isotonic) = {
    {"IsotonicRegression(input:T) -> (output:output_dtype, segments:int32) | T:type{real} "
     "output_dtype:type{half,bfloat16,float,double}=float",
     "The closest rows that do not rise.", .infer = isotonic_infer, .cpu = isotonic_cpu, .grad = isotonic_grad,
     .cases = isotonic_cases},
    {0},
};
