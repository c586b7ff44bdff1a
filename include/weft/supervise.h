/* supervise.h - supervisors, monitored sessions and their hooks, which initialize, save and recover a training job.
 *
 * Programs include weft.h, which states the rules. */
#ifndef WEFT_SUPERVISE_H
#define WEFT_SUPERVISE_H

#include "weft/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- supervision -------------------------------------------------------------------------------- */

typedef weft_err weft_init_fn(void *arg, weft_session *sess);

/* tf.train.Supervisor.  In the fields that point to an output, NULL means TensorFlow's default: from the collection
 * of that name, else created (init, ready and summary ops, ...).  A pointer to WEFT_NONE means none.  Create reads
 * what the fields point to, except for saver, summary_writer, init_feed and the functions, which must outlive the
 * supervisor. */
typedef struct weft_supervisor weft_supervisor;
typedef struct weft_supervisor_opts {
  size_t size;
  weft_choice is_chief; /* default yes: initializes and saves; no: waits until the chief has initialized */
  const char *logdir;   /* directory of the chief's checkpoints, events and graph.pbtxt; NULL: none */
  const weft_out *init_op, *local_init_op, *ready_op, *ready_for_local_init_op, *summary_op, *global_step;
  int n_init_feed;
  const weft_feed *init_feed;
  weft_init_fn *init_fn; /* runs after the init op, unless a checkpoint was restored */
  void *init_arg;
  weft_init_fn *recovered_fn; /* runs when variables were lost and have been restored, before runs continue */
  void *recovered_arg;
  int64_t local_init_timeout_ms;     /* of the run of local_init_op; 0: the session's */
  weft_saver *saver;                 /* NULL: the first of the collection "savers", else created */
  weft_choice use_saver;             /* default yes */
  weft_event_writer *summary_writer; /* NULL: one on logdir */
  weft_choice use_summary_writer;    /* default yes */
  double save_summaries_secs;        /* 0: 120; < 0: never */
  double save_model_secs;            /* 0: 600; < 0: never */
  double recovery_wait_secs;         /* between the lines of a wait in the log; 0: 30 */
  double stop_grace_secs;            /* 0: 120 */
  const char *checkpoint_basename;   /* NULL: "model.ckpt" */
} weft_supervisor_opts;
WEFT_CHECKED weft_err weft_supervisor_create(weft_supervisor **out, weft_graph *g,
                                             const weft_supervisor_opts *WEFT_OPTIONAL opts);
WEFT_API void weft_supervisor_destroy(weft_supervisor *sv); /* stops first */

typedef struct weft_supervisor_wait {
  size_t size;
  double max_wait_secs; /* 0: 7200 */
  bool for_checkpoint;  /* the chief waits until there is a checkpoint */
  weft_choice services; /* default yes: starts standard services and queue runners */
} weft_supervisor_wait;
/* prepare_or_wait_for_session.  target is "" for this process, or "grpc://host:port" of a server.  The session
 * recovers when a task is lost: its runs wait for a new one and are retried.  OUT_OF_RANGE, here or from a run,
 * tells a worker that is not the chief that the job is over; the message says why, and the worker should exit with
 * success.  wait may be NULL. */
WEFT_CHECKED weft_err weft_supervisor_session(weft_session **out, weft_supervisor *sv, const char *WEFT_OPTIONAL target,
                                              const weft_session_opts *WEFT_OPTIONAL config,
                                              const weft_supervisor_wait *WEFT_OPTIONAL wait);
/* start_standard_services.  sess is the session of weft_supervisor_session or, if the program makes sessions without
 * it, its own, which outlives the supervisor. */
WEFT_CHECKED weft_err weft_supervisor_start_services(weft_supervisor *sv, weft_session *sess);
WEFT_CHECKED weft_err weft_supervisor_start_queue_runners(weft_supervisor *sv, weft_session *sess,
                                                          const char *WEFT_OPTIONAL list, int *WEFT_OPTIONAL started);
/* Calls fn every `seconds` on a new thread until the stop; < 0: once. */
WEFT_CHECKED weft_err weft_supervisor_loop(weft_supervisor *sv, double seconds, weft_thread_fn *fn,
                                           void *WEFT_OPTIONAL arg);
WEFT_API bool weft_supervisor_should_stop(weft_supervisor *sv);
WEFT_API void weft_supervisor_request_stop(weft_supervisor *sv, weft_err code);
WEFT_API bool weft_supervisor_wait_for_stop(weft_supervisor *sv, double seconds);
/* Stops and joins all threads; a chief that was interrupted saves.  The session stays open until you destroy it. */
WEFT_CHECKED weft_err weft_supervisor_stop(weft_supervisor *sv, bool keep_summary_writer, bool ignore_live_threads);
/* Adds a serialized Summary at a step (NULL: the present global step). */
WEFT_CHECKED weft_err weft_supervisor_add_summary(weft_supervisor *sv, weft_session *sess, const void *summary,
                                                  size_t size, const int64_t *WEFT_OPTIONAL step);
WEFT_API weft_coordinator *weft_supervisor_coordinator(weft_supervisor *sv);
WEFT_API weft_saver *weft_supervisor_saver(weft_supervisor *sv);                 /* NULL: none */
WEFT_API weft_event_writer *weft_supervisor_summary_writer(weft_supervisor *sv); /* NULL: none */
WEFT_API weft_out weft_supervisor_global_step(weft_supervisor *sv);
WEFT_API const char *weft_supervisor_save_path(weft_supervisor *sv); /* NULL: none */

/* tf.train.SessionManager, for programs without a supervisor.  Its sessions do not recover.  An op that is NULL is
 * not run. */
typedef struct weft_manager_opts {
  size_t size;
  const char *target;
  const weft_session_opts *config;
  const weft_out *ready_op, *ready_for_local_init_op, *local_init_op;
  int64_t local_init_timeout_ms; /* of the run of local_init_op; 0: the session's */
  int n_local_init_feed;
  const weft_feed *local_init_feed;
  double recovery_wait_secs; /* between the lines of a wait in the log; 0: 30 */
  double max_wait_secs;      /* 0: 7200 */
  const weft_out *init_op;
  int n_init_feed;
  const weft_feed *init_feed;
  weft_init_fn *init_fn;
  void *init_arg;
  weft_saver *saver;
  const char *checkpoint_dir, *checkpoint_path; /* restores the newest checkpoint of a directory, or this one */
  bool wait_for_checkpoint;
} weft_manager_opts;
/* For the chief: restores, or initializes.  Fails if the model is not ready afterwards. */
WEFT_CHECKED weft_err weft_manager_prepare(weft_session **out, weft_graph *g,
                                           const weft_manager_opts *WEFT_OPTIONAL opts);
/* For other workers: returns when the model is ready. */
WEFT_CHECKED weft_err weft_manager_wait(weft_session **out, weft_graph *g, const weft_manager_opts *WEFT_OPTIONAL opts);
/* Restores without initializing.  *restored is true if the model is ready.  The session is open in both cases. */
WEFT_CHECKED weft_err weft_manager_recover(weft_session **out, weft_graph *g,
                                           const weft_manager_opts *WEFT_OPTIONAL opts, bool *WEFT_OPTIONAL restored);

/* ---- hooks and monitored sessions ------------------------------------------------------------------ */

/* Functions that are called around the runs of a monitored session; each may be NULL.  If one fails, the run, or the
 * creation or the closing of the session, fails. */
typedef struct weft_hook weft_hook;
typedef struct weft_run_context weft_run_context;
typedef struct weft_hook_fns {
  weft_err (*begin)(void *arg, weft_hook *hook); /* the graph may still be changed */
  weft_err (*after_create_session)(void *arg, weft_session *sess, weft_coordinator *c); /* also after a recovery */
  weft_err (*before_run)(void *arg, weft_run_context *c);
  weft_err (*after_run)(void *arg, weft_run_context *c);
  weft_err (*end)(void *arg, weft_session *sess); /* the program ended without an error; the session is still open */
} weft_hook_fns;
WEFT_CHECKED weft_err weft_hook_create(weft_hook **out, const weft_hook_fns *fns, void *WEFT_OPTIONAL arg);
WEFT_API void weft_hook_destroy(weft_hook *h); /* call it after the session that uses the hook was destroyed */

/* In before_run: add fetches, targets or feeds (the tensor must live until after_run) to the run, or request step
 * stats. */
WEFT_CHECKED weft_err weft_run_context_fetch(weft_run_context *c, int n, const weft_out *fetches);
WEFT_CHECKED weft_err weft_run_context_target(weft_run_context *c, int n, const weft_out *nodes);
WEFT_CHECKED weft_err weft_run_context_feed(weft_run_context *c, weft_out to, const weft_tensor *fed);
WEFT_API void weft_run_context_trace(weft_run_context *c);
/* In before_run: requests that the RunMetadata contains the graph that each device runs. */
WEFT_API void weft_run_context_partition_graphs(weft_run_context *c);
/* In after_run: return the values that this hook fetched, in order (borrowed; NULL: not requested), and the
 * RunMetadata. */
WEFT_API const weft_tensor *weft_run_context_value(const weft_run_context *c, int i);
WEFT_API const void *weft_run_context_metadata(const weft_run_context *c, size_t *size);
/* In both: return the session below the hooks and the fetches of the program, or request that the program's loop
 * ends. */
WEFT_API weft_session *weft_run_context_session(const weft_run_context *c);
WEFT_API int weft_run_context_fetches(const weft_run_context *c, const weft_out **fetches);
WEFT_API void weft_run_context_request_stop(weft_run_context *c);

/* The hooks of tf.train with these names.  Of two alternative parameters, set one. */
WEFT_CHECKED weft_err weft_hook_stop_at_step(weft_hook **out, int64_t num_steps, int64_t last_step);
/* only_stop: stops instead of failing */
WEFT_CHECKED weft_err weft_hook_nan_tensor(weft_hook **out, weft_out loss, bool only_stop);
WEFT_CHECKED weft_err weft_hook_global_step_waiter(weft_hook **out, int64_t wait_until_step);
WEFT_CHECKED weft_err weft_hook_feed(weft_hook **out, weft_err (*fn)(void *arg, weft_run_context *c),
                                     void *WEFT_OPTIONAL arg);
WEFT_CHECKED weft_err weft_hook_final_ops(weft_hook **out, int n, const weft_out *fetches, int n_feed,
                                          const weft_feed *feeds);
WEFT_CHECKED weft_err weft_hook_final_value(weft_tensor **out, const weft_hook *h, int i);
/* Writes a line of at most `room` bytes, including the NUL. */
typedef void weft_format_fn(void *arg, int n, const weft_tensor *const *values, char *line, size_t room);
typedef struct weft_logging_opts {
  size_t size;
  int n;
  const weft_out *tensors;
  const char *const *tags;
  int64_t every_n_iter;
  double every_n_secs;
  bool at_end;
  weft_format_fn *format; /* NULL: "tag = value, tag = value (0.012 sec)" */
  void *format_arg;
} weft_logging_opts;
WEFT_CHECKED weft_err weft_hook_logging(weft_hook **out, const weft_logging_opts *opts);
/* Functions that are called around each save of a checkpoint hook; each may be NULL.  If one fails, the run fails. */
typedef struct weft_checkpoint_listener {
  weft_err (*begin)(void *arg);
  weft_err (*before_save)(void *arg, weft_session *sess, int64_t step);
  /* *stop true: the program's loop ends */
  weft_err (*after_save)(void *arg, weft_session *sess, int64_t step, bool *stop);
  weft_err (*end)(void *arg, weft_session *sess, int64_t step);
  void *arg;
} weft_checkpoint_listener;
typedef struct weft_checkpoint_hook_opts {
  size_t size;
  const char *dir, *basename; /* NULL: "model.ckpt" */
  double save_secs;
  int64_t save_steps;
  weft_saver *saver; /* NULL: the session's */
  int n_listener;
  const weft_checkpoint_listener *listeners; /* copied */
} weft_checkpoint_hook_opts;
WEFT_CHECKED weft_err weft_hook_checkpoint_saver(weft_hook **out, const weft_checkpoint_hook_opts *opts);
typedef struct weft_summary_hook_opts {
  size_t size;
  const char *dir;
  weft_event_writer *writer;  /* used instead of a new one in dir */
  const weft_out *summary_op; /* NULL: the session's */
  double save_secs;
  int64_t save_steps;
} weft_summary_hook_opts;
WEFT_CHECKED weft_err weft_hook_summary_saver(weft_hook **out, const weft_summary_hook_opts *opts);
/* SyncReplicasOptimizer.make_session_run_hook: initializes the local step.  On the chief it also puts tokens into
 * the queue (-1: as many as gradients make a step) and starts the queue runner. */
WEFT_CHECKED weft_err weft_hook_sync(weft_hook **out, weft_sync *s, bool is_chief, int num_tokens);
typedef struct weft_step_counter_opts {
  size_t size;
  const char *dir; /* NULL: only logs */
  weft_event_writer *writer;
  int64_t every_n_steps; /* 0: 100, unless seconds are given */
  double every_n_secs;
} weft_step_counter_opts;
WEFT_CHECKED weft_err weft_hook_step_counter(weft_hook **out, const weft_step_counter_opts *opts);
/* Writes DIR/timeline-STEP.json for Chrome's trace viewer. */
WEFT_CHECKED weft_err weft_hook_profiler(weft_hook **out, const char *dir, int64_t save_steps, double save_secs);

/* tf.train.MonitoredTrainingSession or, with `bare`, MonitoredSession, which has only the hooks that are given.  Ops
 * are as in weft_supervisor_opts.  Hooks, saver, init_feed and functions must outlive the session. */
typedef struct weft_monitored_opts {
  size_t size;
  const char *target;
  const weft_session_opts *config;
  weft_choice is_chief; /* default yes */
  bool bare;
  const char *checkpoint_dir;  /* restores from this directory and saves to it */
  const char *checkpoint_path; /* restores this checkpoint instead */
  int n_hook, n_chief_hook;
  weft_hook *const *hooks;
  weft_hook *const *chief_hooks;
  const weft_out *init_op, *local_init_op, *ready_op, *ready_for_local_init_op, *summary_op;
  int n_init_feed;
  const weft_feed *init_feed;
  weft_init_fn *init_fn;
  void *init_arg;
  weft_saver *saver;
  double save_checkpoint_secs; /* 0: 600, unless steps are given; < 0: never */
  int64_t save_checkpoint_steps;
  int64_t save_summaries_steps; /* 0: 100, unless seconds are given; < 0: never */
  double save_summaries_secs;
  int64_t log_step_count_steps; /* 0: 100; < 0: never */
  const char *summary_dir;      /* NULL: checkpoint_dir */
  double max_wait_secs;         /* 0: 7200 */
  double stop_grace_secs;       /* 0: 120 */
} weft_monitored_opts;
/* Creates a session for weft_session_run.  Its runs call the hooks, and recover when a task is lost. */
WEFT_CHECKED weft_err weft_monitored_create(weft_session **out, weft_graph *g,
                                            const weft_monitored_opts *WEFT_OPTIONAL opts);
WEFT_API bool weft_monitored_should_stop(weft_session *sess);
WEFT_API void weft_monitored_request_stop(weft_session *sess);
/* Closes the session after a loop that ended with `why`.  The hooks' `end` functions are called only if that is
 * WEFT_OK or WEFT_OUT_OF_RANGE. */
WEFT_API weft_err weft_monitored_close(weft_session *sess, weft_err why);
/* the session without hooks; NULL if sess is not a monitored session */
WEFT_API weft_session *weft_monitored_raw(weft_session *sess);

#ifdef __cplusplus
}
#endif

#endif
