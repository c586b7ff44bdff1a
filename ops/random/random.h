/* random.h - fills a tensor with random numbers from a given generator (ops/random/random.c). */
#ifndef WEFT_OPS_RANDOM_RANDOM_H
#define WEFT_OPS_RANDOM_RANDOM_H

#include "base/philox.h"
#include "graph/kernel.h"

typedef enum random_kind { RANDOM_UNIFORM, RANDOM_NORMAL, RANDOM_TRUNCATED, RANDOM_BELOW, RANDOM_BITS } random_kind;

/* Creates output 0 with the shape in input 0 and fills it.  gen NULL: the node's own generator.  RANDOM_BELOW gives
 * numbers in [low, low + range). */
weft_err weft__random_fill(kernel *k, random_kind kind, const philox *gen, int64_t low, uint64_t range);

/* The same with the shape in input `at`. */
weft_err weft__random_fill_at(kernel *k, int at, random_kind kind, const philox *gen, int64_t low, uint64_t range);
/* Stores the generator for the seed in input i, two numbers. */
weft_err weft__random_from_seed(const kernel *k, int i, philox *out);
/* Stores the generator that inputs i to i + 2 describe: a key, a counter and an algorithm. */
weft_err weft__random_from_key(const kernel *k, int i, philox *out);
/* Stores the generator whose state is the variable of input 0; input 1 is the algorithm.  The state stays as it is. */
weft_err weft__random_from_state(const kernel *k, philox *out);

#endif
