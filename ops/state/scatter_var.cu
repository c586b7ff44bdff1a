/* scatter_var.cu - updates rows or single elements of a variable on the GPU: the ScatterAdd and ScatterNdAdd
 * families.
 *
 * scatter_nd.cu explains how repeated indices and indices out of range are treated. */
#include "kernels/gpu/scatter.cuh"

/* The caller holds the variable's lock. */
static weft_err scatter_locked(kernel *k, scatter_how how, bool nd) {
  const gpu_tensor indices = gpu_in(k, 1), x = gpu_in(k, 2);
  const shape &i = indices.shape;
  gpu_tensor z;
  WEFT_TRY(weft__gpu->writable(k, 0, &z));
  if (z.dtype != x.dtype) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "the variable is of another type");
  if (z.shape.rank < 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "params must be at least 1 dimensional");
  if (nd) {
    WEFT_TRY(gpu_scatter_fits(k, z.shape, i, x.shape));
    return gpu_scatter(k, z, indices, i.dim[i.rank - 1], x, false, how);
  }
  const bool single = x.shape.rank == 0;
  if (!single && x.count != indices.count * gpu_span(z.shape, 1, z.shape.rank))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Must have updates.shape = indices.shape + params.shape[1:]");
  return gpu_scatter(k, z, indices, 1, x, single, how);
}

template <scatter_how how, bool nd> static weft_err scatter_gpu(kernel *k) {
  const int arg = 0;
  weft__gpu->lock(k, 1, &arg);
  const weft_err err = scatter_locked(k, how, nd);
  weft__gpu->unlock(k, 1, &arg);
  if (err == WEFT_OK && weft__gpu->n_out(k)) weft__gpu->out_ref(k, 0, 0);
  return err;
}

#define ROW(name, how, nd)                                                                                             \
  { name, scatter_gpu<how, nd>, SCATTER_TYPES }
#define ROWS(name, how) ROW("Scatter" name, how, false), ROW("ResourceScatter" name, how, false)
#define PLACES(name, how) ROW("ScatterNd" name, how, true), ROW("ResourceScatterNd" name, how, true)

GPU_OPS(scatter_var) = {
    ROWS("Update", SCATTER_SET),
    PLACES("Update", SCATTER_SET),
    ROWS("Add", SCATTER_ADD),
    PLACES("Add", SCATTER_ADD),
    ROWS("Sub", SCATTER_SUB),
    PLACES("Sub", SCATTER_SUB),
    ROWS("Min", SCATTER_MIN),
    PLACES("Min", SCATTER_MIN),
    ROWS("Max", SCATTER_MAX),
    PLACES("Max", SCATTER_MAX),
    ROWS("Mul", SCATTER_MUL),
    ROWS("Div", SCATTER_DIV),
    {0},
};
