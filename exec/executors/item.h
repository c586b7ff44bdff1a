/* item.h - runs one item of a plan, and has what every executor does around a kernel: references, errors, its GPU.
 *
 * There is no lock: an item of a frame is run by the thread that runs the frame. */
#ifndef WEFT_EXEC_EXECUTORS_ITEM_H
#define WEFT_EXEC_EXECUTORS_ITEM_H

#include "exec/executors/frame.h"
#include "exec/executors/run.h"

/* Input j of an item is the reference v: the kernel gets the variable itself where the argument takes one, else its
 * value now, shared into k->in[j]. */
weft_err weft__item_resolve(const plan_item *it, kernel *k, int j, variable *v);
/* Names the node in this thread's message, unless it is named already. */
weft_err weft__item_error(const plan_item *it, weft_err err);
/* INTERNAL with the name of the node, unless every output has a value, a reference or is dead. */
weft_err weft__kernel_check_outputs(const kernel *k);
/* Called after an item was run with the result err.  Waits for its GPU if this is the first run of the item, or if the
 * plan waits for each kernel (sync_runs in exec/plan.h).  Returns err, or else the GPU's error. */
weft_err weft__item_wait_gpu(const plan *p, const plan_item *it, bool first, weft_err err);
/* Runs item i of a straight plan, notes its buffer stats if the frame has no layout yet, and clears the slots that no
 * later item reads.  The error names the node. */
weft_err weft__item_run(frame *f, int i, plan_run *run);

/* Runs items [from, to) of a straight plan, which all copy to one device (plan_straight.copy_from), as one piece of
 * work. */
weft_err weft__items_copy(frame *f, int from, int to, plan_run *run);

#endif
