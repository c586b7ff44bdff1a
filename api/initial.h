/* initial.h - initial values as programs give them, turned into those the graph makes. */
#ifndef WEFT_API_INITIAL_H
#define WEFT_API_INITIAL_H

#include "graph/variable_scope.h"

weft_err weft__api_initializer(initializer *out, const weft_initial *init); /* NULL: the default */

#endif
