/* functions.cuh - the functions of one element that are kernels by themselves and steps of chains
 * (kernels/elementwise/chain.cu). */
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

#include "kernels/elementwise/functions.inc"
