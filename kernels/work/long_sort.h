/* long_sort.h - sorts items on the kernel's own thread, and ends soon after the step has ended. */
#ifndef WEFT_KERNELS_WORK_LONG_SORT_H
#define WEFT_KERNELS_WORK_LONG_SORT_H

#include "graph/kernel.h"

/* Sorts n items of `size` bytes.  Takes as much memory again if there are more than some thousands.  Returns the error
 * of the step if it ends before; the items are then in any order. */
weft_err weft__long_sort(const kernel *k, void *items, int64_t n, size_t size,
                         int (*compare)(const void *, const void *));

#endif
