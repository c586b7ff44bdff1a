/* sparse_reduce.c - sums and maxima of sparse tensors, with dense or sparse results, and SparseSoftmax.
 *
 * Entries are sorted by the dimensions that are kept; entries that agree in them form a group.  Elements without an
 * entry are ignored: the maximum of a row with the entry -1 is -1, and that of a row without entries is 0. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "kernels/sparse/sparse.h"
#include "kernels/simd/widen.h"
#include "state/combine.h"
#include <math.h>
#include <string.h>

/* ---- groups ---- */

typedef struct groups {
  int64_t depth, kept; /* number of dimensions, and of those that are kept */
  bool reduced[WEFT_MAX_RANK];
  int64_t n, *rows;      /* the kept indices of each entry: (n, kept) */
  sparse_entry *entries; /* sorted */
} groups;

static void groups_finish(groups *g) {
  weft__free(g->rows);
  weft__free(g->entries);
}

/* Sorts the entries by their kept indices. */
static weft_err groups_make(groups *g, const weft_tensor *indices) {
  g->n = indices->shape.dim[0];
  g->rows = weft__alloc((size_t)(g->n * g->kept + 1) * sizeof *g->rows);
  g->entries = weft__alloc((size_t)(g->n + 1) * sizeof *g->entries);
  if (!g->rows || !g->entries) return WEFT_OOM;
  for (int64_t i = 0, at = 0; i < g->n; i++) {
    g->entries[i] = (sparse_entry){g->rows + at, g->kept, i};
    for (int64_t d = 0; d < g->depth; d++)
      if (!g->reduced[d]) g->rows[at++] = TENSOR_DATA(indices, int64_t)[i * g->depth + d];
  }
  weft__sparse_sort(g->entries, g->n);
  return WEFT_OK;
}

/* Returns the end of the group that begins at entry i. */
static int64_t group_end(const groups *g, int64_t i) {
  int64_t end = i + 1;
  while (end < g->n && !weft__sparse_compare(g->entries[i].row, g->entries[end].row, g->kept)) end++;
  return end;
}

/* ---- reductions ---- */

static weft_err read_axes(kernel *k, groups *g) {
  const weft_tensor *axes = k->in[3];
  WEFT_TRY(weft__sparse_check(k, k->in[0], k->in[1], k->in[2]));
  g->depth = k->in[0]->shape.dim[1];
  if (g->depth > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a sparse tensor of %lld dimensions has more than %d",
                             (long long)g->depth, WEFT_MAX_RANK);
  g->kept = g->depth;
  for (int64_t i = 0; i < weft__tensor_count(axes); i++) {
    const int64_t axis = TENSOR_DATA(axes, int32_t)[i], at = axis < 0 ? axis + g->depth : axis;
    if (at < 0 || at >= g->depth)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Invalid reduction dimension %lld, for input with %lld dimensions.", (long long)axis,
                               (long long)g->depth);
    g->kept -= !g->reduced[at];
    g->reduced[at] = true;
  }
  return weft__sparse_inside(k, k->in[0], k->in[2]);
}

static shape result_shape(const kernel *k, const groups *g) {
  const bool keep = weft__node_bool(k->node, "keep_dims", false);
  shape s = SHAPE_SCALAR;
  for (int64_t d = 0; d < g->depth; d++)
    if (keep || !g->reduced[d]) s.dim[s.rank++] = g->reduced[d] ? 1 : TENSOR_DATA(k->in[2], int64_t)[d];
  return s;
}

/* Reduces entries [begin, end) to one value at `to`. */
static void sparse_reduce_fold(const kernel *k, const groups *g, combine_op how, int64_t begin, int64_t end, void *to) {
  const weft_tensor *values = k->in[1];
  memcpy(to, weft__element_const(values->dtype, values->data, g->entries[begin].at), weft__dtype_size(values->dtype));
  for (int64_t i = begin + 1; i < end; i++)
    weft__combine(how, values->dtype, to, to, weft__element_const(values->dtype, values->data, g->entries[i].at), 1, 1);
}

static weft_err to_dense(kernel *k, const groups *g, combine_op how) {
  const shape s = result_shape(k, g);
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  memset(out->data, 0, weft__tensor_bytes(out));
  for (int64_t i = 0, end; i < g->n; i = end) {
    int64_t at = 0, d = 0;
    for (int64_t j = 0; j < g->depth; j++)
      if (!g->reduced[j]) at = at * TENSOR_DATA(k->in[2], int64_t)[j] + g->entries[i].row[d++];
    end = group_end(g, i);
    sparse_reduce_fold(k, g, how, i, end, weft__element(out->dtype, out->data, at));
  }
  return WEFT_OK;
}

static weft_err to_sparse(kernel *k, const groups *g, combine_op how) {
  const shape s = result_shape(k, g);
  int64_t n = 0, at = 0;
  for (int64_t i = 0; i < g->n; i = group_end(g, i)) n++;
  weft_tensor *places = weft__out(k, 0, &SHAPE2(n, s.rank)), *values = weft__out(k, 1, &SHAPE1(n));
  weft_tensor *dims = weft__out(k, 2, &SHAPE1(s.rank));
  if (!places || !values || !dims) return WEFT_OOM;
  memcpy(dims->data, s.dim, weft__tensor_bytes(dims));
  const bool keep = weft__node_bool(k->node, "keep_dims", false);
  int64_t *place = places->data;
  for (int64_t i = 0, end; i < g->n; i = end) {
    for (int64_t j = 0, d = 0; j < g->depth; j++)
      if (!g->reduced[j])
        *place++ = g->entries[i].row[d++];
      else if (keep)
        *place++ = 0;
    end = group_end(g, i);
    sparse_reduce_fold(k, g, how, i, end, weft__element(values->dtype, values->data, at++));
  }
  return WEFT_OK;
}

static weft_err sparse_reduce_run(kernel *k, combine_op how, weft_err (*give)(kernel *, const groups *, combine_op)) {
  groups g = {0};
  if (!weft__combine_has(how, k->in[1]->dtype)) return weft__kernel_no_type(k, k->in[1]->dtype);
  WEFT_TRY(read_axes(k, &g));
  weft_err err = groups_make(&g, k->in[0]);
  if (!err) err = give(k, &g, how);
  groups_finish(&g);
  return err;
}

static weft_err sparse_reduce_sum_cpu(kernel *k) { return sparse_reduce_run(k, COMBINE_ADD, to_dense); }
static weft_err sparse_reduce_max_cpu(kernel *k) { return sparse_reduce_run(k, COMBINE_MAX, to_dense); }
static weft_err sum_sparse_cpu(kernel *k) { return sparse_reduce_run(k, COMBINE_ADD, to_sparse); }
static weft_err max_sparse_cpu(kernel *k) { return sparse_reduce_run(k, COMBINE_MAX, to_sparse); }

static weft_err sparse_reduce_infer(infer *s) {
  const weft_tensor *dims = weft__infer_value(s, 2), *axes = weft__infer_value(s, 3);
  if (!dims || !axes || dims->shape.rank != 1 || dims->shape.dim[0] > WEFT_MAX_RANK) return WEFT_OK;
  const int64_t depth = dims->shape.dim[0];
  bool reduced[WEFT_MAX_RANK] = {0};
  for (int64_t i = 0; i < weft__tensor_count(axes); i++) {
    int64_t axis = weft__tensor_int(axes, i);
    axis += axis < 0 ? depth : 0;
    if (axis < 0 || axis >= depth)
      return weft__infer_fail(s, "Invalid reduction dimension %lld, for input with %lld dimensions.",
                              (long long)weft__tensor_int(axes, i), (long long)depth);
    reduced[axis] = true;
  }
  s->out[0] = SHAPE_SCALAR;
  for (int64_t d = 0; d < depth; d++)
    if (!reduced[d] || weft__node_bool(s->node, "keep_dims", false))
      s->out[0].dim[s->out[0].rank++] = reduced[d] ? 1 : weft__tensor_int(dims, d);
  return WEFT_OK;
}

/* ---- gradients: every entry gets the gradient of its group ---- */

/* Returns int64 [depth]: 0 for each reduced dimension, 1 for each kept one. */
static weft_out sparse_reduce_stays(weft_graph *g, weft_out dims, weft_out axes) {
  const int64_t column[] = {-1, 1}, row[] = {1, -1}, last = 1;
  const weft_out depth = weft__b_size(g, dims), zero = weft__b_scalar(g, WEFT_INT32, 0);
  const weft_out range =
      weft__b_node(g, "Range", NULL, 3, (weft_out[]){zero, depth, weft__b_scalar(g, WEFT_INT32, 1)}, 0, NULL);
  const weft_out at = weft__b_binary(g, "FloorMod", weft__b_add(g, axes, depth), depth);
  const weft_out same = weft__b_binary(g, "Equal", weft__b_reshape(g, range, weft__b_ints(g, column, 2)),
                                       weft__b_reshape(g, at, weft__b_ints(g, row, 2)));
  const weft_out reduced = weft__b_binary(g, "Any", same, weft__b_ints(g, &last, 1));
  return weft__b_cast(g, weft__b_unary(g, "LogicalNot", reduced), WEFT_INT64);
}

/* Returns, for each entry, the element of its group in a dense tensor whose reduced dimensions are 1. */
static weft_out of_groups(weft_graph *g, weft_out kept, weft_out indices, weft_out mask) {
  return weft__b_binary(g, "GatherNd", kept, weft__b_mul(g, indices, mask));
}

static weft_err sum_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out indices = b->in[0], dims = b->in[2], mask = sparse_reduce_stays(g, dims, b->in[3]);
  const weft_out one = weft__b_scalar(g, WEFT_INT64, 1);
  const weft_out kept = weft__b_add(g, weft__b_mul(g, dims, mask), weft__b_sub(g, one, mask));
  b->din[1] = GRAD_DENSE(of_groups(g, weft__b_reshape(g, b->dout[0], kept), indices, mask));
  return WEFT_OK;
}

/* dx = (dy - sum of dy * y over the row) * y */
static weft_err softmax_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out indices = b->in[0], dims = b->in[2], y = b->out[0], dy = b->dout[0];
  const int64_t last = -1;
  const weft_out axes = weft__b_ints(g, &last, 1);
  const weft_out in[] = {indices, weft__b_mul(g, y, dy), dims, axes};
  const weft_out sums = weft__b_node(g, "SparseReduceSum", NULL, 4, in, 1, (attr[]){A_BOOL("keep_dims", true)});
  const weft_out own = of_groups(g, sums, indices, sparse_reduce_stays(g, dims, axes));
  b->din[1] = GRAD_DENSE(weft__b_mul(g, weft__b_sub(g, dy, own), y));
  return WEFT_OK;
}

/* ---- softmax over the last dimension; entries come out in row-major order, as in TensorFlow ---- */

#define DEFINE_SOFTMAX(name, T, EXP)                                                                                   \
  static void name(T *y, const T *x, const sparse_entry *e, int64_t n) {                                               \
    T most = x[e[0].at], sum = 0;                                                                                      \
    for (int64_t i = 1; i < n; i++) most = x[e[i].at] > most ? x[e[i].at] : most;                                      \
    for (int64_t i = 0; i < n; i++) sum += y[i] = EXP(x[e[i].at] - most);                                              \
    for (int64_t i = 0; i < n; i++) y[i] /= sum;                                                                       \
  }
DEFINE_SOFTMAX(softmax_floats, float, expf)
DEFINE_SOFTMAX(softmax_doubles, double, exp)

static weft_err softmax_groups(kernel *k, const groups *g, weft_tensor *out) {
  const weft_tensor *values = k->in[1];
  widened x = {0}, y = {0};
  weft_err err = WEFT_OK;
  const bool doubles = values->dtype == WEFT_DOUBLE;
  if (!doubles) err = weft__widened_load(&x, values);
  if (!err && !doubles) err = weft__widened_output(&y, out);
  for (int64_t i = 0, end; i < g->n && !err; i = end) {
    end = group_end(g, i);
    if (doubles)
      softmax_doubles(TENSOR_DATA(out, double) + i, TENSOR_DATA(values, double), g->entries + i, end - i);
    else
      softmax_floats(y.data + i, x.data, g->entries + i, end - i);
  }
  if (!err && !doubles) weft__widened_store(&y, out);
  weft__widened_finish(&x), weft__widened_finish(&y);
  return err;
}

static weft_err softmax_cpu(kernel *k) {
  groups g = {0};
  WEFT_TRY(weft__sparse_check(k, k->in[0], k->in[1], k->in[2]));
  g.depth = k->in[0]->shape.dim[1];
  if (g.depth < 2 || g.depth > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input should have rank >= 2, but received rank %lld",
                             (long long)g.depth);
  WEFT_TRY(weft__sparse_inside(k, k->in[0], k->in[2]));
  g.kept = g.depth; /* sorted by all indices */
  weft_tensor *out = weft__out(k, 0, &k->in[1]->shape);
  if (!out) return WEFT_OOM;
  weft_err err = groups_make(&g, k->in[0]);
  g.kept--; /* entries that differ only in the last index form a group */
  if (!err) err = softmax_groups(k, &g, out);
  groups_finish(&g);
  return err;
}

static weft_err softmax_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 2, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &s->out[0]));
  return weft__infer_rank(s, 2, 1, NULL);
}

static const op_case sum_cases[] = {
    {"i64[5,2] 0 0 0 2 1 1 2 0 2 3; f32[5] 1 2 3 4 5; i64[2] 3 4; i32[1] 1", "f32[3] 3 3 9", NULL, 0},
    {"i64[5,2] 0 0 0 2 1 1 2 0 2 3; f64[5] rand; i64[2] 3 4; i32[1] 0", NULL, "keep_dims=true", 0},
    {"i64[5,2] 0 0 0 2 1 1 2 0 2 3; f32[5] rand; i64[2] 3 4; i32[2] 0 -1", NULL, NULL, 0},
    {"i64[5,2] 0 0 0 2 1 1 2 0 2 3; f32[5] rand; i64[2] 3 4; i32[] -1", NULL, "keep_dims=true", 0},
    {"i64[5,2] 0 0 0 2 1 1 2 0 2 3; f32[5] rand; i64[2] 3 4; i32[0] 0", NULL, NULL, 0},
    {"i64[3,2] 1 0 0 1 1 2; i32[3] 1 2 3; i64[2] 3 4; i32[1] 1", "i32[3] 2 4 0", NULL, CASE_NO_GRAD},
    {"i64[4,3] 0 0 1 1 1 0 1 0 1 0 1 1; f32[4] rand; i64[3] 2 2 2; i32[2] 0 2", NULL, NULL, 0},
    {"i64[0,2] 0; f32[0] 0; i64[2] 3 4; i32[1] 1", NULL, NULL, CASE_NO_GRAD},
    {"i64[1,2] 0 0; f32[1] 0; i64[2] 3 4; i32[1] 2", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"i64[1,2] 7 0; f32[1] 0; i64[2] 3 4; i32[1] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_NO_PARITY},
    {0},
};
static const op_case max_cases[] = {
    {"i64[5,2] 0 0 0 2 1 1 2 0 2 3; f32[5] -1 -2 -3 -4 -5; i64[2] 4 4; i32[1] 1", NULL, NULL, CASE_NO_GRAD},
    {"i64[5,2] 0 0 0 2 1 1 2 0 2 3; i32[5] 1 2 3 4 5; i64[2] 3 4; i32[1] 0", NULL, "keep_dims=true", CASE_NO_GRAD},
    {0},
};
static const op_case sparse_cases[] = {
    {"i64[5,2] 0 0 0 2 1 1 2 0 2 3; f32[5] 1 2 -3 4 5; i64[2] 4 4; i32[1] 1", NULL, NULL, CASE_NO_GRAD},
    {"i64[5,2] 0 0 0 2 1 1 2 0 2 3; f64[5] 1 2 -3 4 5; i64[2] 3 4; i32[1] 0", NULL, "keep_dims=true", CASE_NO_GRAD},
    {"i64[4,3] 0 0 1 0 1 1 1 0 1 1 1 0; i32[4] 1 2 3 4; i64[3] 2 2 2; i32[1] 1", NULL, NULL, CASE_NO_GRAD},
    {0},
};
static const op_case softmax_cases[] = {
    {"i64[5,2] 0 0 0 2 1 1 2 0 2 3; f32[5] 1 2 3 4 5; i64[2] 3 4", "f32[5] 0.26894143 0.7310586 1 0.26894143 0.7310586",
     NULL, 0},
    {"i64[3,2] 0 1 1 0 0 0; f32[3] 1 2 3; i64[2] 3 3", NULL, NULL, CASE_NO_GRAD},
    {"i64[4,3] 0 0 0 0 0 1 1 1 0 1 1 1; f64[4] rand; i64[3] 2 2 2", NULL, NULL, 0},
    {"i64[0,2] 0; f32[0] 0; i64[2] 3 3", NULL, NULL, CASE_NO_GRAD},
    {"i64[1,1] 0; f32[1] 1; i64[1] 3", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

#define REDUCE "(input_indices:int64, input_values:T, input_shape:int64, reduction_axes:int32) -> "
#define DENSE "(output:T) | keep_dims:bool=false T:type"
#define SPARSE "(output_indices:int64, output_values:T, output_shape:int64) | keep_dims:bool=false T:type"

OPS(sparse_reduce) = {
    {"SparseReduceSum" REDUCE DENSE "{number}", "Sums of a sparse tensor.", .infer = sparse_reduce_infer,
     .cpu = sparse_reduce_sum_cpu, .grad = sum_grad, .cases = sum_cases},
    {"SparseReduceMax" REDUCE DENSE "{real}", "Maxima of a sparse tensor.", .infer = sparse_reduce_infer,
     .cpu = sparse_reduce_max_cpu, .cases = max_cases},
    {"SparseReduceSumSparse" REDUCE SPARSE "{number}", "Sums of a sparse tensor, sparse themselves.",
     .infer = weft__infer_none, .cpu = sum_sparse_cpu, .cases = sparse_cases},
    {"SparseReduceMaxSparse" REDUCE SPARSE "{real}", "Maxima of a sparse tensor, sparse themselves.",
     .infer = weft__infer_none, .cpu = max_sparse_cpu, .cases = sparse_cases},
    {"SparseSoftmax(sp_indices:int64, sp_values:T, sp_shape:int64) -> (output:T) | T:type{half,float,double}",
     "Normalized exponentials of each row of a sparse tensor.", .infer = softmax_infer, .cpu = softmax_cpu,
     .grad = softmax_grad, .cases = softmax_cases},
    {0},
};
