/* snapshot.h - data sets on disk, in TensorFlow's format: a folder has `snapshot.metadata` and the folder of a run,
 * whose folders NNNNNNNN.shard have files NNNNNNNN.snapshot of records.
 *
 * A record is a serialized TensorProto, one for each component of each element.  A writer or reader belongs to one
 * thread at a time. */
#ifndef WEFT_IO_SNAPSHOT_H
#define WEFT_IO_SNAPSHOT_H

#include "io/record.h"
#include "tensor/tensor.h"

/* Stores the compression "", "NONE", "GZIP", "ZLIB" or "SNAPPY".  Returns INVALID_ARGUMENT for other names. */
weft_err weft__snapshot_compression(const char *name, compression *out);

/* ---- writing ---- */
typedef struct snapshot_writer snapshot_writer;
/* Creates the folder of a new run.  `hash` is the name of the pipeline, "" if it has none. */
weft_err weft__snapshot_create(snapshot_writer **out, const char *folder, const char *hash, compression c);
/* Serializes a tensor as snapshots of both versions store it; the caller frees *data, also after an error. */
weft_err weft__snapshot_pack(const weft_tensor *part, void **data, size_t *size);
weft_err weft__snapshot_add(snapshot_writer *w, int64_t shard, const weft_tensor *part, int n_part);
/* Closes the files and writes the metadata, which makes the snapshot complete. */
weft_err weft__snapshot_finish(snapshot_writer *w, const weft_dtype *type, int n_part);
void weft__snapshot_destroy(
    snapshot_writer *w); /* without finish the snapshot stays incomplete; does nothing for NULL */

/* ---- reading ---- */
/* Stores the folder of the run of a complete snapshot, which the caller frees, or NULL if there is none. */
weft_err weft__snapshot_find(const char *folder, char **run);
/* Returns the folder of a shard, which the caller frees, or NULL if memory is short; *exists says if it is there. */
char *weft__snapshot_shard(const char *run, int64_t shard, bool *exists);

typedef struct snapshot_reader snapshot_reader;
/* Opens a shard (a folder of files) or one file. */
weft_err weft__snapshot_open(snapshot_reader **out, const char *path, bool is_file, compression c);
/* Reads the next element into n_part empty tensors, or sets *end. */
weft_err weft__snapshot_next(snapshot_reader *r, weft_tensor *part, int n_part, bool *end);
void weft__snapshot_close(snapshot_reader *r); /* does nothing for NULL */

#endif
