/* device.h - where memory lives and kernels run.
 *
 * Made for a device with its own memory and streams: allocation, copies and waiting are the
 * device's, and a copy is ordered with the kernels of its stream.  The CPU does all of it at once. */
#ifndef WEFT_DEVICE_DEVICE_H
#define WEFT_DEVICE_DEVICE_H

#include "tensor/tensor.h"

typedef struct device device;

enum { CAPTURE_STREAMS = 6 };

typedef struct device_ops {
  const char *type; /* "CPU", "GPU": required */
  /* Required.  Host memory that copies from this device go to best; the buffer's release gives it back. */
  weft_err (*alloc_host)(device *d, buffer **out, weft_dtype dtype, int64_t count);
  /* Required.  Queue a copy behind what was queued before, of plain types and equal sizes.  host_src may be written as
   * soon as copy_in returns; host_dst holds the value only after arrive or sync.  Until then nothing may write over src
   * if it is transient: the copy runs beside what is queued later. */
  weft_err (*copy_in)(device *d, weft_tensor *dst, const weft_tensor *host_src);
  weft_err (*copy_out)(device *d, weft_tensor *host_dst, const weft_tensor *src);
  /* As copy_in, from another device of the same type. */
  weft_err (*copy_over)(device *d, weft_tensor *dst, device *from, const weft_tensor *src);
  /* Required.  Blocks until the copies out queued so far are done. */
  weft_err (*sync_copies_out)(device *d);
  /* Required.  Blocks until everything queued so far is done; returns its first error. */
  weft_err (*sync)(device *d);
  void (*destroy)(device *d); /* required */
  /* Recording: what is queued between begin and end is not run but kept, to be queued as a whole.  NULL: it cannot. */
  weft_err (*capture_begin)(device *d);
  /* What is queued next is step `step` (0, 1, ...) of the recording, in one of a few lanes that run beside each other: after
   * the steps before it in its lane, and after step after[l] of each other lane l (-1: none). */
  weft_err (*capture_step)(device *d, int step, int lane, const int after[CAPTURE_STREAMS]);
  weft_err (*capture_end)(device *d, void **recording);
  weft_err (*graph_launch)(device *d, void *recording);
  void (*graph_destroy)(device *d, void *recording);
} device_ops;

struct device {
  memory_space memory; /* of devices with memory of their own */
  const device_ops *ops;
  char *name; /* "/job:localhost/replica:0/task:0/device:CPU:0" */
  int id;
  int64_t memory_limit;
  uint64_t incarnation; /* random, not 0 */
  char *description;    /* physical_device_desc; "" for CPUs */
};

/* A CPU device of the given task prefix ("/job:localhost/replica:0/task:0"). */
weft_err weft__device_cpu(device **out, const char *task, int id);
void weft__device_destroy(device *d);
static inline bool weft__device_is_host(const device *d) { return !d || !d->memory.alloc; }
/* Its device, if the memory is that of one. */
static inline device *weft__memory_device(memory_space *m) { return (device *)m; }

/* ---- GPUs ---- */
enum { GPU_MAX_CARDS = 16, GPU_MAX_VIRTUAL = 8 };
typedef struct gpu_options { /* ConfigProto's gpu_options and device_count; all zero: TensorFlow's defaults */
  double fraction;           /* of a card's memory; 0: nearly all */
  bool growth;               /* take memory as it is needed, which is what is always done */
  char visible[128];         /* "1,0": these cards in this order; "": all */
  bool bounded;
  int limit; /* if bounded: at most so many devices */
  struct {
    int n; /* the card is shown as so many devices; 0: as one */
    int64_t megabytes[GPU_MAX_VIRTUAL];
  } parts[GPU_MAX_CARDS]; /* by position among the visible cards */
} gpu_options;
/* GPU devices of a task, appended to the list.  A machine without a card has none: the log says why, once. */
weft_err weft__device_gpus(device ***list, int *n, const char *task, const gpu_options *o);
/* The calls of the card behind a device, and its stream; NULL for others. */
struct gpu_api;
const struct gpu_api *weft__device_api(const device *d);
void *weft__device_stream(const device *d);
bool weft__device_can_capture(const device *d); /* can what is queued on it be recorded? */
/* The kernels' door of the plug-in, if one was loaded (kernels/gpu/gpu.h). */
void *weft__gpu_plugin_symbol(const char *symbol);
bool weft__gpu_simulated(void);
uint64_t weft__device_incarnation(void); /* random, not 0 */

/* ---- names ---- */
typedef struct device_spec { /* a full or partial device name */
  char job[64];
  char type[16];         /* "CPU", "GPU" */
  int replica, task, id; /* -1: not given */
  bool has_job, has_type;
} device_spec;
/* "/job:ps/task:0", "/cpu:0", "/device:GPU:1", "/gpu:0", ""; INVALID_ARGUMENT "Malformed device specification '...'". */
weft_err weft__device_parse(device_spec *out, const char *name);
/* Fields of `over` win where given: how TF merges an inner device scope into an outer one. */
void weft__device_merge(device_spec *into, const device_spec *over);
/* Does a full name satisfy the (partial) spec? */
bool weft__device_matches(const device_spec *spec, const device_spec *full);
/* Canonical text: "/job:ps/replica:0/task:0/device:CPU:0", parts not given left out.  Returns buf. */
#define WEFT_DEVICE_TEXT 160 /* room enough for any */
char *weft__device_text(const device_spec *s, char *buf, size_t size);

#endif
