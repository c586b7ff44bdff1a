/* slice.h - a rectangle of a tensor, as checkpoints name the parts of a partitioned variable. */
#ifndef WEFT_IO_SLICE_H
#define WEFT_IO_SLICE_H

#include "base/text.h"
#include "io/table.h"
#include "tensor/tensor.h"
#include "tf.pb-c.h"

typedef struct slice {
  int rank;
  int64_t start[WEFT_MAX_RANK], length[WEFT_MAX_RANK]; /* length -1: all of the dimension, start 0 */
} slice;

slice weft__slice_full(int rank);
/* "4 3 0,2:-": the full shape, the slice, and the shape of the slice.  TF's errors. */
weft_err weft__slice_parse(const char *spec, size_t size, shape *full, slice *out, shape *part);
/* The shape of a slice of a tensor of shape full; INTERNAL if it lies outside. */
weft_err weft__slice_shape(const slice *s, const shape *full, shape *out);
const char *weft__slice_text(const slice *s, char *to, size_t size); /* "0,2:-" */
/* The key a slice is stored under. */
void weft__slice_key(text *out, bytes name, const slice *s);
/* The elements in both; false if there are none. */
bool weft__slice_meet(const slice *a, const slice *b, const shape *full, slice *both);
/* Copies the elements that both slices of a tensor of shape full have, from one's values to the other's. */
weft_err weft__slice_copy(weft_dtype dtype, const shape *full, const slice *to, void *to_data, const slice *from,
                          const void *from_data);
weft_err weft__slice_from_proto(slice *out, const Tensorflow__TensorSliceProto *p);
/* Fills *p from memory of a. */
struct arena;
weft_err weft__slice_to_proto(Tensorflow__TensorSliceProto *p, const slice *s, struct arena *a);

#endif
