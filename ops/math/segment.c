/* segment.c - sums, products and extremes of the rows of each segment.
 *
 * Sorted ops: ids ascend from 0, and the last id gives the number of segments.  Unsorted ops: ids have any order,
 * and a row with a negative id is dropped.  The loops of the binary ops combine rows; half and bfloat16 are combined
 * as floats. segment_grad.c has the gradients. */
#include "ops/math/segment.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "graph/fusion.h"
#include "ops/math/segment_grad.h"
#include <float.h>
#include <stdio.h>

/* ---- shared with sparse_segment.c ---- */
weft_err weft__segment_ids(kernel *k, int i, weft_tensor *ids) {
  WEFT_ASSERT(i >= 0 && i < k->n_in && !ids->buf);
  const int64_t n = weft__tensor_count(k->in[i]);
  WEFT_TRY(weft__scratch(k, ids, WEFT_INT64, &SHAPE1(n)));
  int64_t *to = ids->data;
  if (n && k->in[i]->dtype == WEFT_INT64)
    memcpy(to, k->in[i]->data, (size_t)n * sizeof *to);
  else if (k->in[i]->dtype == WEFT_INT32)
    for (int64_t at = 0; at < n; at++) to[at] = TENSOR_DATA(k->in[i], int32_t)[at];
  else
    for (int64_t at = 0; at < n; at++) to[at] = weft__tensor_int(k->in[i], at);
  return WEFT_OK;
}

#define EACH_ELEMENT(T, expr)                                                                                          \
  do {                                                                                                                 \
    T *z_ = z;                                                                                                         \
    for (int64_t i = 0; i < count; i++) z_[i] = (T)(expr);                                                             \
  } while (0)

void weft__segment_fill(weft_dtype type, void *z, int64_t count, double v) {
  switch (type) {
  case WEFT_FLOAT: EACH_ELEMENT(float, v); break;
  case WEFT_DOUBLE: EACH_ELEMENT(double, v); break;
  case WEFT_COMPLEX64: EACH_ELEMENT(float complex, v); break;
  case WEFT_COMPLEX128: EACH_ELEMENT(double complex, v); break;
  case WEFT_INT8:
  case WEFT_UINT8: EACH_ELEMENT(uint8_t, (int64_t)v); break;
  case WEFT_INT16:
  case WEFT_UINT16: EACH_ELEMENT(uint16_t, (int64_t)v); break;
  case WEFT_INT32:
  case WEFT_UINT32: EACH_ELEMENT(uint32_t, (int64_t)v); break;
  default: EACH_ELEMENT(uint64_t, (int64_t)v);
  }
}

#define DIVIDE(T, D)                                                                                                   \
  do {                                                                                                                 \
    const D by = root ? (D)sqrt((double)count[r]) : (D)count[r];                                                       \
    T *row = (T *)z + r * inner;                                                                                       \
    for (int64_t i = 0; i < inner; i++) row[i] = (T)(row[i] / (D)by);                                                  \
  } while (0)

static void divide_rows(void *arg, int64_t begin, int64_t end) {
  const segment_division *d = arg;
  void *z = d->z;
  const int64_t *count = d->count, inner = d->inner;
  const bool root = d->root;
  for (int64_t r = begin; r < end; r++) {
    if (count[r] <= 1) continue;
    switch (d->type) {
    case WEFT_FLOAT: DIVIDE(float, float); break;
    case WEFT_DOUBLE: DIVIDE(double, double); break;
    case WEFT_COMPLEX64: DIVIDE(float complex, float); break;
    case WEFT_COMPLEX128: DIVIDE(double complex, double); break;
    case WEFT_INT8: DIVIDE(int8_t, int64_t); break;
    case WEFT_INT16: DIVIDE(int16_t, int64_t); break;
    case WEFT_INT32: DIVIDE(int32_t, int64_t); break;
    case WEFT_INT64: DIVIDE(int64_t, int64_t); break;
    case WEFT_UINT8: DIVIDE(uint8_t, int64_t); break;
    case WEFT_UINT16: DIVIDE(uint16_t, int64_t); break;
    case WEFT_UINT32: DIVIDE(uint32_t, int64_t); break;
    default: DIVIDE(uint64_t, uint64_t);
    }
  }
}

void weft__segment_divide(const kernel *k, segment_division *d, int64_t rows) {
  weft__kernel_loop(k, rows, d->inner + 1, divide_rows, d);
}

/* ---- extremes of types: the maximum or minimum of an empty segment ---- */
static void fill_extreme(weft_dtype type, weft_dtype seen_as, void *z, int64_t count, bool highest) {
  const double half_max = 65504, bfloat16_max = 0x1.fep127;
  const double top = type == WEFT_HALF ? half_max : type == WEFT_BFLOAT16 ? bfloat16_max : FLT_MAX;
  const bool is_signed = weft__dtype_class(type) == CLASS_INT;
  const int bits = 8 * (int)weft__dtype_size(type);
  const uint64_t all = UINT64_MAX >> (64 - bits), most = is_signed ? all >> 1 : all, least = is_signed ? most + 1 : 0;
  const uint64_t v = highest ? most : least;
  if (seen_as == WEFT_FLOAT) EACH_ELEMENT(float, highest ? top : -top);
  if (seen_as == WEFT_DOUBLE) EACH_ELEMENT(double, highest ? DBL_MAX : -DBL_MAX);
  if (weft__dtype_class(seen_as) == CLASS_FLOAT) return;
  if (bits == 8) EACH_ELEMENT(uint8_t, v);
  if (bits == 16) EACH_ELEMENT(uint16_t, v);
  if (bits == 32) EACH_ELEMENT(uint32_t, v);
  if (bits == 64) EACH_ELEMENT(uint64_t, v);
}

/* ---- one reduction ---- */
typedef enum kind { SUM, MEAN, PROD, MAX, MIN } kind;

static const elem_op *combine_of(kind what) {
  switch (what) {
  case PROD: return &weft__mul_op;
  case MAX: return &weft__maximum_op;
  case MIN: return &weft__minimum_op;
  default: return &weft__add_op;
  }
}

static void fill_neutral(kind what, weft_dtype type, weft_dtype seen_as, void *z, int64_t count) {
  if (what == MAX || what == MIN)
    fill_extreme(type, seen_as, z, count, what == MIN);
  else
    weft__segment_fill(seen_as, z, count, what == PROD ? 1 : 0);
}

/* Combines the rows of k->in[0] into out by id; 16-bit floats are combined as floats. */
static weft_err segment_combine(kernel *k, kind what, const int64_t *id, int64_t rows, int64_t inner, weft_tensor *out,
                                void (*after)(weft_dtype seen_as, void *z, const void *arg), const void *arg) {
  const weft_tensor *x = k->in[0];
  const weft_dtype seen_as = weft__is_16bit(x->dtype) ? WEFT_FLOAT : x->dtype;
  segment_work j = {.loop = combine_of(what)->loop[seen_as],
                    .size = weft__dtype_size(seen_as),
                    .id = id,
                    .rows = rows,
                    .inner = inner};
  if (!j.loop) return weft__kernel_no_type(k, x->dtype);
  widened xs = {0}, zs = {0};
  weft_err err = WEFT_OK;
  j.x = x->data, j.z = out->data;
  if (weft__is_16bit(x->dtype)) {
    err = weft__widened_load(&xs, x);
    if (!err) err = weft__widened_output(&zs, out);
    j.x = (const char *)xs.data, j.z = (char *)zs.data;
  }
  if (!err) {
    fill_neutral(what, x->dtype, seen_as, j.z, weft__tensor_count(out));
    err = weft__segment_run(k, &j);
    if (!err && after) after(seen_as, j.z, arg);
    if (!err && zs.data) weft__widened_store(&zs, out);
  }
  weft__widened_finish(&xs);
  weft__widened_finish(&zs);
  return err;
}

/* ---- unsorted ---- */

/* Formats the coordinates of element i of a tensor of shape s, such as "[1,0]". */
static void place_text(char *text, size_t room, const shape *s, int64_t i) {
  int64_t at[WEFT_MAX_RANK];
  for (int d = s->rank - 1; d >= 0; d--) {
    at[d] = i % s->dim[d];
    i /= s->dim[d];
  }
  size_t n = (size_t)snprintf(text, room, "[");
  for (int d = 0; d < s->rank && n < room; d++)
    n += (size_t)snprintf(text + n, room - n, "%s%lld", d ? "," : "", (long long)at[d]);
  if (n < room) snprintf(text + n, room - n, "]");
}

static weft_err check_ids(const kernel *k, const int64_t *id, int64_t n, int64_t segments) {
  for (int64_t i = 0; i < n; i++) {
    if (id[i] < segments) continue;
    char place[128];
    place_text(place, sizeof place, &k->in[1]->shape, i);
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "segment_ids%s = %lld is out of range [0, %lld)", place,
                             (long long)id[i], (long long)segments);
  }
  return WEFT_OK;
}

static bool starts_with(const shape *s, const shape *head) {
  if (s->rank < head->rank) return false;
  for (int d = 0; d < head->rank; d++)
    if (s->dim[d] != head->dim[d]) return false;
  return true;
}

static weft_err segment_unsorted(kernel *k, kind what) {
  const shape *data = &k->in[0]->shape, *heads = &k->in[1]->shape;
  if (k->in[2]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_segments should be a scalar, not shape %s",
                             weft__shape_text(&k->in[2]->shape));
  if (!starts_with(data, heads))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "data.shape = %s does not start with segment_ids.shape = %s",
                             weft__shape_text(data), weft__shape_text(heads));
  const int64_t segments = weft__tensor_int(k->in[2], 0), rows = weft__tensor_count(k->in[1]);
  if (segments < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input num_segments == %lld must not be negative.",
                             (long long)segments);
  shape s = {.rank = 1, .dim = {segments}};
  for (int d = heads->rank; d < data->rank; d++) s.dim[s.rank++] = data->dim[d];
  weft_tensor *out = weft__out(k, 0, &s), ids = {0};
  if (!out) return weft__out_refused(&s);
  weft_err err = weft__segment_ids(k, 1, &ids);
  if (!err) err = check_ids(k, ids.data, rows, segments);
  if (!err)
    err = segment_combine(k, what, ids.data, rows, weft__shape_product(data, heads->rank, data->rank), out, NULL, NULL);
  weft__tensor_clear(&ids);
  return err;
}

static weft_err unsorted_sum_cpu(kernel *k) { return segment_unsorted(k, SUM); }
static weft_err unsorted_prod_cpu(kernel *k) { return segment_unsorted(k, PROD); }
static weft_err unsorted_max_cpu(kernel *k) { return segment_unsorted(k, MAX); }
static weft_err unsorted_min_cpu(kernel *k) { return segment_unsorted(k, MIN); }

static weft_err unsorted_misfit(infer *s, const shape *data, const shape *ids) {
  for (int d = 0; d < data->rank && d < ids->rank; d++)
    if (data->dim[d] >= 0 && ids->dim[d] >= 0 && data->dim[d] != ids->dim[d])
      return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)data->dim[d],
                              (long long)ids->dim[d]);
  return weft__infer_fail(s, "data.shape = %s does not start with segment_ids.shape = %s", weft__shape_text(data),
                          weft__shape_text(ids));
}

static weft_err unsorted_infer(infer *s) {
  const shape *data = &s->in[0], *ids = &s->in[1];
  WEFT_TRY(weft__infer_rank(s, 2, 0, NULL));
  if (data->rank < 0 || ids->rank < 0) return WEFT_OK;
  shape head = *data;
  head.rank = ids->rank;
  if (data->rank < ids->rank || !weft__shape_compatible(&head, ids)) return unsorted_misfit(s, data, ids);
  const weft_tensor *segments = weft__infer_value(s, 2);
  const int64_t n = segments ? weft__tensor_int(segments, 0) : -1;
  if (segments && n < 0)
    return weft__infer_fail(s, "Dimension size, given by scalar input %lld, must be non-negative", (long long)n);
  s->out[0] = SHAPE1(n);
  for (int d = ids->rank; d < data->rank; d++) s->out[0].dim[s->out[0].rank++] = data->dim[d];
  return WEFT_OK;
}

/* ---- sorted ---- */
typedef struct finish { /* the last step after rows are combined: divides means, and fills segments without rows */
  const kernel *k;
  kind what;
  const int64_t *count;
  int64_t rows, inner;
} finish;

static void finish_sorted(weft_dtype seen_as, void *z, const void *arg) {
  const finish *f = arg;
  const size_t row = (size_t)f->inner * weft__dtype_size(seen_as);
  segment_division by = {.type = seen_as, .z = z, .count = f->count, .inner = f->inner};
  if (f->what == MEAN) weft__segment_divide(f->k, &by, f->rows);
  for (int64_t r = 0; r < f->rows && (f->what == MAX || f->what == MIN); r++)
    if (f->count[r] == 0) memset((char *)z + (size_t)r * row, 0, row);
}

static weft_err check_sorted(const kernel *k, const int64_t *id, int64_t n) {
  if (n > 0 && id[n - 1] < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "segment ids must be >= 0");
  if (n > 0 && id[n - 1] == INT64_MAX)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "segment id %lld is too large", (long long)id[n - 1]);
  const int64_t segments = n > 0 ? id[n - 1] + 1 : 0;
  for (int64_t i = 0; i < n; i++) {
    if (i + 1 < n && id[i + 1] < id[i])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "segment ids are not increasing");
    if (id[i] < 0 || id[i] >= segments)
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "Segment id %lld out of range [0, %lld), possibly because 'segment_ids' input is not sorted.",
          (long long)id[i], (long long)segments);
  }
  return WEFT_OK;
}

static weft_err reduce_sorted(kernel *k, kind what, const int64_t *id, int64_t rows) {
  WEFT_TRY(check_sorted(k, id, rows));
  shape s = k->in[0]->shape;
  s.dim[0] = rows > 0 ? id[rows - 1] + 1 : 0;
  weft_tensor *out = weft__out(k, 0, &s), counts = {0};
  if (!out) return weft__out_refused(&s);
  WEFT_TRY(weft__scratch(k, &counts, WEFT_INT64, &SHAPE1(s.dim[0])));
  int64_t *count = counts.data;
  for (int64_t r = 0; r < s.dim[0]; r++) count[r] = 0;
  for (int64_t i = 0; i < rows; i++) count[id[i]]++;
  const finish f = {
      .k = k, .what = what, .count = count, .rows = s.dim[0], .inner = weft__shape_product(&s, 1, s.rank)};
  const weft_err err = segment_combine(k, what, id, rows, f.inner, out, finish_sorted, &f);
  weft__tensor_clear(&counts);
  return err;
}

static weft_err segment_sorted(kernel *k, kind what) {
  const shape *data = &k->in[0]->shape;
  if (k->in[1]->shape.rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "segment_ids should be a vector.");
  const int64_t rows = k->in[1]->shape.dim[0];
  if (data->rank < 1 || data->dim[0] != rows)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "segment_ids should be the same size as dimension 0 of input.");
  weft_tensor ids = {0};
  weft_err err = weft__segment_ids(k, 1, &ids);
  if (!err) err = reduce_sorted(k, what, ids.data, rows);
  weft__tensor_clear(&ids);
  return err;
}

static weft_err segment_sum_cpu(kernel *k) { return segment_sorted(k, SUM); }
static weft_err segment_mean_cpu(kernel *k) { return segment_sorted(k, MEAN); }
static weft_err prod_cpu(kernel *k) { return segment_sorted(k, PROD); }
static weft_err segment_max_cpu(kernel *k) { return segment_sorted(k, MAX); }
static weft_err segment_min_cpu(kernel *k) { return segment_sorted(k, MIN); }

static weft_err sorted_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  if (s->in[0].rank < 0) return WEFT_OK;
  s->out[0] = s->in[0];
  s->out[0].dim[0] = -1;
  return WEFT_OK;
}

/* ---- cases ---- */
static const op_case unsorted_cases[] = {
    {"f32[4] 1 2 3 4; i32[4] 0 2 0 1; i32[] 3"},
    {"f32[4,2] 1 2 3 4 5 6 7 8; i32[4] 0 2 0 -1; i64[] 4", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,2,3] rand; i64[2,2] 0 1 1 0; i32[] 2"},
    {"f32[2] 1 2; i32[] 1; i32[] 2"},
    {"f32[0,3]; i32[0]; i32[] 2", NULL, NULL, CASE_NO_GRAD},
    {"f32[100,70] pos; i32[100] below:9; i32[] 9", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2] 1 2; i32[2] 0 5; i32[] 3", "error INVALID_ARGUMENT"},
    {"f32[2,3] 1; i32[3] 0; i32[] 3", "error INVALID_ARGUMENT"},
    {"f32[2] 1 2; i32[2] 0; i32[] -1", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case sorted_cases[] = {
    {"f32[40,501] pos; i32[40] 0 0 0 1 1 1 1 2 3 3 3 5 5 6 7 7 7 8 9 9 9 9 9 9 10 10 10 11 11 12 12 13 13 13 14 15 15 "
     "16 "
     "16 17",
     NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[4] 1 2 3 4; i32[4] 0 0 1 1"},
    {"f32[4,2] 1 2 3 4 5 6 7 8; i64[4] 0 0 0 3", NULL, NULL, CASE_NO_GRAD},
    {"f32[3,2,2] rand; i32[3] 0 1 1"},
    {"f32[0,3]; i32[0]", "f32[0,3]", NULL, CASE_NO_GRAD},
    {"f32[2] 1 2; i32[2] 1 0", "error INVALID_ARGUMENT"},
    {"f32[2] 1 2; i32[2] -1 0", "error INVALID_ARGUMENT"},
    {"f32[2] 1 2; i32[1] 0", "error INVALID_ARGUMENT"},
    {0},
};

static const fusion sums_rows = {.role = ROLE_SUM_ROWS};

#define UNSORTED(name_, types_, ids_, doc_, cpu_, ...)                                                                 \
  {                                                                                                                    \
    "UnsortedSegment" name_ "(data:T, segment_ids:Tindices, num_segments:Tnumsegments) -> (output:T) | "               \
    "T:type{" types_ "} Tindices:type{" ids_ "} Tnumsegments:type{int32,int64}=int32",                                 \
        doc_, .infer = unsorted_infer, .cpu = cpu_, .cases = unsorted_cases, .grad = __VA_ARGS__                       \
  }
#define SORTED(name_, types_, doc_, cpu_, grad_)                                                                       \
  {                                                                                                                    \
    "Segment" name_ "(data:T, segment_ids:Tindices) -> (output:T) | T:type{" types_ "} Tindices:type{int32,int64}",    \
        doc_, .infer = sorted_infer, .cpu = cpu_, .grad = grad_, .cases = sorted_cases                                 \
  }

OPS(segment) = {
    UNSORTED("Sum", "number", "int16,int32,int64", "Sums of rows by segment, in any order.", unsorted_sum_cpu,
             weft__unsorted_sum_grad, .fusion = &sums_rows),
    UNSORTED("Prod", "number", "int32,int64", "Products of rows by segment, in any order.", unsorted_prod_cpu,
             weft__unsorted_prod_grad),
    UNSORTED("Max", "real", "int32,int64", "The greatest of rows by segment, in any order.", unsorted_max_cpu,
             weft__unsorted_extreme_grad),
    UNSORTED("Min", "real", "int32,int64", "The least of rows by segment, in any order.", unsorted_min_cpu,
             weft__unsorted_extreme_grad),
    SORTED("Sum", "number", "Sums of rows by segment.", segment_sum_cpu, weft__segment_sum_grad),
    SORTED("Mean", "number", "Means of rows by segment.", segment_mean_cpu, weft__segment_mean_grad),
    SORTED("Prod", "number", "Products of rows by segment.", prod_cpu, weft__segment_prod_grad),
    SORTED("Max", "real", "The greatest of rows by segment.", segment_max_cpu, weft__segment_extreme_grad),
    SORTED("Min", "real", "The least of rows by segment.", segment_min_cpu, weft__segment_extreme_grad),
    /* TensorFlow has no kernel for the next four. */
    {"SegmentSumV2(data:T, segment_ids:Tindices, num_segments:Tnumsegments) -> (output:T) | T:type{number} "
     "Tindices:type{int32,int64} Tnumsegments:type{int32,int64}=int32",
     "Sums of rows by segment, in order.", .infer = unsorted_infer},
    {"SegmentProdV2(data:T, segment_ids:Tindices, num_segments:Tnumsegments) -> (output:T) | T:type{number} "
     "Tindices:type{int32,int64} Tnumsegments:type{int32,int64}=int32",
     "Products of rows by segment, in order.", .infer = unsorted_infer},
    {"SegmentMaxV2(data:T, segment_ids:Tindices, num_segments:Tnumsegments) -> (output:T) | T:type{real} "
     "Tindices:type{int32,int64} Tnumsegments:type{int32,int64}=int32",
     "The greatest of rows by segment, in order.", .infer = unsorted_infer},
    {"SegmentMinV2(data:T, segment_ids:Tindices, num_segments:Tnumsegments) -> (output:T) | T:type{real} "
     "Tindices:type{int32,int64} Tnumsegments:type{int32,int64}=int32",
     "The least of rows by segment, in order.", .infer = unsorted_infer},
    {0},
};
