/* relocate.h - moves NoOps between tasks, so that a step sends fewer messages.
 *
 * A training step ends with NoOps on the worker: one that waits for the updates of all ps, and for which the increment
 * of the global step on a ps waits.  Each such wait is a message, and the two lie on the longest path of the step.  A
 * NoOp of the client's task therefore goes to the task of the nodes that wait for it.  A NoOp that nothing but the
 * request waits for needs no message: the step ends when the parts of all tasks have ended. */
#ifndef WEFT_EXEC_PASSES_RELOCATE_H
#define WEFT_EXEC_PASSES_RELOCATE_H

#include "exec/passes/cut.h"
#include "exec/passes/order.h"

typedef struct relocation {
  int *where;   /* per node: its device, an index into the cut's devices */
  bool *unread; /* per node: a NoOp that no node waits for, or only such NoOps */
} relocation;

/* For a step without control flow.  The caller finishes the relocation, after an error too. */
weft_err weft__relocate(relocation *r, const cut *c, waits *w, const int *order, int n_order);
void weft__relocation_finish(relocation *r);

#endif
