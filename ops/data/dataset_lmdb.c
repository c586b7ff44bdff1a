/* dataset_lmdb.c - LMDBDataset: the keys and values of LMDB databases, in the order of their keys. */
#include "base/alloc.h"
#include "io/lmdb.h"
#include "ops/data/dataset.h"

typedef struct pairs {
  dataset base;
  weft_tensor names;
} pairs;

typedef struct pairs_at {
  iterator base;
  int64_t next; /* index of the next file */
  lmdb_reader *from;
  text key, value;
} pairs_at;

static void pairs_destroy(dataset *d) { weft__tensor_clear(&((pairs *)d)->names); }

static void pairs_finish(iterator *it) {
  pairs_at *at = (pairs_at *)it;
  weft__lmdb_close(at->from);
  weft__text_finish(&at->key);
  weft__text_finish(&at->value);
}

/* Opens the next file.  After an error the next call tries the same file again. */
static weft_err pairs_open(const pairs *s, pairs_at *at) {
  const str *name = &TENSOR_DATA(&s->names, str)[at->next];
  char *path = weft__strndup(name->size ? name->data : "", name->size);
  if (!path) return WEFT_OOM;
  const weft_err err = weft__lmdb_open(&at->from, path);
  weft__free(path);
  if (!err) at->next++;
  return err;
}

static weft_err pairs_text(weft_tensor *out, const text *t) {
  WEFT_TRY(weft__tensor_init(out, WEFT_STRING, &SHAPE_SCALAR));
  return weft__str_set(&TENSOR_DATA(out, str)[0], weft__text_get(t), t->size);
}

static weft_err pairs_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  const pairs *s = (pairs *)it->set;
  pairs_at *at = (pairs_at *)it;
  for (;;) {
    bool over = false;
    WEFT_TRY(weft__step_check_time(st));
    if (!at->from) {
      *end = at->next >= weft__tensor_count(&s->names);
      if (*end) return WEFT_OK;
      WEFT_TRY(pairs_open(s, at));
    }
    weft_err err = weft__lmdb_next(at->from, &at->key, &at->value, &over);
    if (!err && !over) {
      err = pairs_text(&out[0], &at->key);
      return err ? err : pairs_text(&out[1], &at->value);
    }
    weft__lmdb_close(at->from); /* a damaged file ends where the damage is */
    at->from = NULL;
    if (err) return err;
  }
}

static const dataset_kind pairs_kind = {
    "LMDB", sizeof(pairs), sizeof(pairs_at), .destroy = pairs_destroy, .next = pairs_next, .finish = pairs_finish};

static weft_err pairs_cpu(kernel *k) {
  dataset *d = NULL;
  if (k->in[0]->shape.rank > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "`filenames` must be a scalar or a vector.");
  WEFT_TRY(weft__dataset_of(k, &pairs_kind, 0, &d));
  const bool fits = d->n_part == 2 && d->type[0] == WEFT_STRING && d->type[1] == WEFT_STRING;
  const weft_err err =
      fits ? weft__tensor_keep(&((pairs *)d)->names, k->in[0])
           : weft__fail(WEFT_INVALID_ARGUMENT, "output_types must be two strings: an element is a key and a value");
  return weft__dataset_out(k, d, err);
}

#define PAIRS(NAME)                                                                                                    \
  {                                                                                                                    \
    NAME "(filenames:string) -> (handle:variant) | " OUTPUTS " ; stateful", "The keys and values of LMDB databases.",  \
        DATASET_FLAGS, .cpu = pairs_cpu                                                                                \
  }

OPS(dataset_lmdb) = {
    PAIRS("LMDBDataset"),
    PAIRS("ExperimentalLMDBDataset"),
    {.scenario = "tests/python/test_lmdb.py"},
};
