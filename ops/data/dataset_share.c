/* dataset_share.c - AutoShardDataset: the part of a data set that one of several workers reads.
 *
 * Files are divided where their names are known: in a data set that reads files, or in the input of one whose function
 * makes such a data set. The data sets behind that place are copied with other inputs, so that the program's own data
 * set stays as it is. */
#include "base/alloc.h"
#include "base/map.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_origin.h"
#include <stdio.h>
#include <string.h>

enum { POLICY_OFF = -1, POLICY_AUTO, POLICY_FILE, POLICY_DATA, POLICY_HINT };
enum { SHARE_DEPTH = 1000 };

typedef struct sharing {
  int64_t count, index;
  bool hints;             /* replaces the shards that are hints, and divides nothing else */
  map made;               /* address of a data set -> its part, a reference */
  const char *unsharable; /* the kind of a source without files; NULL: none was found */
} sharing;

static bool reads_names(const char *name) {
  static const char *const readers[] = {"TFRecordDataset", "TFRecordDatasetV2", "TextLineDataset",
                                        "FixedLengthRecordDataset", "FixedLengthRecordDatasetV2"};
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
    if (strcmp(name, readers[i]) == 0) return true;
  return false;
}

/* Returns true if a function of the data set makes data sets that read the files that its input names. */
static bool opens_names(const dataset *d) {
  while (!d->origin && d->copied) d = d->copied;
  const dataset_origin *origin = (const dataset_origin *)d->origin;
  if (!origin || !origin->library || !d->n_input) return false;
  for (size_t i = 0; i < origin->library->n_function; i++) {
    const Tensorflow__FunctionDef *f = origin->library->function[i];
    for (size_t j = 0; j < f->n_node_def; j++)
      if (reads_names(f->node_def[j]->op)) return true;
  }
  return false;
}

static weft_err share_of(sharing *s, dataset *d, int depth, dataset **out);

/* Copies d with parts of its inputs, or gives d itself if these are its inputs. */
static weft_err share_inputs(sharing *s, dataset *d, int depth, dataset **out) {
  dataset **input = weft__alloc_zero((size_t)d->n_input, sizeof *input);
  if (!input) return WEFT_OOM;
  weft_err err = WEFT_OK;
  bool same = true;
  for (int i = 0; i < d->n_input && !err && !s->unsharable; i++) {
    err = share_of(s, d->input[i], depth + 1, &input[i]);
    same = same && input[i] == d->input[i];
  }
  if (!err && same)
    weft__object_retain(&d->base.base), *out = d;
  else if (!err && !s->unsharable)
    err = weft__dataset_copy(out, d, input);
  for (int i = 0; i < d->n_input; i++) weft__dataset_release(input[i]);
  weft__free(input);
  return err;
}

/* Copies d with a part of its first input, which gives names of files. */
static weft_err share_names(sharing *s, dataset *d, dataset **out) {
  dataset **input = weft__alloc_zero((size_t)d->n_input, sizeof *input);
  if (!input) return WEFT_OOM;
  memcpy(input, d->input, (size_t)d->n_input * sizeof *input);
  dataset *part = NULL;
  weft_err err = weft__dataset_shard_create(&part, d->input[0], s->count, s->index, true);
  input[0] = part;
  if (!err) err = weft__dataset_copy(out, d, input);
  weft__dataset_release(part);
  weft__free(input);
  return err;
}

static weft_err share_make(sharing *s, dataset *d, int depth, dataset **out) {
  if (s->hints && weft__dataset_shard_is_hint(d))
    return weft__dataset_shard_create(out, d->input[0], s->count, s->index, false);
  if (!s->hints && weft__dataset_is_files(d)) return weft__dataset_files_share(out, d, s->count, s->index);
  if (!s->hints && opens_names(d)) return share_names(s, d, out);
  if (d->n_input) return share_inputs(s, d, depth, out);
  if (!s->hints) {
    s->unsharable = d->kind->name;
    return WEFT_OK;
  }
  weft__object_retain(&d->base.base);
  *out = d;
  return WEFT_OK;
}

/* Gives the part of d that the worker reads; a data set that several read has one part.  *out stays NULL if a source
 * has no files. */
static weft_err share_of(sharing *s, dataset *d, int depth, dataset **out) {
  char key[32];
  snprintf(key, sizeof key, "%p", (void *)d);
  if (depth > SHARE_DEPTH)
    return weft__fail(WEFT_INVALID_ARGUMENT, "AutoShardDataset: more than %d data sets read one another", SHARE_DEPTH);
  if (!(*out = weft__map_get(&s->made, key))) {
    WEFT_TRY(share_make(s, d, depth, out));
    if (!*out) return WEFT_OK;
    const weft_err err = weft__map_put(&s->made, key, *out);
    if (err) {
      weft__dataset_release(*out);
      *out = NULL;
      return err;
    }
  }
  weft__object_retain(&(*out)->base.base);
  return WEFT_OK;
}

static weft_err share_run(sharing *s, dataset *in, dataset **out) {
  const weft_err err = share_of(s, in, 0, out);
  for (int i = 0; i < s->made.used; i++) weft__dataset_release(s->made.entries[i].value);
  weft__map_finish(&s->made);
  return err;
}

static weft_err share_cpu(kernel *k) {
  dataset *in = NULL, *d = NULL;
  sharing s = {0};
  const int64_t policy = weft__node_int(k->node, "auto_shard_policy", POLICY_AUTO);
  WEFT_TRY(weft__dataset_int(k, 1, "num_workers", &s.count));
  WEFT_TRY(weft__dataset_int(k, 2, "index", &s.index));
  if (s.count < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_workers must be greater than zero.");
  if (s.index < 0 || s.index >= s.count)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "index must be between 0 and %lld", (long long)s.count - 1);
  WEFT_TRY(weft__kernel_in(k, weft__dataset_get(k->in[0], &in)));
  s.hints = policy == POLICY_HINT;
  if (policy == POLICY_OFF || (!s.hints && s.count == 1)) return weft__forward(k, 0, 0, &k->in[0]->shape);
  if (policy != POLICY_DATA) WEFT_TRY(weft__kernel_in(k, share_run(&s, in, &d)));
  if (policy == POLICY_FILE && s.unsharable)
    return weft__kernel_fail(k, WEFT_NOT_FOUND,
                             "Found an unshardable source dataset: %sDataset reads no files (AutoShardPolicy.AUTO "
                             "and DATA divide its elements)",
                             s.unsharable);
  if (!d) WEFT_TRY(weft__kernel_in(k, weft__dataset_shard_create(&d, in, s.count, s.index, true)));
  if (d == in) { /* nothing was a hint */
    weft__dataset_release(d);
    return weft__forward(k, 0, 0, &k->in[0]->shape);
  }
  return weft__dataset_out(k, d, WEFT_OK);
}

#define SHARE(NAME, MORE)                                                                                              \
  {                                                                                                                    \
    NAME "(input_dataset:variant, num_workers:int64, index:int64) -> (handle:variant) | "                              \
         "auto_shard_policy:int=0 " OUTPUTS MORE,                                                                      \
        "The elements of one of several workers.", DATASET_FLAGS, .cpu = share_cpu                                     \
  }

OPS(dataset_share) = {
    SHARE("AutoShardDataset", " num_replicas:int=0"),
    SHARE("ExperimentalAutoShardDataset", ""),
    {.scenario = "tests/python/test_data_ops.py"},
};
