/* qr.c - Qr: a matrix as an orthogonal matrix times an upper triangle.
 *
 * It uses one Householder reflection per column, with LAPACK's choice of signs: the diagonal of R is negative where
 * the column's own element is positive.  All types are computed in double, because the matrices are usually small
 * and computed once, as orthogonal initial values. */
#include "base/alloc.h"
#include "base/target_clones.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "kernels/simd/fma.h"
#include "kernels/work/long_work.h"
#include "ops/linalg/matrix.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

static weft_err qr_infer(infer *s) {
  const shape *x = &s->in[0];
  if (x->rank < 0) return WEFT_OK;
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 2));
  int64_t m = x->dim[x->rank - 2], n = x->dim[x->rank - 1], p = m < 0 || n < 0 ? -1 : m < n ? m : n;
  bool full = weft__node_bool(s->node, "full_matrices", false);
  s->out[0] = s->out[1] = *x;
  s->out[0].dim[x->rank - 1] = full ? m : p;
  s->out[1].dim[x->rank - 2] = full ? m : p;
  return WEFT_OK;
}

/* A matrix, and room for one of its rows. */
typedef struct qr_matrix {
  double *data, *sums;
  int64_t rows, cols;
} qr_matrix;

/* Adds f[i] times row i of four rows to a row.  Four at a time, because each element is then loaded and stored once. */
WEFT_TARGET_CLONES WEFT_FMA static void qr_add_rows(double *restrict to, const double *restrict rows, int64_t stride,
                                                    const double *f, int64_t n) {
  WEFT_FMA_BODY const double f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3];
  const double *x = rows + stride, *y = x + stride, *z = y + stride;
  for (int64_t j = 0; j < n; j++) to[j] += (f0 * rows[j] + f1 * x[j]) + (f2 * y[j] + f3 * z[j]);
}

WEFT_TARGET_CLONES WEFT_FMA static void qr_add_row(double *restrict to, const double *restrict row, double f,
                                                   int64_t n) {
  WEFT_FMA_BODY for (int64_t j = 0; j < n; j++) to[j] += f * row[j];
}

/* Reflects columns [k, cols) of a, from row k on, along v: a -= tau v (v' a). */
static void qr_reflect(const qr_matrix *a, int64_t k, const double *v, double tau) {
  const int64_t cols = a->cols, n = cols - k;
  double *first = a->data + k, *sums = a->sums;
  for (int64_t j = 0; j < n; j++) sums[j] = 0;
  int64_t i = k;
  for (; i + 4 <= a->rows; i += 4) qr_add_rows(sums, first + i * cols, cols, v + i, n);
  for (; i < a->rows; i++) qr_add_row(sums, first + i * cols, v[i], n);
  for (i = k; i < a->rows; i++) qr_add_row(first + i * cols, sums, -tau * v[i], n);
}

/* Computes the reflection that clears column k of a below the diagonal: its vector v, with v[k] = 1.  Returns tau. */
static double qr_reflection(const double *a, int64_t rows, int64_t cols, int64_t k, double *v) {
  double below = 0, own = a[k * cols + k];
  for (int64_t i = k + 1; i < rows; i++) below += a[i * cols + k] * a[i * cols + k];
  if (below == 0) return 0; /* nothing to clear: the element keeps its sign */
  double length = -copysign(sqrt(own * own + below), own);
  for (int64_t i = k + 1; i < rows; i++) v[i] = a[i * cols + k] / (own - length);
  v[k] = 1;
  return (length - own) / length;
}

/* Makes a (m, n) into R, and q (m, inner) into the first columns of the product of the reflections.  There are
 * min(m, n) reflections; for each of them, v has m numbers and tau one. */
static void qr_factor(const qr_matrix *a, const qr_matrix *q, double *v, double *tau, long_work *work) {
  const int64_t m = a->rows, n = a->cols, steps = m < n ? m : n;
  int64_t spent = 0;
  for (int64_t k = 0; k < steps; k++) {
    if (weft__long_work_spent(work, &spent, 2 * (m - k) * (n - k))) return;
    tau[k] = qr_reflection(a->data, m, n, k, v + k * m);
    if (tau[k] != 0) qr_reflect(a, k, v + k * m, tau[k]);
    for (int64_t i = k + 1; i < m; i++) a->data[i * n + k] = 0;
  }
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < q->cols; j++) q->data[i * q->cols + j] = i == j;
  /* columns before k are still those of the identity, with zeros from row k on */
  for (int64_t k = steps - 1; k >= 0; k--) {
    if (weft__long_work_spent(work, &spent, 2 * (m - k) * (q->cols - k))) return;
    if (tau[k] != 0) qr_reflect(q, k, v + k * m, tau[k]);
  }
}

static double qr_get(weft_dtype type, const void *data, int64_t i) {
  if (type == WEFT_HALF) return (double)weft__half_to_float(((const uint16_t *)data)[i]);
  return type == WEFT_DOUBLE ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static void qr_set(weft_dtype type, void *data, int64_t i, double x) {
  if (type == WEFT_DOUBLE)
    ((double *)data)[i] = x;
  else if (type == WEFT_HALF)
    ((uint16_t *)data)[i] = weft__half_from_float((float)x);
  else
    ((float *)data)[i] = (float)x;
}

/* Copies the upper left part of a matrix with `width` columns. */
static void qr_put(weft_tensor *t, int64_t at, int64_t rows, int64_t cols, const double *from, int64_t width) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) qr_set(t->dtype, t->data, at + i * cols + j, from[i * width + j]);
}

/* Allocates matrices of (m, n), (m, inner) and (m, reflections), one number per reflection, and a row.  Returns NULL
 * if they are too large.  The caller frees it with weft__free. */
static double *qr_workspace(int64_t m, int64_t n, int64_t inner) {
  const int64_t steps = m < n ? m : n;
  const int64_t both = weft__shape_dim_add(weft__shape_dim_mul(m, n), weft__shape_dim_mul(m, inner));
  const int64_t row = weft__shape_dim_add(steps, n > inner ? n : inner);
  const int64_t all = weft__shape_dim_add(weft__shape_dim_add(both, weft__shape_dim_mul(m, steps)), row);
  return all < 0 ? NULL : weft__alloc_zero((size_t)all + 1, sizeof(double));
}

typedef struct qr_work {
  const weft_tensor *x;
  weft_tensor *q, *r;
  int64_t m, n, inner;
  long_work work;
  atomic_bool failed; /* memory was exhausted */
} qr_work;

static void qr_all(void *arg, int64_t begin, int64_t end) {
  qr_work *j = arg;
  const int64_t m = j->m, n = j->n, inner = j->inner, steps = m < n ? m : n;
  double *work = qr_workspace(m, n, inner);
  if (!work) {
    atomic_store(&j->failed, true);
    return;
  }
  double *v = work + m * n + m * inner, *tau = v + m * steps, *row = tau + steps;
  const qr_matrix a = {work, row, m, n}, q = {work + m * n, row, m, inner};
  int64_t spent = 0;
  for (int64_t b = begin; b < end && !weft__long_work_spent(&j->work, &spent, m * n + m * inner); b++) {
    for (int64_t i = 0; i < m * n; i++) a.data[i] = qr_get(j->x->dtype, j->x->data, b * m * n + i);
    qr_factor(&a, &q, v, tau, &j->work);
    qr_put(j->q, b * m * inner, m, inner, q.data, inner);
    qr_put(j->r, b * inner * n, inner, n, a.data, n);
  }
  weft__free(work);
}

/* ---- complex matrices: one rank-one change for each column ---- */

/* Reflects columns [first, cols) of m along v, row 0 of the matrix v, whose elements before k count as zeros. */
static void qr_reflect_complex(const matrix *m, const double complex *v, int64_t k, double complex tau, int64_t first,
                               double complex *sums) {
  double complex *data = m->data;
  for (int64_t j = first; j < m->cols; j++) sums[j] = 0;
  for (int64_t i = k; i < m->rows; i++)
    for (int64_t j = first; j < m->cols; j++) sums[j] += conj(v[i]) * data[i * m->cols + j];
  for (int64_t i = k; i < m->rows; i++)
    for (int64_t j = first; j < m->cols; j++) data[i * m->cols + j] -= tau * v[i] * sums[j];
}

/* Makes a into R, and q, which is zero, into the first columns of Q.  Row i of v gets the vector of reflection i, and
 * tau its factor; sums has room for a row of a or of q. */
static void qr_factor_complex(const matrix *a, const matrix *q, const matrix *v, double complex *tau,
                              double complex *sums, long_work *work) {
  int64_t spent = 0;
  for (int64_t k = 0; k < v->rows; k++) {
    if (weft__long_work_spent(work, &spent, 8 * (a->rows - k) * (a->cols - k))) return;
    double complex *x = (double complex *)v->data + k * v->cols;
    for (int64_t i = k; i < a->rows; i++) x[i] = weft__matrix_get(a, i, k);
    const householder h = weft__matrix_reflection(&(matrix){true, 1, v->cols, x}, k);
    tau[k] = h.tau;
    qr_reflect_complex(a, x, k, h.tau, k + 1, sums);
    for (int64_t i = k; i < a->rows; i++) weft__matrix_set(a, i, k, i == k ? h.beta : 0);
  }
  weft__matrix_identity(q);
  for (int64_t k = v->rows - 1; k >= 0; k--) {
    if (weft__long_work_spent(work, &spent, 8 * (q->rows - k) * (q->cols - k))) return;
    qr_reflect_complex(q, (double complex *)v->data + k * v->cols, k, conj(tau[k]), k, sums);
  }
}

typedef struct qr_complex_work {
  matrices a, q, v, rest; /* rest: the factors of the reflections, and a row */
  long_work work;
} qr_complex_work;

static void qr_all_complex(void *arg, int64_t begin, int64_t end) {
  qr_complex_work *j = arg;
  for (int64_t b = begin; b < end; b++) {
    const matrix a = weft__matrix_at(&j->a, b), q = weft__matrix_at(&j->q, b), v = weft__matrix_at(&j->v, b),
                 rest = weft__matrix_at(&j->rest, b);
    double complex *tau = rest.data;
    qr_factor_complex(&a, &q, &v, tau, tau + v.rows, &j->work);
  }
}

/* Stores the first rows of each matrix of m. */
static weft_err qr_store_rows(kernel *k, int i, const shape *s, const matrices *m, int64_t rows) {
  matrices few;
  WEFT_TRY(weft__matrices_make(k, m, rows, m->cols, &few));
  for (int64_t b = 0, visits = weft__matrices_visits(&few); b < visits; b++) {
    const matrix from = weft__matrix_at(m, b), to = weft__matrix_at(&few, b);
    memcpy(to.data, from.data, (size_t)(rows * m->cols) * sizeof(double complex));
  }
  const weft_err err = weft__matrices_store(k, i, s, &few);
  weft__matrices_clear(&few);
  return err;
}

static weft_err qr_complex(kernel *k, const shape *of_q, const shape *of_r, int64_t inner) {
  qr_complex_work j = {.work = weft__long_work(k)};
  WEFT_TRY(weft__matrices_load(k, 0, &j.a));
  const int64_t m = j.a.rows, n = j.a.cols, steps = m < n ? m : n;
  weft_err err = weft__matrices_make(k, &j.a, m, inner, &j.q);
  if (!err) err = weft__matrices_make(k, &j.a, steps, m, &j.v);
  if (!err) err = weft__matrices_make(k, &j.a, 1, weft__shape_dim_add(steps, n > inner ? n : inner), &j.rest);
  if (!err && weft__matrices_visits(&j.q)) {
    weft__kernel_loop(k, weft__matrices_visits(&j.q), 100 + 8 * m * steps * (n + inner), qr_all_complex, &j);
    err = weft__kernel_in(k, weft__long_work_end(&j.work));
  }
  if (!err) err = weft__matrices_store(k, 0, of_q, &j.q);
  if (!err) err = qr_store_rows(k, 1, of_r, &j.a, inner);
  weft__matrices_clear(&j.a);
  weft__matrices_clear(&j.q);
  weft__matrices_clear(&j.v);
  weft__matrices_clear(&j.rest);
  return err;
}

static weft_err qr_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  int rank = x->shape.rank;
  if (rank < 2) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input tensor 0 must have rank >= 2, got %d", rank);
  int64_t m = x->shape.dim[rank - 2], n = x->shape.dim[rank - 1], p = m < n ? m : n;
  int64_t inner = weft__node_bool(k->node, "full_matrices", false) ? m : p;
  shape of_q = x->shape, of_r = of_q;
  of_q.dim[rank - 1] = of_r.dim[rank - 2] = inner;
  if (x->dtype == WEFT_COMPLEX64 || x->dtype == WEFT_COMPLEX128) return qr_complex(k, &of_q, &of_r, inner);
  weft_tensor *q = weft__out(k, 0, &of_q), *r = weft__out(k, 1, &of_r);
  if (!q || !r) return WEFT_OOM;
  if (weft__tensor_count(q) == 0 && weft__tensor_count(r) == 0) return WEFT_OK;
  qr_work j = {x, q, r, m, n, inner, weft__long_work(k), false};
  weft__kernel_loop(k, weft__shape_product(&x->shape, 0, rank - 2), 100 + 2 * m * p * (n + inner), qr_all, &j);
  WEFT_TRY(weft__kernel_in(k, weft__long_work_end(&j.work)));
  return atomic_load(&j.failed) ? WEFT_OOM : WEFT_OK;
}

/* ---- gradient ---- */

typedef struct qr_build { /* the graph in which the gradient is built, and the rank of its tensors */
  weft_graph *g;
  int rank;
} qr_build;

static weft_out qr_adjoint(qr_build m, weft_out x) {
  weft_graph *g = m.g;
  const int rank = m.rank;
  int64_t perm[WEFT_MAX_RANK];
  for (int i = 0; i < rank; i++) perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
  return weft__b_conj(g, weft__b_transpose(g, x, weft__b_ints(g, perm, rank)));
}

/* Returns x times the inverse of the adjoint of the upper triangle r. */
static weft_out qr_divided(qr_build m, weft_out x, weft_out r) {
  weft_graph *g = m.g;
  const weft_out in[] = {r, qr_adjoint(m, x)};
  const attr attrs[] = {A_BOOL("lower", false), A_BOOL("adjoint", false)};
  return qr_adjoint(m, weft__b_node(g, "MatrixTriangularSolve", NULL, 2, in, 2, attrs));
}

static weft_out qr_product(weft_graph *g, weft_out x, weft_out y, bool adj_x, bool adj_y) {
  return weft__b_matrix_product(g, x, y, adj_x, adj_y);
}

/* The gradient for matrices with at least as many rows as columns. */
static weft_out tall_grad(qr_build m, weft_out q, weft_out r, weft_out dq, weft_out dr) {
  weft_graph *g = m.g;
  const weft_out qdq = qr_product(g, q, dq, true, false), rdr = qr_product(g, r, dr, false, true);
  const weft_out odd = weft__b_add(g, weft__b_sub(g, qdq, qr_adjoint(m, qdq)), weft__b_sub(g, rdr, qr_adjoint(m, rdr)));
  const weft_out band[] = {odd, weft__b_scalar(g, WEFT_INT32, -1), weft__b_scalar(g, WEFT_INT32, 0)};
  const weft_out lower = weft__b_node(g, "MatrixBandPart", NULL, 3, band, 0, NULL);
  const weft_out along = qr_product(g, q, weft__b_add(g, dr, qr_divided(m, lower, r)), false, false);
  const weft_out across = qr_divided(m, weft__b_sub(g, dq, qr_product(g, q, qdq, false, false)), r);
  return weft__b_add(g, along, across);
}

/* Returns columns [from, from + n) of x. */
static weft_out qr_columns(qr_build m, weft_out x, int64_t from, int64_t n) {
  weft_graph *g = m.g;
  const int rank = m.rank;
  int64_t begin[WEFT_MAX_RANK] = {0}, size[WEFT_MAX_RANK];
  for (int i = 0; i < rank; i++) size[i] = -1;
  begin[rank - 1] = from, size[rank - 1] = n;
  return weft__b_node(g, "Slice", NULL, 3, (weft_out[]){x, weft__b_ints(g, begin, rank), weft__b_ints(g, size, rank)},
                      0, NULL);
}

/* The gradient for wide matrices.  Their first columns determine Q; the other columns are Q times the rest of R. */
static weft_out wide_grad(backprop *b, weft_out dq, weft_out dr, int64_t m, int64_t n) {
  weft_graph *g = b->graph;
  const qr_build s = {g, weft__out_shape(g, b->in[0])->rank};
  const weft_out rest = qr_columns(s, dr, m, n - m);
  const weft_out more = weft__b_add(g, dq, qr_product(g, qr_columns(s, b->in[0], m, n - m), rest, false, true));
  const weft_out first = tall_grad(s, b->out[0], qr_columns(s, b->out[1], 0, m), more, qr_columns(s, dr, 0, m));
  const weft_out parts[] = {first, qr_product(g, b->out[0], rest, false, false)};
  return weft__b_concat(g, 2, parts, weft__b_scalar(g, WEFT_INT32, -1));
}

static weft_err qr_grad(backprop *b) {
  const shape *s = weft__out_shape(b->graph, b->in[0]);
  const int64_t m = s->rank < 2 ? -1 : s->dim[s->rank - 2], n = s->rank < 2 ? -1 : s->dim[s->rank - 1];
  if (m < 0 || n < 0)
    return weft__fail(WEFT_UNIMPLEMENTED, "QrGrad not implemented with dynamic shapes: the input of '%s' is %s",
                      b->node->name, weft__shape_text(s));
  if (m > n && weft__node_bool(b->node, "full_matrices", false))
    return weft__fail(WEFT_UNIMPLEMENTED,
                      "QrGrad not implemented when nrows > ncols and full_matrices is true: the input of '%s' is %s",
                      b->node->name, weft__shape_text(s));
  const weft_out dq = weft__backprop_dout(b, 0), dr = weft__backprop_dout(b, 1);
  b->din[0] = GRAD_DENSE(m >= n ? tall_grad((qr_build){b->graph, s->rank}, b->out[0], b->out[1], dq, dr)
                                : wide_grad(b, dq, dr, m, n));
  return WEFT_OK;
}

static const op_case qr_cases[] = {
    {"f64[2,2] 0 2 -1 0", "f64[2,2] 0 1 1 0; f64[2,2] -1 0 0 2", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f16[2,2] 0 2 -1 0", "f16[2,2] 0 1 1 0; f16[2,2] -1 0 0 2", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[4,3] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,4] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[2,5,3] rand", NULL, "full_matrices=true", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[3,3] 1 0 0 0 -2 0 0 0 3", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[2,0] 0", NULL, "full_matrices=true", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0,2] 0", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[0,2147483648,0] 0", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[30000,1] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE}, /* a square of 30000 would take 14 GB */
    {"f32[3] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

OPS(qr) = {
    {"Qr(input:T) -> (q:T, r:T) | full_matrices:bool=false T:type{double,float,half,complex64,complex128}",
     "Orthogonal matrices times upper triangles that make the input.", .infer = qr_infer, .cpu = qr_cpu,
     .grad = qr_grad, .cases = qr_cases},
    {0},
};
