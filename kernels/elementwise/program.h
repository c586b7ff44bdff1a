/* program.h - a chain of elementwise ops that runs as one loop, block by block.
 *
 * exec/passes/fuse.c makes programs.  One runs alone, changes a variable, or is the epilogue of another op. */
#ifndef WEFT_KERNELS_ELEMENTWISE_PROGRAM_H
#define WEFT_KERNELS_ELEMENTWISE_PROGRAM_H

#include "graph/fusion.h"
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

/* Kernels whose state is a program: one makes output 0; the other changes the variable that is its input 0. */
extern const op weft__program_op, weft__program_update_op;
/* Either of them on a simulated card, where the CPU's loops stand for a card's. */
weft_err weft__program_simulated(kernel *k);

typedef struct fused_epilogue { /* the state of a kernel that is a fusion's with_epilogue */
  fused_node first;
  int from; /* the program's input that is the node's result */
  program program;
} fused_epilogue;
void weft__fused_epilogue_unprepare(void *state); /* of every such op */
/* The program's inputs: those of `k` behind the node's own, with the node's result put in.  Returns their number. */
int weft__epilogue_operands(const kernel *k, const fused_epilogue *e, const weft_tensor *result,
                            const weft_tensor **in);
/* Runs the program over output 0, which the node has made as a whole. */
weft_err weft__epilogue_run(kernel *k, const fused_epilogue *e);

#endif
