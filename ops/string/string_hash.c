/* string_hash.c - strings to buckets: StringToHashBucket, ...Fast, ...Strong.
 *
 * Checkpoints and vocabularies depend on the numbers, so the three hashes are the published ones
 * that TensorFlow uses: MurmurHash64A, FarmHash's Fingerprint64 and SipHash-2-4.  All read words
 * least byte first. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include <string.h>

static uint64_t word(const char *s) {
  uint64_t v;
  memcpy(&v, s, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  v = __builtin_bswap64(v);
#endif
  return v;
}

static uint32_t half_word(const char *s) {
  uint32_t v;
  memcpy(&v, s, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  v = __builtin_bswap32(v);
#endif
  return v;
}

/* The n < 8 last bytes as a word. */
static uint64_t tail(const char *s, size_t n) {
  uint64_t v = 0;
  for (size_t i = n; i-- > 0;) v = v << 8 | (unsigned char)s[i];
  return v;
}

static uint64_t rotate(uint64_t v, int right) { return v >> right | v << (64 - right); }
static uint64_t fold(uint64_t v) { return v ^ v >> 47; }

/* ---- MurmurHash64A ---- */

static uint64_t murmur(const char *s, size_t n) {
  const uint64_t m = 0xc6a4a7935bd1e995u, seed = 0xDECAFCAFFEu;
  uint64_t h = seed ^ n * m;
  for (; n >= 8; s += 8, n -= 8) h = (h ^ fold(word(s) * m) * m) * m;
  if (n) h = (h ^ tail(s, n)) * m;
  return fold(fold(h) * m);
}

/* ---- FarmHash ---- */

static const uint64_t k0 = 0xc3a5c85c97cb3127u, k1 = 0xb492b66fbe98f273u, k2 = 0x9ae16a3b2f90404fu;

static uint64_t pair_hash(uint64_t u, uint64_t v, uint64_t mul) {
  uint64_t a = fold((u ^ v) * mul);
  return fold((v ^ a) * mul) * mul;
}

static uint64_t farm_to_16(const char *s, size_t n) {
  uint64_t mul = k2 + n * 2;
  if (n >= 8) {
    uint64_t a = word(s) + k2, b = word(s + n - 8);
    return pair_hash(rotate(b, 37) * mul + a, (rotate(a, 25) + b) * mul, mul);
  }
  if (n >= 4) return pair_hash(n + ((uint64_t)half_word(s) << 3), half_word(s + n - 4), mul);
  if (n == 0) return k2;
  uint64_t a = (unsigned char)s[0], b = (unsigned char)s[n >> 1], c = (unsigned char)s[n - 1];
  return fold((a + (b << 8)) * k2 ^ (n + (c << 2)) * k0) * k2;
}

static uint64_t farm_to_32(const char *s, size_t n) {
  uint64_t mul = k2 + n * 2, a = word(s) * k1, b = word(s + 8), c = word(s + n - 8) * mul, d = word(s + n - 16) * k2;
  return pair_hash(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + k2, 18) + c, mul);
}

static uint64_t farm_to_64(const char *s, size_t n) {
  uint64_t mul = k2 + n * 2, a = word(s) * k2, b = word(s + 8), c = word(s + n - 8) * mul, d = word(s + n - 16) * k2;
  uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d, z = pair_hash(y, a + rotate(b + k2, 18) + c, mul);
  uint64_t e = word(s + 16) * mul, f = word(s + 24);
  uint64_t g = (y + word(s + n - 32)) * mul, h = (z + word(s + n - 24)) * mul;
  return pair_hash(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, mul);
}

typedef struct two_words {
  uint64_t a, b;
} two_words;

static two_words weak_hash(const char *s, uint64_t a, uint64_t b) {
  uint64_t z = word(s + 24), c;
  a += word(s);
  b = rotate(b + a + z, 21);
  c = a;
  a += word(s + 8) + word(s + 16);
  b += rotate(a, 44);
  return (two_words){a + z, b + c};
}

typedef struct farm_state {
  uint64_t x, y, z;
  two_words v, w;
} farm_state;

/* One block of 64 bytes; the last has another multiplier and weighs some words nine times. */
static void farm_block(farm_state *f, const char *s, uint64_t mul, uint64_t weight) {
  f->x = rotate(f->x + f->y + f->v.a + word(s + 8), 37) * mul;
  f->y = rotate(f->y + f->v.b + word(s + 48), 42) * mul;
  f->x ^= f->w.b * weight;
  f->y += f->v.a * weight + word(s + 40);
  f->z = rotate(f->z + f->w.a, 33) * mul;
  f->v = weak_hash(s, f->v.b * mul, f->x + f->w.a);
  f->w = weak_hash(s + 32, f->z + f->w.b, f->y + word(s + 16));
  uint64_t swap = f->z;
  f->z = f->x;
  f->x = swap;
}

static uint64_t farm(const char *s, size_t n) {
  if (n <= 16) return farm_to_16(s, n);
  if (n <= 32) return farm_to_32(s, n);
  if (n <= 64) return farm_to_64(s, n);
  const uint64_t seed = 81;
  farm_state f = {.x = seed * k2 + word(s), .y = seed * k1 + 113};
  f.z = fold(f.y * k2 + 113) * k2;
  size_t blocks = (n - 1) / 64, rest = (n - 1) & 63;
  const char *last = s + blocks * 64 + rest - 63;
  for (size_t i = 0; i < blocks; i++) farm_block(&f, s + 64 * i, k1, 1);
  uint64_t mul = k1 + ((f.z & 0xff) << 1);
  f.w.a += rest;
  f.v.a += f.w.a;
  f.w.a += f.v.a;
  farm_block(&f, last, mul, 9);
  return pair_hash(pair_hash(f.v.a, f.w.a, mul) + fold(f.y) * k0 + f.z, pair_hash(f.v.b, f.w.b, mul) + f.x, mul);
}

/* ---- SipHash-2-4 ---- */

static void sip_round(uint64_t v[4]) {
  v[0] += v[1];
  v[1] = rotate(v[1], 64 - 13) ^ v[0];
  v[0] = rotate(v[0], 32);
  v[2] += v[3];
  v[3] = rotate(v[3], 64 - 16) ^ v[2];
  v[0] += v[3];
  v[3] = rotate(v[3], 64 - 21) ^ v[0];
  v[2] += v[1];
  v[1] = rotate(v[1], 64 - 17) ^ v[2];
  v[2] = rotate(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t w) {
  v[3] ^= w;
  sip_round(v);
  sip_round(v);
  v[0] ^= w;
}

static uint64_t sip(const char *s, size_t n, uint64_t key0, uint64_t key1) {
  uint64_t v[4] = {key0 ^ 0x736f6d6570736575u, key1 ^ 0x646f72616e646f6du, key0 ^ 0x6c7967656e657261u,
                   key1 ^ 0x7465646279746573u};
  size_t all = n;
  for (; n >= 8; s += 8, n -= 8) sip_word(v, word(s));
  sip_word(v, (uint64_t)all << 56 | tail(s, n));
  v[2] ^= 0xff;
  for (int i = 0; i < 4; i++) sip_round(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- kernels ---- */

static weft_err hash_all(kernel *k, uint64_t (*hash)(const char *, size_t), const int64_t *key) {
  const weft_tensor *x = k->in[0];
  uint64_t buckets = (uint64_t)weft__node_int(k->node, "num_buckets", 1);
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  for (int64_t i = 0; i < weft__tensor_count(x); i++) {
    const str *s = TENSOR_DATA(x, str) + i;
    const char *data = s->size ? s->data : "";
    uint64_t h = key ? sip(data, s->size, (uint64_t)key[0], (uint64_t)key[1]) : hash(data, s->size);
    TENSOR_DATA(y, int64_t)[i] = (int64_t)(h % buckets);
  }
  return WEFT_OK;
}

static weft_err murmur_cpu(kernel *k) { return hash_all(k, murmur, NULL); }
static weft_err farm_cpu(kernel *k) { return hash_all(k, farm, NULL); }

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
