/* wav.c - DecodeWav and EncodeWav: WAV files of 16-bit samples. */
#include "codec/wav.h"
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/kernel.h"
#include "graph/op.h"

static weft_err decode_wav_cpu(kernel *k) {
  wav w = {0};
  WEFT_TRY(weft__kernel_scalar(k, 0, "contents"));
  const str *file = TENSOR_DATA(k->in[0], str);
  WEFT_TRY(weft__kernel_in(k, weft__wav_parse((const unsigned char *)file->data, file->size, &w)));
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
      *y = i < w.frames ? weft__wav_sample(&w, i * w.channels + from) : 0;
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
  unsigned char *file = NULL;
  size_t size = 0;
  WEFT_TRY(weft__wav_write(k->in[0]->data, n, (uint32_t)s->dim[1], (uint32_t)rate, &file, &size));
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
