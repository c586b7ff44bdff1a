/* variant.h - what a tensor of type variant holds: lists of tensors, optional values, data sets.
 *
 * Each is a `resource` that no table knows: it lives as long as tensors refer to it. */
#ifndef WEFT_STATE_VARIANT_H
#define WEFT_STATE_VARIANT_H

#include "state/resource.h"

/* Output i becomes a scalar that holds v, whose reference passes to it also on failure. */
weft_err weft__variant_output(kernel *k, int i, resource *v);
/* A scalar variant tensor that holds v, whose reference passes to it also on failure. */
weft_err weft__variant_create(weft_tensor **out, resource *v);
/* What the first element of t holds, borrowed; INVALID_ARGUMENT if that is nothing or something else. */
weft_err weft__variant_get(const weft_tensor *t, const char *type, resource **out);

#endif
