/* graphdef.h - imports and exports GraphDefs.
 *
 * An import accepts nodes in any order, including loops, checks each against its op, and adds all of them or none.
 * Unknown ops are kept and exported unchanged; only running one is an error. */
#ifndef WEFT_GRAPH_GRAPHDEF_H
#define WEFT_GRAPH_GRAPHDEF_H

#include "graph/graph.h"
#include "tf.pb-c.h"

typedef struct import_map {
  const char *name; /* "a:1", "a" (output 0) or "^a" in the GraphDef */
  weft_out to;      /* the output to use in its place; "^a" uses the node */
} import_map;

typedef struct import_opts {
  const char *prefix; /* NULL or "": none; otherwise nodes are named prefix/name */
  bool unique;        /* a name that is taken gets a suffix; without this it is an error */
  /* one task's part of a placed graph: names may begin with _, and the nodes that _class names may be elsewhere */
  bool part;
  bool extend; /* inputs and _class may name nodes that are already in the graph, as in ExtendSession */
  int n_map;
  const import_map *map;
  int n_return;
  const char *const *returns; /* "a:1" is an output, "a" a node (its output 0) */
  weft_out *returned;         /* n_return elements, which the import sets */
  /* The OpDefs of the writer of the GraphDef, or NULL.  An attribute that we do not know is dropped if it has its
   * default there. */
  const Tensorflow__OpList *producer_ops;
} import_opts;

/* Adds the nodes of a serialized GraphDef.  As in TF, scopes apply devices and control edges.  A failed import
 * leaves the graph unchanged. opts may be NULL. */
weft_err weft__graph_import(weft_graph *g, const void *bytes, size_t size, const import_opts *opts);
weft_err weft__graph_import_proto(weft_graph *g, const Tensorflow__GraphDef *def, const import_opts *opts);

typedef struct export_opts {
  int first;          /* only nodes from this id on, for an ExtendSession */
  bool output_shapes; /* adds `_output_shapes`, as in .meta files and events */
} export_opts;

/* Exports the graph as a serialized GraphDef; free the bytes with weft__free. opts may be NULL. */
weft_err weft__graph_export(weft_graph *g, const export_opts *opts, uint8_t **bytes, size_t *size);
/* Exports the graph as a message.  Its memory belongs to the arena or the graph: it is valid while both exist and no
 * node changes. */
weft_err weft__graph_export_proto(weft_graph *g, const export_opts *opts, Tensorflow__GraphDef *out, arena *a);
/* Exports one node as a message.  Hold the graph's lock while the message is used. */
weft_err weft__node_export_proto(const weft_node *n, Tensorflow__NodeDef *out, arena *a);

#endif
