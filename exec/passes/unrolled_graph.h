/* unrolled_graph.h - the result of unrolling loops (exec/passes/unroll.h). */
#ifndef WEFT_EXEC_PASSES_UNROLLED_GRAPH_H
#define WEFT_EXEC_PASSES_UNROLLED_GRAPH_H

#include "exec/plan.h"

typedef struct unrolled_graph {
  weft_graph *graph;
  plan_request request; /* in terms of its nodes */
  int *of_node;         /* per node: its device */
  int *first_copy;      /* per node: the first copy of the same node of the program, whose state all copies use */
  bool *padded;         /* per node: it pads the distinct ids (exec/passes/unroll_distinct.c) */
  int64_t room, room_first, room_padded;
  arena arena; /* of the request */
} unrolled_graph;

void weft__unrolled_graph_destroy(unrolled_graph *u); /* NULL is allowed */

#endif
