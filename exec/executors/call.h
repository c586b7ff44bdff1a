/* call.h - how kernels call functions of the graph's library.
 *
 * The body of a function is compiled to a plan at its first call, and the function owns the plan.  A call runs it on
 * the calling thread and returns when the body has ended. */
#ifndef WEFT_EXEC_EXECUTORS_CALL_H
#define WEFT_EXEC_EXECUTORS_CALL_H

#include "graph/function.h"

extern const caller weft__caller; /* the session puts it into every step (graph/kernel.h) */

#endif
