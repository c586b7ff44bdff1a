/* lrn.cu - local response normalization and its gradient on the GPU: one thread per element; its window is in the
 * cache. */
#include "kernels/gpu/gpu.cuh"

struct lrn_args {
  int64_t channels, radius;
  float bias, alpha, beta;
};

template <class T> __device__ float norm_of(const lrn_args &a, const T *row, int64_t c) {
  const int64_t begin = c > a.radius ? c - a.radius : 0,
                end = c + a.radius + 1 < a.channels ? c + a.radius + 1 : a.channels;
  float sum = 0;
  for (int64_t i = begin; i < end; i++) sum += (float)row[i] * (float)row[i];
  return a.bias + a.alpha * sum;
}

template <class T> __global__ void lrn_kernel(const T *x, T *y, int64_t n, const lrn_args a) {
  GPU_EACH(i, n) {
    const int64_t c = i % a.channels;
    y[i] = (T)((float)x[i] * powf(norm_of(a, x + (i - c), c), -a.beta));
  }
}

template <class T>
__global__ void lrn_grad_kernel(const T *dy, const T *x, const T *y, T *dx, int64_t n, const lrn_args a) {
  GPU_EACH(i, n) {
    const int64_t c = i % a.channels, row = i - c;
    const int64_t begin = c > a.radius ? c - a.radius : 0;
    const int64_t end = c + a.radius + 1 < a.channels ? c + a.radius + 1 : a.channels;
    float sum = 0;
    for (int64_t j = begin; j < end; j++) sum += (float)dy[row + j] * (float)y[row + j] / norm_of(a, x + row, j);
    dx[i] = (T)((float)dy[i] * powf(norm_of(a, x + row, c), -a.beta) - 2 * a.alpha * a.beta * (float)x[i] * sum);
  }
}

static weft_err lrn_attrs(kernel *k, const shape &s, lrn_args *a) {
  if (s.rank != 4) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "in must be 4-dimensional");
  *a = lrn_args{s.dim[3], weft__gpu->attr_int(k, "depth_radius", 5), weft__gpu->attr_float(k, "bias", 1),
                weft__gpu->attr_float(k, "alpha", 1), weft__gpu->attr_float(k, "beta", 0.5f)};
  if (a->radius < 0 || a->radius > INT32_MAX)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "depth_radius = %lld larger than int max", (long long)a->radius);
  return WEFT_OK;
}

static weft_err lrn_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  gpu_tensor y;
  lrn_args a;
  WEFT_TRY(lrn_attrs(k, x.shape, &a));
  WEFT_TRY(gpu_out(k, 0, x.shape, &y));
  if (y.count == 0) return WEFT_OK;
  return gpu_floats(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    lrn_kernel<<<gpu_blocks(y.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const T>(x), gpu_data<T>(y), y.count,
                                                                       a);
    return gpu_launched(k);
  });
}

static weft_err lrn_grad_gpu(kernel *k) {
  const gpu_tensor dy = gpu_in(k, 0), x = gpu_in(k, 1), y = gpu_in(k, 2);
  gpu_tensor dx;
  lrn_args a;
  WEFT_TRY(lrn_attrs(k, dy.shape, &a));
  if (!gpu_same_shape(dy.shape, x.shape) || !gpu_same_shape(dy.shape, y.shape))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input_grads, input_image, and out_image should have the same shape");
  WEFT_TRY(gpu_out(k, 0, x.shape, &dx));
  if (dx.count == 0) return WEFT_OK;
  return gpu_floats(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    lrn_grad_kernel<<<gpu_blocks(dx.count), GPU_THREADS, 0, gpu_stream(k)>>>(
        gpu_data<const T>(dy), gpu_data<const T>(x), gpu_data<const T>(y), gpu_data<T>(dx), dx.count, a);
    return gpu_launched(k);
  });
}

GPU_OPS(lrn) = {
    {"LRN", lrn_gpu, GPU_FLOATS},
    {"LRNGrad", lrn_grad_gpu, GPU_FLOATS},
    {0},
};
