/* rng_state.c - random numbers from a generator whose state is a variable: Stateful*, RngSkip, RngReadAndSkip.
 *
 * The variable holds three int64: the low and the high half of Philox's counter, and its key.  Each draw of n
 * numbers advances the counter by 256 n, under the variable's lock. */
#include "base/alloc.h"
#include "graph/op.h"
#include "ops/random/random.h"
#include "state/variable.h"
#include "tensor/tensor.h"
#include <string.h>
#include <sys/random.h>

enum { RESERVED = 256, LENGTH = 3 };

static weft_err check_philox(const kernel *k, int64_t algorithm) {
  if (algorithm == 1 || algorithm == 3) return WEFT_OK;
  return weft__kernel_fail(k, algorithm == 2 ? WEFT_UNIMPLEMENTED : WEFT_INVALID_ARGUMENT,
                           "Unsupported algorithm id: %lld (1, Philox, is known)", (long long)algorithm);
}

/* Returns the old state and advances the counter by 256 * delta.  The state begins at number `at` of the variable; in
 * the first version of the ops the number before it is the algorithm. */
static weft_err read_and_skip(const kernel *k, int at, uint64_t delta, int64_t before[LENGTH]) {
  variable *v;
  weft_tensor *t = NULL;
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  weft__variable_lock(1, &v);
  weft_err err = weft__variable_writable(v, &t);
  if (!err && (t->dtype != WEFT_INT64 || t->shape.rank != 1 || t->shape.dim[0] < LENGTH + at))
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                            "The state of the generator must be a vector of at least %d int64 numbers, got shape %s",
                            LENGTH + at, weft__shape_text(&t->shape));
  if (!err && at) err = check_philox(k, *(const int64_t *)t->data);
  if (!err) {
    uint64_t *state = (uint64_t *)t->data + at;
    memcpy(before, state, LENGTH * sizeof *before);
    const uint64_t low = state[0] + delta * RESERVED, high = delta >> 56; /* 256 * delta, in 128 bits */
    state[1] += high + (low < state[0]);
    state[0] = low;
  }
  weft__variable_unlock(1, &v);
  return err;
}

static weft_err check_algorithm(const kernel *k, int i) {
  WEFT_TRY(weft__kernel_scalar(k, i, "algorithm"));
  return check_philox(k, weft__tensor_int(k->in[i], 0));
}

static philox from_state(const int64_t state[LENGTH]) {
  const uint64_t low = (uint64_t)state[0], high = (uint64_t)state[1], key = (uint64_t)state[2];
  return (philox){.counter = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)},
                  .key = {(uint32_t)key, (uint32_t)(key >> 32)}};
}

weft_err weft__random_from_state(const kernel *k, philox *out) {
  int64_t before[LENGTH];
  WEFT_TRY(check_algorithm(k, 1));
  WEFT_TRY(read_and_skip(k, 0, 0, before));
  *out = from_state(before);
  return WEFT_OK;
}

static weft_err rng_state_draw(kernel *k, random_kind kind, int64_t low, uint64_t range) {
  int64_t before[LENGTH];
  shape s;
  WEFT_TRY(check_algorithm(k, 1));
  WEFT_TRY(weft__kernel_dims(k, 2, "shape", &s));
  WEFT_TRY(read_and_skip(k, 0, (uint64_t)weft__shape_count(&s), before));
  const philox gen = from_state(before);
  return weft__random_fill_at(k, 2, kind, &gen, low, range);
}

static weft_err rng_state_uniform_cpu(kernel *k) { return rng_state_draw(k, RANDOM_UNIFORM, 0, 0); }
static weft_err rng_state_normal_cpu(kernel *k) { return rng_state_draw(k, RANDOM_NORMAL, 0, 0); }
static weft_err rng_state_truncated_cpu(kernel *k) { return rng_state_draw(k, RANDOM_TRUNCATED, 0, 0); }

/* The first version, in which the algorithm is the first number of the variable. */
static weft_err first_cpu(kernel *k) {
  int64_t before[LENGTH];
  shape s;
  WEFT_TRY(weft__kernel_dims(k, 1, "shape", &s));
  WEFT_TRY(read_and_skip(k, 1, (uint64_t)weft__shape_count(&s), before));
  const philox gen = from_state(before);
  return weft__random_fill_at(k, 1, RANDOM_NORMAL, &gen, 0, 0);
}

static weft_err bits_cpu(kernel *k) {
  const weft_dtype type = k->node->out_type[0];
  const size_t size = weft__dtype_size(type);
  if (weft__dtype_class(type) == CLASS_FLOAT || (size != 4 && size != 8)) return weft__kernel_no_type(k, type);
  return rng_state_draw(k, RANDOM_BITS, 0, 0);
}

static weft_err below_cpu(kernel *k) {
  for (int i = 3; i < 5; i++) WEFT_TRY(weft__kernel_scalar(k, i, i == 3 ? "minval" : "maxval"));
  const weft_dtype type = k->node->out_type[0];
  if (type != WEFT_INT32 && type != WEFT_INT64 && type != WEFT_UINT32 && type != WEFT_UINT64)
    return weft__kernel_no_type(k, type);
  const int64_t low = weft__tensor_int(k->in[3], 0), high = weft__tensor_int(k->in[4], 0);
  const bool is_unsigned = type == WEFT_UINT32 || type == WEFT_UINT64;
  if (is_unsigned ? (uint64_t)low >= (uint64_t)high : low >= high)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Need minval < maxval, got %lld >= %lld", (long long)low,
                             (long long)high);
  return rng_state_draw(k, RANDOM_BELOW, low, (uint64_t)high - (uint64_t)low);
}

static weft_err skip_cpu(kernel *k) {
  int64_t before[LENGTH];
  WEFT_TRY(check_algorithm(k, 1));
  WEFT_TRY(weft__kernel_scalar(k, 2, "delta"));
  return read_and_skip(k, 0, (uint64_t)weft__tensor_int(k->in[2], 0), before);
}

static weft_err rng_state_read_cpu(kernel *k) {
  int64_t before[LENGTH];
  WEFT_TRY(check_algorithm(k, 1));
  WEFT_TRY(weft__kernel_scalar(k, 2, "delta"));
  WEFT_TRY(read_and_skip(k, 0, (uint64_t)weft__tensor_int(k->in[2], 0), before));
  weft_tensor *out = weft__out(k, 0, &SHAPE1(LENGTH));
  if (!out) return WEFT_OOM;
  memcpy(out->data, before, sizeof before);
  return WEFT_OK;
}

static weft_err entropy_cpu(kernel *k) {
  shape s;
  WEFT_TRY(weft__kernel_dims(k, 0, "shape", &s));
  const weft_dtype type = k->node->out_type[0];
  if (weft__dtype_class(type) == CLASS_FLOAT || !weft__dtype_is_plain(type)) return weft__kernel_no_type(k, type);
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  const size_t bytes = (size_t)weft__tensor_count(out) * weft__dtype_size(type);
  char *to = out->data;
  for (size_t at = 0; at < bytes;) {
    const ssize_t got = getrandom(to + at, bytes - at < 256 ? bytes - at : 256, 0);
    if (got <= 0) return weft__kernel_fail(k, WEFT_INTERNAL, "getrandom gave no numbers");
    at += (size_t)got;
  }
  return WEFT_OK;
}

/* ---- shapes ---- */

static weft_err rng_state_draw_infer(infer *s) { return weft__infer_shape_value(s, 2, &s->out[0]); }
static weft_err first_infer(infer *s) { return weft__infer_shape_value(s, 1, &s->out[0]); }
static weft_err rng_state_shape_infer(infer *s) { return weft__infer_shape_value(s, 0, &s->out[0]); }

static weft_err rng_state_read_infer(infer *s) {
  s->out[0] = SHAPE1(LENGTH);
  return WEFT_OK;
}

/* ---- cases ---- */
#define FLAGS CASE_NO_GRAD | CASE_FIXED_TYPE
static const op_case float_cases[] = {
    {"&i64[3] 1 2 3; i64[] 1; i64[1] 5", NULL, "dtype=float", FLAGS},
    {"&i64[3] -1 2 3; i64[] 1; i32[2] 5 3", NULL, "dtype=double", FLAGS},
    {"&i64[3] 1 2 3; i64[] 7; i64[1] 5", "error INVALID_ARGUMENT", "dtype=float", FLAGS},
    {"&i64[2] 1 2; i64[] 1; i64[1] 5", "error INVALID_ARGUMENT", "dtype=float", FLAGS},
    {0},
};
/* TensorFlow refuses the op in graphs of version 29 and later; these are its numbers in one of version 20. */
static const op_case first_cases[] = {
    {"&i64[4] 1 2 3 4; i64[1] 3", "f32[3] 1.2501178979873657 0.35540005564689636 -0.8838174939155579", "dtype=float",
     FLAGS | CASE_NO_PARITY},
    {"&i64[4] 0 2 3 4; i64[1] 3", "error INVALID_ARGUMENT", "dtype=float", FLAGS | CASE_NO_PARITY},
    {"&i64[3] 1 2 3; i64[1] 3", "error INVALID_ARGUMENT", "dtype=float", FLAGS | CASE_NO_PARITY},
    {0},
};
static const op_case bits_cases[] = {
    {"&i64[3] 1 2 3; i64[] 1; i64[1] 5", NULL, "dtype=uint64", FLAGS},
    {"&i64[3] 1 2 3; i64[] 1; i64[1] 5", NULL, "dtype=int32", FLAGS},
    {0},
};
static const op_case below_cases[] = {
    {"&i64[3] 1 2 3; i64[] 1; i64[1] 5; i64[] -3; i64[] 9", NULL, NULL, FLAGS},
    {"&i64[3] 1 2 3; i64[] 1; i64[1] 5; i32[] 3; i32[] 3", "error INVALID_ARGUMENT", NULL, FLAGS},
    {0},
};
static const op_case skip_cases[] = {
    {"&i64[3] 1 2 3; i64[] 1; i64[] 5", NULL, NULL, FLAGS},
    {"&i64[3] -1 2 3; i64[] 1; i64[] 5", NULL, NULL, FLAGS},
    {0},
};
static const op_case read_cases[] = {
    {"&i64[3] 1 2 3; i32[] 1; u64[] 5", "i64[3] 1 2 3", NULL, FLAGS},
    {"&i64[3] -1 2 3; i32[] 1; u64[] 5", NULL, NULL, FLAGS},
    {0},
};
static const op_case entropy_cases[] = {{"i64[1] 3", NULL, NULL, CASE_RANDOM | FLAGS | CASE_NO_PARITY}, {0}};

#define STATEFUL(name_) name_ "(resource:resource, algorithm:int64, shape:shape_dtype"
#define END(type_) " -> (output:dtype) | dtype:type=" type_ " shape_dtype:type=int64 ; stateful"
#define DRAWS(cpu_, cases_) .infer = rng_state_draw_infer, .cpu = (cpu_), .cases = (cases_)

OPS(rng_state) = {
    {STATEFUL("StatefulUniform") ")" END("float"), "Numbers spread evenly over [0, 1).",
     DRAWS(rng_state_uniform_cpu, float_cases)},
    {STATEFUL("StatefulStandardNormalV2") ")" END("float"), "Normal numbers of mean 0 and deviation 1.",
     DRAWS(rng_state_normal_cpu, float_cases)},
    {"StatefulStandardNormal(resource:resource, shape:shape_dtype)" END("float"),
     "StatefulStandardNormalV2 in graphs before version 29.", .infer = first_infer, .cpu = first_cpu,
     .cases = first_cases},
    {STATEFUL("StatefulTruncatedNormal") ")" END("float"), "Normal numbers, those beyond two deviations drawn again.",
     DRAWS(rng_state_truncated_cpu, float_cases)},
    {STATEFUL("StatefulUniformFullInt") ")" END("uint64"), "Integers spread evenly over their type.",
     DRAWS(bits_cpu, bits_cases)},
    {STATEFUL("StatefulUniformInt") ", minval:dtype, maxval:dtype)" END("int64"),
     "Integers spread evenly over [minval, maxval).", DRAWS(below_cpu, below_cases)},
    {"RngSkip(resource:resource, algorithm:int64, delta:int64) -> () ; stateful",
     "Advances a generator by as much as delta draws.", .infer = weft__infer_none, .cpu = skip_cpu,
     .cases = skip_cases},
    {"RngReadAndSkip(resource:resource, alg:int32, delta:uint64) -> (value:int64) ; stateful",
     "The state of a generator, which is advanced by as much as delta draws.", .infer = rng_state_read_infer,
     .cpu = rng_state_read_cpu, .cases = read_cases},
    {"NonDeterministicInts(shape:shape_dtype) -> (output:dtype) | dtype:type=int64 shape_dtype:type=int64 ; stateful",
     "Integers that no seed decides.", .infer = rng_state_shape_infer, .cpu = entropy_cpu, .cases = entropy_cases},
    {0},
};
