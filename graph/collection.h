/* collection.h - named lists that travel with a graph: variables, losses, summaries, queue runners.
 *
 * A list holds one kind of thing: names of nodes ("train") or outputs ("loss:0"), serialised
 * messages (a VariableDef), integers or numbers.  Memory is the graph's. */
#ifndef WEFT_GRAPH_COLLECTION_H
#define WEFT_GRAPH_COLLECTION_H

#include "graph/graph.h"

typedef enum collection_kind {
  COLLECTION_NAMES,
  COLLECTION_BYTES,
  COLLECTION_INTS,
  COLLECTION_FLOATS,
  COLLECTION_ANY /* one serialised CollectionDef we do not look into */
} collection_kind;

typedef struct collection {
  const char *name;
  collection_kind kind;
  int n, capacity;
  union {
    attr_str *s; /* names and bytes; NUL-terminated */
    int64_t *i;
    float *f;
  };
  int *slot, slots; /* of bytes: a hash table of item numbers + 1, by the node that their first field names */
} collection;

/* Appends; INVALID_ARGUMENT when the list holds another kind. */
weft_err weft__collection_add_name(weft_graph *g, const char *list, const char *name);
weft_err weft__collection_add_bytes(weft_graph *g, const char *list, const void *data, size_t size);
weft_err weft__collection_add_int(weft_graph *g, const char *list, int64_t v);
weft_err weft__collection_add_float(weft_graph *g, const char *list, float v);
weft_err weft__collection_add_any(weft_graph *g, const char *list, const void *data, size_t size);
/* An empty list of a kind, unless there is one. */
weft_err weft__collection_make(weft_graph *g, const char *list, collection_kind kind, collection **out);
const collection *weft__collection_get(const weft_graph *g, const char *list); /* NULL if there is none */
void weft__collection_clear(weft_graph *g, const char *list);
/* The first item of a list of bytes whose first field names that node or its output 0, as a VariableDef's variable_name
 * does; -1 if there is none.  Takes the same time whatever the list's length. */
int weft__collection_find(const collection *c, const char *node);
/* Drops the items from the n-th on. */
void weft__collection_cut(collection *c, int n);
/* Every list, in the order they were made: walk g->collections.entries, skipping keys that are NULL. */

#endif
