/* formula.cuh - a kernel that is compiled for one chain or group of elementwise ops.
 *
 * The kernels of chain.cu interpret their steps.  That takes longer than memory does where tensors are large, so
 * NVIDIA's run-time compiler (NVRTC) makes a kernel of the steps, if it is installed.  The results are the same, bit by
 * bit. */
#pragma once

#include "kernels/elementwise/elementwise.cuh"

__host__ __device__ inline bool gpu_is_row_step(const gpu_step &s) { return s.n_in == 1 && s.function >= GPU_ROW_SUM; }

/* A tensor as the kernel walks through it.  Along the innermost axis the stride is 1, or 0 where one element is
 * repeated; no axes: a scalar. */
struct formula_view {
  void *at;
  int rank;
  int64_t dim[EACH_MAX_AXES], step[EACH_MAX_AXES]; /* outermost first; in elements */
  gpu_view_kind kind;
};

/* Returns the size of an element of a view, where the group's type has elements of `size`. */
inline size_t gpu_view_size(gpu_view_kind kind, size_t size) {
  return kind == VIEW_BOOL ? sizeof(bool) : kind == VIEW_BF16 ? sizeof(bf16) : size;
}

/* Steps and results name inputs (>= 0) and results of earlier steps (-1 - step), as those of gpu_group do. */
struct formula {
  weft_dtype type;
  bool rounds;    /* a 16-bit float is rounded after each step */
  int64_t n, row; /* row > 0: there are steps that work on whole rows of so many elements */
  int pack;       /* elements that a thread computes: EACH_PACK or 1; gpu_formula_run chooses */
  int n_in, n_step, n_out;
  gpu_step step[GPU_GROUP_STEPS];
  const char *function[GPU_GROUP_STEPS]; /* per step: its name in functions.inc */
  formula_view in[GPU_GROUP_IN], out[GPU_GROUP_OUT];
  int8_t result[GPU_GROUP_OUT];
};

/* Tensors of fewer elements are not worth the time to compile a kernel, unless it has so many steps. */
enum { FORMULA_LEAST = 1 << 18, FORMULA_STEPS = 6 };

/* Runs the formula with a kernel of its own.  *done is false if there is none: the compiler is missing, the tensors are
 * small, rows are not aligned, or the kernel is new and a CUDA graph is being captured. */
weft_err gpu_formula_run(kernel *k, formula &f, bool *done);
/* Returns true if kernels can be compiled on this machine. */
bool gpu_formula_compiles();
/* Writes the source of the formula's kernel.  Returns false if there is not enough room. */
bool gpu_formula_source(const formula &f, char *text, size_t room);
