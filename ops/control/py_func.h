/* py_func.h - the function of the program that all PyFunc nodes call; api/call.c sets it. */
#ifndef WEFT_OPS_CONTROL_PY_FUNC_H
#define WEFT_OPS_CONTROL_PY_FUNC_H

#include "weft/core.h"

/* Sets the function of the process, which kernels call from then on.  Any thread may call it. */
void weft__call_set(weft_call_fn *fn, void *arg);

#endif
