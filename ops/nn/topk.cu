/* topk.cu - the k largest elements of each row in order, on the GPU: TopK, TopKV2, NthElement.
 *
 * This is a merge sort of positions: each pass merges runs to runs of twice the length.  A position finds by binary
 * search how many positions of the other run precede it.  Only the first k of a run are kept.  Equal elements keep
 * their order; NaN is last. */
#include "kernels/reduce/reduce.cuh"

template <class A> struct merge_args {
  const void *x;
  weft_dtype type;
  int64_t rows, n, k, width; /* width: length of the runs that are merged */
  const int32_t *from;       /* (rows, n); NULL: each position is a run of length 1 */
  int32_t *to;
};

template <class A> __device__ __forceinline__ A value_at(const merge_args<A> &a, int64_t row, int64_t at) {
  return fold_load<A>(a.x, a.type, row * a.n + at);
}
template <class A> __device__ __forceinline__ int32_t place_at(const merge_args<A> &a, int64_t row, int64_t i) {
  return a.from ? a.from[row * a.n + i] : (int32_t)i;
}
template <class A> __device__ __forceinline__ bool greater(A x, A y) { return x > y || (x == x && y != y); }

template <class A> __global__ void __launch_bounds__(GPU_THREADS) merge_kernel(const merge_args<A> a) {
  GPU_EACH(i, a.rows * a.n) {
    const int64_t row = i / a.n, at = i - row * a.n, run = at / a.width, own = at - run * a.width;
    const int64_t other = (run ^ 1) * a.width, pair = (run & ~(int64_t)1) * a.width;
    if (own >= a.k) continue;
    const int32_t place = place_at(a, row, at);
    const A v = value_at(a, row, place);
    int64_t low = 0, high = a.n - other < a.width ? a.n - other : a.width; /* the last run may be short or missing */
    if (high > a.k) high = a.k;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      const A w = value_at(a, row, place_at(a, row, other + middle));
      if (run & 1 ? !greater(v, w) : greater(w, v)) /* equal elements: those of the first run come first */
        low = middle + 1;
      else
        high = middle;
    }
    if (own + low < a.k) a.to[row * a.n + pair + own + low] = place;
  }
}

/* Finds the positions of the k largest elements of each row, in order, at the beginning of the row. */
static weft_err find_top(kernel *k, const gpu_tensor &x, int64_t n, int64_t top, const int32_t **places) {
  int32_t *buffer[2];
  if (n > INT32_MAX) return gpu_fail(k, WEFT_UNIMPLEMENTED, "rows of %lld elements", (long long)n);
  for (int i = 0; i < 2; i++) WEFT_TRY(gpu_scratch(k, x.count, &buffer[i]));
  return gpu_wide_numbers(k, x.dtype, [&](auto t) {
    merge_args<decltype(t)> a = {x.data, x.dtype, x.count / n, n, top, 1, nullptr, buffer[0]};
    for (int pass = 0; pass == 0 || a.width < n; pass++, a.width *= 2) {
      merge_kernel<<<gpu_blocks(x.count), GPU_THREADS, 0, gpu_stream(k)>>>(a);
      *places = a.to;
      a.from = a.to;
      a.to = buffer[(pass + 1) % 2];
    }
    return gpu_launched(k);
  });
}

template <class T>
__global__ void value_kernel(T *z, const T *x, const int32_t *places, int64_t rows, int64_t n, int64_t from,
                             int64_t count) {
  GPU_EACH(i, rows * count) {
    const int64_t row = i / count;
    z[i] = x[row * n + places[row * n + from + (i - row * count)]];
  }
}

template <class I> __global__ void index_kernel(I *z, const int32_t *places, int64_t rows, int64_t n, int64_t count) {
  GPU_EACH(i, rows * count) z[i] = (I)places[i / count * n + i % count];
}

/* Writes the elements of rank [from, from + count) of each row. */
static weft_err topk_put_values(kernel *k, const gpu_tensor &z, const gpu_tensor &x, const int32_t *places, int64_t n,
                                int64_t from, int64_t count) {
  return gpu_moved(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    value_kernel<<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<T>(z), gpu_data<const T>(x), places,
                                                                         x.count / n, n, from, count);
    return gpu_launched(k);
  });
}

static weft_err top_k(kernel *k, int64_t top) {
  const gpu_tensor x = gpu_in(k, 0);
  gpu_tensor z, at;
  shape s = x.shape;
  if (top < 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Need k >= 0, got %lld", (long long)top);
  if (s.rank < 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input must be >= 1-D, got a scalar");
  const int64_t n = s.dim[s.rank - 1];
  if (n < top)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input must have at least k columns. Had %lld, needed %lld", (long long)n,
                    (long long)top);
  s.dim[s.rank - 1] = top;
  WEFT_TRY(gpu_out(k, 0, s, &z));
  WEFT_TRY(gpu_out(k, 1, s, &at));
  if (z.count == 0) return WEFT_OK;
  const int32_t *places = nullptr;
  WEFT_TRY(find_top(k, x, n, top, &places));
  WEFT_TRY(topk_put_values(k, z, x, places, n, 0, top));
  return gpu_indices(k, at.dtype, [&](auto t) {
    using I = decltype(t);
    index_kernel<<<gpu_blocks(at.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<I>(at), places, x.count / n, n, top);
    return gpu_launched(k);
  });
}

static weft_err top_k_gpu(kernel *k) { return top_k(k, weft__gpu->attr_int(k, "k", 0)); }

static weft_err top_k_v2_gpu(kernel *k) {
  const gpu_tensor top = gpu_in(k, 1);
  if (top.shape.rank) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "k must be scalar, not of rank %d", top.shape.rank);
  return top_k(k, top.dtype == WEFT_INT16 ? *gpu_data<const int16_t>(top) : gpu_int(top, 0));
}

static weft_err nth_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), wanted = gpu_in(k, 1);
  gpu_tensor z;
  shape s = x.shape;
  if (wanted.shape.rank)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "N must be scalar but has rank %d", wanted.shape.rank);
  const int64_t nth = gpu_int(wanted, 0);
  if (nth < 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "n must be non-negative but is %lld", (long long)nth);
  if (s.rank < 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Input must be at least rank 1 but is rank 0");
  const int64_t n = s.dim[--s.rank];
  if (nth >= n) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Input must have last dimension > n = %lld", (long long)nth);
  WEFT_TRY(gpu_out(k, 0, s, &z));
  if (z.count == 0) return WEFT_OK;
  const int32_t *places = nullptr;
  const int64_t rank = weft__gpu->attr_bool(k, "reverse", false) ? nth : n - 1 - nth;
  WEFT_TRY(find_top(k, x, n, rank + 1, &places));
  return topk_put_values(k, z, x, places, n, rank, 1);
}

GPU_OPS(topk) = {
    {"TopK", top_k_gpu, GPU_NUMBERS},
    {"TopKV2", top_k_v2_gpu, GPU_NUMBERS, "k"},
    {"NthElement", nth_gpu, GPU_NUMBERS, "n"},
    {0},
};
