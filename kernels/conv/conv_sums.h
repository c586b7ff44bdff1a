/* conv_sums.h - the sums with which 2 x 2 results of a square filter are made of fewer products (conv_winograd_2d.c).
 *
 * There are three schemes.  They differ in the products of one direction, and in how much they round:
 *
 *   SQUARE_SIX    5 taps, 6 products instead of 10.  The error is about six times that of plain sums of the same length.
 *   SQUARE_SEVEN  5 taps, 7 products: three taps by 4 products and two taps by 3.  The error is 1.8 times.
 *   SQUARE_FOUR   3 taps, 4 products instead of 6.  The error is 1.7 times.
 *
 * Each is a product with a constant matrix from both sides, of all channels at once: the lanes of a vector are
 * channels, of which there must be whole vectors.  The values of a channel lie `point` floats apart. */
#ifndef WEFT_KERNELS_CONV_CONV_SUMS_H
#define WEFT_KERNELS_CONV_CONV_SUMS_H

#include "kernels/gemm/microkernel.h"

/* SQUARE_SIX: polynomials are multiplied by their values at 0, a, -a, b, -b and infinity.  Of points whose powers are exact, 3/2
 * and 11/16 round best: 0.7 of the error of 1, -1, 1/2 and -2 when used in both directions, half of that of 1, -1, 2
 * and -2; and pairs of opposite points share half of their sums.  The powers, the sum and the product of the squares,
 * and by what the filter's values at a, b and 0 are divided: the differences to all other points, multiplied. */
static const float A = 1.5f, A2 = 2.25f, A3 = 3.375f, A4 = 5.0625f;
static const float B = 0.6875f, B2 = 0.47265625f, B3 = 0.324951171875f, B4 = 0.2234039306640625f;
static const float SUM = 2.72265625f, PRODUCT = 1.0634765625f;
static const float BY_A = 1 / 7.998046875f, BY_B = -1 / 1.680145263671875f, BY_0 = 1 / 1.0634765625f;

typedef enum square_scheme { SQUARE_SIX, SQUARE_SEVEN, SQUARE_FOUR, SQUARE_SCHEMES } square_scheme;

enum { SQUARE_MAX_POINTS = 7, SQUARE_MAX_FILTER = 5, SQUARE_RESULTS = 2 };

/* Pixels of an image from a corner on, which may be outside it: those in [begin, end) along each axis are there, the
 * others count as zero.  Places are floats from the beginning of the image. */
typedef struct patch {
  float *image;
  int64_t corner, row, pixel; /* where it begins; from one row, and one pixel, to the next */
  int begin[2], end[2];
} patch;

/* Along one axis: products, taps of the filter, and pixels under 2 results. */
typedef struct square_sums {
  int points, taps, reach;
  void (*pixels)(const patch *d, float *u, int64_t point, int64_t channels);              /* u = B d B', d: pixels */
  void (*results)(const float *m, int64_t point, const patch *y, int64_t channels);       /* y = A m A', y: 2 x 2 */
  void (*filter)(const float *g, int64_t tap, float *v, int64_t point, int64_t channels); /* v = G g G', g: taps */
} square_sums;

/* Those of a scheme for vectors as long as the set's. */
const square_sums *weft__square_sums(const tile_set *set, square_scheme scheme);

#endif
