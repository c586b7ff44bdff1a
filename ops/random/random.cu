/* random.cu - random numbers on the GPU, the same as the CPU's for the same seeds.
 *
 * The number of Philox blocks that a node has used is stored in GPU memory, with the node, and a kernel advances it.
 * So each launch of a captured cuda graph continues where the last one stopped. */
#include "ops/random/philox.cuh"

__device__ inline void box_muller(uint32_t w0, uint32_t w1, float *y) {
  const float u = fmaxf(to_float(w0), 1e-7f), r = sqrtf(-2.0f * logf(u));
  const float angle = (float)(6.283185307179586 * (double)to_float(w1));
  y[0] = sinf(angle) * r;
  y[1] = cosf(angle) * r;
}
__device__ inline void box_muller(const uint4 &w, double *y) {
  const double u = fmax(to_double(w.x, w.y), 1e-7), r = sqrt(-2.0 * log(u));
  const double angle = 6.283185307179586 * to_double(w.z, w.w);
  y[0] = sin(angle) * r;
  y[1] = cos(angle) * r;
}

/* ---- one block to its outputs: four, or two of eight bytes ---- */

template <class T> struct group { static const int size = sizeof(T) == 8 ? 2 : 4; };
/* They are written at once: an output begins at a multiple of 64 bytes. */
template <class T> struct alignas(sizeof(T) * group<T>::size) drawn { T v[group<T>::size]; };

namespace {
struct uniform {
  template <class T> __device__ void operator()(const philox_seed &p, uint64_t at, T *y) const {
    const uint4 w = philox_block(p, at);
    if constexpr (sizeof(T) == 8) {
      y[0] = to_double(w.x, w.y), y[1] = to_double(w.z, w.w);
    } else {
      const uint32_t word[4] = {w.x, w.y, w.z, w.w};
      for (int i = 0; i < 4; i++)
        if constexpr (std::is_same_v<T, half>)
          y[i] = (half)(__half2float(__ushort_as_half((unsigned short)((word[i] & 0x3ffu) | 0x3c00u))) - 1.0f);
        else if constexpr (std::is_same_v<T, bf16>)
          y[i] = (bf16)(__bfloat162float(__ushort_as_bfloat16((unsigned short)((word[i] & 0x7fu) | 0x3f80u))) - 1.0f);
        else
          y[i] = to_float(word[i]);
    }
  }
  static const bool spaced = false;
};

template <class A> __device__ void normals(const philox_seed &p, uint64_t at, A *y) {
  const uint4 w = philox_block(p, at);
  if constexpr (sizeof(A) == 8) {
    box_muller(w, y);
  } else {
    box_muller(w.x, w.y, y);
    box_muller(w.z, w.w, y + 2);
  }
}

struct normal {
  template <class T> __device__ void operator()(const philox_seed &p, uint64_t at, T *y) const {
    wide<T> z[group<T>::size];
    normals(p, at, z);
    for (int i = 0; i < group<T>::size; i++) y[i] = (T)z[i];
  }
  static const bool spaced = false;
};

/* Numbers beyond two standard deviations are drawn again, from the following blocks. */
struct truncated {
  template <class T> __device__ void operator()(const philox_seed &p, uint64_t at, T *y) const {
    wide<T> z[group<T>::size];
    for (int n = 0; n < group<T>::size; at++) {
      normals(p, at, z);
      for (int i = 0; i < group<T>::size && n < group<T>::size; i++)
        if (fabs(z[i]) < 2) y[n++] = (T)z[i];
    }
  }
  static const bool spaced = true;
};

struct integers {
  int64_t low;
  uint64_t range;
  __device__ void operator()(const philox_seed &p, uint64_t at, int32_t *y) const {
    const uint4 w = philox_block(p, at);
    const uint32_t word[4] = {w.x, w.y, w.z, w.w};
    for (int i = 0; i < 4; i++) y[i] = (int32_t)((uint32_t)low + word[i] % (uint32_t)range);
  }
  __device__ void operator()(const philox_seed &p, uint64_t at, int64_t *y) const {
    const uint4 w = philox_block(p, at);
    y[0] = (int64_t)((uint64_t)low + (w.x | (uint64_t)w.y << 32) % range);
    y[1] = (int64_t)((uint64_t)low + (w.z | (uint64_t)w.w << 32) % range);
  }
  static const bool spaced = false;
};
} // namespace

template <class T, class F>
__global__ void draw_kernel(const F f, const philox_seed seed, const uint64_t *used, T *z, int64_t n) {
  constexpr int G = group<T>::size;
  const uint64_t apart = F::spaced ? (uint64_t)G * RESERVED / 4 : 1, base = *used;
  GPU_EACH(i, (n + G - 1) / G) {
    drawn<T> y;
    f(seed, base + (uint64_t)i * apart, y.v);
    if (i * G + G <= n)
      ((drawn<T> *)z)[i] = y;
    else
      for (int j = 0; i * G + j < n; j++) z[i * G + j] = y.v[j];
  }
}

template <class T, class F> static weft_err random_draw(kernel *k, const F &f, const gpu_tensor &z) {
  philox_seed seed;
  uint64_t *used;
  if (z.count == 0) return WEFT_OK;
  WEFT_TRY(philox_begin(k, &seed, &used));
  draw_kernel<T>
      <<<gpu_blocks(z.count, group<T>::size), GPU_THREADS, 0, gpu_stream(k)>>>(f, seed, used, (T *)z.data, z.count);
  return philox_use(k, used, (uint64_t)z.count * RESERVED);
}

template <class F> static weft_err random_gpu(kernel *k) {
  gpu_tensor z;
  shape s;
  if (gpu_in(k, 0).shape.rank != 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "shape must be a vector");
  WEFT_TRY(gpu_dims(k, 0, &s));
  WEFT_TRY(gpu_out(k, 0, s, &z));
  return gpu_floats(k, z.dtype, [&](auto t) { return random_draw<decltype(t)>(k, F(), z); });
}

static weft_err uniform_int_gpu(kernel *k) {
  const gpu_tensor low = gpu_in(k, 1), high = gpu_in(k, 2);
  gpu_tensor z;
  shape s;
  if (gpu_in(k, 0).shape.rank != 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "shape must be a vector");
  WEFT_TRY(gpu_dims(k, 0, &s));
  if (low.shape.rank || high.shape.rank) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "minval and maxval must be 0-D");
  WEFT_TRY(gpu_out(k, 0, s, &z));
  const int64_t from = gpu_int(low, 0), to = gpu_int(high, 0);
  if (z.count && from >= to)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Need minval < maxval, got %lld >= %lld", (long long)from, (long long)to);
  const integers f = {from, (uint64_t)to - (uint64_t)from};
  return gpu_indices(k, z.dtype, [&](auto t) { return random_draw<decltype(t)>(k, f, z); });
}

GPU_OPS(random) = {
    {"RandomUniform", random_gpu<uniform>, GPU_FLOATS, "shape"},
    {"RandomStandardNormal", random_gpu<normal>, GPU_FLOATS, "shape"},
    {"TruncatedNormal", random_gpu<truncated>, GPU_FLOATS, "shape"},
    {"RandomUniformInt", uniform_int_gpu, GPU_INDICES, "shape minval maxval"},
    {0},
};
