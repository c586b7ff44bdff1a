/* feeds.c - an open-addressing table of the feeds of a request, at most half full. */
#include "exec/feeds.h"

#include "base/alloc.h"

static int *feeds_slot_of(const feeds *f, weft_out o) {
  const uint64_t key = (uint64_t)(uint32_t)o.node << 16 ^ (uint32_t)o.slot;
  for (uint32_t i = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & f->mask;; i = (i + 1) & f->mask) {
    int *slot = &f->slot[i];
    if (*slot == 0 || (f->feed[*slot - 1].node == o.node && f->feed[*slot - 1].slot == o.slot)) return slot;
  }
}

weft_err weft__feeds_init(feeds *f, int n, const weft_out *feed) {
  *f = (feeds){.feed = feed, .twice = -1};
  if (n == 0) return WEFT_OK;
  size_t slots = 4;
  while (slots < 2 * (size_t)n) slots *= 2;
  if (!(f->slot = weft__alloc_zero(slots, sizeof *f->slot))) return WEFT_OOM;
  f->mask = (uint32_t)slots - 1;
  for (int i = 0; i < n; i++) {
    int *slot = feeds_slot_of(f, feed[i]);
    if (*slot == 0)
      *slot = i + 1;
    else if (f->twice < 0)
      f->twice = i;
  }
  return WEFT_OK;
}

int weft__feeds_find(const feeds *f, weft_out o) { return f->slot ? *feeds_slot_of(f, o) - 1 : -1; }

void weft__feeds_finish(feeds *f) {
  weft__free(f->slot);
  *f = (feeds){0};
}
