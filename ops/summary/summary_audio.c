/* summary_audio.c - AudioSummary, AudioSummaryV2: sound as 16-bit WAV files in a Summary. */
#include "graph/op.h"
#include "ops/summary/summary.h"
#include <math.h>

static void put_le(text *t, uint32_t v, int bytes) {
  for (int i = 0; i < bytes; i++, v >>= 8) weft__text_add(t, (const char[]){(char)(v & 0xff)}, 1);
}

/* Writes a WAV file: a header of 44 bytes, then the samples with interleaved channels. */
static void put_wav(text *t, const float *x, int64_t frames, int64_t channels, uint32_t rate) {
  const uint32_t bytes = (uint32_t)(frames * channels * 2);
  weft__text_puts(t, "RIFF");
  put_le(t, bytes + 36, 4);
  weft__text_puts(t, "WAVEfmt ");
  put_le(t, 16, 4);
  put_le(t, 1, 2); /* PCM */
  put_le(t, (uint32_t)channels, 2);
  put_le(t, rate, 4);
  put_le(t, rate * (uint32_t)channels * 2, 4);
  put_le(t, (uint32_t)channels * 2, 2);
  put_le(t, 16, 2); /* bits per sample */
  weft__text_puts(t, "data");
  put_le(t, bytes, 4);
  for (int64_t i = 0; i < frames * channels; i++) {
    const float v = roundf(x[i] * 32768.0f);
    put_le(t, (uint16_t)(int16_t)(v > 32767 ? 32767 : v > -32768 ? v : -32768), 2);
  }
}

static weft_err put_sounds(text *summary, const kernel *k, const str *tag, const weft_tensor *x, float rate) {
  const int64_t batch = x->shape.dim[0], frames = x->shape.dim[1], channels = x->shape.rank == 3 ? x->shape.dim[2] : 1;
  const int64_t most = weft__node_int(k->node, "max_outputs", 3);
  text one = {0}, audio = {0}, wav = {0};
  for (int64_t i = 0; i < batch && i < most; i++) {
    put_wav(&wav, TENSOR_DATA(x, const float) + i * frames * channels, frames, channels, (uint32_t)rate);
    weft__put_float(&audio, 1, rate);
    weft__put_number(&audio, 2, (uint64_t)channels);
    weft__put_number(&audio, 3, (uint64_t)frames);
    weft__put_message(&audio, 4, &wav);
    weft__put_bytes(&audio, 5, "audio/wav", strlen("audio/wav"));
    weft__put_numbered_tag(&one, tag, "audio", most, i);
    weft__put_message(&one, 6, &audio);
    weft__put_message(summary, 1, &one);
  }
  weft__text_finish(&one);
  weft__text_finish(&audio);
  weft__text_finish(&wav);
  return summary->failed ? WEFT_OOM : WEFT_OK;
}

static weft_err summary_audio_check(const kernel *k, const weft_tensor *x, float rate) {
  const shape *s = &x->shape;
  if (s->rank != 2 && s->rank != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Tensor must be 3-D or 2-D, got: %s", weft__shape_text(s));
  if (!(rate > 0)) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "sample_rate must be > 0");
  const int64_t channels = s->rank == 3 ? s->dim[2] : 1, samples = s->dim[1] * channels;
  if (samples <= 0 || channels > UINT16_MAX / 2 || samples > (UINT32_MAX - 36) / 2 || rate > (float)UINT32_MAX / 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a WAV file cannot hold sound of shape %s at rate %g",
                             weft__shape_text(s), (double)rate);
  return WEFT_OK;
}

weft_err weft__summary_put_sounds(const kernel *k, text *summary, const str *tag, const weft_tensor *x, float rate) {
  WEFT_TRY(summary_audio_check(k, x, rate));
  return put_sounds(summary, k, tag, x, rate);
}

static weft_err audio_cpu(kernel *k) { /* version 2 has the rate as an input, version 1 as an attribute */
  const str *tag = NULL;
  WEFT_TRY(weft__summary_tag(k, 0, &tag));
  if (k->n_in > 2) WEFT_TRY(weft__kernel_scalar(k, 2, "sample_rate"));
  const float rate = k->n_in > 2 ? *TENSOR_DATA(k->in[2], const float) : weft__node_float(k->node, "sample_rate", 0);
  text summary = {0};
  weft_err err = weft__summary_put_sounds(k, &summary, tag, k->in[1], rate);
  if (err == WEFT_OK) err = weft__summary_out(k, &summary);
  weft__text_finish(&summary);
  return err;
}

static const op_case audio_cases[] = {
    {"str[] \"au\"; f32[1,5,1] 0 .5 -1 1 2", NULL, "sample_rate=8000", CASE_NO_PARITY},
    {"str[] \"au\"; f32[5] 0", "error INVALID_ARGUMENT", "sample_rate=8000", CASE_NO_PARITY},
    {0},
};
static const op_case audio_v2_cases[] = {
    {"str[] \"au\"; f32[1,5,1] 0 .5 -1 1 2; f32[] 8000", NULL, NULL, 0},
    {"str[] \"au\"; f32[4,100,2] rand; f32[] 44100", NULL, "max_outputs=2", 0},
    {"str[] \"au\"; f32[2,9] rand; f32[] 8000", NULL, "max_outputs=1", 0},
    {"str[] \"au\"; f32[5] 0; f32[] 8000", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"au\"; f32[1,5] 0; f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static weft_err audio_infer(infer *s) {
  shape unused;
  WEFT_TRY(weft__infer_rank(s, 0, 0, &unused));
  WEFT_TRY(weft__infer_rank_at_least(s, 1, 2));
  if (s->n_in > 2) WEFT_TRY(weft__infer_rank(s, 2, 0, &unused));
  s->out[0] = SHAPE_SCALAR;
  return WEFT_OK;
}

OPS(summary_audio) = {
    {"AudioSummary(tag:string, tensor:float) -> (summary:string) | sample_rate:float max_outputs:int>=1=3",
     "A Summary with sounds, at most max_outputs of them.", .infer = audio_infer, .cpu = audio_cpu, .no_grad = true,
     .cases = audio_cases},
    {"AudioSummaryV2(tag:string, tensor:float, sample_rate:float) -> (summary:string) | max_outputs:int>=1=3",
     "A Summary with sounds, at most max_outputs of them.", .infer = audio_infer, .cpu = audio_cpu, .no_grad = true,
     .cases = audio_v2_cases},
    {0},
};
