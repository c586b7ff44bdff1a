/* ragged_to_tensor.c - RaggedTensorToTensor: pads or truncates a ragged tensor to a dense one.
 *
 * Row partitions are given as splits (ROW_SPLITS) or as the row of each item (VALUE_ROWIDS); the latter needs the
 * number of rows first (FIRST_DIM_SIZE).  The kernel computes the position of every item in the output, or -1 if it
 * is cut off. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "kernels/array/index.h"
#include "kernels/array/strided_copy.h"
#include "kernels/ragged/ragged.h"
#include <string.h>

enum { FIRST_SHAPE = 0, VALUES = 1, DEFAULT = 2, PARTITIONS = 3 };

typedef struct ragged_plan {
  int first;  /* the first partition after FIRST_DIM_SIZE, if that is present */
  int levels; /* number of ragged dimensions */
  shape out;
  const attr *types;
} ragged_plan;

static bool is_rowids(const ragged_plan *p, int level) {
  const attr_str s = p->types->ss[p->first + level];
  return s.size == 12 && !memcmp(s.data, "VALUE_ROWIDS", 12);
}

static const weft_tensor *ragged_to_tensor_partition(const kernel *k, const ragged_plan *p, int level) {
  return k->in[PARTITIONS + p->first + level];
}

static weft_err read_types(const kernel *k, ragged_plan *p) {
  p->types = weft__node_attr(k->node, "row_partition_types");
  const int n = p->types ? p->types->n : 0;
  if (n != k->n_in - PARTITIONS)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "there are %d row_partition_types for %d row partitions", n,
                             k->n_in - PARTITIONS);
  for (int i = 0; i < n; i++) {
    const attr_str s = p->types->ss[i];
    const bool size = !strcmp(s.data, "FIRST_DIM_SIZE");
    if (size ? i != 0 : strcmp(s.data, "ROW_SPLITS") && strcmp(s.data, "VALUE_ROWIDS"))
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "row_partition_types[%d] is '%s'; FIRST_DIM_SIZE may be first, the others are ROW_SPLITS "
          "or VALUE_ROWIDS",
          i, s.data);
    p->first += size;
  }
  p->levels = n - p->first;
  if (p->first && (p->levels == 0 || !is_rowids(p, 0)))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "FIRST_DIM_SIZE must be followed by VALUE_ROWIDS");
  if (!p->first && (p->levels == 0 || is_rowids(p, 0)))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the first row partition must be ROW_SPLITS or FIRST_DIM_SIZE");
  return WEFT_OK;
}

/* Finds the number of rows of the first dimension. */
static weft_err first_size(const kernel *k, const ragged_plan *p, int64_t *rows) {
  const weft_tensor *t = k->in[PARTITIONS];
  if (!p->first) {
    *rows = t->shape.rank == 1 ? t->shape.dim[0] - 1 : -1;
  } else if (t->shape.rank == 0) {
    *rows = weft__index_at(t, 0);
  } else {
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "FIRST_DIM_SIZE must be a scalar, not of shape %s",
                             weft__shape_text(&t->shape));
  }
  if (*rows >= 0) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the first dimension has an invalid number of rows: %lld",
                           (long long)*rows);
}

/* Checks the partition of a level with `rows` rows, and stores its number of items and the length of its longest
 * row. */
static weft_err ragged_to_tensor_measure(const kernel *k, const ragged_plan *p, int level, int64_t rows, int64_t *items,
                                         int64_t *most) {
  const weft_tensor *t = ragged_to_tensor_partition(k, p, level);
  *most = 0;
  if (t->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a row partition must be a vector, not of shape %s",
                             weft__shape_text(&t->shape));
  const int64_t n = t->shape.dim[0];
  if (!is_rowids(p, level)) {
    WEFT_TRY(weft__ragged_check_splits(k, t, -1));
    if (n != rows + 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%lld row splits do not fit %lld rows", (long long)n,
                               (long long)rows);
    for (int64_t i = 0; i + 1 < n; i++) {
      const int64_t size = weft__index_at(t, i + 1) - weft__index_at(t, i);
      if (size > *most) *most = size;
    }
    *items = weft__index_at(t, n - 1);
    return WEFT_OK;
  }
  for (int64_t i = 0, run = 0; i < n; i++) {
    const int64_t row = weft__index_at(t, i), last = i ? weft__index_at(t, i - 1) : 0;
    if (row < 0 || row >= rows || row < last)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "value_rowids must be sorted and in [0, %lld): element %lld is %lld", (long long)rows,
                               (long long)i, (long long)row);
    run = i && row == last ? run + 1 : 1;
    if (run > *most) *most = run;
  }
  *items = n;
  return WEFT_OK;
}

/* Returns dimension d of the argument `shape`, or -1 if it is unspecified. */
static int64_t ragged_to_tensor_wanted(const kernel *k, int d) {
  const weft_tensor *t = k->in[FIRST_SHAPE];
  return t->shape.rank == 0 ? -1 : weft__index_at(t, d);
}

static weft_err check_shape(const kernel *k, const ragged_plan *p) {
  const weft_tensor *t = k->in[FIRST_SHAPE], *values = k->in[VALUES];
  if (values->shape.rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "the values of a ragged tensor must have at least one dimension");
  const int rank = p->levels + values->shape.rank;
  if (rank > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the result would have rank %d; at most %d is supported", rank,
                             WEFT_MAX_RANK);
  if (t->shape.rank == 0 && weft__index_at(t, 0) != -1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "The only valid scalar shape tensor is the fully unknown shape "
                             "specified as -1.");
  if (t->shape.rank > 1 || (t->shape.rank == 1 && t->shape.dim[0] != rank))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "rt.shape=%s and shape of %lld dimensions are incompatible: "
                             "the ragged tensor has rank %d",
                             weft__shape_text(&t->shape), (long long)weft__tensor_count(t), rank);
  for (int d = 0; d < rank; d++) {
    const int64_t want = ragged_to_tensor_wanted(k, d), is = d > p->levels ? values->shape.dim[d - p->levels] : want;
    if (want < -1 || (want >= 0 && want != is))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Inner dimension %d of the shape is %lld, not %lld", d,
                               (long long)want, (long long)is);
  }
  return WEFT_OK;
}

/* Computes the shape of the output, after every partition has been checked. */
static weft_err plan_shape(const kernel *k, ragged_plan *p) {
  int64_t rows, items, most;
  WEFT_TRY(read_types(k, p));
  WEFT_TRY(check_shape(k, p));
  WEFT_TRY(first_size(k, p, &rows));
  const shape *values = &k->in[VALUES]->shape;
  p->out.rank = p->levels + values->rank;
  p->out.dim[0] = ragged_to_tensor_wanted(k, 0) >= 0 ? ragged_to_tensor_wanted(k, 0) : rows;
  for (int level = 0; level < p->levels; level++) {
    WEFT_TRY(ragged_to_tensor_measure(k, p, level, rows, &items, &most));
    p->out.dim[level + 1] = ragged_to_tensor_wanted(k, level + 1) >= 0 ? ragged_to_tensor_wanted(k, level + 1) : most;
    rows = items;
  }
  if (rows != values->dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the row partitions have %lld values, but there are %lld",
                             (long long)rows, (long long)values->dim[0]);
  for (int d = 1; d < values->rank; d++) p->out.dim[p->levels + d] = values->dim[d];
  return WEFT_OK;
}

/* Computes the positions of a level's items from those of its rows: row * width + number in the row. */
static void place_items(const kernel *k, const ragged_plan *p, int level, const int64_t *rows, int64_t n_rows,
                        int64_t *items) {
  const weft_tensor *t = ragged_to_tensor_partition(k, p, level);
  const int64_t width = p->out.dim[level + 1];
  if (is_rowids(p, level)) {
    for (int64_t i = 0, at = 0; i < t->shape.dim[0]; i++) {
      const int64_t row = weft__index_at(t, i);
      at = i && row == weft__index_at(t, i - 1) ? at + 1 : 0;
      items[i] = rows[row] >= 0 && at < width ? rows[row] * width + at : -1;
    }
    return;
  }
  for (int64_t r = 0; r < n_rows; r++)
    for (int64_t from = weft__index_at(t, r), i = from; i < weft__index_at(t, r + 1); i++)
      items[i] = rows[r] >= 0 && i - from < width ? rows[r] * width + i - from : -1;
}

static int64_t items_of(const kernel *k, const ragged_plan *p, int level) {
  const weft_tensor *t = ragged_to_tensor_partition(k, p, level);
  return is_rowids(p, level) ? t->shape.dim[0] : weft__index_at(t, t->shape.dim[0] - 1);
}

/* Returns the position of each value; the caller frees it.  Returns NULL if memory is short. */
static int64_t *all_places(const kernel *k, const ragged_plan *p) {
  int64_t n = p->first ? weft__index_at(k->in[PARTITIONS], 0) : k->in[PARTITIONS]->shape.dim[0] - 1;
  int64_t *rows = n < INT64_MAX / 16 ? weft__alloc((size_t)(n + 1) * sizeof *rows) : NULL;
  for (int64_t i = 0; rows && i < n; i++) rows[i] = i < p->out.dim[0] ? i : -1;
  for (int level = 0; rows && level < p->levels; level++) {
    const int64_t count = items_of(k, p, level);
    int64_t *items = weft__alloc((size_t)(count + 1) * sizeof *items);
    if (items) place_items(k, p, level, rows, n, items);
    weft__free(rows);
    rows = items;
    n = count;
  }
  return rows;
}

/* Broadcasts the default value to one element of the inner shape. */
static weft_err spread_default(const kernel *k, const shape *inner, weft_tensor *out) {
  const weft_tensor *d = k->in[DEFAULT];
  shape both;
  if (weft__shape_broadcast(&both, &d->shape, inner) != WEFT_OK || !weft__shape_equal(&both, inner))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "default_value of shape %s cannot be broadcast to the shape %s of a value",
                             weft__shape_text(&d->shape), weft__shape_text(inner));
  WEFT_TRY(weft__tensor_init(out, d->dtype, inner));
  const int64_t n = weft__shape_count(inner);
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = i, at = 0, stride = 1;
    for (int a = inner->rank - 1, b = d->shape.rank - 1; b >= 0; a--, b--) {
      at += d->shape.dim[b] == 1 ? 0 : rest % inner->dim[a] * stride;
      stride *= d->shape.dim[b];
      rest /= inner->dim[a];
    }
    WEFT_TRY(weft__elements_copy(d->dtype, weft__element(out->dtype, out->data, i),
                                 weft__element_const(d->dtype, d->data, at), 1));
  }
  return WEFT_OK;
}

static weft_err put_all(const kernel *k, const ragged_plan *p, const int64_t *place, const weft_tensor *empty,
                        weft_tensor *out) {
  const weft_tensor *values = k->in[VALUES];
  const int64_t inner = weft__tensor_count(empty), n = inner ? weft__tensor_count(out) / inner : 0;
  (void)p;
  for (int64_t i = 0; i < n; i++)
    WEFT_TRY(weft__elements_copy(out->dtype, weft__element(out->dtype, out->data, i * inner), empty->data, inner));
  for (int64_t i = 0; n && i < values->shape.dim[0]; i++)
    if (place[i] >= 0)
      WEFT_TRY(weft__elements_copy(out->dtype, weft__element(out->dtype, out->data, place[i] * inner),
                                   weft__element_const(values->dtype, values->data, i * inner), inner));
  return WEFT_OK;
}

static weft_err to_tensor_cpu(kernel *k) {
  ragged_plan p = {.first = 0};
  weft_tensor empty = {0};
  WEFT_TRY(plan_shape(k, &p));
  shape inner = k->in[VALUES]->shape;
  inner.rank--;
  memmove(inner.dim, inner.dim + 1, (size_t)inner.rank * sizeof *inner.dim);
  WEFT_TRY(spread_default(k, &inner, &empty));
  weft_tensor *out = weft__out(k, 0, &p.out);
  weft_err err = out ? WEFT_OK : weft__out_refused(&p.out);
  int64_t *place = err ? NULL : all_places(k, &p);
  if (!err && !place) err = WEFT_OOM;
  if (!err) err = put_all(k, &p, place, &empty, out);
  weft__free(place);
  weft__tensor_clear(&empty);
  return err;
}

static weft_err to_tensor_infer(infer *s) {
  const attr *types = weft__node_attr(s->node, "row_partition_types");
  const int n = types ? types->n : 0, first = n && !strcmp(types->ss[0].data, "FIRST_DIM_SIZE");
  shape want = SHAPE_UNKNOWN, is = SHAPE_UNKNOWN;
  if (s->in[FIRST_SHAPE].rank != 0) WEFT_TRY(weft__infer_shape_value(s, FIRST_SHAPE, &want));
  const shape *values = &s->in[VALUES];
  if (values->rank == 0) return weft__infer_fail(s, "Shape must be at least rank 1 but is rank 0");
  if (values->rank > 0 && values->rank + n - first <= WEFT_MAX_RANK) {
    is.rank = values->rank + n - first;
    for (int d = 0; d < is.rank; d++) is.dim[d] = d > n - first ? values->dim[d - (n - first)] : -1;
    const bool open = weft__infer_value(s, FIRST_SHAPE) && (want.rank < 0 || (want.rank > 0 && want.dim[0] < 0));
    if (open && !first && n && s->in[PARTITIONS].rank == 1 && s->in[PARTITIONS].dim[0] > 0)
      is.dim[0] = s->in[PARTITIONS].dim[0] - 1;
    if (want.rank >= 0 && want.rank == is.rank && want.dim[0] >= 0) is.dim[0] = want.dim[0];
  }
  if (weft__shape_merge(&s->out[0], &want, &is) != WEFT_OK)
    return weft__infer_fail(s, "rt.shape=%s and tensor shape %s are incompatible", weft__shape_text(&is),
                            weft__shape_text(&want));
  return WEFT_OK;
}

/* ---- gradient ---- */

static weft_out slice_of(weft_graph *g, weft_out x, int64_t from, int64_t size) {
  const weft_out in[] = {x, weft__b_ints(g, &from, 1), weft__b_ints(g, &size, 1)};
  return weft__b_node(g, "Slice", NULL, 3, in, 0, NULL);
}

/* Returns, for each position of the output, the number of its value, or -1 where the default value is. */
static weft_out value_numbers(backprop *b, weft_out count) {
  weft_graph *g = b->graph;
  const attr *types = weft__node_attr(b->node, "row_partition_types");
  const int levels = types->n - (types->n && !strcmp(types->ss[0].data, "FIRST_DIM_SIZE"));
  const weft_out range[] = {weft__b_scalar(g, WEFT_INT32, 0), count, weft__b_scalar(g, WEFT_INT32, 1)};
  weft_out *in = weft__alloc_zero((size_t)b->n_in, sizeof *in);
  if (!in) return WEFT_NONE;
  in[FIRST_SHAPE] = slice_of(g, weft__b_shape(g, b->out[0]), 0, levels + 1);
  in[VALUES] = weft__b_node(g, "Range", NULL, 3, range, 0, NULL);
  in[DEFAULT] = weft__b_scalar(g, WEFT_INT32, -1);
  for (int i = PARTITIONS; i < b->n_in; i++) in[i] = b->in[i];
  const attr kept = A_STRS("row_partition_types", types->ss, types->n);
  const weft_out made = weft__b_node(g, "RaggedTensorToTensor", NULL, b->n_in, in, 1, &kept);
  weft__free(in);
  return weft__b_reshape(g, made, weft__b_ints(g, (int64_t[]){-1}, 1));
}

static weft_out segment_sum(weft_graph *g, weft_out data, weft_out ids, weft_out n) {
  return weft__b_node(g, "UnsortedSegmentSum", NULL, 3, (weft_out[]){data, ids, n}, 0, NULL);
}

/* The gradient of a value is that of its position.  The default value gets the sum of those of all other positions. */
static weft_err to_tensor_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out all = weft__b_ints(g, (int64_t[]){-1}, 1), sizes = weft__b_shape(g, b->in[VALUES]);
  const weft_out count = weft__b_reshape(g, slice_of(g, sizes, 0, 1), weft__b_ints(g, NULL, 0));
  const weft_out inner = slice_of(g, sizes, 1, -1), who = value_numbers(b, count);
  if (who.node < 0) return weft__b_ok(g) ? weft__b_ok(g) : WEFT_OOM;
  const weft_out to[] = {all, inner};
  const weft_out rows = weft__b_reshape(g, b->dout[0], weft__b_concat(g, 2, to, weft__b_scalar(g, WEFT_INT32, 0)));
  b->din[VALUES] = GRAD_DENSE(segment_sum(g, rows, who, count));
  const weft_out others = weft__b_sub(g, weft__b_scalar(g, WEFT_INT32, -1), who); /* 0 where the default is */
  const weft_out sum = weft__b_reshape(g, segment_sum(g, rows, others, weft__b_scalar(g, WEFT_INT32, 1)), inner);
  weft_out d = sum, unused = weft__b_zeros_like(g, sum);
  weft__b_unbroadcast(g, b->in[DEFAULT], sum, &d, &unused);
  b->din[DEFAULT] = GRAD_DENSE(d);
  return WEFT_OK;
}

#define SPLITS "row_partition_types=['ROW_SPLITS'] num_row_partition_tensors=1"
#define ROWIDS "row_partition_types=['FIRST_DIM_SIZE','VALUE_ROWIDS'] num_row_partition_tensors=2"

static const op_case to_tensor_cases[] = {
    {"i64[2] -1; f32[5] 1 2 3 4 5; f32[] 9; i64[4] 0 2 2 5", "f32[3,3] 1 2 9 9 9 9 3 4 5", SPLITS, CASE_FIXED_TYPE},
    {"i64[2] 2 2; f32[5] 1 2 3 4 5; f32[] 0; i64[4] 0 2 2 5", NULL, SPLITS, CASE_FIXED_TYPE},
    {"i32[2] 4 -1; f32[5] 1 2 3 4 5; f32[] 7; i32[] 3; i32[5] 0 0 2 2 2", NULL, ROWIDS, CASE_FIXED_TYPE},
    {"i64[2] -1; str[3] \"a\" \"b\" \"c\"; str[] \"-\"; i64[3] 0 2 3", NULL, SPLITS, 0},
    {"i64[3] -1; f32[3,2] seq; f32[2] 8 9; i64[3] 0 2 3", NULL, SPLITS, CASE_FIXED_TYPE},
    {"i64[3] -1 4 2; f32[3,2] seq; f32[1] 8; i64[3] 0 2 3", NULL, SPLITS, CASE_FIXED_TYPE},
    {"i64[3] -1; f32[3] 7 8 9; f32[] 0; i64[3] 0 2 3; i64[4] 0 1 3 3", NULL,
     "row_partition_types=['ROW_SPLITS','ROW_SPLITS'] num_row_partition_tensors=2", CASE_FIXED_TYPE},
    {"i64[2] -1; f32[0]; f32[] 0; i64[1] 0", NULL, SPLITS, CASE_FIXED_TYPE},
    {"i64[] -1; f32[5] 1 2 3 4 5; f32[] 9; i64[4] 0 2 2 5", "f32[3,3] 1 2 9 9 9 9 3 4 5", SPLITS,
     CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"i64[] 3; f32[2] 1 2; f32[] 0; i64[2] 0 2", "error INVALID_ARGUMENT", SPLITS, CASE_FIXED_TYPE},
    {"i64[2] -1; f32[2] 1 2; f32[3] 0; i64[2] 0 2", "error INVALID_ARGUMENT", SPLITS, CASE_FIXED_TYPE},
    {"i64[2] -1; f32[3] 1; f32[] 0; i64[3] 0 2 1", "error INVALID_ARGUMENT", SPLITS, CASE_FIXED_TYPE},
    {"i64[2] -1; f32[2] 1 2; f32[] 0; i64[2] 0 2", "error INVALID_ARGUMENT",
     "row_partition_types=['VALUE_ROWIDS'] num_row_partition_tensors=1", CASE_FIXED_TYPE},
    {0},
};

OPS(ragged_to_tensor) = {
    {"RaggedTensorToTensor(shape:Tshape, values:T, default_value:T, "
     "row_partition_tensors:num_row_partition_tensors*Tindex) "
     "-> (result:T) | T:type Tindex:type{int64,int32} Tshape:type{int64,int32} num_row_partition_tensors:int>=1 "
     "row_partition_types:list(string)",
     "A ragged tensor padded or cut to a rectangular one.", .infer = to_tensor_infer, .cpu = to_tensor_cpu,
     .grad = to_tensor_grad, .cases = to_tensor_cases},
    {0},
};
