/* program.h - a chain of elementwise loops run block by block (exec/passes/fuse.c), alone or at the end of a convolution. */
#ifndef WEFT_EXEC_PASSES_PROGRAM_H
#define WEFT_EXEC_PASSES_PROGRAM_H

#include "exec/plan.h"
#include "kernels/elementwise/elementwise.h"

enum { PROGRAM_STEPS = 12, PROGRAM_BLOCK = 256 }; /* temporaries: at most 24 KB, within the first cache */

typedef struct fused_step {
  elem_loop *loop; /* on the CPU; on a card: */
  int function;    /* as the plug-in numbers them (kernels/gpu/gpu.h) */
  int n_in;
  int arg[2]; /* >= 0: that input of the group; < 0: the result of step -1 - arg */
} fused_step;

typedef struct program {
  weft_dtype type;
  int n_step, cost;
  fused_step step[PROGRAM_STEPS];
} program;

/* An elem_loop whose argument is the program.  z may be one of the inputs. */
void weft__program_run(void *z, const void *const *in, int64_t n, const void *arg);

/* exec/passes/fuse_conv.c: makes `root`, which runs a program, run the convolution too that its input `from` comes from.  The
 * convolution's state goes over to it; its item is then to be dropped. */
weft_err weft__fuse_conv(plan *p, plan_item *root, plan_item *convolution, int from);
/* exec/passes/fuse_descent.c: makes `root`, an ApplyGradientDescent, make the product too that its gradient is.  As above. */
weft_err weft__fuse_matmul_descent(plan *p, plan_item *root, plan_item *product);

#endif
