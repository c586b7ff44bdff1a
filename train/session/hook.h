/* hook.h - hooks around the runs of a monitored session: structs of callbacks, and their context.
 *
 * The order is TensorFlow's: begin of every hook before the session is created; after_create_session afterwards (and
 * again if it was lost and replaced); before_run and after_run around every run; end if all went well. */
#ifndef WEFT_TRAIN_SESSION_HOOK_H
#define WEFT_TRAIN_SESSION_HOOK_H

#include "exec/session.h"
#include "weft/supervise.h"

typedef struct monitored monitored;

struct weft_hook {
  weft_hook_fns fns;
  void *arg;
  void (*release)(void *arg); /* for hooks created here */
  monitored *owner;           /* while it is attached */
};

/* What one hook requested for a run, and its results. */
typedef struct hook_request {
  int first, n; /* range in the fetches of the run */
} hook_request;

struct weft_run_context {
  weft_session *sess; /* the session behind the hooks */
  const plan_request *caller;
  int n_feed, n_fetch, n_target;
  int64_t feed_room, fed_room, fetch_room, target_room;
  weft_out *feed, *fetch;
  const weft_tensor **fed;
  weft_tensor **fetched;
  int *target;           /* nodes that run for their side effects */
  hook_request *request; /* one for each hook */
  int hook;              /* the current hook */
  bool stop, trace, partition_graphs;
  uint8_t *metadata;
  size_t metadata_size;
};

/* Copies fns.  The caller destroys *out after the session that it is attached to; release(arg) is called then, and if
 * creating fails. */
weft_err weft__hook_create(weft_hook **out, const weft_hook_fns *fns, void *arg, void (*release)(void *arg));
void weft__hook_destroy(weft_hook *h);

/* For before_run of the current hook: adds to what the run fetches, runs and is fed.  The value is borrowed until the
 * run has ended.  INVALID_ARGUMENT if the output is fed already. */
weft_err weft__context_fetch(weft_run_context *c, int n, const weft_out *fetches);
weft_err weft__context_target(weft_run_context *c, int n, const weft_out *nodes);
weft_err weft__context_feed(weft_run_context *c, weft_out to, const weft_tensor *value);
const weft_tensor *weft__context_value(const weft_run_context *c, int i); /* NULL: it was not requested */

/* Properties of the session to which a hook is attached. */
weft_graph *weft__monitored_graph(const monitored *m);
weft_saver *weft__monitored_saver(const monitored *m);    /* NULL: none */
weft_out weft__monitored_summary(const monitored *m);     /* WEFT_NONE: none */
weft_out weft__monitored_global_step(const monitored *m); /* WEFT_NONE: none */
/* Returns the writer for a folder, which the hooks share; it is closed with the session. */
weft_err weft__monitored_writer(monitored *m, const char *dir, weft_event_writer **out);

/* Decides when to act again: after a number of steps or seconds, and always the first time. {0} acts only the first
 * time. */
typedef struct hook_timer {
  double secs;
  int64_t steps;
  bool begun;
  int64_t last_step, last_ns;
} hook_timer;
bool weft__timer_due(const hook_timer *t, int64_t at);
/* Records that it acted.  Returns false the first time, because nothing has elapsed. */
bool weft__timer_note(hook_timer *t, int64_t at, double *secs, int64_t *steps);

/* The built-in hooks, in hooks.c and hooks_save.c. */
weft_err weft__hook_stop_at_step(weft_hook **out, int64_t num_steps, int64_t last_step);
weft_err weft__hook_nan(weft_hook **out, weft_out loss, bool only_stop);
weft_err weft__hook_logging(weft_hook **out, const weft_logging_opts *opts);
weft_err weft__hook_wait_for_step(weft_hook **out, int64_t until);
weft_err weft__hook_final_ops(weft_hook **out, int n, const weft_out *fetches, int n_feed, const weft_feed *feeds);
weft_err weft__hook_final_value(const weft_hook *h, int i, weft_tensor **out);
weft_err weft__hook_checkpoint(weft_hook **out, const weft_checkpoint_hook_opts *opts);
weft_err weft__hook_summary(weft_hook **out, const weft_summary_hook_opts *opts);
weft_err weft__hook_step_counter(weft_hook **out, const weft_step_counter_opts *opts);

#endif
