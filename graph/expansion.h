/* expansion.h - limits on functions that call functions.
 *
 * Each node that calls a function gets an instance of it: a body, and a plan once it is called.  So a function that calls
 * itself would have no end, a long chain of calls needs as much stack, and functions that each call the next one twice
 * grow with a power of two.  A graph that comes from a client may hold any of these. */
#ifndef WEFT_GRAPH_EXPANSION_H
#define WEFT_GRAPH_EXPANSION_H

#include "graph/node.h"

enum {
  FUNCTION_MAX_DEPTH = 256,          /* calls within calls: a few kilobytes of stack each */
  FUNCTION_MAX_INSTANCES = 16384,    /* of functions called by functions, at one time, for one graph: some 9 KB each */
  FUNCTION_MAX_ATTR_BYTES = 1 << 22, /* of attributes that one body takes from its caller */
};

typedef struct call_chain call_chain;

/* `body` is about to become that of function `name`, called by a node of `from` (whose lock is held).  INVALID_ARGUMENT
 * if that function is already being called there, or the calls are nested too deep; RESOURCE_EXHAUSTED if there are too
 * many instances. */
weft_err weft__expansion_enter(weft_graph *body, weft_graph *from, const char *name);
void weft__expansion_leave(weft_graph *g); /* when the graph ends */

#endif
