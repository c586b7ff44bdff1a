/* gemm_few_rows.c - c = a b' where a has few rows.
 *
 * b, the large operand, is stored by rows that are as long as the sums.  Packing it, as other ways to multiply do,
 * costs about as much as the product.  So it is read once and in place, and the small a is what gets packed: the
 * microkernel computes blocks of c' = b a', with the lanes along the rows of a.  A block stays in a buffer until its
 * sums are complete. With so few rows that most lanes would be empty, the lanes run along the sums, as dot products. */
#include "kernels/gemm/gemm_few_rows.h"
#include "base/alloc.h"
#include "base/cast.h"
#include "kernels/gemm/microkernel.h"
#include "kernels/simd/block_transpose_f32.h"
#include <string.h>

enum {
  DOT_ROWS = 12,    /* of a, that dot products are for */
  MOST_ROWS = 64,   /* with more rows, packing b costs little */
  FEW_COLUMNS = 64, /* rows of b; with fewer, or with shorter sums, packing a costs more than it saves */
  SHORT_SUMS = 128,
  LARGE = 1 << 18,    /* floats of b, of which a megabyte no longer stays in the caches beside its packed copy */
  PART_TERMS = 256,   /* of a partial sum, as in gemm_tile.c */
  MOST_DEPTH = 4096,  /* of a packed a, which stays in the second-level cache */
  ALIASED = 1024,     /* floats of a page: rows that are whole pages apart share sets of the first-level cache */
  ROWS_OF_ALIASED = 8 /* such rows that fit beside a */
};

static int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* Runs a tile over all terms, in partial sums. */
static void run_in_parts(tile_fn *fn, tile t, int64_t terms, int64_t b_step, bool add) {
  for (int64_t done = 0; done < terms; done += t.run, t.a += t.run, t.b += t.run * b_step) {
    t.run = min_of(PART_TERMS, terms - done);
    t.add = add || done > 0;
    fn(&t);
  }
}

/* Sets c[j][i] (+)= made[i][j] for i < rows, j < columns. */
static void store_transposed(float *c, int64_t ldc, const float *made, int64_t width, int64_t rows, int64_t columns,
                             bool add) {
  if (!add) {
    weft__block_transpose_f32(c, ldc, made, width, rows, columns);
    return;
  }
  for (int64_t j = 0; j < columns; j++)
    for (int64_t i = 0; i < rows; i++) c[j * ldc + i] += made[i * width + j];
}

/* ---- dot products: four rows of b with up to DOT_MAX_COLUMNS rows of a ---- */

static void dot_strips(const gemm *g) {
  const tile_set *set = weft__tile_set();
  const int64_t strips = (g->m + DOT_MAX_COLUMNS - 1) / DOT_MAX_COLUMNS, most = (g->m + strips - 1) / strips;
  float made[4 * DOT_MAX_COLUMNS];
  for (int64_t row = 0; row < g->n; row += set->dot_rows) {
    const int64_t top = min_of(row, g->n - set->dot_rows); /* the last tile overlaps the previous one */
    for (int64_t first = 0; first < g->m; first += most) {
      const int64_t columns = min_of(most, g->m - first), skip = row - top;
      tile t = {.a = (const float *)g->b + top * g->ldb, .a_row = g->ldb, .b_row = g->lda, .c = made, .c_row = columns};
      t.b = (const float *)g->a + first * g->lda;
      run_in_parts(set->dot[columns - 1], t, g->k, 1, false);
      store_transposed((float *)g->c + first * g->ldc + row, g->ldc, made + skip * columns, columns,
                       set->dot_rows - skip, columns, g->accumulate);
    }
  }
}

/* ---- panels: rows of b with the lanes along the rows of a ---- */

/* A panel of a', packed: (depth, width), from row `first` of a and term `begin` on. */
typedef struct few_panel {
  float *packed;
  int width;
  int64_t first, rows, begin, depth;
} few_panel;

static void few_rows_pack(const gemm *g, const few_panel *p) {
  const float *a = g->a;
  if (p->rows < p->width) memset(p->packed, 0, (size_t)(p->depth * p->width) * sizeof *a);
  if (!g->ta) {
    weft__block_transpose_f32(p->packed, p->width, a + p->first * g->lda + p->begin, g->lda, p->rows, p->depth);
    return;
  }
  a += p->begin * g->lda + p->first;
  for (int64_t r = 0; r < p->depth; r++, a += g->lda) memcpy(p->packed + r * p->width, a, (size_t)p->rows * sizeof *a);
}

static void few_rows_panel(const gemm *g, const few_panel *p) {
  static const int64_t no_tap[1] = {0};
  _Alignas(64) float made[TILE_MAX_FLOATS];
  const tile_set *set = weft__tile_set();
  const bool add = g->accumulate || p->begin > 0;
  int64_t most = weft__tile_rows(set, p->width);
  if (g->ldb % ALIASED == 0) most = min_of(most, ROWS_OF_ALIASED);
  const int64_t tiles = (g->n + most - 1) / most;
  for (int64_t i = 0, row = 0; i < tiles; i++) {
    const int rows = weft__int_sat((g->n - row + tiles - i - 1) / (tiles - i));
    tile t = {.a = (const float *)g->b + row * g->ldb + p->begin, .tap = no_tap, .a_row = g->ldb, .a_col = 1};
    t.taps = 1, t.b = p->packed, t.b_row = p->width, t.c = made, t.c_row = p->width;
    run_in_parts(weft__tile_by_row(set, p->width, rows), t, p->depth, p->width, false);
    store_transposed((float *)g->c + p->first * g->ldc + row, g->ldc, made, p->width, rows, p->rows, add);
    row += rows;
  }
}

static bool few_rows_panels(const gemm *g) {
  const tile_set *set = weft__tile_set();
  const int64_t most = min_of(g->k, MOST_DEPTH);
  few_panel p = {.packed = weft__alloc_aligned((size_t)(most * weft__tile_width(set)) * sizeof(float))};
  if (!p.packed) return false;
  for (p.begin = 0; p.begin < g->k; p.begin += p.depth) {
    p.depth = min_of(most, g->k - p.begin);
    for (p.first = 0; p.first < g->m; p.first += p.rows) {
      p.width = weft__tile_panel(set, g->m - p.first);
      p.rows = min_of(p.width, g->m - p.first);
      few_rows_pack(g, &p);
      few_rows_panel(g, &p);
    }
  }
  weft__free(p.packed);
  return true;
}

/* Returns true if this way is the fastest.  Where packed tiles exist (microkernel.h) they are faster. */
static bool fits_few_rows(const gemm *g) {
  const tile_set *set = weft__tile_set();
  if (g->type != WEFT_FLOAT || !g->tb || set->packed || g->m < 2 || g->m > MOST_ROWS) return false;
  if (g->n < FEW_COLUMNS || g->k < SHORT_SUMS) return false;
  if ((double)g->n * (double)g->k >= LARGE) return g->m > DOT_ROWS || !g->ta;
  const int64_t last = g->m % set->lanes; /* used lanes of the last vector; 0: all */
  return g->m > DOT_ROWS && g->m <= 2 * set->lanes && (last == 0 || 4 * last > 3 * set->lanes);
}

bool weft__gemm_few_rows(const gemm *g) {
  if (!fits_few_rows(g)) return false;
  if (g->m > DOT_ROWS) return few_rows_panels(g);
  dot_strips(g);
  return true;
}
