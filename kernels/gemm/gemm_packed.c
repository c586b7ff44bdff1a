/* gemm_packed.c - the product of float matrices, c = a b, with both operands packed first.
 *
 * A block of a [up to BLOCK_ROWS, up to DEPTH] is packed into strips of PACKED_ROWS rows and stays in the second-level
 * cache.  A panel of b [up to DEPTH, PACKED_WIDTH] is packed too and stays in the first-level cache.  The microkernel
 * then reads both in order, a whole vector of a at once.  A strip or panel at the edge is filled up with zeros, and its
 * tile of c is computed in a scratch buffer.
 *
 * On one Neoverse V1, whose peak is 80 GFLOP/s: 62 to 66 GFLOP/s for 2048 x 512 x 256 to 512, where OpenBLAS 0.3.21
 * gives 47 to 57 and the tiles that read a in place 44 to 48. */
#include "kernels/gemm/gemm_packed.h"
#include "base/alloc.h"
#include "kernels/gemm/microkernel.h"
#include "kernels/simd/block_transpose_f32.h"
#include <string.h>

enum {
  DEPTH = 256,      /* as in gemm_tile.c, so that both split sums at the same places and give the same bits */
  BLOCK_ROWS = 384, /* of a: 384 KiB */
  LINE = 16,        /* floats of a cache line */
  MIN_ROWS = 8,     /* of a; with fewer rows or columns packing costs more than it saves */
  MIN_COLUMNS = 64, /* of b */
};

typedef struct block { /* of a, packed */
  float *a;
  int64_t first, rows;  /* rows [first, first + rows) of a and c */
  int64_t begin, depth; /* columns [begin, begin + depth) of a */
  bool add;             /* the product is added to c */
} block;

static const double MIN_PRODUCTS = 40000; /* m * n * k; with fewer, packing costs more than it saves, too */

static int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t strips_of(int64_t rows) { return (rows + PACKED_ROWS - 1) / PACKED_ROWS; }

/* Packs a block of an a that is stored by columns: one cache line at a time, into the strips that its rows belong to.
 */
static void pack_columns(const gemm *g, const block *b) {
  const float *a = (const float *)g->a + b->begin * g->lda + b->first;
  for (int64_t from = 0; from < b->rows; from += LINE) {
    const int64_t to = min_of(from + LINE, b->rows);
    for (int64_t r = 0; r < b->depth; r++)
      for (int64_t row = from; row < to; row += PACKED_ROWS) {
        float *strip = b->a + row * b->depth + r * PACKED_ROWS;
        const float *src = a + r * g->lda + row;
        if (to - row >= PACKED_ROWS)
          memcpy(strip, src, PACKED_ROWS * sizeof *strip);
        else
          for (int p = 0; p < PACKED_ROWS; p++) strip[p] = row + p < to ? src[p] : 0;
      }
  }
}

static void pack_rows(const gemm *g, const block *b) {
  const float *a = (const float *)g->a + b->first * g->lda + b->begin;
  for (int64_t row = 0; row < b->rows; row += PACKED_ROWS) {
    float *strip = b->a + row * b->depth;
    const int64_t rows = min_of(PACKED_ROWS, b->rows - row);
    if (rows < PACKED_ROWS) memset(strip, 0, (size_t)(PACKED_ROWS * b->depth) * sizeof *strip);
    weft__block_transpose_f32(strip, PACKED_ROWS, a + row * g->lda, g->lda, rows, b->depth);
  }
}

static void pack_panel(const gemm *g, const block *b, int64_t first, int64_t columns, float *panel) {
  const float *from = g->b;
  if (columns < PACKED_WIDTH) memset(panel, 0, (size_t)(PACKED_WIDTH * b->depth) * sizeof *panel);
  if (g->tb) {
    weft__block_transpose_f32(panel, PACKED_WIDTH, from + first * g->ldb + b->begin, g->ldb, columns, b->depth);
    return;
  }
  from += b->begin * g->ldb + first;
  for (int64_t r = 0; r < b->depth; r++, from += g->ldb, panel += PACKED_WIDTH)
    if (columns == PACKED_WIDTH) /* a size that the compiler knows */
      memcpy(panel, from, PACKED_WIDTH * sizeof *panel);
    else
      memcpy(panel, from, (size_t)columns * sizeof *panel);
}

/* Computes a tile that reaches past the last row or column of c, in a scratch buffer. */
static void run_edge(tile *t, int64_t rows, int64_t columns) {
  float edge[PACKED_ROWS * PACKED_WIDTH] = {0}, *c = t->c;
  const int64_t c_row = t->c_row;
  for (int64_t r = 0; r < rows && t->add; r++)
    memcpy(edge + r * PACKED_WIDTH, c + r * c_row, (size_t)columns * sizeof *c);
  t->c = edge, t->c_row = PACKED_WIDTH;
  weft__tile_set()->packed(t);
  for (int64_t r = 0; r < rows; r++) memcpy(c + r * c_row, edge + r * PACKED_WIDTH, (size_t)columns * sizeof *c);
}

static void run_block(const gemm *g, const block *b) {
  _Alignas(64) float panel[DEPTH * PACKED_WIDTH];
  tile_fn *run = weft__tile_set()->packed;
  for (int64_t first = 0; first < g->n; first += PACKED_WIDTH) {
    const int64_t columns = min_of(PACKED_WIDTH, g->n - first);
    pack_panel(g, b, first, columns, panel);
    for (int64_t row = 0; row < b->rows; row += PACKED_ROWS) {
      tile t = {.a = b->a + row * b->depth, .b = panel, .run = b->depth, .c_row = g->ldc, .add = b->add};
      t.c = (float *)g->c + (b->first + row) * g->ldc + first;
      if (columns == PACKED_WIDTH && b->rows - row >= PACKED_ROWS)
        run(&t);
      else
        run_edge(&t, min_of(PACKED_ROWS, b->rows - row), columns);
    }
  }
}

bool weft__gemm_packed(const gemm *g) {
  if (!weft__tile_set()->packed || g->m < MIN_ROWS || g->n < MIN_COLUMNS) return false;
  if ((double)g->m * (double)g->n * (double)g->k < MIN_PRODUCTS) return false;
  /* Blocks of nearly equal height. */
  const int64_t blocks = (g->m + BLOCK_ROWS - 1) / BLOCK_ROWS;
  const int64_t height = strips_of((g->m + blocks - 1) / blocks) * PACKED_ROWS;
  block b = {.a = weft__alloc((size_t)(height * min_of(g->k, DEPTH)) * sizeof *b.a)};
  if (!b.a) return false;
  for (b.begin = 0; b.begin < g->k; b.begin += DEPTH) {
    b.depth = min_of(DEPTH, g->k - b.begin);
    b.add = g->accumulate || b.begin > 0;
    for (b.first = 0; b.first < g->m; b.first += height) {
      b.rows = min_of(height, g->m - b.first);
      (g->ta ? pack_columns : pack_rows)(g, &b);
      run_block(g, &b);
    }
  }
  weft__free(b.a);
  return true;
}
