/* arena_layout.h - lays out the values of a straight plan in one block of memory, the arena.
 *
 * A plan over several devices has an arena on each.
 *
 * The sizes are measured, not predicted.  In the first run with feeds of given shapes, every kernel allocates its
 * outputs on the heap, and the run notes how large each was and whose memory it took over.  From then on the outputs
 * share one arena.  Two values have the same bytes if they are never needed at the same time.  A kernel that needs more
 * than was noted allocates on the heap again.
 *
 * The plan's lock guards its layouts; a layout does not change once it is made. */
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
  int root;  /* the slot whose memory this is: itself, or an input's root; -1: the value has no place in the arena */
  int alias; /* input index, or -1 */
} buffer_stats;

/* Notes the outputs of an item.  Called right after it ran, by the thread that ran it. */
void weft__buffer_stats_note(buffer_stats *stats, const plan *p, int item, const value *slot);
/* Makes a layout from what was noted; the caller destroys *out.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__layout_create(layout **out, const plan *p, uint64_t key, const buffer_stats *stats);
void weft__layout_destroy(layout *l);

#endif
