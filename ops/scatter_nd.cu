/* scatter_nd.cu - slices added at indices of several axes on the GPU: ScatterNd, TensorScatterAdd, TensorScatterSub.
 *
 * Additions are atomic: floats that fall on one place add up in any order, and a slice whose index is out of range is
 * left out, as in TensorFlow on a GPU. */
#include "ops/elementwise.cuh"

struct put_args {
  int64_t depth, inner, count, dim[WEFT_MAX_RANK];
  bool negative;
};

__device__ inline void add_at(float *z, float v) { atomicAdd(z, v); }
__device__ inline void add_at(double *z, double v) { atomicAdd(z, v); }
__device__ inline void add_at(int32_t *z, int32_t v) { atomicAdd(z, v); }
__device__ inline void add_at(int64_t *z, int64_t v) { atomicAdd((unsigned long long *)z, (unsigned long long)v); }

template <class T, class I> __global__ void put_kernel(T *z, const T *x, const I *indices, const put_args a) {
  GPU_EACH(i, a.count) {
    const int64_t row = i / a.inner;
    int64_t at = 0;
    bool inside = true;
    for (int64_t d = 0; d < a.depth; d++) {
      const int64_t index = (int64_t)indices[row * a.depth + d];
      inside = inside && index >= 0 && index < a.dim[d];
      at = at * a.dim[d] + index;
    }
    if (inside) add_at(z + at * a.inner + (i - row * a.inner), a.negative ? -x[i] : x[i]);
  }
}

/* Do indices (rows..., depth) and updates (rows..., slice...) fit the target? */
static weft_err fits(kernel *k, const shape &target, const shape &i, const shape &u) {
  if (i.rank < 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Indices shape must have rank at least one.");
  if (u.rank < 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Updates shape must have rank at least one.");
  if (gpu_span(target, 0, target.rank) == 0 && (gpu_span(i, 0, i.rank) > 0 || gpu_span(u, 0, u.rank) > 0))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Indices and updates specified for empty output.");
  const int outer = i.rank - 1;
  const int64_t depth = i.dim[outer];
  bool fit = depth <= target.rank && u.rank - outer == target.rank - depth;
  for (int d = 0; fit && d < u.rank; d++) fit = u.dim[d] == (d < outer ? i.dim[d] : target.dim[d - outer + depth]);
  return fit ? WEFT_OK : gpu_fail(k, WEFT_INVALID_ARGUMENT, "indices and updates do not fit the shape scattered to");
}

static weft_err put(kernel *k, const gpu_tensor &z, const gpu_tensor &indices, const gpu_tensor &x, bool negative) {
  put_args a = {indices.shape.dim[indices.shape.rank - 1]};
  a.negative = negative;
  a.inner = gpu_span(z.shape, (int)a.depth, z.shape.rank);
  a.count = x.count;
  for (int d = 0; d < a.depth; d++) a.dim[d] = z.shape.dim[d];
  if (x.count == 0) return gpu_launched(k);
  const auto launch = [&](auto t) {
    using T = decltype(t);
    return gpu_indices(k, indices.dtype, [&](auto index) {
      using I = decltype(index);
      put_kernel<<<gpu_blocks(x.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<T>(z), gpu_data<const T>(x),
                                                                         gpu_data<const I>(indices), a);
      return gpu_launched(k);
    });
  };
  switch (z.dtype) {
  case WEFT_FLOAT: return launch(float());
  case WEFT_DOUBLE: return launch(double());
  case WEFT_INT32: return launch(int32_t());
  case WEFT_INT64: return launch(int64_t());
  default: return gpu_no_type(k, z.dtype);
  }
}

static weft_err scatter_gpu(kernel *k) {
  const gpu_tensor indices = gpu_in(k, 0), x = gpu_in(k, 1);
  gpu_tensor z;
  shape s;
  WEFT_TRY(gpu_dims(k, 2, &s));
  WEFT_TRY(fits(k, s, indices.shape, x.shape));
  WEFT_TRY(gpu_out(k, 0, s, &z));
  cudaMemsetAsync(z.data, 0, (size_t)z.count * gpu_size(z.dtype), gpu_stream(k));
  return put(k, z, indices, x, false);
}

template <bool negative> static weft_err update_gpu(kernel *k) {
  const gpu_tensor old = gpu_in(k, 0), indices = gpu_in(k, 1), x = gpu_in(k, 2);
  gpu_tensor z;
  WEFT_TRY(fits(k, old.shape, indices.shape, x.shape));
  WEFT_TRY(gpu_out_over(k, 0, 0, old.shape, &z));
  if (z.data != old.data)
    cudaMemcpyAsync(z.data, old.data, (size_t)z.count * gpu_size(z.dtype), cudaMemcpyDeviceToDevice, gpu_stream(k));
  return put(k, z, indices, x, negative);
}

#define TYPES (GPU_TYPE(WEFT_FLOAT) | GPU_TYPE(WEFT_DOUBLE) | GPU_INDICES)

GPU_OPS(scatter_nd) = {
    {"ScatterNd", scatter_gpu, TYPES, "shape"},
    {"ScatterNdNonAliasingAdd", update_gpu<false>, TYPES},
    {"TensorScatterAdd", update_gpu<false>, TYPES},
    {"TensorScatterSub", update_gpu<true>, TYPES},
    {0},
};
