/* widen.h - runs float kernels on half and bfloat16: inputs are widened before, and results narrowed after.
 *
 * The kernels are written for float (and double).  For the 16-bit types they get float copies; a float tensor is
 * used in place.  A `widened` starts as {0}, and weft__widened_finish frees it, also after an error. */
#ifndef WEFT_KERNELS_SIMD_WIDEN_H
#define WEFT_KERNELS_SIMD_WIDEN_H

#include "graph/kernel.h"

typedef struct widened {
  weft_tensor scratch; /* empty when the tensor is float already */
  float *data;
} widened;

static inline bool weft__is_16bit(weft_dtype t) { return t == WEFT_HALF || t == WEFT_BFLOAT16; }

/* Sets w->data to the elements of t (float, half or bfloat16) as floats, for reading.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__widened_load(widened *w, const weft_tensor *t);
/* Sets w->data to memory for the floats that weft__widened_store converts to t.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__widened_output(widened *w, weft_tensor *t);
/* Converts the floats that were written and stores them in t. */
void weft__widened_store(const widened *w, weft_tensor *t);
void weft__widened_finish(widened *w);

/* Convert n elements, for kernels that convert block by block. */
void weft__widen(float *dst, const uint16_t *src, int64_t n, weft_dtype from);
void weft__narrow(uint16_t *dst, const float *src, int64_t n, weft_dtype to);

#endif
