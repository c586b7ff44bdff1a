/* hash.c - MurmurHash64A, FarmHash's Fingerprint64 and Fingerprint128, and SipHash-2-4.  All read little-endian words.
 */
#include "codec/hash.h"
#include <string.h>

static uint64_t hash_word(const char *s) {
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

/* Returns the last n < 8 bytes as a word. */
static uint64_t hash_tail(const char *s, size_t n) {
  uint64_t v = 0;
  for (size_t i = n; i-- > 0;) v = v << 8 | (unsigned char)s[i];
  return v;
}

static uint64_t hash_rotate(uint64_t v, int right) { return v >> right | v << (64 - right); }
static uint64_t hash_fold(uint64_t v) { return v ^ v >> 47; }

/* ---- MurmurHash64A ---- */

uint64_t weft__hash_murmur(const char *s, size_t n) {
  const uint64_t m = 0xc6a4a7935bd1e995u, seed = 0xDECAFCAFFEu;
  uint64_t h = seed ^ n * m;
  for (; n >= 8; s += 8, n -= 8) h = (h ^ hash_fold(hash_word(s) * m) * m) * m;
  if (n) h = (h ^ hash_tail(s, n)) * m;
  return hash_fold(hash_fold(h) * m);
}

/* ---- FarmHash ---- */

static const uint64_t k0 = 0xc3a5c85c97cb3127u, k1 = 0xb492b66fbe98f273u, k2 = 0x9ae16a3b2f90404fu;

static uint64_t pair_hash(uint64_t u, uint64_t v, uint64_t mul) {
  uint64_t a = hash_fold((u ^ v) * mul);
  return hash_fold((v ^ a) * mul) * mul;
}

static uint64_t farm_to_16(const char *s, size_t n) {
  uint64_t mul = k2 + n * 2;
  if (n >= 8) {
    uint64_t a = hash_word(s) + k2, b = hash_word(s + n - 8);
    return pair_hash(hash_rotate(b, 37) * mul + a, (hash_rotate(a, 25) + b) * mul, mul);
  }
  if (n >= 4) return pair_hash(n + ((uint64_t)half_word(s) << 3), half_word(s + n - 4), mul);
  if (n == 0) return k2;
  uint64_t a = (unsigned char)s[0], b = (unsigned char)s[n >> 1], c = (unsigned char)s[n - 1];
  return hash_fold((a + (b << 8)) * k2 ^ (n + (c << 2)) * k0) * k2;
}

static uint64_t farm_to_32(const char *s, size_t n) {
  uint64_t mul = k2 + n * 2, a = hash_word(s) * k1, b = hash_word(s + 8), c = hash_word(s + n - 8) * mul,
           d = hash_word(s + n - 16) * k2;
  return pair_hash(hash_rotate(a + b, 43) + hash_rotate(c, 30) + d, a + hash_rotate(b + k2, 18) + c, mul);
}

static uint64_t farm_to_64(const char *s, size_t n) {
  uint64_t mul = k2 + n * 2, a = hash_word(s) * k2, b = hash_word(s + 8), c = hash_word(s + n - 8) * mul,
           d = hash_word(s + n - 16) * k2;
  uint64_t y = hash_rotate(a + b, 43) + hash_rotate(c, 30) + d, z = pair_hash(y, a + hash_rotate(b + k2, 18) + c, mul);
  uint64_t e = hash_word(s + 16) * mul, f = hash_word(s + 24);
  uint64_t g = (y + hash_word(s + n - 32)) * mul, h = (z + hash_word(s + n - 24)) * mul;
  return pair_hash(hash_rotate(e + f, 43) + hash_rotate(g, 30) + h, e + hash_rotate(f + a, 18) + g, mul);
}

typedef struct two_words {
  uint64_t a, b;
} two_words;

static two_words weak_hash(const char *s, uint64_t a, uint64_t b) {
  uint64_t z = hash_word(s + 24), c;
  a += hash_word(s);
  b = hash_rotate(b + a + z, 21);
  c = a;
  a += hash_word(s + 8) + hash_word(s + 16);
  b += hash_rotate(a, 44);
  return (two_words){a + z, b + c};
}

typedef struct farm_state {
  uint64_t x, y, z;
  two_words v, w;
} farm_state;

/* Processes one block of 64 bytes.  The last block has another multiplier and weights some words by nine. */
static void farm_block(farm_state *f, const char *s, uint64_t mul, uint64_t weight) {
  f->x = hash_rotate(f->x + f->y + f->v.a + hash_word(s + 8), 37) * mul;
  f->y = hash_rotate(f->y + f->v.b + hash_word(s + 48), 42) * mul;
  f->x ^= f->w.b * weight;
  f->y += f->v.a * weight + hash_word(s + 40);
  f->z = hash_rotate(f->z + f->w.a, 33) * mul;
  f->v = weak_hash(s, f->v.b * mul, f->x + f->w.a);
  f->w = weak_hash(s + 32, f->z + f->w.b, f->y + hash_word(s + 16));
  uint64_t swap = f->z;
  f->z = f->x;
  f->x = swap;
}

uint64_t weft__hash_farm(const char *s, size_t n) {
  if (n <= 16) return farm_to_16(s, n);
  if (n <= 32) return farm_to_32(s, n);
  if (n <= 64) return farm_to_64(s, n);
  const uint64_t seed = 81;
  farm_state f = {.x = seed * k2 + hash_word(s), .y = seed * k1 + 113};
  f.z = hash_fold(f.y * k2 + 113) * k2;
  size_t blocks = (n - 1) / 64, rest = (n - 1) & 63;
  const char *last = s + blocks * 64 + rest - 63;
  for (size_t i = 0; i < blocks; i++) farm_block(&f, s + 64 * i, k1, 1);
  uint64_t mul = k1 + ((f.z & 0xff) << 1);
  f.w.a += rest;
  f.v.a += f.w.a;
  f.w.a += f.v.a;
  farm_block(&f, last, mul, 9);
  return pair_hash(pair_hash(f.v.a, f.w.a, mul) + hash_fold(f.y) * k0 + f.z, pair_hash(f.v.b, f.w.b, mul) + f.x, mul);
}

/* ---- FarmHash, 128 bits ---- */

static uint64_t pair_hash_128(uint64_t u, uint64_t v) { return pair_hash(u, v, 0x9ddfea08eb382d69u); }

/* Hashes fewer than 128 bytes. */
static void farm128_short(const char *s, size_t n, two_words seed, uint64_t out[2]) {
  uint64_t a = seed.a, b = seed.b, c, d;
  if (n <= 16) {
    a = hash_fold(a * k1) * k1;
    c = b * k1 + farm_to_16(s, n);
    d = hash_fold(a + (n >= 8 ? hash_word(s) : c));
  } else {
    c = pair_hash_128(hash_word(s + n - 8) + k1, a);
    d = pair_hash_128(b + n, c + hash_word(s + n - 16));
    a += d;
    for (size_t i = 0; i < n - 16; i += 16) {
      a = (a ^ hash_fold(hash_word(s + i) * k1) * k1) * k1;
      b ^= a;
      c = (c ^ hash_fold(hash_word(s + i + 8) * k1) * k1) * k1;
      d ^= c;
    }
  }
  a = pair_hash_128(a, c);
  b = pair_hash_128(d, b);
  out[0] = a ^ b;
  out[1] = pair_hash_128(b, a);
}

/* Processes the last n < 128 bytes before `end`, 32 at a time from the back.  Reads up to 31 bytes in front of them. */
static void farm128_tail(farm_state *f, const char *end, size_t n) {
  f->x += hash_rotate(f->v.a + f->z, 49) * k0;
  f->y = f->y * k0 + hash_rotate(f->w.b, 37);
  f->z = f->z * k0 + hash_rotate(f->w.a, 27);
  f->w.a *= 9;
  f->v.a *= k0;
  for (size_t done = 32; done < n + 32; done += 32) {
    const char *s = end - done;
    f->y = hash_rotate(f->x + f->y, 42) * k0 + f->v.b;
    f->w.a += hash_word(s + 16);
    f->x = f->x * k0 + f->w.a;
    f->z += f->w.b + hash_word(s);
    f->w.b += f->v.a;
    f->v = weak_hash(s, f->v.a + f->z, f->v.b);
    f->v.a *= k0;
  }
}

void weft__hash_farm128(const char *s, size_t n, uint64_t out[2]) {
  two_words seed = {k0, k1};
  if (n >= 16) {
    seed = (two_words){hash_word(s), hash_word(s + 8) + k0};
    s += 16, n -= 16;
  }
  if (n < 128) {
    farm128_short(s, n, seed, out);
    return;
  }
  farm_state f = {.x = seed.a, .y = seed.b, .z = n * k1};
  f.v.a = hash_rotate(f.y ^ k1, 49) * k1 + hash_word(s);
  f.v.b = hash_rotate(f.v.a, 42) * k1 + hash_word(s + 8);
  f.w.a = hash_rotate(f.y + f.z, 35) * k1 + f.x;
  f.w.b = hash_rotate(f.x + hash_word(s + 88), 53) * k1;
  const size_t blocks = n / 128 * 2;
  for (size_t i = 0; i < blocks; i++) farm_block(&f, s + 64 * i, k1, 1);
  farm128_tail(&f, s + n, n % 128);
  const uint64_t x = pair_hash_128(f.x, f.v.a), y = pair_hash_128(f.y + f.z, f.w.a);
  out[0] = pair_hash_128(x + f.v.b, f.w.b) + y;
  out[1] = pair_hash_128(x + f.w.b, y + f.v.b);
}

/* ---- SipHash-2-4 ---- */

static void sip_round(uint64_t v[4]) {
  v[0] += v[1];
  v[1] = hash_rotate(v[1], 64 - 13) ^ v[0];
  v[0] = hash_rotate(v[0], 32);
  v[2] += v[3];
  v[3] = hash_rotate(v[3], 64 - 16) ^ v[2];
  v[0] += v[3];
  v[3] = hash_rotate(v[3], 64 - 21) ^ v[0];
  v[2] += v[1];
  v[1] = hash_rotate(v[1], 64 - 17) ^ v[2];
  v[2] = hash_rotate(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t w) {
  v[3] ^= w;
  sip_round(v);
  sip_round(v);
  v[0] ^= w;
}

uint64_t weft__hash_sip(const char *s, size_t n, uint64_t key0, uint64_t key1) {
  uint64_t v[4] = {key0 ^ 0x736f6d6570736575u, key1 ^ 0x646f72616e646f6du, key0 ^ 0x6c7967656e657261u,
                   key1 ^ 0x7465646279746573u};
  size_t all = n;
  for (; n >= 8; s += 8, n -= 8) sip_word(v, hash_word(s));
  sip_word(v, (uint64_t)all << 56 | hash_tail(s, n));
  v[2] ^= 0xff;
  for (int i = 0; i < 4; i++) sip_round(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t weft__hash_join(uint64_t a, uint64_t b) {
  const uint64_t m = 0xc6a4a7935bd1e995u;
  const uint64_t h = (a ^ m ^ hash_fold(b * m) * m) * m;
  return hash_fold(hash_fold(h) * m);
}
