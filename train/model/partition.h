/* partition.h - variables that are partitions of one tensor; savers write and read the whole tensor. */
#ifndef WEFT_TRAIN_MODEL_PARTITION_H
#define WEFT_TRAIN_MODEL_PARTITION_H

#include "graph/variable_scope.h"

typedef struct variable_slice {
  const char *full_name;
  int rank;
  const int64_t *full, *offset;
} variable_slice;

/* Marks the variable as the part at `offset`; its shape gives the size. */
weft_err weft__variable_slice_set(weft_graph *g, weft_out v, const variable_slice *s);
/* Marks a variable that belongs to a partition (a slot, an average) as the same part of one that belongs to the
 * whole. */
weft_err weft__variable_slice_like(weft_graph *g, weft_out piece, weft_out made);
/* tf.get_variable with a partitioner: n partitions along an axis, NAME/part_0 and so on.  If the size is not
 * divisible, the first ones are larger. */
weft_err weft__variable_get_parts(weft_graph *g, const variable_spec *whole, int axis, int n, weft_out *out);

#endif
