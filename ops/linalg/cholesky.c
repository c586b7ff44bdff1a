/* cholesky.c - Cholesky and MatrixTriangularSolve: computing and using triangular factors.
 *
 * Cholesky reads only the lower half.  It computes the adjoint, an upper triangle, because the elements of its rows
 * are contiguous.  A matrix that is not positive definite gives NaN and no error, as in TensorFlow since 2.5. */
#include "graph/build.h"
#include "graph/op.h"
#include "ops/linalg/matrix.h"
#include <math.h>

/* ---- Cholesky ---- */

/* Writes the adjoint of the lower half.  The diagonal of a Hermitian matrix is real; like TF, we ignore an imaginary
 * part. */
static void adjoint_of_lower(const matrix *m) {
  for (int64_t i = 0; i < m->rows; i++) {
    for (int64_t j = 0; j < i; j++) weft__matrix_set(m, j, i, conj(weft__matrix_get(m, i, j)));
    weft__matrix_set(m, i, i, creal(weft__matrix_get(m, i, i)));
  }
}

static void keep_lower(const matrix *m, bool good) {
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j <= i; j++) {
      const double complex x = conj(weft__matrix_get(m, j, i));
      if (j < i) weft__matrix_set(m, j, i, 0);
      weft__matrix_set(m, i, j, good ? x : NAN);
    }
}

typedef struct factor_work {
  long_work work;
  matrices m;
} factor_work;

static void factor_all(void *arg, int64_t begin, int64_t end) {
  factor_work *j = arg;
  for (int64_t b = begin; b < end; b++) {
    const matrix m = weft__matrix_at(&j->m, b);
    adjoint_of_lower(&m);
    keep_lower(&m, weft__matrix_cholesky(&j->work, &m));
  }
}

static weft_err cholesky_cpu(kernel *k) {
  factor_work j = {.work = weft__long_work(k)};
  WEFT_TRY(weft__matrix_square(k, 0));
  weft_err err = weft__matrices_load(k, 0, &j.m);
  if (!err) {
    weft__kernel_loop(k, weft__matrices_visits(&j.m), 100 + weft__matrix_cost(&j.m, j.m.rows, j.m.rows, j.m.rows) / 3,
                      factor_all, &j);
    err = weft__kernel_in(k, weft__long_work_end(&j.work));
  }
  if (!err) err = weft__matrices_store(k, 0, &k->in[0]->shape, &j.m);
  weft__matrices_clear(&j.m);
  return err;
}

/* ---- nodes of the gradients ---- */

static weft_out cholesky_band(weft_graph *g, weft_out x, bool lower) {
  const weft_out in[] = {x, weft__b_scalar(g, WEFT_INT32, lower ? -1 : 0),
                         weft__b_scalar(g, WEFT_INT32, lower ? 0 : -1)};
  return weft__b_node(g, "MatrixBandPart", NULL, 3, in, 0, NULL);
}

static weft_out cholesky_diagonal(weft_graph *g, weft_out x) {
  const weft_out in[] = {x, weft__b_scalar(g, WEFT_INT32, 0), weft__b_scalar_like(g, x, 0)};
  return weft__b_node(g, "MatrixDiagPartV3", "diag_part", 3, in, 0, NULL);
}

static weft_out with_diagonal(weft_graph *g, weft_out x, weft_out d) {
  return weft__b_node(g, "MatrixSetDiagV3", "set_diag", 3, (weft_out[]){x, d, weft__b_scalar(g, WEFT_INT32, 0)}, 0,
                      NULL);
}

static weft_out cholesky_solve(weft_graph *g, weft_out a, weft_out b, bool lower, bool adjoint) {
  weft__b_push_name(g, "triangular_solve");
  const weft_out x = weft__b_node(g, "MatrixTriangularSolve", NULL, 2, (weft_out[]){a, b}, 2,
                                  (attr[]){A_BOOL("lower", lower), A_BOOL("adjoint", adjoint)});
  weft__b_pop(g);
  return x;
}

/* dA = (S + S') / 2, with S = inv(L)' tril(L' dL, diagonal halved) inv(L).  The identity matrix is L with new
 * elements. */
static weft_err cholesky_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out l = b->out[0], zeros = weft__b_zeros_like(g, l);
  const weft_out eye = with_diagonal(g, zeros, weft__b_ones_like(g, cholesky_diagonal(g, l))),
                 inverse = cholesky_solve(g, l, eye, true, false);
  weft_out middle = weft__b_matrix_product(g, l, b->dout[0], true, false);
  middle = cholesky_band(
      g, with_diagonal(g, middle, weft__b_mul(g, weft__b_scalar_like(g, l, 0.5), cholesky_diagonal(g, middle))), true);
  const weft_out s =
      weft__b_matrix_product(g, weft__b_matrix_product(g, inverse, middle, true, false), inverse, false, false);
  const weft_out transposed = weft__b_matrix_product(g, s, eye, true, false);
  b->din[0] = GRAD_DENSE(weft__b_mul(g, weft__b_add(g, s, transposed), weft__b_scalar_like(g, l, 0.5)));
  return WEFT_OK;
}

/* ---- MatrixTriangularSolve ---- */

static weft_err solve_infer(infer *s) {
  for (int i = 0; i < 2; i++) WEFT_TRY(weft__infer_rank_at_least(s, i, 2));
  const shape *a = &s->in[0], *b = &s->in[1];
  if (a->rank < 2 || b->rank < 2) return WEFT_OK;
  const int64_t m = a->dim[a->rank - 2], n = a->dim[a->rank - 1], r = b->dim[b->rank - 2];
  if (m >= 0 && n >= 0 && m != n)
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)m, (long long)n);
  const int64_t known = m >= 0 ? m : n;
  if (known >= 0 && r >= 0 && known != r)
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)known, (long long)r);
  shape x = *a, y = *b;
  x.rank -= 2;
  y.rank -= 2;
  if (weft__shape_broadcast(&s->out[0], &x, &y)) return weft__infer_fail(s, "%s", weft__error_message());
  s->out[0].dim[s->out[0].rank++] = known >= 0 ? known : r;
  s->out[0].dim[s->out[0].rank++] = b->dim[b->rank - 1];
  return WEFT_OK;
}

typedef struct cholesky_work {
  long_work work;
  matrices a, x;
  const shape *out, *of_a;
  bool lower, adjoint;
} cholesky_work;

static void solve_all(void *arg, int64_t begin, int64_t end) {
  cholesky_work *j = arg;
  for (int64_t i = begin; i < end; i++) {
    const matrix a = weft__matrix_at(&j->a, weft__matrix_of(j->out, j->of_a, i)), x = weft__matrix_at(&j->x, i);
    weft__matrix_triangle(&j->work, &a, &x, j->lower, j->adjoint, false);
  }
}

/* Copies the right sides, one for each result; they are repeated if the batch broadcasts. */
static weft_err repeat_right(kernel *k, const shape *out, matrices *x) {
  matrices b = {0};
  weft_err err = weft__matrices_load(k, 1, &b);
  const matrices size = {.copy = {.dtype = b.copy.dtype}, .count = weft__shape_product(out, 0, out->rank - 2)};
  if (!err) err = weft__matrices_make(k, &size, b.rows, b.cols, x);
  const size_t bytes = (size_t)(b.rows * b.cols) * weft__dtype_size(b.copy.dtype);
  for (int64_t i = 0; !err && bytes && i < x->count; i++)
    memcpy(weft__matrix_at(x, i).data, weft__matrix_at(&b, weft__matrix_of(out, &k->in[1]->shape, i)).data, bytes);
  weft__matrices_clear(&b);
  return err;
}

static weft_err solve_shape(const kernel *k, shape *out) {
  shape a = k->in[0]->shape, b = k->in[1]->shape;
  WEFT_TRY(weft__matrix_square(k, 0));
  if (b.rank < 2) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "In[1] ndims must be >= 2: %d", b.rank);
  const int64_t rows = b.dim[b.rank - 2], cols = b.dim[b.rank - 1];
  if (a.dim[a.rank - 1] != rows)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "In[0] mismatch In[1] shape: %lld vs. %lld: %s %s",
                             (long long)a.dim[a.rank - 1], (long long)rows, weft__shape_text(&a), weft__shape_text(&b));
  a.rank -= 2;
  b.rank -= 2;
  if (weft__shape_broadcast(out, &a, &b))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "In[0] and In[1] must have compatible batch dimensions: %s vs. %s",
                             weft__shape_text(&k->in[0]->shape), weft__shape_text(&k->in[1]->shape));
  out->dim[out->rank++] = rows;
  out->dim[out->rank++] = cols;
  return WEFT_OK;
}

static weft_err solve_cpu(kernel *k) {
  shape out;
  WEFT_TRY(solve_shape(k, &out));
  cholesky_work j = {.work = weft__long_work(k),
                     .out = &out,
                     .of_a = &k->in[0]->shape,
                     .lower = weft__node_bool(k->node, "lower", true),
                     .adjoint = weft__node_bool(k->node, "adjoint", false)};
  weft_err err = weft__matrices_load(k, 0, &j.a);
  if (!err) err = repeat_right(k, &out, &j.x);
  if (!err) {
    weft__kernel_loop(k, weft__matrices_visits(&j.x), 100 + weft__matrix_cost(&j.x, j.x.rows, j.x.rows, j.x.cols),
                      solve_all, &j);
    err = weft__kernel_in(k, weft__long_work_end(&j.work));
  }
  if (!err) err = weft__matrices_store(k, 0, &out, &j.x);
  weft__matrices_clear(&j.a);
  weft__matrices_clear(&j.x);
  return err;
}

static weft_err solve_grad(backprop *b) {
  weft_graph *g = b->graph;
  const bool lower = weft__node_bool(b->node, "lower", true), adjoint = weft__node_bool(b->node, "adjoint", false);
  weft_out right = cholesky_solve(g, b->in[0], b->dout[0], lower, !adjoint);
  weft_out left = adjoint ? weft__b_matrix_product(g, b->out[0], right, false, true)
                          : weft__b_matrix_product(g, right, b->out[0], false, true);
  left = cholesky_band(g, weft__b_neg(g, left), lower);
  weft__b_matrix_fold(g, b->in[0], b->in[1], &left, &right);
  b->din[0] = GRAD_DENSE(left);
  b->din[1] = GRAD_DENSE(right);
  return WEFT_OK;
}

/* ---- cases ---- */
/* Cholesky's gradient is for symmetric changes.  Finite differences of single elements are not symmetric. */
static const op_case cholesky_cases[] = {
    {"f32[2,2] 4 2 2 5", "f32[2,2] 2 0 1 2", NULL, CASE_NO_GRAD},
    {"f64[2,2] 4 9 2 5", "f64[2,2] 2 0 1 2", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[2,3,3] 9 2 1 2 8 3 1 3 7 5 0 1 0 6 2 1 2 4", NULL, NULL, CASE_NO_GRAD},
    {"c128[2,2] 4+0i 1-2i 1+2i 6+0i", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[2,2] 4 2 2 -5", "f64[2,2] nan 0 nan nan", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[0,0]", "f32[0,0]", NULL, CASE_NO_GRAD},
    {"f32[0,2,2]", "f32[0,2,2]", NULL, CASE_NO_GRAD},
    {"f32[2,3] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"f32[3] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

static const op_case solve_cases[] = {
    {"f32[2,2] 2 9 3 4; f32[2,1] 1 2", "f32[2,1] .5 .125"},
    {"f64[2,2] 2 9 3 4; f64[2,1] 1 2", "f64[2,1] -1.75 .5", "lower=false"},
    {"f64[2,2] 2 9 3 4; f64[2,1] 1 2", "f64[2,1] -.25 .5", "adjoint=true"},
    {"f64[2,2] 2 9 3 4; f64[2,1] 1 2", "f64[2,1] .5 -.625", "lower=false adjoint=true"},
    {"f64[2,3,3] pos; f64[2,3,2] rand"},
    {"f64[3,3] pos; f64[2,2,3,2] rand", NULL, "lower=false"},
    {"f64[2,1,3,3] pos; f64[2,3,1] rand", NULL, "adjoint=true"},
    {"c128[3,3] 2+1i 0 0 1i 3 0 1-1i 2 1+2i; c128[3,2] rand", NULL, "adjoint=true", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0,0]; f32[0,3]", "f32[0,3]"},
    {"f32[2,2] 1; f32[2,0]", "f32[2,0]"},
    {"f32[2,3] 1; f32[2,1] 1", "error INVALID_ARGUMENT"},
    {"f32[3,3] 1; f32[2,1] 1", "error INVALID_ARGUMENT"},
    {"f32[3,3,3] 1; f32[2,3,3] 1", "error INVALID_ARGUMENT"},
    {"f32[2,2] 1; f32[2] 1", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case old_cholesky_cases[] = {
    {"f32[2,2] 4 2 2 5", "f32[2,2] 2 0 1 2"},
    {"f64[2,2,2] 4 2 2 5 9 3 3 2"},
    {0},
};
static const op_case old_solve_cases[] = {
    {"f32[2,2] 2 9 3 4; f32[2,1] 1 2", "f32[2,1] .5 .125"},
    {"f64[2,3,3] pos; f64[2,3,2] rand", NULL, "lower=false adjoint=true"},
    {0},
};

OPS(cholesky) = {
    {"Cholesky(input:T) -> (output:T) | T:type{double,float,half,complex64,complex128}",
     "Lower triangles whose product with their adjoint is the input.", .infer = weft__matrix_infer_square,
     .cpu = cholesky_cpu, .grad = cholesky_grad, .cases = cholesky_cases},
    {"MatrixTriangularSolve(matrix:T, rhs:T) -> (output:T) | lower:bool=true adjoint:bool=false "
     "T:type{bfloat16,double,float,half,complex64,complex128}",
     "The solutions of triangles of equations.", .infer = solve_infer, .cpu = solve_cpu, .grad = solve_grad,
     .cases = solve_cases},
    {"BatchCholesky(input:T) -> (output:T) | T:type{double,float}",
     "Cholesky under its name in graphs before version 13.", .infer = weft__matrix_infer_square, .cpu = cholesky_cpu,
     .cases = old_cholesky_cases},
    {"BatchMatrixTriangularSolve(matrix:T, rhs:T) -> (output:T) | lower:bool=true adjoint:bool=false "
     "T:type{double,float}",
     "MatrixTriangularSolve under its name in graphs before version 13.", .infer = solve_infer, .cpu = solve_cpu,
     .cases = old_solve_cases},
    {0},
};
