/* nccl.cuh - sums over several cards: the calls of device/gpu_api.h, as cuda.cu puts them into its table. */
#pragma once

#include "device/gpu_api.h"
#include <cuda_runtime.h>

enum { NCCL_FAILED = 100000 }; /* beside CUDA's codes */

int nccl_can_sum(int n, const int *card, weft_dtype type, bool *can);
int nccl_sum(int n, const int *card, void *const *stream, const void *const *in, int root, void *out, size_t count,
             weft_dtype type);
