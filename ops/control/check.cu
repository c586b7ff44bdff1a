/* check.cu - CheckNumerics on the GPU: the host waits to see, so that the step that made no number of something
 * fails. */
#include "kernels/reduce/reduce.cuh"

enum { SAW_INF = 1, SAW_NAN = 2 };

template <class A> __global__ void look_kernel(const void *x, weft_dtype type, int64_t n, int *seen) {
  int mine = 0;
  GPU_EACH(i, n) {
    const A v = fold_load<A>(x, type, i);
    mine |= v != v ? SAW_NAN : isinf(v) ? SAW_INF : 0;
  }
  if (mine) atomicOr(seen, mine);
}

static weft_err numerics_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  int *there, seen = 0;
  WEFT_TRY(gpu_scratch(k, 1, &there));
  cudaMemsetAsync(there, 0, sizeof *there, gpu_stream(k));
  WEFT_TRY(gpu_wide_floats(k, x.dtype, [&](auto t) {
    look_kernel<decltype(t)>
        <<<gpu_blocks(x.count, 4), GPU_THREADS, 0, gpu_stream(k)>>>(x.data, x.dtype, x.count, there);
    return gpu_launched(k);
  }));
  WEFT_TRY(gpu_fetch(k, &seen, there));
  if (!seen) return weft__gpu->forward(k, 0, 0, &x.shape);
  return gpu_fail(k, WEFT_INVALID_ARGUMENT, "%s : Tensor had %s%s%s values", weft__gpu->attr_text(k, "message"),
                  seen & SAW_INF ? "Inf" : "", seen == (SAW_INF | SAW_NAN) ? " and " : "", seen & SAW_NAN ? "NaN" : "");
}

GPU_OPS(check) = {
    {"CheckNumerics", numerics_gpu, GPU_FLOATS, nullptr, true},
    {0},
};
