/* gradient_cond.c - the gradients of Merge and Switch in a cond.
 *
 * The gradient of a Merge is a Switch: the input that the Merge took gets the gradient, the others get a dead value.
 * The gradient of a Switch is a Merge of one gradient per branch, of which one is alive.  A branch without a
 * gradient gives zeros, which are computed from the Switch's output, so that they are dead if the branch was not
 * taken.
 *
 * Slices stay slices: their values and indices are merged one by one, as TensorFlow does it.  The norm of a
 * gradient, and the rows that an optimizer with momentum moves, depend on it. */
#include "graph/gradient/gradient_state.h"

static weft_out select_live(weft_graph *g, weft_out dy, weft_out index, int which) {
  weft_out mine = weft__b_binary(g, "Equal", index, weft__b_scalar(g, WEFT_INT32, which));
  return weft__b_node(g, "Switch", "cond_grad", 2, (weft_out[]){dy, mine}, 0, NULL);
}

weft_err weft__gradient_pass(backprop *b) {
  b->din[0] = GRAD_DENSE(b->dout[0]);
  return WEFT_OK;
}

weft_err weft__gradient_merge(backprop *b) {
  weft_graph *g = b->graph;
  weft_out dy = b->dout[0], index = b->out[1];
  if (dy.node < 0) return WEFT_OK;
  if (b->n_in == 2) { /* one Switch serves both: false for the second input means the first */
    weft_out both = select_live(g, dy, index, 1);
    b->din[0] = GRAD_DENSE(both);
    b->din[1] = GRAD_DENSE(weft__b_slot(both, 1));
    return WEFT_OK;
  }
  for (int i = 0; i < b->n_in; i++) b->din[i] = GRAD_DENSE(weft__b_slot(select_live(g, dy, index, i), 1));
  return WEFT_OK;
}

/* Returns zeros like the value on branch k.  A variable's handle is read to get its shape. */
static weft_out branch_zeros(backprop *b, int k, weft_dtype type) {
  weft_out x = b->out[k];
  if (weft__out_type(b->graph, x) == WEFT_RESOURCE)
    x = weft__b_node(b->graph, "ReadVariableOp", NULL, 1, &x, 1, &A_TYPE("dtype", type));
  return weft__b_zeros_like(b->graph, x);
}

weft_err weft__gradient_switch(backprop *b) {
  weft_graph *g = b->graph;
  weft_out d[2] = {b->dout[0], b->dout[1]};
  if (d[0].node < 0 && d[1].node < 0) return WEFT_OK;
  for (int k = 0; k < 2; k++)
    if (d[k].node < 0) d[k] = branch_zeros(b, k, weft__out_type(g, d[1 - k]));
  b->din[0] = GRAD_DENSE(weft__b_node(g, "Merge", "cond_grad", 2, d, 1, &A_INT("N", 2)));
  return WEFT_OK;
}

/* ---- slices ---- */

/* Returns zeros for every row of the value on branch k, as slices whose indices have the given type. */
static grad_value branch_zero_slices(backprop *b, int k, weft_dtype type, weft_dtype index_type) {
  weft_graph *g = b->graph;
  grad_value v = GRAD_NONE;
  v.values = branch_zeros(b, k, type);
  weft_out first[4] = {weft__b_shape(g, v.values), weft__b_ints(g, (int64_t[]){0}, 1),
                       weft__b_ints(g, (int64_t[]){1}, 1), weft__b_ints(g, (int64_t[]){1}, 1)};
  weft_out rows = weft__b_node(g, "StridedSlice", NULL, 4, first, 1, &A_INT("shrink_axis_mask", 1));
  weft_out range[3] = {weft__b_scalar(g, WEFT_INT32, 0), rows, weft__b_scalar(g, WEFT_INT32, 1)};
  v.indices = weft__b_node(g, "Range", NULL, 3, range, 0, NULL);
  if (index_type != WEFT_INT32) v.indices = weft__b_cast(g, v.indices, index_type);
  return v;
}

/* Makes the indices wait for the values, so that both are dead or both alive; they may be known without the branch. */
static weft_out live_indices(weft_graph *g, const grad_value *v) {
  return weft__b_add_node(
      g, &(node_spec){.op = "Identity", .n_in = 1, .in = &v->indices, .n_control = 1, .control = &v->values.node});
}

/* Returns the shape of the Switch's input, which is alive whichever branch is taken. */
static weft_out switched_shape(backprop *b) {
  if (weft__out_type(b->graph, b->in[0]) == WEFT_RESOURCE)
    return weft__b_node(b->graph, "VariableShape", NULL, 1, b->in, 0, NULL);
  return weft__b_shape(b->graph, b->in[0]);
}

bool weft__gradient_switch_takes(const weft_graph *g, const grad_value *d) {
  weft_dtype type[2] = {0};
  int slices = 0, none = 0;
  for (int k = 0; k < 2; k++) {
    if (d[k].indices.node >= 0)
      type[slices++] = weft__out_type(g, d[k].indices);
    else
      none += d[k].dense.node < 0;
  }
  return slices == 2 ? type[0] == type[1] : slices == 1 && none == 1;
}

weft_err weft__gradient_switch_slices(backprop *b, const grad_value *given) {
  weft_graph *g = b->graph;
  grad_value d[2] = {given[0], given[1]}, *total = &b->din[0];
  for (int k = 0; k < 2; k++)
    if (d[k].indices.node < 0)
      d[k] = branch_zero_slices(b, k, weft__out_type(g, d[1 - k].values), weft__out_type(g, d[1 - k].indices));
  WEFT_TRY(weft__b_ok(g));
  weft_out values[2] = {d[0].values, d[1].values}, indices[2] = {live_indices(g, &d[0]), live_indices(g, &d[1])};
  *total = GRAD_NONE;
  total->values = weft__b_node(g, "Merge", "cond_grad", 2, values, 1, &A_INT("N", 2));
  total->indices = weft__b_node(g, "Merge", "cond_grad", 2, indices, 1, &A_INT("N", 2));
  total->dense_shape = switched_shape(b);
  return weft__b_ok(g);
}
