/* dataset.c - functions shared by the data set ops, and the ops that return their input unchanged:
 * optimizations that have no effect in Weft. */
#include "ops/data/dataset.h"
#include "base/alloc.h"
#include "ops/data/dataset_origin.h"

/* ---- making ---- */

static weft_err parts_of(const weft_node *n, int *count, const weft_dtype **type) {
  static const weft_dtype string = WEFT_STRING;
  const attr *a = weft__node_attr(n, "output_types");
  if (!a) a = weft__node_attr(n, "Toutput_types");
  *count = a ? a->n : 1;
  *type = a ? a->types : &string;
  return WEFT_OK;
}

weft_err weft__dataset_of(kernel *k, const dataset_kind *kind, int n_input, dataset **out) {
  int n_part = 0;
  const weft_dtype *type = NULL;
  dataset **input = weft__alloc_zero((size_t)n_input + 1, sizeof *input);
  if (!input) return WEFT_OOM;
  weft_err err = parts_of(k->node, &n_part, &type);
  for (int i = 0; i < n_input && !err; i++) err = weft__kernel_in(k, weft__dataset_get(k->in[i], &input[i]));
  if (!err && kind->passes) n_part = input[0]->n_part, type = input[0]->type;
  if (!err) err = weft__dataset_create(out, kind, n_input, input, n_part, type);
  weft__free(input);
  return err;
}

weft_err weft__dataset_out(kernel *k, dataset *d, weft_err err) {
  if (!err) err = weft__dataset_remember(k, d);
  if (!err) return weft__variant_output(k, 0, &d->base);
  weft__dataset_release(d);
  return weft__kernel_in(k, err);
}

weft_err weft__dataset_int(const kernel *k, int i, const char *name, int64_t *out) {
  WEFT_TRY(weft__kernel_scalar(k, i, name));
  const weft_tensor *t = k->in[i];
  *out = t->dtype == WEFT_BOOL ? TENSOR_DATA(t, bool)[0] : weft__tensor_int(t, 0);
  return WEFT_OK;
}

/* ---- functions ---- */

weft_err weft__dataset_prepare_f(const weft_node *n, void **state) {
  return weft__function_create((function **)state, n, "f", 0);
}

weft_err weft__dataset_prepare_predicate(const weft_node *n, void **state) {
  return weft__function_create((function **)state, n, "predicate", 0);
}

void weft__dataset_unprepare(void *state) { weft__function_release(state); }

weft_err weft__dataset_capture(kernel *k, captured *c, function *f, const char *arg) {
  int first, count;
  WEFT_TRY(weft__node_in_range(k->node, arg, &first, &count));
  return weft__captured_init(c, f, k->in + first, count);
}

weft_err weft__dataset_capture_f(kernel *k, captured *c) {
  return weft__dataset_capture(k, c, k->state, "other_arguments");
}

/* ---- iterating over an input ---- */

weft_err weft__dataset_walk_begin(iterator *it) {
  walk *w = (walk *)it;
  dataset *in = it->set->input[0];
  if (!(w->got = weft__components_alloc(in->n_part))) return WEFT_OOM;
  return weft__iterator_create(&w->from, in, it->pass);
}

void weft__dataset_walk_finish(iterator *it) {
  walk *w = (walk *)it;
  weft__iterator_destroy(w->from);
  weft__components_free(w->got, it->set->input[0]->n_part);
}

/* ---- ops that change nothing ---- */

static weft_err same_cpu(kernel *k) { return weft__forward(k, 0, 0, &k->in[0]->shape); }

#define SAME(NAME, ARGS, ATTRS, STATE)                                                                                 \
  {                                                                                                                    \
    NAME "(input_dataset:variant" ARGS ") -> (handle:variant) | " ATTRS STATE, "The same data set.", DATASET_FLAGS,    \
        .cpu = same_cpu                                                                                                \
  }

OPS(dataset) = {
    SAME("OptimizeDataset", ", optimizations:string", OUTPUTS " optimization_configs:list(string)=[]", ""),
    SAME("OptimizeDatasetV2",
         ", optimizations_enabled:string, optimizations_disabled:string, optimizations_default:string",
         OUTPUTS " optimization_configs:list(string)=[]", ""),
    SAME("ModelDataset", "", "algorithm:int=0 cpu_budget:int=0 ram_budget:int=0 " OUTPUTS, ""),
    SAME("FinalizeDataset", "", "has_captured_ref:bool=false " OUTPUTS, ""),
    SAME("MaxIntraOpParallelismDataset", ", max_intra_op_parallelism:int64", OUTPUTS, ""),
    SAME("PrivateThreadPoolDataset", ", num_threads:int64", OUTPUTS, ""),
    SAME("ExperimentalMaxIntraOpParallelismDataset", ", max_intra_op_parallelism:int64", OUTPUTS, ""),
    SAME("ExperimentalPrivateThreadPoolDataset", ", num_threads:int64", OUTPUTS, ""),
    SAME("ExperimentalNonSerializableDataset", "", OUTPUTS, ""),
    SAME("ThreadPoolDataset", ", thread_pool:resource", OUTPUTS, " ; stateful"),
    SAME("ExperimentalThreadPoolDataset", ", thread_pool:resource", OUTPUTS, " ; stateful"),
    SAME("RewriteDataset", ", rewrite_name:string", OUTPUTS, ""),
    SAME("NonSerializableDataset", "", OUTPUTS, ""),
    {"WrapDatasetVariant(input_handle:variant) -> (output_handle:variant)", "The same data set.", DATASET_FLAGS,
     .cpu = same_cpu},
    {"UnwrapDatasetVariant(input_handle:variant) -> (output_handle:variant)", "The same data set.", DATASET_FLAGS,
     .cpu = same_cpu},
    {.scenario = "tests/parity/test_data.py"},
};
