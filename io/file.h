/* file.h - files, with TensorFlow's error codes and messages, and writing that is complete or has no effect. */
#ifndef WEFT_IO_FILE_H
#define WEFT_IO_FILE_H

#include "base/status.h"
#include "base/text.h"

/* Returns the error for errno as TF does: NOT_FOUND "PATH; No such file or directory". */
weft_err weft__file_fail(const char *path, int error);
/* Returns only the code: ENOENT is NOT_FOUND, EACCES PERMISSION_DENIED, ... */
weft_err weft__file_code(int error);

/* Stores where the local path begins in a path that may name a file system: "file:///tmp/x" and "file://host/tmp/x"
 * are "/tmp/x", as in TensorFlow.  Returns UNIMPLEMENTED for any other scheme ("hdfs://...").  All functions here do
 * this themselves; it is for callers that open files directly. */
weft_err weft__path_local(const char *path, const char **local);
bool weft__file_exists(const char *path);
weft_err weft__file_read(const char *path, text *out); /* appends the whole file */
weft_err weft__file_delete(const char *path);
/* Returns the directory of path, or "." if it names none.  The caller frees it.  Returns NULL if memory is short. */
char *weft__file_dir(const char *path);
weft_err weft__dir_create(const char *path);     /* one level; no error if it exists */
weft_err weft__dir_create_all(const char *path); /* with its parents */
weft_err weft__dir_sync(const char *path);       /* makes renames in it durable */
/* The paths that match a glob pattern (* ? [..] within one path component), sorted. */
typedef struct path_list {
  char **path;
  int n;
} path_list;
weft_err weft__file_match(const char *pattern, path_list *out);
void weft__path_list_finish(path_list *l);

/* Reads `size` bytes at `offset`.  Returns OUT_OF_RANGE "Read less bytes than requested" if the file is shorter. */
weft_err weft__file_read_at(int fd, const char *path, uint64_t offset, void *to, size_t size);
weft_err weft__file_open(const char *path, int *fd, uint64_t *size); /* for reading */
bool weft__file_is_unsized(int fd); /* a pipe or a device: reads first wait (io/file_wait.h) */

/* A file that is written under a temporary name.  After a failure, append does nothing and all calls return the
 * error. */
typedef struct file_writer file_writer;
weft_err weft__writer_create(file_writer **out, const char *path);
void weft__writer_append(file_writer *w, const void *data, size_t size);
uint64_t weft__writer_offset(const file_writer *w);
/* Syncs everything to disk, still under the temporary name.  Returns the first error. */
weft_err weft__writer_sync(file_writer *w);
/* After sync: renames the file to its final name.  The directory is not synced. */
weft_err weft__writer_place(file_writer *w);
void weft__writer_destroy(file_writer *w); /* removes the temporary file unless it was renamed */
/* Writes a whole file: create, append, sync, rename, sync the directory. */
weft_err weft__file_write(const char *path, const void *data, size_t size);
/* Removes temporary files of killed writers in a folder and in its folders of sharded checkpoints.  A writer that is
 * alive holds a lock on its file. */
void weft__file_sweep(const char *dir);

#endif
