/* task_set.h - the tasks of a session that have answered, and their devices.
 *
 * The session owns the set and locks it.  Nothing here waits: the session lists the tasks it requires, waits for them
 * without its lock (wait_for_tasks.h), and adds those that answered. */
#ifndef WEFT_CLUSTER_MASTER_TASK_SET_H
#define WEFT_CLUSTER_MASTER_TASK_SET_H

#include "cluster/master/wait_for_tasks.h"
#include "exec/session.h"
#include "exec/task.h"

typedef struct task_set {
  peers *peers;
  const task *self;
  int n_filter;
  device_spec *filter;
  int n_task;
  peer **task; /* those that have answered; number 0 is this task */
  int n_device;
  device_info *device;
  int *device_task; /* by device: the number of its task */
  int64_t device_capacity, device_task_capacity;
  int n_allowed;
  peer **allowed; /* every task that the filters allow, ordered by name */
} task_set;

/* The peers and the task outlive the set.  INVALID_ARGUMENT names a device filter that cannot be parsed. */
weft_err weft__task_set_init(task_set *set, peers *p, const task *self, const session_opts *opts);
void weft__task_set_finish(task_set *set);
/* Lists the tasks that are not in the set and that the nodes from `from` on require: those that their devices name,
 * and for a node without a device the first allowed task.  *end is the number of nodes of the graph.  g NULL: lists
 * every allowed task that is not in the set.  The caller finishes and frees the list (weft__required_tasks_finish). */
weft_err weft__task_set_require(const task_set *set, weft_graph *g, int from, int *end, required_task **list, int *n);
/* Adds tasks that have answered, and takes their devices over.  Skips tasks that were added meanwhile. */
weft_err weft__task_set_add(task_set *set, required_task *list, int n);

#endif
