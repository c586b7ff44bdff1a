/* sparse_to_dense.cu - SparseToDense on the GPU.
 *
 * The host waits once for the kernel, to report indices that are out of bounds, repeated or out of order, as on the
 * CPU. */
#include "kernels/gpu/gpu.cuh"
#include <string.h>

struct dense_shape {
  int rank;
  int64_t dim[WEFT_MAX_RANK];
};

/* Returns the position of index i in the dense tensor, or -1 if it is out of bounds. */
template <class I> __device__ int64_t dense_place(const I *index, int64_t i, const dense_shape &s) {
  int64_t at = 0;
  for (int d = 0; d < s.rank; d++) {
    const int64_t v = (int64_t)index[i * s.rank + d];
    if (v < 0 || v >= s.dim[d]) return -1;
    at = at * s.dim[d] + v;
  }
  return at;
}

/* Sets *bad to the first index that is out of bounds or, if they must be sorted, not greater than the previous one. */
template <class I>
__global__ void __launch_bounds__(GPU_THREADS)
    dense_check_kernel(const I *index, int64_t n, dense_shape s, bool sorted, unsigned long long *bad) {
  GPU_EACH(i, n) {
    const int64_t at = dense_place(index, i, s);
    if (at < 0 || (sorted && i > 0 && at <= dense_place(index, i - 1, s))) atomicMin(bad, (unsigned long long)i);
  }
}

template <class T> __global__ void __launch_bounds__(GPU_THREADS) dense_fill_kernel(T *y, const T *value, int64_t n) {
  const T v = *value;
  GPU_EACH(i, n) y[i] = v;
}

template <class T, class I>
__global__ void __launch_bounds__(GPU_THREADS)
    dense_put_kernel(T *y, const I *index, const T *value, int64_t n, bool one, dense_shape s) {
  GPU_EACH(i, n) y[dense_place(index, i, s)] = value[one ? 0 : i];
}

/* Returns the error for index `bad`. */
template <class I> static weft_err dense_refuse(const kernel *k, const I *index, int64_t bad, const dense_shape &s) {
  I row[2 * WEFT_MAX_RANK];
  const int64_t from = bad > 0 ? bad - 1 : 0;
  char text[160] = "[";
  bool outside = false, same = bad > 0;
  WEFT_TRY(gpu_fetch(k, row, index + from * s.rank, (bad - from + 1) * s.rank));
  const I *own = row + (bad - from) * s.rank;
  for (int d = 0; d < s.rank; d++) {
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%lld", d ? "," : "", (long long)own[d]);
    outside = outside || own[d] < 0 || (int64_t)own[d] >= s.dim[d];
    same = same && own[d] == row[d];
  }
  const char *what = outside ? "out of bounds"
                     : same  ? "repeated"
                             : "out of order. Many sparse ops require sorted indices.\n"
                               "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n";
  return gpu_fail(k, WEFT_INVALID_ARGUMENT, "indices[%lld] = %s] is %s", (long long)bad, text, what);
}

template <class I> static weft_err dense_check(kernel *k, const gpu_tensor &index, int64_t n, const dense_shape &s) {
  unsigned long long *bad, first = ~0ull;
  const bool sorted = weft__gpu->attr_bool(k, "validate_indices", true);
  WEFT_TRY(gpu_scratch(k, 1, &bad));
  WEFT_TRY(gpu_said(k, cudaMemsetAsync(bad, 0xff, sizeof *bad, gpu_stream(k))));
  dense_check_kernel<I><<<gpu_blocks(n), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const I>(index), n, s, sorted, bad);
  WEFT_TRY(gpu_fetch(k, &first, bad));
  return first == ~0ull ? WEFT_OK : dense_refuse<I>(k, gpu_data<const I>(index), (int64_t)first, s);
}

static weft_err dense_shapes(const kernel *k, int64_t *n, shape *out) {
  const gpu_tensor index = gpu_in(k, 0), size = gpu_in(k, 1), value = gpu_in(k, 2), rest = gpu_in(k, 3);
  if (index.shape.rank > 2)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "sparse_indices should be a scalar, vector, or matrix, got %d axes",
                    index.shape.rank);
  *n = index.shape.rank > 0 ? index.shape.dim[0] : 1;
  const int64_t depth = index.shape.rank > 1 ? index.shape.dim[1] : 1;
  if (size.shape.rank != 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "output_shape must be rank 1");
  if (size.count != depth)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "output_shape has incorrect number of elements: %lld should be: %lld",
                    (long long)size.count, (long long)depth);
  if (value.shape.rank != 0 && (value.shape.rank != 1 || value.shape.dim[0] != *n))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "sparse_values has an incorrect shape, it should be [] or [%lld]",
                    (long long)*n);
  if (rest.shape.rank != 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "default_value should be a scalar.");
  return gpu_dims(k, 1, out);
}

static weft_err dense_gpu(kernel *k) {
  int64_t n = 0;
  shape out;
  gpu_tensor y;
  WEFT_TRY(dense_shapes(k, &n, &out));
  const gpu_tensor index = gpu_in(k, 0), value = gpu_in(k, 2), rest = gpu_in(k, 3);
  dense_shape s = {out.rank, {0}};
  for (int d = 0; d < out.rank; d++) s.dim[d] = out.dim[d];
  return gpu_indices(k, index.dtype, [&](auto i) {
    using I = decltype(i);
    if (n > 0) WEFT_TRY(dense_check<I>(k, index, n, s));
    WEFT_TRY(gpu_out(k, 0, out, &y));
    if (y.count == 0) return WEFT_OK;
    return gpu_moved(k, y.dtype, [&](auto t) {
      using T = decltype(t);
      dense_fill_kernel<T>
          <<<gpu_blocks(y.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<T>(y), gpu_data<const T>(rest), y.count);
      if (n > 0)
        dense_put_kernel<T, I><<<gpu_blocks(n), GPU_THREADS, 0, gpu_stream(k)>>>(
            gpu_data<T>(y), gpu_data<const I>(index), gpu_data<const T>(value), n, value.shape.rank == 0, s);
      return gpu_launched(k);
    });
  });
}

GPU_OPS(sparse_to_dense) = {
    {"SparseToDense", dense_gpu, GPU_PLAIN, "output_shape", true},
    {0},
};
