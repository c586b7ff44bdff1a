/* stitch.c - splits rows by partition number and merges rows by index: DynamicPartition, DynamicStitch and related
 * ops. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "kernels/array/index.h"

/* ---- DynamicStitch: inputs are N indices, then N data ---- */

/* Computes the shape of a data row: the dimensions after those of the indices. */
static bool tail_of(const shape *data, int lead, shape *out) {
  *out = SHAPE_UNKNOWN;
  if (data->rank < lead) return false;
  out->rank = data->rank - lead;
  for (int d = lead; d < data->rank; d++) out->dim[d - lead] = data->dim[d];
  return true;
}

/* Returns the number of rows of the result if every index is known, or -1. */
static int64_t known_rows(infer *s, int n) {
  int64_t most = -1;
  for (int i = 0; i < n; i++) {
    const weft_tensor *t = weft__infer_value(s, i);
    if (!t) return -1;
    for (int64_t j = 0; j < weft__tensor_count(t); j++)
      if (weft__tensor_int(t, j) > most) most = weft__tensor_int(t, j);
  }
  return most + 1;
}

static weft_err stitch_infer(infer *s) {
  int n = s->n_in / 2;
  shape rest = SHAPE_UNKNOWN;
  for (int i = 0; i < n; i++) {
    const shape *index = &s->in[i], *data = &s->in[n + i];
    shape tail, before = rest;
    if (index->rank < 0 || data->rank < 0) continue;
    if (!tail_of(data, index->rank, &tail))
      return weft__infer_fail(s, "Shape must be at least rank %d but is rank %d", index->rank, data->rank);
    for (int d = 0; d < index->rank; d++)
      if (index->dim[d] >= 0 && data->dim[d] >= 0 && index->dim[d] != data->dim[d])
        return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)data->dim[d],
                                (long long)index->dim[d]);
    if (weft__shape_merge(&rest, &before, &tail) != WEFT_OK) return weft__infer_fail(s, "%s", weft__error_message());
  }
  if (rest.rank < 0 || rest.rank == WEFT_MAX_RANK) return WEFT_OK;
  s->out[0].rank = rest.rank + 1;
  s->out[0].dim[0] = known_rows(s, n);
  memcpy(s->out[0].dim + 1, rest.dim, (size_t)rest.rank * sizeof *rest.dim);
  return WEFT_OK;
}

static weft_err stitch_check(kernel *k, int n, int64_t *rows, shape *rest) {
  *rows = 0;
  for (int i = 0; i < n; i++) {
    const shape *index = &k->in[i]->shape, *data = &k->in[n + i]->shape, *first = &k->in[n]->shape;
    bool starts = data->rank >= index->rank;
    for (int d = 0; starts && d < index->rank; d++) starts = index->dim[d] == data->dim[d];
    if (!starts)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "data[%d].shape = %s does not start with indices[%d].shape = %s", i,
                               weft__shape_text(data), i, weft__shape_text(index));
    shape tail;
    tail_of(data, index->rank, &tail);
    if (i == 0) *rest = tail;
    if (!weft__shape_equal(rest, &tail))
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "Need data[0].shape[%d:] = data[%d].shape[%d:], got data[0].shape = %s, data[%d].shape = "
          "%s, indices[0].shape = %s, indices[%d].shape = %s",
          k->in[0]->shape.rank, i, index->rank, weft__shape_text(first), i, weft__shape_text(data),
          weft__shape_text(&k->in[0]->shape), i, weft__shape_text(index));
    const int64_t count = weft__shape_count(index);
    for (int64_t j = 0; j < count; j++) {
      const int64_t v = weft__index_at(k->in[i], j);
      if (v < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices[%lld] is out of range", (long long)j);
      if (v >= *rows) *rows = v + 1;
    }
  }
  return WEFT_OK;
}

/* Writes the rows of x, each of `width` elements, to those that the indices name. */
static weft_err stitch_rows(weft_tensor *y, const weft_tensor *indices, const weft_tensor *x, int64_t width) {
  const int64_t n = weft__tensor_count(indices);
  const size_t row = (size_t)width * weft__dtype_size(x->dtype);
  char *to = y->data;
  const char *from = x->data;
  for (int64_t j = 0; j < n && !weft__dtype_is_plain(x->dtype); j++)
    WEFT_TRY(
        weft__elements_copy(x->dtype, to + (size_t)weft__index_at(indices, j) * row, from + (size_t)j * row, width));
  for (int64_t j = 0; j < n && row > 0 && weft__dtype_is_plain(x->dtype); j++)
    weft__row_copy(to + (size_t)weft__index_at(indices, j) * row, from + (size_t)j * row, row);
  return WEFT_OK;
}

static weft_err stitch_cpu(kernel *k) {
  int n = k->n_in / 2;
  int64_t rows;
  shape rest, out;
  WEFT_TRY(stitch_check(k, n, &rows, &rest));
  if (rest.rank == WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the result would have more than %d axes", WEFT_MAX_RANK);
  out.rank = rest.rank + 1;
  out.dim[0] = rows;
  memcpy(out.dim + 1, rest.dim, (size_t)rest.rank * sizeof *rest.dim);
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  int64_t width = weft__shape_count(&rest);
  if (weft__dtype_is_plain(y->dtype)) memset(y->data, 0, weft__tensor_bytes(y)); /* for rows that no index names */
  for (int i = 0; i < n; i++) WEFT_TRY(stitch_rows(y, k->in[i], k->in[n + i], width));
  return WEFT_OK;
}

static weft_err stitch_grad(backprop *b) {
  int n = b->n_in / 2;
  weft_out axis = weft__b_scalar(b->graph, WEFT_INT32, 0);
  for (int i = 0; i < n; i++) b->din[n + i] = GRAD_DENSE(weft__b_gather(b->graph, b->dout[0], b->in[i], axis));
  return WEFT_OK;
}

/* ---- DynamicPartition ---- */

static weft_err partition_infer(infer *s) {
  const shape *data = &s->in[0], *p = &s->in[1];
  if (data->rank < 0 || p->rank < 0) return WEFT_OK;
  shape tail;
  if (!tail_of(data, p->rank, &tail))
    return weft__infer_fail(s, "Shape must be at least rank %d but is rank %d", p->rank, data->rank);
  for (int d = 0; d < p->rank; d++)
    if (data->dim[d] >= 0 && p->dim[d] >= 0 && data->dim[d] != p->dim[d])
      return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)data->dim[d],
                              (long long)p->dim[d]);
  if (tail.rank == WEFT_MAX_RANK) return WEFT_OK;
  for (int i = 0; i < s->n_out; i++) {
    s->out[i].rank = tail.rank + 1;
    s->out[i].dim[0] = -1;
    memcpy(s->out[i].dim + 1, tail.dim, (size_t)tail.rank * sizeof *tail.dim);
  }
  return WEFT_OK;
}

static weft_err partition_check(kernel *k, int64_t *count) {
  const shape *data = &k->in[0]->shape, *p = &k->in[1]->shape;
  bool starts = data->rank >= p->rank;
  for (int d = 0; starts && d < p->rank; d++) starts = data->dim[d] == p->dim[d];
  if (!starts)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "data.shape must start with partitions.shape, got data.shape = %s, partitions.shape = %s",
                             weft__shape_text(data), weft__shape_text(p));
  const int64_t n = weft__tensor_count(k->in[1]);
  for (int64_t i = 0; i < n; i++) {
    const int64_t v = weft__index_at(k->in[1], i);
    char where[128];
    if (v < 0 || v >= k->n_out)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "partitions%s = %lld is not in [0, %d)",
                               weft__index_where(p, p->rank, i, where, sizeof where), (long long)v, k->n_out);
    count[v]++;
  }
  return WEFT_OK;
}

/* Copies each row to its partition. next[p] counts the rows that output p has so far. */
static weft_err stitch_deal(kernel *k, const int64_t *count, int64_t *next) {
  const weft_tensor *x = k->in[0];
  shape out;
  tail_of(&x->shape, k->in[1]->shape.rank, &out);
  int64_t width = weft__shape_count(&out);
  memmove(out.dim + 1, out.dim, (size_t)out.rank * sizeof *out.dim);
  out.rank++;
  for (int i = 0; i < k->n_out; i++) {
    out.dim[0] = count[i];
    next[i] = 0;
    if (!weft__out(k, i, &out)) return WEFT_OOM;
  }
  const int64_t n = weft__tensor_count(k->in[1]);
  const size_t row = (size_t)width * weft__dtype_size(x->dtype);
  const bool plain = weft__dtype_is_plain(x->dtype);
  const char *from = x->data;
  for (int64_t i = 0; i < n && row > 0; i++, from += row) {
    const int64_t part = weft__index_at(k->in[1], i);
    char *to = (char *)k->out[part].t.data + (size_t)next[part]++ * row;
    if (plain)
      weft__row_copy(to, from, row);
    else
      WEFT_TRY(weft__elements_copy(x->dtype, to, from, width));
  }
  return WEFT_OK;
}

static weft_err partition_cpu(kernel *k) {
  if (k->in[0]->shape.rank - k->in[1]->shape.rank == WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the results would have more than %d axes", WEFT_MAX_RANK);
  int64_t *count = weft__alloc_zero((size_t)k->n_out * 2, sizeof *count);
  if (!count) return WEFT_OOM;
  weft_err err = partition_check(k, count);
  if (err == WEFT_OK) err = stitch_deal(k, count, count + k->n_out);
  weft__free(count);
  return err;
}

/* Partitions the row numbers in the same way.  DynamicStitch then merges the gradients by them. */
static weft_err partition_grad(backprop *b) {
  weft_graph *g = b->graph;
  weft_out *in = weft__alloc((size_t)b->n_out * 2 * sizeof *in);
  if (!in) return WEFT_OOM;
  weft_out shape_of = weft__b_shape(g, b->in[1]);
  weft_out range[] = {weft__b_scalar(g, WEFT_INT32, 0), weft__b_size(g, b->in[1]), weft__b_scalar(g, WEFT_INT32, 1)};
  weft_out places = weft__b_reshape(g, weft__b_node(g, "Range", NULL, 3, range, 0, NULL), shape_of);
  attr n = A_INT("num_partitions", b->n_out);
  weft_out dealt = weft__b_node(g, "DynamicPartition", NULL, 2, (weft_out[]){places, b->in[1]}, 1, &n);
  for (int i = 0; i < b->n_out; i++) {
    in[i] = weft__b_slot(dealt, i);
    in[b->n_out + i] = weft__backprop_dout(b, i);
  }
  weft_out whole = weft__b_node(g, "ParallelDynamicStitch", NULL, 2 * b->n_out, in, 0, NULL);
  b->din[0] = GRAD_DENSE(weft__b_reshape(g, whole, weft__b_shape(g, b->in[0])));
  weft__free(in);
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case stitch_cases[] = {
    {"i32[2] 0 2; i32[1] 1; f32[2,2] 1 2 5 6; f32[1,2] 3 4", "f32[3,2] 1 2 3 4 5 6", "N=2", 0},
    {"i32[] 1; i32[2,2] 0 2 3 4; f64[3] rand; f64[2,2,3] rand", NULL, "N=2", 0},
    {"i32[2] 0 1; str[2] \"a\" \"b\"", "str[2] \"a\" \"b\"", "N=1", 0},
    {"i32[0] 0; f32[0,3] 0", "f32[0,3] 0", "N=1", 0},
    {"i32[2] 0 -1; f32[2] 0", "error INVALID_ARGUMENT", "N=1", 0},
    {"i32[2] 0 1; f32[3] 0", "error INVALID_ARGUMENT", "N=1", 0},
    {"i32[1] 0; i32[1] 1; f32[1,2] 0; f32[1,3] 0", "error INVALID_ARGUMENT", "N=2", 0},
    {0},
};

static const op_case partition_cases[] = {
    {"f32[4,2] seq; i32[4] 0 1 1 0", "f32[2,2] 0 1 6 7; f32[2,2] 2 3 4 5", "num_partitions=2", 0},
    {"f64[2,3] rand; i32[2,3] 0 2 0 1 1 2", NULL, "num_partitions=4", 0},
    {"f64[3] rand; i32[] 1", NULL, "num_partitions=2", 0},
    {"str[2] \"a\" \"b\"; i32[2] 1 0", "str[1] \"b\"; str[1] \"a\"", "num_partitions=2", 0},
    {"f32[3] 0; i32[3] 0 1 2", "error INVALID_ARGUMENT", "num_partitions=2", 0},
    {"f32[3] 0; i32[2] 0 1", "error INVALID_ARGUMENT", "num_partitions=2", 0},
    {0},
};

OPS(stitch) = {
    {"DynamicStitch(indices:N*int32, data:N*T) -> (merged:T) | N:int>=1 T:type",
     "Rows put at the places their indices name; later ones win.", .infer = stitch_infer, .cpu = stitch_cpu,
     .grad = stitch_grad, .cases = stitch_cases, .amp = AMP_CLEAR},
    {"ParallelDynamicStitch(indices:N*int32, data:N*T) -> (merged:T) | N:int>=1 T:type",
     "Rows put at the places their indices name.", .infer = stitch_infer, .cpu = stitch_cpu, .grad = stitch_grad,
     .cases = stitch_cases},
    {"DynamicPartition(data:T, partitions:int32) -> (outputs:num_partitions*T) | num_partitions:int>=1 T:type",
     "Rows dealt out to outputs by number.", .infer = partition_infer, .cpu = partition_cpu, .grad = partition_grad,
     .cases = partition_cases, .amp = AMP_CLEAR},
    {0},
};
