/* bundle.c - writes and merges bundles.
 *
 * Tensors are written to the data file as they are added.  Their entries are collected and written as the index at
 * the end. */
#include "io/bundle_entry.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/cast.h"
#include "io/crc32c.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"
#include <string.h>
#include <unistd.h>
#include <stdio.h>
#include <errno.h>

struct bundle_writer {
  char *prefix, *index;
  file_writer *data;
  entry_list entries;
};

weft_err weft__bundle_create(bundle_writer **out, const char *prefix) {
  bundle_writer *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  w->prefix = weft__strdup(prefix);
  w->index = weft__bundle_index_path(prefix);
  char *dir = weft__file_dir(prefix), *data = weft__bundle_data_path(prefix, 0, 1);
  weft_err err = w->prefix && w->index && dir && data ? weft__dir_create(dir) : WEFT_OOM;
  /* Does not sweep a folder where the shards of a checkpoint are collected: another task may be writing there.  That
   * task may be TensorFlow, which locks nothing. */
  if (err == WEFT_OK && !strstr(dir, "_temp_")) weft__file_sweep(dir);
  if (err == WEFT_OK) err = weft__writer_create(&w->data, data);
  weft__free(dir);
  weft__free(data);
  if (err == WEFT_OK)
    *out = w;
  else
    weft__bundle_destroy(w);
  return err;
}

void weft__bundle_destroy(bundle_writer *w) {
  if (!w) return;
  weft__writer_destroy(w->data);
  weft__entry_finish(&w->entries);
  weft__free(w->prefix);
  weft__free(w->index);
  weft__free(w);
}

/* ---- one tensor ---- */

static void bundle_append(bundle_writer *w, uint32_t *crc, const void *data, size_t size) {
  *crc = weft__crc32c(*crc, data, size);
  weft__writer_append(w->data, data, size);
}

/* Writes the lengths as varints, the checksum of the lengths as integers, then the bytes.  The checksum of the whole
 * covers the integers, not the varints. */
static void append_strings(bundle_writer *w, const weft_tensor *t, uint32_t *crc) {
  WEFT_ASSERT(t->dtype == WEFT_STRING);
  const str *s = TENSOR_DATA(t, str);
  int64_t n = weft__tensor_count(t);
  for (int64_t i = 0; i < n; i++) {
    unsigned char v[10];
    uint64_t size = s[i].size;
    uint32_t small = (uint32_t)size;
    weft__writer_append(w->data, v, weft__varint_put(v, size));
    *crc = size <= UINT32_MAX ? weft__crc32c(*crc, &small, 4) : weft__crc32c(*crc, &size, 8);
  }
  uint32_t masked = weft__crc32c_mask(*crc);
  bundle_append(w, crc, &masked, 4);
  for (int64_t i = 0; i < n; i++)
    if (s[i].size) bundle_append(w, crc, s[i].data, s[i].size);
}

static weft_err set_shape(entry_list *l, Tensorflow__BundleEntryProto *e, const shape *s) {
  e->shape = weft__arena_alloc(&l->arena, sizeof *e->shape);
  if (!e->shape) return WEFT_OOM;
  *e->shape = (Tensorflow__TensorShapeProto)TENSORFLOW__TENSOR_SHAPE_PROTO__INIT;
  return weft__shape_to_proto(e->shape, s, &l->arena);
}

weft_err weft__bundle_add(bundle_writer *w, bytes name, const weft_tensor *t) {
  entry_row *row = NULL;
  uint32_t crc = 0;
  if (!name.size) return weft__fail(WEFT_INVALID_ARGUMENT, "a tensor of a checkpoint must have a name");
  if (!weft__dtype_is_plain(t->dtype) && t->dtype != WEFT_STRING)
    return weft__fail(WEFT_UNIMPLEMENTED, "Writing %.*s: a %s cannot be saved", weft__int_sat(name.size), name.data,
                      weft__dtype_name(t->dtype));
  WEFT_TRY(weft__entry_add(&w->entries, name, &row));
  row->proto.dtype = (int32_t)t->dtype;
  row->proto.offset = (int64_t)weft__writer_offset(w->data);
  WEFT_TRY(set_shape(&w->entries, &row->proto, &t->shape));
  if (t->dtype == WEFT_STRING)
    append_strings(w, t, &crc);
  else
    bundle_append(w, &crc, t->data, weft__tensor_bytes(t));
  row->proto.size = (int64_t)weft__writer_offset(w->data) - row->proto.offset;
  WEFT_ASSERT(row->proto.size >= 0 && row->proto.n_slices == 0);
  row->proto.crc32c = weft__crc32c_mask(crc);
  return WEFT_OK;
}

weft_err weft__bundle_add_slice(bundle_writer *w, bytes name, const shape *full, const slice *s, const weft_tensor *t) {
  entry_row *row = NULL;
  text key = {0};
  Tensorflow__TensorSliceProto *p = weft__arena_alloc(&w->entries.arena, sizeof *p);
  Tensorflow__TensorSliceProto **list = weft__arena_alloc(&w->entries.arena, sizeof *list);
  if (!p || !list) return WEFT_OOM;
  WEFT_TRY(weft__slice_to_proto(p, s, &w->entries.arena));
  WEFT_TRY(weft__entry_add(&w->entries, name, &row));
  row->proto.dtype = (int32_t)t->dtype;
  list[0] = p;
  row->proto.slices = list;
  row->proto.n_slices = 1;
  WEFT_TRY(set_shape(&w->entries, &row->proto, full));
  weft__slice_key(&key, name, s);
  weft_err err = key.failed ? WEFT_OOM : weft__bundle_add(w, (bytes){key.data, key.size}, t);
  weft__text_finish(&key);
  return err;
}

weft_err weft__bundle_finish(bundle_writer *w) {
  file_writer *index = NULL;
  WEFT_TRY(weft__entry_merge(&w->entries, "Adding duplicate key: ", ""));
  WEFT_TRY(weft__writer_sync(w->data));
  char *dir = weft__file_dir(w->prefix);
  weft_err err = dir ? weft__entry_write(&w->entries, w->index, 1, &index) : WEFT_OOM;
  if (err == WEFT_OK) err = weft__bundle_unlink_index(w->index);
  if (err == WEFT_OK) err = weft__writer_place(w->data);
  if (err == WEFT_OK) err = weft__writer_place(index);
  if (err == WEFT_OK) err = weft__dir_sync(dir);
  weft__writer_destroy(index);
  weft__free(dir);
  return err;
}

/* ---- merging ---- */

typedef struct merge {
  entry_list entries;
  path_list from; /* data files in the order of their new numbers */
  int *shard_map; /* for the current part: old number -> new one, -1 if not used yet */
  int part_shards;
  const char *part;
  Tensorflow__BundleEntryProto **unpacked; /* entries share their strings and shapes */
  int n_unpacked;
  int64_t room_unpacked, path_capacity; /* capacities of `unpacked` and of from.path */
} merge;

static weft_err keep_unpacked(merge *m, Tensorflow__BundleEntryProto *e) {
  WEFT_ASSERT(m->n_unpacked <= m->room_unpacked);
  WEFT_TRY(WEFT_ARRAY_RESERVE(m->unpacked, m->room_unpacked, m->n_unpacked + 1));
  m->unpacked[m->n_unpacked++] = e;
  return WEFT_OK;
}

/* Returns the new number of a shard of the current part. */
static weft_err shard_renumber(merge *m, int old, int *out) {
  WEFT_ASSERT(m->shard_map && m->from.n <= m->path_capacity);
  if (old < 0 || old >= m->part_shards)
    return weft__fail(WEFT_DATA_LOSS, "%s.index names shard %d of %d", m->part, old, m->part_shards);
  if (m->shard_map[old] < 0) {
    WEFT_TRY(WEFT_ARRAY_RESERVE(m->from.path, m->path_capacity, m->from.n + 1));
    if (!(m->from.path[m->from.n] = weft__bundle_data_path(m->part, old, m->part_shards))) return WEFT_OOM;
    m->shard_map[old] = m->from.n++;
  }
  *out = m->shard_map[old];
  return WEFT_OK;
}

static weft_err take_entry(void *arg, bytes key, bytes val) {
  merge *m = arg;
  Tensorflow__BundleEntryProto *e = NULL;
  entry_row *row = NULL;
  if (!key.size) return WEFT_OK;
  WEFT_TRY(
      weft__proto_unpack((ProtobufCMessage **)&e, &tensorflow__bundle_entry_proto__descriptor, val.data, val.size));
  weft_err err = keep_unpacked(m, e);
  if (err != WEFT_OK) {
    protobuf_c_message_free_unpacked(&e->base, NULL);
    return err;
  }
  WEFT_TRY(weft__entry_add(&m->entries, key, &row));
  row->proto = *e;
  if (e->n_slices) return WEFT_OK;
  int shard = 0;
  WEFT_TRY(shard_renumber(m, e->shard_id, &shard));
  row->proto.shard_id = shard;
  return WEFT_OK;
}

static weft_err take_part(merge *m, const char *part, bool allow_missing) {
  WEFT_ASSERT(!m->shard_map);
  table_reader *t = NULL;
  char *index = weft__bundle_index_path(part);
  if (!index) return WEFT_OOM;
  m->part = part;
  weft_err err = WEFT_OK;
  if (!weft__file_exists(index)) {
    weft__free(index);
    if (allow_missing) return WEFT_OK;
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "allow_missing_files was set to false and %s did not exist.NOT_FOUND: %s not found", part, part);
  }
  err = weft__table_open(&t, index);
  if (err == WEFT_OK) err = weft__bundle_header(t, index, &m->part_shards);
  if (err == WEFT_OK && !(m->shard_map = weft__alloc((size_t)m->part_shards * sizeof *m->shard_map))) err = WEFT_OOM;
  for (int i = 0; err == WEFT_OK && i < m->part_shards; i++) m->shard_map[i] = -1;
  if (err == WEFT_OK) err = weft__table_each(t, take_entry, m);
  weft__free(m->shard_map);
  m->shard_map = NULL;
  weft__table_close(t);
  weft__free(index);
  return err;
}

static weft_err rename_data(const merge *m, const char *to) {
  for (int i = 0; i < m->from.n; i++) {
    char *path = weft__bundle_data_path(to, i, m->from.n);
    if (!path) return WEFT_OOM;
    const char *from = "", *to_path = "";
    weft_err unknown = weft__path_local(m->from.path[i], &from);
    if (!unknown) unknown = weft__path_local(path, &to_path);
    weft_err err = unknown ? unknown : rename(from, to_path) == 0 ? WEFT_OK : weft__file_fail(m->from.path[i], errno);
    weft__free(path);
    if (err != WEFT_OK) return err;
  }
  return WEFT_OK;
}

/* Removes the files of the parts.  A directory that still has other files is kept. */
static void remove_parts(const char *const *part, int n, const char *to, bool delete_dirs) {
  char *keep = weft__file_dir(to);
  for (int i = 0; i < n; i++) {
    char *index = weft__bundle_index_path(part[i]), *dir = weft__file_dir(part[i]);
    const char *local;
    if (index && strcmp(part[i], to) != 0 && !weft__path_local(index, &local)) unlink(local);
    if (delete_dirs && dir && keep && strcmp(dir, keep) != 0 && !weft__path_local(dir, &local)) rmdir(local);
    weft__free(index);
    weft__free(dir);
  }
  weft__free(keep);
}

static weft_err merge_write(merge *m, const char *to) {
  file_writer *w = NULL;
  char *index = weft__bundle_index_path(to), *dir = weft__file_dir(to);
  weft_err err = index && dir ? weft__dir_create(dir) : WEFT_OOM;
  if (err == WEFT_OK) err = weft__entry_write(&m->entries, index, m->from.n ? m->from.n : 1, &w);
  if (err == WEFT_OK) err = weft__bundle_unlink_index(index);
  if (err == WEFT_OK) err = rename_data(m, to);
  if (err == WEFT_OK) err = weft__writer_place(w);
  if (err == WEFT_OK) err = weft__dir_sync(dir);
  weft__writer_destroy(w);
  weft__free(index);
  weft__free(dir);
  return err;
}

weft_err weft__bundle_merge(const char *const *part, int n, const char *to, bool delete_dirs, bool allow_missing) {
  merge m = {0};
  weft_err err = WEFT_OK;
  for (int i = 0; err == WEFT_OK && i < n; i++) err = take_part(&m, part[i], allow_missing);
  if (err == WEFT_OK)
    err = weft__entry_merge(&m.entries, "Duplicate tensor keyed by ", " encountered, when merging checkpoints");
  if (err == WEFT_OK) err = merge_write(&m, to);
  if (err == WEFT_OK) remove_parts(part, n, to, delete_dirs);
  weft__entry_finish(&m.entries);
  for (int i = 0; i < m.n_unpacked; i++) protobuf_c_message_free_unpacked(&m.unpacked[i]->base, NULL);
  weft__free(m.unpacked);
  weft__path_list_finish(&m.from);
  return err;
}
