/* infer.c - shape rules: how they are run, and the rules that many ops share. */
#include "graph/infer.h"

#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>

weft_err weft__infer_node(weft_node *n) {
  size_t room = (size_t)(n->n_in ? n->n_in : 1);
  shape *in = weft__alloc_zero(room, sizeof *in);
  weft_tensor **held = weft__alloc_zero(room, sizeof *held);
  weft_err err = in && held ? WEFT_OK : WEFT_OOM;
  if (!err) {
    for (int i = 0; i < n->n_in; i++) in[i] = *weft__out_shape(n->graph, n->in[i]);
    infer s = {n, n->graph, n->n_in, n->n_out, in, n->out_shape, held};
    err = n->op->infer(&s);
    for (int i = 0; i < n->n_in; i++) weft_tensor_destroy(held[i]);
  }
  weft__free(held);
  weft__free(in);
  return err;
}

const weft_tensor *weft__infer_value(infer *s, int i) {
  if (!s->held[i]) s->held[i] = weft__graph_constant(s->graph, s->node->in[i]);
  const weft_tensor *v = s->held[i];
  /* Rules check the rank that is known of an input, then read as many elements as that has: a folded value of a rank
   * that was not known (ParseTensor's may be any) must not come as a surprise. */
  return v && s->in[i].rank >= 0 && weft__shape_compatible(&s->in[i], &v->shape) ? v : NULL;
}

weft_err weft__infer_shape_value(infer *s, int i, shape *out) {
  *out = SHAPE_UNKNOWN;
  const weft_tensor *v = weft__infer_value(s, i);
  if (!v) {
    weft__graph_constant_shape(s->graph, s->node->in[i], out);
    return WEFT_OK;
  }
  if (v->shape.rank > 1 || (v->dtype != WEFT_INT32 && v->dtype != WEFT_INT64))
    return weft__infer_fail(s, "Input tensor must be rank 1 and an integer, but is rank %d and %s", v->shape.rank,
                            weft__dtype_name(v->dtype));
  int64_t count = weft__tensor_count(v);
  if (v->shape.rank == 0 && weft__tensor_int(v, 0) == -1) return WEFT_OK; /* a scalar -1: any shape */
  if (count > WEFT_MAX_RANK)
    return weft__infer_fail(s, "a shape of %lld dimensions is over the limit of %d", (long long)count, WEFT_MAX_RANK);
  out->rank = weft__int_sat(count);
  for (int d = 0; d < out->rank; d++) {
    out->dim[d] = weft__tensor_int(v, d);
    if (out->dim[d] < -1)
      return weft__infer_fail(s, "Dimension size %lld of a shape must not be negative", (long long)out->dim[d]);
  }
  return WEFT_OK;
}

#undef weft__infer_fail
weft_err weft__infer_fail(infer *s, const char *fmt, ...) {
  char what[1024];
  va_list args;
  va_start(args, fmt);
  vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  text shapes = {0};
  for (int i = 0; i < s->n_in && i < 16; i++)
    weft__text_printf(&shapes, "%s%s", i ? ", " : "", weft__shape_text(&s->in[i]));
  weft_err err = weft__fail(WEFT_INVALID_ARGUMENT, "%s for '%s' (op: '%s') with input shapes: %s.", what, s->node->name,
                            s->node->op_name, weft__text_get(&shapes));
  weft__text_finish(&shapes);
  return err;
}

weft_err weft__infer_rank(infer *s, int i, int rank, shape *out) {
  shape got = s->in[i];
  if (got.rank >= 0 && got.rank != rank)
    return weft__infer_fail(s, "Shape must be rank %d but is rank %d", rank, got.rank);
  if (got.rank < 0) {
    got.rank = rank;
    for (int d = 0; d < rank; d++) got.dim[d] = -1;
  }
  if (out) *out = got;
  return WEFT_OK;
}

weft_err weft__infer_rank_at_least(infer *s, int i, int rank) {
  if (s->in[i].rank >= 0 && s->in[i].rank < rank)
    return weft__infer_fail(s, "Shape must be at least rank %d but is rank %d", rank, s->in[i].rank);
  return WEFT_OK;
}

weft_err weft__infer_same(infer *s) {
  if (s->n_in && s->n_out) s->out[0] = s->in[0];
  return WEFT_OK;
}

weft_err weft__infer_broadcast(infer *s) {
  if (weft__shape_broadcast(&s->out[0], &s->in[0], &s->in[1]) == WEFT_OK) return WEFT_OK;
  return weft__infer_fail(s, "Dimensions must be equal, but are %s and %s", weft__shape_text(&s->in[0]),
                          weft__shape_text(&s->in[1]));
}

weft_err weft__infer_scalar(infer *s) {
  for (int i = 0; i < s->n_out; i++) s->out[i] = SHAPE_SCALAR;
  return WEFT_OK;
}

weft_err weft__infer_attr_shape(infer *s) {
  const attr *a = weft__node_attr(s->node, "shape");
  if (a && a->kind == ATTR_SHAPE) s->out[0] = *a->shape;
  return WEFT_OK;
}

weft_err weft__infer_output_shapes(infer *s) {
  const attr *a = weft__node_attr(s->node, "output_shapes");
  if (!a || a->kind != ATTR_SHAPE || !a->is_list || a->n == 0) return WEFT_OK;
  if (a->n != s->n_out)
    return weft__infer_fail(s, "`output_shapes` must be the same length as %s (%d vs. %d)",
                            weft__node_attr(s->node, "output_types") ? "`output_types`" : "num outputs", a->n,
                            s->n_out);
  for (int i = 0; i < s->n_out; i++) s->out[i] = a->shapes[i];
  return WEFT_OK;
}

weft_err weft__infer_none(infer *s) {
  for (int i = 0; i < s->n_out; i++) s->out[i] = SHAPE_UNKNOWN;
  return WEFT_OK;
}

weft_err weft__infer_merge_all(infer *s) {
  shape all = SHAPE_UNKNOWN;
  for (int i = 0; i < s->n_in; i++)
    if (weft__shape_merge(&all, &all, &s->in[i]) != WEFT_OK)
      return weft__infer_fail(s, "From merging shape %d with other shapes: %s and %s are not compatible", i,
                              weft__shape_text(&all), weft__shape_text(&s->in[i]));
  s->out[0] = all;
  return WEFT_OK;
}
