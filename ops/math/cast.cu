/* cast.cu - Cast on the GPU, with the CPU's results for numbers out of range.
 *
 * Each element is widened to one of three types when it is read, and narrowed when it is written.  So there are
 * three kernels and not one for each pair of types. */
#include "kernels/elementwise/elementwise.cuh"

/* Converts as x86 does: a float outside the range of the integer becomes the lowest number. */
template <class A> __device__ int64_t to_int64(A x) {
  if constexpr (std::is_integral_v<A>)
    return x;
  else
    return x >= (A)-0x1p63 && x < (A)0x1p63 ? (int64_t)x : INT64_MIN;
}
template <class A> __device__ int32_t to_int32(A x) {
  if constexpr (std::is_integral_v<A>)
    return (int32_t)x;
  else
    return x > (A)-2147483649.0 && x < (A)2147483648.0 ? (int32_t)x : INT32_MIN;
}

template <class A> __device__ void put(void *z, weft_dtype type, int64_t i, A x) {
  switch (type) {
  case WEFT_BOOL: ((bool *)z)[i] = x != 0; break;
  case WEFT_UINT8: ((uint8_t *)z)[i] = (uint8_t)to_int32(x); break;
  case WEFT_INT8: ((int8_t *)z)[i] = (int8_t)to_int32(x); break;
  case WEFT_INT32: ((int32_t *)z)[i] = to_int32(x); break;
  case WEFT_INT64: ((int64_t *)z)[i] = to_int64(x); break;
  case WEFT_HALF: ((half *)z)[i] = (half)(float)x; break;
  case WEFT_BFLOAT16: ((bf16 *)z)[i] = (bf16)(float)x; break;
  case WEFT_FLOAT: ((float *)z)[i] = (float)x; break;
  default: ((double *)z)[i] = (double)x;
  }
}

template <class A> __device__ A get(const void *x, weft_dtype type, int64_t i) {
  switch (type) {
  case WEFT_BOOL: return (A)((const bool *)x)[i];
  case WEFT_UINT8: return (A)((const uint8_t *)x)[i];
  case WEFT_INT8: return (A)((const int8_t *)x)[i];
  case WEFT_INT32: return (A)((const int32_t *)x)[i];
  case WEFT_INT64: return (A)((const int64_t *)x)[i];
  case WEFT_HALF: return (A)(float)((const half *)x)[i];
  case WEFT_BFLOAT16: return (A)(float)((const bf16 *)x)[i];
  case WEFT_FLOAT: return (A)((const float *)x)[i];
  default: return (A)((const double *)x)[i];
  }
}

template <class A> __global__ void cast_kernel(const void *x, weft_dtype from, void *z, weft_dtype to, int64_t n) {
  GPU_EACH(i, n) put(z, to, i, get<A>(x, from, i));
}

static weft_err cast_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  const weft_dtype to = weft__gpu->attr_type(k, "DstT");
  if (to == x.dtype) return weft__gpu->forward(k, 0, 0, &x.shape);
  gpu_tensor z;
  WEFT_TRY(gpu_out(k, 0, x.shape, &z));
  if (z.count == 0) return WEFT_OK;
  const bool is_float = GPU_TYPE(x.dtype) & GPU_FLOATS;
  auto *const of = x.dtype == WEFT_DOUBLE ? cast_kernel<double> : is_float ? cast_kernel<float> : cast_kernel<int64_t>;
  of<<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>(x.data, x.dtype, z.data, to, z.count);
  return gpu_launched(k);
}

GPU_OPS(cast) = {
    {"Cast", cast_gpu, GPU_NUMBERS | GPU_BOOL | GPU_TYPE(WEFT_UINT8) | GPU_TYPE(WEFT_INT8)},
    {0},
};
