/* gradient_bring.c - brings values of the forward pass into backward loops.
 *
 * The gradient function of an op refers to forward tensors.  In a backward loop, such a tensor means its value in
 * the matching iteration of the forward loop.  So the forward loop pushes each value that a gradient reads on a
 * stack, and the backward loop pops it.  A value that is the same in every iteration is entered as a constant
 * instead.  If only the shape of a tensor is read, only the shape is pushed.  The graph's `adapt` hook does this for
 * every node before it is added, so gradient functions need not know about loops.
 *
 * Order: a push waits for the pivot of its iteration, and the pivot of the next iteration waits for the push.  The
 * same holds for pops.  ControlTriggers collect them, because a push on a branch that is not taken is dead. */
#include "base/alloc.h"
#include "base/assert.h"
#include "graph/gradient/gradient_state.h"

struct brought {
  weft_out from, to;
  brought *next;
};

/* ---- where nodes run ---- */

static weft_err set_place(gradient_state *s, int node, node_place p) {
  int i = node - s->n;
  WEFT_ASSERT(i >= 0); /* places of the nodes before the call follow from the frames */
  WEFT_TRY(WEFT_ARENA_RESERVE(&s->a, s->place, s->cap_place, i + 1));
  s->place[i] = p;
  return WEFT_OK;
}

static node_place gradient_bring_place_of(const gradient_state *s, weft_out v) {
  WEFT_ASSERT(v.node >= 0);
  if (v.node < s->n)
    return (node_place){NULL, s->frames.home[v.node],
                        s->frames.home[v.node] ? weft__frames_branch(&s->frames, s->g, v) : 0};
  return v.node - s->n < s->cap_place ? s->place[v.node - s->n] : (node_place){0};
}

back_frame *weft__gradient_enter(gradient_state *s, back_frame *b) {
  back_frame *was = s->now;
  s->now = b;
  return was;
}

weft_err weft__gradient_adapt_outer(gradient_state *s, node_spec *spec) {
  weft_graph *g = s->g;
  weft_err (*hook)(void *, node_spec *) = g->adapt;
  if (!s->outer_adapt) return WEFT_OK;
  g->adapt = s->outer_adapt;
  g->adapt_arg = s->outer_arg;
  const weft_err err = s->outer_adapt(s->outer_arg, spec);
  g->adapt = hook;
  g->adapt_arg = s;
  return err;
}

/* Adds a node without changes, at a place. */
static weft_err add_at(gradient_state *s, node_place p, const node_spec *spec, weft_out *out) {
  weft_graph *g = s->g;
  weft_err (*hook)(void *, node_spec *) = g->adapt;
  weft_node *n;
  node_spec adapted = *spec;
  if (!p.back && p.frame == 0) WEFT_TRY(weft__gradient_adapt_outer(s, &adapted));
  g->adapt = NULL;
  weft_err err = weft__graph_add(g, &adapted, &n);
  g->adapt = hook;
  WEFT_TRY(err);
  *out = (weft_out){n->id, 0};
  return set_place(s, n->id, p);
}

weft_err weft__gradient_add_forward(gradient_state *s, int frame, int in_branch, const node_spec *spec, weft_out *out) {
  return add_at(s, (node_place){NULL, frame, in_branch}, spec, out);
}

weft_err weft__gradient_add_back(gradient_state *s, back_frame *b, const node_spec *spec, weft_out *out) {
  return add_at(s, (node_place){b, 0, 0}, spec, out);
}

/* ---- values that were brought before ---- */

static brought **brought_bucket(back_frame *b, weft_out v) {
  return &b->brought[((uint32_t)v.node * 31u + (uint32_t)v.slot) % 64u];
}

static const brought *find_brought(back_frame *b, weft_out v) {
  const brought *e = *brought_bucket(b, v);
  while (e && (e->from.node != v.node || e->from.slot != v.slot)) e = e->next;
  return e;
}

static weft_err brought_remember(gradient_state *s, back_frame *b, weft_out from, weft_out to) {
  brought *e = weft__arena_alloc(&s->a, sizeof *e), **at = brought_bucket(b, from);
  if (!e) return weft__gradient_loop_oom();
  *e = (brought){from, to, *at};
  *at = e;
  return WEFT_OK;
}

/* ---- liveness ---- */

/* Returns an output that is alive exactly in the iterations in which the forward branch was taken. */
static weft_err pivot_of(gradient_state *s, back_frame *b, int in_branch, weft_out *out) {
  WEFT_ASSERT(in_branch >= 0 && in_branch < s->frames.n_branch);
  const weft_out key = {-2 - in_branch, 0}; /* a key that no output has */
  const branch *c = &s->frames.branch[in_branch];
  const brought *known = find_brought(b, key);
  weft_out pred, sw;
  *out = known ? known->to : b->pivot;
  if (known || in_branch <= 0) return WEFT_OK;
  WEFT_TRY(weft__gradient_bring(s, b, c->pred, &pred));
  WEFT_TRY(
      weft__gradient_add_back(s, b, &(node_spec){.op = "Switch", .n_in = 2, .in = (weft_out[]){b->pivot, pred}}, &sw));
  sw = weft__b_slot(sw, c->side);
  WEFT_TRY(weft__gradient_add_back(s, b, &(node_spec){.op = "Identity", .n_in = 1, .in = &sw}, out));
  return brought_remember(s, b, key, *out);
}

/* ---- invariants ---- */

weft_err weft__gradient_enter_value(gradient_state *s, back_frame *b, weft_out v, bool constant, weft_out *out) {
  attr attrs[] = {A_STR("frame_name", b->name), A_BOOL("is_constant", constant),
                  A_INT("parallel_iterations", b->parallel)};
  return weft__gradient_add_back(s, b, &(node_spec){.op = "Enter", .n_in = 1, .in = &v, .n_attr = 3, .attr = attrs},
                                 out);
}

static bool is_invariant(const gradient_state *s, weft_out v) {
  const weft_node *n = s->g->node[v.node];
  return weft__node_is(n, KIND_ENTER) && weft__node_bool(n, "is_constant", false);
}

/* Adds a small constant again in the backward loop, which is cheaper than a push in every iteration. */
static weft_err copy_constant(gradient_state *s, back_frame *b, weft_out v, weft_out *out) {
  const int64_t most = 64;
  weft_tensor *t = weft__graph_constant(s->g, v);
  weft_out alive;
  *out = WEFT_NONE;
  if (!t) return WEFT_OK;
  weft_err err = WEFT_OK;
  if (weft__tensor_count(t) <= most) err = pivot_of(s, b, gradient_bring_place_of(s, v).branch, &alive);
  if (err == WEFT_OK && weft__tensor_count(t) <= most) {
    attr attrs[] = {A_TENSOR("value", t), A_TYPE("dtype", t->dtype)};
    err = weft__gradient_add_back(
        s, b, &(node_spec){.op = "Const", .n_attr = 2, .attr = attrs, .n_control = 1, .control = &alive.node}, out);
  }
  weft_tensor_destroy(t);
  return err;
}

/* ---- stacks ---- */

/* Creates a StackV2 outside all loops.  A nested loop pushes its iterations one outer iteration after the other, and
 * they are popped in exactly the opposite order. */
static weft_err make_stack(gradient_state *s, const back_frame *b, weft_dtype type, weft_out *handle) {
  weft_tensor *t;
  weft_out size;
  while (b->outer) b = b->outer;
  WEFT_TRY(weft__tensor_scalar(&t, WEFT_INT32, -1));
  attr attrs[] = {A_TENSOR("value", t), A_TYPE("dtype", WEFT_INT32)};
  weft_err err = weft__gradient_add_forward(
      s, 0, 0, &(node_spec){.op = "Const", .n_attr = 2, .attr = attrs, .n_control = 1, .control = &b->entry.node},
      &size);
  weft_tensor_destroy(t);
  WEFT_TRY(err);
  attr stack_attrs[] = {A_TYPE("elem_type", type), A_STR("stack_name", "")};
  return weft__gradient_add_forward(
      s, 0, 0, &(node_spec){.op = "StackV2", .name = "f_acc", .n_in = 1, .in = &size, .n_attr = 2, .attr = stack_attrs},
      handle);
}

/* Enters the handle into a forward loop, through all loops around it. */
static weft_err enter_forward(gradient_state *s, const back_frame *b, weft_out handle, weft_out *out) {
  WEFT_ASSERT(b->forward > 0 && b->forward < s->frames.n_frame);
  if (b->outer) WEFT_TRY(enter_forward(s, b->outer, handle, &handle));
  attr attrs[] = {A_STR("frame_name", s->frames.frame[b->forward].name), A_BOOL("is_constant", true),
                  A_INT("parallel_iterations", b->parallel)};
  return weft__gradient_add_forward(
      s, b->forward, 0, &(node_spec){.op = "Enter", .n_in = 1, .in = &handle, .n_attr = 3, .attr = attrs}, out);
}

/* Returns true if the values that a loop saves may be moved to host memory. */
static bool swaps_memory(const gradient_state *s, int frame) {
  const loop_frame *f = &s->frames.frame[frame];
  for (int i = 0; i < f->n_exit; i++)
    if (s->g->node[f->exit[i]]->swap_memory) return true;
  return false;
}

static weft_err stack_push(gradient_state *s, const back_frame *b, weft_out handle, weft_out v, int in_branch) {
  WEFT_ASSERT(b->forward_sync >= 0 && b->forward_pivot.node >= 0);
  weft_out in_loop, pushed;
  attr swap = A_BOOL("swap_memory", swaps_memory(s, b->forward));
  WEFT_TRY(enter_forward(s, b, handle, &in_loop));
  WEFT_TRY(weft__gradient_add_forward(s, b->forward, in_branch,
                                      &(node_spec){.op = "StackPushV2",
                                                   .n_in = 2,
                                                   .in = (weft_out[]){in_loop, v},
                                                   .n_control = 1,
                                                   .control = &b->forward_pivot.node,
                                                   .n_attr = 1,
                                                   .attr = &swap},
                                      &pushed));
  return weft__graph_add_control(s->g, s->g->node[b->forward_sync], pushed.node);
}

static weft_err stack_pop(gradient_state *s, back_frame *b, weft_out handle, weft_out v, int in_branch, weft_out *out) {
  weft_dtype type = weft__out_type(s->g, v);
  WEFT_TRY(weft__gradient_bring(s, b, handle, &handle));
  if (in_branch > 0) { /* only if it was pushed */
    const branch *c = &s->frames.branch[in_branch];
    weft_out pred;
    WEFT_TRY(weft__gradient_bring(s, b, c->pred, &pred));
    WEFT_TRY(weft__gradient_add_back(s, b, &(node_spec){.op = "Switch", .n_in = 2, .in = (weft_out[]){handle, pred}},
                                     &handle));
    handle = weft__b_slot(handle, c->side);
  }
  WEFT_TRY(weft__gradient_add_back(s, b,
                                   &(node_spec){.op = "StackPopV2",
                                                .n_in = 1,
                                                .in = &handle,
                                                .n_attr = 1,
                                                .attr = &A_TYPE("elem_type", type),
                                                .n_control = 1,
                                                .control = &b->pivot.node},
                                   out));
  s->g->node[out->node]->out_shape[0] = *weft__out_shape(s->g, v);
  return weft__graph_add_control(s->g, s->g->node[b->sync], out->node);
}

static weft_err through_stack(gradient_state *s, back_frame *b, weft_out v, weft_out *out) {
  int in_branch = gradient_bring_place_of(s, v).branch;
  weft_out handle;
  WEFT_TRY(make_stack(s, b, weft__out_type(s->g, v), &handle));
  WEFT_TRY(stack_push(s, b, handle, v, in_branch));
  return stack_pop(s, b, handle, v, in_branch, out);
}

/* ---- bringing ---- */

static weft_err from_forward(gradient_state *s, back_frame *b, weft_out v, weft_out *out) {
  if (is_invariant(s, v)) return weft__gradient_bring(s, b, s->g->node[v.node]->in[0], out);
  WEFT_TRY(copy_constant(s, b, v, out));
  return out->node >= 0 ? WEFT_OK : through_stack(s, b, v, out);
}

static weft_err from_outside(gradient_state *s, back_frame *b, weft_out v, weft_out *out) {
  node_place p = gradient_bring_place_of(s, v);
  weft_out outer = v;
  if (b->outer)
    WEFT_TRY(weft__gradient_bring(s, b->outer, v, &outer));
  else if (p.back || p.frame != 0)
    return weft__fail(WEFT_INTERNAL, "the gradient of loop '%s' needs '%s', which is in another loop",
                      s->frames.frame[b->forward].name, s->g->node[v.node]->name);
  else if (s->outer_adapt) /* it may be outside a loop that is being built around this one */
    WEFT_TRY(add_at(s, (node_place){0}, &(node_spec){.op = "Identity", .n_in = 1, .in = &v}, &outer));
  return weft__gradient_enter_value(s, b, outer, true, out);
}

weft_err weft__gradient_bring(gradient_state *s, back_frame *b, weft_out v, weft_out *out) {
  WEFT_ASSERT(b && v.node >= 0);
  node_place p = gradient_bring_place_of(s, v);
  *out = v;
  if (p.back == b) return WEFT_OK;
  const brought *known = find_brought(b, v);
  if (known) {
    *out = known->to;
    return WEFT_OK;
  }
  if (!p.back && p.frame == b->forward)
    WEFT_TRY(from_forward(s, b, v, out));
  else
    WEFT_TRY(from_outside(s, b, v, out));
  return brought_remember(s, b, v, *out);
}

/* ---- the hook ---- */

static bool wants_shape_only(op_kind k) { return k == KIND_SHAPE || k == KIND_SIZE || k == KIND_RANK; }

/* Computes Shape(v) of a forward tensor v in the forward loop, so that the shape is pushed and not v. */
static weft_err shape_in_forward(gradient_state *s, back_frame *b, node_spec *spec, weft_out *in) {
  WEFT_ASSERT(spec->n_in == 1);
  node_place p = gradient_bring_place_of(s, spec->in[0]);
  weft_out dims;
  WEFT_TRY(weft__gradient_add_forward(
      s, p.frame, p.branch,
      &(node_spec){.op = spec->op, .n_in = 1, .in = spec->in, .n_attr = spec->n_attr, .attr = spec->attr}, &dims));
  WEFT_TRY(weft__gradient_bring(s, b, dims, &in[0]));
  spec->op = "Identity";
  spec->n_attr = 0;
  return WEFT_OK;
}

/* ZerosLike(v) also needs only the shape of v. */
static weft_err zeros_from_shape(gradient_state *s, back_frame *b, node_spec *spec, weft_out *in) {
  WEFT_ASSERT(spec->n_in == 1);
  weft_tensor *t;
  node_spec dims = {.op = "Shape", .n_in = 1, .in = spec->in};
  weft_dtype type = weft__out_type(s->g, spec->in[0]);
  WEFT_TRY(shape_in_forward(s, b, &dims, in));
  WEFT_TRY(weft__tensor_scalar(&t, type, 0));
  attr attrs[] = {A_TENSOR("value", t), A_TYPE("dtype", type)};
  weft_err err = weft__gradient_add_back(
      s, b, &(node_spec){.op = "Const", .n_attr = 2, .attr = attrs, .n_control = 1, .control = &b->pivot.node}, &in[1]);
  weft_tensor_destroy(t);
  spec->op = "Fill";
  spec->n_in = 2;
  spec->n_attr = 0;
  return err;
}

static bool is_number(weft_dtype t) { return weft__dtype_is_plain(t) && t != WEFT_BOOL; }

static weft_err adapt_inputs(gradient_state *s, back_frame *b, node_spec *spec, weft_out *in) {
  node_place first = spec->n_in ? gradient_bring_place_of(s, spec->in[0]) : (node_place){0};
  bool forward = spec->n_in == 1 && !first.back && first.frame == b->forward && !is_invariant(s, spec->in[0]);
  const op *o = forward ? weft__op_find(s->g->ops, spec->op) : NULL;
  if (o && wants_shape_only(o->kind)) return shape_in_forward(s, b, spec, in);
  if (o && o->kind == KIND_ZEROS && is_number(weft__out_type(s->g, spec->in[0])))
    return zeros_from_shape(s, b, spec, in);
  for (int i = 0; i < spec->n_in; i++) WEFT_TRY(weft__gradient_bring(s, b, spec->in[i], &in[i]));
  return WEFT_OK;
}

/* Keeps control edges of the loop itself.  A node whose inputs are all invariant gets one, so that it does not run
 * after the last iteration or in an iteration that took another branch. */
static weft_err adapt_controls(gradient_state *s, back_frame *b, node_spec *spec, const weft_out *in) {
  int n = 0, *control = weft__arena_alloc(&s->a, (size_t)(spec->n_control + 1) * sizeof *control);
  bool invariant = true;
  if (!control) return weft__gradient_loop_oom();
  for (int i = 0; i < spec->n_control; i++)
    if (gradient_bring_place_of(s, (weft_out){spec->control[i], 0}).back == b) control[n++] = spec->control[i];
  for (int i = 0; i < spec->n_in; i++) invariant &= is_invariant(s, in[i]);
  if (invariant) {
    weft_out alive;
    WEFT_TRY(pivot_of(s, b, s->branch, &alive));
    control[n++] = alive.node;
  }
  spec->control = control;
  spec->n_control = n;
  return WEFT_OK;
}

weft_err weft__gradient_adapt(void *state, node_spec *spec) {
  gradient_state *s = state;
  weft_graph *g = s->g;
  back_frame *b = s->now;
  weft_out *in = weft__arena_alloc(&s->a, (size_t)(spec->n_in + 2) * sizeof *in);
  if (!in) return weft__gradient_loop_oom();
  for (int i = 0; i < spec->n_in; i++) /* an invalid input, which is reported later */
    if (spec->in[i].node < 0 || spec->in[i].node >= g->n_node) return WEFT_OK;
  if (b) {
    g->adapt = NULL;
    weft_err err = adapt_inputs(s, b, spec, in);
    if (err == WEFT_OK) spec->in = in;
    if (err == WEFT_OK) err = adapt_controls(s, b, spec, in);
    g->adapt = weft__gradient_adapt;
    WEFT_TRY(err);
  }
  if (!b) WEFT_TRY(weft__gradient_adapt_outer(s, spec));
  return set_place(s, g->n_node, (node_place){b, 0, 0}); /* the id that it will get */
}
