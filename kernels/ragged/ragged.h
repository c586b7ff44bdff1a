/* ragged.h - checks of row splits, for the ops on ragged tensors.
 *
 * A ragged tensor consists of its values and, for each ragged dimension, row splits: row i has the items from
 * splits[i] up to splits[i + 1].  The functions check splits before anything uses them as offsets.  They have no
 * state. */
#ifndef WEFT_KERNELS_RAGGED_RAGGED_H
#define WEFT_KERNELS_RAGGED_RAGGED_H

#include "graph/kernel.h"

/* Checks one tensor of row splits over `limit` items: a nonempty vector that starts at 0, never decreases and ends
 * at the limit.  With a negative limit the last split may be any number.  Returns INVALID_ARGUMENT. */
weft_err weft__ragged_check_splits(const kernel *k, const weft_tensor *splits, int64_t limit);
/* Checks the n tensors of nested splits that begin at input `first`, and that the values in input first + n fit
 * them. */
weft_err weft__ragged_check(const kernel *k, int first, int n);

#endif
