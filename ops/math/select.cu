/* select.cu - Select, SelectV2 and ClipByValue on the GPU. */
#include "kernels/elementwise/elementwise.cuh"

namespace {
struct choose {
  template <class T> __device__ T operator()(bool c, T x, T y) const { return c ? x : y; }
};
struct clip {
  template <class A> __device__ A operator()(A x, A low, A high) const {
    const A y = x < low ? low : x;
    return high < y ? high : y;
  }
};
} // namespace

static weft_err select_from(kernel *k, const gpu_tensor &cond, const shape &s) {
  const gpu_tensor in[3] = {cond, gpu_in(k, 1), gpu_in(k, 2)};
  gpu_tensor z;
  WEFT_TRY(gpu_out_over(k, 0, in[1].count == gpu_span(s, 0, s.rank) ? 1 : 2, s, &z));
  return gpu_moved(k, z.dtype, [&](auto t) {
    using T = decltype(t);
    return gpu_each_into<T, bool, T, 3>(k, choose(), z, in);
  });
}

static weft_err select_v2_gpu(kernel *k) {
  const gpu_tensor in[3] = {gpu_in(k, 0), gpu_in(k, 1), gpu_in(k, 2)};
  shape s;
  WEFT_TRY(gpu_broadcast(k, 3, in, &s));
  return select_from(k, in[0], s);
}

/* The condition of Select is a scalar, a vector along the first axis, or has the shape of the values. */
static weft_err select_gpu(kernel *k) {
  gpu_tensor c = gpu_in(k, 0);
  const gpu_tensor x = gpu_in(k, 1), y = gpu_in(k, 2);
  if (!gpu_same_shape(x.shape, y.shape) || (c.shape.rank > 1 && !gpu_same_shape(c.shape, x.shape)))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT,
                    "Inputs to an operation of type Select must have the same size and shape.");
  if (c.shape.rank == 1 && !gpu_same_shape(c.shape, x.shape)) {
    if (x.shape.rank < 1 || x.shape.dim[0] != c.shape.dim[0])
      return gpu_fail(k, WEFT_INVALID_ARGUMENT,
                      "Number of batches of 'then' must match size of 'cond', but saw: %lld vs. %lld",
                      (long long)(x.shape.rank < 1 ? 0 : x.shape.dim[0]), (long long)c.shape.dim[0]);
    for (; c.shape.rank < x.shape.rank; c.shape.rank++) c.shape.dim[c.shape.rank] = 1;
  }
  return select_from(k, c, x.shape);
}

static weft_err clip_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  gpu_tensor in[3] = {x, gpu_in(k, 1), gpu_in(k, 2)}, z;
  for (int i = 1; i < 3; i++)
    if (in[i].count != 1 && !gpu_same_shape(in[i].shape, x.shape))
      return gpu_fail(k, WEFT_INVALID_ARGUMENT,
                      "clip_value_min and clip_value_max must be either of the same shape as "
                      "input, or a scalar.");
  WEFT_TRY(gpu_out_over(k, 0, 0, x.shape, &z));
  return gpu_wide_numbers(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    return gpu_each_into<T, T, T, 3>(k, clip(), z, in);
  });
}

GPU_OPS(select) = {
    {"Select", select_gpu, GPU_PLAIN},
    {"SelectV2", select_v2_gpu, GPU_PLAIN},
    {"ClipByValue", clip_gpu, GPU_NUMBERS},
    {0},
};
