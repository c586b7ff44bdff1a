/* request_dedup.h - remembers the last request ids, so that a request which a peer sends twice is answered once.
 *
 * Thread safe.  Memory grows with what is asked of it, up to `limit` ids. */
#ifndef WEFT_CLUSTER_REQUEST_DEDUP_H
#define WEFT_CLUSTER_REQUEST_DEDUP_H

#include "base/status.h"

typedef struct once once;

weft_err weft__once_create(once **out, int limit);
void weft__once_destroy(once *o);
void weft__once_clear(once *o); /* forgets all, and frees the memory */
/* ABORTED "The same METHOD request was received twice" if the id is among the last ones; 0 is always new. */
weft_err weft__once_check(once *o, const char *method, int64_t id);

#endif
