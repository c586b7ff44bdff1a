/* amx.h - products of floats on the matrix unit of x86 processors (AMX), which multiplies bfloat16 only.
 *
 * A float has 24 significant bits, a bfloat16 has 8.  So a float is the exact sum of three bfloat16 numbers, its
 * pieces: x = x1 + x2 + x3 with |x2| <= 2^-8 |x| and |x3| <= 2^-17 |x|.  Of the nine products of the pieces of two
 * floats six are computed; the other three are at most 2^-24 of the product in sum.  The unit adds in float, in short
 * sums, so the result rounds no more than a float product does (gemm_amx_test.c compares with double).  It
 * computes 16 times as many products a cycle as AVX-512 does, so six instead of one leave a factor of 2.6.
 *
 * The unit takes numbers below 2^-126 for zero.  So packing says whether a number has pieces that are too small or too
 * large, and the caller then multiplies floats.  What remains is an error of 2^-126 for each product.
 *
 * Operands are packed into blocks of 16 x 32 bfloat16 numbers, a KiB each, the three pieces of a block in order:
 * a by rows of 32 terms; b by pairs of terms, 16 rows of (2 terms of 16 columns). */
#ifndef WEFT_KERNELS_GEMM_AMX_H
#define WEFT_KERNELS_GEMM_AMX_H

#include <stdbool.h>
#include <stdint.h>

enum {
  AMX_SIDE = 16,                     /* rows of a, or columns of b, in a block */
  AMX_TERMS = 32,                    /* terms of the sums in a block */
  AMX_PIECES = 3,                    /* bfloat16 numbers of a float */
  AMX_BLOCK = AMX_SIDE * AMX_TERMS,  /* numbers in a block of one piece */
  AMX_STEP = AMX_PIECES * AMX_BLOCK, /* numbers from one block of packed operands to the next */
};

/* c[i][j] (+)= the sum of a[i][r] * b[r][j] over all taps and their blocks.  The rows are in strips of 16: up to
 * four strips by 16 columns, or up to two by 32.  The blocks of a tap follow each other in a at a distance of a_step.
 * Those of b follow each other over all taps. */
typedef struct amx_tile {
  const uint16_t *a;
  const int64_t *tap;             /* offsets into a, one for each tap */
  int64_t taps, blocks;           /* blocks of each tap */
  int64_t a_row, a_step, a_piece; /* distances of rows, of blocks and of pieces */
  int64_t a_strip[4], c_strip[4]; /* offsets of the strips in a and in c */
  int strips;
  const uint16_t *b;
  int64_t b_next; /* from the first 16 columns to the next 16 */
  float *c;
  int64_t c_row;
  bool two_columns; /* 32 columns */
  bool add;
} amx_tile;

/* Returns true if this processor has the unit and the kernel lets this process use it. */
bool weft__amx_has(void);

/* Around the tiles of one thread: sets the unit up, and gives its registers back. */
void weft__amx_begin(void);
void weft__amx_end(void);
void weft__amx_tile(const amx_tile *t);

/* c[j] (+)= the sum of a * b[j] over `blocks` blocks, for j < columns <= 4: tiles of 16 x 16.  a is packed, and b[j] as
 * weft__amx_pack_pairs packs; both are read in order. */
typedef struct amx_row {
  const uint16_t *a, *b[4];
  int64_t blocks, b_piece; /* b_piece: distance of the pieces of b */
  int columns;
  float *c; /* (columns, 16, 16) */
  bool add;
} amx_row;
void weft__amx_row(const amx_row *t);

/* Packs `rows` <= 16 rows of `terms` floats for a; a row or a block that is not full is filled up with zeros.  Returns
 * false if a number is infinite, not a number, 2^127 or more, or not zero and below 2^-102. */
bool weft__amx_pack_a(uint16_t *to, const float *from, int64_t row, int64_t rows, int64_t terms);

/* Packs `terms` rows of `columns` <= 16 floats for b, in the same way. */
bool weft__amx_pack_b(uint16_t *to, const float *from, int64_t row, int64_t terms, int64_t columns);

/* Packs n rows of 16 floats, n even, for b at any row: `even` gets the pairs of rows 0 and 1, 2 and 3 and so on, and
 * `odd`, unless it is NULL, those of rows 1 and 2, 3 and 4 and so on.  A pair has 32 numbers.  The last number of
 * `odd` is paired with zero.  Returns false as weft__amx_pack_a does. */
bool weft__amx_pack_pairs(uint16_t *even, uint16_t *odd, int64_t piece, const float *from, int64_t n);

/* Writes the pieces of n floats to to[0], to[piece] and to[2 * piece] and on, in the same way. */
bool weft__amx_split(uint16_t *to, int64_t piece, const float *from, int64_t n);

#endif
