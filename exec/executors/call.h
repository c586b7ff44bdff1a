/* call.h - how kernels run functions: a plan of the body for each, run on the caller's thread. */
#ifndef WEFT_EXEC_EXECUTORS_CALL_H
#define WEFT_EXEC_EXECUTORS_CALL_H

#include "graph/function.h"

extern const caller weft__caller; /* of every step */

#endif
