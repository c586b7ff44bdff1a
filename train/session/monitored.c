/* monitored.c - hooks around a recovering session.
 *
 * It is a session itself, so every run of it runs the hooks too.  If a task is lost, the run is retried below the
 * hooks (recovering.h); the hooks then get the new session in after_create_session, as in TensorFlow. */
#include "train/session/monitored.h"

#include "base/assert.h"
#include "base/choice.h"
#include "base/alloc.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cluster/server.h"
#include "train/session/coordinator.h"
#include "train/session/event_writer.h"
#include "train/model/global_step.h"
#include "train/session/queue_runner.h"
#include "train/session/recovering.h"
#include "train/session/scaffold.h"
#include "train/session/session_manager.h"

enum { SAVE_SECONDS = 600, SUMMARY_STEPS = 100, COUNT_STEPS = 100, OWN = 3 };

typedef struct open_writer {
  char *dir;
  weft_event_writer *writer;
  struct open_writer *next;
} open_writer;

struct monitored {
  weft_session base;
  /* target, the directories and config are copied.  Hooks, saver, init_feed and the functions are read again when the
   * session is recovered, so they must outlive it. */
  weft_monitored_opts opts;
  char *target, *dir, *path;
  weft_session_opts config;
  scaffold scaffold;
  session_manager manager;
  weft_coordinator *coordinator;
  weft_session *inner; /* the recovering session */
  int n_hook;
  weft_hook **hook;
  weft_hook *own[OWN]; /* the hooks that MonitoredTrainingSession adds */
  int n_own;
  open_writer *writers;
  pthread_mutex_t lock; /* held for the hooks of one run */
  atomic_bool stop;
  bool closed, defers_interrupts; /* defers_interrupts: weft__interrupt_defer was called, and close undoes it */
};

weft_graph *weft__monitored_graph(const monitored *m) { return m->base.graph; }
weft_saver *weft__monitored_saver(const monitored *m) { return m->scaffold.saver; }
weft_out weft__monitored_summary(const monitored *m) { return m->scaffold.summary; }
weft_out weft__monitored_global_step(const monitored *m) { return weft__global_step(m->base.graph); }
weft_session *weft__monitored_raw(monitored *m) { return m->inner; }
void weft__monitored_request_stop(monitored *m) { atomic_store(&m->stop, true); }

bool weft__monitored_should_stop(monitored *m) {
  return atomic_load(&m->stop) || m->closed || (m->coordinator && weft__coordinator_should_stop(m->coordinator));
}

weft_err weft__monitored_writer(monitored *m, const char *dir, weft_event_writer **out) {
  for (open_writer *w = m->writers; w; w = w->next)
    if (strcmp(w->dir, dir) == 0) {
      *out = w->writer;
      return WEFT_OK;
    }
  open_writer *w = weft__alloc_zero(1, sizeof *w);
  weft_err err = w && (w->dir = weft__strdup(dir)) ? weft__event_writer_create(&w->writer, dir, NULL) : WEFT_OOM;
  if (err) {
    if (w) weft__free(w->dir);
    weft__free(w);
    return err;
  }
  w->next = m->writers;
  m->writers = w;
  *out = w->writer;
  return WEFT_OK;
}

static weft_err close_writers(monitored *m) {
  status first = {0};
  while (m->writers) {
    open_writer *w = m->writers;
    m->writers = w->next;
    weft__status_update(&first, weft__event_writer_close(w->writer));
    weft__event_writer_destroy(w->writer);
    weft__free(w->dir);
    weft__free(w);
  }
  weft_err err = weft__status_raise(&first);
  weft__status_finish(&first);
  return err;
}

/* ---- a run ---- */

static weft_err begin_context(weft_run_context *c, const monitored *m, const plan_request *q,
                              const weft_tensor *const *feed) {
  WEFT_ASSERT(m->inner && c->n_feed == 0 && c->n_fetch == 0 && c->n_target == 0);
  c->sess = m->inner;
  c->caller = q;
  c->feed_room = c->fed_room = q->n_feed + 4;
  c->fetch_room = q->n_fetch + 8;
  c->target_room = q->n_target + 4;
  c->feed = weft__alloc(sizeof *c->feed * (size_t)c->feed_room);
  c->fed = weft__alloc(sizeof *c->fed * (size_t)c->feed_room);
  c->fetch = weft__alloc(sizeof *c->fetch * (size_t)c->fetch_room);
  c->target = weft__alloc(sizeof *c->target * (size_t)c->target_room);
  c->request = weft__alloc_zero((size_t)m->n_hook + 1, sizeof *c->request);
  if (!c->feed || !c->fed || !c->fetch || !c->target || !c->request) return WEFT_OOM;
  for (; c->n_feed < q->n_feed; c->n_feed++)
    c->feed[c->n_feed] = q->feed[c->n_feed], c->fed[c->n_feed] = feed[c->n_feed];
  for (; c->n_fetch < q->n_fetch; c->n_fetch++) c->fetch[c->n_fetch] = q->fetch[c->n_fetch];
  for (; c->n_target < q->n_target; c->n_target++) c->target[c->n_target] = q->target[c->n_target];
  return WEFT_OK;
}

static void end_context(weft_run_context *c) {
  for (int i = 0; c->fetched && i < c->n_fetch; i++) weft_tensor_destroy(c->fetched[i]);
  weft__free(c->fetched);
  weft__free(c->feed);
  weft__free((void *)(uintptr_t)c->fed);
  weft__free(c->fetch);
  weft__free(c->target);
  weft__free(c->request);
  weft__free(c->metadata);
}

/* Calls before_run (or after_run if `after`) of every hook, in order. */
static weft_err call_hooks(monitored *m, weft_run_context *c, bool after) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&m->lock);
  for (c->hook = 0; !err && c->hook < m->n_hook; c->hook++) {
    weft_hook *h = m->hook[c->hook];
    WEFT_ASSERT(h->owner == m);
    weft_err (*fn)(void *, weft_run_context *) = after ? h->fns.after_run : h->fns.before_run;
    if (fn) err = fn(h->arg, c);
  }
  pthread_mutex_unlock(&m->lock);
  return err;
}

static weft_err run_inner(weft_run_context *c, const run_opts *opts) {
  WEFT_ASSERT(!c->fetched && c->n_feed <= c->feed_room && c->n_fetch <= c->fetch_room && c->n_target <= c->target_room);
  plan_request all = *c->caller;
  run_opts o = opts ? *opts : (run_opts){0};
  all.n_feed = c->n_feed, all.feed = c->feed, all.n_fetch = c->n_fetch, all.fetch = c->fetch;
  all.n_target = c->n_target, all.target = c->target;
  if (!(c->fetched = weft__alloc_zero((size_t)c->n_fetch + 1, sizeof *c->fetched))) return WEFT_OOM;
  o.trace |= c->trace;
  o.partition_graphs |= c->partition_graphs;
  o.metadata = &c->metadata; /* the hooks see it, and the caller gets a copy */
  o.metadata_size = &c->metadata_size;
  WEFT_TRY(weft__session_run(c->sess, &all, c->fed, c->fetched, &o));
  if (!opts || !opts->metadata || !c->metadata) return WEFT_OK;
  if (!(*opts->metadata = weft__alloc(c->metadata_size + 1))) return WEFT_OOM;
  memcpy(*opts->metadata, c->metadata, c->metadata_size);
  *opts->metadata_size = c->metadata_size;
  return WEFT_OK;
}

/* Returns the error of the queue runners if there is one, because it explains more than the run's own. */
static weft_err monitored_error_cause(monitored *m, weft_err err) {
  status own = {0};
  weft__status_update(&own, err);
  weft_err cause = weft__coordinator_raise(m->coordinator);
  if (!cause) cause = weft__status_raise(&own);
  weft__status_finish(&own);
  return cause;
}

static weft_err monitored_run(weft_session *s, const plan_request *q, const weft_tensor *const *feed,
                              weft_tensor **fetched, const run_opts *opts) {
  monitored *m = (monitored *)s;
  weft_run_context c = {0};
  if (m->closed) return weft__fail(WEFT_CANCELLED, "Session has been closed.");
  if (atomic_load(&m->stop))
    return weft__fail(WEFT_FAILED_PRECONDITION, "Run called even after should_stop requested.");
  weft_err err = begin_context(&c, m, q, feed);
  if (!err) err = call_hooks(m, &c, false);
  if (!err) err = run_inner(&c, opts);
  if (!err) err = call_hooks(m, &c, true);
  if (c.stop) atomic_store(&m->stop, true);
  for (int i = 0; !err && i < q->n_fetch; i++) fetched[i] = c.fetched[i], c.fetched[i] = NULL;
  end_context(&c);
  return err ? monitored_error_cause(m, err) : WEFT_OK;
}

/* ---- opening ---- */

static prepare_opts monitored_prepare_opts(const monitored *m, bool again) {
  const weft_monitored_opts *o = &m->opts;
  return (prepare_opts){.target = m->target,
                        .config = &m->config,
                        .max_wait_secs = o->max_wait_secs,
                        .init = m->scaffold.init.node,
                        .n_init_feed = o->n_init_feed,
                        .init_feed = o->init_feed,
                        .init_fn = o->init_fn,
                        .init_arg = o->init_arg,
                        .saver = m->scaffold.saver,
                        .checkpoint_dir = m->path ? NULL : m->dir,
                        .checkpoint_path = m->path,
                        .keep_state = again};
}

static weft_err open_ready(monitored *m, bool again, weft_session **out) {
  prepare_opts o = monitored_prepare_opts(m, again);
  if (weft__choice_yes(m->opts.is_chief)) weft__server_set_chief(m->target);
  weft_err err = weft__choice_yes(m->opts.is_chief) ? weft__manager_prepare(&m->manager, &o, out)
                                                    : weft__manager_wait(&m->manager, &o, out);
  if (weft__manager_job_over(err)) weft__coordinator_request_stop(m->coordinator, err);
  return err;
}

static weft_err monitored_reopen(void *arg, weft_session **out) { return open_ready(arg, true, out); }

static bool state_lost(void *arg, weft_session *sess) {
  monitored *m = arg;
  return weft__manager_lost(&m->manager, sess);
}

/* Calls after_create_session of every hook. */
static weft_err monitored_notify_created(void *arg, weft_session *sess) {
  monitored *m = arg;
  for (int i = 0; i < m->n_hook; i++) {
    weft_hook *h = m->hook[i];
    if (h->fns.after_create_session) WEFT_TRY(h->fns.after_create_session(h->arg, sess, m->coordinator));
  }
  return WEFT_OK;
}

static weft_err run_failed(void *arg, weft_err err) {
  monitored *m = arg;
  return weft__choice_yes(m->opts.is_chief) ? err : weft__manager_run_failed(&m->manager, err);
}

static weft_err open_session(monitored *m) {
  WEFT_ASSERT(!m->inner && !m->defers_interrupts);
  weft_session *first;
  WEFT_TRY(open_ready(m, false, &first));
  weft__interrupt_defer();
  m->defers_interrupts = true;
  WEFT_TRY(weft__recovering_create(
      &m->inner, first, &(recovery){monitored_reopen, state_lost, monitored_notify_created, m, run_failed, true}));
  WEFT_TRY(weft__queue_runners_start(m->inner, m->coordinator, NULL, NULL));
  return monitored_notify_created(m, m->inner);
}

/* ---- hooks ---- */

/* Adds the hooks of MonitoredTrainingSession for a chief with a folder: steps per second, summaries, checkpoints. */
static weft_err add_own(monitored *m) {
  WEFT_ASSERT(m->n_own == 0);
  const weft_monitored_opts *o = &m->opts;
  const char *summaries = o->summary_dir ? o->summary_dir : o->checkpoint_dir;
  if (o->bare || !weft__choice_yes(o->is_chief)) return WEFT_OK;
  if (summaries && o->log_step_count_steps >= 0) {
    weft_step_counter_opts c = {.dir = summaries,
                                .every_n_steps = o->log_step_count_steps ? o->log_step_count_steps : COUNT_STEPS};
    WEFT_TRY(weft__hook_step_counter(&m->own[m->n_own], &c));
    m->n_own++;
  }
  bool steps = o->save_summaries_steps == 0 && o->save_summaries_secs == 0;
  weft_summary_hook_opts s = {.dir = summaries,
                              .save_steps = steps ? SUMMARY_STEPS : o->save_summaries_steps,
                              .save_secs = o->save_summaries_secs};
  if (summaries && (s.save_steps > 0 || s.save_secs > 0)) {
    WEFT_TRY(weft__hook_summary(&m->own[m->n_own], &s));
    m->n_own++;
  }
  bool secs = o->save_checkpoint_steps == 0 && o->save_checkpoint_secs == 0;
  weft_checkpoint_hook_opts k = {.dir = o->checkpoint_dir,
                                 .save_secs = secs ? SAVE_SECONDS : o->save_checkpoint_secs,
                                 .save_steps = o->save_checkpoint_steps};
  if (o->checkpoint_dir && (k.save_steps > 0 || k.save_secs > 0)) {
    WEFT_TRY(weft__hook_checkpoint(&m->own[m->n_own], &k));
    m->n_own++;
  }
  return WEFT_OK;
}

static weft_err monitored_attach(monitored *m, weft_hook *h) {
  WEFT_ASSERT(m->hook && m->n_own <= OWN);
  if (h->owner) return weft__fail(WEFT_FAILED_PRECONDITION, "a hook belongs to one session at a time");
  h->owner = m;
  m->hook[m->n_hook++] = h;
  return WEFT_OK;
}

static weft_err gather_hooks(monitored *m) {
  const weft_monitored_opts *o = &m->opts;
  int most = o->n_hook + o->n_chief_hook + OWN;
  WEFT_ASSERT(!m->hook && m->n_hook == 0);
  if (!(m->hook = weft__alloc(sizeof *m->hook * (size_t)most))) return WEFT_OOM;
  WEFT_TRY(add_own(m));
  for (int i = 0; weft__choice_yes(o->is_chief) && i < o->n_chief_hook; i++)
    WEFT_TRY(monitored_attach(m, o->chief_hooks[i]));
  for (int i = 0; i < m->n_own; i++) WEFT_TRY(monitored_attach(m, m->own[i]));
  for (int i = 0; i < o->n_hook; i++) WEFT_TRY(monitored_attach(m, o->hooks[i]));
  for (int i = 0; i < m->n_hook; i++)
    if (m->hook[i]->fns.begin) WEFT_TRY(m->hook[i]->fns.begin(m->hook[i]->arg, m->hook[i]));
  return WEFT_OK;
}

/* ---- closing ---- */

static weft_err end_hooks(monitored *m) {
  status first = {0};
  for (int i = 0; i < m->n_hook; i++)
    if (m->hook[i]->fns.end) weft__status_update(&first, m->hook[i]->fns.end(m->hook[i]->arg, m->inner));
  weft_err err = weft__status_raise(&first);
  weft__status_finish(&first);
  return err;
}

weft_err weft__monitored_close(monitored *m, weft_err why) {
  status first = {0};
  bool clean = why == WEFT_OK || why == WEFT_OUT_OF_RANGE;
  if (m->closed) return WEFT_OK;
  m->closed = true;
  if (clean && m->inner) weft__status_update(&first, end_hooks(m));
  if (m->coordinator) {
    weft__coordinator_request_stop(m->coordinator, WEFT_OK);
    double grace = m->opts.stop_grace_secs > 0 ? m->opts.stop_grace_secs : -1;
    weft_err joined = weft__coordinator_join(m->coordinator, grace, true);
    if (clean) weft__status_update(&first, joined);
  }
  if (m->inner) weft__status_update(&first, weft__session_close(m->inner));
  weft__status_update(&first, close_writers(m));
  if (m->defers_interrupts) weft__interrupt_undefer();
  m->defers_interrupts = false;
  weft_err err = weft__status_raise(&first);
  weft__status_finish(&first);
  return err;
}

static weft_err monitored_close_clean(weft_session *s) { return weft__monitored_close((monitored *)s, WEFT_OK); }

static void monitored_destroy(weft_session *s) {
  monitored *m = (monitored *)s;
  weft__session_destroy(m->inner);
  weft__coordinator_destroy(m->coordinator);
  for (int i = 0; i < m->n_hook; i++) m->hook[i]->owner = NULL;
  for (int i = 0; i < m->n_own; i++) weft__hook_destroy(m->own[i]);
  weft__scaffold_finish(&m->scaffold);
  pthread_mutex_destroy(&m->lock);
  weft__free(m->hook);
  weft__free(m->target);
  weft__free(m->dir);
  weft__free(m->path);
  weft__session_config_drop(&m->config);
  weft__free(m);
}

static weft_err monitored_devices(weft_session *s, device_info **out, int *n) {
  return weft__session_devices(((monitored *)s)->inner, out, n);
}

static const session_ops monitored_ops = {monitored_run, monitored_close_clean, monitored_destroy, monitored_devices};

weft_err weft__monitored_of(weft_session *sess, monitored **out) {
  if (sess->ops != &monitored_ops) return weft__fail(WEFT_INVALID_ARGUMENT, "the session is not a monitored one");
  *out = (monitored *)sess;
  return WEFT_OK;
}

static char *copy_or_null(const char *s, bool *ok) {
  char *copy = s ? weft__strdup(s) : NULL;
  *ok = *ok && (copy || !s);
  return copy;
}

static weft_err set_up(monitored *m, weft_graph *g) {
  static const weft_err clean[] = {WEFT_OUT_OF_RANGE, WEFT_CANCELLED};
  const weft_monitored_opts *o = &m->opts;
  bool ok = true;
  m->target = copy_or_null(o->target ? o->target : "", &ok);
  m->dir = copy_or_null(o->checkpoint_dir, &ok);
  m->path = copy_or_null(o->checkpoint_path, &ok);
  if (!ok) return WEFT_OOM;
  WEFT_TRY(weft__session_config_keep(&m->config, o->config));
  WEFT_TRY(weft__coordinator_create(&m->coordinator, 2, clean));
  WEFT_TRY(gather_hooks(m));
  WEFT_TRY(weft__scaffold_build(&m->scaffold, g, o));
  weft__log(LOG_INFO, "Graph was finalized.");
  const scaffold *s = &m->scaffold;
  m->manager = (session_manager){.graph = g,
                                 .ready = s->ready,
                                 .ready_for_local_init = s->ready_for_local_init,
                                 .local_init = s->local_init.node,
                                 .stop = m->coordinator};
  return open_session(m);
}

weft_err weft__monitored_create(weft_session **out, weft_graph *g, const weft_monitored_opts *opts) {
  monitored *m = weft__alloc_zero(1, sizeof *m);
  if (!m) return WEFT_OOM;
  m->base = (weft_session){.ops = &monitored_ops, .graph = g};
  if (opts) m->opts = *opts;
  pthread_mutex_init(&m->lock, NULL);
  atomic_init(&m->stop, false);
  weft_err err = set_up(m, g);
  if (!err) {
    *out = &m->base;
    return WEFT_OK;
  }
  status why = {0};
  weft__status_update(&why, err);
  weft__monitored_close(m, err);
  monitored_destroy(&m->base);
  err = weft__status_raise(&why);
  weft__status_finish(&why);
  return err;
}
