/* ragged_to_sparse.c - RaggedTensorToSparse: the values of a ragged tensor with their indices.
 *
 * The dense shape is the smallest one that holds all rows.  If values have a uniform inner shape, each element is an
 * entry. */
#include "base/alloc.h"
#include "graph/build.h"
#include "kernels/array/index.h"
#include "kernels/ragged/ragged.h"
#include <string.h>

static weft_err sparse_infer(infer *s) {
  const int levels = s->n_in - 1;
  for (int i = 0; i < levels; i++) WEFT_TRY(weft__infer_rank(s, i, 1, NULL));
  WEFT_TRY(weft__infer_rank_at_least(s, levels, 1));
  const shape *values = &s->in[levels];
  const int64_t count = values->rank < 0 ? -1 : weft__shape_count(values);
  const int64_t rank = values->rank < 0 ? -1 : values->rank + levels;
  s->out[0] = SHAPE2(count < 0 ? -1 : count, rank);
  s->out[1] = SHAPE1(count < 0 ? -1 : count);
  s->out[2] = SHAPE1(rank);
  return WEFT_OK;
}

/* Returns the length of the longest row of a level. */
static int64_t ragged_to_sparse_widest(const weft_tensor *splits) {
  int64_t most = 0;
  for (int64_t i = 1; i < splits->shape.dim[0]; i++) {
    const int64_t n = weft__index_at(splits, i) - weft__index_at(splits, i - 1);
    if (n > most) most = n;
  }
  return most;
}

/* Writes the index of each value: for each level, its number in its row. `place` has `depth` numbers for each value.
 * The numbers of a level are first written only for the first value of each item. */
static void put_places(const kernel *k, int levels, int64_t depth, int64_t *place) {
  const weft_tensor *values = k->in[levels];
  const int64_t n = values->shape.dim[0], inner = weft__shape_product(&values->shape, 1, values->shape.rank);
  int64_t row[WEFT_MAX_RANK] = {0}; /* per level, the row of the current value */
  for (int64_t i = 0; i < n; i++) {
    int64_t item = i;
    for (int level = levels - 1; level >= 0; level--) {
      const weft_tensor *splits = k->in[level];
      while (weft__index_at(splits, row[level] + 1) <= item) row[level]++;
      place[i * inner * depth + level + 1] = item - weft__index_at(splits, row[level]);
      item = row[level];
    }
    place[i * inner * depth] = item;
    for (int64_t j = inner - 1; j >= 0; j--) {
      int64_t *at = place + (i * inner + j) * depth, rest = j;
      if (j) memcpy(at, place + i * inner * depth, (size_t)(levels + 1) * sizeof *at);
      for (int64_t d = depth - 1; d > levels; d--) {
        const int64_t size = values->shape.dim[d - levels];
        at[d] = rest % size;
        rest /= size;
      }
    }
  }
}

static weft_err ragged_to_sparse_cpu(kernel *k) {
  const int levels = k->n_in - 1;
  WEFT_TRY(weft__ragged_check(k, 0, levels));
  const weft_tensor *values = k->in[levels];
  const int64_t depth = levels + values->shape.rank, n = weft__tensor_count(values);
  if (levels > WEFT_MAX_RANK || depth > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a ragged tensor of rank %lld has more than %d dimensions",
                             (long long)depth, WEFT_MAX_RANK);
  weft_tensor *place = weft__out(k, 0, &SHAPE2(n, depth)), *dims = weft__out(k, 2, &SHAPE1(depth));
  if (!place || !dims) return WEFT_OOM;
  int64_t *d = TENSOR_DATA(dims, int64_t);
  d[0] = k->in[0]->shape.dim[0] - 1;
  for (int i = 0; i < levels; i++) d[i + 1] = ragged_to_sparse_widest(k->in[i]);
  for (int i = 1; i < values->shape.rank; i++) d[levels + i] = values->shape.dim[i];
  if (n) put_places(k, levels, depth, TENSOR_DATA(place, int64_t));
  return weft__forward(k, 1, levels, &SHAPE1(n));
}

static weft_err sparse_grad(backprop *b) {
  weft_graph *g = b->graph;
  const int levels = b->n_in - 1;
  b->din[levels] = GRAD_DENSE(weft__b_reshape(g, weft__backprop_dout(b, 1), weft__b_shape(g, b->in[levels])));
  return WEFT_OK;
}

static const op_case sparse_cases[] = {
    {"i64[4] 0 2 2 5; f32[5] 1 2 3 4 5", "i64[5,2] 0 0 0 1 2 0 2 1 2 2; f32[5] 1 2 3 4 5; i64[2] 3 3", "RAGGED_RANK=1",
     CASE_FIXED_TYPE},
    {"i64[3] 0 2 3; i64[4] 0 1 3 3; str[3] \"a\" \"b\" \"c\"", NULL, "RAGGED_RANK=2", 0},
    {"i32[3] 0 2 3; f32[3,2] seq", NULL, "RAGGED_RANK=1", CASE_FIXED_TYPE},
    {"i64[1] 0; f32[0]", NULL, "RAGGED_RANK=1", CASE_FIXED_TYPE},
    {"i64[3] 0 0 0; f32[0]", NULL, "RAGGED_RANK=1", CASE_FIXED_TYPE},
    {"i64[2] 0 3; f32[2] 1 2", "error INVALID_ARGUMENT", "RAGGED_RANK=1", CASE_FIXED_TYPE},
    {"i64[2] 1 2; f32[2] 1 2", "error INVALID_ARGUMENT", "RAGGED_RANK=1", CASE_FIXED_TYPE},
    {"i64[0]; f32[2] 1 2", "error INVALID_ARGUMENT", "RAGGED_RANK=1", CASE_FIXED_TYPE},
    {0},
};

OPS(ragged_to_sparse) = {
    {"RaggedTensorToSparse(rt_nested_splits:RAGGED_RANK*Tsplits, rt_dense_values:T) -> (sparse_indices:int64, "
     "sparse_values:T, sparse_dense_shape:int64) | RAGGED_RANK:int>=1 T:type Tsplits:type{int32,int64}=int64",
     "A ragged tensor as a sparse one.", .infer = sparse_infer, .cpu = ragged_to_sparse_cpu, .grad = sparse_grad,
     .cases = sparse_cases, .narrow = NARROW_ALL},
    {0},
};
