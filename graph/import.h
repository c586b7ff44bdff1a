/* import.h - what the passes of an import share; for import.c, library.c and where nodes meet the library. */
#ifndef WEFT_GRAPH_IMPORT_H
#define WEFT_GRAPH_IMPORT_H

#include "graph/graphdef.h"
#include "graph/library.h"

#define WEFT_NAME_MAX 1024

typedef struct import_item import_item;

typedef struct import_edge {
  import_item *from; /* NULL: mapped to `to`, which was there before */
  weft_out to;
  int slot;  /* -1: a control edge */
  bool back; /* closes a loop */
} import_edge;

typedef struct import_waiter {
  import_item *item;
  struct import_waiter *next;
} import_waiter;

struct import_item {
  const Tensorflow__NodeDef *def;
  const char *name; /* as it will be called */
  import_edge *edge;
  int n_edge, n_in; /* control edges follow the n_in data edges */
  int top_slot;     /* highest output anybody reads */
  int waits;        /* edges whose source is not there yet */
  bool has_back;
  import_waiter *waiters;
  weft_node *node; /* once added */
};

typedef struct importer {
  weft_graph *g;
  const import_opts *opts;
  const Tensorflow__GraphDef *def;
  int first;    /* id of the first node to come */
  int producer; /* version that wrote the GraphDef */
  arena tmp;
  import_item *item;
  int n;
  map by_name; /* name in the GraphDef -> item */
  bool *map_used;
  int *ready, n_ready;
} importer;

/* A call of a function with a node's attributes; the arena's memory, NULL if there is none left. */
Tensorflow__NameAttrList *weft__function_call_of(const weft_node *n, const char *name, arena *a);

#endif
