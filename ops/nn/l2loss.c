/* l2loss.c - L2Loss: sum(x^2) / 2, which weight decay adds to a loss. */
#include "base/alloc.h"
#include "graph/build.h"
#include "ops/math/reduce.h"
#include "kernels/simd/widen.h"

static weft_err sum_squares(kernel *k, const weft_tensor *x, weft_tensor *out) {
  const uint32_t all = (uint32_t)((1u << x->shape.rank) - 1);
  if (x->dtype == WEFT_DOUBLE) {
    WEFT_TRY(weft__reduce_axes(k, &weft__reduce_squares[WEFT_DOUBLE], x, all, out->data));
    *TENSOR_DATA(out, double) /= 2;
    return WEFT_OK;
  }
  float sum;
  WEFT_TRY(weft__reduce_axes(k, &weft__reduce_squares[WEFT_FLOAT], x, all, &sum));
  sum /= 2;
  if (out->dtype == WEFT_FLOAT)
    *TENSOR_DATA(out, float) = sum;
  else
    weft__narrow(out->data, &sum, 1, out->dtype);
  return WEFT_OK;
}

static weft_err l2loss_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  if (!weft__is_16bit(x->dtype)) return sum_squares(k, x, out);
  widened floats = {0};
  weft_err err = weft__widened_load(&floats, x);
  if (!err) err = sum_squares(k, &floats.scratch, out);
  weft__widened_finish(&floats);
  return err;
}

static weft_err l2loss_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(weft__b_mul(b->graph, b->in[0], b->dout[0]));
  return WEFT_OK;
}

static const op_case l2loss_cases[] = {
    {"f32[2,2] 1 2 3 4", "f32[] 15"},
    {"f32[] 3", "f32[] 4.5"},
    {"f32[0]", "f32[] 0"},
    {"f32[300,400] normal", NULL, NULL, CASE_FIXED_TYPE},
    {0},
};

OPS(l2loss) = {
    {"L2Loss(t:T) -> (output:T) | T:type{half,bfloat16,float,double}", "Half the sum of the squares.",
     .infer = weft__infer_scalar, .cpu = l2loss_cpu, .grad = l2loss_grad, .cases = l2loss_cases, .amp = AMP_DENY},
    {0},
};
