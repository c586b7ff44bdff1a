/* supervisor.c - the Supervisor's graph, session and services.
 *
 * The session that it returns recovers (recovering.h): it waits for a lost task, the chief restores its variables,
 * and the step is retried.  The first interrupt of the program ends the loop at should_stop; stop then saves. */
#include "train/session/supervisor.h"

#include "base/assert.h"
#include "base/choice.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cluster/server.h"
#include "train/session/defaults.h"
#include "train/session/event_writer.h"
#include "train/model/global_step.h"
#include "train/model/nodes.h"
#include "train/checkpoint/path.h"
#include "train/session/queue_runner.h"
#include "train/session/recovering.h"
#include "train/session/run.h"
#include "train/session/session_manager.h"
#include "train/model/summary.h"
#include <math.h>

enum { SUMMARY_SECONDS = 120, SAVE_SECONDS = 600, START = 1, STOP = 2, CHECKPOINT = 3 };

struct weft_supervisor {
  weft_graph *graph;
  weft_supervisor_opts opts; /* its pointers are not used after create */
  bool chief;
  char *logdir, *save_path; /* NULL: none */
  session_manager manager;
  int init;
  weft_out summary, global_step;
  weft_saver *saver;
  weft_event_writer *writer;
  bool own_saver, own_writer, graph_written, holds;
  bool started; /* there is something to stop */
  weft_coordinator *coordinator;
  /* For reopening the session: */
  char *target;
  weft_session_opts config;
  double max_wait_secs;
  bool wait_for_checkpoint;
  weft_session *sess;   /* of weft__supervisor_session; NULL: none */
  weft_session *served; /* whose steps and values the services report: sess, or the program's own */
  bool kept;            /* the lost session's tasks had kept their state */
  int64_t last_step;    /* for the step counter */
  int64_t last_ns;
};

/* ---- the graph ---- */

static void find_ready_ops(weft_supervisor *sv, const weft_supervisor_opts *o) {
  bool make;
  session_manager *m = &sv->manager;
  m->ready = weft__default_given_or_first(sv->graph, o->ready_op, "ready_op", &make);
  if (make) weft__default_list_out(sv->graph, "ready_op", m->ready = weft__default_report_of(sv->graph, NULL, true));
  m->ready_for_local_init =
      weft__default_given_or_first(sv->graph, o->ready_for_local_init_op, "ready_for_local_init_op", &make);
}

static void find_init_ops(weft_supervisor *sv, const weft_supervisor_opts *o) {
  bool make;
  weft_graph *g = sv->graph;
  weft_out init = weft__default_given_or_first(g, o->init_op, "init_op", &make);
  if (make) weft__default_list_node(g, "init_op", init = weft__default_init_of(g, "variables", NULL));
  sv->init = init.node;
  weft_out local = weft__default_given_or_first(g, o->local_init_op, "local_init_op", &make);
  if (make) {
    int both[] = {weft__default_init_of(g, "local_variables", NULL).node, weft__default_tables_init(g).node};
    weft__default_list_node(g, "local_init_op", local = weft__n_group(g, NULL, 2, both));
  }
  sv->manager.local_init = local.node;
}

static void find_summary(weft_supervisor *sv, const weft_supervisor_opts *o) {
  bool make;
  sv->summary = weft__default_given_or_first(sv->graph, o->summary_op, "summary_op", &make);
  if (!make) return;
  sv->summary = weft__summary_merge_all(sv->graph, NULL, NULL, NULL);
  weft__default_list_out(sv->graph, "summary_op", sv->summary);
}

static weft_err supervisor_build(weft_supervisor *sv, const weft_supervisor_opts *o) {
  WEFT_TRY(weft__status_raise(&sv->graph->sticky));
  find_ready_ops(sv, o);
  find_init_ops(sv, o);
  WEFT_TRY(weft__status_raise(&sv->graph->sticky));
  sv->saver = o->saver;
  if (!o->saver && weft__choice_yes(o->use_saver)) {
    WEFT_TRY(weft__default_saver(sv->graph, false, &sv->saver));
    sv->own_saver = true;
  }
  find_summary(sv, o);
  sv->global_step = o->global_step ? *o->global_step : weft__global_step(sv->graph);
  return weft__status_raise(&sv->graph->sticky);
}

/* A worker that is not the chief does not initialize variables, so variables on its own devices would have no
 * values. */
static weft_err check_devices(const weft_supervisor *sv) {
  for (int i = 0; !sv->chief && i < sv->graph->n_node; i++) {
    const weft_node *n = sv->graph->node[i];
    if (weft__node_is(n, KIND_VARIABLE) && !*n->device)
      return weft__fail(WEFT_INVALID_ARGUMENT, "When using replicas, all Variables must have their device set: %s",
                        n->name);
  }
  return WEFT_OK;
}

/* ---- creating and destroying ---- */

static weft_err open_logdir(weft_supervisor *sv, const weft_supervisor_opts *o) {
  if (!sv->chief) return WEFT_OK;
  if (o->logdir) {
    const char *base = o->checkpoint_basename ? o->checkpoint_basename : "model.ckpt";
    if (!(sv->logdir = weft__strdup(o->logdir)) || !(sv->save_path = weft__path_below(o->logdir, base)))
      return WEFT_OOM;
  }
  sv->writer = o->summary_writer;
  if (sv->writer || !weft__choice_yes(o->use_summary_writer) || !sv->logdir) return WEFT_OK;
  sv->own_writer = true;
  return weft__event_writer_create(&sv->writer, sv->logdir, NULL);
}

weft_err weft__supervisor_create(weft_supervisor **out, weft_graph *g, const weft_supervisor_opts *opts) {
  static const weft_supervisor_opts none = {0};
  static const weft_err clean[] = {WEFT_OUT_OF_RANGE, WEFT_CANCELLED};
  const weft_supervisor_opts *o = opts ? opts : &none;
  weft_supervisor *sv = weft__alloc_zero(1, sizeof *sv);
  if (!sv) return WEFT_OOM;
  sv->graph = g;
  sv->opts = *o;
  sv->chief = weft__choice_yes(o->is_chief);
  sv->manager =
      (session_manager){.graph = g, .local_timeout_ms = o->local_init_timeout_ms, .log_secs = o->recovery_wait_secs};
  weft_err err = supervisor_build(sv, o);
  if (!err) err = check_devices(sv);
  if (!err) err = weft__coordinator_create(&sv->coordinator, 2, clean);
  if (!err) err = open_logdir(sv, o);
  if (!err) {
    sv->manager.stop = sv->coordinator;
    *out = sv;
  } else {
    weft__supervisor_destroy(sv);
  }
  return err;
}

void weft__supervisor_destroy(weft_supervisor *sv) {
  if (!sv) return;
  if (sv->coordinator) weft__supervisor_stop(sv, false, true);
  if (sv->sess) weft__session_close(sv->sess); /* ends the runs of other threads, which use this supervisor */
  weft__recovering_drop(sv->sess);
  if (sv->own_writer) weft__event_writer_destroy(sv->writer);
  if (sv->own_saver) weft__saver_destroy(sv->saver);
  weft__coordinator_destroy(sv->coordinator);
  weft__free(sv->logdir);
  weft__free(sv->save_path);
  weft__free(sv->target);
  weft__session_config_drop(&sv->config);
  weft__free(sv);
}

weft_coordinator *weft__supervisor_coordinator(weft_supervisor *sv) { return sv->coordinator; }
weft_saver *weft__supervisor_saver(weft_supervisor *sv) { return sv->saver; }
weft_event_writer *weft__supervisor_writer(weft_supervisor *sv) { return sv->writer; }
weft_out weft__supervisor_global_step(weft_supervisor *sv) { return sv->global_step; }
const char *weft__supervisor_save_path(weft_supervisor *sv) { return sv->save_path; }

/* ---- services ---- */

static weft_err step_now(weft_supervisor *sv, int64_t *at) {
  *at = 0;
  return sv->global_step.node >= 0 ? weft__run_int(sv->served, sv->global_step, at) : WEFT_OK;
}

weft_err weft__supervisor_add_summary(weft_supervisor *sv, weft_session *sess, const void *summary, size_t size,
                                      const int64_t *at) {
  int64_t number = at ? *at : 0;
  if (!sv->writer) return weft__fail(WEFT_FAILED_PRECONDITION, "Writing a summary requires a summary writer.");
  if (!at && sv->global_step.node >= 0) WEFT_TRY(weft__run_int(sess, sv->global_step, &number));
  return weft__event_writer_add_summary(sv->writer, summary, size, number);
}

/* Returns the writer of a service; NULL after the stop, which closes the writer and may not have waited for the
 * service. */
static weft_event_writer *open_writer(const weft_supervisor *sv) {
  return weft__coordinator_should_stop(sv->coordinator) ? NULL : sv->writer;
}

static weft_err count_steps(void *arg) {
  weft_supervisor *sv = arg;
  WEFT_ASSERT(sv->global_step.node >= 0);
  int64_t at, now = weft__clock_now_ns();
  WEFT_TRY(step_now(sv, &at));
  int64_t steps = at > sv->last_step ? at - sv->last_step : 0; /* a recovery sets the step back */
  double rate = now > sv->last_ns ? (double)steps / ((double)(now - sv->last_ns) / (double)NS_PER_S) : INFINITY;
  sv->last_step = at;
  sv->last_ns = now;
  weft_event_writer *to = open_writer(sv);
  if (to) WEFT_TRY(weft__event_writer_add_scalar(to, "global_step/sec", rate, at));
  weft__log(LOG_INFO, "global_step/sec: %g", rate);
  return WEFT_OK;
}

static weft_err record_summary(void *arg) {
  weft_supervisor *sv = arg;
  WEFT_ASSERT(sv->summary.node >= 0);
  weft_tensor *got[2] = {0};
  weft_out fetch[] = {sv->summary, weft__run_value(sv->served, sv->global_step)};
  int n = sv->global_step.node >= 0 ? 2 : 1;
  WEFT_TRY(weft__session_run(sv->served, &(plan_request){.n_fetch = n, .fetch = fetch}, NULL, got, NULL));
  int64_t at = n > 1 ? weft__tensor_int(got[1], 0) : 0;
  const str *s = got[0]->dtype == WEFT_STRING && weft__tensor_count(got[0]) > 0 ? got[0]->data : NULL;
  weft__log(LOG_INFO, "Recording summary at step %lld.", (long long)at);
  weft_event_writer *to = open_writer(sv);
  weft_err err = s && to ? weft__event_writer_add_summary(to, s->data, s->size, at) : WEFT_OK;
  weft_tensor_destroy(got[0]);
  weft_tensor_destroy(got[1]);
  return err;
}

static weft_err save_model(void *arg) {
  weft_supervisor *sv = arg;
  WEFT_ASSERT(sv->saver && sv->save_path);
  int64_t at;
  weft__log(LOG_INFO, "Saving checkpoint to path %s", sv->save_path);
  weft_save_opts o = {.global_step = sv->global_step.node >= 0 ? &sv->global_step : NULL};
  WEFT_TRY(weft__saver_save_progress(sv->saver, sv->served, sv->save_path, &o));
  if (!sv->writer || sv->global_step.node < 0) return WEFT_OK;
  WEFT_TRY(step_now(sv, &at));
  return weft__event_writer_add_session_log(sv->writer, CHECKPOINT, sv->save_path, NULL, at);
}

static double seconds_or(double wanted, double standard) { return wanted == 0 ? standard : wanted; }

weft_err weft__supervisor_start_services(weft_supervisor *sv, weft_session *sess) {
  if (!sv->chief)
    return weft__fail(WEFT_FAILED_PRECONDITION, "Only chief supervisor can start standard services. Because only chief "
                                                "supervisors can write events.");
  if (!sv->logdir) {
    weft__log(LOG_WARNING, "Standard services need a 'logdir' passed to the SessionManager");
    return WEFT_OK;
  }
  double summaries = seconds_or(sv->opts.save_summaries_secs, SUMMARY_SECONDS);
  double saves = seconds_or(sv->opts.save_model_secs, SAVE_SECONDS);
  if (!sv->sess) sv->served = sess, sv->started = true; /* else sess is the one handed out */
  WEFT_TRY(step_now(sv, &sv->last_step));
  sv->last_ns = weft__clock_now_ns();
  if (sv->writer && sv->global_step.node >= 0)
    WEFT_TRY(weft__event_writer_add_session_log(sv->writer, START, NULL, NULL, sv->last_step));
  if (sv->writer && summaries > 0 && sv->summary.node >= 0)
    WEFT_TRY(weft__coordinator_start(sv->coordinator, "SVSummaryThread", summaries, record_summary, sv));
  if (sv->writer && summaries > 0 && sv->global_step.node >= 0)
    WEFT_TRY(weft__coordinator_start(sv->coordinator, "SVStepCounterThread", summaries, count_steps, sv));
  if (sv->saver && saves > 0)
    WEFT_TRY(weft__coordinator_start(sv->coordinator, "SVTimerCheckpointThread", saves, save_model, sv));
  return WEFT_OK;
}

/* ---- the session ---- */

static prepare_opts how_to_prepare(const weft_supervisor *sv, bool again) {
  return (prepare_opts){.target = sv->target,
                        .config = &sv->config,
                        .max_wait_secs = sv->max_wait_secs,
                        .init = sv->init,
                        .n_init_feed = sv->opts.n_init_feed,
                        .init_feed = sv->opts.init_feed,
                        .init_fn = sv->opts.init_fn,
                        .init_arg = sv->opts.init_arg,
                        .saver = sv->saver,
                        .checkpoint_dir = sv->logdir,
                        .wait_for_checkpoint = sv->wait_for_checkpoint && !again,
                        .keep_state = again};
}

static weft_err open_ready(weft_supervisor *sv, bool again, weft_session **out) {
  WEFT_ASSERT(sv->target);
  prepare_opts o = how_to_prepare(sv, again);
  o.kept = &sv->kept;
  if (sv->chief) weft__server_set_chief(sv->target);
  weft_err err = sv->chief ? weft__manager_prepare(&sv->manager, &o, out) : weft__manager_wait(&sv->manager, &o, out);
  if (weft__manager_job_over(err)) weft__coordinator_request_stop(sv->coordinator, err);
  return err;
}

/* While a session is open, the first interrupt waits for the step to end; otherwise nothing waits. */
static void hold_interrupts(weft_supervisor *sv, bool hold) {
  if (hold && !sv->holds) weft__interrupt_defer();
  if (!hold && sv->holds) weft__interrupt_undefer();
  sv->holds = hold;
}

static weft_err supervisor_reopen(void *arg, weft_session **out) { return open_ready(arg, true, out); }

static bool state_lost(void *arg, weft_session *sess) {
  weft_supervisor *sv = arg;
  return weft__manager_lost(&sv->manager, sess);
}

static weft_err supervisor_reopened(void *arg, weft_session *sess) {
  weft_supervisor *sv = arg;
  return sv->opts.recovered_fn && !sv->kept ? sv->opts.recovered_fn(sv->opts.recovered_arg, sess) : WEFT_OK;
}

static weft_err run_failed(void *arg, weft_err err) {
  weft_supervisor *sv = arg;
  return sv->chief ? err : weft__manager_run_failed(&sv->manager, err);
}

static weft_err write_graph(weft_supervisor *sv) {
  if (sv->logdir) WEFT_TRY(weft__default_write_graph(sv->graph, sv->logdir));
  if (!sv->writer || sv->graph_written) return WEFT_OK;
  sv->graph_written = true;
  return weft__event_writer_add_graph(sv->writer, sv->graph, 0);
}

static weft_err start_threads(weft_supervisor *sv) {
  if (sv->chief) {
    weft__log(LOG_INFO, "Starting standard services.");
    WEFT_TRY(weft__supervisor_start_services(sv, sv->sess));
  }
  weft__log(LOG_INFO, "Starting queue runners.");
  return weft__queue_runners_start(sv->sess, sv->coordinator, NULL, NULL);
}

static weft_err supervisor_remember(weft_supervisor *sv, const char *target, const weft_session_opts *config,
                                    const weft_supervisor_wait *wait) {
  weft__free(sv->target);
  if (!(sv->target = weft__strdup(target ? target : ""))) return WEFT_OOM;
  WEFT_TRY(weft__session_config_keep(&sv->config, config));
  sv->max_wait_secs = wait ? wait->max_wait_secs : 0;
  sv->wait_for_checkpoint = wait && wait->for_checkpoint;
  return WEFT_OK;
}

weft_err weft__supervisor_session(weft_session **out, weft_supervisor *sv, const char *target,
                                  const weft_session_opts *config, const weft_supervisor_wait *wait) {
  weft_session *first = NULL, *sess = NULL;
  WEFT_TRY(supervisor_remember(sv, target, config, wait));
  weft__coordinator_clear_stop(sv->coordinator);
  if (sv->writer) WEFT_TRY(weft__event_writer_reopen(sv->writer));
  WEFT_TRY(open_ready(sv, false, &first));
  hold_interrupts(sv, true);
  WEFT_TRY(weft__recovering_create(
      &sess, first, &(recovery){supervisor_reopen, state_lost, supervisor_reopened, sv, run_failed, true}));
  weft__recovering_drop(sv->sess);
  sv->sess = sv->served = sess;
  sv->started = true;
  weft__recovering_share(sess);
  weft_err err = sv->chief ? write_graph(sv) : WEFT_OK;
  if (!err && !(wait && !weft__choice_yes(wait->services))) err = start_threads(sv);
  if (err) {
    weft__coordinator_request_stop(sv->coordinator, err);
    weft__session_destroy(sess);
    return err;
  }
  *out = sess;
  return WEFT_OK;
}

/* An interrupted program loses nothing: the model is saved in its current state. */
static weft_err save_if_interrupted(weft_supervisor *sv) {
  bool saves = sv->chief && sv->logdir && sv->saver && sv->started && sv->opts.save_model_secs >= 0;
  if (!saves || weft__interrupt_count() == 0) return WEFT_OK;
  weft_err err = save_model(sv);
  return err == WEFT_CANCELLED ? WEFT_OK : err; /* the session was already closed, or interrupted again */
}

weft_err weft__supervisor_stop(weft_supervisor *sv, bool keep_writer, bool ignore_live) {
  weft__coordinator_request_stop(sv->coordinator, WEFT_OK);
  weft_err err = weft__coordinator_join(sv->coordinator, seconds_or(sv->opts.stop_grace_secs, -1), ignore_live);
  status first = {0};
  weft__status_update(&first, err);
  weft__status_update(&first, save_if_interrupted(sv));
  if (sv->writer && !keep_writer && sv->started) {
    weft__status_update(&first, weft__event_writer_add_session_log(sv->writer, STOP, NULL, NULL, 0));
    weft__status_update(&first, weft__event_writer_close(sv->writer));
    sv->graph_written = false;
  }
  sv->started = false;
  hold_interrupts(sv, false);
  err = weft__status_raise(&first);
  weft__status_finish(&first);
  return err;
}
