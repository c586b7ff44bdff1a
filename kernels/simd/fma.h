/* fma.h - products fused with sums in the function that says so, whatever the rest of the library does: it halves the
 * work and rounds less.  FUSED stands before the function, FUSE first in its body. */
#ifndef WEFT_KERNELS_SIMD_FMA_H
#define WEFT_KERNELS_SIMD_FMA_H

#if defined(__clang__)
#define FUSED
#define FUSE _Pragma("clang fp contract(fast)")
#else
#define FUSED __attribute__((optimize("fp-contract=fast")))
#define FUSE
#endif

#endif
