/* matrix.c - helpers for small matrices in double or complex128: loading, storing, row operations, reflections. */
#include "ops/linalg/matrix.h"
#include "base/target_clones.h"
#include "graph/build.h"
#include "kernels/simd/fma.h"
#include "ops/math/cast.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- loading and storing ---- */

static weft_dtype wide_type(weft_dtype t) {
  return weft__dtype_class(t) == CLASS_COMPLEX ? WEFT_COMPLEX128 : WEFT_DOUBLE;
}

weft_err weft__matrices_load(kernel *k, int i, matrices *m) {
  const weft_tensor *x = k->in[i];
  const int rank = x->shape.rank;
  WEFT_TRY(weft__scratch(k, &m->copy, wide_type(x->dtype), &x->shape));
  m->count = weft__shape_product(&x->shape, 0, rank - 2);
  m->rows = x->shape.dim[rank - 2];
  m->cols = x->shape.dim[rank - 1];
  return weft__cast_elements(k, x, &m->copy);
}

weft_err weft__matrices_make(kernel *k, const matrices *like, int64_t rows, int64_t cols, matrices *m) {
  WEFT_TRY(weft__scratch(k, &m->copy, like->copy.dtype, &SHAPE3(like->count, rows, cols)));
  m->count = like->count;
  m->rows = rows;
  m->cols = cols;
  const size_t bytes = (size_t)weft__tensor_count(&m->copy) * weft__dtype_size(m->copy.dtype);
  if (bytes) memset(m->copy.data, 0, bytes);
  return WEFT_OK;
}

void weft__matrices_clear(matrices *m) { weft__tensor_clear(&m->copy); }

weft_err weft__matrices_store(kernel *k, int i, const shape *s, const matrices *m) {
  weft_tensor *out = weft__out(k, i, s);
  if (!out) return WEFT_RESOURCE_EXHAUSTED;
  return weft__cast_elements(k, &m->copy, out);
}

matrix weft__matrix_at(const matrices *m, int64_t i) {
  const bool is_complex = m->copy.dtype == WEFT_COMPLEX128;
  const size_t at = (size_t)(i * m->rows * m->cols) * weft__dtype_size(m->copy.dtype);
  return (matrix){is_complex, m->rows, m->cols, m->copy.data ? (char *)m->copy.data + at : NULL};
}

/* ---- elements and rows ---- */

WEFT_TARGET_CLONES WEFT_FMA void weft__matrix_less_times(double *restrict y, const double *restrict x, double f,
                                                         int64_t n) {
  WEFT_FMA_BODY for (int64_t i = 0; i < n; i++) y[i] -= f * x[i];
}

static void less_complex(double complex *y, const double complex *x, double complex f, int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i] -= f * x[i];
}

void weft__matrix_less(const matrix *t, int64_t to, const matrix *s, int64_t from, double complex f, int64_t first) {
  const int64_t n = t->cols - first, at = to * t->cols + first, of = from * s->cols + first;
  if (f == 0) return;
  if (t->is_complex)
    less_complex((double complex *)t->data + at, (const double complex *)s->data + of, f, n);
  else
    weft__matrix_less_times((double *)t->data + at, (const double *)s->data + of, creal(f), n);
}

void weft__matrix_scale(const matrix *m, int64_t row, double complex f) {
  if (m->is_complex)
    for (int64_t j = 0; j < m->cols; j++) ((double complex *)m->data)[row * m->cols + j] *= f;
  else
    for (int64_t j = 0; j < m->cols; j++) ((double *)m->data)[row * m->cols + j] *= creal(f);
}

void weft__matrix_swap(const matrix *m, int64_t row, int64_t other) {
  if (row == other) return;
  const int64_t n = m->cols * (m->is_complex ? 2 : 1);
  double *x = (double *)m->data + row * n, *y = (double *)m->data + other * n;
  for (int64_t j = 0; j < n; j++) {
    const double kept = x[j];
    x[j] = y[j];
    y[j] = kept;
  }
}

WEFT_TARGET_CLONES WEFT_FMA static double dot_rows(const double *restrict x, const double *restrict y, int64_t n) {
  WEFT_FMA_BODY double part[4] = {0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int j = 0; j < 4; j++) part[j] += x[i + j] * y[i + j];
  for (; i < n; i++) part[0] += x[i] * y[i];
  return part[0] + part[1] + (part[2] + part[3]);
}

double complex weft__matrix_dot(const matrix *a, int64_t row, const matrix *b, int64_t other, int64_t first) {
  const int64_t n = a->cols - first, at = row * a->cols + first, of = other * b->cols + first;
  if (!a->is_complex) return dot_rows((const double *)a->data + at, (const double *)b->data + of, n);
  const double complex *x = (const double complex *)a->data + at, *y = (const double complex *)b->data + of;
  double complex sum = 0;
  for (int64_t i = 0; i < n; i++) sum += conj(x[i]) * y[i];
  return sum;
}

WEFT_TARGET_CLONES WEFT_FMA static void rotate_rows(double *restrict x, double *restrict y, double c, double s,
                                                    int64_t n) {
  WEFT_FMA_BODY for (int64_t i = 0; i < n; i++) {
    const double a = x[i], b = y[i];
    x[i] = c * a - s * b;
    y[i] = s * a + c * b;
  }
}

void weft__matrix_rotate(const matrix *m, int64_t i, int64_t j, double c, double s) {
  const int64_t n = m->cols * (m->is_complex ? 2 : 1);
  rotate_rows((double *)m->data + i * n, (double *)m->data + j * n, c, s, n);
}

void weft__matrix_transpose(const matrix *m, const matrix *t) {
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j < m->cols; j++) weft__matrix_set(t, j, i, weft__matrix_get(m, i, j));
}

void weft__matrix_identity(const matrix *m) {
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j < m->cols; j++) weft__matrix_set(m, i, j, i == j);
}

householder weft__matrix_reflection(const matrix *v, int64_t first) {
  const double complex own = weft__matrix_get(v, 0, first);
  double below = 0;
  for (int64_t j = first + 1; j < v->cols; j++) {
    const double complex x = weft__matrix_get(v, 0, j);
    below += creal(x) * creal(x) + cimag(x) * cimag(x);
  }
  weft__matrix_set(v, 0, first, 1);
  if (below <= DBL_MIN && cimag(own) == 0) { /* nothing to clear */
    for (int64_t j = first + 1; j < v->cols; j++) weft__matrix_set(v, 0, j, 0);
    return (householder){0, creal(own)};
  }
  const double length = sqrt(creal(own) * creal(own) + cimag(own) * cimag(own) + below);
  const double beta = creal(own) >= 0 ? -length : length;
  if (v->is_complex)
    for (int64_t j = first + 1; j < v->cols; j++) ((double complex *)v->data)[j] /= own - beta;
  else
    for (int64_t j = first + 1; j < v->cols; j++) ((double *)v->data)[j] /= creal(own) - beta;
  return (householder){conj((beta - own) / beta), beta};
}

void weft__matrix_adjoint(const matrix *m) {
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j <= i; j++) {
      const double complex low = weft__matrix_get(m, i, j);
      weft__matrix_set(m, i, j, conj(weft__matrix_get(m, j, i)));
      weft__matrix_set(m, j, i, conj(low));
    }
}

/* ---- functions that the ops share ---- */

weft_err weft__matrix_square(const kernel *k, int i) {
  const shape *s = &k->in[i]->shape;
  if (s->rank < 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input tensor %d must have rank >= 2, got %d", i, s->rank);
  if (s->dim[s->rank - 1] != s->dim[s->rank - 2])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input matrix must be square, got shape %s",
                             weft__shape_text(s));
  return WEFT_OK;
}

weft_err weft__matrix_infer_square(infer *s) {
  const shape *x = &s->in[0];
  if (x->rank < 0) return WEFT_OK;
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 2));
  const int64_t m = x->dim[x->rank - 2], n = x->dim[x->rank - 1];
  if (m >= 0 && n >= 0 && m != n)
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)m, (long long)n);
  s->out[0] = *x;
  s->out[0].dim[x->rank - 2] = s->out[0].dim[x->rank - 1] = m >= 0 ? m : n;
  return WEFT_OK;
}

int64_t weft__matrix_of(const shape *out, const shape *in, int64_t i) {
  int64_t index = 0, stride = 1;
  for (int d = out->rank - 3, e = in->rank - 3; e >= 0; i /= out->dim[d], d--, e--) {
    if (in->dim[e] != 1) index += i % out->dim[d] * stride;
    stride *= in->dim[e];
  }
  return index;
}

weft_out weft__b_matrix_product(weft_graph *g, weft_out x, weft_out y, bool adj_x, bool adj_y) {
  if (x.node >= 0 && weft__out_shape(g, x)->rank == 2 && weft__dtype_class(weft__out_type(g, x)) != CLASS_COMPLEX)
    return weft__b_matmul(g, x, y, adj_x, adj_y);
  return weft__b_node(g, "BatchMatMulV2", "MatMul", 2, (weft_out[]){x, y}, 2,
                      (attr[]){A_BOOL("adj_x", adj_x), A_BOOL("adj_y", adj_y)});
}

/* Returns all but the last two elements of the shape of x. */
static weft_out batch_dims(weft_graph *g, weft_out x) {
  const int64_t zero = 0, end = -2, one = 1;
  const weft_out in[] = {weft__b_shape(g, x), weft__b_ints(g, &zero, 1), weft__b_ints(g, &end, 1),
                         weft__b_ints(g, &one, 1)};
  return weft__b_node(g, "StridedSlice", NULL, 4, in, 0, NULL);
}

static bool same_batch(weft_graph *g, weft_out x, weft_out y) {
  shape a = *weft__out_shape(g, x), b = *weft__out_shape(g, y);
  if (a.rank < 2 || b.rank < 2) return false;
  a.rank -= 2;
  b.rank -= 2;
  return weft__shape_known(&a) && weft__shape_equal(&a, &b);
}

static weft_out matrix_fold(weft_graph *g, weft_out x, weft_out dx, weft_out axes) {
  return weft__b_reshape(g, weft__b_sum(g, dx, axes, false), weft__b_shape(g, x));
}

void weft__b_matrix_fold(weft_graph *g, weft_out x, weft_out y, weft_out *dx, weft_out *dy) {
  if (same_batch(g, x, y)) return;
  const weft_out axes = weft__b_binary(g, "BroadcastGradientArgs", batch_dims(g, x), batch_dims(g, y));
  *dx = matrix_fold(g, x, *dx, axes);
  *dy = matrix_fold(g, y, *dy, weft__b_slot(axes, 1));
}

weft_out weft__matrix_diag_node(weft_graph *g, weft_out e) {
  const weft_out any = weft__b_scalar(g, WEFT_INT32, -1);
  const weft_out in[] = {e, weft__b_scalar(g, WEFT_INT32, 0), any, any, weft__b_scalar_like(g, e, 0)};
  return weft__b_node(g, "MatrixDiagV3", NULL, 5, in, 0, NULL);
}
