/* session.h - runs parts of one graph again and again, with the state between runs.
 *
 * Any number of threads may run a session.  Plans are made once per set of feeds, fetches and
 * targets and never thrown away while the session lives: nodes are only ever added. */
#ifndef WEFT_EXEC_SESSION_H
#define WEFT_EXEC_SESSION_H

#include "exec/place.h"
#include "exec/plan.h"

typedef struct session_opts {
  int intra_threads; /* 0: one per processor */
  int inter_threads;
  bool allow_soft_placement, log_device_placement;
  int64_t timeout_ms; /* default for runs; 0: none */
} session_opts;

/* The graph must outlive the session. */
weft_err weft__session_create(weft_session **out, weft_graph *g, const session_opts *opts);
/* Cancels what runs, waits for it, frees everything. */
void weft__session_destroy(weft_session *s);
/* Refuses new runs and cancels what runs; returns once nothing does. */
weft_err weft__session_close(weft_session *s);

typedef struct run_opts {
  int64_t timeout_ms; /* 0: the session's */
  bool trace;         /* fill in the metadata */
  uint8_t **metadata; /* serialised RunMetadata, the caller's to weft__free; may be NULL */
  size_t *metadata_size;
} run_opts;

/* feed[i] goes to r->feed[i]; fetched[i] comes from r->fetch[i] and is the caller's. */
weft_err weft__session_run(weft_session *s, const plan_request *r, const weft_tensor *const *feed,
                           weft_tensor **fetched, const run_opts *opts);
const weft_graph *weft__session_graph(const weft_session *s);
device *const *weft__session_devices(const weft_session *s, int *n);

#endif
