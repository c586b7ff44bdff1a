/* block_transpose_f32_test.c - checks that every small matrix is transposed and that nothing beside it is written. */
#include "kernels/simd/block_transpose_f32.h"
#include "tests/check.h"

TEST(matrices_of_all_small_sizes_are_turned) {
  enum { MOST = 13, PAD = 2 };
  for (int rows = 0; rows <= MOST; rows++)
    for (int columns = 0; columns <= MOST; columns++) {
      float src[MOST * (MOST + PAD)], dst[(MOST + 1) * (MOST + PAD)];
      for (int i = 0; i < MOST * (MOST + PAD); i++) src[i] = (float)i;
      for (int i = 0; i < (MOST + 1) * (MOST + PAD); i++) dst[i] = -1;
      weft__block_transpose_f32(dst, rows + PAD, src, columns + PAD, rows, columns);
      for (int j = 0; j <= columns; j++)
        for (int i = 0; i < rows + PAD; i++) {
          const bool inside = i < rows && j < columns;
          EXPECT_EQ_INT(dst[j * (rows + PAD) + i], inside ? src[i * (columns + PAD) + j] : -1);
        }
    }
}
