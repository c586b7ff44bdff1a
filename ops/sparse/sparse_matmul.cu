/* sparse_matmul.cu - SparseTensorDenseMatMul on the GPU.  As in TensorFlow, entries are added in an undefined order,
 * and entries outside the matrix are ignored. */
#include "kernels/gpu/scatter.cuh"

struct product_args {
  int64_t entries, rows, inner, columns; /* inner: rows of op(b) */
  bool flip_a, flip_b;
};

template <class T, class I>
__global__ void product_kernel(T *z, const I *places, const T *values, const T *b, const product_args a) {
  GPU_EACH(i, a.entries * a.columns) {
    const int64_t e = i / a.columns, c = i - e * a.columns;
    const int64_t row = (int64_t)places[2 * e + a.flip_a], at = (int64_t)places[2 * e + !a.flip_a];
    if (row < 0 || row >= a.rows || at < 0 || at >= a.inner) continue;
    add_at(&z[row * a.columns + c], values[e] * b[a.flip_b ? c * a.inner + at : at * a.columns + c]);
  }
}

static weft_err matmul_gpu(kernel *k) {
  const gpu_tensor places = gpu_in(k, 0), values = gpu_in(k, 1), dims = gpu_in(k, 2), b = gpu_in(k, 3);
  product_args a = {values.count};
  gpu_tensor z;
  a.flip_a = weft__gpu->attr_bool(k, "adjoint_a", false), a.flip_b = weft__gpu->attr_bool(k, "adjoint_b", false);
  if (b.shape.rank != 2) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Tensor 'b' is not a matrix");
  if (dims.shape.rank != 1 || dims.count != 2)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Tensor 'a_shape' must have 2 elements");
  if (values.shape.rank != 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Tensor 'a_values' is not a vector");
  if (places.shape.rank != 2 || places.shape.dim[0] != values.count || places.shape.dim[1] != 2)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Tensor 'a_indices' must be a matrix of %lld by 2",
                    (long long)values.count);
  a.rows = gpu_int(dims, a.flip_a), a.inner = gpu_int(dims, !a.flip_a), a.columns = b.shape.dim[!a.flip_b];
  if (a.inner != b.shape.dim[a.flip_b])
    return gpu_fail(k, WEFT_INVALID_ARGUMENT,
                    "Cannot multiply A and B because inner dimension does not match: %lld vs. %lld.  Did you forget a "
                    "transpose?",
                    (long long)a.inner, (long long)b.shape.dim[a.flip_b]);
  const int64_t out[] = {a.rows, a.columns};
  WEFT_TRY(gpu_out(k, 0, gpu_shape(2, out), &z));
  if (z.count == 0) return WEFT_OK;
  cudaMemsetAsync(z.data, 0, (size_t)z.count * gpu_size(z.dtype), gpu_stream(k));
  if (a.entries == 0) return gpu_launched(k);
  return gpu_scatter_types(k, z.dtype, [&](auto t) {
    using T = decltype(t);
    return gpu_indices(k, places.dtype, [&](auto index) {
      product_kernel<<<gpu_blocks(a.entries * a.columns), GPU_THREADS, 0, gpu_stream(k)>>>(
          gpu_data<T>(z), gpu_data<const decltype(index)>(places), gpu_data<const T>(values), gpu_data<const T>(b), a);
      return gpu_launched(k);
    });
  });
}

GPU_OPS(sparse_matmul) = {
    {"SparseTensorDenseMatMul", matmul_gpu, SCATTER_TYPES, "a_shape"},
    {0},
};
