/* wait_for_tasks.h - waits until tasks answer: calls GetStatus on each, again and again.
 *
 * Tasks may be started in any order.  A task that does not answer is called again after 20 to 150 ms.  Every 10 s a
 * log line names the tasks that have not answered, and why. */
#ifndef WEFT_CLUSTER_MASTER_WAIT_FOR_TASKS_H
#define WEFT_CLUSTER_MASTER_WAIT_FOR_TASKS_H

#include "cluster/membership/peer.h"
#include "exec/passes/place.h"

typedef struct required_task {
  peer *peer;
  device_info *device; /* the devices it reported */
  int n_device;
} required_task;

/* Waits until every task has reported its devices.  deadline_ns 0: WEFT_WAIT_SECS of the environment, or no limit.
 * DEADLINE_EXCEEDED names the tasks that did not answer, and why.  FAILED_PRECONDITION names a task that said goodbye
 * and did not come back within WEFT_RETURN_SECS.  c (or NULL) cancels.  No lock may be held. */
weft_err weft__wait_for_tasks(required_task *list, int n, int64_t deadline_ns, cancel *c);
void weft__required_tasks_finish(required_task *list, int n); /* frees the devices, not the array */

#endif
