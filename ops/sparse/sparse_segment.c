/* sparse_segment.c - sums, means and sqrt(n)-scaled sums over segments of rows that are selected by index.
 *
 * Embedding columns use them to combine embeddings.  The gradient ops add the gradient of each segment to its rows. */
#include "base/alloc.h"
#include "graph/build.h"
#include "kernels/array/radix_sort.h"
#include "ops/math/segment.h"
#include <string.h>

typedef enum scale { SUM, MEAN, SQRT_N } scale;

/* ---- forward ---- */
static weft_err check_picks(const kernel *k, const int64_t *index, const int64_t *id, int64_t n, int64_t rows,
                            int64_t segments) {
  for (int64_t i = 0; i < n; i++) {
    if (i > 0 && id[i] < id[i - 1])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "segment ids are not increasing");
    if (id[i] < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "segment ids must be >= 0");
    if (id[i] >= segments) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "segment ids must be < num_segments");
    if (index[i] < 0 || index[i] >= rows)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Bad: indices[%lld] == %lld out of range [0, %lld)",
                               (long long)i, (long long)index[i], (long long)rows);
  }
  return WEFT_OK;
}

/* Combines rows of x by segment; 16-bit floats are computed as floats. `count` (or NULL) gets the sizes of the
 * segments. */
static weft_err sparse_segment_run(kernel *k, const weft_tensor *x, segment_work *j, const int64_t *count, scale how,
                                   weft_tensor *out) {
  const weft_dtype seen_as = weft__is_16bit(x->dtype) ? WEFT_FLOAT : x->dtype;
  widened xs = {0}, zs = {0};
  j->loop = weft__add_op.loop[seen_as];
  j->size = weft__dtype_size(seen_as);
  if (!j->loop) return weft__kernel_no_type(k, x->dtype);
  j->x = x->data, j->z = out->data;
  weft_err err = WEFT_OK;
  if (weft__is_16bit(x->dtype)) {
    err = weft__widened_load(&xs, x);
    if (!err) err = weft__widened_output(&zs, out);
    j->x = (const char *)xs.data, j->z = (char *)zs.data;
  }
  if (!err) {
    weft__segment_fill(seen_as, j->z, weft__tensor_count(out), 0);
    err = weft__segment_run(k, j);
    segment_division by = {seen_as, j->z, count, j->inner, how == SQRT_N};
    if (!err && count && how != SUM) weft__segment_divide(k, &by, out->shape.dim[0]);
    if (!err && zs.data) weft__widened_store(&zs, out);
  }
  weft__widened_finish(&xs);
  weft__widened_finish(&zs);
  return err;
}

static weft_err count_ids(kernel *k, const int64_t *id, int64_t n, int64_t segments, weft_tensor *counts) {
  WEFT_TRY(weft__scratch(k, counts, WEFT_INT64, &SHAPE1(segments)));
  int64_t *count = counts->data;
  for (int64_t s = 0; s < segments; s++) count[s] = 0;
  for (int64_t i = 0; i < n; i++) count[id[i]]++;
  return WEFT_OK;
}

static weft_err pick_and_combine(kernel *k, scale how, const int64_t *index, const int64_t *id, int64_t n,
                                 int64_t segments) {
  shape s = k->in[0]->shape;
  WEFT_TRY(check_picks(k, index, id, n, s.dim[0], segments));
  s.dim[0] = segments;
  weft_tensor *out = weft__out(k, 0, &s), counts = {0};
  if (!out) return weft__out_refused(&s);
  segment_work j = {.id = id, .from = index, .rows = n, .inner = weft__shape_product(&s, 1, s.rank)};
  weft_err err = count_ids(k, id, n, segments, &counts);
  if (!err) err = sparse_segment_run(k, k->in[0], &j, counts.data, how, out);
  weft__tensor_clear(&counts);
  return err;
}

static weft_err check_vectors(const kernel *k) {
  if (k->in[1]->shape.rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices should be a vector.");
  if (k->in[2]->shape.rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "segment_ids should be a vector.");
  if (k->in[1]->shape.dim[0] != k->in[2]->shape.dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "segment_ids and indices should have same size.");
  if (k->in[0]->shape.rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be at least 1-D, got a scalar");
  return WEFT_OK;
}

static weft_err sparse_segment_forward(kernel *k, scale how) {
  WEFT_TRY(check_vectors(k));
  weft_tensor index = {0}, id = {0};
  const int64_t n = k->in[1]->shape.dim[0];
  weft_err err = weft__segment_ids(k, 1, &index);
  if (!err) err = weft__segment_ids(k, 2, &id);
  if (!err && k->n_in > 3 && (k->in[3]->shape.rank != 0 || weft__tensor_int(k->in[3], 0) < 0))
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_segments should be a scalar that is not negative");
  const int64_t last = !err && n > 0 ? TENSOR_DATA(&id, int64_t)[n - 1] : -1;
  if (!err && last == INT64_MAX)
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "segment id %lld is too large", (long long)last);
  if (!err) {
    const int64_t segments = k->n_in > 3 ? weft__tensor_int(k->in[3], 0) : last < 0 ? 0 : last + 1;
    err = pick_and_combine(k, how, index.data, id.data, n, segments);
  }
  weft__tensor_clear(&index);
  weft__tensor_clear(&id);
  return err;
}

static weft_err sparse_segment_sum_cpu(kernel *k) { return sparse_segment_forward(k, SUM); }
static weft_err sparse_segment_mean_cpu(kernel *k) { return sparse_segment_forward(k, MEAN); }
static weft_err sqrt_n_cpu(kernel *k) { return sparse_segment_forward(k, SQRT_N); }

static weft_err forward_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  shape indices, ids;
  WEFT_TRY(weft__infer_rank(s, 1, 1, &indices));
  WEFT_TRY(weft__infer_rank(s, 2, 1, &ids));
  if (weft__shape_merge(&ids, &indices, &ids)) return weft__infer_fail(s, "%s", weft__error_message());
  if (s->n_in > 3) WEFT_TRY(weft__infer_rank(s, 3, 0, NULL));
  const weft_tensor *segments = s->n_in > 3 ? weft__infer_value(s, 3) : NULL;
  if (segments && weft__tensor_int(segments, 0) < 0)
    return weft__infer_fail(s, "Cannot specify a negative value for num_segments");
  if (s->in[0].rank < 0) return WEFT_OK;
  s->out[0] = s->in[0];
  s->out[0].dim[0] = segments ? weft__tensor_int(segments, 0) : -1;
  return WEFT_OK;
}

/* ---- backward: out[index[i]] += grad[id[i]] / scale of the segment ---- */
static weft_err check_targets(const kernel *k, const int64_t *index, const int64_t *id, int64_t n, int64_t rows,
                              int64_t segments) {
  for (int64_t i = 0; i < n; i++) {
    if (id[i] < 0 || id[i] >= segments)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Segment id %lld out of range [0, %lld).", (long long)id[i],
                               (long long)segments);
    if (index[i] < 0 || index[i] >= rows)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Index %lld out of range [0, %lld).", (long long)index[i],
                               (long long)rows);
  }
  return WEFT_OK;
}

/* Scales the gradients into a temporary tensor, then sums its rows. */
static weft_err send_back(kernel *k, scale how, const int64_t *index, const int64_t *id, int64_t n, int64_t rows) {
  const weft_tensor *grad = k->in[0];
  shape s = grad->shape;
  const int64_t segments = s.dim[0];
  WEFT_TRY(check_targets(k, index, id, n, rows, segments));
  s.dim[0] = rows;
  weft_tensor *out = weft__out(k, 0, &s), counts = {0}, scaled = {0};
  if (!out) return weft__out_refused(&s);
  segment_work j = {.id = index, .from = id, .rows = n, .inner = weft__shape_product(&s, 1, s.rank)};
  weft_err err = count_ids(k, id, n, segments, &counts);
  if (!err) err = weft__scratch(k, &scaled, weft__is_16bit(grad->dtype) ? WEFT_FLOAT : grad->dtype, &grad->shape);
  if (!err) {
    const int64_t all = weft__tensor_count(grad);
    if (weft__is_16bit(grad->dtype))
      weft__widen(scaled.data, grad->data, all, grad->dtype);
    else
      err = weft__elements_copy(grad->dtype, scaled.data, grad->data, all);
  }
  segment_division by = {scaled.dtype, scaled.data, counts.data, j.inner, how == SQRT_N};
  if (!err && how != SUM) weft__segment_divide(k, &by, segments);
  if (!err) {
    widened zs = {0};
    j.loop = weft__add_op.loop[scaled.dtype];
    j.size = weft__dtype_size(scaled.dtype);
    j.x = scaled.data, j.z = out->data;
    if (weft__is_16bit(grad->dtype)) err = weft__widened_output(&zs, out), j.z = (char *)zs.data;
    if (!err) {
      weft__segment_fill(scaled.dtype, j.z, weft__tensor_count(out), 0);
      err = weft__segment_run(k, &j);
      if (!err && zs.data) weft__widened_store(&zs, out);
    }
    weft__widened_finish(&zs);
  }
  weft__tensor_clear(&counts);
  weft__tensor_clear(&scaled);
  return err;
}

/* The V2 ops return only the rows that were selected: output 1 lists them, and index becomes positions in that list.
 * index and id are sorted by them, so that the gradients of a row follow one another. */
static weft_err number_rows(kernel *k, int64_t *index, int64_t *id, int64_t n, int64_t *rows) {
  radix_item *items = weft__alloc((size_t)(2 * n + 1) * sizeof *items);
  int64_t *ids = weft__alloc((size_t)(n + 1) * sizeof *ids), unique = 0;
  weft_tensor *which = NULL;
  if (items && ids) {
    int bytes = 1;
    while (bytes < 8 && *rows >> 8 * bytes) bytes++;
    for (int64_t i = 0; i < n; i++) items[i] = (radix_item){(uint64_t)index[i], i};
    const radix_item *sorted = weft__radix_sort(items, items + n, n, bytes);
    for (int64_t i = 0; i < n; i++) {
      unique += i == 0 || sorted[i].key != sorted[i - 1].key;
      index[i] = unique - 1;
      ids[i] = id[sorted[i].at];
    }
    which = weft__out(k, 1, &SHAPE1(unique));
    for (int64_t i = 0; i < n && which; i++) {
      if (which->dtype == WEFT_INT64)
        TENSOR_DATA(which, int64_t)[index[i]] = (int64_t)sorted[i].key;
      else
        TENSOR_DATA(which, int32_t)[index[i]] = (int32_t)sorted[i].key;
    }
    if (n) memcpy(id, ids, (size_t)n * sizeof *id);
  }
  weft__free(items);
  weft__free(ids);
  *rows = unique;
  return which ? WEFT_OK : WEFT_OOM;
}

static weft_err sparse_segment_backward(kernel *k, scale how) {
  WEFT_TRY(check_vectors(k));
  if (k->in[3]->shape.rank != 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "output_dim0 should be a scalar.");
  weft_tensor index = {0}, id = {0};
  weft_err err = weft__segment_ids(k, 1, &index);
  if (!err) err = weft__segment_ids(k, 2, &id);
  const int64_t n = k->in[1]->shape.dim[0];
  int64_t rows = weft__tensor_int(k->in[3], 0);
  if (!err && k->n_out > 1) {
    err = check_targets(k, index.data, id.data, n, rows, k->in[0]->shape.dim[0]);
    if (!err) err = number_rows(k, index.data, id.data, n, &rows);
  }
  if (!err) err = send_back(k, how, index.data, id.data, n, rows);
  weft__tensor_clear(&index);
  weft__tensor_clear(&id);
  return err;
}

static weft_err sum_grad_cpu(kernel *k) { return sparse_segment_backward(k, SUM); }
static weft_err mean_grad_cpu(kernel *k) { return sparse_segment_backward(k, MEAN); }
static weft_err sqrt_n_grad_cpu(kernel *k) { return sparse_segment_backward(k, SQRT_N); }

static weft_err backward_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  WEFT_TRY(weft__infer_rank(s, 3, 0, NULL));
  const weft_tensor *rows = weft__infer_value(s, 3);
  if (s->in[0].rank < 0) return WEFT_OK;
  s->out[0] = s->in[0];
  s->out[0].dim[0] = rows ? weft__tensor_int(rows, 0) : -1;
  return WEFT_OK;
}

static weft_err picked_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  WEFT_TRY(weft__infer_rank(s, 3, 0, NULL));
  s->out[1] = SHAPE1(-1);
  if (s->in[0].rank < 0) return WEFT_OK;
  s->out[0] = s->in[0];
  s->out[0].dim[0] = -1;
  return WEFT_OK;
}

/* ---- gradients ---- */

/* The gradient of data is a dense tensor or, with sparse_gradient, only the rows that were selected. */
static weft_err give_back(backprop *b, const char *dense, const char *picked) {
  weft_graph *g = b->graph;
  const bool sparse = weft__node_bool(b->node, "sparse_gradient", false);
  const weft_out shape_of = weft__b_shape(g, b->in[0]), first = weft__b_ints(g, (int64_t[]){0}, 1);
  const weft_out one = weft__b_ints(g, (int64_t[]){1}, 1), part[] = {shape_of, first, one, one};
  const attr shrink = A_INT("shrink_axis_mask", 1);
  const weft_out rows = weft__b_node(g, "StridedSlice", NULL, 4, part, 1, &shrink);
  const weft_out in[] = {b->dout[0], b->in[1], b->in[2], rows};
  const weft_out made = weft__b_node(g, sparse ? picked : dense, NULL, 4, in, 0, NULL);
  b->din[0] = sparse ? (grad_value){WEFT_NONE, {made.node, 1}, made, shape_of} : GRAD_DENSE(made);
  return WEFT_OK;
}

static weft_err sum_grad(backprop *b) { return give_back(b, "SparseSegmentSumGrad", "SparseSegmentSumGradV2"); }
static weft_err mean_grad(backprop *b) { return give_back(b, "SparseSegmentMeanGrad", "SparseSegmentMeanGradV2"); }
static weft_err sqrt_n_grad(backprop *b) { return give_back(b, "SparseSegmentSqrtNGrad", "SparseSegmentSqrtNGradV2"); }

/* ---- cases: without indices, TensorFlow leaves its gradient uninitialized, so nothing is compared ---- */
/* Ids of rows that are long enough for two threads. */
#define MANY_IDS                                                                                                       \
  "i32[40] 0 0 0 1 1 1 1 2 3 3 3 5 5 6 7 7 7 8 9 9 9 9 9 9 10 10 10 11 11 12 12 13 13 13 14 15 15 16 16 17"
static const op_case forward_cases[] = {
    {"f32[3,2] 1 2 3 4 5 6; i32[4] 0 2 1 1; i32[4] 0 0 1 1"},
    {"f32[3] 1 2 3; i64[3] 0 1 1; i32[3] 0 0 2"},
    {"f32[3,2] 1 2 3 4 5 6; i32[4] 2 0 2 2; i64[4] 0 0 1 1", NULL, "sparse_gradient=true"},
    {"f32[3,2] 1; i32[0]; i64[0]", "f32[0,2]", NULL, CASE_NO_GRAD | CASE_NO_PARITY},
    {"f32[30,70] rand; i32[40] below:30; i32[40] 0 0 0 1 1 1 1 2 3"},
    {"f32[30,501] rand; i32[40] below:30; " MANY_IDS, NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2] 1 3; i32[2] 0 9; i32[2] 0 0", "error INVALID_ARGUMENT"},
    {"f32[2] 1 3; i32[2] 0 1; i32[2] 1 0", "error INVALID_ARGUMENT"},
    {"f32[2] 1 3; i32[2] 0 1; i32[1] 0", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case numbered_cases[] = {
    {"f32[3,2] 1 2 3 4 5 6; i32[4] 0 2 1 1; i32[4] 0 0 1 1; i32[] 2"},
    {"f32[3] 1 2 3; i64[3] 0 1 1; i64[3] 0 0 2; i64[] 5"},
    {"f32[3,2] 1; i32[0]; i32[0]; i32[] 2", "f32[2,2] 0", NULL, CASE_NO_GRAD | CASE_NO_PARITY},
    {"f32[2] 1 3; i32[2] 0 1; i32[2] 0 2; i32[] 2", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case backward_cases[] = {
    {"f32[2,2] 1 2 3 4; i32[3] 0 1 1; i32[3] 0 0 1; i32[] 3", NULL, NULL, CASE_NO_GRAD},
    {"f32[2] 1 2; i64[3] 0 1 1; i64[3] 0 0 1; i32[] 2", NULL, NULL, CASE_NO_GRAD},
    {"f32[2] 1 2; i32[2] 0 5; i32[2] 0 1; i32[] 3", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case picked_cases[] = {
    {"f32[18,501] rand; i32[40] below:30; " MANY_IDS "; i32[] 300", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,2] 1 2 3 4; i32[3] 5 1 5; i32[3] 0 0 1; i32[] 8", NULL, NULL, CASE_NO_GRAD},
    {"f32[2] 1 2; i64[3] 0 1 1; i64[3] 0 0 1; i32[] 2", NULL, NULL, CASE_NO_GRAD},
    {"f32[2] 1 2; i32[0]; i32[0]; i32[] 2", NULL, NULL, CASE_NO_GRAD},
    {"f32[2] 1 2; i32[2] 0 5; i32[2] 0 1; i32[] 3", "error INVALID_ARGUMENT"},
    {0},
};

#define IDS "Tidx:type{int32,int64}=int32 Tsegmentids:type{int32,int64}=int32"
#define NUMBERED_IDS                                                                                                   \
  "Tidx:type{int32,int64}=int32 Tnumsegments:type{int32,int64}=int32 Tsegmentids:type{int32,int64}=int32"
#define FLOATS "T:type{bfloat16,half,float,double}"
#define FORWARD(name_, types_, doc_, cpu_, grad_)                                                                      \
  {"SparseSegment" name_ "(data:T, indices:Tidx, segment_ids:Tsegmentids) -> (output:T) | " types_ " " IDS             \
   " sparse_gradient:bool=false",                                                                                      \
   doc_,                                                                                                               \
   .infer = forward_infer,                                                                                             \
   .cpu = cpu_,                                                                                                        \
   .grad = grad_,                                                                                                      \
   .cases = forward_cases},                                                                                            \
  {                                                                                                                    \
    "SparseSegment" name_ "WithNumSegments(data:T, indices:Tidx, segment_ids:Tsegmentids, num_segments:Tnumsegments) " \
    "-> (output:T) | " types_ " " NUMBERED_IDS " sparse_gradient:bool=false",                                          \
        doc_, .infer = forward_infer, .cpu = cpu_, .grad = grad_, .cases = numbered_cases                              \
  }
#define BACKWARD(name_, doc_, cpu_)                                                                                    \
  {"SparseSegment" name_                                                                                               \
   "Grad(grad:T, indices:Tidx, segment_ids:Tsegmentids, output_dim0:int32) -> (output:T) | " FLOATS " " IDS,           \
   doc_, .infer = backward_infer, .cpu = cpu_, .cases = backward_cases},                                               \
  {                                                                                                                    \
    "SparseSegment" name_ "GradV2(grad:T, indices:Tidx, segment_ids:Tsegmentids, dense_output_dim0:int32) -> "         \
    "(output:T, sorted_unique_indices:Tidx) | " FLOATS " " IDS,                                                        \
        doc_, .infer = picked_infer, .cpu = cpu_, .cases = picked_cases                                                \
  }

OPS(sparse_segment) = {
    FORWARD("Sum", "T:type{real}", "Sums of picked rows by segment.", sparse_segment_sum_cpu, sum_grad),
    FORWARD("Mean", FLOATS, "Means of picked rows by segment.", sparse_segment_mean_cpu, mean_grad),
    FORWARD("SqrtN", FLOATS, "Sums of picked rows by segment, over the root of their number.", sqrt_n_cpu, sqrt_n_grad),
    BACKWARD("Sum", "The gradient of SparseSegmentSum.", sum_grad_cpu),
    BACKWARD("Mean", "The gradient of SparseSegmentMean.", mean_grad_cpu),
    BACKWARD("SqrtN", "The gradient of SparseSegmentSqrtN.", sqrt_n_grad_cpu),
    {0},
};
