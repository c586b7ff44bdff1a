/* sparse_to_dense.c - SparseToDense: a dense tensor with a default value and given values at given indices. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "kernels/array/index.h"

static weft_err sparse_to_dense_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  return weft__infer_shape_value(s, 1, &s->out[0]);
}

/* Checks the inputs, and finds the number n of indices and the rank `depth` of the output. */
static weft_err dense_check(kernel *k, int64_t *n, int64_t *depth) {
  const shape *i = &k->in[0]->shape, *o = &k->in[1]->shape, *v = &k->in[2]->shape;
  if (i->rank > 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "sparse_indices should be a scalar, vector, or matrix, got shape %s", weft__shape_text(i));
  *n = i->rank > 0 ? i->dim[0] : 1;
  *depth = i->rank > 1 ? i->dim[1] : 1;
  if (o->rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "output_shape must be rank 1, got shape %s",
                             weft__shape_text(o));
  if (o->dim[0] != *depth)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "output_shape has incorrect number of elements: %lld should be: %lld",
                             (long long)o->dim[0], (long long)*depth);
  if (v->rank != 0 && (v->rank != 1 || v->dim[0] != *n))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "sparse_values has incorrect shape %s, should be [] or [%lld]",
                             weft__shape_text(v), (long long)*n);
  if (k->in[3]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "default_value should be a scalar.");
  return WEFT_OK;
}

/* Checks that the indices are in range and, with validate_indices, sorted without repetition. */
static weft_err check_places(kernel *k, const shape *out, int64_t n, int64_t depth) {
  const weft_tensor *t = k->in[0];
  bool validate = weft__node_bool(k->node, "validate_indices", true);
  int64_t last = -1;
  char text[128];
  for (int64_t i = 0; i < n; i++) {
    int64_t at = weft__index_row(t, i, depth, out->dim);
    if (at < 0 && !validate)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Indices are not valid (out of bounds).  Shape: %s",
                               weft__shape_text(out));
    if (at >= 0 && (!validate || at > last)) {
      last = at;
      continue;
    }
    weft__index_tight_text(t, i, depth, text, sizeof text);
    if (at < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices[%lld] = %s is out of bounds: need 0 <= index < %s",
                               (long long)i, text, weft__shape_text(out));
    if (at == last)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices[%lld] = %s is repeated", (long long)i, text);
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "indices[%lld] = %s is out of order. Many sparse ops require sorted indices.\n"
                             "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n",
                             (long long)i, text);
  }
  return WEFT_OK;
}

static weft_err sparse_to_dense_cpu(kernel *k) {
  const weft_tensor *v = k->in[2];
  int64_t n, depth;
  shape out;
  WEFT_TRY(dense_check(k, &n, &depth));
  WEFT_TRY(weft__kernel_dims(k, 1, "output_shape", &out));
  WEFT_TRY(check_places(k, &out, n, depth));
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  WEFT_TRY(weft__elements_fill(y->dtype, y->data, k->in[3]->data, weft__tensor_count(y)));
  for (int64_t i = 0; i < n; i++) {
    int64_t at = weft__index_row(k->in[0], i, depth, out.dim);
    WEFT_TRY(weft__elements_copy(y->dtype, weft__element(y->dtype, y->data, at),
                                 weft__element_const(v->dtype, v->data, v->shape.rank ? i : 0), 1));
  }
  return WEFT_OK;
}

static weft_out sum_of(weft_graph *g, weft_out x) {
  weft_out range[] = {weft__b_scalar(g, WEFT_INT32, 0), weft__b_rank(g, x), weft__b_scalar(g, WEFT_INT32, 1)};
  return weft__b_sum(g, x, weft__b_node(g, "Range", NULL, 3, range, 0, NULL), false);
}

/* The values get the gradients at their indices; the default gets the sum of all others. */
static weft_err dense_grad(backprop *b) {
  weft_graph *g = b->graph;
  weft_out at[] = {b->dout[0], b->in[0]};
  weft_out values = weft__b_node(g, "GatherNd", NULL, 2, at, 0, NULL);
  b->din[2] = GRAD_DENSE(values);
  b->din[3] = GRAD_DENSE(weft__b_sub(g, sum_of(g, b->dout[0]), sum_of(g, values)));
  return WEFT_OK;
}

static const op_case dense_cases[] = {
    {"i32[2,2] 0 1 1 0; i32[2] 2 3; f32[2] 5 6; f32[] 0", "f32[2,3] 0 5 0 6 0 0", NULL, 0},
    {"i64[3,1] 0 2 3; i64[1] 5; f64[3] rand; f64[] -1", NULL, NULL, 0},
    {"i32[2] 1 3; i32[1] 4; i32[] 7; i32[] 0", "i32[4] 0 7 0 7", NULL, 0},
    {"i32[] 1; i32[1] 3; bool[] true; bool[] false", "bool[3] false true false", NULL, 0},
    {"i32[1] 1; i32[1] 2; str[1] \"a\"; str[] \"-\"", "str[2] \"-\" \"a\"", NULL, 0},
    {"i32[2] 3 1; i32[1] 4; i32[2] 7 8; i32[] 0", "i32[4] 0 8 0 7", "validate_indices=false", 0},
    {"i32[2] 1 4; i32[1] 4; f32[] 0; f32[] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"i32[2] 1 1; i32[1] 4; f32[] 0; f32[] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"i32[2] 2 1; i32[1] 4; f32[] 0; f32[] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"i32[2] 2 3; i32[1] 4; f32[3] 0; f32[] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

OPS(sparse_to_dense) = {
    {"SparseToDense(sparse_indices:Tindices, output_shape:Tindices, sparse_values:T, default_value:T) -> (dense:T) | "
     "validate_indices:bool=true T:type Tindices:type{int32,int64}",
     "A dense tensor of a default, with values at given places.", .infer = sparse_to_dense_infer,
     .cpu = sparse_to_dense_cpu, .grad = dense_grad, .cases = dense_cases},
    {0},
};
