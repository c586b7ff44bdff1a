/* check.c - ops that fail on wrong values: Assert, CheckNumerics. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/log.h"
#include "base/text.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include <math.h>

static const char no_memory[] = "there is no memory for the message";

/* ---- Assert ---- */

static weft_err assert_infer(infer *s) { return weft__infer_rank(s, 0, 0, NULL); }

static weft_err assert_cpu(kernel *k) {
  if (k->in[0]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "In[0] should be a scalar: %s",
                             weft__shape_text(&k->in[0]->shape));
  if (TENSOR_DATA(k->in[0], bool)[0]) return WEFT_OK;
  text said = {0};
  int limit = weft__int_sat(weft__node_int(k->node, "summarize", 3));
  weft__text_puts(&said, "assertion failed:");
  for (int i = 1; i < k->n_in; i++) {
    weft__text_puts(&said, " ");
    weft__tensor_print(&said, k->in[i], limit);
  }
  weft_err err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s", said.failed ? no_memory : weft__text_get(&said));
  weft__text_finish(&said);
  return err;
}

/* ---- CheckNumerics ---- */

/* Multiplies each element by zero.  The result is zero unless the element is infinite or NaN. */
static bool all_finite(const weft_tensor *t) {
  int64_t n = weft__tensor_count(t);
  double sum = 0;
  if (t->dtype == WEFT_FLOAT)
    for (int64_t i = 0; i < n; i++) sum += TENSOR_DATA(t, float)[i] * 0.0;
  else if (t->dtype == WEFT_DOUBLE)
    for (int64_t i = 0; i < n; i++) sum += TENSOR_DATA(t, double)[i] * 0.0;
  else
    for (int64_t i = 0; i < n; i++) sum += weft__tensor_double(t, i) * 0.0;
  return !isnan(sum);
}

static weft_err numerics_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  if (all_finite(x)) return weft__forward(k, 0, 0, &x->shape);
  bool nan = false, inf = false;
  for (int64_t i = 0; i < weft__tensor_count(x); i++) {
    double v = weft__tensor_double(x, i);
    nan = nan || isnan(v);
    inf = inf || isinf(v);
  }
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s : Tensor had %s%s%s values",
                           weft__node_str(k->node, "message").data, inf ? "Inf" : "", inf && nan ? " and " : "",
                           nan ? "NaN" : "");
}

enum { SHOWN_MESSAGE = 5000 }; /* so that what follows it fits */

/* CheckNumericsV2 reports -Inf and +Inf separately. */
static weft_err signs_cpu(kernel *k) {
  static const char *const found[8] = {"",    "-Inf",         "+Inf",         "-Inf and +Inf",
                                       "NaN", "-Inf and NaN", "+Inf and NaN", "-Inf, +Inf, and NaN"};
  const weft_tensor *x = k->in[0];
  if (all_finite(x)) return weft__forward(k, 0, 0, &x->shape);
  int kinds = 0;
  for (int64_t i = 0; i < weft__tensor_count(x); i++) {
    const double v = weft__tensor_double(x, i);
    if (!isfinite(v)) kinds |= isnan(v) ? 4 : v > 0 ? 2 : 1;
  }
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%.*s : Tensor had %s values", SHOWN_MESSAGE,
                           weft__node_str(k->node, "message").data, found[kinds]);
}

static weft_err numerics_grad(backprop *b) {
  text message = {0};
  weft__text_printf(&message, "Not a number (NaN) or infinity (Inf) values detected in gradient. b'%s'",
                    weft__node_str(b->node, "message").data);
  if (message.failed) return WEFT_OOM;
  attr a = A_STR("message", weft__text_get(&message));
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, b->node->op_name, NULL, 1, b->dout, 1, &a));
  weft__text_finish(&message);
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case assert_cases[] = {
    {"bool[] true; f32[2] 1 2", "", NULL, CASE_NO_GRAD},
    {"bool[] false; f32[2,3] seq; str[1] \"ab\"", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"bool[1] true; f32[2] 1 2", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

static const op_case numerics_cases[] = {
    {"f32[2,3] rand", NULL, "message='here'", 0},
    {"f64[0] 0", "f64[0] 0", "message='here'", 0},
    {"f16[2] 1 2", "f16[2] 1 2", "message='here'", 0},
    {"f32[2] 1 nan", "error INVALID_ARGUMENT", "message='here'", 0},
    {"f64[2] 1 inf", "error INVALID_ARGUMENT", "message='here'", 0},
    {"f64[2] -inf nan", "error INVALID_ARGUMENT", "message='here'", 0},
    {0},
};

OPS(check) = {
    {"Assert(condition:bool, data:@T) -> () | T:list(type)>=1 summarize:int=3 ; stateful",
     "Fails with the data in the message unless the condition holds.", .infer = assert_infer, .cpu = assert_cpu,
     .no_grad = true, .cases = assert_cases},
    {"CheckNumerics(tensor:T) -> (output:T) | T:type{bfloat16,half,float,double} message:string ; stateful",
     "The input; fails where it holds infinities or no numbers.", .infer = weft__infer_same, .cpu = numerics_cpu,
     .grad = numerics_grad, .cases = numerics_cases, .amp = AMP_CLEAR},
    {"CheckNumericsV2(tensor:T) -> (output:T) | T:type{bfloat16,half,float,double} message:string ; stateful",
     "CheckNumerics, with the sign of infinities in the message.", .infer = weft__infer_same, .cpu = signs_cpu,
     .grad = numerics_grad, .cases = numerics_cases},
    {0},
};
