/* loop.h - event loops for the sockets of the fast transport.
 *
 * A loop has an epoll, a thread and a queue of ready sources.  Callbacks of a loop (on_ready, tick) run one at a time,
 * on the thread that holds its dispatch lock: the loop's own thread, or a caller that waits for a response and polls in
 * the meantime.  A caller that reads its own response saves a switch between two threads.
 *
 * A loop group is the set of loops of the process: the primary loop, which callers may poll, and secondary loops
 * beside it where many connections are served.  net/transport.c holds the only group and passes it to the clients and
 * listeners of the fast transport.
 *
 * Functions may be called on any thread, except where "in a callback" or "not in a callback" says otherwise. */
#ifndef WEFT_NET_FAST_LOOP_H
#define WEFT_NET_FAST_LOOP_H

#include "base/sync_event.h"
#include "net/fast/ready_queue.h"

typedef struct loop_group loop_group;

/* Starts the primary loop.  RESOURCE_EXHAUSTED: no descriptor or thread is left. */
weft_err weft__loop_group_create(loop_group **out);
/* Stops the threads and frees the group.  Nobody uses it any more.  Not in a callback. */
void weft__loop_group_destroy(loop_group *g);

/* ---- sources: the struct stays its owner's, and must live until it was removed ---- */

/* Registers a source with the primary loop, for input.  Events are edge-triggered: on_ready reads all there is, or
 * rearms.  RESOURCE_EXHAUSTED: epoll has no room. */
weft_err weft__loop_add(loop_group *g, source *s);
/* As weft__loop_add, but with the least busy loop of the group; starts another loop if all are busy. */
weft_err weft__loop_add_balanced(loop_group *g, source *s);
/* Called in on_ready of a source that was added balanced.  Returns true if the source is on a secondary loop and a caller
 * has polled: callers poll only the primary loop, so the source must move there.  Then the owner calls
 * weft__loop_migrate and returns, and the primary loop calls on_ready again.  The owner must hold the lock
 * under which it calls weft__loop_rearm: a rearm on another thread would otherwise reach the loop that the source has
 * left. */
bool weft__loop_must_migrate(const source *s);
weft_err weft__loop_migrate(source *s, bool output);
/* Makes epoll report the source again: at once if it has input, and, with `output`, when it can be written. */
void weft__loop_rearm(source *s, bool output);
void weft__loop_rearm_last(source *s, bool output); /* the same, behind all other ready sources */
void weft__loop_remove(source *s);                  /* in a callback of its loop, or before its first callback */
/* Removes a source of the primary loop, waits for its callback and closes its descriptor.  fd -1: does nothing.  Not
 * in a callback. */
void weft__loop_remove_and_close(loop_group *g, source *s);

/* ---- callers that wait ---- */

/* Polls on the calling thread and runs callbacks, until the sync_event is set or the time is up; *is_set says which.
 * It may return early, for example after LOOP_TICK_MS without an event, so callers call it in a loop.  Returns false
 * at once, with *is_set unchanged, if another caller polls.  Not in a callback. */
bool weft__loop_poll_until(loop_group *g, sync_event *until, int64_t for_ns, bool *is_set);
/* Wakes the caller that polls, so that it looks at its sync_event.  Does nothing on the thread that polls.  If
 * no caller polls, it wakes the loop's thread, which finds nothing to do. */
void weft__loop_wake_poller(loop_group *g);

/* ---- tickers ---- */

enum { LOOP_TICK_MS = 50, LOOP_IDLE_MS = 1000 };

/* tick is called in a callback of the primary loop: every LOOP_TICK_MS as long as a ticker returned true the last time,
 * else every LOOP_IDLE_MS. */
typedef struct ticker {
  bool (*tick)(struct ticker *t, int64_t now_ns);
  struct ticker *next, *prev;
} ticker;
void weft__loop_add_ticker(loop_group *g, ticker *t);
/* Once it returns, tick does not run and will not.  Not from a tick; a ticker that was never added is fine. */
void weft__loop_remove_ticker(loop_group *g, ticker *t);
void weft__loop_tick_soon(loop_group *g); /* ticks every LOOP_TICK_MS from now on, until all tickers return false */

#endif
