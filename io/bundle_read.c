/* bundle_read.c - reads bundles: looks up an entry by name, reads its bytes from its shard and verifies the
 * checksum. */
#include "io/bundle_entry.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "io/crc32c.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"
#include <string.h>
#include <unistd.h>

struct bundle_reader {
  char *prefix, *index;
  table_reader *table;
  int shards;
  int *fd; /* per shard; -1: not open */
};

bool weft__bundle_exists(const char *prefix) {
  char *index = weft__bundle_index_path(prefix);
  bool exists = index && weft__file_exists(index);
  weft__free(index);
  return exists;
}

weft_err weft__bundle_open(bundle_reader **out, const char *prefix) {
  bundle_reader *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  r->prefix = weft__strdup(prefix);
  r->index = weft__bundle_index_path(prefix);
  weft_err err = r->prefix && r->index ? weft__table_open(&r->table, r->index) : WEFT_OOM;
  if (err == WEFT_OK) err = weft__bundle_header(r->table, r->index, &r->shards);
  if (err == WEFT_OK && !(r->fd = weft__alloc((size_t)r->shards * sizeof *r->fd))) err = WEFT_OOM;
  for (int i = 0; err == WEFT_OK && i < r->shards; i++) r->fd[i] = -1;
  if (err == WEFT_OK)
    *out = r;
  else
    weft__bundle_close(r);
  return err;
}

void weft__bundle_close(bundle_reader *r) {
  if (!r) return;
  for (int i = 0; r->fd && i < r->shards; i++)
    if (r->fd[i] >= 0) close(r->fd[i]);
  weft__free(r->fd);
  weft__table_close(r->table);
  weft__free(r->prefix);
  weft__free(r->index);
  weft__free(r);
}

/* ---- entries ---- */

static weft_err bundle_find(bundle_reader *r, bytes name, Tensorflow__BundleEntryProto **out) {
  bytes packed;
  weft_err err = weft__table_find(r->table, name, &packed);
  if (err == WEFT_NOT_FOUND)
    return weft__fail(WEFT_NOT_FOUND, "Key %.*s not found in checkpoint", weft__int_sat(name.size), name.data);
  if (err != WEFT_OK) return err;
  err = weft__proto_unpack((ProtobufCMessage **)out, &tensorflow__bundle_entry_proto__descriptor, packed.data,
                           packed.size);
  if (err == WEFT_OK || err == WEFT_RESOURCE_EXHAUSTED) return err;
  return weft__fail_in(WEFT_DATA_LOSS, "%s: entry %.*s", r->index, weft__int_sat(name.size), name.data);
}

static void free_entry(Tensorflow__BundleEntryProto *e) {
  if (e) protobuf_c_message_free_unpacked(&e->base, NULL);
}

static weft_err bundle_describe(const Tensorflow__BundleEntryProto *e, bundle_entry *out) {
  *out = (bundle_entry){(weft_dtype)e->dtype, SHAPE_SCALAR, weft__int_sat(e->n_slices)};
  if (!weft__dtype_is_known(e->dtype))
    return weft__fail(WEFT_UNIMPLEMENTED, "a checkpoint holds a tensor of the unknown type %d", e->dtype);
  if (e->shape) WEFT_TRY(weft__shape_from_proto(&out->shape, e->shape));
  if (!weft__shape_known(&out->shape) || weft__shape_count(&out->shape) < 0)
    return weft__fail(WEFT_DATA_LOSS, "a checkpoint holds a tensor of the impossible shape %s",
                      weft__shape_text(&out->shape));
  if (e->n_slices) return WEFT_OK;
  uint64_t count = (uint64_t)weft__shape_count(&out->shape), size = (uint64_t)e->size;
  size_t each = weft__dtype_size(out->dtype);
  bool fits = out->dtype == WEFT_STRING ? count <= size : size / each == count && size % each == 0;
  if (fits && e->size >= 0) return WEFT_OK; /* so memory is never allocated for more than is stored */
  return weft__fail(WEFT_DATA_LOSS, "a checkpoint holds %lld bytes for a %s of shape %s", (long long)e->size,
                    weft__dtype_name(out->dtype), weft__shape_text(&out->shape));
}

weft_err weft__bundle_find(bundle_reader *r, bytes name, bundle_entry *out) {
  Tensorflow__BundleEntryProto *e = NULL;
  WEFT_TRY(bundle_find(r, name, &e));
  weft_err err = bundle_describe(e, out);
  free_entry(e);
  return err;
}

/* ---- bytes ---- */

static weft_err open_shard(bundle_reader *r, int shard, int *fd, char **path) {
  if (shard < 0 || shard >= r->shards)
    return weft__fail(WEFT_DATA_LOSS, "%s names shard %d of %d", r->index, shard, r->shards);
  if (!(*path = weft__bundle_data_path(r->prefix, shard, r->shards))) return WEFT_OOM;
  if (r->fd[shard] < 0) WEFT_TRY(weft__file_open(*path, &r->fd[shard], NULL));
  *fd = r->fd[shard];
  WEFT_ASSERT(*fd >= 0);
  return WEFT_OK;
}

static weft_err bad_checksum(const bundle_reader *r, const Tensorflow__BundleEntryProto *e, uint32_t got) {
  return weft__fail(WEFT_DATA_LOSS,
                    "TensorBundle at %s shard %d (%lld bytes at %lld): Checksum does not match: stored %u vs. "
                    "calculated on the restored bytes %u",
                    r->prefix, e->shard_id, (long long)e->size, (long long)e->offset, weft__crc32c_unmask(e->crc32c),
                    got);
}

/* Reads n strings from `size` bytes: lengths, their checksum, the bytes. */
static weft_err split_strings(const bundle_reader *r, const Tensorflow__BundleEntryProto *e, const unsigned char *data,
                              weft_tensor *t) {
  WEFT_ASSERT(e->size >= 0 && t->dtype == WEFT_STRING);
  const unsigned char *p = data, *end = data + e->size, *at;
  int64_t n = weft__tensor_count(t);
  uint64_t size, total = 0;
  uint32_t crc = 0, masked;
  for (int64_t i = 0; i < n; i++) {
    if (!(p = weft__varint_get(p, end, &size)) || size > (uint64_t)e->size) goto damaged;
    uint32_t small = (uint32_t)size;
    crc = size <= UINT32_MAX ? weft__crc32c(crc, &small, 4) : weft__crc32c(crc, &size, 8);
    total += size;
  }
  if (end - p < 4 || total != (uint64_t)(end - p) - 4) goto damaged;
  memcpy(&masked, p, 4);
  if (weft__crc32c_unmask(masked) != crc) return bad_checksum(r, e, crc);
  crc = weft__crc32c(crc, p, (size_t)(end - p));
  if (weft__crc32c_unmask(e->crc32c) != crc) return bad_checksum(r, e, crc);
  at = p + 4;
  p = data;
  for (int64_t i = 0; i < n; i++, at += size) {
    p = weft__varint_get(p, end, &size);
    WEFT_ASSERT(p && size <= (size_t)(end - at)); /* checked in the first pass */
    WEFT_TRY(weft__str_set(&TENSOR_DATA(t, str)[i], at, (size_t)size));
  }
  return WEFT_OK;
damaged:
  return weft__fail(WEFT_DATA_LOSS,
                    "TensorBundle at %s shard %d: the lengths of %lld strings do not fit %lld bytes at %lld", r->prefix,
                    e->shard_id, (long long)n, (long long)e->size, (long long)e->offset);
}

static weft_err read_strings(bundle_reader *r, const Tensorflow__BundleEntryProto *e, int fd, const char *path,
                             weft_tensor *t) {
  unsigned char last;
  if (e->size > 0) /* never allocates more memory than the file has bytes */
    WEFT_TRY(weft__file_read_at(fd, path, (uint64_t)e->offset + (uint64_t)e->size - 1, &last, 1));
  unsigned char *data = weft__alloc((size_t)e->size + 1);
  if (!data) return WEFT_OOM;
  weft_err err = weft__file_read_at(fd, path, (uint64_t)e->offset, data, (size_t)e->size);
  if (err == WEFT_OK) err = split_strings(r, e, data, t);
  weft__free(data);
  return err;
}

static weft_err read_plain(bundle_reader *r, const Tensorflow__BundleEntryProto *e, int fd, const char *path,
                           weft_tensor *t) {
  WEFT_ASSERT(e->size >= 0 && e->offset >= 0);
  size_t size = weft__tensor_bytes(t);
  if ((uint64_t)e->size != size)
    return weft__fail(WEFT_DATA_LOSS, "TensorBundle at %s: %lld bytes are stored for a %s of shape %s", r->prefix,
                      (long long)e->size, weft__dtype_name(t->dtype), weft__shape_text(&t->shape));
  WEFT_TRY(weft__file_read_at(fd, path, (uint64_t)e->offset, t->data, size));
  uint32_t crc = weft__crc32c(0, t->data, size);
  return crc == weft__crc32c_unmask(e->crc32c) ? WEFT_OK : bad_checksum(r, e, crc);
}

/* Reads a tensor that was stored as a whole into t. */
static weft_err read_whole(bundle_reader *r, const Tensorflow__BundleEntryProto *e, weft_tensor *t) {
  int fd = -1;
  char *path = NULL;
  if (e->size < 0 || e->offset < 0)
    return weft__fail(WEFT_DATA_LOSS, "%s: an entry has %lld bytes at %lld", r->index, (long long)e->size,
                      (long long)e->offset);
  weft_err err = open_shard(r, e->shard_id, &fd, &path);
  if (err == WEFT_OK)
    err = t->dtype == WEFT_STRING ? read_strings(r, e, fd, path, t)
          : weft__dtype_is_plain(t->dtype)
              ? read_plain(r, e, fd, path, t)
              : weft__fail(WEFT_UNIMPLEMENTED, "a %s cannot be restored", weft__dtype_name(t->dtype));
  weft__free(path);
  return err;
}

/* ---- slices ---- */

/* Reads one stored slice by its key, and copies the elements that it shares with `want`. */
static weft_err read_piece(bundle_reader *r, bytes name, const bundle_entry *whole, const slice *piece,
                           const slice *want, weft_tensor *t) {
  Tensorflow__BundleEntryProto *e = NULL;
  weft_tensor part = {0};
  bundle_entry about;
  text key = {0};
  weft__slice_key(&key, name, piece);
  weft_err err = key.failed ? WEFT_OOM : bundle_find(r, (bytes){key.data, key.size}, &e);
  if (err == WEFT_OK) err = bundle_describe(e, &about);
  shape expected;
  if (err == WEFT_OK) err = weft__slice_shape(piece, &whole->shape, &expected);
  if (err == WEFT_OK && (about.dtype != whole->dtype || !weft__shape_equal(&about.shape, &expected)))
    err = weft__fail(WEFT_DATA_LOSS, "%s: a slice of %.*s has another type or shape than its tensor", r->index,
                     weft__int_sat(name.size), name.data);
  if (err == WEFT_OK) err = weft__tensor_init(&part, about.dtype, &about.shape);
  if (err == WEFT_OK) err = read_whole(r, e, &part);
  if (err == WEFT_OK) err = weft__slice_copy(t->dtype, &whole->shape, want, t->data, piece, part.data);
  weft__tensor_clear(&part);
  weft__text_finish(&key);
  free_entry(e);
  return err;
}

static weft_err read_pieces(bundle_reader *r, bytes name, const Tensorflow__BundleEntryProto *e,
                            const bundle_entry *whole, const slice *want, weft_tensor *t) {
  WEFT_ASSERT(want->rank == whole->shape.rank && t->dtype == whole->dtype);
  int64_t covered = 0;
  for (size_t i = 0; i < e->n_slices; i++) {
    slice piece, both;
    WEFT_TRY(weft__slice_from_proto(&piece, e->slices[i]));
    if (piece.rank != whole->shape.rank || !weft__slice_meet(&piece, want, &whole->shape, &both)) continue;
    WEFT_TRY(read_piece(r, name, whole, &piece, want, t));
    int64_t count = 1;
    for (int d = 0; d < both.rank; d++) count *= both.length[d];
    covered += count;
  }
  if (covered >= weft__tensor_count(t)) return WEFT_OK;
  char what[512];
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "Does not have sufficient slices for partitioned tensor %.*s to restore in slice_spec: %s",
                    weft__int_sat(name.size), name.data, weft__slice_text(want, what, sizeof what));
}

static weft_err read_slice_of_whole(bundle_reader *r, const Tensorflow__BundleEntryProto *e, const bundle_entry *whole,
                                    const slice *want, weft_tensor *t) {
  weft_tensor all = {0};
  WEFT_TRY(weft__tensor_init(&all, whole->dtype, &whole->shape));
  slice full = weft__slice_full(whole->shape.rank);
  weft_err err = read_whole(r, e, &all);
  if (err == WEFT_OK) err = weft__slice_copy(t->dtype, &whole->shape, want, t->data, &full, all.data);
  weft__tensor_clear(&all);
  return err;
}

weft_err weft__bundle_read(bundle_reader *r, bytes name, const slice *s, weft_tensor *t) {
  Tensorflow__BundleEntryProto *e = NULL;
  bundle_entry whole;
  WEFT_TRY(bundle_find(r, name, &e));
  weft_err err = bundle_describe(e, &whole);
  slice full = weft__slice_full(whole.shape.rank);
  const slice *want = s ? s : &full;
  shape part = SHAPE_SCALAR;
  if (err == WEFT_OK) err = weft__slice_shape(want, &whole.shape, &part);
  if (err == WEFT_OK && (t->dtype != whole.dtype || !weft__shape_equal(&t->shape, &part)))
    err = weft__fail(WEFT_INTERNAL, "%.*s is a %s of shape %s, read into a %s of shape %s", weft__int_sat(name.size),
                     name.data, weft__dtype_name(whole.dtype), weft__shape_text(&part), weft__dtype_name(t->dtype),
                     weft__shape_text(&t->shape));
  if (err == WEFT_OK)
    err = e->n_slices ? read_pieces(r, name, e, &whole, want, t)
          : s         ? read_slice_of_whole(r, e, &whole, want, t)
                      : read_whole(r, e, t);
  free_entry(e);
  return err;
}

/* ---- listing ---- */

typedef struct lister {
  bundle_fn *fn;
  void *arg;
} lister;

static weft_err list_one(void *arg, bytes key, bytes val) {
  const lister *l = arg;
  Tensorflow__BundleEntryProto *e = NULL;
  bundle_entry about;
  if (!key.size || key.data[0] == 0) return WEFT_OK; /* skips the header and the slices of tensors */
  WEFT_TRY(
      weft__proto_unpack((ProtobufCMessage **)&e, &tensorflow__bundle_entry_proto__descriptor, val.data, val.size));
  weft_err err = bundle_describe(e, &about);
  if (err == WEFT_OK) err = l->fn(l->arg, key, &about);
  free_entry(e);
  return err;
}

weft_err weft__bundle_each(bundle_reader *r, bundle_fn *fn, void *arg) {
  return weft__table_each(r->table, list_one, &(lister){fn, arg});
}
