/* gemm_plain.c - the matrix product in plain loops.
 *
 * Blocks of both operands are packed so that the innermost loop reads them in order, transposed or not.  A tile of the
 * result stays in registers along k.  Signed integers are multiplied as unsigned ones, which gives the same bits
 * without the undefined overflow of signed ones.  The packed blocks are on the stack (under 200 KiB), so nothing here
 * can fail. */
#include "kernels/gemm/gemm_plain.h"
#include "base/paste.h"
#include "base/target_clones.h"
#include "kernels/simd/fma.h"
#include <assert.h>
#include <string.h>

enum {
  SMALL = 4096,      /* products with fewer multiplications are computed without packing */
  TILE_ROWS = 6,     /* with 64 bytes of columns, this suits the registers of AVX2, AVX-512 and NEON */
  TILE_BYTES = 64,   /* columns of a tile, in bytes */
  BLOCK_ROWS = 96,   /* rows of a; a multiple of TILE_ROWS */
  BLOCK_BYTES = 1024 /* of a row of a that are packed at a time */
};

#define DO_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define UNROLL DO_PRAGMA(clang loop unroll(full))
#else
#define UNROLL DO_PRAGMA(GCC unroll 8)
#endif

#define SAME(g, T, x) (x)
#define CONJ_F(g, T, x) ((g)->adjoint ? (T)conjf(x) : (T)(x))
#define CONJ_D(g, T, x) ((g)->adjoint ? (T)conj(x) : (T)(x))
#define STEM gemm_f32
#define T float
#define VECTORS
#define A float
#define CONJ SAME
#include "kernels/gemm/gemm_plain.inc"
#define STEM gemm_f64
#define T double
#define VECTORS
#define A double
#define CONJ SAME
#include "kernels/gemm/gemm_plain.inc"
#define STEM gemm_c64
#define T float complex
#define A float complex
#define CONJ CONJ_F
#include "kernels/gemm/gemm_plain.inc"
#define STEM gemm_c128
#define T double complex
#define A double complex
#define CONJ CONJ_D
#include "kernels/gemm/gemm_plain.inc"
#define STEM gemm_u8
#define T uint8_t
#define VECTORS
#define A uint32_t
#define CONJ SAME
#include "kernels/gemm/gemm_plain.inc"
#define STEM gemm_u16
#define T uint16_t
#define VECTORS
#define A uint32_t
#define CONJ SAME
#include "kernels/gemm/gemm_plain.inc"
#define STEM gemm_u32
#define T uint32_t
#define VECTORS
#define A uint32_t
#define CONJ SAME
#include "kernels/gemm/gemm_plain.inc"
#define STEM gemm_u64
#define T uint64_t
#define VECTORS
#define A uint64_t
#define CONJ SAME
#include "kernels/gemm/gemm_plain.inc"

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
