/* tensor_list.h - a list of tensors of one type, as a variant holds it.
 *
 * A list that others may refer to is never changed: whoever wants another one makes a copy, which shares the tensors. */
#ifndef WEFT_STATE_TENSOR_LIST_H
#define WEFT_STATE_TENSOR_LIST_H

#include "state/variant.h"

#define TENSOR_LIST_TYPE "tensor list"

typedef struct tensor_list {
  resource base;
  weft_dtype dtype;
  shape element;  /* what every element's shape agrees with */
  int64_t max, n; /* max < 0: no limit */
  weft_tensor *t; /* n; an empty slot (buf NULL) has no value yet */
} tensor_list;

weft_err weft__tensor_list_create(tensor_list **out, weft_dtype dtype, const shape *element, int64_t n);
/* A copy with n elements: shorter, or with more that have no value. */
weft_err weft__tensor_list_copy(tensor_list **out, const tensor_list *from, int64_t n);
weft_err weft__tensor_list_get(const weft_tensor *t, tensor_list **out); /* borrowed */
/* A list of the same length, all of whose values are zero. */
weft_err weft__tensor_list_zeros(tensor_list **out, const tensor_list *like);

#endif
