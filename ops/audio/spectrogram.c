/* spectrogram.c - AudioSpectrogram, the spectrum of sound over time, and Mfcc, its mel-frequency cepstral
 * coefficients. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/fft/fft.h"
#include "kernels/work/long_work.h"
#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---- AudioSpectrogram ---- */

static int64_t next_power(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

typedef struct spectrogram {
  int64_t samples, channels, window, stride, frames, length, bins; /* length: size of the transform */
  bool squared;
} spectrogram;

static spectrogram spectrogram_of(const weft_node *n, int64_t samples, int64_t channels) {
  spectrogram s = {.samples = samples, .channels = channels, .window = weft__node_int(n, "window_size", 0)};
  s.stride = weft__node_int(n, "stride", 0), s.squared = weft__node_bool(n, "magnitude_squared", false);
  s.length = next_power(s.window), s.bins = 1 + s.length / 2;
  s.frames = samples < 0 ? -1 : samples < s.window ? 0 : 1 + (samples - s.window) / s.stride;
  return s;
}

/* Computes one frame: a Hann window over the samples and its Fourier transform. work has `length`
 * elements, and scratch what the transform asks for. */
static void spectrogram_frame(const spectrogram *s, const fft *f, const float *x, fft_complex *work,
                              fft_complex *scratch, float *y) {
  memset(work, 0, (size_t)s->length * sizeof *work);
  for (int64_t i = 0; i < s->window; i++)
    work[i].re = (double)x[i * s->channels] * (0.5 - 0.5 * cos(2 * PI * (double)i / (double)s->window));
  weft__fft_run(f, work, false, scratch);
  for (int64_t b = 0; b < s->bins; b++) {
    const double square = work[b].re * work[b].re + work[b].im * work[b].im;
    y[b] = (float)(s->squared ? square : sqrt(square));
  }
}

static weft_err spectrogram_cpu(kernel *k) {
  const shape *x = &k->in[0]->shape;
  if (x->rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 2-dimensional, got %s", weft__shape_text(x));
  const spectrogram s = spectrogram_of(k->node, x->dim[0], x->dim[1]);
  const shape made = SHAPE3(s.channels, s.frames, s.bins);
  weft_tensor *out = weft__out(k, 0, &made);
  if (!out) return weft__out_refused(&made);
  if (weft__tensor_count(out) == 0) return WEFT_OK;
  fft *f = NULL;
  WEFT_TRY(weft__fft_create(&f, s.length, NULL));
  fft_complex *work = weft__alloc_zero((size_t)(s.length + weft__fft_scratch(f)) + 1, sizeof *work);
  if (work)
    for (int64_t c = 0; c < s.channels; c++)
      for (int64_t t = 0; t < s.frames; t++)
        spectrogram_frame(&s, f, TENSOR_DATA(k->in[0], float) + t * s.stride * s.channels + c, work, work + s.length,
                          TENSOR_DATA(out, float) + (c * s.frames + t) * s.bins);
  weft__fft_destroy(f);
  const weft_err err = work ? WEFT_OK : WEFT_OOM;
  weft__free(work);
  return err;
}

static weft_err spectrogram_infer(infer *s) {
  shape x;
  const int64_t size = weft__node_int(s->node, "window_size", 0), stride = weft__node_int(s->node, "stride", 0);
  WEFT_TRY(weft__infer_rank(s, 0, 2, &x));
  if (size <= 1) return weft__infer_fail(s, "window size must be > 1, got %lld", (long long)size);
  if (stride <= 0) return weft__infer_fail(s, "stride must be strictly positive, got %lld", (long long)stride);
  if (size > INT64_C(1) << 40) return weft__infer_fail(s, "window size %lld is too large", (long long)size);
  const spectrogram made = spectrogram_of(s->node, x.dim[0], x.dim[1]);
  s->out[0] = SHAPE3(made.channels, made.frames, made.bins);
  return WEFT_OK;
}

/* ---- Mfcc ---- */

/* Triangular filters at equal distances on the mel scale, and a cosine transform of the logarithms of their
 * energies. */
typedef struct mfcc {
  int64_t bins, filters, coefficients;
  double low, high;
  int64_t start, end; /* the first and last bin that is used */
  int64_t *band;      /* per bin: the lower one of the two filters that overlap there, or -1 before the first center */
  double *weight;     /* per bin: its weight in that filter; the other one gets the rest */
  double *energy;     /* [filters] */
} mfcc;

static double hertz_to_mel(double frequency) { return 1127 * log1p(frequency / 700); }

static weft_err mfcc_read(const kernel *k, mfcc *m) {
  const shape *x = &k->in[0]->shape;
  if (x->rank != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "spectrogram must be 3-dimensional, got %s",
                             weft__shape_text(x));
  *m = (mfcc){.bins = x->dim[2],
              .filters = weft__node_int(k->node, "filterbank_channel_count", 40),
              .coefficients = weft__node_int(k->node, "dct_coefficient_count", 13),
              .low = (double)weft__node_float(k->node, "lower_frequency_limit", 20),
              .high = (double)weft__node_float(k->node, "upper_frequency_limit", 4000)};
  WEFT_TRY(weft__kernel_scalar(k, 1, "sample_rate"));
  if (m->filters < 1 || m->coefficients < 1 || m->coefficients > m->filters || m->bins < 2 || m->low < 0 ||
      !(m->low < m->high) || weft__tensor_int(k->in[1], 0) <= 0 || m->filters > INT32_MAX)
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "Mfcc initialization failed for channel count %lld, sample rate %lld, filterbank_channel_count "
        "%lld, dct_coefficient_count %lld and frequencies from %g to %g",
        (long long)m->bins, (long long)weft__tensor_int(k->in[1], 0), (long long)m->filters, (long long)m->coefficients,
        m->low, m->high);
  return WEFT_OK;
}

/* Weighs each bin by where it is between the centers of two filters. */
static void mfcc_weigh_bins(mfcc *m, double rate) {
  const double mel_low = hertz_to_mel(m->low), spacing = (hertz_to_mel(m->high) - mel_low) / (double)(m->filters + 1);
  const double per_bin = 0.5 * rate / (double)(m->bins - 1);
  /* The limits may be any floats, so each is bounded before it becomes an integer.  1.5: TensorFlow rounds up by one.
   */
  m->start = (int64_t)fmin(1.5 + m->low / per_bin, (double)m->bins);
  m->end = (int64_t)fmin(m->high / per_bin, (double)m->bins);
  int64_t filter = 0;
  for (int64_t i = m->start; i <= m->end && i < m->bins; i++) {
    const double at = hertz_to_mel((double)i * per_bin);
    while (filter < m->filters && mel_low + spacing * (double)(filter + 1) < at) filter++;
    m->band[i] = filter - 1;
    m->weight[i] = (mel_low + spacing * (double)(filter + 1) - at) / spacing;
  }
}

enum { COSINE_COST = 16 }; /* in the operations of kernels/work/long_work.h */

/* Computes one row.  As in TensorFlow it is zero if the upper limit is above the highest bin. */
static void mfcc_row(const mfcc *m, const float *x, float *y, long_work *work, int64_t *spent) {
  memset(y, 0, (size_t)m->coefficients * sizeof *y);
  if (m->end >= m->bins) return;
  for (int64_t f = 0; f < m->filters; f++) m->energy[f] = 0;
  for (int64_t i = m->start; i <= m->end; i++) {
    const double magnitude = sqrt((double)x[i]), part = magnitude * m->weight[i];
    if (m->band[i] >= 0) m->energy[m->band[i]] += part;
    if (m->band[i] + 1 < m->filters) m->energy[m->band[i] + 1] += magnitude - part;
  }
  for (int64_t f = 0; f < m->filters; f++) m->energy[f] = log(m->energy[f] < 1e-12 ? 1e-12 : m->energy[f]);
  const double norm = sqrt(2 / (double)m->filters), angle = PI / (double)m->filters;
  for (int64_t c = 0; c < m->coefficients && !weft__long_work_spent(work, spent, COSINE_COST * m->filters); c++) {
    double sum = 0;
    for (int64_t f = 0; f < m->filters; f++) sum += norm * cos((double)c * angle * ((double)f + 0.5)) * m->energy[f];
    y[c] = (float)sum;
  }
}

static weft_err mfcc_cpu(kernel *k) {
  const shape *x = &k->in[0]->shape;
  mfcc m;
  WEFT_TRY(mfcc_read(k, &m));
  const shape s = SHAPE3(x->dim[0], x->dim[1], m.coefficients);
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  m.band = weft__alloc_zero((size_t)m.bins + 1, sizeof *m.band);
  m.weight = weft__alloc_zero((size_t)m.bins + 1, sizeof *m.weight);
  m.energy = weft__alloc_zero((size_t)m.filters + 1, sizeof *m.energy);
  weft_err err = m.band && m.weight && m.energy ? WEFT_OK : WEFT_OOM;
  if (!err) {
    mfcc_weigh_bins(&m, (double)weft__tensor_int(k->in[1], 0));
    long_work work = weft__long_work(k);
    int64_t spent = 0;
    for (int64_t r = 0; r < x->dim[0] * x->dim[1]; r++)
      mfcc_row(&m, TENSOR_DATA(k->in[0], float) + r * m.bins, TENSOR_DATA(out, float) + r * m.coefficients, &work,
               &spent);
    err = weft__long_work_end(&work);
  }
  weft__free(m.band), weft__free(m.weight), weft__free(m.energy);
  return err;
}

static weft_err mfcc_infer(infer *s) {
  shape x;
  WEFT_TRY(weft__infer_rank(s, 0, 3, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  s->out[0] = SHAPE3(x.dim[0], x.dim[1], weft__node_int(s->node, "dct_coefficient_count", 13));
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case spectrogram_cases[] = {
    {"f32[40,2] rand", NULL, "window_size=10 stride=5", CASE_NO_GRAD},
    {"f32[40,1] rand", NULL, "window_size=16 stride=7 magnitude_squared=true", CASE_NO_GRAD},
    {"f32[5,1] rand", "f32[1,0,9] 0", "window_size=10 stride=5", CASE_NO_GRAD},
    {"f32[40,2] rand", "error INVALID_ARGUMENT", "window_size=1 stride=5", 0},
    {"f32[40,2] rand", "error INVALID_ARGUMENT", "window_size=10 stride=0", 0},
    {0},
};
static const op_case mfcc_cases[] = {
    {"f32[1,2,33] pos; i32[] 8000", NULL, "filterbank_channel_count=10 dct_coefficient_count=5", CASE_NO_GRAD},
    {"f32[2,2,65] pos; i32[] 16000", NULL,
     "upper_frequency_limit=3000.0 lower_frequency_limit=100.0 filterbank_channel_count=8 dct_coefficient_count=4",
     CASE_NO_GRAD},
    {"f32[1,2,33] pos; i32[] 8000", NULL, NULL, CASE_NO_GRAD},
    {"f32[1,2,33] pos; i32[] 8000", NULL, "upper_frequency_limit=4125.0", CASE_NO_GRAD},
    {"f32[1,2,33] pos; i32[] 8000", NULL, "upper_frequency_limit=4100.0", CASE_NO_GRAD},
    {"f32[1,2,33] pos; i32[] 8000", NULL, "lower_frequency_limit=1e30 upper_frequency_limit=2e30", CASE_NO_GRAD},
    {"f32[1,2,33] pos; i32[] 8000", "error INVALID_ARGUMENT", "dct_coefficient_count=50", 0},
    {0},
};

OPS(spectrogram) = {
    {"AudioSpectrogram(input:float) -> (spectrogram:float) | window_size:int stride:int magnitude_squared:bool=false",
     "The spectrum of sound over time.", .infer = spectrogram_infer, .cpu = spectrogram_cpu,
     .cases = spectrogram_cases},
    {"Mfcc(spectrogram:float, sample_rate:int32) -> (output:float) | upper_frequency_limit:float=4000 "
     "lower_frequency_limit:float=20 filterbank_channel_count:int=40 dct_coefficient_count:int=13",
     "Mel-frequency cepstral coefficients of a spectrum.", .infer = mfcc_infer, .cpu = mfcc_cpu, .cases = mfcc_cases},
    {0},
};
