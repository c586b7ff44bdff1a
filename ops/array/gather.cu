/* gather.cu - copies rows chosen by index on the GPU: Gather, GatherV2, GatherNd, of tensors and variables; OneHot.
 *
 * An index out of range gives a row of zeros, as in TensorFlow's GPU kernels.  An error would need the host to wait
 * for the kernel. */
#include "kernels/gpu/scatter.cuh"

struct gather_args {
  /* n: indices per batch; outer: repeats per batch; inner: elements of a row; count: all elements */
  int64_t n, outer, dim, inner, count;
};

template <class T, class I>
__global__ void gather_kernel(T *z, const T *params, const I *indices, const gather_args a) {
  GPU_EACH(i, a.count) {
    const int64_t row = i / a.inner, at = i - row * a.inner, o = row / a.n, j = row - o * a.n;
    const int64_t index = (int64_t)indices[o / a.outer * a.n + j];
    z[i] = index >= 0 && index < a.dim ? params[(o * a.dim + index) * a.inner + at] : T();
  }
}

template <class T, class I>
static void gather_start(kernel *k, void *z, const void *p, const void *indices, gather_args a) {
  gather_kernel<<<gpu_blocks(a.count), GPU_THREADS, 0, gpu_stream(k)>>>((T *)z, (const T *)p, (const I *)indices, a);
}

template <class T>
static weft_err gather_launch(kernel *k, void *z, const void *p, const gpu_tensor &indices, gather_args a) {
  switch (indices.dtype) {
  case WEFT_INT16: gather_start<T, int16_t>(k, z, p, indices.data, a); break;
  case WEFT_INT32: gather_start<T, int32_t>(k, z, p, indices.data, a); break;
  case WEFT_INT64: gather_start<T, int64_t>(k, z, p, indices.data, a); break;
  default: return gpu_fail(k, WEFT_UNIMPLEMENTED, "indices of type %d", (int)indices.dtype);
  }
  return gpu_launched(k);
}

static weft_err gather_rows(kernel *k, const gpu_tensor &p, const gpu_tensor &indices, int axis, int batch) {
  const shape &ps = p.shape, &is = indices.shape;
  shape out;
  gpu_tensor z;
  out.rank = 0;
  if (ps.rank - 1 + is.rank - batch > WEFT_MAX_RANK) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "too many axes");
  for (int d = 0; d < axis; d++) out.dim[out.rank++] = ps.dim[d];
  for (int d = batch; d < is.rank; d++) out.dim[out.rank++] = is.dim[d];
  for (int d = axis + 1; d < ps.rank; d++) out.dim[out.rank++] = ps.dim[d];
  WEFT_TRY(gpu_out(k, 0, out, &z));
  if (z.count == 0) return WEFT_OK;
  gather_args a = {gpu_span(is, batch, is.rank), gpu_span(ps, batch, axis), ps.dim[axis],
                   gpu_span(ps, axis + 1, ps.rank), z.count};
  const size_t size = gpu_size(p.dtype), row = (size_t)a.inner * size;
  if (size < 16 && row % 16 == 0 && (uintptr_t)p.data % 16 == 0 && (uintptr_t)z.data % 16 == 0) {
    a.inner = (int64_t)(row / 16);
    a.count = (int64_t)((size_t)z.count * size / 16);
    return gather_launch<uint4>(k, z.data, p.data, indices, a);
  }
  return gpu_moved(k, p.dtype, [&](auto t) { return gather_launch<decltype(t)>(k, z.data, p.data, indices, a); });
}

static weft_err gather_along(kernel *k, const gpu_tensor &p, int64_t at, int64_t batch) {
  const gpu_tensor indices = gpu_in(k, 1);
  int axis = 0;
  if (p.shape.rank < 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "params must be at least 1 dimensional");
  WEFT_TRY(gpu_axis(k, at, p.shape.rank, &axis));
  if (batch < 0) batch += indices.shape.rank;
  if (batch < 0 || batch > indices.shape.rank || batch > axis)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "batch_dims (%lld) must be less than or equal to axis (%d).",
                    (long long)batch, axis);
  for (int d = 0; d < batch; d++)
    if (p.shape.dim[d] != indices.shape.dim[d])
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "params.shape[%d]: %lld should be equal to indices.shape[%d]: %lld", d,
                      (long long)p.shape.dim[d], d, (long long)indices.shape.dim[d]);
  return gather_rows(k, p, indices, axis, (int)batch);
}

static weft_err gather_gpu(kernel *k) { return gather_along(k, gpu_in(k, 0), 0, 0); }
static weft_err gather_v2_gpu(kernel *k) {
  return gather_along(k, gpu_in(k, 0), gpu_int(gpu_in(k, 2), 0), weft__gpu->attr_int(k, "batch_dims", 0));
}

/* ---- OneHot ---- */

template <class T, class I>
__global__ void hot_kernel(T *z, const I *indices, const T *on, const T *off, int64_t n, int64_t depth, int64_t inner) {
  GPU_EACH(i, n) {
    const int64_t at = i % inner, rest = i / inner, row = rest / depth;
    z[i] = (int64_t)indices[row * inner + at] == rest - row * depth ? *on : *off;
  }
}

static weft_err one_hot_gpu(kernel *k) {
  const gpu_tensor indices = gpu_in(k, 0), depth = gpu_in(k, 1), on = gpu_in(k, 2), off = gpu_in(k, 3);
  const shape &s = indices.shape;
  const int64_t given = weft__gpu->attr_int(k, "axis", -1);
  gpu_tensor z;
  shape out;
  if (given < -1 || given > s.rank)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Expected axis to be -1 or between [0, %d).  But received: %lld",
                    s.rank + 1, (long long)given);
  if (depth.shape.rank || on.shape.rank || off.shape.rank)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "depth, on_value and off_value must be scalars");
  const int64_t classes = gpu_int(depth, 0);
  if (classes < 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "depth must be non-negative");
  const int axis = given == -1 ? s.rank : (int)given;
  out.rank = s.rank + 1;
  for (int i = 0; i < out.rank; i++) out.dim[i] = i < axis ? s.dim[i] : i == axis ? classes : s.dim[i - 1];
  WEFT_TRY(gpu_out(k, 0, out, &z));
  if (z.count == 0) return WEFT_OK;
  const int64_t inner = gpu_span(out, axis + 1, out.rank);
  return gpu_moved(k, z.dtype, [&](auto t) {
    using T = decltype(t);
    return gpu_indices(k, indices.dtype, [&](auto i) {
      hot_kernel<<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>(
          gpu_data<T>(z), gpu_data<const decltype(i)>(indices), gpu_data<const T>(on), gpu_data<const T>(off), z.count,
          out.dim[axis], inner);
      return gpu_launched(k);
    });
  });
}

/* ---- GatherNd: indices of several axes ---- */

template <class T, class I> __global__ void nd_kernel(T *z, const T *params, const I *indices, const place_args a) {
  GPU_EACH(i, a.count) {
    const int64_t row = i / a.inner, at = place_of(a, indices, row);
    z[i] = at < 0 ? T() : params[at * a.inner + (i - row * a.inner)];
  }
}

static weft_err gather_places(kernel *k, const gpu_tensor &p) {
  const gpu_tensor indices = gpu_in(k, 1);
  const shape &ps = p.shape, &is = indices.shape;
  gpu_tensor z;
  if (ps.rank < 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "params must be at least a vector");
  if (is.rank < 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "indices must be at least a vector");
  const int64_t depth = is.dim[is.rank - 1];
  if (depth > ps.rank)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT,
                    "index innermost dimension length must be <= params rank; saw: %lld vs. %d", (long long)depth,
                    ps.rank);
  shape out = gpu_shape(is.rank - 1, is.dim);
  if (out.rank + ps.rank - depth > WEFT_MAX_RANK) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "too many axes");
  for (int d = (int)depth; d < ps.rank; d++) out.dim[out.rank++] = ps.dim[d];
  WEFT_TRY(gpu_out(k, 0, out, &z));
  if (z.count == 0) return WEFT_OK;
  const place_args a = places_in(ps, depth, z.count);
  return gpu_moved(k, p.dtype, [&](auto t) {
    using T = decltype(t);
    return gpu_indices(k, indices.dtype, [&](auto index) {
      using I = decltype(index);
      nd_kernel<<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<T>(z), gpu_data<const T>(p),
                                                                        gpu_data<const I>(indices), a);
      return gpu_launched(k);
    });
  });
}

static weft_err gather_nd_gpu(kernel *k) { return gather_places(k, gpu_in(k, 0)); }

/* ---- gathers from a variable, which stays locked until the kernel is enqueued ---- */

static weft_err read_rows(kernel *k, const gpu_tensor &p) {
  const int64_t batch = weft__gpu->attr_int(k, "batch_dims", 0);
  return gather_along(k, p, batch < 0 ? batch + gpu_in(k, 1).shape.rank : batch, batch);
}

template <weft_err read(kernel *k, const gpu_tensor &p)> static weft_err variable_gpu(kernel *k) {
  const int arg = 0;
  gpu_tensor p;
  weft__gpu->lock(k, 1, &arg);
  weft_err err = weft__gpu->readable(k, 0, &p);
  if (err == WEFT_OK) err = read(k, p);
  weft__gpu->unlock(k, 1, &arg);
  return err;
}

GPU_OPS(gather) = {
    {"Gather", gather_gpu, GPU_PLAIN},
    {"GatherV2", gather_v2_gpu, GPU_PLAIN, "axis"},
    {"GatherNd", gather_nd_gpu, GPU_PLAIN & ~GPU_TYPE(WEFT_INT16)},
    {"ResourceGather", variable_gpu<read_rows>, GPU_PLAIN},
    {"ResourceGatherNd", variable_gpu<gather_places>, GPU_PLAIN},
    {"OneHot", one_hot_gpu, GPU_FLOATS | GPU_INDICES | GPU_BOOL, "depth"},
    {0},
};
