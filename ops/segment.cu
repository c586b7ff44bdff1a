/* segment.cu - rows added up by index on the GPU: UnsortedSegmentSum, and the ScatterAdd family on variables.
 *
 * Additions are atomic: floats that fall on one place add up in any order, as in TensorFlow on a GPU. */
#include "ops/elementwise.cuh"

__device__ inline void add_at(float *z, float v) { atomicAdd(z, v); }
__device__ inline void add_at(double *z, double v) { atomicAdd(z, v); }
__device__ inline void add_at(int32_t *z, int32_t v) { atomicAdd(z, v); }
__device__ inline void add_at(int64_t *z, int64_t v) { atomicAdd((unsigned long long *)z, (unsigned long long)v); }

enum put_how { PUT_ADD, PUT_SUB, PUT_SET };

/* x is (rows, inner), or one element for all. */
template <class T, class I>
__global__ void put_kernel(T *z, const T *x, bool single, const I *id, int64_t rows, int64_t inner, int64_t dim,
                           put_how how) {
  GPU_EACH(i, rows * inner) {
    const int64_t row = i / inner, at = (int64_t)id[row];
    if (at < 0 || at >= dim) continue;
    const T v = x[single ? 0 : i];
    T *to = z + at * inner + (i - row * inner);
    if (how == PUT_SET)
      *to = v;
    else
      add_at(to, how == PUT_SUB ? -v : v);
  }
}

template <class F> static weft_err by_type(kernel *k, weft_dtype t, F f) {
  switch (t) {
  case WEFT_FLOAT: return f(float());
  case WEFT_DOUBLE: return f(double());
  default: return gpu_indices(k, t, f);
  }
}

static weft_err put(kernel *k, const gpu_tensor &z, const gpu_tensor &x, const gpu_tensor &id, int64_t inner,
                    int64_t dim, put_how how) {
  if (id.count * inner == 0) return WEFT_OK;
  return by_type(k, z.dtype, [&](auto t) {
    using T = decltype(t);
    return gpu_indices(k, id.dtype, [&](auto i) {
      using I = decltype(i);
      put_kernel<T, I><<<gpu_blocks(id.count * inner), GPU_THREADS, 0, gpu_stream(k)>>>(
          gpu_data<T>(z), gpu_data<const T>(x), x.shape.rank == 0, gpu_data<const I>(id), id.count, inner, dim, how);
      return gpu_launched(k);
    });
  });
}

static weft_err unsorted_sum_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), id = gpu_in(k, 1), segments = gpu_in(k, 2);
  gpu_tensor z;
  for (int d = 0; d < id.shape.rank; d++)
    if (d >= x.shape.rank || x.shape.dim[d] != id.shape.dim[d])
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "data.shape does not start with segment_ids.shape");
  if (segments.shape.rank) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "num_segments should be a scalar");
  shape s = gpu_shape(0, nullptr);
  s.dim[s.rank++] = gpu_int(segments, 0);
  if (s.dim[0] < 0)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Input num_segments == %lld must not be negative.", (long long)s.dim[0]);
  for (int d = id.shape.rank; d < x.shape.rank; d++) s.dim[s.rank++] = x.shape.dim[d];
  WEFT_TRY(gpu_out(k, 0, s, &z));
  if (z.count == 0) return WEFT_OK;
  cudaMemsetAsync(z.data, 0, (size_t)z.count * gpu_size(z.dtype), gpu_stream(k));
  gpu_tensor rows = x;
  if (rows.shape.rank == 0) rows.shape.rank = 1, rows.shape.dim[0] = 1; /* its one element is no broadcast */
  return put(k, z, rows, id, z.count / s.dim[0], s.dim[0], PUT_ADD);
}

template <put_how how> static weft_err scatter_gpu(kernel *k) {
  const int arg = 0;
  const gpu_tensor id = gpu_in(k, 1), x = gpu_in(k, 2);
  gpu_tensor z;
  weft__gpu->lock(k, 1, &arg);
  weft_err err = weft__gpu->writable(k, 0, &z);
  if (err == WEFT_OK && z.shape.rank < 1)
    err = gpu_fail(k, WEFT_INVALID_ARGUMENT, "params must be at least 1 dimensional");
  const int64_t inner = err ? 0 : gpu_span(z.shape, 1, z.shape.rank);
  if (err == WEFT_OK && x.shape.rank && x.count != id.count * inner)
    err = gpu_fail(k, WEFT_INVALID_ARGUMENT, "Must have updates.shape = indices.shape + params.shape[1:]");
  if (err == WEFT_OK) err = put(k, z, x, id, inner, z.shape.dim[0], how);
  weft__gpu->unlock(k, 1, &arg);
  if (err == WEFT_OK && weft__gpu->n_out(k)) weft__gpu->out_ref(k, 0, 0);
  return err;
}

#define TYPES (GPU_TYPE(WEFT_FLOAT) | GPU_TYPE(WEFT_DOUBLE) | GPU_INDICES)

GPU_OPS(segment) = {
    {"UnsortedSegmentSum", unsorted_sum_gpu, TYPES, "num_segments"},
    {"ScatterAdd", scatter_gpu<PUT_ADD>, TYPES},
    {"ScatterSub", scatter_gpu<PUT_SUB>, TYPES},
    {"ResourceScatterAdd", scatter_gpu<PUT_ADD>, TYPES},
    {"ResourceScatterSub", scatter_gpu<PUT_SUB>, TYPES},
    {0},
};
