/* dataflow_iteration.h - the state of a running flow: frames of loops, their turns, and the nodes in them.
 *
 * A flow (one run of a plan) keeps its frames and turns when they end and uses them again, in this
 * run and the next: a loop of a thousand turns makes as many as are under way at one time.
 *
 * A node's state is one word, changed by whoever delivers an edge:
 *   plain nodes  waiting edges | dead edges << 32
 *   merges       waiting control edges | dead inputs << 32 | first live input << 48
 *                | MERGE_LIVE once a live input came | MERGE_DEAD if it can only be dead
 * Whoever brings the word to "ready" owns the node from then on. */
#ifndef WEFT_EXEC_EXECUTORS_DATAFLOW_ITERATION_H
#define WEFT_EXEC_EXECUTORS_DATAFLOW_ITERATION_H

#include "exec/executors/dataflow_map.h"

#define DEAD_EDGE (UINT64_C(1) << 32)
#define MERGE_LIVE (UINT64_C(1) << 63)
#define MERGE_DEAD (UINT64_C(1) << 62)
#define MERGE_WINNER_SHIFT 48
#define MERGE_INPUTS_MAX (1 << 14)

typedef struct flow flow;
typedef void flow_done(void *arg, weft_err err);
typedef struct flow_frame flow_frame;
typedef struct turn turn;

typedef struct spot { /* a node in a turn */
  _Atomic uint64_t word;
  turn *turn;
  int node; /* item of the plan */
  kernel kernel;
  atomic_int phase; /* of a deferred kernel: see flow.c */
  status why;       /* what a deferred kernel ended with */
  int64_t begin;    /* when it was called, if the step is logged */
  struct spot *next;
} spot;

struct turn {
  flow_frame *frame;
  int64_t number;
  atomic_int busy; /* nodes ready or running, frames inside, and one while edges may still come from outside */
  spot *spot;
  value *slot;
  atomic_int *readers;    /* per slot: how many inputs have not read it yet */
  flow_frame **child;     /* running frames of the loops inside; the frame's lock guards them */
  const weft_tensor **in; /* flat: the kernels' arguments */
  variable **ref;
  weft_tensor *deref;
  turn *next;
};

typedef struct held { /* a value for a turn that may not begin yet */
  int node;           /* the NextIteration it came from */
  value value;
  struct held *next;
} held;

typedef enum fixed_state { FIXED_AWAITED, FIXED_LIVE, FIXED_DEAD } fixed_state;

struct flow_frame {
  pthread_mutex_t lock; /* guards the turns, the fixed values, the held ones and the turns' children */
  flow *flow;
  int loop;
  turn *parent; /* the turn in which it runs; NULL for loop 0 */
  turn *first, *last;
  int n_turn;
  int enters_left;
  value *fixed;
  fixed_state *fixed_state;
  bool *exited; /* per exit of the loop: a live value went out */
  held *held;
  flow_frame *next; /* in the flow's list of idle frames, or of all that run */
  flow_frame *prev;
};

struct flow {
  plan *plan;
  flow_map *map;
  plan_run *run;
  step step;
  pool *tasks;
  flow_done *done; /* NULL: a thread waits in weft__flow_run */
  void *arg;
  cancel_watch watch;
  flow_frame *frame; /* of loop 0 */
  turn *root;
  atomic_long active; /* nodes ready, running or deferred */
  atomic_bool failed;

  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t wake;
  status status;
  spot *inbox;   /* deferred nodes that ended, for the waiting thread */
  bool waiting;  /* the thread of weft__flow_run sleeps on `wake` */
  bool finished; /* active came to 0 */
  turn **idle_turn;
  flow_frame **idle_frame; /* both per loop */
  flow_frame *frames;      /* that run, loop 0 left out */
  flow *next;
};

weft_err weft__flow_take(flow **out, plan *p); /* an idle flow or a new one */
void weft__flow_give(flow *f);                 /* clears what the run left and keeps it for the next */
void weft__flows_destroy(plan *p);             /* the idle ones */

/* A frame for a loop with turn 0 begun, listed as running. */
weft_err weft__flow_frame_begin(flow_frame **out, flow *f, int loop, turn *parent);
void weft__flow_frame_end(flow_frame *fr); /* its turns have ended, or the run has */
/* A number for this run of the loop that every executor of the step finds, TensorFlow 2.15's included: a hash of the
 * loops' names and the turns they are in; 0 for loop 0. */
uint64_t weft__flow_frame_id(const flow_frame *fr);
/* A turn behind the frame's last, with every node's count at its start; busy is 1.  The frame's lock is held. */
weft_err weft__turn_begin(turn **out, flow_frame *fr);
void weft__turn_end(turn *t); /* clears its values and keeps it */

static inline const plan_item *weft__spot_item(const spot *s) { return &s->turn->frame->flow->plan->item[s->node]; }
static inline flow_node *weft__spot_node(const spot *s) { return &s->turn->frame->flow->map->node[s->node]; }
static inline spot *weft__turn_spot(const turn *t, int node) { return &t->spot[t->frame->flow->map->node[node].place]; }

#endif
