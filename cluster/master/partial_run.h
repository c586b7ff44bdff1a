/* partial_run.h - partial runs of a session on a cluster (exec/partial_step.h).
 *
 * The step runs on a thread of the blocking pool.  Its feeds and fetches pass through the rendezvous that the master's
 * own task has for the step. */
#ifndef WEFT_CLUSTER_MASTER_PARTIAL_RUN_H
#define WEFT_CLUSTER_MASTER_PARTIAL_RUN_H

#include "cluster/master/session.h"

/* The session's partial_setup.  The session outlives the partial run. */
weft_err weft__cluster_partial_setup(weft_session *s, const session_env *env, const plan_request *r, int64_t timeout_ms,
                                     partial_run **out);

#endif
