/* depthwise.cu - DepthwiseConv2dNative and its gradients on the GPU.
 *
 * One thread computes one element of the result or of the input's gradient.  One block computes one element of the
 * filter's gradient, for which it reads all pixels of the batch. */
#include "kernels/conv/image.cuh"
#include "kernels/reduce/reduce.cuh"

struct depthwise {
  image in, out;
  spot_window w;
  int times; /* output channels per input channel */
};

/* Returns the index of element (r, s) of the filter of output channel c.  Filters are stored as (height, width,
 * in_ch, times). */
__device__ inline int64_t tap_at(const depthwise &d, int r, int s, int c) {
  return ((int64_t)r * d.w.size[1] + s) * (int)d.out.c + c;
}

template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    depthwise_kernel(const T *x, const T *f, T *y, int64_t count, const depthwise d) {
  GPU_EACH(i, count) {
    const place p = image_place(d.out, i);
    const int top = p.h * d.w.stride[0] - d.w.before[0], left = p.w * d.w.stride[1] - d.w.before[1];
    wide<T> sum = 0;
    for (int r = 0; r < d.w.size[0]; r++) {
      const int h = top + r * d.w.dilation[0];
      for (int s = 0; s < d.w.size[1] && h >= 0 && h < d.w.in[0]; s++) {
        const int w = left + s * d.w.dilation[1];
        if (w < 0 || w >= d.w.in[1]) continue;
        sum += (wide<T>)x[image_at(d.in, p.n, h, w, p.c / d.times)] * (wide<T>)f[tap_at(d, r, s, p.c)];
      }
    }
    y[i] = (T)sum;
  }
}

/* Finds the window whose tap `tap` is at `at` (counted with padding).  Returns false if there is none. */
__device__ inline bool window_with(const spot_window &w, int axis, int at, int tap, int *o) {
  const int first = at + w.before[axis] - tap * w.dilation[axis];
  *o = first / w.stride[axis];
  return first >= 0 && *o * w.stride[axis] == first && *o < w.out[axis];
}

template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    to_input_kernel(const T *dy, const T *f, T *dx, int64_t count, const depthwise d) {
  GPU_EACH(i, count) {
    const place p = image_place(d.in, i);
    wide<T> sum = 0;
    for (int r = 0, oh; r < d.w.size[0]; r++) {
      if (!window_with(d.w, 0, p.h, r, &oh)) continue;
      for (int s = 0, ow; s < d.w.size[1]; s++) {
        if (!window_with(d.w, 1, p.w, s, &ow)) continue;
        for (int t = 0, c = p.c * d.times; t < d.times; t++, c++)
          sum += (wide<T>)dy[image_at(d.out, p.n, oh, ow, c)] * (wide<T>)f[tap_at(d, r, s, c)];
      }
    }
    dx[i] = (T)sum;
  }
}

template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    to_filter_kernel(const T *x, const T *dy, T *df, int64_t pixels, const depthwise d) {
  const int channels = (int)d.out.c, c = (int)blockIdx.x % channels, tap = (int)blockIdx.x / channels;
  const int r = tap / d.w.size[1], s = tap - r * d.w.size[1];
  wide<T> sum = 0;
  for (int64_t i = threadIdx.x; i < pixels; i += blockDim.x) {
    const uint32_t row = (uint32_t)i / (uint32_t)d.w.out[1], n = row / (uint32_t)d.w.out[0];
    const int ow = (int)((uint32_t)i - row * (uint32_t)d.w.out[1]), oh = (int)(row - n * (uint32_t)d.w.out[0]);
    const int h = oh * d.w.stride[0] - d.w.before[0] + r * d.w.dilation[0];
    const int w = ow * d.w.stride[1] - d.w.before[1] + s * d.w.dilation[1];
    if (h < 0 || h >= d.w.in[0] || w < 0 || w >= d.w.in[1]) continue;
    sum += (wide<T>)x[image_at(d.in, (int)n, h, w, c / d.times)] * (wide<T>)dy[image_at(d.out, (int)n, oh, ow, c)];
  }
  __shared__ wide<T> part[GPU_THREADS / 32];
  for (int by = 16; by > 0; by /= 2) sum += fold_shuffle(sum, by);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x) return;
  for (int i = 1; i < GPU_THREADS / 32; i++) sum += part[i];
  df[blockIdx.x] = (T)sum;
}

static weft_err read_node(kernel *k, const shape &in, const shape &filter, depthwise *d) {
  if (in.rank != 4 || filter.rank != 4)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input and filter must be 4-dimensional");
  if (gpu_span(in, 0, 4) > INT32_MAX) return gpu_fail(k, WEFT_UNIMPLEMENTED, "an image of more than 2^31 elements");
  d->in = image_of(in, image_is_second(k));
  if (d->in.c != filter.dim[2])
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input and filter must have the same depth: %lld vs %lld",
                    (long long)d->in.c, (long long)filter.dim[2]);
  const int64_t sizes[2] = {d->in.h, d->in.w};
  gpu_window w;
  WEFT_TRY(weft__gpu->window(k, sizes, filter.dim, &w));
  d->w = spot(w);
  d->times = (int)filter.dim[3];
  d->out = image{d->in.n, w.out[0], w.out[1], filter.dim[2] * filter.dim[3], d->in.channels_second};
  return WEFT_OK;
}

static weft_err depthwise_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), f = gpu_in(k, 1);
  gpu_tensor y;
  depthwise d;
  WEFT_TRY(read_node(k, x.shape, f.shape, &d));
  WEFT_TRY(gpu_out(k, 0, image_shape(d.out), &y));
  if (y.count == 0) return WEFT_OK;
  return gpu_floats(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    depthwise_kernel<<<gpu_blocks(y.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const T>(x), gpu_data<const T>(f),
                                                                             gpu_data<T>(y), y.count, d);
    return gpu_launched(k);
  });
}

static weft_err check_gradient(kernel *k, const depthwise &d, const gpu_tensor &dy) {
  if (gpu_same_shape(dy.shape, image_shape(d.out))) return WEFT_OK;
  return gpu_fail(k, WEFT_INVALID_ARGUMENT, "the gradient has not the shape of the convolution's result");
}

static weft_err to_input_gpu(kernel *k) {
  const gpu_tensor f = gpu_in(k, 1), dy = gpu_in(k, 2);
  gpu_tensor dx;
  depthwise d;
  shape s;
  WEFT_TRY(gpu_dims(k, 0, &s));
  WEFT_TRY(read_node(k, s, f.shape, &d));
  WEFT_TRY(check_gradient(k, d, dy));
  WEFT_TRY(gpu_out(k, 0, s, &dx));
  if (dx.count == 0) return WEFT_OK;
  return gpu_floats(k, dy.dtype, [&](auto t) {
    using T = decltype(t);
    to_input_kernel<<<gpu_blocks(dx.count), GPU_THREADS, 0, gpu_stream(k)>>>(
        gpu_data<const T>(dy), gpu_data<const T>(f), gpu_data<T>(dx), dx.count, d);
    return gpu_launched(k);
  });
}

static weft_err to_filter_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), dy = gpu_in(k, 2);
  gpu_tensor df;
  depthwise d;
  shape s;
  WEFT_TRY(gpu_dims(k, 1, &s));
  WEFT_TRY(read_node(k, x.shape, s, &d));
  WEFT_TRY(check_gradient(k, d, dy));
  WEFT_TRY(gpu_out(k, 0, s, &df));
  if (df.count == 0) return WEFT_OK;
  const int64_t pixels = d.out.n * d.out.h * d.out.w;
  return gpu_floats(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    to_filter_kernel<<<(unsigned)df.count, GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const T>(x), gpu_data<const T>(dy),
                                                                            gpu_data<T>(df), pixels, d);
    return gpu_launched(k);
  });
}

GPU_OPS(depthwise) = {
    {"DepthwiseConv2dNative", depthwise_gpu, GPU_FLOATS},
    {"DepthwiseConv2dNativeBackpropInput", to_input_gpu, GPU_FLOATS, "input_sizes"},
    {"DepthwiseConv2dNativeBackpropFilter", to_filter_gpu, GPU_FLOATS, "filter_sizes"},
    {0},
};
