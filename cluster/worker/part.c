/* part.c - a registered graph, and its runs.
 *
 * A run that fails aborts the step's rendezvous, so that receivers of its tensors get the error.
 *
 * A run has a token of its own, which a failing node fires; the caller's token and the deadline fire it too.  A
 * function that fires it holds a reference meanwhile, since the run may end inside.  The worker's lock guards the list
 * of runs. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "cluster/worker/state.h"
#include "exec/compile.h"
#include "exec/executors/call.h"
#include "exec/feeds.h"
#include "exec/executors/start.h"

/* ---- parts ---- */

/* Lists all nodes that are not fed. */
static weft_err part_find_targets(const weft_graph *g, const plan_request *r, int *target, int *n) {
  feeds f;
  WEFT_TRY(weft__feeds_init(&f, r->n_feed, r->feed));
  for (int i = 0; i < g->n_node; i++)
    if (g->node[i]->n_out != 1 || weft__feeds_find(&f, (weft_out){i, 0}) < 0) target[(*n)++] = i;
  weft__feeds_finish(&f);
  return WEFT_OK;
}

/* Makes the plan.  Each node runs on the device that the master chose for it. */
static weft_err part_make_plan(plan **out, const task *t, weft_graph *g, const plan_request *r) {
  int *of_node = NULL;
  WEFT_TRY(weft__task_where(t, g, &of_node));
  weft_err err =
      weft__plan_create_on(out, g, r, of_node ? &(plan_devices){t->device, of_node, g->mixed_precision} : NULL);
  weft__free(of_node);
  return err;
}

weft_err weft__part_compile(part **out, worker_session *s, weft_graph *graph, const plan_request *r) {
  plan_request all = *r;
  part *p = weft__alloc_zero(1, sizeof *p);
  int *target = weft__alloc(sizeof *target * (size_t)(graph->n_node + 1));
  weft_err err = p && target ? WEFT_OK : WEFT_OOM;
  if (!err) err = part_find_targets(graph, r, target, &all.n_target);
  if (!err) {
    all.target = target;
    err = part_make_plan(&p->plan, s->worker->task, graph, &all);
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

bool weft__part_receives_from(const part *p, const char *task_name) {
  size_t n = strlen(task_name);
  for (int i = 0; i < p->plan->staged.n_recv; i++) {
    const char *from = p->plan->staged.recv[i].key; /* begins with a device */
    if (strncmp(from, task_name, n) == 0 && from[n] == '/') return true;
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

/* ---- runs ---- */

void weft__running_part_release(running_part *u) {
  if (atomic_fetch_sub(&u->refs, 1) != 1) return;
  worker *w = u->part->session->worker;
  weft__part_release(u->part);
  weft__cancel_finish(&u->token);
  weft__free(u);
  weft__worker_leave(w);
}

/* Cancels the run with the present error. */
static void running_part_cancel(running_part *u, weft_err code) {
  atomic_fetch_add(&u->refs, 1);
  weft__cancel_fire_error(&u->token, code);
  weft__running_part_release(u);
}

static void running_part_on_cancel(void *arg) {
  running_part *u = arg;
  weft_err code = weft__cancel_raise(u->opts.cancel);
  atomic_store(&u->caller_canceled, true);
  running_part_cancel(u, code);
}

static const char timed_out[] = "Timed out waiting for the step to finish";

static void running_part_on_deadline(void *arg) {
  atomic_store(&((running_part *)arg)->timed_out, true);
  running_part_cancel(arg, weft__fail(WEFT_DEADLINE_EXCEEDED, "%s", timed_out));
}

/* A kernel that waited when the deadline passed reports a cancellation; the caller gets DEADLINE_EXCEEDED. */
static weft_err running_part_deadline_error(const running_part *u, weft_err code) {
  bool canceled = code == WEFT_CANCELLED || code == WEFT_ABORTED;
  return canceled && atomic_load(&u->timed_out)
             ? weft__fail_again(WEFT_DEADLINE_EXCEEDED, "%s\n%s", timed_out, weft__error_message())
             : code;
}

/* Marks the error of a run that the caller canceled: it is derived, and the master looks for the original error. */
static void running_part_mark_derived(const running_part *u, status *err) {
  if (!atomic_load(&u->caller_canceled) || (err->code != WEFT_CANCELLED && err->code != WEFT_ABORTED)) return;
  if (!err->message || (err->facts & ERROR_DERIVED)) return;
  char *marked = weft__sprintf("%s%s", WEFT_DERIVED, err->message);
  if (!marked) return;
  weft__free(err->message);
  err->message = marked;
  err->facts |= ERROR_DERIVED;
}

/* Adds the run to the worker's list.  ABORTED if a chief dropped the session since the request arrived. */
static weft_err running_part_list(running_part *u) {
  worker *w = u->part->session->worker;
  u->began_ns = weft__clock_now_ns();
  pthread_mutex_lock(&w->lock);
  weft__list_append(&w->runs, &u->link);
  bool outdated = u->part->session->outdated;
  pthread_mutex_unlock(&w->lock);
  return outdated ? weft__fail(WEFT_ABORTED, "The chief has restored the variables of %s", w->task->name) : WEFT_OK;
}

static void running_part_unlist(running_part *u) {
  worker *w = u->part->session->worker;
  pthread_mutex_lock(&w->lock);
  weft__list_remove(&u->link);
  pthread_mutex_unlock(&w->lock);
}

/* A kernel that waited when a chief stopped the run reports a cancellation; the caller gets the token's error. */
static weft_err running_part_restore_error(running_part *u, weft_err code) {
  worker *w = u->part->session->worker;
  pthread_mutex_lock(&w->lock);
  bool restored = u->stopped && u->part->session->outdated;
  pthread_mutex_unlock(&w->lock);
  return restored && code == WEFT_CANCELLED ? weft__cancel_raise(&u->token) : code;
}

static void running_part_end(running_part *u, weft_err code) {
  status err = {0};
  weft__metrics_add(METRICS_PARTITION_RUNS, 1);
  code = running_part_deadline_error(u, code);
  weft__status_update(&err, code ? running_part_restore_error(u, code) : WEFT_OK);
  if (u->watched) weft__cancel_watch_remove(u->opts.cancel, &u->watch);
  if (u->opts.deadline_ns) weft__timer_cancel(u->part->session->worker->timers, &u->deadline);
  if (code && u->step) weft__rendezvous_abort(u->step->rendezvous, weft__status_raise(&err));
  running_part_mark_derived(u, &err);
  running_part_unlist(u);
  weft__step_objects_finish(&u->objects);
  if (u->step) weft__worker_step_release(u->step);
  u->opts.done(u->opts.arg, weft__status_raise(&err));
  weft__status_finish(&err);
  weft__running_part_release(u);
}

static void running_part_on_end(void *arg, weft_err err) { running_part_end(arg, err); }

static weft_err running_part_prepare(running_part *u) {
  worker_session *s = u->part->session;
  worker *w = s->worker;
  WEFT_TRY(weft__worker_step_get(w, u->opts.step, true, &u->step));
  u->run = (plan_run){.feed = u->opts.feed,
                      .fetched = u->opts.fetched,
                      .deadline_ns = u->opts.deadline_ns,
                      .log = u->opts.log,
                      .step = {.id = u->opts.step,
                               .cancel = &u->token,
                               .intra = w->task->intra,
                               .inter = w->task->inter,
                               .caller = &weft__caller,
                               .resources = s->resources,
                               .rendezvous = u->step->rendezvous,
                               .objects = &u->objects,
                               .session = s->handle}};
  if (u->opts.cancel) {
    WEFT_TRY(weft__cancel_watch_add(u->opts.cancel, &u->watch, running_part_on_cancel, u));
    u->watched = true;
  }
  if (u->opts.deadline_ns) weft__timer_set(w->timers, &u->deadline, u->opts.deadline_ns, running_part_on_deadline, u);
  return WEFT_OK;
}

void weft__part_run(part *p, const part_run *r) {
  worker *w = p->session->worker;
  weft_err err = weft__worker_enter(w);
  running_part *u = err ? NULL : weft__alloc_zero(1, sizeof *u);
  if (!u) {
    if (!err) weft__worker_leave(w);
    r->done(r->arg, err ? err : WEFT_OOM);
    return;
  }
  atomic_init(&u->refs, 1);
  atomic_fetch_add(&p->refs, 1);
  u->part = p;
  u->opts = *r;
  weft__cancel_init(&u->token);
  weft__step_objects_init(&u->objects);
  err = running_part_list(u);
  if (!err) err = running_part_prepare(u);
  if (err)
    running_part_end(u, err);
  else
    weft__run_start(p->plan, &u->run, w->task->inter, r->on_transport_thread, running_part_on_end, u);
}
