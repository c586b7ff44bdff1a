/* blocking_pool.h - threads for work that may block for as long as it likes: a client's step, a wait for other tasks.
 *
 * There are as many threads as errands at a time; one that has nothing to do is kept a while for the next. */
#ifndef WEFT_CLUSTER_BLOCKING_POOL_H
#define WEFT_CLUSTER_BLOCKING_POOL_H

#include "base/status.h"

typedef struct errands errands;
typedef void errand_fn(void *arg);

weft_err weft__errands_create(errands **out);
void weft__errands_destroy(errands *e); /* waits for all of them */
int weft__errands_busy(errands *e);     /* how many are under way or about to be */
/* RESOURCE_EXHAUSTED when no thread can be had: then fn was not called. */
weft_err weft__errand_run(errands *e, errand_fn *fn, void *arg);

#endif
