/* session.c - runs requests on a cluster.
 *
 * Two locks: `making` is held by the one thread that meets tasks, places nodes and registers parts, which may
 * take long; `lock` guards the tables and is held for moments, so that steps made before go on meanwhile. */
#include "dist/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "dist/ask.h"
#include "dist/report.h"
#include "dist/world.h"
#include "exec/requests.h"
#include "exec/runs.h"
#include "rpc.pb-c.h"

typedef struct cluster_session {
  weft_session base;
  session_world on;
  session_opts opts;
  char handle[WEFT_HANDLE_SIZE];

  pthread_mutex_t making; /* guards what follows */
  world world;
  int *where; /* per node: its device */
  int n_placed;
  bool announced;

  pthread_mutex_t lock; /* guards what follows */
  requests steps;
  runs runs;
} cluster_session;

static const session_ops cluster_ops;

weft_err weft__cluster_session_create(weft_session **out, weft_graph *g, const session_opts *opts,
                                      const session_world *w) {
  cluster_session *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  s->base = (weft_session){&cluster_ops, g};
  s->on = *w;
  s->opts = *opts;
  s->opts.filter = NULL; /* the world keeps what they say */
  s->opts.n_filter = 0;
  s->opts.config_text = weft__strdup(opts->config_text ? opts->config_text : "");
  weft__make_handle(s->handle);
  pthread_mutex_init(&s->making, NULL);
  pthread_mutex_init(&s->lock, NULL);
  weft__runs_init(&s->runs);
  weft_err err = s->opts.config_text ? weft__world_init(&s->world, w->peers, w->task, opts) : WEFT_OOM;
  if (!err) err = weft__worker_open(w->worker, s->handle, s->opts.isolate_session_state);
  if (err)
    weft__session_destroy(&s->base);
  else
    *out = &s->base;
  return err;
}

const char *weft__cluster_session_handle(const weft_session *s) { return ((const cluster_session *)s)->handle; }

static void tell(const cluster_session *s, session_event e) {
  if (s->on.tell) s->on.tell(s->on.arg, e);
}

/* ---- the end ----------------------------------------------------------------------------------- */

enum { GOODBYE_MS = 2000 };

static void delete_worker_sessions(cluster_session *s) {
  int n = s->world.n_task - 1;
  ask *asks = n > 0 ? weft__alloc_zero((size_t)n, sizeof *asks) : NULL;
  weft_err err = WEFT_OK;
  for (int i = 0; asks && i < n && !err; i++) {
    asks[i].to = s->world.task[i + 1];
    err = weft__message_add_string(&asks[i].request, 1, s->handle, strlen(s->handle));
  }
  if (asks && !err)
    weft__ask_all(asks, n, "/tensorflow.WorkerService/DeleteWorkerSession", &(call_opts){.timeout_ms = GOODBYE_MS});
  if (asks) weft__asks_finish(asks, n);
  weft__free(asks);
  weft__worker_close(s->on.worker, s->handle);
}

static void destroy_step(void *made) { weft__step_destroy(made); }

static weft_err cluster_close(weft_session *base) {
  cluster_session *s = (cluster_session *)base;
  pthread_mutex_lock(&s->lock);
  bool first = weft__runs_close(&s->runs, &s->lock, "Step was cancelled by an explicit call to `Session::Close()`.");
  pthread_mutex_unlock(&s->lock);
  if (!first) return WEFT_OK;
  if (s->world.n_task) delete_worker_sessions(s);
  weft__requests_finish(&s->steps, destroy_step); /* what they hold of the task may be gone when this is destroyed */
  tell(s, SESSION_CLOSED);
  return WEFT_OK;
}

static void cluster_destroy(weft_session *base) {
  cluster_session *s = (cluster_session *)base;
  weft__requests_finish(&s->steps, destroy_step);
  weft__world_finish(&s->world);
  weft__free(s->where);
  weft__free((char *)(uintptr_t)s->opts.config_text);
  weft__runs_finish(&s->runs);
  pthread_mutex_destroy(&s->lock);
  pthread_mutex_destroy(&s->making);
  weft__free(s);
}

/* ---- making steps (with `making` held) ------------------------------------------------------------ */

static weft_err open_worker_sessions(cluster_session *s, int met, cancel *c) {
  int n = s->world.n_task - met;
  if (n <= 0) return WEFT_OK;
  ask *asks = weft__alloc_zero((size_t)n, sizeof *asks);
  if (!asks) return WEFT_OOM;
  Tensorflow__CreateWorkerSessionRequest q = TENSORFLOW__CREATE_WORKER_SESSION_REQUEST__INIT;
  q.session_handle = s->handle;
  q.isolate_session_state = s->opts.isolate_session_state;
  q.weft_master = s->on.task->name;
  weft_err err = WEFT_OK;
  for (int i = 0; i < n && !err; i++) {
    asks[i].to = s->world.task[met + i];
    err = weft__message_pack(&asks[i].request, &q.base);
  }
  if (!err) err = weft__ask_all(asks, n, "/tensorflow.WorkerService/CreateWorkerSession", &(call_opts){.cancel = c});
  weft__asks_finish(asks, n);
  weft__free(asks);
  return err;
}

static void announce(cluster_session *s) {
  if (s->announced) return;
  s->announced = true;
  weft__log(LOG_INFO, "Start master session %s with config: %s", s->handle, s->opts.config_text);
}

/* With the graph's lock held. */
static weft_err place(cluster_session *s, const weft_graph *g) {
  placement p = {s->world.n_device, s->world.device, s->opts.allow_soft_placement, s->opts.log_device_placement};
  int *where = weft__realloc(s->where, sizeof *where * (size_t)(g->n_node + 1));
  if (!where) return WEFT_OOM;
  s->where = where;
  WEFT_TRY(weft__place(g, s->n_placed, &p, s->where));
  s->n_placed = g->n_node;
  return WEFT_OK;
}

/* Meets the tasks of the nodes that came since the last time, then places them; once more if some came meanwhile. */
static weft_err take_in_new_nodes(cluster_session *s, int64_t deadline_ns, cancel *c) {
  weft_graph *g = s->base.graph;
  weft_err err = WEFT_OK;
  for (int met, seen; !err;) {
    WEFT_TRY(weft__world_meet(&s->world, g, s->n_placed, &seen, deadline_ns, c, &met));
    WEFT_TRY(open_worker_sessions(s, met, c));
    announce(s);
    pthread_mutex_lock(&g->lock);
    bool same = g->n_node == seen;
    if (same && seen > s->n_placed) err = place(s, g);
    pthread_mutex_unlock(&g->lock);
    if (same) break;
  }
  return err;
}

static weft_err make_step(cluster_session *s, const plan_request *r, bool by_name, int64_t deadline_ns, cancel *c,
                          cluster_step **out) {
  parts p;
  WEFT_TRY(weft__request_check(s->base.graph, r));
  WEFT_TRY(take_in_new_nodes(s, deadline_ns, c));
  if (r->n_fetch + r->n_target == 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
  cut how = {.graph = s->base.graph,
             .request = r,
             .where = s->where,
             .device = s->world.device,
             .task = s->world.device_task,
             .n_task = s->world.n_task,
             .by_name = by_name};
  WEFT_TRY(weft__partition(&p, &how));
  step_place at = {s->base.graph, s->on.worker, s->world.task, s->handle, s->on.task->device[0]->name, by_name};
  weft_err err = weft__step_create(out, &p, r, &at, c);
  weft__parts_finish(&p);
  return err;
}

/* ---- running ----------------------------------------------------------------------------------- */

static cluster_step *find_step(cluster_session *s, uint64_t hash, const plan_request *r) {
  pthread_mutex_lock(&s->lock);
  cluster_step *found = weft__requests_find(&s->steps, hash, r);
  pthread_mutex_unlock(&s->lock);
  return found;
}

static weft_err keep_step(cluster_session *s, uint64_t hash, const plan_request *r, cluster_step *made) {
  request_entry *e;
  pthread_mutex_lock(&s->lock);
  weft_err err = weft__requests_add(&s->steps, hash, r, &e);
  if (!err) e->made = made;
  pthread_mutex_unlock(&s->lock);
  if (err) weft__step_destroy(made);
  return err;
}

static weft_err get_step(cluster_session *s, const plan_request *r, int64_t deadline_ns, cancel *c,
                         cluster_step **out) {
  uint64_t hash = weft__request_hash(r);
  if ((*out = find_step(s, hash, r))) return WEFT_OK;
  pthread_mutex_lock(&s->making);
  weft_err err = WEFT_OK;
  if (!(*out = find_step(s, hash, r))) {
    err = make_step(s, r, false, deadline_ns, c, out);
    if (!err) err = keep_step(s, hash, r, *out);
  }
  pthread_mutex_unlock(&s->making);
  return err;
}

static weft_err begin(cluster_session *s, run_entry *r) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&s->lock);
  if (s->runs.closed)
    err = weft__fail(WEFT_FAILED_PRECONDITION, "Session is closed.");
  else
    weft__runs_add(&s->runs, r);
  pthread_mutex_unlock(&s->lock);
  if (!err) tell(s, SESSION_RUN);
  return err;
}

static void end(cluster_session *s, run_entry *r) {
  tell(s, SESSION_RAN);
  pthread_mutex_lock(&s->lock);
  weft__runs_remove(&s->runs, r);
  pthread_mutex_unlock(&s->lock);
}

static weft_err cluster_run(weft_session *base, const plan_request *r, const weft_tensor *const *feed,
                            weft_tensor **fetched, const run_opts *opts) {
  cluster_session *s = (cluster_session *)base;
  int64_t timeout = opts && opts->timeout_ms ? opts->timeout_ms : s->opts.timeout_ms;
  int64_t deadline_ns = timeout > 0 ? weft__now_ns() + timeout * 1000000 : 0;
  run_entry entry;
  cluster_step *st;
  weft__cancel_init(&entry.cancel);
  weft_err err = begin(s, &entry);
  if (!err) {
    cancel_link link;
    err = weft__cancel_link_on(&link, opts ? opts->cancel : NULL, &entry.cancel);
    if (!err) err = get_step(s, r, deadline_ns, &entry.cancel, &st);
    if (!err) err = weft__step_run(st, feed, fetched, &entry.cancel, deadline_ns, opts);
    weft__cancel_link_off(&link);
    weft__report_run(base->graph, r, fetched, err);
    end(s, &entry);
  }
  weft__cancel_finish(&entry.cancel);
  return err;
}

weft_err weft__cluster_session_run_by_name(weft_session *base, const plan_request *r, int64_t id, cancel *c) {
  cluster_session *s = (cluster_session *)base;
  run_entry entry;
  cancel_link link;
  cluster_step *st = NULL;
  weft__cancel_init(&entry.cancel);
  weft_err err = begin(s, &entry);
  if (!err) {
    err = weft__cancel_link_on(&link, c, &entry.cancel);
    pthread_mutex_lock(&s->making);
    if (!err) err = make_step(s, r, true, 0, &entry.cancel, &st);
    pthread_mutex_unlock(&s->making);
    if (!err) err = weft__step_run_as(st, id, &entry.cancel, 0);
    weft__cancel_link_off(&link);
    weft__step_destroy(st);
    end(s, &entry);
  }
  weft__cancel_finish(&entry.cancel);
  return err;
}

static weft_err copy_devices(const world *w, device_info **out, int *n) {
  device_info *list = weft__alloc_zero((size_t)w->n_device + 1, sizeof *list);
  if (!list) return WEFT_OOM;
  for (int i = 0; i < w->n_device; i++) {
    list[i] = w->device[i];
    list[i].name = weft__strdup(w->device[i].name);
    list[i].type = weft__strdup(w->device[i].type);
    list[i].description = weft__strdup(w->device[i].description);
    if (list[i].name && list[i].type && list[i].description) continue;
    weft__device_infos_free(list, i + 1);
    return WEFT_OOM;
  }
  *out = list;
  *n = w->n_device;
  return WEFT_OK;
}

/* Asks all tasks, whether the graph needs them or not. */
static weft_err cluster_devices(weft_session *base, device_info **out, int *n) {
  cluster_session *s = (cluster_session *)base;
  run_entry entry;
  int met;
  weft__cancel_init(&entry.cancel);
  weft_err err = begin(s, &entry);
  if (!err) {
    pthread_mutex_lock(&s->making);
    int64_t deadline_ns = s->opts.timeout_ms > 0 ? weft__now_ns() + s->opts.timeout_ms * 1000000 : 0;
    err = weft__world_meet_all(&s->world, deadline_ns, &entry.cancel, &met);
    if (!err) err = open_worker_sessions(s, met, &entry.cancel);
    if (!err) err = copy_devices(&s->world, out, n);
    pthread_mutex_unlock(&s->making);
    end(s, &entry);
  }
  weft__cancel_finish(&entry.cancel);
  return err;
}

static const session_ops cluster_ops = {
    .run = cluster_run, .close = cluster_close, .destroy = cluster_destroy, .devices = cluster_devices};
