/* csr_matrix.c - sparse matrices by compressed rows. */
#include "state/csr_matrix.h"

#include "base/alloc.h"
#include "base/cast.h"

static void csr_destroy(object *o) {
  csr_matrix *m = (csr_matrix *)o;
  weft__tensor_clear(&m->col);
  weft__tensor_clear(&m->values);
  weft__free(m->start);
  weft__free(m->row);
  weft__free(m);
}

weft_err weft__csr_create(csr_matrix **out, weft_dtype dtype, const shape *dense, int64_t count) {
  const int r = dense->rank;
  if (r != 2 && r != 3)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a sparse matrix has rank 2 or 3, but its dense shape is %s",
                      weft__shape_text(dense));
  if (dense->dim[r - 2] >= INT32_MAX || dense->dim[r - 1] > INT32_MAX || count > INT32_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a sparse matrix of shape %s with %lld elements is too large",
                      weft__shape_text(dense), (long long)count);
  csr_matrix *m = weft__alloc_zero(1, sizeof *m);
  if (!m) return WEFT_OOM;
  atomic_init(&m->base.base.refs, 1);
  m->base.base.destroy = csr_destroy;
  m->base.type = CSR_MATRIX_TYPE;
  m->dense = *dense;
  m->n = r == 3 ? dense->dim[0] : 1, m->rows = dense->dim[r - 2], m->cols = dense->dim[r - 1];
  m->start = weft__alloc_zero((size_t)m->n + 1, sizeof *m->start);
  m->row = weft__alloc_zero((size_t)(m->n * (m->rows + 1)) + 1, sizeof *m->row);
  weft_err err = m->start && m->row ? weft__tensor_init(&m->col, WEFT_INT32, &SHAPE1(count)) : WEFT_OOM;
  if (!err) err = weft__tensor_init(&m->values, dtype, &SHAPE1(count));
  if (err)
    weft__csr_release(m);
  else
    *out = m;
  return err;
}

weft_err weft__csr_get(const weft_tensor *t, csr_matrix **out) {
  return weft__variant_get(t, CSR_MATRIX_TYPE, (resource **)out);
}

double complex weft__csr_value(const weft_tensor *t, int64_t i) {
  switch (t->dtype) {
  case WEFT_FLOAT: return (double)TENSOR_DATA(t, float)[i];
  case WEFT_DOUBLE: return TENSOR_DATA(t, double)[i];
  case WEFT_COMPLEX64: return TENSOR_DATA(t, float)[2 * i] + TENSOR_DATA(t, float)[2 * i + 1] * (double complex)I;
  default: return TENSOR_DATA(t, double)[2 * i] + TENSOR_DATA(t, double)[2 * i + 1] * (double complex)I;
  }
}

void weft__csr_put(weft_tensor *t, int64_t i, double complex v) {
  switch (t->dtype) {
  case WEFT_FLOAT: TENSOR_DATA(t, float)[i] = (float)creal(v); break;
  case WEFT_DOUBLE: TENSOR_DATA(t, double)[i] = creal(v); break;
  case WEFT_COMPLEX64:
    TENSOR_DATA(t, float)[2 * i] = (float)creal(v);
    TENSOR_DATA(t, float)[2 * i + 1] = (float)cimag(v);
    break;
  default: TENSOR_DATA(t, double)[2 * i] = creal(v); TENSOR_DATA(t, double)[2 * i + 1] = cimag(v);
  }
}

/* Transposes matrix b; next has room for a number per column. */
static void transpose_one(csr_matrix *to, const csr_matrix *m, int64_t b, bool conjugate, int32_t *next) {
  const int32_t *row = m->row + b * (m->rows + 1), *col = TENSOR_DATA(&m->col, int32_t);
  int32_t *made = to->row + b * (m->cols + 1);
  for (int64_t i = m->start[b]; i < m->start[b + 1]; i++) made[col[i] + 1]++;
  for (int64_t c = 0; c < m->cols; c++) {
    made[c + 1] += made[c];
    next[c] = made[c];
  }
  for (int64_t r = 0; r < m->rows; r++)
    for (int64_t i = m->start[b] + row[r]; i < m->start[b] + row[r + 1]; i++) {
      const int64_t at = m->start[b] + next[col[i]]++;
      const double complex v = weft__csr_value(&m->values, i);
      TENSOR_DATA(&to->col, int32_t)[at] = (int32_t)r;
      weft__csr_put(&to->values, at, conjugate ? conj(v) : v);
    }
}

weft_err weft__csr_transpose(csr_matrix **out, const csr_matrix *m, bool conjugate) {
  shape s = m->dense;
  s.dim[s.rank - 2] = m->cols, s.dim[s.rank - 1] = m->rows;
  csr_matrix *to = NULL;
  WEFT_TRY(weft__csr_create(&to, m->values.dtype, &s, weft__tensor_count(&m->values)));
  int32_t *next = weft__alloc((size_t)(m->cols + 1) * sizeof *next);
  if (!next) {
    weft__csr_release(to);
    return WEFT_OOM;
  }
  memcpy(to->start, m->start, sizeof *to->start * (size_t)(m->n + 1));
  for (int64_t b = 0; b < m->n; b++) transpose_one(to, m, b, conjugate, next);
  weft__free(next);
  *out = to;
  return WEFT_OK;
}
