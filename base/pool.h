/* pool.h - a thread pool: a fixed set of threads that splits loops (within an op) and runs tasks (between ops).
 *
 * The caller and the idle threads share a loop.  The caller always takes part, so a loop inside a task never waits for
 * a thread.  A nested loop runs on the caller alone.  Tasks must not block: work that may block has a pool of its own
 * (cluster/blocking_pool.h).
 *
 * Any thread may call these functions; functions of the caller run without the pool's lock. */
#ifndef WEFT_BASE_POOL_H
#define WEFT_BASE_POOL_H

#include "base/status.h"

typedef struct pool pool;
typedef void pool_loop(void *arg, int64_t begin, int64_t end);
typedef void pool_task(void *arg);

/* Creates a pool, which the caller destroys.  `threads` counts the caller, so 1 starts no thread; 0 means one per
 * processor.  Returns INVALID_ARGUMENT for a count out of range, or RESOURCE_EXHAUSTED. */
weft_err weft__pool_create(pool **out, int threads);
int weft__pool_processors(void); /* processors that this process may use */
/* Moves this thread to another processor than `cpu`; the processors that it may use stay the same.  Returns false if
 * there is no other, or if the system does not permit it. */
bool weft__pool_leave_processor(int cpu);
/* Waits until the queued tasks have run, ends the threads and frees the pool; does nothing for NULL.  The caller is no
 * thread of the pool, and no loop of it runs. */
void weft__pool_destroy(pool *p);
int weft__pool_threads(const pool *p); /* the caller included; 1 for NULL */
/* Calls fn(arg, begin, end) for pieces of [0, n) of at least `grain` each, and returns when all of them are done.  If p
 * is NULL or has no threads, in a nested loop, for a single piece, or when all 16 loop slots are taken, fn is called
 * once with the whole range.  Otherwise it is called once per piece, by this thread and idle ones.  Does nothing if n
 * is not positive. */
void weft__pool_loop(pool *p, int64_t n, int64_t grain, pool_loop *fn, void *arg);
/* Queues a task.  If p is NULL or has no threads of its own, the task runs on this thread before the call returns.
 * Returns RESOURCE_EXHAUSTED if the task could not be queued; it does not run then. */
weft_err weft__pool_submit(pool *p, pool_task *fn, void *arg);

#endif
