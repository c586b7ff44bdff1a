/* gpu.cuh - short names for the functions of gpu.h, types and launches, for every .cu file of ops/.
 *
 * Half and bfloat16 are stored as such and computed in float, as on the CPU.  Each launch is checked at once
 * (gpu_launched), so that an error of the GPU names the node. */
#pragma once

#include "kernels/gpu/gpu.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdarg.h>
#include <stdio.h>

extern const gpu_host *weft__gpu; /* set when the plug-in is opened */

#define GPU_OPS(stem)                                                                                                  \
  extern "C" const gpu_kernel weft__gpu_ops_##stem[];                                                                  \
  const gpu_kernel weft__gpu_ops_##stem[]

using bf16 = __nv_bfloat16;
using half = __half;

/* ---- arguments and errors ---- */

inline int gpu_n_in(const kernel *k) { return weft__gpu->n_in(k); }
inline gpu_tensor gpu_in(const kernel *k, int i) {
  gpu_tensor t;
  weft__gpu->in(k, i, &t);
  return t;
}
inline cudaStream_t gpu_stream(const kernel *k) { return (cudaStream_t)weft__gpu->stream(k); }
inline weft_err gpu_out(kernel *k, int i, const shape &s, gpu_tensor *t) { return weft__gpu->out(k, i, &s, t); }
inline weft_err gpu_out_over(kernel *k, int i, int from, const shape &s, gpu_tensor *t) {
  return weft__gpu->out_over(k, i, from, &s, t);
}
template <class T> weft_err gpu_scratch(kernel *k, int64_t count, T **out) {
  return weft__gpu->scratch(k, (size_t)count * sizeof(T), (void **)out);
}
template <class T> T *gpu_data(const gpu_tensor &t) { return (T *)t.data; }

/* Sets an error that names the node, as weft__kernel_fail does. */
__attribute__((format(printf, 3, 4))) inline weft_err gpu_fail(const kernel *k, weft_err code, const char *fmt, ...) {
  char what[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  return weft__gpu->fail(k, code, what);
}

inline weft_err gpu_said(const kernel *k, cudaError_t e) {
  if (e == cudaSuccess) return WEFT_OK;
  return gpu_fail(k, e == cudaErrorMemoryAllocation ? WEFT_RESOURCE_EXHAUSTED : WEFT_INTERNAL, "%s: %s",
                  weft__gpu->op_name(k), cudaGetErrorString(e));
}
/* Returns the error of the last launch. */
inline weft_err gpu_launched(const kernel *k) { return gpu_said(k, cudaGetLastError()); }

/* Copies n elements from the GPU and waits for them; only for kernels whose row has `waits`. */
template <class T> weft_err gpu_fetch(const kernel *k, T *to, const T *from, int64_t n = 1) {
  WEFT_TRY(gpu_launched(k));
  WEFT_TRY(gpu_said(k, cudaMemcpyAsync(to, from, (size_t)n * sizeof(T), cudaMemcpyDeviceToHost, gpu_stream(k))));
  return gpu_said(k, cudaStreamSynchronize(gpu_stream(k)));
}

inline weft_err gpu_no_type(const kernel *k, weft_dtype t) {
  return gpu_fail(k, WEFT_UNIMPLEMENTED, "%s has no GPU kernel for elements of type %d", weft__gpu->op_name(k), (int)t);
}

/* ---- shapes ---- */

inline shape gpu_shape(int rank, const int64_t *dim) {
  shape s;
  s.rank = rank;
  for (int i = 0; i < rank; i++) s.dim[i] = dim[i];
  return s;
}
inline shape gpu_shape0() { return gpu_shape(0, nullptr); }
inline int64_t gpu_span(const shape &s, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; i++) n *= s.dim[i];
  return n;
}
inline bool gpu_same_shape(const shape &a, const shape &b) {
  bool same = a.rank == b.rank;
  for (int i = 0; same && i < a.rank; i++) same = a.dim[i] == b.dim[i];
  return same;
}
/* Returns element i of an integer tensor in host memory. */
inline int64_t gpu_int(const gpu_tensor &t, int64_t i) {
  return t.dtype == WEFT_INT64 ? ((const int64_t *)t.data)[i] : ((const int32_t *)t.data)[i];
}
/* Reads input i, a list of integers in host memory. */
inline weft_err gpu_ints(const kernel *k, int i, int64_t *out, int *n) {
  const gpu_tensor t = gpu_in(k, i);
  if (t.count > WEFT_MAX_RANK)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "argument %d has %lld elements, more than %d", i, (long long)t.count,
                    WEFT_MAX_RANK);
  *n = (int)t.count;
  for (int j = 0; j < *n; j++) out[j] = gpu_int(t, j);
  return WEFT_OK;
}
/* Reads input i, in host memory, as the shape of an output. */
inline weft_err gpu_dims(const kernel *k, int i, shape *s) {
  WEFT_TRY(gpu_ints(k, i, s->dim, &s->rank));
  for (int d = 0; d < s->rank; d++)
    if (s->dim[d] < 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Dimension %lld must be >= 0", (long long)s->dim[d]);
  return WEFT_OK;
}
inline weft_err gpu_axis(const kernel *k, int64_t axis, int rank, int *out) {
  if (axis < -rank || axis >= rank)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "axis %lld is outside of [%d, %d)", (long long)axis, -rank, rank);
  *out = (int)(axis < 0 ? axis + rank : axis);
  return WEFT_OK;
}

/* ---- types: f is called with a value of the C++ type ---- */

template <class F> weft_err gpu_floats(const kernel *k, weft_dtype t, F f) {
  switch (t) {
  case WEFT_FLOAT: return f(float());
  case WEFT_DOUBLE: return f(double());
  case WEFT_HALF: return f(half());
  case WEFT_BFLOAT16: return f(bf16());
  default: return gpu_no_type(k, t);
  }
}

/* The types that arithmetic supports: floats, and the integers of steps and indices. */
#define GPU_NUMBERS (GPU_FLOATS | GPU_INDICES)
template <class F> weft_err gpu_numbers(const kernel *k, weft_dtype t, F f) {
  switch (t) {
  case WEFT_INT32: return f(int32_t());
  case WEFT_INT64: return f(int64_t());
  default: return gpu_floats(k, t, f);
  }
}

template <class F> weft_err gpu_indices(const kernel *k, weft_dtype t, F f) {
  switch (t) {
  case WEFT_INT32: return f(int32_t());
  case WEFT_INT64: return f(int64_t());
  default: return gpu_no_type(k, t);
  }
}

/* Sixteen bytes of adjacent elements (channels that are last), which are read and written at once. */
template <class T> struct alignas(16) channels_of { T v[16 / sizeof(T)]; };

inline size_t gpu_size(weft_dtype t) {
  switch (t) {
  case WEFT_BOOL:
  case WEFT_INT8:
  case WEFT_UINT8: return 1;
  case WEFT_HALF:
  case WEFT_BFLOAT16:
  case WEFT_INT16:
  case WEFT_UINT16: return 2;
  case WEFT_COMPLEX128: return 16;
  case WEFT_DOUBLE:
  case WEFT_INT64:
  case WEFT_UINT64:
  case WEFT_COMPLEX64: return 8;
  default: return 4;
  }
}

/* Calls f with an unsigned type of the element's size, for kernels that only copy elements. */
template <class F> weft_err gpu_moved(const kernel *k, weft_dtype t, F f) {
  switch (gpu_size(t)) {
  case 1: return f(uint8_t());
  case 2: return f(uint16_t());
  case 4: return f(uint32_t());
  case 8: return f(uint64_t());
  default: return f(uint4());
  }
}

/* The type that a type is computed in. */
template <class T> struct gpu_wide { using type = T; };
template <> struct gpu_wide<half> { using type = float; };
template <> struct gpu_wide<bf16> { using type = float; };
template <class T> using wide = typename gpu_wide<T>::type;

/* ---- launches ---- */

enum { GPU_THREADS = 256, GPU_MAX_BLOCKS = 132 * 16 };
inline unsigned gpu_blocks(int64_t n, int64_t each = 1) {
  const int64_t blocks = (n + GPU_THREADS * each - 1) / (GPU_THREADS * each);
  return (unsigned)(blocks < 1 ? 1 : blocks > GPU_MAX_BLOCKS ? GPU_MAX_BLOCKS : blocks);
}
#define GPU_EACH(i, n)                                                                                                 \
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, step_ = (int64_t)gridDim.x * blockDim.x; i < (n);   \
       i += step_)
