/* supervise.h - training that is looked after: supervisors, monitored sessions and their hooks.
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

/* tf.train.Supervisor.  In the fields that point at an output, NULL means TensorFlow's default (from the collection of
 * that name, else made: init, ready and summary ops, ...) and a pointer to WEFT_NONE means none.  What they point at
 * is read by create, except saver, summary_writer, init_feed and the functions, which are used while it lives. */
typedef struct weft_supervisor weft_supervisor;
typedef struct weft_supervisor_opts {
  size_t size;
  weft_choice is_chief; /* default yes; no: waits for the chief's initialization instead of initializing and saving */
  const char *logdir;   /* checkpoints, events and graph.pbtxt of the chief; NULL: none */
  const weft_out *init_op, *local_init_op, *ready_op, *ready_for_local_init_op, *summary_op, *global_step;
  int n_init_feed;
  const weft_feed *init_feed;
  weft_init_fn *init_fn; /* after the init op, when nothing was restored */
  void *init_arg;
  weft_init_fn *recovered_fn; /* when variables were lost and have been restored, before runs go on */
  void *recovered_arg;
  int64_t local_init_timeout_ms;     /* of the run of local_init_op; 0: the session's */
  weft_saver *saver;                 /* NULL: the first of "savers", else made */
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
  bool for_checkpoint;  /* the chief waits until there is one */
  weft_choice services; /* default yes: starts standard services and queue runners */
} weft_supervisor_wait;
/* prepare_or_wait_for_session.  target: "" for this process, "grpc://host:port" of a server.  The session recovers when
 * a task is lost: its runs wait for a new one and are tried again.  OUT_OF_RANGE, here or from a run, tells a worker that is
 * not the chief that the job is over (the message says why): it should end well.  wait may be NULL. */
WEFT_CHECKED weft_err weft_supervisor_session(weft_session **out, weft_supervisor *sv, const char *WEFT_OPTIONAL target,
                                              const weft_session_opts *WEFT_OPTIONAL config,
                                              const weft_supervisor_wait *WEFT_OPTIONAL wait);
WEFT_CHECKED weft_err weft_supervisor_start_services(weft_supervisor *sv, weft_session *sess);
WEFT_CHECKED weft_err weft_supervisor_start_queue_runners(weft_supervisor *sv, weft_session *sess,
                                                          const char *WEFT_OPTIONAL list, int *WEFT_OPTIONAL started);
/* Calls fn every `seconds` on a thread of its own until the stop; < 0: once. */
WEFT_CHECKED weft_err weft_supervisor_loop(weft_supervisor *sv, double seconds, weft_thread_fn *fn,
                                           void *WEFT_OPTIONAL arg);
WEFT_API bool weft_supervisor_should_stop(weft_supervisor *sv);
WEFT_API void weft_supervisor_request_stop(weft_supervisor *sv, weft_err code);
WEFT_API bool weft_supervisor_wait_for_stop(weft_supervisor *sv, double seconds);
/* Stops and joins all threads; an interrupted chief saves.  The session stays open until you destroy it. */
WEFT_CHECKED weft_err weft_supervisor_stop(weft_supervisor *sv, bool keep_summary_writer, bool ignore_live_threads);
/* A Summary at a step (NULL: the global step now). */
WEFT_CHECKED weft_err weft_supervisor_add_summary(weft_supervisor *sv, weft_session *sess, const void *summary,
                                                  size_t size, const int64_t *WEFT_OPTIONAL step);
WEFT_API weft_coordinator *weft_supervisor_coordinator(weft_supervisor *sv);
WEFT_API weft_saver *weft_supervisor_saver(weft_supervisor *sv);                 /* NULL: none */
WEFT_API weft_event_writer *weft_supervisor_summary_writer(weft_supervisor *sv); /* NULL: none */
WEFT_API weft_out weft_supervisor_global_step(weft_supervisor *sv);
WEFT_API const char *weft_supervisor_save_path(weft_supervisor *sv); /* NULL: none */

/* tf.train.SessionManager, for programs that supervise themselves: sessions of this kind do not recover.  Ops that are
 * NULL are left out: nothing is asked, or nothing is run. */
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
  const char *checkpoint_dir, *checkpoint_path; /* where to restore from: the newest of a folder, or one */
  bool wait_for_checkpoint;
} weft_manager_opts;
/* The chief's: restores, or initialises; fails if the model is not ready after that. */
WEFT_CHECKED weft_err weft_manager_prepare(weft_session **out, weft_graph *g,
                                           const weft_manager_opts *WEFT_OPTIONAL opts);
/* The others': returns when the model is ready. */
WEFT_CHECKED weft_err weft_manager_wait(weft_session **out, weft_graph *g, const weft_manager_opts *WEFT_OPTIONAL opts);
/* Restores without initialising; *restored: the model is ready.  The session is open either way. */
WEFT_CHECKED weft_err weft_manager_recover(weft_session **out, weft_graph *g,
                                           const weft_manager_opts *WEFT_OPTIONAL opts, bool *WEFT_OPTIONAL restored);

/* ---- hooks and monitored sessions ------------------------------------------------------------------ */

/* What is called around the runs of a monitored session; each may be NULL.  A failure ends the run, or the creation or
 * closing of the session. */
typedef struct weft_hook weft_hook;
typedef struct weft_run_context weft_run_context;
typedef struct weft_hook_fns {
  weft_err (*begin)(void *arg, weft_hook *hook); /* the graph may still be changed */
  weft_err (*after_create_session)(void *arg, weft_session *sess, weft_coordinator *c); /* again after a recovery */
  weft_err (*before_run)(void *arg, weft_run_context *c);
  weft_err (*after_run)(void *arg, weft_run_context *c);
  weft_err (*end)(void *arg, weft_session *sess); /* the program ended well; the session still runs */
} weft_hook_fns;
WEFT_CHECKED weft_err weft_hook_create(weft_hook **out, const weft_hook_fns *fns, void *WEFT_OPTIONAL arg);
WEFT_API void weft_hook_destroy(weft_hook *h); /* after the session it was given to */

/* In before_run: adds to what is fetched, run for its effect, and fed (the tensor must live until after_run), or asks for
 * step stats. */
WEFT_CHECKED weft_err weft_run_context_fetch(weft_run_context *c, int n, const weft_out *fetches);
WEFT_CHECKED weft_err weft_run_context_target(weft_run_context *c, int n, const weft_out *nodes);
WEFT_CHECKED weft_err weft_run_context_feed(weft_run_context *c, weft_out to, const weft_tensor *fed);
WEFT_API void weft_run_context_trace(weft_run_context *c);
/* In before_run: the RunMetadata has the graph that each device runs. */
WEFT_API void weft_run_context_partition_graphs(weft_run_context *c);
/* In after_run: what this hook fetched, in order (borrowed; NULL: not asked for), and the RunMetadata. */
WEFT_API const weft_tensor *weft_run_context_value(const weft_run_context *c, int i);
WEFT_API const void *weft_run_context_metadata(const weft_run_context *c, size_t *size);
/* In both: the session below the hooks, what the program asked for, and an end to its loop. */
WEFT_API weft_session *weft_run_context_session(const weft_run_context *c);
WEFT_API int weft_run_context_fetches(const weft_run_context *c, const weft_out **fetches);
WEFT_API void weft_run_context_request_stop(weft_run_context *c);

/* Ready-made hooks: tf.train's of the same names.  Give one of two where two are offered. */
WEFT_CHECKED weft_err weft_hook_stop_at_step(weft_hook **out, int64_t num_steps, int64_t last_step);
WEFT_CHECKED weft_err weft_hook_nan_tensor(weft_hook **out, weft_out loss, bool only_stop); /* instead of failing */
WEFT_CHECKED weft_err weft_hook_global_step_waiter(weft_hook **out, int64_t wait_until_step);
WEFT_CHECKED weft_err weft_hook_feed(weft_hook **out, weft_err (*fn)(void *arg, weft_run_context *c),
                                     void *WEFT_OPTIONAL arg);
WEFT_CHECKED weft_err weft_hook_final_ops(weft_hook **out, int n, const weft_out *fetches, int n_feed,
                                          const weft_feed *feeds);
WEFT_CHECKED weft_err weft_hook_final_value(weft_tensor **out, const weft_hook *h, int i);
/* Writes a line of at most room bytes, NUL included. */
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
/* What is called around each save of a checkpoint hook; each may be NULL, and a failure is the run's. */
typedef struct weft_checkpoint_listener {
  weft_err (*begin)(void *arg);
  weft_err (*before_save)(void *arg, weft_session *sess, int64_t step);
  weft_err (*after_save)(void *arg, weft_session *sess, int64_t step, bool *stop); /* *stop: the loop shall end */
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
  weft_event_writer *writer;  /* instead of one on dir */
  const weft_out *summary_op; /* NULL: the session's */
  double save_secs;
  int64_t save_steps;
} weft_summary_hook_opts;
WEFT_CHECKED weft_err weft_hook_summary_saver(weft_hook **out, const weft_summary_hook_opts *opts);
/* SyncReplicasOptimizer.make_session_run_hook: sets local steps, and on the chief puts tokens (-1: as many as gradients
 * make a step) and runs the queue runner. */
WEFT_CHECKED weft_err weft_hook_sync(weft_hook **out, weft_sync *s, bool is_chief, int num_tokens);
typedef struct weft_step_counter_opts {
  size_t size;
  const char *dir; /* NULL: only the log is told */
  weft_event_writer *writer;
  int64_t every_n_steps; /* 0: 100, unless seconds are given */
  double every_n_secs;
} weft_step_counter_opts;
WEFT_CHECKED weft_err weft_hook_step_counter(weft_hook **out, const weft_step_counter_opts *opts);
/* DIR/timeline-STEP.json for Chrome's trace viewer. */
WEFT_CHECKED weft_err weft_hook_profiler(weft_hook **out, const char *dir, int64_t save_steps, double save_secs);

/* tf.train.MonitoredTrainingSession; with `bare`, MonitoredSession: no hooks but those given.  Ops are as in
 * weft_supervisor_opts; hooks, saver, init_feed and functions must outlive the session. */
typedef struct weft_monitored_opts {
  size_t size;
  const char *target;
  const weft_session_opts *config;
  weft_choice is_chief; /* default yes */
  bool bare;
  const char *checkpoint_dir;  /* restored from, and saved to */
  const char *checkpoint_path; /* restored from, instead */
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
/* A session for weft_session_run, whose runs call the hooks and recover when a task is lost. */
WEFT_CHECKED weft_err weft_monitored_create(weft_session **out, weft_graph *g,
                                            const weft_monitored_opts *WEFT_OPTIONAL opts);
WEFT_API bool weft_monitored_should_stop(weft_session *sess);
WEFT_API void weft_monitored_request_stop(weft_session *sess);
/* weft_session_close, for a loop that ended with `why`: hooks end only when that was WEFT_OK or WEFT_OUT_OF_RANGE. */
WEFT_API weft_err weft_monitored_close(weft_session *sess, weft_err why);
WEFT_API weft_session *weft_monitored_raw(weft_session *sess); /* without hooks; NULL if sess is no monitored one */

#ifdef __cplusplus
}
#endif

#endif
