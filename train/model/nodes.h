/* nodes.h - nodes as TensorFlow's training library makes them: named constants, groups by device, reads of lists.
 *
 * As in graph/build.h nothing here returns an error: the first failure sticks to the graph. */
#ifndef WEFT_TRAIN_MODEL_NODES_H
#define WEFT_TRAIN_MODEL_NODES_H

#include "graph/build.h"

/* Takes ownership of t.  If t is NULL, the graph keeps the failure. */
weft_out weft__n_const(weft_graph *g, const char *name, weft_tensor *t);
weft_out weft__n_scalar(weft_graph *g, const char *name, weft_dtype type, double v);
weft_out weft__n_string(weft_graph *g, const char *name, const char *s);
weft_out weft__n_strings(weft_graph *g, const char *name, int n, const char *const *s); /* a vector */
/* Adds a node with exactly the name of the present name scope, which was opened for it. */
weft_out weft__n_scope_node(weft_graph *g, const char *type, int n_in, const weft_out *in, int n_attr,
                            const attr *attrs);
/* tf.group: a NoOp after the nodes; where they are on several devices, one NoOp for each and one after those. */
weft_out weft__n_group(weft_graph *g, const char *name, int n, const int *ids);
/* Opens a device scope, which the caller closes with weft__b_pop. */
void weft__n_push_device(weft_graph *g, const char *device);
/* "w:0" of an output; the arena's of the graph.  NULL when memory is out, which sticks. */
const char *weft__n_out_name(weft_graph *g, weft_out o);

/* The node of "name" or "name:1", outputs or not; NOT_FOUND names it. */
weft_err weft__n_find(const weft_graph *g, const char *name, int *id);

#endif
