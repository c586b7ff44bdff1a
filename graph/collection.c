/* collection.c - named lists that travel with a graph. */
#include "graph/collection.h"
#include <string.h>

static const char *const kind_names[] = {"names", "bytes", "integers", "floats", "messages"};

static weft_err oom(void) { return weft__fail(WEFT_RESOURCE_EXHAUSTED, "no memory for a collection"); }

weft_err weft__collection_make(weft_graph *g, const char *list, collection_kind kind, collection **out) {
  collection *c = weft__map_get(&g->collections, list);
  if (c && c->kind != kind && c->n > 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "collection '%s' holds %s, not %s", list, kind_names[c->kind],
                      kind_names[kind]);
  if (!c) {
    c = weft__arena_alloc(&g->arena, sizeof *c);
    if (!c || !(c->name = weft__arena_strdup(&g->arena, list))) return oom();
    WEFT_TRY(weft__map_put(&g->collections, list, c));
  }
  if (c->kind != kind) c->capacity = 0;
  c->kind = kind;
  *out = c;
  return WEFT_OK;
}

static size_t item_size(collection_kind kind) {
  return kind == COLLECTION_INTS ? sizeof(int64_t) : kind == COLLECTION_FLOATS ? sizeof(float) : sizeof(attr_str);
}

/* The list with room for one more. */
static weft_err room(weft_graph *g, const char *list, collection_kind kind, collection **out) {
  WEFT_TRY(weft__collection_make(g, list, kind, out));
  collection *c = *out;
  if (c->n < c->capacity) return WEFT_OK;
  int capacity = c->capacity ? 2 * c->capacity : 8;
  void *more = weft__arena_alloc(&g->arena, (size_t)capacity * item_size(kind));
  if (!more) return oom();
  if (c->n) memcpy(more, c->s, (size_t)c->n * item_size(kind));
  c->s = more;
  c->capacity = capacity;
  return WEFT_OK;
}

static weft_err add_text(weft_graph *g, const char *list, collection_kind kind, const void *data, size_t size) {
  collection *c;
  WEFT_TRY(room(g, list, kind, &c));
  const char *copy = weft__arena_strndup(&g->arena, data, size);
  if (!copy) return oom();
  c->s[c->n++] = (attr_str){copy, size};
  return WEFT_OK;
}

weft_err weft__collection_add_name(weft_graph *g, const char *list, const char *name) {
  return add_text(g, list, COLLECTION_NAMES, name, strlen(name));
}

weft_err weft__collection_add_bytes(weft_graph *g, const char *list, const void *data, size_t size) {
  return add_text(g, list, COLLECTION_BYTES, data, size);
}

weft_err weft__collection_add_any(weft_graph *g, const char *list, const void *data, size_t size) {
  return add_text(g, list, COLLECTION_ANY, data, size);
}

weft_err weft__collection_add_int(weft_graph *g, const char *list, int64_t v) {
  collection *c;
  WEFT_TRY(room(g, list, COLLECTION_INTS, &c));
  c->i[c->n++] = v;
  return WEFT_OK;
}

weft_err weft__collection_add_float(weft_graph *g, const char *list, float v) {
  collection *c;
  WEFT_TRY(room(g, list, COLLECTION_FLOATS, &c));
  c->f[c->n++] = v;
  return WEFT_OK;
}

const collection *weft__collection_get(const weft_graph *g, const char *list) {
  return weft__map_get(&g->collections, list);
}

void weft__collection_clear(weft_graph *g, const char *list) { weft__map_remove(&g->collections, list); }
