/* plan.h - a graph compiled for one set of feeds, fetches and targets.
 *
 * The plan holds the nodes that matter, in an order in which they can run, and numbers every value
 * on an edge: its slot.  What differs between two runs at the same time (the values, the arena,
 * the kernels' arguments) is in a frame, so any number of threads may run one plan. */
#ifndef WEFT_EXEC_PLAN_H
#define WEFT_EXEC_PLAN_H

#include "graph/kernel.h"

typedef struct plan_input {
  int slot;       /* where the value comes from */
  bool wants_ref; /* the argument takes a reference: the variable itself, not its value */
  bool from_ref;  /* the slot holds a reference */
  bool places;    /* its integers say where or how many: the kernel gets them in memory that only we write to */
} plan_input;

typedef struct plan_item { /* one node to run */
  const weft_node *node;
  const op *op;
  weft_err (*run)(kernel *k); /* its kernel on its device */
  device *device;             /* NULL: the host */
  uint64_t host_in, host_out; /* of a GPU's item: arguments (< 64) that are in host memory */
  bool no_record;             /* of a GPU's item: decides something on the host in every run */
  void *state;                /* from op->prepare, owned by the plan */
  plan_input *in;
  int n_in, n_out;
  int first_out; /* its outputs are the slots first_out .. first_out + n_out - 1 */
  int *control;  /* items that must have run before, besides those its inputs come from */
  int n_control;
  uint64_t dying; /* straight plans: inputs (< 64) that nobody reads afterwards */
  int *release;   /* straight plans: slots to be cleared once it has run */
  int n_release;
  int stage; /* staged plans: how many times values crossed tasks on their way here (exec/executors/staged.h) */
} plan_item;

typedef struct plan_recv { /* staged plans: an item that receives, and from where */
  int item;
  char *key;
  int together; /* so many from here on belong to one stage and come from one device; 0: not the first of them */
} plan_recv;

typedef struct plan_gpu_segment { /* items [from, to) that a GPU runs by itself (exec/executors/cuda_graph.h) */
  int from, to;
  device *device;
} plan_gpu_segment;

typedef struct layout layout;             /* exec/passes/arena_layout.h */
typedef struct frame frame;               /* exec/executors/frame.h */
typedef struct dataflow_map dataflow_map; /* exec/executors/dataflow_map.h */

typedef struct plan {
  const weft_graph *graph;
  device **device; /* the GPUs that its items run on */
  int n_device;
  atomic_int careful; /* so many runs wait for each kernel of a GPU, as first ones do, so that an error has its name:
                         WEFT_GPU_CAREFUL; negative: all, WEFT_GPU_NO_REPLAY */
  int *slot_memory;   /* per slot: 0 the host's, else 1 + an index into device; NULL without GPUs */
  plan_gpu_segment *gpu_segment;
  int n_gpu_segment;
  arena arena;     /* of everything below but states, constants, layouts and frames */
  plan_item *item; /* in an order in which a straight plan runs them */
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
  bool waits;        /* an item may hold its thread for long: not for a thread that is needed back soon */
  bool dataflow;     /* has control flow or ops that wait: the dataflow executor runs it (exec/executors/dataflow.h) */
  dataflow_map *map; /* then */
  atomic_uint cost;  /* straight plans: about how many ns a run takes; 0: not known */
  bool staged;       /* else: waits only for other tasks, where a stage begins (exec/executors/staged.h) */
  int n_stage, n_recv;
  plan_recv *recv;
  atomic_uint *stage_cost; /* per stage: about how many ns its items took; 0: not known */

  pthread_mutex_t lock; /* guards what follows */
  layout *layouts;
  frame *idle;
  int n_idle;
} plan;

typedef struct plan_request {
  int n_feed, n_fetch, n_target;
  const weft_out *feed, *fetch;
  const int *target; /* node ids */
} plan_request;

typedef struct plan_devices { /* where the nodes run: device[of_node[id]] */
  device *const *device;
  const int *of_node;
} plan_devices;

/* Prunes, orders, folds constants, numbers the slots.  The graph's lock is taken meanwhile.  All on the host: */
weft_err weft__plan_create(plan **out, weft_graph *g, const plan_request *r);
/* With copies where values go from device to device (exec/passes/copy_insertion.h); where is only read meanwhile. */
weft_err weft__plan_create_on(plan **out, weft_graph *g, const plan_request *r, const plan_devices *where);
void weft__plan_destroy(plan *p);

/* Does data input i of the node stand for a variable itself, not its value? */
bool weft__takes_ref(const weft_node *n, int i);

/* A run of a plan: the values of one step. */
typedef struct plan_run {
  const weft_tensor *const *feed; /* n_feed */
  weft_tensor **fetched;          /* n_fetch; set on success, the caller's to destroy */
  step step;                      /* filled in by the session */
  int64_t deadline_ns;            /* on the monotonic clock; 0: none */
  bool keeps_feeds;               /* what is fetched may share memory with the feeds */
  struct step_log *log;           /* NULL, or where to note what ran when (exec/executors/steplog.h) */
} plan_run;

/* Input j of an item is the reference v: the kernel gets the variable itself where the argument takes one, else its
 * value now, shared into k->in[j]. */
weft_err weft__item_resolve(const plan_item *it, kernel *k, int j, variable *v);
/* Names the node in this thread's message, unless it is named already. */
weft_err weft__item_error(const plan_item *it, weft_err err);
/* Looked at between nodes: has the step been cancelled (its code and message), or is it too late? */
weft_err weft__plan_check_time(const plan_run *run);
/* The fetched values out of the slots of a finished run. */
weft_err weft__plan_fetch(const plan *p, const value *slot, const plan_run *run);
/* The pieces of a straight run: a frame that holds the feeds, then its items [from, to). */
weft_err weft__frame_begin(frame **out, plan *p, const plan_run *run);
weft_err weft__frame_run(frame *f, plan_run *run, int from, int to);
/* INTERNAL with the name of the node, unless every output has a value, a reference or is dead. */
weft_err weft__kernel_check_outputs(const kernel *k);
weft_err weft__item_run(frame *f, int i, plan_run *run);
/* What a piece of work costs is about the least it took: whatever took longer was interrupted, or will be seen again. */
static inline void weft__cost_note(atomic_uint *cost, int64_t ns) {
  unsigned old = atomic_load_explicit(cost, memory_order_relaxed),
           now = ns > 1000000000 ? 1000000000 : (unsigned)ns + 1;
  unsigned next = old == 0 || now < old ? now : old + (now - old) / 64;
  atomic_store_explicit(cost, next, memory_order_relaxed);
}
/* At the end of a run that came to err so far: waits for the plan's GPUs, whose first error counts if err is none. */
weft_err weft__plan_end(plan *p, weft_err err);
/* After an item was run: waits for its GPU, if it is the first time or the plan still careful. */
weft_err weft__item_wait_gpu(const plan *p, const plan_item *it, bool first, weft_err err);
/* Runs a straight plan on the calling thread. */
weft_err weft__plan_run(plan *p, plan_run *run);

#endif
