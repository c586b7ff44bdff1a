/* dataflow_iteration.h - the state of a running dataflow: frames of loops, their iterations, and the nodes in them.
 *
 * A dataflow (one run of a plan) keeps the frames and iterations that ended, and reuses them in this run and the next.
 * So a loop of a thousand iterations allocates only as many as run at one time.
 *
 * A node's state is one word.  The thread that delivers an edge changes it atomically:
 *   plain nodes  waiting edges | dead edges << 32
 *   merges       waiting control edges | dead inputs << 32 | first live input << 48
 *                | MERGE_LIVE once a live input came | MERGE_DEAD if it can only be dead
 * The thread whose change makes the node ready owns the node until it has ended. */
#ifndef WEFT_EXEC_EXECUTORS_DATAFLOW_ITERATION_H
#define WEFT_EXEC_EXECUTORS_DATAFLOW_ITERATION_H

#include "exec/executors/dataflow_map.h"
#include "exec/executors/run.h"

#define DEAD_EDGE (UINT64_C(1) << 32)
#define MERGE_LIVE (UINT64_C(1) << 63)
#define MERGE_DEAD (UINT64_C(1) << 62)
#define MERGE_WINNER_SHIFT 48
#define MERGE_INPUTS_MAX (1 << 14)

typedef struct dataflow dataflow;
typedef struct dataflow_frame dataflow_frame;
typedef struct iteration iteration;

typedef enum node_load { LOAD_LITTLE, LOAD_EXPENSIVE, LOAD_QUEUES, NODE_LOADS } node_load; /* see dataflow.c */

typedef struct node_run { /* a node in an iteration */
  _Atomic uint64_t word;
  iteration *iteration;
  int node; /* item of the plan */
  kernel kernel;
  atomic_int phase; /* of a deferred kernel: see dataflow.c */
  status why;       /* what a deferred kernel ended with */
  int64_t begin;    /* when it was called, if the step is logged */
  struct node_run *next;
  node_load load; /* how it counts in the list of a thread, which it was put into */
} node_run;

struct iteration {
  dataflow_frame *frame;
  int64_t number;
  atomic_int busy; /* nodes ready or running, plus frames inside, plus 1 while edges may still arrive from outside */
  node_run *node_run;
  value *slot;
  atomic_int *readers;    /* per slot: how many inputs have not read it yet */
  dataflow_frame **child; /* running frames of the loops inside; the frame's lock guards them */
  const weft_tensor **in; /* flat: the kernels' arguments */
  variable **ref;
  weft_tensor *deref;
  iteration *next;
};

typedef struct held_value { /* a value for an iteration that may not begin yet */
  int node;                 /* the NextIteration it came from */
  value value;
  struct held_value *next;
} held_value;

typedef enum constant_state { CONSTANT_AWAITED, CONSTANT_LIVE, CONSTANT_DEAD } constant_state;

struct dataflow_frame {
  pthread_mutex_t lock; /* guards the iterations, their children, the constants and the held values */
  dataflow *dataflow;
  int loop;
  iteration *parent; /* the iteration in which it runs; NULL for loop 0 */
  iteration *first, *last;
  int n_iteration;
  int enters_left;
  value *constant;
  constant_state *constant_state;
  bool *exited; /* per exit of the loop: a live value went out */
  held_value *held_value;
  dataflow_frame *next; /* in the dataflow's list of idle frames, or of all that run */
  dataflow_frame *prev;
};

struct dataflow {
  active_run run; /* its lock guards what follows `active` */
  dataflow_map *map;
  step step;
  dataflow_frame *frame; /* of loop 0 */
  iteration *root;
  atomic_long active; /* nodes ready, running or deferred */

  node_run *inbox; /* deferred nodes that ended, for the waiting thread */
  bool waiting;    /* the thread of weft__dataflow_run sleeps on run.wake */
  bool finished;   /* active came to 0 */
  iteration **idle_iteration;
  dataflow_frame **idle_frame; /* both per loop */
  dataflow_frame *frames;      /* that run, loop 0 left out */
  dataflow *next;
};

weft_err weft__dataflow_acquire(dataflow **out, plan *p); /* an idle dataflow or a new one */
void weft__dataflow_release(dataflow *f);                 /* clears what the run left and keeps it for the next */
void weft__dataflow_destroy_idle(plan *p);                /* the idle ones */

/* A frame for a loop with iteration 0 begun, listed as running. */
weft_err weft__dataflow_frame_begin(dataflow_frame **out, dataflow *f, int loop, iteration *parent);
/* Clears the frame and keeps it for reuse.  Its iterations, or the whole run, have ended. */
void weft__dataflow_frame_end(dataflow_frame *fr);
/* Returns a number for this run of the loop: a hash of the names of the enclosing loops and their iterations; 0 for
 * loop
 * 0.  Every executor of the step computes the same number, TensorFlow 2.15's included. */
uint64_t weft__dataflow_frame_id(const dataflow_frame *fr);
/* Appends an iteration to the frame, with every node in its initial state and busy = 1.  The caller holds the frame's
 * lock, unless no other thread knows the frame yet. */
weft_err weft__iteration_begin(iteration **out, dataflow_frame *fr);
void weft__iteration_end(iteration *t); /* clears its values and keeps it */

static inline const plan_item *weft__node_run_item(const node_run *s) {
  return &s->iteration->frame->dataflow->run.plan->item[s->node];
}
static inline dataflow_node *weft__node_run_node(const node_run *s) {
  return &s->iteration->frame->dataflow->map->node[s->node];
}
static inline node_run *weft__iteration_node(const iteration *t, int node) {
  return &t->node_run[t->frame->dataflow->map->node[node].place];
}

#endif
