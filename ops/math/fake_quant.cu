/* fake_quant.cu - FakeQuantWithMinMaxArgs, -Vars, -VarsPerChannel and their gradients on the GPU.
 *
 * The arithmetic is that of fake_quant.c, step by step, without fused multiply-add, which would round differently. */
#include "kernels/reduce/reduce.cuh"

struct quant_args {
  const float *x, *dy, *min, *max; /* min: NULL if the ends are in `ends` */
  float ends[2], first, last;      /* first, last: the lowest and highest step of the integer */
  int64_t n, channels;
  float *out, *below, *above; /* below, above: gradients for the ends of the range, or NULL */
};

struct range {
  float low, high, step, inverse, zero;
  bool by_inverse, empty;
};

__device__ __forceinline__ range range_of(const quant_args &a, int64_t channel) {
  const float min = a.min ? a.min[channel] : a.ends[0], max = a.max ? a.max[channel] : a.ends[1];
  range r;
  r.step = (max - min) / (a.last - a.first);
  r.inverse = (a.last - a.first) / (max - min);
  r.by_inverse = !a.min;
  const float zero = a.first - min / r.step;
  const float at = zero < a.first ? a.first : zero > a.last ? a.last : roundf(zero);
  r.low = (a.first - at) * r.step;
  r.high = (a.last - at) * r.step;
  r.zero = floorf((r.by_inverse ? __fmul_rn(-r.low, r.inverse) : -r.low / r.step) + 0.5f);
  r.empty = min == 0 && max == 0;
  return r;
}

__global__ void round_kernel(const quant_args a) {
  GPU_EACH(i, a.n) {
    const range r = range_of(a, i % a.channels);
    const float x = a.x[i], inside = x < r.low ? r.low : x > r.high ? r.high : x;
    const float steps = r.by_inverse ? __fmul_rn(inside - r.low, r.inverse) : (inside - r.low) / r.step;
    a.out[i] = r.empty ? 0 : floorf(steps - r.zero + 0.5f) * r.step;
  }
}

__global__ void back_kernel(const quant_args a) {
  GPU_EACH(i, a.n) {
    const range r = range_of(a, i % a.channels);
    const bool low = !r.empty && a.x[i] < r.low, high = !r.empty && a.x[i] > r.high;
    a.out[i] = low || high ? 0 : a.dy[i];
    if (!a.below) continue;
    a.below[i] = low ? a.dy[i] : 0;
    a.above[i] = high ? a.dy[i] : 0;
  }
}

enum ends_kind { ENDS_ATTRIBUTES, ENDS_SCALARS, ENDS_CHANNELS };

/* x is input `at`.  The ends of the range are the next inputs, or attributes. */
static weft_err fake_quant_read_args(kernel *k, ends_kind kind, int at, quant_args *a) {
  const gpu_tensor x = gpu_in(k, at);
  const int64_t bits = weft__gpu->attr_int(k, "num_bits", 8);
  if (bits < 2 || bits > 16)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "num_bits must be between 2 and 16, inclusive, got %lld",
                    (long long)bits);
  a->x = gpu_data<const float>(x), a->n = x.count, a->channels = 1;
  a->first = weft__gpu->attr_bool(k, "narrow_range", false) ? 1 : 0, a->last = (float)((1 << bits) - 1);
  if (kind == ENDS_ATTRIBUTES) {
    a->ends[0] = weft__gpu->attr_float(k, "min", -6), a->ends[1] = weft__gpu->attr_float(k, "max", 6);
    return a->ends[0] < a->ends[1] ? WEFT_OK
                                   : gpu_fail(k, WEFT_INVALID_ARGUMENT, "min has to be smaller than max, was: %g >= %g",
                                              (double)a->ends[0], (double)a->ends[1]);
  }
  if (kind == ENDS_CHANNELS && x.shape.rank < 1)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "inputs must not be a scalar");
  if (kind == ENDS_CHANNELS) a->channels = x.shape.dim[x.shape.rank - 1];
  for (int i = 1; i <= 2; i++) {
    const gpu_tensor end = gpu_in(k, at + i);
    if (end.shape.rank != (kind == ENDS_CHANNELS) || end.count != a->channels)
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "%s has an incorrect size", i == 1 ? "min" : "max");
  }
  a->min = gpu_data<const float>(gpu_in(k, at + 1)), a->max = gpu_data<const float>(gpu_in(k, at + 2));
  return WEFT_OK;
}

template <ends_kind kind> static weft_err round_gpu(kernel *k) {
  quant_args a = {};
  gpu_tensor z;
  WEFT_TRY(fake_quant_read_args(k, kind, 0, &a));
  WEFT_TRY(gpu_out(k, 0, gpu_in(k, 0).shape, &z));
  a.out = gpu_data<float>(z);
  if (a.n == 0) return WEFT_OK;
  round_kernel<<<gpu_blocks(a.n), GPU_THREADS, 0, gpu_stream(k)>>>(a);
  return gpu_launched(k);
}

/* Makes output i the sum of each channel. */
static weft_err put_sum(kernel *k, const quant_args &a, float *values, int i) {
  const int64_t dims[] = {a.channels ? a.n / a.channels : 0, a.channels};
  const gpu_tensor all = {WEFT_FLOAT, gpu_shape(2, dims), a.n, values};
  gpu_tensor z;
  WEFT_TRY(gpu_out(k, i, gpu_in(k, 2).shape, &z));
  return gpu_fold_as<float>(k, fold_sum(), all, 1, z);
}

static weft_err pass_back(kernel *k, ends_kind kind) {
  const gpu_tensor dy = gpu_in(k, 0);
  quant_args a = {};
  gpu_tensor z;
  WEFT_TRY(fake_quant_read_args(k, kind, 1, &a));
  if (!gpu_same_shape(dy.shape, gpu_in(k, 1).shape))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "gradient and input must be the same size");
  WEFT_TRY(gpu_out(k, 0, dy.shape, &z));
  a.out = gpu_data<float>(z), a.dy = gpu_data<const float>(dy);
  if (kind != ENDS_ATTRIBUTES) {
    WEFT_TRY(gpu_scratch(k, a.n, &a.below));
    WEFT_TRY(gpu_scratch(k, a.n, &a.above));
  }
  if (a.n) back_kernel<<<gpu_blocks(a.n), GPU_THREADS, 0, gpu_stream(k)>>>(a);
  WEFT_TRY(gpu_launched(k));
  if (kind == ENDS_ATTRIBUTES) return WEFT_OK;
  WEFT_TRY(put_sum(k, a, a.below, 1));
  return put_sum(k, a, a.above, 2);
}
template <ends_kind kind> static weft_err back_gpu(kernel *k) { return pass_back(k, kind); }

#define QUANT(name, kind)                                                                                              \
  {"FakeQuantWithMinMax" name, round_gpu<kind>, GPU_TYPE(WEFT_FLOAT)}, {                                               \
    "FakeQuantWithMinMax" name "Gradient", back_gpu<kind>, GPU_TYPE(WEFT_FLOAT)                                        \
  }

GPU_OPS(fake_quant) = {
    QUANT("Args", ENDS_ATTRIBUTES),
    QUANT("Vars", ENDS_SCALARS),
    QUANT("VarsPerChannel", ENDS_CHANNELS),
    {0},
};
