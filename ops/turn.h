/* turn.h - a matrix of floats transposed, for packing. */
#ifndef WEFT_OPS_TURN_H
#define WEFT_OPS_TURN_H

#include <stdint.h>

/* dst[j * dst_row + i] = src[i * src_row + j] for i below rows, j below columns; they do not overlap. */
void weft__turn(float *dst, int64_t dst_row, const float *src, int64_t src_row, int64_t rows, int64_t columns);

#endif
