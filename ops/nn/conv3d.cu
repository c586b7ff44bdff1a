/* conv3d.cu - Conv3D and its gradients on the GPU, by cuDNN (kernels/conv/conv_cudnn.cu) where it is faster than what
 * is here: im2col, which copies windows to rows, then one matrix product.
 *
 * The rows of the matrix are (volume, output position), the columns (filter depth, row, column, channel), which is the
 * order of TensorFlow's filter.  Rows are made in blocks of at most half a gigabyte.  For the gradient by the input, a
 * block is all rows that some planes of the volumes take part in, so that each element is summed once, and by one
 * thread. 1x1x1 windows with stride 1 need no im2col. */
#include "kernels/conv/conv.cuh"
#include "kernels/conv/volume.cuh"
#include "kernels/elementwise/elementwise.cuh"
#include "kernels/gemm/gemm.cuh"

enum { BLOCK_BYTES = 1 << 29 };

struct conv3d {
  volume in, out;
  volume_window w;
  weft_dtype type;
  int64_t groups, depth;     /* channels that one filter sees */
  int64_t in_pixels, pixels; /* positions of one volume of the input and of the output */
  int64_t columns, filters;  /* of the matrix of rows; filters of one group */
  void *room;                /* memory for a block of rows, once there is some; NULL if the volume is the matrix */
  conv_way way;
  void *x, *filter, *y; /* one of them is the result; gradients have y with its channels last */
};

struct block_args {
  volume in, out;
  volume_window w;
  int first, depth;  /* the first channel and the number of channels */
  int64_t begin;     /* row 0 of the matrix is this output position, counted over all volumes */
  int plane, planes; /* for the gradient by the input: planes of the volume whose elements are summed */
};

template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    volume_rows_kernel(const T *x, T *rows, int64_t count, divisor columns, const block_args a) {
  GPU_EACH(i, count) {
    const uint32_t row = divided((uint32_t)i, columns), c = (uint32_t)i - row * columns.d, depth = (uint32_t)a.depth;
    int at[3], tap[3];
    volume_unflatten(c / depth, a.w.size, tap);
    const int n = (int)volume_unflatten((uint32_t)(a.begin + row), a.w.out, at);
    bool inside = true;
#pragma unroll
    for (int j = 0; j < 3; j++) {
      at[j] = at[j] * a.w.stride[j] - a.w.before[j] + tap[j] * a.w.dilation[j];
      inside = inside && at[j] >= 0 && at[j] < a.w.in[j];
    }
    rows[i] = inside ? x[volume_at(a.in, n, at, a.first + (int)(c % depth))] : T();
  }
}

/* Finds the window whose first position is `at` (counted with padding).  Returns false if there is none. */
static __device__ inline bool window_from(int at, int stride, int out, int *o) {
  *o = at / stride;
  return at >= 0 && *o * stride == at && *o < out;
}

/* col2im: each element of the planes sums the positions that it was copied to. */
template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    volume_sums_kernel(const T *rows, T *dx, int64_t count, int64_t columns, const block_args a) {
  const int sizes[3] = {a.planes, a.w.in[1], a.w.in[2]};
  GPU_EACH(i, count) {
    int at[3], o[3], tap[3];
    const int c = (int)((uint32_t)i % (uint32_t)a.depth);
    const int n = (int)volume_unflatten((uint32_t)i / (uint32_t)a.depth, sizes, at);
    at[0] += a.plane;
    wide<T> sum = 0;
    for (tap[0] = 0; tap[0] < a.w.size[0]; tap[0]++) {
      if (!window_from(at[0] + a.w.before[0] - tap[0] * a.w.dilation[0], a.w.stride[0], a.w.out[0], &o[0])) continue;
      for (tap[1] = 0; tap[1] < a.w.size[1]; tap[1]++) {
        if (!window_from(at[1] + a.w.before[1] - tap[1] * a.w.dilation[1], a.w.stride[1], a.w.out[1], &o[1])) continue;
        for (tap[2] = 0; tap[2] < a.w.size[2]; tap[2]++) {
          if (!window_from(at[2] + a.w.before[2] - tap[2] * a.w.dilation[2], a.w.stride[2], a.w.out[2], &o[2]))
            continue;
          const int64_t row = (((int64_t)n * a.w.out[0] + o[0]) * a.w.out[1] + o[1]) * a.w.out[2] + o[2] - a.begin;
          sum += (wide<T>)rows[row * columns + (int64_t)volume_pixel(tap, a.w.size) * a.depth + c];
        }
      }
    }
    dx[volume_at(a.in, n, at, a.first + c)] = (T)sum;
  }
}

/* ---- reading the node ---- */

static weft_err conv3d_read(kernel *k, const shape &in, const shape &filter, weft_dtype type, conv3d *c) {
  gpu_volume_window w;
  *c = conv3d{};
  WEFT_TRY(volume_read(k, in, &filter, &w));
  c->type = type;
  c->w = volume_window_of(w);
  c->in = volume_of(in, w.channels_second, w.in);
  c->out = volume_of(in, w.channels_second, w.out);
  c->out.c = (int)filter.dim[4];
  c->depth = filter.dim[3];
  c->groups = c->in.c / c->depth;
  c->in_pixels = w.in[0] * w.in[1] * w.in[2], c->pixels = w.out[0] * w.out[1] * w.out[2];
  c->columns = w.size[0] * w.size[1] * w.size[2] * c->depth;
  c->filters = c->out.c / c->groups;
  if (c->columns > INT32_MAX) return gpu_fail(k, WEFT_UNIMPLEMENTED, "a filter of more than 2^31 elements");
  return WEFT_OK;
}

static int64_t conv3d_size(const conv3d &c) { return (int64_t)gpu_size(c.type); }

/* Returns true if the volume itself is the matrix of rows. */
static bool conv3d_is_plain(const conv3d &c) {
  bool plain = !c.in.channels_second && c.groups == 1;
  for (int i = 0; i < 3; i++) plain &= c.w.size[i] == 1 && c.w.stride[i] == 1 && c.w.out[i] == c.w.in[i];
  return plain;
}

/* Returns how many rows fit into a block; at least one. */
static int64_t conv3d_block(const conv3d &c) {
  const int64_t most = BLOCK_BYTES / (c.columns * conv3d_size(c));
  return most < 1 ? 1 : most;
}

static weft_err conv3d_make_room(kernel *k, conv3d *c, int64_t rows) {
  if (c->room || conv3d_is_plain(*c)) return WEFT_OK;
  return weft__gpu->scratch(k, (size_t)(rows * c->columns * conv3d_size(*c)), &c->room);
}

static block_args conv3d_args(const conv3d &c, int64_t group, int64_t begin) {
  return {c.in, c.out, c.w, (int)(group * c.depth), (int)c.depth, begin, 0, c.w.in[0]};
}

/* Returns the columns of the matrix (columns, filters) that a group has. */
static char *conv3d_filter_at(const conv3d &c, const void *f, int64_t group) {
  return (char *)f + group * c.filters * conv3d_size(c);
}

/* Stores the rows [begin, begin + count) of a group in `matrix`, or finds them in the volume. */
static weft_err conv3d_rows(kernel *k, const conv3d &c, const void *x, int64_t group, int64_t begin, int64_t count,
                            void **matrix) {
  const size_t size = gpu_size(c.type);
  block_args a = conv3d_args(c, group, begin);
  if (conv3d_is_plain(c)) {
    *matrix = (char *)x + begin * c.columns * (int64_t)size;
    return WEFT_OK;
  }
  int64_t n = count * c.columns, columns = c.columns;
  if (!c.in.channels_second && (uint64_t)c.depth * size % 16 == 0 && (uintptr_t)x % 16 == 0) {
    const int by = (int)(16 / size); /* sixteen bytes of channels at a time */
    a.first /= by, a.depth /= by, a.in.c /= by, n /= by, columns /= by;
    volume_rows_kernel<<<gpu_blocks(n), GPU_THREADS, 0, gpu_stream(k)>>>((const uint4 *)x, (uint4 *)*matrix, n,
                                                                         divisor_of(columns), a);
    return gpu_launched(k);
  }
  return gpu_moved(k, c.type, [&](auto t) {
    using T = decltype(t);
    volume_rows_kernel<<<gpu_blocks(n), GPU_THREADS, 0, gpu_stream(k)>>>((const T *)x, (T *)*matrix, n,
                                                                         divisor_of(columns), a);
    return gpu_launched(k);
  });
}

/* ---- forward ---- */

/* Multiplies rows [begin, begin + count), of one volume if the channels are second. */
static weft_err forward_block(kernel *k, const conv3d &c, const void *matrix, const void *f, void *y, int64_t group,
                              int64_t begin, int64_t count) {
  gpu_gemm g = {};
  g.type = c.type;
  g.k = c.columns;
  if (!c.out.channels_second) { /* (rows, columns) times (columns, filters) */
    g.m = count, g.n = c.filters;
    g.a = matrix, g.lda = c.columns;
    g.b = conv3d_filter_at(c, f, group), g.ldb = c.out.c;
    g.c = (char *)y + (begin * c.out.c + group * c.filters) * conv3d_size(c), g.ldc = c.out.c;
    return gpu_gemm_run(k, g);
  }
  const int64_t n = begin / c.pixels, channel = n * c.out.c + group * c.filters;
  g.m = c.filters, g.n = count; /* the transpose */
  g.a = conv3d_filter_at(c, f, group), g.lda = c.out.c, g.flip_a = true;
  g.b = matrix, g.ldb = c.columns, g.flip_b = true;
  g.c = (char *)y + (channel * c.pixels + begin % c.pixels) * conv3d_size(c), g.ldc = c.pixels;
  return gpu_gemm_run(k, g);
}

static weft_err forward_all(kernel *k, conv3d &c) {
  const int64_t all = c.in.n * c.pixels, unit = c.out.channels_second ? c.pixels : all, most = conv3d_block(c);
  const int64_t block = unit < most ? unit : most;
  WEFT_TRY(conv3d_make_room(k, &c, block));
  for (int64_t group = 0; group < c.groups; group++)
    for (int64_t begin = 0, count; begin < all; begin += count) {
      const int64_t end = (begin / unit + 1) * unit;
      count = end - begin < block ? end - begin : block;
      void *matrix = c.room;
      WEFT_TRY(conv3d_rows(k, c, c.x, group, begin, count, &matrix));
      WEFT_TRY(forward_block(k, c, matrix, c.filter, c.y, group, begin, count));
    }
  return WEFT_OK;
}

/* ---- gradients: dy has its channels last, as a matrix (positions, filters) ---- */

gpu_mover *weft__gpu_mover(); /* move.cu */

static weft_err conv3d_last(kernel *k, const conv3d &c, const gpu_tensor &dy, void **out) {
  *out = dy.data;
  if (!c.out.channels_second) return WEFT_OK;
  const int64_t size = conv3d_size(c), filters = c.out.c;
  void *transposed;
  WEFT_TRY(weft__gpu->scratch(k, (size_t)(dy.count * size), &transposed));
  const int64_t dim[] = {c.out.n, c.pixels, filters}, to[] = {c.pixels * filters * size, filters * size, size};
  const int64_t from[] = {c.pixels * filters * size, size, c.pixels * size};
  *out = transposed;
  return weft__gpu_mover()(k, (size_t)size, transposed, dy.data, 3, dim, to, from);
}

static const void *conv3d_gradient_at(const conv3d &c, const void *dy, int64_t group, int64_t begin) {
  return (const char *)dy + (begin * c.out.c + group * c.filters) * conv3d_size(c);
}

static weft_err filter_all(kernel *k, conv3d &c) {
  const int64_t all = c.in.n * c.pixels, most = conv3d_block(c), block = all < most ? all : most;
  WEFT_TRY(conv3d_make_room(k, &c, block));
  for (int64_t group = 0; group < c.groups; group++)
    for (int64_t begin = 0; begin < all; begin += block) {
      gpu_gemm g = {};
      void *matrix = c.room;
      g.type = c.type;
      g.m = c.columns, g.n = c.filters, g.k = all - begin < block ? all - begin : block;
      WEFT_TRY(conv3d_rows(k, c, c.x, group, begin, g.k, &matrix));
      g.a = matrix, g.lda = c.columns, g.flip_a = true;
      g.b = conv3d_gradient_at(c, c.y, group, begin), g.ldb = c.out.c;
      g.c = conv3d_filter_at(c, c.filter, group), g.ldc = c.out.c;
      g.beta = begin > 0; /* accumulates over the blocks */
      WEFT_TRY(gpu_gemm_run(k, g));
    }
  return WEFT_OK;
}

/* The windows over `planes` planes of a volume from `plane` on: [begin, end) along its depth. */
struct slab {
  int plane, planes, begin, end;
};
static slab slab_of(const volume_window &w, int plane, int planes) {
  const int first = plane + w.before[0] - (w.size[0] - 1) * w.dilation[0], last = plane + planes - 1 + w.before[0];
  slab s = {plane, planes, first <= 0 ? 0 : (first + w.stride[0] - 1) / w.stride[0], last / w.stride[0] + 1};
  if (s.end > w.out[0]) s.end = w.out[0];
  if (s.begin > s.end) s.begin = s.end;
  return s;
}
/* Returns the most windows along the depth that a slab of so many planes has. */
static int64_t slab_depth(const conv3d &c, int64_t planes) {
  const int64_t n = (planes - 1 + (c.w.size[0] - 1) * (int64_t)c.w.dilation[0]) / c.w.stride[0] + 1;
  return n < c.w.out[0] ? n : c.w.out[0];
}
/* Returns the number of planes whose rows fit into a block: all, or as many as do; at least one. */
static int slab_planes(const conv3d &c) {
  const int64_t plane = (int64_t)c.w.out[1] * c.w.out[2];
  int planes = c.w.in[0];
  while (planes > 1 && slab_depth(c, planes) * plane > conv3d_block(c)) planes /= 2;
  return planes;
}

/* Computes a slab of volumes[1] volumes from volumes[0] on; of several, if the slab is all planes and windows. */
static weft_err input_block(kernel *k, const conv3d &c, const void *const in[2], void *dx, const slab &s, int64_t group,
                            const int64_t volumes[2]) {
  const int64_t n = volumes[0], plane = (int64_t)c.w.out[1] * c.w.out[2];
  const int64_t begin = n * c.pixels + s.begin * plane;
  const int64_t rows = volumes[1] * (s.end - s.begin) * plane;
  void *const matrix = c.room ? c.room : (char *)dx + begin * c.columns * conv3d_size(c);
  gpu_gemm g = {};
  g.type = c.type;
  g.m = rows, g.n = c.columns, g.k = c.filters;
  g.a = conv3d_gradient_at(c, in[1], group, begin), g.lda = c.out.c;
  g.b = conv3d_filter_at(c, in[0], group), g.ldb = c.out.c, g.flip_b = true;
  g.c = matrix, g.ldc = g.n;
  WEFT_TRY(gpu_gemm_run(k, g));
  if (!c.room) return WEFT_OK;
  block_args a = conv3d_args(c, group, begin - n * c.pixels);
  a.plane = s.plane, a.planes = s.planes;
  const int64_t count = volumes[1] * s.planes * c.w.in[1] * c.w.in[2] * c.depth;
  return gpu_floats(k, c.type, [&](auto t) {
    using T = decltype(t);
    T *const to = (T *)dx + n * c.in_pixels * c.in.c;
    volume_sums_kernel<<<gpu_blocks(count), GPU_THREADS, 0, gpu_stream(k)>>>((const T *)matrix, to, count, c.columns,
                                                                             a);
    return gpu_launched(k);
  });
}

static weft_err input_all(kernel *k, conv3d &c) {
  const void *const in[2] = {c.filter, c.y};
  const int planes = slab_planes(c);
  int64_t step = conv3d_block(c) / c.pixels; /* volumes at once */
  step = step < 1 || planes < c.w.in[0] ? 1 : step < c.in.n ? step : c.in.n;
  WEFT_TRY(conv3d_make_room(k, &c, step * slab_depth(c, planes) * c.w.out[1] * c.w.out[2]));
  for (int64_t group = 0; group < c.groups; group++)
    for (int64_t n = 0; n < c.in.n; n += step)
      for (int plane = 0; plane < c.w.in[0]; plane += planes) {
        const int left = c.w.in[0] - plane;
        const int64_t volumes[2] = {n, c.in.n - n < step ? c.in.n - n : step};
        const slab s =
            step > 1 ? slab{0, c.w.in[0], 0, c.w.out[0]} : slab_of(c.w, plane, left < planes ? left : planes);
        WEFT_TRY(input_block(k, c, in, c.x, s, group, volumes));
      }
  return WEFT_OK;
}

/* ---- the ops ---- */

static weft_err volume_by_rows(kernel *k, void *conv) {
  conv3d &c = *(conv3d *)conv;
  switch (c.way) {
  case CONV_FORWARD: return forward_all(k, c);
  case CONV_TO_FILTER: return filter_all(k, c);
  default: return input_all(k, c);
  }
}

static weft_err run_conv3d(kernel *k, conv3d &c) {
  conv_shape s = {c.way, c.type, 3, c.in.n, c.in.c, c.out.c};
  for (int i = 0; i < 3; i++) {
    s.in[i] = c.w.in[i], s.out[i] = c.w.out[i], s.size[i] = c.w.size[i], s.stride[i] = c.w.stride[i];
    s.dilation[i] = c.w.dilation[i], s.before[i] = c.w.before[i];
  }
  bool done = false;
  if (!conv3d_is_plain(c) && c.groups == 1 && !c.in.channels_second)
    WEFT_TRY(gpu_cudnn_conv(k, s, {c.x, c.filter, c.y}, {volume_by_rows, &c}, &done));
  return done ? WEFT_OK : volume_by_rows(k, &c);
}

static weft_err conv3d_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), f = gpu_in(k, 1);
  gpu_tensor y;
  conv3d c;
  WEFT_TRY(conv3d_read(k, x.shape, f.shape, x.dtype, &c));
  WEFT_TRY(gpu_out(k, 0, volume_shape(c.out), &y));
  c.way = CONV_FORWARD, c.x = x.data, c.filter = f.data, c.y = y.data;
  return y.count ? run_conv3d(k, c) : WEFT_OK;
}

/* Reads input i as the shape of the result: a tensor of that shape, in version 1 of the ops. */
template <bool is_tensor> static weft_err conv3d_shape(kernel *k, int i, shape *s) {
  if (is_tensor) *s = gpu_in(k, i).shape;
  return is_tensor ? WEFT_OK : gpu_dims(k, i, s);
}

static weft_err conv3d_gradient(kernel *k, const conv3d &c, const gpu_tensor &dy, const shape &s, gpu_tensor *z,
                                bool *empty) {
  if (!gpu_same_shape(dy.shape, volume_shape(c.out)))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "%s: Size of out_backprop doesn't match computed", weft__gpu->op_name(k));
  WEFT_TRY(gpu_out(k, 0, s, z));
  *empty = z->count == 0 || dy.count == 0;
  if (!*empty || z->count == 0) return WEFT_OK;
  return gpu_said(k, cudaMemsetAsync(z->data, 0, (size_t)(z->count * conv3d_size(c)), gpu_stream(k)));
}

template <bool is_tensor> static weft_err conv3d_filter_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), dy = gpu_in(k, 2);
  gpu_tensor df;
  conv3d c;
  shape s;
  bool empty;
  WEFT_TRY(conv3d_shape<is_tensor>(k, 1, &s));
  WEFT_TRY(conv3d_read(k, x.shape, s, x.dtype, &c));
  WEFT_TRY(conv3d_gradient(k, c, dy, s, &df, &empty));
  if (empty) return WEFT_OK;
  c.way = CONV_TO_FILTER, c.x = x.data, c.filter = df.data;
  WEFT_TRY(conv3d_last(k, c, dy, &c.y));
  return run_conv3d(k, c);
}

template <bool is_tensor> static weft_err conv3d_input_gpu(kernel *k) {
  const gpu_tensor f = gpu_in(k, 1), dy = gpu_in(k, 2);
  gpu_tensor dx;
  conv3d c;
  shape s;
  bool empty;
  WEFT_TRY(conv3d_shape<is_tensor>(k, 0, &s));
  WEFT_TRY(conv3d_read(k, s, f.shape, dy.dtype, &c));
  WEFT_TRY(conv3d_gradient(k, c, dy, s, &dx, &empty));
  if (empty) return WEFT_OK;
  c.way = CONV_TO_INPUT, c.x = dx.data, c.filter = f.data;
  WEFT_TRY(conv3d_last(k, c, dy, &c.y));
  return run_conv3d(k, c);
}

GPU_OPS(conv3d) = {
    {"Conv3D", conv3d_gpu, GPU_FLOATS},
    {"Conv3DBackpropFilterV2", conv3d_filter_gpu<false>, GPU_FLOATS, "filter_sizes"},
    {"Conv3DBackpropInputV2", conv3d_input_gpu<false>, GPU_FLOATS, "input_sizes"},
    {"Conv3DBackpropFilter", conv3d_filter_gpu<true>, GPU_FLOATS},
    {"Conv3DBackpropInput", conv3d_input_gpu<true>, GPU_FLOATS},
    {0},
};
