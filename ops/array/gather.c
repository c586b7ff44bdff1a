/* gather.c - copies rows chosen by index: Gather, GatherV2, GatherNd.
 *
 * All indices are checked first, so that the copying loops cannot fail and can be split over threads.  The gradient
 * of a gather along axis 0 is IndexedSlices: the rows and their indices, never a dense tensor. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "base/prefetch.h"
#include "graph/build.h"
#include "graph/fusion.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "kernels/array/index.h"
#include "state/deferred.h"

/* ---- copying rows ---- */

typedef struct row_work {
  const char *src;
  char *dst;
  size_t bytes; /* bytes of a row */
  weft_dtype type;
  int64_t inner; /* elements of a row */
  const weft_tensor *indices;
  int64_t n, outer, dim;              /* gather: indices per batch, outer repeats per batch, size of the axis */
  int64_t depth, dims[WEFT_MAX_RANK]; /* gather_nd: numbers in one row of indices */
} row_work;

/* Returns the source row of item i of a gather.  Items are numbered in the order (batch, outer, index). */
static int64_t gather_source(const row_work *w, int64_t i) {
  WEFT_ASSERT(w->n > 0 && w->outer > 0 && i >= 0);
  int64_t j = i % w->n, o = i / w->n, batch = o / w->outer;
  return o * w->dim + weft__index_at(w->indices, batch * w->n + j);
}

static int64_t nd_source(const row_work *w, int64_t i) { return weft__index_row(w->indices, i, w->depth, w->dims); }

/* Copies n rows of `bytes` bytes from a source that is in the first cache, so that nothing is prefetched.  `bytes` is
 * a constant where it is called. */
#define DEFINE_NEAR_ROWS(T)                                                                                            \
  static inline __attribute__((always_inline)) void near_rows_##T(char *dst, const char *src, const T *index,          \
                                                                  int64_t n, size_t bytes) {                           \
    for (int64_t i = 0; i < n; i++) memcpy(dst + (size_t)i * bytes, src + (size_t)index[i] * bytes, bytes);            \
  }
DEFINE_NEAR_ROWS(int32_t)
DEFINE_NEAR_ROWS(int64_t)

/* Copies rows of one or two numbers from a near source; returns false if they are others. */
static bool copy_near_rows(const row_work *w, char *dst, const char *src, int64_t at, int64_t n) {
  enum { NEAR = 1 << 14 };
  const bool near = w->bytes == 4 || w->bytes == 8, narrow = w->bytes == 4;
  if (!near || w->dim > NEAR / (int64_t)w->bytes) return false;
  if (w->indices->dtype == WEFT_INT32) {
    const int32_t *index = TENSOR_DATA(w->indices, int32_t) + at;
    narrow ? near_rows_int32_t(dst, src, index, n, 4) : near_rows_int32_t(dst, src, index, n, 8);
  } else if (w->indices->dtype == WEFT_INT64) {
    const int64_t *index = TENSOR_DATA(w->indices, int64_t) + at;
    narrow ? near_rows_int64_t(dst, src, index, n, 4) : near_rows_int64_t(dst, src, index, n, 8);
  } else {
    return false;
  }
  return true;
}

static void gather_range(void *arg, int64_t begin, int64_t end) {
  const row_work *w = arg;
  int64_t i = begin;
  while (i < end) { /* each run has one batch and one outer index */
    int64_t j = i % w->n, o = i / w->n, stop = (o + 1) * w->n;
    const char *src = w->src + (size_t)(o * w->dim) * w->bytes;
    int64_t at = o / w->outer * w->n + j;
    if (stop > end) stop = end;
    WEFT_ASSERT(stop > i);
    if (copy_near_rows(w, w->dst + (size_t)i * w->bytes, src, at, stop - i)) {
      i = stop;
      continue;
    }
    for (; i < stop; i++, at++) {
      if (i + PREFETCH_ROWS < stop)
        weft__prefetch(src + (size_t)weft__index_at(w->indices, at + PREFETCH_ROWS) * w->bytes, w->bytes);
      weft__row_copy(w->dst + (size_t)i * w->bytes, src + (size_t)weft__index_at(w->indices, at) * w->bytes, w->bytes);
    }
  }
}

/* Rows of indices that are in range: their offsets are sums of products with the axes' strides. */
#define DEFINE_ND_ROWS(T)                                                                                              \
  static void nd_rows_##T(const row_work *w, int64_t begin, int64_t end) {                                             \
    const T *index = TENSOR_DATA(w->indices, T) + begin * w->depth;                                                    \
    for (int64_t i = begin; i < end; i++, index += w->depth) {                                                         \
      int64_t at = 0;                                                                                                  \
      for (int64_t d = 0; d < w->depth; d++) at = at * w->dims[d] + index[d];                                          \
      weft__row_copy(w->dst + (size_t)i * w->bytes, w->src + (size_t)at * w->bytes, w->bytes);                         \
    }                                                                                                                  \
  }
DEFINE_ND_ROWS(int16_t)
DEFINE_ND_ROWS(int32_t)
DEFINE_ND_ROWS(int64_t)

/* Returns the first row of indices that is not in range, or the number of rows. */
#define DEFINE_ND_BAD(T)                                                                                               \
  static int64_t nd_bad_##T(const T *index, int64_t rows, int64_t depth, const int64_t *dims) {                        \
    for (int64_t i = 0; i < rows; i++, index += depth)                                                                 \
      for (int64_t d = 0; d < depth; d++)                                                                              \
        if (index[d] < 0 || index[d] >= dims[d]) return i;                                                             \
    return rows;                                                                                                       \
  }
DEFINE_ND_BAD(int16_t)
DEFINE_ND_BAD(int32_t)
DEFINE_ND_BAD(int64_t)

static int64_t nd_first_bad(const weft_tensor *t, int64_t rows, int64_t depth, const int64_t *dims) {
  if (t->dtype == WEFT_INT32) return nd_bad_int32_t(TENSOR_DATA(t, int32_t), rows, depth, dims);
  if (t->dtype == WEFT_INT64) return nd_bad_int64_t(TENSOR_DATA(t, int64_t), rows, depth, dims);
  return nd_bad_int16_t(TENSOR_DATA(t, int16_t), rows, depth, dims);
}

static void nd_range(void *arg, int64_t begin, int64_t end) {
  const row_work *w = arg;
  if (w->indices->dtype == WEFT_INT32)
    nd_rows_int32_t(w, begin, end);
  else if (w->indices->dtype == WEFT_INT64)
    nd_rows_int64_t(w, begin, end);
  else
    nd_rows_int16_t(w, begin, end);
}

/* Copies all rows; uses the step's threads if the element type is plain. */
static weft_err copy_rows(kernel *k, row_work *w, int64_t items, pool_loop *loop,
                          int64_t (*source)(const row_work *, int64_t)) {
  if (weft__dtype_is_plain(w->type)) {
    weft__kernel_loop(k, items, (int64_t)w->bytes / 8 + 3, loop, w);
    return WEFT_OK;
  }
  for (int64_t i = 0; i < items; i++)
    WEFT_TRY(weft__elements_copy(w->type, w->dst + (size_t)i * w->bytes, w->src + (size_t)source(w, i) * w->bytes,
                                 w->inner));
  return WEFT_OK;
}

/* ---- Gather, GatherV2 ---- */

/* Computes params[:axis] + indices[batch:] + params[axis+1:] for shapes that may be partly unknown. */
static bool gather_shape(shape *out, const shape *p, const shape *i, int axis, int batch) {
  out->rank = 0;
  if (p->rank - 1 + i->rank - batch > WEFT_MAX_RANK) return false;
  for (int d = 0; d < axis; d++) out->dim[out->rank++] = d < batch && p->dim[d] < 0 ? i->dim[d] : p->dim[d];
  for (int d = batch; d < i->rank; d++) out->dim[out->rank++] = i->dim[d];
  for (int d = axis + 1; d < p->rank; d++) out->dim[out->rank++] = p->dim[d];
  return true;
}

static void unknown_of_rank(shape *out, int rank) {
  out->rank = rank;
  for (int d = 0; d < rank; d++) out->dim[d] = -1;
}

static weft_err gather_infer_axis(infer *s, int64_t axis, int64_t batch) {
  const shape *p = &s->in[0], *i = &s->in[1];
  if (axis < -WEFT_MAX_RANK || axis >= WEFT_MAX_RANK)
    return weft__infer_fail(s, "axis %lld is out of range: a shape has at most %d axes", (long long)axis,
                            WEFT_MAX_RANK);
  WEFT_TRY(weft__infer_rank_at_least(s, 0, weft__int_sat(axis < 0 ? -axis : axis + 1)));
  if (p->rank < 0 || i->rank < 0) return WEFT_OK;
  if (axis < 0) axis += p->rank;
  if (batch < -i->rank || batch > i->rank)
    return weft__infer_fail(s, "Expected batch_dims in the range [-%d, %d], but got %lld", i->rank, i->rank,
                            (long long)batch);
  if (batch < 0) batch += i->rank;
  if (batch > axis)
    return weft__infer_fail(s, "batch_dims (%lld) must be less than or equal to axis (%lld).", (long long)batch,
                            (long long)axis);
  if (!gather_shape(&s->out[0], p, i, weft__int_sat(axis), weft__int_sat(batch)))
    return weft__infer_fail(s, "the result would have more than %d axes", WEFT_MAX_RANK);
  return WEFT_OK;
}

static weft_err gather_infer(infer *s) { return gather_infer_axis(s, 0, 0); }

static weft_err gather_v2_infer(infer *s) {
  const shape *p = &s->in[0], *i = &s->in[1];
  int64_t batch = weft__node_int(s->node, "batch_dims", 0);
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  WEFT_TRY(weft__infer_rank(s, 2, 0, NULL));
  const weft_tensor *axis = weft__infer_value(s, 2);
  if (axis) return gather_infer_axis(s, weft__tensor_int(axis, 0), batch);
  if (p->rank < 0 || i->rank < 0 || batch < 0) return WEFT_OK;
  int64_t rank = p->rank - 1 + i->rank - batch;
  if (rank < 0 || rank > WEFT_MAX_RANK) return weft__infer_fail(s, "the result would have %lld axes", (long long)rank);
  unknown_of_rank(&s->out[0], weft__int_sat(rank));
  return WEFT_OK;
}

/* Checks that every index is in [0, dim). */
static weft_err gather_check_indices(kernel *k, const weft_tensor *t, int64_t dim) {
  int64_t n = weft__tensor_count(t);
  for (int64_t i = 0; i < n; i++) {
    int64_t v = weft__index_at(t, i);
    if (v >= 0 && v < dim) continue;
    char where[128];
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices%s = %lld is not in [0, %lld)",
                             weft__index_where(&t->shape, t->shape.rank, i, where, sizeof where), (long long)v,
                             (long long)dim);
  }
  return WEFT_OK;
}

/* Checks axis and batch_dims against the shapes, and makes both non-negative. */
static weft_err gather_check_axes(kernel *k, int64_t *axis, int64_t *batch) {
  const shape *p = &k->in[0]->shape, *i = &k->in[1]->shape;
  if (p->rank < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "params must be at least 1 dimensional");
  if (*axis < -p->rank || *axis >= p->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Shape must be at least rank %lld but is rank %d",
                             (long long)(*axis < 0 ? -*axis : *axis + 1), p->rank);
  if (*axis < 0) *axis += p->rank;
  if (*batch < -i->rank || *batch > i->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected batch_dims in the range [%d, %d], but got %lld",
                             -i->rank, i->rank, (long long)*batch);
  if (*batch < 0) *batch += i->rank;
  if (*batch > *axis)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "batch_dims (%lld) must be less than or equal to axis (%lld).",
                             (long long)*batch, (long long)*axis);
  for (int d = 0; d < *batch; d++)
    if (p->dim[d] != i->dim[d])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "params.shape[%d]: %lld should be equal to indices.shape[%d]: %lld", d,
                               (long long)p->dim[d], d, (long long)i->dim[d]);
  return WEFT_OK;
}

static weft_err gather_along(kernel *k, int64_t axis, int64_t batch) {
  const weft_tensor *p = k->in[0], *t = k->in[1];
  shape out;
  WEFT_TRY(gather_check_axes(k, &axis, &batch));
  if (!gather_shape(&out, &p->shape, &t->shape, weft__int_sat(axis), weft__int_sat(batch)))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the result would have more than %d axes", WEFT_MAX_RANK);
  WEFT_TRY(gather_check_indices(k, t, p->shape.dim[axis]));
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  if (weft__tensor_count(y) == 0) return WEFT_OK;
  int64_t inner = weft__shape_product(&p->shape, weft__int_sat(axis) + 1, p->shape.rank);
  row_work w = {.src = p->data,
                .dst = y->data,
                .bytes = (size_t)inner * weft__dtype_size(p->dtype),
                .type = p->dtype,
                .inner = inner,
                .indices = t,
                .n = weft__shape_product(&t->shape, weft__int_sat(batch), t->shape.rank),
                .outer = weft__shape_product(&p->shape, weft__int_sat(batch), weft__int_sat(axis)),
                .dim = p->shape.dim[axis]};
  return copy_rows(k, &w, weft__tensor_count(y) / inner, gather_range, gather_source);
}

static weft_err gather_cpu(kernel *k) { return gather_along(k, 0, 0); }

/* Gathers from the variable's value, which is input 0 now.  If `deferred` is not NULL, the deferred steps of these rows
 * are applied first.  The caller holds the lock. */
static weft_err gather_locked(kernel *k, deferred_updates *deferred) {
  const shape *p = &k->in[0]->shape;
  if (deferred && p->rank > 0) {
    WEFT_TRY(gather_check_indices(k, k->in[1], p->dim[0]));
    weft__deferred_catch_up(deferred, k->in[1], k->step->intra);
  }
  return gather_along(k, 0, 0);
}

/* Gathers rows of a variable that may have deferred steps (state/deferred.h).  Only the gathered rows are brought up
 * to date, under the variable's lock.  If there are no deferred steps, or the axis is not 0, the op shares the value
 * like any other op. */
static weft_err gather_from_variable(kernel *k, int64_t axis, int64_t batch) {
  const weft_tensor *was = k->in[0];
  variable *v = k->ref[0];
  weft_tensor now = {0};
  deferred_updates *deferred = NULL;
  weft_err err;
  weft__deferred_lock_rows(v, &deferred);
  const bool rows = deferred && axis == 0 && batch == 0;
  if (rows) {
    k->in[0] = &v->value;
    err = gather_locked(k, deferred);
  }
  weft__deferred_unlock_rows(v, deferred);
  if (!rows) {
    WEFT_TRY(weft__variable_read(v, &now));
    k->in[0] = &now;
    err = gather_along(k, axis, batch);
    weft__tensor_clear(&now);
  }
  k->in[0] = was;
  return err;
}

static weft_err gather_variable_cpu(kernel *k) { return gather_from_variable(k, 0, 0); }

static weft_err gather_variable_v2_cpu(kernel *k) {
  if (k->in[2]->shape.rank != 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "axis must be scalar");
  return gather_from_variable(k, weft__tensor_int(k->in[2], 0), weft__node_int(k->node, "batch_dims", 0));
}

static const op gather_variable_op = {.def = "_GatherVariable", .cpu = gather_variable_cpu};
static const op gather_variable_v2_op = {.def = "_GatherVariableV2", .cpu = gather_variable_v2_cpu};
static const fusion gather_fusion = {.role = ROLE_LOOKUP, .on_variable = &gather_variable_op};
static const fusion gather_v2_fusion = {.role = ROLE_LOOKUP, .on_variable = &gather_variable_v2_op};

static weft_err gather_v2_cpu(kernel *k) {
  if (k->in[2]->shape.rank != 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "axis must be scalar");
  return gather_along(k, weft__tensor_int(k->in[2], 0), weft__node_int(k->node, "batch_dims", 0));
}

/* ---- gradients ---- */

static weft_out one_dim(weft_graph *g, int64_t v) { return weft__b_ints(g, &v, 1); }

/* Returns v[begin:end] of a vector, where begin and end are int32 [1].  Without an end it returns v[begin:]. */
static weft_out gather_part_of(weft_graph *g, weft_out v, weft_out begin, weft_out end) {
  weft_out in[] = {v, begin, end.node < 0 ? one_dim(g, 0) : end, one_dim(g, 1)};
  attr mask = A_INT("end_mask", end.node < 0 ? 1 : 0);
  return weft__b_node(g, "StridedSlice", NULL, 4, in, 1, &mask);
}

/* Returns the rows of dy together with their indices. */
static weft_err gather_grad(backprop *b) {
  weft_graph *g = b->graph;
  weft_out shape_of = weft__b_shape(g, b->in[0]), flat = one_dim(g, -1);
  weft_out rows[] = {weft__b_reshape(g, weft__b_size(g, b->in[1]), one_dim(g, 1)),
                     gather_part_of(g, shape_of, one_dim(g, 1), WEFT_NONE)};
  weft_out to = weft__b_concat(g, 2, rows, weft__b_scalar(g, WEFT_INT32, 0));
  b->din[0].values = weft__b_reshape(g, b->dout[0], to);
  b->din[0].indices = weft__b_reshape(g, b->in[1], flat);
  b->din[0].dense_shape = shape_of;
  return WEFT_OK;
}

/* Returns the product of dims[begin:end] as int32 [1]. */
static weft_out span_of(weft_graph *g, weft_out dims, weft_out begin, weft_out end) {
  weft_out in[] = {gather_part_of(g, dims, begin, end), one_dim(g, 0)};
  attr keep = A_BOOL("keep_dims", true);
  return weft__b_node(g, "Prod", NULL, 2, in, 1, &keep);
}

/* Transposes x from (a, m, n, z) to (a, n, m, z). */
static weft_out gather_exchanged(weft_graph *g, weft_out x, weft_out a, weft_out m, weft_out n, weft_out z) {
  weft_out dims[] = {a, m, n, z};
  weft_out four = weft__b_reshape(g, x, weft__b_concat(g, 4, dims, weft__b_scalar(g, WEFT_INT32, 0)));
  return weft__b_transpose(g, four, weft__b_ints(g, (int64_t[]){0, 2, 1, 3}, 4));
}

/* Returns an axis (int32, -rank <= axis < rank) as a non-negative int32 [1]. */
static weft_out from_front(weft_graph *g, weft_out axis, weft_out x) {
  return weft__b_reshape(g, weft__b_binary(g, "FloorMod", axis, weft__b_rank(g, x)), one_dim(g, 1));
}

/* Turns indices (batch, n) within a batch into row numbers over all batches. */
static weft_out batch_indices(weft_graph *g, weft_out indices, weft_out n_batch, weft_out dim, weft_out n) {
  weft_out zero = weft__b_scalar(g, WEFT_INT32, 0), scalar = weft__b_ints(g, NULL, 0), both[] = {n_batch, n};
  weft_out range[] = {zero, weft__b_reshape(g, n_batch, scalar), weft__b_scalar(g, WEFT_INT32, 1)};
  weft_out base = weft__b_mul(g, weft__b_node(g, "Range", NULL, 3, range, 0, NULL), dim);
  base = weft__b_reshape(g, base, weft__b_ints(g, (int64_t[]){-1, 1}, 2));
  return weft__b_add(g, weft__b_reshape(g, indices, weft__b_concat(g, 2, both, zero)), base);
}

/* The gradient along any axis, with batches: dy, seen as (batch, outer, n, inner), is summed by index into (batch,
 * dim, outer, inner). */
static weft_err gather_axis_grad(backprop *b) {
  weft_graph *g = b->graph;
  int64_t batch_dims = weft__node_int(b->node, "batch_dims", 0);
  weft_out dims = weft__b_shape(g, b->in[0]), zero = weft__b_scalar(g, WEFT_INT32, 0), first = one_dim(g, 0);
  weft_out axis = from_front(g, weft__b_cast(g, b->in[2], WEFT_INT32), b->in[0]);
  weft_out after = weft__b_add(g, axis, one_dim(g, 1)), batch = one_dim(g, batch_dims);
  if (batch_dims < 0) batch = weft__b_add(g, batch, weft__b_rank(g, b->in[1]));
  weft_out n_batch = span_of(g, dims, first, batch), outer = span_of(g, dims, batch, axis);
  weft_out dim = gather_part_of(g, dims, axis, after), inner = span_of(g, dims, after, WEFT_NONE);
  weft_out n = span_of(g, weft__b_shape(g, b->in[1]), batch, WEFT_NONE);
  weft_out matrix[] = {weft__b_mul(g, n_batch, n), weft__b_mul(g, outer, inner)};
  weft_out values =
      weft__b_reshape(g, gather_exchanged(g, b->dout[0], n_batch, outer, n, inner), weft__b_concat(g, 2, matrix, zero));
  weft_out indices = weft__b_cast(g, b->in[1], WEFT_INT32);
  if (batch_dims != 0) indices = batch_indices(g, indices, n_batch, dim, n);
  indices = weft__b_reshape(g, indices, one_dim(g, -1));
  weft_out sum[] = {values, indices, weft__b_reshape(g, weft__b_mul(g, n_batch, dim), weft__b_ints(g, NULL, 0))};
  weft_out dense = weft__b_node(g, "UnsortedSegmentSum", NULL, 3, sum, 0, NULL);
  b->din[0] = GRAD_DENSE(weft__b_reshape(g, gather_exchanged(g, dense, n_batch, dim, outer, inner), dims));
  return WEFT_OK;
}

static weft_err gather_v2_grad(backprop *b) {
  weft_tensor *axis = weft__graph_constant(b->graph, b->in[2]);
  bool rows = axis && weft__tensor_int(axis, 0) == 0;
  weft_tensor_destroy(axis);
  return rows ? gather_grad(b) : gather_axis_grad(b);
}

/* ---- GatherNd ---- */

static weft_err gather_nd_infer(infer *s) {
  const shape *p = &s->in[0], *i = &s->in[1];
  WEFT_TRY(weft__infer_rank_at_least(s, 1, 1));
  if (p->rank < 0 || i->rank < 1 || i->dim[i->rank - 1] < 0) return WEFT_OK;
  int64_t depth = i->dim[i->rank - 1];
  if (depth > p->rank)
    return weft__infer_fail(s,
                            "indices.shape[-1] must be <= params.rank, but saw indices shape: %s and params shape: %s",
                            weft__shape_text(i), weft__shape_text(p));
  shape *out = &s->out[0];
  if (i->rank - 1 + p->rank - depth > WEFT_MAX_RANK)
    return weft__infer_fail(s, "the result would have more than %d axes", WEFT_MAX_RANK);
  out->rank = 0;
  for (int d = 0; d < i->rank - 1; d++) out->dim[out->rank++] = i->dim[d];
  for (int d = weft__int_sat(depth); d < p->rank; d++) out->dim[out->rank++] = p->dim[d];
  return WEFT_OK;
}

/* Computes the shape of the result and checks that the inputs fit each other. */
static weft_err nd_shape(kernel *k, shape *out) {
  const shape *p = &k->in[0]->shape, *i = &k->in[1]->shape;
  if (p->rank < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "params must be at least a vector");
  if (i->rank < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices must be at least a vector");
  int64_t depth = i->dim[i->rank - 1];
  if (depth > p->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "index innermost dimension length must be <= params rank; saw: %lld vs. %d",
                             (long long)depth, p->rank);
  if (i->rank - 1 + p->rank - depth > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the result would have more than %d axes", WEFT_MAX_RANK);
  out->rank = 0;
  for (int d = 0; d < i->rank - 1; d++) out->dim[out->rank++] = i->dim[d];
  for (int d = weft__int_sat(depth); d < p->rank; d++) out->dim[out->rank++] = p->dim[d];
  if (weft__shape_count(p) == 0 && weft__shape_count(out) != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Requested more than 0 entries, but params is empty.  Params shape: %s",
                             weft__shape_text(p));
  return WEFT_OK;
}

static weft_err nd_cpu(kernel *k) {
  const weft_tensor *p = k->in[0], *t = k->in[1];
  shape out;
  WEFT_TRY(nd_shape(k, &out));
  int last = t->shape.rank - 1;
  int64_t depth = t->shape.dim[last], rows = weft__shape_product(&t->shape, 0, last);
  const int64_t i = nd_first_bad(t, rows, depth, p->shape.dim);
  if (i < rows) {
    char where[128], text[128];
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT, "indices%s = %s does not index into param shape %s, node name: %s",
        weft__index_where(&t->shape, last, i, where, sizeof where), weft__index_text(t, i, depth, text, sizeof text),
        weft__shape_text(&p->shape), k->node->name);
  }
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  if (weft__tensor_count(y) == 0) return WEFT_OK;
  int64_t inner = weft__shape_product(&p->shape, weft__int_sat(depth), p->shape.rank);
  row_work w = {.src = p->data,
                .dst = y->data,
                .bytes = (size_t)inner * weft__dtype_size(p->dtype),
                .type = p->dtype,
                .inner = inner,
                .indices = t,
                .depth = depth};
  memcpy(w.dims, p->shape.dim, sizeof w.dims);
  return copy_rows(k, &w, rows, nd_range, nd_source);
}

/* If each index names one row, the gradient is IndexedSlices.  Otherwise the gradient is scattered into a dense
 * tensor. */
static weft_err nd_grad(backprop *b) {
  weft_graph *g = b->graph;
  const shape *i = weft__out_shape(g, b->in[1]);
  weft_dtype type = weft__out_type(g, b->in[1]);
  weft_out dims = weft__b_cast(g, weft__b_shape(g, b->in[0]), type);
  if (i->rank == 2 && i->dim[1] == 1) {
    attr last = A_INTS("squeeze_dims", &(int64_t){-1}, 1);
    b->din[0].indices = weft__b_node(g, "Squeeze", NULL, 1, &b->in[1], 1, &last);
    b->din[0].values = b->dout[0];
    b->din[0].dense_shape = dims;
    return WEFT_OK;
  }
  weft_out in[] = {b->in[1], b->dout[0], dims};
  b->din[0] = GRAD_DENSE(weft__b_node(g, "ScatterNd", NULL, 3, in, 0, NULL));
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case gather_cases[] = {
    {"f32[3,2] 1 2 3 4 5 6; i32[2] 2 0", "f32[2,2] 5 6 1 2", NULL, 0},
    {"f64[4] rand; i64[2,3] below:4", NULL, NULL, 0},
    {"f64[4,3] rand; i32[] 3", NULL, NULL, 0},
    {"str[2] \"a\" \"b\"; i32[3] 1 1 0", "str[3] \"b\" \"b\" \"a\"", NULL, 0},
    {"f32[3,2] 0; i32[0] 0", "f32[0,2] 0", NULL, 0},
    {"f32[100,33] rand; i32[50] below:100", NULL, NULL, CASE_NO_GRAD},
    {"f32[3] 0; i32[2] 0 3", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[3] 0; i32[1] -1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case gather_v2_cases[] = {
    {"f32[3,2] 1 2 3 4 5 6; i32[2] 2 0; i32[] 0", "f32[2,2] 5 6 1 2", NULL, 0},
    {"f32[3,2] 1 2 3 4 5 6; i32[3] 1 1 0; i32[] 1", "f32[3,3] 2 2 1 4 4 3 6 6 5", NULL, 0},
    {"f64[4,3,2] rand; i64[2,2] below:2; i32[] -1", NULL, NULL, 0},
    {"f64[4,3,2] rand; i32[] 1; i64[] 1", NULL, NULL, 0},
    {"f64[2,3,4] rand; i32[2,5] below:3; i32[] 1", NULL, "batch_dims=1", 0},
    {"f64[2,3,4] rand; i32[2,3] below:4; i32[] 2", NULL, "batch_dims=1", 0},
    {"f64[2,3,4] rand; i32[2,3,2] below:4; i32[] 2", NULL, "batch_dims=-1", 0},
    {"f32[60,40] rand; i64[70] below:40; i32[] 1", NULL, NULL, 0},
    {"f32[9,30,2] rand; i32[41] below:30; i32[] 1", NULL, NULL, 0},
    {"f32[50,16] rand; i64[90] below:50; i32[] 0", NULL, NULL, 0},
    {"f64[20,24] rand; i32[33] below:20; i32[] 0", NULL, NULL, 0},
    {"f32[9000] rand; i32[33] below:9000; i32[] 0", NULL, NULL, CASE_NO_GRAD},
    {"bool[3] true false true; i16[2] 1 2; i32[] 0", "bool[2] false true", NULL, 0},
    {"c128[3] 1 2 3; i32[2] 1 2; i32[] 0", "c128[2] 2 3", NULL, 0},
    {"str[2] \"a\" \"b\"; i32[1] 1; i32[] 0", "str[1] \"b\"", NULL, 0},
    {"f32[0,3] 0; i32[0] 0; i32[] 0", "f32[0,3] 0", NULL, 0},
    {"f32[3,2] 0; i32[1] 3; i32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[3,2] 0; i32[1] 0; i32[] 2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[] 0; i32[1] 0; i32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[3,2] 0; i32[2] 0 0; i32[] 1", "error INVALID_ARGUMENT", "batch_dims=1", 0},
    {0},
};

static const op_case nd_cases[] = {
    {"f32[2,2] 1 2 3 4; i32[2,2] 0 0 1 1", "f32[2] 1 4", NULL, 0},
    {"f64[4,3] rand; i32[5,1] below:4", NULL, NULL, 0},
    {"f64[4,3,2] rand; i64[2,3,2] below:3", NULL, NULL, 0},
    {"f32[2,3] rand; i32[2] 1 2", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,3] rand; i32[3,0] 0", NULL, NULL, CASE_NO_GRAD},
    {"str[2,1] \"a\" \"b\"; i32[1,1] 1", "str[1,1] \"b\"", NULL, 0},
    {"f32[2,3] 0; i32[0,2] 0", "f32[0] 0", NULL, 0},
    {"f32[2,3] 0; i32[1,2] 0 3", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] 0; i32[1,3] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] 0; i32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(gather) = {
    {"GatherV2(params:Tparams, indices:Tindices, axis:Taxis) -> (output:Tparams) | batch_dims:int=0 Tparams:type "
     "Tindices:type{int16,int32,int64} Taxis:type{int32,int64}",
     "The slices of params along an axis that the indices name.", .infer = gather_v2_infer, .cpu = gather_v2_cpu,
     .grad = gather_v2_grad, .cases = gather_v2_cases, .fusion = &gather_v2_fusion, .amp = AMP_CLEAR,
     .narrow = NARROW_FLOAT8},
    {"Gather(params:Tparams, indices:Tindices) -> (output:Tparams) | validate_indices:bool=true Tparams:type "
     "Tindices:type{int32,int64}",
     "The rows of params that the indices name.", .infer = gather_infer, .cpu = gather_cpu, .grad = gather_grad,
     .cases = gather_cases, .fusion = &gather_fusion, .amp = AMP_CLEAR, .narrow = NARROW_FLOAT8},
    {"GatherNd(params:Tparams, indices:Tindices) -> (output:Tparams) | Tparams:type Tindices:type{int16,int32,int64}",
     "The slices of params that rows of indices name.", .infer = gather_nd_infer, .cpu = nd_cpu, .grad = nd_grad,
     .cases = nd_cases, .amp = AMP_CLEAR, .narrow = NARROW_FLOAT8},
    {0},
};
