/* restore.h - a chief tells the tasks of its session that it sets their variables: see worker_restore.c. */
#ifndef WEFT_CLUSTER_MASTER_RESTORE_H
#define WEFT_CLUSTER_MASTER_RESTORE_H

#include "cluster/worker/worker.h"

/* Tells this task and n others (Weft's; TensorFlow's have no such call).  When it begins, returns once no run of another
 * member is under way there.  ABORTED when it ends: a task was restarted meanwhile. */
weft_err weft__restore_tell(worker *own, peer *const *others, int n, const char *session, bool begin, cancel *c);

#endif
