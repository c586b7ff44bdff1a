/* dataset_unique.c - unique: drops elements that came before. */
#include "base/alloc.h"
#include "ops/data/dataset.h"

typedef struct entry {
  size_t size;
  uint64_t hash;
  unsigned char *bytes; /* owned */
} entry;

typedef struct unique_at {
  walk base;
  entry *slot; /* open addressing; the number of slots is a power of two; without bytes: empty */
  size_t room, used;
} unique_at;

static void unique_finish(iterator *it) {
  unique_at *at = (unique_at *)it;
  for (size_t i = 0; i < at->room; i++) weft__free(at->slot[i].bytes);
  weft__free(at->slot);
  weft__dataset_walk_finish(it);
}

static uint64_t hash_of(const unsigned char *p, size_t n) { /* FNV-1a */
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3u;
  return h;
}

/* Returns the slot with these bytes, or the empty slot for them. */
static entry *dataset_unique_find(const unique_at *at, uint64_t hash, const void *bytes, size_t size) {
  for (size_t i = (size_t)hash & (at->room - 1);; i = (i + 1) & (at->room - 1)) {
    entry *e = &at->slot[i];
    if (!e->bytes || (e->hash == hash && e->size == size && memcmp(e->bytes, bytes, size) == 0)) return e;
  }
}

static weft_err dataset_unique_grow(unique_at *at) {
  unique_at more = {.room = at->room ? 2 * at->room : 64};
  if (!(more.slot = weft__alloc_zero(more.room, sizeof *more.slot))) return WEFT_OOM;
  for (size_t i = 0; i < at->room; i++)
    if (at->slot[i].bytes)
      *dataset_unique_find(&more, at->slot[i].hash, at->slot[i].bytes, at->slot[i].size) = at->slot[i];
  weft__free(at->slot);
  at->slot = more.slot, at->room = more.room;
  return WEFT_OK;
}

/* Sets *is_new if the bytes are new, and adds them. */
static weft_err dataset_unique_add(unique_at *at, const void *bytes, size_t size, bool *is_new) {
  if (2 * at->used >= at->room) WEFT_TRY(dataset_unique_grow(at));
  uint64_t hash = hash_of(bytes, size);
  entry *e = dataset_unique_find(at, hash, bytes, size);
  *is_new = !e->bytes;
  if (!*is_new) return WEFT_OK;
  unsigned char *kept = weft__alloc(size + 1);
  if (!kept) return WEFT_OOM;
  if (size) memcpy(kept, bytes, size);
  *e = (entry){size, hash, kept};
  at->used++;
  return WEFT_OK;
}

static weft_err dataset_unique_add_element(unique_at *at, const weft_tensor *t, bool *is_new) {
  if (t->shape.rank != 0) return weft__fail(WEFT_INVALID_ARGUMENT, "UniqueDataset only supports scalar elements");
  if (t->dtype != WEFT_STRING) return dataset_unique_add(at, t->data, weft__dtype_size(t->dtype), is_new);
  const str *s = TENSOR_DATA(t, str);
  return dataset_unique_add(at, s->data, s->size, is_new);
}

static weft_err unique_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  unique_at *at = (unique_at *)it;
  for (bool is_new = false;;) {
    WEFT_TRY(weft__iterator_next(at->base.from, st, out, end));
    if (*end) return WEFT_OK;
    weft_err err = dataset_unique_add_element(at, &out[0], &is_new);
    if (!err && is_new) return WEFT_OK;
    weft__components_clear(out, it->set->n_part);
    WEFT_TRY(err);
  }
}

static const dataset_kind unique_kind = {"Unique",
                                         sizeof(dataset),
                                         sizeof(unique_at),
                                         .begin = weft__dataset_walk_begin,
                                         .next = unique_next,
                                         .finish = unique_finish,
                                         .passes = true};

static weft_err unique_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &unique_kind, 1, &d));
  bool takes = d->n_part == 1 && (d->type[0] == WEFT_INT32 || d->type[0] == WEFT_INT64 || d->type[0] == WEFT_STRING);
  return weft__dataset_out(
      k, d,
      takes ? WEFT_OK
            : weft__fail(WEFT_INVALID_ARGUMENT, "UniqueDataset only supports one component of int32, int64 or string"));
}

OPS(dataset_unique) = {
    {"UniqueDataset(input_dataset:variant) -> (handle:variant) | " OUTPUTS METADATA,
     "The elements that did not come before.", DATASET_FLAGS, .cpu = unique_cpu},
    {"ExperimentalUniqueDataset(input_dataset:variant) -> (handle:variant) | " OUTPUTS,
     "The elements that did not come before.", DATASET_FLAGS, .cpu = unique_cpu},
    {.scenario = "tests/parity/test_data.py"},
};
