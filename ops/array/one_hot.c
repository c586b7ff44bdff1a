/* one_hot.c - OneHot: on_value at the position of each index and off_value elsewhere. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "kernels/array/index.h"

static weft_err hot_infer(infer *s) {
  const shape *in = &s->in[0];
  shape *out = &s->out[0];
  int64_t axis = weft__node_int(s->node, "axis", -1), depth = -1;
  const weft_tensor *d = weft__infer_value(s, 1);
  if (axis < -1) return weft__infer_fail(s, "axis must be >= -1");
  if (s->in[1].rank > 0) return weft__infer_fail(s, "Input must be scalar but has rank %d", s->in[1].rank);
  if (d) depth = weft__tensor_int(d, 0);
  if (d && depth < 0)
    return weft__infer_fail(s, "Dimension size, given by scalar input 1, must be non-negative but is %lld",
                            (long long)depth);
  if (in->rank < 0) return WEFT_OK;
  if (axis == -1) axis = in->rank;
  if (axis > in->rank || in->rank == WEFT_MAX_RANK)
    return weft__infer_fail(s, "Expected axis to be -1 or between [0, %d).  But received: %lld", in->rank + 1,
                            (long long)axis);
  out->rank = in->rank + 1;
  for (int i = 0; i < out->rank; i++) out->dim[i] = i < axis ? in->dim[i] : i == axis ? depth : in->dim[i - 1];
  return WEFT_OK;
}

static weft_err hot_shape(kernel *k, int *axis, shape *out) {
  static const char *const names[] = {"depth", "on_value", "off_value"};
  const shape *in = &k->in[0]->shape;
  int64_t at = weft__node_int(k->node, "axis", -1);
  if (at < -1 || at > in->rank || in->rank == WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected axis to be -1 or between [0, %d).  But received: %lld",
                             in->rank + 1, (long long)at);
  for (int i = 0; i < 3; i++)
    if (k->in[i + 1]->shape.rank != 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a scalar, but got: %s", names[i],
                               weft__shape_text(&k->in[i + 1]->shape));
  int64_t depth = weft__tensor_int(k->in[1], 0);
  if (depth < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "depth must be non-negative, got: %lld", (long long)depth);
  *axis = at == -1 ? in->rank : weft__int_sat(at);
  out->rank = in->rank + 1;
  for (int i = 0; i < out->rank; i++) out->dim[i] = i < *axis ? in->dim[i] : i == *axis ? depth : in->dim[i - 1];
  return WEFT_OK;
}

static weft_err hot_cpu(kernel *k) {
  const weft_tensor *t = k->in[0];
  shape out;
  int axis;
  WEFT_TRY(hot_shape(k, &axis, &out));
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  int64_t n = weft__tensor_count(y), depth = out.dim[axis];
  int64_t inner = weft__shape_product(&out, axis + 1, out.rank), count = weft__tensor_count(t);
  WEFT_TRY(weft__elements_fill(y->dtype, y->data, k->in[3]->data, n));
  for (int64_t i = 0; n > 0 && i < count; i++) { /* i runs over (outer, inner) */
    int64_t v = weft__index_at(t, i);
    if (v < 0 || v >= depth) continue;
    int64_t at = (i / inner * depth + v) * inner + i % inner;
    WEFT_TRY(weft__elements_copy(y->dtype, weft__element(y->dtype, y->data, at), k->in[2]->data, 1));
  }
  return WEFT_OK;
}

static const op_case hot_cases[] = {
    {"i64[3] 1 7 0; i32[] 3; f32[] 5; f32[] 0", "f32[3,3] 0 5 0 0 0 0 5 0 0", NULL, 0},
    {"i32[2,2] below:4; i32[] 4; f64[] 1; f64[] -1", NULL, "axis=0", 0},
    {"i32[2,3] below:4; i32[] 4; i32[] 1; i32[] 0", NULL, "axis=1", 0},
    {"u8[] 2; i32[] 3; bool[] true; bool[] false", "bool[3] false false true", NULL, 0},
    {"i32[2] 0 1; i32[] 2; str[] \"on\"; str[] \"off\"", "str[2,2] \"on\" \"off\" \"off\" \"on\"", NULL, 0},
    {"i8[2] -1 1; i32[] 0; f32[] 1; f32[] 0", "f32[2,0] 0", NULL, 0},
    {"i32[100] below:10; i32[] 10; f32[] 1; f32[] 0", NULL, NULL, 0},
    {"i32[1] 0; i32[] -1; f32[] 1; f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"i32[1] 0; i32[] 1; f32[1] 1; f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"i32[1] 0; i32[] 1; f32[] 1; f32[] 0", "error INVALID_ARGUMENT", "axis=2", 0},
    {0},
};

OPS(one_hot) = {
    {"OneHot(indices:TI, depth:int32, on_value:T, off_value:T) -> (output:T) | axis:int=-1 T:type "
     "TI:type{uint8,int8,int32,int64}=int64",
     "A new axis that is on_value at the index and off_value elsewhere.", .infer = hot_infer, .cpu = hot_cpu,
     .no_grad = true, .cases = hot_cases, .amp = AMP_CLEAR},
    {0},
};
