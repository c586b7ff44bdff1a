/* deferred_adam.h - a step of sparse Adam as one op, by which exec/passes/defer_updates.c replaces TensorFlow's
 * chain of ops. */
#ifndef WEFT_KERNELS_TRAINING_DEFERRED_ADAM_H
#define WEFT_KERNELS_TRAINING_DEFERRED_ADAM_H

#include "graph/op.h"

/* The inputs.  The first three are variables, as references or as handles, the next four scalars. */
enum {
  ADAM_VALUE,
  ADAM_MEAN,
  ADAM_SQUARE,
  ADAM_BETA1,
  ADAM_BETA2,
  ADAM_RATE,
  ADAM_EPSILON,
  ADAM_INDICES,
  ADAM_MEAN_ROWS,   /* added to rows of m */
  ADAM_SQUARE_ROWS, /* added to rows of v */
  ADAM_INPUTS
};
/* Output 0, if the node has one, is the reference to the variable. */
extern const op weft__deferred_adam_op;

#endif
