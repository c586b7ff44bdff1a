/* gemm_tile.h - the product of float matrices over the tiles of microkernel.h. */
#ifndef WEFT_KERNELS_GEMM_GEMM_TILE_H
#define WEFT_KERNELS_GEMM_GEMM_TILE_H

#include "kernels/gemm/gemm.h"

void weft__gemm_tile(const gemm *g); /* on the caller's thread; g->type is float */

#endif
