/* optional.c - optionals: values that may be absent.  A conditional stores values for its gradient in them. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "state/optional.h"

static weft_err optional_make(kernel *k, int n) {
  optional *v = NULL;
  WEFT_TRY(weft__optional_create(&v, n));
  weft_err err = WEFT_OK;
  for (int i = 0; i < n && !err; i++) err = weft__tensor_keep(&v->t[i], k->in[i]);
  if (!err) return weft__variant_output(k, 0, &v->base);
  weft__object_release(&v->base.base);
  return err;
}

static weft_err from_value_cpu(kernel *k) { return optional_make(k, k->n_in); }
static weft_err none_cpu(kernel *k) { return optional_make(k, -1); }

static weft_err has_value_cpu(kernel *k) {
  optional *v = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__optional_get(k->in[0], &v)));
  weft_tensor *t = weft__out(k, 0, &SHAPE_SCALAR);
  if (!t) return WEFT_OOM;
  TENSOR_DATA(t, bool)[0] = v->n >= 0;
  return WEFT_OK;
}

static weft_err get_value_cpu(kernel *k) {
  optional *v = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__optional_get(k->in[0], &v)));
  if (v->n < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "The given optional does not have a value and so cannot be read");
  for (int i = 0; i < k->n_out; i++) {
    if (i >= v->n || v->t[i].dtype != k->node->out_type[i])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the optional has other components than asked for");
    WEFT_TRY(weft__out_share(k, i, &v->t[i]));
  }
  return WEFT_OK;
}

/* The gradient of an optional value is an optional with the gradients of all components. */
static weft_err from_value_grad(backprop *b) {
  weft_dtype *type = weft__alloc_zero((size_t)b->n_in + 1, sizeof *type);
  shape *dims = weft__alloc_zero((size_t)b->n_in + 1, sizeof *dims);
  if (type && dims) {
    for (int i = 0; i < b->n_in; i++) {
      type[i] = weft__out_type(b->graph, b->in[i]);
      dims[i] = *weft__out_shape(b->graph, b->in[i]);
    }
    const attr attrs[] = {A_TYPES("output_types", type, b->n_in), A_SHAPES("output_shapes", dims, b->n_in)};
    const weft_out d = weft__b_node(b->graph, "OptionalGetValue", NULL, 1, b->dout, 2, attrs);
    for (int i = 0; i < b->n_in; i++) b->din[i] = GRAD_DENSE(weft__b_slot(d, i));
  }
  const weft_err err = type && dims ? WEFT_OK : WEFT_OOM;
  weft__free(type);
  weft__free(dims);
  return err;
}

static weft_err get_value_grad(backprop *b) {
  weft_out *d = weft__alloc_zero((size_t)b->n_out + 1, sizeof *d);
  if (!d) return WEFT_OOM;
  for (int i = 0; i < b->n_out; i++) d[i] = weft__backprop_dout(b, i);
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "OptionalFromValue", NULL, b->n_out, d, 0, NULL));
  weft__free(d);
  return WEFT_OK;
}

OPS(optional) = {
    {"OptionalFromValue(components:@Toutput_types) -> (optional:variant) | Toutput_types:list(type)>=1",
     "A value that is there.", .flags = OP_NO_FOLD, .infer = weft__infer_scalar, .cpu = from_value_cpu,
     .grad = from_value_grad},
    {"OptionalNone() -> (optional:variant)", "A value that is absent.", .flags = OP_NO_FOLD,
     .infer = weft__infer_scalar, .cpu = none_cpu},
    {"OptionalHasValue(optional:variant) -> (has_value:bool)", "Is the value there?", .flags = OP_NO_FOLD,
     .infer = weft__infer_scalar, .cpu = has_value_cpu},
    {"OptionalGetValue(optional:variant) -> (components:@output_types) | output_types:list(type)>=1 "
     "output_shapes:list(shape)>=1",
     "The value, which must be there.", .flags = OP_NO_FOLD, .infer = weft__infer_output_shapes, .cpu = get_value_cpu,
     .grad = get_value_grad},
    {.scenario = "tests/parity/test_functions.py"},
};
