/* plan.h - a graph compiled for one set of feeds, fetches and targets.
 *
 * The plan holds the nodes that the request needs, in an order in which they can run.  Every value on an edge has a
 * number, its slot.  What belongs to one run (the values, the arena, the kernels' arguments) is in a frame, so any
 * number of threads may run one plan at the same time.  A plan does not change after it was compiled, except for what
 * its lock guards and for atomic statistics.
 *
 * A session owns the plans of its requests; a worker, those of its graphs; a function, that of its body.  The owner
 * destroys a plan when no run uses it. */
#ifndef WEFT_EXEC_PLAN_H
#define WEFT_EXEC_PLAN_H

#include "graph/kernel.h"

typedef struct plan_input {
  int slot;       /* where the value comes from */
  bool wants_ref; /* the argument takes a reference: the variable itself, not its value */
  bool from_ref;  /* the slot holds a reference */
  bool is_index;  /* its integers are indices or counts: the kernel gets a copy that no other task can change */
} plan_input;

typedef struct plan_item { /* one node to run */
  const weft_node *node;
  const op *op;
  weft_err (*run)(kernel *k); /* its kernel on its device */
  device *device;             /* NULL: the host */
  /* Of a GPU's item: the inputs in host memory, by their weft__gpu_host_bit, and the outputs (the first 64). */
  uint64_t host_in, host_out;
  bool no_capture;   /* of a GPU's item: the host decides something in every run, so it cannot be captured */
  void *state;       /* from op->prepare, owned by the plan */
  bool shares_state; /* the state belongs to an earlier item: a copy of the same node (exec/passes/unroll.h) */
  plan_input *in;
  int n_in, n_out;
  int first_out; /* its outputs are the slots first_out .. first_out + n_out - 1 */
  int *control;  /* items that must have run before, besides those its inputs come from */
  int n_control;
  uint64_t last_read; /* straight plans: bit j: no later item reads input j (< 64), so an output may take its memory */
  int *release;       /* straight plans: slots to be cleared once it has run */
  int n_release;
  int stage; /* staged plans: the stage whose receives it needs (exec/executors/staged.h); 0: none */
  int group; /* straight plans: 1 + the index of its group of branches; 0: none */
  int lane;  /* of an item of a group: 1 + its lane's number in the plan; 0: none */
} plan_item;

typedef struct plan_recv { /* staged plans: an item that receives, and from where */
  int item;
  char *key;
  int stage;
  int group_size; /* how many entries from here on have the same stage and source device; 0: not the first of them */
} plan_recv;

typedef struct plan_gpu_segment { /* items [from, to) that can be one CUDA graph (exec/executors/cuda_graph.h) */
  int from, to;
  device *device;
} plan_gpu_segment;

typedef struct plan_group { /* items [from, to): branches that threads may share (exec/branches/branches.h) */
  int from, to;
  int n_branch, *begin;    /* branch b is the items [begin[b], begin[b + 1]) */
  int n_lane;              /* lists of branches that one thread runs, so that they share memory */
  int n_release, *release; /* slots that several branches read, to be cleared once all have run */
  atomic_uint runs;        /* so far */
  atomic_uint cost[2];     /* about how many ns a run takes on one thread and on several; 0: not known */
} plan_group;

typedef struct layout layout;             /* exec/passes/arena_layout.h */
typedef struct frame frame;               /* exec/executors/frame.h */
typedef struct dataflow_map dataflow_map; /* exec/executors/dataflow_map.h */

typedef enum plan_executor {
  /* a straight plan, that is one without control flow: its items run one after the other (exec/executors/sequential.h)
   */
  PLAN_SEQUENTIAL,
  PLAN_STAGED,  /* as that, but it waits for other tasks where a stage begins (exec/executors/staged.h) */
  PLAN_DATAFLOW /* it has control flow or other ops with OP_ASYNC (exec/executors/dataflow.h) */
} plan_executor;

typedef struct plan_straight { /* what the sequential and the staged executor know of a plan */
  plan_gpu_segment *gpu_segment;
  int n_gpu_segment;
  plan_group *group; /* in the order of their items */
  int n_group;
  atomic_uint cost;       /* about how many ns a run takes; 0: not known */
  layout *layouts;        /* the plan's lock guards the layouts and the idle frames */
  int copy_from, copy_to; /* the items [from, to) are copies to one device, and are made together; none: equal */
  bool ends_early;        /* a run may end while its kernels run (exec/executors/frame.h) */
  frame *idle;
  int n_idle;
  _Atomic(frame *) spare; /* one more idle frame, acquired and released without the lock; NULL: none */
} plan_straight;

typedef struct plan_staged { /* what the staged executor knows besides */
  int n_stage, n_recv;
  plan_recv *recv;
  atomic_uint *cost; /* per stage: about how many ns its items took; 0: not known */
} plan_staged;

typedef struct plan {
  const weft_graph *graph;
  struct mixed_graph *mixed; /* which the graph belongs to, if it was rewritten; else NULL */
  struct unrolled_graph
      *unrolled; /* as `mixed`: made from that, or from the program's graph, if its loops are unrolled */
  struct plan_variants *variants; /* NULL, or plans for particular values of feeds (exec/variants.h) */
  device **device;                /* the GPUs that its items run on */
  int n_device;
  atomic_int
      sync_runs;    /* how many more runs launch each GPU kernel by itself and wait for it, so that an error names its
                           node.  0: none, kernels are only queued and CUDA graphs are used.  It starts with the number
                           in WEFT_GPU_CAREFUL.  Negative: all runs, and no CUDA graph is ever captured
                           (WEFT_GPU_NO_REPLAY) */
  int *slot_memory; /* per slot: 0 the host's, else 1 + an index into device; NULL without GPUs */
  arena arena;      /* of everything here but states, constants, layouts and frames */
  plan_item *item;  /* in an order in which a straight plan runs them */
  int n_item;
  int n_slot;
  int *slot_item; /* the item that writes a slot; -1: a feed or a constant */
  int n_feed, n_fetch;
  const weft_node **feed_node; /* per feed: whose output it stands for, and which; feed i is slot i */
  int *feed_out;
  int *fetch_slot;
  int n_constant;
  int *constant_slot; /* slots whose value is known: set once in every frame */
  weft_tensor *constant;
  bool waits; /* it has OP_BLOCKING items, so a borrowed thread (exec/executors/start.h) must not run it */
  pthread_mutex_t lock;

  plan_executor executor; /* which of the following parts are used */
  plan_straight straight; /* of PLAN_SEQUENTIAL and PLAN_STAGED */
  plan_staged staged;     /* of PLAN_STAGED */
  dataflow_map *dataflow; /* of PLAN_DATAFLOW */
} plan;

typedef struct plan_request {
  int n_feed, n_fetch, n_target;
  const weft_out *feed, *fetch;
  const int *target; /* node ids */
} plan_request;

typedef struct plan_devices { /* where the nodes run: device[of_node[id]] */
  device *const *device;
  const int *of_node;
  bool mixed_precision;              /* rewrite what runs on GPUs (exec/passes/mixed_precision.h) */
  const struct assumptions *assumed; /* NULL, or values that feeds will give (exec/variants.h) */
  bool host_only;                    /* all on the host: the plan has no devices */
  bool may_vary;                     /* plans for particular feeds may follow (exec/variants.h) */
} plan_devices;

/* Returns true if data input i of the node takes a reference: the variable itself, not its value. */
bool weft__node_takes_ref(const weft_node *n, int i);
/* Removes the items for which gone[i] is true, which a pass has replaced, and numbers the others again: to[i] becomes
 * the new number of item i, and has room for every item.  No item that stays may wait for one that is gone. */
void weft__plan_remove_items(plan *p, const bool *gone, int *to);
/* Puts the items into a new order: order[i] is the old number of the new item i.  to[i] becomes the new number of the
 * old item i, and has room for every item.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__plan_reorder(plan *p, const int *order, int *to);
/* Removes control edges of a straight plan from items whose values the waiting item needs anyway, perhaps through
 * others.  Such edges would only keep passes from fusing.  If the plan is very large, some stay.  Returns
 * RESOURCE_EXHAUSTED. */
weft_err weft__plan_drop_implied_controls(plan *p);

#endif
