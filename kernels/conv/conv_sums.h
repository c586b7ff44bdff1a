/* conv_sums.h - the sums with which 2 x 2 results of a filter of 5 x 5 are made of 36 products (conv_square.c).
 *
 * Each is a product with a constant matrix from both sides, of all channels at once: the lanes of a vector are
 * channels, of which there must be whole vectors.  The 36 values of a channel lie `point` floats apart. */
#ifndef WEFT_KERNELS_CONV_CONV_SUMS_H
#define WEFT_KERNELS_CONV_CONV_SUMS_H

#include "kernels/gemm/microkernel.h"

/* Polynomials are multiplied by their values at 0, a, -a, b, -b and infinity.  Of points whose powers are exact, 3/2
 * and 11/16 round best: 0.7 of the error of 1, -1, 1/2 and -2 when used in both directions, half of that of 1, -1, 2
 * and -2; and pairs of opposite points share half of their sums.  The powers, the sum and the product of the squares,
 * and by what the filter's values at a, b and 0 are divided: the differences to all other points, multiplied. */
static const float A = 1.5f, A2 = 2.25f, A3 = 3.375f, A4 = 5.0625f;
static const float B = 0.6875f, B2 = 0.47265625f, B3 = 0.324951171875f, B4 = 0.2234039306640625f;
static const float SUM = 2.72265625f, PRODUCT = 1.0634765625f;
static const float BY_A = 1 / 7.998046875f, BY_B = -1 / 1.680145263671875f, BY_0 = 1 / 1.0634765625f;

enum { SQUARE_POINTS = 6, SQUARE_FILTER = 5, SQUARE_RESULTS = 2 };

/* Pixels of an image from a corner on, which may be outside it: those in [begin, end) along each axis are there, the
 * others count as zero.  Places are floats from the beginning of the image. */
typedef struct patch {
  float *image;
  int64_t corner, row, pixel; /* where it begins; from one row, and one pixel, to the next */
  int begin[2], end[2];
} patch;

typedef struct square_sums {
  void (*pixels)(const patch *d, float *u, int64_t point, int64_t channels);              /* u = B d B', d: 6 x 6 */
  void (*results)(const float *m, int64_t point, const patch *y, int64_t channels);       /* y = A m A', y: 2 x 2 */
  void (*filter)(const float *g, int64_t tap, float *v, int64_t point, int64_t channels); /* v = G g G', g: 5 x 5 */
} square_sums;

/* Those for vectors as long as the set's. */
const square_sums *weft__square_sums(const tile_set *set);

#endif
