/* bundle_entry.c - the rows of an index: collects, sorts, merges and writes them. */
#include "io/bundle_entry.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/cast.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHARDS_MAX = 99999 }; /* file names have five digits */

char *weft__bundle_data_path(const char *prefix, int shard, int shards) {
  return weft__sprintf("%s.data-%05d-of-%05d", prefix, shard, shards);
}

char *weft__bundle_index_path(const char *prefix) { return weft__sprintf("%s.index", prefix); }

weft_err weft__bundle_unlink_index(const char *index) {
  const char *local;
  WEFT_TRY(weft__path_local(index, &local));
  return unlink(local) == 0 || errno == ENOENT ? WEFT_OK : weft__file_fail(index, errno);
}

weft_err weft__entry_add(entry_list *l, bytes key, entry_row **out) {
  WEFT_ASSERT(l->n <= l->room);
  WEFT_TRY(WEFT_ARRAY_RESERVE(l->row, l->room, l->n + 1));
  char *copy = weft__arena_strndup(&l->arena, key.data, key.size);
  if (!copy) return WEFT_OOM;
  *out = &l->row[l->n];
  **out = (entry_row){{copy, key.size}, l->n, TENSORFLOW__BUNDLE_ENTRY_PROTO__INIT};
  l->n++;
  return WEFT_OK;
}

void weft__entry_finish(entry_list *l) {
  weft__free(l->row);
  weft__arena_finish(&l->arena);
  *l = (entry_list){0};
}

static int bundle_entry_by_key(const void *a, const void *b) {
  const entry_row *x = a, *y = b;
  int c = weft__bytes_compare(x->key, y->key);
  return c ? c : x->order - y->order;
}

static bool same_tensor(const Tensorflow__BundleEntryProto *a, const Tensorflow__BundleEntryProto *b) {
  if (a->dtype != b->dtype || !a->shape != !b->shape) return false;
  if (!a->shape) return true;
  if (a->shape->n_dim != b->shape->n_dim) return false;
  for (size_t i = 0; i < a->shape->n_dim; i++)
    if (a->shape->dim[i]->size != b->shape->dim[i]->size) return false;
  return true;
}

/* Merges rows [i, end), which have one key, into row i: their slices become one list. */
static weft_err join_slices(entry_list *l, int i, int end, const char *what, const char *after) {
  WEFT_ASSERT(i >= 0 && i < end && end <= l->n);
  Tensorflow__BundleEntryProto *first = &l->row[i].proto;
  size_t n = 0;
  for (int j = i; j < end; j++) {
    const Tensorflow__BundleEntryProto *e = &l->row[j].proto;
    if (j > i && (!e->n_slices || !first->n_slices || !same_tensor(first, e)))
      return weft__fail(WEFT_INVALID_ARGUMENT, "%s%.*s%s", what, weft__int_sat(l->row[i].key.size), l->row[i].key.data,
                        after);
    n += e->n_slices;
  }
  if (end == i + 1) return WEFT_OK;
  Tensorflow__TensorSliceProto **all = weft__arena_alloc(&l->arena, n * sizeof *all);
  if (!all) return WEFT_OOM;
  n = 0;
  for (int j = i; j < end; j++)
    for (size_t k = 0; k < l->row[j].proto.n_slices; k++) all[n++] = l->row[j].proto.slices[k];
  first->slices = all;
  first->n_slices = n;
  return WEFT_OK;
}

weft_err weft__entry_merge(entry_list *l, const char *what, const char *after) {
  int kept = 0;
  if (l->n) qsort(l->row, (size_t)l->n, sizeof *l->row, bundle_entry_by_key);
  for (int i = 0, end; i < l->n; i = end) {
    for (end = i + 1; end < l->n && weft__bytes_compare(l->row[i].key, l->row[end].key) == 0;) end++;
    WEFT_ASSERT(kept <= i);
    WEFT_TRY(join_slices(l, i, end, what, after));
    l->row[kept++] = l->row[i];
  }
  l->n = kept;
  return WEFT_OK;
}

static weft_err bundle_entry_add_packed(table_writer *t, bytes key, const ProtobufCMessage *m) {
  size_t size = protobuf_c_message_get_packed_size(m);
  uint8_t *packed = weft__alloc(size + 1);
  if (!packed) return WEFT_OOM;
  protobuf_c_message_pack(m, packed);
  weft_err err = weft__table_add(t, key, (bytes){(const char *)packed, size});
  weft__free(packed);
  return err;
}

static weft_err bundle_entry_write_rows(table_writer *t, const entry_list *l, int shards) {
  WEFT_ASSERT(shards > 0);
  Tensorflow__VersionDef version = TENSORFLOW__VERSION_DEF__INIT;
  Tensorflow__BundleHeaderProto header = TENSORFLOW__BUNDLE_HEADER_PROTO__INIT;
  version.producer = 1;
  header.num_shards = shards;
  header.version = &version;
  WEFT_TRY(bundle_entry_add_packed(t, (bytes){"", 0}, &header.base));
  for (int i = 0; i < l->n; i++) WEFT_TRY(bundle_entry_add_packed(t, l->row[i].key, &l->row[i].proto.base));
  return weft__table_finish(t);
}

weft_err weft__entry_write(entry_list *l, const char *path, int shards, file_writer **out) {
  file_writer *w = NULL;
  table_writer *t = NULL;
  WEFT_TRY(weft__writer_create(&w, path));
  weft_err err = weft__table_create(&t, w);
  if (err == WEFT_OK) err = bundle_entry_write_rows(t, l, shards);
  weft__table_destroy(t);
  if (err == WEFT_OK) err = weft__writer_sync(w);
  if (err == WEFT_OK)
    *out = w;
  else
    weft__writer_destroy(w);
  return err;
}

weft_err weft__bundle_header(table_reader *t, const char *path, int *shards) {
  bytes packed;
  Tensorflow__BundleHeaderProto *h = NULL;
  weft_err err = weft__table_find(t, (bytes){"", 0}, &packed);
  if (err == WEFT_OK)
    err = weft__proto_unpack((ProtobufCMessage **)&h, &tensorflow__bundle_header_proto__descriptor, packed.data,
                             packed.size);
  if (err == WEFT_RESOURCE_EXHAUSTED) return err;
  if (err != WEFT_OK)
    return weft__fail(WEFT_DATA_LOSS,
                      "Unable to read file (%s). Perhaps the file is corrupt or was produced by a newer version of "
                      "TensorFlow with format changes (failed to seek to header entry): %s",
                      path, weft__error_message());
  if (h->endianness != 0)
    err = weft__fail(WEFT_UNIMPLEMENTED, "%s was written on a machine of the other byte order", path);
  else if (h->version && h->version->min_consumer > 1)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "%s needs a reader of version %d; this one is of version 1", path,
                     h->version->min_consumer);
  else if (h->num_shards < 1 || h->num_shards > SHARDS_MAX)
    err = weft__fail(WEFT_DATA_LOSS, "%s: %d shards", path, h->num_shards);
  *shards = h->num_shards;
  protobuf_c_message_free_unpacked(&h->base, NULL);
  return err;
}
