/* slice.c - reads parts of a tensor (Slice, StridedSlice) and writes them back (the gradient and update ops).
 *
 * strided_slice.c has the rules of x[a:b:c, ..., i].  One strided copy moves the elements. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/fusion.h"
#include "graph/op.h"
#include "kernels/array/strided_slice.h"

#include <stdio.h>

/* ---- Slice ---- */

/* Finds the rank that begin, size and the input agree on. */
static weft_err slice_rank(infer *s, int *rank) {
  shape begin, size, both, none = SHAPE_UNKNOWN;
  WEFT_TRY(weft__infer_rank(s, 1, 1, &begin));
  WEFT_TRY(weft__infer_rank(s, 2, 1, &size));
  if (weft__shape_merge(&both, &begin, &size) != WEFT_OK)
    return weft__infer_fail(s, "Dimension 0 in both shapes must be equal, but are %lld and %lld",
                            (long long)begin.dim[0], (long long)size.dim[0]);
  if (both.dim[0] > WEFT_MAX_RANK) return weft__infer_fail(s, "Cannot slice %lld axes", (long long)both.dim[0]);
  *rank = weft__int_sat(both.dim[0]);
  if (s->in[0].rank >= 0 && *rank >= 0) return weft__infer_rank(s, 0, *rank, &none);
  if (*rank < 0) *rank = s->in[0].rank;
  return WEFT_OK;
}

static weft_err slice_infer(infer *s) {
  shape begin, size;
  int rank;
  WEFT_TRY(slice_rank(s, &rank));
  WEFT_TRY(weft__infer_shape_value(s, 1, &begin));
  WEFT_TRY(weft__infer_shape_value(s, 2, &size));
  if (rank < 0) return WEFT_OK;
  /* if the value is known, -1 means the rest of the axis; otherwise it means unknown */
  bool sure = weft__infer_value(s, 2) != NULL;
  shape *out = &s->out[0];
  out->rank = rank;
  for (int d = 0; d < rank; d++) {
    int64_t dim = s->in[0].rank < 0 ? -1 : s->in[0].dim[d];
    out->dim[d] = size.rank == rank ? size.dim[d] : -1;
    if (out->dim[d] >= 0 || !sure || dim < 0 || begin.rank != rank || begin.dim[d] < 0) continue;
    if (begin.dim[d] > dim)
      return weft__infer_fail(s, "Negative dimension size caused by subtracting %lld from %lld",
                              (long long)begin.dim[d], (long long)dim);
    out->dim[d] = dim - begin.dim[d];
  }
  return WEFT_OK;
}

static weft_err slice_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  const shape *b = &k->in[1]->shape, *z = &k->in[2]->shape;
  int rank = x->shape.rank;
  if (b->rank != 1 || z->rank != 1 || b->dim[0] != rank || z->dim[0] != rank)
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "Expected begin and size arguments to be 1-D tensors of size %d, but got shapes %s and %s instead.", rank,
        weft__shape_text(b), weft__shape_text(z));
  int64_t begin[WEFT_MAX_RANK], from[WEFT_MAX_RANK], to[WEFT_MAX_RANK], offset = 0;
  shape out = {.rank = rank};
  WEFT_TRY(weft__kernel_ints(k, 1, "begin", begin, &(int){0}));
  WEFT_TRY(weft__kernel_ints(k, 2, "size", out.dim, &(int){0}));
  for (int d = 0; d < rank; d++) {
    int64_t dim = x->shape.dim[d];
    if (begin[d] < 0 || begin[d] > dim)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected begin[%d] in [0, %lld], but got %lld", d,
                               (long long)dim, (long long)begin[d]);
    if (out.dim[d] == -1) out.dim[d] = dim - begin[d];
    if (out.dim[d] < 0 || out.dim[d] > dim - begin[d])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected size[%d] in [0, %lld], but got %lld", d,
                               (long long)(dim - begin[d]), (long long)out.dim[d]);
  }
  if (weft__shape_equal(&out, &x->shape)) return weft__forward(k, 0, 0, &out);
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return WEFT_OOM;
  weft__shape_steps(&x->shape, from);
  weft__shape_steps(&out, to);
  strided_copy copy;
  copy.rank = 0;
  for (int d = 0; d < rank; d++) {
    weft__strided_copy_axis(&copy, out.dim[d], from[d], to[d]);
    offset += begin[d] * from[d];
  }
  return weft__strided_copy_run(k, x->dtype, y->data, weft__element_const(x->dtype, x->data, offset), &copy);
}

/* Pads the gradient with zeros up to the input's shape. */
static weft_err slice_grad(backprop *b) {
  weft_graph *g = b->graph;
  weft_dtype index = weft__out_type(g, b->in[1]);
  weft_out x_shape = weft__b_cast(g, weft__b_shape(g, b->in[0]), index);
  weft_out size = weft__b_cast(g, weft__b_shape(g, b->out[0]), index);
  weft_out after = weft__b_sub(g, weft__b_sub(g, x_shape, size), b->in[1]);
  weft_out column = weft__b_ints(g, (int64_t[]){-1, 1}, 2);
  weft_out halves[] = {weft__b_reshape(g, b->in[1], column), weft__b_reshape(g, after, column)};
  weft_out pad[] = {b->dout[0], weft__b_concat(g, 2, halves, weft__b_scalar(g, WEFT_INT32, 1))};
  b->din[0] = GRAD_DENSE(weft__b_node(g, "Pad", NULL, 2, pad, 0, NULL));
  return WEFT_OK;
}

/* ---- StridedSlice ---- */

/* Reads begin, end or stride as a list if it is known. *n is its length, or -1. */
static const int64_t *known_ints(infer *s, int i, int64_t *room, int *n) {
  const weft_tensor *t = weft__infer_value(s, i);
  if (!t || t->shape.rank != 1 || t->shape.dim[0] >= 32) return NULL;
  *n = weft__int_sat(t->shape.dim[0]);
  for (int j = 0; j < *n; j++) room[j] = weft__tensor_int(t, j);
  return room;
}

/* Computes the shape of `x` sliced by inputs [first, first + 3), as far as it is known. */
static weft_err strided_shape(infer *s, const shape *x, int first, shape *out) {
  int64_t room[3][32];
  int n = -1;
  shape merged = SHAPE_UNKNOWN;
  for (int i = first; i < first + 3; i++) {
    WEFT_TRY(weft__infer_rank(s, i, 1, NULL));
    shape before = merged;
    if (weft__shape_merge(&merged, &before, &s->in[i]) != WEFT_OK)
      return weft__infer_fail(s, "Dimension 0 in both shapes must be equal, but are %lld and %lld",
                              (long long)before.dim[0], (long long)s->in[i].dim[0]);
  }
  *out = SHAPE_UNKNOWN;
  const int64_t *stride = known_ints(s, first + 2, room[2], &n);
  if (!stride || x->rank < 0) return WEFT_OK;
  int items = n;
  const int64_t *begin = known_ints(s, first, room[0], &n), *end = known_ints(s, first + 1, room[1], &n);
  strided st;
  strided_masks masks = weft__strided_masks(s->node);
  weft_err err = weft__strided_read(&st, &masks, x->rank, items, begin, end, stride);
  if (err == WEFT_OK) err = weft__strided_apply(&st, x);
  if (err != WEFT_OK) {
    char why[160];
    snprintf(why, sizeof why, "%s", weft__error_message());
    return weft__infer_fail(s, "%s", why);
  }
  weft__strided_shape(&st, out);
  return WEFT_OK;
}

static weft_err strided_infer(infer *s) { return strided_shape(s, &s->in[0], 1, &s->out[0]); }

static weft_err strided_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  strided s;
  shape out;
  strided_copy copy;
  int64_t offset;
  WEFT_TRY(weft__strided_kernel(k, &s, &x->shape, 1));
  weft__strided_shape(&s, &out);
  weft__strided_slice_copy(&s, &x->shape, false, &copy, &offset);
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return WEFT_OOM;
  return weft__strided_copy_run(k, x->dtype, y->data, weft__element_const(x->dtype, x->data, offset), &copy);
}

static int copy_masks(const weft_node *n, attr *to) {
  static const char *const names[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"};
  int count = sizeof names / sizeof *names;
  for (int i = 0; i < count; i++) to[i] = A_INT(names[i], weft__node_int(n, names[i], 0));
  return count;
}

/* Casts int16 indices to a type that the gradient ops support. */
static weft_out slice_wide(weft_graph *g, weft_out index) {
  return weft__out_type(g, index) == WEFT_INT16 ? weft__b_cast(g, index, WEFT_INT32) : index;
}

static weft_err strided_grad(backprop *b) {
  weft_graph *g = b->graph;
  attr masks[5];
  int n = copy_masks(b->node, masks);
  weft_out begin = slice_wide(g, b->in[1]);
  weft_out in[] = {weft__b_cast(g, weft__b_shape(g, b->in[0]), weft__out_type(g, begin)), begin,
                   slice_wide(g, b->in[2]), slice_wide(g, b->in[3]), b->dout[0]};
  b->din[0] = GRAD_DENSE(weft__b_node(g, "StridedSliceGrad", NULL, 5, in, n, masks));
  return WEFT_OK;
}

/* ---- StridedSliceGrad: zeros, with dy at the positions of the slice ---- */

static weft_err put_back_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 1, NULL));
  return weft__infer_shape_value(s, 0, &s->out[0]);
}

/* Copies `part` to the positions of x that slicing by inputs [first, first + 3) reads. */
static weft_err put_back(kernel *k, weft_tensor *x, int first, const weft_tensor *part, const char *name) {
  strided s;
  shape want;
  strided_copy copy;
  int64_t offset;
  WEFT_TRY(weft__strided_kernel(k, &s, &x->shape, first));
  weft__strided_shape(&s, &want);
  if (!weft__shape_equal(&want, &part->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "shape of %s was %s instead of %s", name,
                             weft__shape_text(&part->shape), weft__shape_text(&want));
  weft__strided_slice_copy(&s, &x->shape, true, &copy, &offset);
  return weft__strided_copy_run(k, x->dtype, weft__element(x->dtype, x->data, offset), part->data, &copy);
}

static weft_err put_back_cpu(kernel *k) {
  shape s;
  if (k->in[0]->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "shape must be 1-D, got shape.shape = %s",
                             weft__shape_text(&k->in[0]->shape));
  WEFT_TRY(weft__kernel_dims(k, 0, "shape", &s));
  weft_tensor *x = weft__out(k, 0, &s);
  if (!x) return weft__out_refused(&s);
  if (weft__dtype_is_plain(x->dtype)) WEFT_TRY(weft__strided_zero(k, x));
  return put_back(k, x, 1, k->in[4], "dy");
}

static weft_err put_back_grad(backprop *b) {
  attr masks[5];
  int n = copy_masks(b->node, masks);
  weft_out in[] = {b->dout[0], b->in[1], b->in[2], b->in[3]};
  b->din[4] = GRAD_DENSE(weft__b_node(b->graph, "StridedSlice", NULL, 4, in, n, masks));
  return WEFT_OK;
}

/* ---- TensorStridedSliceUpdate: returns a copy of x with a part replaced ---- */

static weft_err slice_update_infer(infer *s) {
  shape part;
  s->out[0] = s->in[0];
  return strided_shape(s, &s->in[0], 1, &part);
}

static weft_err update_cpu(kernel *k) {
  weft_tensor *y = weft__out_over(k, 0, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  if (y->data != k->in[0]->data)
    WEFT_TRY(weft__elements_copy(y->dtype, y->data, k->in[0]->data, weft__tensor_count(y)));
  return put_back(k, y, 1, k->in[4], "value");
}

static weft_err update_grad(backprop *b) {
  weft_graph *g = b->graph;
  attr masks[5];
  int n = copy_masks(b->node, masks);
  weft_out take[] = {b->dout[0], b->in[1], b->in[2], b->in[3]};
  weft_out put[] = {b->dout[0], b->in[1], b->in[2], b->in[3], weft__b_zeros_like(g, b->in[4])};
  b->din[0] = GRAD_DENSE(weft__b_node(g, "TensorStridedSliceUpdate", NULL, 5, put, n, masks));
  b->din[4] = GRAD_DENSE(weft__b_node(g, "StridedSlice", NULL, 4, take, n, masks));
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case slice_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; i32[2] 0 1; i32[2] 2 1", "f32[2,1] 2 5", NULL, 0},
    {"f32[4,5,6] rand; i32[3] 1 0 2; i32[3] 2 5 -1", NULL, NULL, 0},
    {"f64[4,3] rand; i64[2] 1 1; i64[2] -1 -1", NULL, NULL, 0},
    {"f32[4] rand; i32[1] 4; i32[1] -1", "f32[0] 0", NULL, 0},
    {"f32[] 3; i32[0] 0; i32[0] 0", "f32[] 3", NULL, 0},
    {"f32[3,4] rand; i32[2] 0 0; i32[2] 3 4", NULL, NULL, 0},
    {"str[3] \"a\" \"b\" \"c\"; i32[1] 1; i32[1] 2", "str[2] \"b\" \"c\"", NULL, 0},
    {"bool[2,2] true false false true; i32[2] 1 0; i32[2] 1 2", "bool[1,2] false true", NULL, 0},
    {"c128[3] 1 2 3; i32[1] 2; i32[1] 1", "c128[1] 3", NULL, 0},
    {"i16[70,33,5] rand; i32[3] 3 2 1; i32[3] 60 30 3", NULL, NULL, 0},
    {"f32[2,3] 0; i32[2] 0 2; i32[2] 2 2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] 0; i32[2] 0 -1; i32[2] 2 2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] 0; i32[1] 0; i32[1] 2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2] 0; i32[1] 3; i32[1] -1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case strided_cases[] = {
    {"f32[4,3] seq; i32[1] 1; i32[1] 3; i32[1] 1", "f32[2,3] 3 4 5 6 7 8", NULL, 0},
    {"f32[4,3] seq; i32[1] 2; i32[1] 3; i32[1] 1", "f32[3] 6 7 8", "shrink_axis_mask=1", 0},
    {"f32[4,3] seq; i32[1] -1; i32[1] 0; i32[1] 1", "f32[3] 9 10 11", "shrink_axis_mask=1", 0},
    {"f32[4,5,6] rand; i32[3] 3 0 1; i32[3] 0 5 6; i32[3] -1 2 3", NULL, NULL, 0},
    {"f32[5] seq; i32[1] 0; i32[1] 0; i32[1] -1", "f32[5] 4 3 2 1 0", "begin_mask=1 end_mask=1", 0},
    {"f32[5] seq; i32[1] 0; i32[1] 0; i32[1] -2", "f32[3] 4 2 0", "begin_mask=1 end_mask=1", 0},
    {"f64[2,3,4] rand; i64[2] 0 1; i64[2] 0 2; i64[2] 1 1", NULL, "ellipsis_mask=1 shrink_axis_mask=2", 0},
    {"f64[2,3,4] rand; i32[3] 0 0 1; i32[3] 0 0 3; i32[3] 1 1 1", NULL, "new_axis_mask=2 end_mask=1", 0},
    {"f32[2,3] rand; i32[3] 0 0 0; i32[3] 0 0 0; i32[3] 1 1 1", NULL, "ellipsis_mask=2 new_axis_mask=5", 0},
    {"f32[4] rand; i32[1] -100; i32[1] 100; i32[1] 1", NULL, NULL, 0},
    {"f32[4] rand; i32[1] 3; i32[1] 1; i32[1] 1", "f32[0] 0", NULL, 0},
    {"i32[3] 7 8 9; i32[1] 1; i32[1] 2; i32[1] 1", "i32[] 8", "shrink_axis_mask=1", 0},
    {"str[3] \"a\" \"b\" \"c\"; i32[1] 0; i32[1] 3; i32[1] 2", "str[2] \"a\" \"c\"", NULL, 0},
    {"f32[] 5; i32[1] 0; i32[1] 0; i32[1] 1", "f32[1] 5", "new_axis_mask=1", 0},
    {"u8[40,30,3] rand; i32[2] 0 0; i32[2] 40 30; i32[2] 3 7", NULL, NULL, 0},
    {"f32[4,3] 0; i32[1] 5; i32[1] 6; i32[1] 1", "error INVALID_ARGUMENT", "shrink_axis_mask=1", 0},
    {"f32[4,3] 0; i32[1] 0; i32[1] 1; i32[1] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[4] 0; i32[2] 0 0; i32[2] 1 1; i32[2] 1 1", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[4] 0; i32[2] 0 0; i32[2] 1 1; i32[2] 1 1", "error INVALID_ARGUMENT", "ellipsis_mask=3", 0},
    {"f32[4] 0; i32[1] 1; i32[1] 0; i32[1] -1", "error INVALID_ARGUMENT", "shrink_axis_mask=1", 0},
    {"f32[] 0; i32[1] 0; i32[1] 1; i32[1] 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case put_back_cases[] = {
    {"i32[1] 5; i32[1] 1; i32[1] 4; i32[1] 2; f32[2] 7 8", "f32[5] 0 7 0 8 0", NULL, 0},
    {"i32[2] 4 3; i32[1] 2; i32[1] 3; i32[1] 1; f64[3] rand", NULL, "shrink_axis_mask=1", 0},
    {"i32[2] 4 3; i32[2] 3 0; i32[2] 0 3; i32[2] -2 1; f32[2,3] rand", NULL, NULL, 0},
    {"i64[2] 4 3; i64[1] 0; i64[1] 0; i64[1] 1; f32[1,4,3] rand", NULL, "new_axis_mask=1", 0},
    {"i32[1] 3; i32[1] 0; i32[1] 2; i32[1] 1; i32[2] 4 5", "i32[3] 4 5 0", NULL, 0},
    {"i32[1] 3; i32[1] 0; i32[1] 2; i32[1] 1; f32[3] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case update_cases[] = {
    {"f32[5] 0; i32[1] 1; i32[1] 4; i32[1] 2; f32[2] 7 8", "f32[5] 0 7 0 8 0", NULL, 0},
    {"f64[4,3] rand; i32[1] -1; i32[1] 0; i32[1] 1; f64[3] rand", NULL, "shrink_axis_mask=1", 0},
    {"str[2] \"a\" \"b\"; i32[1] 1; i32[1] 2; i32[1] 1; str[1] \"c\"", "str[2] \"a\" \"c\"", NULL, 0},
    {"f32[5] 0; i32[1] 1; i32[1] 4; i32[1] 2; f32[3] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

#define MASKS "begin_mask:int=0 end_mask:int=0 ellipsis_mask:int=0 new_axis_mask:int=0 shrink_axis_mask:int=0"

static bool slice_part(const weft_node *n, int out, tensor_part *p) {
  const shape *whole = weft__out_shape(n->graph, n->in[0]), *piece = &n->out_shape[out];
  if (!weft__shape_known(whole) || !weft__shape_known(piece)) return false;
  weft_tensor *begin = weft__graph_constant(n->graph, n->in[1]);
  int cut = 0;
  *p = (tensor_part){.of = 0};
  for (int d = 0; d < whole->rank && begin; d++) {
    if (piece->dim[d] == whole->dim[d]) continue;
    p->axis = d, p->begin = weft__tensor_int(begin, d);
    cut++;
  }
  const bool is = begin && cut == 1;
  weft_tensor_destroy(begin);
  return is;
}

static const fusion slices = {.part = slice_part};

OPS(slice) = {
    {"Slice(input:T, begin:Index, size:Index) -> (output:T) | T:type Index:type{int32,int64}",
     "A box of the input: where it begins and how large it is.", .infer = slice_infer, .cpu = slice_cpu,
     .grad = slice_grad, .fusion = &slices, .cases = slice_cases, .amp = AMP_CLEAR, .narrow = NARROW_FLOAT8},
    {"StridedSlice(input:T, begin:Index, end:Index, strides:Index) -> (output:T) | T:type "
     "Index:type{int16,int32,int64} " MASKS,
     "x[begin:end:stride, ...] with new axes and single indices.", .known = weft__known_slice, .infer = strided_infer,
     .cpu = strided_cpu, .prepare = weft__strided_prepare, .unprepare = weft__free, .grad = strided_grad,
     .cases = strided_cases, .amp = AMP_CLEAR, .narrow = NARROW_FLOAT8},
    {"StridedSliceGrad(shape:Index, begin:Index, end:Index, strides:Index, dy:T) -> (output:T) | T:type "
     "Index:type{int32,int64} " MASKS,
     "Zeros, with dy where the slice was taken.", .infer = put_back_infer, .cpu = put_back_cpu,
     .prepare = weft__strided_prepare, .unprepare = weft__free, .grad = put_back_grad, .cases = put_back_cases,
     .amp = AMP_CLEAR, .narrow = NARROW_FLOAT8},
    {"TensorStridedSliceUpdate(input:T, begin:Index, end:Index, strides:Index, value:T) -> (output:T) | T:type "
     "Index:type{int32,int64} " MASKS,
     "The input with a slice of it replaced.", .infer = slice_update_infer, .cpu = update_cpu,
     .prepare = weft__strided_prepare, .unprepare = weft__free, .grad = update_grad, .cases = update_cases,
     .narrow = NARROW_FLOAT8},
    {0},
};
