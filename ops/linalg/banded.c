/* banded.c - TridiagonalSolve, TridiagonalMatMul and BandedTriangularSolve: matrices with a few diagonals.
 *
 * TridiagonalSolve takes the diagonals as rows (superdiagonal, diagonal, subdiagonal).  With partial pivoting it is
 * Gaussian elimination that exchanges neighboring rows; without pivoting it is the Thomas algorithm. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include "ops/linalg/matrix.h"
#include <math.h>
#include <stdatomic.h>

typedef double complex number;

/* ---- TridiagonalSolve ---- */

static weft_err tridiagonal_infer(infer *s) {
  for (int i = 0; i < 2; i++) WEFT_TRY(weft__infer_rank_at_least(s, i, 2));
  shape d = s->in[0], b = s->in[1];
  if (d.rank < 2 || b.rank < 2) return WEFT_OK;
  if (d.dim[d.rank - 2] >= 0 && d.dim[d.rank - 2] != 3)
    return weft__infer_fail(s, "Dimension must be 3 but is %lld", (long long)d.dim[d.rank - 2]);
  shape want = b;
  if (d.rank != b.rank) return weft__infer_fail(s, "Shapes must be equal rank, but are %d and %d", d.rank, b.rank);
  d.dim[d.rank - 2] = d.dim[d.rank - 1];
  d.dim[d.rank - 1] = b.dim[b.rank - 1];
  if (weft__shape_merge(&want, &d, &b)) return weft__infer_fail(s, "%s", weft__error_message());
  s->out[0] = want;
  return WEFT_OK;
}

typedef struct tridiagonal_work {
  matrices d, x;
  bool pivots, perturb;
  long_work *work;
  atomic_int failed; /* 1: singular; 2: no memory */
} tridiagonal_work;

enum { ROW_WORK = 8 }; /* of long_work, for each number of a row */

/* The Thomas algorithm.  Returns false if a pivot is zero. */
static bool solve_tridiagonal_thomas(long_work *work, const matrix *d, const matrix *x, number *upper) {
  const int64_t n = d->cols, cost = ROW_WORK * x->cols;
  int64_t spent = 0;
  for (int64_t i = 0; i < n && !weft__long_work_spent(work, &spent, cost); i++) {
    const number below = i ? weft__matrix_get(d, 2, i) : 0;
    const number pivot = weft__matrix_get(d, 1, i) - (i ? below * upper[i - 1] : 0);
    if (pivot == 0) return false;
    upper[i] = i + 1 < n ? weft__matrix_get(d, 0, i) / pivot : 0;
    if (i) weft__matrix_less(x, i, x, i - 1, below, 0);
    weft__matrix_scale(x, i, 1 / pivot);
  }
  for (int64_t i = n - 2; i >= 0 && !weft__long_work_spent(work, &spent, cost); i--)
    weft__matrix_less(x, i, x, i + 1, upper[i], 0);
  return true;
}

/* Gaussian elimination with row exchanges. u has three numbers per row: the diagonal and the next two elements.
 * Returns false if the matrix is singular. */
static bool banded_eliminate(const tridiagonal_work *j, const matrix *d, const matrix *x, number *u) {
  const int64_t n = d->cols, cost = ROW_WORK * x->cols;
  int64_t spent = 0;
  u[0] = weft__matrix_get(d, 1, 0);
  u[1] = n > 1 ? weft__matrix_get(d, 0, 0) : 0;
  u[2] = 0;
  for (int64_t i = 0; i + 1 < n && !weft__long_work_spent(j->work, &spent, cost); i++) {
    number *row = u + 3 * i, *next = row + 3;
    const number below = weft__matrix_get(d, 2, i + 1), own = weft__matrix_get(d, 1, i + 1);
    const number above = i + 2 < n ? weft__matrix_get(d, 0, i + 1) : 0;
    if (cabs(row[0]) >= cabs(below)) {
      if (row[0] == 0) return false;
      const number f = below / row[0];
      next[0] = own - f * row[1];
      next[1] = above;
      weft__matrix_less(x, i + 1, x, i, f, 0);
    } else {
      const number f = row[0] / below, beside = row[1];
      row[0] = below, row[1] = own, row[2] = above;
      next[0] = beside - f * own;
      next[1] = -f * above;
      weft__matrix_swap(x, i, i + 1);
      weft__matrix_less(x, i + 1, x, i, f, 0);
    }
    next[2] = 0;
  }
  number *last = u + 3 * (n - 1);
  if (*last == 0 && !j->perturb) return false;
  if (*last == 0) *last = 1e-300;
  for (int64_t i = n - 1; i >= 0 && !weft__long_work_spent(j->work, &spent, cost); i--) {
    if (i + 1 < n) weft__matrix_less(x, i, x, i + 1, u[3 * i + 1], 0);
    if (i + 2 < n) weft__matrix_less(x, i, x, i + 2, u[3 * i + 2], 0);
    weft__matrix_scale(x, i, 1 / u[3 * i]);
  }
  return true;
}

static void tridiagonal_all(void *arg, int64_t begin, int64_t end) {
  tridiagonal_work *j = arg;
  number *room = weft__alloc_zero(3 * (size_t)j->d.cols + 3, sizeof *room);
  if (!room) {
    atomic_store(&j->failed, 2);
    return;
  }
  for (int64_t b = begin; b < end; b++) {
    const matrix d = weft__matrix_at(&j->d, b), x = weft__matrix_at(&j->x, b);
    if (d.cols == 0) continue;
    const bool good = j->pivots ? banded_eliminate(j, &d, &x, room) : solve_tridiagonal_thomas(j->work, &d, &x, room);
    for (int64_t i = 0; !good && i < x.rows; i++) weft__matrix_scale(&x, i, NAN);
  }
  weft__free(room);
}

static weft_err tridiagonal_cpu(kernel *k) {
  const shape *d = &k->in[0]->shape, *b = &k->in[1]->shape;
  bool fits =
      d->rank >= 2 && d->rank == b->rank && d->dim[d->rank - 2] == 3 && d->dim[d->rank - 1] == b->dim[b->rank - 2];
  for (int i = 0; fits && i < d->rank - 2; i++) fits = d->dim[i] == b->dim[i];
  if (!fits)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Expected diagonals of shape [..., 3, M] and rhs of [..., M, K], got %s and %s",
                             weft__shape_text(d), weft__shape_text(b));
  long_work work = weft__long_work(k);
  tridiagonal_work j = {.work = &work,
                        .pivots = weft__node_bool(k->node, "partial_pivoting", true),
                        .perturb = weft__node_bool(k->node, "perturb_singular", false)};
  weft_err err = weft__matrices_load(k, 0, &j.d);
  if (!err) err = weft__matrices_load(k, 1, &j.x);
  if (!err) {
    err = weft__long_loop(k, weft__matrices_visits(&j.x), 100 + weft__matrix_cost(&j.x, 10, j.x.rows, j.x.cols),
                          tridiagonal_all, &j);
    if (!err) err = weft__kernel_in(k, weft__long_work_end(&work));
    if (!err) err = atomic_load(&j.failed) ? WEFT_OOM : weft__matrices_store(k, 0, b, &j.x);
  }
  weft__matrices_clear(&j.d);
  weft__matrices_clear(&j.x);
  return err;
}

/* Returns true if the ranks of all inputs are known and at least 2. */
static bool input_ranks_known(const backprop *b) {
  bool known = true;
  for (int i = 0; i < b->n_in; i++) known = known && weft__out_shape(b->graph, b->in[i])->rank >= 2;
  return known;
}

/* The same check for inputs, outputs and their gradients. */
static bool ranks_known(const backprop *b) {
  bool known = input_ranks_known(b);
  for (int i = 0; i < b->n_out; i++)
    known = known && weft__out_shape(b->graph, b->out[i])->rank >= 2 && b->dout[i].node >= 0 &&
            weft__out_shape(b->graph, b->dout[i])->rank >= 2;
  return known;
}

/* Returns [from, from + n) of the second-last or last axis of x; if n < 0, up to the end. */
static weft_out banded_cut(weft_graph *g, weft_out x, int back, int64_t from, int64_t n) {
  const int rank = weft__out_shape(g, x)->rank;
  int64_t begin[WEFT_MAX_RANK] = {0}, size[WEFT_MAX_RANK];
  for (int i = 0; i < rank; i++) size[i] = -1;
  begin[rank - back] = from;
  size[rank - back] = n;
  return weft__b_node(g, "Slice", NULL, 3, (weft_out[]){x, weft__b_ints(g, begin, rank), weft__b_ints(g, size, rank)},
                      0, NULL);
}

/* Returns x with one zero before or after its elements along the last axis. */
static weft_out banded_padded(weft_graph *g, weft_out x, bool before) {
  const int rank = weft__out_shape(g, x)->rank;
  int64_t pads[2 * WEFT_MAX_RANK] = {0};
  pads[2 * (rank - 1) + (before ? 0 : 1)] = 1;
  const weft_out amounts =
      weft__b_reshape(g, weft__b_ints(g, pads, 2 * rank), weft__b_ints(g, (int64_t[]){rank, 2}, 2));
  return weft__b_binary(g, "Pad", x, amounts);
}

/* Returns the diagonals of the transpose: superdiagonal and subdiagonal are exchanged, and each is shifted by one. */
static weft_out transposed_diagonals(weft_graph *g, weft_out d, int64_t n) {
  const weft_out upper = banded_cut(g, banded_cut(g, d, 2, 0, 1), 1, 0, n - 1),
                 lower = banded_cut(g, banded_cut(g, d, 2, 2, 1), 1, 1, n - 1);
  const weft_out parts[] = {banded_padded(g, lower, false), banded_cut(g, d, 2, 1, 1), banded_padded(g, upper, true)};
  return weft__b_concat(g, 3, parts, weft__b_scalar(g, WEFT_INT32, -2));
}

/* Sums x * conj(y) over the last axis.  As in TensorFlow, the sum is not conjugated, although complex diagonals are. */
static weft_out row_sums(weft_graph *g, weft_out x, weft_out y) {
  return weft__b_sum(g, weft__b_mul(g, x, y), weft__b_scalar(g, WEFT_INT32, -1), false);
}

static weft_err tridiagonal_grad(backprop *b) {
  weft_graph *g = b->graph;
  const shape *s = weft__out_shape(g, b->in[0]);
  const int64_t n = s->rank < 2 ? -1 : s->dim[s->rank - 1];
  if (n < 1 || !ranks_known(b))
    return weft__fail(WEFT_UNIMPLEMENTED, "the gradient of TridiagonalSolve '%s' needs a matrix of known size: %s",
                      b->node->name, weft__shape_text(s));
  const weft_out x = weft__b_conj(g, b->out[0]);
  const attr attrs[] = {A_BOOL("partial_pivoting", weft__node_bool(b->node, "partial_pivoting", true)),
                        A_BOOL("perturb_singular", weft__node_bool(b->node, "perturb_singular", false))};
  const weft_out in[] = {weft__b_conj(g, transposed_diagonals(g, b->in[0], n)), b->dout[0]};
  const weft_out db = weft__b_node(g, "TridiagonalSolve", NULL, 2, in, 2, attrs);
  const weft_out main = row_sums(g, db, x),
                 upper = row_sums(g, banded_cut(g, db, 2, 0, n - 1), banded_cut(g, x, 2, 1, n - 1)),
                 lower = row_sums(g, banded_cut(g, db, 2, 1, n - 1), banded_cut(g, x, 2, 0, n - 1));
  const weft_out rows[] = {banded_padded(g, upper, false), main, banded_padded(g, lower, true)};
  weft_out parts[3];
  for (int i = 0; i < 3; i++) parts[i] = weft__b_binary(g, "ExpandDims", rows[i], weft__b_scalar(g, WEFT_INT32, -2));
  b->din[0] = GRAD_DENSE(weft__b_neg(g, weft__b_concat(g, 3, parts, weft__b_scalar(g, WEFT_INT32, -2))));
  b->din[1] = GRAD_DENSE(db);
  return WEFT_OK;
}

/* ---- TridiagonalMatMul ---- */

static weft_err tridiagonal_product_infer(infer *s) {
  for (int i = 0; i < 4; i++) WEFT_TRY(weft__infer_rank_at_least(s, i, 2));
  s->out[0] = s->in[3];
  return WEFT_OK;
}

typedef struct product_work {
  matrices upper, main, lower, right, out;
  long_work *work;
} product_work;

static void product_all(void *arg, int64_t begin, int64_t end) {
  const product_work *j = arg;
  for (int64_t b = begin; b < end; b++) {
    const matrix upper = weft__matrix_at(&j->upper, b), main = weft__matrix_at(&j->main, b),
                 lower = weft__matrix_at(&j->lower, b), x = weft__matrix_at(&j->right, b),
                 y = weft__matrix_at(&j->out, b);
    int64_t spent = 0;
    for (int64_t i = 0; i < x.rows && !weft__long_work_spent(j->work, &spent, ROW_WORK * x.cols); i++) {
      weft__matrix_less(&y, i, &x, i, -weft__matrix_get(&main, 0, i), 0);
      if (i + 1 < x.rows) weft__matrix_less(&y, i, &x, i + 1, -weft__matrix_get(&upper, 0, i), 0);
      if (i > 0) weft__matrix_less(&y, i, &x, i - 1, -weft__matrix_get(&lower, 0, i), 0);
    }
  }
}

static weft_err tridiagonal_product_cpu(kernel *k) {
  const shape *x = &k->in[3]->shape;
  if (x->rank < 2) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "rhs must have rank >= 2, got %d", x->rank);
  for (int i = 0; i < 3; i++) {
    shape want = *x;
    want.dim[want.rank - 1] = x->dim[x->rank - 2];
    want.dim[want.rank - 2] = 1;
    if (!weft__shape_equal(&want, &k->in[i]->shape))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected diagonal %d of shape %s, got %s", i,
                               weft__shape_text(&want), weft__shape_text(&k->in[i]->shape));
  }
  long_work work = weft__long_work(k);
  product_work j = {.work = &work};
  weft_err err = weft__matrices_load(k, 0, &j.upper);
  if (!err) err = weft__matrices_load(k, 1, &j.main);
  if (!err) err = weft__matrices_load(k, 2, &j.lower);
  if (!err) err = weft__matrices_load(k, 3, &j.right);
  if (!err) err = weft__matrices_make(k, &j.right, j.right.rows, j.right.cols, &j.out);
  if (!err) {
    err = weft__long_loop(k, weft__matrices_visits(&j.out),
                          100 + weft__matrix_cost(&j.right, 6, j.right.rows, j.right.cols), product_all, &j);
    if (!err) err = weft__kernel_in(k, weft__long_work_end(&work));
    if (!err) err = weft__matrices_store(k, 0, x, &j.out);
  }
  matrices *all[] = {&j.upper, &j.main, &j.lower, &j.right, &j.out};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) weft__matrices_clear(all[i]);
  return err;
}

/* Returns x shifted up or down by one row. */
static weft_out moved_rows(weft_graph *g, weft_out x, bool up, int64_t n) {
  const int rank = weft__out_shape(g, x)->rank;
  int64_t pads[2 * WEFT_MAX_RANK] = {0};
  pads[2 * (rank - 2) + (up ? 1 : 0)] = 1;
  const weft_out amounts =
      weft__b_reshape(g, weft__b_ints(g, pads, 2 * rank), weft__b_ints(g, (int64_t[]){rank, 2}, 2));
  return weft__b_binary(g, "Pad", banded_cut(g, x, 2, up ? 1 : 0, n - 1), amounts);
}

static weft_err tridiagonal_product_grad(backprop *b) {
  weft_graph *g = b->graph;
  const shape *s = weft__out_shape(g, b->in[3]);
  const int64_t n = s->rank < 2 ? -1 : s->dim[s->rank - 2];
  if (n < 1 || !input_ranks_known(b))
    return weft__fail(WEFT_UNIMPLEMENTED, "the gradient of TridiagonalMatMul '%s' needs a matrix of known size: %s",
                      b->node->name, weft__shape_text(s));
  const weft_out x = weft__b_conj(g, b->in[3]), dy = b->dout[0];
  const weft_out with[] = {moved_rows(g, x, true, n), x, moved_rows(g, x, false, n)};
  for (int i = 0; i < 3; i++)
    b->din[i] =
        GRAD_DENSE(weft__b_binary(g, "ExpandDims", row_sums(g, with[i], dy), weft__b_scalar(g, WEFT_INT32, -2)));
  /* The superdiagonal of the transpose is the subdiagonal, shifted by one. */
  const weft_out in[] = {banded_padded(g, banded_cut(g, weft__b_conj(g, b->in[2]), 1, 1, n - 1), false),
                         weft__b_conj(g, b->in[1]),
                         banded_padded(g, banded_cut(g, weft__b_conj(g, b->in[0]), 1, 0, n - 1), true), dy};
  b->din[3] = GRAD_DENSE(weft__b_node(g, "TridiagonalMatMul", NULL, 4, in, 0, NULL));
  return WEFT_OK;
}

/* ---- BandedTriangularSolve ---- */

static weft_err banded_infer(infer *s) {
  for (int i = 0; i < 2; i++) WEFT_TRY(weft__infer_rank_at_least(s, i, 2));
  const shape *a = &s->in[0], *b = &s->in[1];
  if (a->rank < 2 || b->rank < 2) return WEFT_OK;
  const int64_t n = a->dim[a->rank - 1], r = b->dim[b->rank - 2];
  if (n >= 0 && r >= 0 && n != r)
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)n, (long long)r);
  const int64_t bands = a->dim[a->rank - 2];
  if (bands >= 0 && n >= 0 && (bands < 1 || bands > n))
    return weft__infer_fail(s, "Number of bands %lld cannot exceed the size of the matrix %lld", (long long)bands,
                            (long long)n);
  shape x = *a, y = *b;
  x.rank -= 2;
  y.rank -= 2;
  if (weft__shape_broadcast(&s->out[0], &x, &y)) return weft__infer_fail(s, "%s", weft__error_message());
  s->out[0].dim[s->out[0].rank++] = n >= 0 ? n : r;
  s->out[0].dim[s->out[0].rank++] = b->dim[b->rank - 1];
  return WEFT_OK;
}

typedef struct banded_work {
  long_work work;
  matrices a, b, x;
  const shape *out, *of_a, *of_b;
  bool lower, adjoint;
} banded_work;

/* Returns element (row, column) of the triangle.  In a lower triangle, band k is the k-th below the diagonal; in an
 * upper one, the last band is the diagonal. */
static number band_at(const matrix *a, bool lower, int64_t row, int64_t column) {
  const int64_t off = lower ? row - column : column - row;
  if (off < 0 || off >= a->rows) return 0;
  return lower ? weft__matrix_get(a, off, row) : weft__matrix_get(a, a->rows - 1 - off, row);
}

static void banded_one(banded_work *j, const matrix *a, const matrix *x) {
  const bool down = j->lower != j->adjoint;
  const int64_t n = a->cols;
  int64_t spent = 0;
  for (int64_t s = 0; s < n; s++) {
    if (weft__long_work_spent(&j->work, &spent, ROW_WORK * x->cols * a->rows)) return;
    const int64_t i = down ? s : n - 1 - s;
    for (int64_t off = 1; off < a->rows && off <= s; off++) {
      const int64_t k = down ? i - off : i + off;
      weft__matrix_less(x, i, x, k, j->adjoint ? conj(band_at(a, j->lower, k, i)) : band_at(a, j->lower, i, k), 0);
    }
    const number d = band_at(a, j->lower, i, i);
    weft__matrix_scale(x, i, 1 / (j->adjoint ? conj(d) : d));
  }
}

static void banded_all(void *arg, int64_t begin, int64_t end) {
  banded_work *j = arg;
  for (int64_t i = begin; i < end; i++) {
    const matrix a = weft__matrix_at(&j->a, weft__matrix_of(j->out, j->of_a, i)), x = weft__matrix_at(&j->x, i);
    const matrix b = weft__matrix_at(&j->b, weft__matrix_of(j->out, j->of_b, i));
    for (int64_t r = 0; r < x.rows; r++) weft__matrix_less(&x, r, &b, r, -1, 0);
    banded_one(j, &a, &x);
  }
}

static weft_err banded_run(kernel *k, banded_work *j, const shape *out) {
  WEFT_TRY(weft__matrices_load(k, 0, &j->a));
  WEFT_TRY(weft__matrices_load(k, 1, &j->b));
  const matrices like = {.copy = {.dtype = j->b.copy.dtype}, .count = weft__shape_product(out, 0, out->rank - 2)};
  WEFT_TRY(weft__matrices_make(k, &like, j->b.rows, j->b.cols, &j->x));
  j->work = weft__long_work(k);
  WEFT_TRY(weft__long_loop(k, weft__matrices_visits(&j->x),
                           100 + weft__matrix_cost(&j->x, j->a.rows, j->x.rows, j->x.cols), banded_all, j));
  WEFT_TRY(weft__kernel_in(k, weft__long_work_end(&j->work)));
  return weft__matrices_store(k, 0, out, &j->x);
}

static weft_err banded_cpu(kernel *k) {
  shape a = k->in[0]->shape, b = k->in[1]->shape, out;
  if (k->in[0]->dtype == WEFT_HALF) return weft__kernel_no_type(k, WEFT_HALF);
  if (a.rank < 2 || b.rank < 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "In[%d] ndims must be >= 2: %d", a.rank < 2 ? 0 : 1,
                             a.rank < 2 ? a.rank : b.rank);
  const int64_t n = a.dim[a.rank - 1], bands = a.dim[a.rank - 2];
  if (bands < 1 || bands > n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Number of bands must be positive and at most the matrix size: %s", weft__shape_text(&a));
  if (n != b.dim[b.rank - 2])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "In[0] mismatch In[1] shape: %s %s", weft__shape_text(&a),
                             weft__shape_text(&b));
  a.rank -= 2;
  b.rank -= 2;
  if (weft__shape_broadcast(&out, &a, &b))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "In[0] and In[1] must have compatible batch dimensions: %s vs. %s",
                             weft__shape_text(&k->in[0]->shape), weft__shape_text(&k->in[1]->shape));
  out.dim[out.rank++] = n;
  out.dim[out.rank++] = k->in[1]->shape.dim[k->in[1]->shape.rank - 1];
  banded_work j = {.out = &out,
                   .of_a = &k->in[0]->shape,
                   .of_b = &k->in[1]->shape,
                   .lower = weft__node_bool(k->node, "lower", true),
                   .adjoint = weft__node_bool(k->node, "adjoint", false)};
  const weft_err err = banded_run(k, &j, &out);
  weft__matrices_clear(&j.a);
  weft__matrices_clear(&j.b);
  weft__matrices_clear(&j.x);
  return err;
}

/* The gradient of MatrixTriangularSolve; the bands are then extracted from the full matrix. */
static weft_err banded_grad(backprop *b) {
  weft_graph *g = b->graph;
  const bool lower = weft__node_bool(b->node, "lower", true), adjoint = weft__node_bool(b->node, "adjoint", false);
  const shape *s = weft__out_shape(g, b->in[0]);
  const int64_t bands = s->rank < 2 ? -1 : s->dim[s->rank - 2];
  if (bands < 0)
    return weft__fail(WEFT_UNIMPLEMENTED,
                      "the gradient of BandedTriangularSolve '%s' needs a known number of bands: %s", b->node->name,
                      weft__shape_text(s));
  const attr attrs[] = {A_BOOL("lower", lower), A_BOOL("adjoint", !adjoint)};
  weft_out right = weft__b_node(g, "BandedTriangularSolve", NULL, 2, (weft_out[]){b->in[0], b->dout[0]}, 2, attrs);
  const weft_out whole = weft__b_neg(g, adjoint ? weft__b_matrix_product(g, b->out[0], right, false, true)
                                                : weft__b_matrix_product(g, right, b->out[0], false, true));
  const weft_out k = weft__b_ints(g, (int64_t[]){lower ? 1 - bands : 0, lower ? 0 : bands - 1}, 2);
  const weft_out in[] = {whole, k, weft__b_scalar_like(g, whole, 0)};
  weft_out left = weft__b_node(g, "MatrixDiagPartV3", NULL, 3, in, 1, (attr[]){A_STR("align", "LEFT_RIGHT")});
  weft__b_matrix_fold(g, b->in[0], b->in[1], &left, &right);
  b->din[0] = GRAD_DENSE(left);
  b->din[1] = GRAD_DENSE(right);
  return WEFT_OK;
}

/* ---- cases ---- */
static const op_case tridiagonal_cases[] = {
    {"f64[3,3] 1 2 9 3 4 5 8 1 2; f64[3,1] 1 2 3"},
    {"f64[3,4] 1 2 3 9 0 4 5 6 8 1 2 3; f64[4,2] 1 2 3 4 5 6 7 8"},
    {"f64[3,3] 1 2 9 3 4 5 8 1 2; f64[3,2] 1 2 3 4 5 6", NULL, "partial_pivoting=false"},
    {"f64[2,3,3] pos; f64[2,3,2] rand"},
    {"c128[3,3] 1 2i 9 3 4 5-1i 8 1 2; c128[3,1] 1 2 3i", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[3,1] 1 2 3; f64[1,2] 1 4", NULL, NULL, CASE_NO_GRAD},
    {"f64[2,2] 1; f64[2,1] 1", "error INVALID_ARGUMENT"},
    {"f64[3,2] 1; f64[3,1] 1", "error INVALID_ARGUMENT"},
    {0},
};
static const op_case product_cases[] = {
    {"f64[1,3] 1 2 9; f64[1,3] 3 4 5; f64[1,3] 8 1 2; f64[3,2] 1 2 3 4 5 6"},
    {"f64[2,1,3] rand; f64[2,1,3] rand; f64[2,1,3] rand; f64[2,3,2] rand"},
    {"c128[1,2] rand; c128[1,2] rand; c128[1,2] rand; c128[2,2] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case banded_cases[] = {
    {"f64[2,3] 1 2 3 9 .5 .6; f64[3,1] 1 2 3", NULL, NULL, CASE_NO_GRAD},
    {"f64[2,3] .4 .5 9 1 2 3; f64[3,2] 1 2 3 4 5 6", NULL, "lower=false", CASE_NO_GRAD},
    {"f64[2,3] 1 2 3 9 .5 .6; f64[3,1] 1 2 3", NULL, "adjoint=true", CASE_NO_GRAD},
    {"f64[3,4] pos; f64[2,4,2] rand", NULL, "lower=false adjoint=true", CASE_NO_GRAD},
    {"f64[2,1,2,3] pos; f64[2,3,1] rand", NULL, NULL, CASE_NO_GRAD},
    {"f64[3,2] 1; f64[2,1] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

OPS(banded) = {
    {"TridiagonalSolve(diagonals:T, rhs:T) -> (output:T) | partial_pivoting:bool=true perturb_singular:bool=false "
     "T:type{double,float,complex64,complex128}",
     "The solutions of systems whose matrices have three diagonals.", .infer = tridiagonal_infer,
     .cpu = tridiagonal_cpu, .grad = tridiagonal_grad, .cases = tridiagonal_cases},
    {"TridiagonalMatMul(superdiag:T, maindiag:T, subdiag:T, rhs:T) -> (output:T) | "
     "T:type{double,float,complex64,complex128}",
     "The products of matrices of three diagonals with others.", .infer = tridiagonal_product_infer,
     .cpu = tridiagonal_product_cpu, .grad = tridiagonal_product_grad, .cases = product_cases},
    {"BandedTriangularSolve(matrix:T, rhs:T) -> (output:T) | lower:bool=true adjoint:bool=false "
     "T:type{double,float,half,complex64,complex128}",
     "The solutions of systems whose matrices are triangles of a few diagonals.", .infer = banded_infer,
     .cpu = banded_cpu, .grad = banded_grad, .cases = banded_cases},
    {0},
};
