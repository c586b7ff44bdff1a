/* color.cu - contrast, hue and saturation of images on the GPU, and RGB to HSV and back. color.c has the formulas. */
#include "kernels/gpu/gpu.cuh"

/* ---- contrast ---- */

/* Each block processes one channel of one image: first the mean, then the pixels. */
template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    contrast_kernel(const T *x, T *y, const float *factor, int64_t pixels, int64_t channels, int64_t planes) {
  __shared__ double part[GPU_THREADS];
  for (int64_t plane = blockIdx.x; plane < planes; plane += gridDim.x) {
    const int64_t begin = plane / channels * pixels * channels + plane % channels;
    double sum = 0;
    for (int64_t p = threadIdx.x; p < pixels; p += GPU_THREADS) sum += (double)(float)x[begin + p * channels];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int n = GPU_THREADS / 2; n > 0; n /= 2) {
      if ((int)threadIdx.x < n) part[threadIdx.x] += part[threadIdx.x + n];
      __syncthreads();
    }
    const float mean = (float)(part[0] / (double)pixels);
    for (int64_t p = threadIdx.x; p < pixels; p += GPU_THREADS) {
      const int64_t at = begin + p * channels;
      y[at] = (T)(((float)x[at] - mean) * *factor + mean);
    }
    __syncthreads(); /* part is reused after this */
  }
}

static weft_err color_check(const kernel *k, const char *name, bool rgb) {
  const gpu_tensor x = gpu_in(k, 0), amount = gpu_in(k, 1);
  const int64_t channels = x.shape.rank > 0 ? x.shape.dim[x.shape.rank - 1] : 0;
  if (x.shape.rank < 3)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input must be at least 3-D, got %d axes", x.shape.rank);
  if (amount.count != 1)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "%s must be scalar: it has %lld elements", name, (long long)amount.count);
  if (rgb && channels != 3)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input must have 3 channels but instead has %lld channels.",
                    (long long)channels);
  return WEFT_OK;
}

static weft_err contrast_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), factor = gpu_in(k, 1);
  gpu_tensor y;
  WEFT_TRY(color_check(k, "contrast_factor", false));
  WEFT_TRY(gpu_out_over(k, 0, 0, x.shape, &y));
  if (x.count == 0) return WEFT_OK;
  const int rank = x.shape.rank;
  const int64_t channels = x.shape.dim[rank - 1], pixels = x.shape.dim[rank - 2] * x.shape.dim[rank - 3];
  const int64_t planes = x.count / pixels;
  const unsigned blocks = (unsigned)(planes < GPU_MAX_BLOCKS ? planes : GPU_MAX_BLOCKS);
  return gpu_floats(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    contrast_kernel<T><<<blocks, GPU_THREADS, 0, gpu_stream(k)>>>(
        gpu_data<const T>(x), gpu_data<T>(y), gpu_data<const float>(factor), pixels, channels, planes);
    return gpu_launched(k);
  });
}

/* ---- HSV ---- */

template <class A> struct color { A a, b, c; };

template <class A> __device__ color<A> hsv_of(color<A> in) {
  const A r = in.a, g = in.b, b = in.c;
  const A low = r < g ? (r < b ? r : b) : (g < b ? g : b), v = r > g ? (r > b ? r : b) : (g > b ? g : b);
  const A range = v - low, norm = 1 / (6 * range);
  A h = r == v ? norm * (g - b) : g == v ? norm * (b - r) + (A)2 / 6 : norm * (r - g) + (A)4 / 6;
  if (range <= 0) h = 0;
  return {h < 0 ? h + 1 : h, v > 0 ? range / v : 0, v};
}

template <class A> __device__ A color_clamp(A x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
template <class A> __device__ color<A> rgb_of(color<A> hsv) {
  const A h = hsv.a * 6, s = hsv.b, v = hsv.c;
  return {(1 - s + s * color_clamp(abs(h - 3) - 1)) * v, (1 - s + s * color_clamp(2 - abs(h - 2))) * v,
          (1 - s + s * color_clamp(2 - abs(h - 4))) * v};
}

struct to_hsv {
  template <class A> __device__ color<A> operator()(color<A> x, A) const { return hsv_of(x); }
};
struct to_rgb {
  template <class A> __device__ color<A> operator()(color<A> x, A) const { return rgb_of(x); }
};
struct turn_hue {
  template <class A> __device__ color<A> operator()(color<A> x, A amount) const {
    color<A> hsv = hsv_of(x);
    hsv.a += amount;
    hsv.a -= floor(hsv.a);
    return rgb_of(hsv);
  }
};
struct scale_saturation {
  template <class A> __device__ color<A> operator()(color<A> x, A amount) const {
    color<A> hsv = hsv_of(x);
    hsv.b = color_clamp(hsv.b * amount);
    return rgb_of(hsv);
  }
};

/* amount is NULL if the function takes none. */
template <class T, class F>
__global__ void __launch_bounds__(GPU_THREADS) color_kernel(const T *x, T *y, const float *amount, int64_t n, F f) {
  using A = wide<T>;
  const A by = amount ? (A)*amount : (A)0;
  GPU_EACH(i, n) {
    const color<A> to = f(color<A>{(A)x[3 * i], (A)x[3 * i + 1], (A)x[3 * i + 2]}, by);
    y[3 * i] = (T)to.a;
    y[3 * i + 1] = (T)to.b;
    y[3 * i + 2] = (T)to.c;
  }
}

template <class F> static weft_err color_run(kernel *k, const float *amount) {
  const gpu_tensor x = gpu_in(k, 0);
  gpu_tensor y;
  WEFT_TRY(gpu_out_over(k, 0, 0, x.shape, &y));
  if (x.count == 0) return WEFT_OK;
  return gpu_floats(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    color_kernel<T, F><<<gpu_blocks(x.count / 3), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const T>(x), gpu_data<T>(y),
                                                                                   amount, x.count / 3, F());
    return gpu_launched(k);
  });
}

static weft_err hue_gpu(kernel *k) {
  WEFT_TRY(color_check(k, "delta", true));
  return color_run<turn_hue>(k, gpu_data<const float>(gpu_in(k, 1)));
}
static weft_err saturation_gpu(kernel *k) {
  WEFT_TRY(color_check(k, "scale", true));
  return color_run<scale_saturation>(k, gpu_data<const float>(gpu_in(k, 1)));
}

template <class F> static weft_err convert_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  if (x.shape.rank < 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input must be at least 1D, got a scalar");
  if (x.shape.dim[x.shape.rank - 1] != 3)
    return gpu_fail(k, WEFT_FAILED_PRECONDITION, "input must have 3 channels but input only has %lld channels.",
                    (long long)x.shape.dim[x.shape.rank - 1]);
  return color_run<F>(k, NULL);
}

GPU_OPS(color) = {
    {"AdjustContrastv2", contrast_gpu, GPU_FLOATS},   {"AdjustHue", hue_gpu, GPU_FLOATS},
    {"AdjustSaturation", saturation_gpu, GPU_FLOATS}, {"RGBToHSV", convert_gpu<to_hsv>, GPU_FLOATS},
    {"HSVToRGB", convert_gpu<to_rgb>, GPU_FLOATS},    {0},
};
