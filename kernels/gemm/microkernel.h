/* microkernel.h - the innermost loop of every matrix product and convolution: it computes a small block of the
 * result, a tile, in registers.
 *
 *   c[p][j] (+)= sum over t < taps, r < run of a[tap[t] + p * a_row + r * a_col] * b[(t * run + r) * b_row + j]
 *
 * for p < rows and j < lanes * vectors.  One of a_row and a_col is 1.  A matrix product has one tap.  A convolution
 * has one tap for each row of the filter, and reads the image in place.  A dot tile is for results with few columns,
 * with the lanes along r:
 *
 *   c[p][j] (+)= sum over r < run of a[p * a_row + r] * b[j * b_row + r]     for j < its columns
 *
 * A packed tile has PACKED_ROWS rows and PACKED_WIDTH columns, a_row 1, a_col PACKED_ROWS, b_row PACKED_WIDTH and
 * one tap.  It reads a whole vector of a at once.
 *
 * Only this module chooses instructions.  There is a tile set for each instruction set, written once with the
 * compilers' vector types, and the widest that the processor supports is used.  docs/decisions.md compares it with
 * im2col and OpenBLAS, and with oneDNN. */
#ifndef WEFT_KERNELS_GEMM_MICROKERNEL_H
#define WEFT_KERNELS_GEMM_MICROKERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum { TILE_MAX_ROWS = 14, TILE_MAX_WIDTH = 64, TILE_MAX_FLOATS = 448, DOT_MAX_COLUMNS = 5 };
enum { PACKED_ROWS = 4, PACKED_WIDTH = 16 };

typedef struct tile {
  const float *a;
  const int64_t *tap; /* offsets into a, one for each tap */
  int64_t a_row, a_col;
  const float *b;
  int64_t b_row;
  int64_t taps, run;
  float *c;
  int64_t c_row;
  bool add; /* add to the values in c */
} tile;

typedef void tile_fn(const tile *t);

typedef struct tile_set {
  const char *name;
  int lanes; /* number of floats in a vector */
  /* rows[v] is the greatest number of rows of a tile that is 1 << v vectors wide; 0: there is no such tile.  by_row and
   * by_col have the tiles, by v and by their number of rows - 1. */
  int rows[3];
  tile_fn *by_row[3][TILE_MAX_ROWS]; /* a_col is 1 */
  tile_fn *by_col[3][TILE_MAX_ROWS]; /* a_row is 1 */
  int dot_rows;                      /* rows of every dot tile */
  tile_fn *dot[DOT_MAX_COLUMNS];     /* by columns - 1; taps are not read */
  tile_fn *packed;                   /* NULL if a library is faster or there are too few registers; taps are not read */
} tile_set;

/* Returns the fastest set for this processor. */
const tile_set *weft__tile_set(void);
/* Returns every set that this processor can run, widest first, ended by NULL; for tests. */
const tile_set *const *weft__tile_sets(void);

/* Returns the width of the widest panel of a set: lanes times the most vectors. */
static inline int weft__tile_width(const tile_set *s) { return s->lanes * (s->rows[2] ? 4 : 2); }
/* Returns the most rows of a tile over a panel of that width. */
static inline int weft__tile_rows(const tile_set *s, int width) { return s->rows[width / s->lanes >> 1]; }
/* Returns the width of the panel that begins `left` columns before the end: the widest of lanes x 4, 2, 1 in which
 * no vector is empty.  The last panel may extend past the end. */
int weft__tile_panel(const tile_set *s, int64_t left);
/* Return how many panels that many columns need, and the width of the n-th panel, which begins at column *first. */
int64_t weft__tile_panels(const tile_set *s, int64_t columns);
int weft__tile_panel_at(const tile_set *s, int64_t columns, int64_t n, int64_t *first);
/* Return the tile with that many rows over a panel of that width. */
static inline tile_fn *weft__tile_by_row(const tile_set *s, int width, int rows) {
  const int vectors = width / s->lanes;
  return s->by_row[vectors >> 1][rows - 1];
}
static inline tile_fn *weft__tile_by_col(const tile_set *s, int width, int rows) {
  const int vectors = width / s->lanes;
  return s->by_col[vectors >> 1][rows - 1];
}

#endif
