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

/* Returns a * b + c, rounded once where the library's oldest processor can do that in one instruction.  A call of
 * fmaf elsewhere would not be vectorized. */
VMATH float vfma(float a, float b, float c) {
#if defined(__aarch64__) || defined(__FMA__)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

/* The smaller and the larger of x and a bound; the bound if x is NaN.  Each is one instruction.  A clamp written as
 * x > bound ? bound : x keeps NaN, but GCC for aarch64 needs eight instructions for that comparison, so a function
 * clamps with these and selects NaN at its end. */
#if defined(__aarch64__)
VMATH float vmin(float x, float bound) { return __builtin_fminf(x, bound); }
VMATH float vmax(float x, float bound) { return __builtin_fmaxf(x, bound); }
#else
VMATH float vmin(float x, float bound) { return x < bound ? x : bound; }
VMATH float vmax(float x, float bound) { return x > bound ? x : bound; }
#endif

/* Returns a where the condition holds, otherwise b.  GCC merges several ?: of one function into longer code; it keeps
 * these, which select by a mask. */
VMATH float vselect(int condition, float a, float b) {
  const uint32_t mask = condition ? 0xffffffffu : 0u;
  return vfloat((vbits(a) & mask) | (vbits(b) & ~mask));
}

/* Adding this to |x| < 2^22 leaves round(x) in the low bits. */
#define VMATH_ROUND 12582912.0f

/* Returns exp(r) - 1 - r for |r| <= ln2/2, as r^2 Q(r). */
VMATH float vexp_tail(float r) {
  float q = 1.97900663e-4f;
  q = vfma(q, r, 1.39449432e-3f);
  q = vfma(q, r, 8.33349861e-3f);
  q = vfma(q, r, 4.16662917e-2f);
  q = vfma(q, r, 1.66666657e-1f);
  q = vfma(q, r, 0.5f);
  return q * r * r;
}

/* Splits x = n ln2 + r: returns r, and sets *n_bits to n + the bits of VMATH_ROUND. */
VMATH float vexp_reduce(float x, float *n, uint32_t *n_bits) {
  const float t = vfma(x, 1.44269504f, VMATH_ROUND);
  *n_bits = vbits(t);
  *n = t - VMATH_ROUND;
  return vfma(*n, 2.12194440e-4f, vfma(*n, -0.693359375f, x));
}

VMATH float vexpf(float x) {
  float n;
  uint32_t bits;
  const float r = vexp_reduce(vmax(vmin(x, 89.0f), -105.0f), &n, &bits), y = 1.0f + (r + vexp_tail(r));
  /* 2^n as two factors: n runs from -152 to 128, and neither end fits one exponent. */
  const int32_t e = (int32_t)(bits - vbits(VMATH_ROUND)), half = e >> 1;
  const float z = y * vfloat((uint32_t)(half + 127) << 23) * vfloat((uint32_t)(e - half + 127) << 23);
  return vselect(x == x, z, x);
}

VMATH float vexpm1f(float x) {
  float n;
  uint32_t bits;
  const float r = vexp_reduce(vmax(vmin(x, 89.0f), -20.0f), &n, &bits), p = r + vexp_tail(r);
  /* 2^n (1 + p) - 1, computed at half the size so that n = 128 does not overflow too soon. */
  const float t = vfloat((bits - vbits(VMATH_ROUND) + 126u) << 23), y = 2.0f * vfma(t, p, t - 0.5f);
  return vselect(fabsf(x) > 0.0f, y, x); /* zeros keep their sign, and NaN is returned unchanged */
}

VMATH float vlogf(float x) {
  const uint32_t bits = vbits(x);
  const uint32_t tiny = bits < 0x00800000u ? 0xffffffffu : 0u; /* a mask: x is subnormal */
  const uint32_t base = 0x3f3504f3u;                           /* sqrt(1/2): m runs from there to sqrt(2) */
  const uint32_t u = ((vbits(x * 8388608.0f) & tiny) | (bits & ~tiny)) - base;
  const float e = (float)(((int32_t)u >> 23) - (int32_t)(tiny & 23u));
  const float f = vfloat((u & 0x7fffffu) + base) - 1.0f;
  float p = 6.74660131e-2f;
  p = vfma(p, f, -1.16756409e-1f);
  p = vfma(p, f, 1.18881747e-1f);
  p = vfma(p, f, -1.24055915e-1f);
  p = vfma(p, f, 1.42195508e-1f);
  p = vfma(p, f, -1.66679963e-1f);
  p = vfma(p, f, 2.00021192e-1f);
  p = vfma(p, f, -2.50000089e-1f);
  p = vfma(p, f, 3.33333135e-1f);
  const float f2 = f * f, y = f + vfma(e, -2.12194440e-4f, vfma(p * f, f2, -0.5f * f2));
  const float z = vfma(e, 0.693359375f, y);
  /* Infinity and NaN are returned unchanged.  Comparisons of the bits are shorter than those of floats. */
  const float negative = vselect(bits << 1 == 0, -INFINITY, NAN), special = vselect((int32_t)bits < 1, negative, x);
  return vselect(bits - 1u < 0x7f7fffffu, z, special);
}

/* Returns log(1 + x); the division compensates for the rounding of 1 + x. */
VMATH float vlog1pf(float x) {
  const float u = 1.0f + x, d = u - 1.0f, y = vlogf(u) * (x / vselect(d == 0.0f, 1.0f, d));
  return vselect(d == 0.0f, x, vselect(u < INFINITY, y, u));
}

/* A quotient of polynomials, odd in x; at 9 it is 1 to the last bit but one. */
VMATH float vtanhf(float x) {
  const float c = vmin(fabsf(x), 9.2f), z = c * c;
  float p = 5.08564248e-08f;
  p = vfma(p, z, 3.16157639e-05f);
  p = vfma(p, z, 0.00400973391f);
  p = vfma(p, z, 0.137863249f);
  p = vfma(p, z, 1.0f);
  float q = 7.3934453e-10f;
  q = vfma(q, z, 1.61955927e-06f);
  q = vfma(q, z, 0.000420962431f);
  q = vfma(q, z, 0.0277419388f);
  q = vfma(q, z, 0.471196562f);
  q = vfma(q, z, 1.0f);
  const float y = copysignf(vmin(c * p / q, 1.0f), x);
  return vselect(x == x, y, x);
}

/* sin and cos are accurate for |x| < VMATH_MAX_ANGLE: the reduction by quarter circles is exact enough there. */
#define VMATH_MAX_ANGLE 8192.0f

/* sin(x + quarter * pi/2) */
VMATH float vturn(float x, uint32_t quarter) {
  const float t = vfma(x, 0.636619772f, VMATH_ROUND), n = t - VMATH_ROUND;
  const uint32_t quadrant = vbits(t) + quarter;
  const float r = vfma(n, -7.54978995e-8f, vfma(n, -4.83751297e-4f, vfma(n, -1.5703125f, x))), z = r * r;
  const float s = vfma(r * z, vfma(z, vfma(z, -0.000195108383f, 0.00833213143f), -0.166666538f), r);
  const float q = vfma(z, vfma(z, 2.44312032e-05f, -0.0013887306f), 0.0416666456f),
              c = vfma(z * z, q, vfma(z, -0.5f, 1.0f));
  const float y = quadrant & 1u ? c : s;
  return vfloat(vbits(y) ^ (quadrant & 2u) << 30);
}
VMATH float vsinf(float x) { return vturn(x, 0); }
VMATH float vcosf(float x) { return vturn(x, 1); }

VMATH float vsigmoidf(float x) {
  const float e = vexpf(-fabsf(x));
  return vselect(x < 0.0f, e, 1.0f) / (1.0f + e);
}

/* log(1 + e^x): the logarithm of a number between 1 and 2, by atanh, besides max(x, 0). */
VMATH float vsoftplusf(float x) {
  const float e = vexpf(-fabsf(x)), s = e / (2.0f + e), z = s * s;
  float p = 0.244248986f;
  p = vfma(p, z, 0.213899642f);
  p = vfma(p, z, 0.286210418f);
  p = vfma(p, z, 0.399986774f);
  p = vfma(p, z, 0.666666806f);
  p = vfma(p, z, 2.0f);
  return vfma(s, p, vselect(x > 0.0f, x, 0.0f));
}

/* A quotient of polynomials, odd in x; at 3.9 it is 1 to the last bit but one. */
VMATH float verff(float x) {
  const float c = vmin(fabsf(x), 3.9f), z = c * c;
  float p = 2.10828512e-06f;
  p = vfma(p, z, 0.000285675749f);
  p = vfma(p, z, 0.00367394672f);
  p = vfma(p, z, 0.0524797589f);
  p = vfma(p, z, 0.187897995f);
  p = vfma(p, z, 1.12837911f);
  float q = 3.87320215e-05f;
  q = vfma(q, z, 0.00114550604f);
  q = vfma(q, z, 0.0147849247f);
  q = vfma(q, z, 0.113129094f);
  q = vfma(q, z, 0.499853134f);
  q = vfma(q, z, 1.0f);
  const float y = copysignf(vmin(c * p / q, 1.0f), x);
  return vselect(x == x, y, x);
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
