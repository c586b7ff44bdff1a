/* reduce.cuh - the engine under every GPU kernel that folds axes away: sums, extremes, norms, gradients of biases.
 *
 * A function object says how to begin, take one element in, join two results and end.  Axes are brought down to as
 * few as there are runs of kept and folded ones.  Where the innermost axis is folded, 32 or 256 threads share an
 * output; where it is kept, a thread has a column, or four adjacent ones, and eight share it.  Few outputs of many
 * elements are cut into slices, whose results lie side by side for a second launch.  The order of additions depends on
 * shapes alone: results repeat. */
#pragma once

#include "kernels/elementwise/elementwise.cuh"

/* What a fold is told about; begin(), step(acc, x), join(acc, acc) and end(acc, n) are its own. */
struct fold_args {
  const void *x;
  weft_dtype type;
  void *z;
  weft_dtype z_type;
  int64_t outputs, n; /* n: elements folded into each; of the second launch: the results of slices */
  int64_t count;      /* elements folded into each output by both launches */
  int64_t slice;      /* elements of a slice; slices are blockIdx.y */
  int64_t slices;     /* whose results are partial; 0: this launch writes z */
  each_axes kept, folded;
  bool packs; /* floats that are folded, or folded into adjacent outputs, are adjacent and aligned, four at a time */
};

template <class A> __device__ __forceinline__ A fold_load(const void *x, weft_dtype type, int64_t i) {
  if constexpr (std::is_same_v<A, float>) {
    if (type == WEFT_HALF) return (float)((const half *)x)[i];
    if (type == WEFT_BFLOAT16) return (float)((const bf16 *)x)[i];
  }
  return ((const A *)x)[i];
}
template <class A> __device__ __forceinline__ void fold_store(void *z, weft_dtype type, int64_t i, A v) {
  if constexpr (std::is_same_v<A, float>) {
    if (type == WEFT_HALF) return (void)(((half *)z)[i] = (half)v);
    if (type == WEFT_BFLOAT16) return (void)(((bf16 *)z)[i] = (bf16)v);
  }
  ((A *)z)[i] = v;
}

template <class A, class F> __device__ void fold_put(const F &f, const fold_args &a, int64_t o, A acc) {
  if (a.slices)
    ((A *)a.z)[o * a.slices + blockIdx.y] = acc;
  else
    fold_store<A>(a.z, a.z_type, o, f.end(acc, a.count));
}

template <class A> __device__ __forceinline__ A fold_shuffle(A v, int by) {
  if constexpr (sizeof(A) < 4)
    return (A)__shfl_xor_sync(0xffffffffu, (int)v, by);
  else
    return __shfl_xor_sync(0xffffffffu, v, by);
}

/* Folds packs of four floats, each of them into a sum of its own. */
template <class A, class F>
__device__ A fold_packs(const F &f, const float *x, int64_t begin, int64_t end, int lane, int lanes) {
  A acc[EACH_PACK];
#pragma unroll
  for (int j = 0; j < EACH_PACK; j++) acc[j] = f.template begin<A>();
#pragma unroll 4
  for (int64_t r = begin + lane * EACH_PACK; r < end; r += lanes * EACH_PACK) {
    const pack<float> q = *(const pack<float> *)(x + r);
#pragma unroll
    for (int j = 0; j < EACH_PACK; j++) acc[j] = f.step(acc[j], (A)q.v[j]);
  }
  return f.join(f.join(acc[0], acc[1]), f.join(acc[2], acc[3]));
}

/* lanes (32 or 256) threads for an output. */
template <class A, class F>
__global__ void __launch_bounds__(GPU_THREADS) fold_rows(const F f, const __grid_constant__ fold_args a, int lanes) {
  __shared__ A partial[GPU_THREADS / 32];
  const int per_block = GPU_THREADS / lanes, lane = threadIdx.x % lanes;
  const int64_t o = (int64_t)blockIdx.x * per_block + threadIdx.x / lanes;
  const int64_t begin = blockIdx.y * a.slice, end = begin + a.slice < a.n ? begin + a.slice : a.n;
  A acc = f.template begin<A>();
  if (o < a.outputs) {
    const int64_t base = each_offset(a.kept, 0, (uint32_t)o);
    const bool plain = a.folded.rank == 1;
    const int64_t step = a.folded.step[0][0];
    if (a.packs) acc = fold_packs<A>(f, (const float *)a.x + base, begin, end, lane, lanes);
#pragma unroll 8
    for (int64_t r = begin + lane; r < end && !a.packs; r += lanes)
      acc = f.step(acc, fold_load<A>(a.x, a.type, base + (plain ? r * step : each_offset(a.folded, 0, (uint32_t)r))));
  }
  for (int by = 16; by > 0; by /= 2) acc = f.join(acc, fold_shuffle(acc, by));
  if (lanes > 32) {
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = acc;
    __syncthreads();
    if (threadIdx.x == 0)
      for (int w = 1; w < GPU_THREADS / 32; w++) acc = f.join(acc, partial[w]);
  }
  if (lane == 0 && o < a.outputs) fold_put(f, a, o, acc);
}

/* A thread for a column, eight threads sharing it. */
enum { FOLD_SHARES = GPU_THREADS / 32 };
template <class A, class F>
__global__ void __launch_bounds__(GPU_THREADS) fold_columns(const F f, const __grid_constant__ fold_args a) {
  __shared__ A partial[FOLD_SHARES][33];
  const int column = threadIdx.x % 32, share = threadIdx.x / 32;
  const int64_t o = (int64_t)blockIdx.x * 32 + column;
  const int64_t begin = blockIdx.y * a.slice, end = begin + a.slice < a.n ? begin + a.slice : a.n;
  A acc = f.template begin<A>();
  if (o < a.outputs) {
    const int64_t base = each_offset(a.kept, 0, (uint32_t)o);
    const bool plain = a.folded.rank == 1;
    const int64_t step = a.folded.step[0][0];
#pragma unroll 8
    for (int64_t r = begin + share; r < end; r += FOLD_SHARES)
      acc = f.step(acc, fold_load<A>(a.x, a.type, base + (plain ? r * step : each_offset(a.folded, 0, (uint32_t)r))));
  }
  partial[share][column] = acc;
  __syncthreads();
  if (share != 0 || o >= a.outputs) return;
  for (int s = 1; s < FOLD_SHARES; s++) acc = f.join(acc, partial[s][column]);
  fold_put(f, a, o, acc);
}

/* A thread for four adjacent columns of floats, eight threads sharing them. */
template <class A, class F>
__global__ void __launch_bounds__(GPU_THREADS) fold_column_packs(const F f, const __grid_constant__ fold_args a) {
  __shared__ A partial[FOLD_SHARES][32 * EACH_PACK + 1];
  const int column = threadIdx.x % 32 * EACH_PACK, share = threadIdx.x / 32;
  const int64_t o = (int64_t)blockIdx.x * 32 * EACH_PACK + column;
  const int64_t begin = blockIdx.y * a.slice, end = begin + a.slice < a.n ? begin + a.slice : a.n;
  const float *x = (const float *)a.x + o;
  A acc[EACH_PACK];
#pragma unroll
  for (int j = 0; j < EACH_PACK; j++) acc[j] = f.template begin<A>();
#pragma unroll 8
  for (int64_t r = begin + share; r < end && o < a.outputs; r += FOLD_SHARES) {
    const pack<float> q = *(const pack<float> *)(x + r * a.folded.step[0][0]);
#pragma unroll
    for (int j = 0; j < EACH_PACK; j++) acc[j] = f.step(acc[j], (A)q.v[j]);
  }
#pragma unroll
  for (int j = 0; j < EACH_PACK; j++) partial[share][column + j] = acc[j];
  __syncthreads();
  const int mine = threadIdx.x; /* half of the threads end with a column each */
  const int64_t output = (int64_t)blockIdx.x * 32 * EACH_PACK + mine;
  if (mine >= 32 * EACH_PACK || output >= a.outputs) return;
  A sum = partial[0][mine];
  for (int s = 1; s < FOLD_SHARES; s++) sum = f.join(sum, partial[s][mine]);
  fold_put(f, a, output, sum);
}

/* The second launch: its elements are results. */
template <class F> struct fold_joined : F {
  template <class A> __device__ A step(A acc, A x) const { return F::join(acc, x); }
};

/* ---- on the host (reduce.cu) ---- */

struct fold_plan {
  fold_args first, second;
  bool by_rows;
  int lanes, slices;
  unsigned blocks;
};
/* How the axes of x with a bit in `mask` are folded into z (row by row of what is left). */
weft_err gpu_fold_plan(kernel *k, const gpu_tensor &x, uint32_t mask, const gpu_tensor &z, fold_plan *p);

template <class A, class F>
weft_err gpu_fold_as(kernel *k, const F &f, const gpu_tensor &x, uint32_t mask, const gpu_tensor &z) {
  fold_plan p;
  if (z.count == 0) return WEFT_OK;
  WEFT_TRY(gpu_fold_plan(k, x, mask, z, &p));
  A *parts = nullptr;
  if (p.slices > 1) {
    WEFT_TRY(gpu_scratch(k, (int64_t)p.slices * p.first.outputs, &parts));
    p.first.z = parts;
    p.second.x = parts;
  }
  const dim3 grid(p.blocks, (unsigned)p.slices);
  if (p.by_rows)
    fold_rows<A><<<grid, GPU_THREADS, 0, gpu_stream(k)>>>(f, p.first, p.lanes);
  else if (p.first.packs)
    fold_column_packs<A><<<grid, GPU_THREADS, 0, gpu_stream(k)>>>(f, p.first);
  else
    fold_columns<A><<<grid, GPU_THREADS, 0, gpu_stream(k)>>>(f, p.first);
  if (p.slices > 1) {
    fold_joined<F> joined;
    (F &)joined = f;
    const int lanes = p.slices <= 64 ? 32 : GPU_THREADS, per_block = GPU_THREADS / lanes;
    const unsigned blocks = (unsigned)((p.first.outputs + per_block - 1) / per_block);
    fold_rows<A><<<blocks, GPU_THREADS, 0, gpu_stream(k)>>>(joined, p.second, lanes);
  }
  return gpu_launched(k);
}

/* ---- functions shared by several files ---- */

struct fold_sum {
  template <class A> __device__ A begin() const { return 0; }
  template <class A> __device__ A step(A acc, A x) const { return acc + x; }
  template <class A> __device__ A join(A a, A b) const { return a + b; }
  template <class A> __device__ A end(A acc, int64_t) const { return acc; }
};
