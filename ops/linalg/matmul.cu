/* matmul.cu - products of matrices on the GPU: MatMul and the batched ops. */
#include "kernels/gemm/gemm.cuh"

/* Sets the sizes of the product of the last two axes.  Returns false if they do not fit. */
static bool set_product(gpu_gemm *g, const gpu_tensor &a, const gpu_tensor &b, bool flip_a, bool flip_b) {
  const int64_t *x = a.shape.dim + a.shape.rank - 2, *y = b.shape.dim + b.shape.rank - 2;
  *g = gpu_gemm{};
  g->type = a.dtype;
  g->flip_a = flip_a, g->flip_b = flip_b;
  g->m = x[flip_a], g->k = x[!flip_a], g->n = y[!flip_b];
  g->lda = x[1], g->ldb = y[1], g->ldc = g->n;
  return g->k == y[flip_b];
}

/* Finds which operands of a product of floats were rounded to bfloat16 before. */
static void find_rounded(gpu_gemm *g, const gpu_tensor &a, const gpu_tensor &b, const gpu_tensor &c) {
  if (c.dtype != WEFT_FLOAT) return;
  g->type = WEFT_FLOAT;
  g->rounded_a = a.dtype == WEFT_BFLOAT16, g->rounded_b = b.dtype == WEFT_BFLOAT16;
}

static weft_err matmul_multiply(kernel *k, gpu_gemm *g, const gpu_tensor &a, const gpu_tensor &b, const gpu_tensor &c) {
  if (c.count == 0) return WEFT_OK;
  if (g->k == 0) {
    cudaMemsetAsync(c.data, 0, (size_t)c.count * gpu_size(c.dtype), gpu_stream(k));
    return gpu_launched(k);
  }
  g->a = a.data, g->b = b.data, g->c = c.data;
  return gpu_gemm_run(k, *g);
}

static weft_err matmul_gpu(kernel *k) {
  const gpu_tensor a = gpu_in(k, 0), b = gpu_in(k, 1);
  gpu_tensor c;
  gpu_gemm g;
  for (int i = 0; i < 2; i++)
    if (gpu_in(k, i).shape.rank != 2) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "In[%d] is not a matrix", i);
  if (!set_product(&g, a, b, weft__gpu->attr_bool(k, "transpose_a", false),
                   weft__gpu->attr_bool(k, "transpose_b", false)))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Matrix size-incompatible: In[0]: [%lld,%lld], In[1]: [%lld,%lld]",
                    (long long)a.shape.dim[0], (long long)a.shape.dim[1], (long long)b.shape.dim[0],
                    (long long)b.shape.dim[1]);
  const int64_t dims[] = {g.m, g.n};
  WEFT_TRY(gpu_out(k, 0, gpu_shape(2, dims), &c));
  find_rounded(&g, a, b, c);
  return matmul_multiply(k, &g, a, b, c);
}

/* Computes the batch axes of the product. */
static weft_err batch_shape(kernel *k, const shape &x, const shape &y, bool broadcasts, shape *out) {
  const int nx = x.rank - 2, ny = y.rank - 2;
  out->rank = nx > ny ? nx : ny;
  for (int d = 1; d <= out->rank; d++) {
    const int64_t a = d <= nx ? x.dim[nx - d] : 1, b = d <= ny ? y.dim[ny - d] : 1;
    if (a != b && (!broadcasts || (a != 1 && b != 1)))
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "In[0] and In[1] must have compatible batch dimensions: %lld and %lld",
                      (long long)a, (long long)b);
    out->dim[out->rank - d] = a == 1 ? b : a;
  }
  return broadcasts || nx == ny ? WEFT_OK : gpu_fail(k, WEFT_INVALID_ARGUMENT, "In[0] and In[1] has different ndims");
}

/* Returns the number of the matrix that product i takes from an operand. */
static int64_t matrix_of(const shape &out, const shape &in, int64_t i) {
  int64_t index = 0, step = 1;
  for (int d = out.rank - 3, e = in.rank - 3; e >= 0; i /= out.dim[d], d--, e--) {
    if (in.dim[e] != 1) index += i % out.dim[d] * step;
    step *= in.dim[e];
  }
  return index;
}

/* If each operand has one matrix, or as many as the result, this is one call.  Other broadcasts need one call per
 * product. */
static weft_err multiply_batch(kernel *k, gpu_gemm g, const gpu_tensor &a, const gpu_tensor &b, const gpu_tensor &c) {
  const int64_t count = gpu_span(c.shape, 0, c.shape.rank - 2);
  const int64_t na = a.count / (g.m * g.k), nb = b.count / (g.n * g.k);
  if ((na == count || na == 1) && (nb == count || nb == 1)) {
    g.batch = (int)count;
    g.step_a = na == 1 ? 0 : g.m * g.k, g.step_b = nb == 1 ? 0 : g.n * g.k, g.step_c = g.m * g.n;
    return matmul_multiply(k, &g, a, b, c);
  }
  for (int64_t i = 0; i < count; i++) {
    g.a = (const char *)a.data + (size_t)(matrix_of(c.shape, a.shape, i) * g.m * g.k) * gpu_size(a.dtype);
    g.b = (const char *)b.data + (size_t)(matrix_of(c.shape, b.shape, i) * g.n * g.k) * gpu_size(b.dtype);
    g.c = (char *)c.data + (size_t)(i * g.m * g.n) * gpu_size(c.dtype);
    WEFT_TRY(gpu_gemm_run(k, g));
  }
  return WEFT_OK;
}

template <bool broadcasts> static weft_err batch_gpu(kernel *k) {
  const gpu_tensor a = gpu_in(k, 0), b = gpu_in(k, 1);
  gpu_tensor c;
  gpu_gemm g;
  shape s;
  if (a.shape.rank < 2 || b.shape.rank < 2)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "In[%d] ndims must be >= 2", a.shape.rank < 2 ? 0 : 1);
  WEFT_TRY(batch_shape(k, a.shape, b.shape, broadcasts, &s));
  if (!set_product(&g, a, b, weft__gpu->attr_bool(k, "adj_x", false), weft__gpu->attr_bool(k, "adj_y", false)))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Matrix size-incompatible in a product of batches");
  s.dim[s.rank++] = g.m;
  s.dim[s.rank++] = g.n;
  WEFT_TRY(gpu_out(k, 0, s, &c));
  find_rounded(&g, a, b, c);
  return c.count && g.k ? multiply_batch(k, g, a, b, c) : matmul_multiply(k, &g, a, b, c);
}

GPU_OPS(matmul) = {
    {"MatMul", matmul_gpu, GPU_FLOATS},
    {"BatchMatMul", batch_gpu<false>, GPU_FLOATS},
    {"BatchMatMulV2", batch_gpu<true>, GPU_FLOATS},
    {"BatchMatMulV3", batch_gpu<true>, GPU_FLOATS},
    {0},
};
