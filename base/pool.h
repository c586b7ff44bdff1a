/* pool.h - threads: a fixed set that splits loops (within an op) and runs tasks (between ops).
 *
 * A loop is shared between the caller and idle threads; the caller always takes part, so a loop
 * inside a task never waits for a thread.  A nested loop runs on the caller alone. */
#ifndef WEFT_BASE_POOL_H
#define WEFT_BASE_POOL_H

#include "base/status.h"

typedef struct pool pool;
typedef void pool_loop(void *arg, int64_t begin, int64_t end);
typedef void pool_task(void *arg);

/* threads counts the caller: 1 makes no thread.  0: one per processor. */
weft_err weft__pool_create(pool **out, int threads);
int weft__pool_processors(void);  /* that this process may use */
void weft__pool_destroy(pool *p); /* waits for queued tasks */
int weft__pool_threads(const pool *p);
/* Calls fn over [0, n) in pieces of at least `grain`; returns when all are done.  p may be NULL. */
void weft__pool_loop(pool *p, int64_t n, int64_t grain, pool_loop *fn, void *arg);
/* Queues a task; runs it on the caller when the pool has no thread of its own. */
weft_err weft__pool_submit(pool *p, pool_task *fn, void *arg);

#endif
