/* widen.h - half and bfloat16 by way of float: an input widened before a kernel, a result narrowed after.
 *
 * A kernel of this folder is written for float (and double).  For the 16-bit types it is given
 * float copies; a float tensor is used where it lies.  A `wide` starts as {0} and is finished on
 * every path. */
#ifndef WEFT_KERNELS_SIMD_WIDEN_H
#define WEFT_KERNELS_SIMD_WIDEN_H

#include "graph/kernel.h"

typedef struct widened {
  weft_tensor scratch; /* empty when the tensor is float already */
  float *data;
} widened;

static inline bool weft__is_16bit(weft_dtype t) { return t == WEFT_HALF || t == WEFT_BFLOAT16; }

/* w->data: the elements of t (float, half or bfloat16) as floats, to be read. */
weft_err weft__widened_load(widened *w, const weft_tensor *t);
/* w->data: where the floats meant for t are to be written. */
weft_err weft__widened_output(widened *w, weft_tensor *t);
/* Puts what was written into t. */
void weft__widened_store(const widened *w, weft_tensor *t);
void weft__widened_finish(widened *w);

/* Plain runs of elements, for kernels that convert as they go. */
void weft__widen(float *dst, const uint16_t *src, int64_t n, weft_dtype from);
void weft__narrow(uint16_t *dst, const float *src, int64_t n, weft_dtype to);

#endif
