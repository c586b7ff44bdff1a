/* block_transpose.c - transposes a matrix block by block.
 *
 * A block is a square with the side of one cache line, so that a line is read completely while it is in the cache.
 * In the block, squares of one vector register are transposed by interleaving.  Matrices with three columns or rows
 * (the colors of images) are transposed in one pass.  An intermediate buffer was tried: it costs more than the
 * evicted cache lines that it saves. */
#include "kernels/simd/block_transpose.h"

#include "base/target_clones.h"
#include <string.h>

typedef uint8_t v1 __attribute__((vector_size(16)));
typedef uint16_t v2 __attribute__((vector_size(16)));
typedef uint32_t v4 __attribute__((vector_size(16)));
typedef uint64_t v8 __attribute__((vector_size(16)));

/* Interleaves the lower or the upper halves: a0 b0 a1 b1 ... */
#define LOW_1(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_1(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW_2(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_2(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_4(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_4(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define LOW_8(a, b) __builtin_shufflevector(a, b, 0, 2)
#define HIGH_8(a, b) __builtin_shufflevector(a, b, 1, 3)

/* transpose_SIZE: N lanes per register, LINE elements per cache line.  Interleaving row k with row k + N/2, log2(N)
 * times, transposes a square of N. */
#define DEFINE_TRANSPOSE(SIZE, N)                                                                                      \
  static inline __attribute__((always_inline)) void square_##SIZE(char *d, const char *s, int64_t ds, int64_t ss) {    \
    v##SIZE a[N], b[N];                                                                                                \
    for (int i = 0; i < N; i++) memcpy(&a[i], s + i * ss, 16);                                                         \
    for (int step = 1; step < N; step *= 2) {                                                                          \
      for (int i = 0; i < N / 2; i++) {                                                                                \
        b[2 * i] = LOW_##SIZE(a[i], a[i + N / 2]);                                                                     \
        b[2 * i + 1] = HIGH_##SIZE(a[i], a[i + N / 2]);                                                                \
      }                                                                                                                \
      memcpy(a, b, sizeof a);                                                                                          \
    }                                                                                                                  \
    for (int i = 0; i < N; i++) memcpy(d + i * ds, &a[i], 16);                                                         \
  }                                                                                                                    \
  static inline __attribute__((always_inline)) void block_##SIZE(char *d, const char *s, int64_t rows, int64_t cols,   \
                                                                 int64_t ds, int64_t ss) {                             \
    int64_t whole_rows = rows - rows % N, whole_cols = cols - cols % N;                                                \
    for (int64_t r = 0; r < whole_rows; r += N)                                                                        \
      for (int64_t c = 0; c < whole_cols; c += N) square_##SIZE(d + r * ds + c * SIZE, s + c * ss + r * SIZE, ds, ss); \
    for (int64_t c = 0; c < cols; c++)                                                                                 \
      for (int64_t r = c < whole_cols ? whole_rows : 0; r < rows; r++)                                                 \
        memcpy(d + r * ds + c * SIZE, s + c * ss + r * SIZE, SIZE);                                                    \
  }                                                                                                                    \
  WEFT_TARGET_CLONES static void transpose_##SIZE(char *d, const char *s, int64_t rows, int64_t cols, int64_t ds,      \
                                                  int64_t ss) {                                                        \
    enum { LINE = 64 / SIZE };                                                                                         \
    for (int64_t c = 0; c < cols; c += LINE)                                                                           \
      for (int64_t r = 0; r < rows; r += LINE)                                                                         \
        block_##SIZE(d + r * ds + c * SIZE, s + c * ss + r * SIZE, rows - r < LINE ? rows - r : LINE,                  \
                     cols - c < LINE ? cols - c : LINE, ds, ss);                                                       \
  }

/* plane_SIZE: matrices with three columns or rows in one pass, all others by transpose_SIZE. */
#define DEFINE_PLANE(SIZE, T)                                                                                          \
  WEFT_TARGET_CLONES static void apart_##SIZE(char *restrict x, char *restrict y, char *restrict z,                    \
                                              const char *restrict s, int64_t n) {                                     \
    const T *from = (const T *)(const void *)s;                                                                        \
    T *a = (T *)(void *)x, *b = (T *)(void *)y, *c = (T *)(void *)z;                                                   \
    for (int64_t i = 0; i < n; i++) a[i] = from[3 * i], b[i] = from[3 * i + 1], c[i] = from[3 * i + 2];                \
  }                                                                                                                    \
  WEFT_TARGET_CLONES static void together_##SIZE(char *restrict d, const char *restrict x, const char *restrict y,     \
                                                 const char *restrict z, int64_t n) {                                  \
    T *to = (T *)(void *)d;                                                                                            \
    const T *a = (const T *)(const void *)x, *b = (const T *)(const void *)y, *c = (const T *)(const void *)z;         \
    for (int64_t i = 0; i < n; i++) to[3 * i] = a[i], to[3 * i + 1] = b[i], to[3 * i + 2] = c[i];                      \
  }                                                                                                                    \
  static void plane_##SIZE(char *d, const char *s, int64_t rows, int64_t cols, int64_t ds, int64_t ss) {               \
    if (rows == 3 && ss == 3 * SIZE)                                                                                   \
      apart_##SIZE(d, d + ds, d + 2 * ds, s, cols);                                                                    \
    else if (cols == 3 && ds == 3 * SIZE)                                                                              \
      together_##SIZE(d, s, s + ss, s + 2 * ss, rows);                                                                 \
    else                                                                                                               \
      transpose_##SIZE(d, s, rows, cols, ds, ss);                                                                      \
  }

DEFINE_TRANSPOSE(1, 16)
DEFINE_PLANE(1, uint8_t)
DEFINE_TRANSPOSE(2, 8)
DEFINE_PLANE(2, uint16_t)
DEFINE_TRANSPOSE(4, 4)
DEFINE_PLANE(4, uint32_t)
DEFINE_TRANSPOSE(8, 2)
DEFINE_PLANE(8, uint64_t)

/* Elements are as wide as a register, so only the order of the lines matters. */
static void plane_16(char *d, const char *s, int64_t rows, int64_t cols, int64_t ds, int64_t ss) {
  for (int64_t c = 0; c < cols; c += 4)
    for (int64_t r = 0; r < rows; r++)
      for (int64_t i = c; i < c + 4 && i < cols; i++) memcpy(d + r * ds + i * 16, s + i * ss + r * 16, 16);
}

void weft__block_transpose(char *d, const char *s, int64_t rows, int64_t cols, int64_t ds, int64_t ss, size_t size) {
  switch (size) {
  case 1: plane_1(d, s, rows, cols, ds, ss); break;
  case 2: plane_2(d, s, rows, cols, ds, ss); break;
  case 4: plane_4(d, s, rows, cols, ds, ss); break;
  case 8: plane_8(d, s, rows, cols, ds, ss); break;
  default: plane_16(d, s, rows, cols, ds, ss); break;
  }
}
