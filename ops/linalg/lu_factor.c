/* lu_factor.c - Lu, which returns the factors, and CholeskyGrad.
 *
 * Lu stores the unit lower triangle below the diagonal of the upper triangle.  Row i of the product L U is row p[i]
 * of the input. */
#include "base/alloc.h"
#include "graph/op.h"
#include "ops/linalg/matrix.h"
#include <math.h>
#include <stdatomic.h>

static weft_err lu_infer(infer *s) {
  if (s->in[0].rank < 0) return WEFT_OK;
  WEFT_TRY(weft__matrix_infer_square(s));
  s->out[1] = s->out[0];
  s->out[1].rank--;
  return WEFT_OK;
}

typedef struct lu_work {
  long_work work;
  matrices m;
  int64_t *pivot;
  weft_tensor *p;
  atomic_bool singular;
} lu_work;

static void set_index(weft_tensor *p, int64_t at, int64_t row) {
  if (p->dtype == WEFT_INT64)
    ((int64_t *)p->data)[at] = row;
  else
    ((int32_t *)p->data)[at] = (int32_t)row;
}

static int64_t get_index(const weft_tensor *p, int64_t at) {
  return p->dtype == WEFT_INT64 ? ((const int64_t *)p->data)[at] : ((const int32_t *)p->data)[at];
}

/* Returns false if a column has only zeros left. */
static bool factor_rows(long_work *w, const matrix *m, int64_t *pivot, weft_tensor *p, int64_t at) {
  if (!weft__matrix_lu(w, m, pivot)) return false;
  for (int64_t i = 0; i < m->rows; i++) set_index(p, at + i, i);
  for (int64_t i = 0; i < m->rows; i++) {
    const int64_t row = get_index(p, at + i);
    set_index(p, at + i, get_index(p, at + pivot[i]));
    set_index(p, at + pivot[i], row);
  }
  return true;
}

static void lu_all(void *arg, int64_t begin, int64_t end) {
  lu_work *j = arg;
  for (int64_t b = begin; b < end; b++) {
    const matrix m = weft__matrix_at(&j->m, b);
    if (!factor_rows(&j->work, &m, j->pivot + b * m.rows, j->p, b * m.rows)) atomic_store(&j->singular, true);
  }
}

static weft_err lu_cpu(kernel *k) {
  if (k->in[0]->dtype == WEFT_HALF) return weft__kernel_no_type(k, WEFT_HALF);
  WEFT_TRY(weft__matrix_square(k, 0));
  lu_work j = {.work = weft__long_work(k)};
  shape rows = k->in[0]->shape;
  rows.rank--;
  weft_err err = weft__matrices_load(k, 0, &j.m);
  if (!err && !(j.p = weft__out(k, 1, &rows))) err = WEFT_OOM;
  if (!err && !(j.pivot = weft__alloc_zero((size_t)(j.m.count * j.m.rows) + 1, sizeof(int64_t)))) err = WEFT_OOM;
  if (!err) {
    weft__kernel_loop(k, weft__matrices_visits(&j.m), 100 + weft__matrix_cost(&j.m, j.m.rows, j.m.rows, j.m.rows),
                      lu_all, &j);
    err = weft__kernel_in(k, weft__long_work_end(&j.work));
  }
  if (!err && atomic_load(&j.singular)) err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input is not invertible.");
  if (!err) err = weft__matrices_store(k, 0, &k->in[0]->shape, &j.m);
  weft__matrices_clear(&j.m);
  weft__free(j.pivot);
  return err;
}

/* ---- CholeskyGrad ---- */

typedef struct grad_work {
  long_work work;
  matrices l, d, x;
} grad_work;

/* x = (S + S^H) / 2 with S = L^-H tril(L^H dL, diagonal halved) L^-1. */
static void grad_one(const matrix *l, const matrix *d, const matrix *x, long_work *work) {
  const int64_t n = l->rows;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++)
      if (j > i) weft__matrix_set(l, i, j, 0), weft__matrix_set(d, i, j, 0);
  int64_t spent = 0;
  for (int64_t k = 0; k < n && !weft__long_work_spent(work, &spent, k * n); k++)
    for (int64_t i = 0; i <= k; i++) weft__matrix_less(x, i, d, k, -weft__matrix_get(l, k, i), 0);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i; j < n; j++) weft__matrix_set(x, i, j, i == j ? weft__matrix_get(x, i, i) / 2 : 0);
  weft__matrix_triangle(work, l, x, true, true, false); /* multiplies by L^-H; then does the same with the transpose */
  weft__matrix_adjoint(x);
  weft__matrix_triangle(work, l, x, true, true, false);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) {
      const double complex mean = (weft__matrix_get(x, i, j) + weft__matrix_get(x, j, i)) / 2;
      weft__matrix_set(x, i, j, mean);
      weft__matrix_set(x, j, i, mean);
    }
}

static void grad_all(void *arg, int64_t begin, int64_t end) {
  grad_work *j = arg;
  for (int64_t b = begin; b < end; b++) {
    const matrix l = weft__matrix_at(&j->l, b), d = weft__matrix_at(&j->d, b), x = weft__matrix_at(&j->x, b);
    grad_one(&l, &d, &x, &j->work);
  }
}

static weft_err cholesky_grad_cpu(kernel *k) {
  if (k->in[0]->dtype == WEFT_HALF) return weft__kernel_no_type(k, WEFT_HALF);
  WEFT_TRY(weft__matrix_square(k, 0));
  if (!weft__shape_equal(&k->in[0]->shape, &k->in[1]->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Inputs (L and grad) must have the same shape: %s and %s",
                             weft__shape_text(&k->in[0]->shape), weft__shape_text(&k->in[1]->shape));
  grad_work j = {.work = weft__long_work(k)};
  weft_err err = weft__matrices_load(k, 0, &j.l);
  if (!err) err = weft__matrices_load(k, 1, &j.d);
  if (!err) err = weft__matrices_make(k, &j.l, j.l.rows, j.l.rows, &j.x);
  if (!err) {
    weft__kernel_loop(k, weft__matrices_visits(&j.l), 100 + 4 * weft__matrix_cost(&j.l, j.l.rows, j.l.rows, j.l.rows),
                      grad_all, &j);
    err = weft__kernel_in(k, weft__long_work_end(&j.work));
  }
  if (!err) err = weft__matrices_store(k, 0, &k->in[0]->shape, &j.x);
  weft__matrices_clear(&j.l);
  weft__matrices_clear(&j.d);
  weft__matrices_clear(&j.x);
  return err;
}

/* ---- cases ---- */
static const op_case lu_cases[] = {
    {"f64[2,2] 1 2 3 4", "f64[2,2] 3 4 .3333333333333333 .6666666666666667; i32[2] 1 0"},
    {"f64[2,3,3] 4 1 -1 2 5 1 0 1 3 1 2 0 -2 3 1 1 1 4", NULL, "output_idx_type=int64"},
    {"f64[4,4] rand", NULL, NULL, CASE_FIXED_TYPE},
    {"c128[3,3] rand", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[0,0]", "f32[0,0]; i32[0]", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[2,2] 0", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"f32[2,3] 1", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};
static const op_case cholesky_grad_cases[] = {
    {"f64[2,2] 2 0 1 2; f64[2,2] 1 2 3 4", NULL, NULL, CASE_NO_GRAD},
    {"f64[2,3,3] pos; f64[2,3,3] rand", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,2] 1; f32[3,3] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

OPS(lu_factor) = {
    {"Lu(input:T) -> (lu:T, p:output_idx_type) | T:type{double,float,half,complex64,complex128} "
     "output_idx_type:type{int32,int64}=int32",
     "Lower and upper triangles, packed, and the order of rows whose product makes the input.", .infer = lu_infer,
     .cpu = lu_cpu, .cases = lu_cases},
    {"CholeskyGrad(l:T, grad:T) -> (output:T) | T:type{half,float,double}",
     "The gradient towards the input of Cholesky, from its output l and the gradient of it.",
     .infer = weft__matrix_infer_square, .cpu = cholesky_grad_cpu, .cases = cholesky_grad_cases},
    {"BatchCholeskyGrad(l:T, grad:T) -> (output:T) | T:type{float,double}",
     "CholeskyGrad under its name in graphs before version 13.", .infer = weft__matrix_infer_square,
     .cpu = cholesky_grad_cpu, .cases = cholesky_grad_cases},
    {0},
};
