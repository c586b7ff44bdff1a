/* unique.c - sets: the Unique ops and ListDiff.
 *
 * A hash table stores the first position of each distinct row.  A row is one element unless an axis is given.
 * Elements are compared by value: -0 equals 0, and a NaN equals nothing. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "graph/fusion.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/array/distinct.h"
#include "kernels/array/index.h"
#include "kernels/array/strided_copy.h"
#include "kernels/work/long_work.h"

/* ---- a set of rows ---- */

typedef struct row_set {
  weft_dtype type;
  const char *rows; /* the rows; place p is the row that begins at element p * width */
  int64_t width;
  size_t bytes;  /* bytes of a row */
  int64_t mask;  /* slots - 1 */
  int64_t *slot; /* the number of a row + 1, or 0 if the slot is empty */
} row_set;

static uint64_t unique_mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 32;
}

static uint64_t hash_bytes(const void *data, size_t n) {
  const unsigned char *p = data;
  uint64_t h = n, word;
  for (; n >= 8; n -= 8, p += 8) {
    memcpy(&word, p, 8);
    h = unique_mix(h, word);
  }
  word = 0;
  memcpy(&word, p, n);
  return unique_mix(h, word);
}

static bool by_value(weft_dtype t) {
  dtype_class c = weft__dtype_class(t);
  return c == CLASS_FLOAT || c == CLASS_COMPLEX;
}

/* Returns real number i of the array.  A complex element is two real numbers. */
static double unique_part(weft_dtype t, const void *row, int64_t i) {
  switch (t) {
  case WEFT_HALF: return weft__half_to_float(((const uint16_t *)row)[i]);
  case WEFT_BFLOAT16: return weft__bfloat16_to_float(((const uint16_t *)row)[i]);
  case WEFT_FLOAT:
  case WEFT_COMPLEX64: return ((const float *)row)[i];
  default: return ((const double *)row)[i];
  }
}

static int64_t unique_parts(const row_set *s) {
  return s->width * (weft__dtype_class(s->type) == CLASS_COMPLEX ? 2 : 1);
}

static uint64_t row_hash(const row_set *s, const void *row) {
  uint64_t h = 1;
  if (s->type == WEFT_STRING) {
    const str *e = row;
    for (int64_t i = 0; i < s->width; i++) h = unique_mix(h, hash_bytes(e[i].data ? e[i].data : "", e[i].size));
    return h;
  }
  if (!by_value(s->type)) return hash_bytes(row, s->bytes);
  for (int64_t i = 0; i < unique_parts(s); i++) {
    double v = unique_part(s->type, row, i) + 0.0; /* -0 becomes 0 */
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    h = unique_mix(h, v == v ? bits : (uintptr_t)row); /* a row with a NaN equals no other row: hash its address */
  }
  return h;
}

static bool row_equal(const row_set *s, const void *a, const void *b) {
  if (s->type == WEFT_STRING) {
    const str *x = a, *y = b;
    for (int64_t i = 0; i < s->width; i++)
      if (x[i].size != y[i].size || (x[i].size && memcmp(x[i].data, y[i].data, x[i].size) != 0)) return false;
    return true;
  }
  if (!by_value(s->type)) return memcmp(a, b, s->bytes) == 0;
  for (int64_t i = 0; i < unique_parts(s); i++)
    if (!(unique_part(s->type, a, i) == unique_part(s->type, b, i))) return false;
  return true;
}

static weft_err set_init(row_set *s, weft_dtype type, const void *rows, int64_t width, int64_t n) {
  int64_t slots = 16;
  while (slots < 2 * n) slots *= 2;
  *s = (row_set){type,      rows,
                 width,     (size_t)width * weft__dtype_size(type),
                 slots - 1, weft__alloc_zero((size_t)slots, sizeof(int64_t))};
  return s->slot ? WEFT_OK : WEFT_OOM;
}

/* Returns the slot that holds `row`, or the free slot for it.  place[r] is the position of row number r. */
static int64_t *set_find(const row_set *s, const void *row, const int64_t *place) {
  WEFT_ASSERT((s->mask & (s->mask + 1)) == 0);
  int64_t at = (int64_t)(row_hash(s, row) & (uint64_t)s->mask);
  for (;; at = (at + 1) & s->mask) {
    int64_t r = s->slot[at];
    if (r == 0) return &s->slot[at];
    int64_t where = place ? place[r - 1] : r - 1;
    WEFT_ASSERT(r > 0 && 2 * r <= s->mask + 1); /* at most half of the slots are used, so the search ends */
    if (row_equal(s, s->rows + (size_t)where * s->bytes, row)) return &s->slot[at];
  }
}

/* ---- Unique: x seen as `n` rows ---- */

/* Numbers the rows in the order of their first occurrence: idx[i] is the number of row i, place[r] the position of row
 * number r, *found the number of distinct rows. */
static weft_err number_rows(const kernel *k, const char *rows, int64_t width, int64_t n, int64_t *place,
                            weft_tensor *idx, int64_t *found) {
  WEFT_ASSERT(weft__tensor_count(idx) == n && width >= 0);
  row_set s;
  weft_err err = set_init(&s, k->in[0]->dtype, rows, width, n);
  *found = 0;
  for (int64_t i = 0; i < n && !err; i++) {
    if ((err = weft__long_turn(k, i))) break;
    int64_t *slot = set_find(&s, s.rows + (size_t)i * s.bytes, place);
    if (*slot == 0) {
      place[*found] = i;
      WEFT_ASSERT(*found < n);
      *slot = ++*found;
    }
    weft__index_put(idx, i, *slot - 1);
  }
  weft__free(s.slot);
  return err;
}

static weft_err unique_count_rows(kernel *k, const weft_tensor *idx, int64_t n, int64_t found) {
  weft_tensor *count = weft__out(k, 2, &SHAPE1(found));
  if (!count) return WEFT_OOM;
  memset(count->data, 0, weft__tensor_bytes(count));
  for (int64_t i = 0; i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    int64_t r = weft__tensor_int(idx, i);
    weft__index_put(count, r, weft__tensor_int(count, r) + 1);
  }
  return WEFT_OK;
}

/* Writes the distinct rows, which are slices of x along `axis`, with one strided copy each. */
static weft_err unique_put_rows(kernel *k, const weft_tensor *x, int axis, const int64_t *place, int64_t found) {
  WEFT_ASSERT(found >= 0 && found <= x->shape.dim[axis]);
  shape out = x->shape;
  out.dim[axis] = found;
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return WEFT_OOM;
  int64_t outer = weft__shape_product(&out, 0, axis), inner = weft__shape_product(&out, axis + 1, out.rank);
  for (int64_t r = 0; r < found; r++) {
    strided_copy copy;
    if (outer == 1) {
      WEFT_TRY(weft__elements_copy(x->dtype, weft__element(x->dtype, y->data, r * inner),
                                   weft__element_const(x->dtype, x->data, place[r] * inner), inner));
      continue;
    }
    copy.rank = 0;
    weft__strided_copy_axis(&copy, outer, x->shape.dim[axis] * inner, found * inner);
    weft__strided_copy_axis(&copy, inner, 1, 1);
    WEFT_TRY(weft__strided_copy_run(k, x->dtype, weft__element(x->dtype, y->data, r * inner),
                                    weft__element_const(x->dtype, x->data, place[r] * inner), &copy));
  }
  return WEFT_OK;
}

static weft_err unique_rows(kernel *k, const weft_tensor *x, const void *rows, int axis) {
  WEFT_ASSERT(axis >= 0 && axis < x->shape.rank);
  int64_t n = x->shape.dim[axis], found = 0;
  int64_t width = weft__shape_product(&x->shape, 0, axis) * weft__shape_product(&x->shape, axis + 1, x->shape.rank);
  weft_tensor *idx = weft__out(k, 1, &SHAPE1(n));
  int64_t *place = idx ? weft__alloc((size_t)(n + 1) * sizeof *place) : NULL;
  weft_err err = idx && place ? number_rows(k, rows, width, n, place, idx, &found) : WEFT_OOM;
  if (err == WEFT_OK) err = unique_put_rows(k, x, axis, place, found);
  if (err == WEFT_OK && k->n_out == 3) err = unique_count_rows(k, idx, n, found);
  weft__free(place);
  return err;
}

/* Makes the rows contiguous first if the axis is not the first one. */
static weft_err unique_along(kernel *k, int axis) {
  const weft_tensor *x = k->in[0];
  if (weft__dtype_class(x->dtype) == CLASS_OBJECT) return weft__kernel_no_type(k, x->dtype);
  int64_t outer = weft__shape_product(&x->shape, 0, axis),
          inner = weft__shape_product(&x->shape, axis + 1, x->shape.rank);
  int64_t n = x->shape.dim[axis];
  if (outer == 1) return unique_rows(k, x, x->data, axis);
  weft_tensor rows = {.buf = NULL};
  WEFT_TRY(weft__scratch(k, &rows, x->dtype, &SHAPE3(n, outer, inner)));
  strided_copy copy;
  copy.rank = 0;
  weft__strided_copy_axis(&copy, n, inner, outer * inner);
  weft__strided_copy_axis(&copy, outer, n * inner, inner);
  weft__strided_copy_axis(&copy, inner, 1, 1);
  weft_err err = weft__strided_copy_run(k, x->dtype, rows.data, x->data, &copy);
  if (err == WEFT_OK) err = unique_rows(k, x, rows.data, axis);
  weft__tensor_clear(&rows);
  return err;
}

static bool has_integers(const weft_tensor *x) {
  const dtype_class c = weft__dtype_class(x->dtype);
  return (c == CLASS_INT || c == CLASS_UINT || c == CLASS_BOOL) && weft__tensor_count(x) <= DISTINCT_MAX;
}

static weft_err unique_integers(kernel *k) {
  const weft_tensor *x = k->in[0];
  weft_tensor distinct = {.buf = NULL};
  int64_t found = 0;
  weft_tensor *idx = weft__out(k, 1, &x->shape), *y = NULL;
  weft_err err = idx ? weft__scratch(k, &distinct, x->dtype, &x->shape) : WEFT_OOM;
  if (err == WEFT_OK) err = weft__distinct_integers(k, x, distinct.data, idx, &found);
  if (err == WEFT_OK && !(y = weft__out(k, 0, &SHAPE1(found)))) err = WEFT_OOM;
  if (err == WEFT_OK && found > 0) memcpy(y->data, distinct.data, weft__tensor_bytes(y));
  if (err == WEFT_OK && k->n_out == 3) err = unique_count_rows(k, idx, weft__tensor_count(x), found);
  weft__tensor_clear(&distinct);
  return err;
}

static weft_err unique_cpu(kernel *k) {
  if (k->in[0]->shape.rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "unique expects a 1D vector.");
  return has_integers(k->in[0]) ? unique_integers(k) : unique_along(k, 0);
}

static weft_err unique_v2_cpu(kernel *k) {
  const shape *x = &k->in[0]->shape, *a = &k->in[1]->shape;
  if (a->rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "axis expects a 1D vector.");
  if (a->dim[0] == 0) return unique_cpu(k);
  if (a->dim[0] != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "axis does not support input tensors larger than 1 elements");
  int64_t axis = weft__tensor_int(k->in[1], 0);
  if (axis < 0) axis += x->rank;
  if (axis < 0 || axis >= x->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "axis has to be between [0, %d)", x->rank);
  return unique_along(k, weft__int_sat(axis));
}

static weft_err unique_infer(infer *s) {
  shape x;
  WEFT_TRY(weft__infer_rank(s, 0, 1, &x));
  s->out[0] = SHAPE1(-1);
  s->out[1] = x;
  if (s->n_out == 3) s->out[2] = SHAPE1(-1);
  return WEFT_OK;
}

static weft_err unique_v2_infer(infer *s) {
  const shape *x = &s->in[0];
  const weft_tensor *a = weft__infer_value(s, 1);
  s->out[1] = SHAPE1(-1);
  if (s->n_out == 3) s->out[2] = SHAPE1(-1);
  if (!a || x->rank < 0) return WEFT_OK;
  int64_t n = weft__tensor_count(a), axis = n == 1 ? weft__tensor_int(a, 0) : 0;
  if (n > 1) return weft__infer_fail(s, "axis does not support input tensors larger than 1 elements.");
  if (n == 0 && x->rank != 1) return weft__infer_fail(s, "x expects a 1D vector.");
  if (axis < -x->rank || axis >= x->rank)
    return weft__infer_fail(s, "axis expects to be in the range [%d, %d)", -x->rank, x->rank);
  s->out[1].dim[0] = x->dim[axis < 0 ? axis + x->rank : axis];
  s->out[0].rank = x->rank;
  for (int d = 0; d < x->rank; d++) s->out[0].dim[d] = -1;
  return WEFT_OK;
}

/* ---- ListDiff: the elements of x that are not in y, and their positions in x ---- */

static weft_err diff_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  s->out[0] = s->out[1] = SHAPE1(-1);
  return WEFT_OK;
}

static weft_err put_diff(kernel *k, const row_set *s, int64_t *keep) {
  const weft_tensor *x = k->in[0];
  int64_t n = x->shape.dim[0], kept = 0;
  for (int64_t i = 0; i < n; i++)
    if (*set_find(s, weft__element_const(x->dtype, x->data, i), NULL) == 0) keep[kept++] = i;
  weft_tensor *out = weft__out(k, 0, &SHAPE1(kept)), *idx = weft__out(k, 1, &SHAPE1(kept));
  if (!out || !idx) return WEFT_OOM;
  for (int64_t i = 0; i < kept; i++) {
    weft__index_put(idx, i, keep[i]);
    WEFT_TRY(weft__elements_copy(x->dtype, weft__element(x->dtype, out->data, i),
                                 weft__element_const(x->dtype, x->data, keep[i]), 1));
  }
  return WEFT_OK;
}

static weft_err diff_cpu(kernel *k) {
  const weft_tensor *x = k->in[0], *y = k->in[1];
  if (x->shape.rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "x should be a 1D vector.");
  if (y->shape.rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "y should be a 1D vector.");
  if (weft__dtype_class(x->dtype) == CLASS_OBJECT) return weft__kernel_no_type(k, x->dtype);
  row_set s;
  WEFT_TRY(set_init(&s, y->dtype, y->data, 1, y->shape.dim[0]));
  for (int64_t i = 0; i < y->shape.dim[0]; i++) *set_find(&s, weft__element_const(y->dtype, y->data, i), NULL) = i + 1;
  int64_t *keep = weft__alloc((size_t)(x->shape.dim[0] + 1) * sizeof *keep);
  weft_err err = keep ? put_diff(k, &s, keep) : WEFT_OOM;
  weft__free(keep);
  weft__free(s.slot);
  return err;
}

/* ---- cases ---- */

#define TWO_NANS "f32[5] nan 1 nan 0 -0"

static const op_case unique_cases[] = {
    {"i32[6] 4 1 4 2 1 9", "i32[4] 4 1 2 9; i32[6] 0 1 0 2 1 3", NULL, 0},
    {"f64[4] 1.5 -2 1.5 0", "f64[3] 1.5 -2 0; i64[4] 0 1 0 2", "out_idx=int64", CASE_NO_GRAD},
    {TWO_NANS, NULL, NULL, CASE_NO_GRAD},
    {"str[3] \"b\" \"a\" \"b\"", "str[2] \"b\" \"a\"; i32[3] 0 1 0", NULL, 0},
    {"bool[3] true false true", "bool[2] true false; i32[3] 0 1 0", NULL, 0},
    {"i64[0] 0", "i64[0] 0; i32[0] 0", NULL, 0},
    {"i64[1000] below:100", NULL, NULL, 0},
    {"i64[3000] below:100000", NULL, "out_idx=int64", 0},
    {"i64[5] 1 4294967297 1 4294967296 0", "i64[4] 1 4294967297 4294967296 0; i32[5] 0 1 0 2 3", NULL, 0},
    {"i64[3] -1 -2 -1", "i64[2] -1 -2; i32[3] 0 1 0", NULL, 0},
    {"i8[4] 3 -3 3 0", "i8[3] 3 -3 0; i64[4] 0 1 0 2", "out_idx=int64", CASE_FIXED_TYPE},
    {"i32[150000] below:1000000", NULL, NULL, CASE_FIXED_TYPE},
    {"i32[2,2] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case counts_cases[] = {
    {"i32[6] 4 1 4 2 1 4", "i32[3] 4 1 2; i32[6] 0 1 0 2 1 0; i32[3] 3 2 1", NULL, 0},
    {"str[3] \"b\" \"a\" \"b\"", "str[2] \"b\" \"a\"; i64[3] 0 1 0; i64[2] 2 1", "out_idx=int64", 0},
    {"i32[2,2] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case v2_cases[] = {
    {"i64[3,2] 1 2 1 2 0 1; i32[1] 0", "i64[2,2] 1 2 0 1; i32[3] 0 0 1", NULL, 0},
    {"i64[2,3] 1 1 2 3 3 4; i64[1] -1", "i64[2,2] 1 2 3 4; i32[3] 0 0 1", NULL, 0},
    {"i32[4] 3 1 3 1; i64[0] 0", "i32[2] 3 1; i32[4] 0 1 0 1", NULL, 0},
    {"i64[3,2] 0; i32[1] 2", "error INVALID_ARGUMENT", NULL, 0},
    {"i64[3,2] 0; i32[2] 0 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case counts_v2_cases[] = {
    {"i64[3,2] 1 2 1 2 0 1; i32[1] 0", "i64[2,2] 1 2 0 1; i32[3] 0 0 1; i32[2] 2 1", NULL, 0},
    {"i32[2,3,2] below:2; i64[1] 1", NULL, NULL, 0},
    {0},
};

static const op_case diff_cases[] = {
    {"i32[6] 1 2 3 4 5 6; i32[3] 1 3 5", "i32[3] 2 4 6; i32[3] 1 3 5", NULL, 0},
    {"i64[4] 3 1 2 3; i64[1] 1", "i64[3] 3 2 3; i64[3] 0 2 3", "out_idx=int64", 0},
    {"str[2] \"a\" \"b\"; str[1] \"a\"", "str[1] \"b\"; i32[1] 1", NULL, 0},
    {"f32[2] 1 2; f32[0] 0", "f32[2] 1 2; i32[2] 0 1", NULL, CASE_NO_GRAD},
    {"i32[2,2] 0; i32[1] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

#define OUT_IDX "out_idx:type{int32,int64}=int32"

static const op padded_unique_op = {.def = "_PaddedUnique"};
static const fusion unique_fusion = {.role = ROLE_DISTINCT, .padded = &padded_unique_op};

OPS(unique) = {
    {"Unique(x:T) -> (y:T, idx:out_idx) | T:type " OUT_IDX, "The distinct elements, in order of first sight.",
     .infer = unique_infer, .cpu = unique_cpu, .cases = unique_cases, .fusion = &unique_fusion},
    {"UniqueWithCounts(x:T) -> (y:T, idx:out_idx, count:out_idx) | T:type " OUT_IDX,
     "The distinct elements, and how often each occurs.", .infer = unique_infer, .cpu = unique_cpu,
     .cases = counts_cases},
    {"UniqueV2(x:T, axis:Taxis) -> (y:T, idx:out_idx) | T:type Taxis:type{int32,int64}=int64 " OUT_IDX,
     "The distinct slices along an axis.", .infer = unique_v2_infer, .cpu = unique_v2_cpu, .cases = v2_cases},
    {"UniqueWithCountsV2(x:T, axis:Taxis) -> (y:T, idx:out_idx, count:out_idx) | T:type "
     "Taxis:type{int32,int64}=int64 " OUT_IDX,
     "The distinct slices along an axis, and how often each occurs.", .infer = unique_v2_infer, .cpu = unique_v2_cpu,
     .cases = counts_v2_cases},
    {"ListDiff(x:T, y:T) -> (out:T, idx:out_idx) | T:type " OUT_IDX,
     "The elements of x that are not in y, and where they stood.", .infer = diff_infer, .cpu = diff_cpu,
     .cases = diff_cases, .anywhere = "*"},
    {0},
};
