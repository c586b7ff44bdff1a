/* digits.h - MNIST (or any set of idx files of its shape) for the examples: read, and dealt out in batches. */
#ifndef WEFT_EXAMPLES_DIGITS_H
#define WEFT_EXAMPLES_DIGITS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft/weft.h>

enum { SIDE = 28, PIXELS = SIDE * SIDE, CLASSES = 10 };

typedef struct digits {
  int64_t count;
  weft_tensor *images, *labels; /* uint8: (count, 28, 28) and (count) */
  int *order;                   /* shuffled anew when all have been dealt */
  int64_t next;
} digits;

static inline void digits_die(const char *what, const char *where) {
  fprintf(stderr, "%s: %s\n", where, what);
  exit(1);
}

static inline double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* "--name=value" or "--name value" among the arguments; NULL if it is not there. */
static inline const char *flag(int argc, char **argv, const char *name) {
  size_t n = strlen(name);
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], name, n) != 0) continue;
    if (argv[i][n] == '=') return argv[i] + n + 1;
    if (argv[i][n] == 0 && i + 1 < argc) return argv[i + 1];
  }
  return NULL;
}

/* The idx file must hold bytes: `size` of them for each entry. */
static inline weft_tensor *digits_bytes(const char *folder, const char *part, const char *kind, int64_t size) {
  char path[4096];
  weft_tensor *t;
  snprintf(path, sizeof path, "%s/%s-%s-ubyte", folder, part, kind);
  weft_must(weft_idx_read(&t, path));
  const int64_t entries = weft_tensor_rank(t) > 0 ? weft_tensor_dims(t)[0] : 0;
  if (weft_tensor_dtype(t) != WEFT_UINT8 || weft_tensor_count(t) != entries * size)
    digits_die("not of MNIST's shape", path);
  return t;
}

static inline void digits_shuffle(digits *d) {
  for (int i = (int)d->count - 1; i > 0; i--) {
    int j = rand() % (i + 1), t = d->order[i];
    d->order[i] = d->order[j], d->order[j] = t;
  }
  d->next = 0;
}

/* part: "train" or "t10k". */
static inline digits digits_read(const char *folder, const char *part) {
  digits d = {.images = digits_bytes(folder, part, "images-idx3", PIXELS),
              .labels = digits_bytes(folder, part, "labels-idx1", 1)};
  d.count = weft_tensor_count(d.labels);
  const unsigned char *label = weft_tensor_data(d.labels);
  if (weft_tensor_count(d.images) != d.count * PIXELS) digits_die("not as many labels as images", folder);
  for (int64_t i = 0; i < d.count; i++)
    if (label[i] >= CLASSES) digits_die("a label is not below 10", folder);
  d.order = malloc(sizeof *d.order * (size_t)d.count);
  if (!d.order) digits_die("not enough memory", folder);
  for (int i = 0; i < d.count; i++) d.order[i] = i;
  return d;
}

static inline void digits_drop(digits *d) {
  weft_tensor_destroy(d->images), weft_tensor_destroy(d->labels);
  free(d->order);
}

static inline void digits_batch(weft_tensor **images, weft_tensor **labels, int64_t n) {
  weft_must(weft_tensor_create(images, WEFT_FLOAT, WEFT_DIMS(n, PIXELS), NULL));
  weft_must(weft_tensor_create(labels, WEFT_INT32, WEFT_DIMS(n), NULL));
}

/* Fills a batch with the next in order. */
static inline void digits_deal(digits *d, weft_tensor *images, weft_tensor *labels) {
  const unsigned char *bytes = weft_tensor_data(d->images), *label = weft_tensor_data(d->labels);
  float *pixels = weft_tensor_data(images);
  int32_t *classes = weft_tensor_data(labels);
  int64_t n = weft_tensor_count(labels);
  if (d->next + n > d->count) digits_shuffle(d);
  for (int64_t i = 0; i < n; i++) {
    int64_t from = d->order[d->next++];
    for (int64_t p = 0; p < PIXELS; p++) pixels[i * PIXELS + p] = (float)bytes[from * PIXELS + p] / 255.0f;
    classes[i] = label[from];
  }
}

#endif
