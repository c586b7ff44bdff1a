/* fft.c - fast Fourier transforms: radix 2 for powers of two, Bluestein's algorithm for other lengths; see fft.h. */
#include "kernels/fft/fft.h"
#include "base/alloc.h"
#include "base/status.h"
#include <math.h>

struct fft {
  int64_t n, m;        /* the length, and the power of two of the transform: n itself, or at least 2n - 1 */
  fft_complex *root;   /* [m / 2]: exp(-2 pi i k / m) */
  fft_complex *chirp;  /* [n]: exp(-pi i k^2 / n); NULL if n == m */
  fft_complex *filter; /* [m]: the transform of the mirrored conjugate chirp; NULL if n == m */
};

static fft_complex fft_times(fft_complex a, fft_complex b) {
  return (fft_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Returns exp(-2 pi i part / whole). part is reduced first, so that large values lose no precision. */
static fft_complex unit_root(int64_t part, int64_t whole) {
  const double angle = -2 * M_PI * (double)(part % whole) / (double)whole;
  return (fft_complex){cos(angle), sin(angle)};
}

/* Moves element i to the index with the bits of i reversed. */
static void reverse_bits(fft_complex *x, int64_t m) {
  for (int64_t i = 1, j = 0; i < m; i++) {
    int64_t bit = m >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      const fft_complex t = x[i];
      x[i] = x[j], x[j] = t;
    }
  }
}

/* Computes the transform of a power of two, in place. */
static void radix_2(const fft *f, fft_complex *x) {
  reverse_bits(x, f->m);
  for (int64_t half = 1; half < f->m; half *= 2) {
    const int64_t step = f->m / (2 * half);
    for (int64_t from = 0; from < f->m; from += 2 * half)
      for (int64_t k = 0; k < half; k++) {
        const fft_complex a = x[from + k], b = fft_times(x[from + k + half], f->root[k * step]);
        x[from + k] = (fft_complex){a.re + b.re, a.im + b.im};
        x[from + k + half] = (fft_complex){a.re - b.re, a.im - b.im};
      }
  }
}

static void fft_conjugate(fft_complex *x, int64_t n, double scale) {
  for (int64_t i = 0; i < n; i++) x[i] = (fft_complex){x[i].re * scale, -x[i].im * scale};
}

static int64_t power_of_two(int64_t n) {
  int64_t m = 1;
  while (m < n) m *= 2;
  return m;
}

/* Computes chirp[k] and its transform, the filter. */
static void make_chirp(fft *f) {
  for (int64_t k = 0; k < f->n; k++) {
    /* k^2 mod 2n without overflow: n is below 2^31, since m is. */
    f->chirp[k] = unit_root(k * k % (2 * f->n), 2 * f->n);
    f->filter[k] = (fft_complex){f->chirp[k].re, -f->chirp[k].im};
    if (k > 0) f->filter[f->m - k] = f->filter[k];
  }
  radix_2(f, f->filter);
}

weft_err weft__fft_create(fft **out, int64_t n) {
  const bool plain = (n & (n - 1)) == 0;
  *out = NULL;
  if (n < 1 || n > INT32_MAX / 4)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a Fourier transform has a length of %lld; 1 to %d are possible",
                      (long long)n, INT32_MAX / 4);
  fft *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  f->n = n, f->m = plain ? n : power_of_two(2 * n - 1);
  f->root = weft__alloc_zero((size_t)(f->m / 2 + 1), sizeof *f->root);
  if (!plain) {
    f->chirp = weft__alloc_zero((size_t)n, sizeof *f->chirp);
    f->filter = weft__alloc_zero((size_t)f->m, sizeof *f->filter);
  }
  if (!f->root || (!plain && (!f->chirp || !f->filter))) {
    weft__fft_destroy(f);
    return WEFT_OOM;
  }
  for (int64_t k = 0; k < f->m / 2; k++) f->root[k] = unit_root(k, f->m);
  if (!plain) make_chirp(f);
  *out = f;
  return WEFT_OK;
}

void weft__fft_destroy(fft *f) {
  if (!f) return;
  weft__free(f->root);
  weft__free(f->chirp);
  weft__free(f->filter);
  weft__free(f);
}

int64_t weft__fft_scratch(const fft *f) { return f->chirp ? f->m : 0; }

/* X[k] = chirp[k] * sum_j (x[j] chirp[j]) conj(chirp[k - j]): a convolution, computed by three transforms of length
 * m. */
static void bluestein(const fft *f, fft_complex *x, fft_complex *w) {
  for (int64_t k = 0; k < f->n; k++) w[k] = fft_times(x[k], f->chirp[k]);
  for (int64_t k = f->n; k < f->m; k++) w[k] = (fft_complex){0, 0};
  radix_2(f, w);
  for (int64_t k = 0; k < f->m; k++) w[k] = fft_times(w[k], f->filter[k]);
  fft_conjugate(w, f->m, 1);
  radix_2(f, w);
  fft_conjugate(w, f->m, 1 / (double)f->m);
  for (int64_t k = 0; k < f->n; k++) x[k] = fft_times(w[k], f->chirp[k]);
}

void weft__fft_run(const fft *f, fft_complex *x, bool inverse, fft_complex *scratch) {
  if (inverse) fft_conjugate(x, f->n, 1);
  if (f->chirp)
    bluestein(f, x, scratch);
  else
    radix_2(f, x);
  if (inverse) fft_conjugate(x, f->n, 1 / (double)f->n);
}
