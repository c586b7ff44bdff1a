/* fft_real.h - discrete Fourier transforms of real numbers, in double precision.
 *
 * The spectrum of n real numbers has n / 2 + 1 elements; the others are their conjugates.  If n is even, the even and
 * the odd numbers are the parts of n / 2 complex ones, whose transform costs half. */
#ifndef WEFT_KERNELS_FFT_FFT_REAL_H
#define WEFT_KERNELS_FFT_FFT_REAL_H

#include "kernels/fft/fft.h"

typedef struct fft_real fft_real; /* the tables of one length; constant, so threads may share it */

/* Creates the tables for n >= 1, which weft__fft_real_destroy frees (NULL is allowed).  Returns RESOURCE_EXHAUSTED. */
weft_err weft__fft_real_create(fft_real **out, int64_t n, long_work *work); /* work: as of weft__fft_create */
void weft__fft_real_destroy(fft_real *f);
/* Returns how many elements of scratch the transforms need. */
int64_t weft__fft_real_scratch(const fft_real *f);
/* Transforms x[0..n) to the spectrum y[0..n / 2].  Changes x. */
void weft__fft_real_forward(const fft_real *f, double *x, fft_complex *y, fft_complex *scratch);
/* Transforms the spectrum y[0..n / 2] to x[0..n), divided by n.  As in TensorFlow, imaginary parts that no spectrum of
 * real numbers has are ignored.  Changes y. */
void weft__fft_real_backward(const fft_real *f, fft_complex *y, double *x, fft_complex *scratch);

#endif
