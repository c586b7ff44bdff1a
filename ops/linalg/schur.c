/* schur.c - Eig, MatrixSquareRoot and MatrixLogarithm, by the complex Schur form.
 *
 * Reflections bring the matrix into Hessenberg form.  QR steps with Wilkinson's shift then clear the elements below
 * the diagonal.  The root or the logarithm is computed for the triangle and transformed back.  Eigenvectors are
 * found by substitution.  All types are computed in complex128. */
#include "ops/linalg/schur.h"
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "ops/linalg/matrix.h"
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef double complex number;

/* ---- Schur's form ---- */

/* Clears column k of t below the subdiagonal, and applies the reflection to q. */
static void hessenberg_step(number *t, number *q, int64_t n, int64_t k, number *v) {
  double below = 0;
  for (int64_t i = k + 2; i < n; i++) below += creal(t[i * n + k] * conj(t[i * n + k]));
  if (below == 0) return;
  const number own = t[(k + 1) * n + k];
  const double length = sqrt(creal(own * conj(own)) + below);
  const number beta = own == 0 ? -length : -own / cabs(own) * length;
  double norm = 0;
  for (int64_t i = k + 1; i < n; i++) {
    v[i] = i == k + 1 ? own - beta : t[i * n + k];
    norm += creal(v[i] * conj(v[i]));
  }
  for (int64_t j = 0; j < n; j++) { /* from the left */
    number sum = 0;
    for (int64_t i = k + 1; i < n; i++) sum += conj(v[i]) * t[i * n + j];
    for (int64_t i = k + 1; i < n; i++) t[i * n + j] -= v[i] * sum * 2 / norm;
  }
  for (int side = 0; side < (q ? 2 : 1); side++) { /* from the right */
    number *m = side ? q : t;
    for (int64_t i = 0; i < n; i++) {
      number sum = 0;
      for (int64_t j = k + 1; j < n; j++) sum += m[i * n + j] * v[j];
      for (int64_t j = k + 1; j < n; j++) m[i * n + j] -= sum * conj(v[j]) * 2 / norm;
    }
  }
  for (int64_t i = k + 2; i < n; i++) t[i * n + k] = 0;
}

/* Returns the shift: the eigenvalue of the 2 x 2 block at `end` that is nearer to its last element. */
static number schur_shift(const number *t, int64_t n, int64_t end, int64_t iteration) {
  if (iteration % 10 == 9) /* an exceptional shift, in case the steps repeat in a cycle */
    return cabs(t[end * n + end - 1]) + (end > 1 ? cabs(t[(end - 1) * n + end - 2]) : 0);
  const number a = t[(end - 1) * n + end - 1], b = t[(end - 1) * n + end], c = t[end * n + end - 1],
               d = t[end * n + end];
  const number half = (a - d) / 2, root = csqrt(half * half + b * c), mean = (a + d) / 2;
  return cabs(mean + root - d) < cabs(mean - root - d) ? mean + root : mean - root;
}

/* One QR step on rows start to end: rotations from the left, then from the right. */
static void schur_step(number *t, number *q, int64_t n, int64_t start, int64_t end, number shift) {
  number x = t[start * n + start] - shift, y = t[(start + 1) * n + start];
  for (int64_t k = start; k < end; k++) {
    const double size = hypot(cabs(x), cabs(y));
    const number c = size == 0 ? 1 : x / size, s = size == 0 ? 0 : y / size;
    for (int64_t j = k > start ? k - 1 : 0; j < n; j++) {
      const number p = t[k * n + j], r = t[(k + 1) * n + j];
      t[k * n + j] = conj(c) * p + conj(s) * r;
      t[(k + 1) * n + j] = -s * p + c * r;
    }
    const int64_t last = k + 2 < end ? k + 2 : end;
    for (int side = 0; side < (q ? 2 : 1); side++) {
      number *m = side ? q : t;
      for (int64_t i = 0; i <= (side ? n - 1 : last); i++) {
        const number p = m[i * n + k], r = m[i * n + k + 1];
        m[i * n + k] = p * c + r * s;
        m[i * n + k + 1] = -p * conj(s) + r * conj(c);
      }
    }
    if (k + 1 < end) {
      x = t[(k + 1) * n + k];
      y = t[(k + 2) * n + k];
    }
  }
}

bool weft__schur(number *t, number *q, int64_t n, long_work *work) {
  number *v = weft__alloc_zero((size_t)n + 1, sizeof *v);
  if (!v) return false;
  for (int64_t i = 0; q && i < n * n; i++) q[i] = i / n == i % n;
  int64_t spent = 0;
  for (int64_t k = 0; k + 2 < n && !weft__long_work_spent(work, &spent, 6 * n * (n - k)); k++)
    hessenberg_step(t, q, n, k, v);
  weft__free(v);
  int64_t end = n - 1, iteration = 0;
  while (end > 0) {
    int64_t start = end;
    for (; start > 0; start--) {
      const double beside = cabs(t[(start - 1) * n + start - 1]) + cabs(t[start * n + start]);
      if (cabs(t[start * n + start - 1]) <= DBL_EPSILON * beside || cabs(t[start * n + start - 1]) < DBL_MIN) {
        t[start * n + start - 1] = 0;
        break;
      }
    }
    if (start == end) {
      end--;
      iteration = 0;
      continue;
    }
    if (weft__long_work_spent(work, &spent, 6 * n * (end - start))) return true;
    if (++iteration > 30 * n + 60) return false;
    schur_step(t, q, n, start, end, schur_shift(t, n, end, iteration));
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++) t[i * n + j] = 0;
  return true;
}

void weft__schur_root(const number *t, number *r, int64_t n, long_work *work) {
  memset(r, 0, (size_t)(n * n) * sizeof *r);
  int64_t spent = 0;
  for (int64_t j = 0; j < n && !weft__long_work_spent(work, &spent, j * j); j++) {
    r[j * n + j] = csqrt(t[j * n + j]);
    for (int64_t i = j - 1; i >= 0; i--) {
      number sum = t[i * n + j];
      for (int64_t k = i + 1; k < j; k++) sum -= r[i * n + k] * r[k * n + j];
      const number both = r[i * n + i] + r[j * n + j];
      r[i * n + j] = sum == 0 ? 0 : sum / both;
    }
  }
}

void weft__schur_product(const number *a, const number *b, number *out, int64_t n, long_work *work) {
  memset(out, 0, (size_t)(n * n) * sizeof *out);
  int64_t spent = 0;
  for (int64_t i = 0; i < n && !weft__long_work_spent(work, &spent, n * n); i++)
    for (int64_t k = 0; k < n; k++)
      for (int64_t j = 0; j < n; j++) out[i * n + j] += a[i * n + k] * b[k * n + j];
}

void weft__schur_back(number *a, const number *q, number *room, int64_t n, long_work *work) {
  weft__schur_product(q, a, room, n, work);
  memset(a, 0, (size_t)(n * n) * sizeof *a);
  int64_t spent = 0;
  for (int64_t i = 0; i < n && !weft__long_work_spent(work, &spent, n * n); i++)
    for (int64_t j = 0; j < n; j++)
      for (int64_t k = 0; k < n; k++) a[i * n + j] += room[i * n + k] * conj(q[j * n + k]);
}

/* ---- logarithms of triangles ---- */

/* Returns the 1-norm of t - I: the largest absolute column sum. */
static double from_identity(const number *t, int64_t n) {
  double most = 0;
  for (int64_t j = 0; j < n; j++) {
    double sum = 0;
    for (int64_t i = 0; i <= j; i++) sum += cabs(t[i * n + j] - (i == j));
    most = fmax(most, sum);
  }
  return most;
}

/* Computes sum += weight * (I + x t)^-1 t for upper triangles. */
static void add_quotient(number *sum, const number *t, double x, double weight, number *room, int64_t n,
                         long_work *work) {
  int64_t spent = 0;
  for (int64_t j = 0; j < n && !weft__long_work_spent(work, &spent, j * j); j++)
    for (int64_t i = j; i >= 0; i--) {
      number rest = t[i * n + j];
      for (int64_t k = i + 1; k <= j; k++) rest -= x * t[i * n + k] * room[k * n + j];
      room[i * n + j] = rest / (1 + x * t[i * n + i]);
      sum[i * n + j] += weight * room[i * n + j];
    }
}

/* Eight points and weights of Gauss-Legendre quadrature on [0, 1].  With them, the integral of t / (1 + x t) over x
 * is log(1 + t) to double precision for t < 1/4. */
static const double gauss[8][2] = {
    {0.01985507175123188, 0.05061426814518813}, {0.10166676129318664, 0.11119051722668724},
    {0.2372337950418355, 0.15685332293894364},  {0.4082826787521751, 0.181341891689181},
    {0.5917173212478249, 0.181341891689181},    {0.7627662049581645, 0.15685332293894364},
    {0.8983332387068134, 0.11119051722668724},  {0.9801449282487681, 0.05061426814518813}};

/* Replaces t by its logarithm: takes square roots until t is near the identity, then integrates. */
static void triangle_logarithm(number *t, number *room, number *more, int64_t n, long_work *work) {
  int roots = 0;
  for (; roots < 100 && !(from_identity(t, n) < 0.15); roots++) {
    if (isnan(from_identity(t, n)) || weft__long_work_is_over(work)) break;
    weft__schur_root(t, room, n, work);
    memcpy(t, room, (size_t)(n * n) * sizeof *t);
  }
  for (int64_t i = 0; i < n; i++) t[i * n + i] -= 1;
  memset(more, 0, (size_t)(n * n) * sizeof *more);
  for (int p = 0; p < 8; p++) {
    memset(room, 0, (size_t)(n * n) * sizeof *room);
    add_quotient(more, t, gauss[p][0], gauss[p][1], room, n, work);
  }
  for (int64_t i = 0; i < n * n; i++) t[i] = more[i] * ldexp(1, roots);
}

/* ---- eigenvectors ---- */

/* Sets the columns of v to the eigenvectors of the triangle t, transformed by q and normalized to length 1. */
static void schur_eigenvectors(const number *t, const number *q, number *v, number *x, int64_t n, long_work *work) {
  double most = 0;
  for (int64_t i = 0; i < n * n; i++) most = fmax(most, cabs(t[i]));
  const double least = fmax(DBL_MIN, DBL_EPSILON * most);
  int64_t spent = 0;
  for (int64_t k = 0; k < n && !weft__long_work_spent(work, &spent, k * (n + k)); k++) {
    const number lambda = t[k * n + k];
    for (int64_t i = 0; i < n; i++) x[i] = i == k;
    for (int64_t i = k - 1; i >= 0; i--) {
      number sum = 0;
      for (int64_t j = i + 1; j <= k; j++) sum -= t[i * n + j] * x[j];
      number d = t[i * n + i] - lambda;
      if (cabs(d) < least) d = least;
      x[i] = sum / d;
    }
    double length = 0;
    for (int64_t i = 0; i < n; i++) {
      number sum = 0;
      for (int64_t j = 0; j <= k; j++) sum += q[i * n + j] * x[j];
      v[i * n + k] = sum;
      length += creal(sum * conj(sum));
    }
    for (int64_t i = 0; i < n; i++) v[i * n + k] /= sqrt(length);
  }
}

/* ---- kernels ---- */

/* Replaces the triangle t by a function of it; room and more are as large. */
typedef void triangle_fn(number *t, number *room, number *more, int64_t n, long_work *work);

typedef struct schur_work {
  matrices in, values, vectors;
  triangle_fn *of_triangle; /* NULL for eigenvalues */
  bool want_vectors;
  long_work work;
  atomic_int failed; /* 1: no convergence; 2: no memory */
} schur_work;

static bool is_finite_matrix(const matrix *m) {
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j < m->cols; j++)
      if (!isfinite(cabs(weft__matrix_get(m, i, j)))) return false;
  return true;
}

static void put_all(const matrix *m, const number *from) {
  for (int64_t i = 0; i < m->rows * m->cols; i++) weft__matrix_set(m, i / m->cols, i % m->cols, from ? from[i] : NAN);
}

/* Moves eigenvalue `from` and its vector to the earlier place `to`; those between move up by one. */
static void move_pair(number *lambda, number *v, int64_t n, int64_t from, int64_t to) {
  const number x = lambda[from];
  memmove(lambda + to + 1, lambda + to, (size_t)(from - to) * sizeof *lambda);
  lambda[to] = x;
  for (int64_t r = 0; v && r < n; r++) {
    const number y = v[r * n + from];
    memmove(v + r * n + to + 1, v + r * n + to, (size_t)(from - to) * sizeof *v);
    v[r * n + to] = y;
  }
}

/* Orders the complex pairs of a real matrix: the eigenvalue with the positive imaginary part, then its conjugate. */
static void order_pairs(number *lambda, number *v, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (i + 1 == n || fabs(cimag(lambda[i])) <= 8 * DBL_EPSILON * cabs(lambda[i])) {
      lambda[i] = creal(lambda[i]);
      continue;
    }
    int64_t other = i + 1;
    for (int64_t j = i + 2; j < n; j++)
      if (cabs(lambda[j] - conj(lambda[i])) < cabs(lambda[other] - conj(lambda[i]))) other = j;
    move_pair(lambda, v, n, other, cimag(lambda[i]) < 0 ? i : i + 1);
    lambda[i + 1] = conj(lambda[i]);
    for (int64_t r = 0; v && r < n; r++) v[r * n + i + 1] = conj(v[r * n + i]);
    i++;
  }
}

/* Makes the vectors of real eigenvalues real. */
static void make_real(const number *lambda, number *v, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    if (cimag(lambda[k]) != 0) continue;
    int64_t big = 0;
    for (int64_t i = 1; i < n; i++)
      if (cabs(v[i * n + k]) > cabs(v[big * n + k])) big = i;
    const number phase = v[big * n + k] == 0 ? 1 : conj(v[big * n + k]) / cabs(v[big * n + k]);
    for (int64_t i = 0; i < n; i++) v[i * n + k] = creal(v[i * n + k] * phase);
  }
}

static void eigen_out(schur_work *j, int64_t b, bool real, number *t, const number *q, number *room, number *more) {
  const int64_t n = j->in.rows;
  if (j->want_vectors) schur_eigenvectors(t, q, room, more, n, &j->work);
  for (int64_t i = 0; i < n; i++) more[i] = t[i * n + i];
  if (real) order_pairs(more, j->want_vectors ? room : NULL, n);
  if (real && j->want_vectors) make_real(more, room, n);
  const matrix values = weft__matrix_at(&j->values, b);
  put_all(&values, more);
  if (j->want_vectors) {
    const matrix vectors = weft__matrix_at(&j->vectors, b);
    put_all(&vectors, room);
  }
}

static int schur_one(schur_work *j, int64_t b) {
  const matrix m = weft__matrix_at(&j->in, b);
  const int64_t n = m.rows;
  if (n == 0) return 0;
  if (j->of_triangle && !is_finite_matrix(&m)) {
    put_all(&m, NULL);
    return 0;
  }
  if (!is_finite_matrix(&m)) return 1;
  number *t = weft__alloc_zero(4 * (size_t)n, (size_t)n * sizeof *t);
  if (!t) return 2;
  number *q = t + n * n, *room = q + n * n, *more = room + n * n;
  for (int64_t i = 0; i < n * n; i++) t[i] = weft__matrix_get(&m, i / n, i % n);
  const bool good = weft__schur(t, q, n, &j->work);
  if (good && j->of_triangle) {
    j->of_triangle(t, room, more, n, &j->work);
    weft__schur_back(t, q, room, n, &j->work);
    bool real = true; /* a real matrix may have no real root */
    double most = 0;
    for (int64_t i = 0; i < n * n; i++) most = fmax(most, cabs(t[i]));
    for (int64_t i = 0; i < n * n; i++) real = real && fabs(cimag(t[i])) <= 1e-6 * most;
    put_all(&m, m.is_complex || real ? t : NULL);
  } else if (good) {
    eigen_out(j, b, !m.is_complex, t, q, room, more);
  }
  weft__free(t);
  return good ? 0 : 1;
}

static void schur_all(void *arg, int64_t begin, int64_t end) {
  schur_work *j = arg;
  const int64_t cost = 20 * weft__matrix_cost(&j->in, j->in.rows, j->in.rows, 1);
  int64_t spent = 0;
  for (int64_t b = begin; b < end && !weft__long_work_spent(&j->work, &spent, cost); b++) {
    const int failed = schur_one(j, b);
    if (failed) atomic_store(&j->failed, failed);
  }
}

static weft_err schur_run(kernel *k, schur_work *j) {
  WEFT_TRY(weft__matrices_load(k, 0, &j->in));
  if (!j->of_triangle) {
    const matrices like = {.copy = {.dtype = WEFT_COMPLEX128}, .count = j->in.count};
    WEFT_TRY(weft__matrices_make(k, &like, 1, j->in.rows, &j->values));
    WEFT_TRY(weft__matrices_make(k, &like, j->in.rows, j->in.rows, &j->vectors));
  }
  weft__kernel_loop(k, weft__matrices_visits(&j->in),
                    100 + 100 * weft__matrix_cost(&j->in, j->in.rows, j->in.rows, j->in.rows), schur_all, j);
  WEFT_TRY(weft__kernel_in(k, weft__long_work_end(&j->work)));
  const int failed = atomic_load(&j->failed);
  if (failed == 2) return WEFT_OOM;
  if (failed)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Eigen decomposition was not successful. The input might not be valid.");
  return WEFT_OK;
}

static weft_err function_cpu(kernel *k, triangle_fn *of_triangle) {
  if (k->in[0]->dtype == WEFT_HALF) return weft__kernel_no_type(k, WEFT_HALF);
  WEFT_TRY(weft__matrix_square(k, 0));
  schur_work j = {.of_triangle = of_triangle, .work = weft__long_work(k)};
  weft_err err = schur_run(k, &j);
  if (!err) err = weft__matrices_store(k, 0, &k->in[0]->shape, &j.in);
  weft__matrices_clear(&j.in);
  return err;
}

static void triangle_root(number *t, number *room, number *more, int64_t n, long_work *work) {
  (void)more;
  weft__schur_root(t, room, n, work);
  memcpy(t, room, (size_t)(n * n) * sizeof *t);
}

static weft_err root_cpu(kernel *k) { return function_cpu(k, triangle_root); }
static weft_err logarithm_cpu(kernel *k) { return function_cpu(k, triangle_logarithm); }

static weft_err eig_infer(infer *s) {
  const bool vectors = weft__node_bool(s->node, "compute_v", true);
  if (!vectors) s->out[1] = SHAPE1(0);
  if (s->in[0].rank < 0) return WEFT_OK;
  WEFT_TRY(weft__matrix_infer_square(s));
  const shape square = s->out[0];
  s->out[0].rank--;
  if (vectors) s->out[1] = square;
  return WEFT_OK;
}

static weft_err eig_cpu(kernel *k) {
  WEFT_TRY(weft__matrix_square(k, 0));
  schur_work j = {.want_vectors = weft__node_bool(k->node, "compute_v", true), .work = weft__long_work(k)};
  shape values = k->in[0]->shape;
  values.rank--;
  weft_err err = schur_run(k, &j);
  if (!err) err = weft__matrices_store(k, 0, &values, &j.values);
  if (!err && j.want_vectors) err = weft__matrices_store(k, 1, &k->in[0]->shape, &j.vectors);
  if (!err && !j.want_vectors && !weft__out(k, 1, &SHAPE1(0))) err = WEFT_OOM;
  weft__matrices_clear(&j.in);
  weft__matrices_clear(&j.values);
  weft__matrices_clear(&j.vectors);
  return err;
}

/* ---- gradients ---- */

static weft_out real_diagonal(weft_graph *g, weft_out x) {
  const weft_out in[] = {x, weft__b_scalar(g, WEFT_INT32, 0), weft__b_scalar_like(g, x, 0)};
  const weft_out d = weft__b_node(g, "MatrixDiagPartV3", NULL, 3, in, 0, NULL);
  const weft_dtype type = weft__out_type(g, x), real = type == WEFT_COMPLEX128 ? WEFT_DOUBLE : WEFT_FLOAT;
  return weft__matrix_diag_node(g, weft__b_cast(g, weft__b_cast(g, d, real), type));
}

/* Returns the solution x of v^H x = right. */
static weft_out adjoint_solve(weft_graph *g, weft_out v, weft_out right) {
  return weft__b_node(g, "MatrixSolve", NULL, 2, (weft_out[]){v, right}, 1, (attr[]){A_BOOL("adjoint", true)});
}

/* dA = v^-H (diag(de) + F (v^H dv - v^H v diag(real(v^H dv)))) v^H, with F_ij = conj(1 / (e_j - e_i)). */
static weft_err eig_grad(backprop *b) {
  weft_graph *g = b->graph;
  weft_out e = b->out[0], v = b->out[1];
  const bool vectors = weft__node_bool(b->node, "compute_v", true);
  if (!vectors) {
    const attr attrs[] = {A_BOOL("compute_v", true), A_TYPE("Tout", weft__out_type(g, e))};
    e = weft__b_node(g, "Eig", NULL, 1, &b->in[0], 2, attrs);
    v = weft__b_slot(e, 1);
  }
  weft_out middle = weft__matrix_diag_node(g, weft__backprop_dout(b, 0));
  if (vectors) {
    const weft_out column = weft__b_binary(g, "ExpandDims", e, weft__b_scalar(g, WEFT_INT32, -1));
    const weft_out row = weft__b_binary(g, "ExpandDims", e, weft__b_scalar(g, WEFT_INT32, -2));
    const weft_out gap = weft__b_sub(g, row, column);
    const weft_out f = weft__b_conj(g, weft__b_binary(g, "DivNoNan", weft__b_ones_like(g, gap), gap));
    const weft_out transposed = weft__b_matrix_product(g, v, weft__backprop_dout(b, 1), true, false);
    const weft_out own = weft__b_matrix_product(g, weft__b_matrix_product(g, v, v, true, false),
                                                real_diagonal(g, transposed), false, false);
    middle = weft__b_add(g, middle, weft__b_mul(g, f, weft__b_sub(g, transposed, own)));
  }
  const weft_out da = adjoint_solve(g, v, weft__b_matrix_product(g, middle, v, false, true));
  b->din[0] = GRAD_DENSE(weft__b_cast(g, da, weft__out_type(g, b->in[0])));
  return WEFT_OK;
}

/* Reshapes x to [-1, then the given dimensions]. */
static weft_out schur_shaped(weft_graph *g, weft_out x, const int64_t *dims, int n) {
  return weft__b_reshape(g, x, weft__b_ints(g, dims, n));
}

/* dA is the solution X of X R^H + R^H X = dR, which is solved as a linear system with Kronecker products. */
static weft_err root_grad(backprop *b) {
  weft_graph *g = b->graph;
  const shape *s = weft__out_shape(g, b->out[0]);
  const int64_t n = s->rank < 2 ? -1 : s->dim[s->rank - 1];
  if (n < 0)
    return weft__fail(WEFT_UNIMPLEMENTED, "the gradient of MatrixSquareRoot '%s' needs a matrix of known size",
                      b->node->name);
  const weft_out root = schur_shaped(g, b->out[0], (int64_t[]){-1, n, n}, 3);
  const weft_out transposed = weft__b_conj(g, weft__b_transpose(g, root, weft__b_ints(g, (int64_t[]){0, 2, 1}, 3)));
  const weft_out eye =
      weft__matrix_diag_node(g, weft__b_fill(g, weft__b_ints(g, &n, 1), weft__b_scalar_like(g, root, 1)));
  const weft_out left = weft__b_mul(g, schur_shaped(g, transposed, (int64_t[]){-1, n, 1, n, 1}, 5),
                                    schur_shaped(g, eye, (int64_t[]){1, 1, n, 1, n}, 5));
  const weft_out right = weft__b_mul(g, schur_shaped(g, eye, (int64_t[]){1, n, 1, n, 1}, 5),
                                     schur_shaped(g, weft__b_conj(g, root), (int64_t[]){-1, 1, n, 1, n}, 5));
  const weft_out sum = schur_shaped(g, weft__b_add(g, left, right), (int64_t[]){-1, n * n, n * n}, 3);
  const weft_out in[] = {sum, schur_shaped(g, b->dout[0], (int64_t[]){-1, n * n, 1}, 3)};
  /* As in TensorFlow, the result is the conjugate of the correct one for complex matrices. */
  const weft_out x = weft__b_conj(g, weft__b_node(g, "MatrixSolve", NULL, 2, in, 0, NULL));
  b->din[0] = GRAD_DENSE(weft__b_reshape(g, x, weft__b_shape(g, b->out[0])));
  return WEFT_OK;
}

/* ---- cases ---- */
static const op_case root_cases[] = {
    {"f64[2,2] 4 0 0 9", "f64[2,2] 2 0 0 3", NULL, CASE_NO_GRAD},
    {"f64[2,3,3] 9 2 1 2 8 3 1 3 7 5 0 1 0 6 2 1 2 4", NULL, NULL, CASE_NO_GRAD},
    {"f64[3,3] 9 -2 1 2 8 3 1 -3 7", NULL, NULL, CASE_NO_GRAD},
    {"c128[3,3] 9+1i 2 1 2i 8 3 1 3-2i 7", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0,2,2]", "f32[0,2,2]", NULL, CASE_NO_GRAD},
    {"f32[2,3] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case logarithm_cases[] = {
    {"c128[2,2] 1 0 0 1", "c128[2,2] 0 0 0 0", NULL, CASE_NO_GRAD},
    {"c128[2,3,3] 9 2 1 2 8 3 1 3 7 5 0 1 0 6 2 1 2 4", NULL, NULL, CASE_NO_GRAD},
    {"c128[3,3] 9+1i 2 1 2i 8 3 1 3-2i 7", NULL, NULL, CASE_NO_GRAD},
    {"c128[4,4] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"c64[0,0]", "c64[0,0]", NULL, CASE_NO_GRAD},
    {"c64[2,3] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case eig_cases[] = {
    {"f64[2,2] 2 0 0 1", "c128[2] 2 1; c128[2,2] 1 0 0 1", "Tout=complex128", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[2,2] 0 1 -1 0", NULL, "Tout=complex128", CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f64[3,3] 3 1 0 1 2 1 0 1 1", NULL, "Tout=complex128 compute_v=false",
     CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[2,4,4] rand", NULL, "Tout=complex64", CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"c64[3,3] rand", NULL, "Tout=complex64", CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[0,0]", "c64[0]; c64[0,0]", "Tout=complex64", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,2] nan", "error INVALID_ARGUMENT", "Tout=complex64", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,3] 1", "error INVALID_ARGUMENT", "Tout=complex64", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

OPS(schur) = {
    {"MatrixSquareRoot(input:T) -> (output:T) | T:type{double,float,half,complex64,complex128}",
     "The principal square roots of matrices; NaN where a real matrix has none.", .infer = weft__matrix_infer_square,
     .cpu = root_cpu, .grad = root_grad, .cases = root_cases},
    {"MatrixLogarithm(input:T) -> (output:T) | T:type{complex64,complex128}", "The principal logarithms of matrices.",
     .infer = weft__matrix_infer_square, .cpu = logarithm_cpu, .cases = logarithm_cases},
    {"Eig(input:T) -> (e:Tout, v:Tout) | compute_v:bool=true T:type{float,double,complex64,complex128} "
     "Tout:type{complex64,complex128}",
     "The eigenvalues of matrices and their eigenvectors.", .infer = eig_infer, .cpu = eig_cpu, .grad = eig_grad,
     .cases = eig_cases},
    {0},
};
