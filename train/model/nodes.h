/* nodes.h - nodes of TensorFlow's training library: named constants, groups by device, and nodes found by name.
 *
 * As in graph/build.h, nothing here returns an error: the graph records the first failure. */
#ifndef WEFT_TRAIN_MODEL_NODES_H
#define WEFT_TRAIN_MODEL_NODES_H

#include "graph/build.h"

/* Takes ownership of t.  If t is NULL, the graph records the failure. */
weft_out weft__n_const(weft_graph *g, const char *name, weft_tensor *t);
weft_out weft__n_scalar(weft_graph *g, const char *name, weft_dtype type, double v);
weft_out weft__n_string(weft_graph *g, const char *name, const char *s);
weft_out weft__n_strings(weft_graph *g, const char *name, int n, const char *const *s); /* a vector */
/* Adds a node with exactly the name of the current name scope, which was opened for it. */
weft_out weft__n_scope_node(weft_graph *g, const char *type, int n_in, const weft_out *in, int n_attr,
                            const attr *attrs);
/* tf.group: a NoOp after the nodes.  If they are on several devices, there is one NoOp for each and one after those. */
weft_out weft__n_group(weft_graph *g, const char *name, int n, const int *ids);
/* Opens a device scope, which the caller closes with weft__b_pop. */
void weft__n_push_device(weft_graph *g, const char *device);
/* Returns the name "w:0" of an output; the graph's arena owns it.  Returns NULL if memory is short, which the graph
 * records. */
const char *weft__n_out_name(weft_graph *g, weft_out o);

/* Finds the node of "name" or "name:1", with or without outputs.  NOT_FOUND names it. */
weft_err weft__n_find(const weft_graph *g, const char *name, int *id);

#endif
