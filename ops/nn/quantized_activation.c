/* quantized_activation.c - activations of quantized integers: clamps them at the integers of zero and of the upper
 * bound. */
#include "base/alloc.h"
#include "kernels/work/long_work.h"
#include "ops/math/quantized.h"

static weft_err activation_infer(infer *s) {
  WEFT_TRY(weft__quantized_infer(s, 1, 1));
  s->out[0] = s->in[0];
  return WEFT_OK;
}

static weft_err relu_x_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  WEFT_TRY(weft__quantized_infer(s, 2, 1));
  s->out[0] = s->in[0];
  return WEFT_OK;
}

/* Clamps integers to [least, most]; the range is passed on. */
static weft_err activation_bound(kernel *k, const quantized *x, int64_t least, int64_t most) {
  quantized to;
  WEFT_TRY(weft__quantized_write(k, 0, x->min, x->max, &to));
  if (k->node->out_type[0] != k->in[0]->dtype) return weft__kernel_no_type(k, k->node->out_type[0]);
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  for (int64_t i = 0, n = weft__tensor_count(y); i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    int64_t v = weft__quantized_get(k->in[0], i);
    v = v < least ? least : v;
    weft__quantized_put(y, i, v > most ? most : v);
  }
  return WEFT_OK;
}

static weft_err relu_cpu(kernel *k) {
  quantized x;
  WEFT_TRY(weft__quantized_read(k, 0, 1, &x));
  return activation_bound(k, &x, weft__quantized_within(&x, 0), x.high);
}

static weft_err relu6_cpu(kernel *k) {
  quantized x;
  WEFT_TRY(weft__quantized_read(k, 0, 1, &x));
  return activation_bound(k, &x, weft__quantized_within(&x, 0), weft__quantized_within(&x, 6));
}

static const op_case relu_cases[] = {
    {"qu8[4] 0 100 200 255; f32[] -1; f32[] 1", "qu8[4] 128 128 200 255; f32[] -1; f32[] 1", NULL, CASE_NO_PARITY},
    {"qi32[2] -7 9; f32[] -1; f32[] 1", "qi32[2] 0 9; f32[] -1; f32[] 1", "out_type=qint32", CASE_NO_PARITY},
    {"qu8[0]; f32[] 0; f32[] 1", "qu8[0]; f32[] 0; f32[] 1", NULL, CASE_NO_PARITY},
    {0},
};

static const op_case relu6_cases[] = {
    {"qu8[3] 0 100 255; f32[] 0; f32[] 12.75", "qu8[3] 0 100 120; f32[] 0; f32[] 12.75", NULL, CASE_NO_PARITY},
    {0},
};

#define INTEGER "type{qint8,quint8,qint32,qint16,quint16}"
#define ACTIVATION                                                                                                     \
  "(features:Tinput, min_features:float, max_features:float) -> (activations:out_type, min_activations:float, "        \
  "max_activations:float) | Tinput:" INTEGER " out_type:" INTEGER "=quint8"

OPS(quantized_activation) = {
    {"QuantizedRelu" ACTIVATION, "Integers not below that of zero.", .infer = activation_infer, .cpu = relu_cpu,
     .cases = relu_cases},
    {"QuantizedRelu6" ACTIVATION, "Integers between those of zero and six.", .infer = activation_infer,
     .cpu = relu6_cpu, .cases = relu6_cases},
    /* TensorFlow has no kernel for it. */
    {"QuantizedReluX(features:Tinput, max_value:float, min_features:float, max_features:float) -> "
     "(activations:out_type, min_activations:float, max_activations:float) | "
     "Tinput:type{qint8,quint8,qint32,qint16,quint16} out_type:type{qint8,quint8,qint32,qint16,quint16}=quint8",
     "Integers between those of zero and a limit.", .infer = relu_x_infer},
    {.scenario = "tests/parity/test_quantize.py"},
};
