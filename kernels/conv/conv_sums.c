/* conv_sums.c - the linear transforms of conv_winograd_2d.c, for each scheme and each vector length.
 *
 * A matrix is multiplied from one side into an array on the stack, then from the other side. */
#include "kernels/conv/conv_sums.h"

#include "kernels/simd/fma.h"

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
#define INLINE static inline __attribute__((always_inline))

enum { R = SQUARE_RESULTS };
/* The numbers of points, taps and pixels along one axis. */
enum { six_N = 6, six_F = 5, seven_N = 7, seven_F = 5, four_N = 4, four_F = 3 };

typedef float vec4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float vec8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float vec16 __attribute__((vector_size(64), aligned(4), may_alias));

/* Transforms in one direction: `in` and `out` are every si-th and so-th element of an array. */
#define DEFINE_SIX_LINES(name, vec)                                                                                    \
  INLINE void name##_six_pixel_line(const vec *in, const int si, vec *out, const int so) {                             \
    WEFT_FMA_BODY const vec d1 = in[si], d2 = in[2 * si], d3 = in[3 * si], d4 = in[4 * si];                            \
    const vec even_a = d4 - SIX_B2 * d2, odd_a = d3 - SIX_B2 * d1, even_b = d4 - SIX_A2 * d2,                          \
              odd_b = d3 - SIX_A2 * d1;                                                                                \
    out[0] = SIX_PRODUCT * in[0] + (d4 - SIX_SUM * d2);                                                                \
    out[so] = even_a + SIX_A * odd_a;                                                                                  \
    out[2 * so] = even_a - SIX_A * odd_a;                                                                              \
    out[3 * so] = even_b + SIX_B * odd_b;                                                                              \
    out[4 * so] = even_b - SIX_B * odd_b;                                                                              \
    out[5 * so] = SIX_PRODUCT * d1 + (in[5 * si] - SIX_SUM * d3);                                                      \
  }                                                                                                                    \
  INLINE void name##_six_result_line(const vec *in, const int si, vec *out, const int so) {                            \
    WEFT_FMA_BODY const vec a = in[si], minus_a = in[2 * si], b = in[3 * si], minus_b = in[4 * si];                    \
    out[0] = in[0] + ((a + minus_a) + (b + minus_b));                                                                  \
    out[so] = in[5 * si] + (SIX_A * (a - minus_a) + SIX_B * (b - minus_b));                                            \
  }                                                                                                                    \
  INLINE void name##_six_filter_line(const vec *in, const int si, vec *out, const int so) {                            \
    WEFT_FMA_BODY const vec g0 = in[0], g1 = in[si], g2 = in[2 * si], g3 = in[3 * si], g4 = in[4 * si];                \
    const vec even_a = g0 + (SIX_A2 * g2 + SIX_A4 * g4), odd_a = SIX_A * (g1 + SIX_A2 * g3);                           \
    const vec even_b = g0 + (SIX_B2 * g2 + SIX_B4 * g4), odd_b = SIX_B * (g1 + SIX_B2 * g3);                           \
    out[0] = g0 * SIX_BY_0;                                                                                            \
    out[so] = (even_a + odd_a) * SIX_BY_A;                                                                             \
    out[2 * so] = (even_a - odd_a) * SIX_BY_A;                                                                         \
    out[3 * so] = (even_b + odd_b) * SIX_BY_B;                                                                         \
    out[4 * so] = (even_b - odd_b) * SIX_BY_B;                                                                         \
    out[5 * so] = g4;                                                                                                  \
  }

/* Three taps: the values at 0, 1, -1 and infinity; the last has the opposite sign. */
#define DEFINE_FOUR_LINES(name, vec)                                                                                   \
  INLINE void name##_four_pixel_line(const vec *in, const int si, vec *out, const int so) {                            \
    const vec d1 = in[si], d2 = in[2 * si];                                                                            \
    out[0] = in[0] - d2;                                                                                               \
    out[so] = d1 + d2;                                                                                                 \
    out[2 * so] = d2 - d1;                                                                                             \
    out[3 * so] = d1 - in[3 * si];                                                                                     \
  }                                                                                                                    \
  INLINE void name##_four_result_line(const vec *in, const int si, vec *out, const int so) {                           \
    const vec one = in[si], minus_one = in[2 * si];                                                                    \
    out[0] = in[0] + (one + minus_one);                                                                                \
    out[so] = (one - minus_one) - in[3 * si];                                                                          \
  }                                                                                                                    \
  INLINE void name##_four_filter_line(const vec *in, const int si, vec *out, const int so) {                           \
    const vec g0 = in[0], g1 = in[si], g2 = in[2 * si], even = g0 + g2;                                                \
    out[0] = g0;                                                                                                       \
    out[so] = (even + g1) * 0.5f;                                                                                      \
    out[2 * so] = (even - g1) * 0.5f;                                                                                  \
    out[3 * so] = g2;                                                                                                  \
  }

/* Five taps: the first three as above, the last two by the values at 0, 1 and infinity. */
#define DEFINE_SEVEN_LINES(name, vec)                                                                                  \
  INLINE void name##_seven_pixel_line(const vec *in, const int si, vec *out, const int so) {                           \
    const vec d3 = in[3 * si], d4 = in[4 * si];                                                                        \
    name##_four_pixel_line(in, si, out, so);                                                                           \
    out[4 * so] = d3 - d4;                                                                                             \
    out[5 * so] = d4;                                                                                                  \
    out[6 * so] = d4 - in[5 * si];                                                                                     \
  }                                                                                                                    \
  INLINE void name##_seven_result_line(const vec *in, const int si, vec *out, const int so) {                          \
    const vec both = in[5 * si];                                                                                       \
    name##_four_result_line(in, si, out, so);                                                                          \
    out[0] += in[4 * si] + both;                                                                                       \
    out[so] += both - in[6 * si];                                                                                      \
  }                                                                                                                    \
  INLINE void name##_seven_filter_line(const vec *in, const int si, vec *out, const int so) {                          \
    const vec g3 = in[3 * si], g4 = in[4 * si];                                                                        \
    name##_four_filter_line(in, si, out, so);                                                                          \
    out[4 * so] = g3;                                                                                                  \
    out[5 * so] = g3 + g4;                                                                                             \
    out[6 * so] = g4;                                                                                                  \
  }

/* Transforms in both directions: `line` transforms `from` values to `to`, first along the rows, then down the
 * columns. get(row, column) is a value, and put(row, column) is where a result goes. */
#define BOTH(vec, line, from, to, get, put)                                                                            \
  do {                                                                                                                 \
    _Alignas(64) vec half_way[(from) * (to)];                                                                          \
    for (int i = 0; i < (from); i++) {                                                                                 \
      vec in[from];                                                                                                    \
      UNROLL for (int j = 0; j < (from); j++) in[j] = get(vec, i, j);                                                  \
      line(in, 1, half_way + i * (to), 1);                                                                             \
    }                                                                                                                  \
    for (int j = 0; j < (to); j++) {                                                                                   \
      vec out[to];                                                                                                     \
      line(half_way + j, to, out, 1);                                                                                  \
      UNROLL for (int i = 0; i < (to); i++) put(vec, i, j) = out[i];                                                   \
    }                                                                                                                  \
  } while (0)

#define AT_POINT(vec, i, j) *(vec *)(points + (i * n + j) * point)
#define OF_POINT(vec, i, j) *(const vec *)(points + (i * n + j) * point)
#define OF_TAP(vec, i, j) *(const vec *)(taps + (i * f + j) * tap)
#define PLACE(p, i, j) ((p)->image + ((p)->corner + i * (p)->row + j * (p)->pixel + c))
#define IS_THERE(p, i, j) (i >= (p)->begin[0] && i < (p)->end[0] && j >= (p)->begin[1] && j < (p)->end[1])
#define PIXEL(vec, i, j) (inside || IS_THERE(p, i, j) ? *(const vec *)PLACE(p, i, j) : (vec){0})
#define IN_SQUARE(vec, i, j) square[i * R + j]

INLINE bool is_inside(const patch *p, int size) {
  return p->begin[0] == 0 && p->begin[1] == 0 && p->end[0] == size && p->end[1] == size;
}

#define CHANNELS(vec) for (int64_t c = 0; c < channels; c += (int64_t)(sizeof(vec) / sizeof(float)))

#define DEFINE_SUMS(name, vec, attributes, scheme)                                                                     \
  INLINE void name##_##scheme##_pixel_square(const patch *p, int64_t c, float *points, int64_t point,                  \
                                             const bool inside) {                                                      \
    enum { n = scheme##_N, reach = scheme##_F + R - 1 };                                                               \
    BOTH(vec, name##_##scheme##_pixel_line, reach, n, PIXEL, AT_POINT);                                                \
  }                                                                                                                    \
  INLINE void name##_##scheme##_result_square(const float *points, int64_t point, const patch *p, int64_t c) {         \
    enum { n = scheme##_N };                                                                                           \
    vec square[R * R];                                                                                                 \
    BOTH(vec, name##_##scheme##_result_line, n, R, OF_POINT, IN_SQUARE);                                               \
    for (int i = p->begin[0]; i < p->end[0]; i++)                                                                      \
      for (int j = p->begin[1]; j < p->end[1]; j++) *(vec *)PLACE(p, i, j) = IN_SQUARE(vec, i, j);                     \
  }                                                                                                                    \
  attributes WEFT_FMA static void name##_##scheme##_pixels(const patch *d, float *u, int64_t point,                    \
                                                           int64_t channels) {                                         \
    if (is_inside(d, scheme##_F + R - 1))                                                                              \
      CHANNELS(vec) name##_##scheme##_pixel_square(d, c, u + c, point, true);                                          \
    else                                                                                                               \
      CHANNELS(vec) name##_##scheme##_pixel_square(d, c, u + c, point, false);                                         \
  }                                                                                                                    \
  attributes WEFT_FMA static void name##_##scheme##_results(const float *m, int64_t point, const patch *y,             \
                                                            int64_t channels) {                                        \
    CHANNELS(vec) name##_##scheme##_result_square(m + c, point, y, c);                                                 \
  }                                                                                                                    \
  attributes WEFT_FMA static void name##_##scheme##_filter(const float *g, int64_t tap, float *v, int64_t point,       \
                                                           int64_t channels) {                                         \
    enum { n = scheme##_N, f = scheme##_F };                                                                           \
    CHANNELS(vec) {                                                                                                    \
      const float *taps = g + c;                                                                                       \
      float *points = v + c;                                                                                           \
      BOTH(vec, name##_##scheme##_filter_line, f, n, OF_TAP, AT_POINT);                                                \
    }                                                                                                                  \
  }
#define ROW_OF(name, scheme)                                                                                           \
  {                                                                                                                    \
    scheme##_N, scheme##_F, scheme##_F + R - 1, name##_##scheme##_pixels, name##_##scheme##_results,                   \
        name##_##scheme##_filter                                                                                       \
  }
#define DEFINE_SCHEMES(name, vec, attributes)                                                                          \
  DEFINE_SIX_LINES(name, vec)                                                                                          \
  DEFINE_FOUR_LINES(name, vec)                                                                                         \
  DEFINE_SEVEN_LINES(name, vec)                                                                                        \
  DEFINE_SUMS(name, vec, attributes, six)                                                                              \
  DEFINE_SUMS(name, vec, attributes, seven)                                                                            \
  DEFINE_SUMS(name, vec, attributes, four)                                                                             \
  static const winograd_2d_transforms name[SQUARE_SCHEMES] = {                                                         \
      [SQUARE_SIX] = ROW_OF(name, six), [SQUARE_SEVEN] = ROW_OF(name, seven), [SQUARE_FOUR] = ROW_OF(name, four)};

DEFINE_SCHEMES(sums4, vec4, )
#if defined(__x86_64__)
DEFINE_SCHEMES(sums8, vec8, __attribute__((target("avx2,fma"))))
DEFINE_SCHEMES(sums16, vec16, __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma"))))
#endif

const winograd_2d_transforms *weft__winograd_2d_transforms(const tile_set *set, square_scheme scheme) {
#if defined(__x86_64__)
  if (set->lanes == 16) return &sums16[scheme];
  if (set->lanes == 8) return &sums8[scheme];
#endif
  (void)set;
  return &sums4[scheme];
}
