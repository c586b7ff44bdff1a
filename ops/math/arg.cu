/* arg.cu - ArgMax, ArgMin and InTopK on the GPU.
 *
 * As on the CPU, ties go to the first element, and NaN is never selected.  One warp scans one column. */
#include "kernels/reduce/reduce.cuh"

template <class A, bool is_max>
__global__ void arg_kernel(const void *x, weft_dtype type, void *z, bool z64, int64_t n, int64_t inner,
                           int64_t outputs) {
  const int lane = threadIdx.x % 32;
  const int64_t o = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (o >= outputs) return;
  const int64_t base = o / inner * n * inner + o % inner;
  A best = 0;
  int64_t at = INT64_MAX; /* none yet */
  for (int64_t i = lane; i < n; i += 32) {
    const A v = fold_load<A>(x, type, base + i * inner);
    const bool beyond = is_max ? v > best : v < best;
    if (v == v && (at == INT64_MAX || beyond)) best = v, at = i;
  }
  for (int by = 16; by > 0; by /= 2) {
    const A v = fold_shuffle(best, by);
    const int64_t other = __shfl_xor_sync(0xffffffffu, at, by);
    const bool beyond = is_max ? v > best : v < best;
    if (other != INT64_MAX && (at == INT64_MAX || beyond || (v == best && other < at))) best = v, at = other;
  }
  if (lane) return;
  /* On the CPU the best value starts as the lowest value of the type.  So a column without a better one gives its
   * first element. */
  if constexpr (std::is_floating_point_v<A>)
    if (best == (is_max ? -(A)INFINITY : (A)INFINITY)) at = 0;
  if (at == INT64_MAX) at = 0;
  if (z64)
    ((int64_t *)z)[o] = at;
  else
    ((int32_t *)z)[o] = (int32_t)at;
}

template <bool is_max> static weft_err arg_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  const shape &s = x.shape;
  gpu_tensor z;
  shape kept;
  int axis = 0;
  WEFT_TRY(gpu_axis(k, gpu_int(gpu_in(k, 1), 0), s.rank, &axis));
  if (s.dim[axis] == 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Reduction axis %d is empty", axis);
  kept.rank = 0;
  for (int d = 0; d < s.rank; d++)
    if (d != axis) kept.dim[kept.rank++] = s.dim[d];
  WEFT_TRY(gpu_out(k, 0, kept, &z));
  if (z.count == 0) return WEFT_OK;
  return gpu_wide_numbers(k, x.dtype, [&](auto t) {
    arg_kernel<decltype(t), is_max><<<(unsigned)((z.count * 32 + 255) / 256), 256, 0, gpu_stream(k)>>>(
        x.data, x.dtype, z.data, z.dtype == WEFT_INT64, s.dim[axis], gpu_span(s, axis + 1, s.rank), z.count);
    return gpu_launched(k);
  });
}

template <class I>
__global__ void top_kernel(const float *x, const I *target, bool *z, int64_t rows, int64_t n, const void *top,
                           bool top64, int64_t given) {
  const int lane = threadIdx.x % 32;
  const int64_t row = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  const int64_t wanted = top ? (top64 ? *(const int64_t *)top : *(const int32_t *)top) : given,
                t = (int64_t)target[row];
  const bool known = t >= 0 && t < n;
  int higher = 0, odd = 0;
  for (int64_t i = lane; known && i < n; i += 32) {
    const float v = x[row * n + i];
    higher += v > x[row * n + t];
    odd |= !isfinite(v);
  }
  for (int by = 16; by > 0; by /= 2) {
    higher += __shfl_xor_sync(0xffffffffu, higher, by);
    odd |= __shfl_xor_sync(0xffffffffu, odd, by);
  }
  if (lane == 0) z[row] = known && !odd && higher < wanted;
}

static weft_err in_top_k_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), target = gpu_in(k, 1);
  gpu_tensor top = {}, z;
  if (gpu_n_in(k) > 2) top = gpu_in(k, 2);
  if (x.shape.rank != 2) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "predictions must be 2-dimensional");
  if (target.shape.rank != 1 || target.count != x.shape.dim[0])
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "First dimension of predictions %lld must match length of targets %lld",
                    (long long)x.shape.dim[0], (long long)target.count);
  WEFT_TRY(gpu_out(k, 0, target.shape, &z));
  if (z.count == 0) return WEFT_OK;
  return gpu_indices(k, target.dtype, [&](auto t) {
    top_kernel<<<(unsigned)((z.count * 32 + 255) / 256), 256, 0, gpu_stream(k)>>>(
        gpu_data<const float>(x), gpu_data<const decltype(t)>(target), gpu_data<bool>(z), z.count, x.shape.dim[1],
        top.data, top.dtype == WEFT_INT64, weft__gpu->attr_int(k, "k", 0));
    return gpu_launched(k);
  });
}

GPU_OPS(arg) = {
    {"ArgMax", arg_gpu<true>, GPU_NUMBERS, "dimension"},
    {"ArgMin", arg_gpu<false>, GPU_NUMBERS, "dimension"},
    {"InTopK", in_top_k_gpu, GPU_TYPE(WEFT_FLOAT) | GPU_INDICES | GPU_BOOL},
    {"InTopKV2", in_top_k_gpu, GPU_TYPE(WEFT_FLOAT) | GPU_INDICES | GPU_BOOL},
    {0},
};
