/* diag.c - diagonals of matrices: MatrixDiag, MatrixDiagPart, MatrixSetDiag in their three versions, MatrixBandPart,
 * Diag, DiagPart.
 *
 * A band of diagonals is stored as rows of equal length, the highest diagonal first. `align` decides whether a
 * shorter diagonal is aligned left or right in its row.  Version 1 of an op supports only the band [0, 0]; version 2
 * always aligns left. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"

#include <stdio.h>

/* ---- the band ---- */

typedef struct band {
  int64_t low, high;          /* diagonals: 0 is the main one, positive ones are above it */
  int64_t rows, cols, length; /* size of the matrix; length of a stored diagonal */
  bool left_above, left_below;
} band;

static int64_t diag_least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t diag_most(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t diagonal_length(const band *b, int64_t d) {
  return diag_least(b->rows + diag_least(d, 0), b->cols - diag_most(d, 0));
}

/* Returns the number of positions by which diagonal d is shifted right in its row. */
static int64_t diagonal_shift(const band *b, int64_t d) {
  bool left = (d >= 0 && b->left_above) || (d <= 0 && b->left_below);
  return left ? 0 : b->length - diagonal_length(b, d);
}

static void band_align(band *b, const weft_node *n) {
  attr_str align = weft__node_str(n, "align");
  b->left_above = align.size == 0 || strncmp(align.data, "LEFT", 4) == 0;
  b->left_below = align.size == 0 || (align.size > 5 && strcmp(strchr(align.data, '_') + 1, "LEFT") == 0);
}

/* Reads the band from a tensor of one or two numbers.  Returns NULL, or the text of an error. */
static const char *band_read(band *b, const weft_tensor *k) {
  int64_t n = weft__tensor_count(k);
  if (k->shape.rank > 1 || n < 1 || n > 2) return "diag_index must have only one or two elements";
  b->low = weft__tensor_int(k, 0);
  b->high = weft__tensor_int(k, n - 1);
  return b->low > b->high ? "lower_diag_index must not be larger than upper_diag_index" : NULL;
}

/* Checks that the band lies inside the matrix, whose size is known.  Returns NULL, or the text of an error. */
static const char *band_inside(band *b) {
  if (b->low <= -b->rows && b->low != 0) return "lower_diag_index is out of bound";
  if (b->low >= b->cols && b->low != 0) return "lower_diag_index is out of bound";
  if (b->high <= -b->rows && b->high != 0) return "upper_diag_index is out of bound";
  if (b->high >= b->cols && b->high != 0) return "upper_diag_index is out of bound";
  b->length = diag_least(b->rows + diag_least(b->high, 0), b->cols - diag_most(b->low, 0));
  return NULL;
}

/* Computes the size of the matrix whose diagonals have b->length elements; rows or cols of -1 means: as small as
 * possible.  Returns NULL, or the text of an error. */
static const char *band_around(band *b, int64_t rows, int64_t cols) {
  int64_t min_rows = weft__shape_dim_add(b->length, -diag_least(b->high, 0)),
          min_cols = weft__shape_dim_add(b->length, diag_most(b->low, 0));
  if (min_rows < 0 || min_cols < 0) return "The diagonal is too long.";
  if (rows == -1 && cols == -1) rows = cols = diag_most(min_rows, min_cols);
  if (rows == -1) rows = min_rows;
  if (cols == -1) cols = min_cols;
  b->rows = rows;
  b->cols = cols;
  if (rows < min_rows) return "The number of rows is too small.";
  if (cols < min_cols) return "The number of columns is too small.";
  if (rows != min_rows && cols != min_cols)
    return "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal.";
  return NULL;
}

typedef weft_err band_visit(weft_dtype type, void *matrix, void *stored);

static weft_err stored_to_matrix(weft_dtype type, void *matrix, void *stored) {
  return weft__elements_copy(type, matrix, stored, 1);
}
static weft_err matrix_to_stored(weft_dtype type, void *matrix, void *stored) {
  return weft__elements_copy(type, stored, matrix, 1);
}

/* Visits every element of the band in every matrix, with its place in the matrix and in the stored diagonals. */
static weft_err band_copy(const band *b, weft_dtype type, void *matrices, void *stored, int64_t n, band_visit *visit) {
  int64_t diagonals = b->high - b->low + 1;
  if (b->length == 0) return WEFT_OK; /* there may be any number of empty matrices and diagonals */
  for (int64_t m = 0; m < n; m++)
    for (int64_t d = b->low; d <= b->high; d++) {
      int64_t shift = diagonal_shift(b, d), row = (m * diagonals + b->high - d) * b->length;
      for (int64_t t = 0; t < diagonal_length(b, d); t++) {
        int64_t i = t + diag_most(-d, 0), j = t + diag_most(d, 0);
        WEFT_TRY(visit(type, weft__element(type, matrices, (m * b->rows + i) * b->cols + j),
                       weft__element(type, stored, row + shift + t)));
      }
    }
  return WEFT_OK;
}

static weft_err band_fail(kernel *k, const char *why, const band *b) {
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s (diagonals %lld to %lld of a %lld x %lld matrix)", why,
                           (long long)b->low, (long long)b->high, (long long)b->rows, (long long)b->cols);
}

/* Computes the shape of the stored diagonals for matrices of shape x. */
static void stored_shape(const band *b, const shape *x, shape *out) {
  *out = *x;
  out->rank = x->rank - 2;
  if (b->high > b->low) out->dim[out->rank++] = b->high - b->low + 1;
  out->dim[out->rank++] = b->length;
}

/* Returns true if the band is an input (versions 2 and 3). */
static bool has_band(int n_in, int with) { return n_in >= with; }

/* ---- MatrixDiag: (diagonal, k, num_rows, num_cols, padding_value) ---- */

static weft_err make_infer(infer *s) {
  const shape *x = &s->in[0];
  shape *out = &s->out[0];
  band b = {.low = 0, .high = 0};
  int64_t rows = -1, cols = -1;
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  if (x->rank < 0) return WEFT_OK;
  if (has_band(s->n_in, 5)) {
    const weft_tensor *k = weft__infer_value(s, 1), *r = weft__infer_value(s, 2), *c = weft__infer_value(s, 3);
    if (!k || !r || !c) return WEFT_OK;
    const char *wrong = band_read(&b, k);
    if (wrong) return weft__infer_fail(s, "%s", wrong);
    WEFT_TRY(weft__infer_rank(s, 2, 0, NULL));
    WEFT_TRY(weft__infer_rank(s, 3, 0, NULL));
    rows = weft__tensor_int(r, 0);
    cols = weft__tensor_int(c, 0);
    if (b.high > b.low) WEFT_TRY(weft__infer_rank_at_least(s, 0, 2));
  }
  int outer = x->rank - (b.high > b.low ? 2 : 1);
  if (outer + 2 > WEFT_MAX_RANK) return weft__infer_fail(s, "the result would have more than %d axes", WEFT_MAX_RANK);
  *out = *x;
  out->rank = outer + 2;
  out->dim[outer] = rows;
  out->dim[outer + 1] = cols;
  b.length = x->dim[x->rank - 1];
  if (b.length < 0) return WEFT_OK;
  const char *wrong = band_around(&b, rows, cols);
  if (wrong) return weft__infer_fail(s, "%s", wrong);
  out->dim[outer] = b.rows;
  out->dim[outer + 1] = b.cols;
  return WEFT_OK;
}

static weft_err make_band(kernel *k, band *b) {
  const shape *x = &k->in[0]->shape;
  int64_t rows = -1, cols = -1;
  if (x->rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "diagonal must be at least 1-dim, received shape: %s",
                             weft__shape_text(x));
  b->length = x->dim[x->rank - 1];
  if (has_band(k->n_in, 5)) {
    const char *wrong = band_read(b, k->in[1]);
    if (wrong) return band_fail(k, wrong, b);
    WEFT_TRY(weft__kernel_scalar(k, 2, "num_rows"));
    WEFT_TRY(weft__kernel_scalar(k, 3, "num_cols"));
    WEFT_TRY(weft__kernel_scalar(k, 4, "padding_value"));
    rows = weft__tensor_int(k->in[2], 0);
    cols = weft__tensor_int(k->in[3], 0);
    if (b->high > b->low && (x->rank < 2 || x->dim[x->rank - 2] != b->high - b->low + 1))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "The number of diagonals provided in the input does not match the lower_diag_index and "
                               "upper_diag_index range.");
  }
  const char *wrong = band_around(b, rows, cols);
  return wrong ? weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s", wrong) : WEFT_OK;
}

static weft_err make_cpu(kernel *k) {
  static const uint64_t zero[2] = {0, 0};
  const weft_tensor *x = k->in[0];
  band b = {.low = 0, .high = 0};
  WEFT_TRY(make_band(k, &b));
  band_align(&b, k->node);
  shape out = x->shape;
  int outer = out.rank - (b.high > b.low ? 2 : 1);
  if (outer + 2 > WEFT_MAX_RANK) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the result has too many axes");
  out.rank = outer + 2;
  out.dim[outer] = b.rows;
  out.dim[outer + 1] = b.cols;
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  WEFT_TRY(weft__elements_fill(y->dtype, y->data, has_band(k->n_in, 5) ? k->in[4]->data : zero, weft__tensor_count(y)));
  return band_copy(&b, y->dtype, y->data, x->data, weft__shape_product(&out, 0, outer), stored_to_matrix);
}

/* ---- MatrixDiagPart: (input, k, padding_value) ---- */

static weft_err part_infer(infer *s) {
  const shape *x = &s->in[0];
  band b = {.low = 0, .high = 0};
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 2));
  if (has_band(s->n_in, 3)) WEFT_TRY(weft__infer_rank(s, 2, 0, NULL));
  if (x->rank < 0) return WEFT_OK;
  if (has_band(s->n_in, 3)) {
    const weft_tensor *k = weft__infer_value(s, 1);
    if (!k) return WEFT_OK;
    const char *wrong = band_read(&b, k);
    if (wrong) return weft__infer_fail(s, "%s", wrong);
  }
  b.rows = x->dim[x->rank - 2];
  b.cols = x->dim[x->rank - 1];
  b.length = -1;
  const char *wrong = b.rows >= 0 && b.cols >= 0 ? band_inside(&b) : NULL;
  if (wrong) return weft__infer_fail(s, "%s.", wrong);
  stored_shape(&b, x, &s->out[0]);
  return WEFT_OK;
}

/* Finds the band for the matrices of input 0: input `at` gives it if `given` is set; otherwise it is the main
 * diagonal. */
static weft_err inside_band(kernel *k, bool given, int at, band *b) {
  const shape *x = &k->in[0]->shape;
  if (x->rank < 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be at least 2-dim, received shape: %s",
                             weft__shape_text(x));
  b->rows = x->dim[x->rank - 2];
  b->cols = x->dim[x->rank - 1];
  const char *wrong = given ? band_read(b, k->in[at]) : NULL;
  if (!wrong) wrong = band_inside(b);
  if (wrong) return band_fail(k, wrong, b);
  band_align(b, k->node);
  return WEFT_OK;
}

static weft_err part_cpu(kernel *k) {
  static const uint64_t zero[2] = {0, 0};
  const weft_tensor *x = k->in[0];
  band b = {.low = 0, .high = 0};
  shape out;
  bool given = has_band(k->n_in, 3);
  if (given) WEFT_TRY(weft__kernel_scalar(k, 2, "padding_value"));
  WEFT_TRY(inside_band(k, given, 1, &b));
  stored_shape(&b, &x->shape, &out);
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  WEFT_TRY(weft__elements_fill(y->dtype, y->data, given ? k->in[2]->data : zero, weft__tensor_count(y)));
  return band_copy(&b, y->dtype, x->data, y->data, weft__shape_product(&x->shape, 0, x->shape.rank - 2),
                   matrix_to_stored);
}

/* ---- MatrixSetDiag: (input, diagonal, k) ---- */

/* Checks that the diagonals have the rank that the matrices x need: one less for a single diagonal. */
static weft_err set_ranks(infer *s, const shape *x, const shape *diagonals, bool single) {
  const int rank = diagonals->rank;
  if (rank < x->rank - 1)
    return weft__infer_fail(s, "Shape must be at least rank %d but is rank %d", x->rank - 1, rank);
  if (rank > x->rank) return weft__infer_fail(s, "Shape must be at most rank %d but is rank %d", x->rank, rank);
  if (rank + single != x->rank)
    return weft__infer_fail(s, "Shapes must be equal rank, but are %d and %d", x->rank, rank + single);
  return WEFT_OK;
}

static weft_err set_infer(infer *s) {
  const shape *x = &s->in[0], *diagonals = &s->in[1];
  band b = {.low = 0, .high = 0};
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 2));
  WEFT_TRY(weft__infer_rank_at_least(s, 1, 1));
  s->out[0] = *x;
  const weft_tensor *k = has_band(s->n_in, 3) ? weft__infer_value(s, 2) : NULL;
  if (diagonals->rank < 0 || (has_band(s->n_in, 3) && !k)) return WEFT_OK;
  const char *wrong = k ? band_read(&b, k) : NULL;
  if (wrong) return weft__infer_fail(s, "%s", wrong);
  const bool single = b.low == b.high;
  if (x->rank >= 0) return set_ranks(s, x, diagonals, single);
  const int outer = diagonals->rank - (single ? 1 : 2);
  if (outer < 0 || outer + 2 > WEFT_MAX_RANK) return WEFT_OK;
  s->out[0].rank = outer + 2;
  for (int d = 0; d < outer; d++) s->out[0].dim[d] = diagonals->dim[d];
  s->out[0].dim[outer] = s->out[0].dim[outer + 1] = -1;
  return WEFT_OK;
}

static weft_err diag_set_cpu(kernel *k) {
  const weft_tensor *x = k->in[0], *diagonal = k->in[1];
  band b = {.low = 0, .high = 0};
  shape want;
  WEFT_TRY(inside_band(k, has_band(k->n_in, 3), 2, &b));
  stored_shape(&b, &x->shape, &want);
  if (!weft__shape_equal(&want, &diagonal->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected diagonal shape: %s", weft__shape_text(&want));
  weft_tensor *y = weft__out_over(k, 0, 0, &x->shape);
  if (!y) return WEFT_OOM;
  if (y->data != x->data) WEFT_TRY(weft__elements_copy(x->dtype, y->data, x->data, weft__tensor_count(x)));
  return band_copy(&b, y->dtype, y->data, diagonal->data, weft__shape_product(&x->shape, 0, x->shape.rank - 2),
                   stored_to_matrix);
}

/* ---- their gradients: each uses the other two ops, in the same version ---- */

static weft_out zero_of(backprop *b) { return weft__b_scalar(b->graph, weft__out_type(b->graph, b->in[0]), 0); }

static weft_out with_align(backprop *b, const char *stem, int n_in, const weft_out *in) {
  static const char *const suffix[] = {"", "V2", "V3"};
  const attr *align = weft__node_attr(b->node, "align");
  char name[32];
  snprintf(name, sizeof name, "%s%s", stem, suffix[align ? 2 : strstr(b->node->op_name, "V2") ? 1 : 0]);
  return weft__b_node(b->graph, name, NULL, n_in, in, align ? 1 : 0, align);
}

static weft_err make_grad(backprop *b) {
  bool given = has_band(b->n_in, 5);
  weft_out in[] = {b->dout[0], given ? b->in[1] : WEFT_NONE, given ? zero_of(b) : WEFT_NONE};
  b->din[0] = GRAD_DENSE(with_align(b, "MatrixDiagPart", given ? 3 : 1, in));
  return WEFT_OK;
}

static weft_err part_grad(backprop *b) {
  bool given = has_band(b->n_in, 3);
  weft_out in[] = {weft__b_zeros_like(b->graph, b->in[0]), b->dout[0], given ? b->in[1] : WEFT_NONE};
  b->din[0] = GRAD_DENSE(with_align(b, "MatrixSetDiag", given ? 3 : 2, in));
  return WEFT_OK;
}

static weft_err diag_set_grad(backprop *b) {
  bool given = has_band(b->n_in, 3);
  weft_out set[] = {b->dout[0], weft__b_zeros_like(b->graph, b->in[1]), given ? b->in[2] : WEFT_NONE};
  weft_out part[] = {b->dout[0], given ? b->in[2] : WEFT_NONE, given ? zero_of(b) : WEFT_NONE};
  b->din[0] = GRAD_DENSE(with_align(b, "MatrixSetDiag", given ? 3 : 2, set));
  b->din[1] = GRAD_DENSE(with_align(b, "MatrixDiagPart", given ? 3 : 1, part));
  return WEFT_OK;
}

/* ---- MatrixBandPart ---- */

static weft_err keep_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  int rank = x->shape.rank;
  if (rank < 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be at least 2-dim, received shape: %s",
                             weft__shape_text(&x->shape));
  for (int i = 1; i < 3; i++)
    if (k->in[i]->shape.rank != 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be scalar, got shape %s",
                               i == 1 ? "num_lower" : "num_upper", weft__shape_text(&k->in[i]->shape));
  int64_t rows = x->shape.dim[rank - 2], cols = x->shape.dim[rank - 1], n = weft__shape_product(&x->shape, 0, rank - 2);
  int64_t low = weft__tensor_int(k->in[1], 0), up = weft__tensor_int(k->in[2], 0);
  if (low > rows)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "num_lower must be negative or less or equal to number of rows (%lld) got: %lld",
                             (long long)rows, (long long)low);
  if (up > cols)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "num_upper must be negative or less or equal to number of columns (%lld) got: %lld",
                             (long long)cols, (long long)up);
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  if (weft__dtype_is_plain(y->dtype)) memset(y->data, 0, weft__tensor_bytes(y));
  for (int64_t r = 0; cols && r < n * rows; r++) { /* keep columns [from, to) of row i */
    int64_t i = r % rows, from = low < 0 ? 0 : diag_least(diag_most(i - low, 0), cols),
            to = up < 0 ? cols : diag_least(i + up + 1, cols);
    if (to > from)
      WEFT_TRY(weft__elements_copy(y->dtype, weft__element(y->dtype, y->data, r * cols + from),
                                   weft__element_const(y->dtype, x->data, r * cols + from), to - from));
  }
  return WEFT_OK;
}

static weft_err keep_grad(backprop *b) {
  weft_out in[] = {b->dout[0], b->in[1], b->in[2]};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "MatrixBandPart", NULL, 3, in, 0, NULL));
  return WEFT_OK;
}

/* ---- Diag, DiagPart: a tensor of rank r becomes the diagonal of a tensor of rank 2 r, and back ---- */

static weft_err diag_infer(infer *s) {
  const shape *x = &s->in[0];
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  if (x->rank < 0) return WEFT_OK;
  if (2 * x->rank > WEFT_MAX_RANK) return weft__infer_fail(s, "the result would have %d axes", 2 * x->rank);
  s->out[0].rank = 2 * x->rank;
  for (int d = 0; d < 2 * x->rank; d++) s->out[0].dim[d] = x->dim[d % x->rank];
  return WEFT_OK;
}

static weft_err diag_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  shape out = {.rank = 2 * x->shape.rank};
  if (x->shape.rank < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input must be at least rank 1, got 0");
  if (out.rank > WEFT_MAX_RANK) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the result has too many axes");
  for (int d = 0; d < out.rank; d++) out.dim[d] = x->shape.dim[d % x->shape.rank];
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  memset(y->data, 0, weft__tensor_bytes(y));
  int64_t n = weft__tensor_count(x);
  strided_copy copy;
  copy.rank = 0;
  weft__strided_copy_axis(&copy, n, 1, n + 1);
  return weft__strided_copy_run(k, x->dtype, y->data, x->data, &copy);
}

static weft_err diag_part_infer(infer *s) {
  const shape *x = &s->in[0];
  if (x->rank < 0) return WEFT_OK;
  if (x->rank == 0 || x->rank % 2)
    return weft__infer_fail(s, "Input must have even and non-zero rank, input rank is %d", x->rank);
  s->out[0].rank = x->rank / 2;
  for (int d = 0; d < x->rank / 2; d++) {
    int64_t a = x->dim[d], b = x->dim[d + x->rank / 2];
    if (a >= 0 && b >= 0 && a != b)
      return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)a, (long long)b);
    s->out[0].dim[d] = a < 0 ? b : a;
  }
  return WEFT_OK;
}

static weft_err diag_part_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  shape out = x->shape;
  if (out.rank == 0 || out.rank % 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "The rank of the tensor should be even and positive, got shape %s",
                             weft__shape_text(&x->shape));
  out.rank /= 2;
  for (int d = 0; d < out.rank; d++)
    if (x->shape.dim[d] != x->shape.dim[d + out.rank])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid shape %s: dimensions %d and %d do not match.",
                               weft__shape_text(&x->shape), d, d + out.rank);
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  int64_t n = weft__tensor_count(y);
  strided_copy copy;
  copy.rank = 0;
  weft__strided_copy_axis(&copy, n, n + 1, 1);
  return weft__strided_copy_run(k, x->dtype, y->data, x->data, &copy);
}

static weft_err diag_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(weft__b_unary(b->graph, "DiagPart", b->dout[0]));
  return WEFT_OK;
}
static weft_err diag_part_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(weft__b_unary(b->graph, "Diag", b->dout[0]));
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case make_v1_cases[] = {
    {"f32[2] 1 2", "f32[2,2] 1 0 0 2", NULL, 0},
    {"f64[2,3] rand", NULL, NULL, 0},
    {"f32[] 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case make_cases[] = {
    {"f32[2] 1 2; i32[] 1; i32[] -1; i32[] -1; f32[] 9", "f32[3,3] 9 1 9 9 9 2 9 9 9", NULL, 0},
    {"f64[2,3] rand; i32[2] -1 0; i32[] -1; i32[] -1; f64[] 0", NULL, NULL, 0},
    {"f64[2,2,3] rand; i32[2] 0 1; i32[] 3; i32[] 4; f64[] 0.5", NULL, NULL, 0},
    {"i32[3] 1 2 3; i32[] 0; i32[] 5; i32[] -1; i32[] 0", NULL, NULL, 0},
    {"f32[2,3] 0; i32[2] 1 0; i32[] -1; i32[] -1; f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] 0; i32[2] 0 1; i32[] 2; i32[] 4; f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[3] 0; i32[] 0; i32[] 5; i32[] 6; f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case make_v3_cases[] = {
    {"f32[2] 1 2; i32[] 1; i32[] -1; i32[] -1; f32[] 9", "f32[3,3] 9 1 9 9 9 2 9 9 9", NULL, 0},
    {"f64[4,3] rand; i32[2] -1 2; i32[] 3; i32[] 4; f64[] 0", NULL, NULL, 0},
    {"f64[4,3] rand; i32[2] -1 2; i32[] 3; i32[] 4; f64[] 0", NULL, "align='LEFT_RIGHT'", 0},
    {"f64[4,3] rand; i32[2] -1 2; i32[] 3; i32[] 4; f64[] 0", NULL, "align='LEFT_LEFT'", 0},
    {"f64[4,3] rand; i32[2] -1 2; i32[] 3; i32[] 4; f64[] 0", NULL, "align='RIGHT_RIGHT'", 0},
    {"f32[3] 0; i32[] 5; i32[] 3; i32[] 4; f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case part_v1_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6", "f32[2] 1 5", NULL, 0},
    {"f64[2,3,2] rand", NULL, NULL, 0},
    {"f32[2] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case part_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; i32[] 1; f32[] 0", "f32[2] 2 6", NULL, 0},
    {"f64[3,4] rand; i32[2] -1 1; f64[] 9", NULL, NULL, 0},
    /* TF's gradient is wrong here */
    {"f32[2,2] 1 2 3 4; i32[2] -1 1; f32[] 9", "f32[3,2] 2 9 1 4 3 9", NULL, CASE_NO_PARITY},
    {"f64[2,4,3] rand; i32[2] -2 -1; f64[] 9", NULL, NULL, 0},
    {"f32[3,4] 0; i32[] 4; f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[3,4] 0; i32[2] -3 0; f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case part_v3_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; i32[] 1; f32[] 0", "f32[2] 2 6", NULL, 0},
    {"f64[3,4] rand; i32[2] -1 2; f64[] 9", NULL, NULL, 0},
    {"f64[3,4] rand; i32[2] -2 2; f64[] 9", NULL, "align='LEFT_RIGHT'", 0},
    {"f64[4,3] rand; i32[2] -2 2; f64[] 9", NULL, "align='RIGHT_RIGHT'", 0},
    {"f64[4,3] rand; i32[2] -2 2; f64[] 9", NULL, "align='LEFT_LEFT'", 0},
    {0},
};

static const op_case set_v1_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; f32[2] 8 9", "f32[2,3] 8 2 3 4 9 6", NULL, 0},
    {"f64[2,3,2] rand; f64[2,2] rand", NULL, NULL, 0},
    {"f32[2,3] 0; f32[3] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case set_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; f32[2] 8 9; i32[] 1", "f32[2,3] 1 8 3 4 5 9", NULL, 0},
    {"f64[3,4] rand; f64[2,3] rand; i32[2] -1 0", NULL, NULL, 0},
    {"f32[3,4] 0; f32[2] 0; i32[] 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case set_v3_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; f32[2] 8 9; i32[] 1", "f32[2,3] 1 8 3 4 5 9", NULL, 0},
    {"f64[3,4] rand; f64[4,3] rand; i32[2] -1 2", NULL, NULL, 0},
    {"f64[2,3,4] rand; f64[2,4,3] rand; i32[2] -1 2", NULL, "align='LEFT_RIGHT'", 0},
    {0},
};

static const op_case keep_cases[] = {
    {"f32[3,3] 1; i64[] 1; i64[] 0", "f32[3,3] 1 0 0 1 1 0 0 1 1", NULL, 0},
    {"f64[2,3,4] rand; i64[] -1; i64[] 1", NULL, NULL, 0},
    {"f64[4,3] rand; i32[] 0; i32[] -1", NULL, NULL, 0},
    {"bool[2,2] true; i64[] 0; i64[] 0", "bool[2,2] true false false true", NULL, 0},
    {"f32[2,3] 0; i64[] 3; i64[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] 0; i64[] 0; i64[] 4", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case diag_cases[] = {
    {"f32[2] 1 2", "f32[2,2] 1 0 0 2", NULL, 0},
    {"f64[2,3] rand", NULL, NULL, 0},
    {"f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case diag_part_cases[] = {
    {"f32[2,2] 1 2 3 4", "f32[2] 1 4", NULL, 0},
    {"f64[2,3,2,3] rand", NULL, NULL, 0},
    {"f32[2,3] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,2,2] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case old_keep_cases[] = {
    {"f32[3,3] 1; i64[] 1; i64[] 0", "f32[3,3] 1 0 0 1 1 0 0 1 1", NULL, 0},
    {"f64[2,3,4] rand; i64[] -1; i64[] 1", NULL, NULL, 0},
    {0},
};

#define ALIGN "T:type align:string{'LEFT_RIGHT','RIGHT_LEFT','LEFT_LEFT','RIGHT_RIGHT'}='RIGHT_LEFT'"
#define MAKE "(diagonal:T, k:int32, num_rows:int32, num_cols:int32, padding_value:T) -> (output:T) | "
#define PART "(input:T, k:int32, padding_value:T) -> (diagonal:T) | "
#define SET "(input:T, diagonal:T, k:int32) -> (output:T) | "
#define PLAIN_DIAG "T:type{bfloat16,half,float,double,int32,int64,complex64,complex128}"

OPS(diag) = {
    {"MatrixDiag(diagonal:T) -> (output:T) | T:type", "Matrices with given diagonals.", .infer = make_infer,
     .cpu = make_cpu, .grad = make_grad, .cases = make_v1_cases},
    {"MatrixDiagV2" MAKE "T:type", "Matrices with given bands of diagonals.", .infer = make_infer, .cpu = make_cpu,
     .grad = make_grad, .cases = make_cases},
    {"MatrixDiagV3" MAKE ALIGN, "Matrices with given bands of diagonals.", .infer = make_infer, .cpu = make_cpu,
     .grad = make_grad, .cases = make_v3_cases},
    {"MatrixDiagPart(input:T) -> (diagonal:T) | T:type", "The diagonals of matrices.", .infer = part_infer,
     .cpu = part_cpu, .grad = part_grad, .cases = part_v1_cases},
    {"MatrixDiagPartV2" PART "T:type", "Bands of diagonals of matrices.", .infer = part_infer, .cpu = part_cpu,
     .grad = part_grad, .cases = part_cases},
    {"MatrixDiagPartV3" PART ALIGN, "Bands of diagonals of matrices.", .infer = part_infer, .cpu = part_cpu,
     .grad = part_grad, .cases = part_v3_cases},
    {"MatrixSetDiag(input:T, diagonal:T) -> (output:T) | T:type", "Matrices with their diagonals replaced.",
     .infer = set_infer, .cpu = diag_set_cpu, .grad = diag_set_grad, .cases = set_v1_cases},
    {"MatrixSetDiagV2" SET "T:type", "Matrices with bands of diagonals replaced.", .infer = set_infer,
     .cpu = diag_set_cpu, .grad = diag_set_grad, .cases = set_cases},
    {"MatrixSetDiagV3" SET ALIGN, "Matrices with bands of diagonals replaced.", .infer = set_infer, .cpu = diag_set_cpu,
     .grad = diag_set_grad, .cases = set_v3_cases},
    {"MatrixBandPart(input:T, num_lower:Tindex, num_upper:Tindex) -> (band:T) | T:type "
     "Tindex:type{int32,int64}=int64",
     "Matrices with zeros outside a band.", .infer = weft__infer_same, .cpu = keep_cpu, .grad = keep_grad,
     .cases = keep_cases},
    {"Diag(diagonal:T) -> (output:T) | " PLAIN_DIAG, "A tensor with the given diagonal.", .infer = diag_infer,
     .cpu = diag_cpu, .grad = diag_grad, .cases = diag_cases},
    {"DiagPart(input:T) -> (diagonal:T) | " PLAIN_DIAG, "The diagonal of a tensor.", .infer = diag_part_infer,
     .cpu = diag_part_cpu, .grad = diag_part_grad, .cases = diag_part_cases},
    {"BatchMatrixDiag(diagonal:T) -> (output:T) | T:type", "MatrixDiag under its name in graphs before version 14.",
     .infer = make_infer, .cpu = make_cpu, .cases = make_v1_cases},
    {"BatchMatrixDiagPart(input:T) -> (diagonal:T) | T:type",
     "MatrixDiagPart under its name in graphs before version 14.", .infer = part_infer, .cpu = part_cpu,
     .cases = part_v1_cases},
    {"BatchMatrixSetDiag(input:T, diagonal:T) -> (output:T) | T:type",
     "MatrixSetDiag under its name in graphs before version 14.", .infer = set_infer, .cpu = diag_set_cpu,
     .cases = set_v1_cases},
    {"BatchMatrixBandPart(input:T, num_lower:int64, num_upper:int64) -> (band:T) | T:type",
     "MatrixBandPart under its name in graphs before version 14.", .infer = weft__infer_same, .cpu = keep_cpu,
     .cases = old_keep_cases},
    {0},
};
