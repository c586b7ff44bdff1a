/* where.cu - Where on the GPU: the coordinates of elements that are true or not zero.
 *
 * Elements are compared as bits; the sign bit of a float is ignored.  The host waits for the number of elements
 * found. */
#include "kernels/gpu/scan.cuh"

template <class T> struct nonzero {
  const T *x;
  T looked_at;
  int64_t *y;
  shape s;
  __device__ bool chosen(int64_t i) const { return (x[i] & looked_at) != 0; }
  __device__ void put(int64_t i, int64_t number) const {
    for (int d = s.rank - 1; d >= 0; d--) {
      const int64_t q = i / s.dim[d];
      y[number * s.rank + d] = i - q * s.dim[d];
      i = q;
    }
  }
};

static uint64_t telling_bits(weft_dtype t) {
  switch (t) {
  case WEFT_HALF:
  case WEFT_BFLOAT16: return 0x7fff;
  case WEFT_FLOAT: return 0x7fffffff;
  case WEFT_DOUBLE: return 0x7fffffffffffffff;
  case WEFT_COMPLEX64: return 0x7fffffff7fffffff;
  default: return UINT64_MAX;
  }
}

template <class T> static weft_err where_find(kernel *k, const gpu_tensor &x) {
  nonzero<T> f = {gpu_data<const T>(x), (T)telling_bits(x.dtype), nullptr, x.shape};
  gpu_scan s;
  gpu_tensor y;
  int64_t out[2] = {0, x.shape.rank};
  WEFT_TRY(gpu_scan_count(k, f, x.count, &s));
  WEFT_TRY(gpu_fetch(k, &out[0], s.tile + s.tiles));
  WEFT_TRY(gpu_out(k, 0, gpu_shape(2, out), &y));
  f.y = gpu_data<int64_t>(y);
  return out[0] ? gpu_scan_put(k, f, s) : WEFT_OK;
}

static weft_err where_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  if (x.shape.rank == 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "WhereOp : Unhandled input dimensions: 0");
  switch (gpu_size(x.dtype)) {
  case 1: return where_find<uint8_t>(k, x);
  case 2: return where_find<uint16_t>(k, x);
  case 4: return where_find<uint32_t>(k, x);
  default: return where_find<uint64_t>(k, x);
  }
}

GPU_OPS(where) = {
    {"Where", where_gpu, GPU_PLAIN & ~GPU_TYPE(WEFT_COMPLEX128), nullptr, true},
    {0},
};
