/* segment.cu - combines rows by segment on the GPU.
 *
 * If ids are sorted, one thread computes one column of a segment and finds its rows by binary search, so results are
 * repeatable.  For unsorted ids, the rows are scattered atomically as in scatter_nd.cu, starting from the neutral
 * element; floats are then added in an undefined order, as in TensorFlow.  Ids that should be sorted but are not,
 * and ids out of range, give no error. */
#include "ops/math/segment.cuh"

#include "kernels/reduce/reduce.cuh"
#include <limits>

struct segment_args {
  const void *x, *id, *from; /* from: the rows of x to use, or NULL for all */
  void *z;
  weft_dtype type, id_type, from_type;
  int64_t ids, rows, segments, inner; /* rows: number of rows of x */
  segment_kind kind;
};

__device__ __forceinline__ int64_t int_at(const void *p, weft_dtype type, int64_t i) {
  return type == WEFT_INT64 ? ((const int64_t *)p)[i] : ((const int32_t *)p)[i];
}

/* Returns the index of the first id >= s. */
__device__ __forceinline__ int64_t first_of(const segment_args &a, int64_t s) {
  int64_t low = 0, high = a.ids;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (int_at(a.id, a.id_type, middle) < s)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

template <class A> __device__ __forceinline__ A taken_in(segment_kind kind, A acc, A v, bool first) {
  switch (kind) {
  case SEGMENT_PROD: return first ? v : acc * v;
  case SEGMENT_MAX: return first || acc < v || v != v ? v : acc;
  case SEGMENT_MIN: return first || v < acc || v != v ? v : acc;
  default: return acc + v;
  }
}

template <class A> __device__ __forceinline__ A divided_by(segment_kind kind, A sum, int64_t n) {
  if (n <= 1 || (kind != SEGMENT_MEAN && kind != SEGMENT_SQRT_N)) return sum;
  return sum / (kind == SEGMENT_MEAN ? (A)n : (A)sqrt((double)n));
}

template <class A> __global__ void __launch_bounds__(GPU_THREADS) segment_kernel(const segment_args a) {
  GPU_EACH(i, a.segments * a.inner) {
    const int64_t s = i / a.inner, column = i - s * a.inner, begin = first_of(a, s), end = first_of(a, s + 1);
    A acc = begin == end && a.kind == SEGMENT_PROD ? (A)1 : (A)0;
    for (int64_t r = begin; r < end; r++) {
      const int64_t row = a.from ? int_at(a.from, a.from_type, r) : r;
      if (row < 0 || row >= a.rows) continue;
      acc = taken_in(a.kind, acc, fold_load<A>(a.x, a.type, row * a.inner + column), r == begin);
    }
    fold_store<A>(a.z, a.type, i, divided_by(a.kind, acc, end - begin));
  }
}

weft_err gpu_segments_combine(kernel *k, segment_kind kind, const gpu_tensor &x, const gpu_tensor *from,
                              const gpu_tensor &id, const gpu_tensor &z) {
  segment_args a = {x.data, id.data, nullptr, z.data, x.dtype, id.dtype, WEFT_INT32};
  if (from) a.from = from->data, a.from_type = from->dtype;
  a.ids = id.count, a.rows = x.shape.dim[0], a.segments = z.shape.dim[0];
  a.inner = gpu_span(z.shape, 1, z.shape.rank);
  a.kind = kind;
  if (z.count == 0) return WEFT_OK;
  return gpu_wide_numbers(k, x.dtype, [&](auto t) {
    segment_kernel<decltype(t)><<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>(a);
    return gpu_launched(k);
  });
}

weft_err gpu_segments(kernel *k, const gpu_tensor &id, int64_t *out) {
  *out = 0;
  if (id.count == 0) return WEFT_OK;
  WEFT_TRY(gpu_indices(k, id.dtype, [&](auto t) {
    const weft_err err = gpu_fetch(k, &t, gpu_data<const decltype(t)>(id) + id.count - 1);
    *out = (int64_t)t + 1;
    return err;
  }));
  return *out > 0 ? WEFT_OK : gpu_fail(k, WEFT_INVALID_ARGUMENT, "segment ids must be >= 0");
}

template <segment_kind kind> static weft_err sorted_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), id = gpu_in(k, 1);
  gpu_tensor z;
  shape s = x.shape;
  if (id.shape.rank != 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "segment_ids should be a vector.");
  if (s.rank < 1 || s.dim[0] != id.count)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "segment_ids should be the same size as dimension 0 of input.");
  WEFT_TRY(gpu_segments(k, id, &s.dim[0]));
  WEFT_TRY(gpu_out(k, 0, s, &z));
  return gpu_segments_combine(k, kind, x, nullptr, id, z);
}

/* ---- unsorted ids ---- */

template <class T> __global__ void fill_kernel(T *z, int64_t n, T v) { GPU_EACH(i, n) z[i] = v; }

template <class T> static T neutral(scatter_how how) {
  switch (how) {
  case SCATTER_MUL: return 1;
  case SCATTER_MIN: return std::numeric_limits<T>::max();
  case SCATTER_MAX: return std::numeric_limits<T>::lowest();
  default: return 0;
  }
}

template <scatter_how how> static weft_err unsorted_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), id = gpu_in(k, 1), segments = gpu_in(k, 2);
  gpu_tensor z;
  for (int d = 0; d < id.shape.rank; d++)
    if (d >= x.shape.rank || x.shape.dim[d] != id.shape.dim[d])
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "data.shape does not start with segment_ids.shape");
  if (segments.shape.rank) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "num_segments should be a scalar");
  shape s = gpu_shape0();
  s.dim[s.rank++] = gpu_int(segments, 0);
  if (s.dim[0] < 0)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Input num_segments == %lld must not be negative.", (long long)s.dim[0]);
  for (int d = id.shape.rank; d < x.shape.rank; d++) s.dim[s.rank++] = x.shape.dim[d];
  WEFT_TRY(gpu_out(k, 0, s, &z));
  if (z.count == 0) return WEFT_OK;
  WEFT_TRY(gpu_scatter_types(k, z.dtype, [&](auto t) {
    using T = decltype(t);
    fill_kernel<<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<T>(z), z.count, neutral<T>(how));
    return gpu_launched(k);
  }));
  return gpu_scatter(k, z, id, 1, x, false, how);
}

#define SORTED(name, kind)                                                                                             \
  { "Segment" name, sorted_gpu<kind>, GPU_NUMBERS, nullptr, true }

GPU_OPS(segment) = {
    {"UnsortedSegmentSum", unsorted_gpu<SCATTER_ADD>, SCATTER_TYPES, "num_segments"},
    {"UnsortedSegmentProd", unsorted_gpu<SCATTER_MUL>, SCATTER_TYPES, "num_segments"},
    {"UnsortedSegmentMax", unsorted_gpu<SCATTER_MAX>, SCATTER_TYPES, "num_segments"},
    {"UnsortedSegmentMin", unsorted_gpu<SCATTER_MIN>, SCATTER_TYPES, "num_segments"},
    SORTED("Sum", SEGMENT_SUM),
    SORTED("Mean", SEGMENT_MEAN),
    SORTED("Prod", SEGMENT_PROD),
    SORTED("Max", SEGMENT_MAX),
    SORTED("Min", SEGMENT_MIN),
    {0},
};
