/* long_sort.c - sorts pieces and merges them, with a look at the clock between pieces.
 *
 * qsort cannot be left once it runs, and takes seconds for millions of items. */
#include "kernels/work/long_sort.h"

#include "base/alloc.h"
#include "kernels/work/long_work.h"
#include <stdlib.h>
#include <string.h>

enum { SORT_PIECE = 1 << 13 }; /* items that qsort sorts at once: a millisecond */

typedef struct long_sort {
  const kernel *kernel;
  size_t size;
  int (*compare)(const void *, const void *);
} long_sort;

/* Merges from[begin, middle) and from[middle, end), which are sorted, into the same places of `to`. */
static weft_err sort_merge(const long_sort *s, const char *from, char *to, const int64_t part[3]) {
  const int64_t begin = part[0], middle = part[1], end = part[2];
  for (int64_t i = begin, j = middle, at = begin; at < end; at++) {
    WEFT_TRY(weft__long_turn(s->kernel, at));
    const char *a = from + (size_t)i * s->size, *b = from + (size_t)j * s->size;
    const bool first = j == end || (i < middle && s->compare(a, b) <= 0);
    memcpy(to + (size_t)at * s->size, first ? a : b, s->size);
    i += first;
    j += !first;
  }
  return WEFT_OK;
}

static int64_t sort_least(int64_t a, int64_t b) { return a < b ? a : b; }

static weft_err sort_merges(const long_sort *s, char *items, char *spare, int64_t n) {
  char *from = items, *to = spare;
  for (int64_t width = SORT_PIECE; width < n; width *= 2) {
    for (int64_t i = 0; i < n; i += 2 * width)
      WEFT_TRY(sort_merge(s, from, to, (int64_t[]){i, sort_least(i + width, n), sort_least(i + 2 * width, n)}));
    char *sorted = to;
    to = from, from = sorted;
  }
  if (from != items) memcpy(items, from, (size_t)n * s->size);
  return WEFT_OK;
}

weft_err weft__long_sort(const kernel *k, void *items, int64_t n, size_t size,
                         int (*compare)(const void *, const void *)) {
  const long_sort s = {k, size, compare};
  for (int64_t i = 0; i < n; i += SORT_PIECE) {
    if (i) WEFT_TRY(weft__long_check(k));
    qsort((char *)items + (size_t)i * size, (size_t)sort_least(n - i, SORT_PIECE), size, compare);
  }
  if (n <= SORT_PIECE) return WEFT_OK;
  char *spare = weft__alloc((size_t)n * size);
  if (!spare) return WEFT_OOM;
  const weft_err err = sort_merges(&s, items, spare, n);
  weft__free(spare);
  return err;
}
