/* rows.c - replaces, adds to or subtracts from rows of a tensor (the Inplace ops); joins rows (ParallelConcat);
 * TileGrad.
 *
 * TensorFlow's Inplace ops write to their input.  Here the result is a new tensor, and the input stays unchanged. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "ops/math/cast.h"
#include <string.h>

/* ---- Inplace ---- */

enum { ROWS_UPDATE, ROWS_ADD, ROWS_SUBTRACT };

#define DEFINE_ROW(name, T, U)                                                                                         \
  static void name(void *to, const void *from, int64_t n, bool subtract) {                                             \
    T *y = to;                                                                                                         \
    const T *x = from;                                                                                                 \
    for (int64_t i = 0; i < n; i++) y[i] = (T)(subtract ? (U)y[i] - (U)x[i] : (U)y[i] + (U)x[i]);                      \
  }
DEFINE_ROW(row_float, float, float)
DEFINE_ROW(row_double, double, double)
DEFINE_ROW(row_8, uint8_t, uint8_t)
DEFINE_ROW(row_16, uint16_t, uint16_t)
DEFINE_ROW(row_32, uint32_t, uint32_t)
DEFINE_ROW(row_64, uint64_t, uint64_t)

typedef void row_fn(void *to, const void *from, int64_t n, bool subtract);

static row_fn *row_loop(weft_dtype t) {
  if (t == WEFT_FLOAT || t == WEFT_COMPLEX64) return row_float;
  if (t == WEFT_DOUBLE || t == WEFT_COMPLEX128) return row_double;
  const dtype_class c = weft__dtype_class(t);
  if (c != CLASS_INT && c != CLASS_UINT) return NULL;
  const size_t size = weft__dtype_size(t);
  return size == 1 ? row_8 : size == 2 ? row_16 : size == 4 ? row_32 : row_64;
}

static weft_err rows_check(const kernel *k) {
  const shape *x = &k->in[0]->shape, *i = &k->in[1]->shape, *v = &k->in[2]->shape;
  if (i->rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "i must be a vector. %s", weft__shape_text(i));
  if (x->rank < 1 || x->rank != v->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "x and v must have the same rank. %s vs. %s",
                             weft__shape_text(x), weft__shape_text(v));
  for (int d = 1; d < x->rank; d++)
    if (x->dim[d] != v->dim[d])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "x and v must agree from the second dimension on. %s vs. %s",
                               weft__shape_text(x), weft__shape_text(v));
  if (v->dim[0] != i->dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "i and v must have as many rows. %s vs. %s", weft__shape_text(i),
                             weft__shape_text(v));
  if (x->dim[0] == 0 && i->dim[0] > 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "x has no rows");
  return WEFT_OK;
}

/* Applies v to the rows of y, which starts as a copy of x.  Like TensorFlow, it takes row numbers modulo the number
 * of rows. */
static weft_err rows_apply(kernel *k, int what, weft_dtype t, void *y, const void *v) {
  const shape *x = &k->in[0]->shape;
  const int64_t rows = x->dim[0], width = weft__shape_product(x, 1, x->rank);
  const int64_t parts = t == WEFT_COMPLEX64 || t == WEFT_COMPLEX128 ? 2 : 1;
  const size_t bytes = (size_t)width * weft__dtype_size(t);
  row_fn *loop = what == ROWS_UPDATE ? NULL : row_loop(t);
  if (what != ROWS_UPDATE && !loop) return weft__kernel_no_type(k, t);
  for (int64_t r = 0; r < k->in[1]->shape.dim[0]; r++) {
    const int64_t at = (weft__tensor_int(k->in[1], r) % rows + rows) % rows;
    void *to = (char *)y + (size_t)at * bytes;
    const void *from = (const char *)v + (size_t)r * bytes;
    if (what == ROWS_UPDATE)
      WEFT_TRY(weft__elements_copy(t, to, from, width));
    else
      loop(to, from, width * parts, what == ROWS_SUBTRACT);
  }
  return WEFT_OK;
}

static weft_err rows_cpu(kernel *k, int what) {
  const weft_tensor *x = k->in[0];
  WEFT_TRY(rows_check(k));
  weft_tensor *y = weft__out(k, 0, &x->shape), wide[2] = {0};
  if (!y) return WEFT_OOM;
  if (what == ROWS_UPDATE || (x->dtype != WEFT_HALF && x->dtype != WEFT_BFLOAT16)) {
    WEFT_TRY(weft__elements_copy(x->dtype, y->data, x->data, weft__tensor_count(x)));
    return rows_apply(k, what, x->dtype, y->data, k->in[2]->data);
  }
  weft_err err = weft__scratch(k, &wide[0], WEFT_FLOAT, &x->shape);
  if (!err) err = weft__scratch(k, &wide[1], WEFT_FLOAT, &k->in[2]->shape);
  if (!err) err = weft__cast_elements(k, x, &wide[0]);
  if (!err) err = weft__cast_elements(k, k->in[2], &wide[1]);
  if (!err) err = rows_apply(k, what, WEFT_FLOAT, wide[0].data, wide[1].data);
  if (!err) err = weft__cast_elements(k, &wide[0], y);
  weft__tensor_clear(&wide[0]), weft__tensor_clear(&wide[1]);
  return err;
}

static weft_err rows_update_cpu(kernel *k) { return rows_cpu(k, ROWS_UPDATE); }
static weft_err rows_add_cpu(kernel *k) { return rows_cpu(k, ROWS_ADD); }
static weft_err rows_subtract_cpu(kernel *k) { return rows_cpu(k, ROWS_SUBTRACT); }

/* ---- ParallelConcat ---- */

static weft_err rows_join_cpu(kernel *k) {
  const attr *a = weft__node_attr(k->node, "shape");
  const shape *first = &k->in[0]->shape;
  shape s = *first;
  if (s.rank < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "values must have at least one dimension");
  s.dim[0] = k->n_in;
  for (int i = 0; i < k->n_in; i++)
    if (!weft__shape_equal(&k->in[i]->shape, first) || first->dim[0] != 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "values must have one shape whose first dimension is 1, not %s",
                               weft__shape_text(&k->in[i]->shape));
  if (a && !weft__shape_compatible(a->shape, &s))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the result is %s, but `shape` says %s", weft__shape_text(&s),
                             weft__shape_text(a->shape));
  weft_tensor *y = weft__out(k, 0, &s);
  if (!y) return weft__out_refused(&s);
  const int64_t n = weft__shape_count(first);
  const size_t bytes = (size_t)n * weft__dtype_size(y->dtype);
  for (int i = 0; i < k->n_in; i++)
    WEFT_TRY(weft__elements_copy(y->dtype, (char *)y->data + (size_t)i * bytes, k->in[i]->data, n));
  return WEFT_OK;
}

static weft_err rows_join_infer(infer *s) {
  const attr *a = weft__node_attr(s->node, "shape");
  for (int i = 0; i < s->n_in; i++)
    if (s->in[i].rank == 0 || (s->in[i].rank > 0 && s->in[i].dim[0] >= 0 && s->in[i].dim[0] != 1))
      return weft__infer_fail(s, "Size of first dimension must be 1.");
  if (a && !weft__shape_known(a->shape)) return weft__infer_fail(s, "shape attr must be fully defined.");
  if (a) s->out[0] = *a->shape;
  return WEFT_OK;
}

/* ---- TileGrad ---- */

/* Sums all repetitions: along each dimension, element i of the input is added to element i mod size of the result. */
static weft_err untile_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  int64_t times[WEFT_MAX_RANK];
  int n;
  WEFT_TRY(weft__kernel_ints(k, 1, "multiples", times, &n));
  shape s = x->shape;
  if (n != s.rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "multiples has %d elements, but the input has rank %d", n,
                             s.rank);
  for (int i = 0; i < n; i++) {
    if (times[i] < 1 || s.dim[i] % times[i])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "dimension %d of %s is not a multiple of %lld", i,
                               weft__shape_text(&x->shape), (long long)times[i]);
    s.dim[i] /= times[i];
  }
  weft_tensor *y = weft__out(k, 0, &s), wide[2] = {0};
  if (!y) return WEFT_OOM;
  weft_err err = weft__scratch(k, &wide[0], WEFT_DOUBLE, &x->shape);
  if (!err) err = weft__scratch(k, &wide[1], WEFT_DOUBLE, &s);
  if (!err) err = weft__cast_elements(k, x, &wide[0]);
  if (!err) {
    const double *from = wide[0].data;
    double *to = wide[1].data;
    memset(to, 0, weft__tensor_bytes(&wide[1]));
    for (int64_t e = 0, count = weft__tensor_count(x); e < count; e++) {
      int64_t rest = e, at = 0, step0 = 1;
      for (int d = s.rank - 1; d >= 0; d--) {
        at += rest % x->shape.dim[d] % s.dim[d] * step0;
        rest /= x->shape.dim[d];
        step0 *= s.dim[d];
      }
      to[at] += from[e];
    }
    err = weft__cast_elements(k, &wide[1], y);
  }
  weft__tensor_clear(&wide[0]), weft__tensor_clear(&wide[1]);
  return err;
}

/* ---- cases ---- */

static const op_case update_cases[] = {
    {"f32[3,2] 0; i32[2] 2 0; f32[2,2] 1 2 3 4", "f32[3,2] 3 4 0 0 1 2", NULL, CASE_FIXED_TYPE},
    {"f32[3,2] rand; i32[3] 2 -1 4; f32[3,2] rand", NULL, NULL, CASE_FIXED_TYPE},
    {"str[2] \"a\" \"b\"; i32[1] 1; str[1] \"c\"", "str[2] \"a\" \"c\"", NULL, CASE_NO_PARITY | CASE_FIXED_TYPE},
    {"f32[3,2] 0; i32[] 2; f32[2] 1", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"f32[3,2] 0; i32[1] 2; f32[2,2] 1", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};
static const op_case add_cases[] = {
    {"f32[3,2] 1; i32[3] 2 2 -1; f32[3,2] 1 2 3 4 5 6", "f32[3,2] 1 1 1 1 10 13", NULL, CASE_FIXED_TYPE},
    {"i64[3,2] 1; i32[2] 2 2; i64[2,2] rand", NULL, NULL, CASE_FIXED_TYPE},
    {"f16[3,2] 1; i32[2] 2 2; f16[2,2] 3", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_PARITY},
    {0},
};
static const op_case subtract_cases[] = {
    {"f32[3,2] 1; i32[2] 2 4; f32[2,2] 1 2 3 4", "f32[3,2] 1 1 -2 -3 0 -1", NULL, CASE_FIXED_TYPE},
    {"i32[3,2] 1; i32[2] 2 2; i32[2,2] rand", NULL, NULL, CASE_FIXED_TYPE},
    {0},
};
static const op_case join_cases[] = {
    {"i32[1,2] 1 2; i32[1,2] 3 4", "i32[2,2] 1 2 3 4", "shape=[2,2] N=2", CASE_FIXED_TYPE},
    {"i32[2,2] 1; i32[2,2] 3", "error INVALID_ARGUMENT", "shape=[2,2] N=2", CASE_FIXED_TYPE},
    {0},
};
static const op_case untile_cases[] = {
    {"f32[2,4] seq; i32[2] 1 2", "f32[2,2] 2 4 10 12", NULL, CASE_NO_PARITY | CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2,4] seq; i32[2] 1 3", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY | CASE_FIXED_TYPE},
    {0},
};

OPS(rows) = {
    {"InplaceUpdate(x:T, i:int32, v:T) -> (y:T) | T:type", "A tensor with some rows replaced.",
     .infer = weft__infer_same, .cpu = rows_update_cpu, .cases = update_cases, .narrow = NARROW_ALL},
    {"InplaceAdd(x:T, i:int32, v:T) -> (y:T) | T:type", "A tensor with values added to some rows.",
     .infer = weft__infer_same, .cpu = rows_add_cpu, .cases = add_cases, .narrow = NARROW_ALL},
    {"InplaceSub(x:T, i:int32, v:T) -> (y:T) | T:type", "A tensor with values subtracted from some rows.",
     .infer = weft__infer_same, .cpu = rows_subtract_cpu, .cases = subtract_cases, .narrow = NARROW_ALL},
    {"ParallelConcat(values:N*T) -> (output:T) | N:int>=1 T:type shape:shape", "Tensors of one row put together.",
     .infer = rows_join_infer, .cpu = rows_join_cpu, .cases = join_cases},
    {"TileGrad(input:T, multiples:int32) -> (output:T) | T:type", "The sums over the repetitions that Tile made.",
     .infer = weft__infer_none, .cpu = untile_cpu, .cases = untile_cases, .narrow = NARROW_ALL},
    {0},
};
