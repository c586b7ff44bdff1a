/* session.c - runs requests on a cluster.
 *
 * Two locks: `placing` is held while nodes are placed and requests cut, which computes but never waits; `lock` guards the
 * tables and is held for moments, so that steps made before go on meanwhile.  Other tasks are waited for without either,
 * until the deadline or the token of the run.  A request that several threads ask for at once is made by one of them. */
#include "cluster/master/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cluster/master/broadcast.h"
#include "cluster/status/report.h"
#include "cluster/master/restore.h"
#include "cluster/master/task_set.h"
#include "exec/requests.h"
#include "exec/executors/runs.h"
#include "rpc.pb-c.h"

typedef struct claim { /* of the thread that makes a step */
  uint64_t hash;
  const plan_request *request;
  struct claim *next;
} claim;

typedef struct cluster_session {
  weft_session base;
  session_world on;
  session_opts opts;
  char handle[WEFT_HANDLE_SIZE];

  pthread_mutex_t placing; /* guards what follows */
  world world;
  int *where; /* per node: its device */
  int n_placed;
  bool announced;

  pthread_mutex_t lock; /* guards what follows */
  requests steps;
  claim *claims;       /* requests that a thread is making a step for */
  pthread_cond_t made; /* a claim has ended */
  runs runs;
  bool finished; /* closed, and what it had elsewhere is gone */
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
  pthread_mutex_init(&s->placing, NULL);
  pthread_cond_init(&s->made, NULL);
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

static void forget_step(void *made) { weft__step_forget(made); }

bool weft__cluster_session_trim(weft_session *base) {
  cluster_session *s = (cluster_session *)base;
  requests steps = {0};
  pthread_mutex_lock(&s->lock);
  const bool unused = s->runs.n == 0 && !s->runs.closed; /* whoever makes a step runs */
  if (unused) {
    steps = s->steps;
    s->steps = (requests){0};
  }
  pthread_mutex_unlock(&s->lock);
  weft__requests_finish(&steps, forget_step);
  return unused;
}

static const char closed_by_client[] = "Step was cancelled by an explicit call to `Session::Close()`.";

void weft__cluster_session_refuse(weft_session *base, weft_err code, const char *why) {
  cluster_session *s = (cluster_session *)base;
  pthread_mutex_lock(&s->lock);
  weft__runs_stop(&s->runs, code, why);
  pthread_mutex_unlock(&s->lock);
}

weft_err weft__cluster_session_stop(weft_session *base, cancel *c) {
  cluster_session *s = (cluster_session *)base;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&s->lock);
  weft__runs_stop(&s->runs, WEFT_CANCELLED, closed_by_client);
  while (s->runs.n && !err) {
    struct timespec until = weft__clock_deadline((int64_t)WEFT_WAIT_SLICE_MS * 1000000);
    pthread_cond_clockwait(&s->runs.none, &s->lock, CLOCK_MONOTONIC, &until);
    if (s->runs.n) err = weft__cancel_raise(c);
  }
  pthread_mutex_unlock(&s->lock);
  return err;
}

static weft_err cluster_close(weft_session *base) {
  cluster_session *s = (cluster_session *)base;
  pthread_mutex_lock(&s->lock);
  weft__runs_close(&s->runs, &s->lock, closed_by_client);
  bool first = !s->finished;
  s->finished = true;
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
  pthread_mutex_destroy(&s->placing);
  pthread_cond_destroy(&s->made);
  weft__free(s);
}

/* ---- waiting ----------------------------------------------------------------------------------- */

static weft_err check_wait(int64_t deadline_ns, cancel *c) {
  if (weft__cancel_fired(c)) return weft__cancel_raise(c);
  if (weft__interrupt_pending()) return weft__fail(WEFT_CANCELLED, "Interrupted while waiting for other tasks");
  if (deadline_ns && weft__clock_now_ns() > deadline_ns)
    return weft__fail(WEFT_DEADLINE_EXCEEDED, "Timed out waiting for the step to be made");
  return WEFT_OK;
}

static weft_err open_worker_sessions(const cluster_session *s, const contact *list, int n, int64_t deadline_ns,
                                     cancel *c) {
  ask *asks = weft__alloc_zero((size_t)n + 1, sizeof *asks);
  if (!asks) return WEFT_OOM;
  Tensorflow__CreateWorkerSessionRequest q = TENSORFLOW__CREATE_WORKER_SESSION_REQUEST__INIT;
  q.session_handle = (char *)(uintptr_t)s->handle;
  q.isolate_session_state = s->opts.isolate_session_state;
  q.weft_master = s->on.task->name;
  q.weft_incarnation = s->on.task->device[0]->incarnation;
  q.weft_role = (int)s->opts.role /* fits: an enum */;
  weft_err err = WEFT_OK;
  for (int i = 0; i < n && !err; i++) {
    asks[i].to = list[i].to;
    err = weft__message_pack(&asks[i].request, &q.base);
  }
  call_opts how = {.cancel = c, .timeout_ms = weft__ms_left(deadline_ns)};
  if (!err) err = weft__ask_all(asks, n, "/tensorflow.WorkerService/CreateWorkerSession", &how);
  weft__asks_finish(asks, n);
  weft__free(asks);
  return err;
}

/* Waits for tasks and opens the session on each.  No lock is held. */
static weft_err meet(const cluster_session *s, contact *list, int n, int64_t deadline_ns, cancel *c) {
  if (n == 0) return WEFT_OK;
  WEFT_TRY(weft__contact_all(list, n, deadline_ns, c));
  return open_worker_sessions(s, list, n, deadline_ns, c);
}

/* ---- making steps ------------------------------------------------------------------------------ */

static void announce(cluster_session *s) {
  if (s->announced) return;
  s->announced = true;
  weft__log(LOG_INFO, "Start master session %s with config: %s", s->handle, s->opts.config_text);
}

/* With both locks held, the session's and the graph's. */
static weft_err place(cluster_session *s, const weft_graph *g) {
  placement p = {s->world.n_device, s->world.device, s->opts.allow_soft_placement, s->opts.log_device_placement};
  int *where = weft__realloc(s->where, sizeof *where * (size_t)(g->n_node + 1));
  if (!where) return WEFT_OOM;
  s->where = where;
  WEFT_TRY(weft__place(g, s->n_placed, &p, s->where));
  s->n_placed = g->n_node;
  return WEFT_OK;
}

/* Takes in the tasks that answered and places the `seen` nodes they were needed for, unless others came meanwhile. */
static weft_err settle(cluster_session *s, contact *list, int n, int seen) {
  weft_graph *g = s->base.graph;
  WEFT_TRY(weft__world_add(&s->world, list, n));
  announce(s);
  pthread_mutex_lock(&g->lock);
  weft_err err = g->n_node == seen && seen > s->n_placed ? place(s, g) : WEFT_OK;
  pthread_mutex_unlock(&g->lock);
  return err;
}

/* Meets the tasks of the nodes that came since the last time, then places them; once more if some came meanwhile. */
static weft_err take_in_new_nodes(cluster_session *s, int64_t deadline_ns, cancel *c) {
  weft_err err = WEFT_OK;
  for (bool placed = false; !placed && !err;) {
    contact *list;
    int n, seen = 0;
    pthread_mutex_lock(&s->placing);
    err = weft__world_need(&s->world, s->base.graph, s->n_placed, &seen, &list, &n);
    pthread_mutex_unlock(&s->placing);
    if (!err) err = meet(s, list, n, deadline_ns, c);
    pthread_mutex_lock(&s->placing);
    if (!err) err = settle(s, list, n, seen);
    placed = s->n_placed >= seen;
    pthread_mutex_unlock(&s->placing);
    if (list) weft__contacts_finish(list, n);
    weft__free(list);
  }
  return err;
}

static weft_err cut_request(cluster_session *s, const plan_request *r, bool by_name, parts *out) {
  pthread_mutex_lock(&s->placing);
  cut how = {.graph = s->base.graph,
             .request = r,
             .where = s->where,
             .device = s->world.device,
             .task = s->world.device_task,
             .n_task = s->world.n_task,
             .by_name = by_name};
  weft_err err = weft__partition(out, &how);
  pthread_mutex_unlock(&s->placing);
  return err;
}

static weft_err make_step(cluster_session *s, const plan_request *r, bool by_name, int64_t deadline_ns, cancel *c,
                          cluster_step **out) {
  parts p;
  WEFT_TRY(weft__request_check(s->base.graph, r));
  WEFT_TRY(take_in_new_nodes(s, deadline_ns, c));
  if (r->n_fetch + r->n_target == 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
  WEFT_TRY(cut_request(s, r, by_name, &p));
  step_place at = {s->base.graph, s->on.worker, s->world.task, s->handle, s->on.task->device[0]->name, by_name};
  weft_err err = weft__step_create(out, &p, r, &at, deadline_ns, c);
  weft__parts_finish(&p);
  return err;
}

/* ---- running ----------------------------------------------------------------------------------- */

/* With the lock held. */
static bool is_claimed(const cluster_session *s, uint64_t hash, const plan_request *r) {
  for (const claim *c = s->claims; c; c = c->next)
    if (c->hash == hash && weft__request_equal(c->request, r)) return true;
  return false;
}

/* The step of a request, or NULL and the claim to make it.  Waits while another thread is making it. */
static weft_err find_or_claim(cluster_session *s, claim *own, int64_t deadline_ns, cancel *c, cluster_step **out) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&s->lock);
  while (!(*out = weft__requests_find(&s->steps, own->hash, own->request)) && !err) {
    if (!is_claimed(s, own->hash, own->request)) break;
    struct timespec until = weft__clock_deadline((int64_t)WEFT_WAIT_SLICE_MS * 1000000);
    pthread_cond_clockwait(&s->made, &s->lock, CLOCK_MONOTONIC, &until);
    err = check_wait(deadline_ns, c);
  }
  if (!*out && !err) {
    own->next = s->claims;
    s->claims = own;
  }
  pthread_mutex_unlock(&s->lock);
  return err;
}

/* Keeps what was made for a claim (NULL: making it failed), which ends. */
static weft_err keep_step(cluster_session *s, claim *own, cluster_step *made) {
  request_entry *e;
  pthread_mutex_lock(&s->lock);
  claim **at = &s->claims;
  while (*at != own) at = &(*at)->next;
  *at = own->next;
  weft_err err = made ? weft__requests_add(&s->steps, own->hash, own->request, &e) : WEFT_OK;
  if (made && !err) e->made = made;
  pthread_cond_broadcast(&s->made);
  pthread_mutex_unlock(&s->lock);
  if (err) weft__step_destroy(made);
  return err;
}

static weft_err get_step(cluster_session *s, const plan_request *r, int64_t deadline_ns, cancel *c,
                         cluster_step **out) {
  claim own = {.hash = weft__request_hash(r), .request = r};
  WEFT_TRY(find_or_claim(s, &own, deadline_ns, c, out));
  if (*out) return WEFT_OK;
  weft_err err = make_step(s, r, false, deadline_ns, c, out);
  if (err)
    keep_step(s, &own, NULL);
  else
    err = keep_step(s, &own, *out);
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
  int64_t deadline_ns = timeout > 0 ? weft__clock_after_ms(timeout) : 0;
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
    if (!err) err = make_step(s, r, true, 0, &entry.cancel, &st);
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

static weft_err list_devices(cluster_session *s, int64_t deadline_ns, cancel *c, device_info **out, int *n) {
  contact *list;
  int n_list, unused;
  pthread_mutex_lock(&s->placing);
  weft_err err = weft__world_need(&s->world, NULL, 0, &unused, &list, &n_list);
  pthread_mutex_unlock(&s->placing);
  if (!err) err = meet(s, list, n_list, deadline_ns, c);
  pthread_mutex_lock(&s->placing);
  if (!err) err = weft__world_add(&s->world, list, n_list);
  if (!err) err = copy_devices(&s->world, out, n);
  pthread_mutex_unlock(&s->placing);
  if (list) weft__contacts_finish(list, n_list);
  weft__free(list);
  return err;
}

weft_err weft__cluster_session_devices(weft_session *base, cancel *c, device_info **out, int *n) {
  cluster_session *s = (cluster_session *)base;
  run_entry entry;
  cancel_link link;
  weft__cancel_init(&entry.cancel);
  weft_err err = begin(s, &entry);
  if (!err) {
    int64_t deadline_ns = s->opts.timeout_ms > 0 ? weft__clock_after_ms(s->opts.timeout_ms) : 0;
    err = weft__cancel_link_on(&link, c, &entry.cancel);
    if (!err) err = list_devices(s, deadline_ns, &entry.cancel, out, n);
    weft__cancel_link_off(&link);
    end(s, &entry);
  }
  weft__cancel_finish(&entry.cancel);
  return err;
}

static weft_err cluster_devices(weft_session *base, device_info **out, int *n) {
  return weft__cluster_session_devices(base, NULL, out, n);
}

/* The tasks met so far, but this one; the caller's to free. */
static weft_err list_others(cluster_session *s, int64_t deadline_ns, cancel *c, peer ***out, int *n) {
  WEFT_TRY(take_in_new_nodes(s, deadline_ns, c));
  pthread_mutex_lock(&s->placing);
  *n = s->world.n_task - 1;
  *out = weft__alloc_zero((size_t)*n + 1, sizeof(peer *));
  for (int i = 0; *out && i < *n; i++) (*out)[i] = s->world.task[i + 1];
  pthread_mutex_unlock(&s->placing);
  return *out ? WEFT_OK : WEFT_OOM;
}

static weft_err cluster_restoring(weft_session *base, bool beginning) {
  cluster_session *s = (cluster_session *)base;
  run_entry entry;
  peer **others = NULL;
  int n;
  weft__cancel_init(&entry.cancel);
  weft_err err = begin(s, &entry);
  if (!err) {
    int64_t deadline_ns = s->opts.timeout_ms > 0 ? weft__clock_after_ms(s->opts.timeout_ms) : 0;
    err = list_others(s, deadline_ns, &entry.cancel, &others, &n);
    if (!err) err = weft__restore_tell(s->on.worker, others, n, s->handle, beginning, &entry.cancel);
    weft__free((void *)others);
    end(s, &entry);
  }
  weft__cancel_finish(&entry.cancel);
  return err;
}

static const session_ops cluster_ops = {.run = cluster_run,
                                        .close = cluster_close,
                                        .destroy = cluster_destroy,
                                        .devices = cluster_devices,
                                        .restoring = cluster_restoring};
