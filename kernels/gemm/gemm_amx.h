/* gemm_amx.h - the product of large float matrices on the processor's matrix unit. */
#ifndef WEFT_KERNELS_GEMM_GEMM_AMX_H
#define WEFT_KERNELS_GEMM_GEMM_AMX_H

#include "kernels/gemm/gemm.h"

/* Multiplies as weft__gemm does, with the same precision.  Returns false, and writes nothing, if there is no such unit,
 * if packing costs more than it saves, or if memory is short. */
bool weft__gemm_amx(const kernel *k, const gemm *g);

/* Several products with the same b and few rows of a, such as those of the steps of a recurrent layer: b is packed
 * once for all of them. */

/* Returns true if that is faster than weft__gemm, for `readers` products of these sizes. */
bool weft__gemm_amx_shares(const gemm *g, int64_t readers);
int64_t weft__gemm_amx_shared_bytes(int64_t n, int64_t k); /* of the packed b */
/* Packs b; of g only n, k and what says where b is are used.  `packed` is aligned to 64 bytes. */
void weft__gemm_amx_share(const kernel *k, const gemm *g, void *packed);
/* Multiplies as weft__gemm does.  Returns false, and writes nothing, if b was not packed for a product of these sizes
 * or if memory is short. */
bool weft__gemm_amx_shared(const kernel *k, const gemm *g, const void *packed);

#endif
