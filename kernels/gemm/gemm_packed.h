/* gemm_packed.h - the product of float matrices from packed operands, for processors with a packed tile. */
#ifndef WEFT_KERNELS_GEMM_GEMM_PACKED_H
#define WEFT_KERNELS_GEMM_GEMM_PACKED_H

#include "kernels/gemm/gemm.h"

/* Multiplies as weft__gemm_serial does; the result has the same bits as weft__gemm_tile's.  Returns false, and
 * writes nothing, if there is no packed tile, if packing costs more than it saves, or if memory is short. */
bool weft__gemm_packed(const gemm *g);

#endif
