/* tensor_list.h - a list of tensors of one type, which is stored in a variant tensor.
 *
 * A list is constant once others may refer to it.  To change one, make a copy, which shares the tensors.  So there is
 * no lock. */
#ifndef WEFT_STATE_TENSOR_LIST_H
#define WEFT_STATE_TENSOR_LIST_H

#include "state/variant.h"

#define TENSOR_LIST_TYPE "tensor list"

typedef struct tensor_list {
  resource base;
  weft_dtype dtype;
  shape element;  /* every element's shape is compatible with it */
  int64_t max, n; /* max < 0: no limit */
  weft_tensor *t; /* n; an empty slot (buf NULL) has no value yet */
} tensor_list;

/* Creates a list of n elements without values.  The caller owns the one reference. */
weft_err weft__tensor_list_create(tensor_list **out, weft_dtype dtype, const shape *element, int64_t n);
/* Copies a list to n elements: it drops the last ones, or adds some without a value. */
weft_err weft__tensor_list_copy(tensor_list **out, const tensor_list *from, int64_t n);
weft_err weft__tensor_list_get(const weft_tensor *t, tensor_list **out); /* borrowed */
/* Creates a list of the same length in which every value is zero. */
weft_err weft__tensor_list_zeros(tensor_list **out, const tensor_list *like);

#endif
