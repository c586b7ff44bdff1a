/* bitwise.c - bitwise ops on integers.
 *
 * As in TensorFlow, a negative shift count is 0, and a count of the width or more is the width - 1. */
#include "kernels/elementwise/elementwise.h"

/* fits: below the width */
#define SHIFT(y) ((y) < 0 ? 0 : (y) >= (T)(8 * sizeof(T)) ? 8 * (int)sizeof(T) - 1 : (int)(y))
#define UNSIGNED_SHIFT(y) ((y) >= (T)(8 * sizeof(T)) ? 8 * (int)sizeof(T) - 1 : (int)(y)) /* fits: below the width */

EACH_INT(BINARY, and, x &y)
EACH_INT(BINARY, or, x | y)
EACH_INT(BINARY, xor, x ^ y)
EACH_INT(UNARY, invert, ~x)
EACH_SIGNED(BINARY, left, (A)x << SHIFT(y))
EACH_UNSIGNED(BINARY, left, (A)x << UNSIGNED_SHIFT(y))
EACH_SIGNED(BINARY, right, x >> SHIFT(y))
EACH_UNSIGNED(BINARY, right, x >> UNSIGNED_SHIFT(y))

#define COUNT_LOOP(name, suffix, T_, A_, expr) UNARY_LOOP(name, suffix, uint8_t, T_, A_, expr)
EACH_INT(COUNT_LOOP, count, __builtin_popcountll((uint64_t)x &UINT64_MAX >> (64 - 8 * sizeof(T))))

static const elem_op and_op = {COST_CHEAP, {ROWS_INT(and)}};
static const elem_op or_op = {COST_CHEAP, {ROWS_INT(or)}};
static const elem_op xor_op = {COST_CHEAP, {ROWS_INT(xor)}};
static const elem_op invert_op = {COST_CHEAP, {ROWS_INT(invert)}};
static const elem_op left_op = {COST_CHEAP, {ROWS_INT(left)}};
static const elem_op right_op = {COST_CHEAP, {ROWS_INT(right)}};
static const elem_op count_op = {COST_VECTOR, {ROWS_INT(count)}};

static const op_case pair_cases[] = {
    {"i32[4] 12 10 7 0; i32[4] 10 3 1 5"},
    {"i32[2,1] 12 10; i32[1,3] 1 2 3"},
    {"i32[] 12; i32[] 10"},
    {"i32[0]; i32[] 1", "i32[0]"},
    {"i32[50,30] rand; i32[50,30] rand"},
    {"i32[4] -8 -8 8 1; i32[4] 1 -1 40 31", NULL, NULL, CASE_FIXED_TYPE},
    {"i32[2] 1 2; i32[3] 1 2 3", "error INVALID_ARGUMENT"},
    {0},
};
static const op_case single_cases[] = {
    {"i32[4] 12 -10 7 0"}, {"i32[] 12"}, {"i32[0]"}, {"i32[50,30] rand"}, {0},
};

#define INTS "T:type{int8,int16,int32,int64,uint8,uint16,uint32,uint64}"
#define ROW(def_, doc_, infer_, loops_, cases_)                                                                        \
  { def_, doc_, OP_INPLACE, infer_, ELEM(loops_), .no_grad = true, .cases = cases_ }

OPS(bitwise) = {
    ROW("BitwiseAnd(x:T, y:T) -> (z:T) | " INTS " ; commutative", "x and y, bit by bit.", weft__infer_broadcast, and_op,
        pair_cases),
    ROW("BitwiseOr(x:T, y:T) -> (z:T) | " INTS " ; commutative", "x or y, bit by bit.", weft__infer_broadcast, or_op,
        pair_cases),
    ROW("BitwiseXor(x:T, y:T) -> (z:T) | " INTS " ; commutative", "Either x or y, bit by bit.", weft__infer_broadcast,
        xor_op, pair_cases),
    ROW("Invert(x:T) -> (y:T) | " INTS, "Every bit turned.", weft__infer_same, invert_op, single_cases),
    ROW("LeftShift(x:T, y:T) -> (z:T) | " INTS, "x with its bits moved up by y.", weft__infer_broadcast, left_op,
        pair_cases),
    ROW("RightShift(x:T, y:T) -> (z:T) | " INTS, "x with its bits moved down by y.", weft__infer_broadcast, right_op,
        pair_cases),
    ROW("PopulationCount(x:T) -> (y:uint8) | " INTS, "The number of bits set.", weft__infer_same, count_op,
        single_cases),
    {0},
};
