/* steplog.h - what ran when, for RunMetadata and the trace viewer. */
#ifndef WEFT_EXEC_EXECUTORS_STEPLOG_H
#define WEFT_EXEC_EXECUTORS_STEPLOG_H

#include "exec/plan.h"

typedef struct step_log step_log;

weft_err weft__step_log_create(step_log **out);
void weft__step_log_destroy(step_log *l);
/* Thread safe.  Times are monotonic nanoseconds; out is what it made. */
void weft__step_log_add(step_log *l, const plan_item *it, const value *out, int64_t begin_ns, int64_t end_ns);
/* A serialised RunMetadata with StepStats of one device; free with weft__free. */
weft_err weft__step_log_pack(const step_log *l, const char *device, uint8_t **out, size_t *size);
/* The StepStats alone. */
weft_err weft__step_log_pack_stats(const step_log *l, const char *device, uint8_t **out, size_t *size);

#endif
