/* part_nodes.c - messages of nodes and attributes, each in the arena. */
#include "exec/passes/part_nodes.h"

#include "base/alloc.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

weft_err weft__part_oom(void) { return weft__fail(WEFT_OOM, "no memory to cut a graph into parts"); }

char *weft__part_format(arena *a, const char *fmt, ...) {
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  int size = vsnprintf(NULL, 0, fmt, args) + 1;
  char *s = size > 0 ? weft__arena_alloc(a, (size_t)size) : NULL;
  if (s) vsnprintf(s, (size_t)size, fmt, again);
  va_end(again);
  va_end(args);
  return s;
}

weft_err weft__part_node(arena *a, node_def **out, char *name, const char *type, char *input, int n_attr) {
  node_def *n = weft__arena_alloc(a, sizeof *n);
  char **in = weft__arena_alloc(a, 2 * sizeof *in);
  if (!name || !n || !in) return weft__part_oom();
  tensorflow__node_def__init(n);
  n->name = name;
  n->op = (char *)(uintptr_t)type;
  n->attr = weft__arena_alloc(a, sizeof *n->attr * (size_t)(n_attr + 1));
  if (!n->attr) return weft__part_oom();
  n->input = in;
  if (input) n->input[n->n_input++] = input;
  *out = n;
  return WEFT_OK;
}

Tensorflow__AttrValue *weft__part_attr(arena *a, node_def *n, const char *name) {
  Tensorflow__NodeDefAttrEntry *e = weft__arena_alloc(a, sizeof *e);
  Tensorflow__AttrValue *v = weft__arena_alloc(a, sizeof *v);
  if (!e || !v) return NULL;
  tensorflow__node_def_attr_entry__init(e);
  tensorflow__attr_value__init(v);
  e->key = (char *)(uintptr_t)name;
  e->value = v;
  n->attr[n->n_attr++] = e;
  return v;
}

weft_err weft__part_attr_type(arena *a, node_def *n, const char *name, weft_dtype type) {
  Tensorflow__AttrValue *v = weft__part_attr(a, n, name);
  if (!v) return weft__part_oom();
  v->value_case = TENSORFLOW__ATTR_VALUE__VALUE_TYPE;
  v->type = (int)type;
  return WEFT_OK;
}

weft_err weft__part_attr_int(arena *a, node_def *n, const char *name, int64_t number) {
  Tensorflow__AttrValue *v = weft__part_attr(a, n, name);
  if (!v) return weft__part_oom();
  v->value_case = TENSORFLOW__ATTR_VALUE__VALUE_I;
  v->i = number;
  return WEFT_OK;
}

weft_err weft__part_attr_text(arena *a, node_def *n, const char *name, const char *s) {
  Tensorflow__AttrValue *v = weft__part_attr(a, n, name);
  if (!v) return weft__part_oom();
  v->value_case = TENSORFLOW__ATTR_VALUE__VALUE_S;
  v->s = (ProtobufCBinaryData){strlen(s), (uint8_t *)(uintptr_t)s};
  return WEFT_OK;
}
