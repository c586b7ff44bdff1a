/* session_manager.h - from a target to a session whose variables have values.
 *
 * The chief restores or initializes; the others wait until it has.  They look every few milliseconds at first and ten
 * times a second later on, so that a worker starts within 0.2 s of the chief; the log is told every
 * recovery_wait_secs. */
#ifndef WEFT_TRAIN_SESSION_SESSION_MANAGER_H
#define WEFT_TRAIN_SESSION_SESSION_MANAGER_H

#include "base/text.h"
#include "train/checkpoint/saver.h"
#include "weft/supervise.h"

typedef struct session_manager { /* borrows everything it points at */
  weft_graph *graph;
  weft_out ready, ready_for_local_init; /* WEFT_NONE: no question asked */
  int local_init;                       /* node; -1: none */
  int64_t local_timeout_ms;             /* of the run of local_init; 0: the session's */
  int n_local_feed;
  const weft_feed *local_feed;
  double log_secs;        /* between "Waiting for model to be ready"; 0: 30 */
  weft_coordinator *stop; /* a wait ends when it stops; may be NULL */
} session_manager;

typedef struct prepare_opts {
  const char *target;
  const weft_session_opts *config;
  double max_wait_secs; /* 0: 7200 */
  /* Of the chief: */
  int init; /* node; -1: none */
  int n_init_feed;
  const weft_feed *init_feed;
  weft_init_fn *init_fn;
  void *init_arg;
  weft_saver *saver;                                             /* NULL: nothing is restored */
  const char *checkpoint_dir, *checkpoint_path, *state_filename; /* the folder, or one checkpoint */
  bool wait_for_checkpoint;
  bool keep_state; /* a model that is ready already stays as it is */
  bool *kept;      /* says so; may be NULL */
} prepare_opts;

weft_err weft__manager_prepare(const session_manager *m, const prepare_opts *o, weft_session **out);
/* OUT_OF_RANGE: the chief has finished and left, so the job is over; the message says so. */
weft_err weft__manager_wait(const session_manager *m, const prepare_opts *o, weft_session **out);
/* Restores without initializing.  *restored: the model is ready; otherwise the session is open all the same. */
weft_err weft__manager_recover(const session_manager *m, const prepare_opts *o, weft_session **out, bool *restored);
/* For the workers that are not the chief: true if err, the last failure, means that the job is over. */
bool weft__manager_job_over(weft_err err);
/* A run of such a worker failed: if that is because the chief has closed the queue of tokens, the job is over, and the
 * coordinator is stopped. */
weft_err weft__manager_run_failed(const session_manager *m, weft_err err);
/* Returns true if every variable has a value; `why` names those that have none. */
weft_err weft__manager_ready(const session_manager *m, weft_session *sess, bool *ready, text *why);
/* Returns true if the variables have lost their values, or the session its tasks. */
bool weft__manager_lost(const session_manager *m, weft_session *sess);
/* A copy that owns what it points at, and its end. */
weft_err weft__config_keep(weft_session_opts *to, const weft_session_opts *from);
void weft__config_drop(weft_session_opts *kept);

#endif
