/* gemm_plain.c - the product of matrices in plain loops.
 *
 * Blocks of both operands are packed so that the innermost loop reads them in order whatever the
 * transposition; a tile of the result then stays in registers while it runs along k.  Signed
 * integers are multiplied as unsigned ones of their size, which is the same and never overflows.
 * The packed blocks live on the stack (under 200 KiB), so nothing here can fail. */
#include "kernels/gemm/gemm_plain.h"
#include "base/target_clones.h"
#include "kernels/simd/fma.h"
#include <assert.h>
#include <string.h>

enum {
  SMALL = 4096,      /* multiplications */
  TILE_ROWS = 6,     /* with 64 bytes of columns: registers for AVX2, AVX-512 and NEON alike */
  TILE_BYTES = 64,   /* columns of a tile, in bytes */
  BLOCK_ROWS = 96,   /* of a; a multiple of TILE_ROWS */
  BLOCK_BYTES = 1024 /* along k */
};

/* Row strips of a: columns of TILE_ROWS elements each, zero-padded.  Strips of b: rows of one tile.
 * Products are taken in A, which does not promote to a signed type. */
#define DEFINE_GEMM(name, T, A, CONJ)                                                                                  \
  static void name##_pack_a(const gemm *g, int64_t i0, int64_t rows, int64_t p0, int64_t depth, T *dst) {              \
    const T *a = g->a;                                                                                                 \
    for (int64_t s = 0; s < rows; s += TILE_ROWS)                                                                      \
      for (int64_t p = 0; p < depth; p++)                                                                              \
        for (int64_t r = s; r < s + TILE_ROWS; r++, dst++) {                                                           \
          *dst = 0;                                                                                                    \
          if (r < rows) *dst = g->ta ? CONJ(g, T, a[(p0 + p) * g->lda + i0 + r]) : a[(i0 + r) * g->lda + p0 + p];      \
        }                                                                                                              \
  }                                                                                                                    \
  static void name##_pack_b(const gemm *g, int64_t p0, int64_t depth, int64_t j0, int64_t cols, T *dst) {              \
    enum { COLS = TILE_BYTES / sizeof(T) };                                                                            \
    const T *b = g->b;                                                                                                 \
    for (int64_t p = 0; p < depth && !g->tb && cols == COLS; p++, dst += COLS)                                         \
      memcpy(dst, b + (p0 + p) * g->ldb + j0, TILE_BYTES);                                                             \
    for (int64_t p = 0; p < depth && (g->tb || cols < COLS); p++)                                                      \
      for (int64_t j = 0; j < COLS; j++, dst++) {                                                                      \
        *dst = 0;                                                                                                      \
        if (j < cols) *dst = g->tb ? CONJ(g, T, b[(j0 + j) * g->ldb + p0 + p]) : b[(p0 + p) * g->ldb + j0 + j];        \
      }                                                                                                                \
  }                                                                                                                    \
  /* c (rows, cols) += a strip times b strip */                                                                        \
  WEFT_TARGET_CLONES WEFT_FMA static void name##_tile(const T *restrict a, const T *restrict b, int64_t depth,         \
                                                      T *restrict c, int64_t ldc, int64_t rows, int64_t cols) {        \
    WEFT_FMA_BODY enum { COLS = TILE_BYTES / sizeof(T) };                                                              \
    T acc[TILE_ROWS][COLS] = {{0}};                                                                                    \
    for (int64_t p = 0; p < depth; p++, a += TILE_ROWS, b += COLS)                                                     \
      for (int r = 0; r < TILE_ROWS; r++)                                                                              \
        for (int j = 0; j < COLS; j++) acc[r][j] = (T)(acc[r][j] + (A)a[r] * (A)b[j]);                                 \
    for (int64_t r = 0; r < rows; r++)                                                                                 \
      for (int64_t j = 0; j < cols; j++) c[r * ldc + j] = (T)(c[r * ldc + j] + acc[r][j]);                             \
  }                                                                                                                    \
  static void name##_block(const gemm *g, int64_t i0, int64_t rows, int64_t p0, int64_t depth) {                       \
    enum { COLS = TILE_BYTES / sizeof(T), DEPTH = BLOCK_BYTES / sizeof(T) };                                           \
    _Alignas(64) T a[BLOCK_ROWS * DEPTH], b[DEPTH * COLS];                                                             \
    name##_pack_a(g, i0, rows, p0, depth, a);                                                                          \
    for (int64_t j0 = 0; j0 < g->n; j0 += COLS) {                                                                      \
      const int64_t cols = g->n - j0 < COLS ? g->n - j0 : COLS;                                                        \
      name##_pack_b(g, p0, depth, j0, cols, b);                                                                        \
      for (int64_t r = 0; r < rows; r += TILE_ROWS)                                                                    \
        name##_tile(a + r * depth, b, depth, (T *)g->c + (i0 + r) * g->ldc + j0, g->ldc,                               \
                    rows - r < TILE_ROWS ? rows - r : TILE_ROWS, cols);                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  /* So small that packing would cost more than it saves. */                                                           \
  static void name##_small(const gemm *g) {                                                                            \
    const T *a = g->a, *b = g->b;                                                                                      \
    for (int64_t i = 0; i < g->m; i++)                                                                                 \
      for (int64_t p = 0; p < g->k; p++) {                                                                             \
        const A x = (A)(g->ta ? CONJ(g, T, a[p * g->lda + i]) : a[i * g->lda + p]);                                    \
        T *c = (T *)g->c + i * g->ldc;                                                                                 \
        if (g->tb)                                                                                                     \
          for (int64_t j = 0; j < g->n; j++) c[j] = (T)(c[j] + x * (A)CONJ(g, T, b[j * g->ldb + p]));                  \
        else                                                                                                           \
          for (int64_t j = 0; j < g->n; j++) c[j] = (T)(c[j] + x * (A)b[p * g->ldb + j]);                              \
      }                                                                                                                \
  }                                                                                                                    \
  static void name(const gemm *g) {                                                                                    \
    const int64_t deep = BLOCK_BYTES / sizeof(T);                                                                      \
    for (int64_t i = 0; i < g->m && !g->accumulate; i++)                                                               \
      for (int64_t j = 0; j < g->n; j++) ((T *)g->c)[i * g->ldc + j] = 0;                                              \
    if ((double)g->m * (double)g->n * (double)g->k < SMALL) {                                                          \
      name##_small(g);                                                                                                 \
      return;                                                                                                          \
    }                                                                                                                  \
    for (int64_t i0 = 0; i0 < g->m; i0 += BLOCK_ROWS)                                                                  \
      for (int64_t p0 = 0; p0 < g->k; p0 += deep)                                                                      \
        name##_block(g, i0, g->m - i0 < BLOCK_ROWS ? g->m - i0 : BLOCK_ROWS, p0, g->k - p0 < deep ? g->k - p0 : deep); \
  }

#define SAME(g, T, x) (x)
#define CONJ_F(g, T, x) ((g)->adjoint ? (T)conjf(x) : (T)(x))
#define CONJ_D(g, T, x) ((g)->adjoint ? (T)conj(x) : (T)(x))
DEFINE_GEMM(gemm_f32, float, float, SAME)
DEFINE_GEMM(gemm_f64, double, double, SAME)
DEFINE_GEMM(gemm_c64, float complex, float complex, CONJ_F)
DEFINE_GEMM(gemm_c128, double complex, double complex, CONJ_D)
DEFINE_GEMM(gemm_u8, uint8_t, uint32_t, SAME)
DEFINE_GEMM(gemm_u16, uint16_t, uint32_t, SAME)
DEFINE_GEMM(gemm_u32, uint32_t, uint32_t, SAME)
DEFINE_GEMM(gemm_u64, uint64_t, uint64_t, SAME)

typedef void gemm_fn(const gemm *g);
static gemm_fn *const by_type[WEFT_DTYPE_COUNT] = {
    [WEFT_FLOAT] = gemm_f32, [WEFT_DOUBLE] = gemm_f64, [WEFT_COMPLEX64] = gemm_c64, [WEFT_COMPLEX128] = gemm_c128,
    [WEFT_INT8] = gemm_u8,   [WEFT_UINT8] = gemm_u8,   [WEFT_INT16] = gemm_u16,     [WEFT_UINT16] = gemm_u16,
    [WEFT_INT32] = gemm_u32, [WEFT_UINT32] = gemm_u32, [WEFT_INT64] = gemm_u64,     [WEFT_UINT64] = gemm_u64,
};

bool weft__gemm_plain_has(weft_dtype t) { return by_type[t] != NULL; }

void weft__gemm_plain(const gemm *g) {
  assert(by_type[g->type]);
  by_type[g->type](g);
}
