/* index_shuffle.c - RandomIndexShuffle: where an index goes in a permutation of [0, max_index] that a seed decides.
 *
 * The permutation is never stored.  The Simon block cipher, whose key is the seed, is a bijection on blocks of 2 w
 * bits. An index is enciphered again until the result is not above max_index, which keeps it a bijection on that
 * range.  The seed has 3 words of w bits, so the key schedule is Simon's for 3 words.  As in TensorFlow, its sequence
 * of constants ends after w bits, and a max_index that is an even power of 2 gets blocks without room for it, so that
 * it shares the place of index 0. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include "tensor/tensor.h"
#include <math.h>

enum { SEED_WORDS = 3, MIN_ROUNDS = 4, MAX_ROUNDS = 64, MIN_HALF_BITS = 8 };

/* Bit i is the constant of round i + 3. */
#define ROUND_CONSTANTS 0x192c0ef5u

static uint64_t half_mask(int w) { return ((uint64_t)1 << w) - 1; }
static uint64_t turn_left(uint64_t v, int by, int w) { return ((v << by) | (v >> (w - by))) & half_mask(w); }
static uint64_t turn_right(uint64_t v, int by, int w) { return turn_left(v, w - by, w); }

typedef struct simon {
  int w, rounds; /* w: bits of half a block */
  uint64_t key[MAX_ROUNDS];
} simon;

static void simon_key(simon *c, const uint64_t *seed, uint64_t max, int rounds) {
  const int bits = max ? (int)ceil(log2((double)max)) : 0;
  c->w = (bits + 1) / 2 < MIN_HALF_BITS ? MIN_HALF_BITS : (bits + 1) / 2;
  c->rounds = rounds;
  for (int i = 0; i < SEED_WORDS; i++) c->key[i] = seed[i] & half_mask(c->w);
  for (int i = SEED_WORDS; i < rounds; i++) {
    const uint64_t turned = turn_right(c->key[i - 1], 3, c->w),
                   bit = (ROUND_CONSTANTS & half_mask(c->w)) >> (i - SEED_WORDS) & 1;
    const uint64_t constant = (half_mask(c->w) - 3) ^ bit;
    c->key[i] = c->key[i - SEED_WORDS] ^ turned ^ turn_right(turned, 1, c->w) ^ constant;
  }
}

static uint64_t simon_cipher(const simon *c, uint64_t v) {
  uint64_t x = v & half_mask(c->w), y = v >> c->w & half_mask(c->w);
  for (int i = 0; i < c->rounds; i++) {
    const uint64_t mixed = (turn_left(x, 1, c->w) & turn_left(x, 8 % c->w, c->w)) ^ turn_left(x, 2, c->w);
    const uint64_t next = y ^ mixed ^ c->key[i];
    y = x;
    x = next;
  }
  return y << c->w | x;
}

/* Terminates: a bijection leads from an index in the range back into the range.  That takes up to 2^16 turns, the
 * number of blocks of the smallest size. */
static uint64_t shuffle_index(const simon *c, uint64_t index, uint64_t max, int64_t *turns) {
  do index = simon_cipher(c, index), ++*turns;
  while (index > max);
  return index;
}

typedef struct shuffle_work {
  const weft_tensor *index, *seed, *max;
  weft_tensor *out;
  int rounds;
  long_work *work;
} shuffle_work;

/* Returns element i of a vector, or the scalar. */
static uint64_t index_shuffle_at(const weft_tensor *t, int64_t i) {
  return (uint64_t)weft__tensor_int(t, t->shape.rank ? i : 0);
}

static void shuffle_range(void *arg, int64_t begin, int64_t end) {
  const shuffle_work *j = arg;
  int64_t spent = 0, turns = 1;
  for (int64_t i = begin; i < end && !weft__long_work_spent(j->work, &spent, turns * j->rounds); i++) {
    simon c;
    uint64_t seed[SEED_WORDS];
    const uint64_t max = index_shuffle_at(j->max, i);
    for (int s = 0; s < SEED_WORDS; s++)
      seed[s] = (uint64_t)weft__tensor_int(j->seed, (j->seed->shape.rank == 2 ? i * SEED_WORDS : 0) + s);
    simon_key(&c, seed, max, j->rounds);
    turns = 1;
    const uint64_t to = shuffle_index(&c, index_shuffle_at(j->index, i), max, &turns);
    if (weft__dtype_size(j->out->dtype) == sizeof to)
      TENSOR_DATA(j->out, uint64_t)[i] = to;
    else
      TENSOR_DATA(j->out, uint32_t)[i] = (uint32_t)to;
  }
}

/* The rank that an input has when it is one value for all elements. */
static int single_rank(int i) { return i == 1; }

/* Stores the number of elements, and whether the output is a vector. */
static weft_err shuffle_sizes(const kernel *k, int64_t *n, bool *many) {
  static const char *const arg[] = {"index", "seed", "max_index"};
  *n = 1;
  *many = false;
  for (int i = 0; i < 3; i++) {
    const shape *s = &k->in[i]->shape;
    if (s->rank < single_rank(i) || s->rank > single_rank(i) + 1 || (i == 1 && s->dim[s->rank - 1] != SEED_WORDS))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must %s, but has shape %s", arg[i],
                               i == 1 ? "have shape [3] or [n, 3]" : "be a scalar or a vector", weft__shape_text(s));
    if (s->rank == single_rank(i)) continue;
    *many = true;
    if (s->dim[0] > *n) *n = s->dim[0];
  }
  for (int i = 0; i < 3; i++) {
    const shape *s = &k->in[i]->shape;
    if (s->rank > single_rank(i) && s->dim[0] != *n)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s has shape %s, but other inputs have %lld elements", arg[i],
                               weft__shape_text(s), (long long)*n);
  }
  return WEFT_OK;
}

static weft_err shuffle_check(const kernel *k, int64_t n) {
  const bool is_signed = k->in[0]->dtype == WEFT_INT32 || k->in[0]->dtype == WEFT_INT64;
  for (int64_t i = 0; i < n; i++) {
    const uint64_t index = index_shuffle_at(k->in[0], i), max = index_shuffle_at(k->in[2], i);
    if ((is_signed && (int64_t)max < 0) || index > max)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "index must be in [0, max_index = %lld], but is %lld",
                               (long long)max, (long long)index);
  }
  return WEFT_OK;
}

static weft_err index_shuffle_cpu(kernel *k) {
  int64_t n;
  bool many;
  const int64_t rounds = weft__node_int(k->node, "rounds", MIN_ROUNDS);
  if (rounds < MIN_ROUNDS || rounds > MAX_ROUNDS || rounds % 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "rounds must be an even number from %d to %d, but is %lld",
                             MIN_ROUNDS, MAX_ROUNDS, (long long)rounds);
  WEFT_TRY(shuffle_sizes(k, &n, &many));
  WEFT_TRY(shuffle_check(k, n));
  long_work work = weft__long_work(k);
  shuffle_work j = {
      k->in[0], k->in[1], k->in[2], weft__out(k, 0, many ? &SHAPE1(n) : &SHAPE_SCALAR), weft__int_sat(rounds), &work};
  if (!j.out) return WEFT_OOM;
  weft__kernel_loop(k, n, 200, shuffle_range, &j);
  return weft__kernel_in(k, weft__long_work_end(&work));
}

static weft_err shuffle_infer(infer *s) {
  int64_t n = -1;
  bool many = false, known = true;
  for (int i = 0; i < 3; i++) {
    const shape *x = &s->in[i];
    if (x->rank > single_rank(i) + 1)
      return weft__infer_fail(s, "Shape must be at most rank %d but is rank %d", single_rank(i) + 1, x->rank);
    if (i == 1 && (x->rank == 0 || (x->rank > 0 && x->dim[x->rank - 1] != SEED_WORDS)))
      return weft__infer_fail(s, "Seed must have shape [3] or [n, 3] but got %s.", weft__shape_text(x));
    known = known && x->rank >= 0;
    if (x->rank <= single_rank(i)) continue;
    many = true;
    if (x->dim[0] > n) n = x->dim[0];
  }
  if (known) s->out[0] = many ? SHAPE1(n) : SHAPE_SCALAR;
  return WEFT_OK;
}

static const op_case shuffle_cases[] = {
    {"i32[8] seq; u32[3] 1 2 3; i32[] 7", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[]  5; i64[3] -1 2 99999999999; i64[] 1000000000000", NULL, NULL, CASE_FIXED_TYPE},
    {"u64[300] seq; i32[3] 7 8 9; u64[] 65536", NULL, "rounds=8", CASE_FIXED_TYPE},
    {"u32[3] 1 0 3; u64[3,3] seq; u32[3] 3 70000 4000000000", NULL, "rounds=64", CASE_FIXED_TYPE},
    {"u64[] 1; i32[4,3] seq; u64[] 18000000000000000000", NULL, "rounds=6", CASE_FIXED_TYPE},
    {"i32[] 0; i32[3] 1 2 3; i32[5] 0 1 2 300 2147483647", NULL, NULL, CASE_FIXED_TYPE},
    {"i32[] 2; i32[2] 1 2; i32[] 4", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"i32[2] 2; i32[3,3] seq; i32[] 4", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"i32[] 5; i32[3] 1 2 3; i32[] 4", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"i32[] -1; i32[3] 1 2 3; i32[] -1", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"i32[] 1; i32[3] 1 2 3; i32[] 4", "error INVALID_ARGUMENT", "rounds=5", CASE_FIXED_TYPE | CASE_NO_PARITY},
    {0},
};

OPS(index_shuffle) = {
    {"RandomIndexShuffle(index:dtype, seed:Tseed, max_index:dtype) -> (output:dtype) | rounds:int=4 "
     "dtype:type{int32,uint32,int64,uint64} Tseed:type{int32,uint32,int64,uint64}",
     "The place of index in a permutation of [0, max_index] that the seed decides.", .infer = shuffle_infer,
     .cpu = index_shuffle_cpu, .no_grad = true, .cases = shuffle_cases},
    {0},
};
