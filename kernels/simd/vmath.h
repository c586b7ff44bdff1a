/* vmath.h - float32 functions that compilers can vectorize inside a loop.
 *
 * Each is straight-line C without a branch, a table or a call, with selects only.  So gcc and clang vectorize the
 * loop around it for the target machine; mark the function of that loop WEFT_TARGET_CLONES.  All results are within
 * 7 ulp (sin and cos of large arguments: within 7 ulp of 1).  Infinities, NaN, zero and subnormal numbers are
 * treated as in the C library.  The polynomials are our own minimax fits.
 *
 * The conversions of 16-bit floats are here too, because every loop over such floats needs them. */
#ifndef WEFT_KERNELS_SIMD_VMATH_H
#define WEFT_KERNELS_SIMD_VMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Goes in front of a loop whose pointers are either equal or do not overlap.  The loop is then vectorized without a
 * run-time check that would send the in-place case (z == x) to a scalar loop. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* no warning if a loop stays scalar */
#define WEFT_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define WEFT_IVDEP _Pragma("GCC ivdep")
#endif

#define VMATH static inline __attribute__((always_inline))

VMATH uint32_t vbits(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  return u;
}

VMATH float vfloat(uint32_t u) {
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}

/* Adding this to |x| < 2^22 leaves round(x) in the low bits. */
#define VMATH_ROUND 12582912.0f

/* Returns exp(r) - 1 - r for |r| <= ln2/2, as r^2 Q(r). */
VMATH float vexp_tail(float r) {
  float q = 1.97900663e-4f;
  q = q * r + 1.39449432e-3f;
  q = q * r + 8.33349861e-3f;
  q = q * r + 4.16662917e-2f;
  q = q * r + 1.66666657e-1f;
  q = q * r + 0.5f;
  return q * r * r;
}

/* Splits x = n ln2 + r: returns r, and sets *n_bits to n + the bits of VMATH_ROUND. */
VMATH float vexp_reduce(float x, float *n, uint32_t *n_bits) {
  const float t = x * 1.44269504f + VMATH_ROUND;
  *n_bits = vbits(t);
  *n = t - VMATH_ROUND;
  return (x - *n * 0.693359375f) + *n * 2.12194440e-4f;
}

VMATH float vexpf(float x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -105.0f ? -105.0f : x;
  float n;
  uint32_t bits;
  const float r = vexp_reduce(x, &n, &bits), y = 1.0f + (r + vexp_tail(r));
  /* 2^n as two factors: n runs from -152 to 128, and neither end fits one exponent. */
  const int32_t e = (int32_t)(bits - vbits(VMATH_ROUND)), half = e >> 1;
  return y * vfloat((uint32_t)(half + 127) << 23) * vfloat((uint32_t)(e - half + 127) << 23);
}

VMATH float vexpm1f(float x) {
  const float c = x > 89.0f ? 89.0f : x < -20.0f ? -20.0f : x;
  float n;
  uint32_t bits;
  const float r = vexp_reduce(c, &n, &bits), p = r + vexp_tail(r);
  /* 2^n (1 + p) - 1, computed at half the size so that n = 128 does not overflow too soon. */
  const float t = vfloat((bits - vbits(VMATH_ROUND) + 126u) << 23), y = 2.0f * (t * p + (t - 0.5f));
  return x == 0.0f ? x : y;
}

VMATH float vlogf(float x) {
  const int tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 8388608.0f : x;
  const uint32_t base = 0x3f3504f3u, u = vbits(scaled) - base; /* sqrt(1/2): m runs from there to sqrt(2) */
  const float e = (float)((int32_t)u >> 23) - (tiny ? 23.0f : 0.0f);
  const float f = vfloat((u & 0x7fffffu) + base) - 1.0f;
  float p = 6.74660131e-2f;
  p = p * f - 1.16756409e-1f;
  p = p * f + 1.18881747e-1f;
  p = p * f - 1.24055915e-1f;
  p = p * f + 1.42195508e-1f;
  p = p * f - 1.66679963e-1f;
  p = p * f + 2.00021192e-1f;
  p = p * f - 2.50000089e-1f;
  p = p * f + 3.33333135e-1f;
  const float f2 = f * f, y = f + ((p * f * f2 - 0.5f * f2) - e * 2.12194440e-4f);
  float z = e * 0.693359375f + y;
  z = x == 0.0f ? -INFINITY : z;
  z = x < 0.0f ? NAN : z;
  return x < INFINITY ? z : x; /* infinity and NaN are returned unchanged */
}

/* Returns log(1 + x); the division compensates for the rounding of 1 + x. */
VMATH float vlog1pf(float x) {
  const float u = 1.0f + x, d = u - 1.0f, safe = d == 0.0f ? 1.0f : d, y = vlogf(u) * (x / safe);
  const float z = d == 0.0f ? x : y;
  return u < INFINITY ? z : u;
}

/* A quotient of polynomials, odd in x; at 9 it is 1 to the last bit but one. */
VMATH float vtanhf(float x) {
  const float a = fabsf(x), c = a > 9.2f ? 9.2f : a, z = c * c;
  float p = 5.08564248e-08f;
  p = p * z + 3.16157639e-05f;
  p = p * z + 0.00400973391f;
  p = p * z + 0.137863249f;
  p = p * z + 1.0f;
  float q = 7.3934453e-10f;
  q = q * z + 1.61955927e-06f;
  q = q * z + 0.000420962431f;
  q = q * z + 0.0277419388f;
  q = q * z + 0.471196562f;
  q = q * z + 1.0f;
  const float y = c * p / q;
  return copysignf(y > 1.0f ? 1.0f : y, x);
}

/* sin and cos are accurate for |x| < VMATH_TURNS: the reduction by quarter turns is exact enough there. */
#define VMATH_TURNS 8192.0f

/* sin(x + quarter * pi/2) */
VMATH float vturn(float x, uint32_t quarter) {
  const float t = x * 0.636619772f + VMATH_ROUND, n = t - VMATH_ROUND;
  const uint32_t turn = vbits(t) + quarter;
  const float r = ((x - n * 1.5703125f) - n * 4.83751297e-4f) - n * 7.54978995e-8f, z = r * r;
  const float s = r + r * z * (-0.166666538f + z * (0.00833213143f + z * -0.000195108383f));
  const float c = (1.0f - 0.5f * z) + z * z * (0.0416666456f + z * (-0.0013887306f + z * 2.44312032e-05f));
  const float y = turn & 1u ? c : s;
  return vfloat(vbits(y) ^ (turn & 2u) << 30);
}
VMATH float vsinf(float x) { return vturn(x, 0); }
VMATH float vcosf(float x) { return vturn(x, 1); }

VMATH float vsigmoidf(float x) {
  const float e = vexpf(-fabsf(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/* log(1 + e^x): the logarithm of a number between 1 and 2, by atanh, besides max(x, 0). */
VMATH float vsoftplusf(float x) {
  const float e = vexpf(-fabsf(x)), s = e / (2.0f + e), z = s * s;
  float p = 0.244248986f;
  p = p * z + 0.213899642f;
  p = p * z + 0.286210418f;
  p = p * z + 0.399986774f;
  p = p * z + 0.666666806f;
  p = p * z + 2.0f;
  return (x > 0.0f ? x : 0.0f) + s * p;
}

/* A quotient of polynomials, odd in x; at 3.9 it is 1 to the last bit but one. */
VMATH float verff(float x) {
  const float a = fabsf(x), c = a > 3.9f ? 3.9f : a, z = c * c;
  float p = 2.10828512e-06f;
  p = p * z + 0.000285675749f;
  p = p * z + 0.00367394672f;
  p = p * z + 0.0524797589f;
  p = p * z + 0.187897995f;
  p = p * z + 1.12837911f;
  float q = 3.87320215e-05f;
  q = q * z + 0.00114550604f;
  q = q * z + 0.0147849247f;
  q = q * z + 0.113129094f;
  q = q * z + 0.499853134f;
  q = q * z + 1.0f;
  const float y = c * p / q;
  return copysignf(y > 1.0f ? 1.0f : y, x);
}

/* ---- 16-bit floats ---- */
VMATH float vfrom_half(uint16_t h) {
  const uint32_t magnitude = h & 0x7fffu, sign = (uint32_t)(h & 0x8000u) << 16;
  /* no intermediate float is subnormal, because those may be flushed to zero */
  const float small = (float)(int32_t)magnitude * 0x1p-24f;
  uint32_t u = magnitude < 0x400u ? vbits(small) : (magnitude << 13) + (112u << 23);
  u = magnitude >= 0x7c00u ? 0x7f800000u | magnitude << 13 : u;
  return vfloat(u | sign);
}

VMATH uint16_t vto_half(float f) { /* to nearest, ties to even */
  const uint32_t u = vbits(f), sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
  const uint32_t normal = (a - (112u << 23) + 0xfffu + (a >> 13 & 1u)) >> 13;
  const uint32_t subnormal = vbits(vfloat(a) + 0.5f) - vbits(0.5f); /* the addition rounds at 2^-24 */
  const uint32_t special = a > 0x7f800000u ? 0x7e00u : 0x7c00u;
  uint32_t h = a < 0x38800000u ? subnormal : normal;
  h = a >= 0x477ff000u ? special : h;
  return (uint16_t)(h | sign);
}

VMATH float vfrom_bfloat16(uint16_t b) { return vfloat((uint32_t)b << 16); }

VMATH uint16_t vto_bfloat16(float f) {
  const uint32_t u = vbits(f), rounded = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
  return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u | (u >> 16 & 0x8000u) : rounded);
}

#endif
