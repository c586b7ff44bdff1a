/* wait_for_tasks.h - waiting for tasks to be there: asks each for its devices, again and again, until it answers.
 *
 * Any start order: a task that is not up yet is asked every 20 to 150 ms, and every 10 s the log says whom we
 * wait for and why. */
#ifndef WEFT_CLUSTER_MASTER_WAIT_FOR_TASKS_H
#define WEFT_CLUSTER_MASTER_WAIT_FOR_TASKS_H

#include "cluster/membership/peer.h"
#include "exec/passes/place.h"

enum { WEFT_RETURN_SECS = 5 }; /* a task that comes back so soon after its goodbye was restarted */
/* How the error begins if the task that left was the chief: there is nothing more to do. */
#define WEFT_JOB_OVER "The job is over: "

typedef struct contact {
  peer *to;
  device_info *device; /* what it answered; weft__device_infos_free */
  int n_device;
} contact;

/* deadline_ns 0: none but WEFT_WAIT_SECS of the environment.  DEADLINE_EXCEEDED says who did not answer and why. */
/* FAILED_PRECONDITION names a task that has said goodbye and did not come back within WEFT_RETURN_SECS. */
weft_err weft__contact_all(contact *list, int n, int64_t deadline_ns, cancel *c);
void weft__contacts_finish(contact *list, int n);

#endif
