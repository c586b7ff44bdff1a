/* unroll_emit.c - the nodes of the unrolled graph: copies, constants and their order. */
#include "base/alloc.h"
#include "base/array.h"
#include "exec/passes/unroll_state.h"
#include "graph/fold.h"
#include "graph/fusion.h"
#include "graph/graph.h"
#include <stdio.h>
#include <string.h>

enum { MAX_EFFECTS = 48, SMALL_ELEMENTS = 64 };

/* ---- effects ---- */

static weft_err set_add(unroller *u, const int *node, int n, int *out) {
  WEFT_TRY(WEFT_ARRAY_RESERVE(u->set, u->room_set, u->n_set + 1));
  int *kept = weft__arena_copy(&u->arena, node, sizeof *kept * (size_t)n);
  if (!kept) return WEFT_OOM;
  u->set[u->n_set] = (effects){kept, n};
  *out = u->n_set++;
  return WEFT_OK;
}

/* Replaces a set that has grown large by one node that waits for all of it. */
static weft_err set_collapse(unroller *u, const int *node, int n, int *out) {
  char name[48];
  weft_node *made;
  snprintf(name, sizeof name, "_unrolled/join_%d", u->n_set);
  WEFT_TRY(weft__unroll_add(
      u, &(node_spec){.op = "NoOp", .name = name, .device = "", .exact = true, .n_control = n, .control = node}, 0,
      &made));
  return set_add(u, &made->id, 1, out);
}

weft_err weft__unroll_union(unroller *u, int a, int b, int *out) {
  if (a == b || b == 0 || a == 0) {
    *out = a ? a : b;
    return WEFT_OK;
  }
  const effects x = u->set[a], y = u->set[b];
  int both[2 * MAX_EFFECTS + 2], n = 0;
  for (int i = 0, j = 0; i < x.n || j < y.n;) {
    const int next = j == y.n || (i < x.n && x.node[i] <= y.node[j]) ? x.node[i] : y.node[j];
    i += i < x.n && x.node[i] == next;
    j += j < y.n && y.node[j] == next;
    both[n++] = next;
  }
  if (n == x.n || n == y.n) {
    *out = n == x.n ? a : b;
    return WEFT_OK;
  }
  return n > MAX_EFFECTS ? set_collapse(u, both, n, out) : set_add(u, both, n, out);
}

/* ---- nodes ---- */

weft_err weft__unroll_add(unroller *u, const node_spec *spec, int place, weft_node **out) {
  unrolled_graph *m = u->made;
  if (m->graph->n_node >= u->most) return weft__unroll_stuck("its iterations have more than %d nodes", u->most);
  WEFT_TRY(WEFT_ARRAY_RESERVE(m->of_node, m->room, m->graph->n_node + 1));
  WEFT_TRY(WEFT_ARRAY_RESERVE(m->first_copy, m->room_first, m->graph->n_node + 1));
  WEFT_TRY(WEFT_ARRAY_RESERVE(m->padded, m->room_padded, m->graph->n_node + 1));
  WEFT_TRY(weft__graph_add(m->graph, spec, out));
  m->of_node[(*out)->id] = place;
  m->first_copy[(*out)->id] = (*out)->id;
  m->padded[(*out)->id] = false;
  return WEFT_OK;
}

weft_err weft__unroll_keep(unroller *u, const weft_tensor *t, const weft_tensor **out) {
  WEFT_TRY(WEFT_ARRAY_RESERVE(u->known, u->room_known, u->n_known + 1));
  weft_tensor *kept = NULL;
  WEFT_TRY(weft__tensor_create_like(&kept, t));
  u->known[u->n_known++] = kept;
  *out = kept;
  return WEFT_OK;
}

static bool same_value(const weft_tensor *a, const weft_tensor *b) {
  if (a == b) return true;
  return a->dtype == b->dtype && weft__dtype_is_plain(a->dtype) && weft__shape_equal(&a->shape, &b->shape) &&
         memcmp(a->data, b->data, weft__tensor_bytes(a)) == 0;
}

weft_err weft__unroll_materialize(unroller *u, symbol *s, int place) {
  if (s->object) return weft__unroll_stuck("a node reads the handle of a TensorArray or stack as a value");
  if (s->out.node >= 0) return WEFT_OK;
  for (int i = 0; i < u->n_constant; i++)
    if (same_value(u->constant[i].value, s->known)) {
      s->out = u->constant[i].out;
      return WEFT_OK;
    }
  WEFT_TRY(WEFT_ARRAY_RESERVE(u->constant, u->room_constant, u->n_constant + 1));
  char name[48];
  weft_node *made;
  const attr attrs[] = {A_TENSOR("value", (weft_tensor *)(uintptr_t)s->known), A_TYPE("dtype", s->known->dtype)};
  snprintf(name, sizeof name, "_unrolled/constant_%d", u->n_constant);
  WEFT_TRY(weft__unroll_add(
      u, &(node_spec){.op = "Const", .name = name, .device = "", .exact = true, .n_attr = 2, .attr = attrs}, place,
      &made));
  s->out = (weft_out){made->id, 0, 0};
  u->constant[u->n_constant++] = (constant_made){s->known, s->out};
  return WEFT_OK;
}

/* Adds a copy of n, or a helper named as it: names are unique in a graph, but errors name the program's node. */
static weft_err add_named(unroller *u, const weft_node *n, node_spec *spec, weft_node **made) {
  const size_t room = strlen(n->name) + 24;
  char *name = weft__arena_alloc(&u->arena, room);
  if (!name) return WEFT_OOM;
  snprintf(name, room, u->copies[n->id] ? "%s~%d" : "%s", n->name, u->copies[n->id]);
  u->copies[n->id]++;
  spec->name = name, spec->device = n->device, spec->exact = true;
  WEFT_TRY(weft__unroll_add(u, spec, u->where->of_node[n->id], made));
  (*made)->name = n->name;
  return WEFT_OK;
}

weft_err weft__unroll_helper(unroller *u, const weft_node *n, const char *op_name, int n_in, symbol *in, int n_attr,
                             const attr *attrs, weft_node **made) {
  weft_out *from = weft__arena_alloc(&u->arena, sizeof *from * ((size_t)n_in + 1));
  if (!from) return WEFT_OOM;
  for (int i = 0; i < n_in; i++) {
    WEFT_TRY(weft__unroll_materialize(u, &in[i], u->where->of_node[n->id]));
    from[i] = in[i].out;
  }
  return add_named(u, n, &(node_spec){.op = op_name, .n_in = n_in, .in = from, .n_attr = n_attr, .attr = attrs}, made);
}

/* ---- copies ---- */

/* Returns true if the node does more than compute its outputs. */
static bool node_acts(const weft_node *n) {
  if (n->op->flags & OP_ONCE) return false;
  bool acts = n->op->opdef.stateful || n->op->flags & OP_UPDATES || n->n_out == 0;
  for (int i = 0; i < n->n_in; i++) acts = acts || weft__node_takes_ref(n, i);
  return acts;
}

/* Returns true if copies of the node must keep their order among nodes with effects: it reads or changes a variable, or
 * acts. */
static bool has_effect(const weft_node *n, const symbol *in) {
  if (n->op->flags & OP_ONCE) return false;
  bool effect = node_acts(n);
  for (int i = 0; i < n->n_in; i++) effect = effect || in[i].variable >= 0;
  return effect;
}

static weft_err unroll_emit_copy_attrs(unroller *u, const weft_node *n, node_spec *spec) {
  attr *attrs = weft__arena_alloc(&u->arena, sizeof *attrs * ((size_t)n->n_attr + 1));
  if (!attrs) return WEFT_OOM;
  for (int i = 0; i < n->n_attr; i++)
    if (strcmp(n->attr[i].name, "_class") != 0) attrs[spec->n_attr++] = n->attr[i];
  spec->attr = attrs;
  return WEFT_OK;
}

/* Returns the readers that input i waits for: a loop reads the value that a variable had when the loop began, so what
 * changes the variable waits for all of these. */
static const variable_use *readers_before(const unroller *u, const weft_node *n, const symbol *in, int i) {
  static const variable_use none = {0};
  return in[i].variable >= 0 && weft__node_takes_ref(n, i) ? &u->use[in[i].variable] : &none;
}

/* The control edges of a copy with effects: everything in the set, those readers, and the copy before. */
static weft_err copy_controls(unroller *u, const weft_node *n, const symbol *in, int after, node_spec *spec) {
  const effects *e = &u->set[after];
  size_t most = (size_t)e->n + 1;
  for (int i = 0; i < n->n_in; i++) most += (size_t)readers_before(u, n, in, i)->n;
  int *control = weft__arena_alloc(&u->arena, sizeof *control * most);
  if (!control) return WEFT_OOM;
  for (int i = 0; i < e->n; i++) control[spec->n_control++] = e->node[i];
  for (int i = 0; i < n->n_in; i++) {
    const variable_use *use = readers_before(u, n, in, i);
    for (int j = 0; j < use->n; j++) control[spec->n_control++] = use->reader[j];
  }
  if (n->op->opdef.stateful && u->last_copy[n->id] >= 0) control[spec->n_control++] = u->last_copy[n->id];
  spec->control = control;
  return WEFT_OK;
}

/* Notes that the copy reads or changes variables.  Fails if one was changed since the loop began that reads it, or if
 * the loop itself changes it: the value that an Enter binds shares the variable's memory, so that later iterations of
 * the loop see the change, but those of the new graph would not. */
static weft_err note_uses(unroller *u, const weft_node *n, const symbol *in, const weft_node *made) {
  for (int i = 0; i < n->n_in; i++) {
    variable_use *use = in[i].variable >= 0 ? &u->use[in[i].variable] : NULL;
    if (!use) continue;
    if (weft__node_takes_ref(n, i)) {
      if (use->n && u->frames.home[n->id] != 0)
        return weft__unroll_stuck("a loop changes '%s' after it has read its value", u->g->node[in[i].variable]->name);
      use->version++;
      continue;
    }
    if (in[i].version == 0) continue;
    if (in[i].version != use->version + 1)
      return weft__unroll_stuck("'%s' changes while a loop reads the value that it had before",
                                u->g->node[in[i].variable]->name);
    WEFT_TRY(WEFT_ARRAY_RESERVE(use->reader, use->room, use->n + 1));
    use->reader[use->n++] = made->id;
  }
  return WEFT_OK;
}

static weft_err note_copy(unroller *u, const weft_node *n, const weft_node *made) {
  if (u->last_copy[n->id] >= 0 && n->op->opdef.stateful)
    u->made->first_copy[made->id] = u->made->first_copy[u->last_copy[n->id]];
  u->last_copy[n->id] = made->id;
  if (!node_acts(n)) return WEFT_OK;
  WEFT_TRY(WEFT_ARRAY_RESERVE(u->effect, u->room_effect, u->n_effect + 1));
  u->effect[u->n_effect++] = made->id;
  return WEFT_OK;
}

/* Returns the variable that an output refers to, or whose value its readers see when they run. */
static int variable_of_output(const weft_node *n, const weft_node *made, const symbol *in, int o) {
  if ((int)n->out_type[o] > WEFT_REF_BASE) return n->n_in && in[0].variable >= 0 ? in[0].variable : n->id;
  const bool read = weft__node_is(n, KIND_IDENTITY) && in[0].variable >= 0 && made->n_control == 0;
  return read ? in[0].variable : -1;
}

/* Learns small integers from the shapes that the graph declares. */
static weft_err learn_value(unroller *u, const weft_node *made, int o, symbol *out) {
  const shape *s = &made->out_shape[o];
  const weft_dtype t = made->out_type[o];
  if (t != WEFT_INT32 && t != WEFT_INT64 && t != WEFT_BOOL) return WEFT_OK;
  if (!weft__shape_known(s) || weft__shape_count(s) > SMALL_ELEMENTS) return WEFT_OK;
  weft_tensor *learned = weft__graph_constant(u->made->graph, out->out);
  if (!learned) return WEFT_OK;
  const weft_err err = weft__unroll_keep(u, learned, &out->known);
  weft_tensor_destroy(learned);
  return err;
}

static weft_err node_copy(unroller *u, const weft_node *n, symbol *in, int after, symbol *out, int *done) {
  const bool effect = has_effect(n, in), in_loop = u->frames.home[n->id] != 0;
  node_spec spec = {.op = n->op_name, .n_in = n->n_in};
  weft_out *from = weft__arena_alloc(&u->arena, sizeof *from * ((size_t)n->n_in + 1));
  weft_node *made;
  if (!from) return WEFT_OOM;
  if (in_loop && n->op->flags & OP_ONCE) return weft__unroll_stuck("the loop makes '%s' (%s)", n->name, n->op_name);
  for (int i = 0; i < n->n_in; i++) {
    WEFT_TRY(weft__unroll_materialize(u, &in[i], u->where->of_node[n->id]));
    from[i] = in[i].out;
  }
  spec.in = from;
  WEFT_TRY(unroll_emit_copy_attrs(u, n, &spec));
  if (effect) WEFT_TRY(copy_controls(u, n, in, after, &spec));
  WEFT_TRY(add_named(u, n, &spec, &made));
  WEFT_TRY(note_copy(u, n, made));
  WEFT_TRY(note_uses(u, n, in, made));
  if (u->padded && u->padded[n->id]) {
    u->made->padded[made->id] = true;
    made->out_shape[0] = *weft__out_shape(u->made->graph, made->in[0]);
  }
  bool late = false;
  for (int o = 0; o < n->n_out; o++) {
    shape both;
    if (weft__shape_merge(&both, &made->out_shape[o], &n->out_shape[o]) == WEFT_OK) made->out_shape[o] = both;
    out[o] = (symbol){.out = {made->id, (uint16_t)o, 0}, .variable = variable_of_output(n, made, in, o)};
    late = late || (out[o].variable >= 0 && (int)n->out_type[o] < WEFT_REF_BASE);
    WEFT_TRY(learn_value(u, made, o, &out[o]));
  }
  *done = after;
  if (effect && !late) WEFT_TRY(set_add(u, &made->id, 1, done));
  return WEFT_OK;
}

/* ---- values ---- */

static weft_err node_constant(unroller *u, const weft_node *n, int after, symbol *out, int *done) {
  const attr *given = weft__node_attr(n, "value");
  *done = after;
  if (u->last_copy[n->id] >= 0) { /* of an earlier iteration */
    out[0] = (symbol){.out = {u->last_copy[n->id], 0, 0}, .variable = -1};
    return WEFT_OK;
  }
  if (given && given->kind == ATTR_TENSOR && weft__tensor_bytes(given->tensor) <= UNROLL_MAX_KNOWN) {
    out[0] = (symbol){.out = WEFT_NONE, .known = given->tensor, .variable = -1};
    return WEFT_OK;
  }
  return node_copy(u, n, NULL, 0, out, &(int){0});
}

/* Runs the kernel of a node all of whose inputs are known; *folded: it could be run, and its outputs are small. */
static weft_err node_fold(unroller *u, const weft_node *n, const symbol *in, symbol *out, bool *folded) {
  const weft_tensor *given[FOLD_MAX_IN];
  value made[FOLD_MAX_OUT] = {{.dead = false}};
  *folded = false;
  if (n->n_in == 0 || !weft__node_may_fold(u->g, n)) return WEFT_OK;
  for (int i = 0; i < n->n_in; i++) {
    if (!in[i].known) return WEFT_OK;
    given[i] = in[i].known;
  }
  weft_err err = WEFT_OK;
  *folded = weft__node_fold(n, given, made, UNROLL_MAX_KNOWN) == WEFT_OK;
  for (int o = 0; o < n->n_out; o++) *folded = *folded && made[o].t.buf;
  for (int o = 0; o < n->n_out; o++) {
    out[o] = (symbol){.out = WEFT_NONE, .variable = -1};
    if (!err && *folded) err = weft__unroll_keep(u, &made[o].t, &out[o].known);
    weft__tensor_clear(&made[o].t);
  }
  return err;
}

/* Returns true if the node hands on its input: an Identity of a value.  Outside of loops it may be the one that reads a
 * variable.  A GPU's plan skips it later (exec/passes/skip_forwards.h); on the host, sums of products are found only
 * without it. */
static bool passes_on(const unroller *u, const weft_node *n, const symbol *in) {
  if (!weft__node_is(n, KIND_IDENTITY) || weft__out_is_ref(u->g, n->in[0]) || (int)n->out_type[0] > WEFT_REF_BASE)
    return false;
  return u->frames.home[n->id] != 0 || (u->where->host_only && in[0].variable < 0);
}

/* Returns true if the node's op declares that it hands on its first input, given the value of its second. */
static bool hands_on(const unroller *u, const weft_node *n, const symbol *in) {
  const fusion *f = n->op->fusion;
  if (!f || !f->hands_on || !in[1].known || in[0].out.node < 0 || in[0].variable >= 0) return false;
  const shape *x = weft__out_shape(u->made->graph, in[0].out);
  return weft__shape_known(x) && f->hands_on(x, in[1].known);
}

weft_err weft__unroll_node(unroller *u, const weft_node *n, symbol *in, int after, symbol *out, int *done) {
  bool is = false;
  *done = after;
  WEFT_TRY(weft__unroll_array_op(u, n, in, after, out, &is));
  if (is) return WEFT_OK;
  if (weft__node_is(n, KIND_NO_OP) || weft__node_is(n, KIND_CONTROL_TRIGGER)) return WEFT_OK;
  if (n->op->flags & OP_ASYNC) return weft__unroll_stuck("'%s' (%s) waits", n->name, n->op_name);
  if (weft__node_is(n, KIND_CONST)) return node_constant(u, n, after, out, done);
  if (passes_on(u, n, in) || hands_on(u, n, in)) {
    out[0] = in[0];
    return WEFT_OK;
  }
  WEFT_TRY(node_fold(u, n, in, out, &is));
  return is ? WEFT_OK : node_copy(u, n, in, after, out, done);
}
