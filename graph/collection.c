/* collection.c - named lists that belong to a graph.
 *
 * A list of messages is indexed by the node that each message names first, so that the definition of one variable
 * among thousands is found without parsing the others. */
#include "graph/collection.h"
#include "base/assert.h"
#include <string.h>

static const char *const kind_names[] = {"names", "bytes", "integers", "floats", "messages"};

static weft_err collection_oom(void) { return weft__fail(WEFT_RESOURCE_EXHAUSTED, "no memory for a collection"); }

weft_err weft__collection_make(weft_graph *g, const char *list, collection_kind kind, collection **out) {
  collection *c = weft__map_get(&g->collections, list);
  if (c && c->kind != kind && c->n > 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "collection '%s' holds %s, not %s", list, kind_names[c->kind],
                      kind_names[kind]);
  if (!c) {
    c = weft__arena_alloc(&g->arena, sizeof *c);
    if (!c || !(c->name = weft__arena_strdup(&g->arena, list))) return collection_oom();
    WEFT_TRY(weft__map_put(&g->collections, list, c));
  }
  if (c->kind != kind) c->capacity = c->slots = 0;
  c->kind = kind;
  *out = c;
  return WEFT_OK;
}

static size_t item_size(collection_kind kind) {
  return kind == COLLECTION_INTS ? sizeof(int64_t) : kind == COLLECTION_FLOATS ? sizeof(float) : sizeof(attr_str);
}

/* ---- items by name ---- */

static bool collection_read_varint(const unsigned char **p, const unsigned char *end, uint64_t *v) {
  *v = 0;
  for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
    const unsigned char byte = *(*p)++;
    *v |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

/* Finds the node that field 1 of a message names.  VariableDef and QueueRunnerDef begin with that field. */
static bool node_named(attr_str item, attr_str *node) {
  const unsigned char *p = (const unsigned char *)item.data, *end = p + item.size;
  uint64_t tag, size;
  while (p < end && collection_read_varint(&p, end, &tag)) {
    const uint64_t kind = tag & 7;
    if (kind == 0 && !collection_read_varint(&p, end, &size)) return false;
    size = kind == 0 ? 0 : kind == 1 ? 8 : 4; /* skips a fixed-size number */
    if (kind == 2 && !collection_read_varint(&p, end, &size)) return false;
    if (kind == 3 || kind == 4 || kind > 5 || size > (uint64_t)(end - p)) return false;
    if (tag == (1 << 3 | 2)) {
      if (size > 2 && memcmp(p + size - 2, ":0", 2) == 0) size -= 2;
      *node = (attr_str){(const char *)p, (size_t)size};
      return true;
    }
    p += size;
  }
  return false;
}

/* Returns the slot with the item of that node, or the empty slot for it. */
static int *collection_slot_of(const collection *c, attr_str node) {
  WEFT_ASSERT(c->slots > c->n && (c->slots & (c->slots - 1)) == 0); /* so that a free slot ends every search */
  const uint32_t mask = (uint32_t)c->slots - 1;
  uint64_t h = 0;
  for (size_t i = 0; i < node.size; i++) h = (h ^ (unsigned char)node.data[i]) * UINT64_C(0x9E3779B97F4A7C15);
  for (uint32_t i = (uint32_t)(h >> 32) & mask;; i = (i + 1) & mask) {
    attr_str other;
    int *slot = &c->slot[i];
    if (*slot == 0) return slot;
    if (node_named(c->s[*slot - 1], &other) && other.size == node.size && memcmp(other.data, node.data, node.size) == 0)
      return slot;
  }
}

static void index_item(collection *c, int i) {
  WEFT_ASSERT(i >= 0 && i < c->n && c->kind == COLLECTION_BYTES);
  attr_str node;
  if (!node_named(c->s[i], &node)) return;
  int *slot = collection_slot_of(c, node);
  if (*slot == 0) *slot = i + 1; /* only the first item of a node is indexed */
}

static void index_again(collection *c) {
  if (c->slots) memset(c->slot, 0, (size_t)c->slots * sizeof *c->slot);
  for (int i = 0; c->slots && i < c->n; i++) index_item(c, i);
}

/* Allocates an index with twice as many slots as the list has capacity. */
static weft_err index_room(weft_graph *g, collection *c) {
  if (c->slots >= 2 * c->capacity) return WEFT_OK;
  int *slot = weft__arena_alloc(&g->arena, 2 * (size_t)c->capacity * sizeof *slot);
  if (!slot) return collection_oom();
  c->slot = slot;
  c->slots = 2 * c->capacity;
  index_again(c);
  return WEFT_OK;
}

int weft__collection_find(const collection *c, const char *node) {
  return c->slots ? *collection_slot_of(c, (attr_str){node, strlen(node)}) - 1 : -1;
}

void weft__collection_cut(collection *c, int n) {
  WEFT_ASSERT(n >= 0);
  if (n >= c->n) return;
  c->n = n;
  index_again(c);
}

/* Returns the list with capacity for one more item. */
static weft_err collection_reserve(weft_graph *g, const char *list, collection_kind kind, collection **out) {
  WEFT_TRY(weft__collection_make(g, list, kind, out));
  collection *c = *out;
  return weft__arena_reserve(&g->arena, &c->s, &c->capacity, c->n + 1, item_size(kind));
}

static weft_err add_text(weft_graph *g, const char *list, collection_kind kind, const void *data, size_t size) {
  WEFT_ASSERT(kind != COLLECTION_INTS && kind != COLLECTION_FLOATS);
  collection *c;
  WEFT_TRY(collection_reserve(g, list, kind, &c));
  if (kind == COLLECTION_BYTES) WEFT_TRY(index_room(g, c));
  const char *copy = weft__arena_strndup(&g->arena, data, size);
  WEFT_ASSERT(c->n < c->capacity);
  if (!copy) return collection_oom();
  c->s[c->n++] = (attr_str){copy, size};
  if (kind == COLLECTION_BYTES) index_item(c, c->n - 1);
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
  WEFT_TRY(collection_reserve(g, list, COLLECTION_INTS, &c));
  c->i[c->n++] = v;
  return WEFT_OK;
}

weft_err weft__collection_add_float(weft_graph *g, const char *list, float v) {
  collection *c;
  WEFT_TRY(collection_reserve(g, list, COLLECTION_FLOATS, &c));
  c->f[c->n++] = v;
  return WEFT_OK;
}

const collection *weft__collection_get(const weft_graph *g, const char *list) {
  return weft__map_get(&g->collections, list);
}

void weft__collection_clear(weft_graph *g, const char *list) { weft__map_remove(&g->collections, list); }
