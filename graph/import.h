/* import.h - the types that the passes of an import share; for import.c, library.c and code that joins nodes and
 * libraries. */
#ifndef WEFT_GRAPH_IMPORT_H
#define WEFT_GRAPH_IMPORT_H

#include "graph/graphdef.h"
#include "graph/library.h"

#define WEFT_NAME_MAX 1024

typedef struct import_item import_item;

typedef struct import_edge {
  import_item *from; /* NULL: mapped to `to`, an existing output */
  weft_out to;
  int slot;  /* -1: a control edge */
  bool back; /* a loop's back edge */
} import_edge;

typedef struct import_waiter {
  import_item *item;
  struct import_waiter *next;
} import_waiter;

struct import_item {
  const Tensorflow__NodeDef *def;
  const char *name; /* its final name */
  import_edge *edge;
  int n_edge, n_in; /* control edges follow the n_in data edges */
  int top_slot;     /* the highest output that is read */
  int waits;        /* number of edges whose source is not added yet */
  bool has_back;
  import_waiter *waiters;
  weft_node *node; /* set when it is added */
};

typedef struct importer {
  weft_graph *g;
  const import_opts *opts;
  const Tensorflow__GraphDef *def;
  int first;    /* id of the first node that the import adds */
  int producer; /* version of the GraphDef's producer */
  arena tmp;
  import_item *item;
  int n;
  map by_name; /* name in the GraphDef -> item */
  bool *map_used;
  int *ready, n_ready;
} importer;

/* Returns a call of a function with a node's attributes, in the arena; NULL if memory is short. */
Tensorflow__NameAttrList *weft__function_call_of(const weft_node *n, const char *name, arena *a);

#endif
