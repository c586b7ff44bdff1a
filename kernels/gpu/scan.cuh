/* scan.cuh - numbers the selected elements on the GPU, in order (a prefix sum).
 *
 * The function chosen(i) of an object says which elements are selected.  One launch counts them tile by tile, and
 * another adds up the counts, so that the total is known.  A third launch calls put(i, number) for each selected
 * element. */
#pragma once

#include "kernels/gpu/gpu.cuh"

enum { SCAN_ROUNDS = 8, SCAN_TILE = SCAN_ROUNDS * GPU_THREADS };

struct gpu_scan {
  int64_t n, tiles;
  int64_t *tile; /* in GPU memory: the number of selected elements before each tile; at [tiles]: in total */
};

template <class F> __global__ void __launch_bounds__(GPU_THREADS) scan_count(const F f, gpu_scan s) {
  int found = 0;
  for (int r = 0; r < SCAN_ROUNDS; r++) {
    const int64_t i = (int64_t)blockIdx.x * SCAN_TILE + r * GPU_THREADS + threadIdx.x;
    found += __syncthreads_count(i < s.n && f.chosen(i));
  }
  if (threadIdx.x == 0) s.tile[blockIdx.x] = found;
}

/* Adds up the counts of all tiles, in one block. */
static __global__ void __launch_bounds__(GPU_THREADS) scan_tiles(gpu_scan s) {
  __shared__ int64_t sum[GPU_THREADS];
  int64_t before = 0;
  for (int64_t base = 0; base < s.tiles; base += GPU_THREADS) {
    const int64_t i = base + threadIdx.x, mine = i < s.tiles ? s.tile[i] : 0;
    sum[threadIdx.x] = mine;
    __syncthreads();
    for (int by = 1; by < GPU_THREADS; by *= 2) {
      const int64_t more = (int)threadIdx.x >= by ? sum[threadIdx.x - by] : 0;
      __syncthreads();
      sum[threadIdx.x] += more;
      __syncthreads();
    }
    if (i < s.tiles) s.tile[i] = before + sum[threadIdx.x] - mine;
    before += sum[GPU_THREADS - 1];
    __syncthreads();
  }
  if (threadIdx.x == 0) s.tile[s.tiles] = before;
}

template <class F> __global__ void __launch_bounds__(GPU_THREADS) scan_put(const F f, gpu_scan s) {
  __shared__ int warp[GPU_THREADS / 32];
  const unsigned lane = threadIdx.x % 32, mine = threadIdx.x / 32;
  int64_t before = s.tile[blockIdx.x];
  for (int r = 0; r < SCAN_ROUNDS; r++) {
    const int64_t i = (int64_t)blockIdx.x * SCAN_TILE + r * GPU_THREADS + threadIdx.x;
    const bool yes = i < s.n && f.chosen(i);
    const unsigned votes = __ballot_sync(0xffffffffu, yes);
    if (lane == 0) warp[mine] = __popc(votes);
    __syncthreads();
    int64_t number = before + __popc(votes & ((1u << lane) - 1));
    for (unsigned w = 0; w < GPU_THREADS / 32; w++) {
      if (w < mine) number += warp[w];
      before += warp[w];
    }
    if (yes) f.put(i, number);
    __syncthreads(); /* before the next round overwrites the counts */
  }
}

template <class F> weft_err gpu_scan_count(kernel *k, const F &f, int64_t n, gpu_scan *s) {
  *s = {n, (n + SCAN_TILE - 1) / SCAN_TILE, nullptr};
  if (s->tiles > INT32_MAX) return gpu_fail(k, WEFT_UNIMPLEMENTED, "too many elements to number: %lld", (long long)n);
  WEFT_TRY(gpu_scratch(k, s->tiles + 1, &s->tile));
  if (s->tiles) scan_count<<<(unsigned)s->tiles, GPU_THREADS, 0, gpu_stream(k)>>>(f, *s);
  scan_tiles<<<1, GPU_THREADS, 0, gpu_stream(k)>>>(*s);
  return gpu_launched(k);
}

template <class F> weft_err gpu_scan_put(kernel *k, const F &f, const gpu_scan &s) {
  if (s.tiles) scan_put<<<(unsigned)s.tiles, GPU_THREADS, 0, gpu_stream(k)>>>(f, s);
  return gpu_launched(k);
}
