/* plan.c - what passes ask of a node. */
#include "exec/plan.h"

bool weft__takes_ref(const weft_node *n, int input) {
  int first = 0, count;
  for (int i = 0; i < n->op->opdef.n_in; i++) {
    const arg_def *d = &n->op->opdef.in[i];
    if (weft__node_in_range(n, d->name, &first, &count) == WEFT_OK && input >= first && input < first + count)
      return d->is_ref;
  }
  return false;
}
