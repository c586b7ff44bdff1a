/* compile.h - makes a plan of the part of a graph that a request needs.
 *
 * All passes are called from here, and each executor prepares its part of the plan.  So this file includes them, and none of
 * them includes it. */
#ifndef WEFT_EXEC_COMPILE_H
#define WEFT_EXEC_COMPILE_H

#include "exec/plan.h"

/* Prunes, orders, folds constants, numbers the slots.  The graph's lock is taken meanwhile.  All on the host: */
weft_err weft__plan_create(plan **out, weft_graph *g, const plan_request *r);
/* With copies where values go from device to device (exec/passes/copy_insertion.h); where is only read meanwhile. */
weft_err weft__plan_create_on(plan **out, weft_graph *g, const plan_request *r, const plan_devices *where);
void weft__plan_destroy(plan *p);

#endif
