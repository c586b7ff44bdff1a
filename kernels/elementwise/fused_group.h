/* fused_group.h - a group of elementwise ops with several results that runs as one kernel of a GPU.
 *
 * exec/fused_groups/fused_group.c creates groups; kernels/elementwise/chain.cu runs them. */
#ifndef WEFT_KERNELS_ELEMENTWISE_FUSED_GROUP_H
#define WEFT_KERNELS_ELEMENTWISE_FUSED_GROUP_H

#include "kernels/elementwise/elementwise.h"
#include "kernels/gpu/gpu.h"

typedef struct fused_group {        /* the state of the kernel */
  gpu_group gpu;                    /* first: the plug-in gets its address */
  elem_loop *loop[GPU_GROUP_STEPS]; /* per step, for a simulated GPU */
} fused_group;

extern const op weft__fused_group_op; /* a simulated GPU runs it with weft__program_simulated */

#endif
