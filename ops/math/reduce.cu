/* reduce.cu - Sum, Mean, Prod, Max, Min, EuclideanNorm, All, Any and L2Loss on the GPU. */
#include "kernels/reduce/reduce.cuh"

namespace {
struct fold_mean : fold_sum {
  template <class A> __device__ A end(A acc, int64_t n) const { return acc / (A)n; }
};
struct fold_product : fold_sum {
  template <class A> __device__ A begin() const { return 1; }
  template <class A> __device__ A step(A acc, A x) const { return acc * x; }
  template <class A> __device__ A join(A a, A b) const { return a * b; }
};
struct fold_squares : fold_sum {
  template <class A> __device__ A step(A acc, A x) const { return acc + x * x; }
};
struct fold_norm : fold_squares {
  template <class A> __device__ A end(A acc, int64_t) const { return (A)sqrt((double)acc); }
};
struct fold_half_squares : fold_squares {
  template <class A> __device__ A end(A acc, int64_t) const { return acc / 2; }
};

/* Maximum and minimum: NaN wins. */
template <class A> __device__ A lowest() {
  if constexpr (std::is_floating_point_v<A>)
    return -(A)INFINITY;
  else
    return sizeof(A) == 8 ? (A)INT64_MIN : (A)INT32_MIN;
}
template <class A> __device__ A highest() {
  if constexpr (std::is_floating_point_v<A>)
    return (A)INFINITY;
  else
    return sizeof(A) == 8 ? (A)INT64_MAX : (A)INT32_MAX;
}
struct fold_max : fold_sum {
  template <class A> __device__ A begin() const { return lowest<A>(); }
  template <class A> __device__ A step(A acc, A x) const { return acc < x || x != x ? x : acc; }
  template <class A> __device__ A join(A a, A b) const { return a < b || b != b ? b : a; }
};
struct fold_min : fold_sum {
  template <class A> __device__ A begin() const { return highest<A>(); }
  template <class A> __device__ A step(A acc, A x) const { return x < acc || x != x ? x : acc; }
  template <class A> __device__ A join(A a, A b) const { return b < a || b != b ? b : a; }
};
struct fold_all : fold_sum {
  template <class A> __device__ A begin() const { return true; }
  template <class A> __device__ A step(A acc, A x) const { return acc && x; }
  template <class A> __device__ A join(A a, A b) const { return a && b; }
};
struct fold_any : fold_sum {
  template <class A> __device__ A begin() const { return false; }
  template <class A> __device__ A step(A acc, A x) const { return acc || x; }
  template <class A> __device__ A join(A a, A b) const { return a || b; }
};
} // namespace

/* Collects the kept (or reduced) axes of x, with adjacent axes merged. */
static weft_err gather_axes(kernel *k, const shape &s, uint32_t mask, bool wanted, each_axes *out) {
  int64_t size[EACH_MAX_AXES], step[EACH_MAX_AXES], stride = 1;
  int n = 0;
  bool adjacent = false; /* true if this axis is directly outside the previous one in the list */
  for (int d = s.rank - 1; d >= 0; stride *= s.dim[d], d--) {
    if (s.dim[d] == 1) continue;
    if ((mask >> d & 1) != wanted) {
      adjacent = false;
      continue;
    }
    if (adjacent) {
      size[n - 1] *= s.dim[d];
      continue;
    }
    if (n == EACH_MAX_AXES) return gpu_fail(k, WEFT_UNIMPLEMENTED, "a reduction with more than %d runs of axes", n);
    size[n] = s.dim[d], step[n++] = stride;
    adjacent = true;
  }
  *out = each_axes{};
  out->rank = n;
  for (int i = 0; i < n; i++) out->dim[n - 1 - i] = divisor_of(size[i]), out->step[0][n - 1 - i] = step[i];
  return WEFT_OK;
}

/* So many rows keep the GPU busy with a warp each. */
enum { MANY_ROWS = 132 * 16 };

/* Returns the number of slices that gives the GPU enough blocks without slices shorter than `least`. */
static int slices_for(int64_t blocks, int64_t n, int64_t least) {
  const int64_t wanted = (8 * 132 + blocks - 1) / blocks, most = n / least;
  const int64_t slices = wanted < most ? wanted : most;
  return (int)(slices < 1 ? 1 : slices > 512 ? 512 : slices);
}

/* Returns true if each output folds whole packs of adjacent floats. */
static bool has_packs(const fold_args &a) {
  bool packs = a.type == WEFT_FLOAT && a.folded.rank == 1 && a.folded.step[0][0] == 1;
  packs = packs && a.n % EACH_PACK == 0 && a.slice % EACH_PACK == 0 && (uintptr_t)a.x % 16 == 0;
  for (int d = 0; d < a.kept.rank; d++) packs = packs && a.kept.step[0][d] % EACH_PACK == 0;
  return packs;
}

/* Returns true if the outputs are columns of one matrix of floats, which are read four at a time.  So few columns that
 * a block would not have its share of them are not. */
static bool has_column_packs(const fold_args &a) {
  return a.type == WEFT_FLOAT && a.folded.rank == 1 && a.kept.rank == 1 && a.kept.step[0][0] == 1 && a.outputs >= 128 &&
         a.outputs % EACH_PACK == 0 && a.folded.step[0][0] % EACH_PACK == 0 && (uintptr_t)a.x % 16 == 0;
}

weft_err gpu_fold_plan(kernel *k, const gpu_tensor &x, uint32_t mask, const gpu_tensor &z, fold_plan *p) {
  *p = fold_plan{};
  fold_args *a = &p->first;
  if (x.count > UINT32_MAX / 2) return gpu_fail(k, WEFT_UNIMPLEMENTED, "a reduction of more than 2^31 elements");
  WEFT_TRY(gather_axes(k, x.shape, mask, false, &a->kept));
  WEFT_TRY(gather_axes(k, x.shape, mask, true, &a->folded));
  a->x = x.data, a->type = x.dtype, a->z = z.data, a->z_type = z.dtype;
  a->outputs = z.count;
  a->n = x.count / z.count;
  if (x.count == 0) a->n = 0;
  a->count = a->n;
  if (a->folded.rank == 0) a->folded.rank = 1, a->folded.dim[0] = divisor_of(1); /* n is 1 or 0 */
  const int64_t inner_kept = a->kept.rank ? a->kept.step[0][a->kept.rank - 1] : INT64_MAX;
  p->by_rows = a->kept.rank == 0 || a->folded.step[0][a->folded.rank - 1] < inner_kept;
  p->lanes = a->n <= 512 || (a->n <= 4096 && a->outputs >= MANY_ROWS) ? 32 : GPU_THREADS;
  const bool column_packs = !p->by_rows && has_column_packs(*a);
  const int64_t per_block = p->by_rows ? GPU_THREADS / p->lanes : column_packs ? 32 * EACH_PACK : 32;
  const int64_t blocks = (a->outputs + per_block - 1) / per_block;
  p->blocks = (unsigned)blocks;
  p->slices = slices_for(blocks, a->n, p->by_rows ? 2048 : 64);
  a->slice = p->slices > 1 ? (a->n + p->slices - 1) / p->slices : a->n;
  if (p->slices > 1) a->slice = (a->slice + EACH_PACK - 1) / EACH_PACK * EACH_PACK;
  a->packs = p->by_rows ? has_packs(*a) : column_packs;
  if (p->slices == 1) return WEFT_OK;
  fold_args *b = &p->second; /* (outputs, slices), reduced along the second axis */
  b->type = WEFT_INVALID;    /* stored in the type of the computation */
  b->z = z.data, b->z_type = z.dtype;
  b->outputs = a->outputs, b->n = b->slice = p->slices, b->count = a->n;
  b->kept.rank = 1, b->kept.dim[0] = divisor_of(a->outputs), b->kept.step[0][0] = p->slices;
  b->folded.rank = 1, b->folded.dim[0] = divisor_of(p->slices), b->folded.step[0][0] = 1;
  a->slices = p->slices;
  return WEFT_OK;
}

/* Reads the axes in the node's second input, and computes the shape of the result. */
static weft_err folded_shape(kernel *k, const shape &in, uint32_t *mask, shape *out) {
  const gpu_tensor axes = gpu_in(k, 1);
  const bool keep = weft__gpu->attr_bool(k, "keep_dims", false);
  *mask = 0;
  for (int64_t i = 0; i < axes.count; i++) {
    const int64_t axis = gpu_int(axes, i);
    if (axis < -in.rank || axis >= in.rank)
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Invalid reduction dimension (%lld for input with %d dimension(s)",
                      (long long)axis, in.rank);
    *mask |= 1u << (axis < 0 ? axis + in.rank : axis);
  }
  out->rank = 0;
  for (int d = 0; d < in.rank; d++)
    if (!(*mask >> d & 1))
      out->dim[out->rank++] = in.dim[d];
    else if (keep)
      out->dim[out->rank++] = 1;
  return WEFT_OK;
}

template <class A, class F> static weft_err reduce_as(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  gpu_tensor z;
  shape s;
  uint32_t mask;
  WEFT_TRY(folded_shape(k, x.shape, &mask, &s));
  if (mask == 0 && !std::is_same_v<F, fold_norm>) return weft__gpu->forward(k, 0, 0, &x.shape);
  WEFT_TRY(gpu_out(k, 0, s, &z));
  return gpu_fold_as<A>(k, F(), x, mask, z);
}

template <class F> static weft_err reduce_numbers(kernel *k) {
  return gpu_wide_numbers(k, gpu_in(k, 0).dtype, [&](auto t) { return reduce_as<decltype(t), F>(k); });
}

static weft_err l2loss_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  gpu_tensor z;
  WEFT_TRY(gpu_out(k, 0, gpu_shape0(), &z));
  return gpu_wide_floats(k, x.dtype, [&](auto t) {
    return gpu_fold_as<decltype(t)>(k, fold_half_squares(), x, (1u << x.shape.rank) - 1, z);
  });
}

#define ROW(op, f)                                                                                                     \
  { op, reduce_numbers<f>, GPU_NUMBERS, "reduction_indices" }

GPU_OPS(reduce) = {
    ROW("Sum", fold_sum),
    ROW("Mean", fold_mean),
    ROW("Prod", fold_product),
    ROW("Max", fold_max),
    ROW("Min", fold_min),
    ROW("EuclideanNorm", fold_norm),
    {"All", reduce_as<bool, fold_all>, GPU_BOOL, "reduction_indices"},
    {"Any", reduce_as<bool, fold_any>, GPU_BOOL, "reduction_indices"},
    {"L2Loss", l2loss_gpu, GPU_FLOATS},
    {0},
};
