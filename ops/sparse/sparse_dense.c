/* sparse_dense.c - adds a dense tensor to a sparse one, or multiplies or divides by it, at the entries of the sparse
 * one.
 *
 * The dense tensor is broadcast to the shape of the sparse one.  The result has one value per entry.  Elements
 * without an entry stay absent, even where a dense sum would not be zero. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "kernels/sparse/sparse.h"
#include "state/combine.h"
#include <string.h>

/* Computes the strides of the dense tensor along the dimensions of the sparse one; 0 where it is broadcast. */
static weft_err dense_steps(kernel *k, int64_t depth, int64_t *steps) {
  const shape *dense = &k->in[3]->shape;
  const int64_t *dims = TENSOR_DATA(k->in[2], int64_t);
  shape wanted = SHAPE_SCALAR;
  for (int64_t d = 0; d < depth && depth <= WEFT_MAX_RANK; d++) wanted.dim[wanted.rank++] = dims[d];
  bool fits = depth <= WEFT_MAX_RANK && dense->rank <= depth;
  for (int64_t d = depth - 1, stride = 1, i = dense->rank - 1; fits && d >= 0; d--, i--) {
    const int64_t size = i < 0 ? 1 : dense->dim[i];
    fits = size == 1 || size == dims[d];
    steps[d] = size == 1 ? 0 : stride;
    stride *= size;
  }
  if (fits) return WEFT_OK;
  return weft__kernel_fail(
      k, WEFT_INVALID_ARGUMENT,
      "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: %s vs. %s",
      weft__shape_text(&wanted), weft__shape_text(dense));
}

/* Returns true for 0 and for -0. */
static bool is_zero(weft_dtype type, const void *x) {
  static const double zeros[2];
  double sum[2] = {0};
  weft__combine(COMBINE_ADD, type, sum, x, zeros, 1, 1);
  return memcmp(sum, zeros, weft__dtype_size(type)) == 0;
}

static weft_err sparse_dense(kernel *k, combine_op how) {
  const weft_tensor *indices = k->in[0], *values = k->in[1], *dense = k->in[3];
  const weft_dtype type = values->dtype;
  int64_t steps[WEFT_MAX_RANK] = {0};
  if (!weft__combine_has(how, type)) return weft__kernel_no_type(k, type);
  WEFT_TRY(weft__sparse_check(k, indices, values, k->in[2]));
  const int64_t n = indices->shape.dim[0], depth = indices->shape.dim[1];
  WEFT_TRY(dense_steps(k, depth, steps));
  WEFT_TRY(weft__sparse_inside(k, indices, k->in[2]));
  weft_tensor *out = weft__out(k, 0, &values->shape);
  if (!out) return WEFT_OOM;
  for (int64_t i = 0; i < n; i++) {
    int64_t at = 0;
    for (int64_t d = 0; d < depth; d++) at += TENSOR_DATA(indices, int64_t)[i * depth + d] * steps[d];
    const void *other = weft__element_const(type, dense->data, at);
    if (how == COMBINE_DIV && is_zero(type, other))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "SparseDenseCwiseDiv cannot divide by zero,but input dense tensor contains zero ");
    weft__combine(how, type, weft__element(type, out->data, i), weft__element_const(type, values->data, i), other, 1,
                  1);
  }
  return WEFT_OK;
}

static weft_err sparse_dense_add_cpu(kernel *k) { return sparse_dense(k, COMBINE_ADD); }
static weft_err sparse_dense_mul_cpu(kernel *k) { return sparse_dense(k, COMBINE_MUL); }
static weft_err sparse_dense_div_cpu(kernel *k) { return sparse_dense(k, COMBINE_DIV); }

static weft_err sparse_dense_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 2, NULL));
  WEFT_TRY(weft__infer_rank(s, 2, 1, NULL));
  return weft__infer_rank(s, 1, 1, &s->out[0]);
}

/* ---- gradients ---- */

/* Returns the indices of each entry in the dense tensor: [n, rank of dense]. */
static weft_out dense_places(weft_graph *g, weft_out indices, weft_out dims, weft_out dense) {
  const int64_t one = 1;
  const weft_out of_dense = weft__b_cast(g, weft__b_shape(g, dense), WEFT_INT64), rank = weft__b_size(g, of_dense);
  const weft_out more = weft__b_sub(g, weft__b_size(g, dims), rank), first = weft__b_scalar(g, WEFT_INT32, 0);
  const weft_out more_ones =
      weft__b_fill(g, weft__b_reshape(g, more, weft__b_ints(g, &one, 1)), weft__b_scalar(g, WEFT_INT64, 1));
  const weft_out whole = weft__b_concat(g, 2, (weft_out[]){more_ones, of_dense}, first);
  const weft_out scale = weft__b_binary(g, "FloorDiv", dims, whole);
  const weft_out places = weft__b_binary(g, "FloorDiv", indices, scale);
  const weft_out begin = weft__b_node(g, "Pack", NULL, 2, (weft_out[]){first, more}, 1, (attr[]){A_INT("N", 2)});
  const weft_out size = weft__b_ints(g, (int64_t[]){-1, -1}, 2);
  return weft__b_node(g, "Slice", NULL, 3, (weft_out[]){places, begin, size}, 0, NULL);
}

/* Returns the element of the dense tensor for each entry. */
static weft_out dense_elements(backprop *b) {
  return weft__b_binary(b->graph, "GatherNd", b->in[3], dense_places(b->graph, b->in[0], b->in[2], b->in[3]));
}

/* Sums the gradients of the values at their positions in the dense tensor. */
static weft_out to_dense(backprop *b, weft_out of_values) {
  weft_graph *g = b->graph;
  const weft_out of_dense = weft__b_cast(g, weft__b_shape(g, b->in[3]), WEFT_INT64);
  const weft_out in[] = {dense_places(g, b->in[0], b->in[2], b->in[3]), of_values, of_dense};
  return weft__b_node(g, "ScatterNd", NULL, 3, in, 0, NULL);
}

static weft_err mul_grad(backprop *b) {
  weft_graph *g = b->graph;
  b->din[1] = GRAD_DENSE(weft__b_mul(g, b->dout[0], dense_elements(b)));
  b->din[3] = GRAD_DENSE(to_dense(b, weft__b_mul(g, b->dout[0], b->in[1])));
  return WEFT_OK;
}

static weft_err div_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out other = dense_elements(b);
  b->din[1] = GRAD_DENSE(weft__b_div(g, b->dout[0], other));
  const weft_out slope = weft__b_div(g, weft__b_neg(g, b->in[1]), weft__b_mul(g, other, other));
  b->din[3] = GRAD_DENSE(to_dense(b, weft__b_mul(g, b->dout[0], slope)));
  return WEFT_OK;
}

/* TF's gradient is the same: it has no more terms. */
static weft_err sparse_dense_add_grad(backprop *b) {
  return weft__fail(WEFT_UNIMPLEMENTED, "Gradient for SparseDenseCwiseAdd is not implemented. (node '%s')",
                    b->node->name);
}

static const op_case add_cases[] = {
    {"i64[2,2] 0 0 1 2; f32[2] 1 2; i64[2] 2 3; f32[3] 1 2 3", "f32[2] 2 5", NULL, CASE_NO_GRAD},
    {"i64[2,2] 0 0 1 2; i32[2] 1 2; i64[2] 2 3; i32[] 4", "i32[2] 5 6", NULL, CASE_NO_GRAD},
    {"i64[1,1] 0; f32[1] 1; i64[1] 3; f32[1,3] 1 2 3", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case mul_cases[] = {
    {"i64[2,2] 0 0 1 2; f32[2] 3 2; i64[2] 2 3; f32[2,3] 1 2 3 4 5 6", "f32[2] 3 12", NULL, 0},
    {"i64[3,2] 0 0 1 2 1 0; f64[3] rand; i64[2] 2 3; f64[2,1] rand", NULL, NULL, 0},
    {"i64[3,2] 0 0 1 2 1 0; f32[3] rand; i64[2] 2 3; f32[3] rand", NULL, NULL, 0},
    {"i64[3,3] 0 0 1 1 1 0 1 0 0; f32[3] rand; i64[3] 2 2 2; f32[2,1] rand", NULL, NULL, 0},
    {"i64[0,2] 0; f32[0] 0; i64[2] 2 3; f32[2,3] rand", NULL, NULL, CASE_NO_GRAD},
    {"i64[1,2] 0 0; f32[1] 0; i64[2] 2 3; f32[2] 1 2", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"i64[1,2] 0 5; f32[1] 0; i64[2] 2 3; f32[2,3] rand", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case div_cases[] = {
    {"i64[2,2] 0 0 1 2; f32[2] 3 2; i64[2] 2 3; f32[2,3] 1 2 3 4 5 8", "f32[2] 3 0.25", NULL, 0},
    {"i64[2,2] 0 0 1 2; f64[2] 3 2; i64[2] 2 3; f64[1,3] 1 2 4", NULL, NULL, 0},
    {"i64[2,2] 0 0 1 2; i32[2] -5 7; i64[2] 2 3; i32[] 2", "i32[2] -2 3", NULL, CASE_NO_GRAD},
    {"i64[1,2] 0 0; i32[1] 5; i64[2] 2 3; i32[] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

#define SPARSE_DENSE "(sp_indices:int64, sp_values:T, sp_shape:int64, dense:T) -> (output:T) | T:type{number}"

OPS(sparse_dense) = {
    {"SparseDenseCwiseAdd" SPARSE_DENSE, "The values of a sparse tensor plus a dense one.", .infer = sparse_dense_infer,
     .cpu = sparse_dense_add_cpu, .grad = sparse_dense_add_grad, .cases = add_cases},
    {"SparseDenseCwiseMul" SPARSE_DENSE, "The values of a sparse tensor times a dense one.",
     .infer = sparse_dense_infer, .cpu = sparse_dense_mul_cpu, .grad = mul_grad, .cases = mul_cases},
    {"SparseDenseCwiseDiv" SPARSE_DENSE, "The values of a sparse tensor divided by a dense one.",
     .infer = sparse_dense_infer, .cpu = sparse_dense_div_cpu, .grad = div_grad, .cases = div_cases},
    {0},
};
