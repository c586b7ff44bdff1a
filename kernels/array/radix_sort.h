/* radix_sort.h - sorts positions by unsigned keys, stably. */
#ifndef WEFT_KERNELS_ARRAY_RADIX_SORT_H
#define WEFT_KERNELS_ARRAY_RADIX_SORT_H

#include <stdint.h>

typedef struct radix_item {
  uint64_t key;
  int64_t at; /* what the caller wants to find again */
} radix_item;

/* Sorts n items by the lowest `bytes` bytes of their keys, the smallest first; equal keys keep their order.  spare has
 * room for n items.  Returns the sorted array, which is items or spare. */
radix_item *weft__radix_sort(radix_item *items, radix_item *spare, int64_t n, int bytes);

#endif
