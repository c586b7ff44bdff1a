/* bundle.h - a bundle of elementwise ops with several results that runs as one kernel of a GPU.
 *
 * exec/passes/bundle.c creates bundles; kernels/elementwise/chain.cu runs them. */
#ifndef WEFT_KERNELS_ELEMENTWISE_BUNDLE_H
#define WEFT_KERNELS_ELEMENTWISE_BUNDLE_H

#include "kernels/elementwise/elementwise.h"
#include "kernels/gpu/gpu.h"

typedef struct bundle {              /* the state of the kernel */
  gpu_bundle gpu;                    /* first: the plug-in gets its address */
  elem_loop *loop[GPU_BUNDLE_STEPS]; /* per step, for a simulated GPU */
} bundle;

extern const op weft__bundle_op; /* a simulated GPU runs it with weft__program_simulated */

#endif
