/* wav.c - reads and writes WAV files of 16-bit samples; resample.c changes their rate. */
#include "codec/wav.h"
#include "base/alloc.h"
#include "base/assert.h"
#include <math.h>
#include <string.h>

static uint32_t wav_number(const unsigned char *p, int bytes) {
  WEFT_ASSERT(bytes > 0 && bytes <= 4);
  uint32_t v = 0;
  for (int i = bytes - 1; i >= 0; i--) v = v << 8 | p[i];
  return v;
}

static void wav_put(unsigned char *p, uint32_t v, int bytes) {
  for (int i = 0; i < bytes; i++, v >>= 8) p[i] = (unsigned char)(v & 255);
}

/* ---- reading ---- */

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
weft_err weft__wav_parse(const unsigned char *p, size_t size, wav *w) {
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

float weft__wav_sample(const wav *w, int64_t i) { return (float)(int16_t)wav_number(w->samples + i * 2, 2) / 32768; }

/* ---- writing ---- */

static void wav_header(unsigned char *p, uint32_t channels, uint32_t rate, uint32_t bytes) {
  memcpy(p, "RIFF", 4), memcpy(p + 8, "WAVEfmt ", 8), memcpy(p + 36, "data", 4);
  wav_put(p + 4, bytes + WAV_HEADER - 8, 4);
  wav_put(p + 16, 16, 4), wav_put(p + 20, 1, 2), wav_put(p + 22, channels, 2), wav_put(p + 24, rate, 4);
  wav_put(p + 28, rate * channels * 2, 4), wav_put(p + 32, channels * 2, 2), wav_put(p + 34, 16, 2);
  wav_put(p + 40, bytes, 4);
}

weft_err weft__wav_write(const float *samples, int64_t count, uint32_t channels, uint32_t rate, unsigned char **file,
                         size_t *size) {
  *size = WAV_HEADER + (size_t)count * 2;
  *file = weft__alloc(*size);
  if (!*file) return WEFT_OOM;
  wav_header(*file, channels, rate, (uint32_t)count * 2);
  for (int64_t i = 0; i < count; i++) {
    const float v = samples[i] * 32768;
    const int16_t sample = v >= 32767 ? 32767 : v <= -32768 ? -32768 : v == v ? (int16_t)lrintf(v) : 0;
    wav_put(*file + WAV_HEADER + i * 2, (uint16_t)sample, 2);
  }
  return WEFT_OK;
}
