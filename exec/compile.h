/* compile.h - makes a plan of the part of a graph that a request needs.
 *
 * All passes are called from here, and each executor prepares its part of the plan.  So this file includes them, and
 * none of them includes it. */
#ifndef WEFT_EXEC_COMPILE_H
#define WEFT_EXEC_COMPILE_H

#include "exec/plan.h"

/* Compiles the request to a plan whose items all run on the host.  The caller destroys *out.  Takes the graph's lock.
 * Returns INVALID_ARGUMENT or UNIMPLEMENTED if a node cannot be run or fed, or RESOURCE_EXHAUSTED.  Any thread may call
 * it. */
weft_err weft__plan_create(plan **out, weft_graph *g, const plan_request *r);
/* The same for nodes on several devices: adds copies where values go from device to device
 * (exec/passes/copy_insertion.h).  `where` is only read, and need not outlive the call. */
weft_err weft__plan_create_on(plan **out, weft_graph *g, const plan_request *r, const plan_devices *where);
/* Destroys a plan that no run uses, with its frames, constants and states.  Does nothing for NULL. */
void weft__plan_destroy(plan *p);

#endif
