/* loop.h - the thread that waits for the sockets of the fast transport. */
#ifndef WEFT_NET_FAST_LOOP_H
#define WEFT_NET_FAST_LOOP_H

#include "base/status.h"

/* Something with a descriptor.  ready and tick are called on the loop's thread only. */
typedef struct source {
  int fd;
  void (*ready)(struct source *s, uint32_t events); /* epoll's */
} source;

/* The process's loop, started with the first user and stopped with the last. */
weft_err weft__loop_retain(void);
void weft__loop_release(void); /* not on the loop's thread */

weft_err weft__loop_add(source *s); /* waits for input */
void weft__loop_want_output(source *s, bool wanted);
void weft__loop_remove(source *s); /* on the loop's thread */
void weft__loop_drop(source *s);   /* on another: closes fd (-1: nothing) once ready does not run and will not */

/* Called about every LOOP_TICK_MS, on the loop's thread. */
enum { LOOP_TICK_MS = 50 };
typedef struct ticker {
  void (*tick)(struct ticker *t, int64_t now_ns);
  struct ticker *next, *prev;
} ticker;
void weft__loop_tick_on(ticker *t);
void weft__loop_tick_off(ticker *t); /* once it returns, tick does not run and will not; not from a tick */

#endif
