/* pad.cu - MirrorPadGrad on the GPU.  The ops that only move elements are in move.cu.
 *
 * Each thread computes one element: along each axis it adds the element itself and at most one mirrored element in
 * front and one behind. */
#include "kernels/reduce/reduce.cuh"

struct unmirror_args {
  const void *x;
  void *y;
  weft_dtype type;
  int rank;
  int64_t count, edge; /* edge: 1 if the border omits the edge element (REFLECT) */
  int64_t dim[WEFT_MAX_RANK], before[WEFT_MAX_RANK], after[WEFT_MAX_RANK];
};

/* Returns the position of element i of axis d in the padded axis: itself (way 0) or its mirror image in front or
 * behind (ways 1 and 2).  Returns -1 if there is none. */
__device__ __forceinline__ int64_t seen_at(const unmirror_args &a, int d, int64_t i, int way) {
  const int64_t end = a.before[d] + a.dim[d];
  if (way == 0) return a.before[d] + i;
  if (way == 1) {
    const int64_t at = a.before[d] - 1 + a.edge - i;
    return at < a.before[d] ? at : -1;
  }
  const int64_t at = end + a.dim[d] - 1 - a.edge - i;
  return at >= end && at < end + a.after[d] ? at : -1;
}

template <class A> __global__ void __launch_bounds__(GPU_THREADS) unmirror_kernel(const unmirror_args a, int64_t ways) {
  GPU_EACH(i, a.count) {
    A sum = 0;
    for (int64_t w = 0; w < ways; w++) {
      int64_t place = 0, step = 1, left = i, way = w;
      bool there = true;
      for (int d = a.rank - 1; d >= 0 && there; d--, way /= 3) {
        const int64_t at = seen_at(a, d, left % a.dim[d], (int)(way % 3));
        there = at >= 0;
        left /= a.dim[d];
        place += at * step;
        step *= a.before[d] + a.dim[d] + a.after[d];
      }
      if (there) sum += fold_load<A>(a.x, a.type, place);
    }
    fold_store<A>(a.y, a.type, i, sum);
  }
}

static weft_err read_border(kernel *k, const shape &x, unmirror_args *a) {
  const gpu_tensor p = gpu_in(k, 1);
  if (p.shape.rank != 2 || p.shape.dim[1] != 2 || p.shape.dim[0] != x.rank)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "paddings must be a matrix with 2 columns and a row for each axis");
  for (int d = 0; d < x.rank; d++) {
    const int64_t before = gpu_int(p, 2 * d), after = gpu_int(p, 2 * d + 1), n = x.dim[d] - before - after;
    if (before < 0 || after < 0 || n <= 0 || before > n - a->edge || after > n - a->edge)
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "paddings %lld, %lld do not fit dimension %d of size %lld",
                      (long long)before, (long long)after, d, (long long)x.dim[d]);
    a->before[d] = before, a->after[d] = after, a->dim[d] = n;
  }
  return WEFT_OK;
}

static weft_err unmirror_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  unmirror_args a = {x.data, nullptr, x.dtype, x.shape.rank};
  gpu_tensor y;
  int64_t ways = 1;
  a.edge = weft__gpu->attr_is(k, "mode", "REFLECT") ? 1 : 0;
  WEFT_TRY(read_border(k, x.shape, &a));
  WEFT_TRY(gpu_out(k, 0, gpu_shape(a.rank, a.dim), &y));
  for (int d = 0; d < a.rank; d++) ways *= 3;
  a.y = y.data, a.count = y.count;
  return gpu_wide_numbers(k, x.dtype, [&](auto t) {
    unmirror_kernel<decltype(t)><<<gpu_blocks(y.count), GPU_THREADS, 0, gpu_stream(k)>>>(a, ways);
    return gpu_launched(k);
  });
}

GPU_OPS(pad) = {
    {"MirrorPadGrad", unmirror_gpu, GPU_NUMBERS, "paddings"},
    {0},
};
