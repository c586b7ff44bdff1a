/* gemm_amx.h - the product of large float matrices on the processor's matrix unit. */
#ifndef WEFT_KERNELS_GEMM_GEMM_AMX_H
#define WEFT_KERNELS_GEMM_GEMM_AMX_H

#include "kernels/gemm/gemm.h"

/* Multiplies as weft__gemm does, with the same precision.  Returns false, and writes nothing, if there is no such unit,
 * if packing costs more than it saves, or if memory is short. */
bool weft__gemm_amx(const kernel *k, const gemm *g);

#endif
