/* ragged.h - what ops on ragged tensors share.
 *
 * A ragged tensor is its values and, for each ragged dimension, row splits: row i has the items from splits[i] up to
 * splits[i + 1].  The functions check splits before anything reads through them.  They have no state. */
#ifndef WEFT_KERNELS_RAGGED_RAGGED_H
#define WEFT_KERNELS_RAGGED_RAGGED_H

#include "graph/kernel.h"

/* Checks one tensor of row splits over `limit` items: a vector, not empty, from 0 up to the limit, never falling.  A
 * negative limit means that the last split may be anything. */
weft_err weft__ragged_check_splits(const kernel *k, const weft_tensor *splits, int64_t limit);
/* Checks the n tensors of nested splits that begin at input `first`, and that the values in input first + n fit them. */
weft_err weft__ragged_check(const kernel *k, int first, int n);

#endif
