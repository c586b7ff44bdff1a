/* complex.c - builds complex numbers and takes their parts: Complex, Real, Imag, Conj, ComplexAbs, Angle. */
#include "graph/build.h"
#include "kernels/elementwise/elementwise.h"
#include <tgmath.h>

#define EACH_PART(LOOP, name, expr)                                                                                    \
  LOOP(name, c64, float, float complex, float, expr) LOOP(name, c128, double, double complex, double, expr)

EACH_COMPLEX(UNARY_CALL, conjugate, conj(x))
EACH_PART(UNARY_LOOP, real_part, creal(x))
EACH_PART(UNARY_LOOP, imaginary_part, cimag(x))
EACH_PART(UNARY_LOOP, magnitude, fabs(x))
EACH_PART(UNARY_LOOP, angle, carg(x))
BINARY_LOOP(complex_join, f32, float complex, float, float, __builtin_complex(x, y))
BINARY_LOOP(complex_join, f64, double complex, double, double, __builtin_complex(x, y))

static const elem_op conj_op = {COST_CHEAP, {ROWS_COMPLEX(conjugate)}};
static const elem_op real_op = {COST_CHEAP, {ROWS_COMPLEX(real_part)}};
static const elem_op imag_op = {COST_CHEAP, {ROWS_COMPLEX(imaginary_part)}};
static const elem_op abs_op = {COST_CALL, {ROWS_COMPLEX(magnitude)}};
static const elem_op angle_op = {COST_CALL, {ROWS_COMPLEX(angle)}};
static const elem_op complex_op = {COST_CHEAP, {ROWS_FLOAT(complex_join)}};

static weft_err conj_cpu(kernel *k) { return weft__elementwise(k, &conj_op, NULL); }

/* Checks that complex64 is paired with float and complex128 with double; the attributes alone allow other pairs. */
static weft_err check_pair(const kernel *k, weft_dtype part, weft_dtype whole) {
  if ((part == WEFT_FLOAT) == (whole == WEFT_COMPLEX64)) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s has no kernel for %s with %s", k->node->op_name,
                           weft__dtype_name(whole), weft__dtype_name(part));
}

static weft_err take_part(kernel *k, const elem_op *e) {
  WEFT_TRY(check_pair(k, weft__dtype_base(k->node->out_type[0]), k->in[0]->dtype));
  return weft__elementwise(k, e, NULL);
}

static weft_err real_cpu(kernel *k) { return take_part(k, &real_op); }
static weft_err imag_cpu(kernel *k) { return take_part(k, &imag_op); }
static weft_err abs_cpu(kernel *k) { return take_part(k, &abs_op); }
static weft_err angle_cpu(kernel *k) { return take_part(k, &angle_op); }

static weft_err complex_cpu(kernel *k) {
  WEFT_TRY(check_pair(k, k->in[0]->dtype, weft__dtype_base(k->node->out_type[0])));
  return weft__elementwise(k, &complex_op, NULL);
}

/* ---- gradients ---- */
#define G b->graph
#define DY b->dout[0]

static weft_out complex_join(weft_graph *g, weft_out re, weft_out im) {
  const bool wide = weft__out_type(g, re) == WEFT_DOUBLE;
  const attr type = A_TYPE("Tout", wide ? WEFT_COMPLEX128 : WEFT_COMPLEX64);
  return weft__b_node(g, "Complex", NULL, 2, (weft_out[]){re, im}, 1, &type);
}

static weft_out complex_part(weft_graph *g, const char *which, weft_out z) {
  const bool wide = weft__out_type(g, z) == WEFT_COMPLEX128;
  const attr type = A_TYPE("Tout", wide ? WEFT_DOUBLE : WEFT_FLOAT);
  return weft__b_node(g, which, NULL, 1, &z, 1, &type);
}

static weft_err complex_set_dx(backprop *b, weft_out dx) {
  b->din[0] = GRAD_DENSE(dx);
  return WEFT_OK;
}

static weft_out complex_zero(backprop *b) { return weft__b_scalar_like(G, DY, 0); }

static weft_err conj_grad(backprop *b) { return complex_set_dx(b, weft__b_unary(G, "Conj", DY)); }
static weft_err real_grad(backprop *b) { return complex_set_dx(b, complex_join(G, DY, complex_zero(b))); }
static weft_err imag_grad(backprop *b) { return complex_set_dx(b, complex_join(G, complex_zero(b), DY)); }

static weft_err complex_grad(backprop *b) {
  weft_out re = complex_part(G, "Real", DY), im = complex_part(G, "Imag", DY);
  weft__b_unbroadcast(G, b->in[0], b->in[1], &re, &im);
  b->din[0] = GRAD_DENSE(re);
  b->din[1] = GRAD_DENSE(im);
  return WEFT_OK;
}

static weft_err abs_grad(backprop *b) { /* dy x/|x|, and 0 at 0 */
  const weft_out size = complex_join(G, b->out[0], complex_zero(b));
  return complex_set_dx(
      b, weft__b_binary(G, "DivNoNan", weft__b_mul(G, complex_join(G, DY, complex_zero(b)), b->in[0]), size));
}

static weft_err angle_grad(backprop *b) { /* -dy / (im + i re) */
  const weft_out turned = complex_join(G, complex_part(G, "Imag", b->in[0]), complex_part(G, "Real", b->in[0]));
  const weft_out inverse = weft__b_unary(G, "Reciprocal", turned);
  return complex_set_dx(b, weft__b_mul(G, weft__b_neg(G, complex_join(G, DY, complex_zero(b))), inverse));
}

/* ---- cases ---- */
static const op_case complex_in_cases[] = {
    {"c64[20] rand"}, {"c64[] 1"}, {"c64[0]"}, {"c64[30,40] normal"}, {0},
};
static const op_case wide_in_cases[] = {
    {"c64[20] rand", NULL, "Tout=float", CASE_FIXED_TYPE},      {"c128[20] rand", NULL, "Tout=double", CASE_FIXED_TYPE},
    {"c64[] 1", NULL, "Tout=float", CASE_FIXED_TYPE},           {"c64[0]", "f32[0]", "Tout=float", CASE_FIXED_TYPE},
    {"c64[30,40] normal", NULL, "Tout=float", CASE_FIXED_TYPE}, {0},
};
static const op_case join_cases[] = {
    {"f32[3] 1 2 3; f32[3] 4 5 6", NULL, "Tout=complex64", CASE_FIXED_TYPE},
    {"f64[3] 1 2 3; f64[3] 4 5 6", NULL, "Tout=complex128", CASE_FIXED_TYPE},
    {"f32[2,1] 1 2; f32[] 4", NULL, "Tout=complex64", CASE_FIXED_TYPE},
    {"f32[0]; f32[0]", "c64[0]", "Tout=complex64", CASE_FIXED_TYPE},
    {"f32[2] 1 2; f32[3] 1 2 3", "error INVALID_ARGUMENT", "Tout=complex64", CASE_FIXED_TYPE},
    {0},
};

#define PARTS "T:type{complex64,complex128}=complex64 Tout:type{float,double}=float"

OPS(complex) = {
    {"Conj(input:T) -> (output:T) | T:type{complex64,complex128,variant}=complex64", "The complex conjugate.",
     OP_INPLACE, weft__infer_same, conj_cpu, .grad = conj_grad, .cases = complex_in_cases},
    {"Real(input:T) -> (output:Tout) | " PARTS, "The real part.", 0, weft__infer_same, real_cpu, .grad = real_grad,
     .cases = wide_in_cases},
    {"Imag(input:T) -> (output:Tout) | " PARTS, "The imaginary part.", 0, weft__infer_same, imag_cpu, .grad = imag_grad,
     .cases = wide_in_cases},
    {"Complex(real:T, imag:T) -> (out:Tout) | T:type{float,double}=float Tout:type{complex64,complex128}=complex64",
     "real + i imag.", 0, weft__infer_broadcast, complex_cpu, .grad = complex_grad, .cases = join_cases},
    {"ComplexAbs(x:T) -> (y:Tout) | " PARTS, "The magnitude.", 0, weft__infer_same, abs_cpu, .grad = abs_grad,
     .cases = wide_in_cases},
    {"Angle(input:T) -> (output:Tout) | " PARTS, "The angle in the complex plane.", 0, weft__infer_same, angle_cpu,
     .grad = angle_grad, .cases = wide_in_cases},
    {0},
};
