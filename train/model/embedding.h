/* embedding.h - embedding lookups: rows of a table that may be partitioned, one by one or combined by sparse ids.
 *
 * The functions only add nodes.  They return WEFT_NONE on failure, and the graph keeps the error (graph/build.h). */
#ifndef WEFT_TRAIN_MODEL_EMBEDDING_H
#define WEFT_TRAIN_MODEL_EMBEDDING_H

#include "train/model/named.h"

/* Looks up the rows `ids`.  Row i is in part i mod n; with div, each part holds consecutive rows. */
typedef struct lookup_opts {
  const char *name; /* NULL: TensorFlow's */
  bool div;
  const term *max_norm; /* rows with a larger norm are scaled down to it; NULL: none */
} lookup_opts;
weft_out weft__embedding_lookup(weft_graph *g, int n, const weft_out *parts, weft_out ids, const lookup_opts *opts);

/* tf.nn.embedding_lookup_sparse and tf.nn.safe_embedding_lookup_sparse. */
typedef struct sparse_lookup {
  lookup_opts opts;
  int n;
  const weft_out *parts;
  const char *combiner;           /* "mean" (NULL), "sum" or "sqrtn" */
  bool fast;                      /* weighted rows are gathered from one table without removing duplicate ids first */
  weft_out indices, ids, weights; /* components of the sparse tensors; weights is WEFT_NONE if all are 1 */
  weft_out dense_shape;           /* of a safe lookup */
  const term *default_id;         /* of a safe lookup: the id of rows that have none; NULL: such a row is all zeros */
} sparse_lookup;
weft_out weft__embedding_lookup_sparse(weft_graph *g, const sparse_lookup *l);
weft_out weft__safe_embedding_lookup_sparse(weft_graph *g, const sparse_lookup *l);

#endif
