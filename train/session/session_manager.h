/* session_manager.h - opens a session whose variables have values.
 *
 * The chief restores or initializes; the others wait until it has.  They check every few milliseconds at first and
 * ten times a second later, so that a worker starts within 0.2 s after the chief.  Every recovery_wait_secs they
 * write to the log. */
#ifndef WEFT_TRAIN_SESSION_SESSION_MANAGER_H
#define WEFT_TRAIN_SESSION_SESSION_MANAGER_H

#include "base/text.h"
#include "train/checkpoint/saver.h"
#include "weft/supervise.h"

typedef struct session_manager { /* borrows everything it points at */
  weft_graph *graph;
  weft_out ready, ready_for_local_init; /* WEFT_NONE: no check */
  int local_init;                       /* node; -1: none */
  int64_t local_timeout_ms;             /* timeout of the run of local_init; 0: the session's */
  int n_local_feed;
  const weft_feed *local_feed;
  double log_secs;        /* seconds between "Waiting for model to be ready"; 0: 30 */
  weft_coordinator *stop; /* a wait ends if it stops; may be NULL */
} session_manager;

typedef struct prepare_opts {
  const char *target;
  const weft_session_opts *config;
  double max_wait_secs; /* 0: 7200 */
  /* For the chief: */
  int init; /* node; -1: none */
  int n_init_feed;
  const weft_feed *init_feed;
  weft_init_fn *init_fn;
  void *init_arg;
  weft_saver *saver;                                             /* NULL: nothing is restored */
  const char *checkpoint_dir, *checkpoint_path, *state_filename; /* the folder, or one checkpoint */
  bool wait_for_checkpoint;
  bool keep_state; /* a model that is already ready stays unchanged */
  bool *kept;      /* set if it was; may be NULL */
} prepare_opts;

/* For the chief: opens a session and restores or initializes.  The caller destroys *out; nothing is left open on an
 * error. */
weft_err weft__manager_prepare(const session_manager *m, const prepare_opts *o, weft_session **out);
/* Returns OUT_OF_RANGE, with a message, if the chief has finished and left, so the job is over. */
weft_err weft__manager_wait(const session_manager *m, const prepare_opts *o, weft_session **out);
/* Restores without initializing. *restored is set if the model is ready; otherwise the session is open nevertheless. */
weft_err weft__manager_recover(const session_manager *m, const prepare_opts *o, weft_session **out, bool *restored);
/* For workers that are not the chief: returns true if err, the last failure, means that the job is over. */
bool weft__manager_job_over(weft_err err);
/* Called after a run of such a worker failed.  If the chief has closed the token queue, the job is over and the
 * coordinator is stopped. */
weft_err weft__manager_run_failed(const session_manager *m, weft_err err);
/* Sets *ready if every variable has a value; `why` says what is missing. */
weft_err weft__manager_ready(const session_manager *m, weft_session *sess, bool *ready, text *why);
/* Returns true if the model behind the session lost its values, or the session its tasks. */
bool weft__manager_lost(const session_manager *m, weft_session *sess);
/* Makes a copy that owns its data; and frees it. */
weft_err weft__session_config_keep(weft_session_opts *to, const weft_session_opts *from);
void weft__session_config_drop(weft_session_opts *kept);

#endif
