/* random.h - filling a tensor with random numbers from a generator that is given: ops/random/random.c does it. */
#ifndef WEFT_OPS_RANDOM_RANDOM_H
#define WEFT_OPS_RANDOM_RANDOM_H

#include "base/philox.h"
#include "graph/kernel.h"

typedef enum random_kind { RANDOM_UNIFORM, RANDOM_NORMAL, RANDOM_TRUNCATED, RANDOM_BELOW, RANDOM_BITS } random_kind;

/* Output 0, of the shape that input 0 says.  gen NULL: the node's own generator.  RANDOM_BELOW: [low, low + range). */
weft_err weft__random_fill(kernel *k, random_kind kind, const philox *gen, int64_t low, uint64_t range);

/* The same, of the shape that input `at` says. */
weft_err weft__random_fill_at(kernel *k, int at, random_kind kind, const philox *gen, int64_t low, uint64_t range);
/* The generator that input i stands for, a seed of two numbers. */
weft_err weft__random_from_seed(const kernel *k, int i, philox *out);
/* The generator that inputs i to i + 2 are: a key, a counter and an algorithm. */
weft_err weft__random_from_key(const kernel *k, int i, philox *out);

#endif
