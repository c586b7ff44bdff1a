/* fft_real.c - Fourier transforms of real numbers by complex ones of half their length; see fft_real.h.
 *
 * With w = exp(-2 pi i / n) and h = n / 2, the transforms E and O of the even and of the odd numbers give
 * X[k] = E[k] + w^k O[k] and conj(X[h - k]) = E[k] - w^k O[k], and Z = E + i O is the transform of the complex numbers.
 */
#include "kernels/fft/fft_real.h"
#include "base/alloc.h"
#include <math.h>
#include <string.h>

struct fft_real {
  int64_t n;
  fft *plan;            /* of n / 2, or of n if that is odd */
  fft_complex *twiddle; /* [n / 2 + 1]: w^k; NULL if n is odd */
};

static bool is_halved(const fft_real *f) { return f->twiddle != NULL; }

weft_err weft__fft_real_create(fft_real **out, int64_t n, long_work *work) {
  const bool even = n % 2 == 0;
  *out = NULL;
  fft_real *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  f->n = n;
  weft_err err = weft__fft_create(&f->plan, even && n > 0 ? n / 2 : n, work);
  if (!err && even) {
    f->twiddle = weft__alloc_zero((size_t)(n / 2 + 1), sizeof *f->twiddle);
    if (!f->twiddle) err = WEFT_OOM;
    for (int64_t k = 0; k <= n / 2 && f->twiddle; k++) {
      const double angle = -2 * M_PI * (double)k / (double)n;
      f->twiddle[k] = (fft_complex){cos(angle), sin(angle)};
    }
  }
  if (err)
    weft__fft_real_destroy(f);
  else
    *out = f;
  return err;
}

void weft__fft_real_destroy(fft_real *f) {
  if (!f) return;
  weft__fft_destroy(f->plan);
  weft__free(f->twiddle);
  weft__free(f);
}

/* An odd length needs room for its complex numbers, too. */
int64_t weft__fft_real_scratch(const fft_real *f) { return weft__fft_scratch(f->plan) + (is_halved(f) ? 0 : f->n); }

void weft__fft_real_forward(const fft_real *f, double *x, fft_complex *y, fft_complex *scratch) {
  const int64_t h = f->n / 2;
  if (!is_halved(f)) {
    fft_complex *line = scratch + weft__fft_scratch(f->plan);
    for (int64_t k = 0; k < f->n; k++) line[k] = (fft_complex){x[k], 0};
    weft__fft_run(f->plan, line, false, scratch);
    memcpy(y, line, (size_t)(h + 1) * sizeof *y);
    return;
  }
  fft_complex *z = (fft_complex *)x;
  weft__fft_run(f->plan, z, false, scratch);
  for (int64_t k = 0; k <= h; k++) {
    const fft_complex a = z[k < h ? k : 0], b = z[k > 0 ? h - k : 0], w = f->twiddle[k];
    const fft_complex even = {0.5 * (a.re + b.re), 0.5 * (a.im - b.im)};
    const fft_complex odd = {0.5 * (a.im + b.im), 0.5 * (b.re - a.re)}; /* (a - conj(b)) / 2i */
    y[k] = (fft_complex){even.re + (w.re * odd.re - w.im * odd.im), even.im + (w.re * odd.im + w.im * odd.re)};
  }
}

void weft__fft_real_backward(const fft_real *f, fft_complex *y, double *x, fft_complex *scratch) {
  const int64_t h = f->n / 2;
  y[0].im = 0;
  if (!is_halved(f)) {
    fft_complex *line = scratch + weft__fft_scratch(f->plan);
    memcpy(line, y, (size_t)(h + 1) * sizeof *y);
    for (int64_t k = h + 1; k < f->n; k++) line[k] = (fft_complex){y[f->n - k].re, -y[f->n - k].im};
    weft__fft_run(f->plan, line, true, scratch);
    for (int64_t k = 0; k < f->n; k++) x[k] = line[k].re;
    return;
  }
  y[h].im = 0;
  fft_complex *z = (fft_complex *)x;
  for (int64_t k = 0; k < h; k++) {
    const fft_complex a = y[k], b = y[h - k], w = f->twiddle[k];
    const fft_complex even = {0.5 * (a.re + b.re), 0.5 * (a.im - b.im)},
                      rest = {0.5 * (a.re - b.re), 0.5 * (a.im + b.im)};
    const fft_complex odd = {w.re * rest.re + w.im * rest.im, w.re * rest.im - w.im * rest.re}; /* rest / w^k */
    z[k] = (fft_complex){even.re - odd.im, even.im + odd.re};
  }
  weft__fft_run(f->plan, z, true, scratch);
}
