/* part.c - a registered graph, and its runs.
 *
 * A run that fails aborts the step's rendezvous: whoever waits for its tensors hears why.
 *
 * A run has a token of its own, which a failing node fires; the caller's token and the deadline fire it
 * too.  Whoever fires it holds a reference meanwhile, for the run may end inside. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "cluster/worker/state.h"
#include "exec/executors/call.h"
#include "exec/feeds.h"
#include "exec/executors/start.h"

/* ---- parts ---- */

/* Every node that is not fed runs. */
static weft_err find_targets(const weft_graph *g, const plan_request *r, int *target, int *n) {
  feeds f;
  WEFT_TRY(weft__feeds_init(&f, r->n_feed, r->feed));
  for (int i = 0; i < g->n_node; i++)
    if (g->node[i]->n_out != 1 || weft__feeds_find(&f, (weft_out){i, 0}) < 0) target[(*n)++] = i;
  weft__feeds_finish(&f);
  return WEFT_OK;
}

/* Each node on the device of the task that the master chose for it. */
static weft_err make_plan(plan **out, const task *t, weft_graph *g, const plan_request *r) {
  int *of_node = NULL;
  WEFT_TRY(weft__task_where(t, g, &of_node));
  weft_err err = weft__plan_create_on(out, g, r, of_node ? &(plan_devices){t->device, of_node} : NULL);
  weft__free(of_node);
  return err;
}

weft_err weft__part_make(part **out, worker_session *s, weft_graph *graph, const plan_request *r) {
  plan_request all = *r;
  part *p = weft__alloc_zero(1, sizeof *p);
  int *target = weft__alloc(sizeof *target * (size_t)(graph->n_node + 1));
  weft_err err = p && target ? WEFT_OK : WEFT_OOM;
  if (!err) err = find_targets(graph, r, target, &all.n_target);
  if (!err) {
    all.target = target;
    err = make_plan(&p->plan, s->worker->task, graph, &all);
  }
  weft__free(target);
  if (err) {
    weft__graph_destroy(graph);
    weft__free(p);
    return err;
  }
  atomic_init(&p->refs, 1);
  atomic_fetch_add(&s->refs, 1);
  p->session = s;
  p->graph = graph;
  *out = p;
  return WEFT_OK;
}

bool weft__part_asks(const part *p, const char *of) {
  size_t n = strlen(of);
  for (int i = 0; i < p->plan->n_recv; i++) {
    const char *from = p->plan->recv[i].key; /* begins with a device */
    if (strncmp(from, of, n) == 0 && from[n] == '/') return true;
  }
  return false;
}

void weft__part_release(part *p) {
  if (!p || atomic_fetch_sub(&p->refs, 1) != 1) return;
  weft__plan_destroy(p->plan);
  weft__graph_destroy(p->graph);
  weft__worker_session_release(p->session);
  weft__free(p);
}

/* ---- a run ---- */

void weft__running_release(running *u) {
  if (atomic_fetch_sub(&u->refs, 1) != 1) return;
  worker *w = u->part->session->worker;
  weft__part_release(u->part);
  weft__cancel_finish(&u->token);
  weft__free(u);
  weft__worker_leave(w);
}

static void stop(running *u, weft_err code, const char *why) {
  atomic_fetch_add(&u->refs, 1);
  weft__cancel_fire(&u->token, code, "%s", why);
  weft__running_release(u);
}

static void on_outside(void *arg) {
  running *u = arg;
  weft_err code = weft__cancel_raise(u->asked.cancel);
  atomic_store(&u->outside, true);
  stop(u, code, weft__error_message());
}

static const char too_late[] = "Timed out waiting for the step to finish";

static void on_deadline(void *arg) {
  atomic_store(&((running *)arg)->late, true);
  stop(arg, WEFT_DEADLINE_EXCEEDED, too_late);
}

/* What waited when the time was over says that it was cancelled; the caller is told why. */
static weft_err reason(const running *u, weft_err code) {
  bool cancelled = code == WEFT_CANCELLED || code == WEFT_ABORTED;
  return cancelled && atomic_load(&u->late)
             ? weft__fail(WEFT_DEADLINE_EXCEEDED, "%s\n%s", too_late, weft__error_message())
             : code;
}

/* What a cancelled run ends with is not the error that the master looks for. */
static void mark_derived(const running *u, status *err) {
  if (!atomic_load(&u->outside) || (err->code != WEFT_CANCELLED && err->code != WEFT_ABORTED)) return;
  if (!err->message || strncmp(err->message, WEFT_DERIVED, strlen(WEFT_DERIVED)) == 0) return;
  char *marked = weft__sprintf("%s%s", WEFT_DERIVED, err->message);
  if (!marked) return;
  weft__free(err->message);
  err->message = marked;
}

/* ABORTED: the session was dropped between the request and now. */
static weft_err list_run(running *u) {
  worker *w = u->part->session->worker;
  u->began_ns = weft__clock_now_ns();
  pthread_mutex_lock(&w->lock);
  u->prev = w->runs.prev;
  u->next = &w->runs;
  u->prev->next = u->next->prev = u;
  bool outdated = u->part->session->outdated;
  pthread_mutex_unlock(&w->lock);
  return outdated ? weft__fail(WEFT_ABORTED, "The chief has restored the variables of %s", w->task->name) : WEFT_OK;
}

static void unlist_run(running *u) {
  worker *w = u->part->session->worker;
  pthread_mutex_lock(&w->lock);
  u->prev->next = u->next;
  u->next->prev = u->prev;
  pthread_mutex_unlock(&w->lock);
}

/* What a run ends with that was cut off by a chief: a kernel that waits knows only that it was cancelled. */
static weft_err cause(running *u, weft_err code) {
  worker *w = u->part->session->worker;
  pthread_mutex_lock(&w->lock);
  bool cut_off = u->stopped && u->part->session->outdated;
  pthread_mutex_unlock(&w->lock);
  return cut_off && code == WEFT_CANCELLED ? weft__cancel_raise(&u->token) : code;
}

static void end(running *u, weft_err code) {
  status err = {0};
  weft__metrics_add(METRICS_PARTITION_RUNS, 1);
  code = reason(u, code);
  weft__status_update(&err, code ? cause(u, code) : WEFT_OK);
  if (u->watched) weft__cancel_watch_remove(u->asked.cancel, &u->watch);
  if (u->asked.deadline_ns) weft__timer_cancel(u->part->session->worker->timers, &u->deadline);
  if (code && u->step) weft__rendezvous_abort(u->step->rendezvous, err.code, err.message ? err.message : "");
  mark_derived(u, &err);
  unlist_run(u);
  weft__step_objects_finish(&u->objects);
  if (u->step) weft__worker_step_release(u->step);
  u->asked.done(u->asked.arg, weft__status_raise(&err));
  weft__status_finish(&err);
  weft__running_release(u);
}

static void on_end(void *arg, weft_err err) { end(arg, err); }

static weft_err prepare(running *u) {
  worker_session *s = u->part->session;
  worker *w = s->worker;
  WEFT_TRY(weft__worker_step_get(w, u->asked.step, true, &u->step));
  u->run = (plan_run){.feed = u->asked.feed,
                      .fetched = u->asked.fetched,
                      .deadline_ns = u->asked.deadline_ns,
                      .log = u->asked.log,
                      .step = {.id = u->asked.step,
                               .cancel = &u->token,
                               .intra = w->task->intra,
                               .inter = w->task->inter,
                               .caller = &weft__caller,
                               .resources = s->resources,
                               .rendezvous = u->step->rendezvous,
                               .objects = &u->objects,
                               .session = s->handle}};
  if (u->asked.cancel) {
    WEFT_TRY(weft__cancel_watch_add(u->asked.cancel, &u->watch, on_outside, u));
    u->watched = true;
  }
  if (u->asked.deadline_ns) weft__timer_set(w->timers, &u->deadline, u->asked.deadline_ns, on_deadline, u);
  return WEFT_OK;
}

void weft__part_run(part *p, const part_run *r) {
  worker *w = p->session->worker;
  weft_err err = weft__worker_enter(w);
  running *u = err ? NULL : weft__alloc_zero(1, sizeof *u);
  if (!u) {
    if (!err) weft__worker_leave(w);
    r->done(r->arg, err ? err : WEFT_OOM);
    return;
  }
  atomic_init(&u->refs, 1);
  atomic_fetch_add(&p->refs, 1);
  u->part = p;
  u->asked = *r;
  weft__cancel_init(&u->token);
  weft__step_objects_init(&u->objects);
  err = list_run(u);
  if (!err) err = prepare(u);
  if (err)
    end(u, err);
  else
    weft__run_start(p->plan, &u->run, w->task->inter, r->borrowed, on_end, u);
}
