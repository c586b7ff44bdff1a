/* bundle.h - checkpoints, version 2: PREFIX.index and PREFIX.data-00000-of-00001.
 *
 * A bundle is whole or absent: both files are written and synced under temporary names; then an
 * older index is removed, the data takes its name, the index takes its name, and the directory is
 * synced.  Every tensor's checksum is verified when it is read. */
#ifndef WEFT_IO_BUNDLE_H
#define WEFT_IO_BUNDLE_H

#include "io/slice.h"

/* ---- writing ---- */
typedef struct bundle_writer bundle_writer;
weft_err weft__bundle_create(bundle_writer **out, const char *prefix); /* makes the directory if its parent exists */
/* INVALID_ARGUMENT "Adding duplicate key: NAME". */
weft_err weft__bundle_add(bundle_writer *w, bytes name, const weft_tensor *t);
weft_err weft__bundle_add_slice(bundle_writer *w, bytes name, const shape *full, const slice *s, const weft_tensor *t);
weft_err weft__bundle_finish(bundle_writer *w); /* then destroy */
void weft__bundle_destroy(bundle_writer *w);    /* unfinished: leaves nothing behind */

/* Makes one bundle of several, renaming their data files; with delete_dirs, removes the directories they were in.
 * A part that does not exist is an error unless allow_missing. */
weft_err weft__bundle_merge(const char *const *part, int n, const char *to, bool delete_dirs, bool allow_missing);

/* ---- reading ---- */
typedef struct bundle_reader bundle_reader;
bool weft__bundle_exists(const char *prefix);
weft_err weft__bundle_open(bundle_reader **out, const char *prefix);
void weft__bundle_close(bundle_reader *r);
typedef struct bundle_entry {
  weft_dtype dtype;
  shape shape;
  int n_slice; /* > 0: stored in that many slices */
} bundle_entry;
/* NOT_FOUND "Key NAME not found in checkpoint". */
weft_err weft__bundle_find(bundle_reader *r, bytes name, bundle_entry *out);
/* Reads a tensor, or a slice of it, into t: initialized, of the right type and shape. */
weft_err weft__bundle_read(bundle_reader *r, bytes name, const slice *s, weft_tensor *t);
/* Every tensor by name; slices are not listed apart. */
typedef weft_err bundle_fn(void *arg, bytes name, const bundle_entry *e);
weft_err weft__bundle_each(bundle_reader *r, bundle_fn *fn, void *arg);

#endif
