/* wav.h - WAV files of 16-bit samples, and the sound in them: channels and sample rates. */
#ifndef WEFT_CODEC_WAV_H
#define WEFT_CODEC_WAV_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

typedef struct wav {
  uint32_t channels, rate;
  const unsigned char *samples; /* two bytes each, little-endian; part of the file */
  int64_t frames;               /* samples per channel */
} wav;

enum { WAV_HEADER = 44 };

/* Finds the samples of a file of `size` bytes.  INVALID_ARGUMENT for any other file. */
weft_err weft__wav_parse(const unsigned char *file, size_t size, wav *w);
/* Returns sample i of the file, the channels of a frame side by side: -1 up to 1. */
float weft__wav_sample(const wav *w, int64_t i);
/* Writes a file of count samples of `channels` channels.  The caller frees *file with weft__free. */
weft_err weft__wav_write(const float *samples, int64_t count, uint32_t channels, uint32_t rate, unsigned char **file,
                         size_t *size);

/* The number of frames at rate `to` of a sound of `frames` frames at rate `from`. */
int64_t weft__resampled_frames(int64_t frames, uint32_t from, uint32_t to);
/* Fills y, of weft__resampled_frames frames, with the sound x at another rate.  Frequencies above half the lower rate
 * are filtered out, by a sinc with a Kaiser window. */
weft_err weft__resample(const float *x, int64_t frames, uint32_t channels, uint32_t from, uint32_t to, float *y);

#endif
