/* string_hash.c - hashes strings to buckets: StringToHashBucket, ...Fast, ...Strong; Fingerprint; SdcaFprint.
 *
 * Checkpoints and vocabularies depend on the numbers, so the hash functions are the published ones that
 * TensorFlow uses (codec/hash.h). */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "codec/hash.h"
#include "kernels/work/long_work.h"
#include <string.h>

/* ---- kernels ---- */

static weft_err hash_all(kernel *k, uint64_t (*hash)(const char *, size_t), const int64_t *key) {
  const weft_tensor *x = k->in[0];
  uint64_t buckets = (uint64_t)weft__node_int(k->node, "num_buckets", 1);
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  for (int64_t i = 0; i < weft__tensor_count(x); i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const str *s = TENSOR_DATA(x, str) + i;
    const char *data = s->size ? s->data : "";
    uint64_t h = key ? weft__hash_sip(data, s->size, (uint64_t)key[0], (uint64_t)key[1]) : hash(data, s->size);
    TENSOR_DATA(y, int64_t)[i] = (int64_t)(h % buckets);
  }
  return WEFT_OK;
}

static weft_err murmur_cpu(kernel *k) { return hash_all(k, weft__hash_murmur, NULL); }
static weft_err farm_cpu(kernel *k) { return hash_all(k, weft__hash_farm, NULL); }

static weft_err sip_cpu(kernel *k) {
  const attr *key = weft__node_attr(k->node, "key");
  if (!key || !key->is_list || key->n != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Key must have 2 elements");
  return hash_all(k, NULL, key->is);
}

/* ---- Fingerprint: the hash of each row's bytes; for several strings, the hash of their hashes ---- */

static uint64_t row_fingerprint(const weft_tensor *t, int64_t row, int64_t width, uint64_t *room) {
  if (t->dtype != WEFT_STRING) {
    const size_t size = (size_t)width * weft__dtype_size(t->dtype);
    return weft__hash_farm((const char *)t->data + (size_t)row * size, size);
  }
  for (int64_t i = 0; i < width; i++) {
    const str *s = TENSOR_DATA(t, str) + row * width + i;
    room[i] = weft__hash_farm(s->size ? s->data : "", s->size);
  }
  return t->shape.rank == 1 ? room[0] : weft__hash_farm((const char *)room, (size_t)width * sizeof *room);
}

static weft_err fingerprint_cpu(kernel *k) {
  const weft_tensor *t = k->in[0];
  WEFT_TRY(weft__kernel_scalar(k, 1, "method"));
  const str *method = k->in[1]->data;
  if (method->size != 10 || memcmp(method->data, "farmhash64", 10) != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Unsupported fingerprint method: %.*s (there is farmhash64)",
                             weft__int_sat(method->size), method->size ? method->data : "");
  if (t->shape.rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "`data` should have at least one dimension: []");
  if (weft__dtype_class(t->dtype) == CLASS_OBJECT) return weft__kernel_no_type(k, t->dtype);
  const int64_t rows = t->shape.dim[0], width = weft__shape_product(&t->shape, 1, t->shape.rank);
  weft_tensor *out = weft__out(k, 0, &SHAPE2(rows, 8));
  uint64_t *room = weft__alloc((size_t)(width + 1) * sizeof *room);
  weft_err err = out && room ? WEFT_OK : WEFT_OOM;
  for (int64_t r = 0; r < rows && !err; r++) {
    uint64_t h = row_fingerprint(t, r, width, room);
    for (int i = 0; i < 8; i++, h >>= 8) TENSOR_DATA(out, uint8_t)[8 * r + i] = (uint8_t)h;
  }
  weft__free(room);
  return err;
}

static weft_err fingerprint_infer(infer *s) {
  if (s->in[0].rank == 0) return weft__infer_fail(s, "`data` should have at least one dimension");
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  s->out[0] = SHAPE2(s->in[0].rank > 0 ? s->in[0].dim[0] : -1, 8);
  return WEFT_OK;
}

/* ---- SdcaFprint: 128 bits of each string, which name an example ---- */

static weft_err sdca_fprint_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  WEFT_TRY(weft__kernel_vector(k, 0, "input"));
  const int64_t n = x->shape.dim[0];
  weft_tensor *y = weft__out(k, 0, &SHAPE2(n, 2));
  if (!y) return WEFT_OOM;
  for (int64_t i = 0; i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const str *s = TENSOR_DATA(x, str) + i;
    weft__hash_farm128(s->size ? s->data : "", s->size, (uint64_t *)TENSOR_DATA(y, int64_t) + 2 * i);
  }
  return WEFT_OK;
}

static weft_err sdca_fprint_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 1, NULL));
  s->out[0] = SHAPE2(s->in[0].rank == 1 ? s->in[0].dim[0] : -1, 2);
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case fingerprint_cases[] = {
    {"str[2] \"abc\" \"\"; str[] \"farmhash64\"", NULL, NULL, CASE_FIXED_TYPE},
    {"str[2,2] \"a\" \"b\" \"c\" \"d\"; str[] \"farmhash64\"", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[2,3] seq; str[] \"farmhash64\"", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i64[0]; str[] \"farmhash64\"", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[1] 1; str[] \"md5\"", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};

#define LONG "0123456789abcdefghijklmnopqrstuvwxyz"
#define SOME                                                                                                           \
  "str[7] \"a\" \"\" \"hello\" \"hello world\" \"" LONG "\" \"" LONG LONG "\" \"" LONG LONG LONG LONG LONG "\""

static const op_case hash_cases[] = {
    {SOME, NULL, "num_buckets=4611686018427387847", 0},
    {"str[] \"a\"", "i64[] 0", "num_buckets=1", 0},
    {"str[0] \"\"", "i64[0] 0", "num_buckets=7", 0},
    {0},
};

static const op_case keyed_cases[] = {
    {SOME, NULL, "num_buckets=4611686018427387847 key=[123,-456]", 0},
    {"str[3] \"a\" \"\" \"hello world\"", "i64[3] 646 435 446", "num_buckets=1000 key=[1,2]", 0},
    {"str[1] \"a\"", "error INVALID_ARGUMENT", "num_buckets=7 key=[1]", 0},
    {0},
};

static const op_case sdca_fprint_cases[] = {
    {SOME, NULL, NULL, 0},
    {"str[8] \"abcd\" \"12345678\" \"0123456789abcdef\" \"0123456789abcdefg\" \"" LONG LONG LONG LONG
     "\" \"" LONG LONG LONG LONG LONG LONG LONG LONG "\" \"" LONG LONG LONG LONG LONG LONG LONG LONG
     "-\" \"0123456789abcdef0123456789abcdef\"",
     NULL, NULL, 0},
    {"str[0] \"\"", "i64[0,2]", NULL, 0},
    {"str[1,1] \"a\"", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {0},
};

OPS(string_hash) = {
    {"StringToHashBucket(string_tensor:string) -> (output:int64) | num_buckets:int>=1", "A bucket for each string.",
     .infer = weft__infer_same, .cpu = murmur_cpu, .no_grad = true, .cases = hash_cases},
    {"StringToHashBucketFast(input:string) -> (output:int64) | num_buckets:int>=1",
     "A bucket for each string, quickly.", .infer = weft__infer_same, .cpu = farm_cpu, .no_grad = true,
     .cases = hash_cases},
    {"StringToHashBucketStrong(input:string) -> (output:int64) | num_buckets:int>=1 key:list(int)",
     "A bucket for each string that cannot be foretold without the key.", .infer = weft__infer_same, .cpu = sip_cpu,
     .no_grad = true, .cases = keyed_cases},
    {"Fingerprint(data:T, method:string) -> (fingerprint:uint8) | T:type", "A hash of each row, as eight bytes.",
     .infer = fingerprint_infer, .cpu = fingerprint_cpu, .cases = fingerprint_cases, .narrow = NARROW_ALL},
    {"SdcaFprint(input:string) -> (output:int64)", "A hash of each string, as two numbers.", .infer = sdca_fprint_infer,
     .cpu = sdca_fprint_cpu, .no_grad = true, .cases = sdca_fprint_cases},
    {0},
};
