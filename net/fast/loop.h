/* loop.h - the thread that waits for the sockets of the fast transport, and whoever waits in its place.
 *
 * A thread that waits for an answer may as well read it: it sits down at the loop as a guest, and the loop's own thread
 * sleeps meanwhile.  So an answer costs one switch instead of two.  What is ready is called at the wheel: by one thread
 * at a time, as if it were always the loop's own. */
#ifndef WEFT_NET_FAST_LOOP_H
#define WEFT_NET_FAST_LOOP_H

#include "base/gate.h"
#include "base/status.h"

/* Something with a descriptor.  ready and tick are called at the wheel only. */
typedef struct source {
  int fd;
  void (*ready)(struct source *s, uint32_t events); /* epoll's */
  uint64_t key;                                     /* the loop's name for it */
  uint32_t events;                                  /* it is to be called for; 0: none, and it is not listed */
  struct source *next;
} source;

/* The process's loop, started with the first user and stopped with the last. */
weft_err weft__loop_retain(void);
void weft__loop_release(void); /* not at the wheel */

weft_err weft__loop_add(source *s); /* waits for input, of which it is told once: it takes all there is */
void weft__loop_again(source *s,
                      bool output); /* tells what there is once more, and of room for output if that is wanted */
void weft__loop_remove(source *s);  /* at the wheel */
void weft__loop_drop(source *s);    /* elsewhere: closes fd (-1: nothing) once ready does not run and will not */

/* As weft__gate_wait, reading what comes meanwhile unless another thread has sat down before; not at the wheel. */
bool weft__loop_wait(gate *g, int64_t for_ns);
void weft__loop_open(gate *g); /* as weft__gate_open, of a gate that is waited for so */

/* Called about every LOOP_TICK_MS, at the wheel. */
enum { LOOP_TICK_MS = 50 };
typedef struct ticker {
  void (*tick)(struct ticker *t, int64_t now_ns);
  struct ticker *next, *prev;
} ticker;
void weft__loop_tick_on(ticker *t);
void weft__loop_tick_off(ticker *t); /* once it returns, tick does not run and will not; not from a tick */

#endif
