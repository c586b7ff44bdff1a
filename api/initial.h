/* initial.h - converts initial values of programs to those of the graph. */
#ifndef WEFT_API_INITIAL_H
#define WEFT_API_INITIAL_H

#include "graph/variable_scope.h"

weft_err weft__api_initializer(initializer *out, const weft_initial *init); /* init may be NULL: the default */

#endif
