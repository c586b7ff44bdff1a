/* scatter_nd.cu - combines slices at positions given by rows of indices on the GPU: ScatterNd and the TensorScatter
 * ops.
 *
 * Each element is combined atomically.  If several floats are added to one element, their order is undefined; if
 * several values replace one element, any of them may remain.  A slice whose index is out of range is skipped.
 * TensorFlow on a GPU does the same. */
#include "kernels/gpu/scatter.cuh"

template <class T> __device__ __forceinline__ T joined(T old, T v, scatter_how how) {
  switch (how) {
  case SCATTER_MUL: return old * v;
  case SCATTER_DIV:
    if constexpr (!std::is_floating_point_v<T>)
      if (v == 0) return 0;
    return old / v;
  case SCATTER_MIN: return v < old ? v : old;
  case SCATTER_MAX: return old < v ? v : old;
  default: return v;
  }
}

/* Retries its compare-and-swap until no other thread has changed the element in between. */
template <class T> __device__ void join_at(T *z, T v, scatter_how how) {
  using bits = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  bits *at = (bits *)z, old = *at, seen;
  do {
    T now, next;
    memcpy(&now, &old, sizeof now);
    next = joined(now, v, how);
    bits put;
    memcpy(&put, &next, sizeof put);
    seen = old;
    old = atomicCAS(at, seen, put);
  } while (old != seen);
}

template <class T, class I>
__global__ void put_kernel(T *z, const T *x, bool single, const I *indices, const place_args a, scatter_how how) {
  GPU_EACH(i, a.count) {
    const int64_t row = i / a.inner, at = place_of(a, indices, row);
    if (at < 0) continue;
    T *to = z + at * a.inner + (i - row * a.inner);
    const T v = x[single ? 0 : i];
    if (how == SCATTER_SET)
      *to = v;
    else if (how == SCATTER_ADD || how == SCATTER_SUB)
      add_at(to, how == SCATTER_SUB ? -v : v);
    else
      join_at(to, v, how);
  }
}

weft_err gpu_scatter(kernel *k, const gpu_tensor &z, const gpu_tensor &indices, int64_t depth, const gpu_tensor &x,
                     bool single, scatter_how how) {
  place_args a = places_in(z.shape, depth, x.count);
  if (single) a.count = indices.count / depth * a.inner;
  if (a.count == 0) return gpu_launched(k);
  return gpu_scatter_types(k, z.dtype, [&](auto t) {
    using T = decltype(t);
    return gpu_indices(k, indices.dtype, [&](auto index) {
      using I = decltype(index);
      put_kernel<<<gpu_blocks(a.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<T>(z), gpu_data<const T>(x), single,
                                                                         gpu_data<const I>(indices), a, how);
      return gpu_launched(k);
    });
  });
}

weft_err gpu_scatter_fits(kernel *k, const shape &target, const shape &i, const shape &u) {
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

static int64_t depth_of(const gpu_tensor &indices) { return indices.shape.dim[indices.shape.rank - 1]; }

static weft_err scatter_gpu(kernel *k) {
  const gpu_tensor indices = gpu_in(k, 0), x = gpu_in(k, 1);
  gpu_tensor z;
  shape s;
  WEFT_TRY(gpu_dims(k, 2, &s));
  WEFT_TRY(gpu_scatter_fits(k, s, indices.shape, x.shape));
  WEFT_TRY(gpu_out(k, 0, s, &z));
  cudaMemsetAsync(z.data, 0, (size_t)z.count * gpu_size(z.dtype), gpu_stream(k));
  return gpu_scatter(k, z, indices, depth_of(indices), x, false, SCATTER_ADD);
}

template <scatter_how how> static weft_err update_gpu(kernel *k) {
  const gpu_tensor old = gpu_in(k, 0), indices = gpu_in(k, 1), x = gpu_in(k, 2);
  gpu_tensor z;
  WEFT_TRY(gpu_scatter_fits(k, old.shape, indices.shape, x.shape));
  WEFT_TRY(gpu_out_over(k, 0, 0, old.shape, &z));
  if (z.data != old.data)
    cudaMemcpyAsync(z.data, old.data, (size_t)z.count * gpu_size(z.dtype), cudaMemcpyDeviceToDevice, gpu_stream(k));
  return gpu_scatter(k, z, indices, depth_of(indices), x, false, how);
}

GPU_OPS(scatter_nd) = {
    {"ScatterNd", scatter_gpu, SCATTER_TYPES, "shape"},
    {"ScatterNdNonAliasingAdd", update_gpu<SCATTER_ADD>, SCATTER_TYPES},
    {"TensorScatterUpdate", update_gpu<SCATTER_SET>, SCATTER_TYPES},
    {"TensorScatterAdd", update_gpu<SCATTER_ADD>, SCATTER_TYPES},
    {"TensorScatterSub", update_gpu<SCATTER_SUB>, SCATTER_TYPES},
    {"TensorScatterMin", update_gpu<SCATTER_MIN>, SCATTER_TYPES},
    {"TensorScatterMax", update_gpu<SCATTER_MAX>, SCATTER_TYPES},
    {0},
};
