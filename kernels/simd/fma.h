/* fma.h - products fused with sums in the function that says so, whatever the rest of the library does: it halves the
 * work and rounds less.  WEFT_FMA stands before the function, WEFT_FMA_BODY first in its body. */
#ifndef WEFT_KERNELS_SIMD_FMA_H
#define WEFT_KERNELS_SIMD_FMA_H

#if defined(__clang__)
#define WEFT_FMA
#define WEFT_FMA_BODY _Pragma("clang fp contract(fast)")
#else
#define WEFT_FMA __attribute__((optimize("fp-contract=fast")))
#define WEFT_FMA_BODY
#endif

#endif
