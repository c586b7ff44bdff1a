/* transpose.cuh - transposes a matrix on the GPU, in tiles that are read and written in whole rows. */
#pragma once

#include "kernels/gpu/gpu.cuh"

enum { TRANSPOSE_TILE = 32, TRANSPOSE_ROWS = 8, TRANSPOSE_MAX_BLOCKS = 65535 };

template <class T>
static __global__ void transpose_kernel(const T *x, T *y, int64_t rows, int64_t columns, int64_t step) {
  __shared__ T tile[TRANSPOSE_TILE][TRANSPOSE_TILE + 1];
  const int64_t left = (int64_t)blockIdx.x * TRANSPOSE_TILE, c = left + threadIdx.x;
  for (int64_t top = (int64_t)blockIdx.y * TRANSPOSE_TILE; top < rows; top += (int64_t)gridDim.y * TRANSPOSE_TILE) {
    for (int j = threadIdx.y; j < TRANSPOSE_TILE; j += TRANSPOSE_ROWS)
      if (top + j < rows && c < columns) tile[j][threadIdx.x] = x[(top + j) * step + c];
    __syncthreads();
    for (int j = threadIdx.y; j < TRANSPOSE_TILE; j += TRANSPOSE_ROWS)
      if (left + j < columns && top + threadIdx.x < rows)
        y[(left + j) * rows + top + threadIdx.x] = tile[threadIdx.x][j];
    __syncthreads();
  }
}

/* Queues y[columns, rows] = transpose of x[rows, columns], whose rows are `step` elements apart. */
template <class T>
weft_err gpu_transpose_matrix(kernel *k, const T *x, T *y, int64_t rows, int64_t columns, int64_t step) {
  const int64_t down = (rows + TRANSPOSE_TILE - 1) / TRANSPOSE_TILE;
  const dim3 grid((unsigned)((columns + TRANSPOSE_TILE - 1) / TRANSPOSE_TILE),
                  (unsigned)(down < TRANSPOSE_MAX_BLOCKS ? down : TRANSPOSE_MAX_BLOCKS));
  transpose_kernel<<<grid, dim3(TRANSPOSE_TILE, TRANSPOSE_ROWS), 0, gpu_stream(k)>>>(x, y, rows, columns, step);
  return gpu_launched(k);
}
