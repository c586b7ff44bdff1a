/* sdca_shrink.c - SdcaShrinkL1: the weights of a linear model, shrunk toward zero by l1 / l2. */
#include "graph/kernel.h"
#include "graph/op.h"
#include "state/variable.h"
#include <math.h>

static weft_err shrink_locked(const kernel *k, variable *v, float by) {
  weft_tensor *t = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__variable_writable(v, &t)));
  float *w = TENSOR_DATA(t, float);
  for (int64_t i = 0, n = weft__tensor_count(t); i < n; i++) w[i] = copysignf(fmaxf(fabsf(w[i]) - by, 0), w[i]);
  return WEFT_OK;
}

static weft_err shrink_cpu(kernel *k) {
  const float l2 = (float)weft__node_float(k->node, "l2", 0), by = (float)weft__node_float(k->node, "l1", 0) / l2;
  for (int i = 0; i < k->n_in; i++) {
    variable *v = NULL;
    WEFT_TRY(weft__kernel_variable(k, i, &v));
    weft__variable_lock(1, &v);
    const weft_err err = shrink_locked(k, v, by);
    weft__variable_unlock(1, &v);
    if (err) return err;
  }
  return WEFT_OK;
}

static const op_case shrink_cases[] = {
    {"&f32[4] 1 -2 .1 5; &f32[1,2] .5 -.5", NULL, "l1=1.0 l2=2.0 num_features=2", 0},
    {"&f32[40] rand", NULL, "l1=.1 l2=.5 num_features=1", 0},
    {0},
};

OPS(sdca_shrink) = {
    {"SdcaShrinkL1(weights:&num_features*float) -> () | num_features:int>=0 l1:float l2:float",
     "Moves weights toward zero by l1 / l2.", .flags = OP_UPDATES, .infer = weft__infer_none, .cpu = shrink_cpu,
     .no_grad = true, .cases = shrink_cases},
    {0},
};
