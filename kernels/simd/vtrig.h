/* vtrig.h - float32 tangent, hyperbolic functions and inverse functions that compilers can vectorize inside a loop.
 *
 * They follow the rules of vmath.h: straight-line C with selects only, and the same treatment of infinities, NaN and
 * signed zeros as in the C library.  All results are within 4 ulp; vtrig_test.c holds the bound of each function.
 * The polynomials are our own minimax fits. */
#ifndef WEFT_KERNELS_SIMD_VTRIG_H
#define WEFT_KERNELS_SIMD_VTRIG_H

#include "kernels/simd/vmath.h"

/* pi/2 and pi, as the nearest float and the rest */
#define VTRIG_HALF_PI 1.57079637f
#define VTRIG_HALF_PI_REST -4.37113883e-8f
#define VTRIG_PI 3.14159274f
#define VTRIG_PI_REST -8.74227766e-8f
#define VTRIG_LN2 0.693147181f

/* Returns the angle whose tangent is t, for 0 <= t <= 1 or NaN. */
VMATH float vatan_unit(float t) {
  const float z = t * t;
  float p = 0.00292069187f;
  p = vfma(p, z, -0.0163679265f);
  p = vfma(p, z, 0.0432118582f);
  p = vfma(p, z, -0.0755221405f);
  p = vfma(p, z, 0.106660045f);
  p = vfma(p, z, -0.142110553f);
  p = vfma(p, z, 0.199937728f);
  p = vfma(p, z, -0.333331527f);
  return vfma(t, z * p, t);
}

VMATH float vatanf(float x) {
  const float a = fabsf(x), y = vatan_unit(vselect(a > 1.0f, 1.0f / a, a));
  return copysignf(vselect(a > 1.0f, (VTRIG_HALF_PI - y) + VTRIG_HALF_PI_REST, y), x);
}

/* Returns the angle of the point (x, y).  Two zeros and two infinities have the angles of the C library. */
VMATH float vatan2f(float y, float x) {
  const float a = fabsf(y), b = fabsf(x), low = vselect(a > b, b, a), high = vselect(a > b, a, b);
  float t = low / vselect(high == 0.0f, 1.0f, high); /* of two zeros: 0 */
  t = vatan_unit(vselect((low == INFINITY) & (high == INFINITY), 1.0f, t));
  t = vselect(a > b, (VTRIG_HALF_PI - t) + VTRIG_HALF_PI_REST, t);
  t = vselect((int32_t)vbits(x) < 0, (VTRIG_PI - t) + VTRIG_PI_REST, t);
  return copysignf(t, y);
}

/* Returns (asin(s) - s) / s for 0 <= s <= 1/2, from z = s^2. */
VMATH float vasin_tail(float z) {
  float p = 0.0421663083f;
  p = vfma(p, z, 0.0241795148f);
  p = vfma(p, z, 0.0454703759f);
  p = vfma(p, z, 0.0749529764f);
  p = vfma(p, z, 0.166667525f);
  return p * z;
}

/* Above 1/2 both use asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)); the root is NaN for a > 1. */
VMATH float vasinf(float x) {
  const float a = fabsf(x);
  const int far = a > 0.5f;
  const float z = vselect(far, vfma(a, -0.5f, 0.5f), a * a), s = vselect(far, sqrtf(z), a),
              y = vfma(s, vasin_tail(z), s);
  return copysignf(vselect(far, VTRIG_HALF_PI - (2.0f * y - VTRIG_HALF_PI_REST), y), x);
}

/* Below 1/2 it is pi/2 - asin(x), above 2 asin(root), and below -1/2 pi - 2 asin(root): each a multiple of what is left
 * of an angle, which is pi/2 or 0. */
VMATH float vacosf(float x) {
  const float a = fabsf(x);
  const int far = a > 0.5f;
  const float z = vselect(far, vfma(a, -0.5f, 0.5f), a * a), root = copysignf(sqrtf(z), -x), s = vselect(far, root, x),
              y = vfma(s, vasin_tail(z), s);
  const int acute = x > 0.5f;
  const float left = vselect(acute, 0.0f, VTRIG_HALF_PI) - (y - vselect(acute, 0.0f, VTRIG_HALF_PI_REST));
  return vselect(far, left + left, left);
}

/* Accurate for |x| < VMATH_MAX_ANGLE.  The reduction by quarter circles is done in double: near the poles every bit of
 * the rest counts. */
VMATH float vtanf(float x) {
  const double t = (double)x * 0.63661977236758138 + 6755399441055744.0, n = t - 6755399441055744.0;
  const float r = (float)(((double)x - n * 1.5707963267341256) - n * 6.0771005065061922e-11), z = r * r;
  uint64_t quarter;
  memcpy(&quarter, &t, sizeof quarter);
  float p = 0.0044305208f;
  p = vfma(p, z, -1.79765669e-05f);
  p = vfma(p, z, 0.0109185874f);
  p = vfma(p, z, 0.0212510797f);
  p = vfma(p, z, 0.0540657724f);
  p = vfma(p, z, 0.133326132f);
  p = vfma(p, z, 0.333333512f);
  const float y = vfma(r, z * p, r);
  return vselect(((uint32_t)quarter & 1u) != 0, -1.0f / y, y);
}

/* Returns e^a / 2 for a >= 0; it is finite where sinh and cosh are. */
VMATH float vexp_half(float a) {
  float n;
  uint32_t bits;
  const float r = vexp_reduce(vmin(a, 90.0f), &n, &bits), y = 1.0f + (r + vexp_tail(r));
  const uint32_t e = bits - vbits(VMATH_ROUND), half = e >> 1;
  return y * vfloat((half + 127u) << 23) * vfloat((e - half + 126u) << 23);
}

VMATH float vsinhf(float x) {
  const float a = fabsf(x), z = a * a, h = vexp_half(a);
  float p = 2.81695122e-06f;
  p = vfma(p, z, 0.000198361598f);
  p = vfma(p, z, 0.00833335006f);
  p = vfma(p, z, 0.166666665f);
  const float near_zero = vfma(a, z * p, a), y = vselect(a > 1.0f, h - 0.25f / h, near_zero);
  return copysignf(y, x);
}

VMATH float vcoshf(float x) {
  const float h = vexp_half(fabsf(x));
  return vselect(x == x, h + 0.25f / h, x);
}

/* Above 1e9 the square would overflow, and the 1 under the root is lost: log(2a) remains. */
VMATH float vasinhf(float x) {
  const float a = fabsf(x), z = a * a, u = a + z / (1.0f + sqrtf(vfma(a, a, 1.0f)));
  const float y = vlog1pf(vselect(a > 1e9f, a, u)) + vselect(a > 1e9f, VTRIG_LN2, 0.0f);
  return copysignf(y, x);
}

VMATH float vacoshf(float x) {
  const float t = vselect(x < 1.0f, NAN, x - 1.0f), u = t + sqrtf(vfma(t, t, 2.0f * t));
  return vlog1pf(vselect(x > 1e9f, x, u)) + vselect(x > 1e9f, VTRIG_LN2, 0.0f);
}

VMATH float vatanhf(float x) {
  const float a = fabsf(x);
  return copysignf(0.5f * vlog1pf(2.0f * a / (1.0f - a)), x);
}

#endif
