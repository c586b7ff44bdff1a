/* empty.c - Empty, an uninitialized tensor of a given shape, and Fact, a constant string. */
#include "base/alloc.h"
#include "graph/op.h"
#include "graph/kernel.h"

/* TensorFlow leaves the memory uninitialized unless init is set.  Here it is always zeros, so that runs are
 * repeatable. */
static weft_err empty_cpu(kernel *k) {
  shape s;
  WEFT_TRY(weft__kernel_dims(k, 0, "shape", &s));
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  if (weft__dtype_is_plain(out->dtype)) memset(out->data, 0, weft__tensor_bytes(out));
  return WEFT_OK;
}

static weft_err empty_infer(infer *s) {
  shape unused;
  WEFT_TRY(weft__infer_rank(s, 0, 1, &unused));
  return weft__infer_shape_value(s, 0, &s->out[0]);
}

static weft_err fact_cpu(kernel *k) {
  static const char fact[] = "0! == 1";
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  return out ? weft__str_set(out->data, fact, sizeof fact - 1) : WEFT_OOM;
}

static const op_case empty_cases[] = {
    {"i32[2] 2 3", "f32[2,3] 0", "dtype=float init=true", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i32[1] 2", "str[2] \"\" \"\"", "dtype=string init=true", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i32[0]", "i64[] 0", "dtype=int64 init=true", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i32[1] -2", "error INVALID_ARGUMENT", "dtype=float init=true", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {0},
};
static const op_case fact_cases[] = {{"", "str[] \"0! == 1\"", NULL, 0}, {0}};

OPS(empty) = {
    {"Empty(shape:int32) -> (output:dtype) | dtype:type init:bool=false ; stateful", "A tensor of this shape.",
     .infer = empty_infer, .cpu = empty_cpu, .cases = empty_cases},
    {"Fact() -> (fact:string)", "A fact about factorials.", .infer = weft__infer_scalar, .cpu = fact_cpu,
     .cases = fact_cases},
    {0},
};
