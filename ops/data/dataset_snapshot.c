/* dataset_snapshot.c - data sets that are saved to and loaded from folders: save, load and snapshot.
 *
 * io/snapshot.h has the format, which is TensorFlow's.  SaveDatasetV2 and SnapshotDatasetV2 write elements while they
 * pass. A reader_func gets a data set of data sets, one for each shard, and returns one data set. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "io/confine.h"
#include "io/snapshot.h"
#include "ops/data/dataset.h"

/* ---- one shard, or one file ---- */

typedef struct shard_set {
  dataset base;
  char *path;
  bool is_file;
  int64_t skip; /* elements to leave out first */
  compression c;
} shard_set;

typedef struct shard_at {
  iterator base;
  snapshot_reader *reader;
  bool begun;
} shard_at;

static void shard_destroy(dataset *d) { weft__free(((shard_set *)d)->path); }
static void shard_finish(iterator *it) { weft__snapshot_close(((shard_at *)it)->reader); }

static weft_err shard_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  const shard_set *s = (shard_set *)it->set;
  shard_at *at = (shard_at *)it;
  (void)st;
  if (!at->reader) WEFT_TRY(weft__snapshot_open(&at->reader, s->path, s->is_file, s->c));
  for (int64_t i = at->begun ? s->skip : 0; i < s->skip && !*end; i++) {
    WEFT_TRY(weft__snapshot_next(at->reader, out, it->set->n_part, end));
    weft__components_clear(out, it->set->n_part);
  }
  at->begun = true;
  const weft_err err = *end ? WEFT_OK : weft__snapshot_next(at->reader, out, it->set->n_part, end);
  if (err) weft__components_clear(out, it->set->n_part);
  return err;
}

static const dataset_kind shard_kind = {"SnapshotReader",         sizeof(shard_set),  sizeof(shard_at),
                                        .destroy = shard_destroy, .next = shard_next, .finish = shard_finish};

static weft_err packing_of(const kernel *k, compression *out) {
  return weft__snapshot_compression(weft__node_str(k->node, "compression").data, out);
}

static weft_err shard_make(kernel *k, bool is_file) {
  dataset *d = NULL;
  WEFT_TRY(weft__kernel_scalar(k, 0, is_file ? "chunk_file" : "shard_dir"));
  WEFT_TRY(weft__dataset_of(k, &shard_kind, 0, &d));
  shard_set *s = (shard_set *)d;
  s->path = weft__kernel_strdup(k, 0);
  s->is_file = is_file;
  weft_err err = s->path ? weft__path_allowed(s->path) : WEFT_OOM;
  if (!err && !is_file) err = weft__dataset_int(k, 1, "start_index", &s->skip);
  if (!err) err = packing_of(k, &s->c);
  if (!err && !is_file && weft__node_int(k->node, "version", 2) != 2)
    err = weft__fail(WEFT_UNIMPLEMENTED, "Weft reads snapshots of version 2, not %lld",
                     (long long)weft__node_int(k->node, "version", 2));
  return weft__dataset_out(k, d, err);
}

static weft_err chunk_cpu(kernel *k) { return shard_make(k, true); }
static weft_err reader_cpu(kernel *k) { return shard_make(k, false); }

/* ---- several data sets as the elements of one ---- */

static weft_err nested_cpu(kernel *k) {
  static const weft_dtype variant = WEFT_VARIANT;
  return weft__dataset_stored_out(k, 1, &variant);
}

/* ---- what save, load and snapshot share ---- */

typedef struct folder_set {
  dataset base;
  char *path, *hash;
  captured reader, shard; /* their functions; f is NULL if there is none */
  compression c;
  bool reads; /* a complete snapshot is read */
} folder_set;

typedef struct folder_at {
  walk base;
  iterator *open;          /* while a snapshot is read */
  snapshot_writer *writer; /* while one is written */
  bool begun, over;
} folder_at;

static void folder_destroy(dataset *d) {
  folder_set *s = (folder_set *)d;
  weft__free(s->path);
  weft__free(s->hash);
  if (s->reader.f) weft__captured_finish(&s->reader);
  if (s->shard.f) weft__captured_finish(&s->shard);
}

static void folder_finish(iterator *it) {
  folder_at *at = (folder_at *)it;
  weft__iterator_destroy(at->open);
  weft__snapshot_destroy(at->writer);
  if (it->set->n_input) weft__dataset_walk_finish(it);
}

/* Makes *out, which is empty, a data set of the data sets of all shards. */
static weft_err folder_shards(const dataset *like, const folder_set *s, const char *run, weft_tensor *out) {
  static const weft_dtype variant = WEFT_VARIANT;
  weft_tensor *row = NULL;
  int64_t n = 0, room = 0;
  weft_err err = WEFT_OK;
  for (bool exists = true; exists && !err;) {
    dataset *d = NULL;
    weft_tensor *held = NULL;
    char *path = weft__snapshot_shard(run, n, &exists);
    if (!path) err = WEFT_OOM;
    if (!err && exists) err = weft__array_reserve(&row, &room, n + 1, sizeof *row, true);
    if (!err && exists) err = weft__dataset_create(&d, &shard_kind, 0, NULL, like->n_part, like->type);
    if (err || !exists) {
      weft__free(path);
      continue;
    }
    ((shard_set *)d)->path = path;
    ((shard_set *)d)->c = s->c;
    err = weft__variant_create(&held, &d->base);
    if (!err) weft__tensor_share(&row[n++], held);
    weft_tensor_destroy(held);
  }
  if (!row) row = weft__components_alloc(1);
  if (!err) return weft__dataset_stored_create(out, 1, &variant, row, n);
  weft__components_free(row, weft__int_sat(n));
  return err;
}

/* Opens the data set that reader_func makes of the shards. */
static weft_err folder_open(iterator *it, const step *st, const char *run) {
  folder_at *at = (folder_at *)it;
  const folder_set *s = (folder_set *)it->set;
  weft_tensor shards = {0}, made = {0};
  dataset *d = NULL;
  weft_err err = folder_shards(it->set, s, run, &shards);
  if (!err) err = weft__captured_call(&s->reader, it->pass, st, &shards, 1, &made, 1);
  if (!err) err = weft__dataset_get(&made, &d);
  if (!err && d->n_part != it->set->n_part)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "reader_func's data set has elements of %d tensors, not %d", d->n_part,
                     it->set->n_part);
  if (!err) err = weft__iterator_create(&at->open, d, it->pass);
  weft__tensor_clear(&shards);
  weft__tensor_clear(&made);
  return err;
}

/* Stores the shard of an element. */
static weft_err folder_shard(iterator *it, const step *st, const weft_tensor *part, int64_t *out) {
  const folder_set *s = (folder_set *)it->set;
  weft_tensor made = {0};
  *out = 0;
  if (!s->shard.f) return WEFT_OK;
  WEFT_TRY(weft__captured_call(&s->shard, it->pass, st, part, it->set->n_part, &made, 1));
  weft_err err = made.dtype == WEFT_INT64 && made.shape.rank == 0
                     ? WEFT_OK
                     : weft__fail(WEFT_INVALID_ARGUMENT, "`shard_func` must return a scalar int64.");
  if (!err) *out = TENSOR_DATA(&made, int64_t)[0];
  if (!err && *out < 0) err = weft__fail(WEFT_INVALID_ARGUMENT, "`shard_func` returned %lld", (long long)*out);
  weft__tensor_clear(&made);
  return err;
}

static weft_err folder_begin(iterator *it, const step *st) {
  folder_at *at = (folder_at *)it;
  const folder_set *s = (folder_set *)it->set;
  char *run = NULL, *folder = *s->hash ? weft__sprintf("%s/%s", s->path, s->hash) : weft__strdup(s->path);
  weft_err err = folder ? weft__path_allowed(folder) : WEFT_OOM;
  if (!err && s->reads) err = weft__snapshot_find(folder, &run);
  if (!err && s->reads && !run && !it->set->n_input)
    err = weft__fail(WEFT_NOT_FOUND, "Could not find metadata file [%s]", folder);
  if (!err) err = run ? folder_open(it, st, run) : weft__snapshot_create(&at->writer, folder, s->hash, s->c);
  if (!err && !run && !at->base.from) err = weft__dataset_walk_begin(it);
  weft__free(run);
  weft__free(folder);
  return err;
}

static weft_err folder_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  folder_at *at = (folder_at *)it;
  int64_t shard = 0;
  if (!at->begun) WEFT_TRY(folder_begin(it, st));
  at->begun = true;
  if (at->open) return weft__iterator_next(at->open, st, out, end);
  WEFT_TRY(weft__iterator_next(at->base.from, st, out, end));
  if (*end && !at->over) {
    at->over = true;
    return weft__snapshot_finish(at->writer, it->set->type, it->set->n_part);
  }
  if (*end) return WEFT_OK;
  WEFT_TRY(folder_shard(it, st, out, &shard));
  return weft__snapshot_add(at->writer, shard, out, it->set->n_part);
}

static const dataset_kind folder_kind = {"Snapshot",
                                         sizeof(folder_set),
                                         sizeof(folder_at),
                                         .destroy = folder_destroy,
                                         .next = folder_next,
                                         .finish = folder_finish,
                                         .count = weft__dataset_count_of_input,
                                         .passes = true},
                          load_kind = {"Load",
                                       sizeof(folder_set),
                                       sizeof(folder_at),
                                       .destroy = folder_destroy,
                                       .next = folder_next,
                                       .finish = folder_finish};

/* ---- the ops ---- */

typedef struct folder_functions {
  function *reader, *shard;
} folder_functions;

static void folder_unprepare(void *state) {
  folder_functions *f = state;
  if (!f) return;
  weft__function_release(f->reader);
  weft__function_release(f->shard);
  weft__free(f);
}

static weft_err folder_prepare(const weft_node *n, void **state) {
  folder_functions *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  weft_err err = weft__node_attr(n, "reader_func") ? weft__function_create(&f->reader, n, "reader_func", 0) : WEFT_OK;
  if (!err && weft__node_attr(n, "shard_func")) err = weft__function_create(&f->shard, n, "shard_func", 0);
  if (err)
    folder_unprepare(f);
  else
    *state = f;
  return err;
}

static weft_err folder_fill(kernel *k, folder_set *s, int path, char *hash) {
  const folder_functions *f = k->state;
  s->hash = hash;
  s->path = weft__kernel_strdup(k, path);
  if (!s->path || !s->hash) return WEFT_OOM;
  WEFT_TRY(packing_of(k, &s->c));
  if (f->reader) WEFT_TRY(weft__dataset_capture(k, &s->reader, f->reader, "reader_func_other_args"));
  if (f->shard && weft__node_bool(k->node, "use_shard_func", true))
    WEFT_TRY(weft__dataset_capture(k, &s->shard, f->shard, "shard_func_other_args"));
  return WEFT_OK;
}

static weft_err load_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__kernel_scalar(k, 0, "path"));
  WEFT_TRY(weft__dataset_of(k, &load_kind, 0, &d));
  ((folder_set *)d)->reads = true;
  return weft__dataset_out(k, d, folder_fill(k, (folder_set *)d, 0, weft__strdup("")));
}

static weft_err save_make(kernel *k, dataset **out) {
  WEFT_TRY(weft__kernel_scalar(k, 1, "path"));
  WEFT_TRY(weft__dataset_of(k, &folder_kind, 1, out));
  return folder_fill(k, (folder_set *)*out, 1, weft__strdup(""));
}

static weft_err save_v2_cpu(kernel *k) {
  dataset *d = NULL;
  const weft_err err = save_make(k, &d);
  return d ? weft__dataset_out(k, d, err) : err;
}

static weft_err save_run(kernel *k, dataset *d) {
  dataset_pass pass = {0};
  iterator *at = NULL;
  WEFT_TRY(weft__dataset_pass_init(&pass, k->step));
  weft_tensor *part = weft__components_alloc(d->n_part);
  weft_err err = part ? weft__iterator_create(&at, d, &pass) : WEFT_OOM;
  for (bool end = false; !end && !err;) {
    err = weft__iterator_next(at, k->step, part, &end);
    weft__components_clear(part, d->n_part);
  }
  weft__cancel_fire(&pass.cancel, WEFT_CANCELLED, "The data set was saved.");
  weft__iterator_destroy(at);
  weft__components_free(part, d->n_part);
  weft__dataset_pass_finish(&pass);
  return err;
}

static weft_err dataset_snapshot_save_cpu(kernel *k) {
  dataset *d = NULL;
  weft_err err = save_make(k, &d);
  if (!err) err = save_run(k, d);
  weft__dataset_release(d);
  return weft__kernel_in(k, err);
}

static weft_err snapshot_cpu(kernel *k) {
  dataset *d = NULL;
  if (!weft__node_bool(k->node, "hash_valid", false))
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED,
                             "Weft does not compute the hash of a pipeline: set hash and hash_valid, as "
                             "Dataset.snapshot() does");
  if (weft__node_str(k->node, "reader_prefix").size || weft__node_str(k->node, "writer_prefix").size)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "Weft has no reader_prefix and no writer_prefix");
  WEFT_TRY(weft__kernel_scalar(k, 1, "path"));
  WEFT_TRY(weft__dataset_of(k, &folder_kind, 1, &d));
  ((folder_set *)d)->reads = true;
  char *hash = weft__sprintf("%llu", (unsigned long long)weft__node_int(k->node, "hash", 0));
  return weft__dataset_out(k, d, folder_fill(k, (folder_set *)d, 1, hash));
}

#define PACKED " compression:string=''"
#define SAVE " | compression:string='' shard_func:func use_shard_func:bool=true Tshard_func_args:list(type)>=0"
#define FUNCTIONS .prepare = folder_prepare, .unprepare = folder_unprepare

OPS(dataset_snapshot) = {
    {"SnapshotChunkDataset(chunk_file:string) -> (handle:variant) | " OUTPUTS PACKED,
     "The elements in a file of a snapshot.", DATASET_FLAGS, .cpu = chunk_cpu},
    {"SnapshotDatasetReader(shard_dir:string, start_index:int64) -> (handle:variant) | " OUTPUTS PACKED " version:int",
     "The elements in a shard of a snapshot.", DATASET_FLAGS, .cpu = reader_cpu},
    {"SnapshotNestedDatasetReader(inputs:N*variant) -> (handle:variant) | " OUTPUTS " N:int>=1",
     "A data set whose elements are the given data sets.", DATASET_FLAGS, .cpu = nested_cpu},
    {"LoadDataset(path:string, reader_func_other_args:@Treader_func_args) -> (handle:variant) | " OUTPUTS PACKED
     " reader_func:func Treader_func_args:list(type)>=0 ; stateful",
     "The data set that was saved in a folder.", DATASET_FLAGS, .cpu = load_cpu, FUNCTIONS},
    {"SaveDataset(input_dataset:variant, path:string, shard_func_other_args:@Tshard_func_args) -> ()" SAVE
     " ; stateful",
     "Saves a data set in a folder.", OP_BLOCKING, .infer = weft__infer_none, .cpu = dataset_snapshot_save_cpu,
     FUNCTIONS},
    {"SaveDatasetV2(input_dataset:variant, path:string, shard_func_other_args:@Tshard_func_args) -> "
     "(handle:variant)" SAVE " " OUTPUTS " ; stateful",
     "The same data set, which is saved in a folder while it is read.", DATASET_FLAGS, .cpu = save_v2_cpu, FUNCTIONS},
    {"SnapshotDatasetV2(input_dataset:variant, path:string, reader_func_other_args:@Treader_func_args, "
     "shard_func_other_args:@Tshard_func_args) -> (handle:variant) | " OUTPUTS PACKED
     " reader_prefix:string='' writer_prefix:string='' hash_valid:bool=false hash:int=0 reader_func:func "
     "shard_func:func Treader_func_args:list(type)>=0 Tshard_func_args:list(type)>=0" METADATA,
     "The same data set, which is saved in a folder, or read from there if it was saved before.", DATASET_FLAGS,
     .cpu = snapshot_cpu, FUNCTIONS},
    {.scenario = "tests/python/test_snapshots.py"},
};
