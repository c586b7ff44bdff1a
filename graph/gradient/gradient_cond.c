/* gradient_cond.c - the gradients of Merge and Switch in a cond.
 *
 * The gradient of a Merge is a Switch: the input that the Merge took gets the gradient, the others get a dead value.  The
 * gradient of a Switch is a Merge of one gradient per branch, of which one is alive.  A branch without a gradient gives
 * zeros, which are computed from the Switch's output, so that they are dead if the branch was not taken. */
#include "graph/gradient/gradient_state.h"

static weft_out select_live(weft_graph *g, weft_out dy, weft_out index, int which) {
  weft_out mine = weft__b_binary(g, "Equal", index, weft__b_scalar(g, WEFT_INT32, which));
  return weft__b_node(g, "Switch", "cond_grad", 2, (weft_out[]){dy, mine}, 0, NULL);
}

weft_err weft__gradient_merge(backprop *b) {
  weft_graph *g = b->graph;
  weft_out dy = b->dout[0], index = b->out[1];
  if (dy.node < 0) return WEFT_OK;
  if (b->n_in == 2) { /* one Switch serves both: not the second means the first */
    weft_out both = select_live(g, dy, index, 1);
    b->din[0] = GRAD_DENSE(both);
    b->din[1] = GRAD_DENSE(weft__b_slot(both, 1));
    return WEFT_OK;
  }
  for (int i = 0; i < b->n_in; i++) b->din[i] = GRAD_DENSE(weft__b_slot(select_live(g, dy, index, i), 1));
  return WEFT_OK;
}

/* Zeros like the value on branch k; a variable's handle is read for its shape. */
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
