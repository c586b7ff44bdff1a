/* volume.cuh - volumes as the GPU kernels of windows see them: where an element lies in NDHWC or NCDHW.
 *
 * A position has three indices: of depth, height and width.  Offsets of elements are below 2^31. */
#pragma once

#include "kernels/gpu/gpu.cuh"
#include <initializer_list>

struct volume {
  int n, at[3], c; /* sizes */
  bool channels_second;
};
struct spot3 {
  int n, at[3], c;
};
struct volume_window {
  int size[3], stride[3], dilation[3], before[3], in[3], out[3];
};

__device__ inline uint32_t volume_pixel(const int at[3], const int size[3]) {
  return ((uint32_t)at[0] * (uint32_t)size[1] + (uint32_t)at[1]) * (uint32_t)size[2] + (uint32_t)at[2];
}
__device__ inline uint32_t volume_at(const volume &v, int n, const int at[3], int c) {
  const uint32_t pixel = volume_pixel(at, v.at), pixels = (uint32_t)v.at[0] * (uint32_t)v.at[1] * (uint32_t)v.at[2];
  return v.channels_second ? ((uint32_t)n * (uint32_t)v.c + (uint32_t)c) * pixels + pixel
                           : ((uint32_t)n * pixels + pixel) * (uint32_t)v.c + (uint32_t)c;
}
/* Splits a number into the three indices of a position, and returns what is left. */
__device__ inline uint32_t volume_unflatten(uint32_t i, const int size[3], int at[3]) {
#pragma unroll
  for (int axis = 2; axis >= 0; axis--) {
    const uint32_t q = i / (uint32_t)size[axis];
    at[axis] = (int)(i - q * (uint32_t)size[axis]);
    i = q;
  }
  return i;
}
/* Finds where element i, in the order of memory, stands. */
__device__ inline spot3 volume_spot(const volume &v, int64_t i) {
  spot3 s;
  const uint32_t c = (uint32_t)v.c;
  uint32_t j = (uint32_t)i;
  if (!v.channels_second) s.c = (int)(j % c), j /= c;
  j = volume_unflatten(j, v.at, s.at);
  if (v.channels_second) s.c = (int)(j % c), j /= c;
  s.n = (int)j;
  return s;
}

/* ---- on the host ---- */

inline volume_window volume_window_of(const gpu_volume_window &w) {
  volume_window v;
  for (int i = 0; i < 3; i++) {
    v.size[i] = (int)w.size[i], v.stride[i] = (int)w.stride[i], v.dilation[i] = (int)w.dilation[i];
    v.before[i] = (int)w.before[i], v.in[i] = (int)w.in[i], v.out[i] = (int)w.out[i];
  }
  return v;
}
inline shape volume_shape(const volume &v) {
  const int64_t last[] = {v.n, v.at[0], v.at[1], v.at[2], v.c}, second[] = {v.n, v.c, v.at[0], v.at[1], v.at[2]};
  return gpu_shape(5, v.channels_second ? second : last);
}
/* The volumes of a shape whose axes the node's window has; with other sizes and channels it is the result. */
inline volume volume_of(const shape &s, bool channels_second, const int64_t at[3]) {
  volume v = {(int)s.dim[0], {}, (int)s.dim[channels_second ? 1 : 4], channels_second};
  for (int i = 0; i < 3; i++) v.at[i] = (int)at[i];
  return v;
}
/* Returns true if the product is below 2^31. */
inline bool volume_fits(std::initializer_list<int64_t> sizes) {
  int64_t n = 1;
  bool fits = true;
  for (const int64_t size : sizes) {
    fits = fits && size <= INT32_MAX && (n *= size) <= INT32_MAX;
    if (size == 0) return true;
  }
  return fits;
}
/* Reads the node's window over volumes of shape `in`; filter NULL: the node pools.  Every index fits in 32 bits. */
inline weft_err volume_read(const kernel *k, const shape &in, const shape *filter, gpu_volume_window *w) {
  WEFT_TRY(weft__gpu->volume(k, &in, filter, w));
  const int64_t channels = filter ? filter->dim[4] : in.dim[w->channels_second ? 1 : 4];
  bool fits = volume_fits({in.dim[1], in.dim[2], in.dim[3], in.dim[4], in.dim[0]});
  fits = fits && volume_fits({w->out[0], w->out[1], w->out[2], channels, in.dim[0]});
  for (int i = 0; i < 3; i++)
    fits = fits && w->in[i] + w->before[i] + (w->size[i] - 1) * w->dilation[i] + w->stride[i] <= INT32_MAX;
  return fits ? WEFT_OK
              : gpu_fail(k, WEFT_UNIMPLEMENTED, "%s: a volume or a window of more than 2^31 elements",
                         weft__gpu->op_name(k));
}
