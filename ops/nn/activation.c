/* activation.c - activation functions: the relu family, softplus, softsign.
 *
 * Each is an elementwise function with an op for its gradient.  The gradient ops take the output gradient first, and
 * then the value that determines the derivative: the function's argument, or its result for relu, elu and selu. */
#include "graph/build.h"
#include "graph/fusion.h"
#include "kernels/elementwise/elementwise.h"
#include <tgmath.h>

#define SELU_SCALE 1.0507009873554804934
#define SELU_SCALE_ALPHA 1.7580993408473768599

/* ---- functions ---- */
EACH_FLOAT(UNARY, relu, x < 0 ? 0 : x)
EACH_SIGNED(UNARY, relu, x < 0 ? 0 : x)
EACH_UNSIGNED(UNARY, relu, x)
EACH_FLOAT(UNARY, relu6, x < 0 ? 0 : (x > 6 ? 6 : x))
EACH_SIGNED(UNARY, relu6, x < 0 ? 0 : (x > 6 ? 6 : x))
EACH_UNSIGNED(UNARY, relu6, x > 6 ? 6 : x)
EACH_FLOAT(UNARY, leaky_relu, x > 0 ? x : x * (T)param)
UNARY(elu, f32, float, float, x < 0 ? vexpm1f(x) : x)
UNARY_CALL(elu, f64, double, double, x < 0 ? expm1(x) : x)
UNARY(selu, f32, float, float, x < 0 ? (float)SELU_SCALE_ALPHA * vexpm1f(x) : (float)SELU_SCALE * x)
UNARY_CALL(selu, f64, double, double, x < 0 ? SELU_SCALE_ALPHA * expm1(x) : SELU_SCALE * x)
UNARY(softplus, f32, float, float, vsoftplusf(x))
UNARY_CALL(softplus, f64, double, double, (x > 0 ? x : 0) + log1p(exp(-fabs(x))))
EACH_FLOAT(UNARY, softsign, x / (1 + fabs(x)))

/* Rounds at the same steps as TF in 16 bits.  Beyond its thresholds, softplus is x or e^x. */
#define LEAKY_RELU(R) x > 0 ? x : x *R(param)
EACH_ROUNDED(UNARY, leaky_relu, LEAKY_RELU)
#define ELU(R) x < 0 ? R(vexpf(x)) - 1 : x
EACH_ROUNDED(UNARY, elu, ELU)
#define SELU(R) x < 0 ? R((float)SELU_SCALE_ALPHA) * R(R(vexpf(x)) - 1) : R((float)SELU_SCALE) * x
EACH_ROUNDED(UNARY, selu, SELU)
UNARY_CALL(softplus, f16, float, float, x > 11 ? x : log1pf(ROUND_HALF(vexpf(x))))
UNARY_CALL(softplus, b16, float, float, x > 2.84375f ? x : x < -2.84375f ? vexpf(x) : log1pf(ROUND_BFLOAT16(vexpf(x))))
#define SOFTSIGN(R) x / R(1 + fabsf(x))
EACH_ROUNDED(UNARY, softsign, SOFTSIGN)

static const elem_op relu_op = {COST_CHEAP, {ROWS_REAL(relu)}};
static const elem_op relu6_op = {COST_CHEAP, {ROWS_REAL(relu6)}};
static const elem_op leaky_relu_op = {COST_CHEAP, {ROWS_FLOAT(leaky_relu)}, ROWS_ROUNDED(leaky_relu)};
static const elem_op elu_op = {COST_VECTOR, {ROWS_FLOAT(elu)}, ROWS_ROUNDED(elu)};
static const elem_op selu_op = {COST_VECTOR, {ROWS_FLOAT(selu)}, ROWS_ROUNDED(selu)};
static const elem_op softplus_op = {COST_VECTOR, {ROWS_FLOAT(softplus)}, ROWS_ROUNDED(softplus)};
static const elem_op softsign_op = {COST_CHEAP, {ROWS_FLOAT(softsign)}, ROWS_ROUNDED(softsign)};

static weft_err leaky_relu_cpu(kernel *k) {
  const float alpha = weft__node_float(k->node, "alpha", 0.2f);
  return weft__elementwise(k, &leaky_relu_op, &alpha);
}

/* ---- gradients: x is the output gradient.  As in TensorFlow, NaN times 0 stays NaN. ---- */
EACH_REAL(BINARY, relu_grad, x *(T)(y > 0))
EACH_REAL(BINARY, relu6_grad, x *(T)((y > 0) & (y < 6)))
EACH_FLOAT(BINARY, leaky_relu_grad, y > 0 ? x : x * (T)param)
EACH_FLOAT(BINARY, elu_grad, y < 0 ? x * (y + 1) : x)
EACH_FLOAT(BINARY, selu_grad, y < 0 ? x * (y + (T)SELU_SCALE_ALPHA) : x * (T)SELU_SCALE)
BINARY(softplus_grad, f32, float, float, x *vsigmoidf(y))
BINARY_CALL(softplus_grad, f64, double, double, x / (exp(-y) + 1))
EACH_FLOAT(BINARY, softsign_grad, x / ((1 + fabs(y)) * (1 + fabs(y))))

#define LEAKY_RELU_GRAD(R) y > 0 ? x : x *R(param)
EACH_ROUNDED(BINARY, leaky_relu_grad, LEAKY_RELU_GRAD)
#define ELU_GRAD(R) y < 0 ? x *R(y + 1) : x
EACH_ROUNDED(BINARY, elu_grad, ELU_GRAD)
#define SELU_GRAD(R) y < 0 ? x *R(y + R((float)SELU_SCALE_ALPHA)) : x *R((float)SELU_SCALE)
EACH_ROUNDED(BINARY, selu_grad, SELU_GRAD)
#define SOFTPLUS_GRAD(R) x / R(R(vexpf(-y)) + 1)
EACH_ROUNDED(BINARY, softplus_grad, SOFTPLUS_GRAD)
#define SOFTSIGN_GRAD(R) x / R(R(1 + fabsf(y)) * R(1 + fabsf(y)))
EACH_ROUNDED(BINARY, softsign_grad, SOFTSIGN_GRAD)

static const elem_op relu_grad_op = {COST_CHEAP, {ROWS_REAL(relu_grad)}};
static const elem_op relu6_grad_op = {COST_CHEAP, {ROWS_REAL(relu6_grad)}};
static const elem_op leaky_relu_grad_op = {COST_CHEAP, {ROWS_FLOAT(leaky_relu_grad)}, ROWS_ROUNDED(leaky_relu_grad)};
static const elem_op elu_grad_op = {COST_CHEAP, {ROWS_FLOAT(elu_grad)}, ROWS_ROUNDED(elu_grad)};
static const elem_op selu_grad_op = {COST_CHEAP, {ROWS_FLOAT(selu_grad)}, ROWS_ROUNDED(selu_grad)};
static const elem_op softplus_grad_op = {COST_VECTOR, {ROWS_FLOAT(softplus_grad)}, ROWS_ROUNDED(softplus_grad)};
static const elem_op softsign_grad_op = {COST_CHEAP, {ROWS_FLOAT(softsign_grad)}, ROWS_ROUNDED(softsign_grad)};

static weft_err activation_pairwise(kernel *k, const elem_op *e, const void *arg) {
  if (!weft__shape_equal(&k->in[0]->shape, &k->in[1]->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Inputs to operation %s of type %s must have the same size and shape.  Input 0: %s != "
                             "input 1: %s",
                             k->node->name, k->node->op_name, weft__shape_text(&k->in[0]->shape),
                             weft__shape_text(&k->in[1]->shape));
  return weft__elementwise(k, e, arg);
}

static weft_err relu_grad_cpu(kernel *k) { return activation_pairwise(k, &relu_grad_op, NULL); }
static weft_err relu6_grad_cpu(kernel *k) { return activation_pairwise(k, &relu6_grad_op, NULL); }
static weft_err elu_grad_cpu(kernel *k) { return activation_pairwise(k, &elu_grad_op, NULL); }
static weft_err selu_grad_cpu(kernel *k) { return activation_pairwise(k, &selu_grad_op, NULL); }
static weft_err softplus_grad_cpu(kernel *k) { return activation_pairwise(k, &softplus_grad_op, NULL); }
static weft_err softsign_grad_cpu(kernel *k) { return activation_pairwise(k, &softsign_grad_op, NULL); }

static weft_err leaky_relu_grad_cpu(kernel *k) {
  const float alpha = weft__node_float(k->node, "alpha", 0.2f);
  return activation_pairwise(k, &leaky_relu_grad_op, &alpha);
}

/* ---- derivatives as graphs ---- */
#define G b->graph
#define DY b->dout[0]

static weft_err activation_set_dx(backprop *b, weft_out dx) {
  b->din[0] = GRAD_DENSE(dx);
  return WEFT_OK;
}

static weft_err relu_back(backprop *b) { return activation_set_dx(b, weft__b_binary(G, "ReluGrad", DY, b->out[0])); }
static weft_err relu6_back(backprop *b) { return activation_set_dx(b, weft__b_binary(G, "Relu6Grad", DY, b->out[0])); }
static weft_err elu_back(backprop *b) { return activation_set_dx(b, weft__b_binary(G, "EluGrad", DY, b->out[0])); }
static weft_err selu_back(backprop *b) { return activation_set_dx(b, weft__b_binary(G, "SeluGrad", DY, b->out[0])); }
static weft_err softsign_back(backprop *b) {
  return activation_set_dx(b, weft__b_binary(G, "SoftsignGrad", DY, b->in[0]));
}

static weft_err softplus_back(backprop *b) {
  return activation_set_dx(b, weft__b_mul(G, DY, weft__b_unary(G, "Sigmoid", b->in[0])));
}

static weft_out leaky_slope(backprop *b, weft_out x) {
  const attr alpha = A_FLOAT("alpha", weft__node_float(b->node, "alpha", 0.2f));
  return weft__b_node(G, "LeakyReluGrad", NULL, 2, (weft_out[]){DY, x}, 1, &alpha);
}

static weft_err leaky_relu_back(backprop *b) { return activation_set_dx(b, leaky_slope(b, b->in[0])); }

/* Second derivative of piecewise linear functions: dy gets the gradient op again; the input that selects the piece
 * gets none. */
static weft_err linear_grad_back(backprop *b, weft_out towards_dy) {
  b->din[0] = GRAD_DENSE(towards_dy);
  b->din[1] = GRAD_DENSE(weft__b_zeros_like(G, b->in[1]));
  return WEFT_OK;
}

static weft_err relu_grad_back(backprop *b) { return linear_grad_back(b, weft__b_binary(G, "ReluGrad", DY, b->in[1])); }
static weft_err relu6_grad_back(backprop *b) {
  return linear_grad_back(b, weft__b_binary(G, "Relu6Grad", DY, b->in[1]));
}
static weft_err leaky_relu_grad_back(backprop *b) { return linear_grad_back(b, leaky_slope(b, b->in[1])); }

/* Where the result is negative, the derivative depends on the result: its gradient is dy * dz there, and 0
 * elsewhere. */
static weft_err curved_grad_back(backprop *b, const char *itself) {
  const weft_out y = b->in[1], below = weft__b_binary(G, "Less", y, weft__b_scalar_like(G, y, 0));
  b->din[0] = GRAD_DENSE(weft__b_binary(G, itself, DY, y));
  b->din[1] = GRAD_DENSE(weft__b_select(G, below, weft__b_mul(G, DY, b->in[0]), weft__b_zeros_like(G, y)));
  return WEFT_OK;
}

static weft_err elu_grad_back(backprop *b) { return curved_grad_back(b, "EluGrad"); }
static weft_err selu_grad_back(backprop *b) { return curved_grad_back(b, "SeluGrad"); }

static weft_err softplus_grad_back(backprop *b) { /* d2x = dz dy / (e^-x + 2 + e^x) */
  const weft_out x = b->in[1], up = weft__b_unary(G, "Exp", x), down = weft__b_unary(G, "Exp", weft__b_neg(G, x));
  const weft_out bell = weft__b_add(G, weft__b_add(G, down, weft__b_scalar_like(G, x, 2)), up);
  b->din[0] = GRAD_DENSE(weft__b_binary(G, "SoftplusGrad", DY, x));
  b->din[1] = GRAD_DENSE(weft__b_div(G, weft__b_mul(G, DY, b->in[0]), bell));
  return WEFT_OK;
}

/* ---- cases ---- */
static const op_case function_cases[] = {
    {"f32[6] -2 -0.5 0.5 1 3 7"},
    {"f32[] 0.5"},
    {"f32[0,2]", "f32[0,2]"},
    {"f32[3,4] normal"},
    {"f32[70,90] normal", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[3] inf -inf nan", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3] 0 -100 100", NULL, NULL, CASE_NO_GRAD},
    {0},
};

static const op_case leaky_cases[] = {
    {"f32[4] -2 -0.5 0.5 1", "f32[4] -0.4 -0.1 0.5 1"},
    {"f32[] -2", "f32[] -0.2", "alpha=0.1"},
    {"f32[0,2]", "f32[0,2]"},
    {"f32[70,90] normal", NULL, "alpha=1.5"},
    {0},
};

static const op_case gradient_cases[] = {
    {"f32[5] 1 2 3 4 5; f32[5] -0.5 0.5 1 3 7"},
    {"f32[] 2; f32[] 0.5"},
    {"f32[0,2]; f32[0,2]", "f32[0,2]"},
    {"f32[70,90] normal; f32[70,90] normal"},
    {"f32[2] 1 2; f32[3] 1 2 3", "error INVALID_ARGUMENT"},
    {0},
};

#define FUNCTION(def_, doc_, cpu_, back_, ...)                                                                         \
  { def_, doc_, OP_INPLACE, weft__infer_same, cpu_, .grad = back_, .cases = __VA_ARGS__ }
#define GRADIENT(def_, doc_, cpu_, ...)                                                                                \
  { def_, doc_, OP_INPLACE, weft__infer_merge_all, cpu_, .cases = gradient_cases, .grad = __VA_ARGS__ }
#define FLOATS "T:type{half,bfloat16,float,double}"

static const fusion masks = {.masks = true};

OPS(activation) = {
    FUNCTION("Relu(features:T) -> (activations:T) | "
             "T:type{float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64,qint8}",
             "max(x, 0).", ELEM(relu_op), relu_back, function_cases, .amp = AMP_CLEAR),
    {"ReluGrad(gradients:T, features:T) -> (backprops:T) | T:type{real}", "dy where x > 0.", OP_INPLACE,
     weft__infer_merge_all, relu_grad_cpu, .grad = relu_grad_back, .fusion = &masks, .cases = gradient_cases,
     .amp = AMP_CLEAR},
    FUNCTION("Relu6(features:T) -> (activations:T) | T:type{real}", "min(max(x, 0), 6).", ELEM(relu6_op), relu6_back,
             function_cases, .amp = AMP_CLEAR),
    GRADIENT("Relu6Grad(gradients:T, features:T) -> (backprops:T) | T:type{real}", "dy where 0 < x < 6.",
             relu6_grad_cpu, relu6_grad_back, .amp = AMP_CLEAR),
    FUNCTION("LeakyRelu(features:T) -> (activations:T) | alpha:float=0.200000003 " FLOATS "=float",
             "x where positive, else alpha x.", leaky_relu_cpu, leaky_relu_back, leaky_cases, .amp = AMP_INFER),
    GRADIENT("LeakyReluGrad(gradients:T, features:T) -> (backprops:T) | alpha:float=0.200000003 " FLOATS "=float",
             "dy where x is positive, else alpha dy.", leaky_relu_grad_cpu, leaky_relu_grad_back, .amp = AMP_INFER),
    FUNCTION("Elu(features:T) -> (activations:T) | " FLOATS, "x where positive, else e^x - 1.", ELEM(elu_op), elu_back,
             function_cases, .amp = AMP_INFER),
    GRADIENT("EluGrad(gradients:T, outputs:T) -> (backprops:T) | " FLOATS, "The gradient of Elu from its result.",
             elu_grad_cpu, elu_grad_back, .amp = AMP_INFER),
    FUNCTION("Selu(features:T) -> (activations:T) | " FLOATS, "Elu, scaled so that networks normalize themselves.",
             ELEM(selu_op), selu_back, function_cases, .amp = AMP_INFER),
    GRADIENT("SeluGrad(gradients:T, outputs:T) -> (backprops:T) | " FLOATS, "The gradient of Selu from its result.",
             selu_grad_cpu, selu_grad_back, .amp = AMP_INFER),
    FUNCTION("Softplus(features:T) -> (activations:T) | " FLOATS, "log(1 + e^x).", ELEM(softplus_op), softplus_back,
             function_cases, .amp = AMP_INFER),
    GRADIENT("SoftplusGrad(gradients:T, features:T) -> (backprops:T) | " FLOATS, "dy sigmoid(x).", softplus_grad_cpu,
             softplus_grad_back, .amp = AMP_INFER),
    FUNCTION("Softsign(features:T) -> (activations:T) | " FLOATS, "x / (1 + |x|).", ELEM(softsign_op), softsign_back,
             function_cases, .amp = AMP_INFER),
    GRADIENT("SoftsignGrad(gradients:T, features:T) -> (backprops:T) | " FLOATS, "dy / (1 + |x|)^2.", softsign_grad_cpu,
             NULL, .amp = AMP_INFER),
    {0},
};
