/* pool.cu - MaxPool and AvgPool on the GPU, and their gradients.
 *
 * A gradient is gathered: each element of the image reads the windows that contain it.  So no atomic additions are
 * needed and results are repeatable.  If windows do not overlap, each window writes its own elements. */
#include "kernels/conv/image.cuh"
#include <float.h>

struct pool_args {
  image in, out;
  spot_window w;
};

/* Finds the rows (columns) of the image that are in window o. */
__device__ inline void window_span(const spot_window &w, int axis, int o, int *begin, int *end) {
  const int first = o * w.stride[axis] - w.before[axis], last = first + w.size[axis];
  *begin = first < 0 ? 0 : first;
  *end = last < w.in[axis] ? last : w.in[axis];
}
/* Finds the windows that contain row (column) i. */
__device__ inline void windows_over(const spot_window &w, int axis, int i, int *begin, int *end) {
  const int at = i + w.before[axis], first = at - w.size[axis] + 1;
  *begin = first <= 0 ? 0 : (first + w.stride[axis] - 1) / w.stride[axis];
  const int last = at / w.stride[axis] + 1;
  *end = last < w.out[axis] ? last : w.out[axis];
}

/* Returns the position of the first maximum in a window. */
template <class T> __device__ int64_t window_best(const pool_args &a, const T *x, int n, int oh, int ow, int c) {
  int h0, h1, w0, w1;
  int64_t best = -1;
  window_span(a.w, 0, oh, &h0, &h1);
  window_span(a.w, 1, ow, &w0, &w1);
  wide<T> max = 0;
  for (int h = h0; h < h1; h++)
    for (int w = w0; w < w1; w++) {
      const int64_t at = image_at(a.in, n, h, w, c);
      const wide<T> v = (wide<T>)x[at];
      if (best < 0 || v > max || (v != v && max == max)) max = v, best = at;
    }
  return best;
}

/* Returns the lowest number of the type: the result of a window that is all padding. */
template <class T> __device__ T lowest() { return sizeof(T) == sizeof(double) ? (T)-DBL_MAX : (T)-FLT_MAX; }

template <class T> __global__ void max_kernel(const T *x, T *y, int64_t count, const pool_args a) {
  GPU_EACH(i, count) {
    const place p = image_place(a.out, i);
    const int64_t best = window_best(a, x, p.n, p.h, p.w, p.c);
    y[i] = best < 0 ? lowest<T>() : x[best];
  }
}

/* The gradient for windows that do not overlap.  Elements in no window have been cleared before. */
template <class T>
__global__ void max_grad_apart_kernel(const T *x, const T *g, T *dx, int64_t count, const pool_args a) {
  GPU_EACH(i, count) {
    const place p = image_place(a.out, i);
    const int64_t best = window_best(a, x, p.n, p.h, p.w, p.c);
    int h0, h1, w0, w1;
    window_span(a.w, 0, p.h, &h0, &h1);
    window_span(a.w, 1, p.w, &w0, &w1);
    const T from = g[i];
    for (int h = h0; h < h1; h++)
      for (int w = w0; w < w1; w++) {
        const int64_t at = image_at(a.in, p.n, h, w, p.c);
        dx[at] = at == best ? from : T(0.f);
      }
  }
}

template <class T> __global__ void best_kernel(const T *x, int *best, int64_t count, const pool_args a) {
  GPU_EACH(i, count) {
    const place p = image_place(a.out, i);
    best[i] = (int)window_best(a, x, p.n, p.h, p.w, p.c);
  }
}

template <class T>
__global__ void max_grad_kernel(const int *best, const T *g, T *dx, int64_t count, const pool_args a) {
  GPU_EACH(i, count) {
    const place p = image_place(a.in, i);
    int h0, h1, w0, w1;
    windows_over(a.w, 0, p.h, &h0, &h1);
    windows_over(a.w, 1, p.w, &w0, &w1);
    wide<T> sum = 0;
    for (int oh = h0; oh < h1; oh++)
      for (int ow = w0; ow < w1; ow++) {
        const uint32_t at = image_at(a.out, p.n, oh, ow, p.c);
        if (best[at] == (int)i) sum += (wide<T>)g[at];
      }
    dx[i] = (T)sum;
  }
}

template <class T> __global__ void mean_kernel(const T *x, T *y, int64_t count, const pool_args a) {
  GPU_EACH(i, count) {
    const place p = image_place(a.out, i);
    int h0, h1, w0, w1;
    window_span(a.w, 0, p.h, &h0, &h1);
    window_span(a.w, 1, p.w, &w0, &w1);
    wide<T> sum = 0;
    for (int h = h0; h < h1; h++)
      for (int w = w0; w < w1; w++) sum += (wide<T>)x[image_at(a.in, p.n, h, w, p.c)];
    y[i] = (T)(sum / (wide<T>)((h1 - h0) * (w1 - w0)));
  }
}

template <class T> __global__ void mean_grad_kernel(const T *g, T *dx, int64_t count, const pool_args a) {
  GPU_EACH(i, count) {
    const place p = image_place(a.in, i);
    int h0, h1, w0, w1, a0, a1, b0, b1;
    windows_over(a.w, 0, p.h, &h0, &h1);
    windows_over(a.w, 1, p.w, &w0, &w1);
    wide<T> sum = 0;
    for (int oh = h0; oh < h1; oh++)
      for (int ow = w0; ow < w1; ow++) {
        window_span(a.w, 0, oh, &a0, &a1);
        window_span(a.w, 1, ow, &b0, &b1);
        sum += (wide<T>)g[image_at(a.out, p.n, oh, ow, p.c)] / (wide<T>)((a1 - a0) * (b1 - b0));
      }
    dx[i] = (T)sum;
  }
}

/* Reads the node's window for an image of this shape. */
static weft_err read_pool(kernel *k, const shape &in, pool_args *a) {
  int64_t size[4];
  const bool second = image_is_second(k);
  const int n = weft__gpu->attr_ints(k, "ksize", size, 4);
  if (n == 4 && (size[0] != 1 || size[second ? 1 : 3] != 1))
    return gpu_fail(k, WEFT_UNIMPLEMENTED, "%s on a GPU pools over height and width alone", weft__gpu->op_name(k));
  a->in = image_of(in, second);
  const int64_t sizes[2] = {a->in.h, a->in.w};
  gpu_window w;
  WEFT_TRY(weft__gpu->window(k, sizes, nullptr, &w));
  a->w = spot(w);
  a->out = a->in;
  a->out.h = w.out[0], a->out.w = w.out[1];
  return WEFT_OK;
}

template <bool is_max> static weft_err pool_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  gpu_tensor y;
  pool_args a;
  WEFT_TRY(image_check(k, x, "tensor_in"));
  WEFT_TRY(read_pool(k, x.shape, &a));
  WEFT_TRY(gpu_out(k, 0, image_shape(a.out), &y));
  if (y.count == 0) return WEFT_OK;
  return gpu_floats(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    auto *const of = is_max ? max_kernel<T> : mean_kernel<T>;
    of<<<gpu_blocks(y.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const T>(x), gpu_data<T>(y), y.count, a);
    return gpu_launched(k);
  });
}

/* Returns true if every element is in a window. */
static bool pool_covers_image(const spot_window &w) {
  bool all = true;
  for (int i = 0; i < 2; i++) all &= w.stride[i] <= w.size[i] && w.out[i] * w.stride[i] - w.before[i] >= w.in[i];
  return all;
}

static weft_err max_grad_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), y = gpu_in(k, 1), g = gpu_in(k, 2);
  gpu_tensor dx;
  pool_args a;
  WEFT_TRY(image_check(k, x, "tensor_in"));
  WEFT_TRY(read_pool(k, x.shape, &a));
  if (!gpu_same_shape(y.shape, image_shape(a.out)) || !gpu_same_shape(g.shape, y.shape))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "tensor_out and the gradient must have the shape of the pooled image");
  WEFT_TRY(gpu_out(k, 0, x.shape, &dx));
  if (dx.count == 0) return WEFT_OK;
  const bool apart = a.w.stride[0] >= a.w.size[0] && a.w.stride[1] >= a.w.size[1];
  int *best = nullptr;
  if (apart && !pool_covers_image(a.w))
    cudaMemsetAsync(dx.data, 0, (size_t)dx.count * gpu_size(dx.dtype), gpu_stream(k));
  else if (!apart)
    WEFT_TRY(gpu_scratch(k, g.count, &best));
  return gpu_floats(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    const cudaStream_t stream = gpu_stream(k);
    const unsigned windows = gpu_blocks(g.count);
    const T *const from = gpu_data<const T>(x), *const grad = gpu_data<const T>(g);
    if (apart) {
      max_grad_apart_kernel<T><<<windows, GPU_THREADS, 0, stream>>>(from, grad, gpu_data<T>(dx), g.count, a);
      return gpu_launched(k);
    }
    best_kernel<T><<<windows, GPU_THREADS, 0, stream>>>(from, best, g.count, a);
    max_grad_kernel<T><<<gpu_blocks(dx.count), GPU_THREADS, 0, stream>>>(best, grad, gpu_data<T>(dx), dx.count, a);
    return gpu_launched(k);
  });
}

static weft_err mean_grad_gpu(kernel *k) {
  const gpu_tensor g = gpu_in(k, 1);
  gpu_tensor dx;
  pool_args a;
  shape s;
  WEFT_TRY(gpu_dims(k, 0, &s));
  if (s.rank != 4) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "out_backprop must be 4-dimensional");
  WEFT_TRY(read_pool(k, s, &a));
  if (!gpu_same_shape(g.shape, image_shape(a.out)))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "the gradient must have the shape of the pooled image");
  WEFT_TRY(gpu_out(k, 0, s, &dx));
  if (dx.count == 0) return WEFT_OK;
  return gpu_floats(k, g.dtype, [&](auto t) {
    using T = decltype(t);
    mean_grad_kernel<T>
        <<<gpu_blocks(dx.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const T>(g), gpu_data<T>(dx), dx.count, a);
    return gpu_launched(k);
  });
}

GPU_OPS(pool) = {
    {"MaxPool", pool_gpu<true>, GPU_FLOATS},
    {"MaxPoolGrad", max_grad_gpu, GPU_FLOATS},
    {"AvgPool", pool_gpu<false>, GPU_FLOATS},
    {"AvgPoolGrad", mean_grad_gpu, GPU_FLOATS, "orig_input_shape"},
    {0},
};
