/* broadcast.h - the same kind of question to several tasks at once, and a wait for all answers. */
#ifndef WEFT_CLUSTER_MASTER_BROADCAST_H
#define WEFT_CLUSTER_MASTER_BROADCAST_H

#include "cluster/membership/peer.h"

typedef struct ask {
  peer *to;
  message request; /* emptied by the call */
  message reply;   /* the asker's to finish, also after a failure */
  status status;
} ask;

/* Begins every call, then waits for all.  Returns the first failure, with "From TASK:" before its message.  Ends early,
 * with the calls cancelled, on opts->cancel and on weft_interrupt. */
weft_err weft__ask_all(ask *list, int n, const char *method, const call_opts *opts);
int64_t weft__ms_left(int64_t deadline_ns); /* for call_opts: 0 if there is no deadline, else 1 at least */
void weft__asks_finish(ask *list, int n);   /* requests, replies and statuses */

#endif
