/* bundle.h - version 2 checkpoints: PREFIX.index and PREFIX.data-00000-of-00001.
 *
 * A bundle is complete or absent.  Both files are written and synced under temporary names.  Then an older index is
 * removed, the data file is renamed, the index is renamed, and the directory is synced.  A read verifies the
 * checksum of every tensor. */
#ifndef WEFT_IO_BUNDLE_H
#define WEFT_IO_BUNDLE_H

#include "io/slice.h"

/* ---- writing ---- */
typedef struct bundle_writer bundle_writer;
weft_err weft__bundle_create(bundle_writer **out, const char *prefix); /* creates the directory if its parent exists */
/* Fails with INVALID_ARGUMENT "Adding duplicate key: NAME". */
weft_err weft__bundle_add(bundle_writer *w, bytes name, const weft_tensor *t);
weft_err weft__bundle_add_slice(bundle_writer *w, bytes name, const shape *full, const slice *s, const weft_tensor *t);
weft_err weft__bundle_finish(bundle_writer *w); /* call destroy afterwards */
void weft__bundle_destroy(bundle_writer *w);    /* if not finished, leaves no files */

/* Merges several bundles into one by renaming their data files.  With delete_dirs, removes their directories.  A
 * missing part is an error unless allow_missing is set. */
weft_err weft__bundle_merge(const char *const *part, int n, const char *to, bool delete_dirs, bool allow_missing);

/* ---- reading ---- */
typedef struct bundle_reader bundle_reader;
bool weft__bundle_exists(const char *prefix);
weft_err weft__bundle_open(bundle_reader **out, const char *prefix);
void weft__bundle_close(bundle_reader *r);
typedef struct bundle_entry {
  weft_dtype dtype;
  shape shape;
  int n_slice; /* > 0: stored in this many slices */
} bundle_entry;
/* Fails with NOT_FOUND "Key NAME not found in checkpoint". */
weft_err weft__bundle_find(bundle_reader *r, bytes name, bundle_entry *out);
/* Reads a tensor, or a slice of it, into t, which is initialized with the right type and shape. */
weft_err weft__bundle_read(bundle_reader *r, bytes name, const slice *s, weft_tensor *t);
/* Calls fn for every tensor; slices are not listed separately. */
typedef weft_err bundle_fn(void *arg, bytes name, const bundle_entry *e);
weft_err weft__bundle_each(bundle_reader *r, bundle_fn *fn, void *arg);

#endif
