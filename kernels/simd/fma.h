/* fma.h - lets the compiler contract a * b + c to a fused multiply-add in one function, whatever the library's flags
 * are.
 *
 * It halves the work and rounds less.  WEFT_FMA is in front of the function, WEFT_FMA_BODY is first in its body.
 *
 * Such a function keeps a block of accumulators in nearly all registers.  On aarch64 GCC schedules instructions
 * before it assigns registers.  It would load all rows of the left operand before the first product, and keep
 * accumulators on the stack (33 instead of 50 GFLOP/s for 512 x 512 x 256 on one Neoverse V1).  So WEFT_FMA disables
 * that scheduling.  Where everything that is loaded fits beside the accumulators, as in a small tile, early loads help:
 * such a function has WEFT_FMA_EARLY in front. */
#ifndef WEFT_KERNELS_SIMD_FMA_H
#define WEFT_KERNELS_SIMD_FMA_H

#if defined(__clang__)
#define WEFT_FMA
#define WEFT_FMA_EARLY
#define WEFT_FMA_BODY _Pragma("clang fp contract(fast)")
#else
#define WEFT_FMA __attribute__((optimize("fp-contract=fast", "no-schedule-insns")))
#define WEFT_FMA_EARLY __attribute__((optimize("fp-contract=fast")))
#define WEFT_FMA_BODY
#endif

#endif
