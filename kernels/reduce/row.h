/* row.h - reductions of a row in parallel lanes, for the softmax and the cross entropies.
 *
 * They are macros, because a row consists of floats or of doubles, and the loop must be compiled inside its
 * WEFT_TARGET_CLONES caller.  Each uses 16 lanes and combines them at the end. */
#ifndef WEFT_KERNELS_REDUCE_ROW_H
#define WEFT_KERNELS_REDUCE_ROW_H

#include <math.h>
#include <stdint.h>

enum { ROW_LANES = 16 };

/* Sets `out` to the reduction of [0, n), which starts with `first`.  `value` is the value of element `at`; `step` is
 * an expression in a (the accumulator) and v (the value). */
#define ROW_REDUCE(T, n, first, value, step, out)                                                                      \
  do {                                                                                                                 \
    T lane_[ROW_LANES];                                                                                                \
    int64_t i_ = 0;                                                                                                    \
    for (int l_ = 0; l_ < ROW_LANES; l_++) lane_[l_] = (first);                                                        \
    for (; i_ + ROW_LANES <= (n); i_ += ROW_LANES)                                                                     \
      for (int l_ = 0; l_ < ROW_LANES; l_++) {                                                                         \
        const int64_t at = i_ + l_;                                                                                    \
        const T a = lane_[l_], v = (value);                                                                            \
        lane_[l_] = (step);                                                                                            \
      }                                                                                                                \
    T all_ = (first);                                                                                                  \
    for (int l_ = 0; i_ > 0 && l_ < ROW_LANES; l_++) {                                                                 \
      const T a = all_, v = lane_[l_];                                                                                 \
      all_ = (step);                                                                                                   \
    }                                                                                                                  \
    for (; i_ < (n); i_++) {                                                                                           \
      const int64_t at = i_;                                                                                           \
      const T a = all_, v = (value);                                                                                   \
      all_ = (step);                                                                                                   \
    }                                                                                                                  \
    (out) = all_;                                                                                                      \
  } while (0)

#define ROW_MAX(T, x, n, out) ROW_REDUCE(T, n, -INFINITY, (x)[at], v > a ? v : a, out)
#define ROW_SUM(T, x, n, out) ROW_REDUCE(T, n, 0, (x)[at], a + v, out)
#define ROW_SUM_EXP(T, EXP, x, max, n, out) ROW_REDUCE(T, n, 0, EXP((x)[at] - (max)), a + v, out)

#endif
