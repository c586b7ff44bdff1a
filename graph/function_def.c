/* function_def.c - converts a graph to a FunctionDef: edges get the names of arguments and outputs. */
#include "base/alloc.h"
#include "base/assert.h"
#include "graph/attr_proto.h"
#include "graph/function.h"
#include "graph/import.h"
#include <ctype.h>
#include <stdio.h>

typedef struct writer {
  weft_graph *body;
  const function_spec *spec;
  arena arena;
  Tensorflow__FunctionDef def;
  Tensorflow__OpDef signature;
  map names;      /* used names of arguments and results */
  char **arg;     /* per input: its name */
  bool *left_out; /* per node */
} writer;

static weft_err function_def_oom(void) { return weft__fail(WEFT_OOM, "no memory for a function"); }
static void *function_def_alloc(writer *w, size_t size) { return weft__arena_alloc(&w->arena, size ? size : 1); }

static int arg_of(const writer *w, weft_out o) {
  for (int i = 0; i < w->spec->n_in; i++)
    if (w->spec->in[i].node == o.node && w->spec->in[i].slot == o.slot) return i;
  return -1;
}

static bool is_arg_node(const writer *w, int node) {
  for (int i = 0; i < w->spec->n_in; i++)
    if (w->spec->in[i].node == node) return true;
  return false;
}

/* Makes a unique name of a letter followed by lowercase letters, digits and _. */
static weft_err plain_name(writer *w, const char *from, char **out) {
  size_t length = strlen(from);
  char *name = function_def_alloc(w, length + 16), *end = name;
  if (!name) return function_def_oom();
  if (!isalpha((unsigned char)*from)) *end++ = 'x';
  for (; *from; from++) *end++ = (char)(isalnum((unsigned char)*from) ? tolower((unsigned char)*from) : '_');
  for (int i = 1; weft__map_get(&w->names, name) || weft__graph_find(w->body, name); i++) sprintf(end, "_%d", i);
  *out = name;
  return weft__map_put(&w->names, name, name);
}

/* Formats an edge: "argument" or "node:output:index". */
static weft_err edge_text(writer *w, weft_out o, char **out) {
  const weft_node *n = w->body->node[o.node];
  int arg = arg_of(w, o);
  if (arg >= 0) {
    *out = w->arg[arg];
    return WEFT_OK;
  }
  if (!n->op)
    return weft__fail(WEFT_UNIMPLEMENTED, "unimplemented op %s: node '%s' of function %s", n->op_name, n->name,
                      w->spec->name);
  for (int i = 0; i < n->op->opdef.n_out; i++) {
    int first, count;
    WEFT_TRY(weft__node_out_range(n, n->op->opdef.out[i].name, &first, &count));
    if (o.slot < first || o.slot >= first + count) continue;
    *out = function_def_alloc(w, strlen(n->name) + strlen(n->op->opdef.out[i].name) + 16);
    if (!*out) return function_def_oom();
    sprintf(*out, "%s:%s:%d", n->name, n->op->opdef.out[i].name, o.slot - first);
    return WEFT_OK;
  }
  return weft__fail(WEFT_INVALID_ARGUMENT, "node '%s' has no output %d", n->name, o.slot);
}

static weft_err arg_def_of(writer *w, weft_out o, char *name, Tensorflow__OpDefArgDef **out) {
  if (!(*out = function_def_alloc(w, sizeof **out))) return function_def_oom();
  tensorflow__op_def_arg_def__init(*out);
  (*out)->name = name;
  (*out)->type = (int)weft__out_type(w->body, o);
  return WEFT_OK;
}

/* Stores the shape of an argument as an attribute of it. */
static weft_err shape_attr(writer *w, int i, Tensorflow__FunctionDefArgAttrEntry **out) {
  WEFT_ASSERT(i >= 0 && i < w->spec->n_in);
  Tensorflow__FunctionDefArgAttrEntry *e = function_def_alloc(w, sizeof *e);
  Tensorflow__FunctionDefArgAttrs *attrs = function_def_alloc(w, sizeof *attrs);
  Tensorflow__FunctionDefArgAttrsAttrEntry *a = function_def_alloc(w, sizeof *a),
                                           **list = function_def_alloc(w, sizeof *list);
  Tensorflow__AttrValue *v = function_def_alloc(w, sizeof *v);
  if (!e || !attrs || !a || !list || !v) return function_def_oom();
  tensorflow__function_def_arg_attr_entry__init(e);
  tensorflow__function_def_arg_attrs__init(attrs);
  tensorflow__function_def_arg_attrs_attr_entry__init(a);
  shape *s = (shape *)(uintptr_t)weft__out_shape(w->body, w->spec->in[i]);
  WEFT_TRY(weft__attr_to_proto(v, &A_SHAPES("_output_shapes", s, 1), &w->arena));
  a->key = (char *)(uintptr_t) "_output_shapes";
  a->value = v;
  list[0] = a;
  attrs->attr = list;
  attrs->n_attr = 1;
  e->key = (uint32_t)i;
  e->value = attrs;
  *out = e;
  return WEFT_OK;
}

static weft_err write_args(writer *w) {
  int n = w->spec->n_in;
  w->arg = function_def_alloc(w, sizeof *w->arg * (size_t)n);
  w->signature.input_arg = function_def_alloc(w, sizeof *w->signature.input_arg * (size_t)n);
  w->def.arg_attr = function_def_alloc(w, sizeof *w->def.arg_attr * (size_t)n);
  if (!w->arg || !w->signature.input_arg || !w->def.arg_attr) return function_def_oom();
  for (int i = 0; i < n; i++) {
    WEFT_TRY(plain_name(w, w->body->node[w->spec->in[i].node]->name, &w->arg[i]));
    WEFT_TRY(arg_def_of(w, w->spec->in[i], w->arg[i], &w->signature.input_arg[i]));
    WEFT_TRY(shape_attr(w, i, &w->def.arg_attr[i]));
  }
  w->signature.n_input_arg = w->def.n_arg_attr = (size_t)n;
  return WEFT_OK;
}

static weft_err write_rets(writer *w) {
  size_t n = (size_t)w->spec->n_out;
  w->signature.output_arg = function_def_alloc(w, sizeof *w->signature.output_arg * n);
  w->def.ret = function_def_alloc(w, sizeof *w->def.ret * n);
  if (!w->signature.output_arg || !w->def.ret) return function_def_oom();
  for (size_t i = 0; i < n; i++) {
    char number[32], *name;
    Tensorflow__FunctionDefRetEntry *e = w->def.ret[i] = function_def_alloc(w, sizeof *e);
    if (!e) return function_def_oom();
    snprintf(number, sizeof number, "output_%zu", i);
    WEFT_TRY(plain_name(w, w->spec->out_name ? w->spec->out_name[i] : number, &name));
    WEFT_TRY(arg_def_of(w, w->spec->out[i], name, &w->signature.output_arg[i]));
    tensorflow__function_def_ret_entry__init(e);
    e->key = name;
    WEFT_TRY(edge_text(w, w->spec->out[i], &e->value));
  }
  w->signature.n_output_arg = w->def.n_ret = n;
  return WEFT_OK;
}

/* Marks a node as needed and pushes it once, so that its inputs are marked too. */
static void function_def_need(writer *w, int node, int *todo, int *n) {
  WEFT_ASSERT(node >= 0 && node < w->body->n_node && *n < w->body->n_node);
  if (!w->left_out[node] || is_arg_node(w, node)) return;
  w->left_out[node] = false;
  todo[(*n)++] = node;
}

static weft_err choose_nodes(writer *w) {
  int count = w->body->n_node, n = 0, *todo = function_def_alloc(w, sizeof *todo * (size_t)count);
  w->left_out = function_def_alloc(w, sizeof *w->left_out * (size_t)count);
  if (!w->left_out || !todo) return function_def_oom();
  for (int i = 0; i < count; i++) w->left_out[i] = w->spec->needed_only || is_arg_node(w, i);
  for (int i = 0; i < w->spec->n_out; i++) function_def_need(w, w->spec->out[i].node, todo, &n);
  for (int i = 0; i < w->spec->n_kept && w->spec->needed_only; i++) function_def_need(w, i, todo, &n);
  while (n > 0) {
    const weft_node *next = w->body->node[todo[--n]];
    for (int i = 0; i < next->n_in; i++) function_def_need(w, next->in[i].node, todo, &n);
    for (int i = 0; i < next->n_control; i++) function_def_need(w, next->control[i], todo, &n);
  }
  return WEFT_OK;
}

/* Drops control edges from argument nodes, because arguments are available from the start. */
static weft_err write_edges(writer *w, const weft_node *n, Tensorflow__NodeDef *def) {
  WEFT_ASSERT(def->n_input == (size_t)(n->n_in + n->n_control));
  size_t kept = (size_t)n->n_in;
  for (int i = 0; i < n->n_in; i++) WEFT_TRY(edge_text(w, n->in[i], &def->input[i]));
  for (int i = 0; i < n->n_control; i++)
    if (!is_arg_node(w, n->control[i])) def->input[kept++] = def->input[n->n_in + i];
  def->n_input = kept;
  return WEFT_OK;
}

static weft_err write_nodes(writer *w) {
  w->def.node_def = function_def_alloc(w, sizeof *w->def.node_def * (size_t)w->body->n_node);
  if (!w->def.node_def) return function_def_oom();
  for (int i = 0; i < w->body->n_node; i++) {
    const weft_node *n = w->body->node[i];
    Tensorflow__NodeDef *def = function_def_alloc(w, sizeof *def);
    if (!def) return function_def_oom();
    if (w->left_out[i]) continue;
    WEFT_TRY(weft__node_export_proto(n, def, &w->arena));
    WEFT_TRY(write_edges(w, n, def));
    if (n->op && n->op->opdef.stateful) w->signature.is_stateful = true;
    w->def.node_def[w->def.n_node_def++] = def;
  }
  return WEFT_OK;
}

static weft_err function_def_merge(writer *w, weft_graph *g) {
  Tensorflow__FunctionDefLibrary one = TENSORFLOW__FUNCTION_DEF_LIBRARY__INIT, *nested = NULL;
  Tensorflow__FunctionDef *list[] = {&w->def};
  one.n_function = 1;
  one.function = list;
  if (w->body->library != g->library) WEFT_TRY(weft__library_export(w->body, &w->arena, &nested));
  pthread_mutex_lock(&g->lock);
  const library_mark before = weft__library_mark(g);
  weft_err err = weft__library_merge(g, nested);
  if (!err) err = weft__library_merge(g, &one);
  if (err) weft__library_rewind(g, before);
  pthread_mutex_unlock(&g->lock);
  return err;
}

static weft_err function_def_check(const writer *w) {
  const function_spec *s = w->spec;
  for (int i = 0; i < s->n_in + s->n_out; i++) {
    weft_out o = i < s->n_in ? s->in[i] : s->out[i - s->n_in];
    if (!weft__out_exists(w->body, o) || weft__out_foreign(w->body, o))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Function %s: %s %d is none of its graph's", s->name,
                        i < s->n_in ? "argument" : "result", i < s->n_in ? i : i - s->n_in);
  }
  return s->name && *s->name ? WEFT_OK : weft__fail(WEFT_INVALID_ARGUMENT, "a function needs a name");
}

weft_err weft__function_add(weft_graph *g, weft_graph *body, const function_spec *spec) {
  writer w = {.body = body, .spec = spec};
  tensorflow__function_def__init(&w.def);
  tensorflow__op_def__init(&w.signature);
  w.def.signature = &w.signature;
  w.signature.name = (char *)(uintptr_t)spec->name;
  weft_err err = function_def_check(&w);
  if (!err) err = choose_nodes(&w);
  if (!err) err = write_args(&w);
  if (!err) err = write_nodes(&w);
  if (!err) err = write_rets(&w);
  if (!err) err = function_def_merge(&w, g);
  weft__map_finish(&w.names);
  weft__arena_finish(&w.arena);
  return err;
}
