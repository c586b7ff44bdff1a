/* graphdef.h - GraphDef in and out.
 *
 * Import takes nodes in any order, loops included, checks each against its op and adds all of them
 * or none.  Ops this build does not know are kept as they came and go out again unchanged; only
 * running one is an error. */
#ifndef WEFT_GRAPH_GRAPHDEF_H
#define WEFT_GRAPH_GRAPHDEF_H

#include "graph/graph.h"
#include "tf.pb-c.h"

typedef struct import_map {
  const char *name; /* "a:1", "a" (output 0) or "^a" in the GraphDef */
  weft_out to;      /* what is used in its place; "^a" uses the node */
} import_map;

typedef struct import_opts {
  const char *prefix; /* NULL or "": none; else nodes are called prefix/name */
  bool unique;        /* a name that is taken gets a suffix instead of an error */
  bool part;          /* one task's part of a placed graph: names may begin with _, and the nodes that _class names may
                         be elsewhere */
  bool extend;        /* inputs and _class may name nodes that the graph has already, as in ExtendSession */
  int n_map;
  const import_map *map;
  int n_return;
  const char *const *returns; /* "a:1" an output, "a" a node (slot 0 of it) */
  weft_out *returned;         /* n_return of them, filled in */
  /* The OpDefs of who wrote the GraphDef, or NULL: an attribute we do not know is dropped when it has their default. */
  const Tensorflow__OpList *producer_ops;
} import_opts;

/* Adds the nodes of a serialised GraphDef.  Scopes give devices and control edges, as in TF.  A failed
 * import leaves the graph as it was.  opts may be NULL. */
weft_err weft__graph_import(weft_graph *g, const void *bytes, size_t size, const import_opts *opts);
weft_err weft__graph_import_proto(weft_graph *g, const Tensorflow__GraphDef *def, const import_opts *opts);

typedef struct export_opts {
  int first;          /* only nodes from this id on (what an ExtendSession sends) */
  bool output_shapes; /* adds `_output_shapes`, as .meta files and events have it */
} export_opts;

/* The graph as a serialised GraphDef; free the bytes with weft__free.  opts may be NULL. */
weft_err weft__graph_export(weft_graph *g, const export_opts *opts, uint8_t **bytes, size_t *size);
/* The same as a message, whose memory is the arena's or the graph's: valid while both are and no node changes. */
weft_err weft__graph_export_proto(weft_graph *g, const export_opts *opts, Tensorflow__GraphDef *out, arena *a);
/* One node as a message; hold the graph's lock while it is used. */
weft_err weft__node_export_proto(const weft_node *n, Tensorflow__NodeDef *out, arena *a);

#endif
