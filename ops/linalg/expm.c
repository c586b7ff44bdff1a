/* expm.c - MatrixExponential: the exponential of square matrices, in graphs before version 27.
 *
 * Scaling and squaring: the matrix is halved until its norm is at most 1/2, a Pade approximant of degree 8 is taken,
 * and the result is squared as often as the matrix was halved.  All types are computed in complex doubles. */
#include "base/alloc.h"
#include "graph/op.h"
#include "ops/linalg/matrix.h"
#include "tensor/tensor.h"
#include <complex.h>
#include <math.h>
#include <string.h>

enum { DEGREE = 8 };
typedef double complex number;

/* c = a b, of n by n numbers. */
static void expm_multiply(int64_t n, const number *a, const number *b, number *c, long_work *work) {
  int64_t spent = 0;
  for (int64_t i = 0; i < n && !weft__long_work_spent(work, &spent, n * n); i++) {
    number *row = c + i * n;
    memset(row, 0, (size_t)n * sizeof *row);
    for (int64_t k = 0; k < n; k++)
      for (int64_t j = 0; j < n; j++) row[j] += a[i * n + k] * b[k * n + j];
  }
}

/* Replaces b by the solution x of a x = b, and destroys a.  Only numbers that are not finite leave a without an
 * inverse: then the result is NaN. */
static void expm_solve(int64_t n, number *a, number *b, int64_t *pivot, long_work *work) {
  const matrix left = {true, n, n, a}, right = {true, n, n, b};
  if (!weft__matrix_lu(work, &left, pivot)) {
    for (int64_t i = 0; i < n * n; i++) b[i] = (double)NAN;
    return;
  }
  for (int64_t i = 0; i < n; i++) weft__matrix_swap(&right, i, pivot[i]);
  weft__matrix_triangle(work, &left, &right, true, false, true);
  weft__matrix_triangle(work, &left, &right, false, false, false);
}

/* Returns how often the matrix must be halved for its row sums to be at most 1/2. */
static int expm_halvings(int64_t n, const number *x) {
  double norm = 0;
  for (int64_t i = 0; i < n; i++) {
    double sum = 0;
    for (int64_t j = 0; j < n; j++) sum += cabs(x[i * n + j]);
    norm = fmax(norm, sum);
  }
  if (!isfinite(norm) || norm <= 0.5) return 0;
  int exponent;
  frexp(norm, &exponent); /* norm < 2^exponent */
  return exponent + 1;
}

/* Replaces x by its exponential.  room: four more matrices; pivot: n numbers. */
static void expm_replace(int64_t n, number *x, number *room, int64_t *pivot, long_work *work) {
  const int64_t size = n * n;
  number *power = room, *over = room + size, *under = room + 2 * size, *next = room + 3 * size;
  const int times = expm_halvings(n, x);
  for (int64_t i = 0; i < size; i++) x[i] = x[i] * ldexp(1, -times);
  for (int64_t i = 0; i < size; i++) power[i] = over[i] = under[i] = i % (n + 1) == 0 ? 1 : 0;
  double c = 1;
  for (int k = 1; k <= DEGREE; k++) {
    c = c * (DEGREE - k + 1) / (double)(k * (2 * DEGREE - k + 1));
    expm_multiply(n, power, x, next, work);
    memcpy(power, next, (size_t)size * sizeof *power);
    for (int64_t i = 0; i < size; i++) over[i] += c * power[i], under[i] += (k % 2 ? -c : c) * power[i];
  }
  expm_solve(n, under, over, pivot, work);
  for (int t = 0; t < times; t++) {
    expm_multiply(n, over, over, next, work);
    memcpy(over, next, (size_t)size * sizeof *over);
  }
  memcpy(x, over, (size_t)size * sizeof *x);
}

typedef struct expm_work {
  const matrices *m;
  number *room; /* five matrices */
  int64_t *pivot;
  long_work work;
} expm_work;

static void expm_at(expm_work *j, int64_t at) {
  const matrix m = weft__matrix_at(j->m, at);
  const int64_t n = m.rows;
  for (int64_t i = 0; i < n * n; i++) j->room[i] = weft__matrix_get(&m, i / n, i % n);
  expm_replace(n, j->room, j->room + n * n, j->pivot, &j->work);
  for (int64_t i = 0; i < n * n; i++) weft__matrix_set(&m, i / n, i % n, j->room[i]);
}

static weft_err expm_cpu(kernel *k) {
  matrices m;
  WEFT_TRY(weft__matrix_square(k, 0));
  WEFT_TRY(weft__matrices_load(k, 0, &m));
  expm_work j = {.m = &m, .work = weft__long_work(k)};
  weft_err err = WEFT_OK;
  if (weft__matrices_visits(&m)) {
    j.room = weft__alloc_zero(5 * (size_t)m.rows, (size_t)m.rows * sizeof *j.room);
    j.pivot = weft__alloc_zero((size_t)m.rows, sizeof *j.pivot);
    if (!j.room || !j.pivot) err = WEFT_OOM;
  }
  for (int64_t i = 0; !err && i < weft__matrices_visits(&m) && !weft__long_work_is_over(&j.work); i++) expm_at(&j, i);
  if (!err) err = weft__kernel_in(k, weft__long_work_end(&j.work));
  weft__free(j.room);
  weft__free(j.pivot);
  if (!err) err = weft__matrices_store(k, 0, &k->in[0]->shape, &m);
  weft__matrices_clear(&m);
  return err;
}

/* TensorFlow refuses the op in graphs of version 27 and later; the first numbers are its own in one of version 20. */
static const op_case expm_cases[] = {
    {"f32[2,2] 1 2 3 4", "f32[2,2] 51.96896743774414 74.73658752441406 112.10487365722656 164.0738525390625", NULL,
     CASE_NO_PARITY | CASE_NO_GRAD},
    {"f64[2,2,2] 0 0 0 0 0 1 -1 0",
     "f64[2,2,2] 1 0 0 1 0.5403023058681398 0.8414709848078965 -0.8414709848078965 "
     "0.5403023058681398",
     NULL, CASE_NO_PARITY | CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,0,0]", "f32[2,0,0]", NULL, CASE_NO_PARITY | CASE_NO_GRAD},
    {"f32[2,3] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY | CASE_NO_GRAD},
    {0},
};

OPS(expm) = {
    {"MatrixExponential(input:T) -> (output:T) | T:type{double,float,half,complex64,complex128}",
     "The exponentials of matrices, in graphs before version 27.", .infer = weft__matrix_infer_square, .cpu = expm_cpu,
     .cases = expm_cases},
    {0},
};
