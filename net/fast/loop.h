/* loop.h - the thread that waits for the sockets of the fast transport, and whoever waits in its place.
 *
 * A thread that waits for an answer may as well read it: it sits down at the loop as a guest, and the loop's own thread
 * sleeps meanwhile.  So an answer costs one switch instead of two.  What is ready is called at the wheel: by one thread
 * at a time, as if it were always the loop's own. */
#ifndef WEFT_NET_FAST_LOOP_H
#define WEFT_NET_FAST_LOOP_H

#include "base/gate.h"
#include "net/fast/ready_queue.h"

/* The process's loops, started with the first user and stopped with the last.  ready and tick are called at the wheel. */
weft_err weft__loop_retain(void);
void weft__loop_release(void); /* not at the wheel */

weft_err weft__loop_add(source *s); /* waits for input, of which it is told once: it takes all there is */
/* The same, but perhaps at another wheel.  When such a one is called and has gone astray, since a guest now reads at the
 * first, its owner brings it home under the lock that also guards weft__loop_again, and is done: it is called there. */
weft_err weft__loop_spread(source *s);
bool weft__loop_is_astray(const source *s);
weft_err weft__loop_bring_home(source *s, bool output);
void weft__loop_again(source *s, bool output); /* tells what there is once more, and of room for output if wanted */
void weft__loop_later(source *s, bool output); /* the same, after all others */
void weft__loop_remove(source *s);             /* at its wheel */
void weft__loop_drop(source *s); /* elsewhere, of one that was not spread: closes fd (-1: nothing) once ready does not
                                    run and will not */

/* As weft__gate_wait, reading what comes meanwhile unless another thread has sat down before; not at the wheel. */
bool weft__loop_wait(gate *g, int64_t for_ns);
void weft__loop_open(gate *g); /* as weft__gate_open, of a gate that is waited for so */

/* Called at the first wheel now and then, and every LOOP_TICK_MS as long as it says that it wants to be. */
enum { LOOP_TICK_MS = 50, LOOP_IDLE_MS = 1000 };
typedef struct ticker {
  bool (*tick)(struct ticker *t, int64_t now_ns);
  struct ticker *next, *prev;
} ticker;
void weft__loop_tick_on(ticker *t);
void weft__loop_tick_off(ticker *t); /* once it returns, tick does not run and will not; not from a tick */
void weft__loop_tick_soon(void);     /* there is something to wait for; by a user of the loop */

#endif
