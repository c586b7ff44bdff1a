/* least_squares.c - MatrixSolveLs: solves systems with more or fewer equations than unknowns.
 *
 * fast: the normal equations, with l2_regularizer on their diagonal.  Otherwise two QR decompositions with pivoting,
 * which find the solution of least norm for any rank; as in TensorFlow, the regularizer is then ignored. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "ops/linalg/matrix.h"
#include <float.h>
#include <math.h>
#include <stdatomic.h>

static weft_err least_infer(infer *s) {
  for (int i = 0; i < 2; i++) WEFT_TRY(weft__infer_rank_at_least(s, i, 2));
  if (s->in[2].rank > 0) return weft__infer_fail(s, "Shape must be rank 0 but is rank %d", s->in[2].rank);
  shape a = s->in[0], b = s->in[1];
  if (a.rank < 2 || b.rank < 2) return WEFT_OK;
  const int64_t n = a.dim[a.rank - 1], k = b.dim[b.rank - 1];
  a.rank--;
  b.rank--;
  shape both;
  if (weft__shape_merge(&both, &a, &b)) return weft__infer_fail(s, "%s", weft__error_message());
  both.dim[both.rank - 1] = n;
  both.dim[both.rank++] = k;
  s->out[0] = both;
  return WEFT_OK;
}

/* One system: a is (m, n), b is (m, k), x is (n, k). */
typedef struct least_system {
  matrix a, b, x;
  matrix gram; /* square, with the smaller of m and n */
  double regularizer;
  long_work *work; /* once it is over, the results mean nothing */
} least_system;

/* Computes gram = a^H a (or a a^H if the matrix is wide) + regularizer I. */
static void fill_gram(const least_system *s, bool wide) {
  const int64_t n = s->gram.rows, inner = wide ? s->a.cols : s->a.rows;
  int64_t spent = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n && !weft__long_work_spent(s->work, &spent, inner); j++) {
      double complex sum = 0;
      for (int64_t k = 0; k < inner; k++)
        sum += wide ? weft__matrix_get(&s->a, i, k) * conj(weft__matrix_get(&s->a, j, k))
                    : conj(weft__matrix_get(&s->a, k, i)) * weft__matrix_get(&s->a, k, j);
      weft__matrix_set(&s->gram, i, j, i == j ? sum + s->regularizer : sum);
    }
}

/* Computes out = a^H in. */
static void times_adjoint(const matrix *a, const matrix *in, const matrix *out, long_work *work) {
  for (int64_t i = 0; i < out->rows; i++) weft__matrix_scale(out, i, 0);
  int64_t spent = 0;
  for (int64_t k = 0; k < a->rows && !weft__long_work_spent(work, &spent, out->rows * out->cols); k++)
    for (int64_t i = 0; i < out->rows; i++) weft__matrix_less(out, i, in, k, -conj(weft__matrix_get(a, k, i)), 0);
}

static bool solve_fast(const least_system *s) {
  const bool wide = s->a.rows < s->a.cols;
  fill_gram(s, wide);
  if (!weft__matrix_cholesky(s->work, &s->gram)) return false;
  const matrix *right = wide ? &s->b : &s->x;
  if (!wide) times_adjoint(&s->a, &s->b, &s->x, s->work);
  weft__matrix_triangle(s->work, &s->gram, right, false, true, false);
  weft__matrix_triangle(s->work, &s->gram, right, false, false, false);
  if (wide) times_adjoint(&s->a, &s->b, &s->x, s->work);
  return true;
}

/* ---- without the normal equations ---- */

static double column_size(const matrix *a, int64_t j, int64_t first) {
  double sum = 0;
  for (int64_t i = first; i < a->rows; i++) {
    const double complex x = weft__matrix_get(a, i, j);
    sum += creal(x) * creal(x) + cimag(x) * cimag(x);
  }
  return sum;
}

static void least_squares_exchange(const matrix *a, int64_t i, int64_t j) {
  for (int64_t r = 0; i != j && r < a->rows; r++) {
    const double complex x = weft__matrix_get(a, r, i);
    weft__matrix_set(a, r, i, weft__matrix_get(a, r, j));
    weft__matrix_set(a, r, j, x);
  }
}

/* Clears column k of a below the diagonal by a reflection, and applies the reflection to b. */
static void clear_column(const matrix *a, const matrix *b, int64_t k) {
  const double complex own = weft__matrix_get(a, k, k);
  const double length = sqrt(column_size(a, k, k));
  if (length == 0) return;
  const double complex beta = own == 0 ? -length : -own / cabs(own) * length;
  weft__matrix_set(a, k, k, own - beta); /* until the end, the column holds the vector of the reflection */
  const double norm = column_size(a, k, k);
  for (int which = 0; which < 2; which++) {
    const matrix *m = which ? b : a;
    for (int64_t j = which ? 0 : k + 1; j < m->cols; j++) {
      double complex sum = 0;
      for (int64_t i = k; i < a->rows; i++) sum += conj(weft__matrix_get(a, i, k)) * weft__matrix_get(m, i, j);
      for (int64_t i = k; i < a->rows; i++)
        weft__matrix_set(m, i, j, weft__matrix_get(m, i, j) - weft__matrix_get(a, i, k) * sum * 2 / norm);
    }
  }
  for (int64_t i = k + 1; i < a->rows; i++) weft__matrix_set(a, i, k, 0);
  weft__matrix_set(a, k, k, beta);
}

/* Makes a an upper triangle with its columns in `order`.  Returns the rank of a. */
static int64_t least_squares_pivoted(const matrix *a, const matrix *b, int64_t *order, long_work *work) {
  const int64_t steps = a->rows < a->cols ? a->rows : a->cols;
  for (int64_t j = 0; j < a->cols; j++) order[j] = j;
  double first = 0;
  int64_t spent = 0;
  for (int64_t k = 0; k < steps; k++) {
    if (weft__long_work_spent(work, &spent, 2 * (a->rows - k) * (2 * a->cols + b->cols))) break;
    int64_t best = k;
    for (int64_t j = k + 1; j < a->cols; j++)
      if (column_size(a, j, k) > column_size(a, best, k)) best = j;
    least_squares_exchange(a, k, best);
    const int64_t t = order[k];
    order[k] = order[best];
    order[best] = t;
    clear_column(a, b, k);
    const double size = cabs(weft__matrix_get(a, k, k));
    if (k == 0) first = size;
    if (size <= first * DBL_EPSILON * (double)steps || size == 0) return k;
  }
  return steps;
}

/* Computes the x of least norm with R x = c, where R is the first r rows of the triangle.  These rows are
 * independent, so the normal equations of R^H have a solution. room has r * r elements. */
static bool least_squares_shortest(const least_system *s, int64_t r, const int64_t *order) {
  const matrix rows = {s->a.is_complex, r, s->a.cols, s->a.data};
  const matrix gram = {s->a.is_complex, r, r, s->gram.data}, c = {s->b.is_complex, r, s->b.cols, s->b.data};
  const least_system inner = {rows, c, s->x, gram, 0, s->work};
  for (int64_t i = 0; i < s->x.rows; i++) weft__matrix_scale(&s->x, i, 0);
  if (r == s->a.cols) { /* R is square: a triangle */
    weft__matrix_triangle(s->work, &rows, &c, false, false, false);
    for (int64_t i = 0; i < r; i++) weft__matrix_less(&s->x, order[i], &c, i, -1, 0);
    return true;
  }
  fill_gram(&inner, true);
  if (!weft__matrix_cholesky(s->work, &gram)) return false;
  weft__matrix_triangle(s->work, &gram, &c, false, true, false);
  weft__matrix_triangle(s->work, &gram, &c, false, false, false);
  int64_t spent = 0;
  for (int64_t i = 0; i < r; i++)
    for (int64_t j = 0; j < s->a.cols && !weft__long_work_spent(s->work, &spent, c.cols); j++)
      weft__matrix_less(&s->x, order[j], &c, i, -conj(weft__matrix_get(&rows, i, j)), 0);
  return true;
}

static bool solve_slow(const least_system *s) {
  int64_t *order = weft__alloc_zero((size_t)s->a.cols + 1, sizeof *order);
  if (!order) return false;
  const int64_t rank = least_squares_pivoted(&s->a, &s->b, order, s->work);
  const bool good = least_squares_shortest(s, rank, order);
  weft__free(order);
  return good;
}

/* ---- the kernel ---- */

typedef struct least_work {
  matrices a, b, x, gram;
  double regularizer;
  bool fast;
  long_work work;
  atomic_bool failed;
} least_work;

static void least_all(void *arg, int64_t begin, int64_t end) {
  least_work *j = arg;
  for (int64_t i = begin; i < end; i++) {
    const least_system s = {weft__matrix_at(&j->a, i),
                            weft__matrix_at(&j->b, i),
                            weft__matrix_at(&j->x, i),
                            weft__matrix_at(&j->gram, i),
                            j->regularizer,
                            &j->work};
    if (s.a.rows == 0 || s.a.cols == 0) continue;
    if (!(j->fast ? solve_fast(&s) : solve_slow(&s))) atomic_store(&j->failed, true);
  }
}

static weft_err least_run(kernel *k, least_work *j, const shape *out) {
  WEFT_TRY(weft__matrices_load(k, 0, &j->a));
  WEFT_TRY(weft__matrices_load(k, 1, &j->b));
  const int64_t m = j->a.rows, n = j->a.cols, p = m < n ? m : n;
  WEFT_TRY(weft__matrices_make(k, &j->a, n, j->b.cols, &j->x));
  WEFT_TRY(weft__matrices_make(k, &j->a, p, p, &j->gram));
  weft__kernel_loop(k, weft__matrices_visits(&j->a), 100 + 2 * weft__matrix_cost(&j->a, m, n, p + j->b.cols), least_all,
                    j);
  WEFT_TRY(weft__kernel_in(k, weft__long_work_end(&j->work)));
  if (atomic_load(&j->failed))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a "
                             "larger l2_regularizer > 0.");
  return weft__matrices_store(k, 0, out, &j->x);
}

static weft_err least_shape(const kernel *k, shape *out) {
  const shape *a = &k->in[0]->shape, *b = &k->in[1]->shape;
  if (a->rank < 2 || b->rank != a->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input matrix and rhs must have the same rank >= 2: %s, %s",
                             weft__shape_text(a), weft__shape_text(b));
  *out = *b;
  for (int i = 0; i < a->rank - 1; i++)
    if (a->dim[i] != b->dim[i])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input matrix and rhs are incompatible: %s, %s",
                               weft__shape_text(a), weft__shape_text(b));
  out->dim[a->rank - 2] = a->dim[a->rank - 1];
  return WEFT_OK;
}

static weft_err least_cpu(kernel *k) {
  if (k->in[0]->dtype == WEFT_HALF) return weft__kernel_no_type(k, WEFT_HALF);
  shape out;
  WEFT_TRY(least_shape(k, &out));
  if (k->in[2]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "l2_regularizer must be scalar, got shape %s",
                             weft__shape_text(&k->in[2]->shape));
  least_work j = {.work = weft__long_work(k),
                  .regularizer = *TENSOR_DATA(k->in[2], double),
                  .fast = weft__node_bool(k->node, "fast", true)};
  if (j.regularizer < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "l2_regularizer must be >= 0.");
  const weft_err err = least_run(k, &j, &out);
  weft__matrices_clear(&j.a);
  weft__matrices_clear(&j.b);
  weft__matrices_clear(&j.x);
  weft__matrices_clear(&j.gram);
  return err;
}

/* ---- gradient ---- */

/* Returns a^H a or a a^H, plus the regularizer on the diagonal. */
static weft_out gram_node(backprop *b, bool wide) {
  weft_graph *g = b->graph;
  const weft_out a = b->in[0], gram = weft__b_matrix_product(g, a, a, !wide, wide),
                 zero = weft__b_scalar(g, WEFT_INT32, 0);
  const weft_out in[] = {gram, zero, weft__b_scalar_like(g, gram, 0)};
  const weft_out d = weft__b_node(g, "MatrixDiagPartV3", NULL, 3, in, 0, NULL);
  const weft_out more = weft__b_add(g, d, weft__b_cast(g, b->in[2], weft__out_type(g, gram)));
  return weft__b_node(g, "MatrixSetDiagV3", NULL, 3, (weft_out[]){gram, more, zero}, 0, NULL);
}

static weft_out least_squares_solved(weft_graph *g, weft_out a, weft_out b) {
  return weft__b_node(g, "MatrixSolve", NULL, 2, (weft_out[]){a, b}, 0, NULL);
}

static weft_out least_squares_product(weft_graph *g, weft_out x, weft_out y, bool adj_x, bool adj_y) {
  return weft__b_matrix_product(g, x, y, adj_x, adj_y);
}

static void tall_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out a = b->in[0], x = b->out[0], z = least_squares_solved(g, gram_node(b, false), b->dout[0]);
  /* The transpose is added; as in TensorFlow, it is not conjugated. */
  const weft_out both = weft__b_add(g, least_squares_product(g, x, z, false, true),
                                    weft__b_conj(g, least_squares_product(g, z, x, false, true)));
  b->din[0] = GRAD_DENSE(weft__b_sub(g, least_squares_product(g, b->in[1], z, false, true),
                                     least_squares_product(g, a, both, false, false)));
  b->din[1] = GRAD_DENSE(least_squares_product(g, a, z, false, false));
}

static void wide_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out a = b->in[0], dx = b->dout[0], gram = gram_node(b, true);
  const weft_out db = least_squares_solved(g, gram, least_squares_product(g, a, dx, false, false)),
                 y = least_squares_solved(g, gram, b->in[1]);
  const weft_out first = least_squares_product(g, db, least_squares_product(g, y, a, true, false), false, false);
  const weft_out rest = weft__b_sub(g, dx, least_squares_product(g, a, db, true, false));
  b->din[0] = GRAD_DENSE(weft__b_sub(g, least_squares_product(g, y, rest, false, true), first));
  b->din[1] = GRAD_DENSE(db);
}

static weft_err least_grad(backprop *b) {
  if (!weft__node_bool(b->node, "fast", true))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Gradient not defined for fast=False: MatrixSolveLs '%s'", b->node->name);
  const shape *s = weft__out_shape(b->graph, b->in[0]);
  const int64_t m = s->rank < 2 ? -1 : s->dim[s->rank - 2], n = s->rank < 2 ? -1 : s->dim[s->rank - 1];
  if (m < 0 || n < 0)
    return weft__fail(WEFT_UNIMPLEMENTED, "the gradient of MatrixSolveLs '%s' needs a matrix of known size: %s",
                      b->node->name, weft__shape_text(s));
  if (m >= n)
    tall_grad(b);
  else
    wide_grad(b);
  return WEFT_OK;
}

static const op_case least_cases[] = {
    {"f64[3,2] 1 2 3 4 5 7; f64[3,1] 1 2 4; f64[] 0"},
    {"f64[2,3,2] rand; f64[2,3,2] rand; f64[] .5"},
    {"f64[2,3] 1 2 3 4 5 7; f64[2,2] 1 2 4 3; f64[] .1"},
    {"f64[2,2] 1 2 3 5; f64[2,1] 1 2; f64[] 0"},
    {"f64[3,2] 1 2 3 4 5 7; f64[3,1] 1 2 4; f64[] 0", NULL, "fast=false", CASE_NO_GRAD},
    {"f64[2,3] 1 2 3 4 5 7; f64[2,2] 1 2 4 3; f64[] .1", NULL, "fast=false", CASE_NO_GRAD},
    {"f64[3,2] 1; f64[3,1] 1 2 4; f64[] 0", NULL, "fast=false", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"c128[3,2] rand; c128[3,2] rand; f64[] .5", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[3,2] 1; f64[3,1] 1 2 4; f64[] 0", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"f32[3,2] 1; f32[2,1] 1; f64[] 0", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"f32[2,0]; f32[2,1] 1; f64[] 0", "f32[0,1]", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

static const op_case old_least_cases[] = {
    {"f64[2,3,2] rand; f64[2,3,1] rand; f64[] .1"},
    {0},
};

OPS(least_squares) = {
    {"MatrixSolveLs(matrix:T, rhs:T, l2_regularizer:double) -> (output:T) | "
     "T:type{double,float,half,complex64,complex128} fast:bool=true",
     "The least-squares solutions of systems of equations.", .infer = least_infer, .cpu = least_cpu, .grad = least_grad,
     .cases = least_cases},
    {"BatchMatrixSolveLs(matrix:T, rhs:T, l2_regularizer:double) -> (output:T) | T:type{double,float} fast:bool=true",
     "MatrixSolveLs under its name in graphs before version 13.", .infer = least_infer, .cpu = least_cpu,
     .cases = old_least_cases},
    {0},
};
