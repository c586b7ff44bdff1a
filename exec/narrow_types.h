/* narrow_types.h - which ops run on float8 and on 4-bit integers. */
#ifndef WEFT_EXEC_NARROW_TYPES_H
#define WEFT_EXEC_NARROW_TYPES_H

#include "graph/graph.h"

/* Returns the first type of the node for which TensorFlow has no kernel of its op: a float8 or a 4-bit integer.
 * Returns 0 if it has one, and for ops whose name begins with "_", which are the runtime's own. */
weft_dtype weft__narrow_type_refused(const weft_node *n);

#endif
