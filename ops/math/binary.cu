/* binary.cu - arithmetic on two operands that broadcast, on the GPU.
 *
 * Integers wrap around.  The CPU kernel fails if an integer is divided by zero.  On the GPU the result is undefined,
 * because an error would need the host to wait for the kernel. */
#include "kernels/elementwise/functions.cuh"

template <class A> __device__ A remainder_of(A x, A y) {
  if constexpr (std::is_floating_point_v<A>)
    return fmod(x, y);
  else
    return y == -1 || y == 0 ? (A)0 : x % y;
}

/* Returns the remainder with the sign of the divisor. */
template <class A> __device__ A towards(A r, A y) { return r != 0 && (r < 0) != (y < 0) ? r + y : r; }

template <class A> __device__ A floor_quotient(A x, A y) {
  if constexpr (std::is_floating_point_v<A>)
    return floor(x / y);
  else
    return quotient_of(x, y) - (remainder_of(x, y) != 0 && (remainder_of(x, y) < 0) != (y < 0));
}

template <class A> __device__ A truncated_quotient(A x, A y) {
  if constexpr (std::is_floating_point_v<A>)
    return trunc(x / y);
  else
    return quotient_of(x, y);
}

BINARY(mul_no_nan, y == 0 ? (A)0 : x * y)
BINARY(truncate_div, truncated_quotient(x, y))
BINARY(floor_div, floor_quotient(x, y))
BINARY(floor_mod, towards(remainder_of(x, y), y))
BINARY(mod, remainder_of(x, y))
BINARY(xdivy, x == 0 ? (A)0 : x / y)
BINARY(xlogy, x == 0 ? (A)0 : x * log(y))
BINARY(xlog1py, x == 0 ? (A)0 : x * log1p(y))
BINARY(arctangent2, atan2(x, y))

#define NUMBERS(op, f)                                                                                                 \
  { op, gpu_binary_numbers<f>, GPU_NUMBERS }
#define FLOATS(op, f)                                                                                                  \
  { op, gpu_binary_floats<f>, GPU_FLOATS }

GPU_OPS(binary) = {
    NUMBERS("Add", add),
    NUMBERS("AddV2", add),
    NUMBERS("Sub", sub),
    NUMBERS("Mul", mul),
    NUMBERS("SquaredDifference", squared_difference),
    FLOATS("MulNoNan", mul_no_nan),
    FLOATS("RealDiv", quotient),
    NUMBERS("Div", quotient),
    NUMBERS("TruncateDiv", truncate_div),
    NUMBERS("FloorDiv", floor_div),
    NUMBERS("FloorMod", floor_mod),
    NUMBERS("Mod", mod),
    NUMBERS("TruncateMod", mod),
    FLOATS("DivNoNan", div_no_nan),
    FLOATS("Xdivy", xdivy),
    NUMBERS("Maximum", maximum),
    NUMBERS("Minimum", minimum),
    NUMBERS("Pow", power),
    FLOATS("Xlogy", xlogy),
    FLOATS("Xlog1py", xlog1py),
    FLOATS("Atan2", arctangent2),
    {0},
};
