/* slices.h - version 1 checkpoints: each shard file is a table that holds slices of tensors.
 *
 * All functions may return RESOURCE_EXHAUSTED and the errors of files.  One thread at a time uses a writer or a
 * reader. */
#ifndef WEFT_IO_SLICES_H
#define WEFT_IO_SLICES_H

#include "io/bundle.h"

/* ---- writing: the file appears only when it is finished ---- */
typedef struct slices_writer slices_writer;
weft_err weft__slices_create(slices_writer **out, const char *path); /* the caller destroys *out */
/* Adds slice s of a tensor of shape `full`: copies the values of t.  Returns UNIMPLEMENTED if the type of t cannot be
 * saved. */
weft_err weft__slices_add(slices_writer *w, bytes name, const shape *full, const slice *s, const weft_tensor *t);
/* Writes the file and moves it to its path.  Returns INVALID_ARGUMENT if a slice was added twice. */
weft_err weft__slices_finish(slices_writer *w);
void weft__slices_destroy(slices_writer *w); /* without weft__slices_finish nothing is written; NULL is allowed */

/* ---- reading all files that match a pattern ---- */
typedef struct slices_reader slices_reader;
/* Fails with NOT_FOUND "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for PATTERN". */
weft_err weft__slices_open(slices_reader **out, const char *pattern);
void weft__slices_close(slices_reader *r);
/* Fails with NOT_FOUND "Tensor name "NAME" not found in checkpoint files PATTERN". */
weft_err weft__slices_find(slices_reader *r, bytes name, bundle_entry *out);
/* Calls fn once for every tensor, in any order. */
weft_err weft__slices_each(slices_reader *r, bundle_fn *fn, void *arg);
weft_err weft__slices_read(slices_reader *r, bytes name, const slice *s, weft_tensor *t); /* like weft__bundle_read */

#endif
