/* gradient_if.c - the gradient of If and Case.
 *
 * The node gets outputs for the values that the gradients of its branches read: those of the first branch, then
 * those of the second, and so on.  A branch returns FakeParam for the values of other branches.  The gradient is a
 * node of the same kind, whose branches take the arguments, all these values and the output gradients. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "graph/gradient/body_gradient.h"
#include "graph/build.h"
#include <stdio.h>

typedef struct branches {
  backprop *b;
  int n, n_arg, n_ret;
  const char *const *attr_name; /* one per branch; all equal for a list of functions */
  bool is_list;
  body_gradient *of;
  int n_saved;            /* number of saved values of all branches */
  weft_dtype *saved_type; /* their types and shapes */
  shape *saved_shape;
  bool *has_dy;
  bool *needs;         /* per argument: true if a gradient reads it */
  weft_dtype *dx_type; /* per argument: the type of its gradient, or WEFT_INVALID */
  const char **forward, **backward;
  arena arena;
} branches;

static weft_err if_oom(void) { return weft__fail(WEFT_OOM, "no memory for the gradient of a conditional"); }
static void *if_alloc(branches *s, size_t size) { return weft__arena_alloc(&s->arena, size + 1); }

static weft_err branches_init(branches *s) {
  WEFT_ASSERT(s->n_arg >= 0 && s->n >= 0);
  const backprop *b = s->b;
  size_t n = (size_t)s->n, n_arg = (size_t)s->n_arg, n_ret = (size_t)s->n_ret;
  s->of = if_alloc(s, sizeof *s->of * n);
  s->forward = if_alloc(s, sizeof *s->forward * n);
  s->backward = if_alloc(s, sizeof *s->backward * n);
  s->has_dy = if_alloc(s, n_ret);
  s->needs = if_alloc(s, n_arg);
  s->dx_type = if_alloc(s, sizeof *s->dx_type * n_arg);
  if (!s->of || !s->forward || !s->backward || !s->has_dy || !s->needs || !s->dx_type) return if_oom();
  for (int i = 0; i < s->n_ret; i++) s->has_dy[i] = weft__body_carries_gradient(weft__out_type(b->graph, b->out[i]));
  for (int i = 0; i < s->n_arg; i++) {
    const weft_dtype type = weft__out_type(b->graph, b->in[i + 1]);
    s->dx_type[i] = weft__body_carries_gradient(type) ? type : WEFT_INVALID;
  }
  for (int k = 0; k < s->n; k++) {
    WEFT_TRY(weft__body_gradient_init(&s->of[k], b->node, s->attr_name[k], s->is_list ? k : 0, s->has_dy));
    if (s->of[k].f->n_arg != s->n_arg || s->of[k].f->n_ret != s->n_ret)
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "Branch %d of node '%s' takes %d arguments and gives %d results, not %d and %d", k,
                        b->node->name, s->of[k].f->n_arg, s->of[k].f->n_ret, s->n_arg, s->n_ret);
    for (int i = 0; i < s->n_arg; i++)
      if (s->of[k].dx[i].node >= 0) /* the gradient of a resource has its variable's type */
        s->dx_type[i] = weft__out_type(s->of[k].body, s->of[k].dx[i]);
  }
  return WEFT_OK;
}

/* Finds the saved values of a branch.  Arguments are not saved: the gradient takes those that it needs. */
static weft_err find_saved(branches *s, body_gradient *of) {
  WEFT_ASSERT(of->f && of->f->n_arg == s->n_arg);
  int kept = 0;
  WEFT_TRY(weft__body_gradient_find_saved(of));
  for (int i = 0; i < s->n_arg; i++) s->needs[i] |= of->again;
  for (int i = 0; i < of->n_saved; i++) {
    const int arg = weft__body_gradient_argument(of, of->saved[i]);
    if (arg >= 0)
      s->needs[arg] = true;
    else
      of->saved[kept++] = of->saved[i];
  }
  of->n_saved = kept;
  return WEFT_OK;
}

/* As in TensorFlow, an argument that can have a gradient gets zeros from the branches that do not read it. */
static weft_err fill_gradients(branches *s) {
  for (int k = 0; k < s->n; k++) {
    body_gradient *of = &s->of[k];
    for (int i = 0; i < s->n_arg; i++)
      if (s->dx_type[i] && of->dx[i].node < 0) of->dx[i] = weft__body_zeros(of->body, of->f->arg[i], s->dx_type[i]);
    WEFT_TRY(weft__b_ok(of->body));
    WEFT_TRY(find_saved(s, of));
    s->n_saved += of->n_saved;
  }
  s->saved_type = if_alloc(s, sizeof *s->saved_type * (size_t)s->n_saved);
  s->saved_shape = if_alloc(s, sizeof *s->saved_shape * (size_t)s->n_saved);
  if (!s->saved_type || !s->saved_shape) return if_oom();
  for (int k = 0, at = 0; k < s->n; k++)
    for (int i = 0; i < s->of[k].n_saved; i++, at++) {
      s->saved_type[at] = weft__out_type(s->of[k].body, s->of[k].saved[i]);
      s->saved_shape[at] = *weft__out_shape(s->of[k].body, s->of[k].saved[i]);
    }
  return WEFT_OK;
}

/* Lists the saved values from the view of branch k: its own, and nodes that stand for those of other branches. */
static weft_err list_saved(branches *s, int k, const char *type, weft_out *out) {
  WEFT_ASSERT(k >= 0 && k < s->n);
  weft_graph *body = s->of[k].body;
  for (int j = 0, at = 0; j < s->n; j++)
    for (int i = 0; i < s->of[j].n_saved; i++, at++) {
      const attr attrs[] = {A_TYPE("dtype", s->saved_type[at]), A_SHAPE("shape", &s->saved_shape[at])};
      out[at] = j == k ? s->of[k].saved[i] : weft__b_node(body, type, "other_branch", 0, NULL, 2, attrs);
    }
  return weft__b_ok(body);
}

static weft_err write_forward(branches *s, int k) {
  body_gradient *of = &s->of[k];
  weft_out *out = if_alloc(s, sizeof *out * (size_t)(s->n_ret + s->n_saved));
  if (!out) return if_oom();
  for (int i = 0; i < s->n_ret; i++) out[i] = of->f->ret[i];
  WEFT_TRY(list_saved(s, k, "FakeParam", out + s->n_ret));
  char *base = weft__sprintf("%s_forward", of->f->name);
  if (!base) return if_oom();
  function_spec spec = {.n_in = s->n_arg,
                        .in = of->f->arg,
                        .n_out = s->n_ret + s->n_saved,
                        .out = out,
                        .needed_only = true,
                        .n_kept = of->n_forward};
  weft_err err = weft__body_add(s->b->graph, of->body, base, &spec, &s->arena);
  s->forward[k] = spec.name;
  weft__free(base);
  return err;
}

static weft_err write_backward(branches *s, int k) {
  body_gradient *of = &s->of[k];
  weft_out *in = if_alloc(s, sizeof *in * (size_t)(s->n_arg + s->n_saved + s->n_ret));
  weft_out *out = if_alloc(s, sizeof *out * (size_t)s->n_arg);
  if (!in || !out) return if_oom();
  int n_in = 0, n_out = 0;
  for (int i = 0; i < s->n_arg; i++)
    if (s->needs[i]) in[n_in++] = of->f->arg[i];
  WEFT_TRY(list_saved(s, k, "Placeholder", in + n_in));
  n_in += s->n_saved;
  for (int i = 0; i < s->n_ret; i++)
    if (s->has_dy[i]) in[n_in++] = of->dy[i];
  for (int i = 0; i < s->n_arg; i++)
    if (s->dx_type[i]) out[n_out++] = of->dx[i];
  char *base = weft__sprintf("%s_grad", of->f->name);
  if (!base) return if_oom();
  function_spec spec = {.n_in = n_in, .in = in, .n_out = n_out, .out = out, .needed_only = true};
  weft_err err = weft__body_add(s->b->graph, of->body, base, &spec, &s->arena);
  s->backward[k] = spec.name;
  weft__free(base);
  return err;
}

/* Makes the attributes that name the functions, one for each branch or one for all. *n is their number. */
static weft_err function_attrs(branches *s, const char *const *called, attr *out, int *n) {
  WEFT_ASSERT(s->is_list || s->n == 2); /* the caller has room for two, and for two more */
  *n = s->is_list ? 1 : s->n;
  if (s->is_list) return weft__body_function_attr(out, s->attr_name[0], s->n, called, true, &s->arena);
  for (int k = 0; k < s->n; k++)
    WEFT_TRY(weft__body_function_attr(&out[k], s->attr_name[k], 1, &called[k], false, &s->arena));
  return WEFT_OK;
}

/* Lets the forward node return the saved values. */
static weft_err extend_forward(branches *s) {
  backprop *b = s->b;
  int n_out = s->n_ret + s->n_saved, n = 0;
  weft_dtype *type = if_alloc(s, sizeof *type * (size_t)n_out);
  shape *shapes = if_alloc(s, sizeof *shapes * (size_t)n_out);
  attr attrs[4];
  if (s->n_saved == 0) return WEFT_OK;
  if (!type || !shapes) return if_oom();
  for (int i = 0; i < n_out; i++) {
    type[i] = i < s->n_ret ? weft__dtype_base(b->node->out_type[i]) : s->saved_type[i - s->n_ret];
    shapes[i] = i < s->n_ret ? b->node->out_shape[i] : s->saved_shape[i - s->n_ret];
  }
  WEFT_TRY(function_attrs(s, s->forward, attrs, &n));
  attrs[n] = A_TYPES("Tout", type, n_out);
  attrs[n + 1] = A_SHAPES("output_shapes", shapes, n_out);
  n += 2;
  return weft__graph_extend_node(b->graph, b->graph->node[b->node->id], 0, NULL, n, attrs);
}

/* Adds the node that computes the gradients. */
static weft_err add_backward(branches *s) {
  backprop *b = s->b;
  int n_in = 0, n_out = 0, n = 0;
  weft_out *in = if_alloc(s, sizeof *in * (size_t)(b->n_in + s->n_saved + s->n_ret));
  weft_dtype *type = if_alloc(s, sizeof *type * (size_t)s->n_arg);
  shape *shapes = if_alloc(s, sizeof *shapes * (size_t)s->n_arg);
  attr attrs[4];
  if (!in || !type || !shapes) return if_oom();
  in[n_in++] = b->in[0];
  for (int i = 0; i < s->n_arg; i++)
    if (s->needs[i]) in[n_in++] = b->in[i + 1];
  for (int i = 0; i < s->n_saved; i++) in[n_in++] = weft__graph_out(b->graph, b->node->id, s->n_ret + i);
  for (int i = 0; i < s->n_ret; i++)
    if (s->has_dy[i]) in[n_in++] = weft__backprop_dout(b, i);
  for (int i = 0; i < s->n_arg; i++)
    if (s->dx_type[i]) {
      shapes[n_out] = s->dx_type[i] == weft__out_type(b->graph, b->in[i + 1]) ? *weft__out_shape(b->graph, b->in[i + 1])
                                                                              : SHAPE_UNKNOWN;
      type[n_out++] = s->dx_type[i];
    }
  if (n_out == 0) return WEFT_OK;
  WEFT_TRY(function_attrs(s, s->backward, attrs, &n));
  attrs[n] = A_TYPES("Tout", type, n_out);
  attrs[n + 1] = A_SHAPES("output_shapes", shapes, n_out);
  n += 2;
  const bool acts = weft__body_is_stateful(b->graph, s->n, s->backward);
  const char *op_name = s->is_list ? (acts ? "Case" : "StatelessCase") : (acts ? "If" : "StatelessIf");
  const weft_out d = weft__b_node(b->graph, op_name, NULL, n_in, in, n, attrs);
  for (int i = 0, at = 0; i < s->n_arg; i++)
    if (s->dx_type[i]) b->din[i + 1] = GRAD_DENSE(weft__b_slot(d, at++));
  return weft__b_ok(b->graph);
}

static weft_err branches_differentiate(branches *s) {
  WEFT_TRY(branches_init(s));
  WEFT_TRY(fill_gradients(s));
  for (int k = 0; k < s->n; k++) {
    if (s->n_saved) WEFT_TRY(write_forward(s, k));
    WEFT_TRY(write_backward(s, k));
  }
  WEFT_TRY(extend_forward(s));
  return add_backward(s);
}

static weft_err branches_run(backprop *b, int n, const char *const *attr_name, bool is_list) {
  branches s = {.b = b, .n = n, .attr_name = attr_name, .is_list = is_list, .n_arg = b->n_in - 1, .n_ret = b->n_out};
  weft_err err = branches_differentiate(&s);
  for (int k = 0; k < n && s.of; k++) weft__body_gradient_finish(&s.of[k]);
  weft__arena_finish(&s.arena);
  return err;
}

weft_err weft__gradient_if(backprop *b) {
  return branches_run(b, 2, (const char *const[]){"then_branch", "else_branch"}, false);
}

weft_err weft__gradient_case(backprop *b) {
  int n = weft__function_count(b->node, "branches");
  const char **attr_name = weft__alloc(sizeof *attr_name * ((size_t)n + 1));
  if (!attr_name) return if_oom();
  for (int i = 0; i < n; i++) attr_name[i] = "branches";
  weft_err err = branches_run(b, n, attr_name, true);
  weft__free((void *)attr_name);
  return err;
}
