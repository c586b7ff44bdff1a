/* collection.h - named lists that belong to a graph: variables, losses, summaries, queue runners.
 *
 * All items of a list have one kind: names of nodes ("train") or outputs ("loss:0"), serialized messages (a
 * VariableDef), integers or floats.  The graph owns the memory. */
#ifndef WEFT_GRAPH_COLLECTION_H
#define WEFT_GRAPH_COLLECTION_H

#include "graph/graph.h"

typedef enum collection_kind {
  COLLECTION_NAMES,
  COLLECTION_BYTES,
  COLLECTION_INTS,
  COLLECTION_FLOATS,
  COLLECTION_ANY /* one serialized CollectionDef that we do not interpret */
} collection_kind;

typedef struct collection {
  const char *name;
  collection_kind kind;
  int n;
  int64_t capacity;
  union {
    attr_str *s; /* names and bytes; NUL-terminated */
    int64_t *i;
    float *f;
  };
  int64_t slots; /* of slot; a power of two */
  int *slot;     /* for bytes: a hash table of item numbers + 1, by the node that their first field names */
} collection;

/* Appends an item.  Returns INVALID_ARGUMENT if the list has another kind. */
weft_err weft__collection_add_name(weft_graph *g, const char *list, const char *name);
weft_err weft__collection_add_bytes(weft_graph *g, const char *list, const void *data, size_t size);
weft_err weft__collection_add_int(weft_graph *g, const char *list, int64_t v);
weft_err weft__collection_add_float(weft_graph *g, const char *list, float v);
weft_err weft__collection_add_any(weft_graph *g, const char *list, const void *data, size_t size);
/* Creates an empty list of a kind, unless it exists. */
weft_err weft__collection_make(weft_graph *g, const char *list, collection_kind kind, collection **out);
const collection *weft__collection_get(const weft_graph *g, const char *list); /* NULL if there is none */
void weft__collection_clear(weft_graph *g, const char *list);
/* Returns the first item of a list of bytes whose first field names that node or its output 0, such as the
 * variable_name of a VariableDef; -1 if there is none.  The time does not depend on the length of the list. */
int weft__collection_find(const collection *c, const char *node);
/* Removes the items from the n-th on. */
void weft__collection_cut(collection *c, int n);
/* To visit every list in order of creation, iterate over g->collections.entries and skip keys that are NULL. */

#endif
