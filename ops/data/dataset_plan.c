/* dataset_plan.c - ops that control how TensorFlow reads a data set: assertions about neighboring transformations, a
 * choice among equal data sets, thread pools, and the device of an iterator. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "codec/regex.h"
#include "ops/data/dataset.h"
#include <string.h>

/* ---- assertions ---- */

typedef struct assertion {
  dataset base;
  weft_tensor names;
  bool behind; /* checks the transformations after the data set; otherwise those before it */
} assertion;

static void assertion_destroy(dataset *d) { weft__tensor_clear(&((assertion *)d)->names); }

static weft_err assertion_fail(const str *wanted, int64_t i, const char *found) {
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "Asserted transformation matching %.*s at offset %lld but encountered %s transformation instead.",
                    weft__int_sat(wanted->size), wanted->size ? wanted->data : "", (long long)i, found);
}

/* Returns the data set `back` steps after d on the path of first inputs to the root, or NULL if the path is shorter. */
static const dataset *dataset_plan_behind(const dataset *root, const dataset *d, int64_t back) {
  int64_t depth = 0;
  const dataset *at = root;
  for (; at && at != d; at = at->n_input ? at->input[0] : NULL) depth++;
  if (!at || back > depth) return NULL;
  at = root;
  for (int64_t i = depth - back; i > 0; i--) at = at->input[0];
  return at;
}

static weft_err check_behind(const iterator *it) {
  const assertion *a = (const assertion *)it->set;
  for (int64_t i = 0; i < weft__tensor_count(&a->names); i++) {
    const str *wanted = &TENSOR_DATA(&a->names, str)[i];
    const dataset *d = dataset_plan_behind(it->pass->root, it->set, i + 1);
    regex *r = NULL;
    bool matches = false;
    if (!d)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Asserted next %lld transformations but encountered only %lld.",
                        (long long)weft__tensor_count(&a->names), (long long)i);
    WEFT_TRY(weft__regex_create(&r, wanted->size ? wanted->data : "", wanted->size));
    const weft_err err = weft__regex_full(r, d->kind->name, strlen(d->kind->name), &matches);
    weft__regex_destroy(r);
    if (err) return err;
    if (!matches) return assertion_fail(wanted, i, d->kind->name);
  }
  return WEFT_OK;
}

/* Finds X in `name: "XDataset"` or `name: "XDatasetV2"`.  Returns false if the text has another form. */
static bool asserted_name(const str *given, const char **begin, size_t *size) {
  static const char before[] = "name:", end[] = "Dataset";
  const char *at = given->size ? given->data : "", *stop = at + given->size;
  while (at < stop && *at == ' ') at++;
  if ((size_t)(stop - at) < sizeof before || memcmp(at, before, sizeof before - 1) != 0) return false;
  at += sizeof before - 1;
  while (at < stop && *at == ' ') at++;
  if (at == stop || (*at != '"' && *at != '\'')) return false;
  const char *close = memchr(at + 1, *at, (size_t)(stop - at - 1));
  const char *found = close ? memmem(at + 1, (size_t)(close - at - 1), end, sizeof end - 1) : NULL;
  if (!found || (close + 1 != stop)) return false;
  *begin = at + 1;
  *size = (size_t)(found - at - 1);
  return true;
}

static weft_err check_before(const iterator *it) {
  const assertion *a = (const assertion *)it->set;
  const dataset *d = it->set;
  for (int64_t i = 0; i < weft__tensor_count(&a->names); i++) {
    const str *wanted = &TENSOR_DATA(&a->names, str)[i];
    const char *name = NULL;
    size_t size = 0;
    if (!asserted_name(wanted, &name, &size))
      return weft__fail(
          WEFT_INVALID_ARGUMENT,
          "Failure checking transformations at offset %lld: Couldn't parse transformation '%.*s'. Weft reads "
          "the form name: \"MapDataset\".",
          (long long)i, weft__int_sat(wanted->size), wanted->size ? wanted->data : "");
    d = d->n_input ? d->input[0] : NULL;
    if (!d)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Asserted previous %lld transformations but encountered only %lld.",
                        (long long)weft__tensor_count(&a->names), (long long)i);
    if (strlen(d->kind->name) != size || memcmp(d->kind->name, name, size) != 0)
      return assertion_fail(wanted, i, d->kind->name);
  }
  return WEFT_OK;
}

static weft_err assertion_begin(iterator *it) {
  WEFT_TRY(((assertion *)it->set)->behind ? check_behind(it) : check_before(it));
  return weft__dataset_walk_begin(it);
}

static weft_err same_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  return weft__iterator_next(((walk *)it)->from, st, out, end);
}

static const dataset_kind assertion_kind = {"Assert",
                                            sizeof(assertion),
                                            sizeof(walk),
                                            .destroy = assertion_destroy,
                                            .begin = assertion_begin,
                                            .next = same_next,
                                            .finish = weft__dataset_walk_finish,
                                            .count = weft__dataset_count_of_input,
                                            .passes = true};

static weft_err assertion_make(kernel *k, bool is_behind) {
  dataset *d = NULL;
  WEFT_TRY(weft__kernel_vector(k, 1, "transformations"));
  WEFT_TRY(weft__dataset_of(k, &assertion_kind, 1, &d));
  ((assertion *)d)->behind = is_behind;
  return weft__dataset_out(k, d, weft__tensor_keep(&((assertion *)d)->names, k->in[1]));
}

static weft_err dataset_plan_next_cpu(kernel *k) { return assertion_make(k, true); }
static weft_err previous_cpu(kernel *k) { return assertion_make(k, false); }

/* ---- a choice among equal data sets: the first one ---- */

static weft_err first_cpu(kernel *k) { return weft__forward(k, 0, 0, &k->in[0]->shape); }

/* ---- thread pools, and the device of an iterator ---- */

static void settings_destroy(object *o) { weft__free(o); }

static weft_err settings_make(resource **out, void *arg) {
  (void)arg;
  resource *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  atomic_init(&r->base.refs, 1);
  r->base.destroy = settings_destroy;
  r->type = "thread pool";
  *out = r;
  return WEFT_OK;
}

static const resource_kind pool_kind = {"thread pool", true, settings_make};

static weft_err pool_cpu(kernel *k) { return weft__kernel_in(k, weft__resource_output(k, &pool_kind, NULL)); }

static weft_err device_cpu(kernel *k) {
  const char *name = k->node->device;
  weft_tensor *t = weft__out(k, 0, &SHAPE_SCALAR);
  if (!t) return WEFT_OOM;
  if (!name || !*name) name = "/job:localhost/replica:0/task:0/device:CPU:0";
  return weft__str_set(&TENSOR_DATA(t, str)[0], name, strlen(name));
}

#define ASSERTS(NAME, FN)                                                                                              \
  {                                                                                                                    \
    NAME "(input_dataset:variant, transformations:string) -> (handle:variant) | " OUTPUTS,                             \
        "The same elements, with an assertion about transformations.", DATASET_FLAGS, .cpu = FN                        \
  }
#define FASTEST(NAME)                                                                                                  \
  {                                                                                                                    \
    NAME "(input_datasets:N*variant) -> (handle:variant) | N:int>=2 num_experiments:int " OUTPUTS,                     \
        "The first of data sets with equal elements.", DATASET_FLAGS, .cpu = first_cpu                                 \
  }
#define POOL(NAME)                                                                                                     \
  {                                                                                                                    \
    NAME "() -> (handle:resource) | num_threads:int max_intra_op_parallelism:int=1 display_name:string "               \
         "container:string='' shared_name:string='' ; stateful",                                                       \
        "Stands for threads of a data set, which uses the session's.",                                                 \
        .flags = OP_ONCE, .infer = weft__infer_scalar, .cpu = pool_cpu, .prepare = weft__resource_prepare,             \
        .unprepare = weft__resource_unprepare                                                                          \
  }
#define DEVICE(NAME)                                                                                                   \
  {                                                                                                                    \
    NAME "(resource:resource) -> (device:string) ; stateful", "The device of an iterator.",                            \
        .infer = weft__infer_scalar, .cpu = device_cpu                                                                 \
  }

OPS(dataset_plan) = {
    ASSERTS("AssertNextDataset", dataset_plan_next_cpu),
    ASSERTS("ExperimentalAssertNextDataset", dataset_plan_next_cpu),
    ASSERTS("AssertPrevDataset", previous_cpu),
    FASTEST("ChooseFastestDataset"),
    FASTEST("ExperimentalChooseFastestDataset"),
    POOL("ThreadPoolHandle"),
    POOL("ExperimentalThreadPoolHandle"),
    DEVICE("IteratorGetDevice"),
    DEVICE("ExperimentalIteratorGetDevice"),
    {.scenario = "tests/python/test_data_ops.py"},
};
