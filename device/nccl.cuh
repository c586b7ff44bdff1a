/* nccl.cuh - can_sum and sum of device/gpu_api.h, which cuda.cu puts into its table.  Any thread may call them. */
#pragma once

#include "device/gpu_api.h"
#include <cuda_runtime.h>

enum { NCCL_FAILED = 100000 }; /* not a code of CUDA */

int nccl_can_sum(int n, const int *card, weft_dtype type, bool *can);
int nccl_sum(int n, const int *card, void *const *stream, const void *const *in, int root, void *out, size_t count,
             weft_dtype type);
