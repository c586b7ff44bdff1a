/* blocking_pool.h - the thread pool for jobs that may block: a client's step, a wait for other tasks.
 *
 * A fixed pool would deadlock here: a job may wait for a result that only a later job produces.  So the pool starts a
 * thread whenever no thread is idle.  A thread that has been idle for a few seconds exits.
 *
 * All functions may be called from any thread.  The creator owns the pool. */
#ifndef WEFT_CLUSTER_BLOCKING_POOL_H
#define WEFT_CLUSTER_BLOCKING_POOL_H

#include "base/status.h"

typedef struct blocking_pool blocking_pool;
typedef void blocking_fn(void *arg);

/* Creates a pool without threads, which start with the first jobs.  The caller destroys *out; fails only if memory is
 * short. */
weft_err weft__blocking_pool_create(blocking_pool **out);
/* Runs the jobs that are queued, waits until all threads have exited, then frees the pool.  NULL is allowed. */
void weft__blocking_pool_destroy(blocking_pool *p);
/* Returns the number of jobs that run or are queued. */
int weft__blocking_pool_busy(blocking_pool *p);
/* Calls fn(arg) once on a thread of the pool.  arg stays the caller's until then.  RESOURCE_EXHAUSTED if no thread can
 * be started: fn will not be called. */
weft_err weft__blocking_pool_run(blocking_pool *p, blocking_fn *fn, void *arg);

#endif
