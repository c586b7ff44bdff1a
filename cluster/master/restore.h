/* restore.h - a chief announces to the tasks of its session that it restores their variables.
 *
 * cluster/worker/restore.c says what the tasks do then, and why. */
#ifndef WEFT_CLUSTER_MASTER_RESTORE_H
#define WEFT_CLUSTER_MASTER_RESTORE_H

#include "cluster/worker/worker.h"

/* Announces the begin or the end of restoring to this task and to n others.  TensorFlow tasks have no such method and
 * are left out.  The begin waits until the runs of the job's other members have ended there; DEADLINE_EXCEEDED after
 * 60 s.  The end returns ABORTED if a task was restarted meanwhile.  c cancels.  No lock may be held. */
weft_err weft__restore_announce(worker *own, peer *const *others, int n, const char *session, bool begin, cancel *c);

#endif
