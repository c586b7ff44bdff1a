/* device.h - where memory lives and kernels run.
 *
 * Made for a device with its own memory and streams: allocation, copies and waiting are the
 * device's, and a copy is ordered with the kernels of its stream.  The CPU does all of it at once. */
#ifndef WEFT_DEVICE_DEVICE_H
#define WEFT_DEVICE_DEVICE_H

#include "tensor/tensor.h"

typedef struct device device;

typedef struct device_ops {
  const char *type; /* "CPU", "GPU": required */
  /* Required.  Memory for count elements; blocks only as malloc does; the buffer's release gives it back. */
  weft_err (*alloc)(device *d, buffer **out, weft_dtype dtype, int64_t count);
  /* Required.  Queues a copy on the device's stream; strings and objects only where host-resident. */
  weft_err (*copy_in)(device *d, weft_tensor *dst, const weft_tensor *host_src);
  weft_err (*copy_out)(device *d, weft_tensor *host_dst, const weft_tensor *src);
  /* Required.  Queues a copy of bytes within the device's memory, in the order of the stream (NULL: the device's). */
  weft_err (*copy_within)(device *d, void *stream, void *dst, const void *src, size_t size);
  /* Required.  Blocks until everything queued so far is done; returns its first error. */
  weft_err (*sync)(device *d);
  void (*destroy)(device *d); /* required */
} device_ops;

struct device {
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
