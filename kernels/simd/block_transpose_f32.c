/* block_transpose_f32.c - transposes 4 x 4 squares in registers: one load, two shuffles and one store for four
 * elements.
 *
 * The last strip of columns overlaps the previous one if it is not a whole square.  So narrow matrices (ten
 * columns), for which this file exists, are never copied element by element. */
#include "kernels/simd/block_transpose_f32.h"

typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));

static inline void transpose_square(float *dst, int64_t dst_row, const float *src, int64_t src_row) {
  const quad a = *(const quad *)src, b = *(const quad *)(src + src_row);
  const quad c = *(const quad *)(src + 2 * src_row), d = *(const quad *)(src + 3 * src_row);
  const quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  *(quad *)dst = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
  *(quad *)(dst + dst_row) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  *(quad *)(dst + 2 * dst_row) = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
  *(quad *)(dst + 3 * dst_row) = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
}

void weft__block_transpose_f32(float *dst, int64_t dst_row, const float *src, int64_t src_row, int64_t rows,
                               int64_t columns) {
  const int64_t whole = columns < 4 ? 0 : rows - rows % 4;
  for (int64_t i = 0; i < whole; i += 4)
    for (int64_t j = 0; j < columns; j += 4) {
      const int64_t at = j + 4 <= columns ? j : columns - 4;
      transpose_square(dst + at * dst_row + i, dst_row, src + i * src_row + at, src_row);
    }
  for (int64_t i = whole; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) dst[j * dst_row + i] = src[i * src_row + j];
}
