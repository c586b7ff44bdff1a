/* defer_updates.h - sparse Adam, which TensorFlow builds as passes over whole tables, becomes an op that touches rows.
 */
#ifndef WEFT_EXEC_PASSES_DEFER_UPDATES_H
#define WEFT_EXEC_PASSES_DEFER_UPDATES_H

#include "exec/plan.h"

/* Replaces the chains of sparse Adam by one item each (kernels/training/deferred_adam.h), and lets items that read rows
 * of a variable reach the variable itself.  slot_item and control are kept right.  The environment variable
 * WEFT_DENSE_UPDATES=1 turns this off; tests compare both. */
weft_err weft__defer_updates(plan *p);

#endif
