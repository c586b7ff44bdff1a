/* radix_sort.c - sorts by one byte of the keys after the other, from the lowest.
 *
 * The counts of all bytes are taken in one pass.  A byte that is equal in all keys needs no pass of its own, so keys
 * with small values are sorted in few passes. */
#include "kernels/array/radix_sort.h"
#include <string.h>

enum { DIGITS = 256 };

/* Moves the items to where their byte at `shift` belongs.  count holds the number of items with each value of it. */
static void radix_pass(const radix_item *from, radix_item *to, int64_t n, int shift, const int64_t *count) {
  int64_t next[DIGITS], sum = 0;
  for (int d = 0; d < DIGITS; d++) {
    next[d] = sum;
    sum += count[d];
  }
  for (int64_t i = 0; i < n; i++) to[next[from[i].key >> shift & 255u]++] = from[i];
}

radix_item *weft__radix_sort(radix_item *items, radix_item *spare, int64_t n, int bytes) {
  int64_t count[8][DIGITS];
  memset(count, 0, (size_t)bytes * sizeof *count);
  for (int64_t i = 0; i < n; i++)
    for (int b = 0; b < bytes; b++) count[b][items[i].key >> 8 * b & 255u]++;
  for (int b = 0; n > 0 && b < bytes; b++) {
    if (count[b][items[0].key >> 8 * b & 255u] == n) continue;
    radix_pass(items, spare, n, 8 * b, count[b]);
    radix_item *sorted = spare;
    spare = items;
    items = sorted;
  }
  return items;
}
