/* plan.c - helpers of the passes: which inputs take references, removing and reordering the items of a plan, and
 * removing control edges that values imply. */
#include "exec/plan.h"

#include "base/alloc.h"

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

weft_err weft__plan_reorder(plan *p, const int *order, int *to) {
  plan_item *item = weft__arena_alloc(&p->arena, sizeof *item * (size_t)(p->n_item + 1));
  if (!item) return WEFT_OOM;
  for (int i = 0; i < p->n_item; i++) item[i] = p->item[order[i]], to[order[i]] = i;
  for (int i = 0; i < p->n_item; i++)
    for (int j = 0; j < item[i].n_control; j++) item[i].control[j] = to[item[i].control[j]];
  for (int s = 0; s < p->n_slot; s++)
    if (p->slot_item[s] >= 0) p->slot_item[s] = to[p->slot_item[s]];
  p->item = item;
  return WEFT_OK;
}

/* ---- control edges that values imply ---- */

typedef struct ancestors { /* a search for the items that an item's values come from */
  const plan *p;
  int *seen, *todo; /* per item: the last item whose search found it; a stack */
  int64_t left;     /* inputs that may still be looked at, in all searches together */
} ancestors;

/* Finds the items from `first` on that the values of item i come from. */
static void ancestors_find(ancestors *a, int i, int first) {
  int depth = 0;
  a->todo[depth++] = i;
  while (depth > 0) {
    const plan_item *it = &a->p->item[a->todo[--depth]];
    a->left -= it->n_in;
    for (int j = 0; j < it->n_in; j++) {
      const int from = a->p->slot_item[it->in[j].slot];
      if (from < first || a->seen[from] == i) continue;
      a->seen[from] = i;
      a->todo[depth++] = from;
    }
  }
}

static void drop_implied(ancestors *a, int i) {
  plan_item *it = &a->p->item[i];
  int first = i, n = 0;
  for (int j = 0; j < it->n_control; j++)
    if (it->control[j] < first) first = it->control[j];
  ancestors_find(a, i, first);
  for (int j = 0; j < it->n_control; j++)
    if (a->seen[it->control[j]] != i) it->control[n++] = it->control[j];
  it->n_control = n;
}

weft_err weft__plan_drop_implied_controls(plan *p) {
  enum { MOST_INPUTS = 20000000 }; /* about 100 ms */
  const size_t items = (size_t)p->n_item + 1;
  ancestors a = {p, weft__alloc(items * sizeof(int)), weft__alloc(items * sizeof(int)), MOST_INPUTS};
  const weft_err err = a.seen && a.todo ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < p->n_item && !err; i++) a.seen[i] = -1;
  for (int i = 0; i < p->n_item && !err && a.left > 0; i++)
    if (p->item[i].n_control) drop_implied(&a, i);
  weft__free(a.seen);
  weft__free(a.todo);
  return err;
}
