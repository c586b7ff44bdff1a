/* conv.cuh - a convolution on the GPU or one of its gradients, for its implementations: ops/nn/conv.cu and conv3d.cu,
 * and cuDNN. */
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

/* A convolution over images or volumes whose channels are last, as cuDNN sees it.  All of `n` to `before` is
 * compared as bytes; axes beyond `axes` are 0. */
struct conv_shape {
  int64_t way, type, axes, n, channels, filters;
  int64_t in[3], out[3], size[3], stride[3], dilation[3], before[3];
};
struct conv_data {
  void *x, *filter, *y; /* one of them is the result */
};
/* Another way to compute it: run(k, conv). */
struct conv_other {
  weft_err (*run)(kernel *k, void *conv);
  void *conv;
};

/* Computes it with cuDNN if cuDNN can and is faster than `other`; *done is false if it did nothing.  (conv_cudnn.cu) */
weft_err gpu_cudnn_conv(kernel *k, const conv_shape &c, const conv_data &at, const conv_other &other, bool *done);
