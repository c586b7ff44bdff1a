/* search.c - binary search in sorted rows (LowerBound, UpperBound) and flat indices to coordinates (UnravelIndex). */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/array/index.h"
#include "kernels/work/long_work.h"
#include <string.h>

/* ---- LowerBound, UpperBound: for each value, the number of elements of its row that are < (or <=) the value ---- */

static weft_err bound_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 2, NULL));
  return weft__infer_rank(s, 1, 2, &s->out[0]);
}

static int64_t by_bytes(const str *a, const str *b) {
  size_t n = a->size < b->size ? a->size : b->size;
  int order = n ? memcmp(a->data, b->data, n) : 0;
  return order ? order : (a->size > b->size) - (a->size < b->size);
}

/* Returns true if element i of a is less than element j of b (with `ties`: or equal). */
static bool search_before(const weft_tensor *a, int64_t i, const weft_tensor *b, int64_t j, bool ties) {
  dtype_class c = weft__dtype_class(a->dtype);
  if (c == CLASS_STRING) {
    int64_t order = by_bytes(TENSOR_DATA(a, str) + i, TENSOR_DATA(b, str) + j);
    return order < 0 || (ties && order == 0);
  }
  if (c == CLASS_FLOAT) {
    double x = weft__tensor_double(a, i), y = weft__tensor_double(b, j);
    return ties ? x <= y : x < y;
  }
  int64_t x = weft__tensor_int(a, i), y = weft__tensor_int(b, j);
  if (a->dtype == WEFT_UINT64) return ties ? (uint64_t)x <= (uint64_t)y : (uint64_t)x < (uint64_t)y;
  return ties ? x <= y : x < y;
}

typedef struct search {
  const weft_tensor *x, *v;
  weft_tensor *y;
  bool ties;
} search;

static void search_store(const search *s, int64_t i, int64_t found) {
  if (s->y->dtype == WEFT_INT64)
    TENSOR_DATA(s->y, int64_t)[i] = found;
  else
    TENSOR_DATA(s->y, int32_t)[i] = (int32_t)found;
}

static void search_any(void *arg, int64_t begin, int64_t end) {
  const search *s = arg;
  const int64_t n = s->x->shape.dim[1];
  for (int64_t i = begin; i < end; i++) {
    int64_t row = i / s->v->shape.dim[1] * n, low = 0, high = n;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (search_before(s->x, row + middle, s->v, i, s->ties))
        low = middle + 1;
      else
        high = middle;
    }
    search_store(s, i, low);
  }
}

/* The same steps without branches, which would be mispredicted half of the time. */
#define SEARCH(name, type)                                                                                             \
  static inline int64_t name##_one(const type *row, int64_t n, type v, bool ties) {                                    \
    const type *at = row;                                                                                              \
    while (n > 0) {                                                                                                    \
      const int64_t half = n / 2;                                                                                      \
      const bool right = ties ? at[half] <= v : at[half] < v;                                                          \
      at += right ? half + 1 : 0;                                                                                      \
      n = right ? n - half - 1 : half;                                                                                 \
    }                                                                                                                  \
    return at - row;                                                                                                   \
  }                                                                                                                    \
  static void name(void *arg, int64_t begin, int64_t end) {                                                            \
    const search *s = arg;                                                                                             \
    const int64_t n = s->x->shape.dim[1], values = s->v->shape.dim[1];                                                 \
    const type *x = TENSOR_DATA(s->x, type), *v = TENSOR_DATA(s->v, type);                                             \
    for (int64_t i = begin; i < end; i++) {                                                                            \
      const type *row = x + i / values * n;                                                                            \
      search_store(s, i, s->ties ? name##_one(row, n, v[i], true) : name##_one(row, n, v[i], false));                  \
    }                                                                                                                  \
  }
SEARCH(search_float, float)
SEARCH(search_double, double)
SEARCH(search_int32, int32_t)
SEARCH(search_int64, int64_t)

static pool_loop *search_loop(weft_dtype t) {
  switch (t) {
  case WEFT_FLOAT: return search_float;
  case WEFT_DOUBLE: return search_double;
  case WEFT_INT32: return search_int32;
  case WEFT_INT64: return search_int64;
  default: return search_any;
  }
}

static weft_err search_bound(kernel *k, bool ties) {
  search s = {.x = k->in[0], .v = k->in[1], .ties = ties};
  for (int i = 0; i < 2; i++)
    if (k->in[i]->shape.rank != 2)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Shape must be rank 2 but is rank %d for `%s` argument",
                               k->in[i]->shape.rank, i ? "values" : "sorted_inputs");
  if (s.x->shape.dim[0] != s.v->shape.dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Leading dim_size of both tensors must match.");
  if (!(s.y = weft__out(k, 0, &s.v->shape))) return WEFT_OOM;
  return weft__long_loop(k, weft__tensor_count(s.v), 30, search_loop(s.x->dtype), &s);
}

static weft_err lower_cpu(kernel *k) { return search_bound(k, false); }
static weft_err upper_cpu(kernel *k) { return search_bound(k, true); }

/* ---- UnravelIndex ---- */

static weft_err unravel_infer(infer *s) {
  const shape *i = &s->in[0];
  shape dims;
  WEFT_TRY(weft__infer_rank(s, 1, 1, &dims));
  if (i->rank == 0)
    s->out[0] = dims;
  else if (i->rank > 0)
    s->out[0] = SHAPE2(dims.dim[0], weft__shape_count(i));
  return WEFT_OK;
}

static weft_err unravel_cpu(kernel *k) {
  const weft_tensor *t = k->in[0];
  int64_t dims[WEFT_MAX_RANK], all = 1, n = weft__tensor_count(t);
  int rank;
  if (t->shape.rank > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "The indices can only be scalar or vector, got \"%s\"",
                             weft__shape_text(&t->shape));
  WEFT_TRY(weft__kernel_vector(k, 1, "dims"));
  WEFT_TRY(weft__kernel_ints(k, 1, "dims", dims, &rank));
  for (int d = 0; d < rank; d++)
    if (dims[d] <= 0 || __builtin_mul_overflow(all, dims[d], &all))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Input dims cannot contain a dim of zero, but dims contains "
                               "%lld at place %d",
                               (long long)dims[d], d);
  weft_tensor *y = weft__out(k, 0, t->shape.rank ? &SHAPE2(rank, n) : &SHAPE1(rank));
  if (!y) return WEFT_OOM;
  for (int64_t i = 0; i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    int64_t v = weft__index_at(t, i);
    if (v < 0 || v >= all) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "index is out of bound as with dims");
    for (int d = rank - 1; d >= 0; d--, v /= dims[d + 1]) weft__index_put(y, d * n + i, v % dims[d]);
  }
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case lower_cases[] = {
    {"f32[2,4] 1 2 2 3 0 0 5 9; f32[2,3] 2 0 9 0 5 6", "i32[2,3] 1 0 4 0 2 3", NULL, CASE_NO_GRAD},
    {"i64[1,3] 1 5 9; i64[1,2] 5 10", "i64[1,2] 1 3", "out_type=int64", 0},
    {"f32[1,0] 0; f32[1,1] 0", "i32[1,1] 0", NULL, CASE_NO_GRAD},
    {"f64[1,5] -3 0 0 2 8; f64[1,6] -9 0 1 8 9 nan", NULL, NULL, CASE_NO_GRAD},
    {"i32[1,4] 1 2 2 3; i32[1,5000] below:6", NULL, "out_type=int64", 0},
    {"f16[1,3] 1 5 9; f16[1,2] 5 10", NULL, NULL, CASE_NO_GRAD},
    {"u8[1,3] 1 5 9; u8[1,2] 5 10", NULL, NULL, 0},
    {"f32[2,1] 0; f32[1,1] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"f32[2] 0; f32[1,1] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

static const op_case upper_cases[] = {
    {"f32[2,4] 1 2 2 3 0 0 5 9; f32[2,3] 2 0 9 0 5 6", "i32[2,3] 3 0 4 2 3 3", NULL, CASE_NO_GRAD},
    {"i64[1,3] 1 5 9; i64[1,2] 5 10", "i64[1,2] 2 3", "out_type=int64", 0},
    {0},
};

static const op_case unravel_cases[] = {
    {"i32[2] 7 3; i32[2] 2 4", "i32[2,2] 1 0 3 3", NULL, 0},
    {"i64[] 3; i64[2] 2 4", "i64[2] 0 3", NULL, 0},
    {"i32[5] below:24; i32[3] 2 3 4", NULL, NULL, 0},
    {"i32[1] 8; i32[2] 2 4", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

#define BOUND "(sorted_inputs:T, values:T) -> (output:out_type) | T:type out_type:type{int32,int64}=int32"

OPS(search) = {
    {"LowerBound" BOUND, "The first place in each sorted row where a value could go.", .infer = bound_infer,
     .cpu = lower_cpu, .cases = lower_cases},
    {"UpperBound" BOUND, "The last place in each sorted row where a value could go.", .infer = bound_infer,
     .cpu = upper_cpu, .cases = upper_cases},
    {"UnravelIndex(indices:Tidx, dims:Tidx) -> (output:Tidx) | Tidx:type{int32,int64}=int32",
     "Flat indices as places in a tensor of given dimensions.", .infer = unravel_infer, .cpu = unravel_cpu,
     .cases = unravel_cases},
    {0},
};
