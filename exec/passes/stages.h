/* stages.h - computes the stages of a step (exec/executors/staged.h), and routes small values.
 *
 * The receives of one stage from one device are one call.  If a scalar, such as a learning rate or a power of Adam's
 * betas, is all that is sent at its stage, it costs a call of its own.  If its readers only run at a later stage, it
 * can be sent with the values of that stage instead: between the same tasks, or through the client's task. */
#ifndef WEFT_EXEC_PASSES_STAGES_H
#define WEFT_EXEC_PASSES_STAGES_H

#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct stage_edge { /* a value or a control edge that a node depends on */
  int from, to;             /* nodes */
  int from_task, to_task;
  bool small; /* a control edge, or a value of few bytes */
} stage_edge;

typedef struct stages {
  int *at; /* per node: its stage, the largest number of transfers between tasks on a path to it */
  /* Per node: the largest stage at which it may run without raising the stage of a node of another task, or the number
   * of stages of its own task. */
  int *latest;
  stage_edge *edge; /* sorted by reader, in topological order */
  int n_edge;
  int64_t room;
} stages; /* {0}: not computed yet */

typedef struct stage_route {
  int stage; /* of the receive */
  int relay; /* if the client's task relays the value: the stage of that task's receive; else 0 */
} stage_route;

/* Starts with every node at stage 0; finish frees the lists.  Fails only if memory is short. */
weft_err weft__stages_init(stages *s, int n_node);
void weft__stages_finish(stages *s);
/* Adds an edge, and raises the stage of its reader. */
weft_err weft__stages_add(stages *s, stage_edge e);
/* To be called after the last edge. */
void weft__stages_find_latest(stages *s, int n_node);
/* Returns how a small value of the node is sent from one task to another. */
stage_route weft__stages_route(const stages *s, int node, int from_task, int to_task, int client_task);

#endif
