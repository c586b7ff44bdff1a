/* broadcast.c - BroadcastTo, and the ops that compute with shapes under the broadcast rules. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "graph/fusion.h"
#include "kernels/array/strided_copy.h"

/* ---- BroadcastArgs, BroadcastGradientArgs: on shapes as vectors ---- */

static weft_err args_infer(infer *s) {
  shape a, b;
  WEFT_TRY(weft__infer_rank(s, 0, 1, &a));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &b));
  bool known = a.dim[0] >= 0 && b.dim[0] >= 0;
  s->out[0] = SHAPE1(!known ? -1 : a.dim[0] > b.dim[0] ? a.dim[0] : b.dim[0]);
  return WEFT_OK;
}

static weft_err gradient_args_infer(infer *s) {
  for (int i = 0; i < 2; i++) {
    WEFT_TRY(weft__infer_rank(s, i, 1, NULL));
    s->out[i] = SHAPE1(-1);
  }
  return WEFT_OK;
}

/* Reads the two shapes a and b and computes *both, the shape that they broadcast to. */
static weft_err broadcast_read_args(kernel *k, shape *a, shape *b, shape *both) {
  WEFT_TRY(weft__kernel_vector(k, 0, "In[0]"));
  WEFT_TRY(weft__kernel_vector(k, 1, "In[1]"));
  WEFT_TRY(weft__kernel_ints(k, 0, "s0", a->dim, &a->rank));
  WEFT_TRY(weft__kernel_ints(k, 1, "s1", b->dim, &b->rank));
  if (weft__shape_broadcast(both, a, b) != WEFT_OK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Incompatible shapes: %s vs. %s", weft__shape_text(a),
                             weft__shape_text(b));
  return WEFT_OK;
}

static weft_err put_ints(kernel *k, int i, const int64_t *v, int n) {
  weft_tensor *y = weft__out(k, i, &SHAPE1(n));
  if (!y) return WEFT_OOM;
  for (int d = 0; d < n; d++) {
    if (y->dtype == WEFT_INT64)
      TENSOR_DATA(y, int64_t)[d] = v[d];
    else
      TENSOR_DATA(y, int32_t)[d] = (int32_t)v[d];
  }
  return WEFT_OK;
}

static weft_err args_cpu(kernel *k) {
  shape a, b, both;
  WEFT_TRY(broadcast_read_args(k, &a, &b, &both));
  return put_ints(k, 0, both.dim, both.rank);
}

/* Returns dimension d of s after s is padded on the left with ones to `rank` dimensions. */
static int64_t broadcast_padded(const shape *s, int rank, int d) {
  d -= rank - s->rank;
  return d < 0 ? 1 : s->dim[d];
}

/* Computes the axes along which the gradient of each operand must be summed. */
static weft_err gradient_args_cpu(kernel *k) {
  shape a, b, both;
  int64_t axes[2][WEFT_MAX_RANK];
  int n[2] = {0, 0};
  WEFT_TRY(broadcast_read_args(k, &a, &b, &both));
  for (int d = 0; d < both.rank && !weft__shape_equal(&a, &b); d++) {
    int64_t da = broadcast_padded(&a, both.rank, d), db = broadcast_padded(&b, both.rank, d);
    if (da == 1) axes[0][n[0]++] = d;
    if (db == 1) axes[1][n[1]++] = d;
  }
  WEFT_TRY(put_ints(k, 0, axes[0], n[0]));
  return put_ints(k, 1, axes[1], n[1]);
}

/* ---- BroadcastTo ---- */

static weft_err to_infer(infer *s) {
  const shape *x = &s->in[0];
  shape *out = &s->out[0];
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  WEFT_TRY(weft__infer_shape_value(s, 1, out));
  if (out->rank < 0 || x->rank < 0) return WEFT_OK;
  if (x->rank > out->rank)
    return weft__infer_fail(s, "Shape must be at most rank %d but is rank %d", out->rank, x->rank);
  for (int d = 0; d < x->rank; d++) {
    int64_t from = x->dim[d], *to = &out->dim[d + out->rank - x->rank];
    if (from > 1 && *to < 0) *to = from;
    if (from > 1 && *to != from)
      return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)from, (long long)*to);
  }
  return WEFT_OK;
}

static weft_err to_shape(kernel *k, shape *out) {
  const shape *x = &k->in[0]->shape;
  if (k->in[1]->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "shape must be a vector of {int32,int64}, got shape %s",
                             weft__shape_text(&k->in[1]->shape));
  WEFT_TRY(weft__kernel_dims(k, 1, "shape", out));
  if (x->rank > out->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Rank of input (%d) must be no greater than rank of output shape (%d).", x->rank,
                             out->rank);
  for (int d = 0; d < out->rank; d++) {
    int64_t from = broadcast_padded(x, out->rank, d);
    if (from != 1 && from != out->dim[d])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Incompatible shapes: %s vs. %s", weft__shape_text(x),
                               weft__shape_text(out));
  }
  return WEFT_OK;
}

static weft_err to_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  shape out;
  WEFT_TRY(to_shape(k, &out));
  if (weft__shape_equal(&out, &x->shape)) return weft__forward(k, 0, 0, &out);
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  int64_t from[WEFT_MAX_RANK], to[WEFT_MAX_RANK];
  weft__shape_steps(&x->shape, from);
  weft__shape_steps(&out, to);
  strided_copy copy;
  copy.rank = 0;
  int lead = out.rank - x->shape.rank;
  for (int d = 0; d < out.rank; d++)
    weft__strided_copy_axis(&copy, out.dim[d], d < lead || x->shape.dim[d - lead] == 1 ? 0 : from[d - lead], to[d]);
  return weft__strided_copy_run(k, x->dtype, y->data, x->data, &copy);
}

static weft_err to_grad(backprop *b) {
  weft_graph *g = b->graph;
  weft_dtype type = weft__out_type(g, b->in[1]);
  weft_out shapes[] = {weft__b_cast(g, weft__b_shape(g, b->in[0]), type), b->in[1]};
  weft_out axes = weft__b_node(g, "BroadcastGradientArgs", NULL, 2, shapes, 0, NULL);
  b->din[0] = GRAD_DENSE(weft__b_reshape(g, weft__b_sum(g, b->dout[0], axes, true), shapes[0]));
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case args_cases[] = {
    {"i32[2] 2 1; i32[3] 4 1 3", "i32[3] 4 2 3", NULL, 0},
    {"i64[0] 0; i64[2] 2 0", "i64[2] 2 0", NULL, 0},
    {"i32[2] 2 3; i32[1] 2", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case gradient_args_cases[] = {
    {"i32[2] 2 1; i32[1] 3", "i32[1] 1; i32[1] 0", NULL, 0},
    {"i32[2] 1 1; i32[2] 1 1", "i32[0] 0; i32[0] 0", NULL, 0},
    {"i32[3] 2 1 3; i32[2] 1 3", "i32[1] 1; i32[2] 0 1", NULL, 0},
    {"i64[2] 0 1; i64[2] 1 0", "i64[1] 1; i64[1] 0", NULL, 0},
    {"i32[0] 0; i32[1] 1", "i32[1] 0; i32[1] 0", NULL, 0},
    {"i32[2] 2 3; i32[1] 2", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case to_cases[] = {
    {"f32[2,1] 1 2; i32[2] 2 3", "f32[2,3] 1 1 1 2 2 2", NULL, 0},
    {"f64[3] rand; i32[3] 2 4 3", NULL, NULL, 0},
    {"f64[] 2; i64[2] 3 2", "f64[3,2] 2", NULL, 0},
    {"f32[2,3] rand; i32[2] 2 3", NULL, NULL, 0},
    {"f32[1,3] rand; i32[2] 0 3", "f32[0,3] 0", NULL, 0},
    {"str[1] \"a\"; i32[1] 2", "str[2] \"a\"", NULL, 0},
    {"f32[] 1; i32[0] 0", "f32[] 1", NULL, 0},
    {"i16[4,1,5] rand; i32[4] 3 4 70 5", NULL, NULL, 0},
    {"f32[3,70,1] rand; i32[3] 3 70 5", NULL, NULL, 0}, /* short rows of one element */
    {"f32[2,1,90,1] rand; i32[4] 2 3 90 17", NULL, NULL, 0},
    {"f32[2,3] 0; i32[2] 3 3", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] 0; i32[1] 3", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const fusion repeats = {ROLE_REPEAT};

OPS(broadcast) = {
    {"BroadcastTo(input:T, shape:Tidx) -> (output:T) | T:type Tidx:type{int32,int64}=int32",
     "The input, repeated to fill a shape.", .infer = to_infer, .cpu = to_cpu, .grad = to_grad, .cases = to_cases,
     .amp = AMP_CLEAR, .fusion = &repeats, .narrow = NARROW_FLOAT8},
    {"BroadcastArgs(s0:T, s1:T) -> (r0:T) | T:type{int32,int64}=int32", "The shape that two shapes broadcast to.",
     .infer = args_infer, .cpu = args_cpu, .cases = args_cases, .anywhere = "*"},
    {"BroadcastGradientArgs(s0:T, s1:T) -> (r0:T, r1:T) | T:type{int32,int64}=int32",
     "The axes to sum over in the gradient of a broadcast.", .infer = gradient_args_infer, .cpu = gradient_args_cpu,
     .no_grad = true, .cases = gradient_args_cases, .anywhere = "*"},
    {0},
};
