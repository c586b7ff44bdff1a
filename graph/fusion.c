/* fusion.c - the forms of updates, and functions that fused kernels share. */
#include "graph/fusion.h"

#include "base/alloc.h"

const update_form weft__update_add = {.combine = "Add", .change = 1};
const update_form weft__update_sub = {.combine = "Sub", .change = 1};
const update_form weft__update_descend = {.combine = "Sub", .change = 2, .factor = 1};

kernel weft__fused_first(const kernel *k, const fused_node *first, int from) {
  kernel one = *k;
  one.node = first->node, one.op = first->op, one.state = first->state;
  one.in = k->in + from, one.n_in = first->n_in;
  return one;
}

void weft__fused_node_finish(fused_node *first) {
  if (first->op->unprepare) first->op->unprepare(first->state);
}

void weft__fused_update_unprepare(void *state) {
  fused_update *f = state;
  weft__fused_node_finish(&f->first);
  if (f->update->unprepare) f->update->unprepare(f->update_state);
  weft__free(f);
}
