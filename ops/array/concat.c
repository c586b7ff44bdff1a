/* concat.c - joins tensors along an existing axis (Concat) or along a new one (Pack).
 *
 * The result is seen as rows, and each row consists of one piece of every input.  Short rows are written in order, a
 * block of them at a time: one strided copy for each input would go through the whole result again and again, and
 * would fetch each of its cache lines anew.  Long rows, strings and a GPU's tensors take one strided copy for each
 * input. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/fusion.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "kernels/array/index.h"
#include "ops/math/quantized.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Copies t, seen as (rows, piece), to columns [at, at + piece) of y, seen as (rows, total). */
static weft_err join_piece(kernel *k, weft_tensor *y, const weft_tensor *t, int64_t rows, int64_t piece, int64_t total,
                           int64_t at) {
  WEFT_ASSERT(rows >= 0 && at >= 0 && at + piece <= total);
  strided_copy copy;
  copy.rank = 0;
  weft__strided_copy_axis(&copy, rows, piece, total);
  weft__strided_copy_axis(&copy, piece, 1, 1);
  return weft__strided_copy_run(k, y->dtype, weft__element(y->dtype, y->data, at), t->data, &copy);
}

typedef struct join {
  const kernel *k;
  int first, n; /* the inputs that are joined */
  char *y;
  int64_t rows, row; /* their number, and the bytes of one */
} join;

enum { JOIN_BLOCK = 32 << 10, JOIN_LONG = 64 << 10, JOIN_BYTES_PER_NS = 4 };

#define JOIN_PIECES(SIZE)                                                                                              \
  for (int64_t r = 0; r < rows; r++) memcpy(to + r * row, from + r * (SIZE), SIZE)

/* Copies `rows` pieces that follow one another to the rows of the result.  The compiler knows the common sizes. */
static void join_copy(char *to, int64_t row, const char *from, int64_t piece, int64_t rows) {
  switch (piece) {
  case 4: JOIN_PIECES(4); break;
  case 8: JOIN_PIECES(8); break;
  case 16: JOIN_PIECES(16); break;
  case 32: JOIN_PIECES(32); break;
  case 64: JOIN_PIECES(64); break;
  case 128: JOIN_PIECES(128); break;
  default:
    for (int64_t r = 0; r < rows; r++) memcpy(to + r * row, from + r * piece, (size_t)piece);
  }
}

static void join_rows(void *arg, int64_t begin, int64_t end) {
  const join *j = arg;
  const int64_t block = JOIN_BLOCK / j->row + 1;
  for (int64_t r = begin; r < end; r += block) {
    const int64_t rows = end - r < block ? end - r : block;
    char *to = j->y + r * j->row;
    for (int i = j->first; i < j->first + j->n; i++) {
      const int64_t piece = (int64_t)weft__tensor_bytes(j->k->in[i]) / j->rows;
      if (piece > 0) join_copy(to, j->row, (const char *)j->k->in[i]->data + r * piece, piece, rows);
      to += piece;
    }
  }
}

/* Joins n inputs from `first` on, each of which is seen as `rows` rows. */
static weft_err join_inputs(kernel *k, weft_tensor *y, int first, int n, int64_t rows) {
  if (weft__tensor_count(y) == 0) return WEFT_OK;
  const int64_t total = weft__tensor_count(y) / rows;
  join j = {k, first, n, y->data, rows, (int64_t)weft__tensor_bytes(y) / rows};
  if (n > 1 && rows > 1 && j.row < JOIN_LONG && weft__dtype_is_plain(y->dtype) && !k->device) {
    weft__kernel_loop(k, rows, j.row / JOIN_BYTES_PER_NS + 1, join_rows, &j);
    return WEFT_OK;
  }
  for (int64_t i = first, offset = 0; i < first + n; i++) {
    const int64_t piece = weft__tensor_count(k->in[i]) / rows;
    WEFT_TRY(join_piece(k, y, k->in[i], rows, piece, total, offset));
    offset += piece;
  }
  return WEFT_OK;
}

/* ---- Concat, ConcatV2: n values from input `first`, the axis at input `at` ---- */

/* Finds the rank of the result from all inputs whose rank is known. */
static weft_err concat_rank(infer *s, int first, int n, int *rank) {
  *rank = -1;
  for (int i = first; i < first + n; i++) {
    if (s->in[i].rank < 0) continue;
    if (s->in[i].rank == 0) return weft__infer_fail(s, "Can't concatenate scalars (use tf.stack instead)");
    if (*rank >= 0 && s->in[i].rank != *rank)
      return weft__infer_fail(s, "Shape must be rank %d but is rank %d", *rank, s->in[i].rank);
    *rank = s->in[i].rank;
  }
  return WEFT_OK;
}

static shape without_axis(const shape *s, int axis) {
  WEFT_ASSERT(axis >= 0);
  shape out = *s;
  if (s->rank <= 0) return out;
  out.rank--;
  for (int d = axis; d < out.rank; d++) out.dim[d] = s->dim[d + 1];
  return out;
}

static weft_err concat_dims(infer *s, int first, int n, int rank, int axis) {
  WEFT_ASSERT(axis >= 0 && axis < rank && first + n <= s->n_in);
  shape *out = &s->out[0];
  shape rest = SHAPE_UNKNOWN;
  int64_t total = 0;
  for (int i = first; i < first + n; i++) {
    shape other = s->in[i], before = rest;
    int64_t size = other.rank < 0 ? -1 : other.dim[axis];
    if (other.rank >= 0) other.dim[axis] = -1;
    if (weft__shape_merge(&rest, &before, &other) != WEFT_OK) {
      const shape a = without_axis(&before, axis), b = without_axis(&other, axis);
      (void)weft__shape_merge(&rest, &a, &b); /* fails again, and says which dimension without the axis */
      return weft__infer_fail(s, "%s", weft__error_message());
    }
    total = weft__shape_dim_add(total, size);
  }
  *out = rest;
  out->rank = rank;
  out->dim[axis] = total;
  return WEFT_OK;
}

static weft_err concat_infer_at(infer *s, int first, int n, int at) {
  int rank;
  WEFT_TRY(concat_rank(s, first, n, &rank));
  WEFT_TRY(weft__infer_rank(s, at, 0, NULL));
  if (rank < 0) return WEFT_OK;
  const weft_tensor *axis = weft__infer_value(s, at);
  if (!axis) {
    s->out[0].rank = rank;
    for (int d = 0; d < rank; d++) s->out[0].dim[d] = -1;
    return WEFT_OK;
  }
  int64_t a = weft__tensor_int(axis, 0);
  if (a < -rank || a >= rank)
    return weft__infer_fail(s, "Shape must be at least rank %llu but is rank %d",
                            a < 0 ? 0ULL - (unsigned long long)a : (unsigned long long)a + 1, rank);
  return concat_dims(s, first, n, rank, weft__int_sat(a < 0 ? a + rank : a));
}

static weft_err concat_infer(infer *s) { return concat_infer_at(s, 1, s->n_in - 1, 0); }
static weft_err concat_v2_infer(infer *s) { return concat_infer_at(s, 0, s->n_in - 1, s->n_in - 1); }

/* Computes the shape of the result. */
static weft_err concat_shape(kernel *k, int first, int n, int axis, shape *out) {
  WEFT_ASSERT(n > 0 && axis >= 0 && axis < k->in[first]->shape.rank);
  *out = k->in[first]->shape;
  for (int i = 1; i < n; i++) {
    const shape *s = &k->in[first + i]->shape;
    if (s->rank != out->rank)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "ConcatOp : Ranks of all input tensors should match: shape[0] = %s vs. shape[%d] = %s",
                               weft__shape_text(&k->in[first]->shape), i, weft__shape_text(s));
    for (int d = 0; d < s->rank; d++)
      if (d != axis && s->dim[d] != out->dim[d])
        return weft__kernel_fail(
            k, WEFT_INVALID_ARGUMENT,
            "ConcatOp : Dimension %d in both shapes must be equal: shape[0] = %s vs. shape[%d] = %s", d,
            weft__shape_text(&k->in[first]->shape), i, weft__shape_text(s));
    out->dim[axis] += s->dim[axis];
  }
  return WEFT_OK;
}

static weft_err concat_at(kernel *k, int first, int n, int at, const char *name) {
  int rank = k->in[first]->shape.rank;
  if (weft__tensor_count(k->in[at]) != 1 || k->in[at]->shape.rank > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s tensor should be a scalar integer, but got shape %s", name,
                             weft__shape_text(&k->in[at]->shape));
  int64_t a = weft__tensor_int(k->in[at], 0);
  if (rank == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "ConcatOp : Can't concatenate scalars (use tf.stack instead)");
  if (a < -rank || a >= rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "ConcatOp : Expected concatenating dimensions in the range [%d, %d), but got %lld", -rank,
                             rank, (long long)a);
  int axis = weft__int_sat(a < 0 ? a + rank : a);
  shape out;
  WEFT_TRY(concat_shape(k, first, n, axis, &out));
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  return join_inputs(k, y, first, n, weft__shape_product(&out, 0, axis));
}

static weft_err concat_cpu(kernel *k) { return concat_at(k, 1, k->n_in - 1, 0, "concat_dim"); }
static weft_err concat_v2_cpu(kernel *k) { return concat_at(k, 0, k->n_in - 1, k->n_in - 1, "axis"); }

/* ---- QuantizedConcat: the inputs are the values, then the lower ends of their ranges, then the upper ends ---- */

static weft_err quantized_concat_infer(infer *s) {
  const int n = (s->n_in - 1) / 3;
  WEFT_TRY(concat_infer_at(s, 1, n, 0));
  for (int i = n + 1; i < s->n_in; i++) WEFT_TRY(weft__infer_rank(s, i, 0, NULL));
  s->out[1] = s->out[2] = SHAPE_SCALAR;
  return WEFT_OK;
}

static weft_err quantized_concat_ends(const kernel *k, int n) {
  WEFT_ASSERT(k->n_in == 3 * n + 1);
  for (int i = n + 1; i < k->n_in; i++)
    if (weft__tensor_count(k->in[i]) != 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input_%s[%d] must be a scalar, but has shape %s",
                               i <= 2 * n ? "mins" : "maxes", (i - 1) % n, weft__shape_text(&k->in[i]->shape));
  const weft_dtype t = k->in[1]->dtype;
  return t == WEFT_QUINT8 || t == WEFT_QINT32 ? WEFT_OK : weft__kernel_no_type(k, t);
}

/* Computes the range of the result.  It contains zero and the ranges of all inputs; for qint32 it is symmetric about
 * zero. */
static weft_err quantized_concat_range(kernel *k, int n, quantized *all) {
  float min = 0, max = -INFINITY;
  for (int i = 1; i <= n; i++) {
    min = fminf(min, *TENSOR_DATA(k->in[n + i], float));
    max = fmaxf(max, *TENSOR_DATA(k->in[2 * n + i], float));
  }
  if (k->in[1]->dtype == WEFT_QINT32) max = fmaxf(fabsf(min), fabsf(max)), min = -max;
  return weft__quantized_write(k, 0, min, max, all);
}

static weft_err quantized_concat_cpu(kernel *k) {
  const int n = (k->n_in - 1) / 3;
  quantized all, one;
  WEFT_TRY(quantized_concat_ends(k, n));
  WEFT_TRY(concat_at(k, 1, n, 0, "concat_dim"));
  WEFT_TRY(quantized_concat_range(k, n, &all));
  weft_tensor *y = &k->out[0].t;
  int64_t axis = weft__tensor_int(k->in[0], 0), offset = 0;
  if (axis < 0) axis += y->shape.rank;
  const int at = weft__int_sat(axis), rank = y->shape.rank;
  const int64_t rows = weft__shape_product(&y->shape, 0, at), total = weft__shape_product(&y->shape, at, rank);
  for (int i = 1; i <= n; i++) {
    const int64_t piece = weft__shape_product(&k->in[i]->shape, at, rank);
    one = all, one.min = *TENSOR_DATA(k->in[n + i], float), one.max = *TENSOR_DATA(k->in[2 * n + i], float);
    for (int64_t e = 0; (one.min != all.min || one.max != all.max) && e < rows * piece; e++) {
      const int64_t to = e / piece * total + offset + e % piece;
      const float x = weft__quantized_number(&one, weft__quantized_get(y, to));
      weft__quantized_put(y, to, weft__quantized_within(&all, x));
    }
    offset += piece;
  }
  return WEFT_OK;
}

/* Computes the gradients as slices at constant positions.  Returns false if the axis or a size along it is not
 * known. */
static bool concat_grad_known(backprop *b, int first, int n, int at) {
  weft_graph *g = b->graph;
  weft_tensor *axis = weft__graph_constant(g, b->in[at]);
  int rank = weft__out_shape(g, b->in[first])->rank;
  int64_t a = axis ? weft__tensor_int(axis, 0) : 0, begin[WEFT_MAX_RANK] = {0}, size[WEFT_MAX_RANK];
  bool known = axis && rank > 0 && a >= -rank && a < rank;
  weft_tensor_destroy(axis);
  if (a < 0) a += rank;
  for (int i = first; known && i < first + n; i++) {
    const shape *s = weft__out_shape(g, b->in[i]);
    known = s->rank == rank && s->dim[a] >= 0;
  }
  for (int d = 0; known && d < rank; d++) size[d] = -1;
  for (int i = first; known && i < first + n; i++) {
    size[a] = weft__out_shape(g, b->in[i])->dim[a];
    weft_out part[] = {b->dout[0], weft__b_ints(g, begin, rank), weft__b_ints(g, size, rank)};
    b->din[i] = GRAD_DENSE(weft__b_node(g, "Slice", NULL, 3, part, 0, NULL));
    begin[a] += size[a];
  }
  return known;
}

/* Returns the number of rows of a tensor, as a scalar of the given type. */
static weft_out row_count(weft_graph *g, weft_out x, weft_dtype type) {
  const shape *s = weft__out_shape(g, x);
  if (s->rank > 0 && s->dim[0] >= 0) return weft__b_scalar(g, type, (double)s->dim[0]);
  weft_out in[4] = {weft__b_shape(g, x), weft__b_ints(g, (int64_t[]){0}, 1), weft__b_ints(g, (int64_t[]){1}, 1),
                    weft__b_ints(g, (int64_t[]){1}, 1)};
  return weft__b_cast(g, weft__b_node(g, "StridedSlice", NULL, 4, in, 1, &A_INT("shrink_axis_mask", 1)), type);
}

/* Gives each input the slices whose rows are its own, counted from its first row. */
static void slices_by_rows(backprop *b, int first, int n) {
  weft_graph *g = b->graph;
  const weft_out indices = b->slices->indices, zero = weft__b_scalar(g, WEFT_INT32, 0);
  const weft_dtype type = weft__out_type(g, indices);
  weft_out begin = weft__b_scalar(g, type, 0);
  for (int i = first; i < first + n; i++) {
    const weft_out end = weft__b_add(g, begin, row_count(g, b->in[i], type));
    const weft_out mine = weft__b_binary(g, "LogicalAnd", weft__b_binary(g, "GreaterEqual", indices, begin),
                                         weft__b_binary(g, "Less", indices, end));
    const weft_out at = weft__b_reshape(g, weft__b_unary(g, "Where", mine), weft__b_ints(g, (int64_t[]){-1}, 1));
    b->din[i].values = weft__b_gather(g, b->slices->values, at, zero);
    b->din[i].indices = weft__b_sub(g, weft__b_gather(g, indices, at, zero), begin);
    b->din[i].dense_shape = weft__b_shape(g, b->in[i]);
    begin = end;
  }
}

/* Slices of a concatenation along the rows belong to one input each; along another axis, every input has its part of
 * every slice.  The axis and the sizes along another axis must be known; otherwise returns false. */
static bool concat_grad_slices(backprop *b, int first, int n, int at) {
  weft_graph *g = b->graph;
  weft_tensor *axis = weft__graph_constant(g, b->in[at]);
  const int rank = weft__out_shape(g, b->in[first])->rank;
  const int64_t given = axis ? weft__tensor_int(axis, 0) : 0, a = given < 0 ? given + rank : given;
  const bool known = axis && rank > 0 && a >= 0 && a < rank;
  weft_tensor_destroy(axis);
  if (!known) return false;
  if (a == 0) {
    slices_by_rows(b, first, n);
    return true;
  }
  b->dout[0] = b->slices->values;
  if (!concat_grad_known(b, first, n, at)) return false;
  for (int i = first; i < first + n; i++)
    b->din[i] = (grad_value){WEFT_NONE, b->slices->indices, b->din[i].dense, weft__b_shape(g, b->in[i])};
  return true;
}

static weft_err concat_grad_at(backprop *b, int first, int n, int at) {
  weft_graph *g = b->graph;
  if (b->slices) {
    if (concat_grad_slices(b, first, n, at)) return WEFT_OK;
    b->dout[0] = weft__gradient_dense(g, b->slices);
  }
  if (concat_grad_known(b, first, n, at)) return WEFT_OK;
  weft_out *in = weft__alloc((size_t)(n + 1) * sizeof *in);
  if (!in) return WEFT_OOM;
  weft_out rank = weft__b_rank(g, b->in[first]);
  in[0] = weft__b_binary(g, "FloorMod", weft__b_cast(g, b->in[at], WEFT_INT32), rank);
  weft_out shapes = weft__b_node(g, "ShapeN", NULL, n, b->in + first, 0, NULL);
  for (int i = 0; i < n; i++) in[i + 1] = weft__b_slot(shapes, i);
  weft_out offsets = weft__b_node(g, "ConcatOffset", NULL, n + 1, in, 0, NULL);
  for (int i = 0; i < n; i++) {
    weft_out part[] = {b->dout[0], weft__b_slot(offsets, i), weft__b_slot(shapes, i)};
    b->din[first + i] = GRAD_DENSE(weft__b_node(g, "Slice", NULL, 3, part, 0, NULL));
  }
  weft__free(in);
  return WEFT_OK;
}

static weft_err concat_grad(backprop *b) { return concat_grad_at(b, 1, b->n_in - 1, 0); }
static weft_err concat_v2_grad(backprop *b) { return concat_grad_at(b, 0, b->n_in - 1, b->n_in - 1); }

/* ---- ConcatOffset: computes where each input begins in the result ---- */

static weft_err offset_infer(infer *s) {
  for (int i = 0; i < s->n_out; i++) WEFT_TRY(weft__infer_rank(s, i + 1, 1, &s->out[i]));
  return WEFT_OK;
}

/* Formats a vector as "[2 3]", as in TensorFlow's messages of this op. */
static const char *plain_text(const weft_tensor *t, char *buf, size_t size) {
  size_t at = (size_t)snprintf(buf, size, "[");
  for (int64_t d = 0; d < weft__tensor_count(t) && at < size; d++)
    at += (size_t)snprintf(buf + at, size - at, "%s%lld", d ? " " : "", (long long)weft__tensor_int(t, d));
  if (at < size) snprintf(buf + at, size - at, "]");
  return buf;
}

static weft_err offset_check(kernel *k, int i, int64_t axis) {
  WEFT_ASSERT(i >= 1 && i < k->n_in);
  const weft_tensor *first = k->in[1], *t = k->in[i];
  int64_t rank = weft__tensor_count(first);
  if (t->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input %d should be a vector, but got shape %s", i - 1,
                             weft__shape_text(&t->shape));
  if (weft__tensor_count(t) != rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input %d should contain %lld elements, but got %lld", i - 1,
                             (long long)rank, (long long)weft__tensor_count(t));
  char a[256], b[256];
  for (int64_t d = 0; d < rank; d++)
    if (d != axis && weft__tensor_int(t, d) != weft__tensor_int(first, d))
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "All dimensions except %lld must match. Input %d has shape %s and doesn't match input 0 with shape %s.",
          (long long)axis, i - 1, plain_text(t, a, sizeof a), plain_text(first, b, sizeof b));
  return WEFT_OK;
}

static weft_err offset_cpu(kernel *k) {
  WEFT_TRY(weft__kernel_scalar(k, 0, "Concat dim"));
  int64_t rank = weft__tensor_count(k->in[1]), a = weft__tensor_int(k->in[0], 0), sum = 0;
  if (a < -rank || a >= rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Concat dim is out of range: %lld vs. %lld", (long long)a,
                             (long long)rank);
  int64_t axis = a < 0 ? a + rank : a;
  for (int i = 0; i < k->n_out; i++) {
    WEFT_TRY(offset_check(k, i + 1, axis));
    weft_tensor *y = weft__out(k, i, &k->in[i + 1]->shape);
    if (!y) return WEFT_OOM;
    for (int64_t d = 0; d < rank; d++) weft__index_put(y, d, d == axis ? sum : 0);
    int64_t size = weft__tensor_int(k->in[i + 1], axis);
    if (__builtin_add_overflow(sum, size, &sum))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input %d of size %lld goes beyond what can be counted", i,
                               (long long)size);
  }
  return WEFT_OK;
}

/* ---- Pack ---- */

static weft_err pack_infer(infer *s) {
  WEFT_TRY(weft__infer_merge_all(s));
  shape in = s->out[0], *out = &s->out[0];
  int64_t axis = weft__node_int(s->node, "axis", 0);
  if (in.rank < 0) return WEFT_OK;
  int rank = in.rank + 1;
  if (axis < -rank || axis >= rank)
    return weft__infer_fail(s, "Invalid axis: %lld; must be in [%d,%d)", (long long)axis, -rank, rank);
  if (rank > WEFT_MAX_RANK) return weft__infer_fail(s, "Cannot add an axis to tensors of rank %d", in.rank);
  if (axis < 0) axis += rank;
  out->rank = rank;
  for (int d = 0; d < rank; d++) out->dim[d] = d < axis ? in.dim[d] : d == axis ? s->n_in : in.dim[d - 1];
  return WEFT_OK;
}

static weft_err pack_cpu(kernel *k) {
  const shape *in = &k->in[0]->shape;
  int rank = in->rank + 1;
  int64_t axis = weft__node_int(k->node, "axis", 0);
  if (axis < -rank || axis >= rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "axis = %lld not in [%d, %d)", (long long)axis, -rank, rank);
  if (rank > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Cannot add an axis to tensors of rank %d", in->rank);
  if (axis < 0) axis += rank;
  for (int i = 1; i < k->n_in; i++)
    if (!weft__shape_equal(in, &k->in[i]->shape))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Shapes of all inputs must match: values[0].shape = %s != values[%d].shape = %s",
                               weft__shape_text(in), i, weft__shape_text(&k->in[i]->shape));
  shape out = {.rank = rank};
  for (int d = 0; d < rank; d++) out.dim[d] = d < axis ? in->dim[d] : d == axis ? k->n_in : in->dim[d - 1];
  if (k->n_in == 1) return weft__forward(k, 0, 0, &out);
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  return join_inputs(k, y, 0, k->n_in, weft__shape_product(in, 0, weft__int_sat(axis)));
}

static weft_err pack_grad(backprop *b) {
  attr attrs[] = {A_INT("num", b->n_in), A_INT("axis", weft__node_int(b->node, "axis", 0))};
  weft_out parts = weft__b_node(b->graph, "Unpack", NULL, 1, b->dout, 2, attrs);
  for (int i = 0; i < b->n_in; i++) b->din[i] = GRAD_DENSE(weft__b_slot(parts, i));
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case concat_v2_cases[] = {
    {"f32[2,1] 1 2; f32[2,2] 3 4 5 6; i32[] 1", "f32[2,3] 1 3 4 2 5 6", NULL, 0},
    {"f32[2,3] rand; f32[1,3] rand; f32[0,3] 0; i32[] 0", NULL, NULL, 0},
    {"f64[2,3,4] rand; f64[2,1,4] rand; i64[] -2", NULL, NULL, 0},
    {"f64[2,3] rand; f64[2,3] rand; i32[] -1", NULL, NULL, 0},
    {"str[1] \"a\"; str[2] \"b\" \"c\"; i32[] 0", "str[3] \"a\" \"b\" \"c\"", NULL, 0},
    {"bool[1] true; bool[1] false; i32[] 0", "bool[2] true false", NULL, 0},
    {"c64[1] 1; c64[1] 2; i32[] 0", "c64[2] 1 2", NULL, 0},
    {"i64[0] 0; i64[0] 0; i32[] 0", "i64[0] 0", NULL, 0},
    {"f32[50,7] rand; f32[50,64] rand; f32[50,1] rand; i32[] 1", NULL, NULL, CASE_NO_GRAD},
    {"f32[700,1] rand; f32[700,2] rand; f32[700,4] rand; f32[700,8] rand; f32[700,16] rand; f32[700,32] rand; "
     "f32[700,0] 0; f32[700,5] rand; i32[] 1",
     NULL, NULL, CASE_NO_GRAD},
    {"f32[2,9000] rand; f32[2,9000] rand; i32[] 1", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,3] 0; f32[2,4] 0; i32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] 0; f32[2] 0; i32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] 0; f32[2,3] 0; i32[] 2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[] 0; f32[] 0; i32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case concat_cases[] = {
    {"i32[] 1; f32[2,1] 1 2; f32[2,2] 3 4 5 6", "f32[2,3] 1 3 4 2 5 6", NULL, 0},
    {"i32[] -2; f64[2,3] rand; f64[1,3] rand; f64[1,3] rand", NULL, NULL, 0},
    {"i32[] 0; str[1] \"a\"; str[1] \"b\"", "str[2] \"a\" \"b\"", NULL, 0},
    {"i32[] 0; f32[2,3] 0; f32[2,4] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case quantized_concat_cases[] = {
    {"i32[] 0; qu8[1] 7; qu8[2] 8 9; f32[] 0; f32[] 0; f32[] 1; f32[] 1", "qu8[3] 7 8 9; f32[] 0; f32[] 1", NULL,
     CASE_NO_PARITY},
    {"i32[] 1; qu8[1,2] 0 255; qu8[1,1] 255; f32[] 0; f32[] 0; f32[] 255; f32[] 127.5",
     "qu8[1,3] 0 255 128; f32[] 0; f32[] 255", NULL, CASE_NO_PARITY},
    {"i32[] 2; qu8[1] 7; qu8[1] 8; f32[] 0; f32[] 0; f32[] 1; f32[] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {0},
};

static const op_case offset_cases[] = {
    {"i32[] 1; i32[2] 2 3; i32[2] 2 4; i32[2] 2 1", "i32[2] 0 0; i32[2] 0 3; i32[2] 0 7", NULL, 0},
    {"i32[] -1; i64[2] 2 3; i64[2] 2 4", "i64[2] 0 0; i64[2] 0 3", NULL, 0},
    {"i32[] 0; i32[2] 2 3; i32[2] 2 4", "error INVALID_ARGUMENT", NULL, 0},
    {"i32[] 2; i32[2] 2 3; i32[2] 2 3", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case pack_cases[] = {
    {"f32[2] 1 2; f32[2] 3 4", "f32[2,2] 1 2 3 4", NULL, 0},
    {"f32[2] 1 2; f32[2] 3 4", "f32[2,2] 1 3 2 4", "axis=1", 0},
    {"i32[] 1; i32[] 2; i32[] 3", "i32[3] 1 2 3", NULL, 0},
    {"f64[2,3] rand; f64[2,3] rand; f64[2,3] rand", NULL, "axis=-2", 0},
    {"f32[2,3] rand", NULL, "axis=2", 0},
    {"f32[300,16] rand; f32[300,16] rand; f32[300,16] rand", NULL, "axis=1", CASE_NO_GRAD},
    {"str[1] \"a\"; str[1] \"b\"", "str[2,1] \"a\" \"b\"", NULL, 0},
    {"f32[0] 0; f32[0] 0", "f32[2,0] 0", NULL, 0},
    {"f32[2] 0; f32[3] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2] 0; f32[2] 0", "error INVALID_ARGUMENT", "axis=2", 0},
    {0},
};

/* The axis is the last input. */
static bool concat_joins(const weft_node *n, int in, tensor_part *p) {
  const int last = n->n_in - 1;
  weft_tensor *axis = in < last ? weft__graph_constant(n->graph, n->in[last]) : NULL;
  if (!axis || !weft__shape_known(&n->out_shape[0])) {
    weft_tensor_destroy(axis);
    return false;
  }
  const int64_t at = weft__tensor_int(axis, 0);
  weft_tensor_destroy(axis);
  *p = (tensor_part){.axis = weft__int_sat(at < 0 ? at + n->out_shape[0].rank : at)};
  for (int i = 0; i < in; i++) {
    const shape *piece = weft__out_shape(n->graph, n->in[i]);
    if (!weft__shape_known(piece)) return false;
    p->begin += piece->dim[p->axis];
  }
  return true;
}

static const fusion joins = {.joins = concat_joins};

OPS(concat) = {
    {"ConcatV2(values:N*T, axis:Tidx) -> (output:T) | N:int>=2 T:type Tidx:type{int32,int64}=int32",
     "Joins tensors along an axis.", .known = weft__known_concat, .infer = concat_v2_infer, .cpu = concat_v2_cpu,
     .grad = concat_v2_grad, .flags = OP_TAKES_SLICES, .fusion = &joins, .cases = concat_v2_cases, .amp = AMP_CLEAR,
     .narrow = NARROW_FLOAT8},
    {"Concat(concat_dim:int32, values:N*T) -> (output:T) | N:int>=2 T:type", "Joins tensors along an axis.",
     .infer = concat_infer, .cpu = concat_cpu, .grad = concat_grad, .flags = OP_TAKES_SLICES, .cases = concat_cases,
     .amp = AMP_CLEAR, .narrow = NARROW_FLOAT8},
    {"QuantizedConcat(concat_dim:int32, values:N*T, input_mins:N*float, input_maxes:N*float) -> (output:T, "
     "output_min:float, output_max:float) | N:int>=2 T:type",
     "Joins quantized tensors along an axis, in a range that has all of theirs.", .infer = quantized_concat_infer,
     .cpu = quantized_concat_cpu, .cases = quantized_concat_cases},
    {"ConcatOffset(concat_dim:int32, shape:N*shape_type) -> (offset:N*shape_type) | N:int>=2 "
     "shape_type:type{int32,int64}=int32",
     "Where each input of a Concat begins in its result.", .infer = offset_infer, .cpu = offset_cpu, .no_grad = true,
     .cases = offset_cases, .anywhere = "*"},
    {"Pack(values:N*T) -> (output:T) | N:int>=1 T:type axis:int=0", "Stacks tensors of one shape along a new axis.",
     .known = weft__known_pack, .infer = pack_infer, .cpu = pack_cpu, .grad = pack_grad, .cases = pack_cases,
     .amp = AMP_CLEAR, .narrow = NARROW_FLOAT8},
    {0},
};
