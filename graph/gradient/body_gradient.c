/* body_gradient.c - adds gradients to the body of a function, and finds which forward values they read. */
#include "graph/gradient/body_gradient.h"

#include "base/alloc.h"
#include "base/cast.h"
#include "graph/attr_proto.h"
#include "graph/build.h"
#include "graph/frames.h"
#include "graph/library.h"
#include <stdio.h>

static weft_err body_oom(void) { return weft__fail(WEFT_OOM, "no memory for the gradient of a function"); }
static void *body_alloc(body_gradient *b, size_t size) { return weft__arena_alloc(&b->arena, size + 1); }

/* ---- nodes ---- */

bool weft__body_carries_gradient(weft_dtype type) {
  const dtype_class c = weft__dtype_class(type);
  return c == CLASS_FLOAT || c == CLASS_COMPLEX || type == WEFT_VARIANT;
}

weft_out weft__body_placeholder(weft_graph *g, const char *name, const weft_graph *like, weft_out o) {
  shape s = *weft__out_shape(like, o);
  const attr attrs[] = {A_TYPE("dtype", weft__out_type(like, o)), A_SHAPE("shape", &s)};
  return weft__b_node(g, "Placeholder", name, 0, NULL, 2, attrs);
}

weft_out weft__body_zeros(weft_graph *g, weft_out arg, weft_dtype type) {
  weft_dtype own = weft__out_type(g, arg);
  if (own == WEFT_RESOURCE) {
    weft_out dims = weft__b_node(g, "VariableShape", NULL, 1, &arg, 1, (attr[]){A_TYPE("out_type", WEFT_INT32)});
    return weft__b_fill(g, dims, weft__b_scalar(g, type, 0));
  }
  if (own == WEFT_VARIANT || !weft__shape_known(weft__out_shape(g, arg))) return weft__b_zeros_like(g, arg);
  return weft__b_fill(g, weft__b_shape(g, arg), weft__b_scalar(g, own, 0));
}

/* ---- functions ---- */

weft_err weft__body_add(weft_graph *g, weft_graph *body, const char *base, function_spec *spec, arena *a) {
  size_t room = strlen(base) + 24;
  char *name = weft__arena_alloc(a, room);
  if (!name) return body_oom();
  snprintf(name, room, "%s", base);
  for (int i = 1; weft__library_find(g, name); i++) snprintf(name, room, "%s_%d", base, i);
  spec->name = name;
  return weft__function_add(g, body, spec);
}

weft_err weft__body_function_attr(attr *out, const char *name, int n, const char *const *called, bool is_list,
                                  arena *a) {
  Tensorflow__AttrValue v = TENSORFLOW__ATTR_VALUE__INIT;
  Tensorflow__AttrValueListValue list = TENSORFLOW__ATTR_VALUE_LIST_VALUE__INIT;
  Tensorflow__NameAttrList *call = weft__arena_alloc(a, sizeof *call * (size_t)n);
  Tensorflow__NameAttrList **calls = weft__arena_alloc(a, sizeof *calls * (size_t)n);
  if (!call || !calls) return body_oom();
  for (int i = 0; i < n; i++) {
    tensorflow__name_attr_list__init(&call[i]);
    call[i].name = (char *)(uintptr_t)called[i];
    calls[i] = &call[i];
  }
  v.value_case = is_list ? TENSORFLOW__ATTR_VALUE__VALUE_LIST : TENSORFLOW__ATTR_VALUE__VALUE_FUNC;
  list.n_func = (size_t)n;
  list.func = calls;
  if (is_list)
    v.list = &list;
  else
    v.func = call;
  return weft__attr_keep_proto(out, name, &v, a);
}

bool weft__body_is_stateful(const weft_graph *g, int n, const char *const *called) {
  for (int i = 0; i < n; i++) {
    const library_function *f = weft__library_find(g, called[i]);
    if (!f || !f->op || f->op->opdef.stateful) return true;
  }
  return false;
}

/* ---- gradients ---- */

static bool has_own_control_flow(const weft_graph *g) {
  for (int i = 0; i < g->n_node; i++)
    if (weft__node_is(g->node[i], KIND_ENTER) || weft__node_is(g->node[i], KIND_SWITCH)) return true;
  return false;
}

static bool handles_resource(const weft_graph *g, const weft_node *n) {
  for (int i = 0; i < n->n_in; i++)
    if (weft__out_type(g, n->in[i]) == WEFT_RESOURCE) return true;
  for (int i = 0; i < n->n_out; i++)
    if (n->out_type[i] == WEFT_RESOURCE) return true;
  return false;
}

/* Fails for a random op in a body that is computed again: it would draw other numbers the second time, and the
 * gradient would be silently wrong. */
static weft_err refuse_to_draw_again(const body_gradient *b) {
  for (int i = 0; i < b->n_forward; i++) {
    const weft_node *n = b->body->node[i];
    const bool draws = n->op && n->op->opdef.stateful && n->n_out > 0 && !weft__node_is(n, KIND_ARGUMENT);
    if (draws && !handles_resource(b->body, n))
      return weft__fail(
          WEFT_UNIMPLEMENTED,
          "the gradient of a function with loops or branches of its own (Enter, Switch) computes its body "
          "again, and %s (op %s) would give another value then; move it out of the function",
          n->name, n->op_name);
  }
  return WEFT_OK;
}

static weft_err body_differentiate(body_gradient *b, const bool *has_dy) {
  function *f = b->f;
  size_t n_ret = (size_t)f->n_ret, n_arg = (size_t)f->n_arg;
  weft_out *y = body_alloc(b, sizeof *y * n_ret), *dy = body_alloc(b, sizeof *dy * n_ret);
  grad_value *d = body_alloc(b, sizeof *d * n_arg);
  b->dy = body_alloc(b, sizeof *b->dy * n_ret);
  b->dx = body_alloc(b, sizeof *b->dx * n_arg);
  if (!y || !dy || !d || !b->dy || !b->dx) return body_oom();
  int n = 0;
  for (int i = 0; i < f->n_ret; i++) {
    b->dy[i] = WEFT_NONE;
    if (!has_dy[i]) continue;
    b->dy[i] = weft__body_placeholder(b->body, "gradient_of_result", b->body, f->ret[i]);
    y[n] = f->ret[i];
    dy[n++] = b->dy[i];
  }
  WEFT_TRY(weft__b_ok(b->body));
  WEFT_TRY(weft__gradients(b->body, n, y, f->n_arg, f->arg, dy, NULL, d));
  for (int i = 0; i < f->n_arg; i++) b->dx[i] = weft__gradient_dense(b->body, &d[i]);
  return weft__b_ok(b->body);
}

weft_err weft__body_gradient_init(body_gradient *b, const weft_node *n, const char *attr_name, int which,
                                  const bool *has_dy) {
  *b = (body_gradient){0};
  WEFT_TRY(weft__function_create(&b->f, n, attr_name, which));
  b->body = b->f->body;
  b->n_forward = b->body->n_node;
  b->again = has_own_control_flow(b->body);
  if (b->again) WEFT_TRY(refuse_to_draw_again(b));
  return body_differentiate(b, has_dy);
}

void weft__body_gradient_finish(body_gradient *b) {
  weft__function_release(b->f);
  weft__arena_finish(&b->arena);
  *b = (body_gradient){0};
}

/* ---- the values that gradients read ---- */

static void push_unseen(bool *seen, int *todo, int *n, int node) {
  if (seen[node]) return;
  seen[node] = true;
  todo[(*n)++] = node;
}

/* Finds the nodes of the forward function: the original nodes, and those that they got as new inputs. */
static void find_forward(body_gradient *b, int *todo) {
  int n = 0;
  for (int i = 0; i < b->n_forward; i++) push_unseen(b->forward, todo, &n, i);
  while (n > 0) {
    const weft_node *node = b->body->node[todo[--n]];
    for (int i = 0; i < node->n_in; i++) push_unseen(b->forward, todo, &n, node->in[i].node);
    for (int i = 0; i < node->n_control; i++) push_unseen(b->forward, todo, &n, node->control[i]);
  }
}

int weft__body_gradient_argument(const body_gradient *b, weft_out o) {
  for (int i = 0; i < b->f->n_arg; i++)
    if (b->f->arg[i].node == o.node && b->f->arg[i].slot == o.slot) return i;
  return -1;
}

static bool is_free_constant(const body_gradient *b, int node) {
  const weft_node *n = b->body->node[node];
  return weft__node_is(n, KIND_CONST) && n->n_control == 0;
}

/* Adds a forward output that a gradient reads to the list, once. */
static void save_output(body_gradient *b, weft_out o) {
  if (is_free_constant(b, o.node)) return;
  for (int i = 0; i < b->n_saved; i++)
    if (b->saved[i].node == o.node && b->saved[i].slot == o.slot) return;
  b->saved[b->n_saved++] = o;
}

weft_err weft__body_gradient_find_saved(body_gradient *b) {
  size_t n_node = (size_t)b->body->n_node, n_edge = 0;
  for (size_t i = 0; i < n_node; i++) n_edge += (size_t)b->body->node[i]->n_in;
  int n = 0, *todo = body_alloc(b, sizeof *todo * n_node);
  bool *seen = body_alloc(b, n_node);
  b->forward = body_alloc(b, n_node);
  b->saved = body_alloc(b, sizeof *b->saved * (n_edge + (size_t)b->f->n_arg));
  if (!todo || !seen || !b->forward || !b->saved) return body_oom();
  if (b->again) return WEFT_OK;
  find_forward(b, todo);
  for (int i = 0; i < b->f->n_arg; i++) {
    if (b->dx[i].node < 0) continue;
    if (b->forward[b->dx[i].node])
      save_output(b, b->dx[i]);
    else
      push_unseen(seen, todo, &n, b->dx[i].node);
  }
  while (n > 0) {
    const weft_node *node = b->body->node[todo[--n]];
    for (int i = 0; i < node->n_in; i++) {
      if (b->forward[node->in[i].node])
        save_output(b, node->in[i]);
      else
        push_unseen(seen, todo, &n, node->in[i].node);
    }
  }
  return WEFT_OK;
}
