/* reverse.cu - ReverseSequence on the GPU: each element reads its place in the reversed beginning of its sequence.
 *
 * The lengths stay on the card.  One beyond the sequence counts as the whole sequence, a negative one as 0. */
#include "kernels/gpu/gpu.cuh"

struct sequences {
  int64_t steps, step;    /* of the axis that is reversed: its size, and the distance of its elements */
  int64_t batches, batch; /* likewise of the axis that the lengths are for */
};

template <class T, class I>
__global__ void __launch_bounds__(GPU_THREADS)
    reverse_sequence_kernel(T *y, const T *x, const I *length, int64_t count, const sequences s) {
  GPU_EACH(i, count) {
    const int64_t at = i / s.step % s.steps, n = min((int64_t)length[i / s.batch % s.batches], s.steps);
    y[i] = x[at < n ? i + (n - 1 - 2 * at) * s.step : i];
  }
}

/* Returns the sizes in units of `by` elements, of which each moves as one. */
static sequences reverse_axes(const shape &x, int seq, int batch, int64_t by) {
  return {x.dim[seq], gpu_span(x, seq + 1, x.rank) / by, x.dim[batch], gpu_span(x, batch + 1, x.rank) / by};
}

static weft_err reverse_sequence_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), length = gpu_in(k, 1);
  gpu_tensor y;
  int seq = 0, batch = 0;
  WEFT_TRY(gpu_axis(k, weft__gpu->attr_int(k, "seq_dim", 0), x.shape.rank, &seq));
  WEFT_TRY(gpu_axis(k, weft__gpu->attr_int(k, "batch_dim", 0), x.shape.rank, &batch));
  if (seq == batch) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "batch_dim == seq_dim %d", seq);
  if (length.shape.rank != 1 || length.count != x.shape.dim[batch])
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Length of seq_lengths != input.dims(%d), (%lld vs. %lld)", batch,
                    (long long)length.count, (long long)x.shape.dim[batch]);
  WEFT_TRY(gpu_out(k, 0, x.shape, &y));
  if (x.count == 0) return WEFT_OK;
  const int64_t size = (int64_t)gpu_size(x.dtype),
                inner = gpu_span(x.shape, (seq > batch ? seq : batch) + 1, x.shape.rank);
  return gpu_indices(k, length.dtype, [&](auto index) {
    const auto *lengths = gpu_data<const decltype(index)>(length);
    if (inner * size % 16 == 0 && ((uintptr_t)x.data | (uintptr_t)y.data) % 16 == 0) {
      const int64_t by = 16 / size, n = x.count / by;
      reverse_sequence_kernel<<<gpu_blocks(n), GPU_THREADS, 0, gpu_stream(k)>>>(
          gpu_data<uint4>(y), gpu_data<const uint4>(x), lengths, n, reverse_axes(x.shape, seq, batch, by));
      return gpu_launched(k);
    }
    return gpu_moved(k, x.dtype, [&](auto t) {
      using T = decltype(t);
      reverse_sequence_kernel<<<gpu_blocks(x.count), GPU_THREADS, 0, gpu_stream(k)>>>(
          gpu_data<T>(y), gpu_data<const T>(x), lengths, x.count, reverse_axes(x.shape, seq, batch, 1));
      return gpu_launched(k);
    });
  });
}

GPU_OPS(reverse) = {
    {"ReverseSequence", reverse_sequence_gpu, GPU_PLAIN},
    {0},
};
