/* to_bool.c - ToBool: converts a value to a truth value.  DeviceIndex: the index of the node's device type in a
 * list. */
#include "base/alloc.h"
#include "device/device.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include <string.h>

/* Returns the truth value: a scalar is true unless it is zero or empty; any other tensor is true if it has elements. */
static bool is_true(const weft_tensor *t) {
  if (t->shape.rank > 0) return weft__tensor_count(t) > 0;
  if (t->dtype == WEFT_STRING) return TENSOR_DATA(t, str)[0].size > 0;
  return weft__tensor_double(t, 0) != 0;
}

static weft_err to_bool_cpu(kernel *k) {
  static const weft_dtype types[] = {WEFT_FLOAT, WEFT_DOUBLE, WEFT_INT32, WEFT_UINT8, WEFT_INT16,
                                     WEFT_INT8,  WEFT_INT64,  WEFT_BOOL,  WEFT_STRING};
  bool known = k->in[0]->shape.rank > 0;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) known |= types[i] == k->in[0]->dtype;
  if (!known)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s cannot be converted to a boolean",
                             weft__dtype_short(k->in[0]->dtype));
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  TENSOR_DATA(out, bool)[0] = is_true(k->in[0]);
  return WEFT_OK;
}

/* Returns the index of the device's type in device_names, or their number if the type is not listed. */
static weft_err device_cpu(kernel *k) {
  const attr *names = weft__node_attr(k->node, "device_names");
  const char *type = k->device ? "GPU" : "CPU";
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  int at = 0;
  while (names && at < names->n && strcmp(names->ss[at].data, type) != 0) at++;
  TENSOR_DATA(out, int32_t)[0] = at;
  return WEFT_OK;
}

static const op_case to_bool_cases[] = {
    {"f32[] 0", "bool[] false", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[] 2", "bool[] true", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"u8[] 3", "bool[] true", NULL, CASE_FIXED_TYPE},
    {"u16[] 3", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"str[] \"\"", "bool[] false", NULL, CASE_FIXED_TYPE},
    {"str[] \"a\"", "bool[] true", NULL, CASE_FIXED_TYPE},
    {"i32[0]", "bool[] false", NULL, CASE_FIXED_TYPE},
    {"i32[1] 0", "bool[] true", NULL, CASE_FIXED_TYPE},
    {0},
};
static const op_case device_cases[] = {
    {"", "i32[] 1", "device_names=['GPU','CPU']", 0},
    {"", "i32[] 1", "device_names=['GPU']", 0},
    {0},
};

OPS(to_bool) = {
    {"ToBool(input:T) -> (output:bool) | T:type", "Is a value true, as Python's bool() says?",
     .infer = weft__infer_scalar, .cpu = to_bool_cpu, .cases = to_bool_cases, .narrow = NARROW_ALL},
    {"DeviceIndex() -> (index:int32) | device_names:list(string) ; stateful",
     "The number of the node's device in a list.", .infer = weft__infer_scalar, .cpu = device_cpu,
     .cases = device_cases},
    {0},
};
