/* dataset_cardinality.c - the number of elements of a data set, and a data set with an asserted number of elements. */
#include "base/alloc.h"
#include "ops/data/dataset.h"

static weft_err cardinality_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__dataset_get(k->in[0], &d)));
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  TENSOR_DATA(out, int64_t)[0] = weft__dataset_count(d);
  return WEFT_OK;
}

/* ---- an asserted cardinality ---- */

typedef struct promised {
  dataset base;
  int64_t count;
} promised;

typedef struct promised_at {
  walk base;
  int64_t done;
} promised_at;

static const char *dataset_cardinality_elements(int64_t n) { return n == 1 ? "element" : "elements"; }

static weft_err promised_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  promised_at *at = (promised_at *)it;
  int64_t count = ((const promised *)it->set)->count;
  WEFT_TRY(weft__iterator_next(at->base.from, st, out, end));
  if (!*end) at->done++;
  if (*end && count == DATASET_INFINITE)
    return weft__fail(
        WEFT_FAILED_PRECONDITION,
        "Input dataset was expected to contain an infinite number of elements but contained only %lld %s.",
        (long long)at->done, dataset_cardinality_elements(at->done));
  if (*end && at->done < count)
    return weft__fail(WEFT_FAILED_PRECONDITION,
                      "Input dataset was expected to contain %lld %s but contained only %lld %s.", (long long)count,
                      dataset_cardinality_elements(count), (long long)at->done, dataset_cardinality_elements(at->done));
  if (!*end && count >= 0 && at->done > count) {
    weft__components_clear(out, it->set->n_part);
    return weft__fail(WEFT_FAILED_PRECONDITION,
                      "Input dataset was expected to contain %lld %s but contained at least %lld %s.", (long long)count,
                      dataset_cardinality_elements(count), (long long)at->done, dataset_cardinality_elements(at->done));
  }
  return WEFT_OK;
}

static int64_t promised_count(const dataset *d) { return ((const promised *)d)->count; }

static const dataset_kind promised_kind = {"AssertCardinality",   sizeof(promised),
                                           sizeof(promised_at),   .begin = weft__dataset_walk_begin,
                                           .next = promised_next, .finish = weft__dataset_walk_finish,
                                           .passes = true,        .count = promised_count};

static weft_err promised_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t count;
  WEFT_TRY(weft__dataset_int(k, 1, "cardinality", &count));
  WEFT_TRY(weft__dataset_of(k, &promised_kind, 1, &d));
  ((promised *)d)->count = count;
  return weft__dataset_out(k, d, WEFT_OK);
}

OPS(dataset_cardinality) = {
    {"DatasetCardinality(input_dataset:variant) -> (cardinality:int64) | cardinality_options:string=''",
     "The number of elements of a data set: -1 without end, -2 not known.", DATASET_FLAGS, .cpu = cardinality_cpu},
    {"ExperimentalDatasetCardinality(input_dataset:variant) -> (cardinality:int64)",
     "The number of elements of a data set: -1 without end, -2 not known.", DATASET_FLAGS, .cpu = cardinality_cpu},
    {"AssertCardinalityDataset(input_dataset:variant, cardinality:int64) -> (handle:variant) | " OUTPUTS,
     "The same elements; an error if there are more or fewer than promised.", DATASET_FLAGS, .cpu = promised_cpu},
    {.scenario = "tests/parity/test_data.py"},
};
