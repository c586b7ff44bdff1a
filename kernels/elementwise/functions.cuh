/* functions.cuh - the functions of one element that are kernels by themselves and steps of chains (kernels/elementwise/chain.cu). */
#pragma once

#include "kernels/elementwise/elementwise.cuh"

template <class A> __device__ inline A quotient_of(A x, A y) {
  if constexpr (std::is_floating_point_v<A>)
    return x / y;
  else
    return y == -1 ? -x : y == 0 ? (A)0 : x / y;
}

/* Computes powers: of integers by squaring, and squares and cubes of floats, which formulas have most, by products. */
template <class A> __device__ inline A power_of(A x, A y) {
  if constexpr (std::is_floating_point_v<A>) {
    return y == 2 ? x * x : y == 3 ? x * x * x : pow(x, y);
  } else {
    A z = 1;
    for (; y > 0; y >>= 1, x *= x)
      if (y & 1) z *= x;
    return z;
  }
}

/* ---- of two operands ---- */
BINARY(add, x + y)
BINARY(sub, x - y)
BINARY(mul, x *y)
BINARY(squared_difference, (x - y) * (x - y))
BINARY(quotient, quotient_of(x, y))
BINARY(div_no_nan, y == 0 ? (A)0 : x / y)
BINARY(maximum, x < y || y != y ? y : x)
BINARY(minimum, y < x || y != y ? y : x)
BINARY(power, power_of(x, y))

/* ---- of one ---- */
UNARY(neg, -x)
UNARY(square, x *x)
UNARY(absolute, x < 0 ? -x : x == 0 ? (A)0 : x)
UNARY(square_root, sqrt(x))
UNARY(inverse_root, 1 / sqrt(x))
UNARY(reciprocal, 1 / x)
UNARY(exponential, exp(x))
UNARY(logarithm, log(x))
UNARY(logarithm_plus_1, log1p(x))
UNARY(sigmoid, 1 / (1 + exp(-x)))
UNARY(hyperbolic_tangent, tanh(x))
UNARY(error_function, erf(x))
UNARY(relu, x < 0 ? (A)0 : x)
UNARY(relu6, x<0 ? (A)0 : x> 6 ? (A)6 : x)
UNARY(elu, x < 0 ? expm1(x) : x)
UNARY(softplus, (x > 0 ? x : x != x ? x : (A)0) + log1p(exp(-fabs(x))))

/* ---- gradients from the result (x) and the incoming gradient (y); of activations the other way round ---- */
BINARY(tanh_grad, y *(1 - x * x))
BINARY(sigmoid_grad, y *x *(1 - x))
BINARY(sqrt_grad, y == 0 ? (A)0 : y * (A)0.5 / x)
BINARY(rsqrt_grad, (A)-0.5 * y * x * x * x)
BINARY(relu_grad, x *(A)(y > 0))
BINARY(relu6_grad, x *(A)(y > 0 && y < 6))
BINARY(elu_grad, y < 0 ? x * (y + 1) : x)
BINARY(softplus_grad, x / (exp(-y) + 1))
