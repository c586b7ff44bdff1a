/* gradient.c - builds the gradients of ys by xs: reverse-mode differentiation over the nodes of a graph.
 *
 * The first pass finds the nodes between: a differentiable path leads from an x to the node, and on from it to a y.
 * The second pass visits each of them after all its consumers between.  It sums the gradients that arrived at the
 * node's outputs, asks the op for the gradients of the inputs, and adds those to the nodes that feed it. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "graph/gradient/gradient_state.h"
#include "graph/import.h"
#include "graph/mark.h"
#include <stdio.h>
#include <string.h>

static weft_err gradient_oom(void) { return weft__fail(WEFT_OOM, "no memory for gradients"); }

bool weft__trainable(weft_dtype t) {
  dtype_class c = weft__dtype_class(weft__dtype_base(t));
  return c == CLASS_FLOAT || c == CLASS_COMPLEX || c == CLASS_OBJECT;
}

/* ---- the nodes between xs and ys ---- */

static bool input_reached(const gradient_state *s, const weft_node *n) {
  if (n->no_back_prop) return false;
  for (int i = 0; i < n->n_in; i++) {
    weft_out in = n->in[i];
    if (s->reached[in.node] && weft__trainable(s->g->node[in.node]->out_type[in.slot])) return true;
  }
  return false;
}

/* A node's id is larger than those of its inputs, except for the back edges of loops.  So two or three passes
 * suffice. */
static void mark_reached(gradient_state *s, int n_x, const weft_out *xs) {
  for (int i = 0; i < n_x; i++) s->reached[xs[i].node] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < s->n; i++)
      if (!s->reached[i] && input_reached(s, s->g->node[i])) s->reached[i] = changed = true;
  }
}

static void mark_between(gradient_state *s, int n_y, const weft_out *ys) {
  WEFT_ASSERT(s->queue.head == s->queue.tail); /* its memory is the stack */
  int top = 0, *stack = s->queue.item;         /* its memory is free until the traversal begins */
  for (int i = 0; i < n_y; i++)
    if (s->reached[ys[i].node] && !s->between[ys[i].node]) s->between[stack[top++] = ys[i].node] = true;
  while (top) {
    const weft_node *n = s->g->node[stack[--top]];
    for (int i = 0; i < n->n_in; i++) {
      int from = n->in[i].node;
      if (s->reached[from] && !s->between[from]) s->between[stack[top++] = from] = true;
    }
  }
}

static bool in_loop(const gradient_state *s, int node) { return s->frames.n_frame > 1 && s->frames.home[node] > 0; }

/* Returns true for the parts of a loop that graph/gradient/gradient_loop.c handles; this pass does not visit them. */
static bool is_machinery(const gradient_state *s, const weft_node *n) {
  if (!in_loop(s, n->id)) return false;
  return weft__node_is(n, KIND_ENTER) || weft__node_is(n, KIND_NEXT_ITERATION) ||
         weft__frames_is_loop_switch(&s->frames, s->g, n->id);
}

static bool is_loop_exit(const gradient_state *s, const weft_node *n) {
  return s->frames.n_frame > 1 && weft__node_is(n, KIND_EXIT) && in_loop(s, n->in[0].node);
}

static bool is_loop_merge(const gradient_state *s, const weft_node *n) {
  if (!in_loop(s, n->id) || !weft__node_is(n, KIND_MERGE)) return false;
  for (int i = 0; i < n->n_in; i++)
    if (weft__node_is(s->g->node[n->in[i].node], KIND_NEXT_ITERATION)) return true;
  return false;
}

/* Returns true if a gradient will flow back over the edge, here or in the gradient of a loop. */
static void count_pending(gradient_state *s) {
  for (int i = 0; i < s->n; i++) {
    const weft_node *n = s->g->node[i];
    if (!s->between[i] || is_loop_merge(s, n)) continue;
    if (is_loop_exit(s, n))
      s->loop_pending[s->frames.home[n->in[0].node]]++;
    else if (!in_loop(s, i) || !weft__frames_is_loop_switch(&s->frames, s->g, i))
      for (int j = 0; j < n->n_in; j++) s->pending[n->in[j].node]++;
  }
}

static bool input_between(const gradient_state *s, const weft_node *n) {
  for (int i = 0; i < n->n_in; i++)
    if (s->between[n->in[i].node]) return true;
  return false;
}

/* ---- one node ---- */

static weft_err no_gradient(const weft_node *n) {
  return weft__fail_fact(
      WEFT_NOT_FOUND, WEFT_FACT_NO_GRADIENT,
      "No gradient defined for operation'%s' (op type: %s). In general every operation must have an "
      "associated `@tf.RegisterGradient` for correct autodiff, which this op is lacking. If you want to "
      "pretend this operation is a constant in your program, you may insert `tf.stop_gradient`. This can "
      "be useful to silence the error in cases where you know gradients are not needed, e.g. the forward "
      "pass of tf.custom_gradient. Please see more details in "
      "https://www.tensorflow.org/api_docs/python/tf/custom_gradient.",
      n->name, n->op_name);
}

/* Returns the op whose gradient a node uses: its own, unless a gradient scope overrides it. */
static const char *gradient_type(const weft_node *n) {
  const attr_str given = weft__node_str(n, "_gradient_op_type");
  return given.size ? given.data : n->op_name;
}

static const op *gradient_op(const weft_node *n) {
  const char *type = gradient_type(n);
  return strcmp(type, n->op_name) == 0 ? n->op : weft__graph_op(n->graph, type);
}

/* Returns true if the gradient of a node of op o passes slices on unchanged.  So does the Enter of an invariant into
 * a loop that is still being built, if this call is in the loop too. */
static bool passes_slices(const weft_node *n, const op *o) {
  if (weft__node_is(n, KIND_ENTER) && weft__node_bool(n, "is_constant", false)) return true;
  return o && (o->kind == KIND_IDENTITY || o->kind == KIND_READ || o->grad == weft__gradient_pass);
}

static bool is_known(const weft_node *n) {
  const op *o = gradient_op(n);
  return o && (o->grad || o->no_grad);
}

static weft_err call_op(backprop *b) {
  const op *o = gradient_op(b->node);
  WEFT_ASSERT(o && (o->grad || o->no_grad));
  if (o->grad) WEFT_TRY(o->grad(b));
  return weft__b_ok(b->graph);
}

/* Calls the program's gradient function, which may add any nodes.  In a backward loop, its inputs are brought there. */
static weft_err call_program(gradient_state *s, backprop *b, const grad_value *total) {
  weft_graph *g = s->g;
  weft_gradient *d = weft__arena_alloc(&s->a, (size_t)(b->n_in + b->n_out + 1) * sizeof *d);
  bool found = false;
  if (!d) return gradient_oom();
  weft_gradient *din = d + b->n_out;
  for (int i = 0; i < b->n_out; i++)
    d[i] = (weft_gradient){total[i].dense, total[i].indices, total[i].values, total[i].dense_shape};
  for (int i = 0; i < b->n_in; i++) din[i] = (weft_gradient){WEFT_NONE, WEFT_NONE, WEFT_NONE, WEFT_NONE};
  if (g->gradient_fn)
    WEFT_TRY(g->gradient_fn(g->gradient_arg, b->node->id, gradient_type(b->node), b->n_out, d, b->n_in, din, &found));
  if (!found) return no_gradient(b->node);
  for (int i = 0; i < b->n_in; i++) {
    weft_out *part[] = {&din[i].dense, &din[i].indices, &din[i].values, &din[i].dense_shape};
    for (int j = 0; s->now && j < 4; j++)
      if (part[j]->node >= 0) WEFT_TRY(weft__gradient_bring(s, s->now, *part[j], part[j]));
    b->din[i] = (grad_value){din[i].dense, din[i].indices, din[i].values, din[i].dense_shape};
  }
  return weft__b_ok(g);
}

/* Checks that a gradient fits the type and shape of its input; the gradient's shape may be known better from the
 * input. */
static weft_err check_input_gradient(const backprop *b, int i) {
  WEFT_ASSERT(i >= 0 && i < b->n_in);
  weft_graph *g = b->graph;
  weft_out d = b->din[i].dense, in = b->in[i];
  weft_dtype type = weft__out_type(g, in);
  if (d.node < 0 || type == WEFT_RESOURCE || type == WEFT_VARIANT || weft__out_type(g, d) == WEFT_VARIANT)
    return WEFT_OK;
  if (weft__out_type(g, d) != type && is_known(b->node)) /* TF does not check the result of a program's function */
    return weft__fail(
        WEFT_INVALID_ARGUMENT, "Gradient type %s generated for input %d of '%s' (op type: %s), which is of type %s",
        weft__dtype_name(weft__out_type(g, d)), i, b->node->name, b->node->op_name, weft__dtype_name(type));
  shape merged;
  if (weft__shape_merge(&merged, weft__out_shape(g, d), weft__out_shape(g, in)) != WEFT_OK)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Incompatible shapes between op input and calculated input gradient. Forward operation: %s. "
                      "Input index: %d. Original input shape: %s. Calculated input gradient shape: %s",
                      b->node->name, i, weft__shape_text(weft__out_shape(g, in)),
                      weft__shape_text(weft__out_shape(g, d)));
  g->node[d.node]->out_shape[d.slot] = merged;
  return WEFT_OK;
}

static weft_out *gradient_value_of(grad_value *v) { return v->indices.node >= 0 ? &v->values : &v->dense; }

/* Adds a node that runs after all n outputs, on their device if they have the same. */
static weft_out gate_of(weft_graph *g, int n, const int *wait) {
  WEFT_ASSERT(n > 0 && wait[0] >= 0 && wait[n - 1] >= 0);
  const char *device = g->node[wait[0]]->device;
  int depth = weft__scope_depth(g);
  for (int i = 1; i < n; i++)
    if (strcmp(g->node[wait[i]]->device, device) != 0) device = "";
  weft__status_update(&g->sticky, weft__scope_push_colocate(g, -1, true));
  if (*device) weft__status_update(&g->sticky, weft__scope_push_device(g, device));
  weft_out all = weft__b_add_node(g, &(node_spec){.op = "NoOp", .name = "group_deps", .n_control = n, .control = wait});
  weft__scope_pop_to(g, depth);
  return all;
}

/* Gates the gradients: each waits for all of them, so that the forward pass's memory is released evenly. */
static weft_err gradient_gate(backprop *b, arena *a) {
  weft_graph *g = b->graph;
  int n = 0, *wait = weft__arena_alloc(a, (size_t)(b->n_in + 1) * sizeof *wait);
  if (!wait) return gradient_oom();
  for (int i = 0; i < b->n_in; i++) {
    int node = gradient_value_of(&b->din[i])->node, seen = 0;
    while (seen < n && wait[seen] != node) seen++;
    if (node >= 0 && seen == n) wait[n++] = node;
  }
  if (n < 2) return WEFT_OK;
  weft__b_push_name(g, "tuple");
  weft_out all = gate_of(g, n, wait);
  for (int i = 0; i < b->n_in; i++) {
    weft_out *v = gradient_value_of(&b->din[i]);
    if (v->node < 0 || all.node < 0) continue;
    weft__status_update(&g->sticky, weft__scope_push_colocate(g, v->node, true));
    *v = weft__b_add_node(
        g,
        &(node_spec){
            .op = "Identity", .name = "control_dependency", .n_in = 1, .in = v, .n_control = 1, .control = &all.node});
    weft__scope_pop(g);
  }
  weft__scope_pop(g);
  return weft__b_ok(g);
}

static weft_err gradient_add_to_inputs(gradient_state *s, backprop *b) {
  if (s->opts->gate) WEFT_TRY(gradient_gate(b, &s->a));
  for (int i = 0; i < b->n_in; i++) {
    WEFT_TRY(check_input_gradient(b, i));
    if (weft__trainable(s->g->node[b->in[i].node]->out_type[b->in[i].slot]))
      WEFT_TRY(weft__gradient_arrive(s, b->in[i], &b->din[i]));
  }
  return WEFT_OK;
}

static weft_err gradient_differentiate(gradient_state *s, backprop *b, const grad_value *total) {
  if (passes_slices(b->node, gradient_op(b->node))) {
    b->din[0] = total[0];
    return gradient_add_to_inputs(s, b);
  }
  if (!is_known(b->node)) {
    WEFT_TRY(call_program(s, b, total));
    return gradient_add_to_inputs(s, b);
  }
  if (gradient_op(b->node)->grad == weft__gradient_switch && weft__gradient_switch_takes(s->g, total)) {
    WEFT_TRY(weft__gradient_switch_slices(b, total));
    return gradient_add_to_inputs(s, b);
  }
  const bool takes = gradient_op(b->node)->flags & OP_TAKES_SLICES;
  b->slices = takes && total[0].indices.node >= 0 ? &total[0] : NULL;
  for (int i = 0; i < b->n_out; i++)
    b->dout[i] = i == 0 && b->slices ? WEFT_NONE : weft__gradient_dense(s->g, &total[i]);
  WEFT_TRY(weft__b_ok(s->g));
  WEFT_TRY(call_op(b));
  return gradient_add_to_inputs(s, b);
}

/* Gives a gradient function of the program zeros for outputs without a gradient. */
static weft_err fill_with_zeros(gradient_state *s, const backprop *b, grad_value *total) {
  for (int i = 0; i < b->n_out && !is_known(b->node) && s->g->gradient_fn; i++) {
    const bool none = total[i].dense.node < 0 && total[i].indices.node < 0;
    if (none && weft__trainable(b->node->out_type[i]) && weft__out_type(s->g, b->out[i]) != WEFT_RESOURCE)
      total[i] = GRAD_DENSE(weft__b_node(s->g, "ZerosLike", "zeros_like", 1, &b->out[i], 0, NULL));
  }
  return weft__b_ok(s->g);
}

/* Differentiates in the name scope of the node's gradients, and colocated with the node if requested. */
static weft_err differentiate_here(gradient_state *s, backprop *b, grad_value *total) {
  weft_graph *g = s->g;
  WEFT_TRY(fill_with_zeros(s, b, total));
  int depth = weft__scope_depth(g);
  char *name = weft__sprintf("%s_grad", b->node->name);
  if (!name) return WEFT_OOM;
  weft_err err = weft__scope_push_name(g, name);
  weft__free(name);
  if (err == WEFT_OK && s->opts->colocate) err = weft__scope_push_colocate(g, b->node->id, true);
  s->branch = in_loop(s, b->node->id) ? s->frames.alive[b->node->id] : 0;
  if (err == WEFT_OK) err = gradient_differentiate(s, b, total);
  s->branch = 0;
  weft__scope_pop_to(g, depth);
  return err;
}

/* Checks that the gradient of a loop's exit fits the shape of the loop variable, which the loop cannot change. */
static weft_err check_exit_gradient(const gradient_state *s, const weft_node *exit, const grad_value *d) {
  WEFT_ASSERT(weft__node_is(exit, KIND_EXIT) && exit->n_in == 1);
  const weft_graph *g = s->g;
  shape merged;
  if (d->dense.node < 0 || weft__out_type(g, d->dense) == WEFT_VARIANT) return WEFT_OK;
  if (weft__shape_merge(&merged, weft__out_shape(g, d->dense), weft__out_shape(g, exit->in[0])) == WEFT_OK)
    return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "Incompatible shapes between op input and calculated input gradient. Forward operation: %s. "
                    "Input index: 0. Original input shape: %s. Calculated input gradient shape: %s",
                    exit->name, weft__shape_text(weft__out_shape(g, exit->in[0])),
                    weft__shape_text(weft__out_shape(g, d->dense)));
}

static weft_err do_node(gradient_state *s, weft_node *n) {
  WEFT_ASSERT(n->id < s->n && s->pending[n->id] <= 0); /* every consumer between came before */
  grad_value *total = weft__arena_alloc(&s->a, sizeof *total * (size_t)(n->n_out + 1));
  backprop b = {.graph = s->g, .node = n, .n_in = n->n_in, .n_out = n->n_out, .in = n->in, .source = s->scope};
  b.out = weft__arena_alloc(&s->a, sizeof *b.out * (size_t)(n->n_out + 1));
  b.dout = weft__arena_alloc(&s->a, sizeof *b.dout * (size_t)(n->n_out + 1));
  b.din = weft__arena_alloc(&s->a, sizeof *b.din * (size_t)(n->n_in + 1));
  if (!total || !b.out || !b.dout || !b.din) return gradient_oom();
  bool any = false;
  for (int i = 0; i < n->n_out; i++) {
    b.out[i] = weft__graph_out(n->graph, n->id, i);
    WEFT_TRY(weft__gradient_total(s, b.out[i], &total[i]));
    any |= total[i].dense.node >= 0 || total[i].indices.node >= 0;
  }
  for (int i = 0; i < n->n_in; i++) b.din[i] = GRAD_NONE;
  if (!any || s->stop[n->id] || !input_between(s, n) || is_machinery(s, n)) return WEFT_OK;
  if (is_loop_exit(s, n)) return check_exit_gradient(s, n, &total[0]);
  return differentiate_here(s, &b, total);
}

/* ---- the traversal ---- */

void weft__gradient_enqueue(gradient_state *s, int node) {
  WEFT_ASSERT(node >= 0 && node < s->n);
  if (s->queued[node] || s->pending[node] > 0 || !s->between[node]) return;
  s->queued[node] = true;
  WEFT_ASSERT(s->queue.tail < s->n + s->frames.n_frame);
  s->queue.item[s->queue.tail++] = node;
}

/* Adds the gradients of n's inputs to the nodes that feed n. */
static void release_inputs(gradient_state *s, const weft_node *n) {
  if (is_loop_exit(s, n)) {
    int frame = s->frames.home[n->in[0].node];
    if (--s->loop_pending[frame] == 0) s->queue.item[s->queue.tail++] = ~frame;
    return;
  }
  for (int i = 0; i < n->n_in && !is_machinery(s, n); i++) {
    if (n->in[i].node >= s->n) continue; /* the node got this input from its own gradient */
    s->pending[n->in[i].node]--;
    weft__gradient_enqueue(s, n->in[i].node);
  }
}

weft_err weft__gradient_walk(gradient_state *s, weft_err (*start)(gradient_state *s, void *arg), void *arg) {
  gradient_queue outer = s->queue;
  s->queue = (gradient_queue){
      .item = weft__arena_alloc(&s->a, (size_t)(s->n + s->frames.n_frame + 1) * sizeof *s->queue.item)};
  if (!s->queue.item) return gradient_oom();
  WEFT_TRY(start(s, arg));
  while (s->queue.head < s->queue.tail) {
    int item = s->queue.item[s->queue.head++];
    if (item < 0) {
      WEFT_TRY(weft__gradient_loop(s, ~item));
      continue;
    }
    WEFT_TRY(do_node(s, s->g->node[item]));
    release_inputs(s, s->g->node[item]);
  }
  s->queue = outer;
  return WEFT_OK;
}

/* Passes a given gradient through a separate node, as TF does. */
static weft_out given_grad_y(gradient_state *s, weft_out given, int i) {
  char name[32];
  snprintf(name, sizeof name, "grad_ys_%d", i);
  return weft__b_node(s->g, "Identity", name, 1, &given, 0, NULL);
}

/* Returns ones of y's shape. */
static weft_out default_grad_y(gradient_state *s, weft_out y, int i) {
  weft_graph *g = s->g;
  char name[32];
  snprintf(name, sizeof name, "grad_ys_%d", i);
  weft_out dims = weft__b_shape(g, y);
  weft__b_push_name(g, name);
  weft_out one = weft__b_scalar_like(g, y, 1);
  weft_out in[] = {dims, one};
  char *exact = weft__sprintf("%s/", weft__scope_prefix(g));
  if (!exact) weft__status_update(&g->sticky, WEFT_OOM);
  weft_out ones = exact ? weft__b_node(g, "Fill", exact, 2, in, 0, NULL) : WEFT_NONE;
  weft__free(exact);
  weft__b_pop(g);
  return ones;
}

static weft_err check_y(gradient_state *s, weft_out y, weft_out given) {
  weft_graph *g = s->g;
  weft_dtype type = weft__out_type(g, y);
  if (given.node < 0) {
    if (weft__dtype_class(type) != CLASS_COMPLEX) return WEFT_OK;
    return weft__fail(WEFT_INVALID_ARGUMENT, "Gradients of complex tensors ('%s:%d') must set grad_ys (y.dtype = %s)",
                      g->node[y.node]->name, y.slot, weft__dtype_name(type));
  }
  if (given.node >= g->n_node || given.slot >= g->node[given.node]->n_out || weft__out_type(g, given) != type)
    return weft__fail(WEFT_INVALID_ARGUMENT, "grad_ys of '%s:%d' must be a tensor of its type %s",
                      g->node[y.node]->name, y.slot, weft__dtype_name(type));
  return WEFT_OK; /* the shape may be any that the ops on the way can broadcast or reshape, as in TF */
}

typedef struct ys_list {
  int n;
  const weft_out *y, *grad; /* grad may be NULL */
} ys_list;

static weft_err gradient_start(gradient_state *s, void *arg) {
  const ys_list *l = arg;
  const weft_out *ys = l->y;
  for (int i = 0; i < l->n; i++) {
    weft_out given = l->grad ? l->grad[i] : WEFT_NONE;
    if (!weft__trainable(weft__out_type(s->g, ys[i]))) continue;
    WEFT_TRY(check_y(s, ys[i], given));
    if (s->opts->colocate) WEFT_TRY(weft__scope_push_colocate(s->g, ys[i].node, true));
    given = given.node < 0 ? default_grad_y(s, ys[i], i) : given_grad_y(s, given, i);
    if (s->opts->colocate) weft__scope_pop(s->g);
    WEFT_TRY(weft__b_ok(s->g));
    WEFT_TRY(weft__gradient_arrive(s, ys[i], &GRAD_DENSE(given)));
  }
  for (int i = 0; i < l->n; i++) weft__gradient_enqueue(s, ys[i].node);
  return WEFT_OK;
}

/* ---- the whole call ---- */

static weft_err gradient_prepare(gradient_state *s) {
  WEFT_ASSERT(!s->first_out && s->n <= s->g->n_node);
  size_t n = (size_t)s->n + 1, outs = 0;
  s->first_out = weft__arena_alloc(&s->a, n * sizeof *s->first_out);
  s->reached = weft__arena_alloc(&s->a, n);
  s->between = weft__arena_alloc(&s->a, n);
  s->stop = weft__arena_alloc(&s->a, n);
  s->queued = weft__arena_alloc(&s->a, n);
  s->pending = weft__arena_alloc(&s->a, n * sizeof *s->pending);
  s->queue.item = weft__arena_alloc(&s->a, n * sizeof *s->queue.item);
  if (!s->first_out || !s->reached || !s->between || !s->stop || !s->queued || !s->pending || !s->queue.item)
    return gradient_oom();
  for (int i = 0; i < s->n; i++) {
    s->first_out[i] = weft__int_sat(outs);
    outs += (size_t)s->g->node[i]->n_out;
  }
  s->arrived = weft__arena_alloc(&s->a, (outs + 1) * sizeof *s->arrived);
  return s->arrived ? WEFT_OK : gradient_oom();
}

static weft_err check_outs(const weft_graph *g, const char *what, int n, const weft_out *o) {
  for (int i = 0; i < n; i++)
    if (weft__out_foreign(g, o[i]))
      return weft__fail(WEFT_INVALID_ARGUMENT, "gradients: %s[%d] is from another graph", what, i);
    else if (!weft__out_exists(g, o[i]))
      return weft__fail(WEFT_INVALID_ARGUMENT, "gradients: %s[%d] is not an output of this graph (%d:%d)", what, i,
                        o[i].node, o[i].slot);
  return WEFT_OK;
}

/* Looks for loops and branches only if there are loops; branches alone need no special treatment. */
static weft_err gradient_find_loops(gradient_state *s) {
  WEFT_ASSERT(s->frames.n_frame == 0);
  bool any = false;
  for (int i = 0; i < s->n && !any; i++) any = weft__node_is(s->g->node[i], KIND_ENTER);
  if (!any) return WEFT_OK;
  WEFT_TRY(weft__frames_find(&s->frames, s->g, s->outer_adapt != NULL, &s->a));
  if (s->frames.n_frame < 2) return WEFT_OK; /* all loops are still being built */
  s->loop_pending = weft__arena_alloc(&s->a, (size_t)s->frames.n_frame * sizeof *s->loop_pending);
  if (!s->loop_pending) return gradient_oom();
  s->g->adapt = weft__gradient_adapt;
  s->g->adapt_arg = s;
  return WEFT_OK;
}

static weft_err check_outside(const gradient_state *s, const char *what, int n, const weft_out *o) {
  for (int i = 0; i < n; i++)
    if (in_loop(s, o[i].node))
      return weft__fail(WEFT_UNIMPLEMENTED, "gradients: %s[%d] ('%s') is inside loop '%s'", what, i,
                        s->g->node[o[i].node]->name, s->frames.frame[s->frames.home[o[i].node]].name);
  return WEFT_OK;
}

static weft_err gradient_run(gradient_state *s, int n_y, const weft_out *ys, int n_x, const weft_out *xs,
                             const weft_out *grad_ys, grad_value *out) {
  WEFT_TRY(check_outs(s->g, "ys", n_y, ys));
  WEFT_TRY(check_outs(s->g, "xs", n_x, xs));
  WEFT_TRY(check_outs(s->g, "stop_gradients", s->opts->n_stop, s->opts->stop));
  WEFT_TRY(gradient_prepare(s));
  WEFT_TRY(gradient_find_loops(s));
  WEFT_TRY(check_outside(s, "ys", n_y, ys));
  WEFT_TRY(check_outside(s, "xs", n_x, xs));
  for (int i = 0; i < s->opts->n_stop; i++) s->stop[s->opts->stop[i].node] = true;
  mark_reached(s, n_x, xs);
  mark_between(s, n_y, ys);
  count_pending(s);
  WEFT_TRY(weft__scope_push_name(s->g, s->opts->name ? s->opts->name : "gradients"));
  s->scope = weft__arena_strdup(&s->a, weft__scope_prefix(s->g));
  if (!s->scope) return gradient_oom();
  WEFT_TRY(weft__gradient_walk(s, gradient_start, &(ys_list){n_y, ys, grad_ys}));
  for (int i = 0; i < n_x; i++) WEFT_TRY(weft__gradient_total(s, xs[i], &out[i]));
  weft__scope_pop(s->g);
  return WEFT_OK;
}

weft_err weft__gradients(weft_graph *g, int n_y, const weft_out *ys, int n_x, const weft_out *xs,
                         const weft_out *grad_ys, const gradient_opts *opts, grad_value *out) {
  const gradient_opts none = {0};
  WEFT_TRY(weft__b_ok(g));
  pthread_mutex_lock(&g->lock);
  graph_mark before = weft__graph_mark(g);
  gradient_state s = {.g = g, .opts = opts ? opts : &none, .n = g->n_node};
  s.outer_adapt = g->adapt;
  s.outer_arg = g->adapt_arg;
  weft_err err = gradient_run(&s, n_y, ys, n_x, xs, grad_ys, out);
  g->adapt = s.outer_adapt;
  g->adapt_arg = s.outer_arg;
  if (err != WEFT_OK) {
    weft__b_clear(g); /* the recorded error is what we return */
    weft__graph_rewind(g, &before);
  }
  weft__arena_finish(&s.a);
  pthread_mutex_unlock(&g->lock);
  return err;
}

weft_err weft__gradient_loop_oom(void) { return weft__fail(WEFT_OOM, "no memory for the gradient of a loop"); }
