/* block_transpose.h - transposes a matrix whose rows may be apart: the fast path of every permutation of axes. */
#ifndef WEFT_KERNELS_SIMD_BLOCK_TRANSPOSE_H
#define WEFT_KERNELS_SIMD_BLOCK_TRANSPOSE_H

#include <stddef.h>
#include <stdint.h>

enum { BLOCK_TRANSPOSE_STRIP = 128 }; /* rows for one call: few enough pages for the processor's TLB */

/* Sets d[r][c] = s[c][r] for elements of 1, 2, 4, 8 or 16 bytes.  The rows of d are ds bytes apart, those of s are
 * ss bytes apart. */
void weft__block_transpose(char *d, const char *s, int64_t rows, int64_t cols, int64_t ds, int64_t ss, size_t size);

#endif
