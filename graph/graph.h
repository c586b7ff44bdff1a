/* graph.h - making a graph, and adding nodes to it.
 *
 * weft__graph_add is the only door: it checks the node against its op's definition, fills in
 * inferred and default attributes, infers types and shapes, and either adds the whole node or
 * leaves the graph as it was and says why. */
#ifndef WEFT_GRAPH_GRAPH_H
#define WEFT_GRAPH_GRAPH_H

#include "graph/node.h"

/* A node to be added.  Everything is read during the call. */
struct node_spec {
  const char *op;
  const char *name;   /* taken as it is when `exact`, else scoped and made unique; NULL: the op's name */
  const char *device; /* NULL: from the scopes */
  bool exact;         /* import: no scopes are applied, a duplicate name is an error */
  int n_in, n_control, n_attr;
  int opaque_outs; /* exact and the op unknown: how many outputs other nodes read from it */
  const weft_out *in;
  const int *control;
  const attr *attr;
};

weft_err weft__graph_create(weft_graph **out, const op_table *ops);
void weft__graph_destroy(weft_graph *g);
weft_err weft__graph_add(weft_graph *g, const node_spec *spec, weft_node **out);
/* Sets data input i of a node that exists: how a loop's back edge (NextIteration -> Merge) is closed. */
weft_err weft__graph_set_input(weft_graph *g, weft_node *n, int i, weft_out from);
weft_err weft__graph_add_control(weft_graph *g, weft_node *n, int control_id);
weft_err weft__graph_set_attr(weft_graph *g, weft_node *n, const attr *a);
/* Gives a node that exists more inputs, and other values of attributes by which it may get more outputs.  The inputs and
 * outputs it had keep their places.  A plan made before goes on with what the node was. */
weft_err weft__graph_extend_node(weft_graph *g, weft_node *n, int n_more, const weft_out *more, int n_attr,
                                 const attr *attrs);

#endif
