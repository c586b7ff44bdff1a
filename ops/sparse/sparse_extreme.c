/* sparse_extreme.c - SparseSparseMaximum and SparseSparseMinimum of two sparse tensors; SparseTensorDenseAdd.
 *
 * An entry that only one of the sparse tensors has is compared with zero. */
#include "base/alloc.h"
#include "graph/build.h"
#include "kernels/array/index.h"
#include "kernels/array/strided_copy.h"
#include "kernels/sparse/sparse.h"
#include "state/combine.h"
#include <string.h>

/* ---- maximum and minimum ---- */

static weft_err extreme_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 2, NULL));
  WEFT_TRY(weft__infer_rank(s, 3, 2, NULL));
  s->out[0] = SHAPE2(-1, -1);
  s->out[1] = SHAPE1(-1);
  return WEFT_OK;
}

static weft_err check_pair(const kernel *k) {
  WEFT_TRY(weft__sparse_check(k, k->in[0], k->in[1], k->in[2]));
  WEFT_TRY(weft__sparse_check(k, k->in[3], k->in[4], k->in[5]));
  const int64_t depth = k->in[0]->shape.dim[1];
  bool same = depth == k->in[3]->shape.dim[1];
  for (int64_t d = 0; same && d < depth; d++)
    same = TENSOR_DATA(k->in[2], int64_t)[d] == TENSOR_DATA(k->in[5], int64_t)[d];
  if (!same) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Operands' shapes do not match");
  WEFT_TRY(weft__sparse_inside(k, k->in[0], k->in[2]));
  return weft__sparse_inside(k, k->in[3], k->in[5]);
}

/* Merges both lists and returns the number of entries.  If `at` is not NULL, also writes their indices and values. */
static int64_t sparse_extreme_walk(const kernel *k, combine_op how, int64_t *at, weft_tensor *values) {
  static const char zero[16];
  const int64_t n = k->in[0]->shape.dim[0], m = k->in[3]->shape.dim[0], depth = k->in[0]->shape.dim[1];
  const int64_t *a = k->in[0]->data, *b = k->in[3]->data;
  const weft_dtype type = k->in[1]->dtype;
  int64_t count = 0;
  for (int64_t i = 0, j = 0; i < n || j < m; count++) {
    const int order = i == n ? 1 : j == m ? -1 : weft__sparse_compare(a + i * depth, b + j * depth, depth);
    if (at) {
      const void *x = order <= 0 ? weft__element_const(type, k->in[1]->data, i) : zero,
                 *y = order >= 0 ? weft__element_const(type, k->in[4]->data, j) : zero;
      weft__combine(how, type, weft__element(type, values->data, count), x, y, 1, 1);
      if (depth) memcpy(at + count * depth, order <= 0 ? a + i * depth : b + j * depth, (size_t)depth * sizeof *at);
    }
    i += order <= 0;
    j += order >= 0;
  }
  return count;
}

static weft_err sparse_reduce(kernel *k, combine_op how) {
  WEFT_TRY(check_pair(k));
  if (!weft__combine_has(how, k->in[1]->dtype)) return weft__kernel_no_type(k, k->in[1]->dtype);
  const int64_t n = sparse_extreme_walk(k, how, NULL, NULL);
  weft_tensor *at = weft__out(k, 0, &SHAPE2(n, k->in[0]->shape.dim[1])), *values = weft__out(k, 1, &SHAPE1(n));
  if (!at || !values) return WEFT_OOM;
  sparse_extreme_walk(k, how, TENSOR_DATA(at, int64_t), values);
  return WEFT_OK;
}

static weft_err maximum_cpu(kernel *k) { return sparse_reduce(k, COMBINE_MAX); }
static weft_err minimum_cpu(kernel *k) { return sparse_reduce(k, COMBINE_MIN); }

/* ---- SparseTensorDenseAdd ---- */

static weft_err dense_add_infer(infer *s) {
  s->out[0] = s->in[3];
  return WEFT_OK;
}

static weft_err dense_add_cpu(kernel *k) {
  const weft_tensor *at = k->in[0], *values = k->in[1], *dims = k->in[2], *b = k->in[3];
  const int64_t depth = at->shape.rank == 2 ? at->shape.dim[1] : -1;
  bool fits = depth == b->shape.rank && dims->shape.rank == 1 && dims->shape.dim[0] == depth &&
              values->shape.rank == 1 && values->shape.dim[0] == at->shape.dim[0];
  for (int d = 0; fits && d < b->shape.rank; d++) fits = weft__index_at(dims, d) == b->shape.dim[d];
  if (!fits)
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "indices of shape %s, values of shape %s and a shape of %s do not fit the dense operand %s",
        weft__shape_text(&at->shape), weft__shape_text(&values->shape), weft__shape_text(&dims->shape),
        weft__shape_text(&b->shape));
  if (!weft__combine_has(COMBINE_ADD, b->dtype)) return weft__kernel_no_type(k, b->dtype);
  weft_tensor *out = weft__out(k, 0, &b->shape);
  if (!out) return WEFT_OOM;
  WEFT_TRY(weft__tensor_copy(out, b));
  for (int64_t i = 0; i < at->shape.dim[0]; i++) {
    const int64_t place = weft__index_row(at, i, depth, b->shape.dim);
    if (place < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Sparse tensor has an invalid index on row %lld",
                               (long long)i);
    void *to = weft__element(out->dtype, out->data, place);
    weft__combine(COMBINE_ADD, out->dtype, to, to, weft__element_const(values->dtype, values->data, i), 1, 1);
  }
  return WEFT_OK;
}

static weft_err dense_add_grad(backprop *b) {
  const weft_out in[] = {b->dout[0], b->in[0]};
  b->din[1] = GRAD_DENSE(weft__b_node(b->graph, "GatherNd", NULL, 2, in, 0, NULL));
  b->din[3] = GRAD_DENSE(b->dout[0]);
  return WEFT_OK;
}

/* ---- cases ---- */

#define PAIR "i64[3,2] 0 0 0 2 1 1; f32[3] 1 -2 3; i64[2] 2 3; i64[2,2] 0 2 1 0; f32[2] 5 -7; i64[2] 2 3"

static const op_case maximum_cases[] = {
    {PAIR, "i64[4,2] 0 0 0 2 1 0 1 1; f32[4] 1 5 0 3", NULL, CASE_NO_GRAD},
    {"i64[0,1]; i32[0]; i64[1] 3; i64[1,1] 2; i32[1] -4; i64[1] 3", NULL, NULL, CASE_NO_GRAD},
    {"i64[1,1] 0; f32[1] 1; i64[1] 3; i64[1,1] 2; f32[1] 1; i64[1] 4", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"i64[1,1] 5; f32[1] 1; i64[1] 3; i64[1,1] 2; f32[1] 1; i64[1] 3", "error INVALID_ARGUMENT", NULL,
     CASE_NO_GRAD | CASE_NO_PARITY},
    {0},
};

static const op_case minimum_cases[] = {
    {PAIR, NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i64[1,1] 0; i64[1] 1; i64[1] 3; i64[1,1] 0; i64[1] -4; i64[1] 3", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i64[1,1] 0; f32[1] 1; i64[1] 3; i64[1,1] 2; f32[1] 1; i64[1] 4", "error INVALID_ARGUMENT", NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

static const op_case dense_add_cases[] = {
    {"i64[2,2] 0 1 1 2; f32[2] 10 20; i64[2] 2 3; f32[2,3] seq", "f32[2,3] 0 11 2 3 4 25", NULL, CASE_FIXED_TYPE},
    {"i32[2,1] 1 1; i32[2] 10 20; i32[1] 3; i32[3] 1 2 3", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[1,2] 0 3; f32[1] 10; i64[2] 2 3; f32[2,3] seq", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"i64[1,2] 0 1; f32[1] 10; i64[2] 2 4; f32[2,3] seq", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};

#define TWO                                                                                                            \
  "(a_indices:int64, a_values:T, a_shape:int64, b_indices:int64, b_values:T, b_shape:int64) -> "                       \
  "(output_indices:int64, "                                                                                            \
  "output_values:T) | "

OPS(sparse_extreme) = {
    {"SparseSparseMaximum" TWO "T:type{real}", "The larger value at each place of two sparse tensors.",
     .infer = extreme_infer, .cpu = maximum_cpu, .grad = weft__backprop_none, .cases = maximum_cases},
    {"SparseSparseMinimum" TWO "T:type{number}", "The smaller value at each place of two sparse tensors.",
     .infer = extreme_infer, .cpu = minimum_cpu, .grad = weft__backprop_none, .cases = minimum_cases},
    {"SparseTensorDenseAdd(a_indices:Tindices, a_values:T, a_shape:Tindices, b:T) -> (output:T) | T:type{number} "
     "Tindices:type{int32,int64}",
     "A sparse tensor added to a dense one.", .infer = dense_add_infer, .cpu = dense_add_cpu, .grad = dense_add_grad,
     .cases = dense_add_cases},
    {0},
};
