/* dataset_snapshot_v1.c - SnapshotDataset, the first version of snapshots: PATH/HASH/RUN/NNNNNNNN.snapshot.
 *
 * A file has a size of 8 bytes and a SnapshotRecord, a message with a TensorProto for each component, for every
 * element. PATH/HASH/snapshot.metadata names the run and is written at the end, so that only complete snapshots are
 * read.  The hash is Weft's own: for a snapshot that TensorFlow shall read too, give snapshot_name, which takes the
 * place of the hash. */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "io/confine.h"
#include "io/file.h"
#include "io/snapshot.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_origin.h"
#include "proto/put.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { V1_HASH = 1, V1_RUN, V1_TIME, V1_VERSION, V1_TYPE, V1_FINAL = 1000, V1_TENSOR = 1 };
enum { V1_BIGGEST_RECORD = 1 << 30 };

typedef enum v1_mode { V1_AUTO, V1_READ, V1_WRITE, V1_PASS } v1_mode;

typedef struct v1_set {
  dataset base;
  v1_mode mode;
  char *folder, *name, *reader_prefix, *writer_prefix; /* name: of the hash, or of the snapshot */
  bool named;
  int64_t file_size;
} v1_set;

typedef struct v1_at {
  walk base;
  v1_mode mode; /* V1_AUTO until the first element is asked for */
  char *run;    /* the folder of the files */
  FILE *file;
  int64_t n_file, in_file; /* files opened, and bytes in the present one */
  bool over;
} v1_at;

static void v1_destroy(dataset *d) {
  v1_set *s = (v1_set *)d;
  weft__free(s->folder);
  weft__free(s->name);
  weft__free(s->reader_prefix);
  weft__free(s->writer_prefix);
}

static void v1_finish(iterator *it) {
  v1_at *at = (v1_at *)it;
  if (at->file) fclose(at->file);
  weft__free(at->run);
  weft__dataset_walk_finish(it);
}

/* Opens the next file.  *exists says whether there is one to read. */
static weft_err v1_open(v1_at *at, const char *how, bool *exists) {
  char *path = weft__sprintf("%s/%08lld.snapshot", at->run, (long long)at->n_file);
  if (!path) return WEFT_OOM;
  if (at->file && fclose(at->file) != 0 && *how == 'w') {
    at->file = NULL;
    const weft_err err = weft__file_fail(path, errno);
    weft__free(path);
    return err;
  }
  at->file = NULL;
  *exists = *how == 'w' || weft__file_exists(path);
  weft_err err = WEFT_OK;
  if (*exists && !(at->file = fopen(path, how))) err = weft__file_fail(path, errno);
  weft__free(path);
  at->n_file++;
  at->in_file = 0;
  return err;
}

/* ---- writing ---- */

static weft_err v1_pack(text *record, const weft_tensor *part, int n_part) {
  for (int i = 0; i < n_part; i++) {
    void *data = NULL;
    size_t size = 0;
    weft_err err = weft__snapshot_pack(&part[i], &data, &size);
    if (!err) weft__put_bytes(record, V1_TENSOR, data, size);
    weft__free(data);
    if (err) return err;
  }
  return record->failed ? WEFT_OOM : WEFT_OK;
}

static weft_err v1_write(iterator *it, const weft_tensor *part) {
  const v1_set *s = (v1_set *)it->set;
  v1_at *at = (v1_at *)it;
  bool exists = false;
  text record = {0};
  weft_err err = !at->file || at->in_file >= s->file_size ? v1_open(at, "wb", &exists) : WEFT_OK;
  if (!err) err = v1_pack(&record, part, it->set->n_part);
  const uint64_t size = record.size;
  if (!err &&
      (fwrite(&size, sizeof size, 1, at->file) != 1 || (size && fwrite(record.data, (size_t)size, 1, at->file) != 1)))
    err = weft__file_fail(at->run, errno);
  at->in_file += (int64_t)(sizeof size + size);
  weft__text_finish(&record);
  return err;
}

/* Writes the metadata, which say that the snapshot is complete. */
static weft_err v1_complete(iterator *it) {
  const v1_set *s = (v1_set *)it->set;
  v1_at *at = (v1_at *)it;
  text t = {0}, types = {0};
  const char *run = strrchr(at->run, '/') + 1;
  if (at->file && fclose(at->file) != 0) {
    at->file = NULL;
    return weft__file_fail(at->run, errno);
  }
  at->file = NULL;
  for (int i = 0; i < it->set->n_part; i++) weft__put_varint(&types, (uint64_t)it->set->type[i]);
  weft__put_bytes(&t, V1_HASH, s->name, strlen(s->name));
  weft__put_bytes(&t, V1_RUN, run, strlen(run));
  weft__put_int(&t, V1_TIME, weft__clock_wall_us());
  weft__put_int(&t, V1_VERSION, 1);
  weft__put_bytes(&t, V1_TYPE, weft__text_get(&types), types.size);
  weft__put_int(&t, V1_FINAL, 1);
  char *path = weft__sprintf("%s/snapshot.metadata", s->folder);
  weft_err err = path && !t.failed && !types.failed ? weft__dir_create_all(s->folder) : WEFT_OOM;
  if (!err) err = weft__file_write(path, weft__text_get(&t), t.size);
  weft__free(path);
  weft__text_finish(&types);
  weft__text_finish(&t);
  return err;
}

/* ---- reading ---- */

/* Splits a SnapshotRecord into its TensorProtos. */
static weft_err v1_unpack(const uint8_t *data, size_t size, weft_tensor *part, int n_part) {
  int n = 0;
  for (size_t i = 0; i < size;) {
    uint64_t length = 0;
    if (data[i++] != (V1_TENSOR << 3 | 2)) break;
    for (int shift = 0; shift < 35 && i < size; shift += 7) {
      length |= (uint64_t)(data[i] & 0x7f) << shift;
      if (data[i++] < 0x80) break;
    }
    ProtobufCMessage *m = NULL;
    weft_tensor *made = NULL;
    if (length > size - i || n == n_part) break;
    weft_err err = weft__proto_unpack(&m, &tensorflow__tensor_proto__descriptor, data + i, (size_t)length);
    if (!err) err = weft__tensor_from_proto(&made, (Tensorflow__TensorProto *)m);
    if (m) protobuf_c_message_free_unpacked(m, NULL);
    if (err) return err;
    weft__tensor_share(&part[n++], made);
    weft_tensor_destroy(made);
    i += (size_t)length;
    if (i == size && n == n_part) return WEFT_OK;
  }
  return weft__fail(WEFT_DATA_LOSS, "a record of a snapshot does not hold the %d tensors of an element", n_part);
}

static weft_err v1_read_record(v1_at *at, weft_tensor *part, int n_part, bool *found) {
  uint64_t size = 0;
  const size_t got = fread(&size, 1, sizeof size, at->file);
  *found = got != 0;
  if (!*found) return WEFT_OK;
  if (got != sizeof size || size > V1_BIGGEST_RECORD)
    return weft__fail(WEFT_DATA_LOSS, "%s: a file of the snapshot is damaged or compressed", at->run);
  uint8_t *data = weft__alloc((size_t)size + 1);
  if (!data) return WEFT_OOM;
  weft_err err = fread(data, 1, (size_t)size, at->file) == size
                     ? v1_unpack(data, (size_t)size, part, n_part)
                     : weft__fail(WEFT_DATA_LOSS, "%s: a file of the snapshot ends within a record", at->run);
  weft__free(data);
  if (err) weft__components_clear(part, n_part);
  return err;
}

static weft_err v1_read(iterator *it, weft_tensor *out, bool *end) {
  v1_at *at = (v1_at *)it;
  for (bool found = false, exists = true; !found && !*end;) {
    if (at->file) WEFT_TRY(v1_read_record(at, out, it->set->n_part, &found));
    if (!found) WEFT_TRY(v1_open(at, "rb", &exists));
    *end = !exists;
  }
  return WEFT_OK;
}

/* ---- the iterator ---- */

/* Puts the prefix in front of the folder of the files. */
static weft_err v1_under(v1_at *at, const char *prefix) {
  char *run = *prefix ? weft__sprintf("%s%s", prefix, at->run) : NULL;
  if (!*prefix) return WEFT_OK;
  if (!run) return WEFT_OOM;
  weft__free(at->run);
  at->run = run;
  return WEFT_OK;
}

static weft_err v1_begin(iterator *it) {
  const v1_set *s = (v1_set *)it->set;
  v1_at *at = (v1_at *)it;
  at->mode = s->mode;
  if (s->mode != V1_PASS) WEFT_TRY(weft__path_allowed(s->folder));
  if (s->mode == V1_AUTO || s->mode == V1_READ) WEFT_TRY(weft__snapshot_find(s->folder, &at->run));
  if (s->mode == V1_AUTO) at->mode = at->run ? V1_READ : V1_WRITE;
  if (at->mode == V1_READ && !at->run)
    return weft__fail(WEFT_NOT_FOUND, "Metadata file does not exist. (in %s)", s->folder);
  if (at->mode == V1_READ) WEFT_TRY(v1_under(at, s->reader_prefix));
  if (at->mode == V1_WRITE) {
    at->run = s->named ? weft__sprintf("%s/custom", s->folder)
                       : weft__sprintf("%s/%016llx", s->folder, (unsigned long long)weft__clock_wall_us());
    if (!at->run) return WEFT_OOM;
    WEFT_TRY(v1_under(at, s->writer_prefix));
    WEFT_TRY(weft__path_allowed(at->run));
    WEFT_TRY(weft__dir_create_all(at->run));
  }
  return at->mode == V1_READ ? weft__path_allowed(at->run) : WEFT_OK;
}

static weft_err v1_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  v1_at *at = (v1_at *)it;
  if (!at->base.from) WEFT_TRY(weft__dataset_walk_begin(it));
  if (at->mode == V1_AUTO) WEFT_TRY(v1_begin(it));
  if (at->mode == V1_READ) return v1_read(it, out, end);
  WEFT_TRY(weft__iterator_next(at->base.from, st, out, end));
  if (at->mode == V1_PASS || (*end && at->over)) return WEFT_OK;
  if (!*end) return v1_write(it, out);
  at->over = true;
  return v1_complete(it);
}

static const dataset_kind v1_kind = {"SnapshotV1",
                                     sizeof(v1_set),
                                     sizeof(v1_at),
                                     .destroy = v1_destroy,
                                     .next = v1_next,
                                     .finish = v1_finish,
                                     .count = weft__dataset_count_of_input,
                                     .passes = true};

/* ---- the op ---- */

static weft_err v1_check(const kernel *k, v1_mode *mode) {
  static const char *const modes[] = {"auto", "read", "write", "passthrough"};
  const attr_str given = weft__node_str(k->node, "mode"), packed = weft__node_str(k->node, "compression");
  size_t i = 0;
  while (i < 4 && strcmp(given.data, modes[i]) != 0) i++;
  if (i == 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "mode must be either 'auto', 'read', 'write', or 'passthrough'.");
  *mode = (v1_mode)i;
  if (packed.size && strcmp(packed.data, "GZIP") != 0 && strcmp(packed.data, "SNAPPY") != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "compression must be either '', 'GZIP' or 'SNAPPY'.");
  if (packed.size)
    return weft__kernel_fail(
        k, WEFT_UNIMPLEMENTED,
        "compression='%s' is not in Weft's SnapshotDataset: leave it out, or use SnapshotDatasetV2", packed.data);
  if (weft__node_bool(k->node, "shuffle_on_read", false))
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED,
                             "shuffle_on_read is not in Weft's SnapshotDataset: use ShuffleDataset behind it");
  return WEFT_OK;
}

static weft_err v1_fill(kernel *k, v1_set *s) {
  const attr_str name = weft__node_str(k->node, "snapshot_name");
  const str *path = k->in[1]->data;
  uint64_t hash = 0;
  s->named = name.size != 0;
  s->file_size = weft__node_int(k->node, "shard_size_bytes", 10737418240);
  if (!s->named && s->mode != V1_PASS) WEFT_TRY(weft__dataset_hash(s->base.input[0], &hash));
  s->name = s->named ? weft__sprintf("custom-%s", name.data) : weft__sprintf("%016llx", (unsigned long long)hash);
  s->reader_prefix = weft__strdup(weft__node_str(k->node, "reader_path_prefix").data);
  s->writer_prefix = weft__strdup(weft__node_str(k->node, "writer_path_prefix").data);
  if (!s->name || !s->reader_prefix || !s->writer_prefix) return WEFT_OOM;
  char *base = weft__strndup(path->size ? path->data : "", path->size);
  s->folder = base ? weft__sprintf("%s/%s", base, s->name) : NULL;
  weft__free(base);
  return s->folder ? WEFT_OK : WEFT_OOM;
}

static weft_err snapshot_v1_cpu(kernel *k) {
  dataset *d = NULL;
  v1_mode mode = V1_AUTO;
  WEFT_TRY(v1_check(k, &mode));
  WEFT_TRY(weft__kernel_scalar(k, 1, "path"));
  WEFT_TRY(weft__dataset_of(k, &v1_kind, 1, &d));
  ((v1_set *)d)->mode = mode;
  return weft__dataset_out(k, d, v1_fill(k, (v1_set *)d));
}

OPS(dataset_snapshot_v1) = {
    {"SnapshotDataset(input_dataset:variant, path:string) -> (handle:variant) | " OUTPUTS
     " compression:string='' reader_path_prefix:string='' writer_path_prefix:string='' "
     "shard_size_bytes:int=10737418240 "
     "pending_snapshot_expiry_seconds:int=86400 num_reader_threads:int=1 reader_buffer_size:int=1 "
     "num_writer_threads:int=1 writer_buffer_size:int=1 shuffle_on_read:bool=false seed:int=0 seed2:int=0 "
     "mode:string='auto' snapshot_name:string=''",
     "The same data set, which is written to a folder, or read from there if it was written before.", DATASET_FLAGS,
     .cpu = snapshot_v1_cpu},
    {.scenario = "tests/python/test_data_graphs.py"},
};
