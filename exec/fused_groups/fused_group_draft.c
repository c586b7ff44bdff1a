/* fused_group_draft.c - makes the state of a group's kernel from its members.
 *
 * A value that was computed earlier by a cheap op, such as 1 + tanh(x) in the gradient of a gelu, is computed again
 * where that takes no more memory than reading it.  Then the earlier kernel often need not write it. */
#include "exec/fused_groups/fused_group_draft.h"

#include "exec/fused_groups/fused_group_moves.h"
#include "exec/fused_groups/fused_group_rows.h"
#include "exec/passes/round_operands.h"

const fusion *weft__fusion_declared(const plan_item *it) {
  static const fusion none = {0};
  return it->op == it->node->op ? weft__fuse_fusion_of(it) : &none;
}

bool weft__draft_is_small(const draft *d) { return weft__shape_count(d->shape) <= SMALL; }

int weft__draft_member(const draft *d, int item) {
  for (int m = 0; m < d->n_member; m++)
    if (d->member[m] == item) return m;
  return -1;
}

bool weft__draft_joins(const draft *d, int item) {
  bool is = false;
  for (int i = 0; i < d->n_join; i++) is = is || d->join[i] == item;
  return is;
}

bool weft__draft_updates(const draft *d, int item) {
  bool is = false;
  for (int i = 0; i < d->n_update; i++) is = is || d->update[i] == item;
  return is;
}

static weft_dtype input_type(const weft_node *n, int j) { return weft__dtype_base(weft__out_type(n->graph, n->in[j])); }

weft_dtype weft__fused_group_member_type(const plan_item *it) {
  const weft_node *n = it->node;
  const weft_dtype plain = weft__step_type(it);
  if (plain != WEFT_INVALID || it->op != n->op || it->n_out != 1 || n->n_in < 2 || n->n_in > 3) return plain;
  const weft_dtype t = input_type(n, n->n_in - 1), out = weft__dtype_base(n->out_type[0]);
  if (t != WEFT_FLOAT && t != WEFT_DOUBLE && t != WEFT_HALF && t != WEFT_BFLOAT16) return WEFT_INVALID;
  if (n->n_in == 2) return out == WEFT_BOOL && input_type(n, 0) == t ? t : WEFT_INVALID;
  return out == t && input_type(n, 0) == WEFT_BOOL && input_type(n, 1) == t ? t : WEFT_INVALID;
}

/* Stores the step of a comparison or a choice. */
static bool choice_step(const plan_item *it, fused_step *s) {
  const weft_node *n = it->node;
  const weft_dtype t = weft__fused_group_member_type(it);
  if (t == WEFT_INVALID || t == weft__step_type(it) || it->n_in != n->n_in || it->in[0].wants_ref) return false;
  if (!it->op->elem) return false;
  return weft__step_named(it, n->op_name, it->op, n->n_in, t, s);
}

bool weft__fused_group_member_step(const plan_item *it, fused_step *s) {
  if (weft__step_of(it, s) || choice_step(it, s)) return true;
  const weft_dtype t = weft__step_type(it);
  if (it->op != it->node->op || !weft__node_is(it->node, KIND_SUM) || it->n_in < 2) return false;
  return (t == WEFT_FLOAT || t == WEFT_DOUBLE) &&
         weft__step_named(it, "Add", weft__op_find(it->node->graph->ops, "Add"), 2, t, s);
}

/* ---- what a draft reads -------------------------------------------------------------------------- */

/* Describes rows of `columns` elements of a part, which is whole along all axes but one. */
static bool part_view(const shape *whole, const tensor_part *part, gpu_view *v) {
  const int last = whole->rank - 1;
  if (!weft__shape_known(whole) || (part->axis != last && part->axis != 0)) return false;
  if (weft__shape_count(whole) > INT32_MAX) return false; /* the kernel computes offsets in 32 bits */
  const int64_t inner = weft__shape_product(whole, 1, whole->rank);
  *v = (gpu_view){0, part->axis == last ? part->begin : part->begin * inner, whole->dim[last], 1};
  return true;
}

static bool is_same_view(const gpu_view *a, const gpu_view *b) {
  bool same = a->first == b->first && a->row == b->row && a->column == b->column && a->rank == b->rank;
  for (int i = 0; i < a->rank && same; i++) same = a->dim[i] == b->dim[i] && a->step[i] == b->step[i];
  return same;
}

static bool add_view(draft *d, const plan_input *in, gpu_view v, int *operand) {
  gpu_group *g = &d->b.gpu;
  for (v.tensor = 0; v.tensor < d->n_in && d->in[v.tensor].slot != in->slot;) v.tensor++;
  if (v.tensor == GPU_GROUP_IN) return false;
  if (v.tensor == d->n_in) d->in[d->n_in++] = *in;
  for (int i = 0; i < g->n_in; i++) {
    const gpu_view *w = &g->in[i];
    *operand = i;
    if (w->tensor == v.tensor && is_same_view(w, &v)) return true;
  }
  if (g->n_in == GPU_GROUP_IN) return false;
  *operand = g->n_in;
  g->in[g->n_in++] = v;
  return true;
}

static bool add_step(draft *d, const fused_step *s) {
  gpu_group *g = &d->b.gpu;
  if (g->n_step == GPU_GROUP_STEPS) return false;
  d->b.loop[g->n_step] = s->loop;
  g->step[g->n_step++] =
      (gpu_step){(uint8_t)s->function, (int8_t)s->n_in, {(int8_t)s->arg[0], (int8_t)s->arg[1], (int8_t)s->arg[2]}};
  return true;
}

/* Finds how an operand of shape s goes along with results of shape `whole`, of which the view `v` is computed. */
static bool operand_view(const shape *s, const shape *whole, const gpu_view *v, gpu_view *out) {
  if (!weft__shape_known(s)) return false;
  *out = *v;
  if (weft__shape_equal(s, whole)) return true;
  const int64_t n = weft__shape_count(s), columns = whole->dim[whole->rank - 1];
  *out = (gpu_view){0, 0, 0, 0};
  if (n == 1) return true;
  if (s->rank == whole->rank && n * columns == weft__shape_count(whole) && s->dim[s->rank - 1] == 1) { /* a column */
    *out = (gpu_view){0, v->first / columns, 1, 0};
    return columns > 1;
  }
  const int64_t begin = v->first < columns ? v->first : 0; /* of a part along the last axis */
  *out = (gpu_view){0, begin, 0, 1};
  return s->rank >= 1 && s->rank <= whole->rank && n == columns && s->dim[s->rank - 1] == columns;
}

bool weft__fused_group_reads_late(const grouper *b, int item, int root) {
  const plan_item *it = &b->p->item[item];
  for (int j = 0; j < it->n_in; j++)
    if (it->in[j].from_ref && weft__fuse_writes_between(b->p, item, &b->p->item[root], it->in[j].slot)) return false;
  return true;
}

int weft__fused_group_reader_count(const grouper *b, int slot) {
  return b->first_reader[slot + 1] - b->first_reader[slot];
}

/* Returns true if only members read what the item makes. */
static bool only_members_read(const grouper *b, const draft *d, const plan_item *it) {
  for (int s = it->first_out; s < it->first_out + it->n_out; s++) {
    if (b->fetched[s]) return false;
    for (int r = b->first_reader[s]; r < b->first_reader[s + 1]; r++)
      if (b->reader[r] >= 0 && weft__draft_member(d, b->reader[r]) < 0) return false;
  }
  return true;
}

/* Computes a part of what item `from` makes, which only a split reads, in place of reading it.  Returns false if it
 * cannot be computed; *full if there was no room for it. */
static bool compute_part(const grouper *b, draft *d, int from, const gpu_view *v, int *operand, bool *full) {
  const plan_item *it = from < 0 ? NULL : &b->p->item[from];
  fused_step s;
  gpu_view view[2];
  if (!it || b->gone[from] || b->waiter[from] <= d->root || it->device != b->p->item[d->root].device) return false;
  if (b->fetched[it->first_out] || weft__fused_group_reader_count(b, it->first_out) != 1 || !weft__step_of(it, &s))
    return false;
  if (!weft__fused_group_reads_late(b, from, d->root)) return false;
  for (int j = 0; j < it->n_in; j++)
    if (!operand_view(weft__out_shape(it->node->graph, it->node->in[j]), &it->node->out_shape[0], v, &view[j]))
      return false;
  *full = d->n_maker == GPU_GROUP_STEPS;
  for (int j = 0; j < it->n_in && !*full; j++) *full = !add_view(d, &it->in[j], view[j], &s.arg[j]);
  if (!*full) *full = !add_step(d, &s);
  if (*full) return false;
  *operand = -d->b.gpu.n_step;
  bool known = false;
  for (int m = 0; m < d->n_maker; m++) known = known || d->maker[m] == from;
  if (!known) d->maker[d->n_maker++] = from;
  return true;
}

/* Reads input j of a member.  *found: it is a part of another tensor, and is read there. */
static bool group_draft_add_part(const grouper *b, draft *d, const plan_item *it, int j, int *operand, bool *found) {
  const int maker = b->p->slot_item[it->in[j].slot];
  tensor_part part;
  gpu_view v;
  *found = false;
  if (maker < 0 || b->gone[maker] || it->in[j].from_ref) return true;
  const plan_item *q = &b->p->item[maker];
  const fusion *f = weft__fusion_declared(q);
  const int out = it->in[j].slot - q->first_out;
  if (!f->part || q->device != it->device || !weft__shape_equal(&q->node->out_shape[out], d->shape)) return true;
  if (!f->part(q->node, out, &part) || q->in[part.of].from_ref) return true;
  if (!part_view(weft__out_shape(q->node->graph, q->node->in[part.of]), &part, &v)) return true;
  *found = true;
  d->n_view++;
  bool full = false;
  const bool split = part.axis == d->shape->rank - 1 && only_members_read(b, d, q);
  if (!split || !compute_part(b, d, b->p->slot_item[q->in[part.of].slot], &v, operand, &full))
    return !full && add_view(d, &q->in[part.of], v, operand);
  d->part[d->n_part] = it->in[j].slot; /* a part is a step, so there is room */
  d->operand[d->n_part++] = *operand;
  return true;
}

/* Reads the value that an item only repeats to fill the shape.  *found: there is such an item. */
static bool add_repeated(const grouper *b, draft *d, const plan_item *it, int j, int *operand, bool *found) {
  const int maker = b->p->slot_item[it->in[j].slot];
  const gpu_view same = {0, 0, d->shape->dim[d->shape->rank - 1], 1};
  gpu_view v;
  *found = false;
  if (maker < 0 || b->gone[maker] || it->in[j].from_ref) return true;
  const plan_item *q = &b->p->item[maker];
  if (weft__fusion_declared(q)->role != ROLE_REPEAT || q->device != it->device || q->in[0].from_ref) return true;
  if (!weft__shape_equal(&q->node->out_shape[0], d->shape)) return true;
  if (!operand_view(weft__out_shape(q->node->graph, q->node->in[0]), d->shape, &same, &v)) return true;
  *found = true;
  return add_view(d, &q->in[0], v, operand);
}

/* ---- computing again ------------------------------------------------------------------------------ */

static bool draft_has(const grouper *b, const draft *d, int slot) {
  for (int i = 0; i < d->n_part; i++)
    if (d->part[i] == slot) return true;
  return weft__draft_member(d, b->p->slot_item[slot]) >= 0;
}

/* Returns true if a member reads the slot. */
static bool draft_reads(const grouper *b, const draft *d, int slot) {
  for (int r = b->first_reader[slot]; r < b->first_reader[slot + 1]; r++)
    if (b->reader[r] >= 0 && weft__draft_member(d, b->reader[r]) >= 0) return true;
  return false;
}

/* Returns true if all readers of the slot but the members are elementwise: they may become one kernel with its maker,
 * which then need not write it. */
static bool readers_may_join(const grouper *b, const draft *d, int slot) {
  fused_step s;
  if (b->fetched[slot]) return false;
  for (int r = b->first_reader[slot]; r < b->first_reader[slot + 1]; r++) {
    const plan_item *it = b->reader[r] < 0 ? NULL : &b->p->item[b->reader[r]];
    if (!it || weft__draft_member(d, b->reader[r]) >= 0) continue;
    if (b->gone[b->reader[r]] || !weft__fused_group_member_step(it, &s) ||
        !weft__shape_equal(&it->node->out_shape[0], d->shape))
      return false;
  }
  return true;
}

/* Returns true if the item squares or cubes: it does not take the time of other powers. */
static bool is_small_power(const plan_item *it) {
  if (weft__fusion_declared(it)->role != ROLE_POWER) return false;
  const weft_node *exponent = it->node->graph->node[it->node->in[1].node];
  const attr *a = weft__node_is(exponent, KIND_CONST) ? weft__node_attr(exponent, "value") : NULL;
  if (!a || weft__tensor_count(a->tensor) != 1) return false;
  const double y = weft__tensor_double(a->tensor, 0);
  return y == 2 || y == 3;
}

/* Returns true if computing the item again may take less time than reading its result.  *costly: if no other tensor is
 * read. */
static bool is_cheap(const draft *d, const plan_item *it, bool *costly) {
  if (is_small_power(it)) return true;
  if (!it->op->elem) return false;
  if (it->op->elem->cost <= COST_CHEAP) return true;
  *costly = true;
  return it->op->elem->cost <= COST_VECTOR && weft__draft_compiles(d);
}

/* A value that members may compute again: the one more tensor of their size that they would read for that, or -1, and
 * whether ops are computed again that are worth it only without that tensor. */
typedef struct repeat {
  int leaf;
  bool costly;
} repeat;

static bool may_repeat(const grouper *b, const draft *d, int slot, int depth, repeat *r) {
  const int maker = b->p->slot_item[slot];
  const plan_item *it = maker < 0 ? NULL : &b->p->item[maker];
  const gpu_view same = {0, 0, d->shape->dim[d->shape->rank - 1], 1};
  fused_step s;
  gpu_view v;
  if (!it || depth == MAX_DEPTH || b->gone[maker] || maker > d->root || it->device != b->p->item[d->root].device)
    return false;
  if (weft__step_type(it) != d->type || !weft__shape_equal(&it->node->out_shape[0], d->shape)) return false;
  if (!weft__step_of(it, &s) || !is_cheap(d, it, &r->costly)) return false;
  if (!weft__fused_group_reads_late(b, maker, d->root)) return false;
  for (int j = 0; j < it->n_in; j++) {
    const int from = it->in[j].slot;
    const shape *of = weft__out_shape(it->node->graph, it->node->in[j]);
    if (!operand_view(of, d->shape, &same, &v)) return false;
    if (!weft__shape_equal(of, d->shape) || draft_has(b, d, from)) continue;
    if (it->in[j].from_ref) return false;
    if (draft_reads(b, d, from) || may_repeat(b, d, from, depth + 1, r)) continue;
    if (r->leaf >= 0 && r->leaf != from) return false;
    r->leaf = from;
  }
  return true;
}

static bool add_operand(const grouper *b, draft *d, const plan_item *it, int j, int *operand);

/* Computes input j of an item again.  *found: it is worth that. */
static bool add_again(const grouper *b, draft *d, const plan_item *it, int j, int *operand, bool *found) {
  const int slot = it->in[j].slot;
  repeat r = {-1, false};
  *found = !it->in[j].from_ref && d->b.gpu.n_step < GPU_GROUP_STEPS / 2 && may_repeat(b, d, slot, 0, &r) &&
           (r.leaf < 0 || (!r.costly && readers_may_join(b, d, slot)));
  if (!*found) return true;
  const plan_item *maker = &b->p->item[b->p->slot_item[slot]];
  fused_step s;
  if (!weft__step_of(maker, &s)) return false;
  for (int i = 0; i < maker->n_in; i++)
    if (!add_operand(b, d, maker, i, &s.arg[i])) return false;
  if (!add_step(d, &s)) return false;
  *operand = -d->b.gpu.n_step;
  d->again[d->n_again++] = d->part[d->n_part] = slot; /* each is a step, so there is room */
  d->operand[d->n_part++] = *operand;
  return true;
}

/* Returns true if input j of an item, which a member makes, is seen by the item as the rows see it. */
static bool fits_rows(const draft *d, const plan_item *it, int j) {
  if (weft__plan_is_rounding(it)) return true; /* of the draft's shape */
  const shape *s = weft__out_shape(it->node->graph, it->node->in[j]), *out = &it->node->out_shape[0];
  return weft__shape_equal(s, d->shape) || weft__shape_equal(s, out) || weft__fused_group_is_column(out, d->shape) ||
         s->rank == d->shape->rank;
}

/* Reads an operand of an item that computes one number per row, or of one that repeats or reshapes such numbers. */
static bool add_column(draft *d, const plan_item *it, int j, int *operand) {
  const shape *s = weft__out_shape(it->node->graph, it->node->in[j]);
  gpu_view v = {.row = weft__shape_count(s) == 1 ? 0 : 1};
  if (input_type(it->node, j) == WEFT_BOOL) v.kind = VIEW_BOOL;
  return add_view(d, &it->in[j], v, operand);
}

/* Returns the shape of input j as it broadcasts with the others. */
static shape operand_shape(const plan_item *it, int j) {
  const shape *given = weft__out_shape(it->node->graph, it->node->in[j]), *out = &it->node->out_shape[0];
  if (j > 0 || given->rank != 1 || !weft__fuse_fusion_of(it)->first_by_row) return *given;
  shape column = {.rank = out->rank, .dim = {given->dim[0]}};
  for (int i = 1; i < out->rank; i++) column.dim[i] = 1;
  return column;
}

static bool add_operand(const grouper *b, draft *d, const plan_item *it, int j, int *operand) {
  const int m = weft__draft_member(d, b->p->slot_item[it->in[j].slot]);
  const gpu_view same = {0, 0, d->shape->dim[d->shape->rank - 1], 1};
  gpu_view v;
  bool found;
  if (m >= 0) {
    *operand = d->value[m];
    return fits_rows(d, it, j);
  }
  if (weft__shape_known(&it->node->out_shape[0]) && weft__fused_group_is_column(&it->node->out_shape[0], d->shape) &&
      !weft__shape_equal(weft__out_shape(it->node->graph, it->node->in[j]), d->shape))
    return add_column(d, it, j, operand);
  for (int i = 0; i < d->n_part; i++) {
    *operand = d->operand[i];
    if (d->part[i] == it->in[j].slot) return true;
  }
  const bool is_bool = input_type(it->node, j) == WEFT_BOOL;
  found = false;
  if (!is_bool && !add_repeated(b, d, it, j, operand, &found)) return false;
  if (!is_bool && !found && weft__draft_is_small(d) && !group_draft_add_part(b, d, it, j, operand, &found))
    return false;
  if (!is_bool && !found && !weft__draft_is_small(d) && !add_again(b, d, it, j, operand, &found)) return false;
  if (found) return true;
  const shape s = operand_shape(it, j);
  if (!operand_view(&s, d->shape, &same, &v) &&
      (!weft__draft_compiles(d) || !weft__fused_group_broadcast_view(&s, d->shape, &v)))
    return false;
  v.kind = is_bool ? VIEW_BOOL : VIEW_PLAIN;
  return add_view(d, &it->in[j], v, operand);
}

/* ---- what a draft writes ------------------------------------------------------------------------- */

static bool group_draft_add_output(draft *d, int slot, const shape *s) {
  gpu_group *g = &d->b.gpu;
  if (g->n_tensor == GPU_GROUP_OUT) return false;
  g->tensor[g->n_tensor] = *s;
  d->slot[g->n_tensor++] = slot;
  return true;
}

static bool add_result(draft *d, gpu_view v, int operand) {
  gpu_group *g = &d->b.gpu;
  if (g->n_out == GPU_GROUP_OUT) return false;
  v.tensor = g->n_tensor - 1;
  g->result[g->n_out] = (int8_t)operand;
  g->out[g->n_out++] = v;
  return true;
}

static bool read_outside(const grouper *b, const draft *d, int slot) {
  for (int r = b->first_reader[slot]; r < b->first_reader[slot + 1]; r++)
    if (b->reader[r] >= 0 && weft__draft_member(d, b->reader[r]) < 0 && !weft__draft_joins(d, b->reader[r]) &&
        !weft__draft_updates(d, b->reader[r]))
      return true;
  return b->fetched[slot];
}

/* Lets a result be written as bfloat16, and in another order if it was transposed before. */
static bool add_rounded(const grouper *b, draft *d, const plan_item *it) {
  gpu_view v = {.row = d->b.gpu.columns, .column = 1};
  int slot = it->in[0].slot;
  const int maker = b->p->slot_item[slot];
  if (weft__draft_joins(d, maker) && weft__writes_moved(b->p, &b->p->item[maker], &v))
    slot = b->p->item[maker].in[0].slot;
  v.kind = VIEW_BF16;
  const int m = weft__moved_member(b->p, d, slot);
  return m >= 0 && group_draft_add_output(d, it->first_out, &it->node->out_shape[0]) && add_result(d, v, d->value[m]);
}

/* Lets a result be written in the order of a Transpose; not if only members that round it read that. */
static bool add_moved(const grouper *b, draft *d, const plan_item *it) {
  gpu_view v;
  const int m = weft__moved_member(b->p, d, it->in[0].slot);
  if (m < 0 || !weft__writes_moved(b->p, it, &v)) return false;
  if (!read_outside(b, d, it->first_out)) return true;
  return group_draft_add_output(d, it->first_out, &it->node->out_shape[0]) && add_result(d, v, d->value[m]);
}

/* What an item joins is written to its place in the item's output. */
static bool add_joined(const grouper *b, draft *d, int item) {
  const plan_item *it = &b->p->item[item];
  const shape *whole = &it->node->out_shape[0];
  tensor_part part;
  gpu_view v;
  if (weft__plan_is_rounding(it)) return add_rounded(b, d, it);
  if (weft__fusion_declared(it)->role == ROLE_TRANSPOSE) return add_moved(b, d, it);
  if (weft__fusion_declared(it)->rows == ROWS_SAME) return true; /* what reads it joins too */
  if (!group_draft_add_output(d, it->first_out, whole)) return false;
  const int tensor = d->b.gpu.n_tensor;
  for (int j = 0; j < it->n_in; j++) {
    int operand;
    if (!weft__fusion_declared(it)->joins(it->node, j, &part)) continue;
    if (!part_view(whole, &part, &v) || !add_operand(b, d, it, j, &operand) || !add_result(d, v, operand)) return false;
  }
  return tensor == d->b.gpu.n_tensor;
}

/* Lets a result be written over the variable that the item assigns it to.  All views of the variable must be of the
 * element that is written. */
static bool add_updated(const grouper *b, draft *d, int item) {
  gpu_group *g = &d->b.gpu;
  const plan_item *it = &b->p->item[item];
  const gpu_view all = {0, 0, g->columns, 1};
  int operand, at = 0;
  while (at < d->n_in && d->in[at].slot != it->in[0].slot) at++;
  if (at == d->n_in || g->n_out == GPU_GROUP_OUT || !add_operand(b, d, it, 1, &operand)) return false;
  for (int i = 0; i < g->n_in; i++)
    if (g->in[i].tensor == at && (g->in[i].first || g->in[i].row != all.row || g->in[i].column != 1)) return false;
  d->in[at].wants_ref = true;
  g->result[g->n_out] = (int8_t)operand;
  g->out[g->n_out] = all;
  g->out[g->n_out++].tensor = -1 - at;
  return true;
}

/* Adds the steps of member m. */
static bool add_member(const grouper *b, draft *d, int m) {
  const plan_item *it = &b->p->item[d->member[m]];
  fused_step s;
  const member_kind kind = weft__fused_group_member_kind(d, it, &s);
  gpu_view v;
  if (kind == MEMBER_MOVED)
    return weft__draft_member(d, b->p->slot_item[it->in[0].slot]) < 0 && weft__reads_moved(d, it, &v) &&
           add_view(d, &it->in[0], v, &d->value[m]);
  if (kind == MEMBER_NOT || !add_operand(b, d, it, 0, kind == MEMBER_SAME ? &d->value[m] : &s.arg[0])) return false;
  if (kind == MEMBER_SAME) return true;
  if (kind == MEMBER_ROW) d->b.gpu.by_rows = true;
  if ((it->n_in == 1 || kind == MEMBER_ROW) && !add_step(d, &s)) return false;
  d->value[m] = -d->b.gpu.n_step;
  if (kind == MEMBER_ROW) return true;
  if (s.n_in == 3) {
    for (int j = 1; j < 3; j++)
      if (!add_operand(b, d, it, j, &s.arg[j])) return false;
    if (!add_step(d, &s)) return false;
  }
  for (int j = 1; j < it->n_in && s.n_in < 3; j++) {
    if (!add_operand(b, d, it, j, &s.arg[1]) || !add_step(d, &s)) return false;
    s.arg[0] = -d->b.gpu.n_step;
  }
  d->value[m] = -d->b.gpu.n_step;
  return true;
}

bool weft__draft_build(const grouper *b, draft *d) {
  gpu_group *g = &d->b.gpu;
  const gpu_view all = {0, 0, d->shape->dim[d->shape->rank - 1], 1};
  d->b = (fused_group){.gpu = {.type = d->type, .columns = all.row}};
  g->rows = weft__shape_count(d->shape) / all.row;
  d->n_in = d->n_maker = d->n_part = d->n_again = d->n_view = 0;
  for (int m = 0; m < d->n_member; m++)
    if (!add_member(b, d, m)) return false;
  for (int m = 0; m < d->n_member; m++) {
    const plan_item *it = &b->p->item[d->member[m]];
    gpu_view v = all;
    if (weft__dtype_base(it->node->out_type[0]) == WEFT_BOOL) v.kind = VIEW_BOOL;
    if (!read_outside(b, d, it->first_out)) continue;
    const shape *s = &it->node->out_shape[0];
    if (!weft__shape_equal(s, d->shape)) { /* one number per row, which only kernels of whole rows write as one */
      v.row = 1, v.column = 0;
      g->by_rows = true;
    }
    if (!group_draft_add_output(d, it->first_out, s) || !add_result(d, v, d->value[m])) return false;
  }
  for (int i = 0; i < d->n_join; i++)
    if (!add_joined(b, d, d->join[i])) return false;
  for (int i = 0; i < d->n_update; i++)
    if (!add_updated(b, d, d->update[i])) return false;
  return true;
}
