/* row.h - reductions of a row in lanes, shared by the softmax and the cross entropies.
 *
 * Macros, because a row is of floats or of doubles and the loop must be compiled inside its
 * WEFT_TARGET_CLONES caller.  Each runs 16 lanes side by side and joins them at the end. */
#ifndef WEFT_KERNELS_REDUCE_ROW_H
#define WEFT_KERNELS_REDUCE_ROW_H

#include <math.h>
#include <stdint.h>

enum { ROW_LANES = 16 };

/* out = step(out, value of element i) over [0, n), from `first`; `step` is an expression in a (so far) and v. */
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
