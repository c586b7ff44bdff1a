/* fusion.h - how a plan may run an op together with its neighbors.
 *
 * An op's row points to a `fusion`, which declares what the op is to its neighbors.  The passes (exec/passes/fuse.c,
 * exec/passes/relu_pool_swap.c) find neighbors whose declarations fit; they know no op by its name.  A kernel that runs
 * two ops as one is in a file beside the op that declares it.  Its row is in no table, so no graph can name it. */
#ifndef WEFT_GRAPH_FUSION_H
#define WEFT_GRAPH_FUSION_H

#include "graph/kernel.h"

/* An op that changes a variable element by element.  Input 0 refers to the variable. */
typedef struct update_form {
  const char *combine; /* the elementwise op that takes the variable and the change, and gives the new value */
  int change;          /* the input that holds the change */
  int factor;          /* the input, a scalar, by which the change is multiplied first; 0: none */
} update_form;
/* Forms are compared by address. */
extern const update_form weft__update_add;     /* var += in[1] */
extern const update_form weft__update_sub;     /* var -= in[1] */
extern const update_form weft__update_descend; /* var -= in[1] * in[2] */

/* An op each of whose output's elements is an element of its input.  Its gradient has the inputs (input, output, dy) and
 * gives each element of dy to an element of the input that equals the output's.  Both rows point to one selection. */
typedef struct selection {
  const char *const *attrs; /* these are equal where the gradient belongs to the node; ended by NULL */
} selection;

/* What an op computes, for passes that look for a whole formula.  A Ref op has the role of its twin. */
typedef enum fusion_role {
  ROLE_NONE,
  ROLE_ASSIGN,   /* gives input 1 to the variable that input 0 refers to or is the handle of, */
  ROLE_SUBTRACT, /* ... subtracts input 1 from it, */
  ROLE_ADD_ROWS, /* ... adds input 2 to the rows of it that input 1 names */
  ROLE_PLUS,     /* its output is the sum of its two inputs, with broadcasting, */
  ROLE_PRODUCT,  /* ... their product, */
  ROLE_QUOTIENT, /* ... their quotient */
  ROLE_ROOT      /* its output is the square root of its input */
} fusion_role;

struct fusion {
  fusion_role role;

  /* Of an op with loops (op.elem): is this node nothing but its loops with broadcasting?  NULL: every node is. */
  bool (*elementwise)(const weft_node *n);

  const update_form *updates; /* what the op does to a variable; NULL: nothing of this form */

  /* Kernels that run a node of this op and its reader as one.  Required with one of them: may it be this node? */
  bool (*fits)(const weft_node *n);
  /* Runs the node, then a chain of elementwise ops over its result.  The chain's other inputs are vectors along the last
   * axis.  Inputs: the node's, then the chain's without the result.  State: fused_epilogue
   * (kernels/elementwise/program.h). */
  const op *with_epilogue;
  /* Runs the node as the change of an update of the form `update`.  Inputs: the update's without the change, then the
   * node's.  State: fused_update. */
  const op *with_update;
  const update_form *update;

  /* Runs the node with the variable itself in place of its value, input 0, of which the op reads some rows. */
  const op *on_variable;

  const selection *selects;      /* the op is the forward one of this selection */
  const selection *selects_grad; /* the op is its gradient */
  bool masks;                    /* its output is input 0 where a condition on input 1 holds, else 0 */
};

typedef struct fused_node { /* a node that a kernel of two runs first */
  const weft_node *node;
  const op *op;
  void *state; /* its own, which the fused kernel owns */
  int n_in;
} fused_node;

typedef struct fused_update {
  fused_node first;
  const op *update; /* the op that changes the variable, with its state */
  void *update_state;
} fused_update;

/* The kernel of the first of two, as `k` of both calls it on inputs [from, from + n_in). */
kernel weft__fused_first(const kernel *k, const fused_node *first, int from);
void weft__fused_node_finish(fused_node *first);
void weft__fused_update_unprepare(void *state); /* of every op that is a with_update */

#endif
