/* einsum.cu - Einsum on the GPU: einsum.c plans it on the host, and comes here for products and sums.
 *
 * Products are cuBLASLt's, as MatMul's are.  Those of single elements are one elementwise launch, because a batch of
 * them has no matrices.  Half and bfloat16 stay as they are: each product is summed in float and rounded once. */
#include "kernels/gemm/gemm.cuh"
#include "kernels/reduce/reduce.cuh"

template <class T>
__global__ void __launch_bounds__(GPU_THREADS) pairs_kernel(const T *a, const T *b, T *c, int64_t n) {
  GPU_EACH(i, n) c[i] = (T)((wide<T>)a[i] * (wide<T>)b[i]);
}

static weft_err einsum_pairs(kernel *k, const gpu_product &p) {
  return gpu_floats(k, p.type, [&](auto t) {
    using T = decltype(t);
    pairs_kernel<T>
        <<<gpu_blocks(p.batch), GPU_THREADS, 0, gpu_stream(k)>>>((const T *)p.a, (const T *)p.b, (T *)p.c, p.batch);
    return gpu_launched(k);
  });
}

static weft_err einsum_multiply(kernel *k, const gpu_product *p) {
  const int64_t size = (int64_t)gpu_size(p->type), each = p->m * p->n;
  if (p->k == 0) return gpu_said(k, cudaMemsetAsync(p->c, 0, (size_t)(p->batch * each * size), gpu_stream(k)));
  if (each * p->k == 1) return einsum_pairs(k, *p);
  gpu_gemm g = {};
  g.type = p->type;
  g.m = p->m, g.n = p->n, g.k = p->k;
  g.flip_a = p->flip_a, g.lda = p->flip_a ? p->m : p->k;
  g.flip_b = p->flip_b, g.ldb = p->flip_b ? p->k : p->n;
  g.ldc = p->n;
  g.step_a = p->m * p->k, g.step_b = p->k * p->n, g.step_c = each;
  const int64_t most = UINT16_MAX; /* matrices of one call */
  for (int64_t at = 0; at < p->batch; at += most) {
    g.batch = (int)(p->batch - at < most ? p->batch - at : most);
    g.a = (const char *)p->a + at * g.step_a * size;
    g.b = (const char *)p->b + at * g.step_b * size;
    g.c = (char *)p->c + at * g.step_c * size;
    WEFT_TRY(gpu_gemm_run(k, g));
  }
  return WEFT_OK;
}

static weft_err einsum_sum_rows(kernel *k, weft_dtype type, const void *x, int64_t rows, int64_t n, void *sums) {
  const int64_t dim[] = {rows, n};
  const gpu_tensor from = {type, gpu_shape(2, dim), rows * n, (void *)x}, to = {type, gpu_shape(1, dim), rows, sums};
  return gpu_wide_floats(k, type, [&](auto t) { return gpu_fold_as<decltype(t)>(k, fold_sum(), from, 2, to); });
}

const gpu_products *weft__gpu_products() {
  static const gpu_products products = {einsum_multiply, einsum_sum_rows};
  return &products;
}

static weft_err einsum_gpu(kernel *k) { return weft__gpu->run_cpu(k); }

GPU_OPS(einsum) = {
    {"Einsum", einsum_gpu, GPU_FLOATS},
    {0},
};
