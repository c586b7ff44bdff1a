/* function.c - converts a FunctionDef to a graph.
 *
 * The library is unpacked anew for each function, and the result is modified in place.  Attributes that stand for
 * the caller's (such as T of a polymorphic function) are filled in and edges are renamed; then the nodes are
 * imported like any GraphDef. */
#include "graph/function.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "graph/attr_proto.h"
#include "graph/expansion.h"
#include "graph/import.h"
#include <stdio.h>
#include <stdlib.h>

typedef Tensorflow__FunctionDef function_def;
typedef Tensorflow__NodeDef node_def;
typedef Tensorflow__AttrValue attr_value;

typedef struct maker {
  function *f;
  weft_graph *g; /* the owner of the library */
  arena tmp;
  const Tensorflow__NameAttrList *call;
  const function_def *def;
  map args;  /* argument -> its number in the flat list, plus 1 */
  map nodes; /* name -> node_def */
  Tensorflow__GraphDef graph;
  node_def *arg_nodes;
  size_t filled_in; /* bytes of attributes taken from the caller */
} maker;

static weft_err function_oom(void) { return weft__fail(WEFT_OOM, "no memory for a function"); }
static void *function_alloc(maker *m, size_t size) { return weft__arena_alloc(&m->tmp, size ? size : 1); }

/* ---- finding the function ---- */

static attr_value *unpack_attr(const weft_node *n, const char *name, arena *a) {
  const attr *at = weft__node_attr(n, name);
  if (!at || at->kind != ATTR_OPAQUE) return NULL;
  ProtobufCAllocator into = weft__arena_allocator(a);
  return tensorflow__attr_value__unpack(&into, at->s.size, (const uint8_t *)at->s.data);
}

static const Tensorflow__NameAttrList *func_of(const attr_value *v, int which) {
  if (!v) return NULL;
  if (v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC) return which == 0 ? v->func : NULL;
  if (v->value_case != TENSORFLOW__ATTR_VALUE__VALUE_LIST || which < 0 || (size_t)which >= v->list->n_func) return NULL;
  return v->list->func[which];
}

int weft__function_count(const weft_node *n, const char *name) {
  arena tmp = {0};
  const attr_value *v = unpack_attr(n, name, &tmp);
  int count = !v ? 0
              : v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST
                  ? weft__int_sat(v->list->n_func)
                  : v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC;
  weft__arena_finish(&tmp);
  return count;
}

/* `name` is the function's name.  If it is NULL, it is in the attribute, or is the op's name if there is no such
 * attribute. */
static weft_err find_def(maker *m, const weft_node *n, const char *attr_name, int which, const char *name) {
  if (!name && n->op && !weft__opdef_attr(&n->op->opdef, attr_name)) name = n->op_name;
  const attr *at = weft__node_attr(n, attr_name);
  const attr_value *v = name ? NULL : unpack_attr(n, attr_name, &m->tmp);
  m->call = name ? weft__function_call_of(n, name, &m->tmp) : func_of(v, which);
  if (!m->call && (name || (!v && at && at->kind == ATTR_OPAQUE))) return function_oom();
  if (!m->call)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Node '%s' (op %s): attr '%s' names no function", n->name, n->op_name,
                      attr_name);
  const library_function *f = weft__library_find(m->g, m->call->name);
  ProtobufCAllocator into = weft__arena_allocator(&m->tmp);
  if (f) m->def = tensorflow__function_def__unpack(&into, f->def.size, (const uint8_t *)f->def.data);
  if (m->def && m->def->signature) return WEFT_OK;
  if (f && !m->def) return function_oom();
  return weft__fail(WEFT_NOT_FOUND, "Function %s is not defined (node '%s', op %s).", m->call->name, n->name,
                    n->op_name);
}

/* ---- attributes ---- */

static attr_value *function_attr(const maker *m, const char *name) {
  for (size_t i = 0; i < m->call->n_attr; i++)
    if (strcmp(m->call->attr[i]->key, name) == 0) return m->call->attr[i]->value;
  for (size_t i = 0; i < m->def->n_attr; i++)
    if (strcmp(m->def->attr[i]->key, name) == 0) return m->def->attr[i]->value;
  for (size_t i = 0; i < m->def->signature->n_attr; i++)
    if (strcmp(m->def->signature->attr[i]->name, name) == 0) return m->def->signature->attr[i]->default_value;
  return NULL;
}

static weft_err fill_in(maker *m, attr_value **v);

static weft_err fill_in_func(maker *m, Tensorflow__NameAttrList *f) {
  for (size_t i = 0; i < f->n_attr; i++) WEFT_TRY(fill_in(m, &f->attr[i]->value));
  return WEFT_OK;
}

static weft_err fill_in(maker *m, attr_value **v) {
  if (!*v) return WEFT_OK;
  if ((*v)->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC) return fill_in_func(m, (*v)->func);
  if ((*v)->value_case != TENSORFLOW__ATTR_VALUE__VALUE_PLACEHOLDER) return WEFT_OK;
  attr_value *with = function_attr(m, (*v)->placeholder);
  if (!with)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Function %s is called without its attr '%s'", m->call->name,
                      (*v)->placeholder);
  /* Counts these bytes, because attributes that name functions with attributes could grow with every call of a
   * chain. */
  m->filled_in += tensorflow__attr_value__get_packed_size(with);
  if (m->filled_in > FUNCTION_MAX_ATTR_BYTES)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "Function %s takes more than %d bytes of attributes from its caller",
                      m->call->name, FUNCTION_MAX_ATTR_BYTES);
  *v = with;
  return WEFT_OK;
}

static const attr_value *node_value(const node_def *n, const char *name) {
  for (size_t i = 0; i < n->n_attr; i++)
    if (strcmp(n->attr[i]->key, name) == 0) return n->attr[i]->value;
  return NULL;
}

/* ---- arguments ---- */

static const Tensorflow__FunctionDefArgAttrs *attrs_of_arg(const maker *m, size_t i) {
  for (size_t j = 0; j < m->def->n_arg_attr; j++)
    if (m->def->arg_attr[j]->key == i) return m->def->arg_attr[j]->value;
  return NULL;
}

static weft_err add_attr(maker *m, node_def *n, const char *name, attr_value *v) {
  Tensorflow__NodeDefAttrEntry *e = function_alloc(m, sizeof *e);
  if (!e) return function_oom();
  tensorflow__node_def_attr_entry__init(e);
  e->key = (char *)(uintptr_t)name;
  e->value = v;
  n->attr[n->n_attr++] = e;
  return WEFT_OK;
}

static weft_err make_arg(maker *m, node_def *n, size_t index, int32_t type) {
  WEFT_ASSERT(index < m->def->signature->n_input_arg && type > 0);
  const Tensorflow__FunctionDefArgAttrs *more = attrs_of_arg(m, index);
  attr_value *t = function_alloc(m, sizeof *t), *number = function_alloc(m, sizeof *number);
  tensorflow__node_def__init(n);
  n->name = m->def->signature->input_arg[index]->name;
  n->op = (char *)(uintptr_t) "_Arg";
  n->attr = function_alloc(m, sizeof *n->attr * (2 + (more ? more->n_attr : 0))); /* a file may repeat a key */
  if (!t || !number || !n->attr) return function_oom();
  tensorflow__attr_value__init(t);
  t->value_case = TENSORFLOW__ATTR_VALUE__VALUE_TYPE;
  t->type = type;
  tensorflow__attr_value__init(number);
  number->value_case = TENSORFLOW__ATTR_VALUE__VALUE_I;
  number->i = (int64_t)index;
  WEFT_TRY(add_attr(m, n, "T", t));
  WEFT_TRY(add_attr(m, n, "index", number));
  for (size_t i = 0; more && i < more->n_attr; i++)
    if (strcmp(more->attr[i]->key, "_output_shapes") == 0)
      WEFT_TRY(add_attr(m, n, "_output_shapes", more->attr[i]->value));
  return WEFT_OK;
}

static weft_err function_read_args(maker *m) {
  WEFT_ASSERT(m->def && m->def->signature && !m->arg_nodes);
  const Tensorflow__OpDef *s = m->def->signature;
  m->arg_nodes = function_alloc(m, sizeof *m->arg_nodes * s->n_input_arg);
  if (!m->arg_nodes) return function_oom();
  for (size_t i = 0; i < s->n_input_arg; i++) {
    const Tensorflow__OpDefArgDef *a = s->input_arg[i];
    const attr_value *by_attr = *a->type_attr ? function_attr(m, a->type_attr) : NULL;
    int32_t type = by_attr && by_attr->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TYPE ? by_attr->type : a->type;
    if (*a->number_attr || *a->type_list_attr || type <= 0)
      return weft__fail(WEFT_UNIMPLEMENTED, "Function %s: argument '%s' is a list or has no type", s->name, a->name);
    WEFT_TRY(make_arg(m, &m->arg_nodes[i], i, type));
    WEFT_TRY(weft__map_put(&m->args, a->name, &m->arg_nodes[i]));
  }
  return WEFT_OK;
}

/* ---- edges ---- */

/* Returns the number of tensors in output i of a node. */
static int function_count_of(const node_def *n, const op *o, int i) {
  WEFT_ASSERT(i >= 0 && i < o->opdef.n_out);
  const arg_def *d = &o->opdef.out[i];
  const char *name = d->number_attr ? d->number_attr : d->list_attr;
  if (!name) return 1;
  const attr_value *v = node_value(n, name);
  if (v && v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_I) return v->i >= 0 && v->i < 65536 ? weft__int_sat(v->i) : 0;
  if (v && v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST) return (int)v->list->n_type;
  const attr_def *a = weft__opdef_attr(&o->opdef, name);
  return a && a->has_default ? weft__int_sat(a->is_list ? a->default_value.n : a->default_value.i) : 0;
}

/* Finds the number of "output:index" in the flat list of a node's outputs. */
static weft_err flat_slot(const maker *m, const node_def *n, const char *output, size_t length, long index,
                          long *slot) {
  const op *o = weft__graph_op(m->g, n->op);
  if (!o)
    return weft__fail(WEFT_UNIMPLEMENTED, "unimplemented op %s: node '%s' of function %s", n->op, n->name,
                      m->call->name);
  *slot = index;
  for (int i = 0; i < o->opdef.n_out; i++) {
    if (strlen(o->opdef.out[i].name) == length && memcmp(o->opdef.out[i].name, output, length) == 0) return WEFT_OK;
    *slot += function_count_of(n, o, i);
  }
  return weft__fail(WEFT_INVALID_ARGUMENT, "Function %s: node '%s' (op %s) has no output '%.*s'", m->call->name,
                    n->name, n->op, weft__int_sat(length), output);
}

/* Converts "node:output:index", "argument" or "^node" to the form that graphs use.  The arena owns the result. */
static weft_err graph_edge(maker *m, const char *edge, char **out) {
  char *name = weft__arena_strndup(&m->tmp, edge, strcspn(edge, ":"));
  if (!name) return function_oom();
  const char *output = edge + strlen(name);
  *out = name;
  if (*edge == '^' || weft__map_get(&m->args, name)) return WEFT_OK;
  const node_def *n = weft__map_get(&m->nodes, name);
  if (!n)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Function %s: there is no node or argument '%s'", m->call->name, name);
  if (!*output) return WEFT_OK;
  output++;
  size_t length = strcspn(output, ":");
  long slot, index = output[length] ? strtol(output + length + 1, NULL, 10) : 0;
  WEFT_TRY(flat_slot(m, n, output, length, index, &slot));
  char *text = function_alloc(m, strlen(name) + 24);
  if (!text) return function_oom();
  sprintf(text, "%s:%ld", name, slot);
  *out = text;
  return WEFT_OK;
}

static weft_err read_nodes(maker *m) {
  const function_def *d = m->def;
  m->graph.n_node = d->signature->n_input_arg + d->n_node_def;
  m->graph.node = function_alloc(m, sizeof *m->graph.node * m->graph.n_node);
  if (!m->graph.node) return function_oom();
  for (size_t i = 0; i < d->signature->n_input_arg; i++) m->graph.node[i] = &m->arg_nodes[i];
  for (size_t i = 0; i < d->n_node_def; i++) {
    node_def *n = m->graph.node[d->signature->n_input_arg + i] = d->node_def[i];
    WEFT_TRY(weft__map_put(&m->nodes, n->name, n));
    for (size_t j = 0; j < n->n_attr; j++) WEFT_TRY(fill_in(m, &n->attr[j]->value));
  }
  for (size_t i = 0; i < d->n_node_def; i++)
    for (size_t j = 0; j < d->node_def[i]->n_input; j++)
      WEFT_TRY(graph_edge(m, d->node_def[i]->input[j], &d->node_def[i]->input[j]));
  return WEFT_OK;
}

/* ---- arguments and results ---- */

static weft_err find_rets(maker *m) {
  WEFT_ASSERT(m->f->n_ret == 0 && m->f->ret);
  const Tensorflow__OpDef *s = m->def->signature;
  function *f = m->f;
  for (size_t i = 0; i < s->n_output_arg; i++) {
    char *edge = NULL;
    for (size_t j = 0; j < m->def->n_ret && !edge; j++)
      if (strcmp(m->def->ret[j]->key, s->output_arg[i]->name) == 0)
        WEFT_TRY(graph_edge(m, m->def->ret[j]->value, &edge));
    if (!edge)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Function %s does not return its result '%s'", s->name,
                        s->output_arg[i]->name);
    WEFT_TRY(weft__graph_find_out(f->body, edge, &f->ret[f->n_ret]));
    f->n_ret++;
  }
  return WEFT_OK;
}

static weft_err function_connect(maker *m) {
  WEFT_ASSERT(m->f->body && m->f->n_arg == 0 && m->f->n_target == 0);
  const Tensorflow__OpDef *s = m->def->signature;
  function *f = m->f;
  f->arg = weft__arena_alloc(&f->arena, sizeof *f->arg * (s->n_input_arg + 1));
  f->ret = weft__arena_alloc(&f->arena, sizeof *f->ret * (s->n_output_arg + 1));
  f->target = weft__arena_alloc(&f->arena, sizeof *f->target * ((size_t)f->body->n_node + 1));
  if (!f->arg || !f->ret || !f->target) return function_oom();
  for (size_t i = 0; i < s->n_input_arg; i++)
    WEFT_TRY(weft__graph_find_out(f->body, s->input_arg[i]->name, &f->arg[f->n_arg++]));
  for (int i = 0; i < f->body->n_node; i++) {
    const weft_node *n = f->body->node[i];
    if (n->op && n->op->opdef.stateful && n->op->kind != KIND_ARGUMENT) f->target[f->n_target++] = i;
  }
  return find_rets(m);
}

static weft_err make_body(maker *m) {
  Tensorflow__VersionDef versions = TENSORFLOW__VERSION_DEF__INIT;
  versions.producer = m->g->version_producer;
  versions.min_consumer = m->g->version_min_consumer;
  m->graph.versions = &versions;
  WEFT_TRY(weft__graph_create(&m->f->body, m->g->ops));
  weft_graph *body = m->f->body;
  WEFT_TRY(weft__expansion_enter(body, m->g, m->call->name));
  WEFT_TRY(weft__library_share(body, m->g));
  return weft__graph_import_proto(body, &m->graph, &(import_opts){.part = true});
}

static weft_err function_make(maker *m, const weft_node *n, const char *attr_name, int which, const char *name) {
  function *f = m->f;
  char number[16];
  snprintf(number, sizeof number, "%d", which);
  WEFT_TRY(find_def(m, n, attr_name, which, name));
  size_t length = strlen(n->name) + strlen(attr_name) + strlen(number) + 3;
  char *where = weft__arena_alloc(&f->arena, length);
  f->name = weft__arena_strdup(&f->arena, m->call->name);
  if (!where || !f->name) return function_oom();
  snprintf(where, length, "%s.%s%s", n->name, attr_name, which ? number : "");
  f->where = where;
  tensorflow__graph_def__init(&m->graph);
  WEFT_TRY(function_read_args(m));
  WEFT_TRY(read_nodes(m));
  WEFT_TRY(make_body(m));
  return function_connect(m);
}

static void function_destroy(object *o) {
  function *f = (function *)o;
  WEFT_ASSERT(atomic_load(&f->base.refs) == 0);
  if (f->code) f->drop(f->code);
  if (f->of)
    weft__function_release(f->of);
  else
    weft__graph_destroy(f->body);
  pthread_mutex_destroy(&f->lock);
  weft__free(f->session);
  weft__arena_finish(&f->arena);
  weft__free(f);
}

static weft_err function_create(function **out, const weft_node *n, const char *attr_name, int which,
                                const char *name) {
  maker m = {.g = n->graph, .f = weft__alloc_zero(1, sizeof *m.f)};
  if (!m.f) return function_oom();
  atomic_init(&m.f->base.refs, 1);
  m.f->base.destroy = function_destroy;
  pthread_mutex_init(&m.f->lock, NULL);
  pthread_mutex_t *lock = &n->graph->lock;
  pthread_mutex_lock(lock);
  weft_err err = function_make(&m, n, attr_name, which, name);
  pthread_mutex_unlock(lock);
  weft__map_finish(&m.args);
  weft__map_finish(&m.nodes);
  weft__arena_finish(&m.tmp);
  if (err)
    weft__function_release(m.f);
  else
    *out = m.f;
  return err;
}

weft_err weft__function_of_body(function **out, const weft_node *n, weft_graph *body, int n_arg, const weft_out *arg,
                                int n_ret, const weft_out *ret) {
  function *f = weft__alloc_zero(1, sizeof *f);
  if (!f) {
    weft__graph_destroy(body);
    return function_oom();
  }
  atomic_init(&f->base.refs, 1);
  f->base.destroy = function_destroy;
  pthread_mutex_init(&f->lock, NULL);
  f->body = body;
  f->name = weft__arena_strdup(&f->arena, n->op_name);
  f->where = weft__arena_strdup(&f->arena, n->name);
  f->arg = weft__arena_alloc(&f->arena, sizeof *arg * (size_t)(n_arg + 1));
  f->ret = weft__arena_alloc(&f->arena, sizeof *ret * (size_t)(n_ret + 1));
  if (!f->name || !f->where || !f->arg || !f->ret) {
    weft__function_release(f);
    return function_oom();
  }
  f->n_arg = n_arg, f->n_ret = n_ret;
  for (int i = 0; i < n_arg; i++) f->arg[i] = arg[i];
  for (int i = 0; i < n_ret; i++) f->ret[i] = ret[i];
  *out = f;
  return WEFT_OK;
}

weft_err weft__function_create(function **out, const weft_node *n, const char *attr_name, int which) {
  return function_create(out, n, attr_name, which, NULL);
}

weft_err weft__function_create_named(function **out, const weft_node *n, const char *name) {
  return function_create(out, n, name, 0, name);
}

weft_err weft__function_clone(function **out, function *f) {
  function *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return function_oom();
  *c = (function){.name = f->name,
                  .where = f->where,
                  .body = f->body,
                  .of = f,
                  .n_arg = f->n_arg,
                  .n_ret = f->n_ret,
                  .n_target = f->n_target,
                  .arg = f->arg,
                  .ret = f->ret,
                  .target = f->target};
  weft__object_retain(&f->base);
  atomic_init(&c->base.refs, 1);
  c->base.destroy = function_destroy;
  pthread_mutex_init(&c->lock, NULL);
  *out = c;
  return WEFT_OK;
}

/* ---- calling ---- */

static weft_err function_prepare(function *f, const step *st) {
  WEFT_ASSERT(st->caller && f->where);
  weft_err err = WEFT_OK;
  if (atomic_load_explicit(&f->ready, memory_order_acquire)) return WEFT_OK;
  pthread_mutex_lock(&f->lock);
  if (!f->session) f->session = weft__sprintf("%s\x1f%s", st->session ? st->session : "", f->where);
  if (!f->session) err = WEFT_OOM;
  if (!err && !f->code) err = st->caller->compile(f);
  if (!err) atomic_store_explicit(&f->ready, true, memory_order_release);
  pthread_mutex_unlock(&f->lock);
  return err;
}

static weft_err check_args(const function *f, int n_arg, const weft_tensor *const *arg, int n_ret) {
  if (n_arg != f->n_arg || n_ret != f->n_ret)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Function %s takes %d arguments and gives %d results, not %d and %d",
                      f->name, f->n_arg, f->n_ret, n_arg, n_ret);
  for (int i = 0; i < n_arg; i++) {
    weft_dtype want = weft__out_type(f->body, f->arg[i]);
    if (arg[i]->dtype != want)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Argument %d of function %s is %s, but it takes %s", i, f->name,
                        weft__dtype_name(arg[i]->dtype), weft__dtype_name(want));
  }
  return WEFT_OK;
}

weft_err weft__function_prepare(const weft_node *n, void **state) {
  return weft__function_create((function **)state, n, "f", 0);
}

void weft__function_unprepare(void *state) { weft__function_release(state); }

weft_err weft__function_call(function *f, const step *st, int n_arg, const weft_tensor *const *arg, int n_ret,
                             weft_tensor **ret) {
  if (!st->caller)
    return weft__fail(WEFT_UNIMPLEMENTED, "function %s is called where no functions can be run", f->name);
  WEFT_TRY(check_args(f, n_arg, arg, n_ret));
  WEFT_TRY(function_prepare(f, st));
  step body = *st;
  body.session = f->session;
  return st->caller->run(f, &body, arg, ret);
}
