/* gemm_narrow.c - c = a b where b has few columns.
 *
 * Tiles with their lanes along these columns would leave much of a vector empty (10 of 16 lanes used).  So the lanes
 * run along the contiguous dimension of the large operand, which is read once and in place.  That is k, as dot
 * products with the columns of b; or m if a is transposed, which gives the transposed result.  Only the small side,
 * b or c, is transposed. */
#include "kernels/gemm/gemm_narrow.h"
#include "base/cast.h"
#include "kernels/gemm/microkernel.h"
#include "kernels/simd/block_transpose_f32.h"

enum { COLUMNS = 12, ENOUGH_ROWS = 16, DEPTH = 1024 };

/* Returns the width of the widest panel whose tiles have n rows, or 0 if there is none. */
static int panel_width(const tile_set *s, int64_t n, int64_t m) {
  int width = weft__tile_width(s);
  while (width >= s->lanes && (weft__tile_rows(s, width) < n || width > m)) width /= 2;
  return width >= s->lanes ? width : 0;
}

bool weft__gemm_narrow_has(const gemm *g) {
  if (g->type != WEFT_FLOAT || g->n < 1 || g->n > COLUMNS || g->m < ENOUGH_ROWS || g->k < 1) return false;
  return !g->ta || panel_width(weft__tile_set(), g->n, g->m);
}

/* ---- a transposed: lanes along m ---- */

/* Transposes `made` (n, width), from column `from` on, to rows of c. */
static void transpose_out(const gemm *g, const float *made, int width, int from, float *c) {
  if (!g->accumulate) {
    weft__block_transpose_f32(c, g->ldc, made + from, width, g->n, width - from);
    return;
  }
  for (int i = from; i < width; i++, c += g->ldc)
    for (int64_t j = 0; j < g->n; j++) c[j] += made[j * width + i];
}

static void along_m(const gemm *g) {
  static const int64_t no_tap[1] = {0};
  _Alignas(64) float made[TILE_MAX_FLOATS];
  const tile_set *set = weft__tile_set();
  const int width = panel_width(set, g->n, g->m);
  tile t = {.a = g->b, .tap = no_tap, .a_row = g->tb ? g->ldb : 1, .a_col = g->tb ? 1 : g->ldb};
  t.b_row = g->lda, t.taps = 1, t.run = g->k, t.c = made, t.c_row = width;
  tile_fn *fn =
      g->tb ? weft__tile_by_row(set, width, weft__int_sat(g->n)) : weft__tile_by_col(set, width, weft__int_sat(g->n));
  for (int64_t i = 0; i < g->m; i += width) {
    const int64_t first = i + width <= g->m ? i : g->m - width; /* the last panel overlaps the previous one */
    t.b = (const float *)g->a + first;
    fn(&t);
    transpose_out(g, made, width, (int)(i - first), (float *)g->c + i * g->ldc);
  }
}

/* ---- a not transposed: lanes along k ---- */

/* Some columns of c: those of one dot tile from `first` on, over `depth` elements of k from `begin` on. */
typedef struct strip {
  const gemm *g;
  const tile_set *set;
  int64_t begin, depth, first, columns;
  const float *b; /* (columns, depth) */
  int64_t b_row;
} strip;

static void run_strip(const strip *s, int64_t row) {
  const gemm *g = s->g;
  const int rows = s->set->dot_rows;
  const int64_t top = row + rows <= g->m ? row : g->m - rows; /* the last tile overlaps the previous one */
  const bool add = g->accumulate || s->begin > 0;
  float made[4 * DOT_MAX_COLUMNS], *c = (float *)g->c + row * g->ldc + s->first;
  tile t = {.a = (const float *)g->a + top * g->lda + s->begin, .a_row = g->lda, .b = s->b, .b_row = s->b_row};
  t.run = s->depth, t.c = c, t.c_row = g->ldc, t.add = add;
  if (top < row) t.c = made, t.c_row = s->columns, t.add = false;
  s->set->dot[s->columns - 1](&t);
  for (int64_t i = row; top < row && i < g->m; i++, c += g->ldc)
    for (int64_t j = 0; j < s->columns; j++) c[j] = made[(i - top) * s->columns + j] + (add ? c[j] : 0);
}

static void along_k(const gemm *g) {
  _Alignas(64) float transposed[COLUMNS * DEPTH];
  strip s = {.g = g, .set = weft__tile_set()};
  const int64_t strips = (g->n + DOT_MAX_COLUMNS - 1) / DOT_MAX_COLUMNS, most = (g->n + strips - 1) / strips;
  for (s.begin = 0; s.begin < g->k; s.begin += s.depth) {
    s.depth = g->k - s.begin < DEPTH ? g->k - s.begin : DEPTH;
    const float *b = g->tb ? (const float *)g->b + s.begin : transposed;
    s.b_row = g->tb ? g->ldb : s.depth;
    if (!g->tb)
      weft__block_transpose_f32(transposed, s.depth, (const float *)g->b + s.begin * g->ldb, g->ldb, s.depth, g->n);
    for (int64_t row = 0; row < g->m; row += s.set->dot_rows)
      for (s.first = 0; s.first < g->n; s.first += s.columns) {
        s.columns = g->n - s.first < most ? g->n - s.first : most;
        s.b = b + s.first * s.b_row;
        run_strip(&s, row);
      }
  }
}

void weft__gemm_narrow(const gemm *g) {
  if (g->ta)
    along_m(g);
  else
    along_k(g);
}
