/* cifar.c - CIFAR-10's binary files: for each image a label and three channels of 32 x 32, red first. */
#include "base/alloc.h"
#include "base/progress.h"
#include "io/samples.h"
#include "io/input.h"

enum { SIDE = 32, PLANE = SIDE * SIDE, CHANNELS = 3, RECORD = 1 + CHANNELS * PLANE, CLASSES = 10 };

static weft_err cifar_invalid(const input *in, const char *what) {
  return weft__fail(WEFT_DATA_LOSS, "%s is no CIFAR-10 file: %s (at byte %llu)", weft__input_path(in), what,
                    (unsigned long long)weft__input_offset(in));
}

/* Reads all records. */
static weft_err read_records(input *in, text *all) {
  progress p = {0};
  for (;;) {
    size_t got;
    char *room = weft__text_reserve(all, RECORD);
    if (!room) return weft__fail(WEFT_OOM, "%s: no memory for it", weft__input_path(in));
    WEFT_TRY(weft__input_read(in, room, RECORD, &got));
    if (got == 0) return all->size ? WEFT_OK : cifar_invalid(in, "it is empty");
    if (got < RECORD) return cifar_invalid(in, "it ends in the middle of an image");
    if ((unsigned char)room[0] >= CLASSES) return cifar_invalid(in, "a label is not below 10");
    all->size += RECORD;
    weft__progress_log(&p, weft__input_path(in), all->size / RECORD, 0, "images read");
  }
}

static weft_err cifar_unpack(const text *all, weft_tensor **images, weft_tensor **labels) {
  const int64_t n = (int64_t)(all->size / RECORD);
  WEFT_TRY(weft__tensor_create(images, WEFT_UINT8, &SHAPE4(n, SIDE, SIDE, CHANNELS)));
  weft_err err = weft__tensor_create(labels, WEFT_UINT8, &SHAPE1(n));
  if (err != WEFT_OK) {
    weft_tensor_destroy(*images);
    *images = NULL;
    return err;
  }
  for (int64_t i = 0; i < n; i++) {
    const uint8_t *from = (const uint8_t *)all->data + i * RECORD;
    uint8_t *to = TENSOR_DATA(*images, uint8_t) + i * CHANNELS * PLANE;
    TENSOR_DATA(*labels, uint8_t)[i] = from[0];
    for (int p = 0; p < PLANE; p++)
      for (int c = 0; c < CHANNELS; c++) to[p * CHANNELS + c] = from[1 + c * PLANE + p];
  }
  return WEFT_OK;
}

weft_err weft__cifar10_read(weft_tensor **images, weft_tensor **labels, const char *path) {
  input *in = NULL;
  text all = {0};
  WEFT_TRY(weft__input_open(&in, path, COMPRESSION_GUESS));
  weft_err err = read_records(in, &all);
  if (err == WEFT_OK) err = cifar_unpack(&all, images, labels);
  weft__text_finish(&all);
  weft__input_close(in);
  return err;
}
