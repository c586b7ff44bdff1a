/* order.h - pruning and ordering. */
#ifndef WEFT_EXEC_ORDER_H
#define WEFT_EXEC_ORDER_H

#include "exec/plan.h"

/* The ids of the needed nodes, inputs before readers; free with weft__free. */
weft_err weft__order(const weft_graph *g, const plan_request *r, int **order, int *n_order);

#endif
