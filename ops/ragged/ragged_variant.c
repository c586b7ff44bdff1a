/* ragged_variant.c - ragged tensors in variants: RaggedTensorToVariant, RaggedTensorFromVariant and the gradient.
 *
 * A variant holds the row splits of a ragged tensor, outermost first, and its values.  With batched_input, each row
 * of the ragged tensor is one variant.  A tensor of variants is read as one ragged tensor: each dimension of that
 * tensor becomes a ragged dimension before those of its elements. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "kernels/array/index.h"
#include "kernels/array/strided_copy.h"
#include "kernels/ragged/ragged.h"
#include "state/held_tensors.h"
#include <string.h>

/* ---- to variants ---- */

static weft_err to_infer(infer *s) {
  const int levels = s->n_in - 1;
  for (int i = 0; i < levels; i++) WEFT_TRY(weft__infer_rank(s, i, 1, NULL));
  WEFT_TRY(weft__infer_rank_at_least(s, levels, 1));
  if (!weft__node_bool(s->node, "batched_input", false)) {
    s->out[0] = SHAPE_SCALAR;
    return WEFT_OK;
  }
  const int64_t n = s->in[0].rank < 1 ? -1 : s->in[0].dim[0];
  s->out[0] = SHAPE1(n < 0 ? -1 : n - (levels > 0));
  return WEFT_OK;
}

/* Makes *out a view of rows [from, to) of t, which is not transient. */
static void view_rows(weft_tensor *out, const weft_tensor *t, int64_t from, int64_t to) {
  const int64_t row = weft__shape_product(&t->shape, 1, t->shape.rank);
  weft__tensor_share(out, t);
  out->shape.dim[0] = to - from;
  out->data = (char *)t->data + (size_t)(from * row) * weft__dtype_size(t->dtype);
}

/* Computes the splits of rows [from, to) of a level; they begin with 0. */
static weft_err cut_splits(weft_tensor *out, const weft_tensor *splits, int64_t from, int64_t to) {
  WEFT_TRY(weft__tensor_init(out, splits->dtype, &SHAPE1(to - from + 1)));
  const int64_t base = weft__index_at(splits, from);
  for (int64_t i = from; i <= to; i++) weft__index_put(out, i - from, weft__index_at(splits, i) - base);
  return WEFT_OK;
}

/* Stores row r of the ragged tensor whose values are `values`. */
static weft_err put_row(const kernel *k, int levels, const weft_tensor *values, int64_t r, weft_tensor *out) {
  held_tensors *v = NULL;
  WEFT_TRY(weft__held_tensors_create(&v, HELD_RAGGED, levels > 0 ? levels : 1));
  weft__held_tensors_put(out, r, v);
  int64_t from = levels ? weft__index_at(k->in[0], r) : r, to = levels ? weft__index_at(k->in[0], r + 1) : r + 1;
  for (int i = 1; i < levels; i++) {
    WEFT_TRY(cut_splits(&v->t[i - 1], k->in[i], from, to));
    from = weft__index_at(k->in[i], from);
    to = weft__index_at(k->in[i], to);
  }
  weft_tensor *rows = &v->t[v->n - 1];
  view_rows(rows, values, from, to);
  if (levels) return WEFT_OK;
  rows->shape.rank--;
  memmove(rows->shape.dim, rows->shape.dim + 1, sizeof *rows->shape.dim * (size_t)rows->shape.rank);
  return WEFT_OK;
}

static weft_err ragged_variant_put_rows(kernel *k, int levels) {
  const int64_t n = k->in[0]->shape.dim[0] - (levels > 0);
  weft_tensor *out = weft__out(k, 0, &SHAPE1(n)), values = {0};
  if (!out) return WEFT_OOM;
  weft_err err = weft__tensor_keep(&values, k->in[levels]);
  for (int64_t r = 0; r < n && !err; r++) err = put_row(k, levels, &values, r, out);
  weft__tensor_clear(&values);
  return err;
}

static weft_err to_cpu(kernel *k) {
  const int levels = k->n_in - 1;
  WEFT_TRY(weft__ragged_check(k, 0, levels));
  if (weft__node_bool(k->node, "batched_input", false)) return ragged_variant_put_rows(k, levels);
  held_tensors *v = NULL;
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  WEFT_TRY(weft__held_tensors_create(&v, HELD_RAGGED, k->n_in));
  weft__held_tensors_put(out, 0, v);
  for (int i = 0; i < k->n_in; i++) WEFT_TRY(weft__tensor_keep(&v->t[i], k->in[i]));
  return WEFT_OK;
}

/* ---- from variants ---- */

static weft_err from_infer(infer *s) {
  const int64_t inner = weft__node_int(s->node, "input_ragged_rank", -1);
  const int levels = s->n_out - 1;
  if (inner >= 0 && levels >= inner) WEFT_TRY(weft__infer_rank(s, 0, levels - weft__int_sat(inner), NULL));
  if (inner > levels)
    return weft__infer_fail(s, "output_ragged_rank must be at least input_ragged_rank, but is %d < %lld", levels,
                            (long long)inner);
  for (int i = 0; i < levels; i++) s->out[i] = SHAPE1(-1);
  return WEFT_OK;
}

typedef struct ragged_stack {
  kernel *k;
  held_tensors **part;
  int64_t n;
  int levels, inner; /* ragged dimensions of the result, and of each part */
} ragged_stack;

static weft_err check_part(const ragged_stack *s, int64_t i) {
  const kernel *k = s->k;
  const held_tensors *v = s->part[i];
  if (!v)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Input Variant element at index %lld doesn't hold a RaggedTensorVariant", (long long)i);
  if (v->n - 1 != s->inner)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Encoded input RaggedTensorVariant has ragged_rank=%d.  Expected ragged_rank=%d.",
                             v->n - 1, s->inner);
  for (int j = 0; j < s->inner; j++) {
    if (v->t[j].shape.rank != 1 || v->t[j].shape.dim[0] < 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "row splits of element %lld have shape %s", (long long)i,
                               weft__shape_text(&v->t[j].shape));
    if (v->t[j].dtype != k->node->out_type[0])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected row_splits Tensor dtype: %s, found: %s",
                               weft__dtype_name(k->node->out_type[0]), weft__dtype_name(v->t[j].dtype));
  }
  const weft_tensor *values = &v->t[s->inner], *first = &s->part[0]->t[s->inner];
  if (values->dtype != k->node->out_type[s->levels])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected values Tensor dtype: %s, found: %s",
                             weft__dtype_name(k->node->out_type[s->levels]), weft__dtype_name(values->dtype));
  if (s->levels && values->shape.rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Ragged values must have rank >= 1; encoded scalar element at index %lld has a scalar",
                             (long long)i);
  if (values->shape.rank != first->shape.rank ||
      (values->shape.rank > 1 && memcmp(values->shape.dim + 1, first->shape.dim + 1,
                                        sizeof *first->shape.dim * (size_t)(first->shape.rank - 1)) != 0))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "All flat_values must have compatible shapes.  Shape at index 0: %s.  Shape at index "
                             "%lld: %s.  If you are using tf.map_fn, then you may need to specify an explicit "
                             "fn_output_signature with appropriate ragged_rank, and/or convert output tensors to "
                             "RaggedTensors.",
                             weft__shape_text(&first->shape), (long long)i, weft__shape_text(&values->shape));
  return WEFT_OK;
}

/* Returns the number of rows of part i at its level j. */
static int64_t ragged_variant_rows_of(const ragged_stack *s, int64_t i, int j) {
  return s->part[i]->t[j].shape.dim[0] - (j < s->inner);
}

/* Writes the splits of a dimension of the tensor of variants: uniform, or the sizes of the parts for the last
 * dimension. */
static weft_err put_outer(const ragged_stack *s, int level) {
  const shape *dims = &s->k->in[0]->shape;
  const bool last = level == dims->rank - 1;
  int64_t n = 1, at = 0;
  for (int i = 0; i <= level; i++) n *= dims->dim[i];
  weft_tensor *out = weft__out(s->k, level, &SHAPE1(n + 1));
  if (!out) return WEFT_OOM;
  for (int64_t i = 0; i <= n; i++) {
    weft__index_put(out, i, at);
    if (i < n) at += last ? ragged_variant_rows_of(s, i, 0) : dims->dim[level + 1];
  }
  return WEFT_OK;
}

static weft_err put_inner(const ragged_stack *s, int level, int to) {
  int64_t n = 0, at = 0, base = 0;
  for (int64_t i = 0; i < s->n; i++) n += ragged_variant_rows_of(s, i, level);
  weft_tensor *out = weft__out(s->k, to, &SHAPE1(n + 1));
  if (!out) return WEFT_OOM;
  weft__index_put(out, at++, 0);
  for (int64_t i = 0; i < s->n; i++) {
    const weft_tensor *t = &s->part[i]->t[level];
    for (int64_t j = 1; j < t->shape.dim[0]; j++) weft__index_put(out, at++, base + weft__index_at(t, j));
    base += weft__index_at(t, t->shape.dim[0] - 1);
  }
  return WEFT_OK;
}

static weft_err ragged_variant_put_values(const ragged_stack *s) {
  shape all = s->n ? s->part[0]->t[s->inner].shape : SHAPE1(0);
  all.dim[0] = 0;
  for (int64_t i = 0; i < s->n; i++) all.dim[0] += s->part[i]->t[s->inner].shape.dim[0];
  weft_tensor *out = weft__out(s->k, s->levels, &all);
  if (!out) return WEFT_OOM;
  int64_t at = 0;
  for (int64_t i = 0; i < s->n; i++) {
    const weft_tensor *t = &s->part[i]->t[s->inner];
    const int64_t count = weft__tensor_count(t);
    WEFT_TRY(weft__elements_copy(out->dtype, weft__element(out->dtype, out->data, at), t->data, count));
    at += count;
  }
  return WEFT_OK;
}

static weft_err put_stack(const ragged_stack *s) {
  const int outer = s->k->in[0]->shape.rank;
  for (int64_t i = 0; i < s->n; i++) WEFT_TRY(check_part(s, i));
  if (outer == 0) {
    for (int i = 0; i <= s->levels; i++) WEFT_TRY(weft__out_share(s->k, i, &s->part[0]->t[i]));
    return WEFT_OK;
  }
  for (int i = 0; i < outer; i++) WEFT_TRY(put_outer(s, i));
  for (int i = 0; i < s->inner; i++) WEFT_TRY(put_inner(s, i, outer + i));
  return ragged_variant_put_values(s);
}

static weft_err from_cpu(kernel *k) {
  const weft_tensor *in = k->in[0];
  ragged_stack s = {.k = k, .n = weft__tensor_count(in), .levels = k->n_out - 1};
  s.inner = s.levels - in->shape.rank;
  const int64_t wanted = weft__node_int(k->node, "input_ragged_rank", -1);
  if (s.inner < 0 || (wanted >= 0 && wanted != s.inner))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
                             "output_ragged_rank: %d, input_ragged_rank: %lld, encoded_ragged.dims(): %d",
                             s.levels, (long long)wanted, in->shape.rank);
  s.part = weft__alloc_zero((size_t)s.n + 1, sizeof *s.part);
  if (!s.part) return WEFT_OOM;
  for (int64_t i = 0; i < s.n; i++) s.part[i] = weft__held_tensors_at(in, i, HELD_RAGGED);
  const weft_err err = put_stack(&s);
  weft__free(s.part);
  return err;
}

/* ---- gradients ---- */

/* Computes the gradient of the values of a ragged tensor from variants with the gradients of its rows. */
static weft_err gradient_cpu(kernel *k) {
  shape all;
  int64_t at = 0;
  WEFT_TRY(weft__kernel_vector(k, 2, "dense_values_shape"));
  all.rank = weft__int_sat(k->in[2]->shape.dim[0]);
  if (all.rank > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "dense_values_shape has %d dimensions", all.rank);
  for (int i = 0; i < all.rank; i++) all.dim[i] = weft__index_at(k->in[2], i);
  weft_tensor *out = weft__out(k, 0, &all);
  if (!out) return weft__out_refused(&all);
  const int64_t room = weft__tensor_count(out);
  for (int64_t i = 0; i < weft__tensor_count(k->in[0]); i++) {
    const held_tensors *v = weft__held_tensors_at(k->in[0], i, HELD_RAGGED);
    const weft_tensor *t = v ? &v->t[v->n - 1] : NULL;
    if (!t || t->dtype != out->dtype || weft__tensor_count(t) > room - at)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "element %lld of encoded_ragged_grad is no gradient of values of shape %s", (long long)i,
                               weft__shape_text(&all));
    WEFT_TRY(weft__elements_copy(out->dtype, weft__element(out->dtype, out->data, at), t->data, weft__tensor_count(t)));
    at += weft__tensor_count(t);
  }
  if (at == room) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "encoded_ragged_grad has %lld elements, but values of shape %s are wanted", (long long)at,
                           weft__shape_text(&all));
}

static weft_err gradient_infer(infer *s) { return weft__infer_shape_value(s, 2, &s->out[0]); }

static weft_err to_grad(backprop *b) {
  weft_graph *g = b->graph;
  const int levels = b->n_in - 1;
  weft_out splits = levels ? b->in[0] : WEFT_NONE;
  if (!levels) {
    weft_tensor *none = NULL;
    WEFT_TRY(weft__tensor_ints(&none, WEFT_INT64, NULL, 0));
    splits = weft__b_const_adopt(g, none);
  }
  const weft_out in[] = {b->dout[0], splits, weft__b_shape(g, b->in[levels])};
  const attr type = A_TYPE("Tvalues", weft__out_type(g, b->in[levels]));
  b->din[levels] = GRAD_DENSE(weft__b_node(g, "RaggedTensorToVariantGradient", NULL, 3, in, 1, &type));
  return WEFT_OK;
}

static weft_err from_grad(backprop *b) {
  weft_graph *g = b->graph;
  const int levels = b->n_out - 1;
  weft_out *in = weft__alloc_zero((size_t)b->n_out, sizeof *in);
  if (!in) return WEFT_OOM;
  for (int i = 0; i < levels; i++) in[i] = b->out[i];
  in[levels] = weft__backprop_dout(b, levels);
  const attr attrs[] = {A_BOOL("batched_input", weft__out_shape(g, b->in[0])->rank != 0), A_INT("RAGGED_RANK", levels)};
  b->din[0] = GRAD_DENSE(weft__b_node(g, "RaggedTensorToVariant", NULL, b->n_out, in, 2, attrs));
  weft__free(in);
  return WEFT_OK;
}

OPS(ragged_variant) = {
    {"RaggedTensorToVariant(rt_nested_splits:RAGGED_RANK*Tsplits, rt_dense_values:Tvalues) -> (encoded_ragged:variant) "
     "| RAGGED_RANK:int>=0 Tvalues:type Tsplits:type{int32,int64}=int64 batched_input:bool",
     "A ragged tensor in a variant, or each of its rows in one.", .flags = OP_NO_FOLD, .infer = to_infer, .cpu = to_cpu,
     .grad = to_grad},
    {"RaggedTensorFromVariant(encoded_ragged:variant) -> (output_nested_splits:output_ragged_rank*Tsplits, "
     "output_dense_values:Tvalues) | input_ragged_rank:int>=-1 output_ragged_rank:int>=0 Tvalues:type "
     "Tsplits:type{int32,int64}=int64",
     "A ragged tensor out of variants.", .flags = OP_NO_FOLD, .infer = from_infer, .cpu = from_cpu, .grad = from_grad},
    {"RaggedTensorToVariantGradient(encoded_ragged_grad:variant, row_splits:Tsplits, dense_values_shape:int32) -> "
     "(dense_values_grad:Tvalues) | Tvalues:type Tsplits:type{int32,int64}=int64",
     "The gradient of the values of a ragged tensor in variants.", .flags = OP_NO_FOLD, .infer = gradient_infer,
     .cpu = gradient_cpu},
    {.scenario = "tests/python/test_composite_elements.py"},
};
