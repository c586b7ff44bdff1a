/* slice_assign.c - writes to a slice of a variable: StridedSliceAssign, ResourceStridedSliceAssign.
 *
 * The value may be smaller than the slice; it is then broadcast. */
#include "base/alloc.h"
#include "kernels/array/strided_slice.h"
#include "state/variable.h"

static weft_err assign_infer(infer *s) {
  for (int i = 1; i < 4; i++) WEFT_TRY(weft__infer_rank(s, i, 1, NULL));
  if (s->n_out) s->out[0] = s->in[0];
  return WEFT_OK;
}

/* Describes the strided copy from `t` to the slice of x, with one axis for each axis of the slice. */
static weft_err assign_box(kernel *k, const strided *s, const shape *x, const weft_tensor *t, strided_copy *copy,
                           int64_t *offset) {
  shape slice, both;
  int64_t x_steps[WEFT_MAX_RANK], steps[WEFT_MAX_RANK];
  weft__strided_shape(s, &slice);
  if (weft__shape_broadcast(&both, &slice, &t->shape) != WEFT_OK || !weft__shape_equal(&both, &slice))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Cannot broadcast input shape %s into final shape %s",
                             weft__shape_text(&t->shape), weft__shape_text(&slice));
  weft__shape_steps(x, x_steps);
  weft__shape_steps(&t->shape, steps);
  copy->rank = 0;
  *offset = 0;
  for (int d = 0; d < s->rank; d++) *offset += s->start[d] * x_steps[d];
  int lead = slice.rank - t->shape.rank;
  for (int i = 0; i < slice.rank; i++) {
    bool repeated = i < lead || t->shape.dim[i - lead] == 1;
    int from = s->from[i];
    if (slice.dim[i] == 0) *offset = 0; /* an empty slice writes nothing: keep the address inside the buffer */
    weft__strided_copy_axis(copy, slice.dim[i], repeated ? 0 : steps[i - lead],
                            from == NEW_AXIS || slice.dim[i] <= 1 ? 0 : x_steps[from] * s->step[from]);
  }
  return WEFT_OK;
}

static weft_err assign_locked(kernel *k, variable *v) {
  const weft_tensor *t = k->in[4];
  weft_tensor *x = NULL;
  strided s;
  strided_copy copy;
  int64_t offset;
  if (!v->value.buf) return weft__variable_fail_uninitialized(k, v);
  if (t->dtype != v->dtype)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Variable and value dtypes don't match; respectively, %s and %s",
                             weft__dtype_name(v->dtype), weft__dtype_name(t->dtype));
  WEFT_TRY(weft__strided_kernel(k, &s, &v->value.shape, 1));
  WEFT_TRY(assign_box(k, &s, &v->value.shape, t, &copy, &offset));
  WEFT_TRY(weft__variable_writable(v, &x));
  return weft__strided_copy_run(k, x->dtype, weft__element(x->dtype, x->data, offset), t->data, &copy);
}

static weft_err assign_cpu(kernel *k) {
  variable *v = NULL;
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  weft__variable_lock(1, &v);
  weft_err err = assign_locked(k, v);
  weft__variable_unlock(1, &v);
  if (err == WEFT_OK && k->n_out) weft__out_ref(k, 0, v);
  return err;
}

static const op_case ref_cases[] = {
    {"&f32[5] 0; i32[1] 1; i32[1] 4; i32[1] 2; f32[2] 7 8", "f32[5] 0 7 0 8 0", NULL, CASE_NO_GRAD},
    {"&f64[2,3] seq; i64[2] 0 0; i64[2] 2 1; i64[2] 1 1; f64[] 9", NULL, "shrink_axis_mask=2", CASE_NO_GRAD},
    {"&f32[2,3] seq; i32[1] 1; i32[1] 0; i32[1] -1; f32[1,3] 7 8 9", NULL, NULL, CASE_NO_GRAD},
    {"&f32[2] 0; i32[1] 0; i32[1] 2; i32[1] 1; f32[3] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"&f32[2] 0; i32[1] 5; i32[1] 6; i32[1] 1; f32[] 0", "error INVALID_ARGUMENT", "shrink_axis_mask=1", CASE_NO_GRAD},
    {0},
};

static const op_case resource_cases[] = {
    {"&f32[5] 0; i32[1] 1; i32[1] 4; i32[1] 2; f32[2] 7 8", "", NULL, CASE_NO_GRAD},
    {"&f64[2,3] seq; i64[2] 0 0; i64[2] 2 1; i64[2] 1 1; f64[2] 9 8", "", "shrink_axis_mask=2", CASE_NO_GRAD},
    {"&f32[2] 0; i32[1] 0; i32[1] 2; i32[1] 1; f32[3] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

#define MASKS "begin_mask:int=0 end_mask:int=0 ellipsis_mask:int=0 new_axis_mask:int=0 shrink_axis_mask:int=0"

OPS(slice_assign) = {
    {"StridedSliceAssign(ref:&T, begin:Index, end:Index, strides:Index, value:T) -> (output_ref:&T) | T:type "
     "Index:type{int32,int64} " MASKS,
     "Writes to a slice of a variable.", .infer = assign_infer, .cpu = assign_cpu, .prepare = weft__strided_prepare,
     .unprepare = weft__free, .cases = ref_cases, .narrow = NARROW_FLOAT8},
    {"ResourceStridedSliceAssign(ref:resource, begin:Index, end:Index, strides:Index, value:T) -> () | T:type "
     "Index:type{int32,int64} " MASKS " ; stateful",
     "Writes to a slice of a variable.", .infer = assign_infer, .cpu = assign_cpu, .prepare = weft__strided_prepare,
     .unprepare = weft__free, .cases = resource_cases, .narrow = NARROW_FLOAT8},
    {0},
};
