/* bias.cu - BiasAdd on the GPU, and its gradient, the sum over all axes but the channels. */
#include "kernels/reduce/reduce.cuh"

BINARY(bias_add, x + y)

static bool bias_channels_second(const kernel *k) { return weft__gpu->attr_is(k, "data_format", "NCHW"); }

static weft_err bias_add_gpu(kernel *k) {
  gpu_tensor in[2] = {gpu_in(k, 0), gpu_in(k, 1)}, y;
  const shape &s = in[0].shape;
  if (s.rank < 2) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Input tensor must be at least 2D");
  if (in[1].shape.rank != 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Biases must be 1D");
  const int channel = bias_channels_second(k) ? 1 : s.rank - 1;
  if (in[1].shape.dim[0] != s.dim[channel])
    return gpu_fail(k, WEFT_INVALID_ARGUMENT,
                    "Must provide as many biases as the channel dimension of the input tensor: %lld vs. %lld",
                    (long long)in[1].shape.dim[0], (long long)s.dim[channel]);
  shape *b = &in[1].shape; /* with ones after the channels, so that it broadcasts */
  for (int d = channel + 1; d < s.rank; d++) b->dim[b->rank++] = 1;
  WEFT_TRY(gpu_out_over(k, 0, 0, s, &y));
  return gpu_wide_numbers(k, y.dtype, [&](auto t) {
    using T = decltype(t);
    return gpu_each_into<T, T, T, 2>(k, bias_add(), y, in);
  });
}

static weft_err bias_grad_gpu(kernel *k) {
  const gpu_tensor dy = gpu_in(k, 0);
  gpu_tensor db;
  if (dy.shape.rank < 2) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Input tensor must be at least 2D");
  const int channel = bias_channels_second(k) ? 1 : dy.shape.rank - 1;
  WEFT_TRY(gpu_out(k, 0, gpu_shape(1, &dy.shape.dim[channel]), &db));
  const uint32_t mask = ((1u << dy.shape.rank) - 1) & ~(1u << channel);
  return gpu_wide_numbers(k, dy.dtype, [&](auto t) { return gpu_fold_as<decltype(t)>(k, fold_sum(), dy, mask, db); });
}

GPU_OPS(bias) = {
    {"BiasAdd", bias_add_gpu, GPU_NUMBERS},
    {"BiasAddV1", bias_add_gpu, GPU_NUMBERS},
    {"BiasAddGrad", bias_grad_gpu, GPU_NUMBERS},
    {0},
};
