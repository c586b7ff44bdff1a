/* expansion.h - limits on functions that call functions.
 *
 * Each node that calls a function gets an instance of it: a body, and a plan once it is called.  So a function that
 * calls itself would never end, a long chain of calls needs a deep stack, and functions that each call the next one
 * twice grow exponentially.  A graph from a client may contain any of these. */
#ifndef WEFT_GRAPH_EXPANSION_H
#define WEFT_GRAPH_EXPANSION_H

#include "graph/node.h"

enum {
  FUNCTION_MAX_DEPTH = 256, /* nested calls: a few kilobytes of stack each */
  /* instances of functions called by functions, at one time, for one graph: about 9 KB each */
  FUNCTION_MAX_INSTANCES = 16384,
  FUNCTION_MAX_ATTR_BYTES = 1 << 22, /* bytes of attributes that one body takes from its caller */
};

typedef struct call_chain call_chain;

/* Called before `body` becomes that of function `name`, called by a node of `from`, whose lock the caller holds.
 * Returns INVALID_ARGUMENT if that function is already in the chain of calls, or the chain is too long, and
 * RESOURCE_EXHAUSTED if there are too many instances. */
weft_err weft__expansion_enter(weft_graph *body, weft_graph *from, const char *name);
void weft__expansion_leave(weft_graph *g); /* called when the graph is destroyed */

#endif
