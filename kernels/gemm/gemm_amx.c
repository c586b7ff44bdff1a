/* gemm_amx.c - c = a b for large matrices, on the matrix unit (amx.h says how it multiplies floats).
 *
 * Both operands are packed once, by all threads, up to TERMS columns of a and rows of b at a time; otherwise each
 * thread would pack the smaller operand again.  Then every thread computes blocks of c.  A block of a stays in the
 * second-level cache while panels of 32 columns of b pass, DEPTH terms of a panel at a time, which stay in the
 * first-level cache together with their sums.  A transposed operand is transposed in parts of 16 rows or columns before
 * it is packed.  Blocks and panels with numbers that the unit cannot multiply exactly are multiplied by gemm_tile.c. */
#include "kernels/gemm/gemm_amx.h"
#include "base/alloc.h"
#include "kernels/gemm/amx.h"
#include "kernels/gemm/gemm_tile.h"
#include "kernels/simd/block_transpose_f32.h"
#include <string.h>

enum {
  SIDE = 2 * AMX_SIDE, /* rows and columns of a tile */
  TERMS = 512,         /* that are packed at a time: a block of a has 960 KiB */
  DEPTH = 128,         /* terms of a panel of b that are multiplied at a time: 24 KiB */
  BLOCK_ROWS = 320,
  BLOCK_COLUMNS = 512, /* of a thread's piece of work */
  MOST_SIDE = 16384,   /* rows or columns that are packed at a time: 48 MiB */
};
static const double LEAST_PRODUCTS = 5e6;
/* Packing an element costs as much as some fifty products save, and storing a result as much as a hundred.  So these
 * are the least number of terms, of rows and of columns, and the most that 1/m + 1/n may be.  With 128 columns and
 * any number of rows oneDNN is 1.05 times as fast, with 192 the unit is. */
enum { LEAST_TERMS = 160, LEAST_SIDE = 160 };
static const double MOST_PACKING = 1.0 / 100;

typedef struct gemm_amx_work {
  const gemm *g;
  uint16_t *a, *b;       /* packed, by 32 rows or columns */
  bool *bad_a, *bad_b;   /* for each 32 rows or columns: whether they are multiplied without the unit */
  int64_t begin, depth;  /* terms */
  int64_t steps;         /* blocks of terms */
  int64_t b_first;       /* block of the packed columns of b that `begin` is in */
  int64_t b_steps;       /* blocks of terms in them */
  int64_t rows, columns; /* of c in a piece of work */
  bool add;
} gemm_amx_work;

static int64_t gemm_amx_min(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t gemm_amx_parts(int64_t n, int64_t size) { return (n + size - 1) / size; }

/* Numbers in 32 packed rows or columns. */
static int64_t packed_size(const gemm_amx_work *j) { return 2 * j->steps * AMX_STEP; }

/* ---- packing ---- */

/* Packs 32 terms of up to 16 rows: the block of terms `at`, of rows from `first` on. */
static bool amx_pack_rows(const gemm_amx_work *j, int64_t first, int64_t at, uint16_t *to) {
  const gemm *g = j->g;
  const int64_t rows = gemm_amx_min(AMX_SIDE, g->m - first), begin = j->begin + at * AMX_TERMS;
  const int64_t terms = gemm_amx_min(AMX_TERMS, j->begin + j->depth - begin);
  const float *a = g->a;
  if (!g->ta) return weft__amx_pack_a(to, a + first * g->lda + begin, g->lda, rows, terms);
  float turned[AMX_SIDE * AMX_TERMS];
  weft__block_transpose_f32(turned, AMX_TERMS, a + begin * g->lda + first, g->lda, terms, rows);
  return weft__amx_pack_a(to, turned, AMX_TERMS, rows, terms);
}

static bool amx_pack_columns(const gemm_amx_work *j, int64_t first, int64_t at, uint16_t *to) {
  const gemm *g = j->g;
  const int64_t columns = gemm_amx_min(AMX_SIDE, g->n - first), begin = j->begin + at * AMX_TERMS;
  const int64_t terms = gemm_amx_min(AMX_TERMS, j->begin + j->depth - begin);
  const float *b = g->b;
  if (!g->tb) return weft__amx_pack_b(to, b + begin * g->ldb + first, g->ldb, terms, columns);
  float turned[AMX_TERMS * AMX_SIDE];
  weft__block_transpose_f32(turned, AMX_SIDE, b + first * g->ldb + begin, g->ldb, columns, terms);
  return weft__amx_pack_b(to, turned, AMX_SIDE, terms, columns);
}

/* Packs the parts [begin, end) of 32 rows of a (or columns of b): with all of them for one step before the next, or
 * all steps of one part, whichever reads in order. */
static void amx_pack(gemm_amx_work *j, int64_t begin, int64_t end, bool of_b) {
  const bool by_step = of_b ? !j->g->tb : j->g->ta;
  const int64_t side = of_b ? j->g->n : j->g->m, parts = end - begin, count = parts * j->steps;
  uint16_t *packed = of_b ? j->b : j->a;
  bool *bad = of_b ? j->bad_b : j->bad_a;
  memset(bad + begin, 0, (size_t)parts * sizeof *bad);
  for (int64_t n = 0; n < count; n++) {
    const int64_t part = begin + (by_step ? n % parts : n / j->steps), at = by_step ? n / parts : n % j->steps;
    for (int64_t half = 0; half < 2; half++) {
      const int64_t first = part * SIDE + half * AMX_SIDE;
      if (first >= side) break;
      uint16_t *to = packed + part * packed_size(j) + (half * j->steps + at) * AMX_STEP;
      if (!(of_b ? amx_pack_columns : amx_pack_rows)(j, first, at, to)) bad[part] = true;
    }
  }
}

static void amx_pack_a(void *arg, int64_t begin, int64_t end) { amx_pack(arg, begin, end, false); }
static void amx_pack_b(void *arg, int64_t begin, int64_t end) { amx_pack(arg, begin, end, true); }

/* ---- products ---- */

/* A block of c that is computed over all packed terms. */
typedef struct amx_block {
  int64_t first, rows;     /* rows */
  int64_t column, columns; /* at most 32 */
} amx_block;

/* Multiplies floats: one tile of c. */
static void amx_without(const gemm_amx_work *j, int64_t first, const amx_block *b) {
  gemm g = *j->g;
  g.a = (const float *)g.a + (g.ta ? j->begin * g.lda + first : first * g.lda + j->begin);
  g.b = (const float *)g.b + (g.tb ? b->column * g.ldb + j->begin : j->begin * g.ldb + b->column);
  g.c = (float *)g.c + first * g.ldc + b->column;
  g.m = gemm_amx_min(SIDE, j->g->m - first), g.n = b->columns, g.k = j->depth, g.accumulate = j->add;
  weft__gemm_tile(&g);
}

/* Sets sums to the product of a block's rows with a panel: (rows rounded up, 32).  Only blocks of terms [first, last)
 * are used. */
static void amx_panel(const gemm_amx_work *j, const amx_block *b, int64_t first, int64_t last, float *sums) {
  static const int64_t no_tap[1] = {0};
  amx_tile t = {.tap = no_tap, .taps = 1, .a_row = AMX_TERMS, .a_step = AMX_STEP, .a_piece = AMX_BLOCK, .c_row = SIDE};
  t.a_strip[1] = j->steps * AMX_STEP, t.b_next = j->b_steps * AMX_STEP;
  t.c_strip[1] = AMX_SIDE * SIDE, t.two_columns = b->columns > AMX_SIDE;
  const int64_t most = b->rows > SIDE ? DEPTH / AMX_TERMS : j->steps;
  for (int64_t done = first; done < last; done += t.blocks) {
    t.blocks = gemm_amx_min(most, last - done);
    t.b = j->b + (b->column / AMX_SIDE * j->b_steps + j->b_first + done) * AMX_STEP, t.add = done > first;
    for (int64_t row = 0; row < b->rows; row += SIDE) {
      t.a = j->a + (b->first + row) / SIDE * packed_size(j) + done * AMX_STEP;
      t.c = sums + row * SIDE, t.strips = b->rows - row > AMX_SIDE ? 2 : 1;
      weft__amx_tile(&t);
    }
  }
}

static void amx_store(const gemm_amx_work *j, int64_t first, const amx_block *b, const float *sums, bool add) {
  const int64_t rows = gemm_amx_min(SIDE, j->g->m - first);
  float *c = (float *)j->g->c + first * j->g->ldc + b->column;
  for (int64_t r = 0; r < rows; r++, c += j->g->ldc, sums += SIDE) {
    if (add)
      for (int64_t i = 0; i < b->columns; i++) c[i] += sums[i];
    else if (b->columns == SIDE) /* a size that the compiler knows */
      memcpy(c, sums, SIDE * sizeof *c);
    else
      memcpy(c, sums, (size_t)b->columns * sizeof *c);
  }
}

/* Sums of TERMS terms at most are added to each other: longer ones would round more than those of other kernels do. */
static void amx_block_run(const gemm_amx_work *j, const amx_block *b) {
  _Alignas(64) float sums[BLOCK_ROWS * SIDE];
  const int64_t most = TERMS / AMX_TERMS;
  for (int64_t first = 0; first < j->steps; first += most) {
    amx_panel(j, b, first, gemm_amx_min(first + most, j->steps), sums);
    for (int64_t row = 0; row < b->rows; row += SIDE) {
      const bool bad = j->bad_b[b->column / SIDE] || j->bad_a[(b->first + row) / SIDE];
      if (!bad)
        amx_store(j, b->first + row, b, sums + row * SIDE, j->add || first > 0);
      else if (first == 0)
        amx_without(j, b->first + row, b);
    }
  }
}

static void amx_pieces(void *arg, int64_t begin, int64_t end) {
  const gemm_amx_work *j = arg;
  const int64_t across = gemm_amx_parts(j->g->n, j->columns);
  weft__amx_begin();
  for (int64_t i = begin; i < end; i++) {
    amx_block b = {.first = i / across * j->rows, .column = i % across * j->columns};
    const int64_t last = gemm_amx_min(b.column + j->columns, j->g->n);
    b.rows = gemm_amx_min(j->rows, j->g->m - b.first);
    for (; b.column < last; b.column += SIDE) {
      b.columns = gemm_amx_min(SIDE, last - b.column);
      amx_block_run(j, &b);
    }
  }
  weft__amx_end();
}

static bool fits_amx(const gemm *g) {
  const double m = (double)g->m, n = (double)g->n;
  return g->type == WEFT_FLOAT && g->k >= LEAST_TERMS && m * n * (double)g->k >= LEAST_PRODUCTS && g->m >= LEAST_SIDE &&
         g->n >= LEAST_SIDE && 1 / m + 1 / n < MOST_PACKING && weft__amx_has();
}

/* Multiplies matrices of at most MOST_SIDE rows and columns. */
static bool gemm_amx_part(const kernel *k, const gemm *g) {
  const int64_t down = gemm_amx_parts(g->m, SIDE), across = gemm_amx_parts(g->n, SIDE);
  gemm_amx_work j = {.g = g, .columns = BLOCK_COLUMNS};
  j.rows = gemm_amx_parts(gemm_amx_parts(g->m, gemm_amx_parts(g->m, BLOCK_ROWS)), SIDE) * SIDE; /* equal blocks */
  const int64_t terms =
      gemm_amx_parts(gemm_amx_parts(g->k, gemm_amx_parts(g->k, TERMS)), AMX_TERMS) * AMX_TERMS; /* equal parts */
  const size_t line = (size_t)(SIDE * terms * AMX_PIECES) * sizeof *j.a;
  j.a = weft__alloc_aligned(((size_t)(down + across)) * (line + sizeof(bool)));
  if (!j.a) return false;
  j.b = j.a + (size_t)down * line / sizeof *j.a;
  j.bad_a = (bool *)((char *)j.a + (size_t)(down + across) * line), j.bad_b = j.bad_a + down;
  while (j.columns > SIDE && gemm_amx_parts(g->m, j.rows) * gemm_amx_parts(g->n, j.columns) < 8) j.columns /= 2;
  for (j.begin = 0; j.begin < g->k; j.begin += j.depth) {
    j.depth = gemm_amx_min(terms, g->k - j.begin), j.b_steps = j.steps = gemm_amx_parts(j.depth, AMX_TERMS);
    j.add = g->accumulate || j.begin > 0;
    weft__kernel_loop(k, down, SIDE * j.depth / 4, amx_pack_a, &j);
    weft__kernel_loop(k, across, SIDE * j.depth / 4, amx_pack_b, &j);
    weft__kernel_loop(k, gemm_amx_parts(g->m, j.rows) * gemm_amx_parts(g->n, j.columns), 1000000, amx_pieces, &j);
  }
  weft__free(j.a);
  return true;
}

bool weft__gemm_amx(const kernel *k, const gemm *g) {
  if (!fits_amx(g)) return false;
  for (int64_t row = 0; row < g->m; row += MOST_SIDE)
    for (int64_t column = 0; column < g->n; column += MOST_SIDE) {
      gemm part = *g;
      part.m = gemm_amx_min(MOST_SIDE, g->m - row), part.n = gemm_amx_min(MOST_SIDE, g->n - column);
      part.a = (const float *)g->a + (g->ta ? row : row * g->lda);
      part.b = (const float *)g->b + (g->tb ? column * g->ldb : column);
      part.c = (float *)g->c + row * g->ldc + column;
      if (gemm_amx_part(k, &part)) continue;
      if (row + column == 0) return false;
      weft__gemm_tile(&part); /* the parts before have been written */
    }
  return true;
}

/* ---- products with one b ---- */

/* What a packed b begins with: a product with another b is not computed from it. */
typedef struct shared_b {
  _Alignas(64) int64_t n, k;
} shared_b;

enum {
  SHARED_LEAST_SIDE = 64, /* columns, and terms; with fewer, starting the threads costs more than the unit saves */
  SHARED_LEAST_ROWS = 16, /* of a, in one product; with fewer, reading b takes most of the time */
  SHARED_ALL_ROWS = 150,  /* of a, in all of them: packing b costs as much as 50 rows save */
  SHARED_PIECES = 16      /* of a product, at least, so that two threads have nearly equal parts */
};
static const double SHARED_LEAST_PRODUCTS = 2.5e5;

bool weft__gemm_amx_shares(const gemm *g, int64_t readers) {
  const double m = (double)g->m, products = m * (double)g->n * (double)g->k;
  return g->type == WEFT_FLOAT && g->m >= SHARED_LEAST_ROWS && g->m <= BLOCK_ROWS && g->n >= SHARED_LEAST_SIDE &&
         g->n <= MOST_SIDE && g->k >= SHARED_LEAST_SIDE && g->k <= MOST_SIDE && products >= SHARED_LEAST_PRODUCTS &&
         m * (double)readers >= SHARED_ALL_ROWS && weft__amx_has();
}

/* Bytes of the packed columns, without what comes before and behind them. */
static int64_t shared_columns(int64_t n, int64_t k) {
  const int64_t block = AMX_STEP * (int64_t)sizeof(uint16_t);
  return 2 * gemm_amx_parts(n, SIDE) * gemm_amx_parts(k, AMX_TERMS) * block;
}

int64_t weft__gemm_amx_shared_bytes(int64_t n, int64_t k) {
  return (int64_t)sizeof(shared_b) + shared_columns(n, k) + gemm_amx_parts(n, SIDE) * (int64_t)sizeof(bool);
}

/* Where the columns of a packed b are, and whether each 32 of them are multiplied without the unit. */
static void shared_find(gemm_amx_work *j, const void *packed) {
  char *at = (char *)(uintptr_t)packed + sizeof(shared_b);
  j->b = (uint16_t *)(void *)at;
  j->bad_b = (bool *)(at + shared_columns(j->g->n, j->g->k));
  j->b_steps = gemm_amx_parts(j->g->k, AMX_TERMS);
}

void weft__gemm_amx_share(const kernel *k, const gemm *g, void *packed) {
  gemm_amx_work j = {.g = g, .depth = g->k, .steps = gemm_amx_parts(g->k, AMX_TERMS)};
  *(shared_b *)packed = (shared_b){g->n, g->k};
  shared_find(&j, packed);
  weft__kernel_loop(k, gemm_amx_parts(g->n, SIDE), SIDE * g->k / 4, amx_pack_b, &j);
}

/* Packs blocks of a, which has few rows: the threads divide its terms too. */
static void shared_pack_a(void *arg, int64_t begin, int64_t end) {
  const gemm_amx_work *j = arg;
  for (int64_t i = begin; i < end; i++) {
    const int64_t strip = i / j->steps, at = i % j->steps;
    if (strip * AMX_SIDE < j->g->m && !amx_pack_rows(j, strip * AMX_SIDE, at, j->a + i * AMX_STEP))
      __atomic_store_n(&j->bad_a[strip / 2], true, __ATOMIC_RELAXED); /* other threads may store it too */
  }
}

bool weft__gemm_amx_shared(const kernel *k, const gemm *g, const void *packed) {
  const shared_b *of = packed;
  if (of->n != g->n || of->k != g->k || g->m > BLOCK_ROWS) return false;
  const int64_t down = gemm_amx_parts(g->m, SIDE), most = BLOCK_ROWS / down / SIDE * TERMS; /* terms of a that fit */
  const int64_t terms = gemm_amx_parts(gemm_amx_parts(g->k, gemm_amx_parts(g->k, most)), AMX_TERMS) * AMX_TERMS;
  const size_t size = (size_t)(down * SIDE * terms * AMX_PIECES) * sizeof(uint16_t);
  gemm_amx_work j = {.g = g, .rows = down * SIDE, .columns = BLOCK_COLUMNS};
  j.a = weft__alloc_aligned(size + (size_t)down * sizeof(bool));
  if (!j.a) return false;
  j.bad_a = (bool *)((char *)j.a + size);
  shared_find(&j, packed);
  while (j.columns > SIDE && gemm_amx_parts(g->n, j.columns) < SHARED_PIECES) j.columns /= 2;
  for (; j.begin < g->k; j.begin += j.depth) {
    j.depth = gemm_amx_min(terms, g->k - j.begin), j.steps = gemm_amx_parts(j.depth, AMX_TERMS);
    j.b_first = j.begin / AMX_TERMS, j.add = g->accumulate || j.begin > 0;
    memset(j.bad_a, 0, (size_t)down * sizeof *j.bad_a);
    weft__kernel_loop(k, 2 * down * j.steps, AMX_BLOCK / 2, shared_pack_a, &j);
    weft__kernel_loop(k, gemm_amx_parts(g->n, j.columns), 1000000, amx_pieces, &j);
  }
  weft__free(j.a);
  return true;
}
