/* softmax.cuh - rows of logits: a warp for a row, or a block where rows are long. */
#pragma once

#include "kernels/reduce/reduce.cuh"

struct row_max {
  template <class A> __device__ A operator()(A a, A b) const { return a < b || b != b ? b : a; }
};
struct row_sum {
  template <class A> __device__ A operator()(A a, A b) const { return a + b; }
};

/* v of all the threads of a row, combined, in each of them. */
template <class A, class F> __device__ A row_combine(A v, int lanes, const F &f) {
  __shared__ A parts[GPU_THREADS / 32];
  for (int by = 16; by > 0; by /= 2) v = f(v, fold_shuffle(v, by));
  if (lanes == 32) return v;
  __syncthreads(); /* the last call's parts have been read */
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  v = parts[0];
  for (int w = 1; w < GPU_THREADS / 32; w++) v = f(v, parts[w]);
  return v;
}

inline int row_lanes(int64_t n) { return n <= 512 ? 32 : GPU_THREADS; }
inline unsigned row_blocks(int64_t rows, int lanes) {
  const int64_t per_block = GPU_THREADS / lanes;
  return (unsigned)((rows + per_block - 1) / per_block);
}
