/* run.c - begins, fails and ends runs; fetches their results.  exec/executors/run.h has the rules for threads and
 * locks. */
#include "exec/executors/run.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "state/dataset.h"
#include "state/rendezvous.h"
#include "state/variable.h"
#include <stdlib.h>

void weft__run_init(active_run *r) {
  pthread_mutex_init(&r->lock, NULL);
  pthread_cond_init(&r->wake, NULL);
}

void weft__run_finish(active_run *r) {
  pthread_cond_destroy(&r->wake);
  pthread_mutex_destroy(&r->lock);
}

/* Ends the receives of a step that was canceled. */
static void on_cancel(void *arg) {
  active_run *r = arg;
  const step *s = &r->given->step;
  if (s->rendezvous) weft__rendezvous_abort(s->rendezvous, weft__cancel_raise(s->cancel));
}

weft_err weft__run_begin(active_run *r, plan *p, plan_run *given, pool *tasks, run_done *done, void *arg) {
  cancel *c = given->step.cancel;
  WEFT_ASSERT(p->n_feed == 0 || given->feed);
  r->plan = p, r->given = given, r->tasks = tasks;
  r->done = done, r->arg = arg;
  r->failure = (status){0};
  atomic_store(&r->failed, false);
  weft_err err = c ? weft__cancel_watch_add(c, &r->watch, on_cancel, r) : WEFT_OK;
  r->watching = c && !err;
  return err;
}

void weft__run_fail(active_run *r, weft_err err) {
  const step *s = &r->given->step;
  WEFT_ASSERT(err != WEFT_OK);
  pthread_mutex_lock(&r->lock);
  bool first = r->failure.code == WEFT_OK;
  weft__status_update(&r->failure, err);
  pthread_mutex_unlock(&r->lock);
  atomic_store(&r->failed, true);
  if (!first) return;
  if (s->cancel)
    weft__cancel_fire_error(s->cancel, weft__status_raise(&r->failure));
  else if (s->rendezvous)
    weft__rendezvous_abort(s->rendezvous, weft__status_raise(&r->failure));
}

weft_err weft__run_check_time(const plan_run *given) {
  if (given->step.cancel && weft__cancel_fired(given->step.cancel)) return weft__cancel_raise(given->step.cancel);
  if (weft__interrupt_pending() > 1) /* the first one ends only what waits */
    return weft__fail(WEFT_CANCELLED, "The step was interrupted twice");
  if (given->deadline_ns && weft__clock_now_ns() > given->deadline_ns)
    return weft__fail(WEFT_DEADLINE_EXCEEDED, "Timed out waiting for the step to finish");
  return given->step.asked_ns ? weft__step_check_time(&given->step) : WEFT_OK;
}

/* The first interrupt ends waits only.  Nodes that compute continue; a second interrupt ends the run at the next
 * node. */
weft_err weft__run_check_wait(const active_run *r) {
  if (weft__interrupt_pending()) return weft__fail(WEFT_CANCELLED, "The step was interrupted while it waited");
  return weft__run_check_time(r->given);
}

/* ---- fetching ---- */

static int by_address(const void *a, const void *b) {
  const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
  return x < y ? -1 : x > y;
}

/* The addresses of the feeds' buffers, sorted: a run may have thousands of feeds and of fetches. */
typedef struct fed_buffers {
  int n;
  uintptr_t few[8], *at;
} fed_buffers;

static weft_err fed_init(fed_buffers *b, const plan *p, const plan_run *run) {
  *b = (fed_buffers){.n = run->keeps_feeds ? 0 : p->n_feed};
  b->at = b->n <= (int)(sizeof b->few / sizeof *b->few) ? b->few : weft__alloc((size_t)b->n * sizeof *b->at);
  if (!b->at) return WEFT_OOM;
  for (int i = 0; i < b->n; i++) b->at[i] = (uintptr_t)run->feed[i]->buf;
  qsort(b->at, (size_t)b->n, sizeof *b->at, by_address);
  return WEFT_OK;
}

static void fed_finish(fed_buffers *b) {
  if (b->at != b->few) weft__free(b->at);
}

/* The caller owns a fetched value, so a value that shares memory with a feed or a running step is copied. */
static weft_err fetch_one(const fed_buffers *fed, const value *v, weft_tensor **out) {
  weft_tensor now = {0};
  const weft_tensor *t = &v->t;
  if (v->ref) {
    WEFT_TRY(weft__variable_read(v->ref, &now));
    t = &now;
  }
  const uintptr_t at = (uintptr_t)t->buf;
  const bool foreign = fed->n && bsearch(&at, fed->at, (size_t)fed->n, sizeof at, by_address);
  weft_err err = weft__tensor_create_like(out, t);
  if (!err && foreign) {
    weft__tensor_clear(*out);
    err = weft__tensor_clone(*out, t);
  }
  weft__tensor_clear(&now);
  return err;
}

/* A value may be missing because it is dead, or because a kernel left an output unset. */
static weft_err check_fetches(const plan *p, const value *slot) {
  for (int i = 0; i < p->n_fetch; i++) {
    const value *v = &slot[p->fetch_slot[i]];
    if (!v->t.buf && !v->ref) return weft__fail(WEFT_INVALID_ARGUMENT, "Retval[%d] does not have value", i);
  }
  return WEFT_OK;
}

static weft_err fetch_all(const plan *p, const value *slot, const plan_run *run) {
  fed_buffers fed;
  for (int i = 0; i < p->n_fetch; i++) run->fetched[i] = NULL;
  if (p->n_fetch == 0) return WEFT_OK;
  WEFT_TRY(check_fetches(p, slot));
  WEFT_TRY(fed_init(&fed, p, run));
  weft_err err = WEFT_OK;
  for (int i = 0; i < p->n_fetch && !err; i++) err = fetch_one(&fed, &slot[p->fetch_slot[i]], &run->fetched[i]);
  for (int i = 0; i < p->n_fetch && err; i++) {
    weft_tensor_destroy(run->fetched[i]);
    run->fetched[i] = NULL;
  }
  fed_finish(&fed);
  return err;
}

/* ---- the end ---- */

/* An error of a device does not say which kernel failed, so the message names the first and the last node. */
static weft_err name_nodes(const plan *p, const device *d, weft_err err) {
  const weft_node *first = NULL, *last = NULL;
  for (int i = 0; err && i < p->n_item; i++)
    if (p->item[i].device == d) {
      last = p->item[i].node;
      if (!first) first = last;
    }
  if (!last) return err;
  weft__error_add_facts(err, ERROR_NAMES_NODE);
  return weft__fail_in(err, "%s, {{node %s}} to {{node %s}} (WEFT_GPU_NO_REPLAY=1 tells which)", d->name, first->name,
                       last->name);
}

/* Waits for the plan's GPUs, whose first error counts if err is none. */
static weft_err end_devices(plan *p, weft_err err) {
  if (!p->n_device) return err;
  for (int left = p->sync_runs; left > 0 && !atomic_compare_exchange_weak(&p->sync_runs, &left, left - 1);) continue;
  status first = {0};
  weft__status_update(&first, err);
  for (int i = 0; i < p->n_device; i++)
    weft__status_update(&first, name_nodes(p, p->device[i], p->device[i]->ops->sync(p->device[i])));
  err = weft__status_raise(&first);
  weft__status_finish(&first);
  return err;
}

weft_err weft__run_end_early(const plan *p, uint64_t *mark) {
  device *d = p->device[0];
  return name_nodes(p, d, d->ops->end_step(d, mark));
}

weft_err weft__run_results(plan *p, const plan_run *given, const value *slot, weft_err err) {
  err = end_devices(p, err);
  return err ? err : fetch_all(p, slot, given);
}

weft_err weft__run_end(active_run *r, const value *slot, weft_err err) {
  if (r->watching) weft__cancel_watch_remove(r->given->step.cancel, &r->watch);
  err = weft__run_results(r->plan, r->given, slot, err);
  weft__status_finish(&r->failure);
  return err;
}
