/* pooling.c - pooling over images with the channels last: a window is a few rows of channels.
 *
 * Everything runs along the channels, which vectorises.  A gradient needs the first of the
 * greatest values: the greatest is found first, then the positions are visited in order, and the
 * one that equals it takes what is left of the gradient.  The common window of four positions,
 * none of them padding, is done in one pass. */
#include "kernels/conv/pooling.h"

#include "base/target_clones.h"
#include "kernels/simd/vmath.h"
#include <string.h>

/* The positions of window o that are not padding: [first, last). */
static inline void reach(const window_axis *a, int64_t o, int64_t *first, int64_t *last) {
  const int64_t begin = o * a->stride - a->before, end = begin + a->size;
  *first = begin > 0 ? begin : 0;
  *last = end < a->in ? end : a->in;
}

enum { RUN = 256 }; /* channels done at a time, so that what is between passes fits the stack */

#define GREATER(a, b) ((a) > (b) ? (a) : (b))

/* y = the greatest of positions [h0, h1) x [w0, w1) of image x, n channels of them. */
#define DEFINE_POOL(name, T, HOT)                                                                                      \
  HOT static void name##_four(T *y, const T *a, const T *b, const T *c, const T *d, int64_t n) {                       \
    WEFT_IVDEP for (int64_t i = 0; i < n; i++) {                                                                       \
      const T ab = GREATER(b[i], a[i]), cd = GREATER(d[i], c[i]);                                                      \
      y[i] = GREATER(cd, ab);                                                                                          \
    }                                                                                                                  \
  }                                                                                                                    \
  HOT static void name##_raise(T *y, const T *x, int64_t n) {                                                          \
    WEFT_IVDEP for (int64_t i = 0; i < n; i++) y[i] = GREATER(x[i], y[i]);                                             \
  }                                                                                                                    \
  static void name##_window(T *y, const T *x, const pool_job *j, const int64_t at[4], int64_t n) {                     \
    const int64_t C = j->channels, row = j->w.in * C;                                                                  \
    const T *first = x + at[0] * row + at[2] * C;                                                                      \
    if (at[1] - at[0] == 2 && at[3] - at[2] == 2) {                                                                    \
      name##_four(y, first, first + C, first + row, first + row + C, n);                                               \
      return;                                                                                                          \
    }                                                                                                                  \
    memcpy(y, first, (size_t)n * sizeof *y);                                                                           \
    for (int64_t h = at[0]; h < at[1]; h++)                                                                            \
      for (int64_t w = at[2]; w < at[3]; w++) name##_raise(y, x + h * row + w * C, n);                                 \
  }                                                                                                                    \
  static void name##_max(void *arg, int64_t begin, int64_t end) {                                                      \
    const pool_job *j = arg;                                                                                           \
    for (int64_t r = begin; r < end; r++)                                                                              \
      for (int64_t ow = 0; ow < j->w.out; ow++) {                                                                      \
        int64_t at[4];                                                                                                 \
        reach(&j->h, r % j->h.out, &at[0], &at[1]);                                                                    \
        reach(&j->w, ow, &at[2], &at[3]);                                                                              \
        const T *x = (const T *)j->x + r / j->h.out * j->h.in * j->w.in * j->channels;                                 \
        name##_window((T *)j->out + (r * j->w.out + ow) * j->channels, x, j, at, j->channels);                         \
      }                                                                                                                \
  }                                                                                                                    \
  HOT static void name##_take(T *dx, const T *x, const T *best, T *left, int64_t n, bool first, bool add) {            \
    WEFT_IVDEP for (int64_t i = 0; i < n; i++) {                                                                       \
      const bool hit = (x[i] == best[i]) | (first & (best[i] != best[i]));                                             \
      const T share = hit ? left[i] : (T)0;                                                                            \
      dx[i] = (T)(add ? dx[i] + share : share);                                                                        \
      left[i] = (T)(hit ? (T)0 : left[i]);                                                                             \
    }                                                                                                                  \
  }                                                                                                                    \
  HOT static void name##_grad_four(T *dx, const T *x, const T *g, int64_t C, int64_t row, int64_t n) {                 \
    WEFT_IVDEP for (int64_t i = 0; i < n; i++) {                                                                       \
      const T a = x[i], b = x[C + i], c = x[row + i], d = x[row + C + i], top = g[i];                                  \
      const T ab = GREATER(b, a), cd = GREATER(d, c), best = GREATER(cd, ab);                                          \
      const bool in_a = (a == best) | (best != best), in_b = !in_a & (b == best);                                      \
      const bool in_c = !in_a & !in_b & (c == best), in_d = !in_a & !in_b & !in_c;                                     \
      dx[i] = in_a ? top : (T)0;                                                                                       \
      dx[C + i] = in_b ? top : (T)0;                                                                                   \
      dx[row + i] = in_c ? top : (T)0;                                                                                 \
      dx[row + C + i] = in_d ? top : (T)0;                                                                             \
    }                                                                                                                  \
  }                                                                                                                    \
  static void name##_grad_window(T *dx, const T *x, const T *g, const pool_job *j, const int64_t at[4]) {              \
    const int64_t C = j->channels, row = j->w.in * C, corner = at[0] * row + at[2] * C;                                \
    if (!j->cleared && at[1] - at[0] == 2 && at[3] - at[2] == 2) {                                                     \
      name##_grad_four(dx + corner, x + corner, g, C, row, C);                                                         \
      return;                                                                                                          \
    }                                                                                                                  \
    T best[RUN], left[RUN];                                                                                            \
    for (int64_t c = 0; c < C; c += RUN) {                                                                             \
      const int64_t n = C - c < RUN ? C - c : RUN;                                                                     \
      name##_window(best, x + c, j, at, n);                                                                            \
      memcpy(left, g + c, (size_t)n * sizeof *left);                                                                   \
      for (int64_t h = at[0]; h < at[1]; h++)                                                                          \
        for (int64_t w = at[2]; w < at[3]; w++) {                                                                      \
          const int64_t p = h * row + w * C + c;                                                                       \
          name##_take(dx + p, x + p, best, left, n, h == at[0] && w == at[2], j->cleared);                             \
        }                                                                                                              \
    }                                                                                                                  \
  }                                                                                                                    \
  static void name##_grad_rows(const pool_job *j, int64_t begin, int64_t end) {                                        \
    const int64_t image = j->h.in * j->w.in * j->channels;                                                             \
    for (int64_t r = begin; r < end; r++)                                                                              \
      for (int64_t ow = 0; ow < j->w.out; ow++) {                                                                      \
        int64_t at[4];                                                                                                 \
        const int64_t n = r / j->h.out;                                                                                \
        reach(&j->h, r % j->h.out, &at[0], &at[1]);                                                                    \
        reach(&j->w, ow, &at[2], &at[3]);                                                                              \
        name##_grad_window((T *)j->out + n * image, (const T *)j->x + n * image,                                       \
                           (const T *)j->g + (r * j->w.out + ow) * j->channels, j, at);                                \
      }                                                                                                                \
  }                                                                                                                    \
  static void name##_grad(void *arg, int64_t begin, int64_t end) {                                                     \
    const pool_job *j = arg;                                                                                           \
    const int64_t unit = j->cleared ? j->h.out : 1;                                                                    \
    name##_grad_rows(j, begin *unit, end *unit);                                                                       \
  }                                                                                                                    \
  /* The place of the greatest, channel by channel: only indices and second derivatives need it. */                    \
  static int64_t name##_place(const T *x, const pool_job *j, const int64_t at[4], int64_t c) {                         \
    const int64_t C = j->channels, row = j->w.in * C;                                                                  \
    int64_t place = at[0] * row + at[2] * C + c;                                                                       \
    for (int64_t h = at[0]; h < at[1]; h++)                                                                            \
      for (int64_t w = at[2]; w < at[3]; w++)                                                                          \
        if (x[h * row + w * C + c] > x[place]) place = h * row + w * C + c;                                            \
    return place;                                                                                                      \
  }                                                                                                                    \
  static int64_t name##_found(const T *x, const pool_job *j, const int64_t at[4], int64_t c, T best) {                 \
    const int64_t C = j->channels, row = j->w.in * C;                                                                  \
    for (int64_t h = at[0]; h < at[1]; h++)                                                                            \
      for (int64_t w = at[2]; w < at[3]; w++)                                                                          \
        if (x[h * row + w * C + c] == best) return h * row + w * C + c;                                                \
    return -1;                                                                                                         \
  }                                                                                                                    \
  static void name##_places(const pool_job *j, int64_t begin, int64_t end, bool choose) {                              \
    const int64_t C = j->channels, image = j->h.in * j->w.in * C;                                                      \
    for (int64_t r = begin; r < end; r++)                                                                              \
      for (int64_t o = r * j->w.out * C; o < (r + 1) * j->w.out * C; o++) {                                            \
        int64_t at[4];                                                                                                 \
        const int64_t from = r / j->h.out * image;                                                                     \
        reach(&j->h, r % j->h.out, &at[0], &at[1]);                                                                    \
        reach(&j->w, o / C % j->w.out, &at[2], &at[3]);                                                                \
        const T *x = (const T *)j->x + from;                                                                           \
        if (choose) {                                                                                                  \
          const int64_t place = name##_found(x, j, at, o % C, ((const T *)j->best)[o]);                                \
          ((T *)j->out)[o] = place < 0 ? (T)0 : ((const T *)j->g)[from + place];                                       \
          continue;                                                                                                    \
        }                                                                                                              \
        const int64_t place = name##_place(x, j, at, o % C), number = place + (j->batched ? from : 0);                 \
        ((T *)j->out)[o] = x[place];                                                                                   \
        if (j->index64)                                                                                                \
          ((int64_t *)j->index)[o] = number;                                                                           \
        else                                                                                                           \
          ((int32_t *)j->index)[o] = (int32_t)number;                                                                  \
      }                                                                                                                \
  }                                                                                                                    \
  static void name##_choose(void *arg, int64_t begin, int64_t end) { name##_places(arg, begin, end, true); }           \
  static void name##_arg_max(void *arg, int64_t begin, int64_t end) { name##_places(arg, begin, end, false); }         \
  static const pooling name = {name##_max, name##_grad, name##_choose, name##_arg_max};

DEFINE_POOL(max_float, float, WEFT_TARGET_CLONES)
DEFINE_POOL(max_double, double, )
DEFINE_POOL(max_int8, int8_t, )
DEFINE_POOL(max_int16, int16_t, )
DEFINE_POOL(max_int32, int32_t, )
DEFINE_POOL(max_int64, int64_t, )
DEFINE_POOL(max_uint8, uint8_t, )
DEFINE_POOL(max_uint16, uint16_t, )
DEFINE_POOL(max_uint32, uint32_t, )
DEFINE_POOL(max_uint64, uint64_t, )

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

#define DEFINE_MEAN(name, T)                                                                                           \
  WEFT_TARGET_CLONES static void name##_add(T *y, const T *x, int64_t n, T scale) {                                    \
    WEFT_IVDEP for (int64_t i = 0; i < n; i++) y[i] += x[i] * scale;                                                   \
  }                                                                                                                    \
  static void name(void *arg, int64_t begin, int64_t end) {                                                            \
    const pool_job *j = arg;                                                                                           \
    const int64_t C = j->channels;                                                                                     \
    for (int64_t r = begin; r < end; r++)                                                                              \
      for (int64_t ow = 0; ow < j->w.out; ow++) {                                                                      \
        int64_t at[4];                                                                                                 \
        reach(&j->h, r % j->h.out, &at[0], &at[1]);                                                                    \
        reach(&j->w, ow, &at[2], &at[3]);                                                                              \
        const T *x = (const T *)j->x + r / j->h.out * j->h.in * j->w.in * C;                                           \
        T *y = (T *)j->out + (r * j->w.out + ow) * C;                                                                  \
        memset(y, 0, (size_t)C * sizeof *y);                                                                           \
        for (int64_t h = at[0]; h < at[1]; h++)                                                                        \
          for (int64_t w = at[2]; w < at[3]; w++) name##_add(y, x + (h * j->w.in + w) * C, C, 1);                      \
        const T count = (T)((at[1] - at[0]) * (at[3] - at[2]));                                                        \
        for (int64_t c = 0; c < C; c++) y[c] /= count;                                                                 \
      }                                                                                                                \
  }                                                                                                                    \
  static void name##_grad(void *arg, int64_t begin, int64_t end) { /* images */                                        \
    const pool_job *j = arg;                                                                                           \
    const int64_t C = j->channels, rows = j->h.out;                                                                    \
    for (int64_t r = begin * rows; r < end * rows; r++)                                                                \
      for (int64_t ow = 0; ow < j->w.out; ow++) {                                                                      \
        int64_t at[4];                                                                                                 \
        reach(&j->h, r % rows, &at[0], &at[1]);                                                                        \
        reach(&j->w, ow, &at[2], &at[3]);                                                                              \
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
