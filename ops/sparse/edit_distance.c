/* edit_distance.c - EditDistance: the least number of insertions, deletions and replacements between two sequences.
 *
 * The sequences are the rows of two sparse tensors along their last dimension.  A row that only one tensor has is
 * compared with an empty sequence. */
#include "base/alloc.h"
#include "kernels/sparse/sparse.h"
#include "kernels/work/long_work.h"
#include <math.h>
#include <string.h>

typedef struct sequence {
  const weft_tensor *values;
  int64_t from, n;
} sequence;

static bool same_value(const sequence *a, int64_t i, const sequence *b, int64_t j) {
  if (a->values->dtype == WEFT_STRING) {
    const str *x = TENSOR_DATA(a->values, str) + a->from + i, *y = TENSOR_DATA(b->values, str) + b->from + j;
    return x->size == y->size && (!x->size || !memcmp(x->data, y->data, x->size));
  }
  const size_t size = weft__dtype_size(a->values->dtype);
  if (weft__dtype_class(a->values->dtype) == CLASS_FLOAT)
    return weft__tensor_double(a->values, a->from + i) == weft__tensor_double(b->values, b->from + j);
  return !memcmp((const char *)a->values->data + (size_t)(a->from + i) * size,
                 (const char *)b->values->data + (size_t)(b->from + j) * size, size);
}

enum { COMPARE_COST = 8 }; /* in the operations of kernels/work/long_work.h */

/* row has room for b->n + 1 numbers. */
static int64_t edit_distance_between(const sequence *a, const sequence *b, int64_t *row, long_work *work,
                                     int64_t *spent) {
  for (int64_t j = 0; j <= b->n; j++) row[j] = j;
  for (int64_t i = 0; i < a->n && !weft__long_work_spent(work, spent, b->n * COMPARE_COST); i++) {
    int64_t diagonal = row[0];
    row[0] = i + 1;
    for (int64_t j = 0; j < b->n; j++) {
      const int64_t above = row[j + 1], replaced = diagonal + !same_value(a, i, b, j);
      int64_t best = above < row[j] ? above + 1 : row[j] + 1;
      if (replaced < best) best = replaced;
      diagonal = above;
      row[j + 1] = best;
    }
  }
  return row[b->n];
}

static float edit_distance_result(const kernel *k, int64_t edits, int64_t truth) {
  if (!weft__node_bool(k->node, "normalize", true)) return (float)edits;
  if (truth == 0) return edits ? INFINITY : 0;
  return (float)edits / (float)truth;
}

/* Returns the end of the sequence that begins at `from`: its entries agree in all indices but the last. */
static int64_t row_end(const weft_tensor *indices, int64_t from) {
  const int64_t n = indices->shape.dim[0], depth = indices->shape.dim[1], *at = TENSOR_DATA(indices, int64_t);
  int64_t to = from;
  while (to < n && !weft__sparse_compare(at + from * depth, at + to * depth, depth - 1)) to++;
  return to;
}

/* The last index of an entry only separates it from the others of its row: TensorFlow reads a row's values as they
 * come, in and out of the shape, and public programs rely on it. */
static weft_err check_inputs(const kernel *k, shape *out) {
  for (int i = 0; i < 2; i++) {
    WEFT_TRY(weft__sparse_check(k, k->in[3 * i], k->in[3 * i + 1], k->in[3 * i + 2]));
    for (int64_t d = 0; d < k->in[3 * i + 2]->shape.dim[0]; d++)
      if (TENSOR_DATA(k->in[3 * i + 2], int64_t)[d] < 0)
        return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Dimension %lld must be >= 0",
                                 (long long)TENSOR_DATA(k->in[3 * i + 2], int64_t)[d]);
  }
  const int64_t depth = k->in[0]->shape.dim[1];
  if (depth != k->in[3]->shape.dim[1])
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "Expected truth and hypothesis to have matching ranks, but they have %lld and %lld dimensions",
        (long long)k->in[3]->shape.dim[1], (long long)depth);
  if (depth < 2 || depth > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Input SparseTensors must have rank at least 2, but truth_shape rank is: %lld",
                             (long long)depth);
  out->rank = 0;
  for (int64_t d = 0; d + 1 < depth; d++) {
    const int64_t a = TENSOR_DATA(k->in[2], int64_t)[d], b = TENSOR_DATA(k->in[5], int64_t)[d];
    out->dim[out->rank++] = a > b ? a : b;
  }
  return WEFT_OK;
}

/* Writes the distance of the rows that begin at *a and *b, or of the earlier one and an empty row, and advances
 * both. */
static weft_err put_next(const kernel *k, weft_tensor *out, int64_t *a, int64_t *b, int64_t *room, long_work *work,
                         int64_t *spent) {
  const weft_tensor *x = k->in[0], *y = k->in[3];
  const int64_t depth = x->shape.dim[1];
  const int64_t *p = TENSOR_DATA(x, int64_t) + *a * depth, *q = TENSOR_DATA(y, int64_t) + *b * depth;
  const bool has_x = *a < x->shape.dim[0], has_y = *b < y->shape.dim[0];
  const int order = !has_x ? 1 : !has_y ? -1 : weft__sparse_compare(p, q, depth - 1);
  sequence s = {k->in[1], *a, order <= 0 ? row_end(x, *a) - *a : 0},
           t = {k->in[4], *b, order >= 0 ? row_end(y, *b) - *b : 0};
  const int64_t *where = order <= 0 ? p : q;
  int64_t at = 0;
  for (int64_t d = 0; d + 1 < depth; d++)
    at = (int64_t)((uint64_t)at * (uint64_t)out->shape.dim[d] + (uint64_t)where[d]); /* wraps, as an index may be any */
  if (at < 0 || at >= weft__tensor_count(out))
    return weft__kernel_fail(k, WEFT_INTERNAL,
                             "Got an inner product %lld which would require writing to outside of the buffer for the "
                             "output tensor (max elements %lld)",
                             (long long)at, (long long)weft__tensor_count(out));
  TENSOR_DATA(out, float)[at] = edit_distance_result(k, edit_distance_between(&s, &t, room, work, spent), t.n);
  *a += s.n;
  *b += t.n;
  return weft__long_work_end(work);
}

static weft_err distance_cpu(kernel *k) {
  shape s;
  WEFT_TRY(check_inputs(k, &s));
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  memset(out->data, 0, weft__tensor_bytes(out));
  int64_t *room = weft__alloc((size_t)(k->in[3]->shape.dim[0] + 1) * sizeof *room), a = 0, b = 0;
  if (!room) return WEFT_OOM;
  weft_err err = WEFT_OK;
  long_work work = weft__long_work(k);
  int64_t spent = 0;
  while (!err && (a < k->in[0]->shape.dim[0] || b < k->in[3]->shape.dim[0]))
    err = put_next(k, out, &a, &b, room, &work, &spent);
  weft__free(room);
  return err;
}

static weft_err distance_infer(infer *s) {
  const weft_tensor *a = weft__infer_value(s, 2), *b = weft__infer_value(s, 5);
  if (!a || !b) return WEFT_OK;
  const int64_t n = weft__tensor_count(a), m = weft__tensor_count(b);
  if (n != m)
    return weft__infer_fail(s, "Num elements of hypothesis_shape does not match truth_shape: %lld vs. %lld",
                            (long long)n, (long long)m);
  if (n < 2)
    return weft__infer_fail(
        s, "Input Hypothesis SparseTensors must have rank at least 2, but hypothesis_shape rank is: %lld",
        (long long)n);
  if (n > WEFT_MAX_RANK) return WEFT_OK;
  s->out[0].rank = 0;
  for (int64_t i = 0; i + 1 < n; i++) {
    const int64_t x = weft__tensor_int(a, i), y = weft__tensor_int(b, i);
    s->out[0].dim[s->out[0].rank++] = x > y ? x : y;
  }
  return WEFT_OK;
}

#define HYPOTHESIS "i64[4,2] 0 0 0 1 1 0 2 0; str[4] \"a\" \"b\" \"c\" \"z\"; i64[2] 3 2"
#define TRUTH "i64[4,2] 0 0 0 1 0 2 1 0; str[4] \"a\" \"x\" \"b\" \"c\"; i64[2] 3 3"

static const op_case distance_cases[] = {
    {HYPOTHESIS "; " TRUTH, NULL, NULL, 0},
    {HYPOTHESIS "; " TRUTH, "f32[3] 1 0 1", "normalize=false", 0},
    {"i64[2,3] 0 0 0 1 0 1; i32[2] 1 2; i64[3] 2 1 2; i64[3,3] 0 1 0 1 0 0 1 0 1; i32[3] 1 2 2; i64[3] 2 2 2", NULL,
     NULL, CASE_FIXED_TYPE},
    {"i64[0,2]; i64[0]; i64[2] 2 2; i64[1,2] 1 0; i64[1] 1; i64[2] 2 2", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[6,2] 0 0 0 1 0 2 0 3 0 4 0 5; i64[6] 1 2 3 4 5 6; i64[2] 1 6; i64[5,2] 0 0 0 1 0 2 0 3 0 4; i64[5] 2 3 9 5 "
     "6; "
     "i64[2] 1 5",
     NULL, "normalize=false", CASE_FIXED_TYPE},
    {"i64[2,3] 0 0 0 0 0 1; i32[2] 1 2; i64[3] 1 1 1; i64[2,3] 0 0 0 0 0 5; i32[2] 1 3; i64[3] 1 1 2", "f32[1,1] 0.5",
     NULL, CASE_FIXED_TYPE}, /* last indices out of the shape */
    {"i64[2,3] 0 1 0 0 0 0; i32[2] 1 2; i64[3] 1 2 2; i64[2,3] 0 0 0 0 1 0; i32[2] 1 2; i64[3] 1 2 2", "f32[1,2] inf 1",
     NULL, CASE_FIXED_TYPE}, /* rows out of order */
    {"i64[1,3] 0 3 0; i32[1] 1; i64[3] 2 2 1; i64[1,3] 0 0 0; i32[1] 1; i64[3] 1 1 1", "f32[2,2] 1 0 0 inf", NULL,
     CASE_FIXED_TYPE}, /* a row out of the shape, but inside the output */
    {"i64[1,3] 0 1 0; i32[1] 1; i64[3] 1 1 1; i64[1,3] 0 0 0; i32[1] 1; i64[3] 1 1 1", "error INTERNAL", NULL,
     CASE_FIXED_TYPE},
    {"i64[1,3] 0 -1 0; i32[1] 1; i64[3] 1 1 1; i64[1,3] 0 0 0; i32[1] 1; i64[3] 1 1 1", "error INTERNAL", NULL,
     CASE_FIXED_TYPE},
    {"i64[1,3] 0 0 0; i32[1] 1; i64[3] 1 1 -1; i64[1,3] 0 0 0; i32[1] 1; i64[3] 1 1 1", "error INVALID_ARGUMENT", NULL,
     CASE_FIXED_TYPE},
    {"i64[1,2] 0 0; i32[1] 1; i64[2] 1 1; i64[1,3] 0 0 0; i32[1] 1; i64[3] 1 1 1", "error INVALID_ARGUMENT", NULL,
     CASE_FIXED_TYPE},
    {0},
};

OPS(edit_distance) = {
    {"EditDistance(hypothesis_indices:int64, hypothesis_values:T, hypothesis_shape:int64, truth_indices:int64, "
     "truth_values:T, "
     "truth_shape:int64) -> (output:float) | normalize:bool=true T:type",
     "How many edits make one sequence of the other.", .infer = distance_infer, .cpu = distance_cpu, .no_grad = true,
     .cases = distance_cases},
    {0},
};
