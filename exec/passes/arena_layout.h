/* arena_layout.h - where the values of a straight plan lie in one block of memory.
 *
 * A plan over several devices has such a block on each.
 *
 * The sizes are learned, not predicted: the first run with feeds of given shapes takes every output
 * from the heap and notes how large it was and whose memory it took over.  From then on the outputs
 * share one arena, two values on the same bytes when their lives do not meet.  A kernel that
 * needs more than was noted still runs, on the heap. */
#ifndef WEFT_EXEC_PASSES_ARENA_LAYOUT_H
#define WEFT_EXEC_PASSES_ARENA_LAYOUT_H

#include "exec/plan.h"

struct layout {
  uint64_t key;   /* of the feeds' shapes */
  size_t *size;   /* of the arena in the host's memory and in each device's */
  size_t *offset; /* per slot */
  size_t *bytes;  /* per slot; 0: not in the arena */
  int *alias;     /* per slot: the input whose memory it took over, or -1 */
  layout *next;
};

typedef struct buffer_stats { /* what the first run noted, per slot */
  size_t bytes;
  int root;  /* the slot whose memory this is: itself, or an input's root; -1: not ours to place */
  int alias; /* input index, or -1 */
} buffer_stats;

/* Note the outputs of item i right after it ran. */
void weft__buffer_stats_note(buffer_stats *stats, const plan *p, int item, const value *slot);
/* Lays out what was noted. */
weft_err weft__layout_create(layout **out, const plan *p, uint64_t key, const buffer_stats *stats);
void weft__layout_destroy(layout *l);

#endif
