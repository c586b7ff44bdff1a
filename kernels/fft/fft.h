/* fft.h - discrete Fourier transforms of one length, in double precision.
 *
 * A length that is a power of two uses the radix-4 algorithm of Stockham.  Any other uses Bluestein's algorithm, a
 * convolution whose length is a power of two.  Both take O(n log n). */
#ifndef WEFT_KERNELS_FFT_FFT_H
#define WEFT_KERNELS_FFT_FFT_H

#include "kernels/work/long_work.h"
#include <stdbool.h>

typedef struct fft_complex {
  double re, im;
} fft_complex;

typedef struct fft fft; /* the tables of one length; constant, so threads may share it */

/* Creates the tables for n >= 1, which weft__fft_destroy frees (NULL is allowed).  Returns RESOURCE_EXHAUSTED.
 * Once the step of `work` has ended, tables and transforms are left unfinished; the caller asks weft__long_work_end.
 * `work` must outlive the tables; NULL: there is no step. */
weft_err weft__fft_create(fft **out, int64_t n, long_work *work);
void weft__fft_destroy(fft *f);
/* Returns how many elements of scratch weft__fft_run needs. */
int64_t weft__fft_scratch(const fft *f);
/* Transforms x[0..n) in place; the inverse is divided by n. */
void weft__fft_run(const fft *f, fft_complex *x, bool inverse, fft_complex *scratch);

#endif
