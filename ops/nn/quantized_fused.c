/* quantized_fused.c - convolutions and products of quantized integers with a bias, a sum, a relu or a requantization.
 *
 * TensorFlow computes them only where oneDNN for x86 replaces them by nodes of its own.  Elsewhere its kernels write no
 * output, and a run fails with INTERNAL.  Weft has the definitions and the shapes, and the same error. */
#include "kernels/conv/window.h"
#include "ops/nn/conv.h"
#include "ops/math/quantized.h"
#include <string.h>

static bool op_has(const infer *s, const char *part) { return strstr(s->node->op_name, part) != NULL; }

static weft_err rank_is(infer *s, int i, int rank) {
  shape unused;
  return weft__infer_rank(s, i, rank, &unused);
}

/* The ranges of the inputs, from input `at` on: scalars, but the filter's may be a vector with one per channel. */
static weft_err fused_ranges(infer *s, int at) {
  const bool frozen = op_has(s, "Requantize"), whole = op_has(s, "QuantizedConv2DAndRequantize");
  for (int i = at; i < at + 2; i++) WEFT_TRY(rank_is(s, i, 0));
  for (int i = at + 2; i < at + 4; i++) {
    if (whole) WEFT_TRY(rank_is(s, i, 0));
    if (s->in[i].rank > 1) return weft__infer_fail(s, "Shape must be at most rank 1 but is rank %d", s->in[i].rank);
  }
  for (int i = at + 4; frozen && i < at + 6; i++) WEFT_TRY(rank_is(s, i, 0));
  s->out[1] = frozen ? SHAPE_SCALAR : s->in[at + 2];
  s->out[2] = frozen ? SHAPE_SCALAR : s->in[at + 3];
  return WEFT_OK;
}

/* The output of a convolution whose padding is a list: before and after each dimension. */
static weft_err listed_infer(infer *s, const attr *list) {
  window w;
  shape x, f;
  WEFT_TRY(weft__window_infer(&w, s));
  WEFT_TRY(weft__infer_rank(s, 0, 4, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 4, &f));
  if (list->n != 8) return weft__infer_fail(s, "padding_list attribute must contain 8 values, but got: %d", list->n);
  for (int i = 0; i < 2; i++) {
    w.at[i].in = x.dim[w.axis[i]];
    w.at[i].size = f.dim[i];
    w.at[i].before = list->is[2 * w.axis[i]], w.at[i].after = list->is[2 * w.axis[i] + 1];
    WEFT_TRY(weft__window_infer_place(&w.at[i], PAD_EXPLICIT, s));
  }
  s->out[0] = weft__image_shape(&w, x.dim[0], w.at[0].out, w.at[1].out, f.dim[3]);
  return WEFT_OK;
}

static weft_err fused_conv_infer(infer *s) {
  const bool biased = op_has(s, "WithBias");
  const attr *list = weft__node_attr(s->node, "padding_list");
  WEFT_TRY(list && list->n ? listed_infer(s, list) : weft__conv2d_infer(s));
  if (biased) WEFT_TRY(rank_is(s, 2, 1));
  return fused_ranges(s, biased ? 3 : 2);
}

static weft_err fused_depthwise_infer(infer *s) {
  WEFT_TRY(weft__depthwise_infer(s));
  s->out[1] = s->out[2] = SHAPE_UNKNOWN;
  return WEFT_OK;
}

static weft_err fused_matmul_infer(infer *s) {
  WEFT_TRY(weft__quantized_matmul_infer(s));
  WEFT_TRY(rank_is(s, 2, 1));
  for (int i = 3; i < s->n_in; i++) WEFT_TRY(rank_is(s, i, 0));
  for (int i = 1; i < s->n_out; i++) s->out[i] = SHAPE_SCALAR;
  return WEFT_OK;
}

static weft_err fused_cpu(kernel *k) {
  return weft__kernel_fail(k, WEFT_INTERNAL,
                           "Missing 0-th output from {{node %s}}: %s runs only in TensorFlow with oneDNN on x86; use "
                           "QuantizedConv2D or QuantizedMatMul, Requantize and the ops of floats",
                           k->node->name, k->node->op_name);
}

/* ---- cases ---- */
#define CONV_ATTR "strides=[1,1,1,1] padding='SAME'"
#define IMAGE "qu8[1,2,2,1] 1 2 3 4; qi8[1,1,1,1] 1; "
#define BIAS "f32[1] 1; "
#define RANGES "f32[] 0; f32[] 255; f32[] 0; f32[] 255"
#define FROZEN "; f32[] 0; f32[] 9"
#define MATRICES "qu8[1,2] 1 2; qi8[2,1] 1 2; "
#define FLAGS CASE_NO_PARITY | CASE_NO_GRAD | CASE_FIXED_TYPE
#define CASE(name_, in_, attr_) static const op_case name_##_cases[] = {{in_, "error INTERNAL", attr_, FLAGS}, {0}}
CASE(plain, IMAGE RANGES, CONV_ATTR);
CASE(frozen, IMAGE RANGES FROZEN, CONV_ATTR);
CASE(bias, IMAGE BIAS RANGES, CONV_ATTR);
CASE(bias_frozen, IMAGE BIAS RANGES FROZEN, CONV_ATTR);
CASE(sum, IMAGE BIAS RANGES "; f32[1,2,2,1] 1", CONV_ATTR);
CASE(sum_frozen, IMAGE BIAS RANGES FROZEN "; qu8[1,2,2,1] 1; f32[] 0; f32[] 9", CONV_ATTR);
CASE(product, MATRICES BIAS RANGES, NULL);
CASE(product_frozen, MATRICES BIAS RANGES FROZEN, NULL);
CASE(product_float, MATRICES BIAS RANGES FROZEN, "Toutput=float");

/* ---- definitions ---- */
#define INTEGER "type{qint8,quint8,qint32,qint16,quint16}"
#define BIAS_TYPE " Tbias:type{float,qint32}"
#define CONV_RANGES "min_input:float, max_input:float, min_filter:float, max_filter:float"
#define CONV_FROZEN ", min_freezed_output:float, max_freezed_output:float"
#define SUMMAND ", summand:Tsummand, min_summand:float, max_summand:float"
#define CONV_OUT ") -> (output:out_type, min_output:float, max_output:float) | Tinput:" INTEGER " Tfilter:" INTEGER
#define CONV_END(type_)                                                                                                \
  " out_type:" INTEGER "=" type_ " strides:list(int) padding:string{'SAME','VALID'} dilations:list(int)=[1,1,1,1]"
#define LISTED " padding_list:list(int)=[]"
#define IN "(input:Tinput, filter:Tfilter, "
#define MATMUL_RANGES "min_a:float, max_a:float, min_b:float, max_b:float"
#define MATMUL_OUT ") -> (out:Toutput, min_out:float, max_out:float) | T1:" INTEGER " T2:" INTEGER
#define MATMUL_END                                                                                                     \
  " transpose_a:bool=false transpose_b:bool=false input_quant_mode:string{'MIN_FIRST','SCALED'}='MIN_FIRST'"
#define RUNS(infer_, cases_) .infer = (infer_), .cpu = fused_cpu, .cases = (cases_)
#define CONV(cases_) RUNS(fused_conv_infer, cases_)
#define DEPTHWISE(cases_) RUNS(fused_depthwise_infer, cases_)
#define MATMUL(cases_) RUNS(fused_matmul_infer, cases_)

OPS(quantized_fused) = {
    {"QuantizedConv2DAndRelu" IN CONV_RANGES CONV_OUT CONV_END("qint32") LISTED, "A quantized convolution and Relu.",
     CONV(plain_cases)},
    {"QuantizedConv2DAndReluAndRequantize" IN CONV_RANGES CONV_FROZEN CONV_OUT CONV_END("quint8") LISTED,
     "A quantized convolution, Relu and Requantize.", CONV(frozen_cases)},
    {"QuantizedConv2DAndRequantize" IN CONV_RANGES CONV_FROZEN CONV_OUT CONV_END("qint8") LISTED,
     "A quantized convolution and Requantize.", CONV(frozen_cases)},
    {"QuantizedConv2DPerChannel" IN CONV_RANGES CONV_OUT CONV_END("qint32"),
     "A quantized convolution whose filter has a range per channel.", CONV(plain_cases)},
    {"QuantizedConv2DWithBias" IN "bias:float, " CONV_RANGES CONV_OUT CONV_END("qint32") LISTED,
     "A quantized convolution and BiasAdd.", CONV(bias_cases)},
    {"QuantizedConv2DWithBiasAndRelu" IN "bias:float, " CONV_RANGES CONV_OUT CONV_END("qint32") LISTED,
     "A quantized convolution, BiasAdd and Relu.", CONV(bias_cases)},
    {"QuantizedConv2DWithBiasAndReluAndRequantize" IN
     "bias:Tbias, " CONV_RANGES CONV_FROZEN CONV_OUT BIAS_TYPE CONV_END("quint8") LISTED,
     "A quantized convolution, BiasAdd, Relu and Requantize.", CONV(bias_frozen_cases)},
    {"QuantizedConv2DWithBiasAndRequantize" IN
     "bias:Tbias, " CONV_RANGES CONV_FROZEN CONV_OUT BIAS_TYPE CONV_END("qint8") LISTED,
     "A quantized convolution, BiasAdd and Requantize.", CONV(bias_frozen_cases)},
    {"QuantizedConv2DWithBiasSignedSumAndReluAndRequantize" IN
     "bias:Tbias, " CONV_RANGES CONV_FROZEN SUMMAND CONV_OUT BIAS_TYPE " Tsummand:" INTEGER CONV_END("quint8") LISTED,
     "A quantized convolution, BiasAdd, a sum with signed numbers, Relu and Requantize.", CONV(sum_frozen_cases)},
    {"QuantizedConv2DWithBiasSumAndRelu" IN "bias:float, " CONV_RANGES ", summand:float" CONV_OUT CONV_END("qint32")
         LISTED,
     "A quantized convolution, BiasAdd, a sum and Relu.", CONV(sum_cases)},
    {"QuantizedConv2DWithBiasSumAndReluAndRequantize" IN
     "bias:Tbias, " CONV_RANGES CONV_FROZEN SUMMAND CONV_OUT BIAS_TYPE " Tsummand:" INTEGER CONV_END("quint8") LISTED,
     "A quantized convolution, BiasAdd, a sum, Relu and Requantize.", CONV(sum_frozen_cases)},
    {"QuantizedDepthwiseConv2D" IN CONV_RANGES CONV_OUT CONV_END("qint32"), "A quantized depthwise convolution.",
     DEPTHWISE(plain_cases)},
    {"QuantizedDepthwiseConv2DWithBias" IN "bias:float, " CONV_RANGES CONV_OUT CONV_END("qint32"),
     "A quantized depthwise convolution and BiasAdd.", DEPTHWISE(bias_cases)},
    {"QuantizedDepthwiseConv2DWithBiasAndRelu" IN "bias:float, " CONV_RANGES CONV_OUT CONV_END("qint32") LISTED,
     "A quantized depthwise convolution, BiasAdd and Relu.", DEPTHWISE(bias_cases)},
    {"QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize" IN
     "bias:Tbias, " CONV_RANGES CONV_FROZEN CONV_OUT BIAS_TYPE CONV_END("quint8") LISTED,
     "A quantized depthwise convolution, BiasAdd, Relu and Requantize.", DEPTHWISE(bias_frozen_cases)},
    {"QuantizedMatMulWithBias(a:T1, b:T2, bias:Tbias, " MATMUL_RANGES MATMUL_OUT BIAS_TYPE " Toutput:" INTEGER
     "=qint32" MATMUL_END,
     "A quantized product and BiasAdd.", MATMUL(product_cases)},
    {"QuantizedMatMulWithBiasAndDequantize(a:T1, b:T2, bias:Tbias, " MATMUL_RANGES CONV_FROZEN
     ") -> (out:Toutput) | T1:" INTEGER " T2:" INTEGER BIAS_TYPE " Toutput:type{float}" MATMUL_END,
     "A quantized product and BiasAdd, as floats.", MATMUL(product_float_cases)},
    {"QuantizedMatMulWithBiasAndRelu(a:T1, b:T2, bias:float, " MATMUL_RANGES MATMUL_OUT " Toutput:" INTEGER
     "=qint32" MATMUL_END,
     "A quantized product, BiasAdd and Relu.", MATMUL(product_cases)},
    {"QuantizedMatMulWithBiasAndReluAndRequantize(a:T1, b:T2, bias:Tbias, " MATMUL_RANGES CONV_FROZEN MATMUL_OUT
         BIAS_TYPE " Toutput:" INTEGER "=quint8" MATMUL_END,
     "A quantized product, BiasAdd, Relu and Requantize.", MATMUL(product_frozen_cases)},
    {"QuantizedMatMulWithBiasAndRequantize(a:T1, b:T2, bias:Tbias, " MATMUL_RANGES CONV_FROZEN MATMUL_OUT BIAS_TYPE
     " Toutput:" INTEGER "=quint8" MATMUL_END,
     "A quantized product, BiasAdd and Requantize.", MATMUL(product_frozen_cases)},
    {.scenario = "tests/parity/test_no_kernel.py"},
};
