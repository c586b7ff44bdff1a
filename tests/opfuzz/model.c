/* model.c - parses the notation of recipes and cases into a graph that can be changed. */
#include "base/alloc.h"
#include "graph/attr_text.h"
#include "tests/battery/case.h"
#include "tests/opfuzz/opfuzz.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t fuzz_next(fuzz_random *r) { /* splitmix64 */
  uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

int fuzz_below(fuzz_random *r, int n) { return n > 0 ? (int)(fuzz_next(r) % (uint64_t)n) : 0; }

static weft_err bad(const char *what, const char *at) {
  return weft__fail(WEFT_INTERNAL, "recipe: %s at '%.60s'", what, at);
}

/* ---- memory ---- */

static weft_err own(model *m, weft_tensor *t) {
  if (m->n_tensor == MAX_TENSORS) {
    weft_tensor_destroy(t);
    return weft__fail(WEFT_INTERNAL, "recipe: more than %d tensors", MAX_TENSORS);
  }
  m->tensor[m->n_tensor++] = t;
  return WEFT_OK;
}

weft_tensor *model_tensor(model *m, weft_dtype type, const shape *s) {
  weft_tensor *t;
  if (m->n_tensor == MAX_TENSORS || weft__tensor_create(&t, type, s) != WEFT_OK) return NULL;
  if (type != WEFT_STRING) memset(t->data, 0, weft__tensor_bytes(t));
  m->tensor[m->n_tensor++] = t;
  return t;
}

void model_finish(model *m) {
  for (int i = 0; i < m->n_tensor; i++) weft_tensor_destroy(m->tensor[i]);
  for (int i = 0; i < m->n_node; i++)
    for (int j = 0; j < m->node[i].n_attr; j++) weft__attr_release(&m->node[i].attr[j]);
  weft__arena_finish(&m->arena);
  m->n_tensor = m->n_node = 0;
}

/* ---- statements ---- */

static const char *skip(const char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return at;
}

static size_t word(const char *at) {
  size_t n = 0;
  while (isalnum((unsigned char)at[n]) || at[n] == '_') n++;
  return n;
}

static int find_node(const model *m, const char *name, size_t n) {
  for (int i = 0; i < m->n_node; i++)
    if (strlen(m->node[i].name) == n && memcmp(m->node[i].name, name, n) == 0) return i;
  return -1;
}

static int find_arg(const model *m, const char *name, size_t n) {
  for (int i = 0; i < m->n_arg; i++)
    if (strlen(m->arg[i].name) == n && memcmp(m->arg[i].name, name, n) == 0) return i;
  return -1;
}

/* "name", "name:1" or "^name"; false: it is none. */
static bool read_edge(const model *m, fuzz_node *n, const char *at) {
  bool control = *at == '^';
  at += control;
  size_t length = word(at);
  int node = find_node(m, at, length), arg = find_arg(m, at, length);
  if (at[length] == '[' || length == 0 || (node < 0 && arg < 0)) return false;
  if (control) {
    n->control[n->n_control++] = node;
    return true;
  }
  fuzz_in *in = &n->in[n->n_in++];
  *in = (fuzz_in){.kind = node >= 0 ? IN_EDGE : IN_ARG, .node = node >= 0 ? node : arg};
  if (at[length] == ':') in->slot = atoi(at + length + 1);
  return true;
}

static weft_err read_value(model *m, fuzz_node *n, const char *at, const char *end) {
  bool is_variable;
  weft_tensor *t;
  WEFT_TRY(case_value(&t, at, end, (uint64_t)n->n_in, &is_variable));
  WEFT_TRY(own(m, t));
  n->in[n->n_in++] = (fuzz_in){.kind = is_variable ? IN_VARIABLE : IN_VALUE, .value = t, .fed = true};
  return WEFT_OK;
}

static const char *inputs_end(const char *at) {
  bool quoted = false;
  for (; *at && (quoted || *at != ')'); at++) {
    if (*at == '\\' && quoted && at[1])
      at++;
    else if (*at == '"')
      quoted = !quoted;
  }
  return at;
}

static weft_err read_inputs(model *m, fuzz_node *n, const char *at, const char *end) {
  char *text = weft__arena_strndup(&m->arena, at, (size_t)(end - at));
  if (!text) return WEFT_OOM;
  for (const char *p = skip(text); *p; p = skip(p)) {
    const char *stop = case_part_end(p);
    if (n->n_in == MAX_IN || n->n_control == MAX_CONTROL) return bad("too many inputs", p);
    if (!read_edge(m, n, p)) WEFT_TRY(read_value(m, n, p, stop));
    p = *stop ? stop + 1 : stop;
  }
  return WEFT_OK;
}

static weft_err read_function_attr(model *m, fuzz_node *n, const char *at, size_t name, const char *value) {
  attr *a = &n->attr[n->n_attr++];
  *a = (attr){.kind = ATTR_FUNC, .name = weft__arena_strndup(&m->arena, at, name)};
  const attr_def *d = a->name ? weft__opdef_attr(&n->op->opdef, a->name) : NULL;
  if (!d) return bad("no such attribute", at);
  a->is_list = d->is_list;
  if (!d->is_list) {
    a->s = (attr_str){weft__arena_strndup(&m->arena, value, word(value)), word(value)};
    return WEFT_OK;
  }
  a->ss = weft__arena_alloc(&m->arena, 8 * sizeof *a->ss);
  for (; a->n < 8 && word(value); value += *value == ',') {
    a->ss[a->n++] = (attr_str){weft__arena_strndup(&m->arena, value, word(value)), word(value)};
    value += word(value);
  }
  return WEFT_OK;
}

/* Functions are read here, the rest as cases have it. */
static weft_err read_attrs(model *m, fuzz_node *n, const char *text) {
  char rest[2048];
  size_t size = 0;
  for (const char *at = skip(text); *at && *at != '\n'; at = skip(at)) {
    const char *end = at, *equals = strchr(at, '=');
    bool quoted = false;
    int depth = 0;
    for (; *end && *end != '\n' && (quoted || depth || *end != ' '); end++) {
      if (*end == '\'') quoted = !quoted;
      if (!quoted) depth += *end == '[' ? 1 : *end == ']' ? -1 : 0;
    }
    if (!equals || equals > end) return bad("name=value was expected", at);
    if (equals[1] == '@')
      WEFT_TRY(read_function_attr(m, n, at, (size_t)(equals - at), equals + 2));
    else
      size += (size_t)snprintf(rest + size, sizeof rest - size, "%.*s ", (int)(end - at), at);
    at = end;
  }
  rest[size] = 0;
  return weft__attrs_read(&n->op->opdef, rest, &m->arena, n->attr, MAX_ATTRS, &n->n_attr);
}

static weft_err read_statement(model *m, const char *line) {
  if (m->n_node == MAX_NODES) return bad("too many nodes", line);
  fuzz_node *n = &m->node[m->n_node];
  memset(n, 0, sizeof *n);
  const char *at = skip(line);
  snprintf(n->name, sizeof n->name, "%.*s", (int)word(at), at);
  at = skip(at + word(at));
  if (*at != '=') return bad("'=' was expected", line);
  at = skip(at + 1);
  char op_name[128];
  snprintf(op_name, sizeof op_name, "%.*s", (int)word(at), at);
  if (!(n->op = weft__op_find(m->ops, op_name))) return bad("no such op", at);
  at += word(at);
  if (*at != '(') return bad("'(' was expected", line);
  const char *end = inputs_end(at + 1);
  if (!*end) return bad("')' was expected", line);
  WEFT_TRY(read_inputs(m, n, at + 1, end));
  WEFT_TRY(read_attrs(m, n, end + 1));
  m->n_node++;
  return WEFT_OK;
}

static weft_dtype type_named(const char *name) { return weft__dtype_parse(name, strlen(name)); }

/* "fn NAME x:int64 -> y:0:int64": arguments now, results once the nodes are known. */
static weft_err read_head(model *m, const char *line, bool results) {
  char text[512], *save = NULL;
  bool after = false;
  snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line + 3);
  strtok_r(text, " ", &save);
  for (char *w; (w = strtok_r(NULL, " ", &save));) {
    char name[32], type[32];
    int slot = 0;
    if (strcmp(w, "->") == 0)
      after = true;
    else if (after && results) {
      if (sscanf(w, "%31[a-zA-Z0-9_]:%d:%31s", name, &slot, type) != 3) return bad("a result", w);
      fuzz_arg *a = &m->ret[m->n_ret++];
      *a = (fuzz_arg){.type = type_named(type), .node = find_node(m, name, strlen(name)), .slot = slot};
      if (a->node < 0) a->node = -1 - find_arg(m, name, strlen(name));
      snprintf(a->name, sizeof a->name, "r%d", m->n_ret);
      if (a->type == WEFT_INVALID) return bad("a type", w);
    } else if (!after && !results) {
      if (sscanf(w, "%31[a-zA-Z0-9_]:%31s", name, type) != 2) return bad("an argument", w);
      fuzz_arg *a = &m->arg[m->n_arg++];
      *a = (fuzz_arg){.type = type_named(type)};
      snprintf(a->name, sizeof a->name, "%s", name);
      if (a->type == WEFT_INVALID) return bad("a type", w);
    }
  }
  return WEFT_OK;
}

weft_err model_read(model *m, const op_table *ops, const char *text) {
  memset(m, 0, offsetof(model, node));
  m->n_tensor = m->n_arg = m->n_ret = 0;
  m->ops = ops;
  const char *at = text;
  bool function = strncmp(text, "fn ", 3) == 0;
  if (function) {
    WEFT_TRY(read_head(m, text, false));
    at += strcspn(at, "\n");
  }
  while (*at) {
    if (*skip(at) && *skip(at) != '\n') WEFT_TRY(read_statement(m, at));
    at += strcspn(at, "\n");
    at += *at == '\n';
  }
  return function ? read_head(m, text, true) : WEFT_OK;
}

static bool given(const fuzz_node *n, const char *name) {
  for (int i = 0; i < n->n_attr; i++)
    if (strcmp(n->attr[i].name, name) == 0) return true;
  return false;
}

/* A resource argument does not tell its variable's type. */
static void add_variable_type(fuzz_node *n) {
  for (int i = 0; i < n->n_in; i++) {
    if (n->in[i].kind != IN_VARIABLE) continue;
    for (int j = 0; j < 2; j++) {
      const char *name = j ? "T" : "dtype";
      if (weft__opdef_attr(&n->op->opdef, name) && !given(n, name) && n->n_attr < MAX_ATTRS)
        n->attr[n->n_attr++] = A_TYPE(name, n->in[i].value->dtype);
    }
    return;
  }
}

weft_err model_from_case(model *m, const op_table *ops, const op *o, const op_case *c) {
  test_case t;
  memset(m, 0, offsetof(model, node));
  m->n_tensor = m->n_arg = m->n_ret = 0;
  m->ops = ops;
  fuzz_node *n = &m->node[0];
  memset(n, 0, sizeof *n);
  n->op = o;
  strcpy(n->name, "op");
  WEFT_TRY(case_read(&t, o, c));
  for (int i = 0; i < t.n_in; i++) {
    n->in[n->n_in++] =
        (fuzz_in){.kind = t.in[i].is_variable ? IN_VARIABLE : IN_VALUE, .value = t.in[i].value, .fed = true};
    m->tensor[m->n_tensor++] = t.in[i].value;
  }
  m->n_node = 1;
  WEFT_TRY(weft__attrs_read(&o->opdef, c->attr, &m->arena, n->attr, MAX_ATTRS, &n->n_attr));
  add_variable_type(n);
  return WEFT_OK;
}

/* ---- types and counts of outputs, as far as the model tells ---- */

static const attr *find_attr(const fuzz_node *n, const char *name) {
  for (int i = 0; i < n->n_attr; i++)
    if (strcmp(n->attr[i].name, name) == 0) return &n->attr[i];
  const attr_def *d = weft__opdef_attr(&n->op->opdef, name);
  return d && d->has_default ? &d->default_value : NULL;
}

static bool is_list(const arg_def *a) { return a->number_attr || a->list_attr; }

/* How many inputs a list argument has: what the others leave. */
static int list_length(const fuzz_node *n) {
  int lists = 0;
  for (int i = 0; i < n->op->opdef.n_in; i++) lists += is_list(&n->op->opdef.in[i]);
  return lists ? (n->n_in - (n->op->opdef.n_in - lists)) / lists : 0;
}

static int input_of(const fuzz_node *n, int which) {
  int at = 0;
  for (int i = 0; i < which; i++) at += is_list(&n->op->opdef.in[i]) ? list_length(n) : 1;
  return at;
}

static weft_dtype in_type(const model *m, const fuzz_node *n, int i) {
  if (i < 0 || i >= n->n_in) return WEFT_INVALID;
  const fuzz_in *in = &n->in[i];
  if (in->kind == IN_EDGE) return model_out_type(m, in->node, in->slot);
  if (in->kind == IN_ARG) return m->arg[in->node].type;
  return in->value->dtype;
}

static int arg_count(const fuzz_node *n, const arg_def *a) {
  if (!is_list(a)) return 1;
  const char *name = a->number_attr ? a->number_attr : a->list_attr;
  const attr *v = find_attr(n, name);
  if (v && a->number_attr && v->kind == ATTR_INT) return v->i < 0 || v->i > 64 ? 0 : (int)v->i;
  if (v && a->list_attr && v->is_list) return v->n;
  for (int i = 0; i < n->op->opdef.n_in; i++) {
    const arg_def *in = &n->op->opdef.in[i];
    if ((in->number_attr && strcmp(in->number_attr, name) == 0) || (in->list_attr && strcmp(in->list_attr, name) == 0))
      return list_length(n) < 0 ? 0 : list_length(n);
  }
  return 0;
}

static weft_dtype attr_type(const model *m, const fuzz_node *n, const char *name) {
  for (int i = 0; i < n->n_attr; i++)
    if (strcmp(n->attr[i].name, name) == 0 && n->attr[i].kind == ATTR_TYPE && !n->attr[i].is_list)
      return n->attr[i].type;
  for (int i = 0; i < n->op->opdef.n_in; i++)
    if (n->op->opdef.in[i].type_attr && strcmp(n->op->opdef.in[i].type_attr, name) == 0)
      return in_type(m, n, input_of(n, i));
  const attr *v = find_attr(n, name);
  return v && v->kind == ATTR_TYPE ? v->type : WEFT_INVALID;
}

int model_out_count(const model *m, int node) {
  int n = 0;
  const fuzz_node *f = &m->node[node];
  for (int i = 0; i < f->op->opdef.n_out; i++) n += arg_count(f, &f->op->opdef.out[i]);
  return n;
}

weft_dtype model_out_type(const model *m, int node, int slot) {
  const fuzz_node *n = &m->node[node];
  for (int i = 0; i < n->op->opdef.n_out; i++) {
    const arg_def *a = &n->op->opdef.out[i];
    int count = arg_count(n, a);
    if (slot >= count) {
      slot -= count;
      continue;
    }
    if (a->type != WEFT_INVALID) return a->type;
    if (a->type_attr) return attr_type(m, n, a->type_attr);
    const attr *v = find_attr(n, a->list_attr);
    if (v && v->is_list && v->kind == ATTR_TYPE && slot < v->n) return v->types[slot];
    for (int k = 0; k < n->op->opdef.n_in; k++)
      if (n->op->opdef.in[k].list_attr && strcmp(n->op->opdef.in[k].list_attr, a->list_attr) == 0)
        return in_type(m, n, input_of(n, k) + slot);
    return WEFT_INVALID;
  }
  return WEFT_INVALID;
}

const char *model_out_name(const model *m, int node, int slot, int *index) {
  const fuzz_node *n = &m->node[node];
  for (int i = 0; i < n->op->opdef.n_out; i++) {
    int count = arg_count(n, &n->op->opdef.out[i]);
    *index = slot;
    if (slot < count) return n->op->opdef.out[i].name;
    slot -= count;
  }
  *index = 0;
  return "output";
}

bool model_out_is_ref(const model *m, int node, int slot) {
  int index;
  const char *name = model_out_name(m, node, slot, &index);
  const opdef *d = &m->node[node].op->opdef;
  for (int i = 0; i < d->n_out; i++)
    if (strcmp(d->out[i].name, name) == 0) return d->out[i].is_ref;
  return false;
}
