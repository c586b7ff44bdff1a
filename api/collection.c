/* collection.c - the public functions of a graph's collections. */
#include "api/argument.h"
#include "graph/collection.h"

weft_err weft_collection_add(weft_graph *g, const char *list, const char *name) {
  API_NEED(g);
  API_NEED(list);
  API_NEED(name);

  return weft__collection_add_name(g, list, name);
}

weft_err weft_collection_add_bytes(weft_graph *g, const char *list, const void *data, size_t size) {
  API_NEED(g);
  API_NEED(list);
  API_ITEMS(size, data);

  return weft__collection_add_bytes(g, list, data, size);
}

int weft_collection_size(const weft_graph *g, const char *list) {
  API_NEED_OR(g, 0);
  API_NEED_OR(list, 0);

  const collection *c = weft__collection_get(g, list);
  return c ? c->n : 0;
}

const char *weft_collection_name(const weft_graph *g, const char *list, int i) {
  API_NEED_OR(g, NULL);
  API_NEED_OR(list, NULL);

  const collection *c = weft__collection_get(g, list);
  return c && c->kind == COLLECTION_NAMES && i >= 0 && i < c->n ? c->s[i].data : NULL;
}

const void *weft_collection_item(const weft_graph *g, const char *list, int i, size_t *size, bool *is_name) {
  API_NEED_OR(g, NULL);
  API_NEED_OR(list, NULL);

  const collection *c = weft__collection_get(g, list);
  if (!c || (c->kind != COLLECTION_NAMES && c->kind != COLLECTION_BYTES) || i < 0 || i >= c->n) return NULL;
  *size = c->s[i].size;
  *is_name = c->kind == COLLECTION_NAMES;
  return c->s[i].data;
}

weft_err weft_collection_add_int(weft_graph *g, const char *list, int64_t v) {
  API_NEED(g);
  API_NEED(list);

  return weft__collection_add_int(g, list, v);
}

weft_err weft_collection_add_float(weft_graph *g, const char *list, float v) {
  API_NEED(g);
  API_NEED(list);

  return weft__collection_add_float(g, list, v);
}

bool weft_collection_number(const weft_graph *g, const char *list, int i, int64_t *v, float *f, bool *is_int) {
  API_NEED_OR(g, false);
  API_NEED_OR(list, false);

  const collection *c = weft__collection_get(g, list);
  if (!c || (c->kind != COLLECTION_INTS && c->kind != COLLECTION_FLOATS) || i < 0 || i >= c->n) return false;
  *is_int = c->kind == COLLECTION_INTS;
  if (*is_int)
    *v = c->i[i];
  else
    *f = c->f[i];
  return true;
}

void weft_collection_clear(weft_graph *g, const char *list) {
  API_NEED_OR(g, );
  API_NEED_ON(g, list);
  weft__collection_clear(g, list);
}

int weft_collection_count(const weft_graph *g) {
  API_NEED_OR(g, 0);
  return g->collections.count;
}

const char *weft_collection_at(const weft_graph *g, int i) {
  API_NEED_OR(g, NULL);

  for (int e = 0; e < g->collections.used; e++)
    if (g->collections.entries[e].key && i-- == 0) return g->collections.entries[e].key;
  return NULL;
}
