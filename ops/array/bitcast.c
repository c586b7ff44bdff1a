/* bitcast.c - Bitcast: reinterprets the bytes of a tensor as elements of another type. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"

/* Computes the shape after the cast.  A narrower type adds a last axis, and a wider type removes the last axis.
 * Returns -1 if the shape does not fit. */
static int cast_shape(const shape *in, size_t from, size_t to, shape *out) {
  *out = *in;
  if (from == to) return 0;
  if (from > to) {
    if (out->rank == WEFT_MAX_RANK) return -1;
    out->dim[out->rank++] = (int64_t)(from / to);
    return 0;
  }
  if (in->rank < 1 || (in->dim[in->rank - 1] >= 0 && (size_t)in->dim[in->rank - 1] != to / from)) return -1;
  out->rank--;
  return 0;
}

static weft_err cast_infer(infer *s) {
  weft_dtype from = weft__node_type(s->node, "T"), to = weft__node_type(s->node, "type");
  if (s->in[0].rank < 0) return WEFT_OK;
  if (cast_shape(&s->in[0], weft__dtype_size(from), weft__dtype_size(to), &s->out[0]) != 0) /* fits: enums */
    return weft__infer_fail(s, "Cannot bitcast from %d to %d due to shape", (int)from, (int)to);
  return WEFT_OK;
}

static weft_err cast_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  weft_dtype to = weft__node_type(k->node, "type");
  shape out;
  if (cast_shape(&x->shape, weft__dtype_size(x->dtype), weft__dtype_size(to), &out) != 0) /* fits: enums */
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Cannot bitcast from %d to %d", (int)x->dtype, (int)to);
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return WEFT_OOM;
  const strided_copy bytes = {.rank = 1, .dim = {(int64_t)weft__tensor_bytes(y)}, .src = {1}, .dst = {1}};
  return weft__strided_copy_run(k, WEFT_UINT8, y->data, x->data, &bytes);
}

static const op_case cast_cases[] = {
    {"f32[2] 1 -2", "i32[2] 1065353216 -1073741824", "type=int32", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i32[2] 1 256", "u8[2,4] 1 0 0 0 0 1 0 0", "type=uint8", CASE_FIXED_TYPE},
    {"u8[3,4] rand", NULL, "type=float", CASE_FIXED_TYPE},
    {"f64[0] 0", "i32[0,2] 0", "type=int32", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[] 1", "error INVALID_ARGUMENT", "type=double", CASE_FIXED_TYPE},
    {"f32[3] 1", "error INVALID_ARGUMENT", "type=complex64", CASE_FIXED_TYPE},
    {0},
};

#define BITS                                                                                                           \
  "type{bfloat16,half,float,double,int64,int32,uint8,uint16,uint32,uint64,int8,int16,complex64,complex128,qint8,"      \
  "quint8,qint16,quint16,qint32}"

OPS(bitcast) = {
    {"Bitcast(input:T) -> (output:type) | T:" BITS " type:" BITS, "The same bytes as elements of another type.",
     .infer = cast_infer, .cpu = cast_cpu, .cases = cast_cases},
    {0},
};
