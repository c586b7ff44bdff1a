/* gemm.cuh - products of matrices on the GPU, by cuBLASLt, for MatMul and convolutions. */
#pragma once

#include "kernels/gpu/gpu.cuh"

/* What a float may lose on its way into the matrix units, as WEFT_TF32 and WEFT_BF16 say. */
enum gpu_round { ROUND_NOT, ROUND_TF32, ROUND_BF16 };
gpu_round gpu_rounding();

/* c = op(a) op(b) + beta c for each of `batch` matrices, all row by row: op(a) is m x k, op(b) k x n, c m x n. */
struct gpu_gemm {
  weft_dtype type;
  bool wide_c;         /* c is float though a and b are bfloat16 */
  bool flip_a, flip_b; /* stored transposed */
  bool rounded_a, rounded_b; /* is bfloat16 though the type is float (exec/passes/round_operands.h) */
  int64_t m, n, k;
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
  int batch;
  int64_t step_a, step_b, step_c; /* elements from one matrix to the next; 0: the same for all */
  float beta;
};
weft_err gpu_gemm_run(kernel *k, const gpu_gemm &g);
/* For exec/passes/round_operands.c: whether operands are rounded to bfloat16; and the kernel that does it. */
bool gpu_rounds_operands();
weft_err gpu_round_operand(kernel *k);

/* For a product with few rows, in exact floats (skinny.cu): whether it can be computed so; and computes it. */
bool gpu_gemm_is_skinny(const gpu_gemm &g);
weft_err gpu_gemm_skinny(kernel *k, gpu_gemm g);
