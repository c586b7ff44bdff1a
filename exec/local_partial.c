/* local_partial.c - partial runs in a session of one process.
 *
 * The request is cut as for a cluster of this one task, with receives for its feeds and sends for its fetches.  The
 * resulting graph runs as one step, on a thread of its own, because the step waits for its feeds. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "exec/compile.h"
#include "exec/executors/call.h"
#include "exec/executors/start.h"
#include "exec/local.h"
#include "exec/partial_step.h"
#include "exec/passes/partition.h"
#include "ops/all.h"
#include "state/step_objects.h"

typedef struct local_partial {
  local *session;
  partial_step *step;
  weft_graph *graph; /* the request with its receives and sends */
  plan *plan;
  rendezvous *rendezvous;
  run_entry entry; /* of the session's runs */
  cancel *token;   /* of the partial run */
  int64_t id;
  pthread_t thread;
  bool has_thread;
} local_partial;

/* ---- the step's graph ---------------------------------------------------------------------------- */

/* The session's lock is held. */
static weft_err local_partial_import(local_partial *u, const parts *p) {
  WEFT_ASSERT(weft__lock_is_held(&u->session->lock));
  const op_table *ops;
  WEFT_TRY(weft__ops_table(&ops));
  WEFT_TRY(weft__graph_create(&u->graph, ops));
  return p->client < 0 ? WEFT_OK
                       : weft__graph_import_proto(u->graph, &p->part[p->client].def, &(import_opts){.part = true});
}

/* The session's lock is held. */
static weft_err local_partial_cut(local_partial *u, const plan_request *r) {
  WEFT_ASSERT(weft__lock_is_held(&u->session->lock));
  local *s = u->session;
  parts p;
  int *of_device = weft__alloc_zero((size_t)s->n_info + 1, sizeof *of_device); /* every device is on task 0 */
  if (!of_device) return WEFT_OOM;
  cut how = {.graph = s->base.graph,
             .request = r,
             .where = s->where,
             .device = s->info,
             .task = of_device,
             .n_task = 1,
             .by_name = true};
  weft_err err = weft__partition(&p, &how);
  if (!err) {
    err = local_partial_import(u, &p);
    weft__partition_parts_finish(&p);
  }
  weft__free(of_device);
  return err;
}

static weft_err local_partial_plan(local_partial *u) {
  const weft_graph *g = u->graph;
  int *where = NULL, *target = weft__alloc(((size_t)g->n_node + 1) * sizeof *target);
  if (!target) return WEFT_OOM;
  for (int i = 0; i < g->n_node; i++) target[i] = i;
  weft_err err = weft__task_where(u->session->task, g, &where);
  plan_request all = {.n_target = g->n_node, .target = target};
  const plan_devices devices = {u->session->task->device, where, u->session->opts.mixed_precision};
  if (!err) err = weft__plan_create_on(&u->plan, u->graph, &all, where ? &devices : NULL);
  weft__free(where);
  weft__free(target);
  return err;
}

/* ---- the run -------------------------------------------------------------------------------------- */

static weft_err local_partial_run_plan(local_partial *u) {
  local *s = u->session;
  step_objects objects;
  cancel_link link;
  weft__step_objects_init(&objects);
  plan_run run = {.step = {.id = u->id,
                           .cancel = &u->entry.cancel,
                           .intra = s->task->intra,
                           .inter = s->task->inter,
                           .caller = &weft__caller,
                           .resources = s->task->resources,
                           .rendezvous = u->rendezvous,
                           .objects = &objects,
                           .session = s->handle}};
  weft_err err = weft__cancel_link_on(&link, u->token, &u->entry.cancel);
  if (!err) err = weft__run_wait(u->plan, &run, s->task->inter);
  weft__cancel_link_off(&link);
  weft__step_objects_finish(&objects);
  return err;
}

static void *local_partial_run(void *arg) {
  local_partial *u = arg;
  local *s = u->session;
  status result = {0};
  weft__status_update(&result, local_partial_run_plan(u));
  if (result.code) weft__rendezvous_abort(u->rendezvous, weft__status_raise(&result));
  pthread_mutex_lock(&s->lock);
  weft__runs_remove(&s->runs, &u->entry);
  pthread_mutex_unlock(&s->lock);
  weft__partial_step_end(u->step, weft__status_raise(&result));
  weft__status_finish(&result);
  return NULL;
}

/* Lists the run, so that closing the session ends it.  The session's lock is held. */
static weft_err local_partial_prepare(local_partial *u, const plan_request *r) {
  WEFT_ASSERT(weft__lock_is_held(&u->session->lock));
  local *s = u->session;
  if (s->runs.closed) return weft__fail(WEFT_CANCELLED, "Session has been closed.");
  WEFT_TRY(weft__local_place_new_nodes(s));
  WEFT_TRY(local_partial_cut(u, r));
  WEFT_TRY(local_partial_plan(u));
  WEFT_TRY(weft__rendezvous_create(&u->rendezvous, NULL));
  u->id = s->next_step++;
  weft__runs_add(&s->runs, &u->entry);
  return WEFT_OK;
}

static weft_err local_partial_start(void *arg, partial_step *p, const plan_request *r, cancel *token) {
  local_partial *u = arg;
  local *s = u->session;
  u->step = p;
  u->token = token;
  pthread_mutex_lock(&s->lock);
  weft_err err = local_partial_prepare(u, r);
  pthread_mutex_unlock(&s->lock);
  if (err) return err;
  u->has_thread = pthread_create(&u->thread, NULL, local_partial_run, u) == 0;
  if (u->has_thread) return WEFT_OK;
  pthread_mutex_lock(&s->lock);
  weft__runs_remove(&s->runs, &u->entry);
  pthread_mutex_unlock(&s->lock);
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "cannot start a thread for a partial run");
}

static weft_err local_partial_send(void *arg, const char *key, const weft_tensor *t) {
  return weft__rendezvous_send(((local_partial *)arg)->rendezvous, key, t, false);
}

static void local_partial_recv(void *arg, const char *key, recv_fn *fn, void *fn_arg) {
  weft__rendezvous_recv(((local_partial *)arg)->rendezvous, key, fn, fn_arg);
}

static void local_partial_destroy(void *arg) {
  local_partial *u = arg;
  if (u->has_thread) pthread_join(u->thread, NULL);
  weft__rendezvous_release(u->rendezvous);
  weft__plan_destroy(u->plan);
  weft__graph_destroy(u->graph);
  weft__cancel_finish(&u->entry.cancel);
  weft__free(u);
}

weft_err weft__local_partial_setup(weft_session *base, const plan_request *r, partial_run **out) {
  local *s = (local *)base;
  local_partial *u = weft__alloc_zero(1, sizeof *u);
  if (!u) return WEFT_OOM;
  u->session = s;
  weft__cancel_init(&u->entry.cancel);
  const partial_host how = {.start = local_partial_start,
                            .send = local_partial_send,
                            .recv = local_partial_recv,
                            .destroy = local_partial_destroy,
                            .arg = u,
                            .client = s->info[0],
                            .timeout_ms = s->opts.timeout_ms,
                            .start_at_once = true,
                            .over = "Must run 'setup' before performing partial runs!"};
  return weft__partial_step_create(out, base->graph, r, &how);
}
