/* optional.h - a value that may be absent, which is stored in a variant tensor.
 *
 * An optional is constant once others may refer to it, so there is no lock. */
#ifndef WEFT_STATE_OPTIONAL_H
#define WEFT_STATE_OPTIONAL_H

#include "state/variant.h"

#define OPTIONAL_TYPE "optional value"

typedef struct optional {
  resource base;
  int n; /* the number of components; < 0: the value is absent */
  weft_tensor t[];
} optional;

/* Creates an optional whose n components are empty slots; n < 0: without a value.  The caller owns the one reference.
 */
weft_err weft__optional_create(optional **out, int n);
weft_err weft__optional_get(const weft_tensor *t, optional **out); /* borrowed */
/* Creates an optional with zeros for the components; without a value if `like` has none. */
weft_err weft__optional_zeros(optional **out, const optional *like);

#endif
