/* kernel.h - what a kernel sees while it runs, and how it makes its outputs.
 *
 * A kernel reads k->in[i]->data, asks weft__out for each output (or forwards an input) and returns.
 * It never frees anything of its arguments.  The executor gives each output a place it planned for
 * it; where that is too small or the shape surprises, weft__out takes heap memory instead, so a
 * kernel never has to know. */
#ifndef WEFT_GRAPH_KERNEL_H
#define WEFT_GRAPH_KERNEL_H

#include "base/cancel.h"
#include "base/pool.h"
#include "device/device.h"
#include "graph/graph.h"

typedef struct variable variable;         /* state/variable.h */
typedef struct resources resources;       /* state/resource.h: containers of variables, queues, ... */
typedef struct rendezvous rendezvous;     /* state/rendezvous.h: tensors handed between parts of a step */
typedef struct step_objects step_objects; /* state/step_objects.h: tensor arrays and stacks of one step */
typedef struct caller caller;             /* graph/function.h: runs functions */

/* One run of a graph.  All is NULL or 0 while constants are folded, outside of any step: a kernel that needs one of these
 * must say so with an error (or never be folded, see weft__op_may_fold), and may not rely on it being there. */
typedef struct step {
  int64_t id;
  cancel *cancel;
  pool *intra;          /* splits loops inside a kernel */
  pool *inter;          /* runs whole nodes and functions */
  int64_t deadline_ns;  /* on the monotonic clock; 0: none */
  const caller *caller; /* NULL: functions cannot be called */
  resources *resources; /* of the device */
  rendezvous *rendezvous;
  step_objects *objects;
  const char *session; /* handle: names of private resources begin with it */
  /* Of work ahead of a program's step: when somebody last asked for its results (monotonic), INT64_MAX while somebody does;
   * NULL: of a program's step. */
  atomic_llong *asked_ns;
} step;

/* A value on an edge. */
typedef struct value {
  weft_tensor t;
  variable *ref; /* set on edges of reference type; t is empty then */
  bool dead;     /* only the dataflow executor makes these */
} value;

struct kernel {
  const weft_node *node;
  const op *op;
  step *step;
  void *state; /* from op->prepare */
  int n_in, n_out;
  /* in[i]: the tensor; for a reference argument NULL, and ref[i] is the variable (use weft__ref_*).
   * A reference that flows into a plain argument arrives as the variable's current value. */
  const weft_tensor **in;
  variable **ref;
  value *out;   /* n_out consecutive slots */
  size_t limit; /* of bytes in an output or in scratch memory, while constants are folded; 0: none */

  /* The executor's part: */
  buffer **planned; /* per output: where it may go; NULL entries or NULL: the heap */
  const int *alias; /* per output: -1, or the only input whose buffer it may take over; NULL while learning */
  uint64_t dying;   /* bit i: nobody reads input i (< 64) after this kernel */
  /* On a device with memory and a queue of its own (kernels/gpu/gpu.h); NULL: the CPU. */
  device *device;
  void *stream;            /* where its work is queued, and with it the life of what it allocates */
  uint64_t host_out;       /* bit i: output i (< 64) is in host memory all the same */
  struct scratch *scratch; /* what it took for this run */
  bool pending;            /* see weft__kernel_defer */
  bool input_dead;         /* _Send and _Recv, which run all the same: what comes in is dead */
  uint64_t frame_id;       /* of those two: which run of which loop, and which iteration of it; 0 outside of loops */
  int64_t iteration;
  void (*done)(kernel *k, weft_err err); /* called by weft__kernel_done */
  void *owner;
};

/* Output i, of the node's output type and the given shape; its data is uninitialised (strings and
 * objects: empty).  NULL with the error set if there is no memory or the shape is not fully known. */
weft_tensor *weft__out(kernel *k, int i, const shape *s);
/* The code that goes with weft__out's refusal of a shape that was computed from values. */
static inline weft_err weft__out_refused(const shape *s) {
  return weft__shape_count(s) < 0 ? WEFT_INVALID_ARGUMENT : WEFT_RESOURCE_EXHAUSTED;
}
/* As weft__out, but written over input `from` when that is safe: nobody else reads it, and types and
 * sizes agree.  A kernel that uses it must allow in == out (element by element). */
weft_tensor *weft__out_over(kernel *k, int i, int from, const shape *s);
/* Output i is input `from` under another shape of equal count: shared, not copied, where the plan allows. */
weft_err weft__forward(kernel *k, int i, int from, const shape *s);
/* Output i shares t's buffer (kept: a transient one is copied). */
weft_err weft__out_share(kernel *k, int i, const weft_tensor *t);
/* Output i (of reference type) is this variable. */
void weft__out_ref(kernel *k, int i, variable *v);

/* A fresh scratch tensor, to be cleared by the kernel (weft__tensor_clear). */
weft_err weft__scratch(kernel *k, weft_tensor *t, weft_dtype dtype, const shape *s);

/* Splits [0, n) over the step's threads; cost is about how many nanoseconds one item takes. */
void weft__kernel_loop(const kernel *k, int64_t n, int64_t cost, pool_loop *fn, void *arg);

/* Waiting.  A blocking kernel calls weft__kernel_defer, arranges that weft__kernel_done(k, err) is called
 * exactly once from anywhere (the thread's message goes with err), and returns WEFT_OK.  It must also
 * watch k->step->cancel.  After done, the kernel may be gone. */
void weft__kernel_defer(kernel *k);
void weft__kernel_done(kernel *k, weft_err err);

/* Fails with "{{node NAME}} ..." style context: the op, the node and the formatted message. */
weft_err weft__kernel_fail(const kernel *k, weft_err code, const char *fmt, ...) WEFT_PRINTF(3, 4);
#define weft__kernel_fail(k, code, ...) (weft__kernel_fail((k), (code), __VA_ARGS__), weft__code(code))
/* Adds the node to the thread's message when err is not WEFT_OK; returns err. */
weft_err weft__kernel_in(const kernel *k, weft_err err);
/* UNIMPLEMENTED: this kernel has no code for that type. */
weft_err weft__kernel_no_type(const kernel *k, weft_dtype t);
/* Input i must be a scalar / vector: INVALID_ARGUMENT names the argument and its shape. */
weft_err weft__kernel_scalar(const kernel *k, int i, const char *arg);
weft_err weft__kernel_vector(const kernel *k, int i, const char *arg);
/* Returns a copy of input i, a string scalar, that the caller frees with weft__free; NULL if memory is short. */
char *weft__kernel_strdup(const kernel *k, int i);
/* Input i, an int32/int64 vector (or scalar), as a list of at most WEFT_MAX_RANK. */
weft_err weft__kernel_ints(const kernel *k, int i, const char *arg, int64_t *out, int *n);
/* Input i as the shape of an output: "Dimension -5 must be >= 0". */
weft_err weft__kernel_dims(const kernel *k, int i, const char *arg, shape *out);

#endif
