/* image.cuh - images as the GPU kernels of windows see them: where an element lies in NHWC or NCHW. */
#pragma once

#include "kernels/elementwise/elementwise.cuh"

struct image {
  int64_t n, h, w, c;
  bool channels_second;
};
__device__ inline uint32_t image_at(const image &m, int n, int h, int w, int c) {
  const uint32_t mh = (uint32_t)m.h, mw = (uint32_t)m.w, mc = (uint32_t)m.c;
  return m.channels_second ? ((n * mc + c) * mh + h) * mw + w : ((n * mh + h) * mw + w) * mc + c;
}
/* On the card everything but an offset fits in 32 bits, whose division is much the faster. */
struct place {
  int n, h, w, c;
};
struct spot_window {
  int size[2], stride[2], dilation[2], in[2], out[2], before[2];
};
inline spot_window spot(const gpu_window &w) {
  spot_window s;
  for (int i = 0; i < 2; i++) {
    s.size[i] = (int)w.size[i], s.stride[i] = (int)w.stride[i], s.dilation[i] = (int)w.dilation[i];
    s.in[i] = (int)w.in[i], s.out[i] = (int)w.out[i], s.before[i] = (int)w.before[i];
  }
  return s;
}
/* Where element i, in the order of memory, stands. */
__device__ inline place image_place(const image &m, int64_t i) {
  const uint32_t j = (uint32_t)i, w = (uint32_t)m.w, h = (uint32_t)m.h, c = (uint32_t)m.c;
  place p;
  if (m.channels_second) {
    const uint32_t a = j / w, b = a / h, d = b / c;
    p.w = (int)(j - a * w), p.h = (int)(a - b * h), p.c = (int)(b - d * c), p.n = (int)d;
  } else {
    const uint32_t a = j / c, b = a / w, d = b / h;
    p.c = (int)(j - a * c), p.w = (int)(a - b * w), p.h = (int)(b - d * h), p.n = (int)d;
  }
  return p;
}
inline image image_of(const shape &s, bool channels_second) {
  if (channels_second) return image{s.dim[0], s.dim[2], s.dim[3], s.dim[1], true};
  return image{s.dim[0], s.dim[1], s.dim[2], s.dim[3], false};
}
inline shape image_shape(const image &m) {
  const int64_t last[] = {m.n, m.h, m.w, m.c}, second[] = {m.n, m.c, m.h, m.w};
  return gpu_shape(4, m.channels_second ? second : last);
}
inline bool image_is_second(const kernel *k) { return weft__gpu->attr_is(k, "data_format", "NCHW"); }
inline weft_err image_check(const kernel *k, const gpu_tensor &t, const char *name) {
  if (t.shape.rank != 4) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "%s must be 4-dimensional", name);
  if (t.count > INT32_MAX) return gpu_fail(k, WEFT_UNIMPLEMENTED, "%s has more than 2^31 elements", name);
  return WEFT_OK;
}
