/* multinomial.cu - Multinomial on the GPU: for the same seeds it draws the CPU's classes.
 *
 * A block makes the cumulative sums of a row, and then each thread draws one class.  The sums are added in another
 * order than on the CPU.  So a class differs only where a uniform number is within the last bits of a boundary. */
#include "ops/random/philox.cuh"

/* Stores exp(x - max of the row), then adds up; what is not finite counts as zero. */
template <class T>
__global__ void __launch_bounds__(GPU_THREADS) class_sums_kernel(const T *x, double *sums, int64_t rows, int64_t n) {
  __shared__ double part[GPU_THREADS];
  const int64_t each = (n + GPU_THREADS - 1) / GPU_THREADS; /* adjacent classes of a thread */
  const int mine = (int)threadIdx.x;
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T *const from = x + row * n;
    double *const to = sums + row * n;
    double most = -INFINITY, total = 0;
    for (int64_t i = mine; i < n; i += GPU_THREADS) {
      const double v = (double)(wide<T>)from[i];
      if (isfinite(v) && v > most) most = v;
    }
    part[mine] = most;
    for (int by = GPU_THREADS / 2; by > 0; by /= 2) {
      __syncthreads();
      if (mine < by && part[mine + by] > part[mine]) part[mine] = part[mine + by];
    }
    __syncthreads();
    most = part[0];
    for (int64_t i = mine; i < n; i += GPU_THREADS) {
      const double v = (double)(wide<T>)from[i];
      to[i] = isfinite(v) ? exp(v - most) : 0;
    }
    __syncthreads(); /* the row is written, and part[0] has been read */
    const int64_t begin = mine * each, end = begin + each < n ? begin + each : n;
    for (int64_t i = begin; i < end; i++) total += to[i];
    part[mine] = total;
    for (int by = 1; by < GPU_THREADS; by *= 2) {
      __syncthreads();
      const double before = mine >= by ? part[mine - by] : 0;
      __syncthreads();
      part[mine] += before;
    }
    __syncthreads();
    total = mine ? part[mine - 1] : 0;
    for (int64_t i = begin; i < end; i++) to[i] = total += to[i];
    __syncthreads(); /* before the next row overwrites the parts */
  }
}

/* Draws the first class whose sum is above the uniform number; as on the CPU, the number of classes if there is none.
 */
template <class Z>
__global__ void draw_class_kernel(const double *sums, Z *z, int64_t count, int64_t samples, int64_t n,
                                  const philox_seed seed, const uint64_t *used) {
  const uint64_t base = *used;
  GPU_EACH(i, count) {
    const double *const sum = sums + i / samples * n;
    const uint4 w = philox_block(seed, base + (uint64_t)i / 2);
    const double u = (i % 2 ? to_double(w.z, w.w) : to_double(w.x, w.y)) * sum[n - 1];
    int64_t low = 0, high = n;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (sum[middle] > u)
        high = middle;
      else
        low = middle + 1;
    }
    z[i] = (Z)low;
  }
}

static weft_err draw_classes(kernel *k, const gpu_tensor &x, const gpu_tensor &z) {
  const int64_t rows = x.shape.dim[0], n = x.shape.dim[1], samples = z.shape.dim[1];
  philox_seed seed;
  uint64_t *used;
  double *sums;
  WEFT_TRY(philox_begin(k, &seed, &used));
  WEFT_TRY(gpu_scratch(k, x.count, &sums));
  const unsigned blocks = (unsigned)(rows < GPU_MAX_BLOCKS ? rows : GPU_MAX_BLOCKS);
  WEFT_TRY(gpu_numbers(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    class_sums_kernel<T><<<blocks, GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const T>(x), sums, rows, n);
    return gpu_launched(k);
  }));
  WEFT_TRY(gpu_indices(k, z.dtype, [&](auto t) {
    using Z = decltype(t);
    draw_class_kernel<Z>
        <<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>(sums, gpu_data<Z>(z), z.count, samples, n, seed, used);
    return gpu_launched(k);
  }));
  return philox_use(k, used, (uint64_t)rows * (uint64_t)((samples + 3) / 4 * 4) * 2 * RESERVED);
}

static weft_err multinomial_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), samples = gpu_in(k, 1);
  gpu_tensor z;
  if (x.shape.rank != 2) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "logits should be a matrix");
  if (samples.shape.rank != 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "num_samples should be a scalar");
  const int64_t dims[] = {x.shape.dim[0], gpu_int(samples, 0)};
  if (dims[1] < 0)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "num_samples should be nonnegative, got %lld", (long long)dims[1]);
  if (dims[0] > 0 && x.shape.dim[1] <= 0)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "num_classes should be positive, got %lld", (long long)x.shape.dim[1]);
  WEFT_TRY(gpu_out(k, 0, gpu_shape(2, dims), &z));
  return z.count ? draw_classes(k, x, z) : WEFT_OK;
}

GPU_OPS(multinomial) = {
    {"Multinomial", multinomial_gpu, GPU_NUMBERS, "num_samples"},
    {0},
};
