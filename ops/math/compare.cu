/* compare.cu - comparisons and logical ops on the GPU: numbers and bools to bool. */
#include "kernels/elementwise/elementwise.cuh"

BINARY_TEST(equal, x == y)
BINARY_TEST(not_equal, x != y)
BINARY_TEST(less, x < y)
BINARY_TEST(less_equal, x <= y)
BINARY_TEST(greater, x > y)
BINARY_TEST(greater_equal, x >= y)
BINARY_TEST(logical_and, x &&y)
BINARY_TEST(logical_or, x || y)
UNARY_TEST(logical_not, !x)

namespace {
struct approximately {
  float tolerance;
  template <class A> __device__ bool operator()(A x, A y) const { return fabs(x - y) < (A)tolerance; }
};
} // namespace

/* With incompatible_shape_error=false, shapes that do not broadcast give one bool and no error. */
template <class F> static weft_err equality(kernel *k) {
  gpu_tensor in[2] = {gpu_in(k, 0), gpu_in(k, 1)}, z;
  shape s;
  if (!weft__gpu->attr_bool(k, "incompatible_shape_error", true) && gpu_broadcast(k, 2, in, &s) != WEFT_OK) {
    WEFT_TRY(gpu_out(k, 0, gpu_shape0(), &z));
    cudaMemsetAsync(z.data, std::is_same_v<F, not_equal>, 1, gpu_stream(k));
    return gpu_launched(k);
  }
  return in[0].dtype == WEFT_BOOL ? gpu_bools<F, 2>(k) : gpu_binary_test<F>(k);
}

static weft_err approximately_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), y = gpu_in(k, 1);
  if (!gpu_same_shape(x.shape, y.shape)) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "x and y must be of the same shape");
  const approximately f = {weft__gpu->attr_float(k, "tolerance", 1e-5f)};
  return gpu_wide_floats(k, x.dtype, [&](auto t) { return gpu_each<bool, decltype(t), 2>(k, f); });
}

#define ORDER(op, f)                                                                                                   \
  { op, gpu_binary_test<f>, GPU_NUMBERS | GPU_BOOL }

GPU_OPS(compare) = {
    {"Equal", equality<equal>, GPU_NUMBERS | GPU_BOOL},
    {"NotEqual", equality<not_equal>, GPU_NUMBERS | GPU_BOOL},
    ORDER("Less", less),
    ORDER("LessEqual", less_equal),
    ORDER("Greater", greater),
    ORDER("GreaterEqual", greater_equal),
    {"ApproximateEqual", approximately_gpu, GPU_FLOATS | GPU_BOOL},
    {"LogicalAnd", gpu_bools<logical_and, 2>, GPU_BOOL},
    {"LogicalOr", gpu_bools<logical_or, 2>, GPU_BOOL},
    {"LogicalNot", gpu_bools<logical_not, 1>, GPU_BOOL},
    {0},
};
