/* deferred_rows.c - the arithmetic of deferred steps.
 *
 * The missed steps of a row are applied to blocks of sixteen numbers that stay in registers.  After many missed steps
 * most of the work can be left out:
 *
 * - Once m has decayed so far that no later step can change the value, only the two decays are computed.  Let
 *   b = most_rate * |m| / least_epsilon.  No later step changes the value by more than b: |m| does not grow, the
 *   divisor
 *   is not below epsilon, and rounding keeps the order of numbers.  If value - b and value + b both have the value's
 *   bits, so
 *   has every number between them.
 * - Once m and v are zero, nothing is computed.
 *
 * Denormal numbers are flushed here as in every kernel, so m and v do become zero. */
#include "base/target_clones.h"
#include "state/deferred.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
  LANES = 16,
  FULL_STEPS = 16, /* between two checks whether the value can still change */
  DECAYS = 64      /* between two checks whether m and v are zero */
};

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t float_bits(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  return u;
}

/* One step of a block: the decays of m and v, then the update of the value. */
INLINE void full_step(deferred_step s, float *restrict x, float *restrict m, float *restrict v) {
  for (int j = 0; j < LANES; j++) {
    m[j] = m[j] * s.beta1;
    v[j] = v[j] * s.beta2;
    x[j] = x[j] - s.rate * m[j] / (sqrtf(v[j]) + s.epsilon);
  }
}

/* Returns true if no further step changes a value of the block.  Compares bits: a denormal value becomes zero in its
 * next step, and -0 may become 0. */
INLINE bool values_stay(const deferred_updates *d, const float *restrict x, const float *restrict m,
                        const float *restrict v) {
  uint32_t differ = 0;
  for (int j = 0; j < LANES; j++) {
    const float most = d->most_rate * fabsf(m[j]) / d->least_epsilon;
    differ |= (float_bits(x[j] - most) ^ float_bits(x[j])) | (float_bits(x[j] + most) ^ float_bits(x[j]));
    differ |= v[j] >= 0 && v[j] <= FLT_MAX ? 0 : 1; /* any other v may have a root or a decay that is NaN */
  }
  return differ == 0;
}

INLINE bool all_zero(const float *m, const float *v) {
  uint32_t any = 0;
  for (int j = 0; j < LANES; j++) any |= float_bits(m[j]) | float_bits(v[j]);
  return (any & 0x7fffffffu) == 0;
}

/* Applies only the decays of m and v, for steps [0, n). */
INLINE void decay_block(const deferred_step *s, uint32_t n, float *m, float *v) {
  lanes a, b;
  for (uint32_t i = 0; i < n;) {
    const uint32_t end = n - i < DECAYS ? n : i + DECAYS;
    if (all_zero(m, v)) return;
    memcpy(&a, m, sizeof a);
    memcpy(&b, v, sizeof b);
    for (; i < end; i++) {
      a = a * s[i].beta1;
      b = b * s[i].beta2;
    }
    memcpy(m, &a, sizeof a);
    memcpy(v, &b, sizeof b);
  }
}

WEFT_TARGET_CLONES static void catch_up_block(const deferred_updates *d, uint32_t from, uint32_t to, float *x, float *m,
                                              float *v) {
  const deferred_step *s = d->step;
  uint32_t i = from;
  while (i < to) {
    if (d->regular && values_stay(d, x, m, v)) {
      decay_block(s + i, to - i, m, v);
      return;
    }
    const uint32_t end = to - i < FULL_STEPS ? to : i + FULL_STEPS;
    for (; i < end; i++) full_step(s[i], x, m, v);
  }
}

void weft__deferred_catch_up_row(const deferred_updates *d, int64_t row, uint32_t from, uint32_t to) {
  if (from >= to) return;
  float *at[DEFERRED_TABLES], part[DEFERRED_TABLES][LANES];
  for (int t = 0; t < DEFERRED_TABLES; t++) at[t] = d->data[t] + row * d->width;
  for (int64_t j = 0; j < d->width; j += LANES) {
    const int64_t n = d->width - j < LANES ? d->width - j : LANES;
    if (n == LANES) {
      catch_up_block(d, from, to, at[DEFERRED_VALUE] + j, at[DEFERRED_MEAN] + j, at[DEFERRED_SQUARE] + j);
      continue;
    }
    memset(part, 0, sizeof part); /* zeros stay zeros: the lanes that do not count change nothing */
    for (int t = 0; t < DEFERRED_TABLES; t++) memcpy(part[t], at[t] + j, (size_t)n * sizeof(float));
    catch_up_block(d, from, to, part[DEFERRED_VALUE], part[DEFERRED_MEAN], part[DEFERRED_SQUARE]);
    for (int t = 0; t < DEFERRED_TABLES; t++) memcpy(at[t] + j, part[t], (size_t)n * sizeof(float));
  }
}

WEFT_TARGET_CLONES void weft__deferred_decay(float *m, float beta, int64_t n) {
  for (int64_t i = 0; i < n; i++) m[i] = m[i] * beta;
}

WEFT_TARGET_CLONES void weft__deferred_update(float *x, const float *m, const float *v, const deferred_step *s,
                                              int64_t n) {
  const float rate = s->rate, epsilon = s->epsilon;
  for (int64_t i = 0; i < n; i++) x[i] = x[i] - rate * m[i] / (sqrtf(v[i]) + epsilon);
}
