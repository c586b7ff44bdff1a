/* tensor.c - tensors inside structs and on the heap, and small tensors for ops. */
#include "tensor/tensor.h"
#include "base/alloc.h"
#include "base/cast.h"
#include "base/memory_limit.h"
#include <string.h>

/* ---- embedded ---- */

weft_err weft__tensor_init(weft_tensor *t, weft_dtype dtype, const shape *s) {
  return weft__tensor_init_in(t, NULL, dtype, s);
}

weft_err weft__tensor_init_in(weft_tensor *t, memory_space *m, weft_dtype dtype, const shape *s) {
  int64_t count = weft__shape_count(s);
  buffer *buf = NULL;
  memset(t, 0, sizeof *t);
  if (count == -1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "A tensor of the partly unknown shape %s", weft__shape_text(s));
  if (count == -2)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Shape %s %s: too many", weft__shape_text(s), weft__shape_excess(s));
  weft_err err = m ? m->alloc(m, &buf, dtype, count) : weft__buffer_create(&buf, dtype, count);
  if (err == WEFT_RESOURCE_EXHAUSTED && !m)
    return weft__fail(err, "OOM when allocating tensor with shape%s and type %s%s", weft__shape_text(s),
                      weft__dtype_short(dtype), weft__memory_limit_text());
  if (err != WEFT_OK) return err;
  t->dtype = weft__dtype_base(dtype);
  t->shape = *s;
  t->buf = buf;
  t->data = buf->data;
  return WEFT_OK;
}

void weft__tensor_share(weft_tensor *dst, const weft_tensor *src) {
  dst->dtype = src->dtype;
  dst->shape = src->shape;
  dst->buf = src->buf;
  dst->data = src->data;
  if (src->buf) weft__buffer_retain(src->buf);
}

weft_err weft__tensor_clone(weft_tensor *dst, const weft_tensor *src) {
  weft_tensor made;
  memory_space *m = src->buf ? src->buf->memory : NULL;
  WEFT_TRY(weft__tensor_init_in(&made, m, src->dtype, &src->shape));
  weft_err err = m ? m->copy(m, made.data, src->data, weft__tensor_bytes(src))
                   : weft__elements_copy(src->dtype, made.data, src->data, weft__tensor_count(src));
  if (err == WEFT_OK) weft__tensor_share(dst, &made);
  weft__tensor_clear(&made);
  return err;
}

weft_err weft__tensor_copy(weft_tensor *dst, const weft_tensor *src) {
  const size_t bytes = weft__tensor_bytes(src);
  memory_space *m = dst->buf->memory;
  WEFT_ASSERT(weft__tensor_bytes(dst) == bytes);
  WEFT_ASSERT(weft__dtype_is_plain(dst->dtype));
  if (m) return m->copy(m, dst->data, src->data, bytes);
  memcpy(dst->data, src->data, bytes);
  return WEFT_OK;
}

weft_err weft__tensor_keep(weft_tensor *dst, const weft_tensor *src) {
  if (src->buf && src->buf->transient) return weft__tensor_clone(dst, src);
  weft__tensor_share(dst, src);
  return WEFT_OK;
}

void weft__tensor_clear(weft_tensor *t) {
  buffer *buf = t->buf;
  t->buf = NULL;
  t->data = NULL;
  weft__buffer_release(buf);
}

/* ---- heap ---- */

static weft_tensor *tensor_header_create(void) {
  weft_tensor *t = weft__alloc_zero(1, sizeof *t);
  if (t) atomic_init(&t->refs, 1);
  return t;
}

weft_err weft__tensor_create(weft_tensor **out, weft_dtype dtype, const shape *s) {
  weft_tensor made;
  *out = NULL;
  WEFT_TRY(weft__tensor_init(&made, dtype, s));
  weft_tensor *t = tensor_header_create();
  if (t) weft__tensor_share(t, &made);
  weft__tensor_clear(&made);
  *out = t;
  return t ? WEFT_OK : WEFT_RESOURCE_EXHAUSTED;
}

weft_err weft__tensor_create_like(weft_tensor **out, const weft_tensor *src) {
  *out = NULL;
  weft_tensor *t = tensor_header_create();
  if (!t) return WEFT_RESOURCE_EXHAUSTED;
  weft_err err = weft__tensor_keep(t, src);
  if (err == WEFT_OK)
    *out = t;
  else
    weft__free(t);
  return err;
}

weft_tensor *weft_tensor_retain(weft_tensor *t) {
  const int before = t ? atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed) : 1;
  WEFT_ASSERT(before > 0);
  (void)before;
  return t;
}

void weft_tensor_destroy(weft_tensor *t) {
  if (!t) return;
  const int before = atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel);
  WEFT_ASSERT(before > 0);
  if (before != 1) return;
  weft__tensor_clear(t);
  weft__free(t);
}

/* ---- numbers in and out ---- */

/* Types that C converts to double and back. */
/* clang-format off */
#define NUMBERS(X) \
  X(FLOAT, float) \
  X(DOUBLE, double) \
  X(INT8, int8_t) \
  X(INT16, int16_t) \
  X(INT32, int32_t) \
  X(INT64, int64_t) \
  X(UINT8, uint8_t) \
  X(UINT16, uint16_t) \
  X(UINT32, uint32_t) \
  X(UINT64, uint64_t) \
  X(QINT8, int8_t) \
  X(QUINT8, uint8_t) \
  X(QINT16, int16_t) \
  X(QUINT16, uint16_t) \
  X(QINT32, int32_t)
/* clang-format on */

/* Stores the smallest value of an integer type and the first one that is too large; returns false for other types. */
static bool dtype_integer_range(weft_dtype dtype, double *least, double *end) {
  switch (dtype) {
  case WEFT_INT8:
  case WEFT_QINT8: *least = -0x1p7, *end = 0x1p7; return true;
  case WEFT_INT16:
  case WEFT_QINT16: *least = -0x1p15, *end = 0x1p15; return true;
  case WEFT_INT32:
  case WEFT_QINT32: *least = -0x1p31, *end = 0x1p31; return true;
  case WEFT_INT64: *least = -0x1p63, *end = 0x1p63; return true;
  case WEFT_UINT8:
  case WEFT_QUINT8: *least = 0, *end = 0x1p8; return true;
  case WEFT_UINT16:
  case WEFT_QUINT16: *least = 0, *end = 0x1p16; return true;
  case WEFT_UINT32: *least = 0, *end = 0x1p32; return true;
  case WEFT_UINT64: *least = 0, *end = 0x1p64; return true;
  default: return false;
  }
}

static weft_err element_store(void *at, weft_dtype dtype, double value) {
  double least, end;
  if (dtype_integer_range(dtype, &least, &end) && !(value >= least && value < end))
    return weft__fail(WEFT_INVALID_ARGUMENT, "%.17g is out of range for %s", value, weft__dtype_name(dtype));
  switch (dtype) {
#define STORE(type, T)                                                                                                 \
  case WEFT_##type: *(T *)at = (T)value; return WEFT_OK;
    NUMBERS(STORE)
#undef STORE
  case WEFT_BOOL: *(bool *)at = value != 0; return WEFT_OK;
  case WEFT_HALF: *(uint16_t *)at = weft__half_from_float((float)value); return WEFT_OK;
  case WEFT_BFLOAT16: *(uint16_t *)at = weft__bfloat16_from_float((float)value); return WEFT_OK;
  case WEFT_COMPLEX64: *(float complex *)at = (float)value; return WEFT_OK;
  case WEFT_COMPLEX128: *(double complex *)at = value; return WEFT_OK;
  default: return weft__fail(WEFT_INVALID_ARGUMENT, "No number can be stored as %s", weft__dtype_name(dtype));
  }
}

double weft__tensor_double(const weft_tensor *t, int64_t i) {
  switch (t->dtype) {
#define LOAD(type, T)                                                                                                  \
  case WEFT_##type: return (double)TENSOR_DATA(t, T)[i];
    NUMBERS(LOAD)
#undef LOAD
  case WEFT_BOOL: return TENSOR_DATA(t, bool)[i];
  case WEFT_HALF: return (double)weft__half_to_float(TENSOR_DATA(t, uint16_t)[i]);
  case WEFT_BFLOAT16: return (double)weft__bfloat16_to_float(TENSOR_DATA(t, uint16_t)[i]);
  case WEFT_COMPLEX64: return (double)crealf(TENSOR_DATA(t, float complex)[i]);
  case WEFT_COMPLEX128: return creal(TENSOR_DATA(t, double complex)[i]);
  default: return 0;
  }
}

int64_t weft__tensor_int(const weft_tensor *t, int64_t i) {
  switch (t->dtype) {
#define LOAD(type, T)                                                                                                  \
  case WEFT_##type: return (int64_t)TENSOR_DATA(t, T)[i];
    NUMBERS(LOAD)
#undef LOAD
  default: return (int64_t)weft__tensor_double(t, i);
  }
}

weft_err weft__tensor_scalar(weft_tensor **out, weft_dtype dtype, double value) {
  WEFT_TRY(weft__tensor_create(out, dtype, &SHAPE_SCALAR));
  weft_err err = element_store((*out)->data, (*out)->dtype, value);
  if (err == WEFT_OK) return err;
  weft_tensor_destroy(*out);
  *out = NULL;
  return err;
}

weft_err weft__tensor_string(weft_tensor **out, const char *data, size_t size) {
  WEFT_TRY(weft__tensor_create(out, WEFT_STRING, &SHAPE_SCALAR));
  weft_err err = weft__str_set((*out)->data, data, size);
  if (err == WEFT_OK) return err;
  weft_tensor_destroy(*out);
  *out = NULL;
  return err;
}

weft_err weft__tensor_ints(weft_tensor **out, weft_dtype dtype, const int64_t *v, int n) {
  *out = NULL;
  if (dtype != WEFT_INT32 && dtype != WEFT_INT64)
    return weft__fail(WEFT_INVALID_ARGUMENT, "A list of integers of type %s, want int32 or int64",
                      weft__dtype_name(dtype));
  for (int i = 0; dtype == WEFT_INT32 && i < n; i++)
    if (!weft__fits_int(v[i]))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Element %d of a list is %lld, out of range for int32", i,
                        (long long)v[i]);
  WEFT_TRY(weft__tensor_create(out, dtype, &SHAPE1(n)));
  for (int i = 0; i < n; i++) {
    if (dtype == WEFT_INT32)
      TENSOR_DATA(*out, int32_t)[i] = weft__int_sat(v[i]);
    else
      TENSOR_DATA(*out, int64_t)[i] = v[i];
  }
  return WEFT_OK;
}

weft_err weft__tensor_dims(weft_tensor **out, const int64_t *v, int n) {
  bool wide = false;
  for (int i = 0; i < n; i++) wide |= !weft__fits_int(v[i]);
  return weft__tensor_ints(out, wide ? WEFT_INT64 : WEFT_INT32, v, n);
}
