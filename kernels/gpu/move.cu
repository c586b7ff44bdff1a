/* move.cu - the strided copy on the GPU, and the ops whose CPU kernels need nothing else.
 *
 * These kernels read shapes, axes and paddings in host memory and call weft__strided_copy_run, which comes here if
 * the node is on a GPU. (gpu_everywhere.c has the ops that move nothing.) A copy uses the widest elements that its
 * runs, strides and addresses allow. Ops with one copy per input or output make all of them in one launch. */
#include "kernels/elementwise/elementwise.cuh"

/* Finds where element i is on both sides.  Operand 0 of the axes is the source, operand 1 the destination. */
__device__ __forceinline__ void move_offsets(const each_axes &a, uint32_t i, int64_t *from, int64_t *to) {
  *from = *to = 0;
  for (int axis = a.rank - 1; axis >= 0; axis--) {
    const uint32_t q = divided(i, a.dim[axis]), at = i - q * a.dim[axis].d;
    *from += at * a.step[0][axis];
    *to += at * a.step[1][axis];
    i = q;
  }
}

/* A thread requests four elements before it waits for the first. */
enum { MOVE_EACH = 4 };
template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    move_kernel(T *dst, const T *src, int64_t n, const __grid_constant__ each_axes axes) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step * MOVE_EACH) {
    T v[MOVE_EACH];
    int64_t from, to[MOVE_EACH];
#pragma unroll
    for (int q = 0; q < MOVE_EACH; q++) {
      if (i + q * step >= n) break;
      move_offsets(axes, (uint32_t)(i + q * step), &from, &to[q]);
      v[q] = src ? src[from] : T();
    }
#pragma unroll
    for (int q = 0; q < MOVE_EACH; q++)
      if (i + q * step < n) dst[to[q]] = v[q];
  }
}

struct move_work {
  size_t size;
  char *dst;
  const char *src;
  int rank;
  int64_t dim[EACH_MAX_AXES], to[EACH_MAX_AXES], from[EACH_MAX_AXES]; /* strides in bytes */
};

/* Makes elements wider if a run of them is contiguous on both sides. */
static void move_widen(move_work *j) {
  const int in = j->rank - 1;
  const int64_t run = j->dim[in] * (int64_t)j->size;
  if (j->to[in] != (int64_t)j->size || (j->src && j->from[in] != (int64_t)j->size)) return;
  uint64_t all = (uint64_t)(uintptr_t)j->dst | (uint64_t)run | (j->src ? (uint64_t)(uintptr_t)j->src : 0);
  for (int d = 0; d < in; d++) all |= (uint64_t)j->to[d] | (j->src ? (uint64_t)j->from[d] : 0);
  size_t width = 16;
  while (all % width) width /= 2;
  if (width <= j->size) return;
  j->size = width;
  j->dim[in] = run / (int64_t)width;
  j->to[in] = j->from[in] = (int64_t)width;
}

template <class T> static weft_err move_launch(kernel *k, const move_work &j, int64_t n) {
  each_axes axes = {};
  axes.rank = j.rank;
  for (int d = 0; d < j.rank; d++) {
    axes.dim[d] = divisor_of(j.dim[d]);
    axes.step[0][d] = j.from[d] / (int64_t)sizeof(T);
    axes.step[1][d] = j.to[d] / (int64_t)sizeof(T);
  }
  move_kernel<T><<<gpu_blocks(n, MOVE_EACH), GPU_THREADS, 0, gpu_stream(k)>>>((T *)j.dst, (const T *)j.src, n, axes);
  return gpu_launched(k);
}

static weft_err move_run(kernel *k, const move_work &j) {
  int64_t n = 1;
  int longest = 0;
  for (int d = 0; d < j.rank; d++) {
    n *= j.dim[d];
    if (j.dim[d] > j.dim[longest]) longest = d;
  }
  if (n > INT32_MAX) { /* copies two halves of its longest axis */
    move_work low = j, high = j;
    low.dim[longest] /= 2;
    high.dim[longest] -= low.dim[longest];
    high.dst += low.dim[longest] * j.to[longest];
    if (j.src) high.src += low.dim[longest] * j.from[longest];
    WEFT_TRY(move_run(k, low));
    return move_run(k, high);
  }
  switch (j.size) {
  case 1: return move_launch<uint8_t>(k, j, n);
  case 2: return move_launch<uint16_t>(k, j, n);
  case 4: return move_launch<uint32_t>(k, j, n);
  case 8: return move_launch<uint64_t>(k, j, n);
  default: return move_launch<uint4>(k, j, n);
  }
}

/* ---- several copies in one launch ---- */

enum { MOVE_PIECES = 40 };

struct move_piece { /* rows of elements that are contiguous on both sides */
  char *dst;
  const char *src;
  uint32_t first; /* number of its first element among those of all pieces */
  divisor run;    /* elements of a row */
  int64_t to, from; /* strides of the rows, in elements */
};
struct move_pieces {
  int n;
  move_piece piece[MOVE_PIECES];
};

template <class T>
__global__ void __launch_bounds__(GPU_THREADS) pieces_kernel(uint32_t n, const __grid_constant__ move_pieces all) {
  GPU_EACH(i, n) {
    int p = 0;
    while (p + 1 < all.n && all.piece[p + 1].first <= (uint32_t)i) p++;
    const move_piece &at = all.piece[p];
    const uint32_t local = (uint32_t)i - at.first, row = divided(local, at.run), column = local - row * at.run.d;
    ((T *)at.dst)[row * at.to + column] = ((const T *)at.src)[row * at.from + column];
  }
}

/* The copies of a kernel that makes several.  Its thread collects them here while the CPU kernel requests them. */
static thread_local struct {
  bool on;
  int n;
  int64_t count; /* bytes */
  move_work job[MOVE_PIECES];
} gathered;

/* Returns true if the copy consists of rows of contiguous elements. */
static bool is_piece(const move_work &j) {
  const int in = j.rank - 1;
  return j.src && j.rank <= 2 && j.to[in] == (int64_t)j.size && j.from[in] == (int64_t)j.size;
}

/* Returns the size of the widest element that divides all collected copies. */
static size_t gathered_width() {
  uint64_t all = 0;
  for (int i = 0; i < gathered.n; i++) {
    const move_work &j = gathered.job[i];
    all |= (uint64_t)(uintptr_t)j.dst | (uint64_t)(uintptr_t)j.src | (uint64_t)(j.dim[j.rank - 1] * (int64_t)j.size);
    if (j.rank == 2) all |= (uint64_t)j.to[0] | (uint64_t)j.from[0];
  }
  size_t width = 16;
  while (all % width) width /= 2;
  return width;
}

template <class T> static weft_err launch_pieces(kernel *k) {
  move_pieces all = {};
  uint32_t n = 0;
  for (int i = 0; i < gathered.n; i++) {
    const move_work &j = gathered.job[i];
    const int64_t run = j.dim[j.rank - 1] * (int64_t)j.size / (int64_t)sizeof(T), rows = j.rank == 2 ? j.dim[0] : 1;
    move_piece &p = all.piece[all.n++];
    p.dst = j.dst, p.src = j.src, p.first = n, p.run = divisor_of(run);
    p.to = j.rank == 2 ? j.to[0] / (int64_t)sizeof(T) : 0;
    p.from = j.rank == 2 ? j.from[0] / (int64_t)sizeof(T) : 0;
    n += (uint32_t)(run * rows);
  }
  pieces_kernel<T><<<gpu_blocks(n, 2), GPU_THREADS, 0, gpu_stream(k)>>>(n, all);
  return gpu_launched(k);
}

static weft_err move_gathered(kernel *k) {
  weft_err err = WEFT_OK;
  if (gathered.n == 1) err = move_run(k, gathered.job[0]);
  if (gathered.n > 1) switch (gathered_width()) {
    case 1: err = launch_pieces<uint8_t>(k); break;
    case 2: err = launch_pieces<uint16_t>(k); break;
    case 4: err = launch_pieces<uint32_t>(k); break;
    case 8: err = launch_pieces<uint64_t>(k); break;
    default: err = launch_pieces<uint4>(k);
    }
  gathered.n = 0;
  gathered.count = 0;
  return err;
}

static weft_err gather_job(kernel *k, const move_work &j) {
  int64_t bytes = (int64_t)j.size;
  for (int d = 0; d < j.rank; d++) bytes *= j.dim[d];
  if (!is_piece(j) || bytes > INT32_MAX) return move_run(k, j);
  if (gathered.n == MOVE_PIECES || gathered.count + bytes > INT32_MAX) WEFT_TRY(move_gathered(k));
  gathered.job[gathered.n++] = j;
  gathered.count += bytes;
  return WEFT_OK;
}

/* Runs the CPU kernel, and then all the copies that it requested. */
static weft_err many_gpu(kernel *k) {
  gathered.on = true;
  gathered.n = 0;
  gathered.count = 0;
  const weft_err err = weft__gpu->run_cpu(k);
  gathered.on = false;
  return err ? err : move_gathered(k);
}

static weft_err move_axes(kernel *k, size_t size, void *dst, const void *src, int rank, const int64_t *dim,
                     const int64_t *dst_step, const int64_t *src_step) {
  move_work j = {size, (char *)dst, (const char *)src, rank};
  if (rank > EACH_MAX_AXES)
    return gpu_fail(k, WEFT_UNIMPLEMENTED, "a copy along %d axes, more than %d", rank, EACH_MAX_AXES);
  for (int d = 0; d < rank; d++) j.dim[d] = dim[d], j.to[d] = dst_step[d], j.from[d] = src_step[d];
  move_widen(&j);
  return gathered.on ? gather_job(k, j) : move_run(k, j);
}

gpu_mover *weft__gpu_mover() { return move_axes; }

#define MOVES(op, host)                                                                                                \
  { op, nullptr, GPU_PLAIN, host }

#define MOVES_MANY(op, host)                                                                                           \
  { op, many_gpu, GPU_PLAIN, host }

GPU_OPS(move) = {
    MOVES("Slice", "begin size"),
    MOVES("StridedSlice", "begin end strides"),
    MOVES("StridedSliceGrad", "shape begin end strides"),
    MOVES("Pad", "paddings"),
    MOVES("PadV2", "paddings"),
    MOVES("MirrorPad", "paddings"),
    MOVES_MANY("Concat", "concat_dim"),
    MOVES_MANY("ConcatV2", "axis"),
    MOVES_MANY("Pack", nullptr),
    MOVES_MANY("Split", "split_dim"),
    MOVES_MANY("SplitV", "size_splits split_dim"),
    MOVES_MANY("Unpack", nullptr),
    MOVES("Transpose", "perm"),
    MOVES("Tile", "multiples"),
    MOVES("BroadcastTo", "shape"),
    MOVES("ReverseV2", "axis"),
    MOVES("ReverseSequence", "seq_lengths"),
    MOVES("Roll", "shift axis"),
    MOVES("DiagPart", nullptr),
    MOVES("SpaceToDepth", nullptr),
    MOVES("DepthToSpace", nullptr),
    MOVES("SpaceToBatchND", "block_shape paddings"),
    MOVES("BatchToSpaceND", "block_shape crops"),
    MOVES("SpaceToBatch", "paddings"),
    MOVES("BatchToSpace", "crops"),
    MOVES("EnsureShape", nullptr),
    MOVES("Bitcast", nullptr),
    {0},
};
