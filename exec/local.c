/* local.c - the session of one process: finds or makes the plan of a request, and gives each run its step.
 *
 * The session's lock is held while a plan is found or made, and not while it runs (exec/local.h). */
#include "exec/local.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/clock.h"
#include "exec/compile.h"
#include "exec/executors/call.h"
#include "exec/passes/mixed_precision.h"
#include "exec/requests.h"
#include "exec/run_metadata.h"
#include "exec/executors/runs.h"
#include "exec/executors/sequential.h"
#include "exec/executors/start.h"
#include "exec/executors/steplog.h"
#include "exec/task.h"
#include "exec/variants.h"
#include "state/rendezvous.h"
#include "state/resource.h"
#include "state/step_objects.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static const session_ops local_ops;

weft_err weft__session_create(weft_session **out, weft_graph *g, const session_opts *opts) {
  local *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  s->base = (weft_session){&local_ops, g};
  if (opts) s->opts = *opts;
  weft__session_make_handle(s->handle);
  pthread_mutex_init(&s->lock, NULL);
  weft__runs_init(&s->runs);
  s->next_step = 1;
  s->processors = weft__pool_processors();
  weft_err err =
      weft__task_create(&s->task, "/job:localhost/replica:0/task:0", s->opts.intra_threads, s->opts.inter_threads);
  if (!err) err = weft__task_add_cpus(s->task, s->opts.cpus);
  if (!err) err = weft__task_add_gpus(s->task, &s->opts.gpu);
  if (!err) err = weft__task_devices(s->task, &s->info, &s->n_info);
  const cost_schedule when = {s->opts.build_cost_model, s->opts.build_cost_model_after, .skips_first = true};
  if (!err && when.every > 0) err = weft__cost_model_create(&s->costs, when);
  if (!err && s->opts.log_device_placement)
    weft__place_log_mapping(&(placement){.n_device = s->n_info, .device = s->info});
  if (err)
    weft__session_destroy(&s->base);
  else
    *out = &s->base;
  return err;
}

static weft_err local_close(weft_session *base) {
  local *s = (local *)base;
  pthread_mutex_lock(&s->lock);
  weft__runs_close(&s->runs, &s->lock, "Session has been closed.");
  pthread_mutex_unlock(&s->lock);
  return WEFT_OK;
}

static void destroy_plan(void *made) { weft__plan_destroy(made); }

static void local_destroy(weft_session *base) {
  local *s = (local *)base;
  weft__requests_finish(&s->plans, destroy_plan);
  weft__place_infos_free(s->info, s->n_info);
  weft__free(s->where);
  weft__cost_model_destroy(s->costs);
  weft__task_destroy(s->task);
  weft__runs_finish(&s->runs);
  pthread_mutex_destroy(&s->lock);
  weft__free(s);
}

static weft_err local_devices(weft_session *base, device_info **out, int *n) {
  return weft__task_devices(((local *)base)->task, out, n);
}

/* ---- plans ---------------------------------------------------------------------------------------- */

weft_err weft__local_place_new_nodes(local *s) {
  weft_graph *g = s->base.graph;
  placement p = {s->n_info, s->info, s->opts.allow_soft_placement, s->opts.log_device_placement};
  pthread_mutex_lock(&g->lock);
  const int n = g->n_node;
  weft_err err = WEFT_ARRAY_RESERVE(s->where, s->where_capacity, n);
  if (!err && n > s->placed) err = weft__place(g, s->placed, &p, s->where);
  pthread_mutex_unlock(&g->lock);
  if (!err) s->placed = n;
  return err;
}

static weft_err local_make_plan(local *s, uint64_t hash, const plan_request *r, plan **out) {
  request_entry *e;
  WEFT_TRY(weft__request_check(s->base.graph, r));
  WEFT_TRY(weft__local_place_new_nodes(s));
  WEFT_TRY(weft__requests_add(&s->plans, hash, r, &e));
  const plan_devices where = {.device = s->task->device,
                              .of_node = s->where,
                              .mixed_precision = s->opts.mixed_precision,
                              .host_only = s->n_info == 1,
                              .may_vary = true};
  weft_err err = weft__plan_create_on(out, s->base.graph, &e->request, &where);
  if (err)
    weft__requests_drop(&s->plans, e);
  else
    e->made = *out;
  return err;
}

/* ---- runs ----------------------------------------------------------------------------------------- */

static weft_err check_feeds(const plan *p, const weft_tensor *const *feed) {
  for (int i = 0; i < p->n_feed; i++) WEFT_TRY(weft__session_check_feed(p->feed_node[i], p->feed_out[i], feed[i]));
  return WEFT_OK;
}

/* Replaces the plan by the one for the shapes of these feeds and the values that they give to what decides its loops
 * and branches, if there is one, or if one should be made now. */
static void choose_variant(local *s, const plan_request *r, const weft_tensor *const *feed, plan **p) {
  plan_variants *v = (*p)->variants;
  assumptions assumed;
  if (!v || check_feeds(*p, feed) != WEFT_OK) return; /* the run reports the feed */
  plan *made = weft__variants_find(v, feed, &assumed);
  if (!made && assumed.feed_shape) {
    const plan_devices where = {
        .device = s->task->device, .of_node = s->where, .assumed = &assumed, .host_only = s->n_info == 1};
    if (weft__plan_create_on(&made, s->base.graph, r, &where) != WEFT_OK) {
      made = NULL; /* the general plan serves */
    } else if (!made->unrolled) {
      weft__plan_destroy(made);
      made = NULL;
    }
    weft__variants_add(v, made);
    if (made) weft__frames_drop_idle(*p);
  }
  if (made) *p = made;
}

/* Finds the plan and lists the step, under one lock. */
static weft_err local_begin(local *s, const plan_request *r, const weft_tensor *const *feed, run_entry *entry, plan **p,
                            int64_t *id) {
  uint64_t hash = weft__request_hash(r);
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&s->lock);
  if (s->runs.closed) err = weft__fail(WEFT_CANCELLED, "Session has been closed.");
  *p = err ? NULL : weft__requests_find(&s->plans, hash, r);
  if (!err && !*p) err = local_make_plan(s, hash, r, p);
  if (!err && (*p)->variants) choose_variant(s, r, feed, p);
  if (!err) {
    weft__runs_add(&s->runs, entry);
    *id = s->next_step++;
  }
  pthread_mutex_unlock(&s->lock);
  return err;
}

/* A thread whose time slice ends during a call waits for several milliseconds until the others have used theirs.  So a
 * thread that makes many short calls gives up its processor at the end of one of them, before its slice ends. */
static _Thread_local struct {
  int64_t begin_ns;
  int calls;
} slice;

static bool slice_is_over(void) {
  enum { SLICE_NS = 800000, SLICE_CALLS = 16 }; /* a slice is at least so long and has at least so many calls */
  return ++slice.calls % SLICE_CALLS == 0 && weft__clock_now_ns() - slice.begin_ns >= SLICE_NS;
}

static void local_end(local *s, run_entry *entry) {
  pthread_mutex_lock(&s->lock);
  if (s->runs.n > s->processors && slice_is_over()) { /* this run counts until it continues: it waits for a processor */
    pthread_mutex_unlock(&s->lock);
    sched_yield();
    slice.begin_ns = weft__clock_now_ns();
    pthread_mutex_lock(&s->lock);
  }
  weft__runs_remove(&s->runs, entry);
  pthread_mutex_unlock(&s->lock);
}

static weft_err run_step(local *s, plan *p, plan_run *run) {
  if (p->executor == PLAN_SEQUENTIAL) return weft__sequential_run(p, run);
  weft_err err = weft__rendezvous_create(&run->step.rendezvous, NULL);
  if (!err) err = weft__run_wait(p, run, s->task->inter);
  weft__rendezvous_release(run->step.rendezvous);
  return err;
}

/* ---- metadata ------------------------------------------------------------------------------------- */

/* Writes the metadata that the run was asked for, after it succeeded. */
static weft_err write_metadata(local *s, const plan *p, const plan_request *r, const step_log *log, bool costs,
                               const run_opts *opts, weft_tensor **fetched) {
  text stats = {0}, metadata = {0};
  const metadata_graphs graphs = {opts->partition_graphs, costs ? s->costs : NULL};
  weft_err err = log ? weft__step_log_write(log, s->task->device[0]->name, &stats) : WEFT_OK;
  weft__text_add(&metadata, weft__text_get(&stats), stats.size);
  if (!err && (costs || opts->partition_graphs)) {
    pthread_mutex_lock(&s->lock);
    cut how = {.graph = s->base.graph, .request = r, .where = s->where, .device = s->info, .arguments = true};
    if (p->mixed) {
      how.graph = p->mixed->graph;
      how.request = &p->mixed->request;
      how.where = p->mixed->of_node;
    }
    err = weft__run_metadata_add(&metadata, &stats, &how, s->n_info, &graphs);
    pthread_mutex_unlock(&s->lock);
  }
  weft__text_finish(&stats);
  return weft__run_metadata_finish(&metadata, err, opts, r->n_fetch, fetched);
}

static weft_err local_run(weft_session *base, const plan_request *r, const weft_tensor *const *feed,
                          weft_tensor **fetched, const run_opts *opts) {
  local *s = (local *)base;
  run_entry entry;
  plan *p;
  int64_t id;
  weft__cancel_init(&entry.cancel);
  weft_err err = local_begin(s, r, feed, &entry, &p, &id);
  if (!err) {
    step_objects objects;
    weft__step_objects_init(&objects);
    plan_run run = {.feed = feed, .fetched = fetched};
    run.step = (step){.id = id,
                      .cancel = &entry.cancel,
                      .intra = s->task->intra,
                      .inter = s->task->inter,
                      .caller = &weft__caller,
                      .resources = s->task->resources,
                      .objects = &objects,
                      .session = s->handle};
    int64_t timeout = opts && opts->timeout_ms ? opts->timeout_ms : s->opts.timeout_ms;
    if (timeout > 0) run.deadline_ns = weft__clock_after_ms(timeout);
    cancel_link link;
    err = weft__cancel_link_on(&link, opts ? opts->cancel : NULL, &entry.cancel);
    if (!err) err = check_feeds(p, feed);
    const bool costs = !err && s->costs && weft__cost_model_count(s->costs, weft__request_hash(r));
    if (!err && opts && (opts->trace || costs)) err = weft__step_log_create(&run.log);
    if (!err) err = run_step(s, p, &run);
    if (!err && opts && opts->metadata) err = write_metadata(s, p, r, run.log, costs, opts, fetched);
    weft__step_log_destroy(run.log);
    weft__cancel_link_off(&link);
    weft__step_objects_finish(&objects);
    local_end(s, &entry);
  }
  weft__cancel_finish(&entry.cancel);
  return err;
}

static const session_ops local_ops = {
    .run = local_run,
    .close = local_close,
    .destroy = local_destroy,
    .devices = local_devices,
    .partial_setup = weft__local_partial_setup,
};
