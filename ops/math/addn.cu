/* addn.cu - AddN on the GPU: adds eight inputs per kernel, in input order. */
#include "kernels/elementwise/elementwise.cuh"

enum { TERMS = 8 };
template <class T> struct terms {
  const T *x[TERMS];
  int n;
};

template <class T> __global__ void add_kernel(T *z, const terms<T> in, int64_t n) {
  GPU_EACH(i, n) {
    wide<T> sum = (wide<T>)in.x[0][i];
#pragma unroll
    for (int t = 1; t < TERMS; t++)
      if (t < in.n) sum += (wide<T>)in.x[t][i];
    z[i] = (T)sum;
  }
}

template <class T> static weft_err add_all(kernel *k, int n_in, const gpu_tensor &z) {
  for (int done = 0; done < n_in;) {
    terms<T> in = {};
    if (done) in.x[in.n++] = (const T *)z.data; /* the sum so far */
    while (in.n < TERMS && done < n_in) in.x[in.n++] = (const T *)gpu_in(k, done++).data;
    add_kernel<T><<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>((T *)z.data, in, z.count);
  }
  return gpu_launched(k);
}

static weft_err add_n_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  const int n_in = gpu_n_in(k);
  gpu_tensor z;
  for (int i = 1; i < n_in; i++)
    if (!gpu_same_shape(x.shape, gpu_in(k, i).shape))
      return gpu_fail(k, WEFT_INVALID_ARGUMENT,
                      "Inputs to an operation of type AddN must have the same size and shape.  Input 0 != input %d", i);
  if (n_in == 1) return weft__gpu->forward(k, 0, 0, &x.shape);
  WEFT_TRY(gpu_out_over(k, 0, 0, x.shape, &z));
  if (z.count == 0) return WEFT_OK;
  return gpu_numbers(k, z.dtype, [&](auto t) { return add_all<decltype(t)>(k, n_in, z); });
}

/* Adds two tensors.  Tensor arrays use it to accumulate gradients. */
static weft_err add_two(kernel *k, weft_dtype type, void *z, const void *x, const void *y, int64_t n) {
  if (n == 0) return WEFT_OK;
  return gpu_numbers(k, type, [&](auto t) {
    using T = decltype(t);
    const terms<T> in = {{(const T *)x, (const T *)y}, 2};
    add_kernel<T><<<gpu_blocks(n), GPU_THREADS, 0, gpu_stream(k)>>>((T *)z, in, n);
    return gpu_launched(k);
  });
}

gpu_adder *weft__gpu_adder() { return add_two; }

GPU_OPS(addn) = {
    {"AddN", add_n_gpu, GPU_NUMBERS},
    {"AccumulateNV2", add_n_gpu, GPU_NUMBERS},
    {0},
};
