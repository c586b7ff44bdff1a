/* csr_matmul.c - products of sparse matrices by compressed rows, with dense and with sparse ones; and the ops on them
 * that TensorFlow has for GPUs only. */
#include "base/alloc.h"
#include "kernels/work/long_work.h"
#include "ops/sparse/csr_gradient.h"
#include "ops/sparse/csr_shape.h"
#include <string.h>

/* ---- what the ops share ---- */

weft_err weft__csr_in(const kernel *k, int i, csr_matrix **out) {
  WEFT_TRY(weft__kernel_in(k, weft__csr_get(k->in[i], out)));
  const attr *a = weft__node_attr(k->node, "type");
  const weft_dtype want = a                               ? a->type
                          : weft__node_attr(k->node, "T") ? weft__node_type(k->node, "T")
                                                          : (*out)->values.dtype;
  if (want == (*out)->values.dtype) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected a CSRSparseMatrix of type %s but saw type: %s",
                           weft__dtype_name(want), weft__dtype_name((*out)->values.dtype));
}

void weft__csr_swap(shape *s) {
  if (s->rank < 2) return;
  const int64_t rows = s->dim[s->rank - 2];
  s->dim[s->rank - 2] = s->dim[s->rank - 1];
  s->dim[s->rank - 1] = rows;
}

/* Returns true if one of two attributes is true. */
static bool csr_has_flag(const weft_node *n, const char *a, const char *b) {
  return weft__node_bool(n, a, false) || weft__node_bool(n, b, false);
}

/* Sets *out to the shape of the product of two operands, each perhaps transposed. */
static void product_shape(const weft_node *n, shape a, shape b, shape *out) {
  *out = SHAPE_UNKNOWN;
  if (csr_has_flag(n, "transpose_a", "adjoint_a")) weft__csr_swap(&a);
  if (csr_has_flag(n, "transpose_b", "adjoint_b")) weft__csr_swap(&b);
  if (a.rank < 2 || b.rank < 2) return;
  *out = a;
  out->dim[a.rank - 1] = b.dim[b.rank - 1];
  if (weft__node_bool(n, "transpose_output", false)) weft__csr_swap(out);
}

void weft__csr_dense_shape(const weft_graph *g, weft_out o, shape *out) {
  const weft_node *n = weft__node(g, o.node);
  *out = SHAPE_UNKNOWN;
  if (strcmp(n->op_name, "SparseTensorToCSRSparseMatrix") == 0) {
    if (!weft__graph_constant_shape(g, n->in[2], out)) *out = SHAPE_UNKNOWN;
  } else if (strcmp(n->op_name, "DenseToCSRSparseMatrix") == 0) {
    *out = *weft__out_shape(g, n->in[0]);
  } else if (strcmp(n->op_name, "SparseMatrixTranspose") == 0) {
    weft__csr_dense_shape(g, n->in[0], out);
    weft__csr_swap(out);
  } else if (strcmp(n->op_name, "SparseMatrixSparseMatMul") == 0) {
    shape a, b;
    weft__csr_dense_shape(g, n->in[0], &a);
    weft__csr_dense_shape(g, n->in[1], &b);
    product_shape(n, a, b, out);
  } else if (strcmp(n->op_name, "SparseMatrixZeros") == 0) {
    if (!weft__graph_constant_shape(g, n->in[0], out)) *out = SHAPE_UNKNOWN;
  } else if (strncmp(n->op_name, "SparseMatrix", strlen("SparseMatrix")) == 0) {
    weft__csr_dense_shape(g, n->in[0], out); /* element by element */
  }
}

/* Stores the operand of input i as the product needs it: the matrix itself, retained, or its transpose. */
static weft_err operand_in(const kernel *k, int i, const char *transpose, const char *adjoint, csr_matrix **out) {
  csr_matrix *m = NULL;
  WEFT_TRY(weft__csr_in(k, i, &m));
  const bool conjugate = weft__node_bool(k->node, adjoint, false);
  if (conjugate || weft__node_bool(k->node, transpose, false))
    return weft__kernel_in(k, weft__csr_transpose(out, m, conjugate));
  weft__object_retain(&m->base.base);
  *out = m;
  return WEFT_OK;
}

static weft_err products_disagree(const kernel *k, const shape *a, const shape *b) {
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "Inner product dimensions of A and B do not agree.  Shapes are: %s vs. %s",
                           weft__shape_text(a), weft__shape_text(b));
}

/* ---- sparse times dense ---- */

typedef struct dense_product {
  const csr_matrix *a;
  const weft_tensor *b;
  weft_tensor *y;
  int64_t inner, cols; /* of b, as the product reads it */
  bool swap_b, conj_b, swap_y, conj_y;
} dense_product;

static double complex dense_at(const dense_product *p, int64_t matrix, int64_t row, int64_t col) {
  const int64_t at = p->swap_b ? col * p->inner + row : row * p->cols + col;
  const double complex v = weft__csr_value(p->b, matrix * p->inner * p->cols + at);
  return p->conj_b ? conj(v) : v;
}

static void dense_rows(void *arg, int64_t begin, int64_t end) {
  const dense_product *p = arg;
  const csr_matrix *a = p->a;
  for (int64_t at = begin; at < end; at++) {
    const int64_t m = at / a->rows, r = at % a->rows;
    const int32_t *row = a->row + m * (a->rows + 1) + r;
    for (int64_t c = 0; c < p->cols; c++) {
      double complex sum = 0;
      for (int64_t i = a->start[m] + row[0]; i < a->start[m] + row[1]; i++)
        sum += weft__csr_value(&a->values, i) * dense_at(p, m, TENSOR_DATA(&a->col, int32_t)[i], c);
      const int64_t to = p->swap_y ? c * a->rows + r : r * p->cols + c;
      weft__csr_put(p->y, m * a->rows * p->cols + to, p->conj_y ? conj(sum) : sum);
    }
  }
}

/* Returns about how many nanoseconds a row of the product takes. */
static int64_t dense_row_cost(const dense_product *p) {
  const int64_t rows = p->a->n * p->a->rows, entries = p->a->start[p->a->n] / rows + 1;
  return 10 + (p->cols < (int64_t)1e9 / entries ? 5 * p->cols * entries : (int64_t)5e9);
}

static weft_err dense_run(kernel *k, dense_product *p) {
  const shape *b = &p->b->shape;
  const int r = b->rank;
  if (r != p->a->dense.rank || (r == 3 && b->dim[0] != p->a->n)) return products_disagree(k, &p->a->dense, b);
  p->inner = b->dim[p->swap_b ? r - 1 : r - 2], p->cols = b->dim[p->swap_b ? r - 2 : r - 1];
  if (p->inner != p->a->cols) return products_disagree(k, &p->a->dense, b);
  shape s = p->a->dense;
  s.dim[r - 2] = p->swap_y ? p->cols : p->a->rows;
  s.dim[r - 1] = p->swap_y ? p->a->rows : p->cols;
  if (!(p->y = weft__out(k, 0, &s))) return weft__out_refused(&s);
  return weft__tensor_count(p->y) > 0 ? weft__long_loop(k, p->a->n * p->a->rows, dense_row_cost(p), dense_rows, p)
                                      : WEFT_OK;
}

static weft_err csr_matmul_cpu(kernel *k) {
  csr_matrix *a = NULL;
  const weft_dtype t = k->in[1]->dtype;
  if (t != WEFT_FLOAT && t != WEFT_DOUBLE && t != WEFT_COMPLEX64 && t != WEFT_COMPLEX128)
    return weft__kernel_no_type(k, t);
  WEFT_TRY(operand_in(k, 0, "transpose_a", "adjoint_a", &a));
  dense_product p = {.a = a,
                     .b = k->in[1],
                     .swap_b = csr_has_flag(k->node, "transpose_b", "adjoint_b"),
                     .conj_b = weft__node_bool(k->node, "adjoint_b", false),
                     .swap_y = weft__node_bool(k->node, "transpose_output", false),
                     .conj_y = weft__node_bool(k->node, "conjugate_output", false)};
  const weft_err err = dense_run(k, &p);
  weft__csr_release(a);
  return err;
}

/* ---- sparse times sparse ---- */

typedef struct product_work {
  const csr_matrix *a, *b;
  double complex *sums; /* of one row, like there */
  bool *there;
  long_work work;
  int64_t spent;
} product_work;

/* Computes row r of matrix m into sums, and lists the columns that it has, in order, at *cols.  Returns their number.
 */
static int64_t product_row(product_work *w, int64_t m, int64_t r) {
  const csr_matrix *a = w->a, *b = w->b;
  const int32_t *row = a->row + m * (a->rows + 1) + r;
  int64_t n = 0;
  for (int64_t i = a->start[m] + row[0]; i < a->start[m] + row[1]; i++) {
    const int32_t *other = b->row + m * (b->rows + 1) + TENSOR_DATA(&a->col, int32_t)[i];
    if (weft__long_work_spent(&w->work, &w->spent, other[1] - other[0] + 1)) break;
    for (int64_t j = b->start[m] + other[0]; j < b->start[m] + other[1]; j++) {
      const int32_t c = TENSOR_DATA(&b->col, int32_t)[j];
      n += !w->there[c];
      w->there[c] = true;
      w->sums[c] += weft__csr_value(&a->values, i) * weft__csr_value(&b->values, j);
    }
  }
  return n;
}

/* Moves the sums of a row to the elements of y from `at` on.  Returns the place behind them. */
static int64_t product_store(csr_matrix *y, int64_t at, double complex *sums, bool *there) {
  for (int64_t c = 0; c < y->cols; c++) {
    if (!there[c]) continue;
    TENSOR_DATA(&y->col, int32_t)[at] = (int32_t)c;
    weft__csr_put(&y->values, at++, sums[c]);
    sums[c] = 0;
    there[c] = false;
  }
  return at;
}

/* Returns whether the step ended first.  The columns of a row are cleared as well, which counts as work. */
static bool product_is_over(product_work *w) { return weft__long_work_spent(&w->work, &w->spent, w->b->cols / 8); }

static int64_t product_count(product_work *w) {
  int64_t n = 0;
  for (int64_t m = 0; m < w->a->n; m++)
    for (int64_t r = 0; r < w->a->rows && !product_is_over(w); r++) {
      n += product_row(w, m, r);
      memset(w->there, 0, sizeof *w->there * (size_t)w->b->cols);
    }
  memset(w->sums, 0, sizeof *w->sums * (size_t)w->b->cols);
  return n;
}

/* Fills y, which has room for as many elements as product_count returned. */
static void product_fill(product_work *w, csr_matrix *y) {
  const csr_matrix *a = w->a;
  int64_t at = 0;
  for (int64_t m = 0; m < a->n; m++) {
    y->start[m] = at;
    for (int64_t r = 0; r < a->rows && !product_is_over(w); r++) {
      product_row(w, m, r);
      at = product_store(y, at, w->sums, w->there);
      y->row[m * (a->rows + 1) + r + 1] = (int32_t)(at - y->start[m]); /* fits: weft__csr_create checked the count */
    }
  }
  y->start[a->n] = at;
}

static weft_err product_make(const kernel *k, csr_matrix **out, const csr_matrix *a, const csr_matrix *b) {
  product_work w = {.a = a, .b = b, .work = weft__long_work(k)};
  w.sums = weft__alloc_zero((size_t)b->cols + 1, sizeof *w.sums);
  w.there = weft__alloc_zero((size_t)b->cols + 1, sizeof *w.there);
  shape s = a->dense;
  s.dim[s.rank - 1] = b->cols;
  const int64_t count = w.sums && w.there ? product_count(&w) : 0;
  weft_err err = w.sums && w.there ? weft__long_work_end(&w.work) : WEFT_OOM;
  if (!err) err = weft__csr_create(out, a->values.dtype, &s, count);
  if (!err) {
    product_fill(&w, *out);
    err = weft__long_work_end(&w.work);
  }
  weft__free(w.sums);
  weft__free(w.there);
  return err;
}

static weft_err sparse_matmul_cpu(kernel *k) {
  csr_matrix *a = NULL, *b = NULL, *y = NULL;
  weft_err err = operand_in(k, 0, "transpose_a", "adjoint_a", &a);
  if (!err) err = operand_in(k, 1, "transpose_b", "adjoint_b", &b);
  if (!err && (a->dense.rank != b->dense.rank || a->n != b->n || a->cols != b->rows))
    err = products_disagree(k, &a->dense, &b->dense);
  if (!err) err = weft__kernel_in(k, product_make(k, &y, a, b));
  weft__csr_release(a);
  weft__csr_release(b);
  if (!err) return weft__variant_output(k, 0, &y->base);
  weft__csr_release(y);
  return err;
}

/* ---- shapes ---- */

static weft_err both_flags(infer *s) {
  for (int i = 0; i < 2; i++)
    if (weft__node_bool(s->node, i ? "adjoint_b" : "adjoint_a", false) &&
        weft__node_bool(s->node, i ? "transpose_b" : "transpose_a", false))
      return weft__infer_fail(s, "Only one of adjoint_%c and transpose_%c may be true.", i ? 'b' : 'a', i ? 'b' : 'a');
  return WEFT_OK;
}

static weft_err product_infer(infer *s, shape a, shape b, shape *out) {
  WEFT_TRY(both_flags(s));
  product_shape(s->node, a, b, out);
  if (out->rank < 0) return WEFT_OK;
  if (a.rank != b.rank)
    return weft__infer_fail(s, "Shapes must be equal rank, but are %d and %d", a.rank - 2, b.rank - 2);
  if (csr_has_flag(s->node, "transpose_a", "adjoint_a")) weft__csr_swap(&a);
  if (csr_has_flag(s->node, "transpose_b", "adjoint_b")) weft__csr_swap(&b);
  const int64_t m = a.dim[a.rank - 1], n = b.dim[b.rank - 2];
  if (m >= 0 && n >= 0 && m != n)
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)m, (long long)n);
  return WEFT_OK;
}

static weft_err csr_matmul_infer(infer *s) {
  shape a;
  weft__csr_dense_shape(s->graph, s->node->in[0], &a);
  return product_infer(s, a, s->in[1], &s->out[0]);
}

static weft_err sparse_matmul_infer(infer *s) {
  shape a, b, dense;
  weft__csr_dense_shape(s->graph, s->node->in[0], &a);
  weft__csr_dense_shape(s->graph, s->node->in[1], &b);
  if (a.rank != b.rank) a = SHAPE_UNKNOWN; /* the kernel's error */
  WEFT_TRY(product_infer(s, a, b, &dense));
  s->out[0] = SHAPE_SCALAR;
  return WEFT_OK;
}

#define NUMBER "type{float,double,complex64,complex128}"
#define TURNED " transpose_a:bool=false transpose_b:bool=false adjoint_a:bool=false adjoint_b:bool=false"

OPS(csr_matmul) = {
    {"SparseMatrixMatMul(a:variant, b:T) -> (output:T) | T:type" TURNED
     " transpose_output:bool=false conjugate_output:bool=false",
     "The product of a sparse matrix and a dense one.", .flags = OP_NO_FOLD, .infer = csr_matmul_infer,
     .cpu = csr_matmul_cpu, .grad = weft__csr_matmul_grad},
    {"SparseMatrixSparseMatMul(a:variant, b:variant) -> (c:variant) | type:" NUMBER TURNED,
     "The product of two sparse matrices.", .flags = OP_NO_FOLD, .infer = sparse_matmul_infer, .cpu = sparse_matmul_cpu,
     .grad = weft__csr_sparse_matmul_grad},
    {"SparseMatrixAdd(a:variant, b:variant, alpha:T, beta:T) -> (c:variant) | T:" NUMBER,
     "alpha times a sparse matrix plus beta times another.", .infer = weft__infer_scalar, .grad = weft__csr_add_grad},
    {"SparseMatrixMul(a:variant, b:T) -> (output:variant) | T:type", "A sparse matrix times numbers.",
     .infer = weft__infer_scalar, .grad = weft__csr_mul_grad},
    {"SparseMatrixSoftmax(logits:variant) -> (softmax:variant) | type:type{float,double}",
     "The softmax of each row over the elements that are there.", .infer = weft__infer_scalar,
     .grad = weft__csr_softmax_grad},
    {"SparseMatrixSoftmaxGrad(softmax:variant, grad_softmax:variant) -> (gradient:variant) | type:type{float,double}",
     "The gradient of SparseMatrixSoftmax.", .infer = weft__infer_scalar},
    {"SparseMatrixZeros(dense_shape:int64) -> (sparse_matrix:variant) | type:" NUMBER,
     "A sparse matrix without elements.", .infer = weft__infer_scalar, .no_grad = true},
    {.scenario = "tests/parity/test_csr_matrices.py tests/parity/test_no_kernel.py"},
};
