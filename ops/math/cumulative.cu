/* cumulative.cu - cumulative sums and products on the GPU: each thread processes one line along the axis. */
#include "kernels/reduce/reduce.cuh"

struct run_args {
  const void *x;
  void *y;
  weft_dtype type;
  int64_t lines, n, inner;
  bool exclusive, reverse;
};

namespace {
struct running_sum {
  template <class A> __device__ A begin() const { return 0; }
  template <class A> __device__ A join(A a, A v) const { return a + v; }
};
struct running_product {
  template <class A> __device__ A begin() const { return 1; }
  template <class A> __device__ A join(A a, A v) const { return a * v; }
};
} // namespace

template <class A, class F> __global__ void __launch_bounds__(GPU_THREADS) run_kernel(const F f, const run_args a) {
  GPU_EACH(line, a.lines) {
    const int64_t outer = line / a.inner, first = outer * a.n * a.inner + (line - outer * a.inner);
    A sum = f.template begin<A>();
    for (int64_t i = 0; i < a.n; i++) {
      const int64_t at = first + (a.reverse ? a.n - 1 - i : i) * a.inner;
      const A v = fold_load<A>(a.x, a.type, at), next = f.join(sum, v);
      fold_store<A>(a.y, a.type, at, a.exclusive ? sum : next);
      sum = next;
    }
  }
}

template <class F> static weft_err cumulate(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), axes = gpu_in(k, 1);
  gpu_tensor y;
  int axis = 0;
  if (axes.shape.rank) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "axis must be a scalar");
  if (x.shape.rank == 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Expected scan axis in the range [0, 0)");
  WEFT_TRY(gpu_axis(k, gpu_int(axes, 0), x.shape.rank, &axis));
  WEFT_TRY(gpu_out(k, 0, x.shape, &y));
  if (y.count == 0) return WEFT_OK;
  run_args a = {x.data, y.data, x.dtype, 0, x.shape.dim[axis], gpu_span(x.shape, axis + 1, x.shape.rank)};
  a.lines = x.count / a.n;
  a.exclusive = weft__gpu->attr_bool(k, "exclusive", false);
  a.reverse = weft__gpu->attr_bool(k, "reverse", false);
  return gpu_wide_numbers(k, x.dtype, [&](auto t) {
    run_kernel<decltype(t)><<<gpu_blocks(a.lines), GPU_THREADS, 0, gpu_stream(k)>>>(F(), a);
    return gpu_launched(k);
  });
}

GPU_OPS(cumulative) = {
    {"Cumsum", cumulate<running_sum>, GPU_NUMBERS, "axis"},
    {"Cumprod", cumulate<running_product>, GPU_NUMBERS, "axis"},
    {0},
};
