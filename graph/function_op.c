/* function_op.c - functions of a graph's library as ops, and functions that are gradients of others.
 *
 * TensorFlow 1 calls a function (a Defun) by a node whose op is the function's name.  Such a node gets its own op:
 * the row of PartitionedCall with the signature of the function.  The gradient of a function is the one that a
 * GradientDef of the library names.  Otherwise it is its own body extended by the gradient nodes: it takes the
 * arguments and a gradient for each result, and returns a gradient for each argument. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/attr_proto.h"
#include "graph/build.h"
#include "graph/function.h"
#include "graph/gradient.h"
#include "graph/import.h"
#include "graph/op.h"

/* ---- a function as an op ---- */

static bool read_arg(const Tensorflow__OpDefArgDef *from, arg_def *to, arena *a) {
  if (*from->number_attr || *from->type_list_attr) return false;                        /* a Defun never has these */
  if (!*from->type_attr && weft__dtype_size((weft_dtype)from->type) == 0) return false; /* not a valid type */
  to->name = weft__arena_strdup(a, from->name);
  to->type = (weft_dtype)from->type;
  to->type_attr = *from->type_attr ? weft__arena_strdup(a, from->type_attr) : NULL;
  to->is_ref = from->is_ref;
  return to->name && (to->type_attr || !*from->type_attr);
}

static bool read_signature(opdef *d, const Tensorflow__OpDef *s, arena *a) {
  d->name = weft__arena_strdup(a, s->name);
  d->in = weft__arena_alloc(a, sizeof *d->in * (s->n_input_arg + 1));
  d->out = weft__arena_alloc(a, sizeof *d->out * (s->n_output_arg + 1));
  d->attr = weft__arena_alloc(a, sizeof *d->attr * (s->n_attr + 1));
  if (!d->name || !d->in || !d->out || !d->attr) return false;
  for (size_t i = 0; i < s->n_input_arg; i++)
    if (!read_arg(s->input_arg[i], &d->in[d->n_in++], a)) return false;
  for (size_t i = 0; i < s->n_output_arg; i++)
    if (!read_arg(s->output_arg[i], &d->out[d->n_out++], a)) return false;
  for (size_t i = 0; i < s->n_attr; i++) {
    if (strcmp(s->attr[i]->type, "type") != 0) continue; /* only type attributes determine the arguments */
    attr_def *t = &d->attr[d->n_attr++];
    t->name = weft__arena_strdup(a, s->attr[i]->name);
    t->kind = ATTR_TYPE;
    if (!t->name) return false;
  }
  d->stateful = s->is_stateful;
  return true;
}

weft_err weft__function_op(const op **out, const op_table *ops, const Tensorflow__OpDef *signature, arena *a) {
  const op *call = weft__op_find(ops, "PartitionedCall");
  opdef d = {0};
  *out = NULL;
  if (!call || weft__op_find(ops, signature->name)) return WEFT_OK; /* then the name means that op */
  if (!read_signature(&d, signature, a)) return WEFT_OK;
  op *made = weft__arena_alloc(a, sizeof *made);
  if (!made) return WEFT_OOM;
  memcpy(made, call, sizeof *made);
  made->def = d.name;
  made->opdef = d;
  made->cases = NULL;
  *out = made;
  return WEFT_OK;
}

const op *weft__graph_op(const weft_graph *g, const char *name) {
  const op *known = weft__op_find(g->ops, name);
  const library_function *f = known ? NULL : weft__library_find(g, name);
  return f ? f->op : known;
}

/* ---- a function as the gradient of another ---- */

static weft_out result_gradient(function *f, int i, int index) {
  weft_graph *g = f->body;
  const attr attrs[] = {A_TYPE("T", weft__out_type(g, f->ret[i])), A_INT("index", index)};
  return weft__b_node(g, "_Arg", "gradient_of_result", 0, NULL, 2, attrs);
}

/* Adds the gradient nodes to the body, which then returns the gradients of the arguments, not the results. */
static weft_err append_gradient(function *f) {
  weft_graph *g = f->body;
  const size_t n_arg = (size_t)f->n_arg, n_ret = (size_t)f->n_ret;
  weft_out *arg = weft__arena_alloc(&f->arena, sizeof *arg * (n_arg + n_ret + 1));
  weft_out *ret = weft__arena_alloc(&f->arena, sizeof *ret * (n_arg + 1));
  grad_value *d = weft__arena_alloc(&f->arena, sizeof *d * (n_arg + 1));
  if (!arg || !ret || !d) return WEFT_OOM;
  memcpy(arg, f->arg, sizeof *arg * n_arg);
  for (int i = 0; i < f->n_ret; i++) arg[f->n_arg + i] = result_gradient(f, i, f->n_arg + i);
  WEFT_TRY(weft__b_ok(g));
  WEFT_TRY(weft__gradients(g, f->n_ret, f->ret, f->n_arg, f->arg, arg + n_arg, NULL, d));
  for (int i = 0; i < f->n_arg; i++) {
    ret[i] = weft__gradient_dense(g, &d[i]);
    /* a placeholder that nothing reads */
    if (ret[i].node < 0 && weft__out_type(g, f->arg[i]) == WEFT_RESOURCE) ret[i] = f->arg[i];
    if (ret[i].node < 0) ret[i] = weft__b_zeros_like(g, f->arg[i]);
  }
  f->arg = arg;
  f->ret = ret;
  f->n_ret = f->n_arg;
  f->n_arg = weft__int_sat(n_arg + n_ret);
  return weft__b_ok(g);
}

weft_err weft__function_gradient(function **out, const weft_node *n, const char *attr_name) {
  function *f = NULL;
  WEFT_TRY(weft__function_create(&f, n, attr_name, 0));
  const char *own = weft__library_gradient(n->graph, f->name);
  weft_err err = WEFT_OK;
  if (own) {
    weft__function_release(f);
    f = NULL;
    err = weft__function_create_named(&f, n, own);
  } else {
    err = append_gradient(f);
  }
  if (err)
    weft__function_release(f);
  else
    *out = f;
  return err;
}

/* ---- attributes that name functions ---- */

weft_err weft__function_attr(attr *out, const char *attr_name, const weft_node *n, arena *a) {
  const attr *own = weft__opdef_attr(&n->op->opdef, attr_name) ? weft__node_attr(n, attr_name) : NULL;
  if (own) {
    *out = *own;
    return WEFT_OK;
  }
  Tensorflow__AttrValue v;
  tensorflow__attr_value__init(&v);
  Tensorflow__NameAttrList *call = weft__function_call_of(n, n->op_name, a);
  if (!call) return WEFT_OOM;
  v.value_case = TENSORFLOW__ATTR_VALUE__VALUE_FUNC;
  v.func = call;
  return weft__attr_keep_proto(out, attr_name, &v, a);
}

Tensorflow__NameAttrList *weft__function_call_of(const weft_node *n, const char *name, arena *a) {
  Tensorflow__NameAttrList *call = weft__arena_alloc(a, sizeof *call);
  Tensorflow__NameAttrListAttrEntry **list = weft__arena_alloc(a, sizeof *list * (size_t)(n->n_attr + 1));
  if (!call || !list) return NULL;
  tensorflow__name_attr_list__init(call);
  call->name = weft__arena_strdup(a, name);
  call->attr = list;
  for (int i = 0; i < n->n_attr && call->name; i++) {
    Tensorflow__NameAttrListAttrEntry *e = weft__arena_alloc(a, sizeof *e);
    Tensorflow__AttrValue *v = weft__arena_alloc(a, sizeof *v);
    if (!e || !v || weft__attr_to_proto(v, &n->attr[i], a)) return NULL;
    tensorflow__name_attr_list_attr_entry__init(e);
    e->key = (char *)(uintptr_t)n->attr[i].name;
    e->value = v;
    list[call->n_attr++] = e;
  }
  return call->name ? call : NULL;
}
