/* csr_matrix.c - sparse matrices by compressed rows: how they are made, read and transposed.
 *
 * Like TensorFlow, an op that makes one takes the indices as sorted: it counts the rows and keeps the order. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "ops/sparse/csr_shape.h"
#include "state/csr_matrix.h"

/* ---- making ---- */

/* Fills rows and columns from indices [count, rank]. */
static weft_err csr_fill(const kernel *k, csr_matrix *m, const weft_tensor *indices) {
  const int r = m->dense.rank;
  const int64_t count = weft__tensor_count(&m->values), *at = TENSOR_DATA(indices, int64_t);
  for (int64_t i = 0; i < count; i++, at += r) {
    const int64_t b = r == 3 ? at[0] : 0, row = at[r - 2], col = at[r - 1];
    if (b < 0 || b >= m->n || row < 0 || row >= m->rows || col < 0 || col >= m->cols)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Sparse index tuple indices[%lld, :] = [%lld, %lld] is out of bounds of %s",
                               (long long)i, (long long)row, (long long)col, weft__shape_text(&m->dense));
    m->start[b + 1]++;
    m->row[b * (m->rows + 1) + row + 1]++;
    TENSOR_DATA(&m->col, int32_t)[i] = (int32_t)col;
  }
  for (int64_t b = 0; b < m->n; b++) {
    m->start[b + 1] += m->start[b];
    for (int64_t row = 0; row < m->rows; row++) m->row[b * (m->rows + 1) + row + 1] += m->row[b * (m->rows + 1) + row];
  }
  return WEFT_OK;
}

/* Outputs the matrix, which is released if err says so. */
static weft_err csr_output(kernel *k, csr_matrix *m, weft_err err) {
  if (!err) return weft__variant_output(k, 0, &m->base);
  weft__csr_release(m);
  return err;
}

static weft_err csr_check_indices(const kernel *k, int i, int64_t count, int rank) {
  const shape *s = &k->in[i]->shape;
  if (s->rank == 2 && s->dim[1] == rank && (count < 0 || s->dim[0] == count)) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices must have shape [%lld, %d], but have %s",
                           (long long)count, rank, weft__shape_text(s));
}

static weft_err from_sparse_cpu(kernel *k) {
  shape dense;
  csr_matrix *m = NULL;
  WEFT_TRY(weft__kernel_dims(k, 2, "dense_shape", &dense));
  WEFT_TRY(weft__kernel_vector(k, 1, "values"));
  const int64_t count = weft__tensor_count(k->in[1]);
  WEFT_TRY(csr_check_indices(k, 0, count, dense.rank));
  WEFT_TRY(weft__kernel_in(k, weft__csr_create(&m, k->in[1]->dtype, &dense, count)));
  memcpy(m->values.data, k->in[1]->data, weft__tensor_bytes(k->in[1]));
  return csr_output(k, m, csr_fill(k, m, k->in[0]));
}

static weft_err from_dense_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  csr_matrix *m = NULL;
  const int r = x->shape.rank;
  WEFT_TRY(csr_check_indices(k, 1, -1, r));
  const int64_t count = k->in[1]->shape.dim[0];
  WEFT_TRY(weft__kernel_in(k, weft__csr_create(&m, x->dtype, &x->shape, count)));
  const weft_err err = csr_fill(k, m, k->in[1]);
  const int64_t *at = TENSOR_DATA(k->in[1], int64_t);
  for (int64_t i = 0; i < count && !err; i++, at += r) {
    const int64_t b = r == 3 ? at[0] : 0;
    weft__csr_put(&m->values, i, weft__csr_value(x, (b * m->rows + at[r - 2]) * m->cols + at[r - 1]));
  }
  return csr_output(k, m, err);
}

static weft_err transpose_cpu(kernel *k) {
  csr_matrix *m = NULL, *made = NULL;
  WEFT_TRY(weft__csr_in(k, 0, &m));
  const weft_err err = weft__csr_transpose(&made, m, weft__node_bool(k->node, "conjugate", false));
  return err ? weft__kernel_in(k, err) : weft__variant_output(k, 0, &made->base);
}

/* ---- reading ---- */

static weft_err to_dense_cpu(kernel *k) {
  csr_matrix *m = NULL;
  WEFT_TRY(weft__csr_in(k, 0, &m));
  weft_tensor *y = weft__out(k, 0, &m->dense);
  if (!y) return weft__out_refused(&m->dense);
  memset(y->data, 0, weft__tensor_bytes(y));
  for (int64_t b = 0; b < m->n; b++)
    for (int64_t r = 0; r < m->rows; r++) {
      const int32_t *row = m->row + b * (m->rows + 1) + r;
      for (int64_t i = m->start[b] + row[0]; i < m->start[b] + row[1]; i++)
        weft__csr_put(y, (b * m->rows + r) * m->cols + TENSOR_DATA(&m->col, int32_t)[i],
                      weft__csr_value(&m->values, i));
    }
  return WEFT_OK;
}

static weft_err to_sparse_cpu(kernel *k) {
  csr_matrix *m = NULL;
  WEFT_TRY(weft__csr_in(k, 0, &m));
  const int rank = m->dense.rank;
  weft_tensor *indices = weft__out(k, 0, &SHAPE2(weft__tensor_count(&m->values), rank));
  weft_tensor *dense = weft__out(k, 2, &SHAPE1(rank));
  if (!indices || !dense) return WEFT_OOM;
  for (int d = 0; d < rank; d++) TENSOR_DATA(dense, int64_t)[d] = m->dense.dim[d];
  int64_t *at = TENSOR_DATA(indices, int64_t);
  for (int64_t b = 0; b < m->n; b++)
    for (int64_t r = 0; r < m->rows; r++) {
      const int32_t *row = m->row + b * (m->rows + 1) + r;
      for (int64_t i = m->start[b] + row[0]; i < m->start[b] + row[1]; i++) {
        if (rank == 3) *at++ = b;
        *at++ = r;
        *at++ = TENSOR_DATA(&m->col, int32_t)[i];
      }
    }
  return weft__out_share(k, 1, &m->values);
}

static weft_err components_cpu(kernel *k) {
  csr_matrix *m = NULL;
  WEFT_TRY(weft__csr_in(k, 0, &m));
  WEFT_TRY(weft__kernel_scalar(k, 1, "index"));
  const int64_t b = weft__tensor_int(k->in[1], 0);
  if (b < 0 || b >= m->n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "index (%lld) not in [0, %lld)", (long long)b, (long long)m->n);
  const int64_t n = m->start[b + 1] - m->start[b];
  const size_t size = weft__dtype_size(m->values.dtype);
  weft_tensor *rows = weft__out(k, 0, &SHAPE1(m->rows + 1)), *cols = weft__out(k, 1, &SHAPE1(n)),
              *values = weft__out(k, 2, &SHAPE1(n));
  if (!rows || !cols || !values) return WEFT_OOM;
  memcpy(rows->data, m->row + b * (m->rows + 1), sizeof *m->row * (size_t)(m->rows + 1));
  memcpy(cols->data, TENSOR_DATA(&m->col, int32_t) + m->start[b], sizeof(int32_t) * (size_t)n);
  memcpy(values->data, (const char *)m->values.data + (size_t)m->start[b] * size, size * (size_t)n);
  return WEFT_OK;
}

static weft_err nnz_cpu(kernel *k) {
  csr_matrix *m = NULL;
  WEFT_TRY(weft__csr_in(k, 0, &m));
  weft_tensor *y = weft__out(k, 0, m->dense.rank == 3 ? &SHAPE1(m->n) : &SHAPE_SCALAR);
  if (!y) return WEFT_OOM;
  for (int64_t b = 0; b < m->n; b++) TENSOR_DATA(y, int32_t)[b] = weft__int_sat(m->start[b + 1] - m->start[b]);
  return WEFT_OK;
}

/* ---- gradients: those of the elements that are there ---- */

static weft_out csr_parts(backprop *b, weft_out m, weft_dtype t) {
  return weft__b_node(b->graph, "CSRSparseMatrixToSparseTensor", NULL, 1, &m, 1, &A_TYPE("type", t));
}

static weft_err from_sparse_grad(backprop *b) {
  const weft_out parts = csr_parts(b, b->dout[0], weft__out_type(b->graph, b->in[1]));
  b->din[1] = GRAD_DENSE(weft__b_slot(parts, 1));
  return WEFT_OK;
}

static weft_err from_dense_grad(backprop *b) {
  const weft_dtype t = weft__out_type(b->graph, b->in[0]);
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "CSRSparseMatrixToDense", NULL, 1, &b->dout[0], 1, &A_TYPE("type", t)));
  return WEFT_OK;
}

static weft_err to_dense_grad(backprop *b) {
  const weft_dtype t = weft__out_type(b->graph, b->out[0]);
  const weft_out in[] = {b->dout[0], csr_parts(b, b->in[0], t)};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "DenseToCSRSparseMatrix", NULL, 2, in, 0, NULL));
  return WEFT_OK;
}

static weft_err to_sparse_grad(backprop *b) {
  const weft_out in[] = {b->out[0], weft__backprop_dout(b, 1), b->out[2]};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "SparseTensorToCSRSparseMatrix", NULL, 3, in, 0, NULL));
  return WEFT_OK;
}

static weft_err transpose_grad(backprop *b) {
  const attr a[] = {A_TYPE("type", weft__node_type(b->node, "type")),
                    A_BOOL("conjugate", weft__node_bool(b->node, "conjugate", false))};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "SparseMatrixTranspose", NULL, 1, &b->dout[0], 2, a));
  return WEFT_OK;
}

/* ---- shapes ---- */

static weft_err csr_matrix_dense_infer(infer *s) {
  weft__csr_dense_shape(s->graph, s->node->in[0], &s->out[0]);
  return WEFT_OK;
}

static weft_err from_sparse_infer(infer *s) {
  shape dense;
  WEFT_TRY(weft__infer_shape_value(s, 2, &dense));
  if (dense.rank >= 0 && dense.rank != 2 && dense.rank != 3)
    return weft__infer_fail(s, "Invalid rank: %d.  Expected a known rank of either 2 or 3.", dense.rank);
  s->out[0] = SHAPE_SCALAR;
  return WEFT_OK;
}

static weft_err from_dense_infer(infer *s) {
  const shape *x = &s->in[0], *at = &s->in[1];
  if (x->rank >= 0 && x->rank != 2 && x->rank != 3)
    return weft__infer_fail(s, "Invalid rank of dense: %d.  Expected 2 or 3.", x->rank);
  WEFT_TRY(weft__infer_rank(s, 1, 2, NULL));
  if (x->rank >= 0 && at->rank == 2 && at->dim[1] >= 0 && at->dim[1] != x->rank)
    return weft__infer_fail(s, "indices.shape[1] must match rank of dense; saw: %lld vs. %d", (long long)at->dim[1],
                            x->rank);
  s->out[0] = SHAPE_SCALAR;
  return WEFT_OK;
}

static weft_err to_sparse_infer(infer *s) {
  shape dense;
  weft__csr_dense_shape(s->graph, s->node->in[0], &dense);
  s->out[0] = SHAPE2(-1, dense.rank);
  s->out[1] = SHAPE1(-1);
  s->out[2] = SHAPE1(dense.rank);
  return WEFT_OK;
}

static weft_err components_infer(infer *s) {
  shape dense;
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  weft__csr_dense_shape(s->graph, s->node->in[0], &dense);
  const int64_t rows = dense.rank >= 2 ? dense.dim[dense.rank - 2] : -1;
  s->out[0] = SHAPE1(rows < 0 ? -1 : rows + 1);
  s->out[1] = s->out[2] = SHAPE1(-1);
  return WEFT_OK;
}

static weft_err nnz_infer(infer *s) {
  shape dense;
  weft__csr_dense_shape(s->graph, s->node->in[0], &dense);
  if (dense.rank == 2) s->out[0] = SHAPE_SCALAR;
  if (dense.rank == 3) s->out[0] = SHAPE1(dense.dim[0]);
  return WEFT_OK;
}

#define NUMBER "type{float,double,complex64,complex128}"
#define FIXED .flags = OP_NO_FOLD

OPS(csr_matrix) = {
    {"SparseTensorToCSRSparseMatrix(indices:int64, values:T, dense_shape:int64) -> (sparse_matrix:variant) | T:" NUMBER,
     "The matrix of a sparse tensor.", FIXED, .infer = from_sparse_infer, .cpu = from_sparse_cpu,
     .grad = from_sparse_grad},
    {"DenseToCSRSparseMatrix(dense_input:T, indices:int64) -> (sparse_output:variant) | T:" NUMBER,
     "The sparse matrix of chosen elements of a dense one.", FIXED, .infer = from_dense_infer, .cpu = from_dense_cpu,
     .grad = from_dense_grad},
    {"CSRSparseMatrixToDense(sparse_input:variant) -> (dense_output:type) | type:" NUMBER,
     "A sparse matrix as a dense one.", FIXED, .infer = csr_matrix_dense_infer, .cpu = to_dense_cpu,
     .grad = to_dense_grad},
    {"CSRSparseMatrixToSparseTensor(sparse_matrix:variant) -> (indices:int64, values:type, dense_shape:int64) | "
     "type:" NUMBER,
     "A sparse matrix as the parts of a sparse tensor.", FIXED, .infer = to_sparse_infer, .cpu = to_sparse_cpu,
     .grad = to_sparse_grad},
    {"CSRSparseMatrixComponents(csr_sparse_matrix:variant, index:int32) -> (row_ptrs:int32, col_inds:int32, "
     "values:type) | "
     "type:" NUMBER,
     "The rows, columns and values of a matrix of a batch.", FIXED, .infer = components_infer, .cpu = components_cpu},
    {"SparseMatrixNNZ(sparse_matrix:variant) -> (nnz:int32)", "How many elements a sparse matrix has.", FIXED,
     .infer = nnz_infer, .cpu = nnz_cpu, .no_grad = true},
    {"SparseMatrixTranspose(input:variant) -> (output:variant) | conjugate:bool=false type:" NUMBER,
     "A sparse matrix with its axes swapped.", FIXED, .infer = weft__infer_scalar, .cpu = transpose_cpu,
     .grad = transpose_grad},
    {.scenario = "tests/parity/test_csr_matrices.py"},
};
