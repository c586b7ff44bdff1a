/* fill.cu - tensors of equal elements and arithmetic sequences on the GPU: Fill, ZerosLike, OnesLike, Range,
 * LinSpace. */
#include "kernels/elementwise/elementwise.cuh"

namespace {
struct same {
  template <class T> __device__ T operator()(T x) const { return x; }
};
} // namespace

static weft_err fill_gpu(kernel *k) {
  const gpu_tensor value = gpu_in(k, 1);
  gpu_tensor z;
  shape s;
  if (gpu_in(k, 0).shape.rank > 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "dims must represent a vector");
  if (value.count != 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "value must represent a scalar");
  WEFT_TRY(gpu_dims(k, 0, &s));
  WEFT_TRY(gpu_out(k, 0, s, &z));
  return gpu_moved(k, z.dtype, [&](auto t) {
    using T = decltype(t);
    return gpu_each_into<T, T, T, 1>(k, same(), z, &value);
  });
}

static weft_err zeros_like_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  gpu_tensor z;
  WEFT_TRY(gpu_out(k, 0, x.shape, &z));
  if (z.count) cudaMemsetAsync(z.data, 0, (size_t)z.count * gpu_size(z.dtype), gpu_stream(k));
  return gpu_launched(k);
}

template <class T> __global__ void ones_kernel(T *z, int64_t n) { GPU_EACH(i, n) z[i] = (T)1.0f; }

static weft_err ones_like_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  gpu_tensor z;
  WEFT_TRY(gpu_out(k, 0, x.shape, &z));
  if (z.count == 0) return WEFT_OK;
  const auto ones = [&](auto t) {
    using T = decltype(t);
    ones_kernel<<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>((T *)z.data, z.count);
    return gpu_launched(k);
  };
  return z.dtype == WEFT_BOOL ? ones(bool()) : gpu_numbers(k, z.dtype, ones);
}

/* Sets element i to start + i * delta, computed in the element type. */
template <class T> __global__ void range_kernel(T *z, int64_t n, wide<T> start, wide<T> delta) {
  GPU_EACH(i, n) z[i] = (T)(start + (wide<T>)i * delta);
}

static double fill_number(const gpu_tensor &t) {
  switch (t.dtype) {
  case WEFT_FLOAT: return *(const float *)t.data;
  case WEFT_DOUBLE: return *(const double *)t.data;
  default: return (double)gpu_int(t, 0);
  }
}

static weft_err range_gpu(kernel *k) {
  gpu_tensor in[3], z;
  for (int i = 0; i < 3; i++) {
    in[i] = gpu_in(k, i);
    if (in[i].shape.rank != 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "argument %d of Range must be a scalar", i);
  }
  const double start = fill_number(in[0]), limit = fill_number(in[1]), delta = fill_number(in[2]);
  if (delta == 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Requires delta != 0: 0");
  if (delta > 0 ? start > limit : start < limit)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Requires start %s limit when delta %s 0: %g/%g",
                    delta > 0 ? "<=" : ">=", delta > 0 ? ">" : "<", start, limit);
  const int64_t n = (int64_t)ceil(fabs((limit - start) / delta));
  WEFT_TRY(gpu_out(k, 0, gpu_shape(1, &n), &z));
  if (n == 0) return WEFT_OK;
  return gpu_numbers(k, z.dtype, [&](auto t) {
    using T = decltype(t);
    using A = wide<T>;
    range_kernel<T><<<gpu_blocks(n), GPU_THREADS, 0, gpu_stream(k)>>>((T *)z.data, n, (A)start, (A)delta);
    return gpu_launched(k);
  });
}

GPU_OPS(fill) = {
    {"Fill", fill_gpu, GPU_PLAIN, "dims"},
    {"ZerosLike", zeros_like_gpu, GPU_PLAIN},
    {"OnesLike", ones_like_gpu, GPU_NUMBERS | GPU_BOOL},
    {"Range", range_gpu, GPU_INDICES | GPU_TYPE(WEFT_FLOAT) | GPU_TYPE(WEFT_DOUBLE), "start limit delta"},
    {0},
};
