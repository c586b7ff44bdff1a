/* shape.c - ops that return a shape, and ops that give the same elements another shape.
 *
 * None of these ops reads an element: the second group forwards the buffer of its input.  Most static shapes of a
 * program depend on the shape rules in this file. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/fusion.h"
#include "graph/kernel.h"
#include "graph/op.h"

/* ---- Shape, ShapeN, Size, Rank ---- */

static weft_err shape_infer(infer *s) {
  for (int i = 0; i < s->n_out; i++) s->out[i] = SHAPE1(s->in[i].rank < 0 ? -1 : s->in[i].rank);
  return WEFT_OK;
}

static weft_err put_int(kernel *k, weft_tensor *out, int i, int64_t v, const char *what) {
  if (out->dtype == WEFT_INT64) {
    TENSOR_DATA(out, int64_t)[i] = v;
    return WEFT_OK;
  }
  if (v > INT32_MAX)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s output type is 32-bit but dim %d is %lld", what, i,
                             (long long)v);
  TENSOR_DATA(out, int32_t)[i] = (int32_t)v;
  return WEFT_OK;
}

static weft_err shape_cpu(kernel *k) {
  for (int i = 0; i < k->n_out; i++) {
    const shape *of = &k->in[i]->shape;
    weft_tensor *out = weft__out(k, i, &SHAPE1(of->rank));
    if (!out) return WEFT_OOM;
    for (int d = 0; d < of->rank; d++) WEFT_TRY(put_int(k, out, d, of->dim[d], "Shape"));
  }
  return WEFT_OK;
}

static weft_err shape_size_cpu(kernel *k) {
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  return out ? put_int(k, out, 0, weft__tensor_count(k->in[0]), "Size") : WEFT_OOM;
}

static weft_err rank_cpu(kernel *k) {
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  return out ? put_int(k, out, 0, k->in[0]->shape.rank, "Rank") : WEFT_OOM;
}

/* ---- Reshape ---- */

/* If the number of elements is known, computes the one unknown dimension of `out`. */
static weft_err reshape_fill_in(infer *s, int64_t count) {
  shape *out = &s->out[0];
  int64_t known = 1;
  int missing = -1, n_missing = 0;
  for (int d = 0; d < out->rank; d++) {
    if (out->dim[d] < 0)
      missing = d, n_missing++;
    else
      known = weft__shape_dim_mul(known, out->dim[d]);
  }
  if (n_missing == 0 && known != count)
    return weft__infer_fail(s, "Cannot reshape a tensor with %lld elements to shape %s (%lld elements)",
                            (long long)count, weft__shape_text(out), (long long)known);
  if (n_missing != 1 || known <= 0) return WEFT_OK;
  if (count % known != 0)
    return weft__infer_fail(s, "Dimension size must be evenly divisible by %lld but is %lld", (long long)known,
                            (long long)count);
  out->dim[missing] = count / known;
  return WEFT_OK;
}

static weft_err reshape_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  WEFT_TRY(weft__infer_shape_value(s, 1, &s->out[0]));
  if (s->out[0].rank < 0) return WEFT_OK;
  int64_t count = weft__shape_count(&s->in[0]);
  return count >= 0 ? reshape_fill_in(s, count) : WEFT_OK;
}

/* Reads the requested sizes. *missing is the index of the -1, or -1 if there is none. */
static weft_err reshape_sizes(kernel *k, shape *out, int *missing) {
  const weft_tensor *sizes = k->in[1];
  if (sizes->shape.rank > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "sizes input must be 1-D, not %s",
                             weft__shape_text(&sizes->shape));
  WEFT_TRY(weft__kernel_ints(k, 1, "shape", out->dim, &out->rank));
  *missing = -1;
  for (int d = 0; d < out->rank; d++) {
    if (out->dim[d] == -1) {
      if (*missing >= 0)
        return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Only one input size may be -1, not both %d and %d",
                                 *missing, d);
      *missing = d;
    } else if (out->dim[d] < 0) {
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Size %d must be non-negative, not %lld", d,
                               (long long)out->dim[d]);
    }
  }
  return WEFT_OK;
}

/* Returns the product of the dimensions, without zeros and without dimension `skip`. *zero is set if a dimension is
 * zero. */
static int64_t product_but_zeros(const shape *s, int skip, bool *zero) {
  int64_t product = 1;
  *zero = false;
  for (int d = 0; d < s->rank; d++) {
    if (s->dim[d] == 0)
      *zero = true;
    else if (d != skip && __builtin_mul_overflow(product, s->dim[d], &product))
      return INT64_MAX;
  }
  return product;
}

/* Computes the size of dimension `missing`.  If both the request and the input have zeros, the zeros cancel. */
static weft_err reshape_missing(kernel *k, shape *out, int missing) {
  bool zero_out, zero_in;
  int64_t known = product_but_zeros(out, missing, &zero_out);
  int64_t count = product_but_zeros(&k->in[0]->shape, -1, &zero_in);
  if (zero_in && !zero_out) count = 0;
  out->dim[missing] = count / known;
  if (count % known != 0 && !(zero_in && zero_out))
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "Input to reshape is a tensor with %lld values, but the requested shape requires a multiple of %lld",
        (long long)count, (long long)known);
  return WEFT_OK;
}

static weft_err reshape_cpu(kernel *k) {
  shape out;
  int missing = -1;
  WEFT_TRY(reshape_sizes(k, &out, &missing));
  if (missing >= 0) WEFT_TRY(reshape_missing(k, &out, missing));
  int64_t count = weft__tensor_count(k->in[0]), asked = weft__shape_count(&out);
  if (asked < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Shape %s %s", weft__shape_text(&out), weft__shape_excess(&out));
  if (asked != count)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Input to reshape is a tensor with %lld values, but the requested shape has %lld",
                             (long long)count, (long long)asked);
  return weft__forward(k, 0, 0, &out);
}

/* ---- QuantizedReshape: Reshape; the range is passed on unchanged ---- */

static weft_err quantized_reshape_infer(infer *s) {
  WEFT_TRY(reshape_infer(s));
  for (int i = 2; i < 4; i++) WEFT_TRY(weft__infer_rank(s, i, 0, NULL));
  s->out[1] = s->out[2] = SHAPE_SCALAR;
  return WEFT_OK;
}

static weft_err quantized_reshape_cpu(kernel *k) {
  WEFT_TRY(weft__kernel_scalar(k, 2, "input_min"));
  WEFT_TRY(weft__kernel_scalar(k, 3, "input_max"));
  WEFT_TRY(reshape_cpu(k));
  WEFT_TRY(weft__forward(k, 1, 2, &SHAPE_SCALAR));
  return weft__forward(k, 2, 3, &SHAPE_SCALAR);
}

/* ---- ExpandDims ---- */

static void insert_axis(shape *out, const shape *in, int axis) {
  out->rank = in->rank + 1;
  for (int d = 0; d < out->rank; d++) out->dim[d] = d < axis ? in->dim[d] : d == axis ? 1 : in->dim[d - 1];
}

static weft_err expand_infer(infer *s) {
  int rank = s->in[0].rank;
  if (s->in[1].rank > 0 && weft__shape_known(&s->in[1]) && weft__shape_count(&s->in[1]) != 1)
    return weft__infer_fail(s, "'dim' input must be a tensor with a single value");
  if (rank < 0) return WEFT_OK;
  if (rank == WEFT_MAX_RANK) return weft__infer_fail(s, "Cannot add an axis to a tensor of rank %d", rank);
  const weft_tensor *dim = weft__infer_value(s, 1);
  if (!dim || weft__tensor_count(dim) != 1) return WEFT_OK;
  int64_t axis = weft__tensor_int(dim, 0);
  if (axis < -1 - rank || axis > rank)
    return weft__infer_fail(s, "dim %lld not in the interval [%d, %d].", (long long)axis, -1 - rank, rank);
  insert_axis(&s->out[0], &s->in[0], weft__int_sat(axis < 0 ? axis + rank + 1 : axis));
  return WEFT_OK;
}

static weft_err expand_cpu(kernel *k) {
  const shape *in = &k->in[0]->shape;
  if (weft__tensor_count(k->in[1]) != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "'dim' must be a tensor with a single value");
  int64_t axis = weft__tensor_int(k->in[1], 0);
  if (axis < -1 - in->rank || axis > in->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Tried to expand dim index %lld for tensor with %d dimensions.",
                             (long long)axis, in->rank);
  if (in->rank == WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Cannot add an axis to a tensor of rank %d", in->rank);
  shape out;
  insert_axis(&out, in, weft__int_sat(axis < 0 ? axis + in->rank + 1 : axis));
  return weft__forward(k, 0, 0, &out);
}

/* ---- Squeeze ---- */

/* Finds the axes to remove: those in squeeze_dims, or all of size 1 if there are none.  Fails if one of squeeze_dims is
 * not in range; *bad is its place in the list. */
static weft_err squeeze_axes(const weft_node *n, int rank, bool *gone, bool *named, int64_t *bad) {
  const attr *a = weft__node_attr(n, "squeeze_dims");
  *named = a && a->is_list && a->n > 0;
  for (int d = 0; d < rank; d++) gone[d] = false;
  for (int i = 0; *named && i < a->n; i++) {
    const int64_t axis = a->is[i];
    *bad = i;
    if (axis < -rank || axis >= rank) return WEFT_INVALID_ARGUMENT;
    gone[axis < 0 ? axis + rank : axis] = true;
  }
  return WEFT_OK;
}

static weft_err squeeze_infer(infer *s) {
  const shape *in = &s->in[0];
  bool gone[WEFT_MAX_RANK], named;
  int64_t bad = 0;
  if (in->rank < 0) return WEFT_OK;
  if (squeeze_axes(s->node, in->rank, gone, &named, &bad) != WEFT_OK) {
    const int64_t axis = weft__node_attr(s->node, "squeeze_dims")->is[bad];
    if (axis != (int32_t)axis) /* fits: compared with itself */
      return weft__infer_fail(s, "Attr squeeze_dims has value %lld out of range for an int32", (long long)axis);
    return weft__infer_fail(s, "squeeze_dims[%lld] not in [%d,%d).", (long long)bad, -in->rank, in->rank);
  }
  shape out = SHAPE_SCALAR;
  for (int d = 0; d < in->rank; d++) {
    if (!named && in->dim[d] < 0) return WEFT_OK; /* an unknown size may be 1 or not */
    if (named && gone[d] && in->dim[d] >= 0 && in->dim[d] != 1)
      return weft__infer_fail(s, "Can not squeeze dim[%d], expected a dimension of 1, got %lld", d,
                              (long long)in->dim[d]);
    if (named ? !gone[d] : in->dim[d] != 1) out.dim[out.rank++] = in->dim[d];
  }
  s->out[0] = out;
  return WEFT_OK;
}

static weft_err squeeze_cpu(kernel *k) {
  const shape *in = &k->in[0]->shape;
  bool gone[WEFT_MAX_RANK], named;
  int64_t bad = 0;
  if (squeeze_axes(k->node, in->rank, gone, &named, &bad) != WEFT_OK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Tried to squeeze dim index %lld for tensor with %d dimensions.",
                             (long long)weft__node_attr(k->node, "squeeze_dims")->is[bad], in->rank);
  shape out = SHAPE_SCALAR;
  for (int d = 0; d < in->rank; d++) {
    if (named && gone[d] && in->dim[d] != 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Can not squeeze dim[%d], expected a dimension of 1, got %lld",
                               d, (long long)in->dim[d]);
    if (named ? !gone[d] : in->dim[d] != 1) out.dim[out.rank++] = in->dim[d];
  }
  return weft__forward(k, 0, 0, &out);
}

/* ---- EnsureShape ---- */

static weft_err ensure_infer(infer *s) {
  const attr *a = weft__node_attr(s->node, "shape");
  if (!a || a->kind != ATTR_SHAPE) return weft__infer_same(s);
  return weft__shape_merge(&s->out[0], &s->in[0], a->shape);
}

static weft_err ensure_cpu(kernel *k) {
  const attr *a = weft__node_attr(k->node, "shape");
  if (a && a->kind == ATTR_SHAPE && !weft__shape_compatible(a->shape, &k->in[0]->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Shape of tensor %s %s is not compatible with expected shape %s.", k->node->name,
                             weft__shape_text(&k->in[0]->shape), weft__shape_text(a->shape));
  return weft__forward(k, 0, 0, &k->in[0]->shape);
}

/* ---- gradients ---- */

/* Gives the output gradient the shape of the input. */
static weft_err reshape_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(weft__b_reshape(b->graph, b->dout[0], weft__b_shape(b->graph, b->in[0])));
  return WEFT_OK;
}

static weft_err ensure_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(b->dout[0]);
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case shape_cases[] = {
    {"f32[2,3] rand", "i32[2] 2 3", NULL, 0},
    {"f32[2,0,3] 0", "i64[3] 2 0 3", "out_type=int64", 0},
    {"str[] \"a\"", "i32[0] 0", NULL, 0},
    {"bool[4] true", "i32[1] 4", NULL, 0},
    {0},
};

static const op_case shape_n_cases[] = {
    {"f32[2,3] rand; f32[] 1; f32[0] 0", "i32[2] 2 3; i32[0] 0; i32[1] 0", NULL, 0},
    {"i32[5] 1; i32[1,1] 1", "i64[1] 5; i64[2] 1 1", "out_type=int64", 0},
    {0},
};

static const op_case size_cases[] = {
    {"f32[2,3] rand", "i32[] 6", NULL, 0},
    {"f64[2,0] 0", "i32[] 0", NULL, 0},
    {"str[] \"a\"", "i64[] 1", "out_type=int64", 0},
    {0},
};

static const op_case rank_cases[] = {
    {"f32[2,3] rand", "i32[] 2", NULL, 0},
    {"str[] \"a\"", "i32[] 0", NULL, 0},
    {"c64[0,1,1] 0", "i32[] 3", NULL, 0},
    {0},
};

static const op_case reshape_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; i32[2] 3 2", "f32[3,2] 1 2 3 4 5 6", NULL, 0},
    {"f32[2,3] rand; i32[2] -1 1", NULL, NULL, 0},
    {"f64[4] rand; i64[3] 2 1 -1", NULL, NULL, 0},
    {"i32[1,1] 7; i32[0] 0", "i32[] 7", NULL, 0},
    {"f32[0,3] 0; i32[2] 3 -1", "f32[3,0] 0", NULL, 0},
    {"str[2] \"a\" \"b\"; i32[2] 1 2", "str[1,2] \"a\" \"b\"", NULL, 0},
    {"f32[64,300] rand; i32[3] 64 -1 10", NULL, NULL, CASE_NO_GRAD},
    {"f32[6] 0; i32[1] 4", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[6] 0; i32[2] -1 -1", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[7] 0; i32[2] 2 -1", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[6] 0; i32[1] -2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[0] 0; i32[2] 0 -1", "f32[0,1] 0", NULL, 0},
    {"f32[2,0] 0; i32[2] -1 0", "f32[2,0] 0", NULL, 0},
    {"f32[6] 0; i32[2] 0 -1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case expand_cases[] = {
    {"f32[2,3] rand; i32[] 0", NULL, NULL, 0},
    {"f32[2,3] rand; i32[] -1", NULL, NULL, 0},
    {"f64[2,3] rand; i64[] 1", NULL, NULL, 0},
    {"i32[] 7; i32[] 0", "i32[1] 7", NULL, 0},
    {"str[0] \"\"; i32[1] -2", "str[1,0] \"\"", NULL, 0},
    {"f32[2] 0; i32[] 2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2] 0; i32[2] 0 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case squeeze_cases[] = {
    {"f32[1,2,1,3] rand", NULL, NULL, 0},
    {"f32[1,2,1,3] rand", NULL, "squeeze_dims=[2]", 0},
    {"f64[1,2,1] rand", NULL, "squeeze_dims=[-1,0]", 0},
    {"i32[1,1] 5", "i32[] 5", NULL, 0},
    {"str[1,0] \"\"", "str[0] \"\"", NULL, 0},
    {"f32[2,1] 0", "error INVALID_ARGUMENT", "squeeze_dims=[0]", 0},
    {"f32[2,1] 0", "error INVALID_ARGUMENT", "squeeze_dims=[2]", 0},
    {0},
};

static const op_case quantized_reshape_cases[] = {
    {"qu8[4] 1 2 3 4; i32[2] 2 -1; f32[] 0; f32[] 1", "qu8[2,2] 1 2 3 4; f32[] 0; f32[] 1", NULL, CASE_NO_PARITY},
    {"qi32[4] 1; i64[1] 3; f32[] 0; f32[] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {0},
};

static const op_case ensure_cases[] = {
    {"f32[2,3] rand", NULL, "shape=[2,-1]", 0},
    {"i64[] 4", "i64[] 4", "shape=[]", 0},
    {"f32[2,3] 0", "error INVALID_ARGUMENT", "shape=[3,3]", 0},
    {0},
};

static bool reshape_hands_on(const shape *x, const weft_tensor *to) {
  bool same = weft__tensor_count(to) == x->rank;
  for (int d = 0; same && d < x->rank; d++) same = weft__tensor_int(to, d) == x->dim[d];
  return same;
}

static const fusion reshapes = {.rows = ROWS_SAME, .hands_on = reshape_hands_on};

OPS(shape) = {
    {"Shape(input:T) -> (output:out_type) | T:type out_type:type{int32,int64}=int32", "The dimensions of a tensor.",
     .kind = KIND_SHAPE, .known = weft__known_shape, .infer = shape_infer, .cpu = shape_cpu, .no_grad = true,
     .cases = shape_cases, .flags = OP_SHAPE_ONLY, .anywhere = "output", .amp = AMP_CLEAR, .narrow = NARROW_ALL},
    {"ShapeN(input:N*T) -> (output:N*out_type) | N:int>=1 T:type out_type:type{int32,int64}=int32",
     "The dimensions of several tensors.", .kind = KIND_SHAPE_N, .known = weft__known_shape, .infer = shape_infer,
     .cpu = shape_cpu, .no_grad = true, .cases = shape_n_cases, .flags = OP_SHAPE_ONLY, .anywhere = "output",
     .amp = AMP_CLEAR, .narrow = NARROW_ALL},
    {"Size(input:T) -> (output:out_type) | T:type out_type:type{int32,int64}=int32", "How many elements a tensor has.",
     .kind = KIND_SIZE, .infer = weft__infer_scalar, .cpu = shape_size_cpu, .no_grad = true, .cases = size_cases,
     .flags = OP_SHAPE_ONLY, .anywhere = "output", .amp = AMP_CLEAR, .narrow = NARROW_ALL},
    {"Rank(input:T) -> (output:int32) | T:type", "How many axes a tensor has.", .kind = KIND_RANK,
     .infer = weft__infer_scalar, .cpu = rank_cpu, .no_grad = true, .cases = rank_cases, .flags = OP_SHAPE_ONLY,
     .anywhere = "output", .amp = AMP_CLEAR, .narrow = NARROW_ALL},
    {"Reshape(tensor:T, shape:Tshape) -> (output:T) | T:type Tshape:type{int32,int64}=int32",
     "The same elements under another shape; one size may be -1.", .infer = reshape_infer, .cpu = reshape_cpu,
     .grad = reshape_grad, .fusion = &reshapes, .cases = reshape_cases, .anywhere = "shape", .amp = AMP_CLEAR,
     .narrow = NARROW_ALL},
    {"QuantizedReshape(tensor:T, shape:Tshape, input_min:float, input_max:float) -> (output:T, output_min:float, "
     "output_max:float) | T:type Tshape:type{int32,int64}=int32",
     "Reshape of a quantized tensor, whose range stays.", .infer = quantized_reshape_infer,
     .cpu = quantized_reshape_cpu, .cases = quantized_reshape_cases},
    {"ExpandDims(input:T, dim:Tdim) -> (output:T) | T:type Tdim:type{int32,int64}=int32", "Adds an axis of size 1.",
     .infer = expand_infer, .cpu = expand_cpu, .grad = reshape_grad, .cases = expand_cases, .anywhere = "dim",
     .amp = AMP_CLEAR, .narrow = NARROW_ALL},
    {"Squeeze(input:T) -> (output:T) | T:type squeeze_dims:list(int)>=0=[]", "Drops axes of size 1.",
     .infer = squeeze_infer, .cpu = squeeze_cpu, .grad = reshape_grad, .cases = squeeze_cases, .anywhere = "",
     .amp = AMP_CLEAR, .narrow = NARROW_ALL},
    {"EnsureShape(input:T) -> (output:T) | shape:shape T:type", "The input, whose shape must fit the one given.",
     .infer = ensure_infer, .cpu = ensure_cpu, .grad = ensure_grad, .cases = ensure_cases, .anywhere = "",
     .amp = AMP_CLEAR, .narrow = NARROW_ALL},
    {0},
};
