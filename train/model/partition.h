/* partition.h - variables that are pieces of one tensor: savers write and read the whole. */
#ifndef WEFT_TRAIN_MODEL_PARTITION_H
#define WEFT_TRAIN_MODEL_PARTITION_H

#include "graph/variable_scope.h"

typedef struct variable_slice {
  const char *full_name;
  int rank;
  const int64_t *full, *offset;
} variable_slice;

/* The variable is the piece at `offset`; its own shape says how large. */
weft_err weft__variable_slice_set(weft_graph *g, weft_out v, const variable_slice *s);
/* A variable made beside a piece (a slot, an average) is the same piece of one beside the whole. */
weft_err weft__variable_slice_like(weft_graph *g, weft_out piece, weft_out made);
/* tf.get_variable with a partitioner: n pieces along an axis, NAME/part_0 and on; the first ones are larger when it does
 * not come out even. */
weft_err weft__variable_get_parts(weft_graph *g, const variable_spec *whole, int axis, int n, weft_out *out);

#endif
