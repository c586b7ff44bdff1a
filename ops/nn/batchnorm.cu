/* batchnorm.cu - batch normalization and its gradient on the GPU, from sums over all axes but the channels.
 *
 * batchnorm.c has the formulas.  One thread per channel computes the channel's coefficients, which are then
 * broadcast over the image.  If the channels are last, one pass over the data computes both sums.  Squares are of
 * distances from the channel's first element, so that a large mean costs no precision. */
#include "kernels/reduce/reduce.cuh"

namespace {
struct squared_distance {
  __device__ float operator()(float x, float mean) const { return (x - mean) * (x - mean); }
};
struct weighted_distance {
  __device__ float operator()(float dy, float x, float mean) const { return dy * (x - mean); }
};
struct scaled {
  __device__ float operator()(float x, float p, float q) const { return x * p + q; }
};
} // namespace

struct norm_view {
  int axis;
  int64_t channels, count; /* count: elements of one channel */
  uint32_t folded;
  shape per_channel; /* broadcasts over the image */
};

static weft_err batchnorm_view_of(kernel *k, const gpu_tensor &x, norm_view *v) {
  const bool volume = weft__gpu->attr_is(k, "data_format", "NDHWC") || weft__gpu->attr_is(k, "data_format", "NCDHW");
  const bool second = weft__gpu->attr_is(k, "data_format", "NCHW") || weft__gpu->attr_is(k, "data_format", "NCDHW");
  const int rank = volume ? 5 : 4;
  if (x.shape.rank != rank) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input must be %d-dimensional", rank);
  v->axis = second ? 1 : rank - 1;
  v->channels = x.shape.dim[v->axis];
  v->count = v->channels ? x.count / v->channels : 0;
  v->folded = ((1u << rank) - 1) & ~(1u << v->axis);
  v->per_channel = gpu_shape(1, &v->channels);
  for (int d = v->axis + 1; d < rank; d++) v->per_channel.dim[v->per_channel.rank++] = 1;
  return WEFT_OK;
}

static weft_err check_vector(kernel *k, int i, int64_t channels) {
  const gpu_tensor t = gpu_in(k, i);
  if (t.shape.rank == 1 && t.count == channels) return WEFT_OK;
  return gpu_fail(k, WEFT_INVALID_ARGUMENT, "argument %d must have one element for each of %lld channels", i,
                  (long long)channels);
}

static gpu_tensor norm_vector(const norm_view &v, float *data) {
  return gpu_tensor{WEFT_FLOAT, v.per_channel, v.channels, data};
}

/* Allocates a float tensor of x's shape. */
static weft_err scratch_like(kernel *k, const gpu_tensor &x, gpu_tensor *t) {
  *t = gpu_tensor{WEFT_FLOAT, x.shape, x.count, nullptr};
  return weft__gpu->scratch(k, (size_t)x.count * sizeof(float), &t->data);
}

static weft_err sum_channels(kernel *k, const norm_view &v, const gpu_tensor &x, float *out) {
  return gpu_fold_as<float>(k, fold_sum(), x, v.folded, norm_vector(v, out));
}

/* ---- two sums in one pass over the data, channels last ---- */

enum { PAIR_SHARES = GPU_THREADS / 32 };
struct pair_args {
  const void *x, *dy; /* NULL: sums the distances of x and their squares; otherwise dy and dy times the distances */
  weft_dtype type;
  const float *from; /* subtracted from x; NULL: the first row of x */
  int64_t rows, channels, slice;
  float *parts; /* (channels, 2, slices) */
};

static __global__ void __launch_bounds__(GPU_THREADS) pair_kernel(const pair_args a) {
  __shared__ float shared[2][PAIR_SHARES][33];
  const int column = threadIdx.x % 32, share = threadIdx.x / 32;
  const int64_t c = (int64_t)blockIdx.x * 32 + column, begin = blockIdx.y * a.slice;
  const int64_t end = begin + a.slice < a.rows ? begin + a.slice : a.rows;
  float sum[2] = {0, 0};
  if (c < a.channels) {
    const float from = a.from ? a.from[c] : fold_load<float>(a.x, a.type, c);
#pragma unroll 8
    for (int64_t r = begin + share; r < end; r += PAIR_SHARES) {
      const float away = fold_load<float>(a.x, a.type, r * a.channels + c) - from;
      const float g = a.dy ? fold_load<float>(a.dy, a.type, r * a.channels + c) : away;
      sum[0] += g;
      sum[1] += g * away;
    }
  }
  for (int i = 0; i < 2; i++) shared[i][share][column] = sum[i];
  __syncthreads();
  if (share > 1 || c >= a.channels) return;
  float all = 0;
  for (int i = 0; i < PAIR_SHARES; i++) all += shared[share][i][column];
  a.parts[(c * 2 + share) * gridDim.y + blockIdx.y] = all;
}

/* The same with sixteen bytes of channels per thread, so that more loads are in flight. */
enum { WIDE_LANES = 8, WIDE_SHARES = GPU_THREADS / WIDE_LANES };
template <class T> static __global__ void __launch_bounds__(GPU_THREADS) pair_wide_kernel(const pair_args a) {
  const int n = 16 / sizeof(T);
  __shared__ float shared[GPU_THREADS / 32][2][WIDE_LANES * n];
  const int lane = threadIdx.x % WIDE_LANES, share = threadIdx.x / WIDE_LANES;
  const int64_t groups = a.channels / n, g = (int64_t)blockIdx.x * WIDE_LANES + lane, begin = blockIdx.y * a.slice;
  const int64_t end = g >= groups ? begin : begin + a.slice < a.rows ? begin + a.slice : a.rows;
  const channels_of<T> *const x = (const channels_of<T> *)a.x, *const dy = (const channels_of<T> *)a.dy;
  float sum[2][n] = {}, from[n];
#pragma unroll
  for (int j = 0; j < n; j++) from[j] = g >= groups ? 0 : a.from ? a.from[g * n + j] : (float)x[g].v[j];
#pragma unroll 4
  for (int64_t r = begin + share; r < end; r += WIDE_SHARES) {
    const channels_of<T> here = x[r * groups + g], there = dy ? dy[r * groups + g] : here;
#pragma unroll
    for (int j = 0; j < n; j++) {
      const float away = (float)here.v[j] - from[j], d = dy ? (float)there.v[j] : away;
      sum[0][j] += d;
      sum[1][j] += d * away;
    }
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < n; j++) {
      for (int by = WIDE_LANES; by < 32; by *= 2) sum[i][j] += __shfl_xor_sync(0xffffffffu, sum[i][j], by);
      if (threadIdx.x % 32 < WIDE_LANES) shared[threadIdx.x / 32][i][lane * n + j] = sum[i][j];
    }
  __syncthreads();
  const int which = threadIdx.x / (WIDE_LANES * n), column = threadIdx.x % (WIDE_LANES * n);
  const int64_t c = (int64_t)blockIdx.x * WIDE_LANES * n + column;
  if (which > 1 || c >= a.channels) return;
  float all = 0;
  for (int i = 0; i < GPU_THREADS / 32; i++) all += shared[i][which][column];
  a.parts[(c * 2 + which) * gridDim.y + blockIdx.y] = all;
}

/* Adds the slices, one warp per channel.  Writes the mean and the variance, or the two sums. */
static __global__ void __launch_bounds__(GPU_THREADS)
    pair_end_kernel(const pair_args a, int slices, float *first, float *second) {
  const int64_t c = (int64_t)blockIdx.x * PAIR_SHARES + threadIdx.x / 32;
  if (c >= a.channels) return;
  float sum[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    for (int s = threadIdx.x % 32; s < slices; s += 32) sum[i] += a.parts[(c * 2 + i) * slices + s];
    for (int by = 16; by > 0; by /= 2) sum[i] += fold_shuffle(sum[i], by);
  }
  if (threadIdx.x % 32) return;
  const float n = (float)a.rows, away = sum[0] / n, spread = sum[1] / n - away * away;
  first[c] = a.dy ? sum[0] : fold_load<float>(a.x, a.type, c) + away;
  second[c] = a.dy ? sum[1] : spread > 0 || spread != spread ? spread : 0;
}

static weft_err launch_pairs(kernel *k, const pair_args &a, bool wide, const dim3 &grid) {
  if (!wide) {
    pair_kernel<<<grid, GPU_THREADS, 0, gpu_stream(k)>>>(a);
    return gpu_launched(k);
  }
  return gpu_floats(k, a.type, [&](auto t) {
    pair_wide_kernel<decltype(t)><<<grid, GPU_THREADS, 0, gpu_stream(k)>>>(a);
    return gpu_launched(k);
  });
}

static weft_err sum_pairs(kernel *k, pair_args a, float *first, float *second) {
  const int64_t by = 16 / (int64_t)gpu_size(a.type);
  const bool wide = a.channels % by == 0 && ((uintptr_t)a.x | (uintptr_t)a.dy) % 16 == 0;
  const int64_t width = wide ? WIDE_LANES * by : 32, shares = wide ? (int)WIDE_SHARES : (int)PAIR_SHARES;
  const int64_t blocks = (a.channels + width - 1) / width, wanted = (8 * 132 + blocks - 1) / blocks;
  const int64_t most = a.rows / (4 * shares) + 1, slices = wanted < most ? wanted : most;
  a.slice = (a.rows + slices - 1) / slices;
  WEFT_TRY(gpu_scratch(k, 2 * a.channels * slices, &a.parts));
  WEFT_TRY(launch_pairs(k, a, wide, dim3((unsigned)blocks, (unsigned)slices)));
  pair_end_kernel<<<(unsigned)((a.channels + PAIR_SHARES - 1) / PAIR_SHARES), GPU_THREADS, 0, gpu_stream(k)>>>(
      a, (int)slices, first, second);
  return gpu_launched(k);
}

static bool channels_last(const gpu_tensor &x, const norm_view &v) { return v.axis == x.shape.rank - 1 && v.count > 0; }

/* ---- forward ---- */

struct norm_vectors {
  const float *scale, *offset, *old_mean, *old_variance;
  float *mean, *variance, *saved_mean, *saved_variance; /* the outputs */
  float *p, *q;                                         /* y = x p + q */
  float epsilon, factor, count;
};

static __global__ void divide_kernel(float *x, int64_t n, float by) { GPU_EACH(i, n) x[i] /= by; }

/* Computes the coefficients from the moments of the batch (training) or from the given ones. */
static __global__ void factors_kernel(const norm_vectors a, int64_t n, bool training) {
  GPU_EACH(c, n) {
    const float mean = training ? a.saved_mean[c] : a.old_mean[c];
    const float variance = training ? a.saved_variance[c] : a.old_variance[c];
    if (training) {
      const float seen = variance * (a.count > 1 ? a.count / (a.count - 1) : 1);
      a.mean[c] = a.factor != 1 ? (1 - a.factor) * a.old_mean[c] + a.factor * mean : mean;
      a.variance[c] = a.factor != 1 ? (1 - a.factor) * a.old_variance[c] + a.factor * seen : seen;
    } else {
      a.mean[c] = a.saved_mean[c] = mean;
      a.variance[c] = a.saved_variance[c] = variance;
    }
    a.p[c] = a.scale[c] / sqrtf(variance + a.epsilon);
    a.q[c] = a.offset[c] - mean * a.p[c];
  }
}

static __global__ void nothing_kernel(const norm_vectors a, int64_t n) {
  GPU_EACH(c, n) a.mean[c] = a.variance[c] = NAN, a.saved_mean[c] = a.saved_variance[c] = 0;
}

static weft_err batch_moments(kernel *k, const norm_view &v, const gpu_tensor &x, const norm_vectors &a) {
  gpu_tensor squares;
  if (channels_last(x, v)) {
    const pair_args p = {x.data, nullptr, x.dtype, nullptr, v.count, v.channels};
    return sum_pairs(k, p, a.saved_mean, a.saved_variance);
  }
  const unsigned blocks = gpu_blocks(v.channels);
  WEFT_TRY(sum_channels(k, v, x, a.saved_mean));
  divide_kernel<<<blocks, GPU_THREADS, 0, gpu_stream(k)>>>(a.saved_mean, v.channels, a.count);
  WEFT_TRY(scratch_like(k, x, &squares));
  const gpu_tensor in[] = {x, norm_vector(v, a.saved_mean)};
  WEFT_TRY((gpu_each_into<float, float, float, 2>(k, squared_distance(), squares, in)));
  WEFT_TRY(sum_channels(k, v, squares, a.saved_variance));
  divide_kernel<<<blocks, GPU_THREADS, 0, gpu_stream(k)>>>(a.saved_variance, v.channels, a.count);
  return gpu_launched(k);
}

static weft_err norm_outputs(kernel *k, const norm_view &v, norm_vectors *a) {
  float **const at[] = {&a->mean, &a->variance, &a->saved_mean, &a->saved_variance};
  gpu_tensor t;
  for (int i = 0; i < 4; i++) {
    WEFT_TRY(gpu_out(k, i + 1, gpu_shape(1, &v.channels), &t));
    *at[i] = gpu_data<float>(t);
  }
  if (weft__gpu->n_out(k) < 6) return WEFT_OK;
  WEFT_TRY(gpu_out(k, 5, gpu_shape0(), &t)); /* reserved space that is not used */
  cudaMemsetAsync(t.data, 0, sizeof(float), gpu_stream(k));
  return gpu_launched(k);
}

static weft_err norm_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  const bool training = weft__gpu->attr_bool(k, "is_training", true);
  gpu_tensor y;
  norm_view v;
  norm_vectors a = {};
  WEFT_TRY(batchnorm_view_of(k, x, &v));
  a.factor = weft__gpu->attr_float(k, "exponential_avg_factor", 1);
  a.epsilon = weft__gpu->attr_float(k, "epsilon", 1e-4f);
  a.count = (float)v.count;
  for (int i = 1; i < (training && a.factor == 1 ? 3 : 5); i++) WEFT_TRY(check_vector(k, i, v.channels));
  const float **const in[] = {&a.scale, &a.offset, &a.old_mean, &a.old_variance};
  for (int i = 0; i < 4; i++) *in[i] = gpu_data<const float>(gpu_in(k, i + 1));
  WEFT_TRY(gpu_out(k, 0, x.shape, &y));
  WEFT_TRY(norm_outputs(k, v, &a));
  if (v.channels == 0) return WEFT_OK;
  if (v.count == 0) {
    nothing_kernel<<<gpu_blocks(v.channels), GPU_THREADS, 0, gpu_stream(k)>>>(a, v.channels);
    return gpu_launched(k);
  }
  WEFT_TRY(gpu_scratch(k, 2 * v.channels, &a.p));
  a.q = a.p + v.channels;
  if (training) WEFT_TRY(batch_moments(k, v, x, a));
  factors_kernel<<<gpu_blocks(v.channels), GPU_THREADS, 0, gpu_stream(k)>>>(a, v.channels, training);
  const gpu_tensor all[] = {x, norm_vector(v, a.p), norm_vector(v, a.q)};
  return gpu_each_into<float, float, float, 3>(k, scaled(), y, all);
}

/* ---- backward: dx = (dy - q - (x - mean) r) p ---- */

struct grad_vectors {
  const float *scale, *mean, *variance;
  float *d_scale, *d_offset, *p, *s, *t; /* dx = dy p + (x s + t) */
  float epsilon, count;
  bool training;
};

static __global__ void grad_factors_kernel(const grad_vectors a, int64_t n) {
  GPU_EACH(c, n) {
    const float inverse = 1 / sqrtf(a.variance[c] + a.epsilon);
    const bool own = a.training && a.count > 0;
    const float p = a.scale[c] * inverse, q = own ? a.d_offset[c] / a.count : 0;
    const float r = own ? a.d_scale[c] / a.count * inverse * inverse : 0;
    a.p[c] = p;
    a.s[c] = -r * p;
    a.t[c] = (r * a.mean[c] - q) * p;
    a.d_scale[c] *= inverse;
  }
}

/* Computes dx from dy, x and the three coefficients of each channel. */
static __global__ void __launch_bounds__(GPU_THREADS) grad_kernel(const __grid_constant__ each_args a) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x * EACH_PACK;
  for (int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * EACH_PACK; i < a.n; i += step) {
    const int left = a.n - i < EACH_PACK ? (int)(a.n - i) : EACH_PACK;
    float dy[EACH_PACK], x[EACH_PACK], p[EACH_PACK], s[EACH_PACK], t[EACH_PACK];
    load(a, 0, i, left, dy);
    load(a, 1, i, left, x);
    load(a, 2, i, left, p);
    load(a, 3, i, left, s);
    load(a, 4, i, left, t);
#pragma unroll
    for (int j = 0; j < EACH_PACK; j++) dy[j] = dy[j] * p[j] + (x[j] * s[j] + t[j]);
    store(a, i, left, dy);
  }
}

/* Sums dy, and dy times the distances from the mean. */
static weft_err gradient_sums(kernel *k, const norm_view &v, const gpu_tensor &dy, const gpu_tensor &x,
                              const grad_vectors &a) {
  gpu_tensor weighted;
  if (channels_last(x, v)) {
    const pair_args p = {x.data, dy.data, x.dtype, a.mean, v.count, v.channels};
    return sum_pairs(k, p, a.d_offset, a.d_scale);
  }
  WEFT_TRY(sum_channels(k, v, dy, a.d_offset));
  WEFT_TRY(scratch_like(k, x, &weighted));
  const gpu_tensor in[] = {dy, x, norm_vector(v, (float *)a.mean)};
  WEFT_TRY((gpu_each_into<float, float, float, 3>(k, weighted_distance(), weighted, in)));
  return sum_channels(k, v, weighted, a.d_scale);
}

static weft_err grad_outputs(kernel *k, const norm_view &v, grad_vectors *a) {
  float **const at[] = {&a->d_scale, &a->d_offset};
  const int64_t none = 0;
  gpu_tensor t;
  for (int i = 0; i < 4; i++) { /* the last two are reserved space that is not used */
    WEFT_TRY(gpu_out(k, i + 1, gpu_shape(1, i < 2 ? &v.channels : &none), &t));
    if (i < 2) *at[i] = gpu_data<float>(t);
  }
  return WEFT_OK;
}

static weft_err norm_grad_gpu(kernel *k) {
  const gpu_tensor dy = gpu_in(k, 0), x = gpu_in(k, 1);
  gpu_tensor dx;
  norm_view v;
  grad_vectors a = {};
  WEFT_TRY(batchnorm_view_of(k, x, &v));
  if (!gpu_same_shape(x.shape, dy.shape))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "x and y_backprop must have same shape");
  for (int i = 2; i < 5; i++) WEFT_TRY(check_vector(k, i, v.channels));
  a.scale = gpu_data<const float>(gpu_in(k, 2));
  a.mean = gpu_data<const float>(gpu_in(k, 3));
  a.variance = gpu_data<const float>(gpu_in(k, 4));
  a.epsilon = weft__gpu->attr_float(k, "epsilon", 1e-4f);
  a.training = weft__gpu->attr_bool(k, "is_training", true);
  a.count = (float)v.count;
  WEFT_TRY(gpu_out(k, 0, x.shape, &dx));
  WEFT_TRY(grad_outputs(k, v, &a));
  if (v.channels == 0) return WEFT_OK;
  WEFT_TRY(gradient_sums(k, v, dy, x, a));
  WEFT_TRY(gpu_scratch(k, 3 * v.channels, &a.p));
  a.s = a.p + v.channels, a.t = a.s + v.channels;
  grad_factors_kernel<<<gpu_blocks(v.channels), GPU_THREADS, 0, gpu_stream(k)>>>(a, v.channels);
  if (x.count == 0) return gpu_launched(k);
  const gpu_tensor in[] = {dy, x, norm_vector(v, a.p), norm_vector(v, a.s), norm_vector(v, a.t)};
  each_args e;
  WEFT_TRY(gpu_each_args(k, dx, 5, in, &e));
  grad_kernel<<<gpu_blocks(x.count, EACH_PACK), GPU_THREADS, 0, gpu_stream(k)>>>(e);
  return gpu_launched(k);
}

#define TYPES (GPU_TYPE(WEFT_HALF) | GPU_TYPE(WEFT_BFLOAT16) | GPU_TYPE(WEFT_FLOAT))

GPU_OPS(batchnorm) = {
    {"FusedBatchNorm", norm_gpu, TYPES},
    {"FusedBatchNormV2", norm_gpu, TYPES},
    {"FusedBatchNormV3", norm_gpu, TYPES},
    {"FusedBatchNormGrad", norm_grad_gpu, TYPES},
    {"FusedBatchNormGradV2", norm_grad_gpu, TYPES},
    {"FusedBatchNormGradV3", norm_grad_gpu, TYPES},
    {0},
};
