/* steplog.h - records what ran when in a step, for RunMetadata and the trace viewer.
 *
 * A step log belongs to the caller of the run.  The run's threads add to it; its lock, a leaf, guards the entries. */
#ifndef WEFT_EXEC_EXECUTORS_STEPLOG_H
#define WEFT_EXEC_EXECUTORS_STEPLOG_H

#include "base/text.h"
#include "exec/plan.h"

typedef struct step_log step_log;

/* The caller destroys *out, once no kernel of the step runs; fails only if memory is short. */
weft_err weft__step_log_create(step_log **out);
void weft__step_log_destroy(step_log *l);
/* Called by the thread that runs a kernel, before it does: scratch memory counts from here. */
void weft__step_log_begin(void);
/* Thread safe.  Times are monotonic nanoseconds; k has run: its inputs and outputs are read. */
void weft__step_log_add(step_log *l, const plan_item *it, const kernel *k, int64_t begin_ns, int64_t end_ns);
/* Appends a serialized RunMetadata with the StepStats of one device. */
weft_err weft__step_log_write(const step_log *l, const char *device, text *out);
/* The StepStats alone. */
weft_err weft__step_log_write_stats(const step_log *l, const char *device, text *out);

#endif
