/* gradient_cond.c - backwards through cond: a Merge splits the gradient, a Switch joins it.
 *
 * A Merge says which input it took, so its gradient goes to that one and the others get a dead
 * value.  A Switch gets one gradient per branch, of which one is alive; a branch that gave none
 * gives zeros, made from the Switch's own output so that they live and die with the branch. */
#include "graph/gradient_state.h"

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
