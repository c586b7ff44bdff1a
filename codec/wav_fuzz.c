/* wav_fuzz.c - parses the bytes as a WAV file, then reads every sample and changes the rate.
 * fuzz runs: 4000 */
#include "base/alloc.h"
#include "codec/wav.h"

enum { FRAMES_MOST = 2000 }; /* of a sound that is resampled: a header may ask for any rate */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  wav w = {0};
  if (weft__wav_parse(data, size, &w) != WEFT_OK) return 0;
  const int64_t count = w.frames * w.channels;
  float *x = weft__alloc((size_t)count * sizeof *x + 1);
  for (int64_t i = 0; x && i < count; i++) x[i] = weft__wav_sample(&w, i);
  const int64_t frames = w.rate ? weft__resampled_frames(w.frames, w.rate, 8000) : 0;
  float *y = frames > 0 && frames < FRAMES_MOST && w.channels < 8
                 ? weft__alloc((size_t)(frames * w.channels) * sizeof *y)
                 : NULL;
  if (x && y) (void)weft__resample(x, w.frames, w.channels, w.rate, 8000, y);
  weft__free(x);
  weft__free(y);
  return 0;
}
