/* temporary.c - TemporaryVariable and DestroyTemporaryVariable: a variable that lives for one step.
 *
 * The step owns the variable and finds it by name (state/step_objects.h).  The variable starts as zeros; in
 * TensorFlow its memory is uninitialized.  DestroyTemporaryVariable returns the value, and the step frees the
 * variable. */
#include "base/alloc.h"
#include "graph/op.h"
#include "state/step_objects.h"
#include "state/variable.h"

static char *object_name(const kernel *k) {
  const attr_str name = weft__node_str(k->node, "var_name");
  return weft__sprintf("temporary variable/%s", name.size ? name.data : k->node->name);
}

static weft_err make_zeros(variable *v) {
  weft_tensor zeros = {0};
  WEFT_TRY(weft__tensor_init(&zeros, v->dtype, &v->declared));
  if (weft__dtype_is_plain(v->dtype)) memset(zeros.data, 0, weft__tensor_bytes(&zeros));
  const weft_err err = weft__variable_assign(v, &zeros);
  weft__tensor_clear(&zeros);
  return err;
}

static weft_err temporary_cpu(kernel *k) {
  const attr *shape_attr = weft__node_attr(k->node, "shape");
  variable *v = NULL, *found = NULL;
  if (!shape_attr || shape_attr->kind != ATTR_SHAPE || weft__shape_count(shape_attr->shape) < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "shape must be fully known");
  char *name = object_name(k);
  if (!name) return WEFT_OOM;
  weft_err err = weft__variable_create(&v, weft__dtype_base(k->node->out_type[0]), shape_attr->shape, k->node->name);
  if (!err) err = make_zeros(v);
  if (!err)
    err = weft__step_object_share(k, name, (resource *)v);
  else
    weft__object_release((object *)v);
  if (!err) err = weft__step_object_find(k, VARIABLE_TYPE, name, (resource **)&found);
  if (!err) weft__out_ref(k, 0, found);
  weft__free(name);
  return err ? weft__kernel_in(k, err) : WEFT_OK;
}

static weft_err destroy_cpu(kernel *k) {
  variable *v = NULL, *found = NULL;
  char *name = object_name(k);
  if (!name) return WEFT_OOM;
  weft_tensor last = {0};
  weft_err err = weft__kernel_variable(k, 0, &v);
  if (!err) err = weft__step_object_find(k, VARIABLE_TYPE, name, (resource **)&found);
  if (!err) err = weft__variable_read(v, &last);
  if (!err) err = weft__out_share(k, 0, &last);
  weft__tensor_clear(&last);
  weft__free(name);
  return err ? weft__kernel_in(k, err) : WEFT_OK;
}

OPS(temporary) = {
    {"TemporaryVariable() -> (ref:&dtype) | shape:shape dtype:type var_name:string='' ; stateful",
     "A variable of this step.", OP_NO_FOLD, .infer = weft__infer_attr_shape, .cpu = temporary_cpu,
     .narrow = NARROW_ALL},
    {"DestroyTemporaryVariable(ref:&T) -> (value:T) | T:type var_name:string",
     "The last value of a variable of this step.", OP_NO_FOLD, .infer = weft__infer_same, .cpu = destroy_cpu,
     .narrow = NARROW_ALL},
    {.scenario = "tests/parity/test_temporary.py"},
};
