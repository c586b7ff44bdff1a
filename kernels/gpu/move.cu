/* move.cu - the strided copy on the GPU, and the ops whose CPU kernels need nothing else.
 *
 * These kernels read shapes, axes and paddings in host memory and call weft__strided_copy_run, which comes here if
 * the node is on a GPU. (gpu_everywhere.c has the ops that move nothing.) A copy uses the widest elements that its
 * runs, strides and addresses allow. */
#include "kernels/elementwise/elementwise.cuh"

/* Operand 0 of the axes is the source, operand 1 the destination. */
template <class T>
__global__ void __launch_bounds__(GPU_THREADS)
    move_kernel(T *dst, const T *src, int64_t n, const __grid_constant__ each_axes axes) {
  GPU_EACH(i, n) dst[each_offset(axes, 1, (uint32_t)i)] = src ? src[each_offset(axes, 0, (uint32_t)i)] : T();
}

struct move_job {
  size_t size;
  char *dst;
  const char *src;
  int rank;
  int64_t dim[EACH_MAX_AXES], to[EACH_MAX_AXES], from[EACH_MAX_AXES]; /* strides in bytes */
};

/* Makes elements wider if a run of them is contiguous on both sides. */
static void widen(move_job *j) {
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

template <class T> static weft_err launch(kernel *k, const move_job &j, int64_t n) {
  each_axes axes = {};
  axes.rank = j.rank;
  for (int d = 0; d < j.rank; d++) {
    axes.dim[d] = divisor_of(j.dim[d]);
    axes.step[0][d] = j.from[d] / (int64_t)sizeof(T);
    axes.step[1][d] = j.to[d] / (int64_t)sizeof(T);
  }
  move_kernel<T><<<gpu_blocks(n, 2), GPU_THREADS, 0, gpu_stream(k)>>>((T *)j.dst, (const T *)j.src, n, axes);
  return gpu_launched(k);
}

static weft_err run(kernel *k, const move_job &j) {
  int64_t n = 1;
  int longest = 0;
  for (int d = 0; d < j.rank; d++) {
    n *= j.dim[d];
    if (j.dim[d] > j.dim[longest]) longest = d;
  }
  if (n > INT32_MAX) { /* copies two halves of its longest axis */
    move_job low = j, high = j;
    low.dim[longest] /= 2;
    high.dim[longest] -= low.dim[longest];
    high.dst += low.dim[longest] * j.to[longest];
    if (j.src) high.src += low.dim[longest] * j.from[longest];
    WEFT_TRY(run(k, low));
    return run(k, high);
  }
  switch (j.size) {
  case 1: return launch<uint8_t>(k, j, n);
  case 2: return launch<uint16_t>(k, j, n);
  case 4: return launch<uint32_t>(k, j, n);
  case 8: return launch<uint64_t>(k, j, n);
  default: return launch<uint4>(k, j, n);
  }
}

static weft_err move(kernel *k, size_t size, void *dst, const void *src, int rank, const int64_t *dim,
                     const int64_t *dst_step, const int64_t *src_step) {
  move_job j = {size, (char *)dst, (const char *)src, rank};
  if (rank > EACH_MAX_AXES)
    return gpu_fail(k, WEFT_UNIMPLEMENTED, "a copy along %d axes, more than %d", rank, EACH_MAX_AXES);
  for (int d = 0; d < rank; d++) j.dim[d] = dim[d], j.to[d] = dst_step[d], j.from[d] = src_step[d];
  widen(&j);
  return run(k, j);
}

gpu_mover *weft__gpu_mover() { return move; }

#define MOVES(op, host)                                                                                                \
  { op, nullptr, GPU_PLAIN, host }

GPU_OPS(move) = {
    MOVES("Slice", "begin size"),
    MOVES("StridedSlice", "begin end strides"),
    MOVES("StridedSliceGrad", "shape begin end strides"),
    MOVES("Pad", "paddings"),
    MOVES("PadV2", "paddings"),
    MOVES("MirrorPad", "paddings"),
    MOVES("Concat", "concat_dim"),
    MOVES("ConcatV2", "axis"),
    MOVES("Pack", nullptr),
    MOVES("Split", "split_dim"),
    MOVES("SplitV", "size_splits split_dim"),
    MOVES("Unpack", nullptr),
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
