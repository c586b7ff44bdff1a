/* topk.c - TopK, TopKV2 and ApproxTopK, the k largest elements of each row in order, and NthElement.
 *
 * A heap holds the positions of the k best elements so far, with the worst at the top.  If k is a large part of a row,
 * the whole row is sorted by radix sort instead, which is three times as fast.  Equal elements keep the order of their
 * positions.  The values are read at the end, so half and bfloat16 are compared as floats and
 * returned unchanged. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "kernels/array/radix_sort.h"
#include "kernels/simd/widen.h"
#include "kernels/work/long_work.h"
#include <string.h>

typedef struct topk_work {
  const void *x; /* (rows, n), the elements to compare */
  int64_t n, k;
  int64_t *at;        /* (rows, k) */
  weft_dtype type;    /* of x */
  pool_loop *by_heap; /* for rows that cannot be sorted by radix sort */
} topk_work;

/* A heap of positions with the worst element at the top: the smaller one, or of equal ones the later. */
#define DEFINE_TOP(name, T)                                                                                            \
  static inline bool name##_worse(const T *x, int64_t a, int64_t b) { return x[a] < x[b] || (x[a] == x[b] && a > b); } \
  static void name##_sink(const T *x, int64_t *heap, int64_t n, int64_t i) {                                           \
    for (int64_t child; (child = 2 * i + 1) < n;) {                                                                    \
      if (child + 1 < n && name##_worse(x, heap[child + 1], heap[child])) child++;                                     \
      if (!name##_worse(x, heap[child], heap[i])) return;                                                              \
      const int64_t t = heap[i];                                                                                       \
      heap[i] = heap[child];                                                                                           \
      heap[child] = t;                                                                                                 \
      i = child;                                                                                                       \
    }                                                                                                                  \
  }                                                                                                                    \
  static void name(void *arg, int64_t begin, int64_t end) {                                                            \
    const topk_work *j = arg;                                                                                          \
    for (int64_t r = begin; r < end; r++) {                                                                            \
      const T *x = (const T *)j->x + r * j->n;                                                                         \
      int64_t *heap = j->at + r * j->k;                                                                                \
      for (int64_t i = 0; i < j->k; i++) heap[i] = i;                                                                  \
      for (int64_t i = j->k / 2 - 1; i >= 0; i--) name##_sink(x, heap, j->k, i);                                       \
      for (int64_t i = j->k; i < j->n && j->k > 0; i++) {                                                              \
        if (!name##_worse(x, heap[0], i)) continue;                                                                    \
        heap[0] = i;                                                                                                   \
        name##_sink(x, heap, j->k, 0);                                                                                 \
      }                                                                                                                \
      for (int64_t left = j->k - 1; left > 0; left--) { /* the worst goes to the end */                                \
        const int64_t t = heap[0];                                                                                     \
        heap[0] = heap[left];                                                                                          \
        heap[left] = t;                                                                                                \
        name##_sink(x, heap, left, 0);                                                                                 \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_TOP(top_f32, float)
DEFINE_TOP(top_f64, double)
DEFINE_TOP(top_i8, int8_t)
DEFINE_TOP(top_i16, int16_t)
DEFINE_TOP(top_i32, int32_t)
DEFINE_TOP(top_i64, int64_t)
DEFINE_TOP(top_u8, uint8_t)
DEFINE_TOP(top_u16, uint16_t)
DEFINE_TOP(top_u32, uint32_t)
DEFINE_TOP(top_u64, uint64_t)

static pool_loop *const by_type[WEFT_DTYPE_COUNT] = {
    [WEFT_FLOAT] = top_f32, [WEFT_DOUBLE] = top_f64, [WEFT_HALF] = top_f32,   [WEFT_BFLOAT16] = top_f32,
    [WEFT_INT8] = top_i8,   [WEFT_INT16] = top_i16,  [WEFT_INT32] = top_i32,  [WEFT_INT64] = top_i64,
    [WEFT_UINT8] = top_u8,  [WEFT_UINT16] = top_u16, [WEFT_UINT32] = top_u32, [WEFT_UINT64] = top_u64,
};

/* ---- whole rows by radix sort ---- */

/* Unsigned keys in the opposite order of floats: the bits of negative numbers are inverted, and the sign bit of the
 * others.  Adding 0 makes -0 equal to 0. */
static uint64_t key_f32(float x) {
  uint32_t u;
  x += 0.0f;
  memcpy(&u, &x, sizeof u);
  return (uint32_t) ~(u >> 31 ? ~u : u | 0x80000000u);
}

static uint64_t key_f64(double x) {
  uint64_t u;
  x += 0.0;
  memcpy(&u, &x, sizeof u);
  return ~(u >> 63 ? ~u : u | (uint64_t)1 << 63);
}

/* Fills the items of a row.  Returns false if an element is NaN, which has no place in an order. */
#define FILL_ROW(T, KEY, ORDERED)                                                                                      \
  do {                                                                                                                 \
    const T *row = (const T *)j->x + r * j->n;                                                                         \
    for (int64_t i = 0; i < j->n; i++) {                                                                               \
      const T x = row[i];                                                                                              \
      is_ordered = (ORDERED) && is_ordered;                                                                            \
      items[i] = (radix_item){KEY, i};                                                                                 \
    }                                                                                                                  \
  } while (0)
static bool fill_row(const topk_work *j, int64_t r, radix_item *items) {
  bool is_ordered = true;
  switch (j->type) {
  case WEFT_DOUBLE: FILL_ROW(double, key_f64(x), x == x); break;
  case WEFT_INT8: FILL_ROW(int8_t, (uint64_t)(127 - x), true); break;
  case WEFT_INT16: FILL_ROW(int16_t, (uint64_t)(32767 - x), true); break;
  case WEFT_INT32: FILL_ROW(int32_t, (uint64_t)(INT32_MAX - (int64_t)x), true); break;
  case WEFT_INT64: FILL_ROW(int64_t, (uint64_t)INT64_MAX - (uint64_t)x, true); break;
  case WEFT_UINT8: FILL_ROW(uint8_t, (uint64_t)(255 - x), true); break;
  case WEFT_UINT16: FILL_ROW(uint16_t, (uint64_t)(65535 - x), true); break;
  case WEFT_UINT32: FILL_ROW(uint32_t, (uint64_t)(UINT32_MAX - x), true); break;
  case WEFT_UINT64: FILL_ROW(uint64_t, UINT64_MAX - x, true); break;
  default: FILL_ROW(float, key_f32(x), x == x);
  }
  return is_ordered;
}

static void sort_rows(void *arg, int64_t begin, int64_t end) {
  const topk_work *j = arg;
  const int bytes = weft__is_16bit(j->type) ? 4 : weft__int_sat((int64_t)weft__dtype_size(j->type));
  radix_item *items = weft__alloc((size_t)j->n * 2 * sizeof *items);
  for (int64_t r = begin; r < end; r++) {
    if (!items || !fill_row(j, r, items)) {
      j->by_heap(arg, r, r + 1);
      continue;
    }
    const radix_item *sorted = weft__radix_sort(items, items + j->n, j->n, bytes);
    for (int64_t i = 0; i < j->k; i++) j->at[r * j->k + i] = sorted[i].at;
  }
  weft__free(items);
}

/* Returns true if sorting the rows costs less than their heaps. */
static bool is_worth_sorting(const topk_work *j) { return j->n >= 64 && j->k >= j->n / 8; }

/* Fills at, (rows, top) int64, with the positions of the largest elements in order. */
static weft_err find_top(kernel *k, const weft_tensor *x, int64_t rows, int64_t top, weft_tensor *at) {
  if (!by_type[x->dtype]) return weft__kernel_no_type(k, x->dtype);
  widened floats = {0};
  topk_work j = {
      .x = x->data, .n = x->shape.dim[x->shape.rank - 1], .k = top, .type = x->dtype, .by_heap = by_type[x->dtype]};
  WEFT_TRY(weft__scratch(k, at, WEFT_INT64, &SHAPE2(rows, top)));
  j.at = at->data;
  if (weft__is_16bit(x->dtype)) {
    WEFT_TRY(weft__widened_load(&floats, x));
    j.x = floats.data;
  }
  const int64_t cost = 2 * j.n + 20 * top + 10;
  const weft_err err = weft__long_loop(k, top ? rows : 0, cost, is_worth_sorting(&j) ? sort_rows : j.by_heap, &j);
  weft__widened_finish(&floats);
  return err;
}

/* ---- results ---- */

static void topk_fetch(const weft_tensor *x, int64_t r, int64_t place, weft_tensor *out, int64_t i) {
  const size_t size = weft__dtype_size(x->dtype);
  const int64_t n = x->shape.dim[x->shape.rank - 1];
  memcpy((char *)out->data + (size_t)i * size, (const char *)x->data + (size_t)(r * n + place) * size, size);
}

typedef struct results {
  const weft_tensor *x;
  const int64_t *at; /* (rows, top) */
  int64_t top;
  weft_tensor *values, *places;
} results;

#define COPY_AT(T)                                                                                                     \
  for (int64_t i = 0; i < top; i++) TENSOR_DATA(f->values, T)[r * top + i] = TENSOR_DATA(f->x, T)[r * n + at[i]]
#define PUT_AT(T)                                                                                                      \
  for (int64_t i = 0; i < top; i++) TENSOR_DATA(f->places, T)[r * top + i] = (T)at[i]

static void fill_results(void *arg, int64_t begin, int64_t end) {
  const results *f = arg;
  const int64_t top = f->top, n = f->x->shape.dim[f->x->shape.rank - 1];
  for (int64_t r = begin; r < end; r++) {
    const int64_t *at = f->at + r * top;
    switch (weft__dtype_size(f->x->dtype)) {
    case 1: COPY_AT(uint8_t); break;
    case 2: COPY_AT(uint16_t); break;
    case 4: COPY_AT(uint32_t); break;
    default: COPY_AT(uint64_t);
    }
    switch (f->places->dtype) {
    case WEFT_INT16: PUT_AT(int16_t); break;
    case WEFT_INT32: PUT_AT(int32_t); break;
    default: PUT_AT(int64_t);
    }
  }
}

static weft_err top_k(kernel *k, int64_t top) {
  const weft_tensor *x = k->in[0];
  shape s = x->shape;
  if (top < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Need k >= 0, got %lld", (long long)top);
  if (s.rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be >= 1-D, got shape %s", weft__shape_text(&s));
  if (s.dim[s.rank - 1] < top)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must have at least k columns. Had %lld, needed %lld",
                             (long long)s.dim[s.rank - 1], (long long)top);
  const int64_t rows = weft__shape_product(&s, 0, s.rank - 1);
  s.dim[s.rank - 1] = top;
  weft_tensor *values = weft__out(k, 0, &s), *places = weft__out(k, 1, &s), at = {0};
  if (!values || !places) return WEFT_OOM;
  weft_err err = find_top(k, x, rows, top, &at);
  results f = {x, at.data, top, values, places};
  if (!err) err = weft__long_loop(k, top ? rows : 0, 3 * top + 5, fill_results, &f);
  weft__tensor_clear(&at);
  return err;
}

static weft_err top_k_cpu(kernel *k) { return top_k(k, weft__node_int(k->node, "k", 0)); }

/* On CPUs TensorFlow gives the exact result for every recall, and has no kernel for the smallest elements or for
 * another dimension than the last. */
static weft_err approx_cpu(kernel *k) {
  const int64_t axis = weft__node_int(k->node, "reduction_dimension", -1);
  const bool max = weft__node_bool(k->node, "is_max_k", true);
  if (axis == -1 && max) return top_k(k, weft__node_int(k->node, "k", 0));
  return weft__kernel_fail(
      k, WEFT_INVALID_ARGUMENT,
      "No OpKernel was registered to support Op 'ApproxTopK' used by {{node %s}} with these attrs: "
      "[reduction_dimension=%lld, is_max_k=%s] (on CPUs it takes -1 and true)",
      k->node->name, (long long)axis, max ? "true" : "false");
}

static weft_err top_k_v2_cpu(kernel *k) {
  if (k->in[1]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "k must be scalar, got shape %s",
                             weft__shape_text(&k->in[1]->shape));
  return top_k(k, weft__tensor_int(k->in[1], 0));
}

/* The last dimension becomes k, or -1 if k is not known. */
static weft_err infer_top(infer *s, int64_t top) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  if (s->in[0].rank < 0) return WEFT_OK;
  s->out[0] = s->in[0];
  int64_t *last = &s->out[0].dim[s->in[0].rank - 1];
  if (top >= 0 && *last >= 0 && *last < top)
    return weft__infer_fail(s, "input must have last dimension >= k = %lld but is %lld", (long long)top,
                            (long long)*last);
  *last = top;
  s->out[1] = s->out[0];
  return WEFT_OK;
}

static weft_err top_k_infer(infer *s) { return infer_top(s, weft__node_int(s->node, "k", 0)); }

static weft_err approx_infer(infer *s) {
  const float recall = weft__node_float(s->node, "recall_target", 0.95F);
  const int64_t top = weft__node_int(s->node, "k", 0), axis = weft__node_int(s->node, "reduction_dimension", -1);
  const int rank = s->in[0].rank;
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  if (!(recall > 0 && recall <= 1))
    return weft__infer_fail(s, "Invalid recall target: %g. Valid value range in : [0, 1.0].", (double)recall);
  if (rank < 0) return WEFT_OK;
  if (axis < -1 || axis >= rank)
    return weft__infer_fail(s, "Invalid reduction dimension: %lld. Must be within the range of [-1, %d]",
                            (long long)axis, rank - 1);
  s->out[0] = s->in[0];
  int64_t *along = &s->out[0].dim[axis < 0 ? rank - 1 : axis];
  if (*along < top)
    return weft__infer_fail(s, "input must have last dimension >= k = %lld but was %lld", (long long)top,
                            (long long)*along);
  *along = weft__node_bool(s->node, "aggregate_to_topk", true) ? top : -1;
  s->out[1] = s->out[0];
  return WEFT_OK;
}

static weft_err top_k_v2_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  const weft_tensor *top = weft__infer_value(s, 1);
  if (top && weft__tensor_int(top, 0) < 0)
    return weft__infer_fail(s, "Need k >= 0, got %lld", (long long)weft__tensor_int(top, 0));
  return infer_top(s, top ? weft__tensor_int(top, 0) : -1);
}

/* ---- gradient ---- */

/* Scatters the gradients back to their positions in the flat tensor, and sums those of equal positions. */
static weft_err top_k_grad(backprop *b) {
  weft_graph *g = b->graph;
  const int64_t flat = -1, column[] = {-1, 1};
  const weft_out zero = weft__b_scalar(g, WEFT_INT32, 0), one = weft__b_scalar(g, WEFT_INT32, 1);
  const weft_out dims = weft__b_shape(g, b->in[0]), size = weft__b_size(g, b->in[0]);
  const weft_out n = weft__b_gather(g, dims, weft__b_sub(g, weft__b_size(g, dims), one), zero);
  const weft_out top_dims = weft__b_shape(g, b->out[1]);
  const weft_out top = weft__b_gather(g, top_dims, weft__b_sub(g, weft__b_size(g, top_dims), one), zero);
  const weft_out rows = weft__b_binary(g, "FloorDiv", size, weft__b_binary(g, "Maximum", n, one));
  const weft_out matrix_dims[] = {rows, top};
  const weft_out places = weft__b_reshape(g, weft__b_cast(g, b->out[1], WEFT_INT32),
                                          weft__b_node(g, "Pack", NULL, 2, matrix_dims, 0, NULL));
  const weft_out starts = weft__b_mul(g, weft__b_node(g, "Range", NULL, 3, (weft_out[]){zero, rows, one}, 0, NULL), n);
  const weft_out all = weft__b_add(g, places, weft__b_reshape(g, starts, weft__b_ints(g, column, 2)));
  const weft_out in[] = {weft__b_reshape(g, b->dout[0], weft__b_ints(g, &flat, 1)),
                         weft__b_reshape(g, all, weft__b_ints(g, &flat, 1)), size};
  b->din[0] = GRAD_DENSE(weft__b_reshape(g, weft__b_node(g, "UnsortedSegmentSum", NULL, 3, in, 0, NULL), dims));
  return WEFT_OK;
}

/* ---- NthElement ---- */
static weft_err nth_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  shape s = x->shape;
  if (k->in[1]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "N must be scalar but has rank %d", k->in[1]->shape.rank);
  const int64_t nth = weft__tensor_int(k->in[1], 0);
  if (nth < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "n must be non-negative but is %lld", (long long)nth);
  if (s.rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input must be at least rank 1 but is rank %d", s.rank);
  const int64_t n = s.dim[s.rank - 1];
  if (nth >= n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input must have last dimension > n = %lld", (long long)nth);
  const int64_t top = weft__node_bool(k->node, "reverse", false) ? nth + 1 : n - nth;
  const int64_t rows = weft__shape_product(&s, 0, s.rank - 1);
  s.rank--;
  weft_tensor *out = weft__out(k, 0, &s), at = {0};
  if (!out) return WEFT_OOM;
  const weft_err err = find_top(k, x, rows, top, &at);
  for (int64_t r = 0; !err && r < rows; r++) topk_fetch(x, r, TENSOR_DATA(&at, int64_t)[r * top + top - 1], out, r);
  weft__tensor_clear(&at);
  return err;
}

static weft_err nth_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  s->out[0] = s->in[0];
  if (s->out[0].rank > 0) s->out[0].rank--;
  return WEFT_OK;
}

static weft_err nth_grad(backprop *b) { /* divided equally among all that equal it */
  weft_graph *g = b->graph;
  const weft_out last = weft__b_scalar(g, WEFT_INT32, -1);
  const weft_out y = weft__b_binary(g, "ExpandDims", b->out[0], last);
  const weft_out dy = weft__b_binary(g, "ExpandDims", b->dout[0], last);
  const weft_out hit = weft__b_cast(g, weft__b_binary(g, "Equal", y, b->in[0]), weft__out_type(g, dy));
  const weft_out hits = weft__b_binary(g, "ExpandDims", weft__b_sum(g, hit, last, false), last);
  b->din[0] = GRAD_DENSE(weft__b_mul(g, weft__b_div(g, hit, hits), dy));
  return WEFT_OK;
}

/* ---- cases ---- */
/* TensorFlow runs version 1 only in graphs of old producers. */
static const op_case top_k_cases[] = {
    {"f32[5] 1 5 3 4 2", "f32[3] 5 4 3; i32[3] 1 3 2", "k=3", CASE_NO_PARITY},
    {"f32[2,3] 1 3 3 2 2 1", "f32[2,2] 3 3 2 2; i32[2,2] 1 2 0 1", "k=2", CASE_NO_GRAD | CASE_NO_PARITY},
    {"f32[2,3] rand", "f32[2,0]; i32[2,0]", "k=0", CASE_NO_GRAD | CASE_NO_PARITY},
    {"f32[0,3]", "f32[0,2]; i32[0,2]", "k=2", CASE_NO_GRAD | CASE_NO_PARITY},
    {"f32[3] 1 2 3", "error INVALID_ARGUMENT", "k=4", CASE_NO_PARITY},
    {"f32[] 1", "error INVALID_ARGUMENT", "k=0", CASE_NO_PARITY},
    {0},
};

static const op_case top_k_v2_cases[] = {
    {"f32[5] 1 5 3 4 2; i32[] 3", "f32[3] 5 4 3; i32[3] 1 3 2"},
    {"f32[2,3] 1 3 3 2 2 1; i32[] 2", "f32[2,2] 3 3 2 2; i32[2,2] 1 2 0 1", NULL, CASE_NO_GRAD},
    {"f32[2,3] rand; i32[] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[0,3]; i32[] 2", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,3,4] normal; i32[] 2", NULL, "index_type=int64", CASE_FIXED_TYPE},
    {"f32[3] 1 2 3; i32[] 4", "error INVALID_ARGUMENT"},
    {"f32[3] 1 2 3; i32[] -1", "error INVALID_ARGUMENT"},
    {"f32[20,300] normal; i32[] 300", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[3,200] normal; i32[] 70", NULL, NULL, CASE_NO_GRAD},
    {"i32[2,300] below:50; i32[] 300", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {0},
};

static const op_case approx_cases[] = {
    {"f32[5] 1 5 3 4 2", "f32[3] 5 4 3; i32[3] 1 3 2", "k=3"},
    {"f32[2,3] 1 3 3 2 2 1", NULL, "k=2 recall_target=0.5", CASE_NO_GRAD},
    {"f32[4,50] normal", NULL, "k=7 reduction_input_size_override=1000"},
    {"f32[3] 1 3 2", NULL, "k=0", CASE_NO_GRAD},
    {"f32[3] 1 3 2", "f32[2] 3 2; i32[2] 1 2", "k=2 aggregate_to_topk=false", CASE_NO_GRAD | CASE_NO_PARITY},
    {"f32[3] 1 2 3", "error INVALID_ARGUMENT", "k=4"},
    {"f32[3] 1 2 3", "error INVALID_ARGUMENT", "k=1 recall_target=2.0"},
    {"f32[3] 1 2 3", "error INVALID_ARGUMENT", "k=1 reduction_dimension=1"},
    {"f32[2,3] 1 2 3", "error INVALID_ARGUMENT", "k=1 reduction_dimension=0", CASE_NO_GRAD},
    {"f32[3] 1 2 3", "error INVALID_ARGUMENT", "k=1 is_max_k=false", CASE_NO_GRAD},
    {0},
};

static const op_case nth_cases[] = {
    {"f32[5] 1 5 3 4 2; i32[] 1", "f32[] 2"},
    {"f32[5] 1 5 3 4 2; i32[] 1", "f32[] 4", "reverse=true"},
    {"f32[2,3] 1 3 3 2 2 1; i32[] 1", "f32[2] 3 2", NULL, CASE_NO_GRAD},
    {"f32[0,3]; i32[] 1", "f32[0]", NULL, CASE_NO_GRAD},
    {"f32[3] 1 2 3; i32[] 3", "error INVALID_ARGUMENT"},
    {0},
};

OPS(topk) = {
    {"TopK(input:T) -> (values:T, indices:int32) | k:int>=0 sorted:bool=true T:type{real}",
     "The k greatest along the last dimension and where they are.", .infer = top_k_infer, .cpu = top_k_cpu,
     .grad = top_k_grad, .cases = top_k_cases, .amp = AMP_CLEAR},
    {"TopKV2(input:T, k:Tk) -> (values:T, indices:index_type) | sorted:bool=true T:type{real} "
     "Tk:type{int16,int32,int64}=int32 index_type:type{int16,int32,int64}=int32",
     "The k greatest along the last dimension and where they are.", .infer = top_k_v2_infer, .cpu = top_k_v2_cpu,
     .grad = top_k_grad, .cases = top_k_v2_cases, .amp = AMP_CLEAR},
    {"ApproxTopK(input:T) -> (values:T, indices:int32) | k:int>=0 reduction_dimension:int=-1 "
     "recall_target:float=0.949999988 "
     "is_max_k:bool=true reduction_input_size_override:int=-1 aggregate_to_topk:bool=true T:type{half,bfloat16,float}",
     "The k greatest along a dimension, perhaps not all of them.", .infer = approx_infer, .cpu = approx_cpu,
     .grad = top_k_grad, .cases = approx_cases},
    {"NthElement(input:T, n:int32) -> (values:T) | reverse:bool=false T:type{real}",
     "The element that would be at place n if the last dimension were sorted.", .infer = nth_infer, .cpu = nth_cpu,
     .grad = nth_grad, .cases = nth_cases},
    {0},
};
