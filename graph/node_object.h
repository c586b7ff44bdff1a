/* node_object.h - objects that kernels keep with a node, for as long as its graph lives.
 *
 * A node has one object at most.  Thread safe: making an object takes the lock of the graph and that of its library,
 * and no other.  (graph/graph.c) */
#ifndef WEFT_GRAPH_NODE_OBJECT_H
#define WEFT_GRAPH_NODE_OBJECT_H

#include "graph/node.h"

/* Finds the object of the node, or creates it with `make`.  The caller gets a reference. */
weft_err weft__node_object(const weft_node *n, weft_err (*make)(const weft_node *n, object **out), object **out);

#endif
