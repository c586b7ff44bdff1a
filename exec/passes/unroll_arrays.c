/* unroll_arrays.c - TensorArrays and stacks of unrolled loops: a node that reads an element gets the value that was
 * written.
 *
 * What would be an error in a run (a place written twice, a value popped from an empty stack) is left to the dataflow
 * executor, which reports it. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "exec/passes/unroll_state.h"
#include "graph/graph.h"
#include <string.h>

static weft_err store_create(unroller *u, step_store **out) {
  *out = weft__arena_alloc(&u->arena, sizeof **out);
  if (!*out) return WEFT_OOM;
  (*out)->next = u->stores;
  u->stores = *out;
  return WEFT_OK;
}

static weft_err store_resize(step_store *s, int64_t n) {
  if (n > UNROLL_MAX_NODES) return weft__unroll_stuck("a TensorArray has more than %d places", UNROLL_MAX_NODES);
  WEFT_TRY(WEFT_ARRAY_RESERVE_ZERO(s->element, s->room, n + 1));
  WEFT_TRY(WEFT_ARRAY_RESERVE_ZERO(s->written, s->room_written, n + 1));
  WEFT_TRY(WEFT_ARRAY_RESERVE_ZERO(s->taken, s->room_taken, n + 1));
  s->n = n;
  return WEFT_OK;
}

/* ---- stacks ---- */

static weft_err stack_push(step_store *s, const symbol *pushed, int after) {
  WEFT_TRY(store_resize(s, s->n + 1));
  s->element[s->n - 1] = *pushed;
  s->element[s->n - 1].after = after;
  return WEFT_OK;
}

static weft_err stack_pop(unroller *u, const weft_node *n, step_store *s, int after, symbol *out) {
  if (s->n == 0) return weft__unroll_stuck("'%s' pops from an empty stack", n->name);
  *out = s->element[--s->n];
  return weft__unroll_union(u, out->after, after, &out->after);
}

/* ---- elements of arrays ---- */

static weft_err known_int(const weft_node *n, const symbol *s, int64_t *out) {
  if (!s->known) return weft__unroll_stuck("a size or an index that '%s' (%s) reads is not known", n->name, n->op_name);
  *out = weft__tensor_int(s->known, 0);
  return WEFT_OK;
}

static weft_err array_write(unroller *u, const weft_node *n, step_store *s, int64_t i, const symbol *written) {
  if (i < 0 || (i >= s->n && !s->dynamic)) return weft__unroll_stuck("'%s' writes outside of its TensorArray", n->name);
  if (i >= s->n) WEFT_TRY(store_resize(s, i + 1));
  if (!s->written[i]) {
    s->element[i] = *written;
    s->written[i] = true;
    return WEFT_OK;
  }
  if (!s->sums) return weft__unroll_stuck("'%s' writes a place twice", n->name);
  symbol both[] = {s->element[i], *written};
  weft_node *made;
  int after;
  WEFT_TRY(weft__unroll_union(u, both[0].after, both[1].after, &after));
  WEFT_TRY(weft__unroll_helper(u, n, "Add", 2, both, 0, NULL, &made));
  s->element[i] = (symbol){.out = {made->id, 0, 0}, .variable = -1, .after = after};
  return WEFT_OK;
}

/* Returns an element of the shape that place i has, or NULL: of a gradient, the element; else any other one. */
static const symbol *element_like(const step_store *s, int64_t i) {
  if (s->of) return i < s->of->n && s->of->written[i] ? &s->of->element[i] : element_like(s->of, i);
  for (int64_t j = 0; j < s->n && s->uniform; j++)
    if (s->written[j]) return &s->element[j];
  return NULL;
}

/* A place that nothing was written to: zeros. */
static weft_err read_zeros(unroller *u, const weft_node *n, const step_store *s, int64_t i, symbol *out) {
  const symbol *like = element_like(s, i);
  if (!like) return weft__unroll_stuck("'%s' reads a place that was not written", n->name);
  symbol of = *like;
  weft_node *made;
  WEFT_TRY(weft__unroll_helper(u, n, "ZerosLike", 1, &of, 0, NULL, &made));
  *out = (symbol){.out = {made->id, 0, 0}, .variable = -1};
  return WEFT_OK;
}

static weft_err array_read(unroller *u, const weft_node *n, step_store *s, int64_t i, symbol *out) {
  if (i < 0 || i >= s->n) return weft__unroll_stuck("'%s' reads outside of its TensorArray", n->name);
  if (s->taken[i] && !s->keeps) return weft__unroll_stuck("'%s' reads a place a second time", n->name);
  s->taken[i] = true;
  if (!s->written[i]) return read_zeros(u, n, s, i, out);
  *out = s->element[i];
  return WEFT_OK;
}

/* ---- whole arrays ---- */

static weft_err array_scatter(unroller *u, const weft_node *n, step_store *s, symbol *in, int after) {
  const weft_tensor *index = in[1].known;
  const int64_t count = index ? weft__tensor_count(index) : 0;
  if (!index) return weft__unroll_stuck("the indices of '%s' are not known", n->name);
  WEFT_TRY(weft__unroll_materialize(u, &in[2], u->where->of_node[n->id]));
  const shape *all = weft__out_shape(u->made->graph, in[2].out);
  if (all->rank < 1 || all->dim[0] != count || count == 0)
    return weft__unroll_stuck("the shape of what '%s' scatters is not known", n->name);
  weft_node *made;
  const attr attrs[] = {A_INT("num", count), A_INT("axis", 0)};
  WEFT_TRY(weft__unroll_helper(u, n, "Unpack", 1, &in[2], 2, attrs, &made));
  for (int64_t i = 0; i < count; i++) {
    const symbol row = {.out = {made->id, (uint16_t)i, 0}, .variable = -1, .after = after};
    WEFT_TRY(array_write(u, n, s, weft__tensor_int(index, i), &row));
  }
  return WEFT_OK;
}

static weft_err array_gather(unroller *u, const weft_node *n, step_store *s, const symbol *in, symbol *out) {
  const weft_tensor *index = in[1].known;
  const int64_t count = index ? weft__tensor_count(index) : 0;
  if (count == 0) return weft__unroll_stuck("the indices of '%s' are not known", n->name);
  symbol *row = weft__arena_alloc(&u->arena, sizeof *row * (size_t)count);
  weft_node *made;
  if (!row) return WEFT_OOM;
  for (int64_t i = 0; i < count; i++) {
    WEFT_TRY(array_read(u, n, s, weft__tensor_int(index, i), &row[i]));
    WEFT_TRY(weft__unroll_union(u, out->after, row[i].after, &out->after));
  }
  const attr axis = A_INT("axis", 0);
  WEFT_TRY(weft__unroll_helper(u, n, "Pack", weft__int_sat(count), row, 1, &axis, &made));
  shape both;
  if (weft__shape_merge(&both, &made->out_shape[0], &n->out_shape[0]) == WEFT_OK) made->out_shape[0] = both;
  out->out = (weft_out){made->id, 0, 0};
  return WEFT_OK;
}

static weft_err array_create(unroller *u, const weft_node *n, const symbol *in, symbol *out) {
  int64_t size = 0;
  weft_tensor *zero;
  step_store *s;
  WEFT_TRY(known_int(n, &in[0], &size));
  WEFT_TRY(store_create(u, &s));
  WEFT_TRY(store_resize(s, size < 0 ? 0 : size));
  s->dynamic = weft__node_bool(n, "dynamic_size", false);
  s->keeps = !weft__node_bool(n, "clear_after_read", true);
  s->uniform = weft__node_bool(n, "identical_element_shapes", false);
  out[0].object = s;
  WEFT_TRY(weft__tensor_scalar(&zero, WEFT_FLOAT, 0));
  const weft_err err = weft__unroll_keep(u, zero, &out[1].known);
  weft_tensor_destroy(zero);
  return err;
}

/* The gradient of an array: one for each name. */
static weft_err array_gradient(unroller *u, const weft_node *n, step_store *of, symbol *out) {
  const char *source = weft__node_str(n, "source").data;
  step_store *s = of->gradients;
  while (s && strcmp(s->source, source) != 0) s = s->next_gradient;
  if (!s) {
    WEFT_TRY(store_create(u, &s));
    WEFT_TRY(store_resize(s, of->n));
    s->of = of, s->source = source, s->sums = s->keeps = true;
    s->next_gradient = of->gradients;
    of->gradients = s;
  }
  out->object = s;
  return WEFT_OK;
}

static weft_err array_size(unroller *u, const step_store *s, symbol *out) {
  weft_tensor *size;
  WEFT_TRY(weft__tensor_scalar(&size, WEFT_INT32, (double)s->n));
  const weft_err err = weft__unroll_keep(u, size, &out->known);
  weft_tensor_destroy(size);
  return err;
}

/* ---- ops ---- */

static weft_err array_act(unroller *u, const weft_node *n, symbol *in, int after, symbol *out) {
  step_store *s = n->n_in ? in[0].object : NULL;
  int64_t i = 0;
  if (weft__node_is(n, KIND_ARRAY)) return array_create(u, n, in, out);
  if (weft__node_is(n, KIND_STACK)) return store_create(u, &out[0].object);
  if (!s) return weft__unroll_stuck("the handle that '%s' (%s) reads is not known", n->name, n->op_name);
  if (weft__node_is(n, KIND_ARRAY_WRITE) || weft__node_is(n, KIND_ARRAY_READ)) WEFT_TRY(known_int(n, &in[1], &i));
  switch (n->op->kind) {
  case KIND_ARRAY_GRADIENT: out[1] = in[1]; return array_gradient(u, n, s, &out[0]);
  case KIND_ARRAY_WRITE: {
    symbol written = in[2];
    written.after = after;
    out[0] = in[3];
    return array_write(u, n, s, i, &written);
  }
  case KIND_ARRAY_READ: return array_read(u, n, s, i, &out[0]);
  case KIND_ARRAY_SCATTER: out[0] = in[3]; return array_scatter(u, n, s, in, after);
  case KIND_ARRAY_GATHER: return array_gather(u, n, s, in, &out[0]);
  case KIND_ARRAY_SIZE: return array_size(u, s, &out[0]);
  case KIND_PUSH: out[0] = in[1]; return stack_push(s, &in[1], after);
  case KIND_POP: return stack_pop(u, n, s, after, &out[0]);
  case KIND_CLOSE: return WEFT_OK;
  default: return weft__unroll_stuck("'%s' is a %s", n->name, n->op_name);
  }
}

weft_err weft__unroll_array_op(unroller *u, const weft_node *n, symbol *in, int after, symbol *out, bool *is) {
  *is = (n->op->flags & OP_STEP_OBJECT) != 0;
  if (!*is) return WEFT_OK;
  for (int o = 0; o < n->n_out; o++) out[o] = (symbol){.out = WEFT_NONE, .variable = -1};
  WEFT_TRY(array_act(u, n, in, after, out));
  for (int o = 0; o < n->n_out; o++) WEFT_TRY(weft__unroll_union(u, out[o].after, after, &out[o].after));
  return WEFT_OK;
}
