/* widen.c - converts arrays of half and bfloat16 to float and back. */
#include "kernels/simd/widen.h"

#include "base/target_clones.h"
#include "kernels/simd/vmath.h"

WEFT_TARGET_CLONES static void from_half(float *restrict dst, const uint16_t *restrict src, int64_t n) {
  for (int64_t i = 0; i < n; i++) dst[i] = vfrom_half(src[i]);
}

WEFT_TARGET_CLONES static void from_bfloat16(float *restrict dst, const uint16_t *restrict src, int64_t n) {
  for (int64_t i = 0; i < n; i++) dst[i] = vfrom_bfloat16(src[i]);
}

WEFT_TARGET_CLONES static void to_half(uint16_t *restrict dst, const float *restrict src, int64_t n) {
  for (int64_t i = 0; i < n; i++) dst[i] = vto_half(src[i]);
}

WEFT_TARGET_CLONES static void to_bfloat16(uint16_t *restrict dst, const float *restrict src, int64_t n) {
  for (int64_t i = 0; i < n; i++) dst[i] = vto_bfloat16(src[i]);
}

void weft__widen(float *dst, const uint16_t *src, int64_t n, weft_dtype from) {
  (from == WEFT_HALF ? from_half : from_bfloat16)(dst, src, n);
}

void weft__narrow(uint16_t *dst, const float *src, int64_t n, weft_dtype to) {
  (to == WEFT_HALF ? to_half : to_bfloat16)(dst, src, n);
}

weft_err weft__widened_load(widened *w, const weft_tensor *t) {
  if (t->dtype == WEFT_FLOAT) {
    w->data = t->data;
    return WEFT_OK;
  }
  WEFT_TRY(weft__tensor_init(&w->scratch, WEFT_FLOAT, &t->shape));
  w->data = w->scratch.data;
  weft__widen(w->data, t->data, weft__tensor_count(t), t->dtype);
  return WEFT_OK;
}

weft_err weft__widened_output(widened *w, weft_tensor *t) {
  if (t->dtype == WEFT_FLOAT) {
    w->data = t->data;
    return WEFT_OK;
  }
  WEFT_TRY(weft__tensor_init(&w->scratch, WEFT_FLOAT, &t->shape));
  w->data = w->scratch.data;
  return WEFT_OK;
}

void weft__widened_store(const widened *w, weft_tensor *t) {
  if (t->dtype != WEFT_FLOAT) weft__narrow(t->data, w->data, weft__tensor_count(t), t->dtype);
}

void weft__widened_finish(widened *w) { weft__tensor_clear(&w->scratch); }
