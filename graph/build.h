/* build.h - functions that add nodes by op name, for gradients and the training library.
 *
 * No function here returns an error.  The graph records the first failure, and later calls return WEFT_NONE, as they
 * do if an input is WEFT_NONE.  So a gradient reads like a formula.  The caller checks weft__b_ok once at the end. */
#ifndef WEFT_GRAPH_BUILD_H
#define WEFT_GRAPH_BUILD_H

#include "graph/graph.h"

weft_err weft__b_ok(const weft_graph *g); /* returns the recorded error */
/* Forgets the recorded error, so that nodes can be added again. */
void weft__b_clear(weft_graph *g);

/* Adds a node with one or more outputs.  If name is NULL, it is the op's name.  Returns output 0; the other outputs
 * have the next slots. */
weft_out weft__b_node(weft_graph *g, const char *type, const char *name, int n_in, const weft_out *in, int n_attr,
                      const attr *attrs);
/* Adds a node with control inputs or other fields of node_spec. */
weft_out weft__b_add_node(weft_graph *g, const node_spec *spec);
static inline weft_out weft__b_slot(weft_out o, int slot) {
  return o.node < 0 ? o : (weft_out){o.node, (uint16_t)slot, o.graph};
}

/* Nodes of one or two inputs; those without a type have the names that TensorFlow's operators give them. */
weft_out weft__b_unary(weft_graph *g, const char *type, weft_out x);
weft_out weft__b_binary(weft_graph *g, const char *type, weft_out x, weft_out y);
weft_out weft__b_mul(weft_graph *g, weft_out x, weft_out y);
weft_out weft__b_add(weft_graph *g, weft_out x, weft_out y); /* AddV2 */
weft_out weft__b_sub(weft_graph *g, weft_out x, weft_out y);
weft_out weft__b_div(weft_graph *g, weft_out x, weft_out y); /* RealDiv */
weft_out weft__b_neg(weft_graph *g, weft_out x);
weft_out weft__b_identity(weft_graph *g, weft_out x);
/* Constants. adopt takes ownership of the tensor and destroys it.  The others make scalars of a type and int32
 * vectors. */
weft_out weft__b_const_adopt(weft_graph *g, weft_tensor *t);
weft_out weft__b_scalar(weft_graph *g, weft_dtype type, double v);
weft_out weft__b_scalar_like(weft_graph *g, weft_out x, double v); /* of the type of x */
weft_out weft__b_ints(weft_graph *g, const int64_t *v, int n);     /* [n]: int32, or int64 if a value does not fit */
weft_out weft__b_shape(weft_graph *g, weft_out x);                 /* int32; a Const if the shape is fully known */
weft_out weft__b_size(weft_graph *g, weft_out x);
weft_out weft__b_rank(weft_graph *g, weft_out x);
weft_out weft__b_reshape(weft_graph *g, weft_out x, weft_out shape);
weft_out weft__b_cast(weft_graph *g, weft_out x, weft_dtype to); /* x itself if it has the type */
weft_out weft__b_zeros_like(weft_graph *g, weft_out x);
weft_out weft__b_ones_like(weft_graph *g, weft_out x);
weft_out weft__b_fill(weft_graph *g, weft_out dims, weft_out value);
weft_out weft__b_sum(weft_graph *g, weft_out x, weft_out axes, bool keep_dims);
weft_out weft__b_matmul(weft_graph *g, weft_out x, weft_out y, bool tx, bool ty);
weft_out weft__b_transpose(weft_graph *g, weft_out x, weft_out perm);
weft_out weft__b_concat(weft_graph *g, int n, const weft_out *x, weft_out axis);
weft_out weft__b_gather(weft_graph *g, weft_out params, weft_out indices, weft_out axis);
weft_out weft__b_select(weft_graph *g, weft_out cond, weft_out x, weft_out y); /* Select */
weft_out weft__b_conj(weft_graph *g, weft_out x);                              /* x itself if it is not complex */
/* Reduces dx, which has the broadcast shape, to the shape of the operand x, and dy to that of y:
 * BroadcastGradientArgs, Sum, Reshape.  Adds nothing where the static shapes already agree. */
void weft__b_unbroadcast(weft_graph *g, weft_out x, weft_out y, weft_out *dx, weft_out *dy);

/* Scopes for the following nodes (TF's name_scope, device, control_dependencies, colocate_with). */
void weft__b_push_name(weft_graph *g, const char *name);
void weft__b_push_control(weft_graph *g, int n, const int *node_ids);
void weft__b_push_colocate(weft_graph *g, int node_id);
/* Handles the result of a push that returns nothing: even after a failure there is a scope to pop. */
void weft__b_pushed(weft_graph *g, weft_err err);
void weft__b_pop(weft_graph *g); /* pops the innermost scope of any kind */

#endif
