/* hoist.h - slopes taken where the tensors are small. */
#ifndef WEFT_EXEC_HOIST_H
#define WEFT_EXEC_HOIST_H

#include "exec/plan.h"

/* On a straight plan whose slots are numbered. */
weft_err weft__hoist(plan *p);

#endif
