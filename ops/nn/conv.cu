/* conv.cu - Conv2D and its gradients on the GPU: im2col, which copies windows to rows, then one matrix product.
 *
 * The rows of the matrix are (image, output pixel), the columns (filter row, filter column, channel).  TensorFlow
 * stores a filter in the same order, so the filter and its gradient already are matrices.  A large batch is
 * processed in parts, so that the rows take at most half a gigabyte. 1x1 windows with stride 1 need no im2col. cuDNN
 * computes the convolutions for which it is faster (conv_cudnn.cu). */
#include "kernels/conv/conv.cuh"
#include "kernels/gemm/gemm.cuh"

enum { MAX_ROWS_BYTES = 1 << 29 };

struct rows_args {
  image in, out;
  spot_window w;
  int first, depth; /* the first channel and the number of channels */
};

template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    rows_kernel(const T *x, T *rows, int64_t count, divisor columns, const rows_args a) {
  GPU_EACH(i, count) {
    const uint32_t row = divided((uint32_t)i, columns), c = (uint32_t)i - row * columns.d;
    const uint32_t depth = (uint32_t)a.depth, fw = (uint32_t)a.w.size[1], rs = c / depth, r = rs / fw, s = rs - r * fw;
    const uint32_t ow = (uint32_t)a.out.w, oh = (uint32_t)a.out.h, q = row / ow, n = q / oh;
    const int h = (int)(q - n * oh) * a.w.stride[0] - a.w.before[0] + (int)r * a.w.dilation[0];
    const int w = (int)(row - q * ow) * a.w.stride[1] - a.w.before[1] + (int)s * a.w.dilation[1];
    const bool inside = h >= 0 && h < a.w.in[0] && w >= 0 && w < a.w.in[1];
    rows[i] = inside ? x[image_at(a.in, (int)n, h, w, a.first + (int)(c - rs * depth))] : T();
  }
}

/* Finds the window whose first position is `at` (counted with padding).  Returns false if there is none. */
static __device__ inline bool window_from(int at, int stride, int out, int *o) {
  *o = stride == 1 ? at : at / stride;
  return at >= 0 && *o * stride == at && *o < out;
}

/* col2im: each element of the image sums the positions that it was copied to. */
template <class T>
__global__ void __launch_bounds__(GPU_THREADS) image_kernel(const T *rows, T *dx, int64_t count, const rows_args a) {
  image part = a.in; /* the channels of this group */
  part.c = a.depth;
  const int columns = a.w.size[0] * a.w.size[1] * a.depth;
  GPU_EACH(i, count) {
    const place p = image_place(part, i);
    wide<T> sum = 0;
    for (int r = 0; r < a.w.size[0]; r++) {
      int oh, ow;
      if (!window_from(p.h + a.w.before[0] - r * a.w.dilation[0], a.w.stride[0], a.w.out[0], &oh)) continue;
      for (int s = 0; s < a.w.size[1]; s++) {
        if (!window_from(p.w + a.w.before[1] - s * a.w.dilation[1], a.w.stride[1], a.w.out[1], &ow)) continue;
        const int64_t row = (p.n * a.w.out[0] + oh) * a.w.out[1] + ow;
        sum += (wide<T>)rows[row * columns + (r * a.w.size[1] + s) * a.depth + p.c];
      }
    }
    dx[image_at(a.in, p.n, p.h, p.w, a.first + p.c)] = (T)sum;
  }
}

/* The same with sixteen bytes of channels per thread; the channels are last. */
template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    image_wide_kernel(const channels_of<T> *rows, channels_of<T> *dx, int64_t count, const rows_args a) {
  const int n = 16 / sizeof(T), depth = a.depth / n, columns = a.w.size[0] * a.w.size[1] * depth;
  image part = a.in, whole = a.in; /* counted in groups of channels */
  part.c = depth, whole.c = a.in.c / n;
  GPU_EACH(i, count) {
    const place p = image_place(part, i);
    wide<T> sum[n] = {};
    for (int r = 0, oh; r < a.w.size[0]; r++) {
      if (!window_from(p.h + a.w.before[0] - r * a.w.dilation[0], a.w.stride[0], a.w.out[0], &oh)) continue;
      for (int s = 0, ow; s < a.w.size[1]; s++) {
        if (!window_from(p.w + a.w.before[1] - s * a.w.dilation[1], a.w.stride[1], a.w.out[1], &ow)) continue;
        const int64_t row = ((int64_t)p.n * a.w.out[0] + oh) * a.w.out[1] + ow;
        const channels_of<T> from = rows[row * columns + (r * a.w.size[1] + s) * depth + p.c];
#pragma unroll
        for (int j = 0; j < n; j++) sum[j] += (wide<T>)from.v[j];
      }
    }
    channels_of<T> to;
#pragma unroll
    for (int j = 0; j < n; j++) to.v[j] = (T)sum[j];
    dx[image_at(whole, p.n, p.h, p.w, a.first / n + p.c)] = to;
  }
}

/* ---- reading the node ---- */

static weft_err read_conv(kernel *k, const shape &in, const shape &filter, weft_dtype type, conv *c) {
  *c = conv{};
  if (in.rank != 4 || filter.rank != 4)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input and filter must be 4-dimensional");
  c->in = image_of(in, image_is_second(k));
  c->type = type;
  c->depth = filter.dim[2];
  if (c->depth == 0 || c->in.c % c->depth != 0 || filter.dim[3] % (c->in.c / c->depth) != 0)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input depth %lld does not fit a filter of depth %lld",
                    (long long)c->in.c, (long long)c->depth);
  c->groups = c->in.c / c->depth;
  const int64_t sizes[2] = {c->in.h, c->in.w};
  WEFT_TRY(weft__gpu->window(k, sizes, filter.dim, &c->w));
  c->out = image{c->in.n, c->w.out[0], c->w.out[1], filter.dim[3], c->in.channels_second};
  if (gpu_span(in, 0, 4) > INT32_MAX) return gpu_fail(k, WEFT_UNIMPLEMENTED, "an image of more than 2^31 elements");
  return WEFT_OK;
}

static int64_t columns_of(const conv &c) { return c.w.size[0] * c.w.size[1] * c.depth; }

/* Returns true if the image itself is the matrix of rows. */
static bool is_plain(const conv &c) {
  bool plain = !c.in.channels_second && c.groups == 1;
  for (int i = 0; i < 2; i++) plain &= c.w.size[i] == 1 && c.w.stride[i] == 1 && c.w.out[i] == c.w.in[i];
  return plain;
}

/* Returns the number of images that are processed at once. */
static int64_t conv_part_of(const conv &c) {
  const int64_t bytes = c.out.h * c.out.w * columns_of(c) * (int64_t)gpu_size(c.type);
  const int64_t most = bytes ? MAX_ROWS_BYTES / bytes : c.in.n;
  return most < 1 ? 1 : most > c.in.n ? c.in.n : most;
}

/* One unit of work: images [at, at + n) and one group. */
struct part {
  int64_t at, n, group, rows;
  const char *x; /* the first of these images */
  void *matrix;  /* scratch memory for the rows, or the images themselves */
};
typedef weft_err part_fn(kernel *k, const conv &c, const part &p, const void *other, void *result);

static rows_args conv_rows_of(const conv &c, const part &p) {
  rows_args a = {c.in, c.out, spot(c.w), (int)(p.group * c.depth), (int)c.depth};
  a.in.n = a.out.n = p.n;
  return a;
}

static weft_err lay_rows(kernel *k, const conv &c, const part &p) {
  if (p.matrix == p.x) return WEFT_OK;
  const int64_t columns = columns_of(c), count = p.rows * columns;
  rows_args a = conv_rows_of(c, p);
  const size_t size = gpu_size(c.type);
  const bool wide = !c.in.channels_second && (uint64_t)c.depth * size % 16 == 0 && (uintptr_t)p.x % 16 == 0;
  if (wide) { /* sixteen bytes of channels at a time */
    const int by = (int)(16 / size);
    a.first /= by, a.depth /= by, a.in.c /= by;
    rows_kernel<<<gpu_blocks(count / by), GPU_THREADS, 0, gpu_stream(k)>>>((const uint4 *)p.x, (uint4 *)p.matrix,
                                                                           count / by, divisor_of(columns / by), a);
    return gpu_launched(k);
  }
  return gpu_moved(k, c.type, [&](auto t) {
    using T = decltype(t);
    rows_kernel<<<gpu_blocks(count), GPU_THREADS, 0, gpu_stream(k)>>>((const T *)p.x, (T *)p.matrix, count,
                                                                      divisor_of(columns), a);
    return gpu_launched(k);
  });
}

/* Calls the function for each part of the batch and each group. x is the image, or its gradient to be computed. */
static weft_err each_part(kernel *k, const conv &c, const void *x, const void *other, void *result, part_fn *fn) {
  const int64_t step = conv_part_of(c), pixels = c.out.h * c.out.w;
  const size_t image_bytes = (size_t)(c.in.h * c.in.w * c.in.c) * gpu_size(c.type);
  if (!is_plain(c) && !c.room)
    WEFT_TRY(weft__gpu->scratch(k, (size_t)(step * pixels * columns_of(c)) * gpu_size(c.type), &c.room));
  for (int64_t at = 0; at < c.in.n; at += step)
    for (int64_t group = 0; group < c.groups; group++) {
      const int64_t n = c.in.n - at < step ? c.in.n - at : step;
      part p = {at, n, group, n * pixels, (const char *)x + (size_t)at * image_bytes, c.room};
      if (!c.room) p.matrix = (void *)p.x;
      WEFT_TRY(fn(k, c, p, other, result));
    }
  return WEFT_OK;
}

/* Returns the pixels of the output (or its gradient) that belong to a part. */
static char *output_at(const conv &c, const part &p, const void *y) {
  const int64_t pixels = c.out.h * c.out.w, filters = c.out.c / c.groups;
  const int64_t at = p.at * pixels * c.out.c + p.group * filters * (c.out.channels_second ? pixels : 1);
  return (char *)y + (size_t)at * gpu_size(c.type);
}

/* Returns the filters of a group: columns of the matrix (size of a window, filters). */
static char *filter_at(const conv &c, const part &p, const void *f) {
  return (char *)f + (size_t)(p.group * (c.out.c / c.groups)) * gpu_size(c.type);
}

/* ---- forward ---- */

static weft_err conv_forward(kernel *k, const conv &c, const part &p, const void *filter, void *y) {
  const int64_t columns = columns_of(c), filters = c.out.c / c.groups, pixels = c.out.h * c.out.w;
  WEFT_TRY(lay_rows(k, c, p));
  gpu_gemm g = {};
  g.type = c.type;
  g.k = columns;
  g.c = output_at(c, p, y);
  if (!c.out.channels_second) { /* (rows, columns) times (columns, filters) */
    g.m = p.rows, g.n = filters;
    g.a = p.matrix, g.lda = columns;
    g.b = filter_at(c, p, filter), g.ldb = c.out.c;
    g.ldc = c.out.c;
    return gpu_gemm_run(k, g);
  }
  g.m = filters, g.n = pixels, g.batch = (int)p.n; /* computes the transpose for each image */
  g.a = filter_at(c, p, filter), g.lda = c.out.c, g.flip_a = true;
  g.b = p.matrix, g.ldb = columns, g.flip_b = true;
  g.ldc = pixels;
  g.step_a = 0, g.step_b = pixels * columns, g.step_c = pixels * c.out.c;
  return gpu_gemm_run(k, g);
}

/* ---- gradients: y is dy with its channels last, as a matrix (pixels, filters) ---- */

gpu_mover *weft__gpu_mover(); /* move.cu */

static weft_err channels_last(kernel *k, const conv &c, const gpu_tensor &dy, void **out) {
  *out = dy.data;
  if (!c.out.channels_second || dy.count == 0) return WEFT_OK;
  const int64_t size = (int64_t)gpu_size(c.type), pixels = c.out.h * c.out.w, filters = c.out.c;
  void *transposed;
  WEFT_TRY(weft__gpu->scratch(k, (size_t)(dy.count * size), &transposed));
  const int64_t dim[] = {c.out.n, pixels, filters}, to[] = {pixels * filters * size, filters * size, size};
  const int64_t from[] = {pixels * filters * size, size, pixels * size};
  *out = transposed;
  return weft__gpu_mover()(k, (size_t)size, transposed, dy.data, 3, dim, to, from);
}

static const char *gradient_at(const conv &c, const part &p, const void *dy) {
  const int64_t at = p.at * c.out.h * c.out.w * c.out.c + p.group * (c.out.c / c.groups);
  return (const char *)dy + (size_t)at * gpu_size(c.type);
}

static weft_err filter_part(kernel *k, const conv &c, const part &p, const void *dy, void *df) {
  WEFT_TRY(lay_rows(k, c, p));
  gpu_gemm g = {};
  g.type = c.type;
  g.m = columns_of(c), g.n = c.out.c / c.groups, g.k = p.rows;
  g.a = p.matrix, g.lda = g.m, g.flip_a = true;
  g.b = gradient_at(c, p, dy), g.ldb = c.out.c;
  g.c = filter_at(c, p, df), g.ldc = c.out.c;
  g.beta = p.at > 0; /* accumulates over the parts of a batch */
  return gpu_gemm_run(k, g);
}

static weft_err input_part(kernel *k, const conv &c, const part &p, const void *both, void *) {
  const void *const *in = (const void *const *)both; /* the filter and dy */
  gpu_gemm g = {};
  g.type = c.type;
  g.m = p.rows, g.n = columns_of(c), g.k = c.out.c / c.groups;
  g.a = gradient_at(c, p, in[1]), g.lda = c.out.c;
  g.b = filter_at(c, p, in[0]), g.ldb = c.out.c, g.flip_b = true;
  g.c = p.matrix, g.ldc = g.n;
  WEFT_TRY(gpu_gemm_run(k, g));
  if (p.matrix == p.x) return WEFT_OK;
  const int64_t count = p.n * c.in.h * c.in.w * c.depth;
  const rows_args a = conv_rows_of(c, p);
  const bool aligned = (uint64_t)c.depth * gpu_size(c.type) % 16 == 0 && (uintptr_t)p.x % 16 == 0;
  return gpu_floats(k, c.type, [&](auto t) {
    using T = decltype(t);
    if (aligned && !c.in.channels_second) {
      const int64_t groups = count / (int64_t)(16 / sizeof(T));
      image_wide_kernel<T><<<gpu_blocks(groups), GPU_THREADS, 0, gpu_stream(k)>>>((const channels_of<T> *)p.matrix,
                                                                                  (channels_of<T> *)p.x, groups, a);
      return gpu_launched(k);
    }
    image_kernel<<<gpu_blocks(count), GPU_THREADS, 0, gpu_stream(k)>>>((const T *)p.matrix, (T *)p.x, count, a);
    return gpu_launched(k);
  });
}

/* ---- the ops ---- */

static weft_err by_rows(kernel *k, const conv &c) {
  const void *in[2] = {c.filter, c.y};
  switch (c.way) {
  case CONV_FORWARD: return each_part(k, c, c.x, c.filter, c.y, conv_forward);
  case CONV_TO_FILTER: return each_part(k, c, c.x, c.y, c.filter, filter_part);
  default: return each_part(k, c, c.x, in, nullptr, input_part);
  }
}

static conv_shape conv_shape_of(const conv &c) {
  conv_shape s = {c.way, c.type, 2, c.in.n, c.in.c, c.out.c};
  for (int i = 0; i < 2; i++) {
    s.in[i] = c.w.in[i], s.out[i] = c.w.out[i], s.size[i] = c.w.size[i], s.stride[i] = c.w.stride[i];
    s.dilation[i] = c.w.dilation[i], s.before[i] = c.w.before[i];
  }
  return s;
}

static weft_err run_conv(kernel *k, conv &c) {
  const conv_other other = {[](kernel *node, void *it) { return by_rows(node, *(const conv *)it); }, &c};
  bool done = false;
  if (!is_plain(c) && c.groups == 1 && !c.in.channels_second)
    WEFT_TRY(gpu_cudnn_conv(k, conv_shape_of(c), {c.x, c.filter, c.y}, other, &done));
  return done ? WEFT_OK : by_rows(k, c);
}

static weft_err conv_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), f = gpu_in(k, 1);
  gpu_tensor y;
  conv c;
  WEFT_TRY(read_conv(k, x.shape, f.shape, x.dtype, &c));
  WEFT_TRY(gpu_out(k, 0, image_shape(c.out), &y));
  if (y.count == 0) return WEFT_OK;
  c.way = CONV_FORWARD, c.x = x.data, c.filter = f.data, c.y = y.data;
  return run_conv(k, c);
}

static weft_err check_gradient(kernel *k, const conv &c, const gpu_tensor &dy) {
  if (gpu_same_shape(dy.shape, image_shape(c.out))) return WEFT_OK;
  return gpu_fail(k, WEFT_INVALID_ARGUMENT, "the gradient has not the shape of the convolution's result");
}

static weft_err filter_grad_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), dy = gpu_in(k, 2);
  gpu_tensor df;
  conv c;
  shape s;
  WEFT_TRY(gpu_dims(k, 1, &s));
  WEFT_TRY(read_conv(k, x.shape, s, x.dtype, &c));
  WEFT_TRY(check_gradient(k, c, dy));
  WEFT_TRY(gpu_out(k, 0, s, &df));
  if (df.count == 0) return WEFT_OK;
  if (dy.count == 0) {
    cudaMemsetAsync(df.data, 0, (size_t)df.count * gpu_size(c.type), gpu_stream(k));
    return gpu_launched(k);
  }
  c.way = CONV_TO_FILTER, c.x = x.data, c.filter = df.data;
  WEFT_TRY(channels_last(k, c, dy, &c.y));
  return run_conv(k, c);
}

static weft_err input_grad_gpu(kernel *k) {
  const gpu_tensor f = gpu_in(k, 1), dy = gpu_in(k, 2);
  gpu_tensor dx;
  conv c;
  shape s;
  WEFT_TRY(gpu_dims(k, 0, &s));
  if (s.rank == 2 && dy.shape.rank == 4) { /* only height and width: the rest is inferred */
    const bool second = image_is_second(k);
    const int64_t last[] = {dy.shape.dim[0], s.dim[0], s.dim[1], f.shape.dim[2]};
    const int64_t first[] = {dy.shape.dim[0], f.shape.dim[2], s.dim[0], s.dim[1]};
    s = gpu_shape(4, second ? first : last);
  }
  WEFT_TRY(read_conv(k, s, f.shape, dy.dtype, &c));
  WEFT_TRY(check_gradient(k, c, dy));
  WEFT_TRY(gpu_out(k, 0, s, &dx));
  if (dx.count == 0) return WEFT_OK;
  if (dy.count == 0) {
    cudaMemsetAsync(dx.data, 0, (size_t)dx.count * gpu_size(c.type), gpu_stream(k));
    return gpu_launched(k);
  }
  c.way = CONV_TO_INPUT, c.x = dx.data, c.filter = f.data;
  WEFT_TRY(channels_last(k, c, dy, &c.y));
  return run_conv(k, c);
}

GPU_OPS(conv) = {
    {"Conv2D", conv_gpu, GPU_FLOATS},
    {"Conv2DBackpropFilter", filter_grad_gpu, GPU_FLOATS, "filter_sizes"},
    {"Conv2DBackpropInput", input_grad_gpu, GPU_FLOATS, "input_sizes"},
    {0},
};
