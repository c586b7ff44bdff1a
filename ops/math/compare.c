/* compare.c - comparisons and logical ops; the result is bool.
 *
 * Equal and NotEqual support every type, including strings.  With incompatible_shape_error=false they return one
 * bool for shapes that do not broadcast.  The other comparisons support real numbers. */
#include "base/alloc.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/work/long_work.h"
#include <tgmath.h>

EACH_REAL(BINARY_TEST, equal, x == y)
EACH_COMPLEX(BINARY_TEST, equal, x == y)
BINARY_TEST(equal, b, bool, bool, x == y)
EACH_REAL(BINARY_TEST, not_equal, x != y)
EACH_COMPLEX(BINARY_TEST, not_equal, x != y)
BINARY_TEST(not_equal, b, bool, bool, x != y)
EACH_REAL(BINARY_TEST, less, x < y)
EACH_REAL(BINARY_TEST, less_equal, x <= y)
EACH_REAL(BINARY_TEST, greater, x > y)
EACH_REAL(BINARY_TEST, greater_equal, x >= y)
EACH_FLOAT(BINARY_TEST, approximate_equal, fabs(x - y) < (T)param)
BINARY_TEST(logical_and, b, bool, bool, x &y)
BINARY_TEST(logical_or, b, bool, bool, x | y)
UNARY_TEST(logical_not, b, bool, bool, !x)

#define ROWS_QUANTIZED(name)                                                                                           \
  [WEFT_QINT8] = name##_i8, [WEFT_QUINT8] = name##_u8, [WEFT_QINT16] = name##_i16, [WEFT_QUINT16] = name##_u16,        \
  [WEFT_QINT32] = name##_i32
#define ROWS_ALL(name) ROWS_REAL(name), ROWS_COMPLEX(name), ROWS_QUANTIZED(name), [WEFT_BOOL] = name##_b

static const elem_op equal_op = {COST_CHEAP, {ROWS_ALL(equal)}};
static const elem_op not_equal_op = {COST_CHEAP, {ROWS_ALL(not_equal)}};
static const elem_op less_op = {COST_CHEAP, {ROWS_REAL(less)}};
static const elem_op less_equal_op = {COST_CHEAP, {ROWS_REAL(less_equal)}};
static const elem_op greater_op = {COST_CHEAP, {ROWS_REAL(greater)}};
static const elem_op greater_equal_op = {COST_CHEAP, {ROWS_REAL(greater_equal)}};
static const elem_op approximate_equal_op = {COST_CHEAP, {ROWS_FLOAT(approximate_equal)}};
static const elem_op and_op = {COST_CHEAP, {[WEFT_BOOL] = logical_and_b}};
static const elem_op or_op = {COST_CHEAP, {[WEFT_BOOL] = logical_or_b}};
static const elem_op not_op = {COST_CHEAP, {[WEFT_BOOL] = logical_not_b}};

/* ---- equality ---- */
static bool same_string(const str *x, const str *y) {
  return x->size == y->size && (x->size == 0 || memcmp(x->data, y->data, x->size) == 0);
}

static weft_err compare_strings(kernel *k, const shape *s, bool wanted) {
  const weft_tensor *x = k->in[0], *y = k->in[1];
  weft_tensor *z = weft__out(k, 0, s);
  if (!z) return WEFT_OOM;
  const int64_t n = weft__tensor_count(z);
  for (int64_t i = 0; i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const str *a = TENSOR_DATA(x, str) + weft__elementwise_index(s, &x->shape, i);
    const str *b = TENSOR_DATA(y, str) + weft__elementwise_index(s, &y->shape, i);
    TENSOR_DATA(z, bool)[i] = same_string(a, b) == wanted;
  }
  return WEFT_OK;
}

/* `wanted` is the result for equal elements. */
static weft_err compare_equality(kernel *k, const elem_op *e, bool wanted) {
  shape s;
  const weft_err err = weft__shape_broadcast(&s, &k->in[0]->shape, &k->in[1]->shape);
  if (err && !weft__node_bool(k->node, "incompatible_shape_error", true)) {
    weft_tensor *z = weft__out(k, 0, &SHAPE_SCALAR);
    if (!z) return WEFT_OOM;
    *TENSOR_DATA(z, bool) = !wanted;
    return WEFT_OK;
  }
  if (err) return weft__kernel_in(k, err);
  return k->in[0]->dtype == WEFT_STRING ? compare_strings(k, &s, wanted) : weft__elementwise(k, e, NULL);
}

static weft_err equal_cpu(kernel *k) { return compare_equality(k, &equal_op, true); }
static weft_err not_equal_cpu(kernel *k) { return compare_equality(k, &not_equal_op, false); }

static weft_err equality_infer(infer *s) {
  if (weft__node_bool(s->node, "incompatible_shape_error", true)) return weft__infer_broadcast(s);
  shape both;
  if (!weft__shape_known(&s->in[0]) || !weft__shape_known(&s->in[1])) return WEFT_OK;
  s->out[0] = weft__shape_broadcast(&both, &s->in[0], &s->in[1]) ? SHAPE_SCALAR : both;
  return WEFT_OK;
}

/* ---- order and logic ---- */
static weft_err less_cpu(kernel *k) { return weft__elementwise(k, &less_op, NULL); }
static weft_err less_equal_cpu(kernel *k) { return weft__elementwise(k, &less_equal_op, NULL); }
static weft_err greater_cpu(kernel *k) { return weft__elementwise(k, &greater_op, NULL); }
static weft_err greater_equal_cpu(kernel *k) { return weft__elementwise(k, &greater_equal_op, NULL); }
static weft_err and_cpu(kernel *k) { return weft__elementwise(k, &and_op, NULL); }
static weft_err or_cpu(kernel *k) { return weft__elementwise(k, &or_op, NULL); }
static weft_err not_cpu(kernel *k) { return weft__elementwise(k, &not_op, NULL); }

static weft_err approximate_equal_cpu(kernel *k) {
  if (!weft__shape_equal(&k->in[0]->shape, &k->in[1]->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "x and y must be of the same shape. x shape: %s. y shape: %s",
                             weft__shape_text(&k->in[0]->shape), weft__shape_text(&k->in[1]->shape));
  const float tolerance = weft__node_float(k->node, "tolerance", 1e-5f);
  return weft__elementwise(k, &approximate_equal_op, &tolerance);
}

static weft_err approximate_equal_infer(infer *s) {
  if (weft__shape_merge(&s->out[0], &s->in[0], &s->in[1]) == WEFT_OK) return WEFT_OK;
  return weft__infer_fail(s, "%s", weft__error_message());
}

/* ---- cases ---- */
static const op_case equality_cases[] = {
    {"f32[4] 1 2 3 nan; f32[4] 1 3 3 nan", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[3] 1 2 3; f32[] 2"},
    {"f32[] 2; f32[] 2"},
    {"f32[0]; f32[] 2", "bool[0]"},
    {"f32[2,1] 1 2; f32[1,3] 1 2 3"},
    {"i32[40,50] rand; i32[50] rand"},
    {"str[2] \"a\" \"b\"; str[] \"a\"", NULL, NULL, CASE_FIXED_TYPE},
    {"bool[2] true false; bool[2] true true", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[2] 1 2; f32[3] 1 2 3", "error INVALID_ARGUMENT"},
    {"f32[2] 1 2; f32[3] 1 2 3", NULL, "incompatible_shape_error=false"},
    {0},
};

static const op_case order_cases[] = {
    {"f32[4] 1 2 3 nan; f32[4] 1 3 2 1", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[3] 1 2 3; f32[] 2"},
    {"f32[] 2; f32[] 2"},
    {"f32[0]; f32[] 2", "bool[0]"},
    {"f32[2,1] 1 2; f32[1,3] 1 2 3"},
    {"i32[40,50] rand; i32[50] rand"},
    {"f32[2] 1 2; f32[3] 1 2 3", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case approximate_cases[] = {
    {"f32[3] 1 2 3; f32[3] 1.000001 2.1 3", "bool[3] true false true", NULL, CASE_FIXED_TYPE},
    {"f32[3] 1 2 3; f32[3] 1 2.1 3", "bool[3] true true true", "tolerance=0.2", CASE_FIXED_TYPE},
    {"f32[] 1; f32[] 1", "bool[] true", NULL, CASE_FIXED_TYPE},
    {"f64[0]; f64[0]", "bool[0]", NULL, CASE_FIXED_TYPE},
    {"f32[2] 1 2; f32[3] 1 2 3", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};

static const op_case logic_cases[] = {
    {"bool[4] true true false false; bool[4] true false true false"},
    {"bool[2,1] true false; bool[1,2] true false"},
    {"bool[] true; bool[] false"},
    {"bool[0]; bool[] true", "bool[0]"},
    {"bool[2] true; bool[3] true", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case not_cases[] = {
    {"bool[2] true false", "bool[2] false true"},
    {"bool[] true", "bool[] false"},
    {"bool[0]", "bool[0]"},
    {"bool[3000] true", "bool[3000] false"},
    {0},
};

#define TEST_ROW(def_, doc_, infer_, cpu_, ...)                                                                        \
  { def_, doc_, OP_INPLACE, infer_, cpu_, .no_grad = true, .cases = __VA_ARGS__ }

OPS(compare) = {
    TEST_ROW("Equal(x:T, y:T) -> (z:bool) | T:type incompatible_shape_error:bool=true ; commutative", "x == y.",
             equality_infer, equal_cpu, equality_cases, .amp = AMP_CLEAR),
    TEST_ROW("NotEqual(x:T, y:T) -> (z:bool) | T:type incompatible_shape_error:bool=true ; commutative", "x != y.",
             equality_infer, not_equal_cpu, equality_cases, .amp = AMP_CLEAR),
    TEST_ROW("Less(x:T, y:T) -> (z:bool) | T:type{real}", "x < y.", weft__infer_broadcast, less_cpu, order_cases,
             .amp = AMP_CLEAR, .elem = &less_op),
    TEST_ROW("LessEqual(x:T, y:T) -> (z:bool) | T:type{real}", "x <= y.", weft__infer_broadcast, less_equal_cpu,
             order_cases, .amp = AMP_CLEAR, .elem = &less_equal_op),
    TEST_ROW("Greater(x:T, y:T) -> (z:bool) | T:type{real}", "x > y.", weft__infer_broadcast, greater_cpu, order_cases,
             .amp = AMP_CLEAR, .elem = &greater_op),
    TEST_ROW("GreaterEqual(x:T, y:T) -> (z:bool) | T:type{real}", "x >= y.", weft__infer_broadcast, greater_equal_cpu,
             order_cases, .amp = AMP_CLEAR, .elem = &greater_equal_op),
    TEST_ROW("ApproximateEqual(x:T, y:T) -> (z:bool) | T:type{number} tolerance:float=9.99999975e-06 ; commutative",
             "Is |x - y| less than the tolerance?", approximate_equal_infer, approximate_equal_cpu, approximate_cases),
    TEST_ROW("LogicalAnd(x:bool, y:bool) -> (z:bool) ; commutative", "x and y.", weft__infer_broadcast, and_cpu,
             logic_cases),
    TEST_ROW("LogicalOr(x:bool, y:bool) -> (z:bool) ; commutative", "x or y.", weft__infer_broadcast, or_cpu,
             logic_cases),
    TEST_ROW("LogicalNot(x:bool) -> (y:bool)", "Not x.", weft__infer_same, not_cpu, not_cases),
    {0},
};
