/* frame.h - what one run of a plan needs for itself, kept between runs.
 *
 * A frame has the slots, the kernels with their arguments already pointing at the slots, and the
 * arena.  Taking an idle one and giving it back is all that a run locks. */
#ifndef WEFT_EXEC_EXECUTORS_FRAME_H
#define WEFT_EXEC_EXECUTORS_FRAME_H

#include "exec/passes/arena_layout.h"

typedef struct cuda_graph cuda_graph; /* exec/executors/cuda_graph.h */

struct frame {
  plan *plan;
  uint64_t key;         /* shapes of the feeds it was made for */
  const layout *layout; /* NULL: this run learns one */
  buffer_stats *stats;  /* while learning */
  uint64_t generation;  /* of the resources that the OP_ONCE outputs refer to */
  bool once_done;
  value *slot;
  kernel *kernel;         /* per item */
  const weft_tensor **in; /* flat: the kernels' in, ref and values of dereferenced inputs */
  variable **ref;
  weft_tensor *deref;
  buffer *place;                 /* per slot: its part of the arena */
  buffer **planned;              /* per slot: &place[s], or NULL */
  void *memory;                  /* the arena */
  buffer **card;                 /* those on the plan's devices */
  struct cuda_graph *cuda_graph; /* per GPU segment of the plan; made and dropped by exec/executors/cuda_graph.c */
  void (*drop_cuda_graph)(frame *f);
  bool recording; /* what kernels take meanwhile stays with the recording */
  step step;
  frame *next;
};

/* An idle frame for these feed shapes, or a new one. */
weft_err weft__frame_acquire(frame **out, plan *p, uint64_t key, uint64_t generation);
/* Clears the values; a frame that learned turns its stats into the plan's layout (ok: the run succeeded). */
void weft__frame_release(frame *f, bool ok);
void weft__frames_destroy(plan *p); /* idle frames and layouts */

#endif
