/* split.c - cuts a tensor into pieces along an axis: Split, SplitV, Unpack.
 *
 * The input is seen as rows, and each output takes one piece of every row. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/fusion.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"

/* Makes output i from columns [at, at + piece) of the input, seen as (rows, total). */
static weft_err cut_piece(kernel *k, int i, const weft_tensor *x, const shape *s, int64_t rows, int64_t piece,
                          int64_t total, int64_t at) {
  weft_tensor *y = weft__out(k, i, s);
  if (!y) return WEFT_OOM;
  strided_copy copy;
  copy.rank = 0;
  weft__strided_copy_axis(&copy, rows, total, piece);
  weft__strided_copy_axis(&copy, piece, 1, 1);
  return weft__strided_copy_run(k, x->dtype, y->data, weft__element_const(x->dtype, x->data, at), &copy);
}

/* Reads the axis in input `at` if it is constant; otherwise *axis stays -1. */
static weft_err known_axis(infer *s, int at, int rank, int *axis) {
  *axis = -1;
  const weft_tensor *t = weft__infer_value(s, at);
  if (s->in[at].rank > 0) return weft__infer_fail(s, "Input must be scalar but has rank %d", s->in[at].rank);
  if (!t || rank < 0) return WEFT_OK;
  int64_t a = weft__tensor_int(t, 0);
  if (a < -rank || a >= rank)
    return weft__infer_fail(s, "Dimension size, given by scalar input %lld must be in range [-%d, %d)", (long long)a,
                            rank, rank);
  *axis = weft__int_sat(a < 0 ? a + rank : a);
  return WEFT_OK;
}

static weft_err kernel_axis(kernel *k, int at, int rank, int *axis) {
  if (k->in[at]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "split_dim must be a scalar but has rank %d",
                             k->in[at]->shape.rank);
  int64_t a = weft__tensor_int(k->in[at], 0);
  if (a < -rank || a >= rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "-input rank(-%d) <= split_dim < input rank (%d), but got %lld",
                             rank, rank, (long long)a);
  *axis = weft__int_sat(a < 0 ? a + rank : a);
  return WEFT_OK;
}

/* Gives every output the shape of the input with an unknown size along the cut axis. */
static void cut_shapes(infer *s, const shape *x, int axis) {
  for (int i = 0; i < s->n_out; i++) {
    s->out[i] = *x;
    for (int d = 0; d < x->rank; d++)
      if (axis < 0 || axis == d) s->out[i].dim[d] = -1;
  }
}

static weft_err cut_all(kernel *k, const weft_tensor *x, int axis, const int64_t *size) {
  int rank = x->shape.rank;
  int64_t rows = weft__shape_product(&x->shape, 0, axis), inner = weft__shape_product(&x->shape, axis + 1, rank),
          at = 0;
  shape out = x->shape;
  for (int i = 0; i < k->n_out; i++) {
    out.dim[axis] = size[i];
    WEFT_TRY(cut_piece(k, i, x, &out, rows, size[i] * inner, x->shape.dim[axis] * inner, at));
    at += size[i] * inner;
  }
  return WEFT_OK;
}

/* ---- Split ---- */

static weft_err split_infer(infer *s) {
  const shape *x = &s->in[1];
  int axis;
  WEFT_TRY(known_axis(s, 0, x->rank, &axis));
  if (x->rank < 0) return WEFT_OK;
  cut_shapes(s, x, axis);
  if (axis < 0 || x->dim[axis] < 0) return WEFT_OK;
  if (x->dim[axis] % s->n_out != 0)
    return weft__infer_fail(s,
                            "Dimension size must be evenly divisible by %d but is %lld\n\tNumber of ways to split "
                            "should evenly divide the split dimension",
                            s->n_out, (long long)x->dim[axis]);
  for (int i = 0; i < s->n_out; i++) s->out[i].dim[axis] = x->dim[axis] / s->n_out;
  return WEFT_OK;
}

static weft_err split_cpu(kernel *k) {
  const weft_tensor *x = k->in[1];
  int axis = 0;
  WEFT_TRY(kernel_axis(k, 0, x->shape.rank, &axis));
  int64_t dim = x->shape.dim[axis];
  if (dim % k->n_out != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Number of ways to split should evenly divide the split dimension, but got split_dim %d "
                             "(size = %lld) and num_split %d",
                             axis, (long long)dim, k->n_out);
  if (k->n_out == 1) return weft__forward(k, 0, 1, &x->shape);
  int64_t *size = weft__alloc((size_t)k->n_out * sizeof *size);
  if (!size) return WEFT_OOM;
  for (int i = 0; i < k->n_out; i++) size[i] = dim / k->n_out;
  weft_err err = cut_all(k, x, axis, size);
  weft__free(size);
  return err;
}

/* Concatenates the gradients of all pieces. */
static weft_err split_joined(backprop *b, weft_out axis, grad_value *out) {
  weft_out *parts = weft__alloc((size_t)b->n_out * sizeof *parts);
  if (!parts) return WEFT_OOM;
  for (int i = 0; i < b->n_out; i++) parts[i] = weft__backprop_dout(b, i);
  *out = GRAD_DENSE(b->n_out == 1 ? parts[0] : weft__b_concat(b->graph, b->n_out, parts, axis));
  weft__free(parts);
  return WEFT_OK;
}

static weft_err split_grad(backprop *b) { return split_joined(b, b->in[0], &b->din[1]); }

/* ---- SplitV ---- */

static weft_err split_v_known(infer *s, const weft_tensor *sizes, int axis) {
  int64_t dim = s->in[0].dim[axis], sum = 0;
  int rest = -1;
  for (int i = 0; i < s->n_out; i++) {
    int64_t size = weft__tensor_int(sizes, i);
    if (size == -1) {
      if (rest >= 0) return weft__infer_fail(s, "size_splits can only have one -1");
      rest = i;
      continue;
    }
    if (size < 0) return weft__infer_fail(s, "Split size at index %d must be >= 0. Got: %lld", i, (long long)size);
    s->out[i].dim[axis] = size;
    if (__builtin_add_overflow(sum, size, &sum)) return weft__infer_fail(s, "the split sizes are too large");
  }
  if (dim < 0) return WEFT_OK;
  if (rest >= 0 && dim < sum)
    return weft__infer_fail(s, "Split size at index %d must be >= 0. Got: %lld", rest, (long long)(dim - sum));
  if (rest >= 0) s->out[rest].dim[axis] = dim - sum;
  if (rest >= 0 || sum == dim) return WEFT_OK;
  shape sizes_as_shape = {.rank = s->n_out < WEFT_MAX_RANK ? s->n_out : WEFT_MAX_RANK};
  for (int i = 0; i < sizes_as_shape.rank; i++) sizes_as_shape.dim[i] = weft__tensor_int(sizes, i);
  return weft__infer_fail(s, "can't split axis of size %lld into pieces of size %s", (long long)dim,
                          weft__shape_text(&sizes_as_shape));
}

static weft_err split_v_infer(infer *s) {
  const shape *x = &s->in[0];
  int axis;
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  WEFT_TRY(known_axis(s, 2, x->rank, &axis));
  if (x->rank < 0) return WEFT_OK;
  if (s->in[1].rank == 1 && s->in[1].dim[0] >= 0 && s->in[1].dim[0] != s->n_out)
    return weft__infer_fail(s, "Length of size_splits should be equal to num_outputs");
  cut_shapes(s, x, axis);
  const weft_tensor *sizes = weft__infer_value(s, 1);
  return axis >= 0 && sizes ? split_v_known(s, sizes, axis) : WEFT_OK;
}

/* Reads the sizes.  One of them may be -1, which means the rest of the axis. */
static weft_err split_v_sizes(kernel *k, int64_t dim, int64_t *size) {
  const weft_tensor *t = k->in[1];
  int64_t sum = 0, n = weft__tensor_count(t);
  int rest = -1;
  bool negative = false;
  if (t->shape.rank != 1 || n != k->n_out)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "size of the split_tensor must be 1-D and have the same elements as outputs got %d -D "
                             "and %lld elements",
                             t->shape.rank, (long long)n);
  for (int i = 0; i < k->n_out; i++) {
    size[i] = weft__tensor_int(t, i);
    if (size[i] == -1) {
      if (rest >= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "There can only be one -1 in the input.");
      rest = i;
      continue;
    }
    negative = negative || size[i] < 0 || __builtin_add_overflow(sum, size[i], &sum);
  }
  if ((rest < 0 && sum != dim) || sum > dim || negative)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Determined shape must either match input shape along split_dim exactly if fully "
                             "specified, or be less than the size of the input along split_dim if not fully "
                             "specified.  Got: %lld",
                             (long long)sum);
  if (rest >= 0) size[rest] = dim - sum;
  return WEFT_OK;
}

static weft_err split_v_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  int axis = 0;
  WEFT_TRY(kernel_axis(k, 2, x->shape.rank, &axis));
  if (k->n_out == 1) return weft__forward(k, 0, 0, &x->shape);
  int64_t *size = weft__alloc((size_t)k->n_out * sizeof *size);
  if (!size) return WEFT_OOM;
  weft_err err = split_v_sizes(k, x->shape.dim[axis], size);
  if (err == WEFT_OK) err = cut_all(k, x, axis, size);
  weft__free(size);
  return err;
}

static weft_err split_v_grad(backprop *b) { return split_joined(b, b->in[2], &b->din[0]); }

/* ---- Unpack ---- */

static weft_err unpack_infer(infer *s) {
  const shape *x = &s->in[0];
  int rank = x->rank;
  int64_t axis = weft__node_int(s->node, "axis", 0);
  if (rank < 0) return WEFT_OK;
  if (axis < -rank || axis >= rank)
    return weft__infer_fail(s, "Invalid axis: %lld; must be in [%d,%d)", (long long)axis, -rank, rank);
  if (axis < 0) axis += rank;
  if (x->dim[axis] >= 0 && x->dim[axis] != s->n_out)
    return weft__infer_fail(s, "Dimension must be %d but is %lld", s->n_out, (long long)x->dim[axis]);
  for (int i = 0; i < s->n_out; i++) {
    s->out[i].rank = rank - 1;
    for (int d = 0; d < rank - 1; d++) s->out[i].dim[d] = x->dim[d < axis ? d : d + 1];
  }
  return WEFT_OK;
}

static weft_err unpack_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  int rank = x->shape.rank;
  int64_t axis = weft__node_int(k->node, "axis", 0);
  if (axis < -rank || axis >= rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "axis = %lld not in [%d, %d)", (long long)axis, -rank, rank);
  if (axis < 0) axis += rank;
  if (x->shape.dim[axis] != k->n_out)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input shape axis %lld must equal %d, got shape %s",
                             (long long)axis, k->n_out, weft__shape_text(&x->shape));
  shape out = {.rank = rank - 1};
  for (int d = 0; d < rank - 1; d++) out.dim[d] = x->shape.dim[d < axis ? d : d + 1];
  if (k->n_out == 1) return weft__forward(k, 0, 0, &out);
  int64_t rows = weft__shape_product(&out, 0, weft__int_sat(axis)),
          piece = weft__shape_product(&out, weft__int_sat(axis), rank - 1);
  for (int i = 0; i < k->n_out; i++) WEFT_TRY(cut_piece(k, i, x, &out, rows, piece, piece * k->n_out, piece * i));
  return WEFT_OK;
}

static weft_err unpack_grad(backprop *b) {
  weft_out *parts = weft__alloc((size_t)b->n_out * sizeof *parts);
  if (!parts) return WEFT_OOM;
  for (int i = 0; i < b->n_out; i++) parts[i] = weft__backprop_dout(b, i);
  attr axis = A_INT("axis", weft__node_int(b->node, "axis", 0));
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "Pack", "stack", b->n_out, parts, 1, &axis));
  weft__free(parts);
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case split_cases[] = {
    {"i32[] 1; f32[2,4] seq", "f32[2,2] 0 1 4 5; f32[2,2] 2 3 6 7", "num_split=2", 0},
    {"i32[] 0; f64[6,2] rand", NULL, "num_split=3", 0},
    {"i32[] -2; f64[2,4,3] rand", NULL, "num_split=4", 0},
    {"i32[] 0; f32[3] rand", NULL, "num_split=1", 0},
    {"i32[] 0; f32[0,3] 0", "f32[0,3] 0; f32[0,3] 0", "num_split=2", 0},
    {"i32[] 0; str[2] \"a\" \"b\"", "str[1] \"a\"; str[1] \"b\"", "num_split=2", 0},
    {"i32[] 1; f32[64,400] rand", NULL, "num_split=4", CASE_NO_GRAD},
    {"i32[] 1; f32[2,3] 0", "error INVALID_ARGUMENT", "num_split=2", 0},
    {"i32[] 2; f32[2,3] 0", "error INVALID_ARGUMENT", "num_split=1", 0},
    {0},
};

static const op_case split_v_cases[] = {
    {"f32[2,3] seq; i64[2] 1 2; i32[] 1", "f32[2,1] 0 3; f32[2,2] 1 2 4 5", "num_split=2", 0},
    {"f64[5,2] rand; i32[3] 1 -1 2; i32[] 0", NULL, "num_split=3", 0},
    {"f64[2,3] rand; i32[2] 0 3; i32[] -1", NULL, "num_split=2", 0},
    {"str[3] \"a\" \"b\" \"c\"; i32[2] 2 1; i32[] 0", "str[2] \"a\" \"b\"; str[1] \"c\"", "num_split=2", 0},
    {"f32[4] 0; i32[2] 1 2; i32[] 0", "error INVALID_ARGUMENT", "num_split=2", 0},
    {"f32[4] 0; i32[2] -1 -1; i32[] 0", "error INVALID_ARGUMENT", "num_split=2", 0},
    {"f32[4] 0; i32[2] -1 5; i32[] 0", "error INVALID_ARGUMENT", "num_split=2", 0},
    {"f32[4] 0; i32[3] 1 1 2; i32[] 0", "error INVALID_ARGUMENT", "num_split=2", 0},
    {0},
};

static const op_case unpack_cases[] = {
    {"f32[2,2] 1 2 3 4", "f32[2] 1 2; f32[2] 3 4", "num=2", 0},
    {"f64[2,3,2] rand", NULL, "num=3 axis=1", 0},
    {"f64[2,3] rand", NULL, "num=3 axis=-1", 0},
    {"i32[3] 1 2 3", "i32[] 1; i32[] 2; i32[] 3", "num=3", 0},
    {"str[1,2] \"a\" \"b\"", "str[2] \"a\" \"b\"", "num=1", 0},
    {"f32[2,3] 0", "error INVALID_ARGUMENT", "num=3", 0},
    {"f32[2,3] 0", "error INVALID_ARGUMENT", "num=2 axis=2", 0},
    {"f32[] 0", "error INVALID_ARGUMENT", "num=1", 0},
    {0},
};

static bool split_part(const weft_node *n, int out, tensor_part *p) {
  const shape *whole = weft__out_shape(n->graph, n->in[1]), *piece = &n->out_shape[out];
  weft_tensor *axis = weft__shape_known(whole) ? weft__graph_constant(n->graph, n->in[0]) : NULL;
  if (!axis || !weft__shape_known(piece)) {
    weft_tensor_destroy(axis);
    return false;
  }
  const int64_t at = weft__tensor_int(axis, 0);
  weft_tensor_destroy(axis);
  *p = (tensor_part){.of = 1, .axis = weft__int_sat(at < 0 ? at + whole->rank : at)};
  p->begin = out * piece->dim[p->axis];
  return true;
}

static const fusion splits = {.part = split_part};

OPS(split) = {
    {"Split(split_dim:int32, value:T) -> (output:num_split*T) | num_split:int>=1 T:type",
     "Cuts a tensor into equal pieces along an axis.", .infer = split_infer, .cpu = split_cpu, .grad = split_grad,
     .fusion = &splits, .cases = split_cases, .amp = AMP_CLEAR, .narrow = NARROW_ALL},
    {"SplitV(value:T, size_splits:Tlen, split_dim:int32) -> (output:num_split*T) | num_split:int>=1 T:type "
     "Tlen:type{int8,int32,int64}=int64",
     "Cuts a tensor into pieces of given sizes along an axis.", .infer = split_v_infer, .cpu = split_v_cpu,
     .grad = split_v_grad, .cases = split_v_cases, .amp = AMP_CLEAR, .narrow = NARROW_ALL},
    {"Unpack(value:T) -> (output:num*T) | num:int>=0 T:type axis:int=0", "The slices of a tensor along an axis.",
     .infer = unpack_infer, .cpu = unpack_cpu, .grad = unpack_grad, .cases = unpack_cases, .amp = AMP_CLEAR,
     .narrow = NARROW_FLOAT8},
    {0},
};
