/* fft.c - fast Fourier transforms: radix 4 for powers of two, Bluestein's algorithm for other lengths; see fft.h. */
#include "kernels/fft/fft.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "base/target_clones.h"
#include <math.h>
#include <string.h>

struct fft {
  int64_t n, m;        /* the length, and the power of two of the transform: n itself, or at least 2n - 1 */
  fft_complex *root;   /* [m]: exp(-2 pi i k / m) */
  fft_complex *chirp;  /* [n]: exp(-pi i k^2 / n); NULL if n == m */
  fft_complex *filter; /* [m]: the transform of the mirrored conjugate chirp; NULL if n == m */
  long_work *work;     /* the caller's, or NULL */
};

enum { ROOT_COST = 20, PASS_COST = 4 }; /* elementary operations of a root, and of an element in a pass */

static bool fft_spent(const fft *f, int64_t *spent, int64_t cost) {
  return f->work && weft__long_work_spent(f->work, spent, cost);
}

static fft_complex fft_times(fft_complex a, fft_complex b) {
  return (fft_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Returns exp(-2 pi i part / whole). part is reduced first, so that large values lose no precision. */
static fft_complex unit_root(int64_t part, int64_t whole) {
  const double angle = -2 * M_PI * (double)(part % whole) / (double)whole;
  return (fft_complex){cos(angle), sin(angle)};
}

/* One pass of Stockham's algorithm, which puts the results in order without reversing bits: 4 * quarter groups of
 * `stride` transforms side by side in x become groups of 4 * stride in y. */
WEFT_TARGET_CLONES static void pass_4(const fft *f, int64_t quarter, int64_t stride, const fft_complex *restrict x,
                                      fft_complex *restrict y) {
  const int64_t apart = quarter * stride;
  for (int64_t p = 0; p < quarter; p++) {
    const fft_complex w1 = f->root[p * stride], w2 = f->root[2 * p * stride], w3 = f->root[3 * p * stride];
    const fft_complex *from = x + p * stride;
    fft_complex *to = y + 4 * p * stride;
    for (int64_t q = 0; q < stride; q++) {
      const fft_complex a = from[q], b = from[q + apart], c = from[q + 2 * apart], d = from[q + 3 * apart];
      const fft_complex ac = {a.re + c.re, a.im + c.im}, a_c = {a.re - c.re, a.im - c.im};
      const fft_complex bd = {b.re + d.re, b.im + d.im}, rotated = {b.im - d.im, d.re - b.re}; /* -i (b - d) */
      to[q] = (fft_complex){ac.re + bd.re, ac.im + bd.im};
      to[q + stride] = fft_times((fft_complex){a_c.re + rotated.re, a_c.im + rotated.im}, w1);
      to[q + 2 * stride] = fft_times((fft_complex){ac.re - bd.re, ac.im - bd.im}, w2);
      to[q + 3 * stride] = fft_times((fft_complex){a_c.re - rotated.re, a_c.im - rotated.im}, w3);
    }
  }
}

/* The last pass of a transform whose length is not a power of four. */
WEFT_TARGET_CLONES static void pass_2(int64_t stride, const fft_complex *restrict x, fft_complex *restrict y) {
  for (int64_t q = 0; q < stride; q++) {
    const fft_complex a = x[q], b = x[q + stride];
    y[q] = (fft_complex){a.re + b.re, a.im + b.im};
    y[q + stride] = (fft_complex){a.re - b.re, a.im - b.im};
  }
}

/* Computes a transform whose length is a power of two, in place; `other` has room for as many elements. */
static void fft_power_of_two(const fft *f, fft_complex *x, fft_complex *other) {
  fft_complex *from = x, *to = other;
  int64_t left = f->m, stride = 1, spent = 0;
  while (left > 1) {
    if (fft_spent(f, &spent, f->m * PASS_COST)) return;
    if (left >= 4)
      pass_4(f, left / 4, stride, from, to);
    else
      pass_2(stride, from, to);
    const int64_t radix = left >= 4 ? 4 : 2;
    left /= radix, stride *= radix;
    fft_complex *swapped = from;
    from = to, to = swapped;
  }
  if (from != x) memcpy(x, from, (size_t)f->m * sizeof *x);
}

static void fft_conjugate(fft_complex *x, int64_t n, double scale) {
  for (int64_t i = 0; i < n; i++) x[i] = (fft_complex){x[i].re * scale, -x[i].im * scale};
}

static int64_t power_of_two(int64_t n) {
  int64_t m = 1;
  while (m < n) m *= 2;
  return m;
}

/* The second half has the opposite signs. */
static void make_roots(fft *f) {
  const int64_t half = (f->m + 1) / 2;
  int64_t spent = 0;
  for (int64_t k = 0; k < half; k++) {
    if (fft_spent(f, &spent, ROOT_COST)) return;
    f->root[k] = unit_root(k, f->m);
  }
  for (int64_t k = half; k < f->m; k++) f->root[k] = (fft_complex){-f->root[k - half].re, -f->root[k - half].im};
}

/* Computes chirp[k] and its transform, the filter. */
static void make_chirp(fft *f, fft_complex *other) {
  int64_t spent = 0;
  for (int64_t k = 0; k < f->n; k++) {
    if (fft_spent(f, &spent, ROOT_COST)) return;
    /* k^2 mod 2n without overflow: n is below 2^31, since m is. */
    f->chirp[k] = unit_root(k * k % (2 * f->n), 2 * f->n);
    f->filter[k] = (fft_complex){f->chirp[k].re, -f->chirp[k].im};
    if (k > 0) f->filter[f->m - k] = f->filter[k];
  }
  fft_power_of_two(f, f->filter, other);
}

weft_err weft__fft_create(fft **out, int64_t n, long_work *work) {
  const bool plain = (n & (n - 1)) == 0;
  *out = NULL;
  if (n < 1 || n > INT32_MAX / 4)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a Fourier transform has a length of %lld; 1 to %d are possible",
                      (long long)n, INT32_MAX / 4);
  fft *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  f->work = work;
  f->n = n, f->m = plain ? n : power_of_two(2 * n - 1);
  fft_complex *other = plain ? NULL : weft__alloc((size_t)f->m * sizeof *other);
  f->root = weft__alloc_zero((size_t)f->m, sizeof *f->root);
  if (!plain) {
    f->chirp = weft__alloc_zero((size_t)n, sizeof *f->chirp);
    f->filter = weft__alloc_zero((size_t)f->m, sizeof *f->filter);
  }
  const bool ok = f->root && (plain || (f->chirp && f->filter && other));
  if (ok) make_roots(f);
  if (ok && !plain) make_chirp(f, other);
  weft__free(other);
  if (ok)
    *out = f;
  else
    weft__fft_destroy(f);
  return ok ? WEFT_OK : WEFT_OOM;
}

void weft__fft_destroy(fft *f) {
  if (!f) return;
  weft__free(f->root);
  weft__free(f->chirp);
  weft__free(f->filter);
  weft__free(f);
}

int64_t weft__fft_scratch(const fft *f) { return f->chirp ? 2 * f->m : f->m; }

/* X[k] = chirp[k] * sum_j (x[j] chirp[j]) conj(chirp[k - j]): a convolution, computed by three transforms of length
 * m. */
static void fft_bluestein(const fft *f, fft_complex *x, fft_complex *w) {
  WEFT_ASSERT(f->chirp && f->filter && f->m >= 2 * f->n - 1);
  fft_complex *other = w + f->m;
  for (int64_t k = 0; k < f->n; k++) w[k] = fft_times(x[k], f->chirp[k]);
  for (int64_t k = f->n; k < f->m; k++) w[k] = (fft_complex){0, 0};
  fft_power_of_two(f, w, other);
  for (int64_t k = 0; k < f->m; k++) w[k] = fft_times(w[k], f->filter[k]);
  fft_conjugate(w, f->m, 1);
  fft_power_of_two(f, w, other);
  fft_conjugate(w, f->m, 1 / (double)f->m);
  for (int64_t k = 0; k < f->n; k++) x[k] = fft_times(w[k], f->chirp[k]);
}

void weft__fft_run(const fft *f, fft_complex *x, bool inverse, fft_complex *scratch) {
  WEFT_ASSERT(f->n >= 1 && (f->chirp || f->m == f->n));
  if (inverse) fft_conjugate(x, f->n, 1);
  if (f->chirp)
    fft_bluestein(f, x, scratch);
  else
    fft_power_of_two(f, x, scratch);
  if (inverse) fft_conjugate(x, f->n, 1 / (double)f->n);
}
