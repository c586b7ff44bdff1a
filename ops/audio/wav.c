/* wav.c - DecodeWav and EncodeWav: WAV files of 16-bit samples. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include <math.h>
#include <string.h>

static uint32_t wav_number(const unsigned char *p, int bytes) {
  uint32_t v = 0;
  for (int i = bytes - 1; i >= 0; i--) v = v << 8 | p[i];
  return v;
}

static void wav_put(unsigned char *p, uint32_t v, int bytes) {
  for (int i = 0; i < bytes; i++, v >>= 8) p[i] = (unsigned char)(v & 255);
}

/* ---- reading ---- */

typedef struct wav {
  uint32_t channels, rate;
  const unsigned char *samples; /* two bytes each, little-endian */
  int64_t frames;               /* samples per channel */
} wav;

static weft_err wav_format(const unsigned char *p, uint32_t size, wav *w) {
  if (size != 16 && size != 18)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Bad chunk size for WAV: Expected 16 or 18, but got %u", size);
  w->channels = wav_number(p + 2, 2), w->rate = wav_number(p + 4, 4);
  const uint32_t format = wav_number(p, 2), bytes_per_second = wav_number(p + 8, 4),
                 bytes_per_frame = wav_number(p + 12, 2);
  if (format != 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Bad audio format for WAV: Expected 1 (PCM), but got %u", format);
  if (wav_number(p + 14, 2) != 16)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Can only read 16-bit WAV files, but received %u", wav_number(p + 14, 2));
  if (w->channels == 0 || bytes_per_frame != 2 * w->channels)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Bad bytes per sample in WAV header: Expected %u but got %u",
                      2 * w->channels, bytes_per_frame);
  if ((uint64_t)bytes_per_second != (uint64_t)w->rate * bytes_per_frame)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Bad bytes per second in WAV header: Expected %llu but got %u",
                      (unsigned long long)w->rate * bytes_per_frame, bytes_per_second);
  return WEFT_OK;
}

/* Parses the file.  The format is the first chunk; of the other chunks, only the samples are read. */
static weft_err wav_parse(const unsigned char *p, size_t size, wav *w) {
  if (size < 12 || memcmp(p, "RIFF", 4) || memcmp(p + 8, "WAVE", 4))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Header mismatch: Expected a WAV file of RIFF and WAVE in %zu bytes",
                      size);
  bool described = false;
  for (size_t at = 12; at + 8 <= size;) {
    const unsigned char *chunk = p + at;
    const size_t length = wav_number(chunk + 4, 4);
    at += 8;
    if (length > size - at)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Data too short: a chunk of %zu bytes does not fit", length);
    if (!described) {
      if (memcmp(chunk, "fmt ", 4))
        return weft__fail(WEFT_INVALID_ARGUMENT, "Header mismatch: Expected fmt  but found %.4s", (const char *)chunk);
      WEFT_TRY(wav_format(p + at, wav_number(chunk + 4, 4), w));
      described = true;
    } else if (!memcmp(chunk, "data", 4)) {
      w->samples = p + at, w->frames = (int64_t)(length / (2 * w->channels));
      return WEFT_OK;
    }
    at += length;
  }
  return weft__fail(WEFT_INVALID_ARGUMENT, "No data chunk found in WAV");
}

static weft_err decode_wav_cpu(kernel *k) {
  wav w = {0};
  WEFT_TRY(weft__kernel_scalar(k, 0, "contents"));
  const str *file = TENSOR_DATA(k->in[0], str);
  WEFT_TRY(weft__kernel_in(k, wav_parse((const unsigned char *)file->data, file->size, &w)));
  const int64_t channels = weft__node_int(k->node, "desired_channels", -1);
  const int64_t frames = weft__node_int(k->node, "desired_samples", -1);
  const shape s = SHAPE2(frames < 0 ? w.frames : frames, channels < 0 ? w.channels : channels);
  weft_tensor *audio = weft__out(k, 0, &s), *rate = audio ? weft__out(k, 1, &SHAPE_SCALAR) : NULL;
  if (!rate) return weft__out_refused(&s);
  *TENSOR_DATA(rate, int32_t) = weft__int_sat(w.rate);
  float *y = audio->data;
  for (int64_t i = 0; i < s.dim[0]; i++)
    for (int64_t c = 0; c < s.dim[1]; c++, y++) { /* missing channels repeat the last one */
      const int64_t from = c < w.channels ? c : w.channels - 1;
      *y = i < w.frames ? (float)(int16_t)wav_number(w.samples + (i * w.channels + from) * 2, 2) / 32768 : 0;
    }
  return WEFT_OK;
}

static weft_err decode_wav_infer(infer *s) {
  const int64_t channels = weft__node_int(s->node, "desired_channels", -1);
  const int64_t frames = weft__node_int(s->node, "desired_samples", -1);
  WEFT_TRY(weft__infer_rank(s, 0, 0, NULL));
  if (channels < -1) return weft__infer_fail(s, "channels must be non-negative, got %lld", (long long)channels);
  if (frames < -1) return weft__infer_fail(s, "samples must be non-negative, got %lld", (long long)frames);
  s->out[0] = SHAPE2(frames, channels);
  s->out[1] = SHAPE_SCALAR;
  return WEFT_OK;
}

/* ---- writing ---- */

enum { WAV_HEADER = 44 };

static void wav_header(unsigned char *p, uint32_t channels, uint32_t rate, uint32_t bytes) {
  memcpy(p, "RIFF", 4), memcpy(p + 8, "WAVEfmt ", 8), memcpy(p + 36, "data", 4);
  wav_put(p + 4, bytes + WAV_HEADER - 8, 4);
  wav_put(p + 16, 16, 4), wav_put(p + 20, 1, 2), wav_put(p + 22, channels, 2), wav_put(p + 24, rate, 4);
  wav_put(p + 28, rate * channels * 2, 4), wav_put(p + 32, channels * 2, 2), wav_put(p + 34, 16, 2);
  wav_put(p + 40, bytes, 4);
}

static weft_err encode_wav_cpu(kernel *k) {
  const shape *s = &k->in[0]->shape;
  if (s->rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "audio must be 2-dimensional, but got shape %s",
                             weft__shape_text(s));
  WEFT_TRY(weft__kernel_scalar(k, 1, "sample_rate"));
  const int64_t rate = weft__tensor_int(k->in[1], 0), n = weft__tensor_count(k->in[0]);
  if (rate < 1 || s->dim[1] < 1 || s->dim[1] > 65535)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "sample_rate %lld and channels %lld must be > 0 and channels below 65536", (long long)rate,
                             (long long)s->dim[1]);
  if (n > INT32_MAX / 2 - WAV_HEADER || rate * s->dim[1] > UINT32_MAX / 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%lld samples are too many for a WAV file", (long long)n);
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  const size_t size = WAV_HEADER + (size_t)n * 2;
  unsigned char *file = weft__alloc(size);
  if (!file) return WEFT_OOM;
  wav_header(file, (uint32_t)s->dim[1], (uint32_t)rate, (uint32_t)n * 2);
  const float *x = k->in[0]->data;
  for (int64_t i = 0; i < n; i++) {
    const float v = x[i] * 32768;
    const int16_t sample = v >= 32767 ? 32767 : v <= -32768 ? -32768 : v == v ? (int16_t)lrintf(v) : 0;
    wav_put(file + WAV_HEADER + i * 2, (uint16_t)sample, 2);
  }
  const weft_err err = weft__str_set(out->data, file, size);
  weft__free(file);
  return err;
}

static weft_err encode_wav_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 2, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  return weft__infer_scalar(s);
}

/* ---- cases ---- */

#define WAV_START "RIFF\\x28\\x00\\x00\\x00WAVEfmt \\x10\\x00\\x00\\x00"
#define WAV_MONO "\\x01\\x00\\x01\\x00\\x40\\x1f\\x00\\x00\\x80\\x3e\\x00\\x00\\x02\\x00\\x10\\x00"
#define WAV_DATA "data\\x04\\x00\\x00\\x00\\x00\\x40\\x00\\xc0"

static const op_case decode_wav_cases[] = {
    {"str[] \"" WAV_START WAV_MONO WAV_DATA "\"", "f32[2,1] .5 -.5; i32[] 8000", NULL, CASE_NO_GRAD},
    {"str[] \"" WAV_START WAV_MONO WAV_DATA "\"", NULL, "desired_channels=2 desired_samples=3", CASE_NO_GRAD},
    {"str[] \"" WAV_START WAV_MONO "LIST\\x02\\x00\\x00\\x00ab" WAV_DATA "\"", NULL, "desired_samples=1", CASE_NO_GRAD},
    {"str[] \"" WAV_START WAV_MONO "\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"" WAV_START "\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"abc\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};
static const op_case encode_wav_cases[] = {
    {"f32[4,2] 0 .5 -.5 1 2 -2 .00001 .3333; i32[] 8000", NULL, NULL, CASE_NO_GRAD},
    {"f32[5,1] rand; i32[] 44100", NULL, NULL, CASE_NO_GRAD},
    {"f32[0,1] 0; i32[] 44100", NULL, NULL, CASE_NO_GRAD},
    {"f32[4,2] 0; i32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[4] 0; i32[] 8000", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(wav) = {
    {"DecodeWav(contents:string) -> (audio:float, sample_rate:int32) | desired_channels:int=-1 desired_samples:int=-1",
     "The samples of a WAV file.", .infer = decode_wav_infer, .cpu = decode_wav_cpu, .cases = decode_wav_cases},
    {"EncodeWav(audio:float, sample_rate:int32) -> (contents:string)", "Samples as a WAV file.",
     .infer = encode_wav_infer, .cpu = encode_wav_cpu, .cases = encode_wav_cases},
    {0},
};
