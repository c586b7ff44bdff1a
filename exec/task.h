/* task.h - what a task of a cluster owns in its process: devices, the state on them, thread pools.
 *
 * A session of one process creates a task for itself.  All sessions of a server share the server's task, and with it
 * the variables and queues, which they find by container and name.
 *
 * The session or the server owns the task and destroys it last.  A task does not change after its devices were added,
 * so it has no lock; resources and pools have their own. */
#ifndef WEFT_EXEC_TASK_H
#define WEFT_EXEC_TASK_H

#include "base/pool.h"
#include "exec/passes/place.h"
#include "state/resource.h"

typedef struct task {
  char *name; /* "/job:worker/replica:0/task:0" */
  int n_device;
  device **device; /* CPU:0 first */
  resources *resources;
  pool *intra, *inter; /* inside an op; between ops */
} task;

/* Creates a task with one CPU device; the caller destroys *out.  Threads: 0 means one per processor.  Returns
 * RESOURCE_EXHAUSTED. */
weft_err weft__task_create(task **out, const char *name, int intra_threads, int inter_threads);
/* Adds CPU:1 to CPU:n-1, which run on the same processors: n is ConfigProto's device_count; 0 and 1 add none. */
weft_err weft__task_add_cpus(task *t, int n);
/* Adds the machine's GPUs to its devices.  A machine without GPUs is no error. */
weft_err weft__task_add_gpus(task *t, const gpu_options *o);
void weft__task_destroy(task *t);
/* Stores for each node the number of the task's device that it names, in an array that the caller frees with
 * weft__free.  *of_node is NULL if the task has one device only. */
weft_err weft__task_where(const task *t, const weft_graph *g, int **of_node);
/* Lists its devices; the caller frees the list with weft__place_infos_free. */
weft_err weft__task_devices(const task *t, device_info **out, int *n);

#endif
