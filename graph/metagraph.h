/* metagraph.h - MetaGraphDef in and out: a graph with its collections, saver and signatures.
 *
 * What Weft does not use (signatures, assets, object graphs) is kept and written back. */
#ifndef WEFT_GRAPH_METAGRAPH_H
#define WEFT_GRAPH_METAGRAPH_H

#include "graph/graphdef.h"

/* Imports the graph and appends to the collections; names in lists and in the definitions of
 * variables, queue runners and savers get the prefix too.  All or nothing.  opts may be NULL. */
weft_err weft__metagraph_import(weft_graph *g, const void *bytes, size_t size, const import_opts *opts);

typedef struct metagraph_opts {
  const void *saver_def; /* serialised; NULL: the one that was imported, if any */
  size_t saver_size;
  bool strip_ops; /* leaves the OpDefs of the ops used out */
} metagraph_opts;
/* Free the bytes with weft__free.  opts may be NULL. */
weft_err weft__metagraph_export(weft_graph *g, const metagraph_opts *opts, uint8_t **bytes, size_t *size);

/* The definition of an op as TensorFlow states it; memory is the arena's or the op's. */
weft_err weft__opdef_to_proto(Tensorflow__OpDef *out, const opdef *d, arena *a);

#endif
