/* resize.cu - resizes images on the GPU, and the gradients. resize.c has the formulas; each thread computes one
 * element.
 *
 * A gradient is summed atomically.  If several pixels contribute to one, their order is undefined, as in TensorFlow
 * on a GPU. */
#include "kernels/conv/image.cuh"

struct resize_args {
  image in, out; /* `in` is read at the positions of `out` */
  float scale[2];
  bool align, centers;
};

struct between { /* the two input rows (columns) around an output row (column) */
  int low, high;
  float part;
};

__device__ inline between between_of(const resize_args &a, int axis, int i) {
  const int in = (int)(axis ? a.in.w : a.in.h);
  const float at = a.centers ? ((float)i + 0.5f) * a.scale[axis] - 0.5f : (float)i * a.scale[axis], low = floorf(at);
  return between{low > 0 ? (int)low : 0, min((int)ceilf(at), in - 1), at - low};
}

__device__ inline int nearest_of(const resize_args &a, int axis, int i) {
  const int in = (int)(axis ? a.in.w : a.in.h);
  const float at = a.centers ? ((float)i + 0.5f) * a.scale[axis] : (float)i * a.scale[axis];
  return max(0, min((int)(a.align ? roundf(at) : floorf(at)), in - 1));
}

template <class T> __global__ void bilinear_kernel(const T *x, float *y, int64_t count, const resize_args a) {
  GPU_EACH(i, count) {
    const place p = image_place(a.out, i);
    const between v = between_of(a, 0, p.h), h = between_of(a, 1, p.w);
    const auto at = [&](int row, int column) { return (float)x[image_at(a.in, p.n, row, column, p.c)]; };
    const float up = at(v.low, h.low) + (at(v.low, h.high) - at(v.low, h.low)) * h.part;
    const float down = at(v.high, h.low) + (at(v.high, h.high) - at(v.high, h.low)) * h.part;
    y[i] = up + (down - up) * v.part;
  }
}

static __global__ void bilinear_grad_kernel(const float *dy, float *dx, int64_t count, const resize_args a) {
  GPU_EACH(i, count) {
    const place p = image_place(a.out, i);
    const between v = between_of(a, 0, p.h), h = between_of(a, 1, p.w);
    const auto give = [&](int row, int column, float g) { atomicAdd(dx + image_at(a.in, p.n, row, column, p.c), g); };
    give(v.low, h.low, dy[i] * (1 - v.part) * (1 - h.part));
    give(v.low, h.high, dy[i] * (1 - v.part) * h.part);
    give(v.high, h.low, dy[i] * v.part * (1 - h.part));
    give(v.high, h.high, dy[i] * v.part * h.part);
  }
}

template <class T> __global__ void nearest_kernel(const T *x, T *y, int64_t count, const resize_args a) {
  GPU_EACH(i, count) {
    const place p = image_place(a.out, i);
    y[i] = x[image_at(a.in, p.n, nearest_of(a, 0, p.h), nearest_of(a, 1, p.w), p.c)];
  }
}

template <class T> __global__ void nearest_grad_kernel(const T *dy, T *dx, int64_t count, const resize_args a) {
  GPU_EACH(i, count) {
    const place p = image_place(a.out, i);
    atomicAdd(dx + image_at(a.in, p.n, nearest_of(a, 0, p.h), nearest_of(a, 1, p.w), p.c), dy[i]);
  }
}

/* ---- reading the node ---- */

static weft_err set_scales(kernel *k, resize_args *a) {
  a->align = weft__gpu->attr_bool(k, "align_corners", false);
  a->centers = weft__gpu->attr_bool(k, "half_pixel_centers", false);
  if (a->align && a->centers)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "If half_pixel_centers is True, align_corners must be False.");
  const int64_t in[] = {a->in.h, a->in.w}, out[] = {a->out.h, a->out.w};
  for (int i = 0; i < 2; i++)
    a->scale[i] = a->align && out[i] > 1 ? (float)(in[i] - 1) / (float)(out[i] - 1) : (float)in[i] / (float)out[i];
  return WEFT_OK;
}

/* Reads a height and a width from input i, which is in host memory. */
static weft_err resize_read_size(kernel *k, int i, image *m) {
  const gpu_tensor t = gpu_in(k, i);
  if (t.shape.rank != 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "shape_t must be 1-dimensional");
  if (t.count != 2) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "shape_t must have two elements");
  m->h = gpu_int(t, 0), m->w = gpu_int(t, 1);
  return m->h > 0 && m->w > 0 ? WEFT_OK : gpu_fail(k, WEFT_INVALID_ARGUMENT, "output dimensions must be positive");
}

static weft_err resize_check_image(kernel *k, const gpu_tensor &x) {
  WEFT_TRY(image_check(k, x, "input"));
  if (x.shape.dim[3] <= 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "image must have at least one channel");
  if (x.shape.dim[1] > 0 && x.shape.dim[2] > 0) return WEFT_OK;
  return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input image must be of non-zero size");
}

static weft_err resize_begin(kernel *k, resize_args *a, gpu_tensor *y) {
  const gpu_tensor x = gpu_in(k, 0);
  WEFT_TRY(resize_check_image(k, x));
  a->in = a->out = image_of(x.shape, false);
  WEFT_TRY(resize_read_size(k, 1, &a->out));
  WEFT_TRY(set_scales(k, a));
  return gpu_out(k, 0, image_shape(a->out), y);
}

static weft_err bilinear_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  resize_args a;
  gpu_tensor y;
  WEFT_TRY(resize_begin(k, &a, &y));
  if (y.count == 0) return WEFT_OK;
  return gpu_floats(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    bilinear_kernel<<<gpu_blocks(y.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const T>(x), gpu_data<float>(y),
                                                                            y.count, a);
    return gpu_launched(k);
  });
}

static weft_err nearest_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  resize_args a;
  gpu_tensor y;
  WEFT_TRY(resize_begin(k, &a, &y));
  if (y.count == 0) return WEFT_OK;
  return gpu_moved(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    nearest_kernel<<<gpu_blocks(y.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const T>(x), gpu_data<T>(y),
                                                                           y.count, a);
    return gpu_launched(k);
  });
}

static weft_err resize_clear(kernel *k, const gpu_tensor &t) {
  cudaMemsetAsync(t.data, 0, (size_t)t.count * gpu_size(t.dtype), gpu_stream(k));
  return gpu_launched(k);
}

static weft_err bilinear_grad_gpu(kernel *k) {
  const gpu_tensor dy = gpu_in(k, 0), x = gpu_in(k, 1);
  resize_args a;
  gpu_tensor dx;
  WEFT_TRY(image_check(k, dy, "input_grad"));
  WEFT_TRY(image_check(k, x, "original_image"));
  a.in = image_of(x.shape, false), a.out = image_of(dy.shape, false);
  WEFT_TRY(set_scales(k, &a));
  WEFT_TRY(gpu_out(k, 0, x.shape, &dx));
  if (dx.count == 0) return WEFT_OK;
  WEFT_TRY(resize_clear(k, dx));
  bilinear_grad_kernel<<<gpu_blocks(dy.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const float>(dy),
                                                                                gpu_data<float>(dx), dy.count, a);
  return gpu_launched(k);
}

static weft_err nearest_grad_gpu(kernel *k) {
  const gpu_tensor dy = gpu_in(k, 0);
  resize_args a;
  gpu_tensor dx;
  WEFT_TRY(resize_check_image(k, dy));
  a.in = a.out = image_of(dy.shape, false);
  WEFT_TRY(resize_read_size(k, 1, &a.in));
  WEFT_TRY(set_scales(k, &a));
  WEFT_TRY(gpu_out(k, 0, image_shape(a.in), &dx));
  if (dx.count == 0) return WEFT_OK;
  WEFT_TRY(resize_clear(k, dx));
  const auto launch = [&](auto t) {
    using T = decltype(t);
    nearest_grad_kernel<<<gpu_blocks(dy.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const T>(dy), gpu_data<T>(dx),
                                                                                 dy.count, a);
    return gpu_launched(k);
  };
  return dy.dtype == WEFT_FLOAT ? launch(float()) : dy.dtype == WEFT_DOUBLE ? launch(double()) : launch(int32_t());
}

GPU_OPS(resize) = {
    {"ResizeBilinear", bilinear_gpu, GPU_FLOATS, "size"},
    {"ResizeBilinearGrad", bilinear_grad_gpu, GPU_TYPE(WEFT_FLOAT)},
    {"ResizeNearestNeighbor", nearest_gpu, GPU_REALS, "size"},
    {"ResizeNearestNeighborGrad", nearest_grad_gpu, GPU_TYPE(WEFT_FLOAT) | GPU_TYPE(WEFT_DOUBLE) | GPU_TYPE(WEFT_INT32),
     "size"},
    {0},
};
