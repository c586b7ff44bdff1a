/* ffmpeg.c - the ops of tf.contrib.ffmpeg: sound and video files of many formats, decoded by the program ffmpeg.
 *
 * WAV files of 16-bit samples are read and written here, without the program, if their channels need no other mixing
 * than mono to stereo or back.  The bytes of a graph are not trusted: the program may read no files besides its input,
 * and only formats that do not refer to other files. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/log.h"
#include "codec/wav.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "io/command.h"
#include "io/confine.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const formats[] = {"mp3", "mp4", "ogg", "wav"};

typedef struct audio_options {
  char format[8], stream[16];
  int64_t rate, channels;
} audio_options;

/* Returns false if the string does not fit. */
static bool string_copy(char *to, size_t room, const char *from, size_t size) {
  if (size >= room) return false;
  memcpy(to, from, size);
  to[size] = 0;
  return true;
}

static bool input_string(const kernel *k, int i, char *to, size_t room) {
  const str *s = TENSOR_DATA(k->in[i], str);
  return string_copy(to, room, s->data ? s->data : "", s->size);
}

static bool attr_string(const kernel *k, const char *name, char *to, size_t room) {
  const attr_str s = weft__node_str(k->node, name);
  return string_copy(to, room, s.data, s.size);
}

static weft_err options_check(kernel *k, audio_options *o, bool known) {
  bool listed = false;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) listed |= known && !strcmp(o->format, formats[i]);
  if (!listed)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "file_format '%s' must be one of mp3, mp4, ogg and wav",
                             o->format);
  if (o->rate < 1 || o->rate > INT32_MAX)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "samples_per_second must be > 0, got %lld", (long long)o->rate);
  if (o->channels < 1 || o->channels > 64)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "channel_count must be 1 to 64, got %lld",
                             (long long)o->channels);
  for (const char *c = o->stream; *c; c++)
    if (*c < '0' || *c > '9')
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "stream must be a number, got '%s'", o->stream);
  return WEFT_OK;
}

/* ---- decoding ---- */

/* Changes the channels: one of two is their mean, two of one are each 1/sqrt(2) of it, which keeps the power. */
static void mix(const wav *w, int64_t channels, float *x) {
  for (int64_t i = 0; i < w->frames; i++)
    for (int64_t c = 0; c < channels; c++) {
      if (channels == w->channels)
        *x++ = weft__wav_sample(w, i * channels + c);
      else if (channels == 2)
        *x++ = weft__wav_sample(w, i) * (float)M_SQRT1_2;
      else
        *x++ = (weft__wav_sample(w, 2 * i) + weft__wav_sample(w, 2 * i + 1)) / 2;
    }
}

static weft_err decode_native(kernel *k, const wav *w, const audio_options *o) {
  const shape s = SHAPE2(weft__resampled_frames(w->frames, w->rate, (uint32_t)o->rate), o->channels);
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  if (w->rate == o->rate) {
    mix(w, o->channels, out->data);
    return WEFT_OK;
  }
  float *x = weft__alloc((size_t)(w->frames * o->channels + 1) * sizeof(float));
  if (!x) return WEFT_OOM;
  mix(w, o->channels, x);
  const weft_err err = weft__resample(x, w->frames, (uint32_t)o->channels, w->rate, (uint32_t)o->rate, out->data);
  weft__free(x);
  return err;
}

/* What the program prints for its arguments.  An undecodable file gives *out == NULL and a line in the log. */
static weft_err run_ffmpeg(kernel *k, const char *const *args, char **out, size_t *size) {
  const str *file = TENSOR_DATA(k->in[0], str);
  *out = NULL, *size = 0;
  if (weft__path_allowed("/") != WEFT_OK) /* a demultiplexer may open other files that its input names */
    return weft__kernel_fail(
        k, WEFT_PERMISSION_DENIED,
        "this process may access some directories only (WEFT_ALLOW_DIRS), so it does not run ffmpeg; "
        "decode 16-bit WAV files, or decode in a process without this limit");
  const command_limits limits = {k->step ? k->step->cancel : NULL, k->step ? k->step->deadline_ns : 0};
  const weft_err err = weft__command_run(args, file->data ? file->data : "", file->size, &limits, out, size);
  if (err == WEFT_NOT_FOUND)
    return weft__kernel_fail(k, WEFT_NOT_FOUND,
                             "FFmpeg must be installed to run this op: there is no program ffmpeg in PATH "
                             "(without it, only WAV files of 16-bit samples can be decoded)");
  if (err != WEFT_INTERNAL) return weft__kernel_in(k, err);
  weft__log(LOG_ERROR, "%s: %s; the result is empty", k->node->name, weft__error_message());
  return WEFT_OK;
}

static weft_err decode_other(kernel *k, const audio_options *o) {
  char channels[24], rate[24], stream[24];
  snprintf(channels, sizeof channels, "%lld", (long long)o->channels);
  snprintf(rate, sizeof rate, "%lld", (long long)o->rate);
  snprintf(stream, sizeof stream, o->stream[0] ? "0:%s" : "0:a:0", o->stream);
  const char *const args[] = {"ffmpeg", "-nostdin", "-loglevel", "error",  "-protocol_whitelist",
                              "file",   "-f",       o->format,   "-i",     "/proc/self/fd/0",
                              "-map",   stream,     "-ac",       channels, "-ar",
                              rate,     "-f",       "s16le",     "-c:a",   "pcm_s16le",
                              "pipe:1", NULL};
  char *bytes = NULL;
  size_t size = 0;
  WEFT_TRY(run_ffmpeg(k, args, &bytes, &size));
  const wav w = {.samples = (const unsigned char *)bytes};
  const int64_t frames = (int64_t)(size / (2 * (size_t)o->channels));
  const shape s = SHAPE2(frames, o->channels);
  weft_tensor *out = weft__out(k, 0, &s);
  if (out)
    for (int64_t i = 0; i < frames * o->channels; i++) TENSOR_DATA(out, float)[i] = weft__wav_sample(&w, i);
  weft__free(bytes);
  return out ? WEFT_OK : weft__out_refused(&s);
}

static weft_err decode_audio(kernel *k, audio_options *o, bool known) {
  wav w = {0};
  WEFT_TRY(weft__kernel_scalar(k, 0, "contents"));
  WEFT_TRY(options_check(k, o, known));
  const str *file = TENSOR_DATA(k->in[0], str);
  if (!strcmp(o->format, "wav") && (!o->stream[0] || !strcmp(o->stream, "0")) &&
      weft__wav_parse((const unsigned char *)file->data, file->size, &w) == WEFT_OK && w.rate > 0 &&
      (w.channels == o->channels || (w.channels <= 2 && o->channels <= 2)))
    return decode_native(k, &w, o);
  return decode_other(k, o);
}

static weft_err decode_audio_v2_cpu(kernel *k) {
  audio_options o = {0};
  static const char *const names[] = {"contents", "file_format", "samples_per_second", "channel_count", "stream"};
  for (int i = 0; i < 5; i++) WEFT_TRY(weft__kernel_scalar(k, i, names[i]));
  const bool known = input_string(k, 1, o.format, sizeof o.format);
  o.rate = weft__tensor_int(k->in[2], 0), o.channels = weft__tensor_int(k->in[3], 0);
  if (!input_string(k, 4, o.stream, sizeof o.stream))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "stream must be a number of at most 15 digits");
  return decode_audio(k, &o, known);
}

static weft_err decode_audio_cpu(kernel *k) {
  audio_options o = {.rate = weft__node_int(k->node, "samples_per_second", 0),
                     .channels = weft__node_int(k->node, "channel_count", 0)};
  const bool known = attr_string(k, "file_format", o.format, sizeof o.format);
  return decode_audio(k, &o, known);
}

static weft_err decode_audio_infer(infer *s) {
  int64_t channels = weft__node_int(s->node, "channel_count", -1);
  for (int i = 0; i < s->node->n_in; i++) WEFT_TRY(weft__infer_rank(s, i, 0, NULL));
  const weft_tensor *given = s->node->n_in > 3 ? weft__infer_value(s, 3) : NULL;
  if (given) channels = weft__tensor_int(given, 0);
  if ((given || s->node->n_in == 1) && channels < 1)
    return weft__infer_fail(s, "channel_count must be > 0, got %lld", (long long)channels);
  s->out[0] = SHAPE2(-1, channels);
  return WEFT_OK;
}

/* Reads the size in the header of a PPM image, and moves *at behind the header. */
static bool ppm_header(const char *p, size_t size, size_t *at, int64_t *width, int64_t *height) {
  int used = 0, w = 0, h = 0, most = 0;
  char head[64] = {0};
  memcpy(head, p + *at, size - *at < sizeof head - 1 ? size - *at : sizeof head - 1);
  if (sscanf(head, "P6 %9d %9d %9d%n", &w, &h, &most, &used) != 3 || most != 255 || w < 1 || h < 1) return false;
  *at += (size_t)used + 1;
  *width = w, *height = h;
  return *at <= size && (uint64_t)w * (uint64_t)h <= (size - *at) / 3;
}

static weft_err decode_video_cpu(kernel *k) {
  static const char *const args[] = {
      "ffmpeg",
      "-nostdin",
      "-loglevel",
      "error",
      "-protocol_whitelist",
      "file",
      "-format_whitelist",
      "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegts,mpegvideo,flv,ogg,gif,asf,h264,hevc,m4v",
      "-i",
      "/proc/self/fd/0",
      "-map",
      "0:v:0",
      "-f",
      "image2pipe",
      "-c:v",
      "ppm",
      "pipe:1",
      NULL};
  WEFT_TRY(weft__kernel_scalar(k, 0, "contents"));
  char *bytes = NULL;
  size_t size = 0;
  WEFT_TRY(run_ffmpeg(k, args, &bytes, &size));
  int64_t frames = 0, width = 0, height = 0, w = 0, h = 0;
  for (size_t at = 0; at < size && ppm_header(bytes, size, &at, &w, &h); frames++, at += (size_t)(w * h * 3)) {
    if (frames > 0 && (w != width || h != height)) break;
    width = w, height = h;
  }
  const shape s = SHAPE4(frames, height, width, frames ? 3 : 0);
  weft_tensor *out = weft__out(k, 0, &s);
  if (out) {
    unsigned char *to = out->data;
    size_t at = 0;
    for (int64_t i = 0; i < frames && ppm_header(bytes, size, &at, &w, &h); i++, at += (size_t)(w * h * 3))
      memcpy(to + i * w * h * 3, bytes + at, (size_t)(w * h * 3));
  }
  weft__free(bytes);
  return out ? WEFT_OK : weft__out_refused(&s);
}

static weft_err decode_video_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 0, NULL));
  s->out[0] = SHAPE4(-1, -1, -1, -1);
  return WEFT_OK;
}

/* ---- encoding: WAV only, as in TensorFlow 1 ---- */

static weft_err encode_audio(kernel *k, const audio_options *o, bool known) {
  const shape *s = &k->in[0]->shape;
  if (!known || strcmp(o->format, "wav") != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "file_format must be wav, got '%s'", o->format);
  if (s->rank != 2 || s->dim[1] < 1 || s->dim[1] > 65535)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "sampled_audio must be a matrix of time and 1 to 65535 channels, its shape is %s",
                             weft__shape_text(s));
  const int64_t n = weft__tensor_count(k->in[0]);
  if (o->rate < 1 || o->rate * s->dim[1] > UINT32_MAX / 2 || n > INT32_MAX / 2 - WAV_HEADER)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "%lld samples, %lld per second, do not fit into a WAV file, or are not > 0", (long long)n,
                             (long long)o->rate);
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  unsigned char *file = NULL;
  size_t size = 0;
  WEFT_TRY(weft__wav_write(k->in[0]->data, n, (uint32_t)s->dim[1], (uint32_t)o->rate, &file, &size));
  const weft_err err = weft__str_set(out->data, file, size);
  weft__free(file);
  return err;
}

static weft_err encode_audio_v2_cpu(kernel *k) {
  audio_options o = {0};
  static const char *const names[] = {"sampled_audio", "file_format", "samples_per_second", "bits_per_second"};
  for (int i = 1; i < 4; i++) WEFT_TRY(weft__kernel_scalar(k, i, names[i]));
  const bool known = input_string(k, 1, o.format, sizeof o.format);
  o.rate = weft__tensor_int(k->in[2], 0);
  return encode_audio(k, &o, known);
}

static weft_err encode_audio_cpu(kernel *k) {
  audio_options o = {.rate = weft__node_int(k->node, "samples_per_second", 0)};
  const bool known = attr_string(k, "file_format", o.format, sizeof o.format);
  return encode_audio(k, &o, known);
}

static weft_err encode_audio_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 2, NULL));
  for (int i = 1; i < s->node->n_in; i++) WEFT_TRY(weft__infer_rank(s, i, 0, NULL));
  return weft__infer_scalar(s);
}

/* ---- cases ---- */

#define FILE_START "RIFF\\x28\\x00\\x00\\x00WAVEfmt \\x10\\x00\\x00\\x00"
#define FILE_MONO "\\x01\\x00\\x01\\x00\\x40\\x1f\\x00\\x00\\x80\\x3e\\x00\\x00\\x02\\x00\\x10\\x00"
#define FILE_SOUND "str[] \"" FILE_START FILE_MONO "data\\x04\\x00\\x00\\x00\\x00\\x40\\x00\\xc0\""
enum { OURS = CASE_NO_GRAD | CASE_NO_PARITY };

static const op_case decode_v2_cases[] = {
    {FILE_SOUND "; str[] \"wav\"; i32[] 8000; i32[] 1; str[] \"\"", "f32[2,1] .5 -.5", NULL, OURS},
    {FILE_SOUND "; str[] \"wav\"; i32[] 8000; i32[] 2; str[] \"0\"", "f32[2,2] .35355339 .35355339 -.35355339", NULL,
     OURS},
    {FILE_SOUND "; str[] \"wma\"; i32[] 8000; i32[] 1; str[] \"\"", "error INVALID_ARGUMENT", NULL, OURS},
    {FILE_SOUND "; str[] \"wav\"; i32[] 0; i32[] 1; str[] \"\"", "error INVALID_ARGUMENT", NULL, OURS},
    {FILE_SOUND "; str[] \"wav\"; i32[] 8000; i32[] 0; str[] \"\"", "error INVALID_ARGUMENT", NULL, OURS},
    {FILE_SOUND "; str[] \"wav\"; i32[] 8000; i32[] 1; str[] \"a\"", "error INVALID_ARGUMENT", NULL, OURS},
    {0},
};
static const op_case decode_cases[] = {
    {FILE_SOUND, "f32[2,1] .5 -.5", "file_format='wav' samples_per_second=8000 channel_count=1", OURS},
    {FILE_SOUND, "error INVALID_ARGUMENT", "file_format='' samples_per_second=8000 channel_count=1", OURS},
    {0},
};
#define FILE_SAVED "str[] \"" FILE_START FILE_MONO "data\\x04\\x00\\x00\\x00\\x00\\x40\\x00\\xc0\""
static const op_case encode_v2_cases[] = {
    {"f32[2,1] .5 -.5; str[] \"wav\"; i32[] 8000; i32[] 1", FILE_SAVED, NULL, OURS},
    {"f32[2,1] .5 -.5; str[] \"mp3\"; i32[] 8000; i32[] 1", "error INVALID_ARGUMENT", NULL, OURS},
    {"f32[2,1] .5 -.5; str[] \"wav\"; i32[] 0; i32[] 1", "error INVALID_ARGUMENT", NULL, OURS},
    {"f32[2,0]; str[] \"wav\"; i32[] 8000; i32[] 1", "error INVALID_ARGUMENT", NULL, OURS},
    {0},
};
static const op_case encode_cases[] = {
    {"f32[2,1] .5 -.5", FILE_SAVED, "file_format='wav' samples_per_second=8000", OURS},
    {0},
};

OPS(ffmpeg) = {
    {"DecodeAudioV2(contents:string, file_format:string, samples_per_second:int32, channel_count:int32, stream:string) "
     "-> (sampled_audio:float)",
     "The sound of a file, time by channels.", .infer = decode_audio_infer, .cpu = decode_audio_v2_cpu,
     .flags = OP_BLOCKING | OP_NO_FOLD, .cases = decode_v2_cases},
    {"DecodeAudio(contents:string) -> (sampled_audio:float) | file_format:string samples_per_second:int "
     "channel_count:int",
     "DecodeAudioV2 with attributes.", .infer = decode_audio_infer, .cpu = decode_audio_cpu,
     .flags = OP_BLOCKING | OP_NO_FOLD, .cases = decode_cases},
    {"EncodeAudioV2(sampled_audio:float, file_format:string, samples_per_second:int32, bits_per_second:int32) -> "
     "(contents:string)",
     "Samples as a WAV file.", .infer = encode_audio_infer, .cpu = encode_audio_v2_cpu, .cases = encode_v2_cases},
    {"EncodeAudio(sampled_audio:float) -> (contents:string) | file_format:string samples_per_second:int "
     "bits_per_second:int=192000",
     "EncodeAudioV2 with attributes.", .infer = encode_audio_infer, .cpu = encode_audio_cpu, .cases = encode_cases},
    {"DecodeVideo(contents:string) -> (output:uint8)", "The frames of a video, as RGB images.",
     .infer = decode_video_infer, .cpu = decode_video_cpu, .flags = OP_BLOCKING | OP_NO_FOLD,
     .scenario = "tests/python/test_ffmpeg.py"},
    {0},
};
