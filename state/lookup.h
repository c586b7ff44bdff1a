/* lookup.h - lookup tables: values found by keys.
 *
 * A fixed table is filled once and only read afterwards; a mutable one may be changed at any time.  Filling a table
 * succeeds as a whole or changes nothing.  Entries keep the order of insertion.  Keys are compared byte by byte.  Any
 * thread may call these functions; a table is a reference-counted resource. */
#ifndef WEFT_STATE_LOOKUP_H
#define WEFT_STATE_LOOKUP_H

#include "state/resource.h"

#define LOOKUP_TYPE "table"

typedef struct lookup_spec {
  bool fixed;
  weft_dtype key, value;
  shape row; /* of one value */
  /* A dense table: keys of a shape, two keys that no entry has, and buckets in TensorFlow's order when it is exported.
   */
  bool dense;
  shape key_row;   /* of one key; a scalar in other tables */
  int64_t buckets; /* at first; a power of two */
  float load;      /* there are more buckets once entries fill more than this part of them */
} lookup_spec;

typedef struct lookup lookup;

/* The caller owns the one reference.  Returns INVALID_ARGUMENT for types or shapes that a table cannot have. */
weft_err weft__lookup_create(lookup **out, const lookup_spec *spec);
const lookup_spec *weft__lookup_spec(const lookup *t);
int64_t weft__lookup_size(lookup *t);
/* Stores the shape of the values for keys of this shape: the shape of the keys, then that of a row. */
weft_err weft__lookup_values_shape(const lookup *t, const shape *keys, shape *out);

/* Fails unless keys of this shape are as many as the first dimension says: a rule of dense tables. */
weft_err weft__lookup_check_count(const lookup *t, const shape *keys);

/* Stores the value of each key in out, which has the shape of the values.  Missing keys get `otherwise`: one row, or
 * one per key (a fixed table uses the first).  Returns FAILED_PRECONDITION if a fixed table has not been filled. */
weft_err weft__lookup_find(lookup *t, const weft_tensor *keys, const weft_tensor *otherwise, weft_tensor *out);
/* Replaces all entries.  A fixed table accepts equal keys only with equal values.  Once it is filled, it accepts only
 * as many entries as it has, and ignores them (TensorFlow's rule); else FAILED_PRECONDITION. */
weft_err weft__lookup_fill(lookup *t, const weft_tensor *keys, const weft_tensor *values);
/* Adds or replaces entries, and removes them.  UNIMPLEMENTED for fixed tables. */
weft_err weft__lookup_insert(lookup *t, const weft_tensor *keys, const weft_tensor *values);
weft_err weft__lookup_remove(lookup *t, const weft_tensor *keys);
/* Stores the keys of a dense table that mark empty and deleted buckets, unless that was done before. */
weft_err weft__lookup_mark(lookup *t, const weft_tensor *empty, const weft_tensor *deleted);
/* Copies all keys and values to two empty tensors: of a dense table its buckets, where those without an entry have the
 * empty key and zeros, or the deleted key and the value of an entry that was removed.  Returns ABORTED if a fixed
 * table has not been filled. */
weft_err weft__lookup_export(lookup *t, weft_tensor *keys, weft_tensor *values);

#endif
