/* report.h - the state of this task in one message, for `weft top`, `weft check` and the status page.
 *
 * Functions may be called from any thread.  They take short locks of the components but do not wait. */
#ifndef WEFT_CLUSTER_STATUS_REPORT_H
#define WEFT_CLUSTER_STATUS_REPORT_H

#include "base/arena.h"
#include "cluster/master/master.h"
#include "cluster/membership/member.h"
#include "cluster/worker/worker.h"
#include "exec/session.h"
#include "report.pb-c.h"

#define WEFT_REPORT_METHOD "/weft.Peer/Report"

typedef struct report_source { /* the components of a task */
  task *task;
  peers *peers;
  worker *worker;
  members *members;
  master *master;
} report_source;

/* Fills in the report, which points into the arena and the source.  brief leaves out the lists of variables and
 * samples.  Fails only for lack of memory. */
weft_err weft__report_make(Weft__TaskReport *out, arena *a, const report_source *from, bool brief);
/* Answers a call of WEFT_REPORT_METHOD. */
void weft__report_handle(const report_source *from, call *c);

#endif
