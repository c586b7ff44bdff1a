/* lookup.h - lookup tables: values found by keys.
 *
 * A fixed table is filled once, and from then on only read; a mutable one may be changed at any time.  Whatever fills a
 * table fills it whole or not at all.  Entries keep the order in which they came.  Keys are compared byte for byte.
 * Thread safe. */
#ifndef WEFT_STATE_LOOKUP_H
#define WEFT_STATE_LOOKUP_H

#include "state/resource.h"

#define LOOKUP_TYPE "table"

typedef struct lookup_spec {
  bool fixed;
  weft_dtype key, value;
  shape row; /* of one value */
} lookup_spec;

typedef struct lookup lookup;

weft_err weft__lookup_create(lookup **out, const lookup_spec *spec);
const lookup_spec *weft__lookup_spec(const lookup *t);
int64_t weft__lookup_size(lookup *t);
/* The shape of what is found for keys of this shape: theirs, and a row behind it. */
weft_err weft__lookup_values_shape(const lookup *t, const shape *keys, shape *out);

/* otherwise is one row, or one for each key (of which a fixed table uses the first); out has the shape of the values.  FAILED_PRECONDITION if a fixed table
 * has not been filled. */
weft_err weft__lookup_find(lookup *t, const weft_tensor *keys, const weft_tensor *otherwise, weft_tensor *out);
/* Fills the table with these alone.  A fixed one takes equal keys only with equal values, and once it is full only as
 * many entries as it has, which are not looked at (TensorFlow's rule). */
weft_err weft__lookup_fill(lookup *t, const weft_tensor *keys, const weft_tensor *values);
/* Adds and replaces; drops.  UNIMPLEMENTED for fixed tables. */
weft_err weft__lookup_insert(lookup *t, const weft_tensor *keys, const weft_tensor *values);
weft_err weft__lookup_remove(lookup *t, const weft_tensor *keys);
/* Copies of all keys and all values, both empty before.  ABORTED if a fixed table has not been filled. */
weft_err weft__lookup_export(lookup *t, weft_tensor *keys, weft_tensor *values);

#endif
