/* strided_slice.c - the rules of strided slices, for the ops that read, differentiate and assign them. */
#include "kernels/array/strided_slice.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include <stdio.h>

enum { MAX_ITEMS = 32 }; /* the masks are 32 bits wide */

strided_masks weft__strided_masks(const weft_node *n) {
  return (strided_masks){(uint32_t)weft__node_int(n, "begin_mask", 0), (uint32_t)weft__node_int(n, "end_mask", 0),
                         (uint32_t)weft__node_int(n, "ellipsis_mask", 0),
                         (uint32_t)weft__node_int(n, "new_axis_mask", 0),
                         (uint32_t)weft__node_int(n, "shrink_axis_mask", 0)};
}

weft_err weft__strided_prepare(const weft_node *n, void **state) {
  strided_masks *m = weft__alloc(sizeof *m);
  *state = m;
  if (!m) return WEFT_OOM;
  *m = weft__strided_masks(n);
  return WEFT_OK;
}

static bool strided_slice_has(uint32_t mask, int i) { return mask >> i & 1; }

static weft_err strided_slice_keep(strided *s, int from) {
  WEFT_ASSERT(s->n_from >= 0 && s->n_from <= WEFT_MAX_RANK);
  if (s->n_from == WEFT_MAX_RANK)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Slice has more than %d output dimensions", WEFT_MAX_RANK);
  s->from[s->n_from++] = from;
  return WEFT_OK;
}

/* Takes axes [at, to) completely. */
static weft_err take_whole(strided *s, int *at, int to) {
  WEFT_ASSERT(*at >= 0 && to <= s->rank && s->rank <= WEFT_MAX_RANK);
  for (; *at < to; ++*at) {
    s->axis[*at] = (axis_range){.stride = 1, .all_before = true, .all_after = true, .known = true};
    WEFT_TRY(strided_slice_keep(s, *at));
  }
  return WEFT_OK;
}

static weft_err check_ellipsis(const strided_masks *m, int items, int *at) {
  *at = -1;
  for (int i = 0; i < items; i++) {
    if (!strided_slice_has(m->ellipsis, i)) continue;
    if (*at >= 0) return weft__fail(WEFT_INVALID_ARGUMENT, "Multiple ellipses in slice spec not allowed");
    *at = i;
  }
  return WEFT_OK;
}

weft_err weft__strided_read(strided *s, const strided_masks *m, int rank, int items, const int64_t *begin,
                            const int64_t *end, const int64_t *stride) {
  int ellipsis, axis = 0, used_after = 0;
  s->rank = rank;
  s->n_from = 0;
  if (items > MAX_ITEMS)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Slice has %d items, the limit is %d", items, MAX_ITEMS);
  WEFT_TRY(check_ellipsis(m, items, &ellipsis));
  for (int i = ellipsis + 1; ellipsis >= 0 && i < items; i++) used_after += !strided_slice_has(m->fresh, i);
  for (int i = 0; i < items; i++) {
    if (i == ellipsis) {
      WEFT_TRY(take_whole(s, &axis, rank - used_after));
    } else if (strided_slice_has(m->fresh, i)) {
      WEFT_TRY(strided_slice_keep(s, NEW_AXIS));
    } else {
      if (axis >= rank) {
        if (rank == 0) return weft__fail(WEFT_INVALID_ARGUMENT, "Attempting to slice scalar input.");
        return weft__fail(WEFT_INVALID_ARGUMENT, "Index out of range using input dim %d; input has only %d dims", axis,
                          rank);
      }
      bool shrink = strided_slice_has(m->shrink, i);
      s->axis[axis] = (axis_range){begin ? begin[i] : 0,
                                   end ? end[i] : 0,
                                   stride[i],
                                   strided_slice_has(m->begin, i),
                                   strided_slice_has(m->end, i),
                                   shrink,
                                   begin && (end || shrink)};
      if (!shrink) WEFT_TRY(strided_slice_keep(s, axis));
      axis++;
    }
  }
  return take_whole(s, &axis, rank);
}

static int64_t strided_slice_clamp(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

/* Converts a begin or end to an index in [low, high]. */
static int64_t strided_slice_bound(int64_t v, int64_t dim, int64_t low, int64_t high) {
  return strided_slice_clamp(v < 0 ? v + dim : v, low, high);
}

static weft_err apply_axis(strided *s, int d, int64_t dim) {
  WEFT_ASSERT(d >= 0 && d < s->rank);
  const axis_range *a = &s->axis[d];
  if (a->stride == 0) return weft__fail(WEFT_INVALID_ARGUMENT, "strides[%d] must be non-zero", d);
  if (a->shrink && a->stride <= 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "only stride 1 allowed on non-range indexing.");
  bool whole = a->all_before && a->all_after && !a->shrink;
  s->step[d] = a->stride;
  s->count[d] = a->shrink ? 1 : -1;
  s->start[d] = 0;
  if (dim < 0 || (!a->known && !whole)) return WEFT_OK;
  if (a->shrink) {
    int64_t at = a->begin < 0 ? a->begin + dim : a->begin;
    if (at < 0 || at >= dim)
      return weft__fail(WEFT_INVALID_ARGUMENT, "slice index %lld of dimension %d out of bounds.", (long long)at, d);
    s->start[d] = at;
    return WEFT_OK;
  }
  bool up = a->stride > 0;
  int64_t low = up ? 0 : -1, high = up ? dim : dim - 1;
  int64_t from = a->all_before ? (up ? low : high) : strided_slice_bound(a->begin, dim, low, high);
  int64_t to = a->all_after ? (up ? high : low) : strided_slice_bound(a->end, dim, low, high);
  int64_t length = up ? to - from : from - to, pace = up ? a->stride : a->stride == INT64_MIN ? INT64_MAX : -a->stride;
  s->start[d] = from;
  s->count[d] = length <= 0 ? 0 : (length - 1) / pace + 1;
  return WEFT_OK;
}

weft_err weft__strided_apply(strided *s, const shape *x) {
  for (int d = 0; d < s->rank; d++) WEFT_TRY(apply_axis(s, d, x->dim[d]));
  return WEFT_OK;
}

void weft__strided_shape(const strided *s, shape *out) {
  out->rank = s->n_from;
  for (int i = 0; i < s->n_from; i++) out->dim[i] = s->from[i] == NEW_AXIS ? 1 : s->count[s->from[i]];
}

weft_err weft__strided_kernel(const kernel *k, strided *s, const shape *x, int first) {
  int64_t v[3][MAX_ITEMS];
  const shape *b = &k->in[first]->shape, *e = &k->in[first + 1]->shape, *st = &k->in[first + 2]->shape;
  int64_t items = b->rank == 1 ? b->dim[0] : -1;
  if (items < 0 || items >= MAX_ITEMS || !weft__shape_equal(b, e) || !weft__shape_equal(b, st))
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "Expected begin, end, and strides to be 1D equal size tensors, but got shapes %s, %s, and %s instead.",
        weft__shape_text(b), weft__shape_text(e), weft__shape_text(st));
  for (int p = 0; p < 3; p++)
    for (int i = 0; i < weft__int_sat(items); i++) v[p][i] = weft__tensor_int(k->in[first + p], i);
  weft_err err = weft__strided_read(s, k->state, x->rank, weft__int_sat(items), v[0], v[1], v[2]);
  if (err == WEFT_OK) err = weft__strided_apply(s, x);
  if (err == WEFT_OK) return err;
  char why[160];
  snprintf(why, sizeof why, "%s", weft__error_message());
  return weft__kernel_fail(k, err, "%s", why);
}

void weft__strided_slice_copy(const strided *s, const shape *x, bool into, strided_copy *b, int64_t *offset) {
  int64_t steps[WEFT_MAX_RANK], run[WEFT_MAX_RANK];
  int64_t length = 1;
  weft__shape_steps(x, steps);
  for (int d = s->rank - 1; d >= 0; d--) {
    run[d] = length;
    length *= s->count[d];
  }
  b->rank = 0;
  *offset = 0;
  for (int d = 0; d < s->rank; d++) {
    int64_t far = s->count[d] > 1 ? steps[d] * s->step[d] : 0;
    weft__strided_copy_axis(b, s->count[d], into ? run[d] : far, into ? far : run[d]);
    *offset += s->start[d] * steps[d];
  }
}
