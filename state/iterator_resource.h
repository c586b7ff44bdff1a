/* iterator_resource.h - an iterator as a resource: what a program initialises and takes elements from.
 *
 * Any number of threads may ask; they take turns. */
#ifndef WEFT_STATE_ITERATOR_RESOURCE_H
#define WEFT_STATE_ITERATOR_RESOURCE_H

#include "state/dataset.h"

#define ITERATOR_TYPE "iterator"

typedef struct iterator_resource iterator_resource;

weft_err weft__iterator_resource_create(iterator_resource **out);
/* Begins at the first element of d. */
weft_err weft__iterator_resource_set(iterator_resource *s, dataset *d, const step *st);
/* As above, unless it was set before; `make` gives the data set. */
typedef weft_err iterator_resource_make(void *arg, dataset **out);
weft_err weft__iterator_resource_set_once(iterator_resource *s, const step *st, iterator_resource_make *make,
                                          void *arg);
/* out: n empty tensors.  OUT_OF_RANGE "End of sequence"; FAILED_PRECONDITION if it was never set. */
weft_err weft__iterator_resource_next(iterator_resource *s, const step *st, int n, const weft_dtype *type,
                                      weft_tensor *out);

#endif
