/* conv.cuh - a convolution on the GPU or one of its gradients, for its two implementations: ops/nn/conv.cu and
 * cuDNN. */
#pragma once

#include "kernels/conv/image.cuh"

enum conv_way { CONV_FORWARD, CONV_TO_INPUT, CONV_TO_FILTER };
struct conv {
  image in, out; /* of the whole batch; channels of out are the filters */
  gpu_window w;
  int64_t groups, depth; /* channels that one filter sees */
  weft_dtype type;
  conv_way way;
  void *x, *filter, *y; /* one of them is the result; gradients have y with its channels last */
  mutable void *room;   /* scratch for rows, once there is some */
};
typedef weft_err conv_fn(kernel *k, const conv &c);

/* Runs it with cuDNN if cuDNN can and is faster than `other`; *done is false if it did nothing.  (conv_cudnn.cu) */
weft_err gpu_cudnn_conv(kernel *k, const conv &c, conv_fn *other, bool *done);
