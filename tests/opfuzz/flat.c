/* flat.c - converts a model to NodeDefs and FunctionDefs. */
#include "tests/opfuzz/flat.h"
#include "base/alloc.h"
#include "graph/attr_proto.h"
#include <stdio.h>

static const fuzz_in *scalar_input(flat *f, weft_dtype type, double value) {
  fuzz_in *in = weft__arena_alloc(f->arena, sizeof *in);
  model *m = (model *)(uintptr_t)f->m;
  shape s = SHAPE_SCALAR;
  weft_tensor *t = model_tensor(m, type, &s);
  weft_tensor *one = NULL;
  if (t && type != WEFT_STRING && weft__tensor_scalar(&one, type, value) == WEFT_OK)
    memcpy(t->data, one->data, weft__dtype_size(type));
  weft_tensor_destroy(one);
  if (!in || !t) return NULL;
  in->value = t;
  return in;
}

flat_node *flat_add(flat *f, const char *type_name, const char *name, weft_dtype type, const char *out, bool inner) {
  if (f->n == MAX_FLAT) return NULL;
  flat_node *n = &f->node[f->n++];
  memset(n, 0, sizeof *n);
  snprintf(n->name, sizeof n->name, "%s", name);
  n->op = type_name;
  n->from = -1;
  n->type = type;
  n->out = out;
  n->inner = inner;
  return n;
}

static flat_node *add_const(flat *f, const char *name, const fuzz_in *in, bool inner) {
  flat_node *n = in ? flat_add(f, "Const", name, in->value->dtype, "output", inner) : NULL;
  if (!n) return NULL;
  n->constant = in;
  n->attr[n->n_attr++] = A_TYPE("dtype", in->value->dtype);
  return n;
}

int flat_scalar(flat *f, const char *name, weft_dtype type, double value, bool inner) {
  flat_node *n = add_const(f, name, scalar_input(f, type, value), inner);
  return n ? (int)(n - f->node) : 0;
}

flat_node *flat_placeholder(flat *f, const char *name, const fuzz_in *in) {
  flat_node *n = flat_add(f, "Placeholder", name, in->value->dtype, "output", false);
  shape *s = weft__arena_alloc(f->arena, sizeof *s);
  if (!n || !s) return NULL;
  *s = in->value->shape;
  if (in->says == SHAPE_ANY) *s = SHAPE_UNKNOWN;
  if (in->says == SHAPE_LIE) {
    if (s->rank > 0) s->dim[0] = -1;
    if (s->rank > 1) s->dim[s->rank - 1] = -1;
  }
  n->attr[n->n_attr++] = A_TYPE("dtype", in->value->dtype);
  n->attr[n->n_attr++] = A_SHAPE("shape", s);
  n->constant = in;
  return n;
}

static const arg_def *argument(const fuzz_node *n, int i) {
  const opdef *d = &n->op->opdef;
  return d->n_in == 0 ? NULL : i < d->n_in ? &d->in[i] : &d->in[d->n_in - 1];
}

/* A variable, with a node that sets it; both stay outside. */
static int add_variable(flat *f, const char *name, const fuzz_in *in, bool ref) {
  char text[64];
  weft_tensor *t = in->value;
  snprintf(text, sizeof text, "%s_is", name);
  flat_node *value = add_const(f, text, in, false);
  flat_node *v = flat_add(f, ref ? "VariableV2" : "VarHandleOp", name, ref ? t->dtype : WEFT_RESOURCE,
                          ref ? "ref" : "resource", false);
  snprintf(text, sizeof text, "%s_init", name);
  flat_node *set = flat_add(f, ref ? "Assign" : "AssignVariableOp", text, WEFT_INVALID, "output_ref", false);
  if (!value || !v || !set) return 0;
  v->ref = ref;
  v->attr[v->n_attr++] = A_TYPE("dtype", t->dtype);
  v->attr[v->n_attr++] = A_SHAPE("shape", &t->shape);
  set->in[0] = (flat_edge){(int)(v - f->node), 0};
  set->in[1] = (flat_edge){(int)(value - f->node), 0};
  set->n_in = 2;
  return (int)(v - f->node);
}

static flat_edge add_input(flat *f, int node, int i, const int *place, bool function) {
  const fuzz_node *n = &f->m->node[node];
  const fuzz_in *in = &n->in[i];
  char name[48];
  snprintf(name, sizeof name, "i%d_%d", node, i);
  if (in->kind == IN_EDGE) return (flat_edge){place[in->node], in->slot};
  if (in->kind == IN_ARG) return (flat_edge){-1 - in->node, 0};
  if (in->kind == IN_VARIABLE) {
    const arg_def *a = argument(n, i);
    return (flat_edge){add_variable(f, name, in, a && a->is_ref), 0};
  }
  flat_node *made = in->fed && !function ? flat_placeholder(f, name, in) : add_const(f, name, in, true);
  return (flat_edge){made ? (int)(made - f->node) : 0, 0};
}

weft_err flat_make(flat *f, const model *m, arena *a) {
  int place[MAX_NODES];
  const bool function = m->n_ret > 0;
  f->m = m;
  f->arena = a;
  f->n = 0;
  for (int i = 0; i < m->n_node; i++) {
    const fuzz_node *n = &m->node[i];
    flat_edge in[MAX_IN];
    for (int k = 0; k < n->n_in; k++) in[k] = add_input(f, i, k, place, function);
    flat_node *made = flat_add(f, n->op->opdef.name, n->name, WEFT_INVALID, NULL, true);
    if (!made) return weft__fail(WEFT_INTERNAL, "a graph of more than %d nodes", MAX_FLAT);
    place[i] = (int)(made - f->node);
    made->from = i;
    made->n_in = n->n_in;
    memcpy(made->in, in, sizeof in);
    made->n_attr = n->n_attr;
    memcpy(made->attr, n->attr, sizeof n->attr);
    for (int k = 0; k < n->n_control; k++) made->control[made->n_control++] = place[n->control[k]];
  }
  return WEFT_OK;
}

weft_dtype flat_type(const flat *f, flat_edge e) {
  if (e.node < 0) return f->m->arg[-1 - e.node].type;
  const flat_node *n = &f->node[e.node];
  return n->from >= 0 ? model_out_type(f->m, n->from, e.slot) : n->type;
}

bool flat_is_ref(const flat *f, flat_edge e) {
  const flat_node *n = &f->node[e.node];
  return n->from >= 0 ? model_out_is_ref(f->m, n->from, e.slot) : n->ref;
}

/* ---- messages ---- */

static char *text_of(arena *a, const char *name, const char *out, int slot) {
  char line[256];
  if (out)
    snprintf(line, sizeof line, "%s:%s:%d", name, out, slot);
  else if (slot < 0)
    snprintf(line, sizeof line, "^%s", name);
  else
    snprintf(line, sizeof line, slot ? "%s:%d" : "%s", name, slot);
  return weft__arena_strdup(a, line);
}

static int arg_of(const flat_function *fn, flat_edge e) {
  for (int i = 0; i < fn->n_arg; i++)
    if (fn->arg[i].node == e.node && fn->arg[i].slot == e.slot) return i;
  return -1;
}

static char *edge_text(const flat *f, flat_edge e, const flat_function *in) {
  char name[32];
  int arg = in ? arg_of(in, e) : -1;
  if (arg >= 0 || e.node < 0) {
    snprintf(name, sizeof name, "a%d", arg >= 0 ? arg : -1 - e.node);
    return weft__arena_strdup(f->arena, name);
  }
  const flat_node *n = &f->node[e.node];
  if (!in) return text_of(f->arena, n->name, NULL, e.slot);
  if (n->from < 0) return text_of(f->arena, n->name, n->out, e.slot);
  int index;
  const char *out = model_out_name(f->m, n->from, e.slot, &index);
  return text_of(f->arena, n->name, out, index);
}

static Tensorflow__NameAttrList *function_name(arena *a, attr_str s) {
  Tensorflow__NameAttrList *l = weft__arena_alloc(a, sizeof *l);
  tensorflow__name_attr_list__init(l);
  l->name = (char *)(uintptr_t)s.data;
  return l;
}

static void function_value(Tensorflow__AttrValue *v, const attr *from, arena *a) {
  tensorflow__attr_value__init(v);
  if (!from->is_list) {
    v->value_case = TENSORFLOW__ATTR_VALUE__VALUE_FUNC;
    v->func = function_name(a, from->s);
    return;
  }
  v->value_case = TENSORFLOW__ATTR_VALUE__VALUE_LIST;
  v->list = weft__arena_alloc(a, sizeof *v->list);
  tensorflow__attr_value_list_value__init(v->list);
  v->list->n_func = (size_t)from->n;
  v->list->func = weft__arena_alloc(a, sizeof *v->list->func * (size_t)(from->n + 1));
  for (int i = 0; i < from->n; i++) v->list->func[i] = function_name(a, from->ss[i]);
}

static void add_attr(Tensorflow__NodeDef *d, const attr *from, arena *a) {
  Tensorflow__NodeDefAttrEntry *e = weft__arena_alloc(a, sizeof *e);
  Tensorflow__AttrValue *v = weft__arena_alloc(a, sizeof *v);
  tensorflow__node_def_attr_entry__init(e);
  e->key = (char *)(uintptr_t)from->name;
  e->value = v;
  if (from->kind == ATTR_FUNC)
    function_value(v, from, a);
  else if (weft__attr_to_proto(v, from, a) != WEFT_OK)
    return;
  d->attr[d->n_attr++] = e;
}

/* Its shape says more than it holds: a few bytes that claim to be much. */
static void swell(Tensorflow__NodeDef *d, int64_t by, arena *a) {
  Tensorflow__TensorProto *t = d->attr[d->n_attr - 1]->value->tensor;
  Tensorflow__TensorShapeProto *s = t->tensor_shape;
  Tensorflow__TensorShapeProtoDim **dim = weft__arena_alloc(a, sizeof *dim * (s->n_dim + 1)), *one;
  one = weft__arena_alloc(a, sizeof *one);
  tensorflow__tensor_shape_proto_dim__init(one);
  one->size = by;
  for (size_t i = 0; i < s->n_dim; i++) dim[i] = s->dim[i];
  dim[s->n_dim] = one;
  s->dim = dim;
  s->n_dim++;
}

Tensorflow__NodeDef *flat_node_def(const flat *f, const flat_node *n, const flat_function *in) {
  arena *a = f->arena;
  Tensorflow__NodeDef *d = weft__arena_alloc(a, sizeof *d);
  tensorflow__node_def__init(d);
  d->name = (char *)(uintptr_t)n->name;
  d->op = (char *)(uintptr_t)n->op;
  d->input = weft__arena_alloc(a, sizeof *d->input * (size_t)(n->n_in + n->n_control + 1));
  d->attr = weft__arena_alloc(a, sizeof *d->attr * (size_t)(n->n_attr + 2));
  for (int i = 0; i < n->n_in; i++) d->input[d->n_input++] = edge_text(f, n->in[i], in);
  for (int i = 0; i < n->n_control; i++) d->input[d->n_input++] = text_of(a, f->node[n->control[i]].name, NULL, -1);
  for (int i = 0; i < n->n_attr; i++) add_attr(d, &n->attr[i], a);
  if (n->constant && strcmp(n->op, "Const") == 0) {
    add_attr(d, &A_TENSOR("value", n->constant->value), a);
    if (n->constant->swollen) swell(d, n->constant->swell, a);
  }
  return d;
}

static Tensorflow__OpDefArgDef *arg_def_of(arena *a, const char *letter, int i, weft_dtype type) {
  Tensorflow__OpDefArgDef *d = weft__arena_alloc(a, sizeof *d);
  char name[16];
  snprintf(name, sizeof name, "%s%d", letter, i);
  tensorflow__op_def_arg_def__init(d);
  d->name = weft__arena_strdup(a, name);
  d->type = (int32_t)type;
  return d;
}

static void add_signature(const flat_function *fn, Tensorflow__FunctionDef *d) {
  arena *a = fn->f->arena;
  Tensorflow__OpDef *s = d->signature = weft__arena_alloc(a, sizeof *s);
  tensorflow__op_def__init(s);
  s->name = (char *)(uintptr_t)fn->name;
  s->input_arg = weft__arena_alloc(a, sizeof *s->input_arg * (size_t)(fn->n_arg + 1));
  s->output_arg = weft__arena_alloc(a, sizeof *s->output_arg * (size_t)(fn->n_ret + 1));
  d->ret = weft__arena_alloc(a, sizeof *d->ret * (size_t)(fn->n_ret + 1));
  for (int i = 0; i < fn->n_arg; i++) s->input_arg[s->n_input_arg++] = arg_def_of(a, "a", i, fn->arg_type[i]);
  for (int i = 0; i < fn->n_ret; i++) {
    Tensorflow__FunctionDefRetEntry *e = d->ret[d->n_ret++] = weft__arena_alloc(a, sizeof *e);
    s->output_arg[s->n_output_arg++] = arg_def_of(a, "r", i, fn->ret_type[i]);
    tensorflow__function_def_ret_entry__init(e);
    e->key = s->output_arg[i]->name;
    e->value = edge_text(fn->f, fn->ret[i], fn);
  }
}

Tensorflow__FunctionDef *flat_function_def(const flat_function *fn) {
  const flat *f = fn->f;
  Tensorflow__FunctionDef *d = weft__arena_alloc(f->arena, sizeof *d);
  tensorflow__function_def__init(d);
  add_signature(fn, d);
  d->node_def = weft__arena_alloc(f->arena, sizeof *d->node_def * (size_t)(f->n + 1));
  for (int i = 0; i < f->n; i++) {
    if (!f->node[i].inner) continue;
    const op *o = weft__op_find(f->m->ops, f->node[i].op);
    if (o && o->opdef.stateful) d->signature->is_stateful = true;
    d->node_def[d->n_node_def++] = flat_node_def(f, &f->node[i], fn);
  }
  return d;
}

static weft_err add_library_function(const op_table *ops, const char *text, arena *a, Tensorflow__FunctionDef **out) {
  static model m; /* large */
  static flat f;
  flat_function fn = {.f = &f};
  WEFT_TRY(model_read(&m, ops, text));
  WEFT_TRY(flat_make(&f, &m, a));
  fn.name = weft__arena_strndup(a, text + 3, strcspn(text + 3, " "));
  for (int i = 0; i < m.n_arg; i++, fn.n_arg++) fn.arg[i] = (flat_edge){-1 - i, 0}, fn.arg_type[i] = m.arg[i].type;
  for (int i = 0; i < m.n_ret; i++, fn.n_ret++) {
    fn.ret_type[i] = m.ret[i].type;
    fn.ret[i] = (flat_edge){m.ret[i].node, m.ret[i].slot};
    for (int k = 0; k < f.n && m.ret[i].node >= 0; k++)
      if (f.node[k].from == m.ret[i].node) fn.ret[i].node = k;
  }
  /* Unpacked again, so that nothing of the model is needed any more. */
  Tensorflow__FunctionDef *d = flat_function_def(&fn);
  size_t size = tensorflow__function_def__get_packed_size(d);
  uint8_t *bytes = weft__arena_alloc(a, size + 1);
  if (!bytes) return WEFT_OOM;
  tensorflow__function_def__pack(d, bytes);
  ProtobufCAllocator into = weft__arena_allocator(a);
  *out = tensorflow__function_def__unpack(&into, size, bytes);
  model_finish(&m);
  return *out ? WEFT_OK : WEFT_OOM;
}

weft_err flat_library(const op_table *ops, Tensorflow__FunctionDef ***list, size_t *n) {
  static arena kept;
  static Tensorflow__FunctionDef *made[64];
  static size_t count;
  for (; fuzz_functions[count]; count++)
    WEFT_TRY(add_library_function(ops, fuzz_functions[count], &kept, &made[count]));
  *list = made;
  *n = count;
  return WEFT_OK;
}
