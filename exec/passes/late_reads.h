/* late_reads.h - makes a worker of a synchronous job read what it fetches from the ps after its token has arrived.
 *
 * Such a worker (TF's SyncReplicasOptimizer) runs its train op, which ends with a token, together with a fetch of the
 * global step, and stops when that is reached.  Nothing in the graph orders the two: of two workers that got their
 * tokens of the last step, one might read the step before the update and one after it.  The first would then ask for a
 * token that never comes, since the other has left.  A read that nothing before the token needs therefore waits for
 * the token: a worker that has the token of a step reads at least that step. */
#ifndef WEFT_EXEC_PASSES_LATE_READS_H
#define WEFT_EXEC_PASSES_LATE_READS_H

#include "exec/passes/cut.h"
#include "exec/passes/order.h"

typedef struct late_reads {
  int token;  /* the node that takes it; -1: there is none, or nothing waits */
  bool *late; /* per node: true if it waits for the token */
} late_reads;

/* Puts the nodes that wait, and those that read them, behind the token in the order. */
weft_err weft__late_reads_find(late_reads *l, const cut *c, waits *w, int *order, int n_order);
void weft__late_reads_finish(late_reads *l);

#endif
