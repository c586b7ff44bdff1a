/* eigen.c - SelfAdjointEigV2: eigenvalues and eigenvectors of Hermitian matrices.
 *
 * Householder reflections make the matrix real and tridiagonal; implicit QR steps with Wilkinson's shift then make
 * it diagonal.  The eigenvectors are stored as rows while they are rotated.  The signs are chosen as in TensorFlow's
 * library, so the vectors agree with TensorFlow's including their signs. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include "ops/linalg/matrix.h"
#include <float.h>
#include <math.h>
#include <stdatomic.h>

enum { STEPS = 30 }; /* QR steps per eigenvalue; more means that it does not converge */

/* Buffers for one matrix: the vectors of the reflections, and two rows. */
typedef struct eigen_room {
  matrix a, transposed;     /* the matrix, later its eigenvectors; their transpose */
  matrix v, q;              /* one row each */
  double *value, *off;      /* the diagonal and the subdiagonal */
  double complex *tau, *vs; /* per reflection: tau, and its vector as a row of n */
  long_work *work;          /* once it is over, the results mean nothing */
} eigen_room;

/* Fills the upper half from the lower half, the only one that is read. */
static void eigen_complete(const matrix *a) {
  for (int64_t i = 0; i < a->rows; i++) {
    weft__matrix_set(a, i, i, creal(weft__matrix_get(a, i, i)));
    for (int64_t j = 0; j < i; j++) weft__matrix_set(a, j, i, conj(weft__matrix_get(a, i, j)));
  }
}

static double eigen_greatest(const matrix *a) {
  double most = 0;
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t j = 0; j <= i; j++) {
      const double size = cabs(weft__matrix_get(a, i, j));
      if (!(size <= most)) most = size;
    }
  return most;
}

/* Clears column k below the diagonal by a reflection: A = H A H^H = A - v q^H - q v^H. */
static void eigen_reflect(const eigen_room *r, int64_t k) {
  const matrix *a = &r->a;
  const int64_t n = a->rows;
  for (int64_t i = 0; i < n; i++) weft__matrix_set(&r->v, 0, i, i > k ? weft__matrix_get(a, i, k) : 0);
  const householder h = weft__matrix_reflection(&r->v, k + 1);
  r->off[k] = h.beta;
  r->tau[k] = h.tau;
  for (int64_t i = 0; i < n; i++) r->vs[k * n + i] = weft__matrix_get(&r->v, 0, i);
  if (h.tau == 0) return;
  double complex inner = 0;
  for (int64_t i = k + 1; i < n; i++) { /* p = conj(tau) A v; row i of A is the conjugate of column i */
    double complex p = 0;
    if (a->is_complex)
      for (int64_t j = k + 1; j < n; j++) p += weft__matrix_get(a, i, j) * r->vs[k * n + j];
    else
      p = weft__matrix_dot(&(matrix){false, 1, n, (double *)a->data + i * n}, 0, &r->v, 0, k + 1);
    p *= conj(h.tau);
    weft__matrix_set(&r->q, 0, i, p);
    inner += conj(r->vs[k * n + i]) * p;
  }
  const double half = creal(h.tau * inner) / 2;
  for (int64_t i = k + 1; i < n; i++) { /* from here on, both rows hold conjugates */
    weft__matrix_set(&r->q, 0, i, conj(weft__matrix_get(&r->q, 0, i) - half * r->vs[k * n + i]));
    weft__matrix_set(&r->v, 0, i, conj(r->vs[k * n + i]));
  }
  for (int64_t i = k + 1; i < n; i++) {
    weft__matrix_less(a, i, &r->q, 0, r->vs[k * n + i], k + 1);
    weft__matrix_less(a, i, &r->v, 0, conj(weft__matrix_get(&r->q, 0, i)), k + 1);
  }
}

/* Stores the product of the adjoints of the reflections in a. */
static void eigen_collect(const eigen_room *r) {
  const int64_t n = r->a.rows;
  weft__matrix_identity(&r->a);
  int64_t spent = 0;
  for (int64_t k = n - 2; k >= 0; k--) {
    if (weft__long_work_spent(r->work, &spent, 2 * (n - k) * (n - k))) return;
    if (r->tau[k] == 0) continue;
    for (int64_t j = 0; j < n; j++) weft__matrix_set(&r->q, 0, j, 0);
    for (int64_t i = k + 1; i < n; i++) weft__matrix_less(&r->q, 0, &r->a, i, -conj(r->vs[k * n + i]), k + 1);
    for (int64_t i = k + 1; i < n; i++)
      weft__matrix_less(&r->a, i, &r->q, 0, conj(r->tau[k]) * r->vs[k * n + i], k + 1);
  }
}

/* Computes c and s of the rotation that maps (p, q) to (r, 0). */
static void givens_rotation(double p, double q, double *c, double *s) {
  if (q == 0) {
    *c = p < 0 ? -1 : 1;
    *s = 0;
  } else if (p == 0) {
    *c = 0;
    *s = q < 0 ? 1 : -1;
  } else if (fabs(p) > fabs(q)) {
    const double t = q / p, u = copysign(sqrt(1 + t * t), p);
    *c = 1 / u;
    *s = -t * *c;
  } else {
    const double t = p / q, u = copysign(sqrt(1 + t * t), q);
    *s = -1 / u;
    *c = -t * *s;
  }
}

static double wilkinson_shift(const double *d, const double *e, int64_t end) {
  const double half = (d[end - 1] - d[end]) / 2, off = e[end - 1];
  if (half == 0) return d[end] - fabs(off);
  if (off == 0) return d[end];
  const double far = half + copysign(hypot(half, off), half);
  return d[end] - (off * off == 0 ? off / (far / off) : off * off / far);
}

/* One implicit QR step on rows and columns start to end. */
static void qr_step(const eigen_room *r, int64_t start, int64_t end, bool vectors) {
  double *d = r->value, *e = r->off, x = d[start] - wilkinson_shift(d, e, end), z = e[start];
  for (int64_t k = start; k < end && z != 0; k++) {
    double c, s;
    givens_rotation(x, z, &c, &s);
    const double left = s * d[k] + c * e[k], right = s * e[k] + c * d[k + 1];
    d[k] = c * (c * d[k] - s * e[k]) - s * (c * e[k] - s * d[k + 1]);
    d[k + 1] = s * left + c * right;
    e[k] = c * left - s * right;
    if (k > start) e[k - 1] = c * e[k - 1] - s * z;
    x = e[k];
    if (k < end - 1) {
      z = -s * e[k + 1];
      e[k + 1] *= c;
    }
    if (vectors) weft__matrix_rotate(&r->transposed, k, k + 1, c, s);
  }
}

/* Returns false if it does not converge. */
static bool eigen_diagonalize(const eigen_room *r, bool vectors) {
  const int64_t n = r->a.rows;
  double *d = r->value, *e = r->off;
  int64_t start = 0, end = n - 1, steps = 0, spent = 0;
  while (end > 0) {
    for (int64_t i = start; i < end; i++)
      if (fabs(e[i]) < DBL_MIN || fabs(e[i]) <= DBL_EPSILON * (fabs(d[i]) + fabs(d[i + 1]))) e[i] = 0;
    while (end > 0 && e[end - 1] == 0) end--;
    if (end <= 0) break;
    if (++steps > STEPS * n) return false;
    start = end - 1;
    while (start > 0 && e[start - 1] != 0) start--;
    if (weft__long_work_spent(r->work, &spent, (end - start) * (vectors ? n : 1) + n)) return true;
    qr_step(r, start, end, vectors);
  }
  return true;
}

/* Sorts eigenvalues and eigenvectors in ascending order. */
static void eigen_sort(const eigen_room *r, bool vectors) {
  const int64_t n = r->a.rows;
  for (int64_t i = 0; i + 1 < n; i++) {
    int64_t least = i;
    for (int64_t j = i + 1; j < n; j++)
      if (r->value[j] < r->value[least]) least = j;
    if (least == i) continue;
    const double v = r->value[i];
    r->value[i] = r->value[least];
    r->value[least] = v;
    if (vectors) weft__matrix_swap(&r->transposed, i, least);
  }
}

/* Computes r->value, and the vectors as columns of r->a.  Returns false if it does not converge. */
static bool eigen_solve(const eigen_room *r, bool vectors) {
  const int64_t n = r->a.rows;
  eigen_complete(&r->a);
  const double scale = eigen_greatest(&r->a);
  if (!isfinite(scale)) return false;
  for (int64_t i = 0; scale > 0 && i < n; i++) weft__matrix_scale(&r->a, i, 1 / scale);
  int64_t spent = 0;
  for (int64_t k = 0; k + 1 < n && !weft__long_work_spent(r->work, &spent, 3 * (n - k) * (n - k)); k++)
    eigen_reflect(r, k);
  for (int64_t i = 0; i < n; i++) r->value[i] = creal(weft__matrix_get(&r->a, i, i));
  if (vectors) {
    eigen_collect(r);
    weft__matrix_transpose(&r->a, &r->transposed);
  }
  if (!eigen_diagonalize(r, vectors)) return false;
  for (int64_t i = 0; scale > 0 && i < n; i++) r->value[i] *= scale;
  eigen_sort(r, vectors);
  if (vectors) weft__matrix_transpose(&r->transposed, &r->a);
  return true;
}

typedef struct eigen_work {
  kernel *k;
  matrices m, value;
  bool vectors;
  long_work work;
  atomic_int failed; /* 1: no convergence; 2: no memory */
} eigen_work;

static bool eigen_one(eigen_work *j, int64_t b) {
  const matrix a = weft__matrix_at(&j->m, b), values = weft__matrix_at(&j->value, b);
  const size_t n = (size_t)a.rows, one = a.is_complex ? sizeof(double complex) : sizeof(double);
  void *room = weft__alloc_zero(n + 2, n * (one + sizeof(double complex)) + 2 * (one + sizeof(double complex)) + 16);
  if (!room) {
    atomic_store(&j->failed, 2);
    return false;
  }
  eigen_room r = {.a = a, .vs = room, .work = &j->work};
  r.tau = r.vs + n * n;
  r.value = (double *)(r.tau + n + 1);
  r.off = r.value + n + 1;
  r.transposed = (matrix){a.is_complex, a.rows, a.rows, r.off + n + 1};
  r.v = (matrix){a.is_complex, 1, a.rows, (char *)r.transposed.data + n * n * one};
  r.q = (matrix){a.is_complex, 1, a.rows, (char *)r.v.data + n * one};
  const bool good = eigen_solve(&r, j->vectors);
  for (int64_t i = 0; good && i < a.rows; i++) weft__matrix_set(&values, 0, i, r.value[i]);
  weft__free(room);
  if (!good) atomic_store(&j->failed, 1);
  return good;
}

static void eigen_all(void *arg, int64_t begin, int64_t end) {
  eigen_work *j = arg;
  const int64_t cost = 20 * weft__matrix_cost(&j->m, j->m.rows, j->m.rows, 1);
  int64_t spent = 0;
  for (int64_t b = begin; b < end && !weft__long_work_spent(&j->work, &spent, cost) && eigen_one(j, b); b++) {}
}

static weft_err eigen_infer(infer *s) {
  const shape *x = &s->in[0];
  const bool vectors = weft__node_bool(s->node, "compute_v", true);
  if (!vectors) s->out[1] = SHAPE1(0);
  if (x->rank < 0) return WEFT_OK;
  WEFT_TRY(weft__matrix_infer_square(s));
  const shape square = s->out[0];
  s->out[0].rank--;
  if (vectors) s->out[1] = square;
  return WEFT_OK;
}

static weft_err eigen_decompose(kernel *k, eigen_work *j) {
  WEFT_TRY(weft__matrices_load(k, 0, &j->m));
  WEFT_TRY(weft__matrices_make(k, &j->m, 1, j->m.rows, &j->value));
  weft__kernel_loop(k, weft__matrices_visits(&j->m),
                    100 + 20 * weft__matrix_cost(&j->m, j->m.rows, j->m.rows, j->m.rows), eigen_all, j);
  WEFT_TRY(weft__kernel_in(k, weft__long_work_end(&j->work)));
  const int failed = atomic_load(&j->failed);
  if (failed == 2) return WEFT_OOM;
  if (failed)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Self-adjoint eigen decomposition was not successful. The input might not be valid.");
  return WEFT_OK;
}

static weft_err eigen_run(kernel *k, eigen_work *j) {
  const shape *x = &k->in[0]->shape;
  shape values = *x;
  values.rank--;
  WEFT_TRY(eigen_decompose(k, j));
  WEFT_TRY(weft__matrices_store(k, 0, &values, &j->value));
  if (j->vectors) return weft__matrices_store(k, 1, x, &j->m);
  return weft__out(k, 1, &SHAPE1(0)) ? WEFT_OK : WEFT_OOM;
}

static weft_err eigen_cpu(kernel *k) {
  if (k->in[0]->dtype == WEFT_HALF) return weft__kernel_no_type(k, WEFT_HALF);
  WEFT_TRY(weft__matrix_square(k, 0));
  eigen_work j = {.k = k, .vectors = weft__node_bool(k->node, "compute_v", true), .work = weft__long_work(k)};
  const weft_err err = eigen_run(k, &j);
  weft__matrices_clear(&j.m);
  weft__matrices_clear(&j.value);
  return err;
}

/* ---- SelfAdjointEig: both results in one output ---- */

static weft_err eigen_joined_infer(infer *s) {
  WEFT_TRY(weft__matrix_infer_square(s));
  shape *out = &s->out[0];
  if (out->rank >= 2) out->dim[out->rank - 2] = weft__shape_dim_add(out->dim[out->rank - 1], 1);
  return WEFT_OK;
}

/* Row 0 of each matrix of the result has the eigenvalues; the rows below have the eigenvectors. */
static weft_err eigen_join(kernel *k, eigen_work *j, matrices *joined) {
  shape out = k->in[0]->shape;
  out.dim[out.rank - 2]++;
  WEFT_TRY(eigen_decompose(k, j));
  WEFT_TRY(weft__matrices_make(k, &j->m, j->m.rows + 1, j->m.cols, joined));
  for (int64_t i = 0, n = weft__matrices_visits(joined); i < n; i++) {
    const matrix to = weft__matrix_at(joined, i), v = weft__matrix_at(&j->m, i), e = weft__matrix_at(&j->value, i);
    for (int64_t c = 0; c < v.cols; c++) {
      weft__matrix_set(&to, 0, c, weft__matrix_get(&e, 0, c));
      for (int64_t r = 0; r < v.rows; r++) weft__matrix_set(&to, r + 1, c, weft__matrix_get(&v, r, c));
    }
  }
  return weft__matrices_store(k, 0, &out, joined);
}

static weft_err eigen_joined_cpu(kernel *k) {
  if (k->in[0]->dtype == WEFT_HALF) return weft__kernel_no_type(k, WEFT_HALF);
  WEFT_TRY(weft__matrix_square(k, 0));
  eigen_work j = {.k = k, .vectors = true, .work = weft__long_work(k)};
  matrices joined = {0};
  const weft_err err = eigen_join(k, &j, &joined);
  weft__matrices_clear(&j.m);
  weft__matrices_clear(&j.value);
  weft__matrices_clear(&joined);
  return err;
}

/* ---- gradient ---- */

/* Returns 1 / (e_j - e_i), or 0 where they are equal. */
static weft_out eigen_gaps(weft_graph *g, weft_out e) {
  const weft_out last = weft__b_scalar(g, WEFT_INT32, -1), before = weft__b_scalar(g, WEFT_INT32, -2);
  const weft_out difference =
      weft__b_sub(g, weft__b_binary(g, "ExpandDims", e, before), weft__b_binary(g, "ExpandDims", e, last));
  return weft__b_binary(g, "DivNoNan", weft__b_ones_like(g, difference), difference);
}

/* Adds the gradient of the upper half to the lower half, because the op reads only the lower half. */
static weft_out lower_half(weft_graph *g, weft_out x) {
  const weft_out zero = weft__b_scalar(g, WEFT_INT32, 0);
  const weft_out part[] = {x, zero, weft__b_scalar_like(g, x, 0)};
  const weft_out diagonal = weft__b_node(g, "MatrixDiagPartV3", NULL, 3, part, 0, NULL);
  const weft_out eye =
      weft__b_node(g, "MatrixSetDiagV3", NULL, 3,
                   (weft_out[]){weft__b_zeros_like(g, x), weft__b_ones_like(g, diagonal), zero}, 0, NULL);
  const weft_out both = weft__b_add(g, x, weft__b_matrix_product(g, x, eye, true, false));
  const weft_out band[] = {both, weft__b_scalar(g, WEFT_INT32, -1), zero};
  const weft_out lower = weft__b_node(g, "MatrixBandPart", NULL, 3, band, 0, NULL);
  const weft_out twice[] = {lower, zero, weft__b_scalar_like(g, x, 0)};
  const weft_out half =
      weft__b_mul(g, weft__b_scalar_like(g, x, 0.5), weft__b_node(g, "MatrixDiagPartV3", NULL, 3, twice, 0, NULL));
  return weft__b_node(g, "MatrixSetDiagV3", NULL, 3, (weft_out[]){lower, half, zero}, 0, NULL);
}

static weft_err eigen_grad(backprop *b) {
  weft_graph *g = b->graph;
  const bool vectors = weft__node_bool(b->node, "compute_v", true);
  weft_out e = b->out[0], v = b->out[1], middle;
  if (!vectors) {
    e = weft__b_node(g, "SelfAdjointEigV2", NULL, 1, &b->in[0], 1, (attr[]){A_BOOL("compute_v", true)});
    v = weft__b_slot(e, 1);
  }
  middle = weft__matrix_diag_node(g, weft__backprop_dout(b, 0));
  if (vectors) {
    const weft_out transposed = weft__b_matrix_product(g, v, weft__backprop_dout(b, 1), true, false);
    middle = weft__b_add(g, middle, weft__b_mul(g, eigen_gaps(g, e), transposed));
  }
  const weft_out da = weft__b_matrix_product(g, v, weft__b_matrix_product(g, middle, v, false, true), false, false);
  b->din[0] = GRAD_DENSE(lower_half(g, da));
  return WEFT_OK;
}

/* ---- cases ---- */
static const op_case eigen_cases[] = {
    {"f64[2,2] 4 2 2 5", NULL, NULL, CASE_NO_GRAD},
    {"f64[2,3,3] 9 2 1 2 8 3 1 3 7 5 0 1 0 6 2 1 2 4", NULL, NULL, CASE_NO_GRAD},
    {"f64[2,3,3] 9 2 1 2 8 3 1 3 7 5 0 1 0 6 2 1 2 4", NULL, "compute_v=false", CASE_NO_GRAD | CASE_NO_PARITY},
    {"f64[6,6] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[20,20] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"c128[4,4] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[1,1] -3", "f64[1] -3; f64[1,1] 1", NULL, CASE_NO_GRAD},
    {"f64[2,2] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[0,0]", "f32[0]; f32[0,0]", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,2] nan 1 1 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,3] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

static const op_case old_eigen_cases[] = {
    {"f64[2,2] 4 2 2 5"},
    {"f64[1,1] -3", "f64[1] -3; f64[1,1] 1"},
    {0},
};
static const op_case joined_cases[] = {
    {"f64[2,2] 4 2 2 5"},
    {"f64[2,2] 5 0 0 2", "f64[3,2] 2 5 0 1 1 0"},
    {"f64[1,1] -3", "f64[2,1] -3 1"},
    {"f32[2,3] 1", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};

OPS(eigen) = {
    {"SelfAdjointEigV2(input:T) -> (e:T, v:T) | compute_v:bool=true T:type{double,float,half,complex64,complex128}",
     "The eigenvalues of Hermitian matrices, in ascending order, and their eigenvectors.", .infer = eigen_infer,
     .cpu = eigen_cpu, .grad = eigen_grad, .cases = eigen_cases},
    {"BatchSelfAdjointEigV2(input:T) -> (e:T, v:T) | compute_v:bool=true T:type{double,float}",
     "SelfAdjointEigV2 under its name in graphs before version 13.", .infer = eigen_infer, .cpu = eigen_cpu,
     .cases = old_eigen_cases},
    {"SelfAdjointEig(input:T) -> (output:T) | T:type{double,float,half}",
     "A row of eigenvalues above the eigenvectors: SelfAdjointEigV2 before version 11 of graphs.",
     .infer = eigen_joined_infer, .cpu = eigen_joined_cpu, .cases = joined_cases},
    {"BatchSelfAdjointEig(input:T) -> (output:T) | T:type{double,float}",
     "SelfAdjointEig of several matrices, before version 11 of graphs.", .infer = eigen_joined_infer,
     .cpu = eigen_joined_cpu, .cases = joined_cases},
    {0},
};
