/* microkernel.c - microkernels for AVX-512, AVX2 with FMA, and plain 128-bit vectors (NEON, SSE2).
 *
 * All share one function body.  It is inlined into a small function for each number of rows and vectors, which are
 * constants there, so its loops are unrolled and the tile stays in registers.  A tile is as large as the registers
 * allow, so that each loaded value is used often enough for the multipliers to be the limit: 7 x 4 or 14 x 2 with 32
 * registers, 6 x 2 with 16; dot tiles are 4 x 5 or 2 x 5. */
#include "kernels/gemm/microkernel.h"

#include "kernels/simd/fma.h"
#include <stddef.h>
#include <string.h>

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

typedef float vec4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float vec8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float vec16 __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t bits4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t bits8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t bits16 __attribute__((vector_size(64), aligned(4), may_alias));

/* The body for one vector type. rows, vectors and by_row are constants where it is inlined. */
#define DEFINE_BODY(name, vec)                                                                                         \
  static inline __attribute__((always_inline)) void name(const tile *t, const int rows, const int vectors,             \
                                                         const bool by_row) {                                          \
    WEFT_FMA_BODY enum { LANES = sizeof(vec) / sizeof(float) };                                                        \
    vec acc[TILE_MAX_ROWS][4];                                                                                         \
    UNROLL for (int p = 0; p < rows; p++) { UNROLL for (int v = 0; v < vectors; v++) acc[p][v] = (vec){0}; }           \
    const float *b = t->b;                                                                                             \
    const int64_t b_row = t->b_row, run = t->run, a_row = by_row ? t->a_row : 1, a_col = by_row ? 1 : t->a_col;        \
    for (int64_t i = 0; i < t->taps; i++) {                                                                            \
      const float *a = t->a + t->tap[i];                                                                               \
      for (int64_t r = 0; r < run; r++, a += a_col, b += b_row) {                                                      \
        vec right[4];                                                                                                  \
        UNROLL for (int v = 0; v < vectors; v++) right[v] = *(const vec *)(b + v * LANES);                             \
        UNROLL for (int p = 0; p < rows; p++) {                                                                        \
          const float left = a[p * a_row];                                                                             \
          UNROLL for (int v = 0; v < vectors; v++) acc[p][v] += left * right[v];                                       \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
    UNROLL for (int p = 0; p < rows; p++) {                                                                            \
      UNROLL for (int v = 0; v < vectors; v++) {                                                                       \
        vec *c = (vec *)(t->c + p * t->c_row + v * LANES);                                                             \
        if (t->add) acc[p][v] += *c; /* last: long sums in parts round less */                                         \
        *c = acc[p][v];                                                                                                \
      }                                                                                                                \
    }                                                                                                                  \
  }

/* last_lanes + 16 - LANES + n is a mask of the last n lanes. */
static const int32_t last_lanes[32] = {[16] = -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

/* Adds the lanes of a vector, halves first. */
static inline __attribute__((always_inline)) float sum4(const vec4 *v) {
  const vec4 pairs = *v + __builtin_shufflevector(*v, *v, 2, 3, 0, 1);
  return pairs[0] + pairs[1];
}

/* The body of a dot tile.  The last, partial vector is loaded together with elements before it, which are masked
 * out.  A run that is shorter than a vector is processed element by element. */
#define DEFINE_DOT_BODY(name, vec, bits, sum)                                                                          \
  static inline __attribute__((always_inline)) void name(const tile *t, const int rows, const int columns) {           \
    WEFT_FMA_BODY enum { LANES = sizeof(vec) / sizeof(float) };                                                        \
    vec acc[4][DOT_MAX_COLUMNS], right[DOT_MAX_COLUMNS];                                                               \
    UNROLL for (int p = 0; p < rows; p++) { UNROLL for (int j = 0; j < columns; j++) acc[p][j] = (vec){0}; }           \
    const int64_t rest = t->run % LANES, whole = t->run - rest, last = t->run - LANES;                                 \
    for (int64_t r = 0; r < whole; r += LANES) {                                                                       \
      UNROLL for (int j = 0; j < columns; j++) right[j] = *(const vec *)(t->b + j * t->b_row + r);                     \
      UNROLL for (int p = 0; p < rows; p++) {                                                                          \
        const vec left = *(const vec *)(t->a + p * t->a_row + r);                                                      \
        UNROLL for (int j = 0; j < columns; j++) acc[p][j] += left * right[j];                                         \
      }                                                                                                                \
    }                                                                                                                  \
    if (rest && whole) {                                                                                               \
      const bits keep = *(const bits *)(last_lanes + 16 - LANES + rest);                                               \
      UNROLL for (int j = 0; j < columns; j++) right[j] = (vec)(*(const bits *)(t->b + j * t->b_row + last) & keep);   \
      UNROLL for (int p = 0; p < rows; p++) {                                                                          \
        const vec left = (vec)(*(const bits *)(t->a + p * t->a_row + last) & keep);                                    \
        UNROLL for (int j = 0; j < columns; j++) acc[p][j] += left * right[j];                                         \
      }                                                                                                                \
    }                                                                                                                  \
    UNROLL for (int p = 0; p < rows; p++) {                                                                            \
      UNROLL for (int j = 0; j < columns; j++) {                                                                       \
        float *c = t->c + p * t->c_row + j, all = sum(&acc[p][j]);                                                     \
        for (int64_t r = 0; r < rest && !whole; r++) all += t->a[p * t->a_row + r] * t->b[j * t->b_row + r];           \
        *c = t->add ? *c + all : all;                                                                                  \
      }                                                                                                                \
    }                                                                                                                  \
  }

#define DEFINE_DOT(set, body, attributes, rows, columns)                                                               \
  attributes WEFT_FMA static void set##_dot_##columns(const tile *t) { body(t, rows, columns); }
#define DEFINE_DOTS(set, body, attributes, rows)                                                                       \
  DEFINE_DOT(set, body, attributes, rows, 1)                                                                           \
  DEFINE_DOT(set, body, attributes, rows, 2)                                                                           \
  DEFINE_DOT(set, body, attributes, rows, 3)                                                                           \
  DEFINE_DOT(set, body, attributes, rows, 4)                                                                           \
  DEFINE_DOT(set, body, attributes, rows, 5)
#define NAMED_DOTS(set)                                                                                                \
  { set##_dot_1, set##_dot_2, set##_dot_3, set##_dot_4, set##_dot_5 }

/* col_fma is WEFT_FMA, or WEFT_FMA_EARLY for tiles whose accumulators and operands all fit in the registers. */
#define DEFINE_TILE(set, body, attributes, col_fma, vectors, rows)                                                     \
  attributes WEFT_FMA static void set##_row_##vectors##x##rows(const tile *t) { body(t, rows, vectors, true); }        \
  attributes col_fma static void set##_col_##vectors##x##rows(const tile *t) { body(t, rows, vectors, false); }

#define DEFINE_5(set, body, attributes, col_fma, vectors)                                                              \
  DEFINE_TILE(set, body, attributes, col_fma, vectors, 1)                                                              \
  DEFINE_TILE(set, body, attributes, col_fma, vectors, 2)                                                              \
  DEFINE_TILE(set, body, attributes, col_fma, vectors, 3)                                                              \
  DEFINE_TILE(set, body, attributes, col_fma, vectors, 4)                                                              \
  DEFINE_TILE(set, body, attributes, col_fma, vectors, 5)
#define DEFINE_10(set, body, attributes, col_fma, vectors)                                                             \
  DEFINE_5(set, body, attributes, col_fma, vectors)                                                                    \
  DEFINE_TILE(set, body, attributes, col_fma, vectors, 6)                                                              \
  DEFINE_TILE(set, body, attributes, col_fma, vectors, 7)                                                              \
  DEFINE_TILE(set, body, attributes, col_fma, vectors, 8)                                                              \
  DEFINE_TILE(set, body, attributes, col_fma, vectors, 9)                                                              \
  DEFINE_TILE(set, body, attributes, col_fma, vectors, 10)
#define DEFINE_6(set, body, attributes, vectors)                                                                       \
  DEFINE_5(set, body, attributes, WEFT_FMA, vectors)                                                                   \
  DEFINE_TILE(set, body, attributes, WEFT_FMA, vectors, 6)
#define DEFINE_12(set, body, attributes, vectors)                                                                      \
  DEFINE_10(set, body, attributes, WEFT_FMA, vectors)                                                                  \
  DEFINE_TILE(set, body, attributes, WEFT_FMA, vectors, 11)                                                            \
  DEFINE_TILE(set, body, attributes, WEFT_FMA, vectors, 12)

#define NAMED(set, kind, vectors, rows) set##_##kind##_##vectors##x##rows
#define NAMED_6(set, kind, vectors)                                                                                    \
  NAMED(set, kind, vectors, 1), NAMED(set, kind, vectors, 2), NAMED(set, kind, vectors, 3),                            \
      NAMED(set, kind, vectors, 4), NAMED(set, kind, vectors, 5), NAMED(set, kind, vectors, 6)
#define NAMED_12(set, kind, vectors)                                                                                   \
  NAMED_6(set, kind, vectors), NAMED(set, kind, vectors, 7), NAMED(set, kind, vectors, 8),                             \
      NAMED(set, kind, vectors, 9), NAMED(set, kind, vectors, 10), NAMED(set, kind, vectors, 11),                      \
      NAMED(set, kind, vectors, 12)

DEFINE_BODY(body4, vec4)
DEFINE_DOT_BODY(dots4, vec4, bits4, sum4)

#if defined(__x86_64__)
DEFINE_BODY(body8, vec8)
DEFINE_BODY(body16, vec16)

static inline __attribute__((always_inline)) float sum8(const vec8 *v) {
  const vec4 half = __builtin_shufflevector(*v, *v, 0, 1, 2, 3) + __builtin_shufflevector(*v, *v, 4, 5, 6, 7);
  return sum4(&half);
}
static inline __attribute__((always_inline)) float sum16(const vec16 *v) {
  const vec8 half = __builtin_shufflevector(*v, *v, 0, 1, 2, 3, 4, 5, 6, 7) +
                    __builtin_shufflevector(*v, *v, 8, 9, 10, 11, 12, 13, 14, 15);
  return sum8(&half);
}
DEFINE_DOT_BODY(dots8, vec8, bits8, sum8)
DEFINE_DOT_BODY(dots16, vec16, bits16, sum16)

#define AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma")))
DEFINE_12(avx512, body16, AVX512, 1)
DEFINE_TILE(avx512, body16, AVX512, WEFT_FMA, 1, 13)
DEFINE_TILE(avx512, body16, AVX512, WEFT_FMA, 1, 14)
DEFINE_12(avx512, body16, AVX512, 2)
DEFINE_TILE(avx512, body16, AVX512, WEFT_FMA, 2, 13)
DEFINE_TILE(avx512, body16, AVX512, WEFT_FMA, 2, 14)
DEFINE_6(avx512, body16, AVX512, 4)
DEFINE_TILE(avx512, body16, AVX512, WEFT_FMA, 4, 7)
#define AVX512_ROWS(kind)                                                                                              \
  {                                                                                                                    \
    {NAMED_12(avx512, kind, 1), NAMED(avx512, kind, 1, 13), NAMED(avx512, kind, 1, 14)},                               \
        {NAMED_12(avx512, kind, 2), NAMED(avx512, kind, 2, 13), NAMED(avx512, kind, 2, 14)}, {                         \
      NAMED_6(avx512, kind, 4), NAMED(avx512, kind, 4, 7)                                                              \
    }                                                                                                                  \
  }
DEFINE_DOTS(avx512, dots16, AVX512, 4)
static const tile_set avx512_set = {"avx512",         16, {14, 14, 7},       AVX512_ROWS(row),
                                    AVX512_ROWS(col), 4,  NAMED_DOTS(avx512)};

#define AVX2 __attribute__((target("avx2,fma")))
DEFINE_12(avx2, body8, AVX2, 1)
DEFINE_6(avx2, body8, AVX2, 2)
#define AVX2_ROWS(kind)                                                                                                \
  {                                                                                                                    \
    {NAMED_12(avx2, kind, 1)}, {NAMED_6(avx2, kind, 2)}, { 0 }                                                         \
  }
DEFINE_DOTS(avx2, dots8, AVX2, 2)
static const tile_set avx2_set = {"avx2", 8, {12, 6, 0}, AVX2_ROWS(row), AVX2_ROWS(col), 2, NAMED_DOTS(avx2)};

DEFINE_12(plain, body4, , 1)
DEFINE_6(plain, body4, , 2)
#define PLAIN_ROWS(kind)                                                                                               \
  {                                                                                                                    \
    {NAMED_12(plain, kind, 1)}, {NAMED_6(plain, kind, 2)}, { 0 }                                                       \
  }
DEFINE_DOTS(plain, dots4, , 2)
static const tile_set plain_set = {"sse2", 4, {12, 6, 0}, PLAIN_ROWS(row), PLAIN_ROWS(col), 2, NAMED_DOTS(plain)};

const tile_set *const *weft__tile_sets(void) {
  static const tile_set *const sets[] = {&avx512_set, &avx2_set, &plain_set, NULL};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return sets;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? sets + 1 : sets + 2;
}
#else
/* For 32 vector registers, as NEON has. */
DEFINE_10(plain, body4, , WEFT_FMA_EARLY, 1)
DEFINE_TILE(plain, body4, , WEFT_FMA_EARLY, 1, 11)
DEFINE_TILE(plain, body4, , WEFT_FMA_EARLY, 1, 12)
DEFINE_10(plain, body4, , WEFT_FMA_EARLY, 2) /* 10 x 2 accumulators, 10 and 2 operands */
DEFINE_TILE(plain, body4, , WEFT_FMA, 2, 11)
DEFINE_TILE(plain, body4, , WEFT_FMA, 2, 12)
DEFINE_5(plain, body4, , WEFT_FMA_EARLY, 4)
DEFINE_TILE(plain, body4, , WEFT_FMA, 4, 6)
#define PLAIN_ROWS(kind)                                                                                               \
  {                                                                                                                    \
    {NAMED_12(plain, kind, 1)}, {NAMED_12(plain, kind, 2)}, { NAMED_6(plain, kind, 4) }                                \
  }
DEFINE_DOTS(plain, dots4, , 4)
/* 16 accumulators suffice: four multipliers with a latency of four cycles. */
WEFT_FMA static void plain_packed(const tile *t) {
  WEFT_FMA_BODY enum { LANES = 4, VECTORS = PACKED_WIDTH / LANES };
  vec4 acc[PACKED_ROWS][VECTORS];
  UNROLL for (int p = 0; p < PACKED_ROWS; p++) { UNROLL for (int v = 0; v < VECTORS; v++) acc[p][v] = (vec4){0}; }
  const float *a = t->a, *b = t->b;
  for (int64_t r = 0; r < t->run; r++, a += PACKED_ROWS, b += PACKED_WIDTH) {
    vec4 right[VECTORS];
    const vec4 left = *(const vec4 *)a;
    UNROLL for (int v = 0; v < VECTORS; v++) right[v] = *(const vec4 *)(b + v * LANES);
    UNROLL for (int p = 0; p < PACKED_ROWS; p++) {
      UNROLL for (int v = 0; v < VECTORS; v++) acc[p][v] += right[v] * left[p];
    }
  }
  UNROLL for (int p = 0; p < PACKED_ROWS; p++) {
    UNROLL for (int v = 0; v < VECTORS; v++) {
      vec4 *c = (vec4 *)(t->c + p * t->c_row + v * LANES);
      if (t->add) acc[p][v] += *c;
      *c = acc[p][v];
    }
  }
}
static const tile_set plain_set = {"vec4",          4, {12, 12, 6},       PLAIN_ROWS(row),
                                   PLAIN_ROWS(col), 4, NAMED_DOTS(plain), plain_packed};

const tile_set *const *weft__tile_sets(void) {
  static const tile_set *const sets[] = {&plain_set, NULL};
  return sets;
}
#endif

const tile_set *weft__tile_set(void) { return weft__tile_sets()[0]; }

int weft__tile_panel(const tile_set *s, int64_t left) {
  int width = weft__tile_width(s);
  while (width > s->lanes && left <= width - s->lanes) width /= 2;
  return width;
}

int64_t weft__tile_panels(const tile_set *s, int64_t columns) {
  int64_t n = 0;
  for (int64_t first = 0; first < columns; n++) first += weft__tile_panel(s, columns - first);
  return n;
}

int weft__tile_panel_at(const tile_set *s, int64_t columns, int64_t n, int64_t *first) {
  *first = 0;
  for (; n > 0; n--) *first += weft__tile_panel(s, columns - *first);
  return weft__tile_panel(s, columns - *first);
}
