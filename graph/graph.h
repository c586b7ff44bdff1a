/* graph.h - creates a graph and adds nodes to it.
 *
 * weft__graph_add is the only way to add a node.  It checks the node against its op's definition, fills in inferred
 * and default attributes, and infers types and shapes.  It either adds the whole node, or leaves the graph unchanged
 * and says why. */
#ifndef WEFT_GRAPH_GRAPH_H
#define WEFT_GRAPH_GRAPH_H

#include "graph/node.h"

/* A node to be added.  All fields are read only during the call. */
struct node_spec {
  const char *op;
  const char *name;   /* used unchanged if `exact`, otherwise scoped and made unique; NULL: the op's name */
  const char *device; /* NULL: from the scopes */
  bool exact;         /* import: no scopes are applied, a duplicate name is an error */
  int n_in, n_control, n_attr;
  int opaque_outs; /* if exact and the op is unknown: the number of outputs that other nodes read */
  const weft_out *in;
  const int *control;
  const attr *attr;
};

/* Creates an empty graph, which the caller destroys.  The op table must outlive it.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__graph_create(weft_graph **out, const op_table *ops);
void weft__graph_destroy(weft_graph *g);
/* Adds a node, which *out borrows from the graph.  Takes the graph's lock.  Returns INVALID_ARGUMENT, in
 * TensorFlow's words where it has any, NOT_FOUND for an unknown op, or RESOURCE_EXHAUSTED. */
weft_err weft__graph_add(weft_graph *g, const node_spec *spec, weft_node **out);
/* Sets data input i of an existing node.  It closes a loop's back edge (NextIteration -> Merge). */
weft_err weft__graph_set_input(weft_graph *g, weft_node *n, int i, weft_out from);
weft_err weft__graph_add_control(weft_graph *g, weft_node *n, int control_id);
weft_err weft__graph_set_attr(weft_graph *g, weft_node *n, const attr *a);
/* Gives an existing node more inputs, and new attribute values that may give it more outputs.  Its old inputs and
 * outputs keep their positions.  Plans that exist already keep using the old node. */
weft_err weft__graph_extend_node(weft_graph *g, weft_node *n, int n_more, const weft_out *more, int n_attr,
                                 const attr *attrs);

#endif
