/* xent.cu - the cross entropy of a softmax on the GPU, dense and sparse, with its gradient as a second output.
 *
 * A class number out of range gives NaN in its row, as in TensorFlow's GPU kernel.  An error would need the host to
 * wait for the kernel. */
#include "ops/nn/softmax.cuh"

template <class T> struct xent_args {
  const T *x, *l;
  T *loss, *dx;
  int64_t rows, n;
  int64_t x_row, x_column, l_row, l_column; /* strides; 0 along a broadcast axis */
  int lanes;
};

template <class T> __global__ void __launch_bounds__(GPU_THREADS) xent_dense(const xent_args<T> a) {
  using A = wide<T>;
  const int lane = threadIdx.x % a.lanes;
  const int64_t row = (int64_t)blockIdx.x * (GPU_THREADS / a.lanes) + threadIdx.x / a.lanes;
  const int64_t end = row < a.rows ? a.n : 0;
  const T *x = a.x + row * a.x_row, *l = a.l + row * a.l_row;
  A max = -(A)INFINITY, sum = 0, loss = 0;
  for (int64_t i = lane; i < end; i += a.lanes) max = row_max()(max, (A)x[i * a.x_column]);
  max = row_combine(max, a.lanes, row_max());
  for (int64_t i = lane; i < end; i += a.lanes) sum += exp((A)x[i * a.x_column] - max);
  sum = row_combine(sum, a.lanes, row_sum());
  const A log_sum = log(sum), scale = 1 / sum;
  for (int64_t i = lane; i < end; i += a.lanes) {
    const A t = (A)x[i * a.x_column] - max, label = (A)l[i * a.l_column];
    loss += label * (log_sum - t);
    a.dx[row * a.n + i] = (T)(exp(t) * scale - label);
  }
  loss = row_combine(loss, a.lanes, row_sum());
  if (lane == 0 && row < a.rows) a.loss[row] = (T)loss;
}

template <class T, class I>
__global__ void __launch_bounds__(GPU_THREADS) xent_sparse(const xent_args<T> a, const I *classes) {
  using A = wide<T>;
  const int lane = threadIdx.x % a.lanes;
  const int64_t row = (int64_t)blockIdx.x * (GPU_THREADS / a.lanes) + threadIdx.x / a.lanes;
  const int64_t end = row < a.rows ? a.n : 0;
  const T *x = a.x + row * a.n;
  A max = -(A)INFINITY, sum = 0;
  for (int64_t i = lane; i < end; i += a.lanes) max = row_max()(max, (A)x[i]);
  max = row_combine(max, a.lanes, row_max());
  for (int64_t i = lane; i < end; i += a.lanes) sum += exp((A)x[i] - max);
  sum = row_combine(sum, a.lanes, row_sum());
  if (row >= a.rows) return;
  const int64_t chosen = (int64_t)classes[row];
  const bool known = chosen >= 0 && chosen < a.n;
  if (lane == 0) a.loss[row] = (T)(known ? log(sum) - ((A)x[chosen] - max) : (A)NAN);
  const A scale = 1 / sum;
  if (a.lanes == 32)
    __syncwarp(); /* dx may share memory with x; the label's logit has been read by now */
  else
    __syncthreads();
  for (int64_t i = lane; i < end; i += a.lanes)
    a.dx[row * a.n + i] = (T)(known ? exp((A)x[i] - max) * scale - (A)(i == chosen) : (A)NAN);
}

static weft_err xent_gpu(kernel *k) {
  const gpu_tensor in[2] = {gpu_in(k, 0), gpu_in(k, 1)};
  gpu_tensor loss, dx;
  shape s;
  WEFT_TRY(gpu_broadcast(k, 2, in, &s));
  if (s.rank != 2)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT,
                    "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
  WEFT_TRY(gpu_out(k, 0, gpu_shape(1, s.dim), &loss));
  WEFT_TRY(gpu_out(k, 1, s, &dx));
  if (loss.count == 0) return WEFT_OK;
  int64_t row[2], column[2];
  for (int i = 0; i < 2; i++) {
    const shape &t = in[i].shape;
    column[i] = t.rank && t.dim[t.rank - 1] == s.dim[1] && s.dim[1] > 1;
    row[i] = t.rank == 2 && t.dim[0] == s.dim[0] && s.dim[0] > 1 ? t.dim[1] : 0;
  }
  return gpu_floats(k, dx.dtype, [&](auto t) {
    using T = decltype(t);
    const int lanes = row_lanes(s.dim[1]);
    const xent_args<T> a = {gpu_data<T>(in[0]),
                            gpu_data<T>(in[1]),
                            gpu_data<T>(loss),
                            gpu_data<T>(dx),
                            s.dim[0],
                            s.dim[1],
                            row[0],
                            column[0],
                            row[1],
                            column[1],
                            lanes};
    xent_dense<T><<<row_blocks(a.rows, lanes), GPU_THREADS, 0, gpu_stream(k)>>>(a);
    return gpu_launched(k);
  });
}

static weft_err sparse_xent_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), classes = gpu_in(k, 1);
  gpu_tensor loss, dx;
  const shape &s = x.shape;
  if (s.rank != 2) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "logits must be 2-D, but got rank %d", s.rank);
  if (classes.shape.rank != 1 || classes.count != s.dim[0])
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "logits and labels must have the same first dimension, got %lld and %lld",
                    (long long)s.dim[0], (long long)classes.count);
  WEFT_TRY(gpu_out(k, 0, gpu_shape(1, s.dim), &loss));
  WEFT_TRY(gpu_out_over(k, 1, 0, s, &dx));
  if (loss.count == 0) return WEFT_OK;
  if (s.dim[1] == 0) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Must have at least one class");
  return gpu_floats(k, dx.dtype, [&](auto t) {
    using T = decltype(t);
    const int lanes = row_lanes(s.dim[1]);
    const xent_args<T> a = {gpu_data<T>(x), nullptr, gpu_data<T>(loss), gpu_data<T>(dx), s.dim[0], s.dim[1], 0, 0, 0, 0,
                            lanes};
    const unsigned blocks = row_blocks(a.rows, lanes);
    if (classes.dtype == WEFT_INT64)
      xent_sparse<T><<<blocks, GPU_THREADS, 0, gpu_stream(k)>>>(a, gpu_data<const int64_t>(classes));
    else
      xent_sparse<T><<<blocks, GPU_THREADS, 0, gpu_stream(k)>>>(a, gpu_data<const int32_t>(classes));
    return gpu_launched(k);
  });
}

GPU_OPS(xent) = {
    {"SoftmaxCrossEntropyWithLogits", xent_gpu, GPU_FLOATS},
    {"SparseSoftmaxCrossEntropyWithLogits", sparse_xent_gpu, GPU_FLOATS | GPU_INDICES},
    {0},
};
