/* infer.c - runs shape rules, and has the rules that many ops share. */
#include "graph/infer.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>

/* What errors of the rule that this thread runs show of its inputs, beside their values. */
typedef struct infer_notes {
  shape *as_shape; /* of inputs that were read as shapes: what is known of them */
  bool *is_shape;
  struct infer_notes *outer;
} infer_notes;
static _Thread_local infer_notes *notes;

static weft_err infer_run(infer *s, infer_notes *mine) {
  WEFT_ASSERT(s->node->op && s->node->op->infer && mine->outer == NULL);
  mine->outer = notes;
  notes = mine;
  weft_err err = s->node->op->infer(s);
  WEFT_ASSERT(notes == mine);
  notes = mine->outer;
  return err;
}

weft_err weft__infer_node(weft_node *n) {
  size_t room = (size_t)(n->n_in ? n->n_in : 1);
  shape *in = weft__alloc_zero(2 * room, sizeof *in);
  bool *is_shape = weft__alloc_zero(room, sizeof *is_shape);
  weft_tensor **held = weft__alloc_zero(room, sizeof *held);
  weft_err err = in && held && is_shape ? WEFT_OK : WEFT_OOM;
  if (!err) {
    for (int i = 0; i < n->n_in; i++) in[i] = *weft__out_shape(n->graph, n->in[i]);
    infer s = {n, n->graph, n->n_in, n->n_out, in, n->out_shape, held};
    err = infer_run(&s, &(infer_notes){in + room, is_shape, NULL});
    for (int i = 0; i < n->n_in; i++) weft_tensor_destroy(held[i]);
  }
  weft__free(held);
  weft__free(is_shape);
  weft__free(in);
  return err;
}

const weft_tensor *weft__infer_value(infer *s, int i) {
  WEFT_ASSERT(i >= 0 && i < s->n_in);
  if (!s->held[i]) s->held[i] = weft__graph_constant(s->graph, s->node->in[i]);
  const weft_tensor *v = s->held[i];
  /* Rules check the known rank of an input, then read as many elements as it has.  So a folded value whose rank was
   * not known (such as ParseTensor's) is not used. */
  return v && s->in[i].rank >= 0 && weft__shape_compatible(&s->in[i], &v->shape) ? v : NULL;
}

/* Input i as a shape, -1 for an element that is not known; values below that are left to the caller. */
static weft_err infer_read_shape(infer *s, int i, shape *out) {
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
  if (v->shape.rank == 0 && weft__tensor_int(v, 0) == -1) return WEFT_OK; /* the scalar -1 means any shape */
  if (count > WEFT_MAX_RANK)
    return weft__infer_fail(s, "a shape of %lld dimensions is over the limit of %d", (long long)count, WEFT_MAX_RANK);
  out->rank = weft__int_sat(count);
  for (int d = 0; d < out->rank; d++) out->dim[d] = weft__tensor_int(v, d);
  return WEFT_OK;
}

weft_err weft__infer_shape_value(infer *s, int i, shape *out) {
  WEFT_ASSERT(notes && i >= 0 && i < s->n_in);
  WEFT_TRY(infer_read_shape(s, i, out));
  for (int d = 0; d < out->rank; d++)
    if (out->dim[d] < -1)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Invalid value in tensor used for shape: %lld", (long long)out->dim[d]);
  notes->is_shape[i] = true;
  notes->as_shape[i] = *out;
  return WEFT_OK;
}

enum { SHOWN_INPUTS = 16, SHOWN_ELEMENTS = 20 };

/* Appends the values of the inputs that the rule asked for, as TensorFlow shows them. */
static void infer_values_text(const infer *s, text *out) {
  int shown = 0;
  for (int i = 0; i < s->n_in && i < SHOWN_INPUTS; i++) {
    if (!s->held[i] || notes->is_shape[i]) continue;
    text value = {0};
    weft__tensor_print(&value, s->held[i], SHOWN_ELEMENTS); /* in brackets, which are left out */
    const char *inner = value.size > 2 ? weft__text_get(&value) + 1 : "";
    weft__text_printf(out, "%sinput[%d] = <%.*s>", shown++ ? ", " : " and with computed input tensors: ", i,
                      value.size > 2 ? weft__int_sat((int64_t)value.size - 2) : 0, inner);
    weft__text_finish(&value);
  }
  shown = 0;
  for (int i = 0; i < s->n_in && i < SHOWN_INPUTS; i++)
    if (notes->is_shape[i] && notes->as_shape[i].rank >= 0)
      weft__text_printf(out, "%sinput[%d] = %s",
                        shown++ ? ", " : " and with input tensors computed as partial shapes: ", i,
                        weft__shape_text(&notes->as_shape[i]));
}

#undef weft__infer_fail
weft_err weft__infer_fail(infer *s, const char *fmt, ...) {
  char what[1024];
  va_list args;
  va_start(args, fmt);
  vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  text shapes = {0};
  for (int i = 0; i < s->n_in && i < SHOWN_INPUTS; i++)
    weft__text_printf(&shapes, "%s%s", i ? ", " : "", weft__shape_text(&s->in[i]));
  infer_values_text(s, &shapes);
  weft_err err = weft__fail(WEFT_INVALID_ARGUMENT, "%s for '%s' (op: '%s') with input shapes: %s.", what, s->node->name,
                            s->node->op_name, weft__text_get(&shapes));
  weft__text_finish(&shapes);
  return err;
}

weft_err weft__infer_rank(infer *s, int i, int rank, shape *out) {
  WEFT_ASSERT(i >= 0 && i < s->n_in && rank >= 0 && rank <= WEFT_MAX_RANK);
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
  WEFT_ASSERT(i >= 0 && i < s->n_in);
  if (s->in[i].rank >= 0 && s->in[i].rank < rank)
    return weft__infer_fail(s, "Shape must be at least rank %d but is rank %d", rank, s->in[i].rank);
  return WEFT_OK;
}

weft_err weft__infer_same(infer *s) {
  if (s->n_in && s->n_out) s->out[0] = s->in[0];
  return WEFT_OK;
}

weft_err weft__infer_broadcast(infer *s) {
  WEFT_ASSERT(s->n_in >= 2 && s->n_out >= 1);
  const shape *a = &s->in[0], *b = &s->in[1];
  if (weft__shape_broadcast(&s->out[0], a, b) == WEFT_OK) return WEFT_OK;
  int rank = a->rank < b->rank ? a->rank : b->rank, d = rank; /* counted from the end: the first pair that differs */
  WEFT_ASSERT(rank > 0);                                      /* scalars and unknown ranks broadcast */
  while (d > 1 && (a->dim[a->rank - d] < 0 || b->dim[b->rank - d] < 0 || a->dim[a->rank - d] == 1 ||
                   b->dim[b->rank - d] == 1 || a->dim[a->rank - d] == b->dim[b->rank - d]))
    d--;
  return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)a->dim[a->rank - d],
                          (long long)b->dim[b->rank - d]);
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
  shape all = s->n_in ? s->in[s->n_in - 1] : SHAPE_UNKNOWN;
  for (int i = s->n_in - 2; i >= 0; i--) /* from the last, as TensorFlow counts them in the text */
    if (weft__shape_merge(&all, &s->in[i], &all) != WEFT_OK)
      return weft__infer_fail(s, "%s\n\tFrom merging shape %d with other shapes.", weft__error_message(), i);
  s->out[0] = all;
  return WEFT_OK;
}
