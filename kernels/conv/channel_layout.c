/* channel_layout.c - transposes the inner two of three axes, block by block, so that both sides stay in the cache. */
#include "kernels/conv/channel_layout.h"

#include "base/target_clones.h"

enum { BLOCK = 16 };

typedef struct transpose_work {
  float *dst;
  const float *src;
  int64_t channels, pixels;
} transpose_work;

/* Transposes groups of BLOCK pixels of one image: dst (pixels, channels) from src (channels, pixels). */
WEFT_TARGET_CLONES static void transpose_pixels(void *arg, int64_t begin, int64_t end) {
  const transpose_work *j = arg;
  const int64_t C = j->channels, P = j->pixels, blocks = (P + BLOCK - 1) / BLOCK;
  for (int64_t b = begin; b < end; b++) {
    const int64_t first = b % blocks * BLOCK, last = first + BLOCK < P ? first + BLOCK : P;
    const float *src = j->src + b / blocks * C * P;
    float *dst = j->dst + b / blocks * C * P;
    for (int64_t c = 0; c < C; c += BLOCK)
      for (int64_t p = first; p < last; p++)
        for (int64_t i = c; i < c + BLOCK && i < C; i++) dst[p * C + i] = src[i * P + p];
  }
}

void weft__channel_layout_transpose(kernel *k, float *dst, const float *src, int64_t n, int64_t channels,
                                    int64_t pixels) {
  transpose_work j = {dst, src, channels, pixels};
  weft__kernel_loop(k, n * ((pixels + BLOCK - 1) / BLOCK), channels * BLOCK / 2 + 1, transpose_pixels, &j);
}

static bool needs_transpose(const weft_tensor *t, bool channels_second) {
  const int64_t *d = t->shape.dim;
  return channels_second && d[1] != 1 && d[2] * d[3] != 1;
}

weft_err weft__image_view_in(kernel *k, image_view *v, const weft_tensor *t, bool channels_second) {
  WEFT_TRY(weft__widened_load(&v->wide, t));
  v->data = v->wide.data;
  if (!needs_transpose(t, channels_second)) return WEFT_OK;
  WEFT_TRY(weft__scratch(k, &v->transposed, WEFT_FLOAT, &t->shape));
  const int64_t *d = t->shape.dim;
  weft__channel_layout_transpose(k, v->transposed.data, v->wide.data, d[0], d[1], d[2] * d[3]);
  v->data = v->transposed.data;
  return WEFT_OK;
}

weft_err weft__image_view_out(kernel *k, image_view *v, weft_tensor *t, bool channels_second) {
  WEFT_TRY(weft__widened_output(&v->wide, t));
  v->data = v->wide.data;
  if (!needs_transpose(t, channels_second)) return WEFT_OK;
  WEFT_TRY(weft__scratch(k, &v->transposed, WEFT_FLOAT, &t->shape));
  v->data = v->transposed.data;
  return WEFT_OK;
}

void weft__image_view_store(kernel *k, image_view *v, weft_tensor *t, bool channels_second) {
  const int64_t *d = t->shape.dim;
  if (needs_transpose(t, channels_second))
    weft__channel_layout_transpose(k, v->wide.data, v->transposed.data, d[0], d[2] * d[3], d[1]);
  weft__widened_store(&v->wide, t);
}

void weft__image_view_finish(image_view *v) {
  weft__widened_finish(&v->wide);
  weft__tensor_clear(&v->transposed);
}
