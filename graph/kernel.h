/* kernel.h - the arguments of a kernel, and how it makes its outputs.
 *
 * A kernel reads k->in[i]->data, calls weft__out for each output (or forwards an input), and returns.  It never
 * frees its arguments.  The executor gives each output the memory it planned for it.  If that is too small or the
 * shape is not as expected, weft__out allocates from the heap, so a kernel need not care. */
#ifndef WEFT_GRAPH_KERNEL_H
#define WEFT_GRAPH_KERNEL_H

#include "base/cancel.h"
#include "base/pool.h"
#include "device/device.h"
#include "graph/graph.h"

typedef struct variable variable;         /* state/variable.h */
typedef struct resources resources;       /* state/resource.h: containers of variables, queues, ... */
typedef struct rendezvous rendezvous;     /* state/rendezvous.h: tensors passed between parts of a step */
typedef struct step_objects step_objects; /* state/step_objects.h: tensor arrays and stacks of one step */
typedef struct caller caller;             /* graph/function.h: runs functions */

/* One run of a graph.  All fields are NULL or 0 while constants are folded, outside any step.  A kernel that needs
 * one of them must report an error if it is missing (or never be folded, see weft__op_may_fold). */
typedef struct step {
  int64_t id;
  cancel *cancel;
  pool *intra;          /* splits loops inside a kernel */
  pool *inter;          /* runs whole nodes and functions */
  int64_t deadline_ns;  /* on the monotonic clock; 0: no deadline */
  const caller *caller; /* NULL: functions cannot be called */
  resources *resources; /* the resources of the device */
  rendezvous *rendezvous;
  step_objects *objects;
  const char *session; /* session handle: names of private resources begin with it */
  /* For work ahead of a program's step, such as prefetching: the time of the last request for its results
   * (monotonic), or INT64_MAX during a request.  NULL for a program's step. */
  atomic_llong *asked_ns;
} step;

/* A value on an edge. */
typedef struct value {
  weft_tensor t;
  variable *ref; /* set on edges of reference type; then t is empty */
  bool dead;     /* only the dataflow executor sets it */
} value;

struct kernel {
  const weft_node *node;
  const op *op;
  step *step;
  void *state; /* from op->prepare */
  int n_in, n_out;
  /* in[i] is the tensor.  For a reference argument it is NULL, and ref[i] is the variable (use weft__ref_*).  A
   * reference that flows into a plain argument arrives as the variable's current value. */
  const weft_tensor **in;
  variable **ref;
  value *out;   /* n_out consecutive slots */
  size_t limit; /* maximum bytes of an output or of scratch memory while constants are folded; 0: no limit */

  /* Set by the executor: */
  buffer **planned; /* per output: the planned buffer; NULL: the heap */
  /* per output: the only input whose buffer it may take over, or -1; NULL while buffer stats are recorded */
  const int *alias;
  uint64_t dying; /* bit i: input i (< 64) is not read after this kernel */
  /* Set on a device with its own memory and queue (kernels/gpu/gpu.h); NULL: the CPU. */
  device *device;
  void *stream;            /* the stream that orders its work and the lifetime of its allocations */
  uint64_t host_out;       /* bit i: output i (< 64) is in host memory */
  struct scratch *scratch; /* scratch memory of this run */
  bool pending;            /* see weft__kernel_defer */
  bool input_dead;         /* for _Send and _Recv, which run even if their input is dead */
  uint64_t frame_id;       /* for these two: the run of a loop and its iteration; 0 outside loops */
  int64_t iteration;
  void (*done)(kernel *k, weft_err err); /* called by weft__kernel_done */
  void *owner;
};

/* Creates output i, with the node's output type and the given shape.  Its data is uninitialized (strings and
 * objects: empty).  Returns NULL with the error set if memory is short or the shape is not fully known. */
weft_tensor *weft__out(kernel *k, int i, const shape *s);
/* Returns the error code for a failed weft__out whose shape was computed from values. */
static inline weft_err weft__out_refused(const shape *s) {
  return weft__shape_count(s) < 0 ? WEFT_INVALID_ARGUMENT : WEFT_RESOURCE_EXHAUSTED;
}
/* Like weft__out, but overwrites input `from` if that is safe: nothing else reads it, and types and sizes agree.  A
 * kernel that uses it must allow in == out (element by element). */
weft_tensor *weft__out_over(kernel *k, int i, int from, const shape *s);
/* Makes output i input `from` with another shape of equal count.  The buffer is shared, not copied, if the plan
 * allows it. */
weft_err weft__forward(kernel *k, int i, int from, const shape *s);
/* Makes output i share t's buffer, which is retained.  A transient buffer is copied. */
weft_err weft__out_share(kernel *k, int i, const weft_tensor *t);
/* Makes output i (of reference type) this variable. */
void weft__out_ref(kernel *k, int i, variable *v);

/* Allocates a scratch tensor, which the kernel clears (weft__tensor_clear). */
weft_err weft__scratch(kernel *k, weft_tensor *t, weft_dtype dtype, const shape *s);

/* Splits [0, n) over the step's threads; `cost` is the approximate number of nanoseconds per item. */
void weft__kernel_loop(const kernel *k, int64_t n, int64_t cost, pool_loop *fn, void *arg);

/* Asynchronous completion.  A kernel calls weft__kernel_defer, arranges that weft__kernel_done(k, err) is called
 * exactly once from any thread (that thread's message belongs to err), and returns WEFT_OK.  It must also watch
 * k->step->cancel.  After done, the kernel may be freed. */
void weft__kernel_defer(kernel *k);
void weft__kernel_done(kernel *k, weft_err err);

/* Fails with the op, the node ("{{node NAME}} ...") and the formatted message. */
weft_err weft__kernel_fail(const kernel *k, weft_err code, const char *fmt, ...) WEFT_PRINTF(3, 4);
#define weft__kernel_fail(k, code, ...) (weft__kernel_fail((k), (code), __VA_ARGS__), weft__code(code))
/* Adds the node to the thread's message if err is not WEFT_OK.  Returns err. */
weft_err weft__kernel_in(const kernel *k, weft_err err);
/* Fails with UNIMPLEMENTED: this kernel does not support that type. */
weft_err weft__kernel_no_type(const kernel *k, weft_dtype t);
/* Checks that input i is a scalar / vector.  INVALID_ARGUMENT names the argument and its shape. */
weft_err weft__kernel_scalar(const kernel *k, int i, const char *arg);
weft_err weft__kernel_vector(const kernel *k, int i, const char *arg);
/* Returns a copy of input i, a string scalar, that the caller frees with weft__free; NULL if memory is short. */
char *weft__kernel_strdup(const kernel *k, int i);
/* Reads input i, an int32/int64 vector (or scalar), as a list of at most WEFT_MAX_RANK. */
weft_err weft__kernel_ints(const kernel *k, int i, const char *arg, int64_t *out, int *n);
/* Reads input i as the shape of an output; fails with "Dimension -5 must be >= 0". */
weft_err weft__kernel_dims(const kernel *k, int i, const char *arg, shape *out);

#endif
