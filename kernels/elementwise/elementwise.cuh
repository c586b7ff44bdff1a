/* elementwise.cuh - the engine under every GPU kernel that computes element by element.
 *
 * An op states a function object with a device operator(); the engine broadcasts, converts 16-bit floats, writes over
 * an input that nobody else reads, and launches once.  There is one kernel for a function and the type it computes
 * in: how an operand is stored and walked is looked up as it is loaded, four elements at a time, which costs a branch
 * that all threads take alike and keeps the plug-in small and quick to build. */
#pragma once

#include "kernels/gpu/gpu.cuh"

enum { EACH_MAX_AXES = 8, EACH_MAX_IN = GPU_CHAIN_IN, EACH_PACK = 4 };

/* Division by a number known at launch, for x < 2^31. */
struct divisor {
  uint32_t d, m, s;
};
inline divisor divisor_of(int64_t d) {
  if (d < 1) d = 1;
  divisor r = {(uint32_t)d, 0, 0};
  while (((uint64_t)1 << r.s) < (uint64_t)d) r.s++;
  r.m = (uint32_t)((((uint64_t)1 << 32) * (((uint64_t)1 << r.s) - (uint64_t)d)) / (uint64_t)d + 1);
  return r;
}
__device__ __forceinline__ uint32_t divided(uint32_t x, const divisor &d) { return (__umulhi(x, d.m) + x) >> d.s; }

/* The axes of a broadcast, as few as its operands allow. */
struct each_axes {
  int rank;
  divisor dim[EACH_MAX_AXES];               /* outermost first */
  int64_t step[EACH_MAX_IN][EACH_MAX_AXES]; /* of each operand, in elements; 0 where it is broadcast */
};
__device__ __forceinline__ int64_t each_offset(const each_axes &a, int operand, uint32_t i) {
  int64_t at = 0;
  for (int axis = a.rank - 1; axis >= 0; axis--) {
    const uint32_t q = divided(i, a.dim[axis]);
    at += (i - q * a.dim[axis].d) * a.step[operand][axis];
    i = q;
  }
  return at;
}

/* LOOSE: a row that is not aligned; REPEAT: a row again and again, as a bias is; WALK: any broadcast, element by
 * element; HOLD and TILE: a broadcast along whose innermost axis a pack is one element, or a pack. */
enum each_how { EACH_ONE, EACH_ROW, EACH_LOOSE, EACH_WALK, EACH_HOLD, EACH_TILE, EACH_REPEAT };
struct each_in {
  const void *at;
  each_how how;
  weft_dtype type;
  divisor period; /* of REPEAT: a multiple of EACH_PACK */
};
struct each_args {
  int64_t n;
  void *z;
  each_how z_how;
  weft_dtype z_type;
  each_in in[EACH_MAX_IN];
  each_axes axes;
};

template <class T> struct alignas(sizeof(T) * EACH_PACK > 16 ? 16 : sizeof(T) * EACH_PACK) pack { T v[EACH_PACK]; };

template <class S, class A>
__device__ __forceinline__ void load_as(const each_args &a, int operand, int64_t i, int left, A (&v)[EACH_PACK]) {
  const each_in &x = a.in[operand];
  const S *p = (const S *)x.at;
  if ((x.how == EACH_ROW && left == EACH_PACK) || x.how >= EACH_TILE) {
    int64_t at = i;
    if (x.how == EACH_REPEAT) at -= divided((uint32_t)i, x.period) * x.period.d;
    if (x.how == EACH_TILE) at = each_offset(a.axes, operand, (uint32_t)i);
    const pack<S> q = *(const pack<S> *)(p + at);
#pragma unroll
    for (int j = 0; j < EACH_PACK; j++) v[j] = (A)q.v[j];
  } else if (x.how == EACH_ONE || x.how == EACH_HOLD) {
    const A one = (A)p[x.how == EACH_HOLD ? each_offset(a.axes, operand, (uint32_t)i) : 0];
#pragma unroll
    for (int j = 0; j < EACH_PACK; j++) v[j] = one;
  } else {
#pragma unroll
    for (int j = 0; j < EACH_PACK; j++) {
      const int64_t e = i + (j < left ? j : 0);
      v[j] = (A)p[x.how == EACH_WALK ? each_offset(a.axes, operand, (uint32_t)e) : e];
    }
  }
}

template <class A>
__device__ __forceinline__ void load(const each_args &a, int operand, int64_t i, int left, A (&v)[EACH_PACK]) {
  if constexpr (std::is_same_v<A, float>) {
    if (a.in[operand].type == WEFT_HALF) return load_as<half>(a, operand, i, left, v);
    if (a.in[operand].type == WEFT_BFLOAT16) return load_as<bf16>(a, operand, i, left, v);
  }
  load_as<A>(a, operand, i, left, v);
}

template <class S, class Z>
__device__ __forceinline__ void store_as(const each_args &a, int64_t i, int left, const Z (&v)[EACH_PACK]) {
  S *p = (S *)a.z;
  if (a.z_how == EACH_ROW && left == EACH_PACK) {
    pack<S> q;
#pragma unroll
    for (int j = 0; j < EACH_PACK; j++) q.v[j] = (S)v[j];
    *(pack<S> *)(p + i) = q;
  } else {
#pragma unroll
    for (int j = 0; j < EACH_PACK; j++)
      if (j < left) p[i + j] = (S)v[j];
  }
}

template <class Z>
__device__ __forceinline__ void store(const each_args &a, int64_t i, int left, const Z (&v)[EACH_PACK]) {
  if constexpr (std::is_same_v<Z, float>) {
    if (a.z_type == WEFT_HALF) return store_as<half>(a, i, left, v);
    if (a.z_type == WEFT_BFLOAT16) return store_as<bf16>(a, i, left, v);
  }
  store_as<Z>(a, i, left, v);
}

/* f of one, two or three operands; of three, the first may be of another type. */
template <class Z, class A, class B, int N_IN, class F>
__global__ void __launch_bounds__(GPU_THREADS) each_kernel(const F f, const __grid_constant__ each_args a) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x * EACH_PACK;
  for (int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * EACH_PACK; i < a.n; i += step) {
    const int left = a.n - i < EACH_PACK ? (int)(a.n - i) : EACH_PACK;
    A x[EACH_PACK];
    B y[EACH_PACK], w[EACH_PACK];
    Z z[EACH_PACK];
    load(a, 0, i, left, x);
    if constexpr (N_IN > 1) load(a, 1, i, left, y);
    if constexpr (N_IN > 2) load(a, 2, i, left, w);
#pragma unroll
    for (int j = 0; j < EACH_PACK; j++) {
      if constexpr (N_IN == 1) z[j] = (Z)f(x[j]);
      if constexpr (N_IN == 2) z[j] = (Z)f(x[j], y[j]);
      if constexpr (N_IN == 3) z[j] = (Z)f(x[j], y[j], w[j]);
    }
    store(a, i, left, z);
  }
}

/* ---- on the host (elementwise.cu) ---- */

weft_err gpu_broadcast(kernel *k, int n_in, const gpu_tensor *in, shape *out);
/* How each operand goes through z, which has their broadcast shape. */
weft_err gpu_each_args(kernel *k, const gpu_tensor &z, int n_in, const gpu_tensor *in, each_args *a);
/* The operands, and output 0 of their broadcast shape, over one of its type that nobody else reads. */
weft_err gpu_each_out(kernel *k, int n_in, gpu_tensor *in, gpu_tensor *z);

/* z[i] = f(in[0][i], ...) with broadcasting; z has the broadcast shape.  Z, A, B: what is computed in. */
template <class Z, class A, class B, int N_IN, class F>
weft_err gpu_each_into(kernel *k, const F &f, const gpu_tensor &z, const gpu_tensor *in) {
  each_args a;
  if (z.count == 0) return WEFT_OK;
  WEFT_TRY(gpu_each_args(k, z, N_IN, in, &a));
  each_kernel<Z, A, B, N_IN><<<gpu_blocks(z.count, EACH_PACK), GPU_THREADS, 0, gpu_stream(k)>>>(f, a);
  return gpu_launched(k);
}

/* The whole kernel of an op. */
template <class Z, class A, int N_IN, class F> weft_err gpu_each(kernel *k, const F &f) {
  gpu_tensor in[N_IN], z;
  WEFT_TRY(gpu_each_out(k, N_IN, in, &z));
  return gpu_each_into<Z, A, A, N_IN>(k, f, z, in);
}

/* By the type of the first operand: T(wide) is what it is computed in. */
template <class F> weft_err gpu_wide_floats(kernel *k, weft_dtype t, F f) {
  switch (t) {
  case WEFT_HALF:
  case WEFT_BFLOAT16:
  case WEFT_FLOAT: return f(float());
  case WEFT_DOUBLE: return f(double());
  default: return gpu_no_type(k, t);
  }
}
template <class F> weft_err gpu_wide_numbers(kernel *k, weft_dtype t, F f) {
  switch (t) {
  case WEFT_INT32: return f(int32_t());
  case WEFT_INT64: return f(int64_t());
  default: return gpu_wide_floats(k, t, f);
  }
}

/* ---- stating ops ---- */

#define EACH_STRUCT(name, Z, params, expr)                                                                             \
  namespace {                                                                                                          \
  struct name {                                                                                                        \
    template <class A> __device__ __forceinline__ Z operator() params const { return (Z)(expr); }                      \
  };                                                                                                                   \
  }
#define UNARY(name, expr) EACH_STRUCT(name, A, (A x), expr)
#define BINARY(name, expr) EACH_STRUCT(name, A, (A x, A y), expr)
#define UNARY_TEST(name, expr) EACH_STRUCT(name, bool, (A x), expr)
#define BINARY_TEST(name, expr) EACH_STRUCT(name, bool, (A x, A y), expr)

template <class F, int N_IN> weft_err gpu_each_floats(kernel *k, const F &f) {
  return gpu_wide_floats(k, gpu_in(k, 0).dtype, [&](auto t) { return gpu_each<decltype(t), decltype(t), N_IN>(k, f); });
}
template <class F, int N_IN> weft_err gpu_each_numbers(kernel *k, const F &f) {
  return gpu_wide_numbers(k, gpu_in(k, 0).dtype,
                          [&](auto t) { return gpu_each<decltype(t), decltype(t), N_IN>(k, f); });
}
template <class F> weft_err gpu_unary_floats(kernel *k) { return gpu_each_floats<F, 1>(k, F()); }
template <class F> weft_err gpu_unary_numbers(kernel *k) { return gpu_each_numbers<F, 1>(k, F()); }
template <class F> weft_err gpu_binary_floats(kernel *k) { return gpu_each_floats<F, 2>(k, F()); }
template <class F> weft_err gpu_binary_numbers(kernel *k) { return gpu_each_numbers<F, 2>(k, F()); }
template <class F> weft_err gpu_unary_test(kernel *k) {
  return gpu_wide_floats(k, gpu_in(k, 0).dtype, [&](auto t) { return gpu_each<bool, decltype(t), 1>(k, F()); });
}
template <class F> weft_err gpu_binary_test(kernel *k) {
  return gpu_wide_numbers(k, gpu_in(k, 0).dtype, [&](auto t) { return gpu_each<bool, decltype(t), 2>(k, F()); });
}
template <class F, int N_IN> weft_err gpu_bools(kernel *k) { return gpu_each<bool, bool, N_IN>(k, F()); }
