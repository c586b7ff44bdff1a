/* snapshot.c - writes and reads the files of a snapshot. io/snapshot.h describes them. */
#include "io/snapshot.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/philox.h"
#include "proto/put.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"
#include <string.h>
#include <unistd.h>

enum { VERSION = 2, META_HASH = 1, META_RUN, META_TIME, META_VERSION, META_TYPE, META_COUNT, META_FINAL = 1000 };

weft_err weft__snapshot_compression(const char *name, compression *out) {
  static const struct {
    const char *name;
    compression c;
  } known[] = {{"", COMPRESSION_NONE},     {"NONE", COMPRESSION_NONE},     {"GZIP", COMPRESSION_GZIP},
               {"ZLIB", COMPRESSION_ZLIB}, {"SNAPPY", COMPRESSION_SNAPPY}, {"AUTO", COMPRESSION_SNAPPY}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(name, known[i].name)) {
      *out = known[i].c;
      return WEFT_OK;
    }
  return weft__fail(WEFT_INVALID_ARGUMENT, "compression must be \"\", \"GZIP\", \"ZLIB\" or \"SNAPPY\", not \"%s\"",
                    name);
}

/* ---- writing ---- */

typedef struct shard_file {
  int64_t number;
  record_writer *w;
} shard_file;

struct snapshot_writer {
  char *folder, *hash, *run; /* run: its name */
  compression c;
  shard_file *shard;
  int64_t n, capacity, elements;
};

weft_err weft__snapshot_create(snapshot_writer **out, const char *folder, const char *hash, compression c) {
  snapshot_writer *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  const philox gen = weft__philox((uint64_t)weft__clock_wall_us(), (uint64_t)getpid());
  uint32_t word[4];
  weft__philox_blocks(&gen, 0, 1, 1, word);
  w->c = c;
  w->folder = weft__strdup(folder);
  w->hash = weft__strdup(hash);
  w->run = weft__sprintf("%llu", (unsigned long long)word[0] << 32 | word[1]);
  char *all = w->folder && w->run ? weft__sprintf("%s/%s", folder, w->run) : NULL;
  const weft_err err = all && w->hash ? weft__dir_create_all(all) : WEFT_OOM;
  weft__free(all);
  if (err)
    weft__snapshot_destroy(w);
  else
    *out = w;
  return err;
}

/* Finds the file of a shard, or creates it. */
static weft_err snapshot_file(snapshot_writer *w, int64_t number, record_writer **out) {
  for (int64_t i = 0; i < w->n; i++)
    if (w->shard[i].number == number) {
      *out = w->shard[i].w;
      return WEFT_OK;
    }
  WEFT_TRY(WEFT_ARRAY_RESERVE(w->shard, w->capacity, w->n + 1));
  char *dir = weft__sprintf("%s/%s/%08lld.shard", w->folder, w->run, (long long)number);
  char *path = dir ? weft__sprintf("%s/00000000.snapshot", dir) : NULL;
  weft_err err = path ? weft__dir_create_all(dir) : WEFT_OOM;
  if (!err) err = weft__record_writer_create(out, path, w->c);
  if (!err) w->shard[w->n++] = (shard_file){number, *out};
  weft__free(dir);
  weft__free(path);
  return err;
}

weft_err weft__snapshot_pack(const weft_tensor *part, void **data, size_t *size) {
  arena a = {0};
  Tensorflow__TensorProto proto = TENSORFLOW__TENSOR_PROTO__INIT;
  weft_err err = weft__tensor_to_proto(&proto, part, &a);
  if (!err) err = weft__proto_pack(&proto.base, data, size);
  weft__arena_finish(&a);
  return err;
}

weft_err weft__snapshot_add(snapshot_writer *w, int64_t shard, const weft_tensor *part, int n_part) {
  record_writer *file = NULL;
  WEFT_TRY(snapshot_file(w, shard, &file));
  for (int i = 0; i < n_part; i++) {
    void *data = NULL;
    size_t size = 0;
    weft_err err = weft__snapshot_pack(&part[i], &data, &size);
    if (!err) err = weft__record_write(file, data, size);
    weft__free(data);
    if (err) return err;
  }
  w->elements++;
  return WEFT_OK;
}

static weft_err snapshot_metadata(const snapshot_writer *w, const weft_dtype *type, int n_part) {
  text t = {0}, types = {0};
  for (int i = 0; i < n_part; i++) weft__put_varint(&types, (uint64_t)type[i]);
  if (*w->hash) weft__put_bytes(&t, META_HASH, w->hash, strlen(w->hash));
  weft__put_bytes(&t, META_RUN, w->run, strlen(w->run));
  weft__put_int(&t, META_TIME, weft__clock_wall_us());
  weft__put_int(&t, META_VERSION, VERSION);
  weft__put_bytes(&t, META_TYPE, weft__text_get(&types), types.size);
  weft__put_int(&t, META_COUNT, w->elements);
  weft__put_int(&t, META_FINAL, 1);
  char *path = weft__sprintf("%s/snapshot.metadata", w->folder);
  const weft_err err =
      path && !t.failed && !types.failed ? weft__file_write(path, weft__text_get(&t), t.size) : WEFT_OOM;
  weft__free(path);
  weft__text_finish(&types);
  weft__text_finish(&t);
  return err;
}

weft_err weft__snapshot_finish(snapshot_writer *w, const weft_dtype *type, int n_part) {
  weft_err first = WEFT_OK;
  for (int64_t i = 0; i < w->n; i++) {
    const weft_err err = weft__record_writer_destroy(w->shard[i].w);
    if (!first) first = err;
  }
  w->n = 0;
  return first ? first : snapshot_metadata(w, type, n_part);
}

void weft__snapshot_destroy(snapshot_writer *w) {
  if (!w) return;
  for (int64_t i = 0; i < w->n; i++) weft__record_writer_destroy(w->shard[i].w);
  weft__free(w->shard);
  weft__free(w->folder);
  weft__free(w->hash);
  weft__free(w->run);
  weft__free(w);
}

/* ---- reading ---- */

/* Reads a varint.  Returns false if it is cut off. */
static bool meta_varint(const uint8_t **at, const uint8_t *end, uint64_t *out) {
  *out = 0;
  for (int shift = 0; shift < 64 && *at < end; shift += 7) {
    const uint8_t byte = *(*at)++;
    *out |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/* Finds the name of the run in the metadata.  Returns false if they are malformed or not final. */
static bool meta_run(const uint8_t *at, size_t size, const char **run, size_t *length) {
  const uint8_t *end = at + size;
  bool is_final = false;
  *length = 0;
  while (at < end) {
    uint64_t tag, v;
    if (!meta_varint(&at, end, &tag) || !meta_varint(&at, end, &v)) return false;
    if (tag >> 3 == META_FINAL) is_final = v != 0;
    if ((tag & 7) == 0) continue;
    if ((tag & 7) != 2 || v > (uint64_t)(end - at)) return false;
    if (tag >> 3 == META_RUN) *run = (const char *)at, *length = (size_t)v;
    at += v;
  }
  return is_final && *length && !memchr(*run, '/', *length) && !memchr(*run, 0, *length);
}

weft_err weft__snapshot_find(const char *folder, char **run) {
  *run = NULL;
  char *path = weft__sprintf("%s/snapshot.metadata", folder);
  if (!path) return WEFT_OOM;
  text t = {0};
  weft_err err = weft__file_exists(path) ? weft__file_read(path, &t) : WEFT_OK;
  weft__free(path);
  const char *name = NULL;
  size_t length = 0;
  if (!err && t.size && meta_run((const uint8_t *)t.data, t.size, &name, &length)) {
    char *own = weft__strndup(name, length);
    *run = own ? weft__sprintf("%s/%s", folder, own) : NULL;
    weft__free(own);
    if (!*run) err = WEFT_OOM;
  }
  weft__text_finish(&t);
  return err;
}

char *weft__snapshot_shard(const char *run, int64_t shard, bool *exists) {
  char *path = weft__sprintf("%s/%08lld.shard", run, (long long)shard);
  *exists = path && weft__file_exists(path);
  return path;
}

struct snapshot_reader {
  char *path;
  bool is_file, over;
  compression c;
  int64_t next; /* the next file of a shard */
  record_reader *records;
  text record;
};

weft_err weft__snapshot_open(snapshot_reader **out, const char *path, bool is_file, compression c) {
  snapshot_reader *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  r->path = weft__strdup(path);
  r->is_file = is_file;
  r->c = c;
  if (!r->path) {
    weft__snapshot_close(r);
    return WEFT_OOM;
  }
  *out = r;
  return WEFT_OK;
}

/* Opens the next file, or sets `over`. */
static weft_err snapshot_reader_advance(snapshot_reader *r) {
  weft__records_close(r->records);
  r->records = NULL;
  char *path = r->is_file ? weft__strdup(r->path) : weft__sprintf("%s/%08lld.snapshot", r->path, (long long)r->next);
  if (!path) return WEFT_OOM;
  r->over = r->next > 0 && (r->is_file || !weft__file_exists(path));
  const weft_err err = r->over ? WEFT_OK : weft__records_open(&r->records, path, r->c);
  if (!err) r->next++;
  weft__free(path);
  return err;
}

static weft_err reader_tensor(const snapshot_reader *r, weft_tensor *out) {
  ProtobufCMessage *m = NULL;
  weft_tensor *t = NULL;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__tensor_proto__descriptor, weft__text_get(&r->record), r->record.size));
  const weft_err err = weft__tensor_from_proto(&t, (const Tensorflow__TensorProto *)m);
  protobuf_c_message_free_unpacked(m, NULL);
  if (!err) weft__tensor_share(out, t);
  if (!err) weft_tensor_destroy(t);
  return err;
}

weft_err weft__snapshot_next(snapshot_reader *r, weft_tensor *part, int n_part, bool *end) {
  for (int i = 0; i < n_part;) {
    bool ended = !r->records;
    uint64_t offset;
    if (!ended) WEFT_TRY(weft__record_next(r->records, &r->record, &offset, &ended));
    if (!ended) {
      WEFT_TRY(reader_tensor(r, &part[i++]));
      continue;
    }
    if (i > 0) return weft__fail(WEFT_DATA_LOSS, "%s ends within an element", r->path);
    if (!r->over) WEFT_TRY(snapshot_reader_advance(r));
    *end = r->over;
    if (*end) return WEFT_OK;
  }
  return WEFT_OK;
}

void weft__snapshot_close(snapshot_reader *r) {
  if (!r) return;
  weft__records_close(r->records);
  weft__text_finish(&r->record);
  weft__free(r->path);
  weft__free(r);
}
