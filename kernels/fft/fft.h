/* fft.h - discrete Fourier transforms of one length, in double precision.
 *
 * A length that is a power of two is transformed by the radix-2 algorithm, any other by Bluestein's: as a convolution of
 * a power of two.  Both take O(n log n). */
#ifndef WEFT_KERNELS_FFT_FFT_H
#define WEFT_KERNELS_FFT_FFT_H

#include "weft/weft.h"
#include <stdbool.h>

typedef struct fft_complex {
  double re, im;
} fft_complex;

typedef struct fft fft; /* the tables of one length; read only, so threads may share it */

/* n >= 1.  RESOURCE_EXHAUSTED if there is no memory for the tables; weft__fft_destroy frees it (NULL is allowed). */
weft_err weft__fft_create(fft **out, int64_t n);
void weft__fft_destroy(fft *f);
/* How many elements weft__fft_run needs as `scratch`; 0 for a power of two. */
int64_t weft__fft_scratch(const fft *f);
/* x[0..n) becomes its transform; the inverse one is divided by n. */
void weft__fft_run(const fft *f, fft_complex *x, bool inverse, fft_complex *scratch);

#endif
