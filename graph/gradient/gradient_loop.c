/* gradient_loop.c - the gradient of a while loop is a while loop.
 *
 * The forward loop gets a counter, and the backward loop counts it down.  The variables of the backward loop are the
 * gradients of the forward loop's variables, and its body is the gradient of the forward body.  The gradient of an
 * invariant is accumulated over the iterations in an extra variable.  A nested loop is treated in the same way, in
 * the backward body of the outer loop. */
#include "base/alloc.h"
#include "base/assert.h"
#include "graph/gradient/gradient_state.h"
#include <stdio.h>
#include <string.h>

/* ---- the forward loop's counter ---- */

static weft_err forward_const(gradient_state *s, node_place at, int v, int n_after, const int *after, weft_out *out) {
  weft_tensor *t;
  WEFT_TRY(weft__tensor_scalar(&t, WEFT_INT32, v));
  attr attrs[] = {A_TENSOR("value", t), A_TYPE("dtype", WEFT_INT32)};
  weft_err err = weft__gradient_add_forward(
      s, at.frame, at.branch,
      &(node_spec){.op = "Const", .n_attr = 2, .attr = attrs, .n_control = n_after, .control = after}, out);
  weft_tensor_destroy(t);
  return err;
}

static weft_err forward_node(gradient_state *s, int frame, const char *type, int n_in, const weft_out *in,
                             weft_out *out) {
  return weft__gradient_add_forward(s, frame, 0, &(node_spec){.op = type, .n_in = n_in, .in = in}, out);
}

/* Adds Enter and Merge of the counter.  The second input of Merge is set later. */
static weft_err counter_in(gradient_state *s, back_frame *b, weft_out *merge) {
  const loop_frame *f = &s->frames.frame[b->forward];
  weft_out zero, enter;
  attr attrs[] = {A_STR("frame_name", f->name), A_INT("parallel_iterations", b->parallel)};
  /* The counter starts after the iteration of the enclosing loop has begun, that is, after its previous iteration
   * has pushed everything. */
  int after[] = {b->entry.node, b->outer ? b->outer->forward_pivot.node : -1};
  WEFT_TRY(forward_const(s, (node_place){NULL, f->parent, f->branch}, 0, b->outer ? 2 : 1, after, &zero));
  WEFT_TRY(weft__gradient_add_forward(
      s, b->forward, 0,
      &(node_spec){.op = "Enter", .name = "f_count", .n_in = 1, .in = &zero, .n_attr = 2, .attr = attrs}, &enter));
  return forward_node(s, b->forward, "Merge", 2, (weft_out[]){enter, enter}, merge);
}

/* Counts the iterations of the forward loop; *total is the count after the loop, outside it. */
static weft_err count_forward(gradient_state *s, back_frame *b, weft_out *total) {
  WEFT_ASSERT(b->forward > 0 && b->forward < s->frames.n_frame);
  loop_frame *f = &s->frames.frame[b->forward];
  weft_out merge, sw, one, add, next, sync;
  WEFT_ASSERT(f->n_enter > 0 && f->loop_cond >= 0);
  const weft_node *first = s->g->node[f->enter[0]];
  WEFT_TRY(weft__gradient_add_forward(s, f->parent, f->branch,
                                      &(node_spec){.op = "Identity", .name = "f_entry", .n_in = 1, .in = first->in},
                                      &b->entry));
  WEFT_TRY(counter_in(s, b, &merge));
  WEFT_TRY(forward_node(s, b->forward, "Switch", 2, (weft_out[]){merge, {f->loop_cond, 0}}, &sw));
  WEFT_TRY(forward_node(s, b->forward, "Identity", 1, &(weft_out){sw.node, 1}, &b->forward_pivot));
  WEFT_TRY(forward_const(s, (node_place){NULL, b->forward, 0}, 1, 1, &b->forward_pivot.node, &one));
  WEFT_TRY(weft__gradient_add_forward(
      s, b->forward, 0,
      &(node_spec){.op = "ControlTrigger", .name = "f_sync", .n_control = 1, .control = &b->forward_pivot.node},
      &sync));
  b->forward_sync = sync.node;
  WEFT_TRY(weft__gradient_add_forward(
      s, b->forward, 0,
      &(node_spec){
          .op = "AddV2", .n_in = 2, .in = (weft_out[]){b->forward_pivot, one}, .n_control = 1, .control = &sync.node},
      &add));
  WEFT_TRY(forward_node(s, b->forward, "NextIteration", 1, &add, &next));
  WEFT_TRY(weft__graph_set_input(s->g, s->g->node[merge.node], 1, next));
  return weft__gradient_add_forward(s, f->parent, f->branch, &(node_spec){.op = "Exit", .n_in = 1, .in = &sw}, total);
}

/* ---- variables of the backward loop ---- */

typedef struct back_var {
  weft_out merge, sw; /* sw:1 is its value in an iteration, sw:0 the one after the last */
} back_var;

static weft_err back_node(gradient_state *s, back_frame *b, const char *type, int n_in, const weft_out *in,
                          weft_out *out) {
  return weft__gradient_add_back(s, b, &(node_spec){.op = type, .n_in = n_in, .in = in}, out);
}

static weft_err var_begin(gradient_state *s, back_frame *b, weft_out initial, back_var *v) {
  weft_out enter, outer = initial;
  if (b->outer) WEFT_TRY(weft__gradient_bring(s, b->outer, initial, &outer));
  WEFT_TRY(weft__gradient_enter_value(s, b, outer, false, &enter));
  WEFT_TRY(back_node(s, b, "Merge", 2, (weft_out[]){enter, enter}, &v->merge));
  s->g->node[v->merge.node]->out_shape[0] = SHAPE_UNKNOWN;
  return WEFT_OK;
}

static weft_err var_switch(gradient_state *s, back_frame *b, back_var *v) {
  return back_node(s, b, "Switch", 2, (weft_out[]){v->merge, b->loop_cond}, &v->sw);
}

/* Closes the loop with the value for the next iteration; *after is the final value, outside the loop. */
static weft_err var_end(gradient_state *s, back_frame *b, const back_var *v, weft_out value, weft_out *after) {
  WEFT_ASSERT(value.node >= 0);
  weft_out next;
  WEFT_TRY(back_node(s, b, "NextIteration", 1, &value, &next));
  WEFT_TRY(weft__graph_set_input(s->g, s->g->node[v->merge.node], 1, next));
  node_spec out = {.op = "Exit", .n_in = 1, .in = &v->sw};
  if (b->outer) return weft__gradient_add_back(s, b->outer, &out, after);
  return weft__gradient_add_forward(s, 0, 0, &out, after);
}

/* ---- around the backward loop ---- */

/* Adds the following nodes outside b, where they are alive exactly if the loop is. */
static void gradient_leave_loop(gradient_state *s, const back_frame *b) {
  WEFT_ASSERT(s->now == b);
  const loop_frame *f = &s->frames.frame[b->forward];
  weft__gradient_enter(s, b->outer);
  s->branch = b->outer ? f->branch : 0;
}

static void gradient_enter_loop(gradient_state *s, back_frame *b) {
  weft__gradient_enter(s, b);
  s->branch = 0;
}

/* Adds a constant outside b.  Outside all loops it waits until the forward loop is entered, so that it is dead if
 * the loop is on a branch that is not taken. */
static weft_err outer_const(gradient_state *s, const back_frame *b, weft_tensor *t, weft_out *out) {
  attr attrs[] = {A_TENSOR("value", t), A_TYPE("dtype", t->dtype)};
  *out = weft__b_add_node(
      s->g, &(node_spec){.op = "Const", .n_attr = 2, .attr = attrs, .n_control = 1, .control = &b->entry.node});
  weft_tensor_destroy(t);
  return weft__b_ok(s->g);
}

/* Returns zeros of v's shape, at the current place. */
static weft_out zeros_of(gradient_state *s, weft_out v, weft_dtype type) {
  weft_graph *g = s->g;
  if (weft__out_type(g, v) == WEFT_RESOURCE)
    v = weft__b_node(g, "ReadVariableOp", NULL, 1, &v, 1, &A_TYPE("dtype", type));
  /* Outside loops, the zeros must be dead exactly if v is; inside, the adapter takes care of it. */
  if (v.node < 0 || !s->now || !weft__shape_known(weft__out_shape(g, v))) return weft__b_zeros_like(g, v);
  return weft__b_fill(g, weft__b_shape(g, v), weft__b_scalar(g, type, 0));
}

/* ---- the backward loop itself ---- */

static weft_err back_counter(gradient_state *s, back_frame *b, weft_out total) {
  back_var count;
  weft_out more, sync, sub, left, one;
  weft_tensor *t;
  WEFT_TRY(weft__tensor_scalar(&t, WEFT_INT32, 1));
  WEFT_TRY(outer_const(s, b, t, &one));
  WEFT_TRY(var_begin(s, b, total, &count));
  WEFT_TRY(weft__gradient_enter_value(s, b, one, true, &b->one));
  WEFT_TRY(back_node(s, b, "GreaterEqual", 2, (weft_out[]){count.merge, b->one}, &more));
  WEFT_TRY(weft__gradient_add_back(s, b, &(node_spec){.op = "LoopCond", .name = "b_count", .n_in = 1, .in = &more},
                                   &b->loop_cond));
  WEFT_TRY(var_switch(s, b, &count));
  WEFT_TRY(back_node(s, b, "Identity", 1, &(weft_out){count.sw.node, 1}, &b->pivot));
  WEFT_TRY(weft__gradient_add_back(
      s, b, &(node_spec){.op = "ControlTrigger", .name = "b_sync", .n_control = 1, .control = &b->pivot.node}, &sync));
  b->sync = sync.node;
  WEFT_TRY(weft__gradient_add_back(
      s, b,
      &(node_spec){.op = "Sub", .n_in = 2, .in = (weft_out[]){b->pivot, b->one}, .n_control = 1, .control = &sync.node},
      &sub));
  WEFT_TRY(var_end(s, b, &count, sub, &left));
  /* The next iteration of the enclosing loop pops from the same stacks, so it waits for the last iteration of this
   * loop. */
  return b->outer ? weft__graph_add_control(s->g, s->g->node[b->outer->sync], left.node) : WEFT_OK;
}

static weft_err open_loop(gradient_state *s, int frame, back_frame **out) {
  WEFT_ASSERT(frame > 0 && frame < s->frames.n_frame && s->scope);
  loop_frame *f = &s->frames.frame[frame];
  weft_out total;
  back_frame *b = weft__arena_alloc(&s->a, sizeof *b);
  char *name = weft__arena_alloc(&s->a, strlen(s->scope) + strlen(f->name) + 2);
  if (!b || !name) return weft__gradient_loop_oom();
  sprintf(name, "%s/%s", s->scope, f->name);
  b->outer = s->now;
  b->forward = frame;
  b->name = name;
  b->parallel = weft__node_int(s->g->node[f->enter[0]], "parallel_iterations", 10);
  WEFT_TRY(count_forward(s, b, &total));
  *out = b;
  return back_counter(s, b, total);
}

/* ---- invariants: their gradients are accumulated ---- */

static weft_err sum_dense(gradient_state *s, back_frame *b, weft_out ext, weft_out d, grad_value *total) {
  back_var v;
  weft_out zeros, sum, after;
  gradient_leave_loop(s, b);
  zeros = zeros_of(s, ext, weft__out_type(s->g, d));
  gradient_enter_loop(s, b);
  WEFT_TRY(weft__b_ok(s->g));
  WEFT_TRY(var_begin(s, b, zeros, &v));
  WEFT_TRY(var_switch(s, b, &v));
  sum = weft__b_add(s->g, weft__b_slot(v.sw, 1), d);
  WEFT_TRY(weft__b_ok(s->g));
  WEFT_TRY(var_end(s, b, &v, sum, &after));
  *total = GRAD_DENSE(after);
  return WEFT_OK;
}

/* Accumulates a list of rows that begins with one row of zeros, as in TensorFlow, and grows by `rows` in every
 * iteration. */
static weft_err gradient_loop_gather_rows(gradient_state *s, back_frame *b, const shape *one, weft_out rows,
                                          weft_out *after) {
  back_var v;
  weft_tensor *t;
  weft_out first;
  WEFT_TRY(weft__tensor_create(&t, weft__out_type(s->g, rows), one));
  memset(t->data, 0, weft__dtype_size(t->dtype) * (size_t)weft__tensor_count(t));
  gradient_leave_loop(s, b);
  WEFT_TRY(outer_const(s, b, t, &first));
  gradient_enter_loop(s, b);
  WEFT_TRY(var_begin(s, b, first, &v));
  WEFT_TRY(var_switch(s, b, &v));
  weft_out all =
      weft__b_concat(s->g, 2, (weft_out[]){weft__b_slot(v.sw, 1), rows}, weft__b_scalar(s->g, WEFT_INT32, 0));
  WEFT_TRY(weft__b_ok(s->g));
  return var_end(s, b, &v, all, after);
}

static weft_err sum_slices(gradient_state *s, back_frame *b, weft_out ext, const grad_value *d, grad_value *total) {
  WEFT_ASSERT(d->indices.node >= 0 && d->values.node >= 0);
  shape row = *weft__out_shape(s->g, ext), index = SHAPE1(1);
  row.dim[0] = 1;
  *total = GRAD_NONE;
  WEFT_TRY(gradient_loop_gather_rows(s, b, &row, d->values, &total->values));
  WEFT_TRY(gradient_loop_gather_rows(s, b, &index, d->indices, &total->indices));
  gradient_leave_loop(s, b);
  total->dense_shape = weft__b_shape(s->g, ext);
  gradient_enter_loop(s, b);
  return weft__b_ok(s->g);
}

/* Returns the input of a loop's Enter.  For a variable's handle it returns the variable if slices need its shape. */
static weft_err entered_value(gradient_state *s, back_frame *b, const weft_node *enter, const grad_value *d,
                              weft_out *v) {
  *v = enter->in[0];
  if (d->indices.node < 0 || weft__out_type(s->g, *v) != WEFT_RESOURCE) return WEFT_OK;
  gradient_leave_loop(s, b);
  *v = weft__b_node(s->g, "ReadVariableOp", NULL, 1, enter->in, 1, &A_TYPE("dtype", weft__out_type(s->g, d->values)));
  gradient_enter_loop(s, b);
  return weft__b_ok(s->g);
}

static weft_err invariant_gradient(gradient_state *s, back_frame *b, const weft_node *enter) {
  WEFT_ASSERT(weft__node_is(enter, KIND_ENTER));
  grad_value d, total;
  weft_out ext = enter->in[0], value;
  WEFT_TRY(weft__gradient_total(s, (weft_out){enter->id, 0}, &d));
  if (d.indices.node < 0 && d.dense.node < 0) return WEFT_OK;
  WEFT_TRY(entered_value(s, b, enter, &d, &value));
  if (d.indices.node >= 0 && weft__shape_rows_known(weft__out_shape(s->g, value)))
    WEFT_TRY(sum_slices(s, b, value, &d, &total));
  else {
    weft_out dense = weft__gradient_dense(s->g, &d);
    WEFT_TRY(weft__b_ok(s->g));
    WEFT_TRY(sum_dense(s, b, ext, dense, &total));
  }
  return weft__gradient_arrive(s, ext, &total);
}

/* ---- the traversal of the body ---- */

typedef struct loop_walk {
  back_frame *b;
  const loop_frame *f;
  back_var *var; /* one per variable of f */
  bool *active;  /* true if the variable has a gradient */
} loop_walk;

static bool var_active(const gradient_state *s, const loop_var *v) {
  return s->between[v->merge] && v->sw >= 0 && v->next >= 0 && weft__trainable(s->g->node[v->merge]->out_type[0]);
}

/* Returns the gradient of a variable after the loop: that of its Exit, or zeros. */
static weft_err exit_gradient(gradient_state *s, const loop_var *v, weft_out *out) {
  grad_value d = GRAD_NONE;
  if (v->exit >= 0) WEFT_TRY(weft__gradient_total(s, (weft_out){v->exit, 0}, &d));
  *out = weft__gradient_dense(s->g, &d);
  WEFT_TRY(weft__b_ok(s->g));
  if (out->node >= 0) return WEFT_OK;
  if (v->exit < 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "loop variable '%s' has no exit", s->g->node[v->merge]->name);
  weft_dtype type = weft__out_type(s->g, (weft_out){v->exit, 0});
  *out = zeros_of(s, (weft_out){v->exit, 0}, type);
  return weft__b_ok(s->g);
}

static weft_err begin_vars(gradient_state *s, loop_walk *w) {
  for (int i = 0; i < w->f->n_var; i++) {
    const loop_var *v = &w->f->var[i];
    weft_out d;
    w->active[i] = var_active(s, v);
    if (!w->active[i]) continue;
    WEFT_TRY(exit_gradient(s, v, &d));
    WEFT_TRY(var_begin(s, w->b, d, &w->var[i]));
    WEFT_TRY(var_switch(s, w->b, &w->var[i]));
  }
  return WEFT_OK;
}

/* The gradient of a variable first arrives at the body's value for the next iteration. */
static weft_err start_body(gradient_state *s, void *arg) {
  loop_walk *w = arg;
  for (int i = 0; i < w->f->n_var; i++) {
    const loop_var *v = &w->f->var[i];
    if (!w->active[i]) continue;
    WEFT_TRY(weft__gradient_arrive(s, s->g->node[v->next]->in[0], &GRAD_DENSE(weft__b_slot(w->var[i].sw, 1))));
  }
  for (int i = 0; i < w->f->n_var; i++) {
    const loop_var *v = &w->f->var[i];
    if (v->next < 0 || !s->between[v->next]) continue;
    s->pending[s->g->node[v->next]->in[0].node]--;
    weft__gradient_enqueue(s, s->g->node[v->next]->in[0].node);
  }
  return WEFT_OK;
}

/* The gradient at the beginning of the body is the gradient for the previous iteration. */
static weft_err end_vars(gradient_state *s, loop_walk *w) {
  for (int i = 0; i < w->f->n_var; i++) {
    const loop_var *v = &w->f->var[i];
    const weft_node *enter = s->g->node[v->enter];
    grad_value d;
    weft_out value, after;
    if (!w->active[i]) continue;
    WEFT_TRY(weft__gradient_total(s, (weft_out){v->sw, 1}, &d));
    value = weft__gradient_dense(s->g, &d);
    if (value.node < 0) value = zeros_of(s, (weft_out){v->sw, 1}, weft__out_type(s->g, w->var[i].merge));
    WEFT_TRY(weft__b_ok(s->g));
    WEFT_TRY(var_end(s, w->b, &w->var[i], value, &after));
    s->g->node[after.node]->out_shape[0] = *weft__out_shape(s->g, enter->in[0]);
    WEFT_TRY(weft__gradient_arrive(s, enter->in[0], &GRAD_DENSE(after)));
  }
  return WEFT_OK;
}

static weft_err sum_invariants(gradient_state *s, loop_walk *w) {
  for (int i = 0; i < w->f->n_enter; i++) {
    const weft_node *enter = s->g->node[w->f->enter[i]];
    if (s->between[enter->id] && weft__node_bool(enter, "is_constant", false))
      WEFT_TRY(invariant_gradient(s, w->b, enter));
  }
  return WEFT_OK;
}

static weft_err walk_loop(gradient_state *s, int frame) {
  const loop_frame *f = &s->frames.frame[frame];
  loop_walk w = {.f = f};
  w.var = weft__arena_alloc(&s->a, sizeof *w.var * (size_t)(f->n_var + 1));
  w.active = weft__arena_alloc(&s->a, sizeof *w.active * (size_t)(f->n_var + 1));
  if (!w.var || !w.active) return weft__gradient_loop_oom();
  s->branch = s->now ? f->branch : 0;
  WEFT_TRY(open_loop(s, frame, &w.b));
  WEFT_TRY(begin_vars(s, &w));
  gradient_enter_loop(s, w.b);
  WEFT_TRY(weft__gradient_walk(s, start_body, &w));
  WEFT_TRY(end_vars(s, &w));
  WEFT_TRY(sum_invariants(s, &w));
  weft__gradient_enter(s, w.b->outer);
  return WEFT_OK;
}

static bool any_arrived(const gradient_state *s, const loop_frame *f) {
  for (int i = 0; i < f->n_exit; i++)
    if (s->arrived[s->first_out[f->exit[i]]].n > 0) return true;
  return false;
}

/* Fails for a loop that a gradient built: it keeps values on stacks, which have no gradients. */
static weft_err check_loop(const gradient_state *s, int frame) {
  const loop_frame *f = &s->frames.frame[frame];
  if (f->odd >= 0) return weft__frames_odd(f, s->g);
  if (f->loop_cond < 0 || f->n_enter == 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "loop '%s' has no LoopCond", f->name);
  for (int i = 0; i < s->n; i++)
    if (s->frames.home[i] == frame && weft__node_is(s->g->node[i], KIND_POP))
      return weft__fail_fact(WEFT_UNIMPLEMENTED, WEFT_FACT_LOOP_GRADIENT,
                             "Second-order gradient for while loops not supported: loop '%s'", f->name);
  return WEFT_OK;
}

weft_err weft__gradient_loop(gradient_state *s, int frame) {
  const loop_frame *f = &s->frames.frame[frame];
  if (any_arrived(s, f)) {
    int depth = weft__scope_depth(s->g);
    WEFT_TRY(check_loop(s, frame));
    /* clears control scopes: an edge from outside the loop would be invalid */
    WEFT_TRY(weft__scope_push_control(s->g, -1, NULL));
    WEFT_TRY(walk_loop(s, frame));
    weft__scope_pop_to(s->g, depth);
  }
  for (int i = 0; i < f->n_enter; i++) {
    const weft_node *enter = s->g->node[f->enter[i]];
    if (!s->between[enter->id]) continue;
    s->pending[enter->in[0].node]--;
    weft__gradient_enqueue(s, enter->in[0].node);
  }
  return WEFT_OK;
}

weft_err weft__gradient_loop_part(backprop *b) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "'%s' (op type: %s) is not part of a loop that can be differentiated",
                    b->node->name, b->node->op_name);
}
