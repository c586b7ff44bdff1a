/* report.h - how this task fares, gathered in one place for `weft top`, `weft check` and the status page. */
#ifndef WEFT_CLUSTER_STATUS_REPORT_H
#define WEFT_CLUSTER_STATUS_REPORT_H

#include "base/arena.h"
#include "cluster/master/master.h"
#include "cluster/membership/member.h"
#include "cluster/worker/worker.h"
#include "exec/session.h"
#include "report.pb-c.h"

#define WEFT_REPORT_METHOD "/weft.Peer/Report"

typedef struct report_source { /* the parts of a task */
  task *task;
  peers *peers;
  worker *worker;
  members *members;
  master *master;
} report_source;

/* Everything it points at is the arena's. */
weft_err weft__report_make(Weft__TaskReport *out, arena *a, const report_source *from, bool brief);
/* Answers WEFT_REPORT_METHOD. */
void weft__report_handle(const report_source *from, call *c);
/* A session's run has ended: counts it, keeps its error, or the step and the loss among what it fetched. */
void weft__report_run(weft_graph *g, const plan_request *r, weft_tensor *const *fetched, weft_err err);

#endif
