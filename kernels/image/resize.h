/* resize.h - shape rules and the scale of an axis, for the ops that resize images.
 *
 * Images are (batch, height, width, channels).  The functions keep no state; any thread may call them. */
#ifndef WEFT_KERNELS_IMAGE_RESIZE_H
#define WEFT_KERNELS_IMAGE_RESIZE_H

#include "graph/op.h"

/* images (b, h, w, c), size (2) -> (b, size[0], size[1], c).  Further inputs must be vectors. */
weft_err weft__resize_infer(infer *s);
/* grads (b, h, w, c), original images (b, h0, w0, c) -> (b, h0, w0, c). */
weft_err weft__resize_grad_infer(infer *s);

/* Returns how many source pixels correspond to one result pixel, on one axis. */
static inline float weft__resize_scale(int64_t in, int64_t out, bool align_corners) {
  return align_corners && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
}

#endif
