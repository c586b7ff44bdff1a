/* program.h - a chain of elementwise ops that runs as one loop, block by block.
 *
 * exec/passes/fuse.c creates programs.  A program runs alone, updates a variable, or is the epilogue of another op. */
#ifndef WEFT_KERNELS_ELEMENTWISE_PROGRAM_H
#define WEFT_KERNELS_ELEMENTWISE_PROGRAM_H

#include "graph/fusion.h"
#include "kernels/elementwise/elementwise.h"

enum { PROGRAM_STEPS = 12, PROGRAM_BLOCK = 256 }; /* temporaries take at most 24 KB and stay in the L1 cache */

typedef struct fused_step {
  elem_loop *loop; /* on the CPU */
  int function;    /* on a GPU: the plug-in's number of the function (kernels/gpu/gpu.h) */
  int n_in;
  int arg[3]; /* >= 0: that input of the program; < 0: the result of step -1 - arg */
} fused_step;

typedef struct program {
  weft_dtype type;
  int n_step, cost;
  fused_step step[PROGRAM_STEPS];
} program;

/* An elem_loop whose argument is the program.  z may be one of the inputs. */
void weft__program_run(void *z, const void *const *in, int64_t n, const void *arg);

/* Kernels whose state is a program: the first creates output 0, the second updates the variable that is its input 0. */
extern const op weft__program_op, weft__program_update_op;
/* Runs either of them, or a group (fused_group.h), on a simulated GPU, with the CPU's loops. */
weft_err weft__program_simulated(kernel *k);

typedef struct fused_epilogue { /* the state of a kernel that is a fusion's with_epilogue */
  fused_node first;
  int from; /* index of the program's input that is the node's result */
  program program;
} fused_epilogue;
void weft__fused_epilogue_unprepare(void *state); /* the .unprepare of every such op */
/* Stores the program's inputs: the inputs of `k` behind the node's own, and the node's result.  Returns their
 * number. */
int weft__epilogue_operands(const kernel *k, const fused_epilogue *e, const weft_tensor *result,
                            const weft_tensor **in);
/* Runs the program over output 0, which the node has computed completely. */
weft_err weft__epilogue_run(kernel *k, const fused_epilogue *e);

#endif
