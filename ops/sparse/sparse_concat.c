/* sparse_concat.c - joins and cuts sparse tensors: SparseConcat, SparseSplit, SparseSlice and its gradient.
 *
 * A concatenation is returned in row-major order.  A slice or split keeps the order of its input. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "kernels/sparse/sparse.h"
#include <string.h>

/* ---- concat: N indices, N values, N shapes ---- */

static weft_err sparse_concat_infer(infer *s) {
  const int n = s->n_in / 3;
  int64_t rows = 0, depth = -1;
  for (int i = 0; i < n; i++) {
    shape indices, values, dims;
    WEFT_TRY(weft__infer_rank(s, i, 2, &indices));
    WEFT_TRY(weft__infer_rank(s, n + i, 1, &values));
    WEFT_TRY(weft__infer_rank(s, 2 * n + i, 1, &dims));
    rows = weft__shape_dim_add(rows, indices.dim[0] >= 0 ? indices.dim[0] : values.dim[0]);
    const int64_t d = indices.dim[1] >= 0 ? indices.dim[1] : dims.dim[0];
    if (depth >= 0 && d >= 0 && d != depth)
      return weft__infer_fail(s, "Dimension 1 in both shapes must be equal, but are %lld and %lld", (long long)depth,
                              (long long)d);
    if (d >= 0) depth = d;
  }
  s->out[0] = SHAPE2(rows, depth);
  s->out[1] = SHAPE1(rows);
  s->out[2] = SHAPE1(depth);
  return WEFT_OK;
}

/* Computes the shape of the result and its number of entries. */
static weft_err sparse_concat_shape(kernel *k, int64_t *dims, int64_t *axis, int64_t *total) {
  const int n = k->n_in / 3;
  const int64_t depth = k->in[0]->shape.rank == 2 ? k->in[0]->shape.dim[1] : -1;
  *total = 0;
  for (int i = 0; i < n; i++) {
    WEFT_TRY(weft__sparse_check(k, k->in[i], k->in[n + i], k->in[2 * n + i]));
    if (k->in[i]->shape.dim[1] != depth || depth > WEFT_MAX_RANK)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Ranks of all input tensors must match: expected %lld but got %lld at position %d",
                               (long long)depth, (long long)k->in[i]->shape.dim[1], i);
    *total += k->in[i]->shape.dim[0];
  }
  *axis = weft__node_int(k->node, "concat_dim", 0);
  if (*axis < -depth || *axis >= depth)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Concat dimension must be in range [%lld, %lld), got %lld",
                             (long long)-depth, (long long)depth, (long long)*axis);
  *axis += *axis < 0 ? depth : 0;
  for (int64_t d = 0; d < depth; d++) {
    dims[d] = TENSOR_DATA(k->in[2 * n], int64_t)[d];
    for (int i = 1; i < n; i++) {
      const int64_t other = TENSOR_DATA(k->in[2 * n + i], int64_t)[d];
      if (d == *axis && __builtin_add_overflow(dims[d], other, &dims[d]))
        return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the whole is too long: dimension %lld", (long long)d);
      if (d != *axis && other != dims[d])
        return weft__kernel_fail(
            k, WEFT_INVALID_ARGUMENT,
            "Input shapes must match: expected %lld for dimension %lld but got %lld at position %d", (long long)dims[d],
            (long long)d, (long long)other, i);
    }
  }
  return WEFT_OK;
}

/* Writes all rows with their offsets, in the order of the inputs.  The number of an entry identifies its value. */
static void lay_rows(kernel *k, int64_t axis, int64_t depth, int64_t *rows, sparse_entry *entries) {
  const int n = k->n_in / 3;
  int64_t at = 0, offset = 0;
  for (int i = 0; i < n; i++) {
    const int64_t count = k->in[i]->shape.dim[0];
    memcpy(rows + at * depth, k->in[i]->data, (size_t)(count * depth) * sizeof *rows);
    for (int64_t j = 0; j < count; j++, at++) {
      int64_t *row = &rows[at * depth + axis];
      *row = (int64_t)((uint64_t)*row + (uint64_t)offset); /* an index outside its tensor wraps around */
      entries[at] = (sparse_entry){rows + at * depth, depth, at};
    }
    offset = (int64_t)((uint64_t)offset + (uint64_t)TENSOR_DATA(k->in[2 * n + i], int64_t)[axis]);
  }
}

/* Returns the value of the entry with this number. */
static const void *sparse_concat_value_of(kernel *k, int64_t at) {
  const int n = k->n_in / 3;
  int i = n;
  for (; at >= weft__tensor_count(k->in[i]); i++) at -= weft__tensor_count(k->in[i]);
  return weft__element_const(k->in[i]->dtype, k->in[i]->data, at);
}

static weft_err sparse_concat_cpu(kernel *k) {
  int64_t dims[WEFT_MAX_RANK], axis, total;
  WEFT_TRY(sparse_concat_shape(k, dims, &axis, &total));
  const int64_t depth = k->in[0]->shape.dim[1];
  weft_tensor *places = weft__out(k, 0, &SHAPE2(total, depth)), *values = weft__out(k, 1, &SHAPE1(total));
  weft_tensor *whole = weft__out(k, 2, &SHAPE1(depth));
  int64_t *rows = weft__alloc((size_t)(total * depth + 1) * sizeof *rows);
  sparse_entry *entries = weft__alloc((size_t)(total + 1) * sizeof *entries);
  weft_err err = places && values && whole && rows && entries ? WEFT_OK : WEFT_OOM;
  if (!err) {
    memcpy(whole->data, dims, (size_t)depth * sizeof *dims);
    lay_rows(k, axis, depth, rows, entries);
    weft__sparse_sort(entries, total);
  }
  for (int64_t i = 0; i < total && !err; i++) {
    memcpy(TENSOR_DATA(places, int64_t) + i * depth, entries[i].row, (size_t)depth * sizeof *rows);
    err = weft__elements_copy(values->dtype, weft__element(values->dtype, values->data, i),
                              sparse_concat_value_of(k, entries[i].at), 1);
  }
  weft__free(rows);
  weft__free(entries);
  return err;
}

/* ---- cutting: the entries in a block, with indices relative to its corner ---- */

static bool in_box(const int64_t *row, int64_t depth, const int64_t *start, const int64_t *size) {
  for (int64_t d = 0; d < depth; d++)
    if (row[d] < start[d] || size[d] <= 0 || (uint64_t)row[d] - (uint64_t)start[d] >= (uint64_t)size[d]) return false;
  return true;
}

static weft_err sparse_concat_cut(kernel *k, int first_out, int apart, const weft_tensor *indices,
                                  const weft_tensor *from, const int64_t *start, const int64_t *size,
                                  const int64_t *dims) {
  const int64_t n = indices->shape.dim[0], depth = indices->shape.dim[1], *row = TENSOR_DATA(indices, int64_t);
  int64_t count = 0, at = 0;
  for (int64_t i = 0; i < n; i++) count += in_box(row + i * depth, depth, start, size);
  weft_tensor *places = weft__out(k, first_out, &SHAPE2(count, depth));
  weft_tensor *values = weft__out(k, first_out + apart, &SHAPE1(count));
  weft_tensor *whole = weft__out(k, first_out + 2 * apart, &SHAPE1(depth));
  if (!places || !values || !whole) return WEFT_OOM;
  memcpy(whole->data, dims, (size_t)depth * sizeof *dims);
  for (int64_t i = 0; i < n; i++, row += depth) {
    if (!in_box(row, depth, start, size)) continue;
    for (int64_t d = 0; d < depth; d++) TENSOR_DATA(places, int64_t)[at * depth + d] = row[d] - start[d];
    WEFT_TRY(weft__elements_copy(from->dtype, weft__element(values->dtype, values->data, at++),
                                 weft__element_const(from->dtype, from->data, i), 1));
  }
  return WEFT_OK;
}

static weft_err check_depth(kernel *k, int64_t depth) {
  if (depth <= WEFT_MAX_RANK) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a sparse tensor of %lld dimensions has more than %d",
                           (long long)depth, WEFT_MAX_RANK);
}

/* ---- slice ---- */

static weft_err slice_infer(infer *s) {
  shape indices, dims, part;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &indices));
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 2, 1, &dims));
  WEFT_TRY(weft__infer_rank(s, 3, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 4, 1, &part));
  const int64_t depth = dims.dim[0] >= 0 ? dims.dim[0] : indices.dim[1] >= 0 ? indices.dim[1] : part.dim[0];
  s->out[0] = SHAPE2(-1, depth);
  s->out[1] = SHAPE1(-1);
  s->out[2] = SHAPE1(depth);
  return WEFT_OK;
}

static weft_err slice_cpu(kernel *k) {
  static const char *const names[] = {"start", "size"};
  WEFT_TRY(weft__sparse_check(k, k->in[0], k->in[1], k->in[2]));
  const int64_t depth = k->in[0]->shape.dim[1];
  WEFT_TRY(check_depth(k, depth));
  for (int i = 0; i < 2; i++) {
    WEFT_TRY(weft__kernel_vector(k, 3 + i, names[i]));
    if (k->in[3 + i]->shape.dim[0] != depth)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Expected %s to be a vector of length %lld but got length %lld", names[i],
                               (long long)depth, (long long)k->in[3 + i]->shape.dim[0]);
  }
  const int64_t *start = TENSOR_DATA(k->in[3], int64_t), *size = TENSOR_DATA(k->in[4], int64_t);
  int64_t dims[WEFT_MAX_RANK];
  for (int64_t d = 0; d < depth; d++) {
    const int64_t have = TENSOR_DATA(k->in[2], int64_t)[d];
    int64_t rest;
    if (size[d] < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected a non-negative size, got %lld", (long long)size[d]);
    if (start[d] >= have || __builtin_sub_overflow(have, start[d], &rest)) rest = 0;
    dims[d] = size[d] < rest ? size[d] : rest;
  }
  return sparse_concat_cut(k, 0, 1, k->in[0], k->in[1], start, size, dims);
}

static weft_err slice_grad(backprop *b) {
  weft_out in[] = {weft__backprop_dout(b, 1), b->in[0], b->in[3], b->out[0]};
  b->din[1] = GRAD_DENSE(weft__b_node(b->graph, "SparseSliceGrad", NULL, 4, in, 0, NULL));
  return WEFT_OK;
}

static weft_err slice_grad_infer(infer *s) {
  shape indices;
  WEFT_TRY(weft__infer_rank(s, 0, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 2, &indices));
  WEFT_TRY(weft__infer_rank(s, 3, 2, NULL));
  s->out[0] = SHAPE1(indices.dim[0]);
  return WEFT_OK;
}

/* Both lists of indices are in the same order, so one pass finds the entries of the slice in the whole. */
static weft_err slice_grad_cpu(kernel *k) {
  const weft_tensor *dy = k->in[0], *whole = k->in[1], *start = k->in[2], *part = k->in[3];
  if (whole->shape.rank != 2 || part->shape.rank != 2 || dy->shape.rank != 1 || start->shape.rank != 1 ||
      part->shape.dim[1] != whole->shape.dim[1] || start->shape.dim[0] != whole->shape.dim[1])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "gradient %s, indices %s, start %s and the slice's %s do not fit",
                             weft__shape_text(&dy->shape), weft__shape_text(&whole->shape),
                             weft__shape_text(&start->shape), weft__shape_text(&part->shape));
  const int64_t n = whole->shape.dim[0], depth = whole->shape.dim[1], m = part->shape.dim[0];
  if (dy->shape.dim[0] != m)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "# elements of backprop_val_grad and # rows of output_indices should match (#nnz of sum): "
                             "got %lld and %lld",
                             (long long)dy->shape.dim[0], (long long)m);
  weft_tensor *dx = weft__out(k, 0, &SHAPE1(n));
  if (!dx) return WEFT_OOM;
  memset(dx->data, 0, weft__tensor_bytes(dx));
  int64_t used = 0;
  for (int64_t i = 0; i < n && used < m; i++) {
    bool same = true;
    for (int64_t d = 0; d < depth && same; d++) {
      int64_t at;
      same = !__builtin_sub_overflow(TENSOR_DATA(whole, int64_t)[i * depth + d], TENSOR_DATA(start, int64_t)[d], &at) &&
             at == TENSOR_DATA(part, int64_t)[used * depth + d];
    }
    if (same)
      WEFT_TRY(weft__elements_copy(dx->dtype, weft__element(dx->dtype, dx->data, i),
                                   weft__element_const(dy->dtype, dy->data, used++), 1));
  }
  if (used == m) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INTERNAL,
                           "Elements of backprop_val_grad aren't all propagated. Num elements:%lld, used: %lld",
                           (long long)m, (long long)used);
}

/* ---- split: if the size is not divisible, the first parts are longer by one ---- */

static weft_err sparse_concat_split_infer(infer *s) {
  shape indices, dims;
  WEFT_TRY(weft__infer_rank(s, 1, 2, &indices));
  WEFT_TRY(weft__infer_rank(s, 2, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 3, 1, &dims));
  const int n = s->n_out / 3;
  for (int i = 0; i < n; i++) {
    s->out[i] = SHAPE2(-1, indices.dim[1] >= 0 ? indices.dim[1] : dims.dim[0]);
    s->out[n + i] = SHAPE1(-1);
    s->out[2 * n + i] = dims;
  }
  return WEFT_OK;
}

static weft_err sparse_concat_split_cpu(kernel *k) {
  const weft_tensor *indices = k->in[1], *values = k->in[2], *shape_in = k->in[3];
  WEFT_TRY(weft__kernel_scalar(k, 0, "split_dim"));
  WEFT_TRY(weft__sparse_check(k, indices, values, shape_in));
  const int64_t depth = indices->shape.dim[1], n = k->n_out / 3;
  WEFT_TRY(check_depth(k, depth));
  int64_t axis = TENSOR_DATA(k->in[0], int64_t)[0], start[WEFT_MAX_RANK] = {0}, dims[WEFT_MAX_RANK];
  if (axis < -depth || axis >= depth)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input axis should be in range [%lld, %lld), got %lld",
                             (long long)-depth, (long long)depth, (long long)axis);
  axis += axis < 0 ? depth : 0;
  memcpy(dims, shape_in->data, (size_t)depth * sizeof *dims);
  const int64_t length = dims[axis];
  if (n < 1 || n > length)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Input num_split should be between 1 and the splitting dimension size (%lld), got %lld",
                             (long long)length, (long long)n);
  WEFT_TRY(weft__sparse_inside(k, indices, shape_in));
  for (int64_t i = 0; i < n; i++) {
    dims[axis] = length / n + (i < length % n);
    WEFT_TRY(sparse_concat_cut(k, weft__int_sat(i), weft__int_sat(n), indices, values, start, dims, dims));
    start[axis] += dims[axis];
  }
  return WEFT_OK;
}

static const op_case concat_cases[] = {
    {"i64[2,2] 1 0 0 2; i64[2,2] 0 0 1 1; f32[2] 1 2; f32[2] 3 4; i64[2] 2 3; i64[2] 2 2",
     "i64[4,2] 0 2 0 3 1 0 1 4; f32[4] 2 3 1 4; i64[2] 2 5", "concat_dim=1 N=2", CASE_NO_GRAD},
    {"i64[2,2] 1 0 0 2; i64[1,2] 0 0; i64[0,2] 0; str[2] \"a\" \"b\"; str[1] \"c\"; str[0] \"\"; i64[2] 2 3; i64[2] 2 "
     "3; "
     "i64[2] 1 3",
     NULL, "concat_dim=-2 N=3", CASE_NO_GRAD},
    {"i64[1,2] 1 0; i64[1,2] 0 0; f32[1] 1; f32[1] 3; i64[2] 2 3; i64[2] 3 3", "error INVALID_ARGUMENT",
     "concat_dim=1 N=2", CASE_NO_GRAD},
    {"i64[1,2] 1 0; i64[1,2] 0 0; f32[1] 1; f32[1] 3; i64[2] 2 3; i64[2] 2 3", "error INVALID_ARGUMENT",
     "concat_dim=2 N=2", CASE_NO_GRAD},
    {0},
};
static const op_case slice_cases[] = {
    {"i64[5,2] 0 0 0 2 1 1 2 0 2 3; f32[5] 1 2 3 4 5; i64[2] 3 4; i64[2] 1 0; i64[2] 2 2",
     "i64[2,2] 0 1 1 0; f32[2] 3 4; i64[2] 2 2", NULL, 0},
    {"i64[5,2] 0 0 0 2 1 1 2 0 2 3; f64[5] rand; i64[2] 3 4; i64[2] 1 1; i64[2] 5 5", NULL, NULL, 0},
    {"i64[5,2] 0 0 0 2 1 1 2 0 2 3; str[5] \"a\"; i64[2] 3 4; i64[2] 5 0; i64[2] 1 2", NULL, NULL, CASE_NO_GRAD},
    {"i64[1,2] 0 0; f32[1] 1; i64[2] 3 4; i64[2] 1 0; i64[2] -1 2", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"i64[1,2] 0 0; f32[1] 1; i64[2] 3 4; i64[1] 1; i64[2] 1 2", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case slice_grad_cases[] = {
    {"f32[2] 7 8; i64[5,2] 0 0 0 2 1 1 2 0 2 3; i64[2] 1 0; i64[2,2] 0 1 1 0", "f32[5] 0 0 7 8 0", NULL, CASE_NO_GRAD},
    {"f32[1] 7; i64[5,2] 0 0 0 2 1 1 2 0 2 3; i64[2] 1 0; i64[2,2] 0 1 1 0", "error INVALID_ARGUMENT", NULL,
     CASE_NO_GRAD},
    {"f32[2] 7 8; i64[2,2] 0 0 0 2; i64[2] 1 0; i64[2,2] 0 1 1 0", "error INTERNAL", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case split_cases[] = {
    {"i64[] 1; i64[5,2] 0 0 0 2 1 1 2 0 2 3; f32[5] 1 2 3 4 5; i64[2] 3 4",
     "i64[3,2] 0 0 1 1 2 0; i64[2,2] 0 0 2 1; f32[3] 1 3 4; f32[2] 2 5; i64[2] 3 2; i64[2] 3 2", "num_split=2",
     CASE_NO_GRAD},
    {"i64[] -1; i64[5,2] 0 0 0 2 1 1 2 0 2 3; str[5] \"a\" \"b\"; i64[2] 3 4", NULL, "num_split=3", CASE_NO_GRAD},
    {"i64[] 0; i64[5,2] 0 0 0 2 1 1 2 0 2 3; f32[5] 1; i64[2] 3 4", "error INVALID_ARGUMENT", "num_split=4",
     CASE_NO_GRAD},
    {"i64[] 2; i64[5,2] 0 0 0 2 1 1 2 0 2 3; f32[5] 1; i64[2] 3 4", "error INVALID_ARGUMENT", "num_split=2",
     CASE_NO_GRAD},
    {"i64[] 0; i64[1,2] 7 0; f32[1] 1; i64[2] 3 4", "error INVALID_ARGUMENT", "num_split=2", CASE_NO_GRAD},
    {0},
};

OPS(sparse_concat) = {
    {"SparseConcat(indices:N*int64, values:N*T, shapes:N*int64) -> (output_indices:int64, output_values:T, "
     "output_shape:int64) | concat_dim:int N:int>=2 T:type",
     "Sparse tensors along one dimension.", .infer = sparse_concat_infer, .cpu = sparse_concat_cpu, .no_grad = true,
     .cases = concat_cases},
    {"SparseSlice(indices:int64, values:T, shape:int64, start:int64, size:int64) -> (output_indices:int64, "
     "output_values:T, output_shape:int64) | T:type",
     "A box of a sparse tensor.", .infer = slice_infer, .cpu = slice_cpu, .grad = slice_grad, .cases = slice_cases},
    {"SparseSliceGrad(backprop_val_grad:T, input_indices:int64, input_start:int64, output_indices:int64) -> "
     "(val_grad:T) | "
     "T:type{number}",
     "The gradient of SparseSlice.", .infer = slice_grad_infer, .cpu = slice_grad_cpu, .cases = slice_grad_cases},
    {"SparseSplit(split_dim:int64, indices:int64, values:T, shape:int64) -> (output_indices:num_split*int64, "
     "output_values:num_split*T, output_shape:num_split*int64) | num_split:int>=1 T:type",
     "A sparse tensor in parts along one dimension.", .infer = sparse_concat_split_infer,
     .cpu = sparse_concat_split_cpu, .cases = split_cases},
    {0},
};
