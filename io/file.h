/* file.h - files, with errors in TensorFlow's words and codes, and writing that is whole or absent. */
#ifndef WEFT_IO_FILE_H
#define WEFT_IO_FILE_H

#include "base/status.h"
#include "base/text.h"

/* Raises errno as TF does: NOT_FOUND "PATH; No such file or directory". */
weft_err weft__file_fail(const char *path, int error);
/* The code alone: ENOENT is NOT_FOUND, EACCES PERMISSION_DENIED, ... */
weft_err weft__file_code(int error);

/* Stores where the path of this machine begins in a path that may name a file system: "file:///tmp/x" and
 * "file://host/tmp/x" are "/tmp/x", as in TensorFlow.  UNIMPLEMENTED for any other scheme ("hdfs://...").  Every function
 * here does this itself; it is for callers that open files by themselves. */
weft_err weft__path_local(const char *path, const char **local);
bool weft__file_exists(const char *path);
weft_err weft__file_read(const char *path, text *out); /* all of it, appended */
weft_err weft__file_delete(const char *path);
/* The directory that holds path: "." if it names none.  The caller frees it; NULL: no memory. */
char *weft__file_dir(const char *path);
weft_err weft__dir_create(const char *path);     /* one level; fine if it exists */
weft_err weft__dir_create_all(const char *path); /* with its parents */
weft_err weft__dir_sync(const char *path);       /* makes renames in it last */
/* Paths that match a glob pattern (* ? [..] within one path component), sorted. */
typedef struct path_list {
  char **path;
  int n;
} path_list;
weft_err weft__file_match(const char *pattern, path_list *out);
void weft__path_list_finish(path_list *l);

/* Reads `size` bytes at `offset`; OUT_OF_RANGE "Read less bytes than requested" if the file is shorter. */
weft_err weft__file_read_at(int fd, const char *path, uint64_t offset, void *to, size_t size);
weft_err weft__file_open(const char *path, int *fd, uint64_t *size); /* for reading */

/* A file being written under a temporary name.  The first failure sticks; append does nothing after it. */
typedef struct file_writer file_writer;
weft_err weft__writer_create(file_writer **out, const char *path);
void weft__writer_append(file_writer *w, const void *data, size_t size);
uint64_t weft__writer_offset(const file_writer *w);
/* Everything is on the disk, still under the temporary name; the sticky error otherwise. */
weft_err weft__writer_sync(file_writer *w);
/* After sync: takes its name.  The directory is not synced. */
weft_err weft__writer_place(file_writer *w);
void weft__writer_destroy(file_writer *w); /* removes the temporary file unless placed */
/* Writes a whole file so: create, append, sync, place, directory sync. */
weft_err weft__file_write(const char *path, const void *data, size_t size);
/* Removes temporary files in a folder, and in those of sharded checkpoints there, whose writers were killed: a writer that
 * lives holds a lock on its own. */
void weft__file_sweep(const char *dir);

#endif
