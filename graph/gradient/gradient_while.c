/* gradient_while.c - the gradient of While.
 *
 * The node gets more variables: the number of iterations, and a list for each value of an iteration that the
 * gradients read; the body appends the value to the list.  The gradient is a While with as many iterations.  Its
 * variables are the iterations left, the gradients of the variables, the lists, and the arguments that do not change
 * in the loop.  Each iteration takes the last values off the lists. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/gradient/body_gradient.h"
#include "graph/build.h"
#include <stdio.h>

typedef struct looper {
  backprop *b;
  int n; /* number of variables */
  body_gradient of;
  bool *invariant; /* per variable: true if the body returns it unchanged */
  bool *has_dy;
  weft_out *d;      /* per variable: the placeholder of its gradient in the body; node < 0: it has none */
  int n_list;       /* number of saved values that change; each gets a list */
  weft_out *listed; /* in the body */
  int n_fixed;      /* number of invariant arguments that the gradients read */
  int *fixed;       /* the numbers of these variables */
  const char *cond, *body, *back_cond, *back_body;
  arena arena;
} looper;

static void *while_alloc(looper *s, size_t size) { return weft__arena_alloc(&s->arena, size + 1); }

static bool same_output(weft_out a, weft_out b) { return a.node == b.node && a.slot == b.slot; }

/* ---- the gradients of the body ---- */

static weft_err loop_init(looper *s) {
  const backprop *b = s->b;
  size_t n = (size_t)s->n;
  s->has_dy = while_alloc(s, n);
  s->invariant = while_alloc(s, n);
  s->d = while_alloc(s, sizeof *s->d * n);
  s->fixed = while_alloc(s, sizeof *s->fixed * n);
  if (!s->has_dy || !s->invariant || !s->d || !s->fixed) return weft__gradient_loop_oom();
  for (int i = 0; i < s->n; i++) s->has_dy[i] = weft__body_carries_gradient(weft__out_type(b->graph, b->out[i]));
  WEFT_TRY(weft__body_gradient_init(&s->of, b->node, "body", 0, s->has_dy));
  const function *f = s->of.f;
  if (f->n_arg != s->n || f->n_ret != s->n)
    return weft__fail(WEFT_INVALID_ARGUMENT, "The body of node '%s' takes %d variables and gives %d, not %d",
                      b->node->name, f->n_arg, f->n_ret, s->n);
  for (int i = 0; i < s->n; i++)
    s->invariant[i] = same_output(weft__out_behind_identity(f->body, f->ret[i]), f->arg[i]);
  return WEFT_OK;
}

/* Computes the gradients of the variables before an iteration.  Those of a resource are accumulated. */
static weft_err carry_gradients(looper *s) {
  body_gradient *of = &s->of;
  for (int i = 0; i < s->n; i++) {
    s->d[i] = of->dy[i];
    if (s->has_dy[i] && of->dx[i].node < 0) of->dx[i] = weft__body_zeros(of->body, of->f->arg[i], WEFT_INVALID);
    if (s->has_dy[i] || of->dx[i].node < 0) continue;
    s->d[i] = weft__body_placeholder(of->body, "gradient_of_variable", of->body, of->dx[i]);
    of->dx[i] = weft__b_add(of->body, s->d[i], of->dx[i]);
  }
  return weft__b_ok(of->body);
}

/* Sorts saved values: invariant arguments are passed on, all others get lists. */
static weft_err sort_saved(looper *s) {
  WEFT_TRY(weft__body_gradient_find_saved(&s->of));
  s->listed = while_alloc(s, sizeof *s->listed * (size_t)(s->of.n_saved + s->n));
  if (!s->listed) return weft__gradient_loop_oom();
  if (s->of.again) /* the body is computed again from the variables */
    for (int i = 0; i < s->n; i++) s->of.saved[s->of.n_saved++] = s->of.f->arg[i];
  for (int i = 0; i < s->of.n_saved; i++) {
    int arg = weft__body_gradient_argument(&s->of, s->of.saved[i]);
    if (arg >= 0 && s->invariant[arg])
      s->fixed[s->n_fixed++] = arg;
    else
      s->listed[s->n_list++] = s->of.saved[i];
  }
  return WEFT_OK;
}

/* ---- the forward loop ---- */

static weft_err add_function(looper *s, weft_graph *body, const char *suffix, function_spec *spec, const char **name) {
  char *base = weft__sprintf("%s_%s", s->of.f->name, suffix);
  if (!base) return weft__gradient_loop_oom();
  weft_err err = weft__body_add(s->b->graph, body, base, spec, &s->arena);
  *name = spec->name;
  weft__free(base);
  return err;
}

static weft_out variable_placeholder(weft_graph *g, const char *name, weft_dtype type) {
  shape s = SHAPE_SCALAR;
  return weft__b_node(g, "Placeholder", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", type), A_SHAPE("shape", &s)});
}

/* Writes the condition, which ignores the new variables. */
static weft_err write_cond(looper *s) {
  function *f;
  WEFT_TRY(weft__function_create(&f, s->b->node, "cond", 0));
  int n_in = s->n + 1 + s->n_list;
  weft_out *in = while_alloc(s, sizeof *in * (size_t)n_in);
  weft_err err = in && f->n_arg == s->n ? WEFT_OK : weft__gradient_loop_oom();
  for (int i = 0; i < n_in && !err; i++)
    in[i] = i < s->n ? f->arg[i] : variable_placeholder(f->body, "saved", i == s->n ? WEFT_INT32 : WEFT_VARIANT);
  if (!err) err = weft__b_ok(f->body);
  function_spec spec = {.n_in = n_in, .in = in, .n_out = f->n_ret, .out = f->ret, .needed_only = true};
  if (!err) err = add_function(s, f->body, "cond", &spec, &s->cond);
  weft__function_release(f);
  return err;
}

static weft_err write_body(looper *s) {
  body_gradient *of = &s->of;
  weft_graph *g = of->body;
  int n = s->n + 1 + s->n_list;
  weft_out *in = while_alloc(s, sizeof *in * (size_t)n), *out = while_alloc(s, sizeof *out * (size_t)n);
  if (!in || !out) return weft__gradient_loop_oom();
  for (int i = 0; i < s->n; i++) in[i] = of->f->arg[i], out[i] = of->f->ret[i];
  in[s->n] = variable_placeholder(g, "iterations", WEFT_INT32);
  out[s->n] = weft__b_add(g, in[s->n], weft__b_scalar(g, WEFT_INT32, 1));
  for (int i = 0; i < s->n_list; i++) {
    const attr type = A_TYPE("element_dtype", weft__out_type(g, s->listed[i]));
    weft_out *list = &in[s->n + 1 + i];
    *list = variable_placeholder(g, "saved", WEFT_VARIANT);
    out[s->n + 1 + i] = weft__b_node(g, "TensorListPushBack", NULL, 2, (weft_out[]){*list, s->listed[i]}, 1, &type);
  }
  WEFT_TRY(weft__b_ok(g));
  function_spec spec = {.n_in = n, .in = in, .n_out = n, .out = out, .needed_only = true, .n_kept = of->n_forward};
  return add_function(s, g, "forward", &spec, &s->body);
}

/* Returns the shape of the elements of a list, as an input. */
static weft_out element_shape(weft_graph *g, const shape *s) {
  if (s->rank < 0) return weft__b_scalar(g, WEFT_INT32, -1);
  return weft__b_ints(g, s->dim, s->rank);
}

/* Returns the first values of the new variables.  They depend on nothing, because the forward loop reads them. */
static weft_err first_values(looper *s, weft_out *more) {
  weft_graph *g = s->b->graph;
  weft__b_push_control(g, -1, NULL);
  more[0] = weft__b_scalar(g, WEFT_INT32, 0);
  for (int i = 0; i < s->n_list; i++) {
    const weft_out o = s->listed[i];
    const weft_out in[] = {element_shape(g, weft__out_shape(s->of.body, o)), weft__b_scalar(g, WEFT_INT32, -1)};
    const attr attrs[] = {A_TYPE("element_dtype", weft__out_type(s->of.body, o)), A_TYPE("shape_type", WEFT_INT32)};
    more[1 + i] = weft__b_node(g, "EmptyTensorList", NULL, 2, in, 2, attrs);
  }
  weft__b_pop(g);
  return weft__b_ok(g);
}

/* Makes the attributes of a While with these variables. `known` has the shapes of the first ones, or is NULL. */
static weft_err loop_attrs(looper *s, const char *cond, const char *body, int n, const weft_out *in, const shape *known,
                           attr *out) {
  weft_graph *g = s->b->graph;
  weft_dtype *type = while_alloc(s, sizeof *type * (size_t)n);
  shape *shapes = while_alloc(s, sizeof *shapes * (size_t)n);
  if (!type || !shapes) return weft__gradient_loop_oom();
  for (int i = 0; i < n; i++) {
    type[i] = weft__out_type(g, in[i]);
    shapes[i] = known && i < s->n ? known[i] : SHAPE_UNKNOWN;
  }
  WEFT_TRY(weft__body_function_attr(&out[0], "cond", 1, &cond, false, &s->arena));
  WEFT_TRY(weft__body_function_attr(&out[1], "body", 1, &body, false, &s->arena));
  out[2] = A_TYPES("T", type, n);
  out[3] = A_SHAPES("output_shapes", shapes, n);
  out[4] = A_INT("parallel_iterations", weft__node_int(s->b->node, "parallel_iterations", 10));
  return WEFT_OK;
}

/* Makes the forward loop count iterations and save values; *node is the node that does.  In a loop that is itself
 * being differentiated, it is a separate node that runs with the gradients; the values of the outer loop's
 * iterations are brought to it. */
static weft_err extend_forward(looper *s, int *node) {
  backprop *b = s->b;
  int n_more = 1 + s->n_list, n = s->n + n_more;
  weft_out *all = while_alloc(s, sizeof *all * (size_t)n);
  attr attrs[5];
  *node = b->node->id;
  if (!all) return weft__gradient_loop_oom();
  memcpy(all, b->in, sizeof *all * (size_t)s->n);
  WEFT_TRY(first_values(s, all + s->n));
  WEFT_TRY(loop_attrs(s, s->cond, s->body, n, all, b->node->out_shape, attrs));
  if (!b->graph->adapt) return weft__graph_extend_node(b->graph, b->graph->node[*node], n_more, all + s->n, 5, attrs);
  if (weft__body_is_stateful(b->graph, 1, &s->body))
    return weft__fail(
        WEFT_UNIMPLEMENTED,
        "gradients: the loop '%s' acts, and is in a loop of Enter nodes, so that it would have to run twice",
        b->node->name);
  *node = weft__b_node(b->graph, b->node->op_name, "again", n, all, 5, attrs).node;
  return weft__b_ok(b->graph);
}

/* ---- the backward loop ---- */

/* Returns the number of variables of the backward loop: the iterations left, gradients, lists, invariant arguments. */
static int count_back(const looper *s) {
  int n = 1 + s->n_list + s->n_fixed;
  for (int i = 0; i < s->n; i++) n += s->d[i].node >= 0;
  return n;
}

/* Makes gradients read the values from the lists in place of the forward values. */
static weft_err read_from_lists(looper *s, const weft_out *popped) {
  body_gradient *of = &s->of;
  for (int i = 0; i < of->body->n_node; i++) {
    weft_node *n = of->body->node[i];
    const bool forward = !of->again && i < s->of.n_forward;
    for (int j = 0; j < n->n_in && !forward; j++)
      for (int l = 0; l < s->n_list; l++)
        if (same_output(n->in[j], s->listed[l]) && n->id != popped[l].node) {
          WEFT_TRY(weft__graph_set_input(of->body, n, j, popped[l]));
          break;
        }
  }
  for (int i = 0; i < s->n; i++)
    for (int l = 0; l < s->n_list; l++)
      if (of->dx[i].node >= 0 && same_output(of->dx[i], s->listed[l])) of->dx[i] = popped[l];
  return WEFT_OK;
}

/* Adds nodes that take the last values off the lists in[]; out gets the shorter lists. */
static weft_err pop_lists(looper *s, weft_out *in, weft_out *out) {
  weft_graph *g = s->of.body;
  weft_out *popped = while_alloc(s, sizeof *popped * (size_t)s->n_list);
  if (!popped) return weft__gradient_loop_oom();
  for (int l = 0; l < s->n_list; l++) {
    const shape element = *weft__out_shape(g, s->listed[l]);
    const attr type = A_TYPE("element_dtype", weft__out_type(g, s->listed[l]));
    in[l] = variable_placeholder(g, "saved", WEFT_VARIANT);
    const weft_out ins[] = {in[l], element_shape(g, &element)};
    out[l] = weft__b_node(g, "TensorListPopBack", NULL, 2, ins, 1, &type);
    popped[l] = weft__b_slot(out[l], 1);
  }
  WEFT_TRY(weft__b_ok(g));
  return read_from_lists(s, popped);
}

static weft_err write_back_body(looper *s) {
  body_gradient *of = &s->of;
  weft_graph *g = of->body;
  int n = count_back(s), at = 1;
  weft_out *in = while_alloc(s, sizeof *in * (size_t)n), *out = while_alloc(s, sizeof *out * (size_t)n);
  if (!in || !out) return weft__gradient_loop_oom();
  in[0] = variable_placeholder(g, "iterations", WEFT_INT32);
  out[0] = weft__b_sub(g, in[0], weft__b_scalar(g, WEFT_INT32, 1));
  int n_d = n - 1 - s->n_list - s->n_fixed;
  WEFT_TRY(pop_lists(s, in + 1 + n_d, out + 1 + n_d));
  for (int i = 0; i < s->n; i++)
    if (s->d[i].node >= 0) in[at] = s->d[i], out[at++] = of->dx[i];
  at += s->n_list;
  for (int i = 0; i < s->n_fixed; i++, at++) in[at] = out[at] = of->f->arg[s->fixed[i]];
  WEFT_TRY(weft__b_ok(g));
  function_spec spec = {.n_in = n, .in = in, .n_out = n, .out = out, .needed_only = true};
  return add_function(s, g, "grad", &spec, &s->back_body);
}

/* The condition: iterations are left. */
static weft_err write_back_cond(looper *s, int n, const weft_out *in) {
  weft_graph *g;
  WEFT_TRY(weft__graph_create(&g, s->b->graph->ops));
  weft_out *arg = while_alloc(s, sizeof *arg * (size_t)n);
  weft_err err = arg ? WEFT_OK : weft__gradient_loop_oom();
  for (int i = 0; i < n && !err; i++) arg[i] = weft__body_placeholder(g, "variable", s->b->graph, in[i]);
  weft_out goes_on = err ? WEFT_NONE : weft__b_binary(g, "Greater", arg[0], weft__b_scalar(g, WEFT_INT32, 0));
  if (!err) err = weft__b_ok(g);
  function_spec spec = {.n_in = n, .in = arg, .n_out = 1, .out = &goes_on, .needed_only = true};
  if (!err) err = add_function(s, g, "grad_cond", &spec, &s->back_cond);
  weft__graph_destroy(g);
  return err;
}

/* Returns the gradient of variable i after the last iteration: the output gradient, or zeros. */
static weft_out last_gradient(looper *s, int i) {
  backprop *b = s->b;
  if (b->dout[i].node < 0 && weft__out_type(b->graph, b->out[i]) == WEFT_RESOURCE)
    return weft__body_zeros(b->graph, b->in[i], weft__out_type(s->of.body, s->d[i]));
  return weft__backprop_dout(b, i);
}

static weft_err add_backward(looper *s, int forward) {
  backprop *b = s->b;
  int n = count_back(s), at = 1;
  weft_out *in = while_alloc(s, sizeof *in * (size_t)n);
  attr attrs[5];
  if (!in) return weft__gradient_loop_oom();
  in[0] = weft__graph_out(b->graph, forward, s->n);
  for (int i = 0; i < s->n; i++)
    if (s->d[i].node >= 0) in[at++] = last_gradient(s, i);
  for (int i = 0; i < s->n_list; i++) in[at++] = weft__graph_out(b->graph, forward, s->n + 1 + i);
  for (int i = 0; i < s->n_fixed; i++) in[at++] = b->in[s->fixed[i]];
  WEFT_TRY(weft__b_ok(b->graph));
  WEFT_TRY(write_back_cond(s, n, in));
  WEFT_TRY(loop_attrs(s, s->back_cond, s->back_body, n, in, NULL, attrs));
  const bool acts = weft__body_is_stateful(b->graph, 1, &s->back_body);
  const weft_out d = weft__b_node(b->graph, acts ? "While" : "StatelessWhile", NULL, n, in, 5, attrs);
  at = 1;
  for (int i = 0; i < s->n; i++)
    if (s->d[i].node >= 0) b->din[i] = GRAD_DENSE(weft__b_slot(d, at++));
  return weft__b_ok(b->graph);
}

static weft_err loop_differentiate(looper *s) {
  int forward;
  WEFT_TRY(loop_init(s));
  WEFT_TRY(carry_gradients(s));
  WEFT_TRY(sort_saved(s));
  WEFT_TRY(write_cond(s));
  WEFT_TRY(write_body(s));
  WEFT_TRY(write_back_body(s));
  WEFT_TRY(extend_forward(s, &forward));
  return add_backward(s, forward);
}

weft_err weft__gradient_while(backprop *b) {
  looper s = {.b = b, .n = b->n_in};
  weft_err err = loop_differentiate(&s);
  weft__body_gradient_finish(&s.of);
  weft__arena_finish(&s.arena);
  return err;
}
