/* block_transpose_f32.h - transposes a matrix of floats, for packing. */
#ifndef WEFT_KERNELS_SIMD_BLOCK_TRANSPOSE_F32_H
#define WEFT_KERNELS_SIMD_BLOCK_TRANSPOSE_F32_H

#include <stdint.h>

/* Sets dst[j * dst_row + i] = src[i * src_row + j] for i below rows and j below columns.  They do not overlap. */
void weft__block_transpose_f32(float *dst, int64_t dst_row, const float *src, int64_t src_row, int64_t rows,
                               int64_t columns);

#endif
