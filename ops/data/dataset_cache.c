/* dataset_cache.c - cache(filename): stores elements in a file that later iterations and later programs read.
 *
 * The file is a bundle in TensorFlow's format: component c of element i has the key "%7i_%c".  If there is no file,
 * the iteration writes one.  The file appears only when that iteration reaches the end, so an iteration that stops
 * early leaves no file. */
#include "base/alloc.h"
#include "io/bundle.h"
#include "io/confine.h"
#include "ops/data/dataset.h"
#include "state/held_tensors.h"
#include <stdio.h>
#include <string.h>

typedef struct file_cache {
  dataset base;
  char *path;
} file_cache;

typedef struct file_cache_at {
  walk base;
  bundle_reader *reader; /* of an existing file */
  bundle_writer *writer; /* of a file that this iteration writes */
  bool begun, written;
  int64_t next;
} file_cache_at;

static void file_cache_destroy(dataset *d) { weft__free(((file_cache *)d)->path); }

static void file_cache_finish(iterator *it) {
  file_cache_at *at = (file_cache_at *)it;
  weft__bundle_close(at->reader);
  weft__bundle_destroy(at->writer);
  weft__dataset_walk_finish(it);
}

/* Formats the key of a component, with TensorFlow's width. */
static bytes dataset_cache_key_of(char room[48], int64_t element, int part, int n_part) {
  int digits = snprintf(room, 48, "%d", n_part > 0 ? n_part - 1 : 0);
  int n = snprintf(room, 48, "%7lld_%*d", (long long)element, digits, part);
  return (bytes){room, (size_t)n};
}

static weft_err file_cache_begin(iterator *it) {
  file_cache_at *at = (file_cache_at *)it;
  const char *path = ((file_cache *)it->set)->path;
  WEFT_TRY(weft__path_allowed(path));
  if (weft__bundle_exists(path)) return weft__bundle_open(&at->reader, path);
  if (!at->base.from) WEFT_TRY(weft__dataset_walk_begin(it));
  return weft__bundle_create(&at->writer, path);
}

/* Reads variants with tensors, such as sparse components.  The file stores them as strings. */
static weft_err read_variants(file_cache_at *at, bytes key, const bundle_entry *e, weft_tensor *out) {
  weft_tensor strings = {0};
  weft_err err = weft__tensor_init(&strings, WEFT_STRING, &e->shape);
  if (!err) err = weft__bundle_read(at->reader, key, NULL, &strings);
  if (!err) err = weft__held_tensors_decode(&strings, out);
  weft__tensor_clear(&strings);
  return err;
}

static weft_err write_variants(file_cache_at *at, bytes key, const weft_tensor *variants) {
  weft_tensor strings = {0};
  weft_err err = weft__held_tensors_encode(variants, &strings);
  if (!err) err = weft__bundle_add(at->writer, key, &strings);
  weft__tensor_clear(&strings);
  return err;
}

static weft_err dataset_cache_read_part(file_cache_at *at, int part, weft_tensor *out, bool *end) {
  const dataset *d = at->base.base.set;
  bundle_entry e;
  char room[48];
  bytes key = dataset_cache_key_of(room, at->next, part, d->n_part);
  weft_err err = weft__bundle_find(at->reader, key, &e);
  *end = err == WEFT_NOT_FOUND && part == 0;
  if (*end) return WEFT_OK;
  WEFT_TRY(err);
  const bool is_variant = d->type[part] == WEFT_VARIANT;
  if (e.dtype != (is_variant ? WEFT_STRING : d->type[part]))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "the cache file %s has %s where the data set has %s: it is of another data set (delete it)",
                      ((const file_cache *)d)->path, weft__dtype_name(e.dtype), weft__dtype_name(d->type[part]));
  if (is_variant) return read_variants(at, key, &e, out);
  WEFT_TRY(weft__tensor_init(out, e.dtype, &e.shape));
  return weft__bundle_read(at->reader, key, NULL, out);
}

static weft_err read_element(file_cache_at *at, weft_tensor *out, bool *end) {
  const dataset *d = at->base.base.set;
  *end = false;
  for (int i = 0; i < d->n_part && !*end; i++) {
    weft_err err = dataset_cache_read_part(at, i, &out[i], end);
    if (err) {
      weft__components_clear(out, d->n_part);
      return err;
    }
  }
  if (!*end) at->next++;
  return WEFT_OK;
}

static weft_err write_element(file_cache_at *at, const weft_tensor *element) {
  const dataset *d = at->base.base.set;
  char room[48];
  for (int i = 0; i < d->n_part; i++) {
    const bytes key = dataset_cache_key_of(room, at->next, i, d->n_part);
    WEFT_TRY(element[i].dtype == WEFT_VARIANT ? write_variants(at, key, &element[i])
                                              : weft__bundle_add(at->writer, key, &element[i]));
  }
  at->next++;
  return WEFT_OK;
}

static weft_err file_cache_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  file_cache_at *at = (file_cache_at *)it;
  if (!at->begun) {
    WEFT_TRY(file_cache_begin(it));
    at->begun = true;
  }
  if (at->reader) return read_element(at, out, end);
  WEFT_TRY(weft__iterator_next(at->base.from, st, out, end));
  if (!*end) return at->writer ? write_element(at, out) : WEFT_OK;
  if (at->written) return WEFT_OK;
  at->written = true;
  return weft__bundle_finish(at->writer);
}

static const dataset_kind file_cache_kind = {"CacheFile",
                                             sizeof(file_cache),
                                             sizeof(file_cache_at),
                                             .destroy = file_cache_destroy,
                                             .next = file_cache_next,
                                             .finish = file_cache_finish,
                                             .passes = true};

weft_err weft__dataset_cache_file(kernel *k, const char *path, size_t size) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &file_cache_kind, 1, &d));
  ((file_cache *)d)->path = weft__strndup(path, size);
  return weft__dataset_out(k, d, ((file_cache *)d)->path ? WEFT_OK : WEFT_OOM);
}
