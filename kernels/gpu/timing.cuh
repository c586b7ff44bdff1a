/* timing.cuh - measures on the GPU which of several kernels is the fastest, when a problem first occurs. */
#pragma once

#include "kernels/gpu/gpu.cuh"
#include <stdlib.h>

enum { TIMING_ROUNDS = 2, TIMING_HOLD_NS = 60000 }; /* the fastest of the rounds counts */

/* Keeps the GPU busy until the work to be timed is queued: otherwise a short kernel takes as long as its launch. */
static __global__ void hold_kernel() {
  int64_t begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - begin < TIMING_HOLD_NS);
}

/* Returns true if no CUDA graph is being captured and timing is not turned off (WEFT_GPU_TUNE=0). */
inline bool gpu_may_time(const kernel *k) {
  const char *tune = getenv("WEFT_GPU_TUNE");
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(gpu_stream(k), &capturing);
  return capturing == cudaStreamCaptureStatusNone && !(tune && *tune == '0');
}

/* Returns how long one call of `once` takes on the GPU, in milliseconds, as the mean of `calls`; 1e30 if it fails. */
template <class F> static float time_of(kernel *k, int calls, const F &once) {
  cudaEvent_t begin = nullptr, end = nullptr;
  float least = 1e30f;
  bool good = cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess && once();
  for (int round = 0; round < TIMING_ROUNDS && good; round++) {
    hold_kernel<<<1, 1, 0, gpu_stream(k)>>>();
    cudaEventRecord(begin, gpu_stream(k));
    for (int i = 0; i < calls && good; i++) good = once();
    cudaEventRecord(end, gpu_stream(k));
    float ms;
    good &= cudaEventSynchronize(end) == cudaSuccess && cudaEventElapsedTime(&ms, begin, end) == cudaSuccess;
    if (good && ms < least) least = ms;
  }
  if (begin) cudaEventDestroy(begin);
  if (end) cudaEventDestroy(end);
  return good ? least / (float)calls : 1e30f;
}
