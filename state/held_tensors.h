/* held_tensors.h - variants that hold tensors: one tensor, or the parts of a ragged tensor or of a stored element.
 *
 * The value is constant once others may refer to it, so there is no lock.  Any thread may call these functions. */
#ifndef WEFT_STATE_HELD_TENSORS_H
#define WEFT_STATE_HELD_TENSORS_H

#include "state/variant.h"

#define HELD_TENSOR "tensor"
#define HELD_RAGGED "ragged tensor"          /* its row splits, outermost first, and then its values */
#define HELD_COMPRESSED "compressed element" /* its components */

typedef struct held_tensors {
  resource base;
  int n;
  weft_tensor t[];
} held_tensors;

/* Creates a value of the given type whose n tensors are empty slots.  The caller owns the one reference. */
weft_err weft__held_tensors_create(held_tensors **out, const char *type, int n);
/* Makes element i of a variant tensor, which is empty, hold v.  Takes the caller's reference to v. */
void weft__held_tensors_put(weft_tensor *t, int64_t i, held_tensors *v);
/* Stores the value of element i, borrowed; NULL if the element is empty or of another type. */
held_tensors *weft__held_tensors_at(const weft_tensor *t, int64_t i, const char *type);
/* Makes *out, which is empty, a tensor of strings, each a serialized VariantTensorDataProto with the tensors of a
 * variant. Returns UNIMPLEMENTED if a variant holds anything else. */
weft_err weft__held_tensors_encode(const weft_tensor *variants, weft_tensor *out);
/* The reverse.  Returns DATA_LOSS for strings that are no such messages, or that lack tensors of a variant. */
weft_err weft__held_tensors_decode(const weft_tensor *strings, weft_tensor *out);

#endif
