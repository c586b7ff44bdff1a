/* accept.h - accepts connections without using up the descriptors of the process.
 *
 * Some descriptors are reserved for files and for connections that this process makes.  A connection that would take
 * one of them is closed at once, and that is logged.  Raising the limit is up to the program, not to the library.
 *
 * Functions may be called on any thread, except for accept_log, which its owner guards. */
#ifndef WEFT_NET_ACCEPT_H
#define WEFT_NET_ACCEPT_H

#include "base/status.h"

/* Every listener of the process holds one reference while it is open; the first opens the spare descriptor. */
void weft__accept_retain(void);
void weft__accept_release(void);

/* Accepts the next connection in the backlog: returns a non-blocking descriptor, which is the caller's.  -1: there
 * is none (errno EAGAIN); some were refused and others may be left (EBUSY); accepting failed and should be retried
 * later (EMFILE, or another errno of accept4). */
int weft__accept(int listen_fd);
/* Returns the port that a socket is bound to; 0 if it is bound to none. */
int weft__accept_port(int listen_fd);
/* Returns how many unauthenticated connections one listener may have. */
int weft__accept_max_unauthenticated(void);

/* Limits a log line that clients can cause at will to one every ten seconds. */
typedef struct accept_log {
  int64_t logged_ns;
  int count;
} accept_log;
/* Adds n events.  Returns how many to log now; 0: none yet. */
int weft__accept_log_add(accept_log *l, int n);

#endif
