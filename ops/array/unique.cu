/* unique.cu - distinct integers on the GPU, in the order of first occurrence: Unique and UniqueWithCounts, and
 * _PaddedUnique for steps that do not need their number (exec/passes/unroll_distinct.c).
 *
 * Each element finds the slot of its value in a hash table.  The slot keeps the least position of that value, so the
 * elements at these positions are the distinct ones.  The host waits for their number, but for _PaddedUnique. */
#include "kernels/gpu/scan.cuh"

struct value_table {
  /* per slot: the position of an element with the slot's value, or -1; later the number of the value */
  int32_t *holder;
  int32_t *first; /* per slot: the first position of its value */
  int32_t *place; /* per element: its slot */
  uint32_t mask;
};

template <class T> __global__ void place_kernel(const T *x, int64_t n, const value_table t) {
  GPU_EACH(i, n) {
    const T v = x[i];
    uint64_t h = (uint64_t)v * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(h >> 32) & t.mask;
    for (;; at = (at + 1) & t.mask) {
      const int32_t there = atomicCAS(&t.holder[at], -1, (int32_t)i);
      if (there < 0 || x[there] == v) break;
    }
    atomicMin(&t.first[at], (int32_t)i);
    t.place[i] = (int32_t)at;
  }
}

template <class T> struct distinct {
  const T *x;
  T *y;
  value_table t;
  __device__ bool chosen(int64_t i) const { return t.first[t.place[i]] == (int32_t)i; }
  __device__ void put(int64_t i, int64_t number) const {
    y[number] = x[i];
    t.holder[t.place[i]] = (int32_t)number;
  }
};

template <class I> __global__ void number_kernel(I *idx, unsigned long long *count, int64_t n, const value_table t) {
  GPU_EACH(i, n) {
    const int32_t number = t.holder[t.place[i]];
    idx[i] = (I)number;
    if (count) atomicAdd(&count[number], 1ull);
  }
}

template <class I> __global__ void count_kernel(I *z, const unsigned long long *count, int64_t n) {
  GPU_EACH(i, n) z[i] = (I)count[i];
}

static weft_err unique_make_table(kernel *k, int64_t n, value_table *t) {
  int64_t places = 16;
  while (places < 2 * n) places *= 2;
  t->mask = (uint32_t)(places - 1);
  WEFT_TRY(gpu_scratch(k, places, &t->holder));
  WEFT_TRY(gpu_scratch(k, places, &t->first));
  WEFT_TRY(gpu_scratch(k, n, &t->place));
  cudaMemsetAsync(t->holder, 0xff, (size_t)places * sizeof *t->holder, gpu_stream(k));
  cudaMemsetAsync(t->first, 0x7f, (size_t)places * sizeof *t->first, gpu_stream(k));
  return gpu_launched(k);
}

/* Computes outputs 1 and 2 after the values have their numbers. */
static weft_err unique_number(kernel *k, int64_t n, int64_t found, const value_table &t) {
  gpu_tensor idx, z = {};
  unsigned long long *count = nullptr;
  const bool counts = weft__gpu->n_out(k) > 2;
  WEFT_TRY(gpu_out(k, 1, gpu_shape(1, &n), &idx));
  if (counts) {
    WEFT_TRY(gpu_out(k, 2, gpu_shape(1, &found), &z));
    WEFT_TRY(gpu_scratch(k, found, &count));
    cudaMemsetAsync(count, 0, (size_t)found * sizeof *count, gpu_stream(k));
  }
  if (n == 0) return gpu_launched(k);
  return gpu_indices(k, idx.dtype, [&](auto index) {
    using I = decltype(index);
    number_kernel<<<gpu_blocks(n), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<I>(idx), count, n, t);
    if (counts) count_kernel<<<gpu_blocks(found), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<I>(z), count, found);
    return gpu_launched(k);
  });
}

template <class T> static weft_err unique_find(kernel *k, const gpu_tensor &x) {
  distinct<T> f = {gpu_data<const T>(x)};
  gpu_tensor y;
  gpu_scan s;
  int64_t found = 0;
  WEFT_TRY(unique_make_table(k, x.count, &f.t));
  place_kernel<<<gpu_blocks(x.count), GPU_THREADS, 0, gpu_stream(k)>>>(f.x, x.count, f.t);
  WEFT_TRY(gpu_scan_count(k, f, x.count, &s));
  WEFT_TRY(gpu_fetch(k, &found, s.tile + s.tiles));
  WEFT_TRY(gpu_out(k, 0, gpu_shape(1, &found), &y));
  f.y = gpu_data<T>(y);
  WEFT_TRY(gpu_scan_put(k, f, s));
  return unique_number(k, x.count, found, f.t);
}

template <class T> __global__ void padding_kernel(T *y, int64_t n) { GPU_EACH(i, n) y[i] = (T)(-1 - i); }

template <class T> static weft_err unique_pad(kernel *k, const gpu_tensor &x) {
  distinct<T> f = {gpu_data<const T>(x)};
  gpu_tensor y;
  gpu_scan s;
  WEFT_TRY(gpu_out(k, 0, x.shape, &y));
  if (x.count) {
    WEFT_TRY(unique_make_table(k, x.count, &f.t));
    f.y = gpu_data<T>(y);
    padding_kernel<<<gpu_blocks(x.count), GPU_THREADS, 0, gpu_stream(k)>>>(f.y, x.count);
    place_kernel<<<gpu_blocks(x.count), GPU_THREADS, 0, gpu_stream(k)>>>(f.x, x.count, f.t);
    WEFT_TRY(gpu_scan_count(k, f, x.count, &s));
    WEFT_TRY(gpu_scan_put(k, f, s));
  }
  return unique_number(k, x.count, 0, f.t);
}

static weft_err padded_unique_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  if (x.shape.rank != 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "unique expects a 1D vector.");
  if (x.count >= 1 << 30) return gpu_fail(k, WEFT_UNIMPLEMENTED, "unique of %lld elements", (long long)x.count);
  return x.dtype == WEFT_INT32 ? unique_pad<int32_t>(k, x) : unique_pad<int64_t>(k, x);
}

static weft_err unique_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  if (x.shape.rank != 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "unique expects a 1D vector.");
  if (x.count >= 1 << 30) return gpu_fail(k, WEFT_UNIMPLEMENTED, "unique of %lld elements", (long long)x.count);
  switch (gpu_size(x.dtype)) {
  case 1: return unique_find<uint8_t>(k, x);
  case 2: return unique_find<uint16_t>(k, x);
  case 4: return unique_find<uint32_t>(k, x);
  default: return unique_find<uint64_t>(k, x);
  }
}

GPU_OPS(unique) = {
    {"Unique", unique_gpu, GPU_INTS | GPU_BOOL, nullptr, true},
    {"UniqueWithCounts", unique_gpu, GPU_INTS | GPU_BOOL, nullptr, true},
    {"_PaddedUnique", padded_unique_gpu, GPU_INDICES},
    {0},
};
