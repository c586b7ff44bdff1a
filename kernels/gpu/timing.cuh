/* timing.cuh - which of several ways is the fastest is asked of the card itself, when a problem is first met. */
#pragma once

#include "kernels/gpu/gpu.cuh"
#include <stdlib.h>

enum { TIMING_ROUNDS = 2, TIMING_HOLD_NS = 60000 }; /* the fastest of the rounds counts */

/* Keeps the card busy until the work to be timed is queued: else a short kernel takes as long as its launch. */
static __global__ void hold_kernel() {
  int64_t begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - begin < TIMING_HOLD_NS);
}

/* Is nothing being recorded, and timing not switched off? */
inline bool gpu_may_time(const kernel *k) {
  const char *tune = getenv("WEFT_GPU_TUNE");
  cudaStreamCaptureStatus recording = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(gpu_stream(k), &recording);
  return recording == cudaStreamCaptureStatusNone && !(tune && *tune == '0');
}

/* How long one call of `once` takes on the card, in milliseconds; a huge number where it fails. */
template <class F> static float time_of(kernel *k, int turns, const F &once) {
  cudaEvent_t begin = nullptr, end = nullptr;
  float least = 1e30f;
  bool good = cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess && once();
  for (int round = 0; round < TIMING_ROUNDS && good; round++) {
    hold_kernel<<<1, 1, 0, gpu_stream(k)>>>();
    cudaEventRecord(begin, gpu_stream(k));
    for (int i = 0; i < turns && good; i++) good = once();
    cudaEventRecord(end, gpu_stream(k));
    float ms;
    good &= cudaEventSynchronize(end) == cudaSuccess && cudaEventElapsedTime(&ms, begin, end) == cudaSuccess;
    if (good && ms < least) least = ms;
  }
  if (begin) cudaEventDestroy(begin);
  if (end) cudaEventDestroy(end);
  return good ? least / (float)turns : 1e30f;
}
