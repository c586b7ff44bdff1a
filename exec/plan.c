/* plan.c - helpers of the passes: which inputs take references, and removing items from a plan. */
#include "exec/plan.h"

bool weft__node_takes_ref(const weft_node *n, int input) {
  int first = 0, count;
  for (int i = 0; i < n->op->opdef.n_in; i++) {
    const arg_def *d = &n->op->opdef.in[i];
    if (weft__node_in_range(n, d->name, &first, &count) == WEFT_OK && input >= first && input < first + count)
      return d->is_ref;
  }
  return false;
}

void weft__plan_remove_items(plan *p, const bool *gone, int *to) {
  int n = 0;
  for (int i = 0; i < p->n_item; i++) {
    to[i] = n;
    if (!gone[i]) p->item[n++] = p->item[i];
  }
  p->n_item = n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < p->item[i].n_control; j++) p->item[i].control[j] = to[p->item[i].control[j]];
  for (int s = 0; s < p->n_slot; s++) p->slot_item[s] = -1;
  for (int i = 0; i < n; i++)
    for (int o = 0; o < p->item[i].n_out; o++) p->slot_item[p->item[i].first_out + o] = i;
}
