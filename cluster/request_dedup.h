/* request_dedup.h - remembers the last request ids, so that a request that a peer sends twice runs once.
 *
 * May be used by several threads at a time.  Memory grows with the number of ids, up to `limit` of them. */
#ifndef WEFT_CLUSTER_REQUEST_DEDUP_H
#define WEFT_CLUSTER_REQUEST_DEDUP_H

#include "base/status.h"

typedef struct request_dedup request_dedup;

/* Remembers the last `limit` (> 0) ids.  The caller destroys *out.  Any thread may call these functions. */
weft_err weft__request_dedup_create(request_dedup **out, int limit);
void weft__request_dedup_destroy(request_dedup *d); /* NULL is allowed */
void weft__request_dedup_clear(request_dedup *d);   /* forgets all ids and frees their memory */
/* Adds the id.  ABORTED "The same METHOD request was received twice" if it is among the last `limit` ids.  The id 0
 * means that the request has none: it always passes. */
weft_err weft__request_dedup_check(request_dedup *d, const char *method, int64_t id);

#endif
