/* activation.cu - the relu family, softplus and softsign on the GPU, with their gradients. */
#include "kernels/elementwise/functions.cuh"

#define SELU_SCALE 1.0507009873554804934
#define SELU_SCALE_ALPHA 1.7580993408473768599

UNARY(selu, x < 0 ? (A)SELU_SCALE_ALPHA * expm1(x) : (A)SELU_SCALE * x)
UNARY(softsign, x / (1 + fabs(x)))

/* x is the output gradient. */
BINARY(selu_grad, y < 0 ? x * (y + (A)SELU_SCALE_ALPHA) : x * (A)SELU_SCALE)
BINARY(softsign_grad, x / ((1 + fabs(y)) * (1 + fabs(y))))

namespace {
struct leaky {
  float alpha;
  template <class A> __device__ A operator()(A x) const { return x > 0 ? x : x * (A)alpha; }
  template <class A> __device__ A operator()(A x, A y) const { return y > 0 ? x : x * (A)alpha; }
};
} // namespace

template <class F> static weft_err pairwise(kernel *k, const F &f = F()) {
  const gpu_tensor x = gpu_in(k, 0);
  if (!gpu_same_shape(x.shape, gpu_in(k, 1).shape))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Inputs to an operation of type %s must have the same size and shape.",
                    weft__gpu->op_name(k));
  return gpu_each_floats<F, 2>(k, f);
}

template <class F> static weft_err grad(kernel *k) { return pairwise<F>(k); }

static weft_err leaky_gpu(kernel *k) {
  const leaky f = {weft__gpu->attr_float(k, "alpha", 0.2f)};
  return gpu_each_floats<leaky, 1>(k, f);
}

static weft_err leaky_grad_gpu(kernel *k) { return pairwise(k, leaky{weft__gpu->attr_float(k, "alpha", 0.2f)}); }

GPU_OPS(activation) = {
    {"Relu", gpu_unary_floats<relu>, GPU_FLOATS},
    {"Relu6", gpu_unary_floats<relu6>, GPU_FLOATS},
    {"LeakyRelu", leaky_gpu, GPU_FLOATS},
    {"Elu", gpu_unary_floats<elu>, GPU_FLOATS},
    {"Selu", gpu_unary_floats<selu>, GPU_FLOATS},
    {"Softplus", gpu_unary_floats<softplus>, GPU_FLOATS},
    {"Softsign", gpu_unary_floats<softsign>, GPU_FLOATS},
    {"ReluGrad", grad<relu_grad>, GPU_FLOATS},
    {"Relu6Grad", grad<relu6_grad>, GPU_FLOATS},
    {"LeakyReluGrad", leaky_grad_gpu, GPU_FLOATS},
    {"EluGrad", grad<elu_grad>, GPU_FLOATS},
    {"SeluGrad", grad<selu_grad>, GPU_FLOATS},
    {"SoftplusGrad", grad<softplus_grad>, GPU_FLOATS},
    {"SoftsignGrad", grad<softsign_grad>, GPU_FLOATS},
    {0},
};
