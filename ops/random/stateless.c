/* stateless.c - random numbers that depend only on a seed: StatelessRandom*, in both versions.
 *
 * Version 1 takes a seed of two numbers.  One block of the generator mixes them into a key and the high half of a
 * counter, which version 2 takes directly.  Only Philox (algorithm 1, or 3 for automatic) is supported. */
#include "base/alloc.h"
#include "graph/op.h"
#include "ops/random/random.h"
#include "tensor/tensor.h"
#include <string.h>

weft_err weft__random_from_seed(const kernel *k, int i, philox *out) {
  if (k->in[i]->shape.rank != 1 || k->in[i]->shape.dim[0] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "seed must have shape [2], not %s",
                             weft__shape_text(&k->in[i]->shape));
  const uint64_t a = (uint64_t)weft__tensor_int(k->in[i], 0), b = (uint64_t)weft__tensor_int(k->in[i], 1);
  const philox with = {.key = {0x3ec8f720u, 0x02461e29u},
                       .counter = {(uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b, (uint32_t)(b >> 32)}};
  uint32_t w[4];
  weft__philox_blocks(&with, 0, 1, 1, w);
  *out = (philox){.key = {w[0], w[1]}, .counter = {0, 0, w[2], w[3]}};
  return WEFT_OK;
}

weft_err weft__random_from_key(const kernel *k, int i, philox *out) {
  const shape *key = &k->in[i]->shape, *counter = &k->in[i + 1]->shape;
  WEFT_TRY(weft__kernel_scalar(k, i + 2, "alg"));
  const int32_t alg = TENSOR_DATA(k->in[i + 2], int32_t)[0];
  if (alg != 1 && alg != 3) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Unsupported algorithm id: %d", alg);
  if (key->rank != 1 || key->dim[0] != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "key must have shape [1], not %s", weft__shape_text(key));
  if (counter->rank != 1 || counter->dim[0] < 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "counter must be a vector with length at least 2; got shape: %s",
                             weft__shape_text(counter));
  const uint64_t *c = TENSOR_DATA(k->in[i + 1], uint64_t), of = TENSOR_DATA(k->in[i], uint64_t)[0];
  *out = (philox){.key = {(uint32_t)of, (uint32_t)(of >> 32)},
                  .counter = {(uint32_t)c[0], (uint32_t)(c[0] >> 32), (uint32_t)c[1], (uint32_t)(c[1] >> 32)}};
  return WEFT_OK;
}

/* Returns true for version 2, which has three inputs in place of the seed. */
static bool is_second(const kernel *k) { return k->n_in >= 4 && k->in[1]->dtype == WEFT_UINT64; }

static weft_err stateless_draw(kernel *k, random_kind kind) {
  philox gen;
  WEFT_TRY(is_second(k) ? weft__random_from_key(k, 1, &gen) : weft__random_from_seed(k, 1, &gen));
  return weft__random_fill(k, kind, &gen, 0, 0);
}

static weft_err stateless_uniform_cpu(kernel *k) { return stateless_draw(k, RANDOM_UNIFORM); }
static weft_err stateless_normal_cpu(kernel *k) { return stateless_draw(k, RANDOM_NORMAL); }
static weft_err stateless_truncated_cpu(kernel *k) { return stateless_draw(k, RANDOM_TRUNCATED); }
static weft_err bits_cpu(kernel *k) { return stateless_draw(k, RANDOM_BITS); }

static weft_err below_cpu(kernel *k) {
  philox gen;
  const int at = k->n_in - 2;
  WEFT_TRY(k->n_in == 6 ? weft__random_from_key(k, 1, &gen) : weft__random_from_seed(k, 1, &gen));
  for (int i = at; i < k->n_in; i++) WEFT_TRY(weft__kernel_scalar(k, i, i == at ? "minval" : "maxval"));
  const int64_t low = weft__tensor_int(k->in[at], 0), high = weft__tensor_int(k->in[at + 1], 0);
  const bool is_unsigned = k->in[at]->dtype == WEFT_UINT32 || k->in[at]->dtype == WEFT_UINT64;
  if (is_unsigned ? (uint64_t)low >= (uint64_t)high : low >= high)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Need minval < maxval, got %lld >= %lld", (long long)low,
                             (long long)high);
  return weft__random_fill(k, RANDOM_BELOW, &gen, low, (uint64_t)high - (uint64_t)low);
}

static weft_err key_cpu(kernel *k) {
  philox gen;
  WEFT_TRY(weft__random_from_seed(k, 0, &gen));
  weft_tensor *key = weft__out(k, 0, &SHAPE1(1)), *counter = weft__out(k, 1, &SHAPE1(2));
  if (!key || !counter) return WEFT_OOM;
  TENSOR_DATA(key, uint64_t)[0] = gen.key[0] | (uint64_t)gen.key[1] << 32;
  TENSOR_DATA(counter, uint64_t)[0] = 0;
  TENSOR_DATA(counter, uint64_t)[1] = gen.counter[2] | (uint64_t)gen.counter[3] << 32;
  if (k->n_out < 3) return WEFT_OK;
  weft_tensor *alg = weft__out(k, 2, &SHAPE_SCALAR);
  if (!alg) return WEFT_OOM;
  TENSOR_DATA(alg, int32_t)[0] = 1;
  return WEFT_OK;
}

static weft_err alg_cpu(kernel *k) {
  weft_tensor *alg = weft__out(k, 0, &SHAPE_SCALAR);
  if (!alg) return WEFT_OOM;
  TENSOR_DATA(alg, int32_t)[0] = 1;
  return WEFT_OK;
}

/* ---- shapes ---- */

static weft_err stateless_draw_infer(infer *s) {
  static const int first[] = {1, 1, 0, 0}, second[] = {1, 1, 1, 0, 0, 0};
  shape unused;
  const bool v2 = strstr(s->node->op_name, "V2") != NULL;
  for (int i = 0; i < s->n_in; i++) WEFT_TRY(weft__infer_rank(s, i, v2 ? second[i] : first[i], &unused));
  return weft__infer_shape_value(s, 0, &s->out[0]);
}

static weft_err key_infer(infer *s) {
  shape seed;
  WEFT_TRY(weft__infer_rank(s, 0, 1, &seed));
  s->out[0] = SHAPE1(1);
  s->out[1] = SHAPE1(2);
  if (s->n_out > 2) s->out[2] = SHAPE_SCALAR;
  return WEFT_OK;
}

/* ---- cases ---- */
#define KEY "; u64[1] 5; u64[2] 1 2; i32[] 1"
#define KEY2 "; u64[1] 0x7edcba9876543210; u64[2] 0x7fffffffffffffff 7; i32[] 3"
#define FLAGS CASE_NO_GRAD | CASE_FIXED_TYPE
static const op_case float_cases[] = {
    {"i32[2] 3 7" KEY, NULL, "dtype=float", FLAGS},
    {"i32[1] 101" KEY2, NULL, "dtype=double", FLAGS},
    {"i64[1] 33" KEY, NULL, "dtype=half", FLAGS},
    {"i32[1] 33" KEY, NULL, "dtype=bfloat16", FLAGS},
    {"i32[2] 0 3" KEY, NULL, "dtype=float", FLAGS},
    {"i32[0]" KEY, NULL, "dtype=float", FLAGS},
    {"i32[1] 3; u64[1] 5; u64[2] 1 2; i32[] 2", "error INVALID_ARGUMENT", NULL, FLAGS},
    {"i32[1] 3; u64[2] 5; u64[2] 1 2; i32[] 1", "error INVALID_ARGUMENT", NULL, FLAGS},
    {0},
};
static const op_case bits_cases[] = {
    {"i32[1] 6" KEY, NULL, "dtype=uint32", FLAGS},
    {"i32[1] 7" KEY, NULL, "dtype=int32", FLAGS},
    {"i32[1] 7" KEY2, NULL, "dtype=uint64", FLAGS},
    {"i32[1] 9" KEY, NULL, "dtype=int64", FLAGS},
    {0},
};
static const op_case below_cases[] = {
    {"i32[1] 60" KEY "; i32[] -7; i32[] 100", NULL, NULL, FLAGS},
    {"i32[1] 61" KEY2 "; i64[] -7; i64[] 1000000000000000", NULL, NULL, FLAGS},
    {"i32[1] 60" KEY "; u32[] 7; u32[] 4000000000", NULL, NULL, FLAGS},
    {"i32[1] 60" KEY "; u64[] 7; u64[] 0x7000000000000000", NULL, NULL, FLAGS},
    {"i32[1] 6" KEY "; i32[] 7; i32[] 7", "error INVALID_ARGUMENT", NULL, FLAGS},
    {0},
};
static const op_case old_float_cases[] = {
    {"i32[2] 3 7; i64[2] 1 2", NULL, "dtype=float", FLAGS},
    {"i32[1] 101; i32[2] -5 77", NULL, "dtype=double", FLAGS},
    {"i64[1] 33; i64[2] 123456789012 -5", NULL, "dtype=half", FLAGS},
    {"i32[1] 3; i64[3] 1 2 3", "error INVALID_ARGUMENT", NULL, FLAGS},
    {0},
};
static const op_case old_bits_cases[] = {
    {"i32[1] 6; i64[2] 1 2", NULL, "dtype=uint64", FLAGS},
    {"i32[1] 6; i32[2] 1 2", NULL, "dtype=int32", FLAGS},
    {0},
};
static const op_case old_below_cases[] = {
    {"i32[1] 60; i64[2] 1 2; i32[] -7; i32[] 100", NULL, NULL, FLAGS},
    {"i32[1] 6; i64[2] 1 2; i64[] 7; i64[] 7", "error INVALID_ARGUMENT", NULL, FLAGS},
    {0},
};
static const op_case key_cases[] = {
    {"i64[2] 1 2", "u64[1] 0x908502c96d2f7fba; u64[2] 0 0xf7734320619cb60b", NULL, FLAGS},
    {"i32[2] -5 77", NULL, NULL, FLAGS},
    {"i64[3] 1", "error INVALID_ARGUMENT", NULL, FLAGS},
    {0},
};
static const op_case key_alg_cases[] = {{"i64[2] 1 2", NULL, NULL, FLAGS}, {0}};
static const op_case alg_cases[] = {{"", "i32[] 1", NULL, FLAGS}, {0}};

#define FLOATS "half,bfloat16,float,double"
#define WHOLES "int32,int64,uint32,uint64"
#define V2 "(shape:Tshape, key:uint64, counter:uint64, alg:int32) -> (output:dtype) | dtype:type{"
#define V2_END " Tshape:type{int32,int64}=int32"
#define V1 "(shape:T, seed:Tseed) -> (output:dtype) | dtype:type{"
#define V1_END " T:type{int32,int64}=int32 Tseed:type{int32,int64}=int64"
#define DRAWS(cpu_, cases_) .infer = stateless_draw_infer, .cpu = (cpu_), .no_grad = true, .cases = (cases_)

OPS(stateless) = {
    {"StatelessRandomUniformV2" V2 FLOATS "}=float" V2_END, "Numbers spread evenly over [0, 1).",
     DRAWS(stateless_uniform_cpu, float_cases)},
    {"StatelessRandomNormalV2" V2 FLOATS "}=float" V2_END, "Normal numbers of mean 0 and deviation 1.",
     DRAWS(stateless_normal_cpu, float_cases)},
    {"StatelessTruncatedNormalV2" V2 FLOATS "}=float" V2_END,
     "Normal numbers, those beyond two deviations drawn again.", DRAWS(stateless_truncated_cpu, float_cases)},
    {"StatelessRandomUniformFullIntV2" V2 WHOLES "}=uint64" V2_END, "Integers spread evenly over their type.",
     DRAWS(bits_cpu, bits_cases)},
    {"StatelessRandomUniformIntV2(shape:Tshape, key:uint64, counter:uint64, alg:int32, minval:dtype, maxval:dtype) -> "
     "(output:dtype) | dtype:type{" WHOLES "}" V2_END,
     "Integers spread evenly over [minval, maxval).", DRAWS(below_cpu, below_cases)},
    {"StatelessRandomUniform" V1 FLOATS "}=float" V1_END, "Numbers spread evenly over [0, 1).",
     DRAWS(stateless_uniform_cpu, old_float_cases)},
    {"StatelessRandomNormal" V1 FLOATS "}=float" V1_END, "Normal numbers of mean 0 and deviation 1.",
     DRAWS(stateless_normal_cpu, old_float_cases)},
    {"StatelessTruncatedNormal" V1 FLOATS "}=float" V1_END, "Normal numbers, those beyond two deviations drawn again.",
     DRAWS(stateless_truncated_cpu, old_float_cases)},
    {"StatelessRandomUniformFullInt(shape:T, seed:Tseed) -> (output:dtype) | dtype:type{" WHOLES
     "}=uint64 T:type{int32,int64}=int32 Tseed:type{int32,int64,uint32,uint64}=int64",
     "Integers spread evenly over their type.", DRAWS(bits_cpu, old_bits_cases)},
    {"StatelessRandomUniformInt(shape:T, seed:Tseed, minval:dtype, maxval:dtype) -> (output:dtype) | "
     "dtype:type{int32,int64} T:type{int32,int64} Tseed:type{int32,int64}=int64",
     "Integers spread evenly over [minval, maxval).", DRAWS(below_cpu, old_below_cases)},
    {"StatelessRandomGetKeyCounter(seed:Tseed) -> (key:uint64, counter:uint64) | Tseed:type{int32,int64}=int64",
     "The generator that a seed stands for.", .infer = key_infer, .cpu = key_cpu, .cases = key_cases},
    {"StatelessRandomGetKeyCounterAlg(seed:Tseed) -> (key:uint64, counter:uint64, alg:int32) | "
     "Tseed:type{int32,int64}=int64",
     "The generator that a seed stands for, and its algorithm.", .infer = key_infer, .cpu = key_cpu,
     .cases = key_alg_cases},
    {"StatelessRandomGetAlg() -> (alg:int32) ; stateful", "Which algorithm draws: 1, Philox.",
     .infer = weft__infer_scalar, .cpu = alg_cpu, .cases = alg_cases},
    {0},
};
