/* samples.h - batches of images with their labels, in the order of TensorFlow's tutorials.
 *
 * Shuffled before the first epoch and again before each; a batch across the end of an epoch has the rest of it and the
 * beginning of the next.  The order is numpy's for a seed, so that a program sees the batches it saw in Python. */
#ifndef WEFT_IO_SAMPLES_H
#define WEFT_IO_SAMPLES_H

#include "tensor/tensor.h"

typedef struct samples_opts {
  int classes;     /* > 0: labels are one-hot rows of floats; else int32 */
  bool bytes;      /* images stay uint8, else floats in [0, 1] */
  bool keep_shape; /* an image keeps its axes, else it is a row */
  int channels;    /* > 0: the same with this many channels as last axis, which is made if it is 1 and missing */
  bool in_order;   /* never shuffled */
  uint32_t seed;
} samples_opts;

typedef struct samples samples;
/* Rows [first, first + n) of uint8 tensors, which are shared, not copied. */
weft_err weft__samples_create(samples **out, weft_tensor *images, weft_tensor *labels, int64_t first, int64_t n,
                              const samples_opts *o);
void weft__samples_destroy(samples *d);
int64_t weft__samples_size(const samples *d);
int64_t weft__samples_epochs(const samples *d); /* the number of epochs that are complete */
/* Returns the next n samples as tensors that the caller owns; n is at most the size. */
weft_err weft__samples_next(samples *d, int64_t n, weft_tensor **images, weft_tensor **labels);

/* The images and labels of a CIFAR-10 file (data_batch_1.bin): (n, 32, 32, 3) and (n), both uint8.  Plain or gzipped. */
weft_err weft__cifar10_read(weft_tensor **images, weft_tensor **labels, const char *path);

#endif
