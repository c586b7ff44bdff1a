/* tensor_array.h - tensor arrays, which one step writes and reads, and their gradients.
 *
 * Each slot is written once and, by default, read once.  The array of a gradient sums what is written to a slot.  Error
 * messages are TensorFlow's.  Any thread may call these functions; an array is a reference-counted resource. */
#ifndef WEFT_STATE_TENSOR_ARRAY_H
#define WEFT_STATE_TENSOR_ARRAY_H

#include "state/resource.h"

#define TENSOR_ARRAY_TYPE "tensor_array"

typedef struct tensor_array_spec {
  weft_dtype dtype;
  shape element; /* may have unknown dimensions */
  int64_t size;
  bool dynamic;          /* a write beyond the end makes it longer */
  bool clear_after_read; /* a slot can be read once */
  bool identical;        /* all elements have the same shape */
} tensor_array_spec;

typedef struct tensor_array tensor_array;

/* Functions that compute elements on their device: zeros for a slot that was not written, and x + y for a gradient,
 * stored in `to`, which may be x.  They are called with the lock of the array held. */
typedef struct tensor_array_ops {
  void *arg;
  memory_space *memory; /* of the elements; NULL: host memory */
  weft_err (*zero)(void *arg, weft_tensor *t);
  weft_err (*add)(void *arg, weft_tensor *to, const weft_tensor *x, const weft_tensor *y);
} tensor_array_ops;

/* The caller owns the one reference. */
weft_err weft__tensor_array_create(tensor_array **out, const tensor_array_spec *spec, const char *name);
/* Writes slot i, and keeps t.  ops NULL, here and below: elements are in host memory. */
weft_err weft__tensor_array_write(tensor_array *a, int64_t i, const weft_tensor *t, const tensor_array_ops *ops);
/* Shares the element with *out, which is empty; a slot that was not written reads as zeros if its shape is known. */
weft_err weft__tensor_array_read(tensor_array *a, weft_dtype dtype, int64_t i, weft_tensor *out,
                                 const tensor_array_ops *ops);
/* Stores the size, and whether the array grows.  Fails if it was closed. */
weft_err weft__tensor_array_size(tensor_array *a, int64_t *size, bool *dynamic);
shape weft__tensor_array_element(tensor_array *a);
void weft__tensor_array_close(tensor_array *a);
/* Finds the gradient of a with the name `source`, or creates it; a has a fixed size from then on.  prepend (may be
 * NULL) goes in front of the shapes of the elements.  *out is borrowed and lives as long as a. */
weft_err weft__tensor_array_gradient(tensor_array *a, const char *source, const shape *prepend, tensor_array **out);

#endif
