/* lu.c - MatrixDeterminant, LogMatrixDeterminant, MatrixInverse, MatrixSolve: Gaussian elimination (blocked.c).
 *
 * Rows are exchanged so that the pivot is the largest element of its column.  As in TensorFlow, a matrix is singular
 * if a column has only zeros left: then an inverse or a solution fails, and a determinant is zero. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "ops/linalg/matrix.h"
#include <math.h>
#include <stdatomic.h>

/* Factors m.  Returns the number of row exchanges, or -1 if m is singular or has a NaN. */
static int64_t lu_swaps(long_work *w, const matrix *m, int64_t *pivot) {
  int64_t swaps = 0;
  if (!weft__matrix_lu(w, m, pivot)) return -1;
  for (int64_t i = 0; i < m->rows; i++) {
    if (isnan(cabs(weft__matrix_get(m, i, i)))) return -1;
    swaps += pivot[i] != i;
  }
  return swaps;
}

/* Allocates the row exchanges of a batch.  The caller frees them with weft__free.  NULL if memory is exhausted. */
static int64_t *lu_pivots(const matrices *m) {
  return weft__alloc_zero((size_t)(m->count * m->rows) + 1, sizeof(int64_t));
}

/* ---- determinants ---- */

static weft_err det_infer(infer *s) {
  if (s->in[0].rank < 0) return WEFT_OK;
  WEFT_TRY(weft__matrix_infer_square(s));
  s->out[0].rank -= 2;
  for (int i = 1; i < s->n_out; i++) s->out[i] = s->out[0];
  return WEFT_OK;
}

/* A determinant as its sign, a complex number of size 1 (or 0), and the logarithm of its absolute value. */
typedef struct lu_work {
  long_work work;
  matrices m, sign, log;
  int64_t *pivot;
} lu_work;

static void det_all(void *arg, int64_t begin, int64_t end) {
  lu_work *j = arg;
  for (int64_t b = begin; b < end; b++) {
    const matrix m = weft__matrix_at(&j->m, b), out_sign = weft__matrix_at(&j->sign, b),
                 out = weft__matrix_at(&j->log, b);
    const int64_t swaps = lu_swaps(&j->work, &m, j->pivot + b * m.rows);
    double complex sign = swaps < 0 ? 0 : swaps % 2 ? -1 : 1;
    double log_size = swaps < 0 ? -INFINITY : 0;
    for (int64_t i = 0; swaps >= 0 && i < m.rows; i++) {
      const double complex d = weft__matrix_get(&m, i, i);
      sign *= d / cabs(d);
      log_size += log(cabs(d));
    }
    weft__matrix_set(&out_sign, 0, 0, sign);
    weft__matrix_set(&out, 0, 0, log_size);
  }
}

static weft_err lu_determinants(kernel *k, lu_work *j, shape *out) {
  WEFT_TRY(weft__matrix_square(k, 0));
  WEFT_TRY(weft__matrices_load(k, 0, &j->m));
  WEFT_TRY(weft__matrices_make(k, &j->m, 1, 1, &j->sign));
  WEFT_TRY(weft__matrices_make(k, &j->m, 1, 1, &j->log));
  if (!(j->pivot = lu_pivots(&j->m))) return WEFT_OOM;
  j->work = weft__long_work(k);
  weft__kernel_loop(k, weft__matrices_visits(&j->sign),
                    100 + weft__matrix_cost(&j->m, j->m.rows, j->m.rows, j->m.rows) / 3, det_all, j);
  WEFT_TRY(weft__kernel_in(k, weft__long_work_end(&j->work)));
  *out = k->in[0]->shape;
  out->rank -= 2;
  return WEFT_OK;
}

static void lu_finish(lu_work *j) {
  weft__matrices_clear(&j->m);
  weft__matrices_clear(&j->sign);
  weft__matrices_clear(&j->log);
  weft__free(j->pivot);
}

static weft_err log_det_cpu(kernel *k) {
  lu_work j = {0};
  shape out;
  weft_err err = lu_determinants(k, &j, &out);
  if (!err) err = weft__matrices_store(k, 0, &out, &j.sign);
  if (!err) err = weft__matrices_store(k, 1, &out, &j.log);
  lu_finish(&j);
  return err;
}

static weft_err det_cpu(kernel *k) {
  lu_work j = {0};
  shape out;
  weft_err err = lu_determinants(k, &j, &out);
  for (int64_t b = 0; !err && b < j.m.count; b++) {
    const matrix sign = weft__matrix_at(&j.sign, b), size = weft__matrix_at(&j.log, b);
    weft__matrix_scale(&sign, 0, exp(creal(weft__matrix_get(&size, 0, 0))));
  }
  if (!err) err = weft__matrices_store(k, 0, &out, &j.sign);
  lu_finish(&j);
  return err;
}

/* Appends two dimensions of size 1 to x, which has one number for each matrix. */
static weft_out as_matrices(weft_graph *g, weft_out x) {
  const int64_t ones[] = {1, 1};
  const weft_out parts[] = {weft__b_shape(g, x), weft__b_ints(g, ones, 2)};
  return weft__b_reshape(g, x, weft__b_concat(g, 2, parts, weft__b_scalar(g, WEFT_INT32, 0)));
}

static weft_out inverse_adjoint(weft_graph *g, weft_out x) {
  return weft__b_node(g, "MatrixInverse", NULL, 1, &x, 1, (attr[]){A_BOOL("adjoint", true)});
}

static weft_err det_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out inverse = inverse_adjoint(g, b->in[0]), scale = as_matrices(g, weft__b_mul(g, b->dout[0], b->out[0]));
  b->din[0] = GRAD_DENSE(weft__b_mul(g, scale, inverse));
  return WEFT_OK;
}

static weft_err log_det_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out inverse = inverse_adjoint(g, b->in[0]), scale = as_matrices(g, weft__backprop_dout(b, 1));
  b->din[0] = GRAD_DENSE(weft__b_mul(g, scale, inverse));
  return WEFT_OK;
}

/* ---- MatrixInverse, MatrixSolve ---- */

typedef struct system_work {
  long_work work;
  matrices a, x;
  int64_t *pivot;
  bool adjoint;
  atomic_bool singular;
} system_work;

static void solve_all(void *arg, int64_t begin, int64_t end) {
  system_work *j = arg;
  for (int64_t b = begin; b < end; b++) {
    const matrix a = weft__matrix_at(&j->a, b), x = weft__matrix_at(&j->x, b);
    int64_t *pivot = j->pivot + b * a.rows;
    if (j->adjoint) weft__matrix_adjoint(&a);
    if (lu_swaps(&j->work, &a, pivot) < 0) {
      atomic_store(&j->singular, true);
      continue;
    }
    for (int64_t i = 0; i < a.rows; i++) weft__matrix_swap(&x, i, pivot[i]);
    weft__matrix_triangle(&j->work, &a, &x, true, false, true);
    weft__matrix_triangle(&j->work, &a, &x, false, false, false);
  }
}

static weft_err lu_solve(kernel *k, system_work *j, const shape *out, const char *what) {
  j->adjoint = weft__node_bool(k->node, "adjoint", false);
  if (!(j->pivot = lu_pivots(&j->a))) return WEFT_OOM;
  j->work = weft__long_work(k);
  weft__kernel_loop(k, weft__matrices_visits(&j->a),
                    100 + weft__matrix_cost(&j->a, j->a.rows, j->a.rows, j->a.rows / 3 + j->x.cols), solve_all, j);
  weft__free(j->pivot);
  WEFT_TRY(weft__kernel_in(k, weft__long_work_end(&j->work)));
  if (atomic_load(&j->singular)) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s is not invertible.", what);
  return weft__matrices_store(k, 0, out, &j->x);
}

static weft_err inverse_cpu(kernel *k) {
  system_work j = {0};
  WEFT_TRY(weft__matrix_square(k, 0));
  weft_err err = weft__matrices_load(k, 0, &j.a);
  if (!err) err = weft__matrices_make(k, &j.a, j.a.rows, j.a.rows, &j.x);
  for (int64_t b = 0; !err && b < weft__matrices_visits(&j.x); b++) {
    const matrix eye = weft__matrix_at(&j.x, b);
    for (int64_t i = 0; i < eye.rows; i++) weft__matrix_set(&eye, i, i, 1);
  }
  if (!err) err = lu_solve(k, &j, &k->in[0]->shape, "Input");
  weft__matrices_clear(&j.a);
  weft__matrices_clear(&j.x);
  return err;
}

static weft_err inverse_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out y = b->out[0], dy = b->dout[0];
  const bool adjoint = weft__node_bool(b->node, "adjoint", false);
  const weft_out dx = adjoint
                          ? weft__b_matrix_product(g, y, weft__b_matrix_product(g, dy, y, true, false), false, false)
                          : weft__b_matrix_product(g, y, weft__b_matrix_product(g, dy, y, false, true), true, false);
  b->din[0] = GRAD_DENSE(weft__b_neg(g, dx));
  return WEFT_OK;
}

static weft_err solve_infer(infer *s) {
  const shape *b = &s->in[1];
  WEFT_TRY(weft__matrix_infer_square(s));
  WEFT_TRY(weft__infer_rank_at_least(s, 1, 2));
  shape a = s->out[0];
  s->out[0] = *b;
  if (a.rank < 2 || b->rank < 2) return WEFT_OK;
  a.dim[a.rank - 1] = b->dim[b->rank - 1];
  if (weft__shape_merge(&s->out[0], &a, b)) return weft__infer_fail(s, "%s", weft__error_message());
  return WEFT_OK;
}

static weft_err solve_cpu(kernel *k) {
  system_work j = {0};
  shape want = k->in[0]->shape;
  const shape *b = &k->in[1]->shape;
  WEFT_TRY(weft__matrix_square(k, 0));
  want.dim[want.rank - 1] = b->rank > 0 ? b->dim[b->rank - 1] : 0;
  if (!weft__shape_equal(&want, b))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input matrix and rhs are incompatible: %s, %s",
                             weft__shape_text(&k->in[0]->shape), weft__shape_text(b));
  weft_err err = weft__matrices_load(k, 0, &j.a);
  if (!err) err = weft__matrices_load(k, 1, &j.x);
  if (!err) err = lu_solve(k, &j, b, "Input matrix");
  weft__matrices_clear(&j.a);
  weft__matrices_clear(&j.x);
  return err;
}

static weft_err solve_grad(backprop *b) {
  weft_graph *g = b->graph;
  const bool adjoint = weft__node_bool(b->node, "adjoint", false);
  const weft_out right = weft__b_node(g, "MatrixSolve", NULL, 2, (weft_out[]){b->in[0], b->dout[0]}, 1,
                                      (attr[]){A_BOOL("adjoint", !adjoint)});
  const weft_out left = adjoint ? weft__b_matrix_product(g, b->out[0], right, false, true)
                                : weft__b_matrix_product(g, right, b->out[0], false, true);
  b->din[0] = GRAD_DENSE(weft__b_neg(g, left));
  b->din[1] = GRAD_DENSE(right);
  return WEFT_OK;
}

/* ---- cases ---- */
static const op_case det_cases[] = {
    {"f32[2,2] 1 2 3 4", "f32[] -2"},
    {"f64[2,2] 1 2 2 4", "f64[] 0", NULL, CASE_NO_GRAD},
    {"f64[2,4,4] rand"},
    {"c128[2,3,3] rand", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f64[3,3] 0 1 0 0 0 1 1 0 0", "f64[] 1"},
    {"f32[2,2] 1e30 2e30 3e30 4e30", "f32[] -inf", NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[0,0]", "f32[] 1", NULL, CASE_NO_GRAD},
    {"f32[2,0,0]", "f32[2] 1", NULL, CASE_NO_GRAD},
    {"f32[2,3] 1", "error INVALID_ARGUMENT"},
    {"f32[3] 1", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case log_det_cases[] = {
    {"f64[2,2] 1 2 3 4", "f64[] -1; f64[] .6931471805599453"},
    {"f64[2,4,4] rand"},
    {"c128[3,3] rand", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f64[2,2] 1 2 2 4", "f64[] 0; f64[] -inf", NULL, CASE_NO_GRAD},
    {"f32[0,0]", "f32[] 1; f32[] 0", NULL, CASE_NO_GRAD},
    {"f32[2,3] 1", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case inverse_cases[] = {
    {"f32[2,2] 1 2 3 4", "f32[2,2] -2 1 1.5 -.5"},
    {"f64[2,2] 1 2 3 4", "f64[2,2] -2 1.5 1 -.5", "adjoint=true"},
    {"f64[2,3,3] 4 1 -1 2 5 1 0 1 3 1 2 0 -2 3 1 1 1 4"},
    {"c128[2,2] 1+1i 2 3i 4-1i", NULL, "adjoint=true", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f64[3,3] 0 1 0 0 0 1 1 0 0", "f64[3,3] 0 0 1 1 0 0 0 1 0"},
    {"f32[0,0]", "f32[0,0]"},
    {"f64[2,2] 1 2 2 4", "error INVALID_ARGUMENT"},
    {"f32[2,2] nan 2 2 4", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"f32[2,3] 1", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case solve_cases[] = {
    {"f32[2,2] 1 2 3 4; f32[2,1] 5 6", "f32[2,1] -4 4.5"},
    {"f64[2,3,3] 4 1 -1 2 5 1 0 1 3 1 2 0 -2 3 1 1 1 4; f64[2,3,2] rand"},
    {"f64[2,2] 1 2 3 4; f64[2,3] rand", NULL, "adjoint=true"},
    {"c128[2,2] 1+1i 2 3i 4-1i; c128[2,1] rand", NULL, "adjoint=true", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2,2] 1 2 3 4; f32[2,0]", "f32[2,0]"},
    {"f64[2,2] 1 2 2 4; f64[2,1] 1", "error INVALID_ARGUMENT"},
    {"f32[2,2] 1 2 3 4; f32[3,1] 1", "error INVALID_ARGUMENT"},
    {"f32[2,2] 1 2 3 4; f32[2] 1", "error INVALID_ARGUMENT"},
    {"f32[1,2,2] 1 2 3 4; f32[3,2,1] 1", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case old_det_cases[] = {
    {"f32[2,2] 1 2 3 4", "f32[] -2"},
    {"f64[2,4,4] rand"},
    {0},
};
static const op_case old_inverse_cases[] = {
    {"f64[2,2] 2 0 0 4", "f64[2,2] .5 0 0 .25"},
    {"f64[2,3,3] pos", NULL, "adjoint=true"},
    {0},
};
static const op_case old_solve_cases[] = {
    {"f64[2,2] 2 0 0 4; f64[2,1] 1 2", "f64[2,1] .5 .5"},
    {"f64[2,3,3] pos; f64[2,3,2] rand", NULL, "adjoint=true"},
    {0},
};

OPS(lu) = {
    {"MatrixDeterminant(input:T) -> (output:T) | T:type{half,float,double,complex64,complex128}",
     "The determinants of matrices.", .infer = det_infer, .cpu = det_cpu, .grad = det_grad, .cases = det_cases},
    {"LogMatrixDeterminant(input:T) -> (sign:T, log_abs_determinant:T) | "
     "T:type{half,float,double,complex64,complex128}",
     "The signs of determinants and the logarithms of their sizes.", .infer = det_infer, .cpu = log_det_cpu,
     .grad = log_det_grad, .cases = log_det_cases},
    {"MatrixInverse(input:T) -> (output:T) | adjoint:bool=false T:type{double,float,half,complex64,complex128}",
     "The inverses of matrices, or of their adjoints.", .infer = weft__matrix_infer_square, .cpu = inverse_cpu,
     .grad = inverse_grad, .cases = inverse_cases},
    {"MatrixSolve(matrix:T, rhs:T) -> (output:T) | adjoint:bool=false T:type{double,float,half,complex64,complex128}",
     "The solutions of systems of equations.", .infer = solve_infer, .cpu = solve_cpu, .grad = solve_grad,
     .cases = solve_cases},
    {"BatchMatrixDeterminant(input:T) -> (output:T) | T:type{float,double,complex64,complex128}",
     "MatrixDeterminant under its name in graphs before version 13.", .infer = det_infer, .cpu = det_cpu,
     .cases = old_det_cases},
    {"BatchMatrixInverse(input:T) -> (output:T) | adjoint:bool=false T:type{double,float}",
     "MatrixInverse under its name in graphs before version 13.", .infer = weft__matrix_infer_square,
     .cpu = inverse_cpu, .cases = old_inverse_cases},
    {"BatchMatrixSolve(matrix:T, rhs:T) -> (output:T) | adjoint:bool=false T:type{double,float}",
     "MatrixSolve under its name in graphs before version 13.", .infer = solve_infer, .cpu = solve_cpu,
     .cases = old_solve_cases},
    {0},
};
