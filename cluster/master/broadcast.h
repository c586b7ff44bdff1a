/* broadcast.h - sends an RPC to several tasks at once and waits for all responses.
 *
 * The calling thread waits; no lock may be held.  The caller owns the array of calls. */
#ifndef WEFT_CLUSTER_MASTER_BROADCAST_H
#define WEFT_CLUSTER_MASTER_BROADCAST_H

#include "cluster/membership/peer.h"

typedef struct broadcast_call {
  peer *to;
  message request; /* emptied by weft__broadcast */
  message reply;   /* the caller's to finish, also after an error */
  status status;   /* the result of this call */
} broadcast_call;

/* Starts all calls, then waits until each has ended.  Returns the first error, with "From TASK:" before its message.
 * Cancels the calls when opts->cancel fires or the program is interrupted. */
weft_err weft__broadcast(broadcast_call *calls, int n, const char *method, const call_opts *opts);
/* Returns the timeout for call_opts: 0 if there is no deadline, otherwise at least 1. */
int64_t weft__broadcast_timeout_ms(int64_t deadline_ns);
void weft__broadcast_finish(broadcast_call *calls, int n); /* frees requests, replies and statuses, not the array */

#endif
