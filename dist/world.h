/* world.h - the tasks and devices that a session on a cluster has met. */
#ifndef WEFT_DIST_WORLD_H
#define WEFT_DIST_WORLD_H

#include "dist/peer.h"
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
/* Meets every task that the nodes from `from` on need: those their devices name, and the first in order for a node that
 * names none.  Waits.  *end is how many nodes there were, *met the number of tasks known before. */
weft_err weft__world_meet(world *w, weft_graph *g, int from, int *end, int64_t deadline_ns, cancel *c, int *met);
/* Meets every task the filters allow. */
weft_err weft__world_meet_all(world *w, int64_t deadline_ns, cancel *c, int *met);

#endif
