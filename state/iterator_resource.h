/* iterator_resource.h - the resource behind a program's iterator: it is initialized with a data set and then read.
 *
 * Any thread may call these functions.  One at a time is served; the others wait until it is done or their own step is
 * canceled. */
#ifndef WEFT_STATE_ITERATOR_RESOURCE_H
#define WEFT_STATE_ITERATOR_RESOURCE_H

#include "state/dataset.h"

#define ITERATOR_TYPE "iterator"

typedef struct iterator_resource iterator_resource;

/* The caller owns the one reference. */
weft_err weft__iterator_resource_create(iterator_resource **out);
/* Starts a new pass over d, which is retained; a pass that runs is stopped. */
weft_err weft__iterator_resource_set(iterator_resource *s, dataset *d, const step *st);
/* The same, with the data set that `make` creates; does nothing if a pass runs already. */
typedef weft_err iterator_resource_make(void *arg, dataset **out);
weft_err weft__iterator_resource_set_once(iterator_resource *s, const step *st, iterator_resource_make *make,
                                          void *arg);
/* Fills out, n empty tensors, with the next element.  Returns OUT_OF_RANGE "End of sequence", FAILED_PRECONDITION if no
 * data set was set, or INVALID_ARGUMENT if the types differ. */
weft_err weft__iterator_resource_next(iterator_resource *s, const step *st, int n, const weft_dtype *type,
                                      weft_tensor *out);
/* Where a pass stands: how many elements were taken since it began, and the entropy of its seeds (state/dataset.h). */
typedef struct iterator_position {
  int64_t taken;
  uint64_t entropy; /* 0: not known, any will do */
} iterator_position;
/* Returns FAILED_PRECONDITION if no data set was set. */
weft_err weft__iterator_resource_position(iterator_resource *s, const step *st, iterator_position *out);
/* Starts the pass over the same data set again, and takes and drops as many elements.  Errors as above, or of an
 * element. */
weft_err weft__iterator_resource_move(iterator_resource *s, const step *st, iterator_position to);

#endif
