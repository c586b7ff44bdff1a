/* fused_group_rows.c - finds what an item does with the rows of a draft's matrix. */
#include "exec/fused_groups/fused_group_rows.h"

#include "exec/fused_groups/fused_group_moves.h"
#include "kernels/gpu/gpu_host.h"

enum { MAX_COLUMNS = 4096, PACK = 4 }; /* a thread has a pack of a row, and a block has a row */

bool weft__fused_group_is_column(const shape *s, const shape *whole) {
  const int last = whole->rank - 1;
  if (!weft__shape_known(s) || last < 1 || (s->rank != last && (s->rank != last + 1 || s->dim[last] != 1)))
    return false;
  for (int d = 0; d < last; d++)
    if (s->dim[d] != whole->dim[d]) return false;
  return true;
}

bool weft__draft_compiles(const draft *d) {
  const gpu_chains *chains = weft__gpu_chains();
  return !chains || (!weft__draft_is_small(d) && chains->most_elements() == INT32_MAX);
}

static bool has_rows(const draft *d) {
  const int64_t columns = d->shape->rank > 1 ? d->shape->dim[d->shape->rank - 1] : 0;
  return (d->type == WEFT_FLOAT || d->type == WEFT_DOUBLE) && columns > 1 && columns % PACK == 0 &&
         columns <= MAX_COLUMNS && weft__draft_compiles(d);
}

static const shape *input_shape(const plan_item *it, int j) {
  return weft__out_shape(it->node->graph, it->node->in[j]);
}

/* Returns true if all operands of an item that computes one number per row have that shape too, or are single numbers.
 */
static bool has_column_operands(const plan_item *it) {
  for (int j = 0; j < it->n_in; j++) {
    const shape *s = input_shape(it, j);
    if (!weft__shape_known(s)) return false;
    if (!weft__shape_equal(s, &it->node->out_shape[0]) && weft__shape_count(s) != 1) return false;
  }
  return true;
}

/* Returns true if a reduction of x to the column y can only be one along the last axis: the result of another would
 * have another shape.  The axes themselves may be in the memory of a device. */
static bool reduces_last_axis(const shape *x, const shape *y) {
  const int last = x->rank - 1;
  if (y->rank == x->rank) return true;     /* keep_dims */
  return x->dim[last - 1] != x->dim[last]; /* without one of two equal axes the shape is the same */
}

static member_kind row_step(fused_step *s, int function) {
  *s = (fused_step){.function = function, .n_in = 1};
  return MEMBER_ROW;
}

static member_kind row_kind(const draft *d, const plan_item *it, fused_step *s) {
  const fusion *f = weft__fusion_declared(it);
  if (f->role != ROLE_REPEAT && f->rows == ROWS_NONE) return MEMBER_NOT;
  if (it->n_out != 1 || it->n_in < 1 || it->in[0].wants_ref || it->in[0].from_ref) return MEMBER_NOT;
  if (weft__dtype_base(it->node->out_type[0]) != d->type) return MEMBER_NOT;
  const shape *x = input_shape(it, 0), *y = &it->node->out_shape[0];
  if (!weft__shape_known(x) || !weft__shape_known(y)) return MEMBER_NOT;
  const bool from_rows = weft__shape_equal(x, d->shape), to_rows = weft__shape_equal(y, d->shape);
  const bool columns = weft__fused_group_is_column(x, d->shape) && weft__fused_group_is_column(y, d->shape);
  if (f->role == ROLE_REPEAT)
    return x->rank == d->shape->rank && weft__fused_group_is_column(x, d->shape) && to_rows ? MEMBER_SAME : MEMBER_NOT;
  switch (f->rows) {
  case ROWS_SOFTMAX: return from_rows ? row_step(s, GPU_ROW_SOFTMAX) : MEMBER_NOT;
  case ROWS_SAME: return columns ? MEMBER_SAME : MEMBER_NOT;
  case ROWS_SUM:
  case ROWS_MEAN:
    if (columns) return MEMBER_SAME; /* along an axis of one element */
    if (!from_rows || !weft__fused_group_is_column(y, d->shape) || !reduces_last_axis(x, y)) return MEMBER_NOT;
    return row_step(s, f->rows == ROWS_SUM ? GPU_ROW_SUM : GPU_ROW_MEAN);
  default: return MEMBER_NOT;
  }
}

member_kind weft__fused_group_member_kind(const draft *d, const plan_item *it, fused_step *s) {
  if (weft__fused_group_member_type(it) == d->type && weft__fused_group_member_step(it, s)) {
    const shape *out = &it->node->out_shape[0];
    if (weft__shape_equal(out, d->shape)) return MEMBER_STEP;
    return has_rows(d) && weft__fused_group_is_column(out, d->shape) && has_column_operands(it) ? MEMBER_STEP
                                                                                                : MEMBER_NOT;
  }
  gpu_view v;
  if (!weft__draft_is_small(d) && weft__reads_moved(d, it, &v)) return MEMBER_MOVED;
  return has_rows(d) ? row_kind(d, it, s) : MEMBER_NOT;
}

bool weft__fused_group_broadcast_view(const shape *s, const shape *whole, gpu_view *v) {
  int64_t dim[GPU_VIEW_AXES], stride[GPU_VIEW_AXES], inner = 1;
  int n = 0;
  if (!weft__shape_known(s) || s->rank > whole->rank) return false;
  for (int d = whole->rank - 1; d >= 0; d--) {
    const int of = d - (whole->rank - s->rank);
    const int64_t size = whole->dim[d], given = of < 0 ? 1 : s->dim[of];
    if (given != size && given != 1) return false;
    if (size == 1) continue;
    const int64_t next = given == 1 ? 0 : inner;
    inner *= given;
    if (n && (next == 0 ? stride[n - 1] == 0
                        : next == stride[n - 1] * dim[n - 1])) { /* goes on where the axis inside it ends */
      dim[n - 1] *= size;
      continue;
    }
    if (n == GPU_VIEW_AXES) return false;
    dim[n] = size, stride[n++] = next;
  }
  *v = (gpu_view){.rank = n};
  for (int i = 0; i < n; i++) v->dim[i] = dim[n - 1 - i], v->step[i] = stride[n - 1 - i];
  return n > 0;
}
