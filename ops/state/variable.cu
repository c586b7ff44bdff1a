/* variable.cu - adds to variables on the GPU. gpu_everywhere.c has creating, reading and assigning. */
#include "kernels/elementwise/functions.cuh"

template <class F> static weft_err update_locked(kernel *k) {
  gpu_tensor in[2];
  WEFT_TRY(weft__gpu->writable(k, 0, &in[0]));
  in[1] = gpu_in(k, 1);
  if (in[0].dtype != in[1].dtype) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "the variable is of another type");
  if (!gpu_same_shape(in[0].shape, in[1].shape))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Parameters and update must be the same size");
  return gpu_wide_numbers(k, in[0].dtype, [&](auto t) {
    using T = decltype(t);
    return gpu_each_into<T, T, T, 2>(k, F(), in[0], in);
  });
}

template <class F> static weft_err update_gpu(kernel *k) {
  const int arg = 0;
  weft__gpu->lock(k, 1, &arg);
  const weft_err err = update_locked<F>(k);
  weft__gpu->unlock(k, 1, &arg);
  if (err == WEFT_OK && weft__gpu->n_out(k)) weft__gpu->out_ref(k, 0, 0);
  return err;
}

GPU_OPS(variable) = {
    {"AssignAdd", update_gpu<add>, GPU_NUMBERS},
    {"AssignSub", update_gpu<sub>, GPU_NUMBERS},
    {"AssignAddVariableOp", update_gpu<add>, GPU_NUMBERS},
    {"AssignSubVariableOp", update_gpu<sub>, GPU_NUMBERS},
    {0},
};
