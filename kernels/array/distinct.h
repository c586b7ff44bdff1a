/* distinct.h - numbers the integers of a list in the order of their first occurrence: the ids of a sparse update. */
#ifndef WEFT_KERNELS_ARRAY_DISTINCT_H
#define WEFT_KERNELS_ARRAY_DISTINCT_H

#include "graph/kernel.h"

enum { DISTINCT_MAX = INT32_MAX }; /* elements of a list */

/* x has at most DISTINCT_MAX elements, which are compared by their bits.  idx (int32 or int64) gets the number of each
 * element.  distinct, which has room for as many elements as x, gets those that occur, and *found their count.  Uses
 * scratch memory of k; returns RESOURCE_EXHAUSTED. */
weft_err weft__distinct_integers(kernel *k, const weft_tensor *x, void *distinct, weft_tensor *idx, int64_t *found);

#endif
