/* dataset_options.c - OptionsDataset, which records options, and GetOptions, which returns those of a whole pipeline.
 *
 * Weft acts on no option here: Python reads those that it honors when it builds the graph.  A data set keeps the
 * serialized Options message, and those of a pipeline are the messages one after the other, which protobuf merges. */
#include "base/alloc.h"
#include "base/text.h"
#include "ops/data/dataset.h"

typedef struct options_set {
  dataset base;
  char *options;
  size_t size;
} options_set;

static void options_destroy(dataset *d) { weft__free(((options_set *)d)->options); }

static weft_err options_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  return weft__iterator_next(((walk *)it)->from, st, out, end);
}

static const dataset_kind options_kind = {"Options",
                                          sizeof(options_set),
                                          sizeof(walk),
                                          .destroy = options_destroy,
                                          .begin = weft__dataset_walk_begin,
                                          .next = options_next,
                                          .finish = weft__dataset_walk_finish,
                                          .count = weft__dataset_count_of_input,
                                          .passes = true};

static weft_err options_cpu(kernel *k) {
  dataset *d = NULL;
  const attr_str given = weft__node_str(k->node, "serialized_options");
  WEFT_TRY(weft__dataset_of(k, &options_kind, 1, &d));
  options_set *o = (options_set *)d;
  o->options = weft__strndup(given.data, given.size);
  o->size = given.size;
  return weft__dataset_out(k, d, o->options ? WEFT_OK : WEFT_OOM);
}

/* Appends the options of d's inputs, and then its own. */
static void options_collect(const dataset *d, text *out) {
  for (int i = 0; i < d->n_input; i++) options_collect(d->input[i], out);
  if (d->kind == &options_kind) weft__text_add(out, ((const options_set *)d)->options, ((const options_set *)d)->size);
}

static weft_err dataset_options_get_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__dataset_get(k->in[0], &d)));
  weft_tensor *y = weft__out(k, 0, &SHAPE_SCALAR);
  if (!y) return WEFT_OOM;
  text all = {0};
  options_collect(d, &all);
  const weft_err err = all.failed ? WEFT_OOM : weft__str_set(TENSOR_DATA(y, str), weft__text_get(&all), all.size);
  weft__text_finish(&all);
  return err;
}

OPS(dataset_options) = {
    {"OptionsDataset(input_dataset:variant) -> (handle:variant) | serialized_options:string " OUTPUTS METADATA,
     "The same data set, with options.", DATASET_FLAGS, .cpu = options_cpu},
    {"GetOptions(input_dataset:variant) -> (serialized_options:string)", "The options of a data set and its inputs.",
     .flags = OP_NO_FOLD, .infer = weft__infer_scalar, .cpu = dataset_options_get_cpu},
    {.scenario = "tests/python/test_rare_inputs.py"},
};
