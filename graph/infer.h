/* infer.h - runs a node's shape rule. */
#ifndef WEFT_GRAPH_INFER_H
#define WEFT_GRAPH_INFER_H

#include "graph/node.h"

/* Sets n->out_shape from the shapes of its inputs.  Its inputs and attributes are set. */
weft_err weft__infer_node(weft_node *n);

#endif
