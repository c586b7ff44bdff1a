/* transpose.cuh - a matrix turned round on the card, in tiles that are read and written in whole rows. */
#pragma once

#include "kernels/gpu/gpu.cuh"

enum { TURN_TILE = 32, TURN_ROWS = 8, TURN_MOST_BLOCKS = 65535 };

template <class T> static __global__ void turn_kernel(const T *x, T *y, int64_t rows, int64_t columns, int64_t step) {
  __shared__ T tile[TURN_TILE][TURN_TILE + 1];
  const int64_t left = (int64_t)blockIdx.x * TURN_TILE, c = left + threadIdx.x;
  for (int64_t top = (int64_t)blockIdx.y * TURN_TILE; top < rows; top += (int64_t)gridDim.y * TURN_TILE) {
    for (int j = threadIdx.y; j < TURN_TILE; j += TURN_ROWS)
      if (top + j < rows && c < columns) tile[j][threadIdx.x] = x[(top + j) * step + c];
    __syncthreads();
    for (int j = threadIdx.y; j < TURN_TILE; j += TURN_ROWS)
      if (left + j < columns && top + threadIdx.x < rows)
        y[(left + j) * rows + top + threadIdx.x] = tile[threadIdx.x][j];
    __syncthreads();
  }
}

/* y (columns x rows) is x (rows x columns, whose rows are `step` apart) turned round. */
template <class T> weft_err gpu_turn(kernel *k, const T *x, T *y, int64_t rows, int64_t columns, int64_t step) {
  const int64_t down = (rows + TURN_TILE - 1) / TURN_TILE;
  const dim3 grid((unsigned)((columns + TURN_TILE - 1) / TURN_TILE),
                  (unsigned)(down < TURN_MOST_BLOCKS ? down : TURN_MOST_BLOCKS));
  turn_kernel<<<grid, dim3(TURN_TILE, TURN_ROWS), 0, gpu_stream(k)>>>(x, y, rows, columns, step);
  return gpu_launched(k);
}
