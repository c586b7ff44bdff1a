/* gemm_long.c - computes a large product in blocks of c, with a check of the step before each. */
#include "kernels/gemm/gemm_long.h"

static const double BLOCK = 4e9; /* multiplications of a block: some tenths of a second on one processor */
enum { SIDE = 64, LANES = 16 };  /* a side of this length is not halved; what a side of a block is a multiple of */
enum { CHECKED = 1 << 18 };      /* a product of fewer multiplications is not worth a check */

static int64_t gemm_long_min(int64_t a, int64_t b) { return a < b ? a : b; }

/* Returns the block of c that begins at (row, col), with the parts of a and b that it needs. */
static gemm gemm_long_block(const gemm *g, int64_t row, int64_t rows, int64_t col, int64_t cols) {
  const int64_t size = (int64_t)weft__dtype_size(g->type);
  gemm part = *g;
  part.m = gemm_long_min(rows, g->m - row);
  part.n = gemm_long_min(cols, g->n - col);
  part.a = (const char *)g->a + (g->ta ? row : row * g->lda) * size;
  part.b = (const char *)g->b + (g->tb ? col * g->ldb : col) * size;
  part.c = (char *)g->c + (row * g->ldc + col) * size;
  return part;
}

void weft__gemm_long(long_work *w, const gemm *g) {
  const double work = (double)g->m * (double)g->n * (double)g->k;
  if (!w) {
    weft__gemm_serial(g);
    return;
  }
  if (work > CHECKED && weft__long_work_over(w)) return;
  if (work <= BLOCK) {
    weft__gemm(w->kernel, g);
    return;
  }
  int64_t rows = g->m, cols = g->n;
  while ((double)rows * (double)cols * (double)g->k > BLOCK && (rows > SIDE || cols > SIDE)) {
    int64_t *longer = rows > cols ? &rows : &cols;
    *longer = (*longer / 2 + LANES - 1) / LANES * LANES;
  }
  for (int64_t col = 0; col < g->n; col += cols)
    for (int64_t row = 0; row < g->m && !weft__long_work_over(w); row += rows) {
      const gemm part = gemm_long_block(g, row, rows, col, cols);
      weft__gemm(w->kernel, &part);
    }
}
