/* task_set.h - the tasks and devices that a session on a cluster has met.
 *
 * Its owner locks around it.  Nothing here waits: the owner lists whom it needs, waits for them without its lock
 * (contact.h), and takes in those who answered. */
#ifndef WEFT_CLUSTER_MASTER_TASK_SET_H
#define WEFT_CLUSTER_MASTER_TASK_SET_H

#include "cluster/master/wait_for_tasks.h"
#include "exec/session.h"
#include "exec/task.h"

typedef struct world {
  peers *peers;
  const task *self;
  int n_filter;
  device_spec *filter;
  int n_task;
  peer **task; /* those met so far; number 0 is this one */
  int n_device;
  device_info *device;
  int *device_task; /* per device: the number of its task */
  peer **by_name;   /* every task that the filters allow, in the order of their names */
  int n_by_name;
} world;

weft_err weft__world_init(world *w, peers *p, const task *self, const session_opts *opts);
void weft__world_finish(world *w);
/* The tasks that are not known yet and that the nodes from `from` on need: those their devices name, and the first in order
 * for a node that names none.  *end is how many nodes there were.  g NULL: every task that the filters allow.  The list is
 * the caller's: weft__contacts_finish, then weft__free. */
weft_err weft__world_need(const world *w, weft_graph *g, int from, int *end, contact **list, int *n);
/* Takes in tasks that have answered; one that has become known meanwhile is left out. */
weft_err weft__world_add(world *w, contact *list, int n);

#endif
