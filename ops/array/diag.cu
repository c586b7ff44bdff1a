/* diag.cu - diagonals of matrices on the GPU: MatrixDiag, MatrixDiagPart, MatrixSetDiag in their three versions,
 * MatrixBandPart, Diag. diag.c explains the layout of a band.  The host reads bands, sizes and counts. */
#include "kernels/elementwise/elementwise.cuh"
#include <string.h>

struct band {
  int64_t low, high, rows, cols, length;
  bool left_above, left_below;
};

/* Returns the place of element (i, j) among the stored diagonals of its matrix, or -1 if it is outside the band. */
__device__ inline int64_t stored_at(const band &b, int64_t i, int64_t j) {
  const int64_t d = j - i;
  if (d < b.low || d > b.high) return -1;
  const int64_t length = min(b.rows + (d < 0 ? d : 0), b.cols - (d > 0 ? d : 0));
  const bool left = (d >= 0 && b.left_above) || (d <= 0 && b.left_below);
  return (b.high - d) * b.length + (left ? 0 : b.length - length) + (d > 0 ? i : j);
}

/* Computes one element of the matrices per thread.  Inside the band it is the stored element; outside it is x, or
 * *padding if x is NULL, or zero. */
template <class T>
__global__ void to_matrix_kernel(T *z, const T *stored, const T *x, const T *padding, int64_t count, const band b) {
  const int64_t each = (b.high - b.low + 1) * b.length;
  GPU_EACH(n, count) {
    const int64_t row = n / b.cols, m = row / b.rows, at = stored_at(b, row - m * b.rows, n - row * b.cols);
    z[n] = at >= 0 ? stored[m * each + at] : x ? x[n] : padding ? *padding : T();
  }
}

/* Computes one stored element per thread. */
template <class T> __global__ void to_stored_kernel(T *z, const T *x, const T *padding, int64_t count, const band b) {
  const int64_t diagonals = b.high - b.low + 1;
  GPU_EACH(n, count) {
    const int64_t line = n / b.length, m = line / diagonals, d = b.high - (line - m * diagonals);
    const int64_t length = min(b.rows + (d < 0 ? d : 0), b.cols - (d > 0 ? d : 0));
    const bool left = (d >= 0 && b.left_above) || (d <= 0 && b.left_below);
    const int64_t t = n - line * b.length - (left ? 0 : b.length - length);
    const int64_t i = t + (d < 0 ? -d : 0), j = t + (d > 0 ? d : 0);
    z[n] = t >= 0 && t < length ? x[(m * b.rows + i) * b.cols + j] : padding ? *padding : T();
  }
}

/* ---- reading bands, as diag.c does ---- */

static int64_t band_min(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t band_max(int64_t a, int64_t b) { return a > b ? a : b; }

static void read_align(const kernel *k, band *b) {
  const bool given = weft__gpu->attr_is(k, "align", "RIGHT_LEFT") || weft__gpu->attr_is(k, "align", "RIGHT_RIGHT") ||
                     weft__gpu->attr_is(k, "align", "LEFT_RIGHT");
  b->left_above = !given || weft__gpu->attr_is(k, "align", "LEFT_RIGHT");
  b->left_below = !given || weft__gpu->attr_is(k, "align", "RIGHT_LEFT");
}

static weft_err read_band(kernel *k, int arg, band *b) {
  const gpu_tensor t = gpu_in(k, arg);
  if (t.shape.rank > 1 || t.count < 1 || t.count > 2)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "diag_index must have only one or two elements");
  b->low = gpu_int(t, 0), b->high = gpu_int(t, t.count - 1);
  if (b->low <= b->high) return WEFT_OK;
  return gpu_fail(k, WEFT_INVALID_ARGUMENT, "lower_diag_index must not be larger than upper_diag_index");
}

/* Finds the band for the matrices of input 0: input `arg` gives it if `given` is set; otherwise it is the main
 * diagonal. */
static weft_err band_inside(kernel *k, bool given, int arg, band *b) {
  const shape s = gpu_in(k, 0).shape;
  if (s.rank < 2) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input must be at least 2-dim");
  b->rows = s.dim[s.rank - 2], b->cols = s.dim[s.rank - 1];
  if (given) WEFT_TRY(read_band(k, arg, b));
  for (const int64_t d : {b->low, b->high})
    if (d != 0 && (d <= -b->rows || d >= b->cols))
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "diag_index %lld is out of bound", (long long)d);
  b->length = band_min(b->rows + band_min(b->high, 0), b->cols - band_max(b->low, 0));
  read_align(k, b);
  return WEFT_OK;
}

/* Computes the size of the matrix whose diagonals have b->length elements; rows or cols of -1 means: as small as
 * possible. */
static weft_err band_around(kernel *k, int64_t rows, int64_t cols, band *b) {
  const int64_t min_rows = b->length - band_min(b->high, 0), min_cols = b->length + band_max(b->low, 0);
  if (rows == -1 && cols == -1) rows = cols = band_max(min_rows, min_cols);
  b->rows = rows == -1 ? min_rows : rows;
  b->cols = cols == -1 ? min_cols : cols;
  if (b->rows >= min_rows && b->cols >= min_cols && (b->rows == min_rows || b->cols == min_cols)) return WEFT_OK;
  return gpu_fail(k, WEFT_INVALID_ARGUMENT, "The number of rows or columns does not fit the diagonals");
}

static shape stored_shape(const band &b, const shape &x) {
  shape s = gpu_shape(x.rank - 2, x.dim);
  if (b.high > b.low) s.dim[s.rank++] = b.high - b.low + 1;
  s.dim[s.rank++] = b.length;
  return s;
}

/* ---- the ops ---- */

static weft_err to_matrix(kernel *k, const gpu_tensor &z, const gpu_tensor &stored, const void *x, const void *padding,
                          const band &b) {
  if (z.count == 0) return WEFT_OK;
  return gpu_moved(k, z.dtype, [&](auto t) {
    using T = decltype(t);
    to_matrix_kernel<<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>(
        gpu_data<T>(z), gpu_data<const T>(stored), (const T *)x, (const T *)padding, z.count, b);
    return gpu_launched(k);
  });
}

static weft_err make_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  const bool given = gpu_n_in(k) >= 5;
  int64_t rows = -1, cols = -1;
  gpu_tensor z;
  band b = {};
  if (x.shape.rank < 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "diagonal must be at least 1-dim");
  b.length = x.shape.dim[x.shape.rank - 1];
  if (given) {
    WEFT_TRY(read_band(k, 1, &b));
    rows = gpu_int(gpu_in(k, 2), 0), cols = gpu_int(gpu_in(k, 3), 0);
    if (b.high > b.low && (x.shape.rank < 2 || x.shape.dim[x.shape.rank - 2] != b.high - b.low + 1))
      return gpu_fail(k, WEFT_INVALID_ARGUMENT,
                      "The number of diagonals provided in the input does not match the band");
  }
  WEFT_TRY(band_around(k, rows, cols, &b));
  read_align(k, &b);
  shape s = x.shape;
  s.rank -= b.high > b.low ? 2 : 1;
  if (s.rank + 2 > WEFT_MAX_RANK) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "the result has too many axes");
  s.dim[s.rank++] = b.rows, s.dim[s.rank++] = b.cols;
  WEFT_TRY(gpu_out(k, 0, s, &z));
  return to_matrix(k, z, x, nullptr, given ? gpu_in(k, 4).data : nullptr, b);
}

static weft_err set_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), stored = gpu_in(k, 1);
  gpu_tensor z;
  band b = {};
  WEFT_TRY(band_inside(k, gpu_n_in(k) >= 3, 2, &b));
  if (!gpu_same_shape(stored.shape, stored_shape(b, x.shape)))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "the shape of the diagonal does not match the band of the matrix");
  WEFT_TRY(gpu_out_over(k, 0, 0, x.shape, &z));
  return to_matrix(k, z, stored, x.data, nullptr, b);
}

static weft_err part_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  const bool given = gpu_n_in(k) >= 3;
  gpu_tensor z;
  band b = {};
  WEFT_TRY(band_inside(k, given, 1, &b));
  WEFT_TRY(gpu_out(k, 0, stored_shape(b, x.shape), &z));
  if (z.count == 0) return WEFT_OK;
  return gpu_moved(k, z.dtype, [&](auto t) {
    using T = decltype(t);
    to_stored_kernel<<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>(
        gpu_data<T>(z), gpu_data<const T>(x), given ? gpu_data<const T>(gpu_in(k, 2)) : nullptr, z.count, b);
    return gpu_launched(k);
  });
}

template <class T>
__global__ void keep_kernel(T *z, const T *x, int64_t count, int64_t rows, int64_t cols, int64_t low, int64_t up) {
  GPU_EACH(n, count) {
    const int64_t row = n / cols, d = n - row * cols - row % rows;
    z[n] = (low < 0 || -d <= low) && (up < 0 || d <= up) ? x[n] : T();
  }
}

static weft_err keep_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), lower = gpu_in(k, 1), upper = gpu_in(k, 2);
  gpu_tensor z;
  if (x.shape.rank < 2) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "input must be at least 2-dim");
  if (lower.shape.rank || upper.shape.rank)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "num_lower and num_upper must be scalar");
  const int64_t rows = x.shape.dim[x.shape.rank - 2], cols = x.shape.dim[x.shape.rank - 1];
  const int64_t low = gpu_int(lower, 0), up = gpu_int(upper, 0);
  if (low > rows || up > cols)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "num_lower and num_upper must be negative or at most rows and columns");
  WEFT_TRY(gpu_out_over(k, 0, 0, x.shape, &z));
  if (z.count == 0) return WEFT_OK;
  return gpu_moved(k, x.dtype, [&](auto t) {
    using T = decltype(t);
    keep_kernel<<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<T>(z), gpu_data<const T>(x), z.count,
                                                                        rows, cols, low, up);
    return gpu_launched(k);
  });
}

/* Puts a tensor of rank r on the diagonal of a tensor of rank 2 r, as if both were a vector and a matrix. */
static weft_err diag_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  gpu_tensor z;
  if (x.shape.rank < 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Input must be at least rank 1, got 0");
  if (2 * x.shape.rank > WEFT_MAX_RANK) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "the result has too many axes");
  shape s = gpu_shape(x.shape.rank, x.shape.dim);
  for (int d = 0; d < x.shape.rank; d++) s.dim[s.rank++] = x.shape.dim[d];
  WEFT_TRY(gpu_out(k, 0, s, &z));
  const band b = {0, 0, x.count, x.count, x.count, true, true};
  return to_matrix(k, z, x, nullptr, nullptr, b);
}

#define DIAG(version)                                                                                                  \
  {"MatrixDiag" version, make_gpu, GPU_PLAIN, "k num_rows num_cols"},                                                  \
      {"MatrixDiagPart" version, part_gpu, GPU_PLAIN, "k"}, {                                                          \
    "MatrixSetDiag" version, set_gpu, GPU_PLAIN, "k"                                                                   \
  }

GPU_OPS(diag) = {
    DIAG(""),
    DIAG("V2"),
    DIAG("V3"),
    {"MatrixBandPart", keep_gpu, GPU_PLAIN, "num_lower num_upper"},
    {"Diag", diag_gpu, GPU_PLAIN},
    {0},
};
