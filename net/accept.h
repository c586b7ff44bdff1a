/* accept.h - accepting connections without using up the descriptors of the process.
 *
 * Some descriptors are always left for files and for connections of our own: a connection that would take one of
 * these is closed at once, and the log says so.  Raising the limit is the business of programs, never of the library. */
#ifndef WEFT_NET_ACCEPT_H
#define WEFT_NET_ACCEPT_H

#include "base/status.h"

/* Every listener of the process holds one reference while it is open. */
void weft__accept_retain(void);
void weft__accept_release(void);

/* The next connection that waits at a listening socket: a non-blocking descriptor.  -1: none waits (errno EAGAIN);
 * some were refused and others may still wait (EBUSY); not one could be accepted, so try again later (EMFILE, or
 * whatever else accept4 says). */
int weft__accept(int listening);
/* How many connections of one listener may be open before they have shown who they are. */
int weft__accept_cap(void);

/* Counts an event that clients can cause at will, so that it is logged at most every ten seconds. */
typedef struct accept_log {
  int64_t told_ns;
  int count;
} accept_log;
/* Adds n.  The number of events to log now; 0: not yet. */
int weft__accept_log_add(accept_log *l, int n);

#endif
