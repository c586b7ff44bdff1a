/* sparse_add.c - SparseAdd and its gradient.
 *
 * Both lists are merged as if they were sorted by index.  Values with equal indices are added; a sum below the
 * threshold is dropped. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "kernels/sparse/sparse.h"
#include "state/combine.h"
#include <math.h>
#include <string.h>

static weft_err add_infer(infer *s) {
  shape dims, other;
  WEFT_TRY(weft__infer_rank(s, 2, 1, &dims));
  WEFT_TRY(weft__infer_rank(s, 5, 1, &other));
  const int64_t depth = dims.dim[0] >= 0 ? dims.dim[0] : other.dim[0];
  s->out[0] = SHAPE2(-1, depth);
  s->out[1] = SHAPE1(-1);
  s->out[2] = SHAPE1(depth);
  return WEFT_OK;
}

static weft_err sparse_add_check(kernel *k) {
  const weft_tensor *a = k->in[0], *b = k->in[3];
  if (a->shape.rank != 2 || b->shape.rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Input indices should be matrices but received shapes: %s and %s",
                             weft__shape_text(&a->shape), weft__shape_text(&b->shape));
  if (a->shape.dim[1] != b->shape.dim[1])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input indices must have the same dimension, got %lld and %lld",
                             (long long)a->shape.dim[1], (long long)b->shape.dim[1]);
  WEFT_TRY(weft__sparse_check(k, a, k->in[1], k->in[2]));
  WEFT_TRY(weft__sparse_check(k, b, k->in[4], k->in[5]));
  for (int64_t d = 0; d < a->shape.dim[1]; d++) {
    const int64_t x = TENSOR_DATA(k->in[2], int64_t)[d], y = TENSOR_DATA(k->in[5], int64_t)[d];
    if (x != y)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Operands' shapes do not match: got %lld and %lld for dimension %lld", (long long)x,
                               (long long)y, (long long)d);
  }
  return weft__kernel_scalar(k, 6, "thresh");
}

static double sparse_add_size_of(const weft_tensor *t, int64_t i) {
  if (t->dtype == WEFT_COMPLEX64) return (double)cabsf(((const float complex *)t->data)[i]);
  if (t->dtype == WEFT_COMPLEX128) return cabs(((const double complex *)t->data)[i]);
  return fabs(weft__tensor_double(t, i));
}

/* Computes the sums with their indices in scratch memory of the full length.  Returns their number. */
static int64_t sparse_add_merge(kernel *k, int64_t *places, weft_tensor *sums) {
  const int64_t n = k->in[0]->shape.dim[0], m = k->in[3]->shape.dim[0], depth = k->in[0]->shape.dim[1];
  const int64_t *a = k->in[0]->data, *b = k->in[3]->data;
  const double least = weft__tensor_double(k->in[6], 0);
  const weft_dtype type = sums->dtype;
  int64_t count = 0;
  for (int64_t i = 0, j = 0; i < n || j < m;) {
    const int order = i == n ? 1 : j == m ? -1 : weft__sparse_compare(a + i * depth, b + j * depth, depth);
    const void *x = weft__element_const(type, k->in[1]->data, i), *y = weft__element_const(type, k->in[4]->data, j);
    void *to = weft__element(type, sums->data, count);
    if (order == 0)
      weft__combine(COMBINE_ADD, type, to, x, y, 1, 1);
    else
      memcpy(to, order < 0 ? x : y, weft__dtype_size(type));
    memcpy(places + count * depth, order <= 0 ? a + i * depth : b + j * depth, (size_t)depth * sizeof *places);
    i += order <= 0;
    j += order >= 0;
    count += order != 0 || sparse_add_size_of(sums, count) >= least;
  }
  return count;
}

static weft_err sparse_add_cpu(kernel *k) {
  WEFT_TRY(sparse_add_check(k));
  const int64_t most = k->in[0]->shape.dim[0] + k->in[3]->shape.dim[0], depth = k->in[0]->shape.dim[1];
  const weft_dtype type = k->in[1]->dtype;
  if (!weft__combine_has(COMBINE_ADD, type)) return weft__kernel_no_type(k, type);
  weft_tensor places = {0}, sums = {0};
  weft_err err = weft__scratch(k, &places, WEFT_INT64, &SHAPE2(most + 1, depth));
  if (!err) err = weft__scratch(k, &sums, type, &SHAPE1(most + 1));
  if (!err) {
    const int64_t n = sparse_add_merge(k, places.data, &sums);
    weft_tensor *at = weft__out(k, 0, &SHAPE2(n, depth)), *values = weft__out(k, 1, &SHAPE1(n));
    weft_tensor *whole = weft__out(k, 2, &SHAPE1(depth));
    if (at && values && whole) {
      memcpy(at->data, places.data, weft__tensor_bytes(at));
      memcpy(values->data, sums.data, weft__tensor_bytes(values));
      memcpy(whole->data, k->in[2]->data, weft__tensor_bytes(whole));
    } else {
      err = WEFT_OOM;
    }
  }
  weft__tensor_clear(&places);
  weft__tensor_clear(&sums);
  return err;
}

static weft_err sparse_add_grad(backprop *b) {
  weft_out in[] = {weft__backprop_dout(b, 1), b->in[0], b->in[3], b->out[0]};
  weft_out made = weft__b_node(b->graph, "SparseAddGrad", NULL, 4, in, 0, NULL);
  b->din[1] = GRAD_DENSE(made);
  b->din[4] = GRAD_DENSE(weft__b_slot(made, 1));
  return WEFT_OK;
}

static weft_err add_grad_infer(infer *s) {
  shape a, b;
  WEFT_TRY(weft__infer_rank(s, 1, 2, &a));
  WEFT_TRY(weft__infer_rank(s, 2, 2, &b));
  s->out[0] = SHAPE1(a.dim[0]);
  s->out[1] = SHAPE1(b.dim[0]);
  return WEFT_OK;
}

/* Gives each entry of an operand the gradient of the sum's entry with the same indices, if there is one. */
static weft_err sparse_add_spread(kernel *k, int out, const weft_tensor *places) {
  const weft_tensor *dy = k->in[0], *sum = k->in[3];
  const int64_t n = places->shape.dim[0], m = sum->shape.dim[0], depth = places->shape.dim[1];
  const int64_t *a = places->data, *s = sum->data;
  weft_tensor *dx = weft__out(k, out, &SHAPE1(n));
  if (!dx) return WEFT_OOM;
  memset(dx->data, 0, weft__tensor_bytes(dx));
  for (int64_t i = 0, j = 0; i < n && j < m;) {
    const int order = weft__sparse_compare(a + i * depth, s + j * depth, depth);
    if (order == 0)
      memcpy(weft__element(dx->dtype, dx->data, i), weft__element_const(dy->dtype, dy->data, j),
             weft__dtype_size(dx->dtype));
    i += order <= 0;
    j += order >= 0;
  }
  return WEFT_OK;
}

static weft_err add_grad_cpu(kernel *k) {
  const shape *dy = &k->in[0]->shape, *a = &k->in[1]->shape, *b = &k->in[2]->shape, *sum = &k->in[3]->shape;
  if (dy->rank != 1 || a->rank != 2 || b->rank != 2 || sum->rank != 2 || a->dim[1] != sum->dim[1] ||
      b->dim[1] != sum->dim[1] || dy->dim[0] != sum->dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "gradient %s, indices %s and %s and those of the sum %s do not fit", weft__shape_text(dy),
                             weft__shape_text(a), weft__shape_text(b), weft__shape_text(sum));
  WEFT_TRY(sparse_add_spread(k, 0, k->in[1]));
  return sparse_add_spread(k, 1, k->in[2]);
}

static const op_case add_cases[] = {
    {"i64[2,2] 0 1 1 0; f32[2] 1 2; i64[2] 2 2; i64[2,2] 0 0 0 1; f32[2] 3 -1; i64[2] 2 2; f32[] 0",
     "i64[3,2] 0 0 0 1 1 0; f32[3] 3 0 2; i64[2] 2 2", NULL, CASE_FIXED_TYPE},
    {"i64[2,2] 0 1 1 0; f32[2] 1 2; i64[2] 2 2; i64[2,2] 0 0 0 1; f32[2] 3 -1; i64[2] 2 2; f32[] 2",
     "i64[2,2] 0 0 1 0; f32[2] 3 2; i64[2] 2 2", NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i64[2,2] 0 1 1 0; f32[2] 1 2; i64[2] 2 2; i64[2,2] 0 0 0 1; f32[2] 1 -1; i64[2] 2 2; f32[] 2.5", NULL, NULL,
     CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i64[2,2] 1 0 0 1; f64[2] 1 2; i64[2] 2 2; i64[2,2] 0 0 0 1; f64[2] 3 -1; i64[2] 2 2; f64[] 0", NULL, NULL,
     CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i64[0,2] 0; i32[0] 0; i64[2] 2 2; i64[2,2] 0 0 0 1; i32[2] 3 -1; i64[2] 2 2; i32[] 0", NULL, NULL,
     CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i64[1,2] 0 1; c64[1] 1; i64[2] 2 2; i64[1,2] 0 1; c64[1] 2; i64[2] 2 2; f32[] 1", NULL, NULL,
     CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i64[1,2] 0 1; f32[1] 1; i64[2] 2 2; i64[1,2] 0 1; f32[1] 2; i64[2] 2 3; f32[] 1", "error INVALID_ARGUMENT", NULL,
     CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i64[1,2] 0 1; f32[1] 1; i64[2] 2 2; i64[1,1] 0; f32[1] 2; i64[1] 2; f32[] 1", "error INVALID_ARGUMENT", NULL,
     CASE_FIXED_TYPE | CASE_NO_GRAD},
    {0},
};
static const op_case add_grad_cases[] = {
    {"f32[3] 1 2 3; i64[2,2] 0 1 1 0; i64[2,2] 0 0 0 1; i64[3,2] 0 0 0 1 1 0", "f32[2] 2 3; f32[2] 1 2", NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1] 2; i64[2,2] 0 1 1 0; i64[2,2] 0 0 0 1; i64[1,2] 0 1", "f32[2] 2 0; f32[2] 0 2", NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2] 2; i64[2,2] 0 1 1 0; i64[2,2] 0 0 0 1; i64[1,2] 0 1", "error INVALID_ARGUMENT", NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

OPS(sparse_add) = {
    {"SparseAdd(a_indices:int64, a_values:T, a_shape:int64, b_indices:int64, b_values:T, b_shape:int64, thresh:Treal) "
     "-> "
     "(sum_indices:int64, sum_values:T, sum_shape:int64) | T:type{number} Treal:type{real}",
     "The sum of two sparse tensors.", .infer = add_infer, .cpu = sparse_add_cpu, .grad = sparse_add_grad,
     .cases = add_cases},
    {"SparseAddGrad(backprop_val_grad:T, a_indices:int64, b_indices:int64, sum_indices:int64) -> (a_val_grad:T, "
     "b_val_grad:T) | T:type{number}",
     "The gradient of SparseAdd.", .infer = add_grad_infer, .cpu = add_grad_cpu, .no_grad = true,
     .cases = add_grad_cases},
    {0},
};
