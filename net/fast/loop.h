/* loop.h - event loops for the sockets of the fast transport.
 *
 * A loop has an epoll, a thread and a queue of ready sources.  A loop's callbacks (on_ready, tick) run one at a time,
 * on the thread that holds its dispatch lock.  That is the loop's own thread, or a waiting thread: a thread of the
 * program that polls while it waits for a response.  A thread that reads its own response saves a switch between two
 * threads.  Below, "waiting thread" means such a thread, and "caller" whoever calls the function.
 *
 * Of several ready sources a loop mostly runs the one that became ready last (net/fast/ready_queue.h says why, and when
 * not).  So callbacks of different sources have no fixed order.
 *
 * A loop group is the set of loops of the process: the primary loop, which waiting threads may poll, and secondary
 * loops beside it where many connections are served.  net/transport.c holds the only group and passes it to the clients
 * and listeners of the fast transport.
 *
 * Functions may be called on any thread, except where "in a callback" or "not in a callback" says otherwise. */
#ifndef WEFT_NET_FAST_LOOP_H
#define WEFT_NET_FAST_LOOP_H

#include "base/list.h"
#include "base/sync_event.h"
#include "net/fast/ready_queue.h"

typedef struct loop_group loop_group;

/* Starts the primary loop.  RESOURCE_EXHAUSTED: no descriptor, thread or memory is left. */
weft_err weft__loop_group_create(loop_group **out);
/* Stops the threads and frees the group.  The caller must have removed all sources and tickers, and no thread may poll
 * any more.  Not in a callback. */
void weft__loop_group_destroy(loop_group *g);

/* ---- sources: the caller owns the struct, which must live until it is removed ---- */

/* Registers a source with the primary loop, for input.  Events are edge-triggered: on_ready reads all there is, or
 * calls weft__loop_rearm for the rest.  on_ready may run on another thread, and may even remove and free the source,
 * before this returns.  Returns RESOURCE_EXHAUSTED if epoll has no room or memory is out; the source is then on no
 * loop. */
weft_err weft__loop_add(loop_group *g, source *s);
/* As weft__loop_add, but with the loop that has the fewest sources; starts another loop if all have many and the group
 * may have more.  Once a waiting thread has polled, it is the primary loop.  Here, too, on_ready may run, and may free
 * the source, before this returns. */
weft_err weft__loop_add_balanced(loop_group *g, source *s);
/* Returns true if the source must move to the primary loop: it is on a secondary one, and a waiting thread has polled.
 * (Waiting threads poll the primary loop only.)  Only for sources of weft__loop_add_balanced, in on_ready. */
bool weft__loop_must_migrate(const source *s);
/* Moves a source to the primary loop, which calls on_ready again.  Only in on_ready, which must return next.
 * - The caller must hold the lock under which it also calls weft__loop_rearm.  Else a rearm on another thread could
 *   act on the loop that the source has just left.
 * - on_ready may run, and may free the source, before this returns.  A caller that uses the source afterwards must hold
 *   a reference.
 * Returns RESOURCE_EXHAUSTED if epoll has no room.  The source is then on no loop, and the owner must close it. */
weft_err weft__loop_migrate(source *s, bool output);
/* Makes epoll report the source again: at once if it has input, and, with `output`, when it can be written.  It cannot
 * fail: the descriptor is open and registered, and a change of the events allocates nothing.  Does nothing for a source
 * that was removed.  If another thread may remove or migrate the source, one lock of the owner must guard these calls,
 * and the caller must hold it. */
void weft__loop_rearm(source *s, bool output);
/* The same, but on_ready runs after the callbacks of the sources that are ready now, or when it has waited
 * READY_MAX_WAIT_MS (ready_queue.h). */
void weft__loop_rearm_deferred(source *s, bool output);
/* Removes a source, so that no callback of it begins any more.  It does not wait for one that runs.  So it may be
 * called only
 * - in a callback of the source's loop, or
 * - while the source cannot have had an event, for example because its socket is not connected.
 * Elsewhere call weft__loop_remove_and_close, which waits for the callback. */
void weft__loop_remove(source *s);
/* Removes a source that was added by weft__loop_add, waits for its callback and closes its descriptor.  Does nothing if
 * fd is -1.  Only for sources of the primary loop: to wait, it takes that loop's dispatch lock.  So the caller must
 * hold no lock that any callback or tick of the loop takes.  Not in a callback. */
void weft__loop_remove_and_close(loop_group *g, source *s);

/* ---- waiting threads ---- */

/* Polls on the calling thread and runs callbacks, until the sync_event is set or the time is up, and returns true;
 * *is_set says whether the event is set.  It may return early, for example after LOOP_TICK_MS without an event or after
 * a signal, so callers call it in a loop.  Returns false at once, with *is_set unchanged, if another waiting thread
 * polls.  Not in a callback. */
bool weft__loop_poll_until(loop_group *g, sync_event *until, int64_t for_ns, bool *is_set);
/* Wakes the waiting thread that polls, so that it checks its sync_event; called by the thread that set a watched event
 * (weft__sync_event_set).  It takes no lock, so any may be held.  It does nothing on the thread that polls.  If no
 * waiting thread polls any more, the loop's thread wakes once and finds nothing to do. */
void weft__loop_wake_poller(loop_group *g);

/* ---- tickers ---- */

enum { LOOP_TICK_MS = 50, LOOP_SLOW_TICK_MS = 1000 };

/* A function that is called again and again, as a callback of the primary loop.  All tickers of the group are called
 * about every LOOP_TICK_MS if one of them returned true at its last call, else about every LOOP_SLOW_TICK_MS.  A period
 * may take up to twice as long, since an event in between starts the wait again.  Removing a ticker
 * waits for its call.  So a tick must not take a lock that a thread may hold while it removes a ticker. */
typedef struct ticker {
  bool (*tick)(struct ticker *t, int64_t now_ns);
  list_link link; /* of the group's list */
} ticker;
void weft__loop_add_ticker(loop_group *g, ticker *t);
/* Removes a ticker, and waits if its tick is running.  After it returns, the tick never runs again.  The caller must
 * hold no lock that the tick takes.  Not in a tick.  Does nothing for a ticker that was never added. */
void weft__loop_remove_ticker(loop_group *g, ticker *t);
void weft__loop_tick_often(loop_group *g); /* ticks every LOOP_TICK_MS from now on, until all tickers return false */

#endif
