/* scatter.cuh - stores, adds or otherwise combines rows at indices on the GPU, for tensors, variables and segments. */
#pragma once

#include "kernels/gpu/gpu.cuh"

/* The slices, of `inner` elements each, that rows of `depth` indices address. */
struct place_args {
  int64_t depth, inner, count, dim[WEFT_MAX_RANK]; /* count: elements of all slices */
};
inline place_args places_in(const shape &s, int64_t depth, int64_t count) {
  place_args a = {depth, gpu_span(s, (int)depth, s.rank), count};
  for (int d = 0; d < depth; d++) a.dim[d] = s.dim[d];
  return a;
}
/* Returns the number of the slice that a row of indices addresses; -1 if it is out of range. */
template <class I> __device__ __forceinline__ int64_t place_of(const place_args &a, const I *indices, int64_t row) {
  int64_t at = 0;
  for (int64_t d = 0; d < a.depth; d++) {
    const int64_t index = (int64_t)indices[row * a.depth + d];
    if (index < 0 || index >= a.dim[d]) return -1;
    at = at * a.dim[d] + index;
  }
  return at;
}

__device__ __forceinline__ void add_at(float *z, float v) { atomicAdd(z, v); }
__device__ __forceinline__ void add_at(double *z, double v) { atomicAdd(z, v); }
__device__ __forceinline__ void add_at(int32_t *z, int32_t v) { atomicAdd(z, v); }
__device__ __forceinline__ void add_at(int64_t *z, int64_t v) {
  atomicAdd((unsigned long long *)z, (unsigned long long)v);
}

enum scatter_how {
  SCATTER_SET,
  SCATTER_ADD,
  SCATTER_SUB,
  SCATTER_MUL,
  SCATTER_DIV,
  SCATTER_MIN,
  SCATTER_MAX,
};
#define SCATTER_TYPES (GPU_TYPE(WEFT_FLOAT) | GPU_TYPE(WEFT_DOUBLE) | GPU_INDICES)

/* ---- on the host (scatter_nd.cu) ---- */

template <class F> weft_err gpu_scatter_types(const kernel *k, weft_dtype t, F f) {
  switch (t) {
  case WEFT_FLOAT: return f(float());
  case WEFT_DOUBLE: return f(double());
  default: return gpu_indices(k, t, f);
  }
}
/* Combines x[i] into the slice of z that row i of indices addresses, by `how`; `depth` indices form a row.  x has a
 * slice for each row or, with `single`, one element for all. */
weft_err gpu_scatter(kernel *k, const gpu_tensor &z, const gpu_tensor &indices, int64_t depth, const gpu_tensor &x,
                     bool single, scatter_how how);
/* Returns INVALID_ARGUMENT unless indices (rows..., depth) and updates (rows..., slice...) fit the target. */
weft_err gpu_scatter_fits(kernel *k, const shape &target, const shape &indices, const shape &updates);
