/* conv_sums.c - the sums of conv_square.c, once for each length of vectors.
 *
 * A matrix is multiplied from one side, into an array on the stack, then from the other. */
#include "kernels/conv/conv_sums.h"

#include "kernels/simd/fma.h"

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
#define INLINE static inline __attribute__((always_inline))

enum { N = SQUARE_POINTS, F = SQUARE_FILTER, R = SQUARE_RESULTS };

typedef float vec4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float vec8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float vec16 __attribute__((vector_size(64), aligned(4), may_alias));

/* In one direction: `in` and `out` are every si-th and so-th element of an array. */
#define DEFINE_LINES(name, vec)                                                                                        \
  INLINE void name##_pixel_line(const vec *in, const int si, vec *out, const int so) {                                 \
    WEFT_FMA_BODY const vec d1 = in[si], d2 = in[2 * si], d3 = in[3 * si], d4 = in[4 * si];                            \
    const vec even_a = d4 - B2 * d2, odd_a = d3 - B2 * d1, even_b = d4 - A2 * d2, odd_b = d3 - A2 * d1;                \
    out[0] = PRODUCT * in[0] + (d4 - SUM * d2);                                                                        \
    out[so] = even_a + A * odd_a;                                                                                      \
    out[2 * so] = even_a - A * odd_a;                                                                                  \
    out[3 * so] = even_b + B * odd_b;                                                                                  \
    out[4 * so] = even_b - B * odd_b;                                                                                  \
    out[5 * so] = PRODUCT * d1 + (in[5 * si] - SUM * d3);                                                              \
  }                                                                                                                    \
  INLINE void name##_result_line(const vec *in, const int si, vec *out, const int so) {                                \
    WEFT_FMA_BODY const vec a = in[si], minus_a = in[2 * si], b = in[3 * si], minus_b = in[4 * si];                    \
    out[0] = in[0] + ((a + minus_a) + (b + minus_b));                                                                  \
    out[so] = in[5 * si] + (A * (a - minus_a) + B * (b - minus_b));                                                    \
  }                                                                                                                    \
  INLINE void name##_filter_line(const vec *in, const int si, vec *out, const int so) {                                \
    WEFT_FMA_BODY const vec g0 = in[0], g1 = in[si], g2 = in[2 * si], g3 = in[3 * si], g4 = in[4 * si];                \
    const vec even_a = g0 + (A2 * g2 + A4 * g4), odd_a = A * (g1 + A2 * g3);                                           \
    const vec even_b = g0 + (B2 * g2 + B4 * g4), odd_b = B * (g1 + B2 * g3);                                           \
    out[0] = g0 * BY_0;                                                                                                \
    out[so] = (even_a + odd_a) * BY_A;                                                                                 \
    out[2 * so] = (even_a - odd_a) * BY_A;                                                                             \
    out[3 * so] = (even_b + odd_b) * BY_B;                                                                             \
    out[4 * so] = (even_b - odd_b) * BY_B;                                                                             \
    out[5 * so] = g4;                                                                                                  \
  }

/* In both: `line` takes `from` values to `to`, first along the rows, then down the columns.  get(row, column) is a
 * value, put(row, column) the place of a result. */
#define BOTH(vec, line, from, to, get, put)                                                                            \
  do {                                                                                                                 \
    _Alignas(64) vec half_way[N * N];                                                                                  \
    for (int i = 0; i < (from); i++) {                                                                                 \
      vec in[N];                                                                                                       \
      UNROLL for (int j = 0; j < (from); j++) in[j] = get(vec, i, j);                                                  \
      line(in, 1, half_way + i * (to), 1);                                                                             \
    }                                                                                                                  \
    for (int j = 0; j < (to); j++) {                                                                                   \
      vec out[N];                                                                                                      \
      line(half_way + j, to, out, 1);                                                                                  \
      UNROLL for (int i = 0; i < (to); i++) put(vec, i, j) = out[i];                                                   \
    }                                                                                                                  \
  } while (0)

#define AT_POINT(vec, i, j) *(vec *)(points + (i * N + j) * point)
#define OF_POINT(vec, i, j) *(const vec *)(points + (i * N + j) * point)
#define OF_TAP(vec, i, j) *(const vec *)(taps + (i * F + j) * tap)
#define PLACE(p, i, j) ((p)->image + ((p)->corner + i * (p)->row + j * (p)->pixel + c))
#define IS_THERE(p, i, j) (i >= (p)->begin[0] && i < (p)->end[0] && j >= (p)->begin[1] && j < (p)->end[1])
#define PIXEL(vec, i, j) (inside || IS_THERE(p, i, j) ? *(const vec *)PLACE(p, i, j) : (vec){0})
#define IN_SQUARE(vec, i, j) square[i * R + j]

INLINE bool is_inside(const patch *p, int size) {
  return p->begin[0] == 0 && p->begin[1] == 0 && p->end[0] == size && p->end[1] == size;
}

#define CHANNELS(vec) for (int64_t c = 0; c < channels; c += (int64_t)(sizeof(vec) / sizeof(float)))

#define DEFINE_SUMS(name, vec, attributes)                                                                             \
  DEFINE_LINES(name, vec)                                                                                              \
  INLINE void name##_pixel_square(const patch *p, int64_t c, float *points, int64_t point, const bool inside) {        \
    BOTH(vec, name##_pixel_line, N, N, PIXEL, AT_POINT);                                                               \
  }                                                                                                                    \
  INLINE void name##_result_square(const float *points, int64_t point, const patch *p, int64_t c) {                    \
    vec square[R * R];                                                                                                 \
    BOTH(vec, name##_result_line, N, R, OF_POINT, IN_SQUARE);                                                          \
    for (int i = p->begin[0]; i < p->end[0]; i++)                                                                      \
      for (int j = p->begin[1]; j < p->end[1]; j++) *(vec *)PLACE(p, i, j) = IN_SQUARE(vec, i, j);                     \
  }                                                                                                                    \
  attributes WEFT_FMA static void name##_pixels(const patch *d, float *u, int64_t point, int64_t channels) {           \
    if (is_inside(d, N))                                                                                               \
      CHANNELS(vec) name##_pixel_square(d, c, u + c, point, true);                                                     \
    else                                                                                                               \
      CHANNELS(vec) name##_pixel_square(d, c, u + c, point, false);                                                    \
  }                                                                                                                    \
  attributes WEFT_FMA static void name##_results(const float *m, int64_t point, const patch *y, int64_t channels) {    \
    CHANNELS(vec) name##_result_square(m + c, point, y, c);                                                            \
  }                                                                                                                    \
  attributes WEFT_FMA static void name##_filter(const float *g, int64_t tap, float *v, int64_t point,                  \
                                                int64_t channels) {                                                    \
    CHANNELS(vec) {                                                                                                    \
      const float *taps = g + c;                                                                                       \
      float *points = v + c;                                                                                           \
      BOTH(vec, name##_filter_line, F, N, OF_TAP, AT_POINT);                                                           \
    }                                                                                                                  \
  }                                                                                                                    \
  static const square_sums name = {name##_pixels, name##_results, name##_filter};

DEFINE_SUMS(sums4, vec4, )
#if defined(__x86_64__)
DEFINE_SUMS(sums8, vec8, __attribute__((target("avx2,fma"))))
DEFINE_SUMS(sums16, vec16, __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma"))))
#endif

const square_sums *weft__square_sums(const tile_set *set) {
#if defined(__x86_64__)
  if (set->lanes == 16) return &sums16;
  if (set->lanes == 8) return &sums8;
#endif
  (void)set;
  return &sums4;
}
