/* fusion.h - how a plan may run an op together with its neighbors.
 *
 * An op's row points to a `fusion`, which declares how the op can be fused.  The passes (exec/passes/fuse.c,
 * fused_group.c and relu_pool_swap.c) find neighbors whose declarations fit; they know no op by its name.  For items
 * of a GPU, the CUDA plug-in says which elementwise ops it has a step for, as it says which kernels it has
 * (exec/passes/fuse_step.c; kernels/elementwise/chain.cu has the list).  A kernel that runs two ops as one is in a
 * file beside the op that declares it.  Its row is in no table, so no graph can name it. */
#ifndef WEFT_GRAPH_FUSION_H
#define WEFT_GRAPH_FUSION_H

#include "graph/kernel.h"

/* An op that changes a variable elementwise.  Input 0 refers to the variable. */
typedef struct update_form {
  const char *combine; /* the elementwise op that computes the new value from the variable and the change */
  int change;          /* the index of the input with the change */
  int factor;          /* the index of a scalar input that multiplies the change; 0: none */
} update_form;
/* Forms are compared by address. */
extern const update_form weft__update_add;     /* var += in[1] */
extern const update_form weft__update_sub;     /* var -= in[1] */
extern const update_form weft__update_descend; /* var -= in[1] * in[2] */

/* An op whose output elements are elements of its input, such as a maximum.  Its gradient has the inputs (input,
 * output, dy) and gives each element of dy to an input element that equals the output.  Both rows point to one
 * selection. */
typedef struct selection {
  const char *const *attrs; /* attributes that must be equal in the node and its gradient; ended by NULL */
} selection;

/* A block of a larger tensor that is whole along every axis but one. */
typedef struct tensor_part {
  int of; /* the input that an output is a part of; 0 for the parts of an output */
  int axis;
  int64_t begin; /* along that axis */
} tensor_part;

/* The function of an op, for passes that look for a whole formula.  A Ref op has the role of the other op. */
typedef enum fusion_role {
  ROLE_NONE,
  ROLE_ASSIGN,   /* assigns input 1 to the variable of input 0 (a reference or a handle) */
  ROLE_SUBTRACT, /* subtracts input 1 from the variable */
  ROLE_ADD_ROWS, /* adds input 2 to the rows of the variable that input 1 names */
  ROLE_PLUS,     /* the sum of its two inputs, with broadcasting */
  ROLE_PRODUCT,  /* the product of its two inputs */
  ROLE_QUOTIENT, /* the quotient of its two inputs */
  ROLE_POWER,    /* input 0 to the power of input 1 */
  ROLE_ROOT,     /* the square root of its input */
  ROLE_DISTINCT, /* the distinct elements of its input, and for each element the number of its equal among them */
  ROLE_SUM_ROWS, /* for each number in input 1, the sum of the rows of input 0 that have it; input 2 counts the sums */
  ROLE_LOOKUP,   /* the rows of input 0 (a value or a handle) that input 1 names; along axis input 2, if there is one */
  ROLE_MATMUL,   /* the matrix product of its two inputs, with transpose_a and transpose_b */
  ROLE_MATMULS,  /* likewise, of batches of matrices */
  ROLE_COLUMNS,  /* the sum over all axes but the last, if its data_format is NHWC */
  ROLE_REPEAT,   /* input 0, repeated to fill a shape under the broadcast rules */
  ROLE_TRANSPOSE /* input 0 with its axes in the order of input 1 */
} fusion_role;

/* What an op does along the last axis of input 0, if its other arguments say so. */
typedef enum row_form {
  ROWS_NONE,
  ROWS_SUM,     /* the sum along axes, which input 1 lists */
  ROWS_MEAN,    /* likewise, the mean */
  ROWS_SOFTMAX, /* the softmax along the last axis */
  ROWS_SAME     /* the same elements with another shape */
} row_form;

struct fusion {
  fusion_role role;
  row_form rows;

  /* For an op with loops (op.elem): returns true if this node only runs its loops with broadcasting.  NULL: every
   * node does. */
  bool (*elementwise)(const weft_node *n);
  /* For an op of two inputs: returns the loops of one input that this node runs because input 1 has this value, or
   * NULL. */
  const struct elem_op *(*given)(const weft_tensor *y);

  const update_form *updates; /* the form of the op's update of a variable, or NULL */

  /* Kernels that run a node of this op fused with its reader.  Required if there is one: returns true if this node
   * can be fused. */
  bool (*fits)(const weft_node *n);
  /* Runs the node, then a chain of elementwise ops on its result.  The other inputs of the chain are vectors along
   * the last axis.  Inputs: the node's, then the chain's without the result.  State: fused_epilogue
   * (kernels/elementwise/program.h). */
  const op *with_epilogue;
  /* Runs the node as the change of an update of the form `update`.  Inputs: the update's without the change, then
   * the node's.  State: fused_update. */
  const op *with_update;
  const update_form *update;

  /* For an op that prepares its input 1 before it uses it: several nodes with one input 1 can share that.  Returns true
   * if that is worth it for `readers` nodes like this one. */
  bool (*shares)(const weft_node *n, int64_t readers);
  const op *prepares;    /* input: input 1 of such a node; output: bytes */
  const op *on_prepared; /* runs the node; inputs: the node's, then those bytes */

  /* Runs the node with the variable itself as input 0 in place of its value, because the op reads only some rows. */
  const op *on_variable;

  const selection *selects;      /* the selection of which this op is the forward op */
  const selection *selects_grad; /* the selection of which this op is the gradient */

  /* For an op that only copies.  `part`: output `out` is a part of input p->of.  `joins`: input `in` becomes a part of
   * output 0.  Both return false if the node's axis, beginning and shapes are not known before it runs. */
  bool (*part)(const weft_node *n, int out, tensor_part *p);
  bool (*joins)(const weft_node *n, int in, tensor_part *p);
  /* Returns true if output 0 is input 0, of shape x, as it is.  arg is the value of input 1. */
  bool (*hands_on)(const shape *x, const weft_tensor *arg);

  /* For ROLE_DISTINCT: as this op, but the first output has as many elements as the input; those that follow the
   * distinct ones are negative and differ.  Only GPUs have a kernel of it (exec/passes/unroll_distinct.c). */
  const op *padded;

  bool masks; /* the output is input 0 where a condition on input 1 holds, and 0 elsewhere */
  /* Input 0, if it is a vector, has one element for each index of the output's first axis; a vector of another op
   * broadcasts along the last axis. */
  bool first_by_row;
};

typedef struct fused_node { /* the node that a fused kernel runs first */
  const weft_node *node;
  const op *op;
  void *state; /* the node's own state, which the fused kernel owns */
  int n_in;
} fused_node;

typedef struct fused_update {
  fused_node first;
  const op *update; /* the op that updates the variable, with its state */
  void *update_state;
} fused_update;

/* Returns the kernel of the first node, for the call from fused kernel `k` with inputs [from, from + n_in). */
kernel weft__fused_first(const kernel *k, const fused_node *first, int from);
void weft__fused_node_finish(fused_node *first);
void weft__fused_update_unprepare(void *state); /* for every op that is a with_update */

#endif
