/* depthwise.cu - DepthwiseConv2dNative and its gradients on the GPU.
 *
 * One thread computes one element of the result or of the input's gradient, or sixteen bytes of channels if these are
 * last in memory and each has one filter.  The gradient of the filter is a sum over all pixels of the batch.  If the
 * channels are last, a block sums a part of the pixels for up to 32 channels and TAPS taps, and a second kernel adds
 * the parts in order, so that results repeat.  Otherwise one block computes one element. */
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

/* As depthwise_kernel, if the channels are last and `times` is 1: each thread has one pixel and V channels. */
template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    depthwise_wide_kernel(const channels_of<T> *x, const channels_of<T> *f, channels_of<T> *y, int64_t count,
                          const depthwise d) {
  constexpr int V = 16 / sizeof(T);
  const uint32_t depth = (uint32_t)d.in.c / V;
  GPU_EACH(i, count) {
    const uint32_t pixel = (uint32_t)i / depth, c = (uint32_t)i - pixel * depth;
    const uint32_t row = pixel / (uint32_t)d.w.out[1], n = row / (uint32_t)d.w.out[0];
    const int top = (int)(row - n * (uint32_t)d.w.out[0]) * d.w.stride[0] - d.w.before[0];
    const int left = (int)(pixel - row * (uint32_t)d.w.out[1]) * d.w.stride[1] - d.w.before[1];
    wide<T> sum[V] = {};
    for (int r = 0; r < d.w.size[0]; r++) {
      const int h = top + r * d.w.dilation[0];
      if (h < 0 || h >= d.w.in[0]) continue;
      for (int s = 0; s < d.w.size[1]; s++) {
        const int w = left + s * d.w.dilation[1];
        if (w < 0 || w >= d.w.in[1]) continue;
        const channels_of<T> a = x[((n * (uint32_t)d.w.in[0] + h) * (uint32_t)d.w.in[1] + w) * depth + c];
        const channels_of<T> b = f[(uint32_t)(r * d.w.size[1] + s) * depth + c];
#pragma unroll
        for (int v = 0; v < V; v++) sum[v] += (wide<T>)a.v[v] * (wide<T>)b.v[v];
      }
    }
    channels_of<T> z;
#pragma unroll
    for (int v = 0; v < V; v++) z.v[v] = (T)sum[v];
    y[i] = z;
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

/* As to_input_kernel, for the same cases as depthwise_wide_kernel. */
template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    to_input_wide_kernel(const channels_of<T> *dy, const channels_of<T> *f, channels_of<T> *dx, int64_t count,
                         const depthwise d) {
  constexpr int V = 16 / sizeof(T);
  const uint32_t depth = (uint32_t)d.in.c / V;
  GPU_EACH(i, count) {
    const uint32_t pixel = (uint32_t)i / depth, c = (uint32_t)i - pixel * depth;
    const uint32_t row = pixel / (uint32_t)d.w.in[1], n = row / (uint32_t)d.w.in[0];
    const int h = (int)(row - n * (uint32_t)d.w.in[0]), w = (int)(pixel - row * (uint32_t)d.w.in[1]);
    wide<T> sum[V] = {};
    for (int r = 0, oh; r < d.w.size[0]; r++) {
      if (!window_with(d.w, 0, h, r, &oh)) continue;
      for (int s = 0, ow; s < d.w.size[1]; s++) {
        if (!window_with(d.w, 1, w, s, &ow)) continue;
        const channels_of<T> a = dy[((n * (uint32_t)d.w.out[0] + oh) * (uint32_t)d.w.out[1] + ow) * depth + c];
        const channels_of<T> b = f[(uint32_t)(r * d.w.size[1] + s) * depth + c];
#pragma unroll
        for (int v = 0; v < V; v++) sum[v] += (wide<T>)a.v[v] * (wide<T>)b.v[v];
      }
    }
    channels_of<T> z;
#pragma unroll
    for (int v = 0; v < V; v++) z.v[v] = (T)sum[v];
    dx[i] = z;
  }
}

enum { TAPS = 9 }; /* taps that a thread of filter_parts_kernel sums: a 3x3 window */

/* How filter_parts_kernel divides its work.  Threads of a block: `lanes` channels side by side, the rest are pixels. */
struct filter_split {
  uint32_t lanes, pixels, each; /* pixels of the batch, and of one block */
};

/* Sums x dy over the pixels [blockIdx.y * each, ...) of the batch for `lanes` channels and TAPS taps, with the channels
 * last.  parts has the shape (gridDim.y, taps, channels). */
template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    filter_parts_kernel(const T *x, const T *dy, wide<T> *parts, const depthwise d, const filter_split by) {
  const uint32_t lane = threadIdx.x % by.lanes, rows = GPU_THREADS / by.lanes, channels = (uint32_t)d.out.c;
  const uint32_t c = blockIdx.x * by.lanes + lane, begin = blockIdx.y * by.each;
  const uint32_t end = begin + by.each < by.pixels ? begin + by.each : by.pixels;
  const int taps = d.w.size[0] * d.w.size[1], first = (int)blockIdx.z * TAPS;
  int down[TAPS], right[TAPS];
  wide<T> sum[TAPS];
#pragma unroll
  for (int t = 0; t < TAPS; t++) {
    const int r = (first + t) / d.w.size[1];
    down[t] = first + t < taps ? r * d.w.dilation[0] : -(1 << 30); /* outside of every image */
    right[t] = (first + t - r * d.w.size[1]) * d.w.dilation[1];
    sum[t] = 0;
  }
  for (uint32_t i = begin + threadIdx.x / by.lanes; c < channels && i < end; i += rows) {
    const uint32_t row = i / (uint32_t)d.w.out[1], n = row / (uint32_t)d.w.out[0];
    const int top = (int)(row - n * (uint32_t)d.w.out[0]) * d.w.stride[0] - d.w.before[0];
    const int left = (int)(i - row * (uint32_t)d.w.out[1]) * d.w.stride[1] - d.w.before[1];
    const wide<T> slope = (wide<T>)dy[i * channels + c];
    const T *const image = x + (n * (uint32_t)d.w.in[0] * (uint32_t)d.w.in[1] * (uint32_t)d.in.c + c / d.times);
#pragma unroll
    for (int t = 0; t < TAPS; t++) {
      const int h = top + down[t], w = left + right[t];
      if (h >= 0 && h < d.w.in[0] && w >= 0 && w < d.w.in[1])
        sum[t] += (wide<T>)image[(uint32_t)(h * d.w.in[1] + w) * (uint32_t)d.in.c] * slope;
    }
  }
  __shared__ wide<T> all[GPU_THREADS];
#pragma unroll
  for (int t = 0; t < TAPS; t++) {
    all[threadIdx.x] = sum[t];
    __syncthreads();
    if (threadIdx.x < by.lanes && c < channels && first + t < taps) {
      for (uint32_t i = 1; i < rows; i++) sum[t] += all[i * by.lanes + lane];
      parts[((int64_t)blockIdx.y * taps + first + t) * channels + c] = sum[t];
    }
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    add_parts_kernel(const wide<T> *parts, T *df, int64_t count, int n_parts) {
  GPU_EACH(i, count) {
    wide<T> sum = parts[i];
    for (int p = 1; p < n_parts; p++) sum += parts[p * count + i];
    df[i] = (T)sum;
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

/* Returns true if the wide kernels can read `a` and `b`, images whose channels are last. */
static bool is_wide(const depthwise &d, const gpu_tensor &a, const gpu_tensor &b) {
  const int64_t bytes = d.in.c * (int64_t)gpu_size(a.dtype);
  return !d.in.channels_second && d.times == 1 && bytes % 16 == 0 && ((uintptr_t)a.data | (uintptr_t)b.data) % 16 == 0;
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
    using many = channels_of<T>;
    if (is_wide(d, x, f)) {
      const int64_t n = y.count / (int64_t)(16 / sizeof(T));
      depthwise_wide_kernel<<<gpu_blocks(n), GPU_THREADS, 0, gpu_stream(k)>>>(
          gpu_data<const many>(x), gpu_data<const many>(f), gpu_data<many>(y), n, d);
      return gpu_launched(k);
    }
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
    using many = channels_of<T>;
    if (is_wide(d, dy, f)) {
      const int64_t n = dx.count / (int64_t)(16 / sizeof(T));
      to_input_wide_kernel<<<gpu_blocks(n), GPU_THREADS, 0, gpu_stream(k)>>>(
          gpu_data<const many>(dy), gpu_data<const many>(f), gpu_data<many>(dx), n, d);
      return gpu_launched(k);
    }
    to_input_kernel<<<gpu_blocks(dx.count), GPU_THREADS, 0, gpu_stream(k)>>>(
        gpu_data<const T>(dy), gpu_data<const T>(f), gpu_data<T>(dx), dx.count, d);
    return gpu_launched(k);
  });
}

/* The channels are last.  Enough parts for four blocks on each multiprocessor, of at least 16 pixels a thread. */
template <class T>
static weft_err filter_by_parts(kernel *k, const depthwise &d, const T *x, const T *dy, const gpu_tensor &df) {
  enum { BLOCKS = 4 * 132, LEAST = 16 };
  filter_split by = {32, (uint32_t)(d.out.n * d.out.h * d.out.w), 0};
  while (by.lanes > 1 && by.lanes / 2 >= d.out.c) by.lanes /= 2;
  const uint32_t taps = (uint32_t)(d.w.size[0] * d.w.size[1]), across = ((uint32_t)d.out.c + by.lanes - 1) / by.lanes;
  const uint32_t groups = (taps + TAPS - 1) / TAPS, least = LEAST * (GPU_THREADS / by.lanes);
  uint32_t n = (BLOCKS + across * groups - 1) / (across * groups);
  if (n > (by.pixels + least - 1) / least) n = (by.pixels + least - 1) / least;
  by.each = (by.pixels + n - 1) / n;
  wide<T> *parts;
  WEFT_TRY(gpu_scratch(k, n * df.count, &parts));
  filter_parts_kernel<T><<<dim3(across, n, groups), GPU_THREADS, 0, gpu_stream(k)>>>(x, dy, parts, d, by);
  WEFT_TRY(gpu_launched(k));
  add_parts_kernel<T>
      <<<gpu_blocks(df.count), GPU_THREADS, 0, gpu_stream(k)>>>(parts, gpu_data<T>(df), df.count, (int)n);
  return gpu_launched(k);
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
    if (!d.in.channels_second && d.w.size[0] * d.w.size[1] <= 65535 && pixels > 0)
      return filter_by_parts(k, d, gpu_data<const T>(x), gpu_data<const T>(dy), df);
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
