/* gemm_packed.h - the product of float matrices from packed operands, where the processor has a tile for that. */
#ifndef WEFT_KERNELS_GEMM_GEMM_PACKED_H
#define WEFT_KERNELS_GEMM_GEMM_PACKED_H

#include "kernels/gemm/gemm.h"

/* Multiplies as weft__gemm_serial does, with the bits of weft__gemm_tile.  Returns false, and writes nothing, if there is
 * no tile, if packing costs more than it saves, or if there is no memory. */
bool weft__gemm_packed(const gemm *g);

#endif
