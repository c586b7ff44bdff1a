/* channel_layout.h - converts images from NCHW (channels second) to NHWC (channels last), and back. */
#ifndef WEFT_KERNELS_CONV_CHANNEL_LAYOUT_H
#define WEFT_KERNELS_CONV_CHANNEL_LAYOUT_H

#include "kernels/simd/widen.h"

/* Transposes (n, channels, pixels) to (n, pixels, channels).  With channels and pixels exchanged it is the inverse. */
void weft__channel_layout_transpose(kernel *k, float *dst, const float *src, int64_t n, int64_t channels,
                                    int64_t pixels);

/* An image tensor of four axes as floats in NHWC.  It is widened and transposed only if needed. */
typedef struct image_view {
  widened wide;
  weft_tensor transposed;
  float *data; /* (batch, height, width, channels) */
} image_view;  /* {0} at first; weft__image_view_finish frees it, also after an error */

/* weft__image_view_in makes a view to read t, weft__image_view_out one whose data is not initialized, for an output:
 * weft__image_view_store then writes the data to t.  A view borrows t.  RESOURCE_EXHAUSTED: no memory for a copy. */
weft_err weft__image_view_in(kernel *k, image_view *v, const weft_tensor *t, bool channels_second);
weft_err weft__image_view_out(kernel *k, image_view *v, weft_tensor *t, bool channels_second);
void weft__image_view_store(kernel *k, image_view *v, weft_tensor *t, bool channels_second);
void weft__image_view_finish(image_view *v);

#endif
