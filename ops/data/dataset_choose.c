/* dataset_choose.c - DirectedInterleave: a selector data set gives the number of the data set that supplies the next
 * element. */
#include "base/cast.h"
#include "ops/data/dataset.h"

typedef struct chosen {
  dataset base; /* input 0 is the selector */
  bool stops;   /* end when the first of the data sets has no more elements */
} chosen;

/* Reads the number of the data set that is next. */
static weft_err choice_of(const weft_tensor *t, int n, int *out) {
  if (t->shape.rank != 0 || t->dtype != WEFT_INT64)
    return weft__fail(WEFT_INVALID_ARGUMENT, "the selector must give scalars of int64");
  int64_t at = TENSOR_DATA(t, int64_t)[0];
  if (at < 0 || at >= n)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Selector index out of range: %lld >= %d", (long long)at, n);
  *out = weft__int_sat(at);
  return WEFT_OK;
}

static weft_err chosen_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  several *s = (several *)it;
  int n = it->set->n_input - 1; /* s->at counts the data sets that have ended */
  while (s->from[0] && s->at < n) {
    weft_tensor choice = {0};
    int i = 0;
    bool over = false;
    WEFT_TRY(weft__iterator_next(s->from[0], st, &choice, &over));
    if (over) break;
    weft_err err = choice_of(&choice, n, &i);
    weft__tensor_clear(&choice);
    WEFT_TRY(err);
    if (!s->from[i + 1]) continue; /* ended before */
    WEFT_TRY(weft__iterator_next(s->from[i + 1], st, out, &over));
    if (!over) return WEFT_OK;
    weft__iterator_destroy(s->from[i + 1]);
    s->from[i + 1] = NULL;
    s->at++;
    if (((const chosen *)it->set)->stops) break;
  }
  weft__iterator_destroy(s->from[0]);
  s->from[0] = NULL;
  *end = true;
  return WEFT_OK;
}

static const dataset_kind chosen_kind = {"DirectedInterleave", sizeof(chosen),
                                         sizeof(several),      .begin = weft__dataset_several_begin,
                                         .next = chosen_next,  .finish = weft__dataset_several_finish};

static weft_err chosen_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &chosen_kind, k->n_in, &d));
  ((chosen *)d)->stops = weft__node_bool(k->node, "stop_on_empty_dataset", false);
  bool fit = d->input[0]->n_part == 1;
  for (int i = 1; i < d->n_input && fit; i++) fit = d->input[i]->n_part == d->n_part;
  return weft__dataset_out(k, d,
                           fit ? WEFT_OK
                               : weft__fail(WEFT_INVALID_ARGUMENT,
                                            "the selector must have one component, and each data set the %d of "
                                            "output_types",
                                            d->n_part));
}

#define CHOOSE(NAME, MORE)                                                                                             \
  {                                                                                                                    \
    NAME "(selector_input_dataset:variant, data_input_datasets:N*variant) -> (handle:variant) | " OUTPUTS              \
         " N:int>=1" MORE,                                                                                             \
        "Elements of several data sets, one of which a selector names each time.", DATASET_FLAGS, .cpu = chosen_cpu    \
  }

OPS(dataset_choose) = {
    CHOOSE("DirectedInterleaveDataset", " stop_on_empty_dataset:bool=false"),
    CHOOSE("ExperimentalDirectedInterleaveDataset", ""),
    {.scenario = "tests/parity/test_data.py"},
};
