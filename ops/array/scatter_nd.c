/* scatter_nd.c - writes or adds slices at positions given by rows of indices, into a new tensor.
 *
 * ScatterNd starts from zeros, the TensorScatter ops from a copy of their first input.  Updates are applied in input
 * order, so repeated indices give the result of TensorFlow's CPU kernel. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "kernels/array/index.h"
#include "kernels/work/long_work.h"
#include "state/combine.h"

/* ---- shape rules: indices (..., depth), updates (..., slice) and a target whose last dimensions are slice ---- */

static weft_err fits_infer(infer *s, int at_indices, int at_updates, const shape *target) {
  const shape *i = &s->in[at_indices], *u = &s->in[at_updates];
  WEFT_TRY(weft__infer_rank_at_least(s, at_indices, 1));
  WEFT_TRY(weft__infer_rank_at_least(s, at_updates, 1));
  int64_t left = weft__shape_count(i), right = weft__shape_count(u);
  if (weft__shape_count(target) == 0 && (left > 0 || right > 0))
    return weft__infer_fail(s, "Indices and updates specified for empty input");
  if (i->rank < 0 || u->rank < 0) return WEFT_OK;
  int outer = i->rank - 1;
  for (int d = 0; d < outer; d++)
    if (d >= u->rank || (i->dim[d] >= 0 && u->dim[d] >= 0 && i->dim[d] != u->dim[d]))
      return weft__infer_fail(
          s, "Dimensions [0,%d) of indices[shape=%s] must match dimensions [0,%d) of updates[shape=%s]", outer,
          weft__shape_text(i), outer, weft__shape_text(u));
  int64_t depth = i->dim[outer];
  if (depth < 0 || target->rank < 0) return WEFT_OK;
  bool fits = u->rank - outer == (depth < target->rank ? target->rank - depth : 0);
  for (int d = outer; fits && d < u->rank; d++) {
    int64_t a = u->dim[d], b = target->dim[d - outer + depth];
    fits = a < 0 || b < 0 || a == b;
  }
  if (fits) return WEFT_OK;
  return weft__infer_fail(
      s, "Dimensions [%lld,%d) of input[shape=%s] must match dimensions [%d,%d) of updates[shape=%s]", (long long)depth,
      target->rank, weft__shape_text(target), outer, u->rank, weft__shape_text(u));
}

static weft_err scatter_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 2, 1, NULL));
  WEFT_TRY(weft__infer_shape_value(s, 2, &s->out[0]));
  return fits_infer(s, 0, 1, &s->out[0]);
}

static weft_err scatter_nd_update_infer(infer *s) {
  s->out[0] = s->in[0];
  return fits_infer(s, 1, 2, &s->in[0]);
}

/* ---- checking ---- */

static weft_err scatter_nd_fits(kernel *k, const shape *target, const shape *i, const shape *u) {
  if (i->rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Indices shape must have rank at least one. Found:%s",
                             weft__shape_text(i));
  if (u->rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Updates shape must have rank at least one. Found:%s",
                             weft__shape_text(u));
  if (weft__shape_count(target) == 0 && (weft__shape_count(i) > 0 || weft__shape_count(u) > 0))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Indices and updates specified for empty output.  indices shape: %s", weft__shape_text(i));
  int outer = i->rank - 1;
  int64_t depth = i->dim[outer];
  for (int d = 0; d < outer; d++)
    if (d >= u->rank || i->dim[d] != u->dim[d])
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "Dimensions [0,%d) of indices[shape=%s] must match dimensions [0,%d) of updates[shape=%s]", outer,
          weft__shape_text(i), outer, weft__shape_text(u));
  bool fit = depth <= target->rank && u->rank - outer == target->rank - depth;
  for (int d = outer; fit && d < u->rank; d++) fit = u->dim[d] == target->dim[d - outer + depth];
  if (fit) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "Dimensions [%lld,%d) of input[shape=%s] must match dimensions [%d,%d) of updates[shape=%s]",
                           (long long)depth, target->rank, weft__shape_text(target), outer, u->rank,
                           weft__shape_text(u));
}

static weft_err scatter_nd_check_rows(kernel *k, const shape *target, const weft_tensor *t, int64_t rows,
                                      int64_t depth) {
  for (int64_t i = 0; i < rows; i++) {
    if (weft__index_row(t, i, depth, target->dim) >= 0) continue;
    char where[128], text[128];
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices%s = %s does not index into shape %s",
                             weft__index_where(&t->shape, t->shape.rank - 1, i, where, sizeof where),
                             weft__index_text(t, i, depth, text, sizeof text), weft__shape_text(target));
  }
  return WEFT_OK;
}

/* ---- scattering ---- */

static weft_err scatter_nd_append(str *to, const str *more) {
  char *joined = weft__alloc(to->size + more->size + 1);
  if (!joined) return WEFT_OOM;
  if (to->size) memcpy(joined, to->data, to->size);
  if (more->size) memcpy(joined + to->size, more->data, more->size);
  weft_err err = weft__str_set(to, joined, to->size + more->size);
  weft__free(joined);
  return err;
}

/* Computes dst OP= src for one slice.  Adding strings appends them; adding bools is logical "or". */
static weft_err combine_slice(combine_op what, weft_dtype type, void *dst, const void *src, int64_t n) {
  if (what == COMBINE_SET) return weft__elements_copy(type, dst, src, n);
  if (type == WEFT_STRING) {
    for (int64_t i = 0; i < n; i++) WEFT_TRY(scatter_nd_append((str *)dst + i, (const str *)src + i));
  } else if (type == WEFT_BOOL) {
    for (int64_t i = 0; i < n; i++) ((bool *)dst)[i] |= ((const bool *)src)[i];
  } else {
    weft__combine(what, type, dst, dst, src, 1, n);
  }
  return WEFT_OK;
}

static bool can_combine(combine_op what, weft_dtype type) {
  if (what == COMBINE_SET) return true;
  if (what == COMBINE_ADD && (type == WEFT_STRING || type == WEFT_BOOL)) return true;
  return weft__combine_has(what, type);
}

static weft_err scatter_into(kernel *k, weft_tensor *y, const weft_tensor *t, const weft_tensor *u, combine_op what) {
  int last = t->shape.rank - 1;
  int64_t depth = t->shape.dim[last], rows = weft__shape_product(&t->shape, 0, last);
  int64_t width = weft__shape_product(&y->shape, weft__int_sat(depth), y->shape.rank);
  WEFT_TRY(scatter_nd_check_rows(k, &y->shape, t, rows, depth));
  for (int64_t i = 0; i < rows; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    int64_t at = weft__index_row(t, i, depth, y->shape.dim);
    WEFT_TRY(combine_slice(what, y->dtype, weft__element(y->dtype, y->data, at * width),
                           weft__element_const(y->dtype, u->data, i * width), width));
  }
  return WEFT_OK;
}

static weft_err scatter_nd_cpu(kernel *k) {
  const weft_tensor *t = k->in[0], *u = k->in[1];
  shape out;
  if (!can_combine(COMBINE_ADD, u->dtype)) return weft__kernel_no_type(k, u->dtype);
  WEFT_TRY(weft__kernel_vector(k, 2, "Shape"));
  WEFT_TRY(weft__kernel_dims(k, 2, "shape", &out));
  WEFT_TRY(scatter_nd_fits(k, &out, &t->shape, &u->shape));
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  if (weft__dtype_is_plain(y->dtype)) memset(y->data, 0, weft__tensor_bytes(y));
  return scatter_into(k, y, t, u, COMBINE_ADD);
}

static weft_err update_by(kernel *k, combine_op what) {
  const weft_tensor *x = k->in[0], *t = k->in[1], *u = k->in[2];
  if (!can_combine(what, x->dtype)) return weft__kernel_no_type(k, x->dtype);
  if (t->shape.rank > 0 && u->shape.rank > 0) {
    int outer = t->shape.rank - 1;
    bool same = outer <= u->shape.rank;
    for (int d = 0; same && d < outer; d++) same = t->shape.dim[d] == u->shape.dim[d];
    if (!same)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Outer dimensions of indices and update must match. Indices shape: %s, updates shape:%s",
                               weft__shape_text(&t->shape), weft__shape_text(&u->shape));
  }
  WEFT_TRY(scatter_nd_fits(k, &x->shape, &t->shape, &u->shape));
  weft_tensor *y = weft__out_over(k, 0, 0, &x->shape);
  if (!y) return WEFT_OOM;
  if (y->data != x->data) WEFT_TRY(weft__elements_copy(x->dtype, y->data, x->data, weft__tensor_count(x)));
  return scatter_into(k, y, t, u, what);
}

static weft_err scatter_nd_set_cpu(kernel *k) { return update_by(k, COMBINE_SET); }
static weft_err scatter_nd_add_cpu(kernel *k) { return update_by(k, COMBINE_ADD); }
static weft_err sub_cpu(kernel *k) { return update_by(k, COMBINE_SUB); }
static weft_err scatter_nd_min_cpu(kernel *k) { return update_by(k, COMBINE_MIN); }
static weft_err scatter_nd_max_cpu(kernel *k) { return update_by(k, COMBINE_MAX); }

/* ---- gradients ---- */

static weft_out scatter_nd_gathered(weft_graph *g, weft_out x, weft_out indices) {
  return weft__b_node(g, "GatherNd", NULL, 2, (weft_out[]){x, indices}, 0, NULL);
}

static weft_err scatter_nd_grad(backprop *b) {
  b->din[1] = GRAD_DENSE(scatter_nd_gathered(b->graph, b->dout[0], b->in[0]));
  return WEFT_OK;
}

static weft_err scatter_nd_set_grad(backprop *b) {
  weft_graph *g = b->graph;
  weft_out in[] = {weft__b_identity(g, b->dout[0]), b->in[1], weft__b_zeros_like(g, b->in[2])};
  b->din[0] = GRAD_DENSE(weft__b_node(g, "TensorScatterUpdate", NULL, 3, in, 0, NULL));
  b->din[2] = GRAD_DENSE(scatter_nd_gathered(g, b->dout[0], b->in[1]));
  return WEFT_OK;
}

static weft_err scatter_nd_add_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(b->dout[0]);
  b->din[2] = GRAD_DENSE(scatter_nd_gathered(b->graph, b->dout[0], b->in[1]));
  return WEFT_OK;
}

static weft_err sub_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(b->dout[0]);
  b->din[2] = GRAD_DENSE(weft__b_neg(b->graph, scatter_nd_gathered(b->graph, b->dout[0], b->in[1])));
  return WEFT_OK;
}

/* The gradient of a minimum or maximum is divided equally among all inputs that equal the result. */
static weft_err scatter_nd_extreme_grad(backprop *b) {
  weft_graph *g = b->graph;
  weft_dtype type = weft__out_type(g, b->in[0]);
  weft_out x_wins = weft__b_cast(g, weft__b_binary(g, "Equal", b->in[0], b->out[0]), type);
  weft_out at = scatter_nd_gathered(g, b->out[0], b->in[1]);
  weft_out u_wins = weft__b_cast(g, weft__b_binary(g, "Equal", b->in[2], at), type);
  weft_out dims = weft__b_cast(g, weft__b_shape(g, b->in[0]), weft__out_type(g, b->in[1]));
  weft_out in[] = {b->in[1], u_wins, dims};
  weft_out winners = weft__b_add(g, x_wins, weft__b_node(g, "ScatterNd", NULL, 3, in, 0, NULL));
  b->din[0] = GRAD_DENSE(weft__b_div(g, weft__b_mul(g, b->dout[0], x_wins), winners));
  weft_out share = scatter_nd_gathered(g, weft__b_div(g, b->dout[0], winners), b->in[1]);
  b->din[2] = GRAD_DENSE(weft__b_mul(g, share, u_wins));
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case scatter_cases[] = {
    {"i32[3,1] 4 1 4; f32[3] 1 2 3; i32[1] 6", "f32[6] 0 2 0 0 4 0", NULL, 0},
    {"i64[2,1] 0 2; f64[2,3] rand; i64[2] 4 3", NULL, NULL, 0},
    {"i32[2,2,2] 0 1 2 3 1 1 0 0; f64[2,2] rand; i32[2] 3 4", NULL, NULL, 0},
    {"i32[2,1] 1 1; bool[2] true true; i32[1] 3", "bool[3] false true false", NULL, 0},
    {"i32[2,1] 1 1; str[2] \"a\" \"b\"; i32[1] 2", "str[2] \"\" \"ab\"", NULL, 0},
    {"i32[2,1] 0 1; c64[2] 1 2; i32[1] 2", "c64[2] 1 2", NULL, 0},
    {"i32[0,1] 0; f32[0] 0; i32[1] 3", "f32[3] 0", NULL, 0},
    {"i32[2,1] 1 7; f32[2] 0; i32[1] 4", "error INVALID_ARGUMENT", NULL, 0},
    {"i32[2,1] 1 2; f32[3] 0; i32[1] 4", "error INVALID_ARGUMENT", NULL, 0},
    {"i32[2,1] 1 2; f32[2,3] 0; i32[2] 4 2", "error INVALID_ARGUMENT", NULL, 0},
    {"i32[] 1; f32[] 0; i32[1] 4", "error INVALID_ARGUMENT", NULL, 0},
    {"i32[1,1] 0; f32[1] 0; i32[1] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case set_cases[] = {
    {"f32[4] 1 2 3 4; i32[2,1] 3 0; f32[2] 9 8", "f32[4] 8 2 3 9", NULL, 0},
    {"f64[3,4] rand; i64[2,1] 2 0; f64[2,4] rand", NULL, NULL, 0},
    {"str[2] \"a\" \"b\"; i32[1,1] 1; str[1] \"c\"", "str[2] \"a\" \"c\"", NULL, 0},
    {"f32[4] 0; i32[1,1] 4; f32[1] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[4] 0; i32[2,1] 1 2; f32[3] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case sum_cases[] = {
    {"f32[4] 1 2 3 4; i32[3,1] 3 0 3; f32[3] 9 8 1", NULL, NULL, 0},
    {"f64[3,4] rand; i64[2,2] 2 0 0 1; f64[2] rand", NULL, NULL, 0},
    {"i32[3] 1 2 3; i32[2,1] 1 1; i32[2] 5 6", NULL, NULL, 0},
    {"f32[4] 0; i32[1,1] -1; f32[1] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

#define TENSOR_SCATTER "(tensor:T, indices:Tindices, updates:T) -> (output:T) | T:type Tindices:type{int32,int64}"

OPS(scatter_nd) = {
    {"ScatterNd(indices:Tindices, updates:T, shape:Tindices) -> (output:T) | T:type Tindices:type{int16,int32,int64}",
     "Zeros, with updates added at the places that indices name.", .infer = scatter_infer, .cpu = scatter_nd_cpu,
     .grad = scatter_nd_grad, .cases = scatter_cases},
    {"ScatterNdNonAliasingAdd(input:T, indices:Tindices, updates:T) -> (output:T) | "
     "T:type{float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64,bool} Tindices:type{int32,int64}",
     "The input with updates added at places.", .infer = scatter_nd_update_infer, .cpu = scatter_nd_add_cpu,
     .grad = scatter_nd_add_grad, .cases = sum_cases},
    {"TensorScatterUpdate(tensor:T, indices:Tindices, updates:T) -> (output:T) | T:type "
     "Tindices:type{int16,int32,int64,uint16}",
     "The input with slices replaced.", .infer = scatter_nd_update_infer, .cpu = scatter_nd_set_cpu,
     .grad = scatter_nd_set_grad, .cases = set_cases},
    {"TensorScatterAdd" TENSOR_SCATTER, "The input with slices added to.", .infer = scatter_nd_update_infer,
     .cpu = scatter_nd_add_cpu, .grad = scatter_nd_add_grad, .cases = sum_cases},
    {"TensorScatterSub" TENSOR_SCATTER, "The input with slices subtracted from.", .infer = scatter_nd_update_infer,
     .cpu = sub_cpu, .grad = sub_grad, .cases = sum_cases},
    {"TensorScatterMin" TENSOR_SCATTER, "The input with slices lowered.", .infer = scatter_nd_update_infer,
     .cpu = scatter_nd_min_cpu, .grad = scatter_nd_extreme_grad, .cases = sum_cases},
    {"TensorScatterMax" TENSOR_SCATTER, "The input with slices raised.", .infer = scatter_nd_update_infer,
     .cpu = scatter_nd_max_cpu, .grad = scatter_nd_extreme_grad, .cases = sum_cases},
    {0},
};
