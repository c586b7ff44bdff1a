/* sparse_segment.cu - sums over segments of rows that are selected by index, on the GPU.  Embedding columns use
 * them.
 *
 * In the gradients, floats are added in an undefined order, as in TensorFlow on a GPU. */
#include "ops/math/segment.cuh"

static weft_err check_vectors(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), index = gpu_in(k, 1), id = gpu_in(k, 2);
  if (index.shape.rank != 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "indices should be a vector.");
  if (id.shape.rank != 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "segment_ids should be a vector.");
  if (index.count != id.count)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "segment_ids and indices should have same size.");
  return x.shape.rank < 1 ? gpu_fail(k, WEFT_INVALID_ARGUMENT, "input must be at least 1-D, got a scalar") : WEFT_OK;
}

template <segment_kind kind> static weft_err forward_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), index = gpu_in(k, 1), id = gpu_in(k, 2);
  shape s = x.shape;
  gpu_tensor z;
  WEFT_TRY(check_vectors(k));
  if (gpu_n_in(k) < 4) {
    WEFT_TRY(gpu_segments(k, id, &s.dim[0]));
  } else {
    const gpu_tensor segments = gpu_in(k, 3);
    if (segments.shape.rank || (s.dim[0] = gpu_int(segments, 0)) < 0)
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "num_segments should be a scalar that is not negative");
  }
  WEFT_TRY(gpu_out(k, 0, s, &z));
  return gpu_segments_combine(k, kind, x, &index, id, z);
}

/* ---- backward: z[index[i]] += grad[id[i]] / scale of the segment ---- */

template <class S> __global__ void count_kernel(int32_t *count, const S *id, int64_t n, int64_t segments) {
  GPU_EACH(i, n) {
    const int64_t s = (int64_t)id[i]; /* loaded once, so that the checked value is the one used */
    if (s >= 0 && s < segments) atomicAdd(&count[s], 1);
  }
}

/* The rows to add, each divided by the scale of its segment; zeros if the segment does not exist. */
template <class T, class S>
__global__ void slice_kernel(T *slice, const T *grad, const S *id, const int32_t *count, int64_t n, int64_t segments,
                             int64_t inner, segment_kind kind) {
  GPU_EACH(i, n * inner) {
    const int64_t row = i / inner, s = (int64_t)id[row];
    const bool inside = s >= 0 && s < segments;
    const double by = inside && kind != SEGMENT_SUM ? count[s] : 1;
    slice[i] = inside ? grad[s * inner + (i - row * inner)] / (T)(kind == SEGMENT_SQRT_N ? sqrt(by) : by) : (T)0;
  }
}

static weft_err make_slices(kernel *k, segment_kind kind, int64_t inner, gpu_tensor *slices) {
  const gpu_tensor grad = gpu_in(k, 0), id = gpu_in(k, 2);
  const int64_t segments = grad.shape.dim[0];
  int32_t *count;
  WEFT_TRY(gpu_scratch(k, segments, &count));
  cudaMemsetAsync(count, 0, (size_t)segments * sizeof *count, gpu_stream(k));
  *slices = {grad.dtype, gpu_shape(1, &id.count), id.count * inner};
  WEFT_TRY(gpu_scratch(k, slices->count * (int64_t)gpu_size(grad.dtype), (char **)&slices->data));
  if (slices->count == 0) return gpu_launched(k);
  return gpu_scatter_types(k, grad.dtype, [&](auto t) {
    using T = decltype(t);
    return gpu_indices(k, id.dtype, [&](auto i) {
      const auto ids = gpu_data<const decltype(i)>(id);
      count_kernel<<<gpu_blocks(id.count), GPU_THREADS, 0, gpu_stream(k)>>>(count, ids, id.count, segments);
      slice_kernel<<<gpu_blocks(slices->count), GPU_THREADS, 0, gpu_stream(k)>>>(
          gpu_data<T>(*slices), gpu_data<const T>(grad), ids, count, id.count, segments, inner, kind);
      return gpu_launched(k);
    });
  });
}

template <segment_kind kind> static weft_err backward_gpu(kernel *k) {
  const gpu_tensor rows = gpu_in(k, 3);
  shape s = gpu_in(k, 0).shape;
  gpu_tensor z, slices;
  WEFT_TRY(check_vectors(k));
  if (rows.shape.rank) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "output_dim0 should be a scalar.");
  s.dim[0] = gpu_int(rows, 0);
  WEFT_TRY(gpu_out(k, 0, s, &z));
  if (z.count == 0) return WEFT_OK;
  cudaMemsetAsync(z.data, 0, (size_t)z.count * gpu_size(z.dtype), gpu_stream(k));
  WEFT_TRY(make_slices(k, kind, gpu_span(s, 1, s.rank), &slices));
  return gpu_scatter(k, z, gpu_in(k, 1), 1, slices, false, SCATTER_ADD);
}

#define SEGMENTS(name, kind)                                                                                           \
  {"SparseSegment" name, forward_gpu<kind>, GPU_NUMBERS, nullptr, true},                                               \
      {"SparseSegment" name "WithNumSegments", forward_gpu<kind>, GPU_NUMBERS, "num_segments"}, {                      \
    "SparseSegment" name "Grad", backward_gpu<kind>, SCATTER_TYPES, "output_dim0"                                      \
  }

GPU_OPS(sparse_segment) = {
    SEGMENTS("Sum", SEGMENT_SUM),
    SEGMENTS("Mean", SEGMENT_MEAN),
    SEGMENTS("SqrtN", SEGMENT_SQRT_N),
    {0},
};
