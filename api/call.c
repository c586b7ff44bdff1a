/* call.c - registers functions of the program that a graph may call. */
#include "ops/control/py_func.h"

void weft_call_set(weft_call_fn *fn, void *arg) { weft__call_set(fn, arg); }
