/* gemm.cu - one call of cuBLASLt; the algorithm chosen for a problem is cached.
 *
 * cuBLASLt is column-major, so we compute c' = op(b)' op(a)', which moves no data.  Float is exact by default, as in
 * TensorFlow 1; WEFT_TF32=1 allows tensor cores with tf32, WEFT_BF16=1 with bfloat16.  For a large enough product,
 * the best few algorithms are timed at its first run, unless WEFT_GPU_TUNE=0.  The library's first proposal is often
 * not the fastest for long, narrow matrices such as those of im2col.
 *
 * Some products have an alternative that is timed against the plain call: a' b in tf32, which tensor cores read
 * inefficiently, with a transposed first; products with few results and long sums, split into slices that are added;
 * exact products with few rows (skinny.cu); and with WEFT_BF16=1, products of operands that are rounded first. */
#include "device/nvidia_library.cuh"
#include "kernels/gemm/cublaslt.cuh"
#include "kernels/gemm/gemm.cuh"
#include "kernels/gpu/gpu.cuh"
#include "kernels/gpu/memo.cuh"
#include "kernels/reduce/reduce.cuh"
#include "kernels/gpu/timing.cuh"
#include "kernels/gpu/transpose.cuh"

#include <pthread.h>
#include <stdlib.h>

enum { MAX_DEVICES = 64, MAX_PLANS = 512, WORKSPACE = 32 << 20, CANDIDATES = 24, WORTH_TUNING = 1 << 20, REPEATS = 4 };

struct blas {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtMatmul) matmul;
  decltype(&cublasLtMatmulDescCreate) desc_create;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set;
  decltype(&cublasLtMatmulPreferenceCreate) pref_create;
  decltype(&cublasLtMatmulPreferenceDestroy) pref_destroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) pref_set;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
};

/* The parameters that identify a problem for cuBLASLt.  They are compared as bytes, so the struct is zeroed first. */
struct plan_key {
  int device, batch;
  weft_dtype type;
  int flip_a, flip_b;
  gpu_round round;
  unsigned align_a, align_b, align_c, wide_c; /* no padding, because the bytes are compared */
  int64_t m, n, k, lda, ldb, ldc, step_a, step_b, step_c;
};
struct gemm_plan {
  plan_key key;
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t a, b, c;
  cublasLtMatmulAlgo_t algo;
  size_t workspace;
  bool known;
};

static blas lt;
static cublasLtHandle_t handles[MAX_DEVICES];
static gemm_plan plans[MAX_PLANS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool gemm_open_library() {
  if (lt.create) return true;
#define GET(field, name) lt.field = GPU_CALL(cublasLt, name)
  GET(matmul, cublasLtMatmul);
  GET(desc_create, cublasLtMatmulDescCreate);
  GET(desc_destroy, cublasLtMatmulDescDestroy);
  GET(desc_set, cublasLtMatmulDescSetAttribute);
  GET(layout_create, cublasLtMatrixLayoutCreate);
  GET(layout_destroy, cublasLtMatrixLayoutDestroy);
  GET(layout_set, cublasLtMatrixLayoutSetAttribute);
  GET(pref_create, cublasLtMatmulPreferenceCreate);
  GET(pref_destroy, cublasLtMatmulPreferenceDestroy);
  GET(pref_set, cublasLtMatmulPreferenceSetAttribute);
  GET(heuristic, cublasLtMatmulAlgoGetHeuristic);
  GET(create, cublasLtCreate);
#undef GET
  return lt.create != nullptr;
}

static unsigned gemm_alignment(const void *p) {
  const uintptr_t low = (uintptr_t)p & -(uintptr_t)p;
  return (unsigned)(low == 0 || low > 256 ? 256 : low);
}

static cudaDataType data_type(weft_dtype t) {
  return t == WEFT_DOUBLE ? CUDA_R_64F : t == WEFT_HALF ? CUDA_R_16F : t == WEFT_BFLOAT16 ? CUDA_R_16BF : CUDA_R_32F;
}

static cublasComputeType_t compute_type(const plan_key &key) {
  if (key.type == WEFT_DOUBLE) return CUBLAS_COMPUTE_64F;
  if (key.type != WEFT_FLOAT || key.round == ROUND_NOT) return CUBLAS_COMPUTE_32F;
  return key.round == ROUND_BF16 ? CUBLAS_COMPUTE_32F_FAST_16BF : CUBLAS_COMPUTE_32F_FAST_TF32;
}

static cublasLtMatrixLayout_t gemm_layout(weft_dtype t, int64_t rows, int64_t columns, int64_t ld, int batch,
                                          int64_t step) {
  cublasLtMatrixLayout_t l = nullptr;
  lt.layout_create(&l, data_type(t), (uint64_t)rows, (uint64_t)columns, ld);
  if (l && batch > 1) {
    lt.layout_set(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
    lt.layout_set(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step);
  }
  return l;
}

/* Enqueues the product with one algorithm. cuBLASLt's a is our b: the operands are exchanged. */
static cublasStatus_t gemm_multiply(kernel *k, const gemm_plan *p, const gpu_gemm &g, const cublasLtMatmulAlgo_t *algo,
                                    void *workspace, size_t size) {
  const float one = 1, beta = g.beta;
  const double one64 = 1, beta64 = g.beta;
  const bool wide = g.type == WEFT_DOUBLE;
  return lt.matmul(handles[p->key.device], p->desc, wide ? (const void *)&one64 : &one, g.b, p->a, g.a, p->b,
                   wide ? (const void *)&beta64 : &beta, g.c, p->c, g.c, p->c, algo, workspace, size, gpu_stream(k));
}

/* ---- timing ---- */

/* Returns true if the result may be written several times and timing is worth it. */
static bool gemm_may_time(kernel *k, const gpu_gemm &g) {
  return g.beta == 0 && (double)g.m * (double)g.n * (double)g.k >= WORTH_TUNING && gpu_may_time(k);
}

/* Returns the fastest of n candidates. */
static int gemm_find_fastest(kernel *k, const gemm_plan *p, const gpu_gemm &g, const cublasLtMatmulHeuristicResult_t *r,
                             int n) {
  void *workspace = nullptr;
  int best = 0;
  float least = 1e30f;
  if (n < 2 || !gemm_may_time(k, g) || weft__gpu->scratch(k, WORKSPACE, &workspace) != WEFT_OK) return 0;
  for (int i = 0; i < n; i++) {
    const float ms = time_of(k, REPEATS, [&] {
      return gemm_multiply(k, p, g, &r[i].algo, workspace, r[i].workspaceSize) == CUBLAS_STATUS_SUCCESS;
    });
    if (ms < least) least = ms, best = i;
  }
  return best;
}

/* ---- plans ---- */

static cublasStatus_t gemm_make_plan(kernel *k, gemm_plan *p, const gpu_gemm &g) {
  const plan_key &q = p->key;
  const cublasOperation_t ta = q.flip_b ? CUBLAS_OP_T : CUBLAS_OP_N, tb = q.flip_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  lt.desc_create(&p->desc, compute_type(q), q.type == WEFT_DOUBLE ? CUDA_R_64F : CUDA_R_32F);
  lt.desc_set(p->desc, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof ta);
  lt.desc_set(p->desc, CUBLASLT_MATMUL_DESC_TRANSB, &tb, sizeof tb);
  p->a = gemm_layout(q.type, q.flip_b ? q.k : q.n, q.flip_b ? q.n : q.k, q.ldb, q.batch, q.step_b);
  p->b = gemm_layout(q.type, q.flip_a ? q.m : q.k, q.flip_a ? q.k : q.m, q.lda, q.batch, q.step_a);
  p->c = gemm_layout(q.wide_c ? WEFT_FLOAT : q.type, q.n, q.m, q.ldc, q.batch, q.step_c);
  cublasLtMatmulPreference_t pref = nullptr;
  const size_t room = WORKSPACE;
  lt.pref_create(&pref);
  lt.pref_set(pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room);
  lt.pref_set(pref, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &q.align_b, sizeof q.align_b);
  lt.pref_set(pref, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &q.align_a, sizeof q.align_a);
  lt.pref_set(pref, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &q.align_c, sizeof q.align_c);
  lt.pref_set(pref, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &q.align_c, sizeof q.align_c);
  cublasLtMatmulHeuristicResult_t found[CANDIDATES];
  int n = 0;
  cublasStatus_t s = lt.heuristic(handles[q.device], p->desc, p->a, p->b, p->c, p->c, pref, CANDIDATES, found, &n);
  lt.pref_destroy(pref);
  if (s == CUBLAS_STATUS_SUCCESS && n == 0) s = CUBLAS_STATUS_NOT_SUPPORTED;
  if (s != CUBLAS_STATUS_SUCCESS) return s;
  const int best = gemm_find_fastest(k, p, g, found, n);
  p->algo = found[best].algo;
  p->workspace = found[best].workspaceSize;
  return s;
}

static void drop_plan(gemm_plan *p) {
  if (p->desc) lt.desc_destroy(p->desc);
  if (p->a) lt.layout_destroy(p->a);
  if (p->b) lt.layout_destroy(p->b);
  if (p->c) lt.layout_destroy(p->c);
  *p = gemm_plan{};
}

/* Returns the plan of a problem; creates it again if it was evicted.  The caller holds the lock. */
static cublasStatus_t find_plan(kernel *k, const plan_key &key, const gpu_gemm &g, gemm_plan **out) {
  bool hit;
  gemm_plan *p = memo_find(plans, key, &hit);
  *out = p;
  if (hit) return CUBLAS_STATUS_SUCCESS;
  drop_plan(p);
  if (!handles[key.device]) {
    const cublasStatus_t s = lt.create(&handles[key.device]);
    if (s != CUBLAS_STATUS_SUCCESS) return s;
  }
  memcpy(&p->key, &key, sizeof key);
  const cublasStatus_t s = gemm_make_plan(k, p, g);
  p->known = s == CUBLAS_STATUS_SUCCESS;
  return s;
}

gpu_round gpu_rounding() {
  const char *tf32 = getenv("WEFT_TF32"), *brain = getenv("WEFT_BF16");
  return brain && *brain == '1' ? ROUND_BF16 : tf32 && *tf32 == '1' ? ROUND_TF32 : ROUND_NOT;
}

static plan_key gemm_key_of(const gpu_gemm &g) {
  plan_key q;
  memset(&q, 0, sizeof q);
  cudaGetDevice(&q.device);
  q.round = gpu_rounding();
  q.batch = g.batch > 1 ? g.batch : 1;
  q.type = g.type, q.wide_c = g.wide_c;
  q.flip_a = g.flip_a, q.flip_b = g.flip_b;
  q.align_a = gemm_alignment(g.a), q.align_b = gemm_alignment(g.b), q.align_c = gemm_alignment(g.c);
  q.m = g.m, q.n = g.n, q.k = g.k, q.lda = g.lda, q.ldb = g.ldb, q.ldc = g.ldc;
  if (q.batch > 1) q.step_a = g.step_a, q.step_b = g.step_b, q.step_c = g.step_c;
  return q;
}

static weft_err run_plain(kernel *k, const gpu_gemm &g) {
  const plan_key key = gemm_key_of(g);
  gemm_plan *p = nullptr;
  pthread_mutex_lock(&lock);
  if (!gemm_open_library()) {
    pthread_mutex_unlock(&lock);
    const char *problem = nullptr;
    gpu_symbol("cublasLt", "cublasLtCreate", &problem);
    return gpu_fail(k, WEFT_UNIMPLEMENTED, "%s needs cuBLASLt: %s", weft__gpu->op_name(k), problem ? problem : "");
  }
  cublasStatus_t s = find_plan(k, key, g, &p);
  void *workspace = nullptr;
  weft_err err = s == CUBLAS_STATUS_SUCCESS && p->workspace ? weft__gpu->scratch(k, p->workspace, &workspace) : WEFT_OK;
  if (err == WEFT_OK && s == CUBLAS_STATUS_SUCCESS) s = gemm_multiply(k, p, g, &p->algo, workspace, p->workspace);
  pthread_mutex_unlock(&lock);
  if (err != WEFT_OK || s == CUBLAS_STATUS_SUCCESS) return err;
  return gpu_fail(k, WEFT_INTERNAL, "%s: cuBLASLt status %d for a product %lld x %lld x %lld", weft__gpu->op_name(k),
                  (int)s, (long long)g.m, (long long)g.k, (long long)g.n);
}

/* ---- alternatives ---- */

enum { LEAST_TURNED = 512, LEAST_SLICED = 8192, MOST_RESULTS = 1 << 16 };
enum { MOST_SLICES = 256, LEAST_SLICES = 16 };

/* a is stored (k, m).  It is transposed first, so the product needs no transpose flag. */
static weft_err run_turned(kernel *k, gpu_gemm g) {
  float *transposed = nullptr;
  WEFT_TRY(gpu_scratch(k, g.m * g.k, &transposed));
  WEFT_TRY(gpu_transpose_matrix(k, (const float *)g.a, transposed, g.k, g.m, g.lda));
  g.a = transposed, g.lda = g.k, g.flip_a = false;
  return run_plain(k, g);
}

static __global__ void round_packs(const float *x, bf16 *y, int64_t packs) {
  GPU_EACH(i, packs) {
    const channels_of<float> v = ((const channels_of<float> *)x)[i];
    alignas(8) bf16 to[4];
#pragma unroll
    for (int j = 0; j < 4; j++) to[j] = (bf16)v.v[j];
    ((uint2 *)y)[i] = *(const uint2 *)to;
  }
}
static __global__ void round_each(const float *x, bf16 *y, int64_t n) { GPU_EACH(i, n) y[i] = (bf16)x[i]; }

static weft_err round_into(kernel *k, const void *x, void *y, int64_t n) {
  if (n % 4 || (uintptr_t)x % 16 || (uintptr_t)y % 8)
    round_each<<<gpu_blocks(n), GPU_THREADS, 0, gpu_stream(k)>>>((const float *)x, (bf16 *)y, n);
  else
    round_packs<<<gpu_blocks(n / 4), GPU_THREADS, 0, gpu_stream(k)>>>((const float *)x, (bf16 *)y, n / 4);
  return gpu_launched(k);
}

bool gpu_rounds_operands() { return gpu_rounding() == ROUND_BF16; }

weft_err gpu_round_operand(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  gpu_tensor y;
  WEFT_TRY(gpu_out(k, 0, x.shape, &y));
  return x.count ? round_into(k, x.data, y.data, x.count) : WEFT_OK;
}

/* Replaces n elements by the same as bfloat16. */
static weft_err gemm_round(kernel *k, const void **x, int64_t n) {
  bf16 *y = nullptr;
  WEFT_TRY(gpu_scratch(k, n, &y));
  WEFT_TRY(round_into(k, *x, y, n));
  *x = y;
  return WEFT_OK;
}

/* Returns true if an operand has no gaps and consists of packs. */
static bool is_dense(const void *x, int64_t rows, int64_t columns, int64_t ld, int batch, int64_t step) {
  const bool dense = ld == columns && (batch <= 1 || step == 0 || step == rows * columns);
  return dense && rows * columns % 4 == 0 && (uintptr_t)x % 16 == 0;
}

/* Both operands are rounded to bfloat16 first: cuBLASLt itself takes as long for floats as in tf32. */
static weft_err run_rounded(kernel *k, gpu_gemm g) {
  const int64_t matrices = g.batch > 1 ? g.batch : 1;
  if (!g.rounded_a) WEFT_TRY(gemm_round(k, &g.a, g.m * g.k * (g.step_a ? matrices : 1)));
  if (!g.rounded_b) WEFT_TRY(gemm_round(k, &g.b, g.n * g.k * (g.step_b ? matrices : 1)));
  g.type = WEFT_BFLOAT16, g.wide_c = true;
  return run_plain(k, g);
}

static bool may_round(const gpu_gemm &g, const plan_key &key) {
  return key.round == ROUND_BF16 &&
         is_dense(g.a, g.flip_a ? g.k : g.m, g.flip_a ? g.m : g.k, g.lda, g.batch, g.step_a) &&
         is_dense(g.b, g.flip_b ? g.n : g.k, g.flip_b ? g.k : g.n, g.ldb, g.batch, g.step_b);
}

/* Returns the largest allowed number of equal slices. */
static int64_t slices_of(int64_t k) {
  int64_t n = MOST_SLICES;
  while (n > 1 && k % n) n--;
  return n;
}

static weft_err run_sliced(kernel *k, gpu_gemm g) {
  const int64_t n = slices_of(g.k), dims[] = {n, g.m * g.n};
  float *parts = nullptr;
  WEFT_TRY(gpu_scratch(k, n * g.m * g.n, &parts));
  const gpu_tensor sum = {WEFT_FLOAT, gpu_shape(1, dims + 1), dims[1], g.c};
  const gpu_tensor all = {WEFT_FLOAT, gpu_shape(2, dims), n * dims[1], parts};
  g.k /= n, g.c = parts, g.batch = (int)n;
  g.step_a = g.k * (g.flip_a ? g.lda : 1), g.step_b = g.k * (g.flip_b ? 1 : g.ldb), g.step_c = dims[1];
  WEFT_TRY(run_plain(k, g));
  return gpu_fold_as<float>(k, fold_sum(), all, 1, sum);
}

typedef weft_err way(kernel *k, gpu_gemm g);

/* Returns the alternative that may be faster than the plain call, or NULL. */
static way *other_way(const gpu_gemm &g, const plan_key &key) {
  if (g.type != WEFT_FLOAT || g.beta != 0) return nullptr;
  if (may_round(g, key)) return run_rounded;
  if (key.batch > 1) return nullptr;
  if (key.round == ROUND_NOT && gpu_gemm_is_skinny(g)) return gpu_gemm_skinny;
  if (key.round == ROUND_TF32 && g.flip_a && !g.flip_b && g.m >= LEAST_TURNED && g.n >= LEAST_TURNED &&
      g.k >= LEAST_TURNED)
    return run_turned;
  const bool few = g.ldc == g.n && g.m * g.n <= MOST_RESULTS && g.k >= LEAST_SLICED;
  return few && slices_of(g.k) >= LEAST_SLICES ? run_sliced : nullptr;
}

/* The result of timing a product: whether its alternative is faster. */
struct finding {
  plan_key key;
  bool known, other;
};
static finding findings[MAX_PLANS];

static bool is_other_better(kernel *k, const gpu_gemm &g, const plan_key &key, way *other) {
  bool known;
  pthread_mutex_lock(&lock);
  finding *f = memo_find(findings, key, &known);
  const bool better = known && f->other;
  pthread_mutex_unlock(&lock);
  if (known || !gemm_may_time(k, g)) return better;
  const float plain = time_of(k, REPEATS, [&] { return run_plain(k, g) == WEFT_OK; });
  const float with = time_of(k, REPEATS, [&] { return other(k, g) == WEFT_OK; });
  pthread_mutex_lock(&lock);
  f = memo_find(findings, key, &known);
  memcpy(&f->key, &key, sizeof key);
  f->known = true, f->other = with < plain;
  pthread_mutex_unlock(&lock);
  return with < plain;
}

weft_err gpu_gemm_run(kernel *k, const gpu_gemm &g) {
  if (g.m == 0 || g.n == 0) return WEFT_OK;
  if (g.rounded_a || g.rounded_b) return run_rounded(k, g);
  const plan_key key = gemm_key_of(g);
  way *const other = other_way(g, key);
  return other && is_other_better(k, g, key, other) ? other(k, g) : run_plain(k, g);
}
