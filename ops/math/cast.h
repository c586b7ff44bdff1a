/* cast.h - converts elements between any two number types, as the Cast op does. */
#ifndef WEFT_OPS_MATH_CAST_H
#define WEFT_OPS_MATH_CAST_H

#include "graph/kernel.h"

/* Converts every element of src to dst's type; both have the same count.  Returns UNIMPLEMENTED for strings and
 * objects. */
weft_err weft__cast_elements(const kernel *k, const weft_tensor *src, weft_tensor *dst);

#endif
