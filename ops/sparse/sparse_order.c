/* sparse_order.c - ops on the indices of a sparse tensor: SparseReshape, SparseReorder, SparseFillEmptyRows.
 *
 * A sparse tensor has rows of indices, one value for each row, and a shape.  SparseReorder is a stable sort and does
 * not check the shape.  SparseFillEmptyRows gives each row without entries a default at (row, 0, ...) and keeps the
 * order in rows. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/index.h"
#include "kernels/array/strided_copy.h"
#include "kernels/sparse/sparse.h"
#include <string.h>

/* ---- reshape ---- */

static weft_err reshape_infer(infer *s) {
  shape indices, old, new;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &indices));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &old));
  WEFT_TRY(weft__infer_rank(s, 2, 1, &new));
  s->out[0] = SHAPE2(indices.dim[0], new.dim[0]);
  s->out[1] = SHAPE1(new.dim[0]);
  return WEFT_OK;
}

/* Computes the new shape, including its -1, and checks that the number of elements is the same. */
static weft_err new_shape(kernel *k, int64_t count, int64_t *dims, int64_t n) {
  const int64_t *given = TENSOR_DATA(k->in[2], int64_t);
  int64_t product = 1, unknown = -1;
  for (int64_t i = 0; i < n; i++) {
    dims[i] = given[i];
    if (given[i] < -1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "size %lld must be non-negative, not %lld", (long long)i,
                               (long long)given[i]);
    if (given[i] == -1 && unknown >= 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "only one output dimension may be -1, not both %lld and %lld",
                               (long long)unknown, (long long)i);
    if (given[i] == -1)
      unknown = i;
    else if (__builtin_mul_overflow(product, given[i], &product))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the requested shape has more elements than can be counted");
  }
  if (unknown >= 0 && (product == 0 ? count != 0 : count % product != 0))
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "Input to reshape is a SparseTensor with %lld dense values, but the requested shape requires "
        "a multiple of %lld.",
        (long long)count, (long long)product);
  if (unknown >= 0) dims[unknown] = product ? count / product : 0;
  if (unknown < 0 && product != count)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Input to reshape is a tensor with %lld dense values, but the requested shape has %lld.",
                             (long long)count, (long long)product);
  return WEFT_OK;
}

/* Converts each row of indices to a flat index in the old shape, and back to indices in the new one. */
static void move_rows(const int64_t *in, const int64_t *old, int64_t depth, int64_t n, const int64_t *new,
                      int64_t new_depth, int64_t *out) {
  for (int64_t i = 0; i < n; i++) {
    uint64_t at = 0;
    for (int64_t j = 0; j < depth; j++) at = at * (uint64_t)old[j] + (uint64_t)in[i * depth + j];
    for (int64_t j = new_depth - 1; j >= 0; j--) {
      const uint64_t d = new[j] > 0 ? (uint64_t) new[j] : 1;
      out[i * new_depth + j] = (int64_t)(at % d);
      at /= d;
    }
  }
}

static weft_err reshape_cpu(kernel *k) {
  const weft_tensor *indices = k->in[0], *old = k->in[1];
  WEFT_TRY(weft__sparse_check(k, indices, NULL, old));
  if (k->in[2]->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Target shape should be a vector but received shape %s",
                             weft__shape_text(&k->in[2]->shape));
  const int64_t depth = indices->shape.dim[1], n = indices->shape.dim[0], new_depth = k->in[2]->shape.dim[0];
  int64_t count = 1;
  for (int64_t i = 0; i < depth; i++)
    if (TENSOR_DATA(old, int64_t)[i] < 0 || __builtin_mul_overflow(count, TENSOR_DATA(old, int64_t)[i], &count))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the input's shape is none: dimension %lld is %lld",
                               (long long)i, (long long)TENSOR_DATA(old, int64_t)[i]);
  weft_tensor *moved = weft__out(k, 0, &SHAPE2(n, new_depth)), *dims = weft__out(k, 1, &SHAPE1(new_depth));
  if (!moved || !dims) return WEFT_OOM;
  WEFT_TRY(new_shape(k, count, TENSOR_DATA(dims, int64_t), new_depth));
  move_rows(TENSOR_DATA(indices, int64_t), TENSOR_DATA(old, int64_t), depth, n, TENSOR_DATA(dims, int64_t), new_depth,
            TENSOR_DATA(moved, int64_t));
  return WEFT_OK;
}

/* ---- reorder ---- */

static weft_err reorder_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 2, &s->out[0]));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &s->out[1]));
  return weft__infer_rank(s, 2, 1, NULL);
}

static weft_err reorder_cpu(kernel *k) {
  const weft_tensor *indices = k->in[0], *values = k->in[1];
  WEFT_TRY(weft__sparse_check(k, indices, values, k->in[2]));
  const int64_t n = indices->shape.dim[0], depth = indices->shape.dim[1];
  weft_tensor *places = weft__out(k, 0, &indices->shape), *moved = weft__out(k, 1, &values->shape);
  sparse_entry *entries = weft__alloc((size_t)(n + 1) * sizeof *entries);
  weft_err err = places && moved && entries ? WEFT_OK : WEFT_OOM;
  for (int64_t i = 0; i < n && !err; i++)
    entries[i] = (sparse_entry){TENSOR_DATA(indices, int64_t) + i * depth, depth, i};
  if (!err) weft__sparse_sort(entries, n);
  for (int64_t i = 0; i < n && !err; i++) {
    if (depth) memcpy(TENSOR_DATA(places, int64_t) + i * depth, entries[i].row, (size_t)depth * sizeof(int64_t));
    err = weft__elements_copy(values->dtype, weft__element(moved->dtype, moved->data, i),
                              weft__element_const(values->dtype, values->data, entries[i].at), 1);
  }
  weft__free(entries);
  return err;
}

/* The gradient applies the inverse order, which is found by reordering the entry numbers. */
static weft_err reorder_grad(backprop *b) {
  weft_graph *g = b->graph;
  weft_out n = weft__b_size(g, b->in[1]);
  weft_out range[] = {weft__b_scalar(g, WEFT_INT32, 0), n, weft__b_scalar(g, WEFT_INT32, 1)};
  weft_out in[] = {b->in[0], weft__b_node(g, "Range", NULL, 3, range, 0, NULL), b->in[2]};
  weft_out order = weft__b_slot(weft__b_node(g, "SparseReorder", NULL, 3, in, 0, NULL), 1);
  weft_out back = weft__b_unary(g, "InvertPermutation", order);
  b->din[1] = GRAD_DENSE(weft__b_gather(g, weft__backprop_dout(b, 1), back, weft__b_scalar(g, WEFT_INT32, 0)));
  return WEFT_OK;
}

/* ---- empty rows ---- */

static weft_err sparse_order_fill_infer(infer *s) {
  shape indices, values, dims, unused;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &indices));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &values));
  WEFT_TRY(weft__infer_rank(s, 2, 1, &dims));
  WEFT_TRY(weft__infer_rank(s, 3, 0, &unused));
  const weft_tensor *known = weft__infer_value(s, 2);
  const bool rows = known && weft__tensor_count(known) > 0;
  s->out[0] = SHAPE2(-1, indices.dim[1] >= 0 ? indices.dim[1] : dims.dim[0]);
  s->out[1] = SHAPE1(-1);
  s->out[2] = SHAPE1(rows ? weft__tensor_int(known, 0) : -1);
  s->out[3] = SHAPE1(indices.dim[0] >= 0 ? indices.dim[0] : values.dim[0]);
  return WEFT_OK;
}

/* Counts the entries of each row. next[r] is the position of the first entry of row r; an empty row takes one
 * position. */
static weft_err sparse_order_count_rows(kernel *k, int64_t rows, int64_t *next, int64_t *total) {
  const weft_tensor *indices = k->in[0];
  const int64_t depth = indices->shape.dim[1];
  for (int64_t i = 0; i < indices->shape.dim[0]; i++) {
    const int64_t row = TENSOR_DATA(indices, int64_t)[i * depth];
    if (row < 0 || row >= rows)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices(%lld, 0) is invalid: %lld %s", (long long)i,
                               (long long)row, row < 0 ? "< 0" : "is not below the number of rows");
    next[row]++;
  }
  *total = 0;
  for (int64_t r = 0; r < rows; r++) {
    const int64_t n = next[r] ? next[r] : 1;
    next[r] = next[r] ? *total : -1 - *total; /* negative: the row is empty */
    *total += n;
  }
  return WEFT_OK;
}

/* Writes the default into empty rows, and every entry to the next position of its row. */
static weft_err place_all(kernel *k, int64_t rows, int64_t *next, weft_tensor *places, weft_tensor *out) {
  const weft_tensor *indices = k->in[0], *values = k->in[1];
  const int64_t depth = indices->shape.dim[1];
  const size_t size = weft__dtype_size(out->dtype);
  const bool plain = weft__dtype_is_plain(out->dtype);
  int64_t *place = TENSOR_DATA(places, int64_t), *back = TENSOR_DATA(&k->out[3].t, int64_t);
  for (int64_t r = 0; r < rows; r++) {
    TENSOR_DATA(&k->out[2].t, bool)[r] = next[r] < 0;
    if (next[r] >= 0) continue;
    const int64_t at = -1 - next[r];
    memset(place + at * depth, 0, (size_t)depth * sizeof *place);
    place[at * depth] = r;
    WEFT_TRY(weft__elements_copy(out->dtype, weft__element(out->dtype, out->data, at), k->in[3]->data, 1));
  }
  for (int64_t i = 0; i < indices->shape.dim[0]; i++) {
    const int64_t *row = TENSOR_DATA(indices, int64_t) + i * depth, at = next[*row]++;
    for (int64_t d = 0; d < depth; d++) place[at * depth + d] = row[d];
    char *to = (char *)out->data + (size_t)at * size;
    const char *from = (const char *)values->data + (size_t)i * size;
    if (plain)
      weft__row_copy(to, from, size);
    else
      WEFT_TRY(weft__elements_copy(out->dtype, to, from, 1));
    back[i] = at;
  }
  return WEFT_OK;
}

static weft_err fill_with(kernel *k, int64_t rows, int64_t *next) {
  const int64_t n = k->in[0]->shape.dim[0], depth = k->in[0]->shape.dim[1];
  int64_t total;
  WEFT_TRY(sparse_order_count_rows(k, rows, next, &total));
  weft_tensor *places = weft__out(k, 0, &SHAPE2(total, depth)), *values = weft__out(k, 1, &SHAPE1(total));
  if (!places || !values || !weft__out(k, 2, &SHAPE1(rows)) || !weft__out(k, 3, &SHAPE1(n))) return WEFT_OOM;
  return place_all(k, rows, next, places, values);
}

static weft_err sparse_order_fill_cpu(kernel *k) {
  WEFT_TRY(weft__sparse_check(k, k->in[0], k->in[1], k->in[2]));
  if (k->in[2]->shape.dim[0] == 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Dense shape cannot be empty.");
  if (k->in[3]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "default_value must be a scalar, saw: %s",
                             weft__shape_text(&k->in[3]->shape));
  const int64_t rows = TENSOR_DATA(k->in[2], int64_t)[0];
  if (rows < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "dense_shape(0) must not be below 0, saw: %lld",
                             (long long)rows);
  if (rows == 0 && k->in[0]->shape.dim[0] > 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = %lld",
                             (long long)k->in[0]->shape.dim[0]);
  int64_t *next = weft__alloc_zero((size_t)rows + 1, sizeof *next);
  if (!next) return WEFT_OOM;
  const weft_err err = fill_with(k, rows, next);
  weft__free(next);
  return err;
}

static weft_err sparse_order_fill_grad(backprop *b) {
  weft_out in[] = {weft__b_slot(b->out[0], 3), weft__backprop_dout(b, 1)};
  weft_out made = weft__b_node(b->graph, "SparseFillEmptyRowsGrad", NULL, 2, in, 0, NULL);
  b->din[1] = GRAD_DENSE(made);
  b->din[3] = GRAD_DENSE(weft__b_slot(made, 1));
  return WEFT_OK;
}

static weft_err fill_grad_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 1, &s->out[0]));
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  s->out[1] = SHAPE_SCALAR;
  return WEFT_OK;
}

/* The gradient of a value is that of its entry.  The gradient of the default is the sum of all others. */
/* Sums the gradients that belong to the default value: those at positions without an entry. */
static weft_err put_rest(const weft_tensor *grad, const bool *seen, weft_tensor *rest) {
  const int64_t n = grad->shape.dim[0];
  const bool narrow = grad->dtype == WEFT_COMPLEX64, wide = grad->dtype == WEFT_COMPLEX128;
  double sum = 0, imaginary = 0;
  for (int64_t i = 0; i < n; i++) {
    if (seen[i]) continue;
    if (narrow) {
      sum += (double)TENSOR_DATA(grad, float)[2 * i], imaginary += (double)TENSOR_DATA(grad, float)[2 * i + 1];
    } else if (wide) {
      sum += TENSOR_DATA(grad, double)[2 * i], imaginary += TENSOR_DATA(grad, double)[2 * i + 1];
    } else {
      sum += weft__tensor_double(grad, i);
    }
  }
  if (narrow) {
    TENSOR_DATA(rest, float)[0] = (float)sum, TENSOR_DATA(rest, float)[1] = (float)imaginary;
    return WEFT_OK;
  }
  if (wide) {
    TENSOR_DATA(rest, double)[0] = sum, TENSOR_DATA(rest, double)[1] = imaginary;
    return WEFT_OK;
  }
  weft_tensor *made = NULL;
  weft_err err = weft__tensor_scalar(&made, grad->dtype, sum);
  if (!err) err = weft__elements_copy(grad->dtype, rest->data, made->data, 1);
  weft_tensor_destroy(made);
  return err;
}

static weft_err fill_grad_cpu(kernel *k) {
  const weft_tensor *back = k->in[0], *grad = k->in[1];
  if (back->shape.rank != 1 || grad->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "reverse_index_map and grad_values must be vectors, not %s and %s",
                             weft__shape_text(&back->shape), weft__shape_text(&grad->shape));
  const int64_t n = back->shape.dim[0], total = grad->shape.dim[0];
  weft_tensor *values = weft__out(k, 0, &SHAPE1(n)), *rest = weft__out(k, 1, &SHAPE_SCALAR);
  bool *seen = weft__alloc_zero((size_t)total + 1, sizeof *seen);
  if (!values || !rest || !seen) {
    weft__free(seen);
    return WEFT_OOM;
  }
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < n && !err; i++) {
    const int64_t at = TENSOR_DATA(back, int64_t)[i];
    if (at < 0 || at >= total)
      err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Elements in reverse index must be in [0, %lld) but got %lld",
                              (long long)total, (long long)at);
    else
      seen[at] = true, err = weft__elements_copy(grad->dtype, weft__element(values->dtype, values->data, i),
                                                 weft__element_const(grad->dtype, grad->data, at), 1);
  }
  if (!err) err = put_rest(grad, seen, rest);
  weft__free(seen);
  return err;
}

static const op_case reshape_cases[] = {
    {"i64[2,2] 0 1 2 0; i64[2] 3 2; i64[2] 2 -1", "i64[2,2] 0 1 1 1; i64[2] 2 3", NULL, CASE_FIXED_TYPE},
    {"i64[2,2] 0 1 2 0; i64[2] 3 2; i64[3] 1 2 3", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[0,2] 0; i64[2] 0 2; i64[2] -1 2", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[2,2] 0 1 2 0; i64[2] 3 2; i64[1] 6", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[2,2] 0 1 2 0; i64[2] 3 2; i64[2] 4 -1", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"i64[2,2] 0 1 2 0; i64[2] 3 2; i64[1] 5", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"i64[2,2] 0 1 2 0; i64[2] 3 2; i64[2] -1 -1", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};
static const op_case reorder_cases[] = {
    {"i64[3,2] 2 0 0 1 0 0; f32[3] 1 2 3; i64[2] 3 2", "i64[3,2] 0 0 0 1 2 0; f32[3] 3 2 1", NULL, 0},
    {"i64[3,2] 2 0 0 1 2 0; str[3] \"a\" \"b\" \"c\"; i64[2] 3 2", NULL, NULL, CASE_NO_GRAD},
    {"i64[0,2] 0; i32[0] 0; i64[2] 3 2", NULL, NULL, CASE_NO_GRAD},
    {"i64[3,2] 0; f32[2] 0; i64[2] 3 2", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"i64[3,2] 0; f32[3] 0; i64[3] 3 2 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case fill_cases[] = {
    {"i64[3,2] 1 0 1 2 3 1; f32[3] 5 6 7; i64[2] 5 3; f32[] 9",
     "i64[6,2] 0 0 1 0 1 2 2 0 3 1 4 0; f32[6] 9 5 6 9 7 9; bool[5] true false true false true; i64[3] 1 2 4", NULL, 0},
    {"i64[3,2] 3 0 1 2 1 1; f64[3] rand; i64[2] 5 3; f64[] 2", NULL, NULL, 0},
    {"i64[0,2] 0; str[0] \"\"; i64[2] 2 3; str[] \"d\"", NULL, NULL, CASE_NO_GRAD},
    {"i64[0,2] 0; i32[0] 0; i64[2] 0 3; i32[] 1", NULL, NULL, CASE_NO_GRAD},
    {"i64[1,2] 7 0; f32[1] 0; i64[2] 5 3; f32[] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"i64[1,2] -1 0; f32[1] 0; i64[2] 5 3; f32[] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case fill_grad_cases[] = {
    {"i64[3] 1 2 4; f32[5] 1 2 3 4 5", "f32[3] 2 3 5; f32[] 5", NULL, CASE_NO_GRAD},
    {"i64[0] 0; f64[2] 1 2", NULL, NULL, CASE_NO_GRAD},
    {"i64[1] 4; f32[2] 1 2", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

OPS(sparse_order) = {
    {"SparseReshape(input_indices:int64, input_shape:int64, new_shape:int64) -> (output_indices:int64, "
     "output_shape:int64)",
     "The places of a sparse tensor in another shape.", .infer = reshape_infer, .cpu = reshape_cpu,
     .cases = reshape_cases},
    {"SparseReorder(input_indices:int64, input_values:T, input_shape:int64) -> (output_indices:int64, output_values:T) "
     "| "
     "T:type",
     "A sparse tensor with its places in row-major order.", .infer = reorder_infer, .cpu = reorder_cpu,
     .grad = reorder_grad, .cases = reorder_cases},
    {"SparseFillEmptyRows(indices:int64, values:T, dense_shape:int64, default_value:T) -> (output_indices:int64, "
     "output_values:T, empty_row_indicator:bool, reverse_index_map:int64) | T:type",
     "A sparse tensor with a default in each empty row.", .infer = sparse_order_fill_infer,
     .cpu = sparse_order_fill_cpu, .grad = sparse_order_fill_grad, .cases = fill_cases},
    {"SparseFillEmptyRowsGrad(reverse_index_map:int64, grad_values:T) -> (d_values:T, d_default_value:T) | T:type",
     "The gradient of SparseFillEmptyRows.", .infer = fill_grad_infer, .cpu = fill_grad_cpu, .cases = fill_grad_cases},
    {"RaggedFillEmptyRowsGrad(reverse_index_map:int64, grad_values:T) -> (d_values:T, d_default_value:T) | T:type",
     "The gradient of RaggedFillEmptyRows.", .infer = fill_grad_infer, .cpu = fill_grad_cpu, .cases = fill_grad_cases},
    {0},
};
