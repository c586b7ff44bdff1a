/* skinny.cu - products with at most 32 rows, such as those of a recurrent cell with a small batch.
 *
 * cuBLASLt's tiles have 64 rows or more, so most of their work is lost on such products.  Here a thread has all rows of
 * four columns, or of its part of a sum, in registers, so each element of b is read once.  The sum is divided into
 * slices, so that there are blocks for the whole GPU.  A second kernel adds the slices, always in the same order. */
#include "kernels/gemm/gemm.cuh"
#include "kernels/gpu/gpu.cuh"

enum { SKINNY_ROWS = 32, SKINNY_WARPS = 8, SKINNY_THREADS = 32 * SKINNY_WARPS, SKINNY_COLUMNS = 4 };
enum { SKINNY_BLOCKS = 264, SKINNY_LEAST = 1 << 16 }; /* blocks at most; elements of b at least */
enum { PLAIN_SLICE = 256, FLIPPED_SLICE = 384 };
template <int ROWS> constexpr int SKINNY_KEPT = ROWS < 16 ? 16 * PLAIN_SLICE : ROWS *PLAIN_SLICE;

struct skinny_args {
  const float *a, *b;
  float *c; /* [slices, m, n] */
  int m, n, k, slice;
  int64_t lda, ldb;
};

__device__ __forceinline__ float4 load4(const float *p) { return *(const float4 *)p; }

/* b is [k, n].  A warp takes every eighth row of its block's slice of b; the warps' sums are added at the end. */
template <int ROWS>
__global__ void __launch_bounds__(SKINNY_THREADS, ROWS <= 20 ? 2 : 1) skinny_plain(const skinny_args g) {
  __shared__ __align__(
      16) float kept[SKINNY_KEPT<ROWS>]; /* a's slice, transposed; then four rows of sums of each warp */
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = (blockIdx.x * 32 + lane) * SKINNY_COLUMNS;
  const int begin = blockIdx.y * g.slice, count = min(g.slice, g.k - begin);
  for (int i = threadIdx.x; i < ROWS * count; i += SKINNY_THREADS) {
    const int row = i / count, at = i - row * count;
    kept[at * ROWS + row] = row < g.m ? g.a[row * g.lda + begin + at] : 0;
  }
  __syncthreads();
  float sum[ROWS][SKINNY_COLUMNS] = {};
  const float *b = g.b + (int64_t)begin * g.ldb + (column < g.n ? column : 0);
#pragma unroll 4
  for (int at = warp; at < count; at += SKINNY_WARPS) {
    const float4 y = load4(b + at * g.ldb);
#pragma unroll
    for (int r = 0; r < ROWS; r += 4) {
      const float4 x = load4(&kept[at * ROWS + r]);
      const float xs[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
      for (int j = 0; j < 4; j++) {
        sum[r + j][0] += xs[j] * y.x, sum[r + j][1] += xs[j] * y.y;
        sum[r + j][2] += xs[j] * y.z, sum[r + j][3] += xs[j] * y.w;
      }
    }
  }
  float *out = g.c + (int64_t)blockIdx.y * g.m * g.n;
#pragma unroll
  for (int r = 0; r < ROWS; r += 4) {
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 4; j++)
      *(float4 *)&kept[((warp * 4 + j) * 32 + lane) * SKINNY_COLUMNS] =
          make_float4(sum[r + j][0], sum[r + j][1], sum[r + j][2], sum[r + j][3]);
    __syncthreads();
    for (int i = threadIdx.x; i < 4 * 32 * SKINNY_COLUMNS; i += SKINNY_THREADS) {
      const int row = r + i / (32 * SKINNY_COLUMNS), at = blockIdx.x * 32 * SKINNY_COLUMNS + i % (32 * SKINNY_COLUMNS);
      float total = 0;
      for (int w = 0; w < SKINNY_WARPS; w++) total += kept[w * 4 * 32 * SKINNY_COLUMNS + i];
      if (row < g.m && at < g.n) out[(int64_t)row * g.n + at] = total;
    }
  }
}

/* Adds the lanes' parts of N sums.  At each step a lane gives one half of its sums away and adds what it is given for
 * the other, so that the sums are divided among the lanes.  A lane ends with `valid` sums, from number `first` on. */
template <int N, int STEP, int ROOM>
__device__ __forceinline__ void divide_sums(float (&sum)[ROOM], int lane, int *first, int *valid) {
  constexpr int HALF = (N + 1) / 2;
  const bool high = lane & STEP;
#pragma unroll
  for (int i = 0; i < HALF; i++) {
    const float low = sum[i], up = i + HALF < N ? sum[i + HALF] : 0;
    sum[i] = (high ? up : low) + __shfl_xor_sync(~0u, high ? low : up, STEP);
  }
  *first += high ? HALF : 0;
  *valid = high ? *valid - HALF : min(*valid, HALF);
  if constexpr (STEP > 1) divide_sums<HALF, STEP / 2>(sum, lane, first, valid);
}

/* b is [n, k].  A warp has four rows of b; its lanes have parts of the sums. */
template <int ROWS> __global__ void __launch_bounds__(SKINNY_THREADS) skinny_flipped(const skinny_args g) {
  __shared__ __align__(16) float kept[ROWS * FLIPPED_SLICE]; /* a's slice */
  const int lane = threadIdx.x % 32, column = (blockIdx.x * SKINNY_WARPS + threadIdx.x / 32) * SKINNY_COLUMNS;
  const int begin = blockIdx.y * g.slice, count = min(g.slice, g.k - begin);
  for (int i = threadIdx.x * 4; i < ROWS * FLIPPED_SLICE; i += SKINNY_THREADS * 4) {
    const int row = i / FLIPPED_SLICE, at = i - row * FLIPPED_SLICE;
    *(float4 *)&kept[i] = row < g.m && at < count ? load4(g.a + row * g.lda + begin + at) : make_float4(0, 0, 0, 0);
  }
  __syncthreads();
  float sum[ROWS * SKINNY_COLUMNS] = {};
  for (int at = lane * 4; at < count; at += 128) {
    float4 y[SKINNY_COLUMNS];
#pragma unroll
    for (int c = 0; c < SKINNY_COLUMNS; c++)
      y[c] = load4(g.b + (int64_t)(column + c < g.n ? column + c : 0) * g.ldb + begin + at);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const float4 x = load4(&kept[r * FLIPPED_SLICE + at]);
#pragma unroll
      for (int c = 0; c < SKINNY_COLUMNS; c++)
        sum[r * SKINNY_COLUMNS + c] += x.x * y[c].x + x.y * y[c].y + x.z * y[c].z + x.w * y[c].w;
    }
  }
  float *out = g.c + (int64_t)blockIdx.y * g.m * g.n;
  int first = 0, valid = ROWS * SKINNY_COLUMNS;
  divide_sums<ROWS * SKINNY_COLUMNS, 16>(sum, lane, &first, &valid);
#pragma unroll
  for (int i = 0; i < (ROWS * SKINNY_COLUMNS + 31) / 32; i++) {
    const int r = (first + i) / SKINNY_COLUMNS, c = (first + i) % SKINNY_COLUMNS;
    if (i < valid && r < g.m && column + c < g.n) out[(int64_t)r * g.n + column + c] = sum[i];
  }
}

__global__ void __launch_bounds__(GPU_THREADS)
    skinny_add(float *c, const float *parts, int slices, int64_t count, int n, int64_t ldc) {
  GPU_EACH(i, count) {
    float total = 0;
#pragma unroll 8
    for (int s = 0; s < slices; s++) total += parts[s * count + i];
    c[i / n * ldc + i % n] = total;
  }
}

bool gpu_gemm_is_skinny(const gpu_gemm &g) {
  if (g.type != WEFT_FLOAT || g.flip_a || g.batch > 1 || g.beta != 0 || g.m > SKINNY_ROWS) return false;
  if (g.n > INT32_MAX / SKINNY_ROWS || g.k > INT32_MAX / SKINNY_ROWS || g.n * g.k < SKINNY_LEAST) return false;
  const uintptr_t all = (uintptr_t)g.b | (uintptr_t)(g.ldb * 4) | (uintptr_t)(g.n * 4);
  const uintptr_t more = g.flip_b ? (uintptr_t)g.a | (uintptr_t)(g.lda * 4) | (uintptr_t)(g.k * 4) : 0;
  return (all | more) % sizeof(float4) == 0;
}

template <int ROWS> static void skinny_launch(kernel *k, const skinny_args &s, bool flipped, dim3 grid) {
  if (flipped)
    skinny_flipped<ROWS><<<grid, SKINNY_THREADS, 0, gpu_stream(k)>>>(s);
  else
    skinny_plain<ROWS><<<grid, SKINNY_THREADS, 0, gpu_stream(k)>>>(s);
}

static void skinny_launch_rows(kernel *k, const skinny_args &s, bool flipped, dim3 grid) {
  switch ((s.m + 3) / 4) {
  case 1: return skinny_launch<4>(k, s, flipped, grid);
  case 2: return skinny_launch<8>(k, s, flipped, grid);
  case 3: return skinny_launch<12>(k, s, flipped, grid);
  case 4: return skinny_launch<16>(k, s, flipped, grid);
  case 5: return skinny_launch<20>(k, s, flipped, grid);
  case 6: return skinny_launch<24>(k, s, flipped, grid);
  case 7: return skinny_launch<28>(k, s, flipped, grid);
  default: return skinny_launch<32>(k, s, flipped, grid);
  }
}

static int skinny_divide_up(int64_t x, int64_t y) { return (int)((x + y - 1) / y); }

weft_err gpu_gemm_skinny(kernel *k, gpu_gemm g) {
  const int wide = (g.flip_b ? SKINNY_WARPS : 32) * SKINNY_COLUMNS, across = skinny_divide_up(g.n, wide);
  const int most = g.flip_b ? FLIPPED_SLICE : PLAIN_SLICE, unit = g.flip_b ? 128 : SKINNY_WARPS;
  const int wanted = across < SKINNY_BLOCKS ? SKINNY_BLOCKS / across : 1;
  int slice = skinny_divide_up(skinny_divide_up(g.k, wanted), unit) * unit;
  if (slice > most) slice = most;
  const int slices = skinny_divide_up(g.k, slice);
  skinny_args s = {
      (const float *)g.a, (const float *)g.b, (float *)g.c, (int)g.m, (int)g.n, (int)g.k, slice, g.lda, g.ldb};
  if (slices > 1 || g.ldc != g.n) WEFT_TRY(gpu_scratch(k, (int64_t)slices * g.m * g.n, &s.c));
  skinny_launch_rows(k, s, g.flip_b, dim3((unsigned)across, (unsigned)slices));
  WEFT_TRY(gpu_launched(k));
  if (s.c == g.c) return WEFT_OK;
  skinny_add<<<gpu_blocks(g.m * g.n), GPU_THREADS, 0, gpu_stream(k)>>>((float *)g.c, s.c, slices, g.m * g.n, (int)g.n,
                                                                       g.ldc);
  return gpu_launched(k);
}
