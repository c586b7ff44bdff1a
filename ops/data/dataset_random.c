/* dataset_random.c - an endless data set of random numbers, equal to TensorFlow's for the same seed. */
#include "base/philox.h"
#include "ops/data/dataset.h"

typedef struct randoms {
  dataset base;
  uint64_t seed, seed2;
} randoms;

typedef struct randoms_at {
  iterator base;
  philox_reader random;
} randoms_at;

static weft_err randoms_begin(iterator *it) {
  const randoms *r = (randoms *)it->set;
  uint64_t seed[2] = {r->seed, r->seed2};
  if (!seed[0] && !seed[1]) WEFT_TRY(weft__dataset_pass_seeds(it->pass, seed));
  ((randoms_at *)it)->random = weft__philox_reader(weft__philox(seed[0], seed[1]));
  return WEFT_OK;
}

static weft_err randoms_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  (void)st, (void)end;
  WEFT_TRY(weft__tensor_init(out, WEFT_INT64, &SHAPE_SCALAR));
  TENSOR_DATA(out, int64_t)[0] = weft__philox_word(&((randoms_at *)it)->random);
  return WEFT_OK;
}

static int64_t randoms_count(const dataset *d) {
  (void)d;
  return DATASET_INFINITE;
}

static const dataset_kind randoms_kind = {"Random",
                                          sizeof(randoms),
                                          sizeof(randoms_at),
                                          .begin = randoms_begin,
                                          .next = randoms_next,
                                          .count = randoms_count};

static weft_err random_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t seed, seed2;
  WEFT_TRY(weft__dataset_int(k, 0, "seed", &seed));
  WEFT_TRY(weft__dataset_int(k, 1, "seed2", &seed2));
  WEFT_TRY(weft__dataset_of(k, &randoms_kind, 0, &d));
  ((randoms *)d)->seed = (uint64_t)seed, ((randoms *)d)->seed2 = (uint64_t)seed2;
  bool one = d->n_part == 1 && d->type[0] == WEFT_INT64;
  return weft__dataset_out(
      k, d, one ? WEFT_OK : weft__fail(WEFT_INVALID_ARGUMENT, "random numbers are one component of int64"));
}

OPS(dataset_random) = {
    {"RandomDataset(seed:int64, seed2:int64) -> (handle:variant) | " OUTPUTS METADATA " ; stateful",
     "Random numbers without end.", DATASET_FLAGS, .cpu = random_cpu},
    {"ExperimentalRandomDataset(seed:int64, seed2:int64) -> (handle:variant) | " OUTPUTS " ; stateful",
     "Random numbers without end.", DATASET_FLAGS, .cpu = random_cpu},
    {"RandomDatasetV2(seed:int64, seed2:int64, seed_generator:resource) -> (handle:variant) | "
     "rerandomize_each_iteration:bool=false " OUTPUTS METADATA " ; stateful",
     "Random numbers without end.", DATASET_FLAGS, .cpu = random_cpu},
    {.scenario = "tests/parity/test_data.py"},
};
