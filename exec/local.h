/* local.h - the session of one process, for the files that run it: local.c and local_partial.c.
 *
 * Its lock guards its plans, its runs, the placement and the step numbers.  It is not held while a step runs. */
#ifndef WEFT_EXEC_LOCAL_H
#define WEFT_EXEC_LOCAL_H

#include "exec/executors/runs.h"
#include "exec/requests.h"
#include "exec/session.h"
#include "exec/task.h"

typedef struct local {
  weft_session base;
  session_opts opts;
  char handle[WEFT_HANDLE_SIZE];
  task *task;
  device_info *info; /* of its devices */
  int n_info;
  struct cost_model *costs; /* NULL: no run has a cost graph */
  int processors;           /* that the process may use */
  pthread_mutex_t lock;     /* guards what follows */
  requests plans;
  runs runs;
  int placed, *where; /* nodes placed so far, and on which devices */
  int64_t where_capacity;
  int64_t next_step;
} local;

/* Places the nodes that were added to the graph since the last call.  The session's lock is held.  Returns
 * INVALID_ARGUMENT if a node asks for a device that does not exist. */
weft_err weft__local_place_new_nodes(local *s);
/* partial_setup of the session's functions (exec/session.h); in local_partial.c. */
weft_err weft__local_partial_setup(weft_session *s, const plan_request *r, partial_run **out);

#endif
