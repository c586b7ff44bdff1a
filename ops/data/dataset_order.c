/* dataset_order.c - data sets that select or repeat elements: repeat, take, skip, shard, zip, concatenate, cache in
 * memory. */
#include "base/alloc.h"
#include "base/array.h"
#include "ops/data/dataset.h"

typedef struct counted {
  dataset base;
  int64_t count, index;
  bool for_all; /* a shard: it is an error if there are fewer elements than shards */
} counted;

typedef struct counter {
  walk base;
  int64_t done;
  bool begun, over;
} counter;

#define COUNTED(NAME, NEXT, COUNT)                                                                                     \
  {                                                                                                                    \
    NAME, sizeof(counted), sizeof(counter), .begin = weft__dataset_walk_begin, .next = NEXT,                           \
                                            .finish = weft__dataset_walk_finish, .passes = true, .count = COUNT        \
  }

/* ---- repeat ---- */

static weft_err repeat_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  counter *c = (counter *)it;
  int64_t count = ((counted *)it->set)->count;
  while (!c->over && (count < 0 || c->done < count)) {
    bool over = false;
    if (!c->base.from) WEFT_TRY(weft__iterator_create(&c->base.from, it->set->input[0], it->pass));
    WEFT_TRY(weft__iterator_next(c->base.from, st, out, &over));
    if (!over) {
      c->begun = true;
      return WEFT_OK;
    }
    weft__iterator_destroy(c->base.from);
    c->base.from = NULL;
    c->over = !c->begun; /* the input is empty, so there is nothing to repeat */
    c->done++;
  }
  *end = true;
  return WEFT_OK;
}

void weft__dataset_repeat_set(dataset *d, int64_t count) { ((counted *)d)->count = count; }

/* ---- take, skip, shard ---- */

static weft_err take_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  counter *c = (counter *)it;
  int64_t count = ((counted *)it->set)->count;
  *end = count >= 0 && c->done >= count;
  if (*end) return WEFT_OK;
  WEFT_TRY(weft__iterator_next(c->base.from, st, out, end));
  c->done++;
  return WEFT_OK;
}

/* Skips n elements. */
static weft_err pass_over(iterator *it, const step *st, int64_t n, bool *end) {
  counter *c = (counter *)it;
  for (int64_t i = 0; i < n && !*end; i++) {
    WEFT_TRY(weft__iterator_next(c->base.from, st, c->base.got, end));
    weft__components_clear(c->base.got, it->set->n_part);
  }
  return WEFT_OK;
}

static weft_err skip_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  counter *c = (counter *)it;
  int64_t count = ((counted *)it->set)->count;
  *end = count < 0;
  for (; !*end && c->done < count; c->done++) WEFT_TRY(pass_over(it, st, 1, end));
  return *end ? WEFT_OK : weft__iterator_next(c->base.from, st, out, end);
}

/* Checks, behind the first element, that each of the later shards has one too. */
static weft_err shard_check(iterator *it, const step *st) {
  counter *c = (counter *)it;
  const counted *s = (counted *)it->set;
  bool end = false;
  for (; c->done < s->count - 1 - s->index; c->done++) {
    WEFT_TRY(pass_over(it, st, 1, &end));
    if (end)
      return weft__fail(
          WEFT_INVALID_ARGUMENT,
          "Could not apply FILE based sharding: the dataset only has %lld file(s), which is not enough for "
          "the required %lld shards/workers. If no worker needs files of its own, use "
          "AutoShardPolicy.DATA or AutoShardPolicy.OFF",
          (long long)(s->index + 1 + c->done), (long long)s->count);
  }
  return WEFT_OK;
}

static weft_err shard_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  counter *c = (counter *)it;
  const counted *s = (counted *)it->set;
  if (s->count == SHARD_HINT)
    return weft__fail(WEFT_FAILED_PRECONDITION, "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in "
                                                "`tf.distribute.Strategy.experimental_distribute_dataset()` with "
                                                "`tf.data.experimental.AutoShardPolicy.HINT` policy");
  *end = c->over;
  for (int64_t n = c->begun ? s->count - 1 : s->index; c->done < n && !*end; c->done++) {
    WEFT_TRY(pass_over(it, st, 1, end));
    c->over = *end;
  }
  if (*end) return WEFT_OK;
  WEFT_TRY(weft__iterator_next(c->base.from, st, out, end));
  c->over = *end;
  c->done = 0;
  const bool first = !c->begun;
  c->begun = true;
  const weft_err err = first && s->for_all && !*end ? shard_check(it, st) : WEFT_OK;
  if (err) weft__components_clear(out, it->set->n_part);
  return err;
}

/* ---- cardinality ---- */

static int64_t repeat_count(const dataset *d) {
  int64_t times = ((const counted *)d)->count, n = weft__dataset_count(d->input[0]);
  if (times < 0) return n == 0 ? 0 : DATASET_INFINITE;
  if (times == 0 || n == 0) return 0;
  if (n < 0) return n;
  return n > INT64_MAX / times ? INT64_MAX : n * times;
}

static int64_t take_count(const dataset *d) {
  int64_t most = ((const counted *)d)->count, n = weft__dataset_count(d->input[0]);
  if (n == DATASET_UNKNOWN) return most == 0 ? 0 : n;
  if (n == DATASET_INFINITE) return most < 0 ? n : most;
  return most < 0 || n < most ? n : most;
}

static int64_t skip_count(const dataset *d) {
  int64_t skipped = ((const counted *)d)->count, n = weft__dataset_count(d->input[0]);
  if (n < 0) return skipped < 0 ? 0 : n;
  return skipped < 0 || skipped > n ? 0 : n - skipped;
}

static int64_t shard_count(const dataset *d) {
  const counted *s = (const counted *)d;
  int64_t n = weft__dataset_count(d->input[0]);
  return n < 0 || s->count == SHARD_HINT ? n : n / s->count + (s->index < n % s->count);
}

const dataset_kind weft__repeat_kind = COUNTED("Repeat", repeat_next, repeat_count);
static const dataset_kind take_kind = COUNTED("Take", take_next, take_count),
                          skip_kind = COUNTED("Skip", skip_next, skip_count);
const dataset_kind weft__shard_kind = COUNTED("Shard", shard_next, shard_count);

weft_err weft__dataset_shard_create(dataset **out, dataset *in, int64_t count, int64_t index, bool for_all) {
  WEFT_TRY(weft__dataset_create(out, &weft__shard_kind, 1, &in, in->n_part, in->type));
  counted *s = (counted *)*out;
  s->count = count, s->index = index, s->for_all = for_all;
  return WEFT_OK;
}

bool weft__dataset_shard_is_hint(const dataset *d) {
  return d->kind == &weft__shard_kind && ((const counted *)d)->count == SHARD_HINT;
}

static weft_err counted_cpu(kernel *k, const dataset_kind *kind) {
  dataset *d = NULL;
  int64_t count;
  WEFT_TRY(weft__dataset_int(k, 1, "count", &count));
  WEFT_TRY(weft__dataset_of(k, kind, 1, &d));
  ((counted *)d)->count = count;
  return weft__dataset_out(k, d, WEFT_OK);
}

static weft_err repeat_cpu(kernel *k) { return counted_cpu(k, &weft__repeat_kind); }
static weft_err dataset_order_take_cpu(kernel *k) { return counted_cpu(k, &take_kind); }
static weft_err skip_cpu(kernel *k) { return counted_cpu(k, &skip_kind); }

static weft_err shard_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t count, index;
  WEFT_TRY(weft__dataset_int(k, 1, "num_shards", &count));
  WEFT_TRY(weft__dataset_int(k, 2, "index", &index));
  if (count < 1 && count != SHARD_HINT)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Number of shards must be greater than zero (currently num_shards = %lld).",
                             (long long)count);
  if (count != SHARD_HINT && (index < 0 || index >= count))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Index must be between 0 and %lld (currently index = %lld).",
                             (long long)count - 1, (long long)index);
  WEFT_TRY(weft__dataset_of(k, &weft__shard_kind, 1, &d));
  counted *s = (counted *)d;
  s->count = count, s->index = index;
  s->for_all = weft__node_bool(k->node, "require_non_empty", false);
  return weft__dataset_out(k, d, WEFT_OK);
}

/* ---- several inputs ---- */

weft_err weft__dataset_several_begin(iterator *it) {
  several *s = (several *)it;
  int n = it->set->n_input;
  weft_err err = (s->from = weft__alloc_zero((size_t)n, sizeof *s->from)) ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < n && !err; i++) err = weft__iterator_create(&s->from[i], it->set->input[i], it->pass);
  return err;
}

void weft__dataset_several_finish(iterator *it) {
  several *s = (several *)it;
  for (int i = 0; s->from && i < it->set->n_input; i++) weft__iterator_destroy(s->from[i]);
  weft__free(s->from);
}

static weft_err zip_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  several *s = (several *)it;
  int filled = 0;
  weft_err err = WEFT_OK;
  *end = s->at != 0;
  for (int i = 0; i < it->set->n_input && !err && !*end; i++) {
    err = weft__iterator_next(s->from[i], st, out + filled, end);
    if (!err && !*end) filled += it->set->input[i]->n_part;
  }
  s->at = *end;
  if (err || *end) weft__components_clear(out, filled);
  return err;
}

static weft_err concatenate_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  several *s = (several *)it;
  for (; s->at < it->set->n_input; s->at++) {
    bool over = false;
    WEFT_TRY(weft__iterator_next(s->from[s->at], st, out, &over));
    if (!over) return WEFT_OK;
  }
  *end = true;
  return WEFT_OK;
}

static int64_t zip_count(const dataset *d) {
  int64_t least = DATASET_INFINITE;
  for (int i = 0; i < d->n_input; i++) {
    int64_t n = weft__dataset_count(d->input[i]);
    if (n == DATASET_UNKNOWN) return n;
    if (least == DATASET_INFINITE || (n != DATASET_INFINITE && n < least)) least = n;
  }
  return least;
}

static int64_t concatenate_count(const dataset *d) {
  int64_t first = weft__dataset_count(d->input[0]), second = weft__dataset_count(d->input[1]);
  if (first == DATASET_INFINITE || second == DATASET_INFINITE) return DATASET_INFINITE;
  if (first == DATASET_UNKNOWN || second == DATASET_UNKNOWN) return DATASET_UNKNOWN;
  return first > INT64_MAX - second ? INT64_MAX : first + second;
}

#define SEVERAL(NAME, NEXT, COUNT)                                                                                     \
  {                                                                                                                    \
    NAME, sizeof(dataset), sizeof(several), .begin = weft__dataset_several_begin, .next = NEXT,                        \
                                            .finish = weft__dataset_several_finish, .count = COUNT,                    \
                                            .rows = weft__dataset_rows_of_inputs                                       \
  }
static const dataset_kind zip_kind = SEVERAL("Zip", zip_next, zip_count);
static const dataset_kind concatenate_kind = SEVERAL("Concatenate", concatenate_next, concatenate_count);

static weft_err zip_cpu(kernel *k) {
  dataset *d = NULL;
  int parts = 0;
  WEFT_TRY(weft__dataset_of(k, &zip_kind, k->n_in, &d));
  for (int i = 0; i < d->n_input; i++) parts += d->input[i]->n_part;
  return weft__dataset_out(
      k, d,
      parts == d->n_part
          ? WEFT_OK
          : weft__fail(WEFT_INVALID_ARGUMENT, "the inputs have %d components, output_types says %d", parts, d->n_part));
}

static weft_err concatenate_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &concatenate_kind, 2, &d));
  bool fit = d->input[0]->n_part == d->n_part && d->input[1]->n_part == d->n_part;
  for (int i = 0; i < d->n_part && fit; i++) fit = d->input[0]->type[i] == d->input[1]->type[i];
  return weft__dataset_out(
      k, d,
      fit ? WEFT_OK
          : weft__fail(WEFT_INVALID_ARGUMENT, "input dataset and dataset to concatenate have different output_types"));
}

/* ---- cache: the first iterator that reaches the end leaves all elements to the later ones ---- */

typedef struct cache {
  object base;
  pthread_mutex_t lock;
  bool whole;
  weft_tensor **element;
  int64_t n, room;
  int n_part;
} cache;

typedef struct cache_at {
  walk base;
  cache *cache; /* the cache of this pass */
  bool reads, begun;
  cache own; /* the elements that this iterator collects */
  int64_t next;
} cache_at;

static void cache_clear(cache *c) {
  for (int64_t i = 0; i < c->n; i++) weft__components_free(c->element[i], c->n_part);
  weft__free(c->element);
  c->element = NULL;
  c->n = c->room = 0;
}

static void cache_destroy(object *o) {
  cache *c = (cache *)o;
  cache_clear(c);
  pthread_mutex_destroy(&c->lock);
  weft__free(c);
}

static weft_err make_cache(const void *of, object **out) {
  cache *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_OOM;
  atomic_init(&c->base.refs, 1);
  c->base.destroy = cache_destroy;
  c->n_part = ((const dataset *)of)->n_part;
  pthread_mutex_init(&c->lock, NULL);
  *out = &c->base;
  return WEFT_OK;
}

static weft_err cache_begin(iterator *it) {
  cache_at *at = (cache_at *)it;
  at->own.n_part = it->set->n_part;
  return weft__dataset_pass_object(it->pass, &it->set->base.base, make_cache, (object **)&at->cache);
}

static void cache_finish(iterator *it) {
  cache_clear(&((cache_at *)it)->own);
  weft__dataset_walk_finish(it);
}

static weft_err dataset_order_gather(cache *c, const weft_tensor *element) {
  WEFT_TRY(WEFT_ARRAY_RESERVE(c->element, c->room, c->n + 1));
  weft_tensor *kept = weft__components_alloc(c->n_part);
  if (!kept) return WEFT_OOM;
  weft__components_share(kept, element, c->n_part);
  c->element[c->n++] = kept;
  return WEFT_OK;
}

/* Called at the end of the input: gives the collected elements to the cache of the pass. */
static void cache_publish(cache_at *at) {
  pthread_mutex_lock(&at->cache->lock);
  if (!at->cache->whole) {
    at->cache->element = at->own.element;
    at->cache->n = at->own.n;
    at->cache->whole = true;
    at->own = (cache){.n_part = at->own.n_part};
  }
  pthread_mutex_unlock(&at->cache->lock);
}

static weft_err cache_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  cache_at *at = (cache_at *)it;
  if (!at->begun) {
    pthread_mutex_lock(&at->cache->lock);
    at->reads = at->cache->whole;
    pthread_mutex_unlock(&at->cache->lock);
    if (!at->reads && !at->base.from) WEFT_TRY(weft__dataset_walk_begin(it));
    at->begun = true;
  }
  if (at->reads) {
    *end = at->next >= at->cache->n;
    if (!*end) weft__components_share(out, at->cache->element[at->next++], it->set->n_part);
    return WEFT_OK;
  }
  WEFT_TRY(weft__iterator_next(at->base.from, st, out, end));
  if (!*end) return dataset_order_gather(&at->own, out);
  cache_publish(at);
  return WEFT_OK;
}

static const dataset_kind cache_kind = {"Cache",
                                        sizeof(dataset),
                                        sizeof(cache_at),
                                        .begin = cache_begin,
                                        .next = cache_next,
                                        .finish = cache_finish,
                                        .passes = true,
                                        .count = weft__dataset_count_of_input};

static weft_err cache_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__kernel_scalar(k, 1, "filename"));
  const str *file = &TENSOR_DATA(k->in[1], str)[0];
  if (file->size) return weft__dataset_cache_file(k, file->data, file->size);
  WEFT_TRY(weft__dataset_of(k, &cache_kind, 1, &d));
  return weft__dataset_out(k, d, WEFT_OK);
}

#define ROW(NAME, ARGS, ATTRS, DOC, FN)                                                                                \
  { NAME "(" ARGS ") -> (handle:variant) | " ATTRS, DOC, DATASET_FLAGS, .cpu = FN }

OPS(dataset_order) = {
    ROW("RepeatDataset", "input_dataset:variant, count:int64", OUTPUTS METADATA, "The elements again and again.",
        repeat_cpu),
    ROW("TakeDataset", "input_dataset:variant, count:int64", OUTPUTS METADATA, "The first elements.",
        dataset_order_take_cpu),
    ROW("SkipDataset", "input_dataset:variant, count:int64", OUTPUTS METADATA, "All but the first elements.", skip_cpu),
    ROW("ShardDataset", "input_dataset:variant, num_shards:int64, index:int64",
        "require_non_empty:bool=false " OUTPUTS METADATA, "Every so-manieth element.", shard_cpu),
    ROW("ZipDataset", "input_datasets:N*variant", OUTPUTS " N:int>=1" METADATA, "Elements of data sets side by side.",
        zip_cpu),
    ROW("ConcatenateDataset", "input_dataset:variant, another_dataset:variant", OUTPUTS METADATA,
        "The elements of one data set, then those of another.", concatenate_cpu),
    ROW("CacheDataset", "input_dataset:variant, filename:string", OUTPUTS METADATA,
        "Elements that are made once and kept.", cache_cpu),
    ROW("CacheDatasetV2", "input_dataset:variant, filename:string, cache:resource", OUTPUTS METADATA " ; stateful",
        "Elements that are made once and kept.", cache_cpu),
    {.scenario = "tests/parity/test_data.py"},
};
