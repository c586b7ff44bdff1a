/* stitch.cu - splits rows by partition number and merges rows by index on the GPU: DynamicPartition, DynamicStitch.
 *
 * The host must know the number of rows in each output.  For DynamicPartition it waits for the sizes of the
 * partitions.  The indices of DynamicStitch are in host memory, as in TensorFlow. */
#include "kernels/gpu/scan.cuh"
#include <stdlib.h>

/* Copies row order[i] of x to z[i].  A negative number gives a row of zeros; a number beyond x leaves z[i]
 * unchanged. */
template <class T>
__global__ void take_kernel(T *z, const T *x, const int64_t *order, int64_t first, int64_t n, int64_t rows,
                            int64_t inner, bool zeros) {
  GPU_EACH(i, rows * inner) {
    const int64_t row = i / inner, number = order[row], from = number - first;
    if (from >= 0 && from < n)
      z[i] = x[from * inner + (i - row * inner)];
    else if (zeros && number < 0)
      z[i] = T();
  }
}

static weft_err stitch_gather(kernel *k, const gpu_tensor &z, const gpu_tensor &x, const int64_t *order, int64_t first,
                              int64_t n, int64_t inner, bool zeros) {
  if (z.count == 0) return WEFT_OK;
  return gpu_moved(k, z.dtype, [&](auto t) {
    using T = decltype(t);
    take_kernel<<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<T>(z), gpu_data<const T>(x), order,
                                                                        first, n, z.count / inner, inner, zeros);
    return gpu_launched(k);
  });
}

/* Returns true if the shape of data begins with the shape of numbers. *out is the rest, the shape of a row. */
static bool stitch_rows_of(const shape &data, const shape &numbers, shape *out) {
  bool starts = data.rank >= numbers.rank && data.rank - numbers.rank < WEFT_MAX_RANK;
  for (int d = 0; starts && d < numbers.rank; d++) starts = data.dim[d] == numbers.dim[d];
  out->rank = 1, out->dim[0] = 0;
  for (int d = numbers.rank; starts && d < data.rank; d++) out->dim[out->rank++] = data.dim[d];
  return starts;
}

/* ---- DynamicPartition ---- */

/* Enumerates every pair (partition, row), partition by partition; a pair is selected if the row belongs to the
 * partition.  So the selected rows come out sorted by partition. */
struct dealt {
  const int32_t *part;
  int64_t n, *order;
  __device__ bool chosen(int64_t i) const { return part[i % n] == i / n; }
  /* part may have changed since the count, so number is checked */
  __device__ void put(int64_t i, int64_t number) const {
    if (number < n) order[number] = i % n;
  }
};

/* Finds where each partition begins in the sorted order. */
__global__ void begin_kernel(int64_t *begin, int64_t parts, const dealt f, const int64_t *found) {
  GPU_EACH(p, parts + 1) {
    int64_t low = 0, high = *found;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (f.part[f.order[middle]] < p)
        low = middle + 1;
      else
        high = middle;
    }
    begin[p] = low;
  }
}

static weft_err deal_out(kernel *k, const gpu_tensor &x, const dealt &f, int64_t *begin, int parts, shape *out) {
  int64_t *there;
  gpu_scan s;
  gpu_tensor z;
  WEFT_TRY(gpu_scratch(k, parts + 1, &there));
  WEFT_TRY(gpu_scan_count(k, f, f.n * parts, &s));
  WEFT_TRY(gpu_scan_put(k, f, s));
  begin_kernel<<<gpu_blocks(parts + 1), GPU_THREADS, 0, gpu_stream(k)>>>(there, parts, f, s.tile + s.tiles);
  WEFT_TRY(gpu_fetch(k, begin, there, parts + 1));
  for (int p = 0; p < parts; p++) {
    out->dim[0] = begin[p + 1] - begin[p];
    WEFT_TRY(gpu_out(k, p, *out, &z));
    WEFT_TRY(stitch_gather(k, z, x, f.order + begin[p], 0, f.n, gpu_span(*out, 1, out->rank), false));
  }
  return WEFT_OK;
}

static weft_err partition_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), part = gpu_in(k, 1);
  const int parts = weft__gpu->n_out(k);
  dealt f = {gpu_data<const int32_t>(part), part.count, nullptr};
  shape out;
  if (!stitch_rows_of(x.shape, part.shape, &out))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "data.shape must start with partitions.shape");
  WEFT_TRY(gpu_scratch(k, part.count, &f.order));
  int64_t *begin = (int64_t *)malloc(((size_t)parts + 1) * sizeof *begin);
  if (!begin) return gpu_fail(k, WEFT_RESOURCE_EXHAUSTED, "no memory for %d partitions", parts);
  const weft_err err = deal_out(k, x, f, begin, parts, &out);
  free(begin);
  return err;
}

/* ---- DynamicStitch: inputs are N indices, in host memory, then N data ---- */

static weft_err stitch_check(kernel *k, int n, shape *out) {
  for (int i = 0; i < n; i++) {
    const gpu_tensor index = gpu_in(k, i), data = gpu_in(k, n + i);
    shape rows;
    if (!stitch_rows_of(data.shape, index.shape, &rows))
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "data[%d].shape does not start with indices[%d].shape", i, i);
    if (i > 0) rows.dim[0] = out->dim[0];
    if (i > 0 && !gpu_same_shape(rows, *out))
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Need data[0].shape[%d:] = data[%d].shape[%d:]",
                      gpu_in(k, 0).shape.rank, i, index.shape.rank);
    *out = rows;
    for (int64_t j = 0; j < index.count; j++) {
      const int64_t at = gpu_int(index, j);
      if (at < 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "indices[%lld] is out of range", (long long)j);
      if (at >= out->dim[0]) out->dim[0] = at + 1;
    }
  }
  return WEFT_OK;
}

/* Computes which input row each output row is copied from.  Rows are numbered through all inputs, later rows win,
 * and -1 means none. */
static weft_err find_order(kernel *k, int n, int64_t rows, int64_t **there) {
  int64_t *order = (int64_t *)malloc((size_t)rows * sizeof *order), number = 0;
  if (!order) return gpu_fail(k, WEFT_RESOURCE_EXHAUSTED, "no memory for %lld rows", (long long)rows);
  for (int64_t r = 0; r < rows; r++) order[r] = -1;
  for (int i = 0; i < n; i++) {
    const gpu_tensor index = gpu_in(k, i);
    for (int64_t j = 0; j < index.count; j++, number++) {
      const int64_t at = gpu_int(index, j); /* range was checked, but shared memory may have changed: check again */
      if (at >= 0 && at < rows) order[at] = number;
    }
  }
  weft_err err = gpu_scratch(k, rows, there);
  if (err == WEFT_OK) /* cudaMemcpyAsync has copied pageable memory when it returns, so order can be freed */
    err = gpu_said(k,
                   cudaMemcpyAsync(*there, order, (size_t)rows * sizeof *order, cudaMemcpyHostToDevice, gpu_stream(k)));
  free(order);
  return err;
}

static weft_err stitch_gpu(kernel *k) {
  const int n = gpu_n_in(k) / 2;
  int64_t *order = nullptr, first = 0;
  shape out;
  gpu_tensor z;
  WEFT_TRY(stitch_check(k, n, &out));
  WEFT_TRY(gpu_out(k, 0, out, &z));
  if (z.count == 0) return WEFT_OK;
  WEFT_TRY(find_order(k, n, out.dim[0], &order));
  for (int i = 0; i < n; i++) {
    const int64_t rows = gpu_in(k, i).count;
    WEFT_TRY(stitch_gather(k, z, gpu_in(k, n + i), order, first, rows, z.count / out.dim[0], i == 0));
    first += rows;
  }
  return WEFT_OK;
}

GPU_OPS(stitch) = {
    {"DynamicPartition", partition_gpu, GPU_PLAIN, nullptr, true},
    {"DynamicStitch", stitch_gpu, GPU_PLAIN, "indices", true},
    {"ParallelDynamicStitch", stitch_gpu, GPU_PLAIN, "indices", true},
    {0},
};
