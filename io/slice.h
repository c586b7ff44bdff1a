/* slice.h - a rectangular part of a tensor; checkpoints name the partitions of a variable by such slices. */
#ifndef WEFT_IO_SLICE_H
#define WEFT_IO_SLICE_H

#include "base/text.h"
#include "io/table.h"
#include "tensor/tensor.h"
#include "tf.pb-c.h"

typedef struct slice {
  int rank;
  int64_t start[WEFT_MAX_RANK], length[WEFT_MAX_RANK]; /* length -1: the whole dimension, with start 0 */
} slice;

/* Returns the slice that is the whole tensor. */
slice weft__slice_full(int rank);
/* Parses "4 3 0,2:-": stores the full shape, the slice, and the shape of the slice.  The errors are TF's. */
weft_err weft__slice_parse(const char *spec, size_t size, shape *full, slice *out, shape *part);
/* Computes the shape of a slice of a tensor of shape full.  Returns INTERNAL if the slice is outside. */
weft_err weft__slice_shape(const slice *s, const shape *full, shape *out);
const char *weft__slice_text(const slice *s, char *to, size_t size); /* "0,2:-" */
/* Appends the key of a stored slice. */
void weft__slice_key(text *out, bytes name, const slice *s);
/* Computes the intersection.  Returns false if it is empty. */
bool weft__slice_meet(const slice *a, const slice *b, const shape *full, slice *both);
/* Copies the elements that are in both slices of a tensor of shape full. */
weft_err weft__slice_copy(weft_dtype dtype, const shape *full, const slice *to, void *to_data, const slice *from,
                          const void *from_data);
weft_err weft__slice_from_proto(slice *out, const Tensorflow__TensorSliceProto *p);
/* Fills *p with memory of arena a. */
struct arena;
weft_err weft__slice_to_proto(Tensorflow__TensorSliceProto *p, const slice *s, struct arena *a);

#endif
