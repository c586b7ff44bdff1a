/* fused_group.c - finds groups of elementwise items of a GPU that can be one kernel with several results.
 *
 * Tensors of any size are grouped if their kernels can be compiled (kernels/elementwise/formula.cuh), and small ones
 * always, because their launches take longer than the work.
 *
 * A group runs in the place of its last item, the root.  So an item can join if all readers of its output are members
 * or come behind the root.  Then no value can leave the group and come back into it.
 *
 * An assignment of a result to a variable that the group reads element by element joins too: the result is written
 * over the variable's old value, and not copied there. */
#include "exec/fused_groups/fused_group.h"

#include "base/alloc.h"
#include "exec/fused_groups/fused_group_draft.h"
#include "exec/fused_groups/fused_group_moves.h"
#include "exec/fused_groups/fused_group_rows.h"
#include "exec/passes/round_operands.h"
#include "kernels/gpu/gpu_host.h"

/* ---- forming ------------------------------------------------------------------------------------- */

/* Returns true if an update of a variable reads the slot: a chain with the update at its end is better. */
static bool updates_with(const plan_item *it, int slot) {
  const update_form *u = weft__fusion_declared(it)->updates;
  return u && it->in[u->change].slot == slot;
}

/* Returns true if item j may be a member: it works element by element or row by row on the draft's shape, and nothing
 * needs its output before the root has run. */
static bool may_join(const grouper *b, const draft *d, int j) {
  const plan_item *it = &b->p->item[j];
  fused_step s;
  if (b->gone[j] || it->device != b->p->item[d->root].device || b->waiter[j] <= d->root) return false;
  if (it->n_out != 1 || weft__fused_group_member_kind(d, it, &s) == MEMBER_NOT ||
      !weft__fused_group_reads_late(b, j, d->root))
    return false;
  for (int r = b->first_reader[it->first_out]; r < b->first_reader[it->first_out + 1]; r++) {
    const int reader = b->reader[r];
    if (reader < 0) continue;
    if (weft__draft_member(d, reader) < 0 && !weft__draft_joins(d, reader) && b->home[reader] <= d->root) return false;
    if (updates_with(&b->p->item[reader], it->first_out)) return false;
  }
  return true;
}

static void draft_insert(draft *d, int item) {
  int at = d->n_member++;
  for (; at > 0 && d->member[at - 1] > item; at--) d->member[at] = d->member[at - 1];
  d->member[at] = item;
}

static bool join_at(grouper *b, draft *d, int item, int depth);

/* Makes members of the item's readers in front of the root: the item can only join together with them. */
static bool join_readers(grouper *b, draft *d, int item, int depth) {
  const int slot = b->p->item[item].first_out;
  bool any = false;
  for (int r = b->first_reader[slot]; r < b->first_reader[slot + 1] && depth < MAX_DEPTH; r++)
    if (b->reader[r] >= 0 && b->reader[r] < d->root && join_at(b, d, b->reader[r], depth + 1)) any = true;
  return any;
}

/* Makes the item a member if it fits. */
static bool join_at(grouper *b, draft *d, int item, int depth) {
  fused_step s;
  if (item < 0 || item > d->root || b->refused[item] == d->root || weft__draft_member(d, item) >= 0) return false;
  if (b->gone[item] || b->p->item[item].n_out != 1 ||
      weft__fused_group_member_kind(d, &b->p->item[item], &s) == MEMBER_NOT)
    return false;
  if (!may_join(b, d, item) && (!join_readers(b, d, item, depth) || !may_join(b, d, item))) return false;
  if (d->n_member == GPU_GROUP_STEPS) return false;
  const draft before = *d;
  draft_insert(d, item);
  if (weft__draft_build(b, d)) return true;
  *d = before;
  b->refused[item] = d->root;
  return false;
}

static bool try_join(grouper *b, draft *d, int item) { return join_at(b, d, item, 0); }

/* Returns true if the item joins values of the draft's shape that are there when the root runs. */
static bool may_add_join(const grouper *b, const draft *d, int item) {
  const plan_item *it = &b->p->item[item];
  const fusion *f = weft__fusion_declared(it);
  tensor_part part;
  if (!f->joins || b->gone[item] || it->n_out != 1 || it->device != b->p->item[d->root].device) return false;
  if (weft__dtype_base(it->node->out_type[0]) != d->type) return false;
  for (int j = 0; j < it->n_control; j++)
    if (b->home[it->control[j]] >= d->root) return false;
  for (int j = 0; j < it->n_in; j++) {
    if (!f->joins(it->node, j, &part)) continue;
    const int maker = b->p->slot_item[it->in[j].slot];
    if (it->in[j].from_ref || !weft__shape_equal(weft__out_shape(it->node->graph, it->node->in[j]), d->shape))
      return false;
    if (maker >= 0 && weft__draft_member(d, maker) < 0 && b->home[maker] >= d->root) return false;
  }
  return true;
}

/* Returns true if the item rounds what a member makes. */
static bool may_add_rounding(const grouper *b, const draft *d, int item) {
  const plan_item *it = &b->p->item[item];
  const int maker = b->p->slot_item[it->in[0].slot];
  return !b->gone[item] && it->device == b->p->item[d->root].device && d->type == WEFT_FLOAT && maker >= 0 &&
         weft__draft_member(d, maker) >= 0 && weft__shape_equal(&b->p->item[maker].node->out_shape[0], d->shape);
}

/* Lets the group write the output of an item that joins what a member makes with values that are there already, or
 * rounds it. */
static bool try_add_join(grouper *b, draft *d, int item) {
  const bool rounds = weft__plan_is_rounding(&b->p->item[item > 0 ? item : 0]);
  if (item <= d->root || d->n_join == MAX_JOINS || b->refused[item] == d->root || weft__draft_joins(d, item))
    return false;
  if (weft__try_add_move(b, d, item)) return true;
  if (!rounds && (!weft__draft_is_small(d) || !weft__fusion_declared(&b->p->item[item])->joins)) return false;
  const draft before = *d;
  if (rounds ? may_add_rounding(b, d, item) : may_add_join(b, d, item)) {
    d->join[d->n_join++] = item;
    if (weft__draft_build(b, d)) return true;
    *d = before;
  }
  b->refused[item] = d->root;
  return false;
}

/* Returns true if an item between two others uses the variable of `slot`, or one that is not known. */
static bool uses_between(const plan *p, int from, int to, int slot) {
  for (int i = from + 1; i < to; i++)
    for (int j = 0; j < p->item[i].n_in; j++) {
      const plan_input *in = &p->item[i].in[j];
      const int maker = p->slot_item[in->slot];
      if (in->from_ref && (in->slot == slot || maker < 0 || !(p->item[maker].op->flags & OP_ONCE))) return true;
    }
  return weft__fuse_writes_between(p, from, &p->item[to], slot);
}

/* Returns true if the item only gives a member's result to a variable, and can do so when the root runs. */
static bool may_add_update(const grouper *b, const draft *d, int item) {
  const plan *p = b->p;
  const plan_item *it = &p->item[item];
  if (weft__fusion_declared(it)->role != ROLE_ASSIGN || b->gone[item] || it->device != p->item[d->root].device)
    return false;
  if (!it->in[0].wants_ref || !it->in[0].from_ref || it->in[1].from_ref) return false;
  const int of = p->slot_item[it->in[0].slot], maker = p->slot_item[it->in[1].slot];
  if (of < 0 || !(p->item[of].op->flags & OP_ONCE) || maker < 0 || weft__draft_member(d, maker) < 0) return false;
  if (!weft__shape_equal(weft__out_shape(it->node->graph, it->node->in[0]), d->shape)) return false;
  if (weft__dtype_base(p->item[maker].node->out_type[0]) != d->type) return false;
  if (!weft__shape_equal(&p->item[maker].node->out_shape[0], d->shape)) return false;
  if (it->n_out != 1 || b->fetched[it->first_out] || weft__fused_group_reader_count(b, it->first_out)) return false;
  for (int j = 0; j < it->n_control; j++)
    if (b->home[it->control[j]] >= d->root && weft__draft_member(d, it->control[j]) < 0) return false;
  for (int i = 0; i < d->n_update; i++)
    if (p->item[d->update[i]].in[0].slot == it->in[0].slot) return false;
  return !uses_between(p, d->root, item, it->in[0].slot);
}

/* Lets the group write the variable that an item assigns a member's result to. */
static bool try_add_update(grouper *b, draft *d, int item) {
  if (item <= d->root || d->n_update == MAX_UPDATES || b->refused[item] == d->root || weft__draft_updates(d, item))
    return false;
  const draft before = *d;
  if (may_add_update(b, d, item)) {
    d->update[d->n_update++] = item;
    if (weft__draft_build(b, d)) return true;
    *d = before;
  }
  b->refused[item] = d->root;
  return false;
}

/* Adds makers of what the members read and readers of what they make, until no more fit. */
static void draft_grow(grouper *b, draft *d, bool (*add)(grouper *b, draft *d, int item)) {
  for (bool more = true; more;) {
    more = false;
    for (int m = 0; m < d->n_member && !more; m++) {
      const plan_item *it = &b->p->item[d->member[m]];
      for (int j = 0; j < it->n_in && !more; j++) more = add(b, d, b->p->slot_item[it->in[j].slot]);
      for (int r = b->first_reader[it->first_out]; r < b->first_reader[it->first_out + 1] && !more; r++)
        more = add(b, d, b->reader[r]);
    }
  }
}

/* Begins with a root that joins values, of which one at least can become a member. */
static bool draft_begin_join(const grouper *b, draft *d) {
  const plan_item *it = &b->p->item[d->root];
  const fusion *f = weft__fusion_declared(it);
  tensor_part part;
  if (!f->joins || it->n_out != 1 || !f->joins(it->node, 0, &part)) return false;
  d->shape = weft__out_shape(it->node->graph, it->node->in[0]);
  d->type = weft__dtype_base(it->node->out_type[0]);
  if (!weft__shape_known(d->shape) || !weft__draft_is_small(d) || !may_add_join(b, d, d->root)) return false;
  d->join[d->n_join++] = d->root;
  for (int j = 0; j < it->n_in; j++) {
    if (!f->joins(it->node, j, &part)) continue;
    const int maker = b->p->slot_item[it->in[j].slot];
    if (maker < 0 || d->n_member == GPU_GROUP_OUT || weft__draft_member(d, maker) >= 0) continue;
    if (may_join(b, d, maker)) draft_insert(d, maker);
  }
  return d->n_member > 0;
}

/* Begins with a root that works on a matrix of this shape. */
static bool draft_begin_shape(const grouper *b, draft *d, const shape *s) {
  const plan_item *it = &b->p->item[d->root];
  const weft_dtype type = weft__fused_group_member_type(it);
  *d = (draft){.p = b->p,
               .root = d->root,
               .shape = s,
               .type = type == WEFT_INVALID ? weft__dtype_base(it->node->out_type[0]) : type};
  fused_step made;
  if (!weft__shape_known(s) || !may_join(b, d, d->root)) return false;
  const member_kind kind = weft__fused_group_member_kind(d, it, &made);
  return kind != MEMBER_SAME && (kind != MEMBER_MOVED || !weft__is_moved_by_maker(b->p, it));
}

/* Begins with a root that reduces the rows of its input. */
static bool draft_begin_sum(const grouper *b, draft *d) {
  const plan_item *it = &b->p->item[d->root];
  const row_form form = weft__fusion_declared(it)->rows;
  if (form != ROWS_SUM && form != ROWS_MEAN) return false;
  return draft_begin_shape(b, d, weft__out_shape(it->node->graph, it->node->in[0]));
}

static bool draft_begin(const grouper *b, draft *d, int root) {
  const plan_item *it = &b->p->item[root];
  *d = (draft){.p = b->p, .root = root};
  if (!it->device || b->gone[root] || it->n_out != 1) return false;
  if (!draft_begin_join(b, d)) {
    if (!draft_begin_shape(b, d, &it->node->out_shape[0]) && !draft_begin_sum(b, d)) return false;
    draft_insert(d, root);
  }
  const gpu_chains *chains = weft__gpu_chains();
  const int64_t n = weft__shape_count(d->shape), most = chains ? chains->most_elements() : INT32_MAX;
  return d->shape->rank > 0 && n > 0 && n <= most && weft__draft_build(b, d);
}

/* ---- replacing ----------------------------------------------------------------------------------- */

/* Makes the node that the group's item stands for: the root's with other outputs. */
static weft_node *group_node(plan *p, const draft *d) {
  const gpu_group *g = &d->b.gpu;
  weft_node *n = weft__arena_copy(&p->arena, p->item[d->root].node, sizeof *n);
  if (!n) return NULL;
  n->op = &weft__fused_group_op, n->op_name = weft__fused_group_op.def;
  n->n_in = 0, n->in = NULL, n->n_out = g->n_tensor;
  n->out_type = weft__arena_alloc(&p->arena, sizeof *n->out_type * GPU_GROUP_OUT);
  n->out_shape = weft__arena_copy(&p->arena, g->tensor, sizeof g->tensor);
  for (int o = 0; n->out_type && o < g->n_tensor; o++) {
    const plan_item *maker = &p->item[p->slot_item[d->slot[o]]];
    n->out_type[o] = weft__dtype_base(maker->node->out_type[d->slot[o] - maker->first_out]);
  }
  return n->out_type && n->out_shape ? n : NULL;
}

/* The root waits for what its members and the makers of split values waited for. */
static weft_err group_controls(plan *p, const draft *d) {
  int all[2 * GPU_GROUP_STEPS + MAX_JOINS + MAX_UPDATES], n = 0;
  for (int m = 0; m < d->n_member; m++) all[n++] = d->member[m];
  for (int m = 0; m < d->n_maker; m++) all[n++] = d->maker[m];
  for (int i = 0; i < d->n_join; i++) all[n++] = d->join[i];
  for (int i = 0; i < d->n_update; i++) all[n++] = d->update[i];
  return weft__fuse_join_controls(p, &p->item[d->root], n, all);
}

static void item_leaves(grouper *b, int item, int root) {
  plan_item *it = &b->p->item[item];
  if (it->op->unprepare && !it->shares_state) it->op->unprepare(it->state);
  it->shares_state = true; /* the plan must not free it again */
  b->gone[item] = item != root;
  b->home[item] = root;
}

/* Values that are computed again are read no more, and what the group reads must be written.  It may read a value
 * that none of its members reads: the input of an item that only repeats, moves or splits it.  That item may become a
 * member of an earlier group, which would then not write the value. */
static void forget_readers(grouper *b, const draft *d) {
  for (int i = 0; i < d->n_again; i++)
    for (int r = b->first_reader[d->again[i]]; r < b->first_reader[d->again[i] + 1]; r++)
      if (b->reader[r] >= 0 && weft__draft_member(d, b->reader[r]) >= 0) b->reader[r] = -1;
  for (int i = 0; i < d->n_in; i++) b->fetched[d->in[i].slot] = true;
}

static weft_err draft_replace(grouper *b, const draft *d, int *n_slot) {
  plan *p = b->p;
  plan_item *it = &p->item[d->root];
  const gpu_chains *chains = weft__gpu_chains();
  weft_node *node = group_node(p, d);
  plan_input *in = weft__arena_copy(&p->arena, d->in, sizeof *in * (size_t)d->n_in);
  fused_group *state = weft__alloc(sizeof *state);
  weft_err err = node && in && state ? group_controls(p, d) : WEFT_OOM;
  if (err) {
    weft__free(state);
    return err;
  }
  *state = d->b;
  forget_readers(b, d);
  for (int m = 0; m < d->n_member; m++) item_leaves(b, d->member[m], d->root);
  for (int i = 0; i < d->n_join; i++) item_leaves(b, d->join[i], d->root);
  for (int i = 0; i < d->n_update; i++) item_leaves(b, d->update[i], d->root);
  for (int o = 0; o < d->b.gpu.n_tensor; o++) b->renamed[d->slot[o]] = *n_slot + o;
  it->node = node, it->op = &weft__fused_group_op, it->state = state, it->shares_state = false;
  it->run = chains ? chains->run_group : weft__program_simulated;
  it->host_in = it->host_out = 0;
  it->in = in, it->n_in = d->n_in;
  it->first_out = *n_slot, it->n_out = d->b.gpu.n_tensor;
  *n_slot += it->n_out;
  b->n_group++;
  return WEFT_OK;
}

/* ---- the pass ------------------------------------------------------------------------------------ */

static weft_err list_readers(grouper *b) {
  const plan *p = b->p;
  int n = 0;
  for (int i = 0; i < p->n_item; i++)
    for (int j = 0; j < p->item[i].n_in; j++, n++) b->first_reader[p->item[i].in[j].slot + 2]++;
  b->reader = weft__alloc(((size_t)n + 1) * sizeof *b->reader);
  if (!b->reader) return WEFT_OOM;
  for (int i = 0; i < p->n_item; i++) b->home[i] = i, b->refused[i] = -1, b->waiter[i] = p->n_item;
  for (int s = 2; s < p->n_slot + 2; s++) b->first_reader[s] += b->first_reader[s - 1];
  for (int i = 0; i < p->n_item; i++) {
    const plan_item *it = &p->item[i];
    for (int j = 0; j < it->n_in; j++) b->reader[b->first_reader[it->in[j].slot + 1]++] = i;
  }
  for (int i = p->n_item - 1; i >= 0; i--) {
    const plan_item *it = &p->item[i];
    const int waiter = weft__node_is(it->node, KIND_NO_OP) ? b->waiter[i] : i;
    for (int j = 0; j < it->n_control; j++)
      if (b->waiter[it->control[j]] > waiter) b->waiter[it->control[j]] = waiter;
  }
  for (int s = 0; s < p->n_slot; s++) b->renamed[s] = -1;
  for (int i = 0; i < p->n_fetch; i++) b->fetched[p->fetch_slot[i]] = true;
  return WEFT_OK;
}

/* Gives the plan room for the new slots, which are all on the device of the item that makes them. */
static weft_err add_slots(grouper *b, int n_slot) {
  plan *p = b->p;
  int *maker = weft__arena_alloc(&p->arena, sizeof *maker * (size_t)n_slot);
  int *memory = weft__arena_alloc(&p->arena, sizeof *memory * (size_t)n_slot);
  if (!maker || !memory) return WEFT_OOM;
  for (int s = 0; s < p->n_slot; s++) {
    memory[s] = p->slot_memory[s];
    if (b->renamed[s] >= 0) memory[b->renamed[s]] = memory[s];
  }
  p->slot_item = maker, p->slot_memory = memory, p->n_slot = n_slot;
  return WEFT_OK;
}

static void rename_slots(grouper *b, int n_old) {
  plan *p = b->p;
  for (int i = 0; i < p->n_item; i++)
    for (int j = 0; j < p->item[i].n_in && !b->gone[i]; j++) {
      int *slot = &p->item[i].in[j].slot;
      if (*slot < n_old && b->renamed[*slot] >= 0) *slot = b->renamed[*slot];
    }
  for (int i = 0; i < p->n_item; i++) { /* an item that waited for a member waits for the group */
    plan_item *it = &p->item[i];
    const int n = it->n_control;
    it->n_control = 0;
    for (int j = 0; j < n && !b->gone[i];
         j++) { /* a NoOp in front of the group need not: those that wait for it come later */
      const int home = b->home[it->control[j]];
      if (home < i) it->control[it->n_control++] = home;
    }
  }
  for (int i = 0; i < p->n_fetch; i++)
    if (b->renamed[p->fetch_slot[i]] >= 0) p->fetch_slot[i] = b->renamed[p->fetch_slot[i]];
}

/* Drops copies of parts, and what only they read, now that groups read the whole. */
static weft_err drop_unread(grouper *b, const bool *unread_may_go) {
  plan *p = b->p;
  int *uses = weft__alloc_zero((size_t)p->n_slot + 1, sizeof *uses);
  if (!uses) return WEFT_OOM;
  for (int i = 0; i < p->n_item; i++)
    for (int j = 0; j < p->item[i].n_in && !b->gone[i]; j++) uses[p->item[i].in[j].slot]++;
  for (int i = 0; i < p->n_fetch; i++) uses[p->fetch_slot[i]]++;
  for (int i = p->n_item - 1; i >= 0; i--) {
    const plan_item *it = &p->item[i];
    bool read = b->gone[i] || !unread_may_go[i] || (b->waiter[i] < p->n_item && b->home[i] == i);
    for (int o = 0; o < it->n_out && !read; o++) read = uses[it->first_out + o] > 0;
    if (read) continue;
    for (int j = 0; j < it->n_in; j++) uses[it->in[j].slot]--;
    item_leaves(b, i, b->home[i] == i ? -1 : b->home[i]);
  }
  weft__free(uses);
  return WEFT_OK;
}

/* Returns true if a chain would not do as well. */
static bool is_better(const grouper *b, const draft *d) {
  if (d->n_join || d->n_view || d->n_update) return true;
  bool more = d->b.gpu.n_out > 1; /* a chain leaves out what others wait for, and what is read twice */
  for (int m = 0; m < d->n_member; m++) {
    const int slot = b->p->item[d->member[m]].first_out;
    more = more || b->waiter[d->member[m]] < b->p->n_item || weft__fused_group_reader_count(b, slot) > 1;
  }
  return d->n_member > 1 && (more || d->b.gpu.by_rows);
}

static weft_err find_groups(grouper *b, int *n_slot, bool *unread_may_go) {
  for (int i = b->p->n_item - 1; i >= 0; i--) {
    draft d;
    const fusion *f = weft__fusion_declared(&b->p->item[i]);
    if (f->part || f->role == ROLE_REPEAT) unread_may_go[i] = true;
    if (!draft_begin(b, &d, i)) continue;
    draft_grow(b, &d, try_join);
    draft_grow(b, &d, try_add_join);
    draft_grow(b, &d, try_add_update);
    if (!is_better(b, &d)) continue;
    WEFT_TRY(draft_replace(b, &d, n_slot));
    for (int m = 0; m < d.n_maker; m++) unread_may_go[d.maker[m]] = true, b->home[d.maker[m]] = i;
  }
  return WEFT_OK;
}

static weft_err group_items(grouper *b, bool *unread_may_go, int *to) {
  plan *p = b->p;
  const int n_old = p->n_slot;
  int n_slot = p->n_slot;
  WEFT_TRY(list_readers(b));
  weft_err err = find_groups(b, &n_slot, unread_may_go);
  if (b->n_group == 0) return err;
  WEFT_TRY(err);
  WEFT_TRY(add_slots(b, n_slot));
  rename_slots(b, n_old);
  WEFT_TRY(drop_unread(b, unread_may_go));
  weft__plan_remove_items(p, b->gone, to);
  return WEFT_OK;
}

weft_err weft__fuse_groups(plan *p) {
  if (!p->n_device || p->sync_runs < 0) return WEFT_OK;
  const size_t items = (size_t)p->n_item + 1, slots = (size_t)p->n_slot + 3;
  grouper b = {.p = p,
               .first_reader = weft__alloc_zero(slots, sizeof(int)),
               .fetched = weft__alloc_zero(slots, 1),
               .waiter = weft__alloc_zero(items, sizeof(int)),
               .gone = weft__alloc_zero(items, 1),
               .home = weft__alloc_zero(items, sizeof(int)),
               .refused = weft__alloc_zero(items, sizeof(int)),
               .renamed = weft__alloc_zero(slots, sizeof(int))};
  bool *unread_may_go = weft__alloc_zero(items, 1);
  int *to = weft__alloc(items * sizeof *to);
  const bool room = b.first_reader && b.fetched && b.waiter && b.gone && b.home && b.refused && b.renamed;
  const weft_err err = room && unread_may_go && to ? group_items(&b, unread_may_go, to) : WEFT_OOM;
  weft__free(b.first_reader);
  weft__free(b.reader);
  weft__free(b.fetched);
  weft__free(b.waiter);
  weft__free(b.gone);
  weft__free(b.home);
  weft__free(b.refused);
  weft__free(b.renamed);
  weft__free(unread_may_go);
  weft__free(to);
  return err;
}
