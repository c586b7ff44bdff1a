/* samples.h - batches of images with their labels, in the order of TensorFlow's tutorials.
 *
 * The samples are shuffled before each epoch.  A batch across the end of an epoch has the rest of that epoch and the
 * beginning of the next.  The order is numpy's for the same seed, so a program gets the same batches as in Python. */
#ifndef WEFT_IO_SAMPLES_H
#define WEFT_IO_SAMPLES_H

#include "tensor/tensor.h"

typedef struct samples_opts {
  int classes;     /* > 0: labels are one-hot rows of floats; otherwise int32 */
  bool bytes;      /* images stay uint8; otherwise floats in [0, 1] */
  bool keep_shape; /* an image keeps its axes; otherwise it is a row */
  int channels;  /* > 0: keeps the axes, with this many channels as the last one; it is added if it is 1 and missing */
  bool in_order; /* do not shuffle */
  uint32_t seed;
} samples_opts;

typedef struct samples samples;
/* Creates batches from rows [first, first + n) of uint8 tensors, which are shared, not copied.  The caller destroys
 * *out.  Returns INVALID_ARGUMENT if types, shapes, rows, channels or a label do not fit, and RESOURCE_EXHAUSTED.  One
 * thread at a time uses a `samples`. */
weft_err weft__samples_create(samples **out, weft_tensor *images, weft_tensor *labels, int64_t first, int64_t n,
                              const samples_opts *o);
void weft__samples_destroy(samples *d); /* does nothing for NULL */
int64_t weft__samples_size(const samples *d);
int64_t weft__samples_epochs(const samples *d); /* the number of complete epochs */
/* Creates tensors of the next n samples, which the caller owns.  Returns INVALID_ARGUMENT unless n is from 1 to the
 * size, and RESOURCE_EXHAUSTED; then the order has not advanced. */
weft_err weft__samples_next(samples *d, int64_t n, weft_tensor **images, weft_tensor **labels);

/* Reads the images and labels of a CIFAR-10 file (data_batch_1.bin), plain or gzipped: (n, 32, 32, 3) and (n), both
 * uint8.  The caller owns them. */
weft_err weft__cifar10_read(weft_tensor **images, weft_tensor **labels, const char *path);

#endif
