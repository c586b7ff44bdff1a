/* resample.c - a sound at another sample rate: a sinc filter with a Kaiser window at each output sample.
 *
 * The ratio of the rates is reduced to up / down.  Output sample i lies at i * down / up of the input, so the filter
 * has one of `up` phases.  The coefficients of a phase are computed once if there are few phases, else at each sample.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "codec/wav.h"
#include <math.h>

enum { HALF_WIDTH = 16, PHASES_MAX = 4096 }; /* zero crossings on each side of the filter's center */
#define KAISER_BETA 9.0
#define PASSED 0.97 /* of half the lower rate */
#define PI 3.14159265358979323846

/* The modified Bessel function of order 0. */
static double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int i = 1; i < 60 && term > sum * 1e-12; i++) {
    term *= (x / 2 / i) * (x / 2 / i);
    sum += term;
  }
  return sum;
}

typedef struct filter {
  int64_t up, down;
  double cutoff; /* in zero crossings per input sample */
  int64_t reach; /* input samples on each side */
} filter;

static double filter_at(const filter *f, double distance) {
  const double x = distance * f->cutoff, w = x / HALF_WIDTH;
  if (fabs(w) >= 1) return 0;
  const double sinc = fabs(x) < 1e-9 ? 1 : sin(PI * x) / (PI * x);
  return f->cutoff * sinc * bessel_i0(KAISER_BETA * sqrt(1 - w * w)) / bessel_i0(KAISER_BETA);
}

/* The taps of a place between two samples are those of the input samples from -reach up to reach + 1 around it.  Writes
 * the coefficients of taps [begin, end). */
static void filter_phase(const filter *f, int64_t phase, int64_t begin, int64_t end, float *coefficients) {
  WEFT_ASSERT(phase >= 0 && phase < f->up && begin >= 0 && end <= 2 * f->reach + 2);
  for (int64_t j = begin; j < end; j++)
    *coefficients++ = (float)filter_at(f, (double)(j - f->reach) - (double)phase / (double)f->up);
}

static int64_t greatest_divisor(int64_t a, int64_t b) {
  WEFT_ASSERT(a > 0 && b > 0);
  while (b) {
    const int64_t rest = a % b;
    a = b, b = rest;
  }
  return a;
}

int64_t weft__resampled_frames(int64_t frames, uint32_t from, uint32_t to) {
  return (int64_t)ceil((double)frames * (double)to / (double)from - 1e-9);
}

weft_err weft__resample(const float *x, int64_t frames, uint32_t channels, uint32_t from, uint32_t to, float *y) {
  WEFT_ASSERT(frames >= 0 && channels > 0 && from > 0 && to > 0);
  const int64_t divisor = greatest_divisor(from, to), n = weft__resampled_frames(frames, from, to);
  filter f = {.up = to / divisor, .down = from / divisor};
  f.cutoff = PASSED * (to < from ? (double)to / (double)from : 1);
  f.reach = (int64_t)ceil(HALF_WIDTH / f.cutoff);
  const int64_t taps = 2 * f.reach + 2;
  const bool table = f.up <= PHASES_MAX && taps <= PHASES_MAX;
  /* A header may ask for a filter that is billions of times as long as the sound: only taps that meet it count. */
  const int64_t most = taps < frames ? taps : frames;
  float *coefficients = weft__alloc((size_t)(table ? f.up * taps : most) * sizeof(float) + 1);
  if (!coefficients) return WEFT_OOM;
  for (int64_t p = 0; table && p < f.up; p++) filter_phase(&f, p, 0, taps, coefficients + p * taps);
  for (int64_t i = 0; i < n; i++) {
    const int64_t at = i * f.down / f.up, phase = i * f.down % f.up;
    const int64_t first = at - f.reach, begin = first < 0 ? -first : 0;
    const int64_t end = first + taps > frames ? frames - first : taps;
    if (!table) filter_phase(&f, phase, begin, end, coefficients);
    const float *h = table ? coefficients + phase * taps + begin : coefficients;
    for (uint32_t c = 0; c < channels; c++) {
      float sum = 0;
      for (int64_t j = begin; j < end; j++) sum += h[j - begin] * x[(first + j) * channels + c];
      y[i * channels + c] = sum;
    }
  }
  weft__free(coefficients);
  return WEFT_OK;
}
