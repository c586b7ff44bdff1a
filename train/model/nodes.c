/* nodes.c - named constants, and groups with as few edges between devices as possible. */
#include "train/model/nodes.h"

#include "base/alloc.h"
#include "graph/scope.h"
#include <stdlib.h>

weft_out weft__n_const(weft_graph *g, const char *name, weft_tensor *t) {
  if (!t) {
    weft__status_update(&g->sticky, WEFT_OOM);
    return WEFT_NONE;
  }
  weft_out o = weft__b_node(g, "Const", name, 0, NULL, 2, (attr[]){A_TENSOR("value", t), A_TYPE("dtype", t->dtype)});
  weft_tensor_destroy(t);
  return o;
}

weft_out weft__n_scalar(weft_graph *g, const char *name, weft_dtype type, double v) {
  weft_tensor *t = NULL;
  weft__status_update(&g->sticky, weft__tensor_scalar(&t, type, v));
  return weft__n_const(g, name, t);
}

weft_out weft__n_string(weft_graph *g, const char *name, const char *s) {
  weft_tensor *t = NULL;
  weft__status_update(&g->sticky, weft__tensor_string(&t, s, strlen(s)));
  return weft__n_const(g, name, t);
}

weft_out weft__n_strings(weft_graph *g, const char *name, int n, const char *const *s) {
  weft_tensor *t = NULL;
  weft_err err = weft__tensor_create(&t, WEFT_STRING, &SHAPE1(n));
  for (int i = 0; err == WEFT_OK && i < n; i++) err = weft__str_set(&TENSOR_DATA(t, str)[i], s[i], strlen(s[i]));
  weft__status_update(&g->sticky, err);
  if (err == WEFT_OK) return weft__n_const(g, name, t);
  weft_tensor_destroy(t);
  return WEFT_NONE;
}

weft_out weft__n_scope_node(weft_graph *g, const char *type, int n_in, const weft_out *in, int n_attr,
                            const attr *attrs) {
  char *exact = weft__sprintf("%s/", weft__scope_prefix(g));
  if (!exact) weft__status_update(&g->sticky, WEFT_OOM);
  weft_out o = exact ? weft__b_node(g, type, exact, n_in, in, n_attr, attrs) : WEFT_NONE;
  weft__free(exact);
  return o;
}

void weft__n_push_device(weft_graph *g, const char *device) { weft__b_pushed(g, weft__scope_push_device(g, device)); }

const char *weft__n_out_name(weft_graph *g, weft_out o) {
  char *s = weft__sprintf("%s:%d", g->node[o.node]->name, (int)o.slot);
  const char *kept = s ? weft__arena_strdup(&g->arena, s) : NULL;
  if (!kept) weft__status_update(&g->sticky, WEFT_OOM);
  weft__free(s);
  return kept;
}

weft_err weft__n_find(const weft_graph *g, const char *name, int *id) {
  const char *colon = strchr(name, ':');
  char *node = colon ? weft__strndup(name, (size_t)(colon - name)) : weft__strdup(name);
  if (!node) return WEFT_OOM;
  const weft_node *n = weft__graph_find(g, node);
  weft__free(node);
  if (!n) return weft__fail(WEFT_NOT_FOUND, "The name '%s' refers to an Operation not in the graph.", name);
  *id = n->id;
  return WEFT_OK;
}

/* ---- groups ---- */

typedef struct member {
  const char *device;
  int id, order;
} member;

static int by_device(const void *a, const void *b) {
  const member *x = a, *y = b;
  int c = strcmp(x->device, y->device);
  return c ? c : x->order - y->order;
}

static weft_out no_op(weft_graph *g, const char *device, const char *name, int n, const int *ids) {
  weft__n_push_device(g, device);
  weft_out o = weft__b_add_node(g, &(node_spec){.op = "NoOp", .name = name, .n_control = n, .control = ids});
  weft__b_pop(g);
  return o;
}

/* Adds one NoOp for each device, in the order of their names, and one after all of them. */
static weft_out group_devices(weft_graph *g, const char *name, int n, const member *m, int *ids, int *groups) {
  int n_group = 0;
  weft__b_push_name(g, name);
  for (int first = 0; first < n;) {
    int count = 0;
    for (; first + count < n && strcmp(m[first + count].device, m[first].device) == 0; count++)
      ids[count] = m[first + count].id;
    groups[n_group++] = no_op(g, m[first].device, NULL, count, ids).node;
    first += count;
  }
  char *exact = weft__sprintf("%s/", weft__scope_prefix(g));
  weft_out o = WEFT_NONE;
  if (exact && !g->sticky.code)
    o = weft__b_add_node(g, &(node_spec){.op = "NoOp", .name = exact, .n_control = n_group, .control = groups});
  if (!exact) weft__status_update(&g->sticky, WEFT_OOM);
  weft__free(exact);
  weft__b_pop(g);
  return o;
}

weft_out weft__n_group(weft_graph *g, const char *name, int n, const int *ids) {
  weft_out o = WEFT_NONE;
  for (int i = 0; i < n; i++)
    if (ids[i] < 0) return o; /* the graph has already recorded the failure */
  if (!name) name = "group_deps";
  member *m = weft__alloc(sizeof *m * (size_t)(n + 1));
  int *some = weft__alloc(sizeof *some * (size_t)(2 * n + 1));
  if (!m || !some) weft__status_update(&g->sticky, WEFT_OOM);
  for (int i = 0; m && i < n; i++) m[i] = (member){g->node[ids[i]]->device, ids[i], i};
  if (m && some && n) qsort(m, (size_t)n, sizeof *m, by_device);
  if (m && some && (n == 0 || strcmp(m[0].device, m[n - 1].device) == 0))
    o = no_op(g, n ? m[0].device : "", name, n, ids);
  else if (m && some)
    o = group_devices(g, name, n, m, some, some + n);
  weft__free(m);
  weft__free(some);
  return o;
}
