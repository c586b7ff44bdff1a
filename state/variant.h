/* variant.h - the values of variant tensors: lists of tensors, optional values, data sets.
 *
 * Each is a `resource` that is in no table and lives as long as tensors refer to it.  Any thread may call these
 * functions. */
#ifndef WEFT_STATE_VARIANT_H
#define WEFT_STATE_VARIANT_H

#include "state/resource.h"

/* Makes output i a scalar that holds v.  Takes the caller's reference to v, also on failure. */
weft_err weft__variant_output(kernel *k, int i, resource *v);
/* Creates a scalar variant tensor that holds v, which the caller destroys.  Takes the reference to v, also on failure.
 */
weft_err weft__variant_create(weft_tensor **out, resource *v);
/* Stores the value of the first element of t, borrowed.  Returns INVALID_ARGUMENT if it is empty or of another type. */
weft_err weft__variant_get(const weft_tensor *t, const char *type, resource **out);
/* Makes *out, which is empty, zeros of the type and shape of `like`, in host memory.  A variant becomes one of the same
 * kind whose tensors are zeros. */
weft_err weft__variant_zeros(weft_tensor *out, const weft_tensor *like);

#endif
