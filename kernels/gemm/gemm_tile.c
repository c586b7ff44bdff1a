/* gemm_tile.c - the product of float matrices, one tile of the result at a time.
 *
 * b is processed in panels that are as wide as a tile and so deep that a panel stays in the L2 cache.  A panel is
 * packed unless few rows of a use it. a is read in place, along its contiguous dimension.  Elements that a tile
 * computes beyond the last column go to a scratch buffer. */
#include "kernels/gemm/gemm_tile.h"
#include "base/cast.h"
#include "base/target_clones.h"
#include "kernels/gemm/microkernel.h"
#include "kernels/simd/block_transpose_f32.h"
#include <string.h>

enum {
  DEPTH = 256,   /* depth of a panel */
  FEW_ROWS = 14, /* with fewer rows of a, packing b costs more than it saves */
};

typedef struct panel {
  const tile_set *set;
  int width;              /* width of the tile */
  int64_t first, columns; /* columns of c; columns <= width */
  int64_t begin, depth;   /* along k */
  const float *b;         /* (depth, width) */
  int64_t b_row;
} panel;

WEFT_TARGET_CLONES static void copy_rows(float *restrict dst, const float *restrict src, int64_t ld, int64_t depth,
                                         int width) {
  for (int64_t r = 0; r < depth; r++, src += ld, dst += width)
    for (int j = 0; j < width; j++) dst[j] = src[j];
}

static void gemm_tile_pack(const gemm *g, panel *p, float *scratch) {
  const float *b = g->b;
  p->b = scratch;
  p->b_row = p->width;
  if (p->columns < p->width) memset(scratch, 0, (size_t)(p->depth * p->width) * sizeof *scratch);
  if (g->tb) {
    weft__block_transpose_f32(scratch, p->width, b + p->first * g->ldb + p->begin, g->ldb, p->columns, p->depth);
  } else if (p->columns == p->width) {
    copy_rows(scratch, b + p->begin * g->ldb + p->first, g->ldb, p->depth, p->width);
  } else {
    for (int64_t r = 0; r < p->depth; r++)
      memcpy(scratch + r * p->width, b + (p->begin + r) * g->ldb + p->first, (size_t)p->columns * sizeof *b);
  }
}

static void run_tile(const gemm *g, const panel *p, int64_t row, int rows, bool add) {
  static const int64_t no_tap[1] = {0};
  float edge[TILE_MAX_ROWS * TILE_MAX_WIDTH];
  const float *a = g->a;
  float *c = (float *)g->c + row * g->ldc + p->first;
  tile t = {
      .tap = no_tap, .b = p->b, .b_row = p->b_row, .taps = 1, .run = p->depth, .c = c, .c_row = g->ldc, .add = add};
  t.a = g->ta ? a + p->begin * g->lda + row : a + row * g->lda + p->begin;
  t.a_row = g->ta ? 1 : g->lda;
  t.a_col = g->ta ? g->lda : 1;
  const bool whole = p->columns == p->width;
  if (!whole) {
    t.c = edge, t.c_row = p->width;
    for (int r = 0; r < rows && add; r++) memcpy(edge + r * p->width, c + r * g->ldc, (size_t)p->columns * sizeof *c);
  }
  (g->ta ? weft__tile_by_col(p->set, p->width, rows) : weft__tile_by_row(p->set, p->width, rows))(&t);
  for (int r = 0; r < rows && !whole; r++) memcpy(c + r * g->ldc, edge + r * p->width, (size_t)p->columns * sizeof *c);
}

/* Divides the rows into tiles of nearly equal height: 100 rows are 15 tiles of 6 or 7, not 14 of 7 and one of 2. */
static void run_panel(const gemm *g, const panel *p, bool add) {
  const int most = weft__tile_rows(p->set, p->width);
  const int64_t tiles = (g->m + most - 1) / most, low = g->m / tiles, higher = g->m % tiles;
  for (int64_t i = 0, row = 0; i < tiles; i++) {
    const int rows = weft__int_sat(low + (i < higher));
    run_tile(g, p, row, rows, add);
    row += rows;
  }
}

void weft__gemm_tile(const gemm *g) {
  _Alignas(64) float scratch[DEPTH * TILE_MAX_WIDTH];
  panel p = {.set = weft__tile_set()};
  for (int64_t i = 0; i < g->m && g->k == 0 && !g->accumulate; i++)
    memset((float *)g->c + i * g->ldc, 0, (size_t)g->n * sizeof(float));
  for (p.first = 0; p.first < g->n; p.first += p.columns) {
    p.width = weft__tile_panel(p.set, g->n - p.first);
    p.columns = g->n - p.first < p.width ? g->n - p.first : p.width;
    const bool in_place = !g->tb && g->m <= FEW_ROWS && p.columns == p.width;
    for (p.begin = 0; p.begin < g->k; p.begin += p.depth) {
      p.depth = g->k - p.begin < DEPTH ? g->k - p.begin : DEPTH;
      if (in_place) {
        p.b = (const float *)g->b + p.begin * g->ldb + p.first;
        p.b_row = g->ldb;
      } else {
        gemm_tile_pack(g, &p, scratch);
      }
      run_panel(g, &p, g->accumulate || p.begin > 0);
    }
  }
}
