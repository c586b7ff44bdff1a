/* tensor_array.h - a row of tensors that one step writes and reads, and its gradients.
 *
 * Each place is written once (a gradient's places add up what is written to them) and, by default,
 * read once.  Thread safe; errors are TensorFlow's. */
#ifndef WEFT_STATE_TENSOR_ARRAY_H
#define WEFT_STATE_TENSOR_ARRAY_H

#include "state/resource.h"

#define TENSOR_ARRAY_TYPE "tensor_array"

typedef struct tensor_array_spec {
  weft_dtype dtype;
  shape element; /* as far as it is known */
  int64_t size;
  bool dynamic;          /* a write may make it longer */
  bool clear_after_read; /* a place can be read once */
  bool identical;        /* every element has the shape of the first written */
} tensor_array_spec;

typedef struct tensor_array tensor_array;

/* Who makes elements where none was written, and adds up those of a gradient: x + y goes to `to`, which may be x. */
typedef struct tensor_array_ops {
  void *arg;
  memory_space *memory; /* of the elements; NULL: the host's */
  weft_err (*zero)(void *arg, weft_tensor *t);
  weft_err (*add)(void *arg, weft_tensor *to, const weft_tensor *x, const weft_tensor *y);
} tensor_array_ops;

weft_err weft__tensor_array_create(tensor_array **out, const tensor_array_spec *spec, const char *name);
/* Keeps t.  maker NULL, here and below: elements are in host memory. */
weft_err weft__tensor_array_write(tensor_array *a, int64_t i, const weft_tensor *t, const tensor_array_ops *maker);
/* *out (empty) shares the element, or becomes zeros where none was written and the shape is known. */
weft_err weft__tensor_array_read(tensor_array *a, weft_dtype dtype, int64_t i, weft_tensor *out,
                                 const tensor_array_ops *maker);
/* Fails if it was closed; else its size and whether it grows. */
weft_err weft__tensor_array_size(tensor_array *a, int64_t *size, bool *dynamic);
shape weft__tensor_array_element(tensor_array *a);
void weft__tensor_array_close(tensor_array *a);
/* The gradient of a named by source, made on first use; from then on a has a fixed size.  prepend (may be NULL) goes in
 * front of the elements' shapes.  Borrowed: it lives as long as a. */
weft_err weft__tensor_array_gradient(tensor_array *a, const char *source, const shape *prepend, tensor_array **out);

#endif
