/* regroup.c - moves copies of feeds to the front, behind what the host computes from feeds, and holds sums back
 * until an item comes that is not elementwise or needs one. */
#include "exec/passes/regroup.h"

#include "base/alloc.h"
#include "exec/fused_groups/fused_group_rows.h"
#include "exec/passes/copy_insertion.h"

enum { MAX_SHORT = 1 << 16 }; /* elements */

typedef struct regrouper {
  const plan *p;
  bool *early; /* per item: it comes first */
  bool *held;  /* per item: it is held back */
  int *order;  /* the items in their new order */
  int *wait;   /* the items that are held back */
  int n_order, n_wait;
} regrouper;

/* Returns true if the item sums rows: other items that follow it can run first. */
static bool sums_rows(const plan_item *it) {
  const fusion *f = weft__fusion_declared(it);
  const bool sums = f->rows == ROWS_SUM || f->rows == ROWS_MEAN;
  if (!it->device || it->n_out != 1 || it->n_control || (!sums && f->role != ROLE_COLUMNS)) return false;
  for (int j = 0; j < it->n_in; j++)
    if (it->in[j].from_ref) return false;
  const shape *x = weft__out_shape(it->node->graph, it->node->in[0]), *y = &it->node->out_shape[0];
  return weft__shape_known(x) && weft__shape_known(y) && x->rank > 1 && y->rank > 0 &&
         (!sums || !weft__fused_group_is_column(y, x));
}

/* Returns true if a group may have the item, so that sums are held back for it. */
static bool may_group(const plan_item *it) {
  const fusion *f = weft__fusion_declared(it);
  fused_step s;
  return it->device && (weft__fused_group_member_step(it, &s) || f->rows != ROWS_NONE || f->role == ROLE_REPEAT);
}

static bool needs_held(const regrouper *s, const plan_item *it) {
  bool needs = false;
  for (int j = 0; j < it->n_in && !needs; j++) {
    const int maker = s->p->slot_item[it->in[j].slot];
    needs = maker >= 0 && s->held[maker];
  }
  for (int j = 0; j < it->n_control && !needs; j++) needs = s->held[it->control[j]];
  return needs;
}

static void release_held(regrouper *s) {
  for (int i = 0; i < s->n_wait; i++) {
    s->order[s->n_order++] = s->wait[i];
    s->held[s->wait[i]] = false;
  }
  s->n_wait = 0;
}

/* Returns true if the host computes the item from its inputs alone, and its outputs are known to be small together. */
static bool is_short(const plan_item *it) {
  const unsigned pure = OP_INPLACE | OP_SHAPE_ONLY | OP_FORWARDS | OP_TAKES_SLICES; /* computes from its inputs alone */
  if (weft__is_copy_to_host(it) || weft__is_copy_wait(it)) return false;
  if (it->device || it->n_out < 1 || it->n_in < 1 || it->op != it->node->op || it->op->opdef.stateful ||
      (it->op->flags & ~pure))
    return false;
  int64_t count = 0;
  for (int o = 0; o < it->n_out && count <= MAX_SHORT; o++) {
    const shape *s = &it->node->out_shape[o];
    count += weft__shape_known(s) ? weft__shape_count(s) : MAX_SHORT + 1;
  }
  return count <= MAX_SHORT;
}

/* Returns true if the item copies a feed to a device, or what the host quickly computes from feeds, or computes that.
 */
static bool is_early(const regrouper *s, const plan_item *it) {
  if (it->n_control || it->stage || it->n_in < 1 || (!weft__is_copy_to_device(it) && !is_short(it))) return false;
  for (int j = 0; j < it->n_in; j++) {
    const int maker = s->p->slot_item[it->in[j].slot];
    if (it->in[j].from_ref || it->in[j].wants_ref || (maker >= 0 && !s->early[maker])) return false;
  }
  return true;
}

static void regroup_items(regrouper *s) {
  for (int i = 0; i < s->p->n_item; i++) {
    s->early[i] = is_early(s, &s->p->item[i]);
    if (s->early[i] && !weft__is_copy_to_device(&s->p->item[i])) s->order[s->n_order++] = i;
  }
  for (int i = 0; i < s->p->n_item; i++) /* next to each other, so that they are made together */
    if (s->early[i] && weft__is_copy_to_device(&s->p->item[i])) s->order[s->n_order++] = i;
  for (int i = 0; i < s->p->n_item; i++) {
    const plan_item *it = &s->p->item[i];
    if (s->early[i]) continue;
    const bool needs = s->n_wait && (needs_held(s, it) || it->stage != it[-1].stage);
    if (!needs && sums_rows(it)) {
      s->wait[s->n_wait++] = i;
      s->held[i] = true;
      continue;
    }
    if (needs || !may_group(it)) release_held(s);
    s->order[s->n_order++] = i;
  }
  release_held(s);
}

weft_err weft__regroup(plan *p) {
  if (!p->n_device || p->sync_runs < 0) return WEFT_OK;
  const size_t n = (size_t)p->n_item + 1;
  regrouper s = {.p = p,
                 .early = weft__alloc_zero(n, 1),
                 .held = weft__alloc_zero(n, 1),
                 .order = weft__alloc(n * sizeof(int)),
                 .wait = weft__alloc(n * sizeof(int))};
  const bool room = s.early && s.held && s.order && s.wait;
  if (room) regroup_items(&s);
  const weft_err err = room ? weft__plan_reorder(p, s.order, s.wait) : WEFT_OOM;
  weft__free(s.early);
  weft__free(s.held);
  weft__free(s.order);
  weft__free(s.wait);
  return err;
}
