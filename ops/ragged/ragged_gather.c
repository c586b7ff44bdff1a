/* ragged_gather.c - RaggedGather: selects rows of a ragged tensor by indices.
 *
 * The indices may have any rank: each of their dimensions but the last adds uniform splits before those of the rows.
 * A row is a range of items at every level, so the kernel carries one range per index from level to level. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "kernels/array/index.h"
#include "kernels/array/strided_copy.h"
#include "kernels/ragged/ragged.h"

static weft_err ragged_gather_infer(infer *s) {
  const int levels = weft__int_sat(weft__node_int(s->node, "PARAMS_RAGGED_RANK", 1));
  const int64_t out_levels = weft__node_int(s->node, "OUTPUT_RAGGED_RANK", 0);
  const shape *values = &s->in[levels], *indices = &s->in[levels + 1];
  for (int i = 0; i < levels; i++) WEFT_TRY(weft__infer_rank(s, i, 1, NULL));
  WEFT_TRY(weft__infer_rank_at_least(s, levels, 1));
  if (indices->rank >= 0 && indices->rank + levels - 1 != out_levels)
    return weft__infer_fail(s, "OUTPUT_RAGGED_RANK is %lld, but the indices of rank %d and %d splits need %d",
                            (long long)out_levels, indices->rank, levels, indices->rank + levels - 1);
  for (int i = 0; i < s->n_out - 1; i++) s->out[i] = SHAPE1(-1);
  s->out[s->n_out - 1] = *values;
  if (values->rank > 0) s->out[s->n_out - 1].dim[0] = -1;
  return WEFT_OK;
}

typedef struct row_range {
  int64_t from, to;
} row_range;

/* Computes the range of each index in the first level. */
static weft_err first_ranges(const kernel *k, int levels, row_range *at) {
  const weft_tensor *splits = k->in[0], *indices = k->in[levels + 1];
  const int64_t rows = splits->shape.dim[0] - 1;
  char where[64];
  for (int64_t i = 0; i < weft__tensor_count(indices); i++) {
    const int64_t row = weft__index_at(indices, i);
    if (row < 0 || row >= rows)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices%s = %lld is not in [0, %lld)",
                               weft__index_where(&indices->shape, indices->shape.rank, i, where, sizeof where),
                               (long long)row, (long long)rows);
    at[i] = (row_range){weft__index_at(splits, row), weft__index_at(splits, row + 1)};
  }
  return WEFT_OK;
}

/* Writes the splits that the shape of the indices adds: each dimension but the last is a uniform one. */
static weft_err uniform_splits(kernel *k, const shape *indices) {
  for (int d = 0; d + 1 < indices->rank; d++) {
    const int64_t rows = weft__shape_product(indices, 0, d + 1), width = indices->dim[d + 1];
    weft_tensor *out = weft__out(k, d, &SHAPE1(rows + 1));
    if (!out) return WEFT_OOM;
    for (int64_t r = 0; r <= rows; r++) weft__index_put(out, r, r * width);
  }
  return WEFT_OK;
}

/* Writes the splits of the selected rows at the first level. */
static weft_err top_splits(kernel *k, int at_out, const row_range *at, int64_t n) {
  weft_tensor *out = weft__out(k, at_out, &SHAPE1(n + 1));
  if (!out) return WEFT_OOM;
  int64_t sum = 0;
  for (int64_t i = 0; i <= n; i++) {
    weft__index_put(out, i, sum);
    if (i < n && __builtin_add_overflow(sum, at[i].to - at[i].from, &sum))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the chosen rows are too long");
  }
  return WEFT_OK;
}

static weft_err total_of(const kernel *k, const row_range *at, int64_t n, int64_t *total) {
  *total = 0;
  for (int64_t i = 0; i < n; i++)
    if (__builtin_add_overflow(*total, at[i].to - at[i].from, total) || *total > INT64_MAX / 64)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the chosen rows have more items than a tensor can have");
  return WEFT_OK;
}

/* Writes the splits of one level for the ranges, and turns them into ranges of the level below. */
static weft_err next_level(kernel *k, int level, int at_out, row_range *at, int64_t n) {
  const weft_tensor *splits = k->in[level];
  int64_t total, next = 1, sum = 0;
  WEFT_TRY(total_of(k, at, n, &total));
  weft_tensor *out = weft__out(k, at_out, &SHAPE1(total + 1));
  if (!out) return WEFT_OOM;
  weft__index_put(out, 0, 0);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t row = at[i].from; row < at[i].to; row++) {
      sum += weft__index_at(splits, row + 1) - weft__index_at(splits, row);
      weft__index_put(out, next++, sum);
    }
    at[i] = (row_range){weft__index_at(splits, at[i].from), weft__index_at(splits, at[i].to)};
  }
  return WEFT_OK;
}

static weft_err ragged_gather_put_values(kernel *k, int levels, const row_range *at, int64_t n) {
  const weft_tensor *values = k->in[levels];
  shape s = values->shape;
  int64_t next = 0;
  WEFT_TRY(total_of(k, at, n, &s.dim[0]));
  const int64_t width = weft__shape_product(&s, 1, s.rank);
  weft_tensor *out = weft__out(k, k->n_out - 1, &s);
  if (!out) return weft__out_refused(&s);
  for (int64_t i = 0; i < n; i++) {
    const int64_t count = at[i].to - at[i].from;
    WEFT_TRY(weft__elements_copy(values->dtype, weft__element(out->dtype, out->data, next * width),
                                 weft__element_const(values->dtype, values->data, at[i].from * width), count * width));
    next += count;
  }
  return WEFT_OK;
}

static weft_err gather_ranges(kernel *k, int levels, row_range *at) {
  const weft_tensor *indices = k->in[levels + 1];
  const int64_t n = weft__tensor_count(indices);
  int out = indices->shape.rank - 1;
  WEFT_TRY(first_ranges(k, levels, at));
  WEFT_TRY(uniform_splits(k, &indices->shape));
  if (out >= 0) WEFT_TRY(top_splits(k, out, at, n));
  for (int level = 1; level < levels; level++) WEFT_TRY(next_level(k, level, out + level, at, n));
  return ragged_gather_put_values(k, levels, at, n);
}

static weft_err ragged_gather_cpu(kernel *k) {
  const int levels = k->n_in - 2;
  WEFT_TRY(weft__ragged_check(k, 0, levels));
  const weft_tensor *indices = k->in[levels + 1];
  if (indices->shape.rank + levels - 1 != k->n_out - 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the indices of rank %d and %d splits need %d splits as outputs",
                             indices->shape.rank, levels, indices->shape.rank + levels - 1);
  row_range *at = weft__alloc((size_t)(weft__tensor_count(indices) + 1) * sizeof *at);
  if (!at) return WEFT_OOM;
  const weft_err err = gather_ranges(k, levels, at);
  weft__free(at);
  return err;
}

/* The gradient of the values: each selected row adds its gradient to the values it came from. */
static weft_err ragged_gather_grad(backprop *b) {
  weft_graph *g = b->graph;
  const int levels = b->n_in - 2;
  const weft_out axis = weft__b_scalar(g, WEFT_INT32, 0), one = weft__b_ints(g, (int64_t[]){1}, 1);
  weft_out splits = b->in[0];
  for (int i = 1; i < levels; i++) splits = weft__b_gather(g, b->in[i], splits, axis);
  const weft_out flat = weft__b_reshape(g, b->in[levels + 1], weft__b_ints(g, (int64_t[]){-1}, 1));
  const weft_out from = weft__b_gather(g, splits, flat, axis);
  const weft_out next = weft__b_add(g, flat, weft__b_cast(g, one, weft__out_type(g, flat)));
  const weft_out to = weft__b_gather(g, splits, next, axis);
  const weft_out in[] = {from, to, weft__b_scalar(g, weft__out_type(g, splits), 1)};
  const weft_out range = weft__b_node(g, "RaggedRange", NULL, 3, in, 0, NULL);
  b->din[levels] =
      (grad_value){WEFT_NONE, weft__b_slot(range, 1), b->dout[b->n_out - 1], weft__b_shape(g, b->in[levels])};
  return WEFT_OK;
}

static const op_case gather_cases[] = {
    {"i64[4] 0 2 2 5; f32[5] 1 2 3 4 5; i32[3] 2 1 2", "i64[4] 0 3 3 6; f32[6] 3 4 5 3 4 5",
     "PARAMS_RAGGED_RANK=1 OUTPUT_RAGGED_RANK=1", CASE_FIXED_TYPE},
    {"i64[4] 0 2 2 5; str[5] \"a\" \"b\" \"c\" \"d\" \"e\"; i64[2,2] 2 1 0 0", NULL,
     "PARAMS_RAGGED_RANK=1 OUTPUT_RAGGED_RANK=2", 0},
    {"i64[4] 0 2 2 5; f32[5,2] seq; i32[] 2", NULL, "PARAMS_RAGGED_RANK=1 OUTPUT_RAGGED_RANK=0", CASE_FIXED_TYPE},
    {"i32[3] 0 2 3; i32[4] 0 1 3 3; f32[3] 7 8 9; i64[3] 1 0 0", NULL, "PARAMS_RAGGED_RANK=2 OUTPUT_RAGGED_RANK=2",
     CASE_FIXED_TYPE},
    {"i64[4] 0 2 2 5; f32[5] 1 2 3 4 5; i32[0]", NULL, "PARAMS_RAGGED_RANK=1 OUTPUT_RAGGED_RANK=1",
     CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i64[4] 0 2 2 5; f32[5] 1 2 3 4 5; i32[1] 3", "error INVALID_ARGUMENT",
     "PARAMS_RAGGED_RANK=1 OUTPUT_RAGGED_RANK=1", CASE_FIXED_TYPE},
    {"i64[4] 0 2 1 5; f32[5] 1 2 3 4 5; i32[1] 1", "error INVALID_ARGUMENT",
     "PARAMS_RAGGED_RANK=1 OUTPUT_RAGGED_RANK=1", CASE_FIXED_TYPE},
    {"i64[4] 0 2 2 9; f32[5] 1 2 3 4 5; i32[1] 2", "error INVALID_ARGUMENT",
     "PARAMS_RAGGED_RANK=1 OUTPUT_RAGGED_RANK=1", CASE_FIXED_TYPE},
    {0},
};

OPS(ragged_gather) = {
    {"RaggedGather(params_nested_splits:PARAMS_RAGGED_RANK*Tsplits, params_dense_values:Tvalues, indices:Tindices) -> "
     "(output_nested_splits:OUTPUT_RAGGED_RANK*Tsplits, output_dense_values:Tvalues) | Tvalues:type "
     "Tindices:type{int32,int64} Tsplits:type{int32,int64}=int64 PARAMS_RAGGED_RANK:int>=1 OUTPUT_RAGGED_RANK:int>=0",
     "Rows of a ragged tensor, chosen by indices.", .infer = ragged_gather_infer, .cpu = ragged_gather_cpu,
     .grad = ragged_gather_grad, .cases = gather_cases},
    {0},
};
