/* unary_grad.c - the gradients for which TensorFlow has separate ops.
 *
 * Each takes the result y and the gradient dy and returns dx, so only y must be kept from the forward pass.  The
 * operands have the same shape and do not broadcast.  Complex gradients use the conjugate of y where TensorFlow
 * does. */
#include "graph/build.h"
#include "kernels/elementwise/elementwise.h"
#include <tgmath.h>

EACH_FLOAT(BINARY, tanh_grad, y *(1 - x * x))
EACH_COMPLEX(BINARY, tanh_grad, y *(1 - x * x))
EACH_FLOAT(BINARY, sigmoid_grad, y *x *(1 - x))
EACH_COMPLEX(BINARY, sigmoid_grad, y *x *(1 - x))
EACH_FLOAT(BINARY, reciprocal_grad, -y *x *x)
EACH_COMPLEX(BINARY_CALL, reciprocal_grad, -y *conj(x) * conj(x))
EACH_FLOAT(BINARY, sqrt_grad, y == 0 ? 0 : y * (T)0.5 / x)
EACH_COMPLEX(BINARY_CALL, sqrt_grad, y == 0 ? 0 : y / 2 / conj(x))
EACH_FLOAT(BINARY, rsqrt_grad, (T)-0.5 * y * x * x * x)
EACH_COMPLEX(BINARY_CALL, rsqrt_grad, -y / 2 * conj(x) * conj(x) * conj(x))

/* Rounds at the same steps as TF in 16 bits.  TF's vector code multiplies in another order in Sigmoid's gradient, and
 * by an inverse in Sqrt's; on x86_64 it has vectors of half and bfloat16, elsewhere of bfloat16 only. */
#define TANH_GRAD(R) y *R(1 - R(x * x))
EACH_ROUNDED(BINARY, tanh_grad, TANH_GRAD)
#if defined(__x86_64__)
BINARY(sigmoid_grad, f16, float, float, y *ROUND_HALF(x *ROUND_HALF(1 - x)))
BINARY(sqrt_grad, f16, float, float, y == 0 ? 0 : y * ROUND_HALF(0.5f / x))
#else
BINARY(sigmoid_grad, f16, float, float, ROUND_HALF(y *x) * ROUND_HALF(1 - x))
BINARY(sqrt_grad, f16, float, float, y == 0 ? 0 : ROUND_HALF(y * 0.5f) / x)
#endif
BINARY(sigmoid_grad, b16, float, float, y *ROUND_BFLOAT16(x *ROUND_BFLOAT16(1 - x)))
#define RECIPROCAL_GRAD(R) -y *R(x *x)
EACH_ROUNDED(BINARY, reciprocal_grad, RECIPROCAL_GRAD)
BINARY(sqrt_grad, b16, float, float, y == 0 ? 0 : y * 0.5f * ROUND_BFLOAT16(1 / x))
#define RSQRT_GRAD(R) R(-0.5f * R(y * x)) * R(x *x)
EACH_ROUNDED(BINARY, rsqrt_grad, RSQRT_GRAD)

static const elem_op tanh_op = {COST_CHEAP, {ROWS_FLOAT(tanh_grad), ROWS_COMPLEX(tanh_grad)}, ROWS_ROUNDED(tanh_grad)};
static const elem_op sigmoid_op = {
    COST_CHEAP, {ROWS_FLOAT(sigmoid_grad), ROWS_COMPLEX(sigmoid_grad)}, ROWS_ROUNDED(sigmoid_grad)};
static const elem_op reciprocal_op = {
    COST_CHEAP, {ROWS_FLOAT(reciprocal_grad), ROWS_COMPLEX(reciprocal_grad)}, ROWS_ROUNDED(reciprocal_grad)};
static const elem_op sqrt_op = {COST_CHEAP, {ROWS_FLOAT(sqrt_grad), ROWS_COMPLEX(sqrt_grad)}, ROWS_ROUNDED(sqrt_grad)};
static const elem_op rsqrt_op = {
    COST_CHEAP, {ROWS_FLOAT(rsqrt_grad), ROWS_COMPLEX(rsqrt_grad)}, ROWS_ROUNDED(rsqrt_grad)};

/* Pairs the elements in order: dy may have another shape than y, as in TensorFlow. */
static weft_err unary_grad_pairwise(kernel *k, const elem_op *e) {
  const int64_t nx = weft__tensor_count(k->in[0]), ny = weft__tensor_count(k->in[1]);
  if (nx != ny)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "The two arguments to a cwise op must have same number of elements, got %lld and %lld",
                             (long long)nx, (long long)ny);
  if (weft__shape_equal(&k->in[0]->shape, &k->in[1]->shape)) return weft__elementwise(k, e, NULL);
  const weft_tensor *dy = k->in[1];
  weft_tensor as_y = *dy;
  as_y.shape = k->in[0]->shape;
  k->in[1] = &as_y;
  const weft_err err = weft__elementwise(k, e, NULL);
  k->in[1] = dy;
  return err;
}

static weft_err tanh_cpu(kernel *k) { return unary_grad_pairwise(k, &tanh_op); }
static weft_err sigmoid_cpu(kernel *k) { return unary_grad_pairwise(k, &sigmoid_op); }
static weft_err reciprocal_cpu(kernel *k) { return unary_grad_pairwise(k, &reciprocal_op); }
static weft_err sqrt_cpu(kernel *k) { return unary_grad_pairwise(k, &sqrt_op); }
static weft_err rsqrt_cpu(kernel *k) { return unary_grad_pairwise(k, &rsqrt_op); }

/* ---- second derivatives: by y and by dy ---- */
#define G b->graph
#define DZ b->dout[0]

static weft_err unary_grad_set_dx(backprop *b, weft_out dy, weft_out ddy) {
  b->din[0] = GRAD_DENSE(dy);
  b->din[1] = GRAD_DENSE(ddy);
  return WEFT_OK;
}

static weft_out unary_grad_times(weft_graph *g, double c, weft_out x) {
  return weft__b_mul(g, weft__b_scalar_like(g, x, c), x);
}

static weft_err tanh_grad_grad(backprop *b) {
  const weft_out y = weft__b_conj(G, b->in[0]), dy = weft__b_conj(G, b->in[1]);
  const weft_out towards_y = weft__b_mul(G, weft__b_mul(G, unary_grad_times(G, -2, DZ), dy), y);
  return unary_grad_set_dx(b, towards_y, weft__b_binary(G, "TanhGrad", y, DZ));
}

static weft_err sigmoid_grad_grad(backprop *b) {
  const weft_out y = weft__b_conj(G, b->in[0]), dy = weft__b_conj(G, b->in[1]);
  const weft_out p = weft__b_mul(G, DZ, dy);
  const weft_out towards_y = weft__b_sub(G, p, weft__b_mul(G, unary_grad_times(G, 2, p), y));
  return unary_grad_set_dx(b, towards_y, weft__b_binary(G, "SigmoidGrad", y, DZ));
}

static weft_err inverse_grad_grad(backprop *b, const char *itself) {
  const weft_out y = weft__b_conj(G, b->in[0]), dz = weft__b_conj(G, DZ);
  const weft_out towards_y = weft__b_mul(G, weft__b_mul(G, unary_grad_times(G, -2, dz), b->in[1]), y);
  return unary_grad_set_dx(b, towards_y, weft__b_binary(G, itself, y, DZ));
}

static weft_err reciprocal_grad_grad(backprop *b) { return inverse_grad_grad(b, "ReciprocalGrad"); }
static weft_err inv_grad_grad(backprop *b) { return inverse_grad_grad(b, "InvGrad"); }

static weft_err sqrt_grad_grad(backprop *b) {
  const weft_out q = weft__b_div(G, DZ, b->in[0]);
  const weft_out towards_y = weft__b_mul(G, weft__b_neg(G, weft__b_conj(G, q)), b->out[0]);
  return unary_grad_set_dx(b, towards_y, unary_grad_times(G, 0.5, q));
}

static weft_err rsqrt_grad_grad(backprop *b) {
  const weft_out y = weft__b_conj(G, b->in[0]), dz = weft__b_conj(G, DZ);
  const weft_out towards_y =
      weft__b_mul(G, weft__b_mul(G, unary_grad_times(G, -1.5, dz), b->in[1]), weft__b_unary(G, "Square", y));
  return unary_grad_set_dx(b, towards_y, weft__b_binary(G, "RsqrtGrad", y, DZ));
}

static const op_case pair_cases[] = {
    {"f32[3] 0.1 0.5 0.9; f32[3] 1 2 -1"},
    {"f32[] 0.5; f32[] 2"},
    {"f32[0,2]; f32[0,2]", "f32[0,2]"},
    {"f32[70,90] unit; f32[70,90] normal"},
    {"f32[2] 1 2; f32[3] 1 2 3", "error INVALID_ARGUMENT"},
    {0},
};

#define ROW(name_, doc_, cpu_, ...)                                                                                    \
  {                                                                                                                    \
    name_ "(y:T, dy:T) -> (z:T) | T:type{bfloat16,half,float,double,complex64,complex128}", doc_, OP_INPLACE,          \
        weft__infer_same, cpu_, .cases = pair_cases, .grad = __VA_ARGS__                                               \
  }

OPS(unary_grad) = {
    ROW("TanhGrad", "dy (1 - y^2).", tanh_cpu, tanh_grad_grad, .amp = AMP_INFER),
    ROW("SigmoidGrad", "dy y (1 - y).", sigmoid_cpu, sigmoid_grad_grad, .amp = AMP_INFER),
    ROW("ReciprocalGrad", "-dy y^2.", reciprocal_cpu, reciprocal_grad_grad),
    ROW("InvGrad", "-dy y^2, by its old name.", reciprocal_cpu, inv_grad_grad),
    ROW("SqrtGrad", "dy / 2y.", sqrt_cpu, sqrt_grad_grad),
    ROW("RsqrtGrad", "-dy y^3 / 2.", rsqrt_cpu, rsqrt_grad_grad),
    {0},
};
