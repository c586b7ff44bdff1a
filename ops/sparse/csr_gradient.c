/* csr_gradient.c - the gradients of SparseMatrixMatMul, SparseMatrixSparseMatMul, SparseMatrixAdd and
 * SparseMatrixSoftmax.
 *
 * The gradient of a sparse matrix has the places of that matrix only.  Where it is itself a product of sparse matrices,
 * the other places are dropped (csr_prune), so nothing is ever as large as the dense matrix. */
#include "ops/sparse/csr_gradient.h"
#include "graph/build.h"

typedef struct csr_flags {
  bool transpose, adjoint;
} csr_flags;

static csr_flags flags_of(const weft_node *n, bool second) {
  return (csr_flags){weft__node_bool(n, second ? "transpose_b" : "transpose_a", false),
                     weft__node_bool(n, second ? "adjoint_b" : "adjoint_a", false)};
}

static weft_out csr_parts(weft_graph *g, weft_out m, weft_dtype t) {
  return weft__b_node(g, "CSRSparseMatrixToSparseTensor", NULL, 1, &m, 1, &A_TYPE("type", t));
}

static weft_out csr_turned(weft_graph *g, weft_out m, weft_dtype t, bool conjugate) {
  const attr a[] = {A_TYPE("type", t), A_BOOL("conjugate", conjugate)};
  return weft__b_node(g, "SparseMatrixTranspose", NULL, 1, &m, 2, a);
}

/* Returns the conjugate, m itself if it is not complex. */
static weft_out csr_conj(weft_graph *g, weft_out m, weft_dtype t) {
  if (t != WEFT_COMPLEX64 && t != WEFT_COMPLEX128) return m;
  return csr_turned(g, csr_turned(g, m, t, true), t, false);
}

/* ---- dropping places ---- */

static weft_out vector(weft_graph *g, int64_t v) { return weft__b_ints(g, &v, 1); }

/* Returns the places of parts, [n, rank], as flat indices, [n]. */
static weft_out flat_places(weft_graph *g, weft_out parts) {
  const weft_out all = weft__b_cast(g, vector(g, -1), WEFT_INT64);
  const weft_out in[] = {parts, weft__b_slot(parts, 2), all};
  return weft__b_reshape(g, weft__b_node(g, "SparseReshape", NULL, 3, in, 0, NULL), vector(g, -1));
}

/* Returns m without the elements at places that `like` does not have. */
static weft_out csr_prune(weft_graph *g, weft_out m, weft_out like, weft_dtype t) {
  const weft_out parts = csr_parts(g, m, t), wanted = csr_parts(g, like, t), axis = weft__b_scalar(g, WEFT_INT32, 0);
  const weft_out there = flat_places(g, parts), places = flat_places(g, wanted);
  const int64_t row[] = {1, -1};
  const weft_out rows = weft__b_ints(g, row, 2);
  const weft_out bounds[] = {weft__b_reshape(g, there, rows), weft__b_reshape(g, places, rows)};
  const weft_out at = weft__b_reshape(g, weft__b_node(g, "LowerBound", NULL, 2, bounds, 0, NULL), vector(g, -1));
  /* a place behind all of m has the bound n, so -1 stands there, which is no place */
  const weft_out padded[] = {there, weft__b_cast(g, vector(g, -1), WEFT_INT64)};
  const weft_out found = weft__b_gather(g, weft__b_concat(g, 2, padded, axis), at, axis);
  const weft_out same = weft__b_binary(g, "Equal", found, places);
  const weft_out kept = weft__b_reshape(g, weft__b_unary(g, "Where", same), vector(g, -1));
  const weft_out from = weft__b_gather(g, at, kept, axis);
  const weft_out in[] = {weft__b_gather(g, parts, from, axis), weft__b_gather(g, weft__b_slot(parts, 1), from, axis),
                         weft__b_slot(wanted, 2)};
  return weft__b_node(g, "SparseTensorToCSRSparseMatrix", NULL, 3, in, 0, NULL);
}

/* ---- sparse times sparse ---- */

static weft_out sparse_product(weft_graph *g, weft_out a, weft_out b, weft_dtype t, bool adjoint_a, bool adjoint_b) {
  const weft_out in[] = {a, b};
  const attr as[] = {A_TYPE("type", t), A_BOOL("adjoint_a", adjoint_a), A_BOOL("adjoint_b", adjoint_b)};
  return weft__b_node(g, "SparseMatrixSparseMatMul", NULL, 2, in, 3, as);
}

/* Returns the matrix as the product reads it. */
static weft_out csr_operand(weft_graph *g, weft_out m, weft_dtype t, csr_flags f) {
  return f.transpose || f.adjoint ? csr_turned(g, m, t, f.adjoint) : m;
}

/* Returns the gradient of m, given that of the matrix as the product reads it. */
static weft_out csr_operand_grad(weft_graph *g, weft_out d, weft_out m, weft_dtype t, csr_flags f) {
  return csr_prune(g, csr_operand(g, d, t, f), m, t);
}

weft_err weft__csr_sparse_matmul_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_dtype t = weft__node_type(b->node, "type");
  const csr_flags fa = flags_of(b->node, false), fb = flags_of(b->node, true);
  const weft_out left = csr_operand(g, b->in[0], t, fa), right = csr_operand(g, b->in[1], t, fb), d = b->dout[0];
  b->din[0] = GRAD_DENSE(csr_operand_grad(g, sparse_product(g, d, right, t, false, true), b->in[0], t, fa));
  b->din[1] = GRAD_DENSE(csr_operand_grad(g, sparse_product(g, left, d, t, true, false), b->in[1], t, fb));
  return WEFT_OK;
}

/* ---- sparse times dense ---- */

/* Swaps the last two axes of a tensor of this rank, 2 or 3. */
static weft_out dense_turned(weft_graph *g, weft_out x, int rank) {
  static const int64_t order[2][3] = {{1, 0}, {0, 2, 1}};
  return weft__b_transpose(g, x, weft__b_ints(g, order[rank - 2], rank));
}

/* Returns the rows of x, [.., rows, n], at the batches and rows (or columns, if `cols`) of the places. */
static weft_out rows_at(weft_graph *g, weft_out x, weft_out places, int rank, bool cols) {
  const int64_t pick[] = {rank == 3 ? 0 : cols, rank == 3 ? 1 + cols : 0};
  const weft_out axis = weft__b_scalar(g, WEFT_INT32, 1);
  const weft_out in[] = {x, weft__b_gather(g, places, weft__b_ints(g, pick, rank - 1), axis)};
  return weft__b_node(g, "GatherNd", NULL, 2, in, 0, NULL);
}

static weft_out sparse_side_grad(backprop *b, weft_out d, weft_out right, int rank, csr_flags f) {
  weft_graph *g = b->graph;
  const weft_out parts = csr_parts(g, b->in[0], weft__out_type(g, b->in[1]));
  const bool swap = f.transpose || f.adjoint;
  const weft_out of_d = rows_at(g, d, parts, rank, swap), of_right = rows_at(g, right, parts, rank, !swap);
  weft_out values = weft__b_mul(g, of_d, weft__b_conj(g, of_right));
  if (f.adjoint) values = weft__b_conj(g, values);
  const weft_out in[] = {parts, weft__b_sum(g, values, vector(g, 1), false), weft__b_slot(parts, 2)};
  return weft__b_node(g, "SparseTensorToCSRSparseMatrix", NULL, 3, in, 0, NULL);
}

weft_err weft__csr_matmul_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_dtype t = weft__out_type(g, b->in[1]);
  const int rank = weft__out_shape(g, b->in[1])->rank;
  const csr_flags fa = flags_of(b->node, false), fb = flags_of(b->node, true);
  if (rank != 2 && rank != 3)
    return weft__fail(WEFT_INVALID_ARGUMENT, "The gradient of SparseMatrixMatMul needs a known rank of b: 2 or 3");
  weft_out d = b->dout[0], right = b->in[1];
  if (weft__node_bool(b->node, "conjugate_output", false)) d = weft__b_conj(g, d);
  if (weft__node_bool(b->node, "transpose_output", false)) d = dense_turned(g, d, rank);
  if (fb.transpose || fb.adjoint) right = dense_turned(g, right, rank);
  if (fb.adjoint) right = weft__b_conj(g, right);
  b->din[0] = GRAD_DENSE(sparse_side_grad(b, d, right, rank, fa));
  /* the adjoint of the matrix as the product reads it, times d */
  const weft_out in[] = {fa.transpose ? csr_conj(g, b->in[0], t) : b->in[0], d};
  const attr a[] = {A_BOOL("adjoint_a", !fa.transpose && !fa.adjoint),
                    A_BOOL("transpose_output", fb.transpose || fb.adjoint), A_BOOL("conjugate_output", fb.adjoint)};
  b->din[1] = GRAD_DENSE(weft__b_node(g, "SparseMatrixMatMul", NULL, 2, in, 3, a));
  return WEFT_OK;
}

/* ---- the ops that have no kernel for CPUs ---- */

weft_err weft__csr_add_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_dtype t = weft__node_type(b->node, "T");
  for (int i = 0; i < 2; i++) {
    const weft_out in[] = {csr_prune(g, b->dout[0], b->in[i], t), b->in[2 + i]};
    b->din[i] = GRAD_DENSE(weft__b_node(g, "SparseMatrixMul", NULL, 2, in, 0, NULL));
  }
  return WEFT_OK;
}

weft_err weft__csr_mul_grad(backprop *b) {
  (void)b;
  return weft__fail(WEFT_UNIMPLEMENTED, "SparseMatrixMul has no gradient, as in TensorFlow");
}

weft_err weft__csr_softmax_grad(backprop *b) {
  const weft_out in[] = {b->out[0], b->dout[0]};
  const attr type = A_TYPE("type", weft__node_type(b->node, "type"));
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "SparseMatrixSoftmaxGrad", NULL, 2, in, 1, &type));
  return WEFT_OK;
}
