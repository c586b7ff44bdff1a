/* svd.c - Svd: singular values and vectors.
 *
 * A matrix is first reduced to a square one.  A tall matrix is replaced by the triangle R of its pivoted QR
 * decomposition, a wide one by its adjoint.  Small real squares then use two-sided Jacobi rotations, with the signs
 * of TensorFlow's library.  Others are made bidiagonal by reflections and then diagonal by implicit QR steps
 * (Golub-Kahan).  The vectors are stored as rows of a transpose while they are rotated. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include "ops/linalg/matrix.h"
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SMALL = 16, STEPS = 60 };

/* The buffers for one decomposition of a tall or square matrix (m, n), m >= n: a = u s v^H. */
typedef struct svd_room {
  matrix a;                               /* (m, n); destroyed */
  matrix u, v;                            /* transposed: u (n or m, m), v (n, n); row i is vector i, not conjugated */
  matrix work;                            /* as large as u */
  matrix row, q;                          /* one row of m each */
  double *s, *e;                          /* the diagonal and the superdiagonal */
  double complex *left, *right, *vl, *vr; /* tau and vectors of the left and right reflections */
  int64_t *order;                         /* the order of the columns, if they were exchanged */
  long_work *step_work;                   /* once it is over, the results mean nothing */
} svd_room;

/* ---- reflections ---- */

/* Applies H = I - tau v v^H to m, which changes the rows from `first` on. */
static void reflect_rows(const svd_room *r, const matrix *m, const double complex *v, double complex tau, int64_t first,
                         int64_t column) {
  matrix sum = {m->is_complex, 1, m->cols, r->q.data};
  for (int64_t j = column; j < m->cols; j++) weft__matrix_set(&sum, 0, j, 0);
  for (int64_t i = first; i < m->rows; i++) weft__matrix_less(&sum, 0, m, i, -conj(v[i]), column);
  for (int64_t i = first; i < m->rows; i++) weft__matrix_less(m, i, &sum, 0, tau * v[i], column);
}

/* Computes the reflection of column k from row k on, and stores its vector in v, which has m elements. */
static householder column_reflection(const svd_room *r, int64_t k, double complex *v) {
  const int64_t m = r->a.rows;
  matrix row = {r->a.is_complex, 1, m, r->row.data};
  for (int64_t i = 0; i < m; i++) weft__matrix_set(&row, 0, i, i >= k ? weft__matrix_get(&r->a, i, k) : 0);
  const householder h = weft__matrix_reflection(&row, k);
  for (int64_t i = 0; i < m; i++) v[i] = i >= k ? weft__matrix_get(&row, 0, i) : 0;
  return h;
}

/* Computes the reflection of row k from column k + 1 on. */
static householder row_reflection(const svd_room *r, int64_t k, double complex *v) {
  const int64_t n = r->a.cols;
  matrix row = {r->a.is_complex, 1, n, r->row.data};
  for (int64_t j = 0; j < n; j++) weft__matrix_set(&row, 0, j, j > k ? conj(weft__matrix_get(&r->a, k, j)) : 0);
  const householder h = weft__matrix_reflection(&row, k + 1);
  for (int64_t j = 0; j < n; j++) v[j] = j > k ? weft__matrix_get(&row, 0, j) : 0;
  return h;
}

/* Applies H^H to row i of a from the right: a_i - conj(tau) (a_i v) v^H.  r->row holds the same vector v, which is real
 * if a is. */
static void reflect_columns(const svd_room *r, const double complex *v, double complex tau, int64_t row,
                            int64_t first) {
  const matrix *a = &r->a;
  double complex dot = 0;
  if (!a->is_complex) {
    const matrix real_v = {false, 1, a->cols, r->row.data};
    weft__matrix_less(a, row, &real_v, 0, creal(tau) * creal(weft__matrix_dot(a, row, &real_v, 0, first)), first);
    return;
  }
  for (int64_t j = first; j < a->cols; j++) dot += weft__matrix_get(a, row, j) * v[j];
  dot *= conj(tau);
  for (int64_t j = first; j < a->cols; j++) weft__matrix_set(a, row, j, weft__matrix_get(a, row, j) - dot * conj(v[j]));
}

/* Sets the rows of m to the first columns of the product of the adjoint reflections. */
static void svd_collect(const svd_room *r, const matrix *m, const double complex *tau, const double complex *v,
                        int64_t count, int64_t shift) {
  const matrix product = {m->is_complex, m->cols, m->rows, r->work.data};
  weft__matrix_identity(&product);
  int64_t spent = 0;
  for (int64_t k = count - 1; k >= 0; k--) {
    if (weft__long_work_spent(r->step_work, &spent, 2 * product.rows * product.cols)) return;
    if (tau[k] != 0) reflect_rows(r, &product, v + k * product.rows, conj(tau[k]), k + shift, k + shift);
  }
  weft__matrix_transpose(&product, m);
}

/* ---- Golub and Kahan ---- */

static void svd_bidiagonalize(const svd_room *r) {
  const int64_t m = r->a.rows, n = r->a.cols;
  int64_t spent = 0;
  for (int64_t k = 0; k < n; k++) {
    if (weft__long_work_spent(r->step_work, &spent, 4 * (m - k) * (n - k))) return;
    const householder h = column_reflection(r, k, r->vl + k * m);
    r->left[k] = h.tau;
    r->s[k] = h.beta;
    if (h.tau != 0 && k + 1 < n) reflect_rows(r, &r->a, r->vl + k * m, h.tau, k, k + 1);
    if (k + 1 == n) break;
    const householder g = row_reflection(r, k, r->vr + k * n);
    r->right[k] = g.tau;
    r->e[k] = g.beta;
    if (g.tau == 0) continue;
    for (int64_t i = k + 1; i < m; i++) reflect_columns(r, r->vr + k * n, g.tau, i, k + 1);
  }
  svd_collect(r, &r->u, r->left, r->vl, n, 0);
  svd_collect(r, &r->v, r->right, r->vr, n - 1, 1);
}

/* Computes c and s of the rotation that maps (x, y) to (r, 0): c x + s y = r. */
static double svd_plane(double x, double y, double *c, double *s) {
  const double size = hypot(x, y);
  *c = size == 0 ? 1 : x / size;
  *s = size == 0 ? 0 : y / size;
  return size;
}

/* s[at] is zero: rotations move the element beside it along the rows below until it vanishes. */
static void chase_zero(const svd_room *r, int64_t at, int64_t end) {
  double f = r->e[at], c, s;
  r->e[at] = 0;
  for (int64_t i = at + 1; i <= end && f != 0; i++) {
    r->s[i] = svd_plane(r->s[i], f, &c, &s);
    weft__matrix_rotate(&r->u, i, at, c, -s);
    if (i == end) break;
    f = -s * r->e[i];
    r->e[i] *= c;
  }
}

/* Returns the shift: the eigenvalue of the last 2 x 2 block of B^H B that is nearer to its last element. */
static double svd_shift(const svd_room *r, int64_t start, int64_t end) {
  const double a = r->s[end - 1], b = r->s[end], e = r->e[end - 1], before = end - 1 > start ? r->e[end - 2] : 0;
  const double top = a * a + before * before, low = b * b + e * e, off = a * e, half = (top - low) / 2;
  if (off == 0) return low;
  return low - off * off / (half + copysign(hypot(half, off), half == 0 ? 1 : half));
}

static void golub_kahan_step(const svd_room *r, int64_t start, int64_t end) {
  double *d = r->s, *e = r->e, c, s;
  double y = d[start] == 0 ? 0 : d[start] - svd_shift(r, start, end) / d[start], z = e[start];
  for (int64_t k = start; k < end; k++) {
    const double right = svd_plane(y, z, &c, &s);
    if (k > start) e[k - 1] = right;
    y = c * d[k] + s * e[k];
    e[k] = c * e[k] - s * d[k];
    z = s * d[k + 1];
    d[k + 1] *= c;
    weft__matrix_rotate(&r->v, k, k + 1, c, -s);
    d[k] = svd_plane(y, z, &c, &s);
    y = c * e[k] + s * d[k + 1];
    d[k + 1] = c * d[k + 1] - s * e[k];
    weft__matrix_rotate(&r->u, k, k + 1, c, -s);
    if (k + 1 == end) {
      e[k] = y;
    } else {
      e[k] = y;
      z = s * e[k + 1];
      e[k + 1] *= c;
    }
  }
}

/* Returns false if it does not converge. */
static bool golub_kahan(const svd_room *r) {
  const int64_t n = r->a.cols;
  double *d = r->s, *e = r->e, most = 0;
  svd_bidiagonalize(r);
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(d[i]) + (i + 1 < n ? fabs(e[i]) : 0));
  int64_t end = n - 1, steps = 0, spent = 0;
  while (end > 0) {
    for (int64_t i = 0; i < end; i++)
      if (fabs(e[i]) <= DBL_EPSILON * (fabs(d[i]) + fabs(d[i + 1])) || fabs(e[i]) <= DBL_MIN) e[i] = 0;
    if (e[end - 1] == 0) {
      end--;
      continue;
    }
    if (++steps > STEPS * n) return false;
    int64_t start = end - 1, zero = -1;
    while (start > 0 && e[start - 1] != 0) start--;
    if (weft__long_work_spent(r->step_work, &spent, 2 * (end - start) * (r->a.rows + n))) return true;
    for (int64_t i = start; i < end; i++)
      if (fabs(d[i]) <= DBL_EPSILON * most * 1e-3) zero = i;
    if (zero >= 0) {
      d[zero] = 0;
      chase_zero(r, zero, end);
    } else {
      golub_kahan_step(r, start, end);
    }
  }
  return true;
}

/* ---- Jacobi ---- */

static double real_at(const matrix *m, int64_t i, int64_t j) { return ((const double *)m->data)[i * m->cols + j]; }

/* Replaces columns p and q by c p - s q and s p + c q. */
static void rotate_columns(const matrix *m, int64_t p, int64_t q, double c, double s) {
  double *x = m->data;
  for (int64_t i = 0; i < m->rows; i++) {
    const double a = x[i * m->cols + p], b = x[i * m->cols + q];
    x[i * m->cols + p] = c * a - s * b;
    x[i * m->cols + q] = s * a + c * b;
  }
}

/* Clears elements (p, q) and (q, p) with one rotation from each side. */
static void jacobi_pair(const svd_room *r, int64_t p, int64_t q) {
  const double a = real_at(&r->a, p, p), b = real_at(&r->a, p, q), c = real_at(&r->a, q, p), d = real_at(&r->a, q, q);
  /* The first rotation makes the 2 x 2 block symmetric. */
  double s1 = 0, c1 = 1;
  if (fabs(c - b) >= DBL_MIN) {
    const double u = (a + d) / (c - b), size = sqrt(1 + u * u);
    s1 = 1 / size;
    c1 = u / size;
  }
  const double x = c1 * a + s1 * c, y = c1 * b + s1 * d, z = -s1 * b + c1 * d;
  double s2 = 0, c2 = 1;
  if (2 * fabs(y) >= DBL_MIN) {
    const double tau = (x - z) / (2 * fabs(y)), w = sqrt(tau * tau + 1);
    const double t = tau > 0 ? 1 / (tau + w) : 1 / (tau - w), size = 1 / sqrt(t * t + 1);
    s2 = -(t > 0 ? 1 : -1) * (y / fabs(y)) * fabs(t) * size;
    c2 = size;
  }
  const double cl = c1 * c2 + s1 * s2, sl = s1 * c2 - c1 * s2; /* the first rotation times the inverse of the second */
  weft__matrix_rotate(&r->a, p, q, cl, -sl);
  weft__matrix_rotate(&r->u, p, q, cl, -sl);
  rotate_columns(&r->a, p, q, c2, s2);
  weft__matrix_rotate(&r->v, p, q, c2, s2);
}

/* Decomposes a real square matrix; updates u and v by the rotations.  Returns false if it does not converge. */
static bool svd_jacobi(const svd_room *r) {
  const int64_t n = r->a.cols;
  double most = 0;
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(real_at(&r->a, i, i)));
  bool done = false;
  for (int sweep = 0; !done && sweep < 200; sweep++) {
    done = true;
    for (int64_t p = 1; p < n; p++)
      for (int64_t q = 0; q < p; q++) {
        const double limit = fmax(2 * DBL_MIN, 2 * DBL_EPSILON * most);
        if (fabs(real_at(&r->a, p, q)) <= limit && fabs(real_at(&r->a, q, p)) <= limit) continue;
        done = false;
        jacobi_pair(r, p, q);
        most = fmax(most, fmax(fabs(real_at(&r->a, p, p)), fabs(real_at(&r->a, q, q))));
      }
  }
  for (int64_t i = 0; i < n; i++) r->s[i] = real_at(&r->a, i, i);
  return done;
}

static void swap_columns(const matrix *m, int64_t i, int64_t j) {
  for (int64_t k = 0; i != j && k < m->rows; k++) {
    const double complex x = weft__matrix_get(m, k, i);
    weft__matrix_set(m, k, i, weft__matrix_get(m, k, j));
    weft__matrix_set(m, k, j, x);
  }
}

/* Replaces a by R of its pivoted QR decomposition, u by the transposed adjoint of Q, and v by the column order. */
static void pivoted_qr(const svd_room *r) {
  const int64_t m = r->a.rows, n = r->a.cols;
  for (int64_t j = 0; j < n; j++) r->order[j] = j;
  for (int64_t k = 0; k < n; k++) {
    int64_t best = k;
    double most = -1;
    for (int64_t j = k; j < n; j++) {
      double size = 0;
      for (int64_t i = k; i < m; i++) size += real_at(&r->a, i, j) * real_at(&r->a, i, j);
      if (size > most * (1 + 4 * DBL_EPSILON)) most = size, best = j;
    }
    swap_columns(&r->a, k, best);
    const int64_t t = r->order[k];
    r->order[k] = r->order[best];
    r->order[best] = t;
    const householder h = column_reflection(r, k, r->vl + k * m);
    r->left[k] = h.tau;
    if (h.tau != 0) reflect_rows(r, &r->a, r->vl + k * m, h.tau, k, k);
    for (int64_t i = k + 1; i < m; i++) weft__matrix_set(&r->a, i, k, 0);
    weft__matrix_set(&r->a, k, k, h.beta);
  }
  svd_collect(r, &r->u, r->left, r->vl, n, 0);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) weft__matrix_set(&r->v, i, j, r->order[i] == j);
}

/* ---- one matrix ---- */

/* Makes the singular values positive and sorts them in descending order. */
static void svd_arrange(const svd_room *r) {
  const int64_t n = r->a.cols;
  for (int64_t i = 0; i < n; i++) {
    if (r->s[i] < 0 || (r->s[i] == 0 && signbit(r->s[i]))) {
      r->s[i] = -r->s[i];
      weft__matrix_scale(&r->u, i, -1);
    }
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t most = i;
    for (int64_t j = i + 1; j < n; j++)
      if (r->s[j] > r->s[most]) most = j;
    if (most == i) continue;
    const double s = r->s[i];
    r->s[i] = r->s[most];
    r->s[most] = s;
    weft__matrix_swap(&r->u, i, most);
    weft__matrix_swap(&r->v, i, most);
  }
}

static bool svd_big(const svd_room *r) {
  const bool good = golub_kahan(r);
  svd_arrange(r);
  return good;
}

/* Decomposes the square triangle.  If `wide` is set, a is the adjoint of the input, so the triangle is transposed
 * and u and v are exchanged. */
static bool svd_small(const svd_room *r, bool wide) {
  svd_room w = *r;
  const int64_t n = r->a.cols;
  if (r->a.rows > n) {
    pivoted_qr(r);
  } else {
    weft__matrix_identity(&r->u);
    weft__matrix_identity(&r->v);
  }
  if (wide) {
    w.u = r->v;
    w.v = r->u;
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < i; j++) {
        const double complex x = weft__matrix_get(&r->a, i, j);
        weft__matrix_set(&r->a, i, j, weft__matrix_get(&r->a, j, i));
        weft__matrix_set(&r->a, j, i, x);
      }
  }
  const bool good = svd_jacobi(&w);
  svd_arrange(&w);
  return good;
}

static bool svd_solve(const svd_room *r, bool wide) {
  const int64_t m = r->a.rows, n = r->a.cols;
  double most = 0;
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) most = fmax(most, cabs(weft__matrix_get(&r->a, i, j)));
  if (most == 0 || !isfinite(most)) most = 1;
  for (int64_t i = 0; i < m; i++) weft__matrix_scale(&r->a, i, 1 / most);
  const bool good = n < SMALL && !r->a.is_complex ? svd_small(r, wide) : svd_big(r);
  for (int64_t i = 0; i < n; i++) r->s[i] *= most;
  return good;
}

/* ---- the kernel ---- */

typedef struct svd_work {
  matrices a, s, u, v;
  bool vectors, full;
  long_work work;
  atomic_int failed; /* 1: no convergence; 2: no memory */
} svd_work;

static bool all_finite(const matrix *a) {
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t j = 0; j < a->cols; j++)
      if (!isfinite(cabs(weft__matrix_get(a, i, j)))) return false;
  return true;
}

/* Copies the rows of `from` to the columns of `to`. */
static void put_vectors(const matrix *to, const matrix *from, bool conjugate) {
  for (int64_t i = 0; i < to->rows; i++)
    for (int64_t j = 0; j < to->cols; j++) {
      const double complex x = weft__matrix_get(from, j, i);
      weft__matrix_set(to, i, j, conjugate ? conj(x) : x);
    }
}

static void fill_nan(const matrix *m) {
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j < m->cols; j++) weft__matrix_set(m, i, j, NAN);
}

/* Returns the next part of a memory block; each part is aligned to 16 bytes.  If base is NULL, only the size is
 * counted. */
static void *svd_part(char *base, size_t *at, int64_t count, size_t size) {
  char *found = base ? base + *at : NULL;
  *at += ((size_t)count * size + 15) / 16 * 16;
  return found;
}

/* Assigns all parts and returns their total size. */
static size_t svd_parts(svd_room *r, bool is_complex, int64_t m, int64_t n, int64_t vectors, char *base) {
  const size_t one = is_complex ? sizeof(double complex) : sizeof(double);
  size_t at = 0;
  r->a = (matrix){is_complex, m, n, svd_part(base, &at, m * n, one)};
  r->u = (matrix){is_complex, vectors, m, svd_part(base, &at, vectors * m, one)};
  r->work = (matrix){is_complex, m, vectors, svd_part(base, &at, vectors * m, one)};
  r->v = (matrix){is_complex, n, n, svd_part(base, &at, n * n, one)};
  r->row = (matrix){is_complex, 1, m, svd_part(base, &at, m, one)};
  r->q = (matrix){is_complex, 1, m, svd_part(base, &at, m, one)};
  r->s = svd_part(base, &at, n, sizeof(double));
  r->e = svd_part(base, &at, n, sizeof(double));
  r->left = svd_part(base, &at, n, sizeof(double complex));
  r->right = svd_part(base, &at, n, sizeof(double complex));
  r->vl = svd_part(base, &at, m * n, sizeof(double complex));
  r->vr = svd_part(base, &at, n * n, sizeof(double complex));
  r->order = svd_part(base, &at, n, sizeof(int64_t));
  return at;
}

static bool svd_one(svd_work *j, int64_t b) {
  const matrix a = weft__matrix_at(&j->a, b), s = weft__matrix_at(&j->s, b);
  const bool wide = a.rows < a.cols;
  const int64_t m = wide ? a.cols : a.rows, n = wide ? a.rows : a.cols;
  if (m == 0 || n == 0) return true;
  svd_room r;
  const int64_t vectors = j->full ? m : n;
  char *room = weft__alloc_zero(1, svd_parts(&r, a.is_complex, m, n, vectors, NULL));
  if (!room) {
    atomic_store(&j->failed, 2);
    return false;
  }
  svd_parts(&r, a.is_complex, m, n, vectors, room);
  r.step_work = &j->work;
  for (int64_t i = 0; i < a.rows; i++)
    for (int64_t c = 0; c < a.cols; c++) {
      const double complex x = weft__matrix_get(&a, i, c);
      weft__matrix_set(&r.a, wide ? c : i, wide ? i : c, wide ? conj(x) : x);
    }
  const bool finite = all_finite(&a), good = !finite || svd_solve(&r, wide);
  for (int64_t i = 0; i < n; i++) weft__matrix_set(&s, 0, i, finite ? r.s[i] : NAN);
  if (j->vectors) {
    const matrix u = weft__matrix_at(&j->u, b), v = weft__matrix_at(&j->v, b);
    put_vectors(&u, wide ? &r.v : &r.u, false);
    put_vectors(&v, wide ? &r.u : &r.v, false);
    if (!finite) fill_nan(&u);
    if (!finite) fill_nan(&v);
  }
  weft__free(room);
  if (!good) atomic_store(&j->failed, 1);
  return good;
}

static void svd_all(void *arg, int64_t begin, int64_t end) {
  svd_work *j = arg;
  const int64_t cost = 20 * weft__matrix_cost(&j->a, j->a.rows, j->a.cols, 1);
  int64_t spent = 0;
  for (int64_t b = begin; b < end && !weft__long_work_spent(&j->work, &spent, cost) && svd_one(j, b); b++) {}
}

static weft_err svd_infer(infer *s) {
  const shape *x = &s->in[0];
  const bool vectors = weft__node_bool(s->node, "compute_uv", true),
             full = weft__node_bool(s->node, "full_matrices", false);
  if (!vectors) s->out[1] = s->out[2] = SHAPE1(0);
  if (x->rank < 0) return WEFT_OK;
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 2));
  const int64_t m = x->dim[x->rank - 2], n = x->dim[x->rank - 1], p = m < 0 || n < 0 ? -1 : m < n ? m : n;
  s->out[0] = *x;
  s->out[0].rank--;
  s->out[0].dim[x->rank - 2] = p;
  if (!vectors) return WEFT_OK;
  s->out[1] = s->out[2] = *x;
  s->out[1].dim[x->rank - 1] = full ? m : p;
  s->out[2].dim[x->rank - 2] = n;
  s->out[2].dim[x->rank - 1] = full ? n : p;
  return WEFT_OK;
}

static void set_identities(const matrices *m) {
  for (int64_t b = 0, n = weft__matrices_visits(m); b < n; b++) {
    const matrix one = weft__matrix_at(m, b);
    weft__matrix_identity(&one);
  }
}

static weft_err svd_run(kernel *k, svd_work *j) {
  const shape *x = &k->in[0]->shape;
  const bool full = j->full;
  WEFT_TRY(weft__matrices_load(k, 0, &j->a));
  const int64_t m = j->a.rows, n = j->a.cols, p = m < n ? m : n;
  shape of_s = *x;
  of_s.rank--;
  of_s.dim[of_s.rank - 1] = p;
  shape of_u = *x;
  of_u.dim[x->rank - 1] = full ? m : p;
  shape of_v = *x;
  of_v.dim[x->rank - 2] = n;
  of_v.dim[x->rank - 1] = full ? n : p;
  WEFT_TRY(weft__matrices_make(k, &j->a, 1, p, &j->s));
  if (j->vectors) {
    WEFT_TRY(weft__matrices_make(k, &j->a, m, full ? m : p, &j->u));
    WEFT_TRY(weft__matrices_make(k, &j->a, n, full ? n : p, &j->v));
    if (p == 0) set_identities(&j->u), set_identities(&j->v);
  }
  weft__kernel_loop(k, weft__matrices_visits(&j->a), 100 + 20 * weft__matrix_cost(&j->a, m, n, m > n ? m : n), svd_all,
                    j);
  WEFT_TRY(weft__kernel_in(k, weft__long_work_end(&j->work)));
  const int failed = atomic_load(&j->failed);
  if (failed == 2) return WEFT_OOM;
  if (failed) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "The singular value decomposition did not converge.");
  WEFT_TRY(weft__matrices_store(k, 0, &of_s, &j->s));
  if (!j->vectors) return weft__out(k, 1, &SHAPE1(0)) && weft__out(k, 2, &SHAPE1(0)) ? WEFT_OK : WEFT_OOM;
  WEFT_TRY(weft__matrices_store(k, 1, &of_u, &j->u));
  return weft__matrices_store(k, 2, &of_v, &j->v);
}

static weft_err svd_cpu(kernel *k) {
  if (k->in[0]->dtype == WEFT_HALF) return weft__kernel_no_type(k, WEFT_HALF);
  if (k->in[0]->shape.rank < 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input tensor 0 must have rank >= 2, got %d",
                             k->in[0]->shape.rank);
  svd_work j = {.vectors = weft__node_bool(k->node, "compute_uv", true), .work = weft__long_work(k)};
  j.full = j.vectors && weft__node_bool(k->node, "full_matrices", false);
  const weft_err err = svd_run(k, &j);
  weft__matrices_clear(&j.a);
  weft__matrices_clear(&j.s);
  weft__matrices_clear(&j.u);
  weft__matrices_clear(&j.v);
  return err;
}

/* ---- gradient ---- */

static weft_out svd_product(weft_graph *g, weft_out x, weft_out y, bool adj_x, bool adj_y) {
  return weft__b_matrix_product(g, x, y, adj_x, adj_y);
}

static weft_out svd_expand(weft_graph *g, weft_out x, int axis) {
  return weft__b_binary(g, "ExpandDims", x, weft__b_scalar(g, WEFT_INT32, axis));
}

static weft_out svd_diagonal(weft_graph *g, weft_out s) {
  const weft_out any = weft__b_scalar(g, WEFT_INT32, -1);
  const weft_out in[] = {s, weft__b_scalar(g, WEFT_INT32, 0), any, any, weft__b_scalar_like(g, s, 0)};
  return weft__b_node(g, "MatrixDiagV3", NULL, 5, in, 0, NULL);
}

/* Returns x plus its adjoint.  A product computes the adjoint, because the rank may be unknown. */
static weft_out with_adjoint(weft_graph *g, weft_out x, weft_out eye) {
  return weft__b_add(g, x, svd_product(g, x, eye, true, false));
}

static weft_out svd_reciprocal(weft_graph *g, weft_out x) {
  return weft__b_binary(g, "DivNoNan", weft__b_ones_like(g, x), x);
}

/* u, v and their gradients for a wide or square matrix (for A^H if A is tall). */
typedef struct svd_slopes {
  weft_graph *g;
  weft_out s, u, v, ds, du, dv;
  bool square, is_complex;
} svd_slopes;

/* Returns the first columns of v if all were computed. */
static weft_out svd_thin(weft_graph *g, weft_out x, int64_t columns) {
  const int rank = weft__out_shape(g, x)->rank;
  int64_t begin[WEFT_MAX_RANK] = {0}, size[WEFT_MAX_RANK];
  for (int i = 0; i < rank; i++) size[i] = i == rank - 1 ? columns : -1;
  return weft__b_node(g, "Slice", NULL, 3, (weft_out[]){x, weft__b_ints(g, begin, rank), weft__b_ints(g, size, rank)},
                      0, NULL);
}

/* Returns u (ds + (F u^H du + its adjoint) s + s (F v^H dv + its adjoint)) v^H + u s^-1 (dv^H - dv^H v v^H), with
 * F_ij = 1 / (s_j^2 - s_i^2). */
static weft_out svd_slope(const svd_slopes *d) {
  weft_graph *g = d->g;
  const weft_out eye = svd_diagonal(g, weft__b_ones_like(g, d->s)), s = svd_diagonal(g, d->s);
  const weft_out squares = weft__b_unary(g, "Square", d->s);
  const weft_out f = svd_reciprocal(g, weft__b_sub(g, svd_expand(g, squares, -2), svd_expand(g, squares, -1)));
  const weft_out vdv = svd_product(g, d->v, d->dv, true, false);
  const weft_out fu = with_adjoint(g, weft__b_mul(g, f, svd_product(g, d->u, d->du, true, false)), eye);
  const weft_out fv = with_adjoint(g, weft__b_mul(g, f, vdv), eye);
  weft_out middle = weft__b_add(g, svd_diagonal(g, d->ds), svd_product(g, fu, s, false, false));
  middle = weft__b_add(g, middle, svd_product(g, s, fv, false, false));
  const weft_out inverse = svd_diagonal(g, svd_reciprocal(g, d->s));
  if (d->is_complex) {
    const weft_out own = weft__b_mul(g, eye, vdv), transposed = svd_product(g, own, eye, true, false);
    const weft_out odd = svd_product(g, inverse, weft__b_sub(g, transposed, own), false, false);
    middle = weft__b_add(g, middle, weft__b_mul(g, weft__b_scalar_like(g, odd, 0.5), odd));
  }
  weft_out da = svd_product(g, d->u, svd_product(g, middle, d->v, false, true), false, false);
  if (d->square) return da;
  const weft_out along = svd_product(g, svd_product(g, d->dv, d->v, true, false), d->v, false, true);
  const weft_out us = svd_product(g, d->u, inverse, false, false);
  const weft_out across =
      weft__b_sub(g, svd_product(g, us, d->dv, false, true), svd_product(g, us, along, false, false));
  return weft__b_add(g, da, across);
}

/* The gradient if the op returned only the values: u and v are computed here. */
static weft_err values_grad(backprop *b) {
  weft_graph *g = b->graph;
  const attr attrs[] = {A_BOOL("compute_uv", true), A_BOOL("full_matrices", false)};
  const weft_out s = weft__b_node(g, "Svd", NULL, 1, &b->in[0], 2, attrs);
  const weft_out scaled = weft__b_mul(g, weft__b_slot(s, 1), svd_expand(g, weft__backprop_dout(b, 0), -2));
  b->din[0] = GRAD_DENSE(svd_product(g, scaled, weft__b_slot(s, 2), false, true));
  return WEFT_OK;
}

static weft_out matrix_adjoint(weft_graph *g, weft_out x, int rank) {
  int64_t perm[WEFT_MAX_RANK];
  for (int i = 0; i < rank; i++) perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
  return weft__b_conj(g, weft__b_transpose(g, x, weft__b_ints(g, perm, rank)));
}

static weft_err svd_grad(backprop *b) {
  weft_graph *g = b->graph;
  const shape x = *weft__out_shape(g, b->in[0]);
  const int64_t m = x.rank < 2 ? -1 : x.dim[x.rank - 2], n = x.rank < 2 ? -1 : x.dim[x.rank - 1];
  const bool full = weft__node_bool(b->node, "full_matrices", false);
  const weft_out s = b->out[0], u = b->out[1], v = b->out[2];
  if (!weft__node_bool(b->node, "compute_uv", true)) return values_grad(b);
  if (m < 0 || n < 0)
    return weft__fail(WEFT_UNIMPLEMENTED,
                      "SVD gradient has not been implemented for input with unknown inner matrix shape");
  if (full && llabs(m - n) > 1)
    return weft__fail(
        WEFT_UNIMPLEMENTED,
        "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True: m is %lld, n is %lld",
        (long long)m, (long long)n);
  const bool tall = m > n;
  svd_slopes d = {g,
                  s,
                  tall ? v : u,
                  tall ? u : v,
                  weft__backprop_dout(b, 0),
                  weft__backprop_dout(b, tall ? 2 : 1),
                  weft__backprop_dout(b, tall ? 1 : 2),
                  m == n,
                  weft__dtype_class(weft__out_type(g, b->in[0])) == CLASS_COMPLEX};
  if (full && m != n) {
    if (weft__out_shape(g, d.dv)->rank != x.rank)
      return weft__fail(WEFT_UNIMPLEMENTED, "svd gradient needs a known rank");
    d.v = svd_thin(g, d.v, tall ? n : m);
    d.dv = svd_thin(g, d.dv, tall ? n : m);
  }
  const weft_out da = svd_slope(&d);
  b->din[0] = GRAD_DENSE(tall ? matrix_adjoint(g, da, x.rank) : da);
  return WEFT_OK;
}

/* ---- cases ---- */
static const op_case svd_cases[] = {
    {"f64[2,2] 4 2 1 5", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[2,3,3] 9 2 1 -2 8 3 1 3 7 5 0 1 0 6 2 1 -2 4", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[4,3] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[4,3] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[3,4] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[5,2] rand", NULL, "full_matrices=true", CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f64[3,4] rand", NULL, "compute_uv=false", CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f64[24,20] rand", NULL, "compute_uv=false", CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"c128[4,3] rand", NULL, "compute_uv=false", CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[30000,1] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE}, /* a square of 30000 would take 7 GB */
    {"f64[1,1] -3", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[2,2] 0", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[2,2] nan 1 1 1", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0,0]", "f32[0]; f32[0,0]; f32[0,0]", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

static const op_case old_svd_cases[] = {
    {"f64[2,2] 3 0 0 2", NULL, "compute_uv=false", CASE_NO_PARITY},
    {"f64[1,1] -3", "f64[1] 3; f64[1,1] -1; f64[1,1] 1", NULL, CASE_NO_PARITY},
    {0},
};

OPS(svd) = {
    {"Svd(input:T) -> (s:T, u:T, v:T) | compute_uv:bool=true full_matrices:bool=false "
     "T:type{double,float,half,complex64,complex128}",
     "The singular values of matrices, in descending order, and their vectors.", .infer = svd_infer, .cpu = svd_cpu,
     .grad = svd_grad, .cases = svd_cases},
    {"BatchSvd(input:T) -> (s:T, u:T, v:T) | compute_uv:bool=true full_matrices:bool=false "
     "T:type{double,float,complex64,complex128}",
     "Svd under its name in graphs before version 13.", .infer = svd_infer, .cpu = svd_cpu, .cases = old_svd_cases},
    {0},
};
