/* samples.c - the order of samples, and the batches in that order.
 *
 * The generator is the Mersenne twister.  Like numpy, it draws numbers below a limit by masking, and draws again if
 * a number is too large. */
#include "io/samples.h"

#include "base/alloc.h"
#include "base/assert.h"
#include <string.h>

enum { WORDS = 624, SHIFT = 397 };

struct samples {
  weft_tensor *images, *labels;
  int64_t first, size, at, epochs;
  samples_opts opts;
  int64_t *order, *before; /* before: buffer for the order of the last epoch */
  bool shuffled;
  uint32_t word[WORDS];
  int next; /* index of the next word */
};

/* ---- numpy's order ---- */

static void seed_words(samples *d, uint32_t seed) {
  d->word[0] = seed;
  for (uint32_t i = 1; i < WORDS; i++) d->word[i] = 1812433253u * (d->word[i - 1] ^ d->word[i - 1] >> 30) + i;
  d->next = WORDS;
}

static void samples_refill(samples *d) {
  for (int i = 0; i < WORDS; i++) {
    uint32_t y = (d->word[i] & 0x80000000u) | (d->word[(i + 1) % WORDS] & 0x7fffffffu);
    d->word[i] = d->word[(i + SHIFT) % WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
  }
  d->next = 0;
}

static uint32_t samples_random(samples *d) {
  WEFT_ASSERT(d->next >= 0 && d->next <= WORDS);
  if (d->next == WORDS) samples_refill(d);
  uint32_t y = d->word[d->next++];
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680u;
  y ^= y << 15 & 0xefc60000u;
  return y ^ y >> 18;
}

static uint32_t draw_up_to(samples *d, uint32_t most) {
  WEFT_ASSERT(most > 0);
  uint32_t mask = most, v;
  for (int bit = 1; bit <= 16; bit *= 2) mask |= mask >> bit;
  while ((v = samples_random(d) & mask) > most) continue;
  return v;
}

/* Permutes the previous order. */
static void samples_shuffle(samples *d) {
  int64_t *old = d->order, *new = d->before;
  for (int64_t i = 0; i < d->size; i++) new[i] = i;
  for (int64_t i = d->size - 1; i > 0; i--) {
    int64_t j = draw_up_to(d, (uint32_t)i), t = new[i];
    new[i] = new[j], new[j] = t;
  }
  for (int64_t i = 0; i < d->size; i++) new[i] = old[new[i]];
  d->order = new;
  d->before = old;
}

/* ---- creating and destroying ---- */

static weft_err samples_check(const weft_tensor *images, const weft_tensor *labels, int64_t first, int64_t n,
                              const samples_opts *o) {
  if (images->dtype != WEFT_UINT8 || labels->dtype != WEFT_UINT8 || images->shape.rank < 2 || labels->shape.rank != 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "samples are uint8 images and labels, got %s %s and %s %s",
                      weft__dtype_name(images->dtype), weft__shape_text(&images->shape),
                      weft__dtype_name(labels->dtype), weft__shape_text(&labels->shape));
  if (images->shape.dim[0] != labels->shape.dim[0])
    return weft__fail(WEFT_INVALID_ARGUMENT, "there are %lld images and %lld labels", (long long)images->shape.dim[0],
                      (long long)labels->shape.dim[0]);
  if (first < 0 || n < 0 || first + n > images->shape.dim[0] || n > UINT32_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "rows %lld to %lld of %lld images", (long long)first,
                      (long long)(first + n), (long long)images->shape.dim[0]);
  const shape *s = &images->shape;
  const int64_t channels = s->rank == 3 ? 1 : s->rank == 4 ? s->dim[3] : -1;
  if (o->channels && o->channels != channels)
    return weft__fail(WEFT_INVALID_ARGUMENT, "images %s do not have %d channels; give 'channels' as they have it, or 0",
                      weft__shape_text(s), o->channels);
  for (int64_t i = 0; o->classes > 0 && i < n; i++)
    if (TENSOR_DATA(labels, uint8_t)[first + i] >= o->classes)
      return weft__fail(WEFT_INVALID_ARGUMENT, "label %lld is %d, not below %d", (long long)(first + i),
                        TENSOR_DATA(labels, uint8_t)[first + i], o->classes);
  return WEFT_OK;
}

weft_err weft__samples_create(samples **out, weft_tensor *images, weft_tensor *labels, int64_t first, int64_t n,
                              const samples_opts *o) {
  WEFT_TRY(samples_check(images, labels, first, n, o));
  samples *d = weft__alloc_zero(1, sizeof *d);
  if (!d) return WEFT_OOM;
  d->order = weft__alloc(((size_t)n + 1) * sizeof *d->order);
  d->before = weft__alloc(((size_t)n + 1) * sizeof *d->before);
  if (!d->order || !d->before) {
    weft__samples_destroy(d);
    return WEFT_OOM;
  }
  d->images = weft_tensor_retain(images);
  d->labels = weft_tensor_retain(labels);
  d->first = first;
  d->size = n;
  d->opts = *o;
  seed_words(d, o->seed);
  for (int64_t i = 0; i < n; i++) d->order[i] = i;
  *out = d;
  return WEFT_OK;
}

void weft__samples_destroy(samples *d) {
  if (!d) return;
  weft_tensor_destroy(d->images);
  weft_tensor_destroy(d->labels);
  weft__free(d->order);
  weft__free(d->before);
  weft__free(d);
}

int64_t weft__samples_size(const samples *d) { return d->size; }
int64_t weft__samples_epochs(const samples *d) { return d->epochs; }

/* ---- batches ---- */

static int64_t samples_row_size(const samples *d) {
  int64_t size = 1;
  for (int i = 1; i < d->images->shape.rank; i++) size *= d->images->shape.dim[i];
  return size;
}

static weft_err make_room(const samples *d, int64_t n, weft_tensor **images, weft_tensor **labels) {
  WEFT_ASSERT(n > 0 && n <= d->size);
  shape s = d->opts.keep_shape || d->opts.channels ? d->images->shape : SHAPE2(n, samples_row_size(d));
  s.dim[0] = n;
  if (d->opts.channels && s.rank == 3) s.dim[s.rank++] = 1;
  shape l = d->opts.classes > 0 ? SHAPE2(n, d->opts.classes) : SHAPE1(n);
  WEFT_TRY(weft__tensor_create(images, d->opts.bytes ? WEFT_UINT8 : WEFT_FLOAT, &s));
  weft_err err = weft__tensor_create(labels, d->opts.classes > 0 ? WEFT_FLOAT : WEFT_INT32, &l);
  if (err == WEFT_OK) return WEFT_OK;
  weft_tensor_destroy(*images);
  *images = NULL;
  return err;
}

/* Copies image `from` to row `at` of the batch. */
static void samples_put(const samples *d, int64_t at, int64_t from, weft_tensor *images, weft_tensor *labels) {
  WEFT_ASSERT(from >= 0 && from < d->size && at >= 0 && at < labels->shape.dim[0]);
  const int64_t size = samples_row_size(d);
  const uint8_t *image = TENSOR_DATA(d->images, uint8_t) + (d->first + from) * size;
  const uint8_t label = TENSOR_DATA(d->labels, uint8_t)[d->first + from];
  if (d->opts.bytes) memcpy(TENSOR_DATA(images, uint8_t) + at * size, image, (size_t)size);
  float *pixels = d->opts.bytes ? NULL : TENSOR_DATA(images, float) + at * size;
  for (int64_t i = 0; pixels && i < size; i++) pixels[i] = (float)image[i] * (float)(1.0 / 255.0);
  if (d->opts.classes <= 0) {
    TENSOR_DATA(labels, int32_t)[at] = label;
    return;
  }
  float *row = TENSOR_DATA(labels, float) + at * d->opts.classes;
  for (int i = 0; i < d->opts.classes; i++) row[i] = i == label;
}

weft_err weft__samples_next(samples *d, int64_t n, weft_tensor **images, weft_tensor **labels) {
  if (n < 1 || n > d->size)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a batch of %lld from %lld images", (long long)n, (long long)d->size);
  WEFT_TRY(make_room(d, n, images, labels));
  if (!d->shuffled && !d->opts.in_order) samples_shuffle(d);
  d->shuffled = true;
  for (int64_t i = 0; i < n; i++) {
    if (d->at == d->size) {
      d->at = 0;
      d->epochs++;
      if (!d->opts.in_order) samples_shuffle(d);
    }
    samples_put(d, i, d->order[d->at++], *images, *labels);
    WEFT_ASSERT(d->at <= d->size);
  }
  return WEFT_OK;
}
