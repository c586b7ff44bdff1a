/* pooling.c - pooling over images with the channels last: a window is a few rows of channels.
 *
 * All loops run along the channels, so they vectorize.  A gradient goes to the first maximum.  So the maximum is
 * found first; then the positions are visited in order, and the first that equals it takes the gradient.  The common
 * case of four positions without padding is computed in one pass. */
#include "kernels/conv/pooling.h"

#include "base/paste.h"
#include "base/target_clones.h"
#include "kernels/simd/vmath.h"
#include <float.h>
#include <string.h>

/* Finds the positions of window o that are not padding: [first, last). */
static inline void pooling_reach(const window_axis *a, int64_t o, int64_t *first, int64_t *last) {
  const int64_t begin = o * a->stride - a->before, end = begin + a->size;
  *first = begin > 0 ? begin : 0;
  *last = end < a->in ? end : a->in;
}

/* Adds the cost of a window, and returns true if the step has ended. */
static inline bool pooling_over(const pool_work *j, int64_t *spent, int64_t channels) {
  return weft__long_work_spent(j->work, spent, weft__window_most(&j->h) * weft__window_most(&j->w) * channels);
}

enum {
  RUN = 256, /* channels per pass, so that intermediate values fit the stack */
  BLOCK = 16 /* channels whose sums stay in registers */
};

#define GREATER(a, b) ((a) > (b) ? (a) : (b))

/* The lowest finite value of the type of `zero`. */
#define LOWEST(zero)                                                                                                   \
  _Generic((zero), float                                                                                               \
           : -FLT_MAX, double                                                                                          \
           : -DBL_MAX, int8_t                                                                                          \
           : INT8_MIN, int16_t                                                                                         \
           : INT16_MIN, int32_t                                                                                        \
           : INT32_MIN, int64_t                                                                                        \
           : INT64_MIN, default : 0)

#define STEM max_float
#define T float
#define HOT WEFT_TARGET_CLONES
#include "kernels/conv/pooling.inc"
#define STEM max_double
#define T double
#define HOT
#include "kernels/conv/pooling.inc"
#define STEM max_int8
#define T int8_t
#define HOT
#include "kernels/conv/pooling.inc"
#define STEM max_int16
#define T int16_t
#define HOT
#include "kernels/conv/pooling.inc"
#define STEM max_int32
#define T int32_t
#define HOT
#include "kernels/conv/pooling.inc"
#define STEM max_int64
#define T int64_t
#define HOT
#include "kernels/conv/pooling.inc"
#define STEM max_uint8
#define T uint8_t
#define HOT
#include "kernels/conv/pooling.inc"
#define STEM max_uint16
#define T uint16_t
#define HOT
#include "kernels/conv/pooling.inc"
#define STEM max_uint32
#define T uint32_t
#define HOT
#include "kernels/conv/pooling.inc"
#define STEM max_uint64
#define T uint64_t
#define HOT
#include "kernels/conv/pooling.inc"

const pooling *weft__pooling(weft_dtype t) {
  switch ((int)t) { /* fits: an enum */
  case WEFT_FLOAT: return &max_float;
  case WEFT_DOUBLE: return &max_double;
  case WEFT_INT8: return &max_int8;
  case WEFT_INT16: return &max_int16;
  case WEFT_INT32: return &max_int32;
  case WEFT_INT64: return &max_int64;
  case WEFT_UINT8: return &max_uint8;
  case WEFT_UINT16: return &max_uint16;
  case WEFT_UINT32: return &max_uint32;
  case WEFT_UINT64: return &max_uint64;
  default: return NULL;
  }
}

/* ---- means ---- */

/* y[i] = the mean over h x w positions from x on, which are `row` and `pixel` elements apart, for n channels */
#define DEFINE_MEAN_ALL(name, T)                                                                                       \
  WEFT_TARGET_CLONES static void name##_all(T *y, const T *x, int64_t h, int64_t row, int64_t w, int64_t pixel,        \
                                            int64_t n) {                                                               \
    const T count = (T)(h * w);                                                                                        \
    int64_t c = 0;                                                                                                     \
    for (; c + BLOCK <= n; c += BLOCK) {                                                                               \
      T sum[BLOCK] = {0};                                                                                              \
      for (int64_t p = 0; p < h; p++)                                                                                  \
        for (int64_t q = 0; q < w; q++) {                                                                              \
          const T *from = x + p * row + q * pixel + c;                                                                 \
          for (int i = 0; i < BLOCK; i++) sum[i] += from[i];                                                           \
        }                                                                                                              \
      for (int i = 0; i < BLOCK; i++) y[c + i] = sum[i] / count;                                                       \
    }                                                                                                                  \
    for (int64_t i = c; i < n; i++) y[i] = 0;                                                                          \
    for (int64_t p = 0; p < h && c < n; p++)                                                                           \
      for (int64_t q = 0; q < w; q++) {                                                                                \
        const T *from = x + p * row + q * pixel;                                                                       \
        WEFT_IVDEP for (int64_t i = c; i < n; i++) y[i] += from[i];                                                    \
      }                                                                                                                \
    for (int64_t i = c; i < n; i++) y[i] /= count;                                                                     \
  }
DEFINE_MEAN_ALL(mean_float, float)
DEFINE_MEAN_ALL(mean_double, double)

#define DEFINE_MEAN(name, T)                                                                                           \
  WEFT_TARGET_CLONES static void name##_add(T *y, const T *x, int64_t n, T scale) {                                    \
    WEFT_IVDEP for (int64_t i = 0; i < n; i++) y[i] += x[i] * scale;                                                   \
  }                                                                                                                    \
  static void name(void *arg, int64_t begin, int64_t end) {                                                            \
    const pool_work *j = arg;                                                                                          \
    const int64_t C = j->channels;                                                                                     \
    int64_t spent = 0;                                                                                                 \
    for (int64_t r = begin; r < end; r++)                                                                              \
      for (int64_t ow = 0; ow < j->w.out; ow++) {                                                                      \
        int64_t at[4];                                                                                                 \
        if (pooling_over(j, &spent, C)) return;                                                                        \
        pooling_reach(&j->h, r % j->h.out, &at[0], &at[1]);                                                            \
        pooling_reach(&j->w, ow, &at[2], &at[3]);                                                                      \
        const T *x = (const T *)j->x + r / j->h.out * j->h.in * j->w.in * C;                                           \
        T *y = (T *)j->out + (r * j->w.out + ow) * C;                                                                  \
        const int64_t h = at[1] > at[0] ? at[1] - at[0] : 0, w = at[3] > at[2] ? at[3] - at[2] : 0;                    \
        name##_all(y, x + (at[0] * j->w.in + at[2]) * C, h, j->w.in * C, w, C, C);                                     \
      }                                                                                                                \
  }                                                                                                                    \
  static void name##_grad(void *arg, int64_t begin, int64_t end) { /* images */                                        \
    const pool_work *j = arg;                                                                                          \
    const int64_t C = j->channels, rows = j->h.out;                                                                    \
    int64_t spent = 0;                                                                                                 \
    for (int64_t r = begin * rows; r < end * rows; r++)                                                                \
      for (int64_t ow = 0; ow < j->w.out; ow++) {                                                                      \
        int64_t at[4];                                                                                                 \
        if (pooling_over(j, &spent, C)) return;                                                                        \
        pooling_reach(&j->h, r % rows, &at[0], &at[1]);                                                                \
        pooling_reach(&j->w, ow, &at[2], &at[3]);                                                                      \
        T *dx = (T *)j->out + r / rows * j->h.in * j->w.in * C;                                                        \
        const T *g = (const T *)j->g + (r * j->w.out + ow) * C;                                                        \
        const T share = 1 / (T)((at[1] - at[0]) * (at[3] - at[2]));                                                    \
        for (int64_t h = at[0]; h < at[1]; h++)                                                                        \
          for (int64_t w = at[2]; w < at[3]; w++) name##_add(dx + (h * j->w.in + w) * C, g, C, share);                 \
      }                                                                                                                \
  }
DEFINE_MEAN(mean_float, float)
DEFINE_MEAN(mean_double, double)

pool_loop *weft__pooling_mean(bool is_double) { return is_double ? mean_double : mean_float; }
pool_loop *weft__pooling_mean_grad(bool is_double) { return is_double ? mean_double_grad : mean_float_grad; }
