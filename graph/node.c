/* node.c - reads attributes of a node and finds its arguments. */
#include "graph/node.h"

#include "base/assert.h"
#include "base/cast.h"
#include <stdlib.h>
#include <string.h>

const attr *weft__node_attr(const weft_node *n, const char *name) {
  for (int i = 0; i < n->n_attr; i++)
    if (strcmp(n->attr[i].name, name) == 0) return &n->attr[i];
  return NULL;
}

static const attr *of_kind(const weft_node *n, const char *name, attr_kind kind) {
  const attr *a = weft__node_attr(n, name);
  return a && a->kind == kind && !a->is_list ? a : NULL;
}

int64_t weft__node_int(const weft_node *n, const char *name, int64_t fallback) {
  const attr *a = of_kind(n, name, ATTR_INT);
  return a ? a->i : fallback;
}

float weft__node_float(const weft_node *n, const char *name, float fallback) {
  const attr *a = of_kind(n, name, ATTR_FLOAT);
  return a ? a->f : fallback;
}

bool weft__node_bool(const weft_node *n, const char *name, bool fallback) {
  const attr *a = of_kind(n, name, ATTR_BOOL);
  return a ? a->b : fallback;
}

weft_dtype weft__node_type(const weft_node *n, const char *name) {
  const attr *a = of_kind(n, name, ATTR_TYPE);
  return a ? a->type : WEFT_INVALID;
}

attr_str weft__node_str(const weft_node *n, const char *name) {
  const attr *a = of_kind(n, name, ATTR_STRING);
  return a && a->s.size ? a->s : (attr_str){"", 0};
}

bool weft__node_str_is(const weft_node *n, const char *name, const char *s) {
  attr_str a = weft__node_str(n, name);
  return a.size == strlen(s) && memcmp(a.data, s, a.size) == 0;
}

static int argument_span(const weft_node *n, const arg_def *d) {
  if (d->number_attr) return weft__int_sat(weft__node_int(n, d->number_attr, 0));
  if (!d->list_attr) return 1;
  const attr *a = weft__node_attr(n, d->list_attr);
  return a && a->is_list ? a->n : 0;
}

static weft_err argument_range(const weft_node *n, const arg_def *args, int n_args, const char *arg, int *first,
                               int *count) {
  *first = 0;
  for (int i = 0; i < n_args; i++) {
    *count = argument_span(n, &args[i]);
    if (strcmp(args[i].name, arg) == 0) return WEFT_OK;
    *first += *count;
  }
  return weft__fail(WEFT_INTERNAL, "op %s has no argument '%s'", n->op_name, arg);
}

weft_err weft__node_in_range(const weft_node *n, const char *arg, int *first, int *count) {
  WEFT_ASSERT(n->op);
  return argument_range(n, n->op->opdef.in, n->op->opdef.n_in, arg, first, count);
}

weft_err weft__node_out_range(const weft_node *n, const char *arg, int *first, int *count) {
  WEFT_ASSERT(n->op);
  return argument_range(n, n->op->opdef.out, n->op->opdef.n_out, arg, first, count);
}

weft_node *weft__graph_find(const weft_graph *g, const char *name) { return weft__map_get(&g->by_name, name); }

weft_err weft__graph_find_out(const weft_graph *g, const char *tensor_name, weft_out *out) {
  char name[1024];
  const char *colon = strrchr(tensor_name, ':');
  size_t len = colon ? (size_t)(colon - tensor_name) : strlen(tensor_name);
  if (len >= sizeof name) return weft__fail(WEFT_INVALID_ARGUMENT, "tensor name of %zu characters is too long", len);
  memcpy(name, tensor_name, len);
  name[len] = 0;
  char *end = NULL;
  long slot = colon ? strtol(colon + 1, &end, 10) : 0;
  if (colon && (end == colon + 1 || *end || slot < 0))
    return weft__fail(WEFT_INVALID_ARGUMENT, "'%s' is not a tensor name: NAME or NAME:INDEX", tensor_name);
  const weft_node *n = weft__graph_find(g, name[0] == '^' ? name + 1 : name);
  if (!n) return weft__fail(WEFT_NOT_FOUND, "FetchOutputs node %s: not found", tensor_name);
  if (name[0] != '^' && slot >= n->n_out)
    return weft__fail(WEFT_INVALID_ARGUMENT, "'%s': node '%s' (op %s) has %d outputs", tensor_name, n->name, n->op_name,
                      n->n_out);
  *out = weft__graph_out(n->graph, n->id, (int)slot);
  return WEFT_OK;
}

weft_err weft__out_of(const weft_graph *g, weft_out o, const char *what, int i) {
  if (!weft__out_foreign(g, o)) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "%s %d is from another graph", what, i);
}

weft_err weft__out_merge_shape(weft_graph *g, weft_out o, const shape *more) {
  WEFT_ASSERT(weft__out_belongs(g, o));
  shape merged;
  pthread_mutex_lock(&g->lock);
  shape *have = &g->node[o.node]->out_shape[o.slot];
  weft_err err = weft__shape_merge(&merged, have, more);
  if (!err) *have = merged;
  pthread_mutex_unlock(&g->lock);
  return err;
}
