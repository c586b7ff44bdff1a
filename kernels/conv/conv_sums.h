/* conv_sums.h - the transforms of the 2-D Winograd convolution (conv_winograd_2d.c), which computes 2 x 2 results of
 * a square filter with fewer multiplications.
 *
 * There are three schemes.  They differ in the number of multiplications along one axis, and in their rounding errors:
 *
 *   SQUARE_SIX    5 taps, 6 multiplications instead of 10.  The error is about six times that of plain sums of the same
 *                 length.
 *   SQUARE_SEVEN  5 taps, 7 multiplications: three taps by 4 and two taps by 3.  The error is 1.8 times.
 *   SQUARE_FOUR   3 taps, 4 multiplications instead of 6.  The error is 1.7 times.
 *
 * Each transform multiplies by a constant matrix from both sides, for all channels at once.  The lanes of a vector
 * are channels, whose number must be a multiple of the vector length.  The values of a channel are `point` floats
 * apart. */
#ifndef WEFT_KERNELS_CONV_CONV_SUMS_H
#define WEFT_KERNELS_CONV_CONV_SUMS_H

#include "kernels/gemm/microkernel.h"

/* The constants of SQUARE_SIX.  It multiplies polynomials by their values at 0, a, -a, b, -b and infinity.  Among the
 * points with exact powers, 3/2 and 11/16 round best.  Used in both directions, they have 0.7 of the error of 1, -1,
 * 1/2 and -2, and half of the error of 1, -1, 2 and -2.  Pairs of opposite points share half of their sums.
 *
 * The constants are the powers, the sum and the product of the squares, and the factors of the filter's values at a,
 * b and 0: one divided by the product of the differences to all other points. */
static const float SIX_A = 1.5f, SIX_A2 = 2.25f, SIX_A3 = 3.375f, SIX_A4 = 5.0625f;
static const float SIX_B = 0.6875f, SIX_B2 = 0.47265625f, SIX_B3 = 0.324951171875f, SIX_B4 = 0.2234039306640625f;
static const float SIX_SUM = 2.72265625f, SIX_PRODUCT = 1.0634765625f;
static const float SIX_BY_A = 1 / 7.998046875f, SIX_BY_B = -1 / 1.680145263671875f, SIX_BY_0 = 1 / 1.0634765625f;

typedef enum square_scheme { SQUARE_SIX, SQUARE_SEVEN, SQUARE_FOUR, SQUARE_SCHEMES } square_scheme;

enum { SQUARE_MAX_POINTS = 7, SQUARE_MAX_FILTER = 5, SQUARE_RESULTS = 2 };

/* Pixels of an image from a corner on, which may be outside the image.  Those in [begin, end) along each axis exist;
 * the others count as zero.  Offsets are in floats from the beginning of the image. */
typedef struct patch {
  float *image;
  int64_t corner, row, pixel; /* offset of the corner; floats from one row, and from one pixel, to the next */
  int begin[2], end[2];
} patch;

/* The transforms of one scheme.  points, taps and reach: the products, the taps of the filter, and the pixels under 2
 * results, along one axis. */
typedef struct winograd_2d_transforms {
  int points, taps, reach;
  void (*pixels)(const patch *d, float *u, int64_t point, int64_t channels);              /* u = B d B', d: pixels */
  void (*results)(const float *m, int64_t point, const patch *y, int64_t channels);       /* y = A m A', y: 2 x 2 */
  void (*filter)(const float *g, int64_t tap, float *v, int64_t point, int64_t channels); /* v = G g G', g: taps */
} winograd_2d_transforms;

/* Returns the transforms of a scheme for the vector length of the set. */
const winograd_2d_transforms *weft__winograd_2d_transforms(const tile_set *set, square_scheme scheme);

#endif
