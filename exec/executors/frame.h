/* frame.h - the memory that one run of a plan uses; frames are reused from run to run.
 *
 * A frame has the slots, the arena, and the kernels, whose arguments point at the slots.  A frame belongs to one run at
 * a time.  A run takes the plan's lock at most to acquire a frame and to release it.
 *
 * A run from which the host reads nothing (plan_straight.ends_early) may end, and release its frame, while its GPU's
 * kernels run.  A next run that takes the same frame is safe:
 * - its kernels are queued behind those of the earlier run;
 * - its copies to the GPU, which could overwrite what those kernels read, wait for them.
 * If there are feeds and the arena is small, the next run takes another frame, so that its feeds are copied meanwhile.
 * The plan then takes turns with two frames. */
#ifndef WEFT_EXEC_EXECUTORS_FRAME_H
#define WEFT_EXEC_EXECUTORS_FRAME_H

#include "exec/passes/arena_layout.h"

typedef struct cuda_graph cuda_graph; /* exec/executors/cuda_graph.h */

struct frame {
  plan *plan;
  uint64_t key;         /* shapes of the feeds it was made for */
  const layout *layout; /* NULL: this run records the stats for one */
  buffer_stats *stats;  /* NULL if there is a layout */
  uint64_t generation;  /* of the resources that the OP_ONCE outputs refer to */
  bool once_done;
  value *slot;
  kernel *kernel;         /* per item */
  int n_in;               /* inputs of all items */
  const weft_tensor **in; /* flat: the kernels' in, ref and values of dereferenced inputs */
  variable **ref;
  weft_tensor *deref;
  buffer *place;                 /* per slot: its part of the arena */
  buffer **planned;              /* per slot: &place[s]; NULL: it has no part, its kernel allocates */
  void *memory;                  /* the arena in host memory */
  buffer **card;                 /* per device of the plan: its arena there */
  struct cuda_graph *cuda_graph; /* per GPU segment of the plan; made and dropped by exec/executors/cuda_graph.c */
  void (*destroy_cuda_graphs)(frame *f); /* set by cuda_graph.c, which includes this header and not the reverse */
  bool may_pair;                         /* while its kernels run, the next run takes another frame */
  uint64_t mark;  /* names the end of its last run, if that ended early (device_ops.end_step); else 0 */
  bool capturing; /* a CUDA graph is being captured: it keeps the scratch memory of the kernels */
  step step;
  frame *next;
};

/* Returns true if kernels of its last run may still be running. */
bool weft__frame_runs(const frame *f);
/* Takes an idle frame for these feed shapes and this generation of resources, or creates one, and destroys idle frames
 * of earlier generations.  The caller releases it with weft__frame_release.  Returns RESOURCE_EXHAUSTED.  Any thread
 * may call it. */
weft_err weft__frame_acquire(frame **out, plan *p, uint64_t key, uint64_t generation);
/* Clears the values and makes the frame idle.  If the run succeeded (ok) and recorded stats, they become a layout of
 * the plan. */
void weft__frame_release(frame *f, bool ok);
/* Destroys the idle frames, for a plan that will hardly run again; one that does makes others.  Any thread may call
 * it. */
void weft__frames_drop_idle(plan *p);
/* Destroys the idle frames and the layouts of a plan that no thread runs. */
void weft__frames_destroy(plan *p);

#endif
