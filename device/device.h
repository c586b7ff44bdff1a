/* device.h - devices: where tensors are stored and kernels run.
 *
 * The interface is made for a device with its own memory and streams: the device allocates, copies and waits, and its
 * copies are ordered with its kernels.  The CPU device does everything at once.
 *
 * A device is constant after its creation.  Any thread may call its ops.  Its creator destroys it. */
#ifndef WEFT_DEVICE_DEVICE_H
#define WEFT_DEVICE_DEVICE_H

#include "tensor/tensor.h"

typedef struct device device;

enum { CAPTURE_STREAMS = 6 }; /* of one capture: at most so many kernels run at the same time */

typedef struct device_memory { /* bytes */
  int64_t in_use, peak, limit;
} device_memory;

typedef struct device_ops {
  const char *type; /* "CPU", "GPU": required */
  /* Required.  Allocates the host memory that is best for copies from this device (pinned memory for a GPU). */
  weft_err (*alloc_host)(device *d, buffer **out, weft_dtype dtype, int64_t count);
  /* Required.  Queue a copy behind the work queued so far; plain types and equal sizes.  host_src may be written as
   * soon as copy_in returns.  host_dst has the value only after sync_copies_out or sync.  Until then a transient src
   * must not be overwritten, because later work may run at the same time as the copy. */
  weft_err (*copy_in)(device *d, weft_tensor *dst, const weft_tensor *host_src);
  weft_err (*copy_out)(device *d, weft_tensor *host_dst, const weft_tensor *src);
  /* As n calls of copy_in.  It is one piece of work for all small tensors. */
  weft_err (*copy_in_many)(device *d, int n, weft_tensor *const *dst, const weft_tensor *const *host_src);
  /* As copy_in, from another device of the same type. */
  weft_err (*copy_over)(device *d, weft_tensor *dst, device *from, const weft_tensor *src);
  /* Required.  Blocks until the copies to the host that were queued so far are done. */
  weft_err (*sync_copies_out)(device *d);
  /* Required.  Blocks until all work queued so far is done; returns its first error. */
  weft_err (*sync)(device *d);
  /* Ends a step whose work may go on: waits only for the steps that ended before it, so at most one is left running.
   * *mark names this end.  The sources of the step's copies may be written.  Returns the first error of the work that
   * it waited for.  NULL: use sync. */
  weft_err (*end_step)(device *d, uint64_t *mark);
  /* True if a step that ended with this mark may be running. */
  bool (*step_runs)(device *d, uint64_t mark);
  /* Copies to the device that are queued from now on wait for all work queued so far. */
  void (*order_copies_in)(device *d);
  void (*destroy)(device *d); /* required */
  /* Capture: work that this thread queues between begin and end does not run, but becomes a graph, which is launched as
   * a whole.  capture_begin waits while another thread captures on this device.  After an error of capture_begin there
   * is no capture_end.  NULL: the device cannot capture. */
  weft_err (*capture_begin)(device *d);
  /* Work queued next is item `number` (0, 1, ...) of the capture, on one of a few streams that run in parallel.  It
   * runs after the earlier items of its stream, and after item after[i] of each other stream i (-1: none). */
  weft_err (*capture_item)(device *d, int number, int stream, const int after[CAPTURE_STREAMS]);
  weft_err (*capture_end)(device *d, void **graph); /* the caller destroys it with graph_destroy */
  weft_err (*graph_launch)(device *d, void *graph); /* queues the work of the graph */
  void (*graph_destroy)(device *d, void *graph);    /* does nothing for NULL */
  /* Counts the memory that is handed out now, the most that was, and the limit.  NULL: the device does not count. */
  device_memory (*count_memory)(device *d);
} device_ops;

struct device {
  memory_space memory; /* alloc is NULL for host memory */
  const device_ops *ops;
  char *name; /* "/job:localhost/replica:0/task:0/device:CPU:0" */
  int id;
  int64_t memory_limit;
  uint64_t incarnation; /* random, not 0 */
  char *description;    /* physical_device_desc; "" for CPUs */
};

/* Creates a CPU device of the given task ("/job:localhost/replica:0/task:0").  Returns RESOURCE_EXHAUSTED. */
weft_err weft__device_cpu(device **out, const char *task, int id);
void weft__device_destroy(device *d); /* does nothing for NULL */
void weft__device_free(device *d);    /* frees what every device has; a kind without more has it as ops->destroy */
static inline bool weft__device_is_host(const device *d) { return !d || !d->memory.alloc; }
/* The device that owns this memory. */
static inline device *weft__memory_device(memory_space *m) { return (device *)m; }

/* ---- GPUs ---- */
enum { GPU_MAX_CARDS = 16, GPU_MAX_VIRTUAL = 8 };
typedef struct gpu_options { /* ConfigProto's gpu_options and device_count; all zero: TensorFlow's defaults */
  double fraction;           /* of a card's memory; 0: 95 % */
  bool growth;               /* accepted, but has no effect: memory is always taken as it is needed */
  char visible[128];         /* "1,0": these cards in this order; "": all */
  bool bounded;
  int limit; /* if bounded: the largest number of devices */
  struct {
    int n; /* number of virtual devices; 0: the card is one device */
    int64_t megabytes[GPU_MAX_VIRTUAL];
  } parts[GPU_MAX_CARDS]; /* by position among the visible cards */
} gpu_options;
/* Appends the GPU devices of a task to the list, which the caller owns.  If there is none, the log says why, once per
 * process.  Returns INVALID_ARGUMENT for options that are wrong. */
weft_err weft__device_gpus(device ***list, int *n, const char *task, const gpu_options *o);
/* The plug-in's calls and the stream of a GPU device; NULL for other devices. */
struct gpu_api;
const struct gpu_api *weft__device_api(const device *d);
void *weft__device_stream(const device *d);
bool weft__device_can_capture(const device *d); /* it has capture_begin and the rest */
/* Returns true between capture_begin and capture_end on the thread that called them: copies between buffers of the
 * card are then captured and not made, so a value that such a copy fills must not replace another one. */
bool weft__device_thread_captures(void);
/* Looks up a symbol of the plug-in, such as its table of kernels (kernels/gpu/gpu.h); NULL if no plug-in is loaded. */
void *weft__gpu_plugin_symbol(const char *symbol);
bool weft__gpu_simulated(void);          /* the GPUs of this process are simulated */
uint64_t weft__device_incarnation(void); /* random, not 0 */

/* ---- names ---- */
typedef struct device_spec { /* a full or partial device name */
  char job[64];
  char type[16];         /* "CPU", "GPU" */
  int replica, task, id; /* -1: not given */
  bool has_job, has_type;
} device_spec;
/* Parses "/job:ps/task:0", "/cpu:0", "/device:GPU:1", "/gpu:0" or "".  Returns INVALID_ARGUMENT "Malformed device
 * specification '...'". */
weft_err weft__device_parse(device_spec *out, const char *name);
/* Replaces the fields of `into` that `over` has, as TensorFlow merges an inner device scope into an outer one. */
void weft__device_merge(device_spec *into, const device_spec *over);
/* Returns true if the full name has every field of the partial spec. */
bool weft__device_matches(const device_spec *spec, const device_spec *full);
/* Writes the canonical name, "/job:ps/replica:0/task:0/device:CPU:0", without missing fields, to buf and returns buf.
 */
#define WEFT_DEVICE_TEXT 160 /* bytes that any name fits in */
char *weft__device_text(const device_spec *s, char *buf, size_t size);

#endif
