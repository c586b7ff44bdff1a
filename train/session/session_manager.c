/* session_manager.c - TensorFlow's SessionManager, with its messages and shorter waits. */
#include "train/session/session_manager.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/metrics.h"
#include "cluster/master/wait_for_tasks.h"
#include "cluster/open.h"
#include "state/sync_token.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/session/coordinator.h"
#include "train/session/run.h"
#include <stdio.h>
#include <time.h>

enum { MAX_WAIT_SECONDS = 7200, LOG_SECONDS = 30, FIRST_PAUSE_MS = 2, LAST_PAUSE_MS = 100 };

/* ---- checks of the model ---- */

static void list_names(const weft_tensor *t, text *why) {
  weft__text_puts(why, "Variables not initialized: ");
  for (int64_t i = 0; i < weft__tensor_count(t); i++) {
    const str *s = &TENSOR_DATA(t, str)[i];
    if (i) weft__text_puts(why, ", ");
    if (s->size) weft__text_add(why, s->data, s->size);
  }
}

bool weft__manager_job_over(weft_err err) {
  bool may_say = err == WEFT_FAILED_PRECONDITION || err == WEFT_OUT_OF_RANGE;
  return may_say && weft__error_has(ERROR_JOB_OVER);
}

/* Runs a report. *yes is set if it has no element, or if there is no report to run. */
static weft_err manager_ask(weft_session *sess, weft_out question, const char *what, bool *yes, text *why) {
  weft_tensor *t;
  *yes = question.node < 0; /* without a report the answer is yes; if it fails, there is no answer */
  if (*yes) return WEFT_OK;
  weft_err err = weft__run_fetch(sess, question, &t);
  if (err == WEFT_FAILED_PRECONDITION && weft__error_has(ERROR_UNINITIALIZED)) {
    weft__text_puts(why, weft__error_message());
    return WEFT_OK;
  }
  if (err == WEFT_FAILED_PRECONDITION && !weft__manager_job_over(err))
    weft__log(LOG_WARNING, "%s : error [%s]", what, weft__error_message());
  if (err) return err;
  *yes = t->dtype != WEFT_STRING || weft__tensor_count(t) == 0;
  if (!*yes) list_names(t, why);
  weft_tensor_destroy(t);
  return WEFT_OK;
}

weft_err weft__manager_ready(const session_manager *m, weft_session *sess, bool *ready, text *why) {
  return manager_ask(sess, m->ready, "Model not ready", ready, why);
}

bool weft__manager_lost(const session_manager *m, weft_session *sess) {
  text why = {0};
  bool ready = true;
  weft_err err = weft__manager_ready(m, sess, &ready, &why);
  weft__text_finish(&why);
  return err == WEFT_UNAVAILABLE || err == WEFT_ABORTED || (!err && !ready);
}

static weft_err run_fed(weft_session *sess, const char *what, int node, int n, const weft_feed *feeds,
                        const run_opts *opts) {
  weft_out few[16];
  const weft_tensor *values[16];
  if (n > 16) return weft__fail(WEFT_INVALID_ARGUMENT, "at most 16 feeds go to the %s", what);
  for (int i = 0; i < n; i++) few[i] = feeds[i].to, values[i] = feeds[i].value;
  plan_request r = {.n_feed = n, .feed = few, .n_target = 1, .target = &node};
  return weft__session_run(sess, &r, values, NULL, opts);
}

/* Runs the local init op when the model is ready for it. */
static weft_err local_init(const session_manager *m, weft_session *sess, bool *done, text *why) {
  *done = true;
  if (m->local_init < 0) return WEFT_OK;
  WEFT_TRY(manager_ask(sess, m->ready_for_local_init, "Model not ready for local init", done, why));
  if (!*done) return WEFT_OK;
  weft__log(LOG_INFO, "Running local_init_op.");
  run_opts opts = {.timeout_ms = m->local_timeout_ms};
  WEFT_TRY(run_fed(sess, "local init op", m->local_init, m->n_local_feed, m->local_feed, &opts));
  weft__log(LOG_INFO, "Done running local_init_op.");
  return WEFT_OK;
}

/* ---- waiting ---- */

typedef struct waiting {
  int64_t until_ns, next_log_ns, log_ns;
  int pause_ms;
} waiting;

static waiting begin_waiting(const session_manager *m, const prepare_opts *o) {
  double secs = o->max_wait_secs > 0 ? o->max_wait_secs : MAX_WAIT_SECONDS;
  int64_t now = weft__clock_now_ns(),
          log_ns = (int64_t)((m->log_secs > 0 ? m->log_secs : LOG_SECONDS) * (double)NS_PER_S);
  return (waiting){now + (int64_t)(secs * (double)NS_PER_S), now, log_ns, FIRST_PAUSE_MS};
}

static bool time_to_log(waiting *w) {
  if (weft__clock_now_ns() < w->next_log_ns) return false;
  w->next_log_ns = weft__clock_now_ns() + w->log_ns;
  return true;
}

/* Sleeps a little longer each time.  Returns CANCELLED if the program wants to stop, and DEADLINE_EXCEEDED with TF's
 * message. */
static weft_err pause_a_bit(const session_manager *m, const prepare_opts *o, waiting *w) {
  if (weft__clock_now_ns() >= w->until_ns)
    return weft__fail(WEFT_DEADLINE_EXCEEDED, "Session was not ready after waiting %d secs.",
                      (int)(o->max_wait_secs > 0 ? o->max_wait_secs : MAX_WAIT_SECONDS)); /* fits: a double */
  if (weft__interrupt_count() || (m->stop && weft__coordinator_should_stop(m->stop)))
    return weft__fail(WEFT_CANCELLED, "Stopped while waiting for the model to be ready");
  struct timespec pause = {0, w->pause_ms * NS_PER_MS};
  nanosleep(&pause, NULL);
  if ((w->pause_ms *= 2) > LAST_PAUSE_MS) w->pause_ms = LAST_PAUSE_MS;
  return WEFT_OK;
}

static weft_err open_target(const session_manager *m, const prepare_opts *o, session_role role, weft_session **out) {
  weft_session_opts config = o->config ? *o->config : (weft_session_opts){0};
  if (o->target && *o->target) config.target = o->target;
  return weft__session_open_as(out, m->graph, &config, role);
}

static bool lost_peer(weft_err err) { return err == WEFT_UNAVAILABLE || err == WEFT_ABORTED; }

static const char *manager_text(const text *t) { return t->size ? t->data : "None"; }

/* Checks once: sets *ready, or says what is missing.  The local init op runs once per session. */
static weft_err manager_look(const session_manager *m, weft_session *sess, bool *local_done, bool *ready,
                             text *local_why, text *why) {
  local_why->size = why->size = 0;
  if (!*local_done) WEFT_TRY(local_init(m, sess, local_done, local_why));
  *ready = *local_done;
  return *ready ? weft__manager_ready(m, sess, ready, why) : WEFT_OK;
}

weft_err weft__manager_run_failed(const session_manager *m, weft_err err) {
  if (err == WEFT_OUT_OF_RANGE && weft__error_has(ERROR_TOKENS_CLOSED) && !weft__manager_job_over(err)) {
    (void)weft__fail_again(err, WEFT_JOB_OVER "the chief has closed the queue of tokens (%s)", weft__error_message());
    err = weft__error_add_facts(err, ERROR_JOB_OVER);
    weft__log(LOG_WARNING, "%s", weft__error_message());
  }
  if (m->stop && weft__manager_job_over(err)) weft__coordinator_request_stop(m->stop, err);
  return err;
}

/* Destroys the session and keeps the error.  If the job is over, that is a clean end, like the end of the input. */
static weft_err manager_fail(weft_err err, weft_session *sess) {
  status kept = {0};
  if (weft__manager_job_over(err)) {
    weft__log(LOG_WARNING, "%s", weft__error_message());
    err = WEFT_OUT_OF_RANGE;
  }
  weft__status_update(&kept, err);
  weft__session_destroy(sess);
  err = weft__status_raise(&kept);
  weft__status_finish(&kept);
  return err;
}

weft_err weft__manager_wait(const session_manager *m, const prepare_opts *o, weft_session **out) {
  waiting w = begin_waiting(m, o);
  text local_why = {0}, why = {0};
  weft_session *sess = NULL;
  weft_err err = WEFT_OK;
  bool ready = false, local_done = false;
  w.next_log_ns += NS_PER_S; /* most models are ready by then */
  metrics_wait seen = {0};
  while (!err && !ready) {
    if (!sess) err = open_target(m, o, ROLE_WORKER, &sess);
    if (!err) err = manager_look(m, sess, &local_done, &ready, &local_why, &why);
    if (lost_peer(err)) { /* a task does not answer or was lost */
      weft__text_puts(&why, weft__error_message());
      weft__session_destroy(sess);
      sess = NULL;
      local_done = false;
      err = WEFT_OK;
    }
    if (err || ready) break;
    weft__metrics_wait_begin(&seen, why.size ? why.data : "the model to be ready");
    if (time_to_log(&w))
      weft__log(LOG_INFO, "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s",
                manager_text(&local_why), manager_text(&why));
    err = pause_a_bit(m, o, &w);
  }
  weft__metrics_wait_end(&seen);
  if (err == WEFT_DEADLINE_EXCEEDED && (why.size || local_why.size))
    err = weft__fail_again(err, "%s Ready_for_local_init_op: %s, ready: %s", weft__error_message(),
                           manager_text(&local_why), manager_text(&why));
  if (err)
    err = manager_fail(err, sess);
  else
    *out = sess;
  weft__text_finish(&why);
  weft__text_finish(&local_why);
  return err;
}

/* ---- restoring and initializing ---- */

static weft_err wait_for_checkpoint(const session_manager *m, const prepare_opts *o) {
  waiting w = begin_waiting(m, o);
  for (;;) {
    weft_checkpoint_state *state;
    WEFT_TRY(weft__checkpoint_state_read(&state, o->checkpoint_dir, o->state_filename));
    bool there = state != NULL;
    weft__checkpoint_state_destroy(state);
    if (there) return WEFT_OK;
    if (time_to_log(&w)) weft__log(LOG_INFO, "Waiting for checkpoint to be available.");
    weft_err err = pause_a_bit(m, o, &w);
    if (err) return err == WEFT_DEADLINE_EXCEEDED ? WEFT_OK : err; /* TensorFlow continues without it */
  }
}

static weft_err manager_restore(const session_manager *m, const prepare_opts *o, weft_session *sess, bool *restored) {
  *restored = false;
  if (!o->saver || (!o->checkpoint_dir && !o->checkpoint_path)) return WEFT_OK;
  if (o->checkpoint_path) {
    *restored = true;
    return weft__saver_restore(o->saver, sess, o->checkpoint_path);
  }
  char *from = NULL;
  if (o->wait_for_checkpoint) WEFT_TRY(wait_for_checkpoint(m, o));
  WEFT_TRY(weft__saver_restore_latest(o->saver, sess, o->checkpoint_dir, o->state_filename, &from));
  *restored = from != NULL;
  weft__free(from);
  return WEFT_OK;
}

static weft_err run_init(const prepare_opts *o, weft_session *sess) {
  return run_fed(sess, "init op", o->init, o->n_init_feed, o->init_feed, NULL);
}

static const char *node_name(const session_manager *m, int node) {
  return node >= 0 ? m->graph->node[node]->name : "None";
}

static weft_err manager_initialize(const session_manager *m, const prepare_opts *o, weft_session *sess) {
  if (o->init < 0 && !o->init_fn && m->local_init < 0)
    return weft__fail_fact(WEFT_FAILED_PRECONDITION, WEFT_FACT_MODEL_NOT_READY,
                           "Model is not initialized and no init_op or init_fn or local_init_op was given");
  if (o->init >= 0) WEFT_TRY(run_init(o, sess));
  return o->init_fn ? o->init_fn(o->init_arg, sess) : WEFT_OK;
}

/* Runs local init and the last check, with TF's messages if the model is not ready. */
static weft_err make_ready(const session_manager *m, const prepare_opts *o, weft_session *sess) {
  text why = {0};
  bool yes;
  weft_err err = local_init(m, sess, &yes, &why);
  if (!err && !yes)
    err =
        weft__fail_fact(WEFT_FAILED_PRECONDITION, WEFT_FACT_MODEL_NOT_READY,
                        "Init operations did not make model ready for local_init.  Init op: %s, init fn: %s, error: %s",
                        node_name(m, o->init), o->init_fn ? "given" : "None", manager_text(&why));
  if (!err) err = weft__manager_ready(m, sess, &yes, &why);
  if (!err && !yes)
    err = weft__fail_fact(
        WEFT_FAILED_PRECONDITION, WEFT_FACT_MODEL_NOT_READY,
        "Init operations did not make model ready.  Init op: %s, init fn: %s, local_init_op: %s, error: %s",
        node_name(m, o->init), o->init_fn ? "given" : "None", node_name(m, m->local_init), manager_text(&why));
  weft__text_finish(&why);
  return err;
}

/* Returns true if there is nothing to do, because the tasks kept their variables. */
static weft_err still_ready(const session_manager *m, const prepare_opts *o, weft_session *sess, bool *yes) {
  text why = {0};
  *yes = false;
  weft_err err = o->keep_state && m->ready.node >= 0 ? weft__manager_ready(m, sess, yes, &why) : WEFT_OK;
  weft__text_finish(&why);
  return err;
}

static weft_err prepare_in(const session_manager *m, const prepare_opts *o, weft_session *sess) {
  bool done;
  WEFT_TRY(still_ready(m, o, sess, &done));
  if (o->kept) *o->kept = done;
  if (done) return WEFT_OK;
  WEFT_TRY(weft__session_restoring(sess, true)); /* until everything is restored, no worker's step may run */
  WEFT_TRY(manager_restore(m, o, sess, &done));
  if (!done) WEFT_TRY(manager_initialize(m, o, sess));
  WEFT_TRY(make_ready(m, o, sess));
  return weft__session_restoring(sess, false);
}

weft_err weft__manager_prepare(const session_manager *m, const prepare_opts *o, weft_session **out) {
  waiting w = begin_waiting(m, o);
  weft_err err;
  do { /* a task may be lost, or not have started, while we initialize */
    weft_session *sess = NULL;
    err = open_target(m, o, ROLE_CHIEF, &sess);
    if (!err) err = prepare_in(m, o, sess);
    if (!err) {
      *out = sess;
      return WEFT_OK;
    }
    weft__session_destroy(sess);
    if (lost_peer(err) && time_to_log(&w))
      weft__log(LOG_INFO, "Preparing the session again: %s", weft__error_message());
  } while (lost_peer(err) && (err = pause_a_bit(m, o, &w)) == WEFT_OK);
  return err;
}

weft_err weft__manager_recover(const session_manager *m, const prepare_opts *o, weft_session **out, bool *restored) {
  weft_session *sess = NULL;
  text why = {0};
  bool yes = false;
  *restored = false;
  weft_err err = open_target(m, o, ROLE_CHIEF, &sess);
  if (!err) err = weft__session_restoring(sess, true);
  if (!err) err = manager_restore(m, o, sess, restored);
  if (!err) err = local_init(m, sess, &yes, &why);
  if (!err) err = weft__session_restoring(sess, false);
  if (!err && yes) err = weft__manager_ready(m, sess, &yes, &why);
  if (!err && *restored && !yes)
    weft__log(LOG_INFO, "Restoring model from %s did not make model ready: %s", o->checkpoint_dir, manager_text(&why));
  if (!err && *restored && yes) weft__log(LOG_INFO, "Restored model from %s", o->checkpoint_dir);
  *restored = *restored && yes;
  if (err)
    weft__session_destroy(sess);
  else
    *out = sess;
  weft__text_finish(&why);
  return err;
}

/* ---- configurations ---- */

weft_err weft__session_config_keep(weft_session_opts *to, const weft_session_opts *from) {
  weft__session_config_drop(to);
  if (!from) return WEFT_OK;
  *to = *from;
  to->target = NULL;
  to->config = NULL;
  if (from->target && !(to->target = weft__strdup(from->target))) return WEFT_OOM;
  if (!from->config_size) return WEFT_OK;
  void *copy = weft__alloc(from->config_size);
  if (!copy) {
    to->config_size = 0;
    return WEFT_OOM;
  }
  memcpy(copy, from->config, from->config_size);
  to->config = copy;
  return WEFT_OK;
}

void weft__session_config_drop(weft_session_opts *kept) {
  weft__free((void *)(uintptr_t)kept->target);
  weft__free((void *)(uintptr_t)kept->config);
  *kept = (weft_session_opts){0};
}
