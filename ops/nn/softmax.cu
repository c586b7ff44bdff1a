/* softmax.cu - Softmax and LogSoftmax along the last axis on the GPU. */
#include "ops/nn/softmax.cuh"

enum { ROW_KEPT = 16 }; /* elements that a thread of a short row keeps in registers */

/* Rows of at most 32 * EACH elements: a warp reads its row once. */
template <class T, bool is_log, int EACH>
__global__ void __launch_bounds__(GPU_THREADS) softmax_short_kernel(const T *x, T *y, int64_t rows, int n) {
  using A = wide<T>;
  const int lane = threadIdx.x % 32;
  const int64_t row = (int64_t)blockIdx.x * (GPU_THREADS / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  A v[EACH], max = -(A)INFINITY, sum = 0;
#pragma unroll
  for (int j = 0; j < EACH; j++) v[j] = lane + 32 * j < n ? (A)x[row * n + lane + 32 * j] : -(A)INFINITY;
#pragma unroll
  for (int j = 0; j < EACH; j++) max = row_max()(max, v[j]);
  max = row_combine(max, 32, row_max());
#pragma unroll
  for (int j = 0; j < EACH; j++) {
    const A t = v[j] - max, e = exp(t);
    if (lane + 32 * j < n) sum += e;
    v[j] = is_log ? t : e;
  }
  sum = row_combine(sum, 32, row_sum());
  const A scale = is_log ? log(sum) : 1 / sum;
#pragma unroll
  for (int j = 0; j < EACH; j++)
    if (lane + 32 * j < n) y[row * n + lane + 32 * j] = (T)(is_log ? v[j] - scale : v[j] * scale);
}

template <class T, bool is_log>
__global__ void __launch_bounds__(GPU_THREADS) softmax_kernel(const T *x, T *y, int64_t rows, int64_t n, int lanes) {
  using A = wide<T>;
  const int lane = threadIdx.x % lanes;
  const int64_t row = (int64_t)blockIdx.x * (GPU_THREADS / lanes) + threadIdx.x / lanes;
  const int64_t end = row < rows ? n : 0;
  x += row * n;
  y += row * n;
  A max = -(A)INFINITY, sum = 0;
  for (int64_t i = lane; i < end; i += lanes) max = row_max()(max, (A)x[i]);
  max = row_combine(max, lanes, row_max());
  for (int64_t i = lane; i < end; i += lanes) sum += exp((A)x[i] - max);
  sum = row_combine(sum, lanes, row_sum());
  const A scale = is_log ? log(sum) : 1 / sum;
  for (int64_t i = lane; i < end; i += lanes) {
    const A t = (A)x[i] - max;
    y[i] = (T)(is_log ? t - scale : exp(t) * scale);
  }
}

template <bool is_log> static weft_err softmax_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  gpu_tensor y;
  if (x.shape.rank < 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "logits must have >= 1 dimension, got []");
  WEFT_TRY(gpu_out_over(k, 0, 0, x.shape, &y));
  if (x.count == 0) return WEFT_OK;
  const int64_t n = x.shape.dim[x.shape.rank - 1], rows = x.count / n;
  const int lanes = row_lanes(n);
  return gpu_floats(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    const unsigned blocks = row_blocks(rows, lanes);
    if (n <= 32 * 4)
      softmax_short_kernel<T, is_log, 4>
          <<<blocks, GPU_THREADS, 0, gpu_stream(k)>>>((const T *)x.data, (T *)y.data, rows, (int)n);
    else if (n <= 32 * ROW_KEPT)
      softmax_short_kernel<T, is_log, ROW_KEPT>
          <<<blocks, GPU_THREADS, 0, gpu_stream(k)>>>((const T *)x.data, (T *)y.data, rows, (int)n);
    else
      softmax_kernel<T, is_log>
          <<<blocks, GPU_THREADS, 0, gpu_stream(k)>>>((const T *)x.data, (T *)y.data, rows, n, lanes);
    return gpu_launched(k);
  });
}

GPU_OPS(softmax) = {
    {"Softmax", softmax_gpu<false>, GPU_FLOATS},
    {"LogSoftmax", softmax_gpu<true>, GPU_FLOATS},
    {0},
};
