/* count.c - counts each number in each row, as a sparse tensor: DenseCountSparseOutput, SparseCountSparseOutput,
 * RaggedCountSparseOutput.
 *
 * The numbers of all rows are sorted by row and number; equal ones become one entry of the output. */
#include "base/alloc.h"
#include "kernels/ragged/ragged.h"
#include "kernels/sparse/sparse.h"
#include "kernels/work/long_sort.h"

typedef struct entry {
  int64_t row, number, at;
} entry;

typedef struct counts {
  kernel *k;
  const weft_tensor *values, *weights;
  int64_t n, rows, longest; /* longest: the largest number + 1 */
  bool flat;                /* a single row: the output is a vector */
  entry *entries;
} counts;

static int by_row_and_number(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

/* Adds the weights of entries [from, to), in order, to element i of the output. */
static void put_sum(const counts *c, int64_t from, int64_t to, weft_tensor *out, int64_t i) {
  const bool whether = weft__node_bool(c->k->node, "binary_output", false), ones = weft__tensor_count(c->weights) == 0;
  double sum = 0;
  float narrow = 0;
  uint64_t whole = 0;
  for (int64_t e = from; e < to; e++) {
    const int64_t at = c->entries[e].at;
    sum += ones ? 1 : weft__tensor_double(c->weights, at);
    narrow += ones ? 1 : (float)weft__tensor_double(c->weights, at);
    whole += ones ? 1 : (uint64_t)weft__tensor_int(c->weights, at);
  }
  switch (out->dtype) {
  case WEFT_FLOAT: TENSOR_DATA(out, float)[i] = whether ? 1 : narrow; break;
  case WEFT_DOUBLE: TENSOR_DATA(out, double)[i] = whether ? 1 : sum; break;
  case WEFT_INT64: TENSOR_DATA(out, int64_t)[i] = whether ? 1 : (int64_t)whole; break;
  default: TENSOR_DATA(out, uint32_t)[i] = whether ? 1 : (uint32_t)whole; break;
  }
}

static weft_err put_counts(counts *c) {
  WEFT_TRY(weft__long_sort(c->k, c->entries, c->n, sizeof *c->entries, by_row_and_number));
  int64_t distinct = 0, next = 0;
  const int64_t most = weft__node_int(c->k->node, "maxlength", -1), least = weft__node_int(c->k->node, "minlength", -1);
  for (int64_t i = 0; i < c->n; i++)
    distinct += !i || c->entries[i].row != c->entries[i - 1].row || c->entries[i].number != c->entries[i - 1].number;
  const int64_t depth = c->flat ? 1 : 2;
  weft_tensor *indices = weft__out(c->k, 0, &SHAPE2(distinct, depth)), *values = weft__out(c->k, 1, &SHAPE1(distinct)),
              *dims = weft__out(c->k, 2, &SHAPE1(depth));
  if (!indices || !values || !dims) return WEFT_OOM;
  for (int64_t i = 0, end; i < c->n; i = end, next++) {
    const entry *e = &c->entries[i];
    for (end = i + 1; end < c->n && c->entries[end].row == e->row && c->entries[end].number == e->number;) end++;
    if (!c->flat) TENSOR_DATA(indices, int64_t)[2 * next] = e->row;
    TENSOR_DATA(indices, int64_t)[depth * next + depth - 1] = e->number;
    put_sum(c, i, end, values, next);
  }
  if (!c->flat) TENSOR_DATA(dims, int64_t)[0] = c->rows;
  TENSOR_DATA(dims, int64_t)[depth - 1] = most >= 0 ? most : c->longest > least ? c->longest : least;
  return WEFT_OK;
}

/* Adds value i, which is in `row`.  Numbers >= maxlength are ignored. */
static weft_err add_value(counts *c, int64_t row, int64_t i) {
  const int64_t number = weft__tensor_int(c->values, i), most = weft__node_int(c->k->node, "maxlength", -1);
  if (number < 0) return weft__kernel_fail(c->k, WEFT_INVALID_ARGUMENT, "Input values must all be non-negative");
  if (number >= c->longest) c->longest = number == INT64_MAX ? number : number + 1;
  if (most < 0 || number < most) c->entries[c->n++] = (entry){row, number, i};
  return WEFT_OK;
}

/* Collects the entries with `fill` and writes the counts. */
static weft_err count_with(counts *c, weft_err (*fill)(counts *)) {
  const int64_t n = weft__tensor_count(c->values), weights = weft__tensor_count(c->weights);
  if (weights > 0 && !weft__shape_equal(&c->weights->shape, &c->values->shape))
    return weft__kernel_fail(c->k, WEFT_INVALID_ARGUMENT,
                             "Weights and data must have the same shape. Weight shape: %s; data shape: %s",
                             weft__shape_text(&c->weights->shape), weft__shape_text(&c->values->shape));
  c->longest = 1;
  c->entries = weft__alloc((size_t)(n + 1) * sizeof *c->entries);
  if (!c->entries) return WEFT_OOM;
  weft_err err = fill(c);
  if (!err) err = put_counts(c);
  weft__free(c->entries);
  return err;
}

static weft_err fill_dense(counts *c) {
  const int64_t n = weft__tensor_count(c->values), width = c->rows > 0 ? n / c->rows : 0;
  for (int64_t i = 0; i < n; i++) WEFT_TRY(add_value(c, i / width, i));
  return WEFT_OK;
}

static weft_err count_dense_cpu(kernel *k) {
  const shape *s = &k->in[0]->shape;
  if (s->rank != 1 && s->rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input must be a 1 or 2-dimensional tensor. Got: %s",
                             weft__shape_text(s));
  counts c = {
      .k = k, .values = k->in[0], .weights = k->in[1], .rows = s->rank == 2 ? s->dim[0] : 1, .flat = s->rank == 1};
  return count_with(&c, fill_dense);
}

static weft_err fill_sparse(counts *c) {
  const int64_t depth = c->k->in[0]->shape.dim[1];
  for (int64_t i = 0; i < weft__tensor_count(c->values); i++)
    WEFT_TRY(add_value(c, c->flat ? 0 : TENSOR_DATA(c->k->in[0], int64_t)[i * depth], i));
  return WEFT_OK;
}

static weft_err count_sparse_cpu(kernel *k) {
  WEFT_TRY(weft__sparse_check(k, k->in[0], k->in[1], k->in[2]));
  if (k->in[0]->shape.dim[1] == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a sparse tensor without dimensions cannot be counted");
  WEFT_TRY(weft__sparse_inside(k, k->in[0], k->in[2]));
  counts c = {.k = k, .values = k->in[1], .weights = k->in[3], .rows = TENSOR_DATA(k->in[2], int64_t)[0]};
  c.flat = k->in[0]->shape.dim[1] == 1;
  return count_with(&c, fill_sparse);
}

static weft_err fill_ragged(counts *c) {
  const int64_t *splits = TENSOR_DATA(c->k->in[0], int64_t);
  for (int64_t r = 0; r < c->rows; r++)
    for (int64_t i = splits[r]; i < splits[r + 1]; i++) WEFT_TRY(add_value(c, r, i));
  return WEFT_OK;
}

static weft_err ragged_cpu(kernel *k) {
  if (k->in[1]->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "values must be a vector, not of shape %s",
                             weft__shape_text(&k->in[1]->shape));
  WEFT_TRY(weft__ragged_check_splits(k, k->in[0], k->in[1]->shape.dim[0]));
  counts c = {.k = k, .values = k->in[1], .weights = k->in[2], .rows = k->in[0]->shape.dim[0] - 1};
  return count_with(&c, fill_ragged);
}

static weft_err count_dense_infer(infer *s) {
  if (s->in[0].rank == 0 || s->in[0].rank > 2)
    return weft__infer_fail(s, "Input must be a 1 or 2-dimensional tensor. Got: rank %d", s->in[0].rank);
  s->out[0] = SHAPE2(-1, s->in[0].rank < 0 ? -1 : s->in[0].rank);
  s->out[1] = SHAPE1(-1);
  s->out[2] = SHAPE1(s->in[0].rank < 0 ? -1 : s->in[0].rank);
  return WEFT_OK;
}

static const op_case dense_cases[] = {
    {"i32[2,3] 1 1 5 0 2 1; i64[0]", "i64[5,2] 0 1 0 5 1 0 1 1 1 2; i64[5] 2 1 1 1 1; i64[2] 2 6",
     "binary_output=false", 0},
    {"i32[2,3] 1 1 5 0 2 1; i64[0]", NULL, "binary_output=true maxlength=3", 0},
    {"i64[2,3] 1 1 5 0 2 1; f32[2,3] seq", NULL, "binary_output=false minlength=9", 0},
    {"i64[3] 1 1 5; f64[3] .5 .25 2", NULL, "binary_output=false", 0},
    {"i32[2,0]; i32[0]", NULL, "binary_output=false", 0},
    {"i32[2] -1 2; i32[0]", "error INVALID_ARGUMENT", "binary_output=false", 0},
    {"i32[] 1; i32[0]", "error INVALID_ARGUMENT", "binary_output=false", 0},
    {"i32[2] 1 2; f32[3] 1", "error INVALID_ARGUMENT", "binary_output=false", 0},
    {0},
};

static const op_case sparse_cases[] = {
    {"i64[3,2] 0 1 0 3 2 0; i32[3] 4 4 1; i64[2] 3 4; i32[0]", NULL, "binary_output=false", 0},
    {"i64[3,2] 2 1 0 3 2 0; i64[3] 4 4 1; i64[2] 3 4; f32[3] 1 2 3", NULL, "binary_output=false", 0},
    {"i64[2,1] 1 3; i32[2] 4 4; i64[1] 4; i32[0]", NULL, "binary_output=false", 0},
    {"i64[1,2] 3 1; i32[1] 4; i64[2] 3 4; i32[0]", "error INVALID_ARGUMENT", "binary_output=false", 0},
    {0},
};

static const op_case ragged_cases[] = {
    {"i64[4] 0 2 2 3; i32[3] 4 4 1; i32[0]", NULL, "binary_output=false", 0},
    {"i64[4] 0 2 2 3; i64[3] 4 4 1; f32[3] 1 2 3", NULL, "binary_output=false maxlength=4", 0},
    {"i64[3] 0 2 5; i32[3] 4 4 1; i32[0]", "error INVALID_ARGUMENT", "binary_output=false", 0},
    {"i64[2] 1 3; i32[3] 4 4 1; i32[0]", "error INVALID_ARGUMENT", "binary_output=false", 0},
    {0},
};

#define RESULT                                                                                                         \
  ", weights:output_type) -> (output_indices:int64, output_values:output_type, output_dense_shape:int64) | "           \
  "T:type{int32,int64} minlength:int>=-1=-1 maxlength:int>=-1=-1 binary_output:bool "                                  \
  "output_type:type{int32,int64,float,double}"

OPS(count) = {
    {"DenseCountSparseOutput(values:T" RESULT, "How often each number occurs in each row.", .infer = count_dense_infer,
     .cpu = count_dense_cpu, .cases = dense_cases},
    {"SparseCountSparseOutput(indices:int64, values:T, dense_shape:int64" RESULT,
     "How often each number occurs in each row of a sparse tensor.", .infer = weft__sparse_infer,
     .cpu = count_sparse_cpu, .cases = sparse_cases},
    {"RaggedCountSparseOutput(splits:int64, values:T" RESULT,
     "How often each number occurs in each row of a ragged tensor.", .infer = weft__sparse_matrix_infer,
     .cpu = ragged_cpu, .cases = ragged_cases},
    {0},
};
