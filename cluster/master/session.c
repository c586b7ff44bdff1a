/* session.c - runs requests on a cluster.
 *
 * A run finds the step of its request, or makes it: waits for the tasks that the graph needs, places the new nodes,
 * partitions the request, registers the parts.
 *
 * Two locks.  `placement_lock` is held while nodes are placed and requests partitioned, which computes but never
 * waits.  `lock` guards the tables of steps and runs and is held for a few lines, so that known steps run meanwhile.
 * The session waits for other tasks without either lock, until the deadline or the cancellation of the run.  If
 * several threads need the step of one request, one of them claims it and the others wait. */
#include "cluster/master/session.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cluster/master/broadcast.h"
#include "cluster/master/partial_run.h"
#include "cluster/master/restore.h"
#include "cluster/master/task_set.h"
#include "exec/requests.h"
#include "exec/run_metadata.h"
#include "exec/executors/runs.h"
#include "rpc.pb-c.h"

typedef struct step_claim { /* a thread makes the step of this request */
  uint64_t hash;
  const plan_request *request;
  struct step_claim *next;
} step_claim;

typedef struct cluster_session {
  weft_session base;
  session_env env;
  session_opts opts;
  char handle[WEFT_HANDLE_SIZE];

  cost_model *costs; /* NULL: no run has a cost graph */
  metrics_uninitialized uninitialized;

  pthread_mutex_t placement_lock; /* guards what follows */
  task_set tasks;
  int *node_device; /* by node: the number of its device */
  int64_t node_capacity;
  int n_placed;
  bool logged_start;

  pthread_mutex_t lock; /* guards what follows */
  requests steps;
  step_claim *claims; /* requests whose steps are being made */
  pthread_cond_t claim_ended;
  runs runs;
  bool has_run;   /* so that the program's master, were it elsewhere, would know the session */
  bool forgotten; /* the master was reset */
  bool finished;  /* closed, and its sessions on other tasks are deleted */
} cluster_session;

static const session_ops cluster_session_ops;

weft_err weft__cluster_session_create(weft_session **out, weft_graph *g, const session_opts *opts,
                                      const session_env *env) {
  cluster_session *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  s->base = (weft_session){&cluster_session_ops, g};
  s->env = *env;
  s->opts = *opts;
  s->opts.filter = NULL; /* the task set has parsed them */
  s->opts.n_filter = 0;
  s->opts.config_text = weft__strdup(opts->config_text ? opts->config_text : "");
  weft__session_make_handle(s->handle);
  pthread_mutex_init(&s->placement_lock, NULL);
  pthread_cond_init(&s->claim_ended, NULL);
  pthread_mutex_init(&s->lock, NULL);
  weft__runs_init(&s->runs);
  weft_err err = s->opts.config_text ? weft__task_set_init(&s->tasks, env->peers, env->task, opts) : WEFT_OOM;
  const cost_schedule when = {.every = opts->build_cost_model, .after = opts->build_cost_model_after};
  if (!err && when.every > 0) err = weft__cost_model_create(&s->costs, when);
  if (!err) err = weft__worker_open_session(env->worker, s->handle, s->opts.isolate_session_state);
  if (err)
    weft__session_destroy(&s->base);
  else
    *out = &s->base;
  return err;
}

const char *weft__cluster_session_handle(const weft_session *s) { return ((const cluster_session *)s)->handle; }

static void cluster_session_notify(cluster_session *s, session_event e) {
  if (s->env.on_event) s->env.on_event(s->env.arg, &s->base, e);
}

/* ---- closing ------------------------------------------------------------------------------------ */

enum { GOODBYE_MS = 2000 };

static void cluster_session_delete_remote(cluster_session *s) {
  int n = s->tasks.n_task - 1;
  broadcast_call *calls = n > 0 ? weft__alloc_zero((size_t)n, sizeof *calls) : NULL;
  weft_err err = WEFT_OK;
  for (int i = 0; calls && i < n && !err; i++) {
    calls[i].to = s->tasks.task[i + 1];
    err = weft__message_add_string(&calls[i].request, 1, s->handle, strlen(s->handle));
  }
  if (calls && !err)
    weft__broadcast(calls, n, "/tensorflow.WorkerService/DeleteWorkerSession", &(call_opts){.timeout_ms = GOODBYE_MS});
  if (calls) weft__broadcast_finish(calls, n);
  weft__free(calls);
  weft__worker_close_session(s->env.worker, s->handle);
}

static void cluster_session_destroy_step(void *made) { weft__cluster_step_destroy(made); }

static void cluster_session_deregister_step(void *made) { weft__cluster_step_deregister(made); }

bool weft__cluster_session_trim(weft_session *base) {
  cluster_session *s = (cluster_session *)base;
  requests steps = {0};
  pthread_mutex_lock(&s->lock);
  const bool unused = s->runs.n == 0 && !s->runs.closed; /* a thread that makes a step counts as a run */
  if (unused) {
    steps = s->steps;
    s->steps = (requests){0};
  }
  pthread_mutex_unlock(&s->lock);
  weft__requests_finish(&steps, cluster_session_deregister_step);
  return unused;
}

static const char closed_by_client[] = "Step was cancelled by an explicit call to `Session::Close()`.";

void weft__cluster_session_forget(weft_session *base) {
  cluster_session *s = (cluster_session *)base;
  pthread_mutex_lock(&s->lock);
  s->forgotten = true;
  weft__runs_stop(&s->runs, WEFT_CANCELLED, closed_by_client);
  pthread_mutex_unlock(&s->lock);
}

/* Returns the error of a run on a session that takes no runs any more.  The caller holds the session's lock. */
static weft_err cluster_session_closed_error(const cluster_session *s) {
  if (s->forgotten)
    return weft__fail(WEFT_ABORTED, "Session %s is not found. Possibly, this master has restarted.", s->handle);
  return weft__fail(WEFT_FAILED_PRECONDITION, "Session is closed.");
}

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
    struct timespec until = weft__clock_deadline(WEFT_WAIT_SLICE_MS * NS_PER_MS);
    pthread_cond_clockwait(&s->runs.none, &s->lock, CLOCK_MONOTONIC, &until);
    if (s->runs.n) err = weft__cancel_raise(c);
  }
  pthread_mutex_unlock(&s->lock);
  return err;
}

static weft_err cluster_session_close(weft_session *base) {
  cluster_session *s = (cluster_session *)base;
  pthread_mutex_lock(&s->lock);
  weft__runs_close(&s->runs, &s->lock, closed_by_client);
  bool first = !s->finished;
  const bool lost = s->forgotten && s->has_run;
  s->finished = true;
  pthread_mutex_unlock(&s->lock);
  if (!first) return WEFT_OK;
  if (s->tasks.n_task) cluster_session_delete_remote(s);
  weft__requests_finish(
      &s->steps,
      cluster_session_destroy_step); /* now: they use the task, which may be gone when the session is destroyed */
  cluster_session_notify(s, SESSION_CLOSED);
  return lost ? cluster_session_closed_error(s) : WEFT_OK;
}

static void cluster_session_destroy(weft_session *base) {
  cluster_session *s = (cluster_session *)base;
  weft__metrics_initialized(&s->uninitialized);
  weft__requests_finish(&s->steps, cluster_session_destroy_step);
  weft__task_set_finish(&s->tasks);
  weft__cost_model_destroy(s->costs);
  weft__free(s->node_device);
  weft__free((char *)(uintptr_t)s->opts.config_text);
  weft__runs_finish(&s->runs);
  pthread_mutex_destroy(&s->lock);
  pthread_mutex_destroy(&s->placement_lock);
  pthread_cond_destroy(&s->claim_ended);
  weft__free(s);
}

/* ---- waiting ----------------------------------------------------------------------------------- */

static weft_err cluster_session_check_wait(int64_t deadline_ns, cancel *c) {
  if (weft__cancel_fired(c)) return weft__cancel_raise(c);
  if (weft__interrupt_pending()) return weft__fail(WEFT_CANCELLED, "Interrupted while waiting for other tasks");
  if (deadline_ns && weft__clock_now_ns() > deadline_ns)
    return weft__fail(WEFT_DEADLINE_EXCEEDED, "Timed out waiting for the step to be made");
  return WEFT_OK;
}

static weft_err cluster_session_create_remote(const cluster_session *s, const required_task *list, int n,
                                              int64_t deadline_ns, cancel *c) {
  broadcast_call *calls = weft__alloc_zero((size_t)n + 1, sizeof *calls);
  if (!calls) return WEFT_OOM;
  Tensorflow__CreateWorkerSessionRequest q = TENSORFLOW__CREATE_WORKER_SESSION_REQUEST__INIT;
  q.session_handle = (char *)(uintptr_t)s->handle;
  q.isolate_session_state = s->opts.isolate_session_state;
  q.weft_master = s->env.task->name;
  q.weft_incarnation = s->env.task->device[0]->incarnation;
  q.weft_role = (int)s->opts.role /* fits: an enum */;
  weft_err err = WEFT_OK;
  for (int i = 0; i < n && !err; i++) {
    calls[i].to = list[i].peer;
    err = weft__message_pack(&calls[i].request, &q.base);
  }
  call_opts how = {.cancel = c, .timeout_ms = weft__broadcast_timeout_ms(deadline_ns)};
  if (!err) err = weft__broadcast(calls, n, "/tensorflow.WorkerService/CreateWorkerSession", &how);
  weft__broadcast_finish(calls, n);
  weft__free(calls);
  return err;
}

/* Waits for the tasks and creates the session on each.  No lock is held. */
static weft_err cluster_session_wait_for_tasks(const cluster_session *s, required_task *list, int n,
                                               int64_t deadline_ns, cancel *c) {
  if (n == 0) return WEFT_OK;
  WEFT_TRY(weft__wait_for_tasks(list, n, deadline_ns, c));
  return cluster_session_create_remote(s, list, n, deadline_ns, c);
}

/* ---- making steps ------------------------------------------------------------------------------ */

static void cluster_session_log_start(cluster_session *s) {
  if (s->logged_start) return;
  s->logged_start = true;
  weft__log(LOG_INFO, "Start master session %s with config: %s", s->handle, s->opts.config_text);
}

/* Places the new nodes.  The placement lock and the graph's lock are held. */
static weft_err cluster_session_place(cluster_session *s, const weft_graph *g) {
  placement p = {s->tasks.n_device, s->tasks.device, s->opts.allow_soft_placement, s->opts.log_device_placement};
  WEFT_TRY(WEFT_ARRAY_RESERVE(s->node_device, s->node_capacity, g->n_node));
  WEFT_TRY(weft__place(g, s->n_placed, &p, s->node_device));
  s->n_placed = g->n_node;
  return WEFT_OK;
}

/* Adds the tasks that answered and places the `seen` nodes that need them, unless the graph has grown meanwhile.  The
 * placement lock is held. */
static weft_err cluster_session_add_tasks(cluster_session *s, required_task *list, int n, int seen) {
  weft_graph *g = s->base.graph;
  WEFT_TRY(weft__task_set_add(&s->tasks, list, n));
  cluster_session_log_start(s);
  pthread_mutex_lock(&g->lock);
  weft_err err = g->n_node == seen && seen > s->n_placed ? cluster_session_place(s, g) : WEFT_OK;
  pthread_mutex_unlock(&g->lock);
  return err;
}

/* Waits for the tasks that new nodes need and places these nodes; repeats it if the graph has grown meanwhile. */
static weft_err cluster_session_place_new_nodes(cluster_session *s, int64_t deadline_ns, cancel *c) {
  weft_err err = WEFT_OK;
  for (bool placed = false; !placed && !err;) {
    required_task *list;
    int n, seen = 0;
    pthread_mutex_lock(&s->placement_lock);
    err = weft__task_set_require(&s->tasks, s->base.graph, s->n_placed, &seen, &list, &n);
    pthread_mutex_unlock(&s->placement_lock);
    if (!err) err = cluster_session_wait_for_tasks(s, list, n, deadline_ns, c);
    pthread_mutex_lock(&s->placement_lock);
    if (!err) err = cluster_session_add_tasks(s, list, n, seen);
    placed = s->n_placed >= seen;
    pthread_mutex_unlock(&s->placement_lock);
    if (list) weft__required_tasks_finish(list, n);
    weft__free(list);
  }
  return err;
}

static bool cluster_session_is_weft_only(const cluster_session *s) {
  for (int i = 0; i < s->tasks.n_task; i++)
    if (!weft__peer_is_self(s->tasks.task[i]) && weft__peer_kind(s->tasks.task[i]) != PEER_WEFT) return false;
  return true;
}

static weft_err cluster_session_partition(cluster_session *s, const plan_request *r, bool by_name, parts *out) {
  pthread_mutex_lock(&s->placement_lock);
  cut how = {.graph = s->base.graph,
             .request = r,
             .where = s->node_device,
             .device = s->tasks.device,
             .task = s->tasks.device_task,
             .n_task = s->tasks.n_task,
             .weft_only = cluster_session_is_weft_only(s),
             .by_name = by_name};
  weft_err err = weft__partition(out, &how);
  pthread_mutex_unlock(&s->placement_lock);
  return err;
}

static weft_err cluster_session_make_step(cluster_session *s, const plan_request *r, bool by_name, int64_t deadline_ns,
                                          cancel *c, cluster_step **out) {
  parts p;
  WEFT_TRY(weft__request_check(s->base.graph, r));
  WEFT_TRY(cluster_session_place_new_nodes(s, deadline_ns, c));
  if (r->n_fetch + r->n_target == 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
  WEFT_TRY(cluster_session_partition(s, r, by_name, &p));
  step_context ctx = {s->base.graph, s->env.worker,          s->tasks.task, s->handle, s->env.task->device[0]->name,
                      by_name,       s->opts.mixed_precision};
  weft_err err = weft__cluster_step_create(out, &p, r, &ctx, deadline_ns, c);
  weft__partition_parts_finish(&p);
  return err;
}

/* ---- running ----------------------------------------------------------------------------------- */

/* The lock is held. */
static bool cluster_session_is_claimed(const cluster_session *s, uint64_t hash, const plan_request *r) {
  WEFT_ASSERT(weft__lock_is_held(&s->lock));
  for (const step_claim *c = s->claims; c; c = c->next)
    if (c->hash == hash && weft__request_equal(c->request, r)) return true;
  return false;
}

/* Finds the step of a request, or sets *out to NULL and claims it.  Waits while another thread makes the step. */
static weft_err cluster_session_find_or_claim(cluster_session *s, step_claim *own, int64_t deadline_ns, cancel *c,
                                              cluster_step **out) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&s->lock);
  while (!(*out = weft__requests_find(&s->steps, own->hash, own->request)) && !err) {
    if (!cluster_session_is_claimed(s, own->hash, own->request)) break;
    struct timespec until = weft__clock_deadline(WEFT_WAIT_SLICE_MS * NS_PER_MS);
    pthread_cond_clockwait(&s->claim_ended, &s->lock, CLOCK_MONOTONIC, &until);
    err = cluster_session_check_wait(deadline_ns, c);
  }
  if (!*out && !err) {
    own->next = s->claims;
    s->claims = own;
  }
  pthread_mutex_unlock(&s->lock);
  return err;
}

/* Ends a claim and keeps its step (NULL: making it failed).  If it cannot be kept, it is destroyed. */
static weft_err cluster_session_keep_step(cluster_session *s, step_claim *own, cluster_step *made) {
  request_entry *e;
  pthread_mutex_lock(&s->lock);
  step_claim **at = &s->claims;
  while (*at != own) at = &(*at)->next;
  *at = own->next;
  weft_err err = made ? weft__requests_add(&s->steps, own->hash, own->request, &e) : WEFT_OK;
  if (made && !err) e->made = made;
  pthread_cond_broadcast(&s->claim_ended);
  pthread_mutex_unlock(&s->lock);
  if (err) weft__cluster_step_destroy(made);
  return err;
}

static weft_err cluster_session_get_step(cluster_session *s, const plan_request *r, int64_t deadline_ns, cancel *c,
                                         cluster_step **out) {
  step_claim own = {.hash = weft__request_hash(r), .request = r};
  WEFT_TRY(cluster_session_find_or_claim(s, &own, deadline_ns, c, out));
  if (*out) return WEFT_OK;
  weft_err err = cluster_session_make_step(s, r, false, deadline_ns, c, out);
  if (err)
    cluster_session_keep_step(s, &own, NULL);
  else
    err = cluster_session_keep_step(s, &own, *out);
  return err;
}

/* Lists the run, so that closing the session cancels it. */
static weft_err cluster_session_begin_run(cluster_session *s, run_entry *r) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&s->lock);
  if (s->runs.closed)
    err = cluster_session_closed_error(s);
  else
    weft__runs_add(&s->runs, r);
  s->has_run = true;
  pthread_mutex_unlock(&s->lock);
  if (!err) cluster_session_notify(s, SESSION_RUN_BEGAN);
  return err;
}

static void cluster_session_end_run(cluster_session *s, run_entry *r) {
  cluster_session_notify(s, SESSION_RUN_ENDED);
  pthread_mutex_lock(&s->lock);
  weft__runs_remove(&s->runs, r);
  pthread_mutex_unlock(&s->lock);
}

/* Writes the metadata of a run that succeeded; stats is what the step gave. */
static weft_err cluster_session_write_metadata(cluster_session *s, const plan_request *r, bool costs, text *stats,
                                               const run_opts *opts, weft_tensor **fetched) {
  text metadata = {0};
  const metadata_graphs graphs = {opts->partition_graphs, costs ? s->costs : NULL};
  weft_err err = WEFT_OK;
  if (opts->trace) weft__text_add(&metadata, weft__text_get(stats), stats->size);
  if (costs || opts->partition_graphs) {
    pthread_mutex_lock(&s->placement_lock);
    cut how = {
        .graph = s->base.graph, .request = r, .where = s->node_device, .device = s->tasks.device, .by_name = true};
    err = weft__run_metadata_add(&metadata, stats, &how, s->tasks.n_device, &graphs);
    pthread_mutex_unlock(&s->placement_lock);
  }
  return weft__run_metadata_finish(&metadata, err, opts, r->n_fetch, fetched);
}

/* Runs the step, and writes the metadata if the caller wants it. */
static weft_err cluster_session_run_step(cluster_session *s, cluster_step *st, const plan_request *r,
                                         const weft_tensor *const *feed, weft_tensor **fetched, cancel *c,
                                         int64_t deadline_ns, const run_opts *opts) {
  const bool costs = s->costs && weft__cost_model_count(s->costs, weft__request_hash(r));
  text stats = {0};
  const int64_t key = opts ? opts->collective_graph_key : 0;
  if (!opts || !opts->metadata) return weft__cluster_step_run(st, feed, fetched, c, deadline_ns, key, NULL);
  WEFT_TRY(weft__cluster_step_run(st, feed, fetched, c, deadline_ns, key, opts->trace || costs ? &stats : NULL));
  weft_err err = cluster_session_write_metadata(s, r, costs, &stats, opts, fetched);
  weft__text_finish(&stats);
  return err;
}

static weft_err cluster_session_run(weft_session *base, const plan_request *r, const weft_tensor *const *feed,
                                    weft_tensor **fetched, const run_opts *opts) {
  cluster_session *s = (cluster_session *)base;
  int64_t timeout = opts && opts->timeout_ms ? opts->timeout_ms : s->opts.timeout_ms;
  int64_t deadline_ns = timeout > 0 ? weft__clock_after_ms(timeout) : 0;
  run_entry entry;
  cluster_step *st;
  weft__cancel_init(&entry.cancel);
  weft_err err = cluster_session_begin_run(s, &entry);
  if (!err) {
    cancel_link link;
    err = weft__cancel_link_on(&link, opts ? opts->cancel : NULL, &entry.cancel);
    if (!err) err = cluster_session_get_step(s, r, deadline_ns, &entry.cancel, &st);
    if (!err) err = cluster_session_run_step(s, st, r, feed, fetched, &entry.cancel, deadline_ns, opts);
    weft__cancel_link_off(&link);
    weft__progress_note_run(&s->uninitialized, err ? NULL : weft__cluster_step_progress(st), fetched, err);
    cluster_session_end_run(s, &entry);
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
  weft_err err = cluster_session_begin_run(s, &entry);
  if (!err) {
    err = weft__cancel_link_on(&link, c, &entry.cancel);
    if (!err) err = cluster_session_make_step(s, r, true, 0, &entry.cancel, &st);
    if (!err) err = weft__cluster_step_run_by_name(st, id, &entry.cancel, 0);
    weft__cancel_link_off(&link);
    weft__cluster_step_destroy(st);
    cluster_session_end_run(s, &entry);
  }
  weft__cancel_finish(&entry.cancel);
  return err;
}

static weft_err cluster_session_copy_devices(const task_set *set, device_info **out, int *n) {
  device_info *list = weft__alloc_zero((size_t)set->n_device + 1, sizeof *list);
  if (!list) return WEFT_OOM;
  for (int i = 0; i < set->n_device; i++) {
    list[i] = set->device[i];
    list[i].name = weft__strdup(set->device[i].name);
    list[i].type = weft__strdup(set->device[i].type);
    list[i].description = weft__strdup(set->device[i].description);
    if (list[i].name && list[i].type && list[i].description) continue;
    weft__place_infos_free(list, i + 1);
    return WEFT_OOM;
  }
  *out = list;
  *n = set->n_device;
  return WEFT_OK;
}

static weft_err cluster_session_list_devices(cluster_session *s, int64_t deadline_ns, cancel *c, device_info **out,
                                             int *n) {
  required_task *list;
  int n_list, unused;
  pthread_mutex_lock(&s->placement_lock);
  weft_err err = weft__task_set_require(&s->tasks, NULL, 0, &unused, &list, &n_list);
  pthread_mutex_unlock(&s->placement_lock);
  if (!err) err = cluster_session_wait_for_tasks(s, list, n_list, deadline_ns, c);
  pthread_mutex_lock(&s->placement_lock);
  if (!err) err = weft__task_set_add(&s->tasks, list, n_list);
  if (!err) err = cluster_session_copy_devices(&s->tasks, out, n);
  pthread_mutex_unlock(&s->placement_lock);
  if (list) weft__required_tasks_finish(list, n_list);
  weft__free(list);
  return err;
}

weft_err weft__cluster_session_devices(weft_session *base, cancel *c, device_info **out, int *n) {
  cluster_session *s = (cluster_session *)base;
  run_entry entry;
  cancel_link link;
  weft__cancel_init(&entry.cancel);
  weft_err err = cluster_session_begin_run(s, &entry);
  if (!err) {
    int64_t deadline_ns = s->opts.timeout_ms > 0 ? weft__clock_after_ms(s->opts.timeout_ms) : 0;
    err = weft__cancel_link_on(&link, c, &entry.cancel);
    if (!err) err = cluster_session_list_devices(s, deadline_ns, &entry.cancel, out, n);
    weft__cancel_link_off(&link);
    cluster_session_end_run(s, &entry);
  }
  weft__cancel_finish(&entry.cancel);
  return err;
}

static weft_err cluster_session_devices(weft_session *base, device_info **out, int *n) {
  return weft__cluster_session_devices(base, NULL, out, n);
}

/* Lists the other tasks of the session; the caller frees the array. */
static weft_err cluster_session_list_peers(cluster_session *s, int64_t deadline_ns, cancel *c, peer ***out, int *n) {
  WEFT_TRY(cluster_session_place_new_nodes(s, deadline_ns, c));
  pthread_mutex_lock(&s->placement_lock);
  *n = s->tasks.n_task - 1;
  *out = weft__alloc_zero((size_t)*n + 1, sizeof(peer *));
  for (int i = 0; *out && i < *n; i++) (*out)[i] = s->tasks.task[i + 1];
  pthread_mutex_unlock(&s->placement_lock);
  return *out ? WEFT_OK : WEFT_OOM;
}

static weft_err cluster_session_restoring(weft_session *base, bool beginning) {
  cluster_session *s = (cluster_session *)base;
  run_entry entry;
  peer **others = NULL;
  int n;
  weft__cancel_init(&entry.cancel);
  weft_err err = cluster_session_begin_run(s, &entry);
  if (!err) {
    int64_t deadline_ns = s->opts.timeout_ms > 0 ? weft__clock_after_ms(s->opts.timeout_ms) : 0;
    err = cluster_session_list_peers(s, deadline_ns, &entry.cancel, &others, &n);
    if (!err) err = weft__restore_announce(s->env.worker, others, n, s->handle, beginning, &entry.cancel);
    weft__free((void *)others);
    cluster_session_end_run(s, &entry);
  }
  weft__cancel_finish(&entry.cancel);
  return err;
}

static weft_err cluster_session_partial_setup(weft_session *base, const plan_request *r, partial_run **out) {
  cluster_session *s = (cluster_session *)base;
  pthread_mutex_lock(&s->lock);
  const weft_err err = s->runs.closed ? cluster_session_closed_error(s) : WEFT_OK;
  pthread_mutex_unlock(&s->lock);
  if (err) return err;
  return weft__cluster_partial_setup(base, &s->env, r, s->opts.timeout_ms, out);
}

static const session_ops cluster_session_ops = {.run = cluster_session_run,
                                                .close = cluster_session_close,
                                                .destroy = cluster_session_destroy,
                                                .devices = cluster_session_devices,
                                                .restoring = cluster_session_restoring,
                                                .partial_setup = cluster_session_partial_setup};
