/* fused_group_moves.c - finds transposes around a group and describes them as views. */
#include "exec/fused_groups/fused_group_moves.h"

#include "base/cast.h"
#include "exec/fused_groups/fused_group_rows.h"
#include "exec/passes/round_operands.h"

enum { PACK = 4 };

/* Returns the constant that input j of an item is, if the host can read it; else NULL. */
static const weft_tensor *known_input(const plan *p, const plan_item *it, int j) {
  const int slot = it->in[j].slot;
  for (int i = 0; i < p->n_constant && p->slot_memory[slot] == 0; i++)
    if (p->constant_slot[i] == slot) return &p->constant[i];
  const weft_node *n = it->node->graph->node[it->node->in[j].node];
  const attr *a = weft__node_is(n, KIND_CONST) ? weft__node_attr(n, "value") : NULL;
  return a ? a->tensor : NULL;
}

/* Stores which axis of the input each axis of a Transpose's output is.  Returns false if the last one is another, or
 * not known. */
static bool find_order(const plan *p, const plan_item *it, int *from) {
  if (weft__fusion_declared(it)->role != ROLE_TRANSPOSE || !it->device || it->in[0].from_ref) return false;
  const shape *x = weft__out_shape(it->node->graph, it->node->in[0]), *y = &it->node->out_shape[0];
  const weft_tensor *order = known_input(p, it, 1);
  if (!order || !weft__shape_known(x) || !weft__shape_known(y) || weft__tensor_count(order) != x->rank) return false;
  const int last = x->rank - 1;
  for (int d = 0; d <= last; d++) {
    const int64_t axis = weft__tensor_int(order, d);
    if (axis < -x->rank || axis > last) return false;
    from[d] = weft__int_sat(axis < 0 ? axis + x->rank : axis);
  }
  return last >= 1 && from[last] == last && x->dim[last] % PACK == 0;
}

/* Makes a view of n axes with the given strides; axes that are adjacent in memory become one. */
static bool view_of_axes(int n, const int64_t *dim, const int64_t *stride, gpu_view *v) {
  int64_t size[WEFT_MAX_RANK], by[WEFT_MAX_RANK];
  int count = 0;
  for (int d = n - 1; d >= 0; d--) {
    if (dim[d] == 1) continue;
    if (count && stride[d] == size[count - 1] * by[count - 1]) {
      size[count - 1] *= dim[d];
      continue;
    }
    size[count] = dim[d], by[count++] = stride[d];
  }
  if (count == 0 || count > GPU_VIEW_AXES || by[0] != 1) return false;
  *v = (gpu_view){.rank = count};
  for (int i = 0; i < count; i++) v->dim[i] = size[count - 1 - i], v->step[i] = by[count - 1 - i];
  return true;
}

static void strides_of(const shape *s, int64_t *stride) {
  int64_t inner = 1;
  for (int d = s->rank - 1; d >= 0; inner *= s->dim[d], d--) stride[d] = inner;
}

bool weft__writes_moved(const plan *p, const plan_item *it, gpu_view *v) {
  int from[WEFT_MAX_RANK];
  int64_t to[WEFT_MAX_RANK], stride[WEFT_MAX_RANK];
  if (!find_order(p, it, from)) return false;
  const shape *x = weft__out_shape(it->node->graph, it->node->in[0]), *y = &it->node->out_shape[0];
  strides_of(y, to);
  for (int d = 0; d < y->rank; d++) stride[from[d]] = to[d];
  return view_of_axes(x->rank, x->dim, stride, v);
}

bool weft__reads_moved(const draft *d, const plan_item *it, gpu_view *v) {
  int from[WEFT_MAX_RANK];
  int64_t of[WEFT_MAX_RANK], stride[WEFT_MAX_RANK];
  if (it->n_out != 1 || weft__dtype_base(it->node->out_type[0]) != d->type || !weft__draft_compiles(d)) return false;
  if (!find_order(d->p, it, from) || !weft__shape_equal(&it->node->out_shape[0], d->shape)) return false;
  strides_of(weft__out_shape(it->node->graph, it->node->in[0]), of);
  for (int i = 0; i < d->shape->rank; i++) stride[i] = of[from[i]];
  return view_of_axes(d->shape->rank, d->shape->dim, stride, v);
}

static bool is_reshape(const plan_item *it) {
  return weft__fusion_declared(it)->rows == ROWS_SAME && it->n_out == 1 && it->device && !it->in[0].from_ref;
}

bool weft__is_moved_by_maker(const plan *p, const plan_item *it) {
  int maker = p->slot_item[it->in[0].slot];
  fused_step s;
  if (maker >= 0 && is_reshape(&p->item[maker])) maker = p->slot_item[p->item[maker].in[0].slot];
  return maker >= 0 && p->item[maker].device == it->device && weft__fused_group_member_step(&p->item[maker], &s);
}

int weft__moved_member(const plan *p, const draft *d, int slot) {
  int maker = p->slot_item[slot];
  if (maker >= 0 && weft__draft_member(d, maker) < 0 && is_reshape(&p->item[maker]))
    maker = p->slot_item[p->item[maker].in[0].slot];
  const int m = maker < 0 ? -1 : weft__draft_member(d, maker);
  return m >= 0 && weft__shape_equal(&p->item[maker].node->out_shape[0], d->shape) ? m : -1;
}

/* Returns the only item that reads the slot, or -1. */
static int only_reader(const grouper *b, int slot) {
  return weft__fused_group_reader_count(b, slot) == 1 && !b->fetched[slot] ? b->reader[b->first_reader[slot]] : -1;
}

static bool draft_join_item(const grouper *b, draft *d, int item) {
  const plan_item *it = &b->p->item[item];
  if (item <= d->root || d->n_join == MAX_JOINS || b->gone[item] || it->n_control || weft__draft_joins(d, item))
    return false;
  if (it->device != b->p->item[d->root].device) return false;
  d->join[d->n_join++] = item;
  return true;
}

/* Lets the draft write what rounds the slot.  Returns how many of its readers do not. */
static int push_roundings(const grouper *b, draft *d, int slot) {
  int others = b->fetched[slot];
  for (int r = b->first_reader[slot]; r < b->first_reader[slot + 1]; r++) {
    const int item = b->reader[r];
    if (item >= 0 &&
        !(weft__plan_is_rounding(&b->p->item[item]) && d->type == WEFT_FLOAT && draft_join_item(b, d, item)))
      others++;
  }
  return others;
}

bool weft__try_add_move(grouper *b, draft *d, int item) {
  const plan_item *it = &b->p->item[item];
  const bool reshapes = is_reshape(it);
  const int t = reshapes ? only_reader(b, it->first_out) : item;
  const draft before = *d;
  gpu_view v;
  if (b->gone[item] || it->n_control || weft__draft_is_small(d) || !weft__draft_compiles(d)) return false;
  if (weft__moved_member(b->p, d, it->in[0].slot) < 0) return false;
  if (t > d->root && weft__writes_moved(b->p, &b->p->item[t], &v)) {
    if ((reshapes && !draft_join_item(b, d, item)) || !draft_join_item(b, d, t)) return *d = before, false;
    push_roundings(b, d, b->p->item[t].first_out);
  } else if (reshapes) {
    if (push_roundings(b, d, it->first_out) == 0) draft_join_item(b, d, item);
  }
  if (d->n_join > before.n_join && weft__draft_build(b, d)) return true;
  *d = before;
  return false;
}
