/* string_hash.c - strings to buckets: StringToHashBucket, ...Fast, ...Strong.
 *
 * Checkpoints and vocabularies depend on the numbers, so the three hashes are the published ones
 * that TensorFlow uses (codec/hash.h). */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "codec/hash.h"

/* ---- kernels ---- */

static weft_err hash_all(kernel *k, uint64_t (*hash)(const char *, size_t), const int64_t *key) {
  const weft_tensor *x = k->in[0];
  uint64_t buckets = (uint64_t)weft__node_int(k->node, "num_buckets", 1);
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  for (int64_t i = 0; i < weft__tensor_count(x); i++) {
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

/* ---- cases ---- */

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

OPS(string_hash) = {
    {"StringToHashBucket(string_tensor:string) -> (output:int64) | num_buckets:int>=1", "A bucket for each string.",
     .infer = weft__infer_same, .cpu = murmur_cpu, .no_grad = true, .cases = hash_cases},
    {"StringToHashBucketFast(input:string) -> (output:int64) | num_buckets:int>=1",
     "A bucket for each string, quickly.", .infer = weft__infer_same, .cpu = farm_cpu, .no_grad = true,
     .cases = hash_cases},
    {"StringToHashBucketStrong(input:string) -> (output:int64) | num_buckets:int>=1 key:list(int)",
     "A bucket for each string that cannot be foretold without the key.", .infer = weft__infer_same, .cpu = sip_cpu,
     .no_grad = true, .cases = keyed_cases},
    {0},
};
