/* metagraph.h - imports and exports MetaGraphDefs: a graph with its collections, saver and signatures.
 *
 * Parts that Weft does not use (signatures, assets, object graphs) are kept and exported again. */
#ifndef WEFT_GRAPH_METAGRAPH_H
#define WEFT_GRAPH_METAGRAPH_H

#include "graph/graphdef.h"

/* Imports the graph and appends to the collections.  Names in lists and in the definitions of variables, queue
 * runners, savers, conditions and loops get the prefix too.  Loops get back their back_prop and swap_memory.  On
 * failure nothing is added. opts may be NULL. */
weft_err weft__metagraph_import(weft_graph *g, const void *bytes, size_t size, const import_opts *opts);

typedef struct metagraph_opts {
  const void *saver_def; /* serialized; NULL: the imported one, if any */
  size_t saver_size;
  bool strip_ops; /* leave out the OpDefs of the ops that are used */
} metagraph_opts;
/* Free the bytes with weft__free.  opts may be NULL. */
weft_err weft__metagraph_export(weft_graph *g, const metagraph_opts *opts, uint8_t **bytes, size_t *size);

/* Converts the definition of an op to TensorFlow's message.  Its memory belongs to the arena or the op. */
weft_err weft__opdef_to_proto(Tensorflow__OpDef *out, const opdef *d, arena *a);

#endif
