/* binary.h - the loops of addition, for those who add more than two things. */
#ifndef WEFT_OPS_BINARY_H
#define WEFT_OPS_BINARY_H

#include "ops/elementwise.h"

extern const elem_op weft__add_op;

#endif
