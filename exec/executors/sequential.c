/* sequential.c - walks a straight plan: no allocation, no hashing, no lock per node. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/denormal.h"
#include "base/guard.h"
#include "base/interrupt.h"
#include "exec/executors/frame.h"
#include "exec/executors/guarded.h"
#include "exec/passes/owned_inputs.h"
#include "exec/executors/cuda_graph.h"
#include "exec/executors/steplog.h"
#include "kernels/gpu/gpu_host.h"
#include "state/dataset.h"
#include "state/resource.h"
#include "state/variable.h"
#include <stdlib.h>

static uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * UINT64_C(0x9E3779B97F4A7C15) + (h >> 29); }

/* Frames are kept by the shapes of the feeds: the sizes inside follow from them. */
static uint64_t shapes_key(int n, const weft_tensor *const *feed) {
  uint64_t h = 1469598103934665603u;
  for (int i = 0; i < n; i++) {
    h = mix(h, (uint64_t)feed[i]->shape.rank);
    for (int d = 0; d < feed[i]->shape.rank; d++) h = mix(h, (uint64_t)feed[i]->shape.dim[d]);
  }
  return h;
}

weft_err weft__item_resolve(const plan_item *it, kernel *k, int j, variable *v) {
  k->ref[j] = it->in[j].wants_ref ? v : NULL;
  if (!it->in[j].wants_ref) return weft__variable_read(v, (weft_tensor *)(uintptr_t)k->in[j]);
  if (it->op->opdef.uninit_ok || weft__variable_initialized(v)) return WEFT_OK;
  return weft__fail(WEFT_FAILED_PRECONDITION, "Attempting to use uninitialized value %s", v->name);
}

static weft_err resolve(const plan_item *it, kernel *k, const value *slot) {
  for (int j = 0; j < it->n_in; j++)
    if (it->in[j].from_ref) WEFT_TRY(weft__item_resolve(it, k, j, slot[it->in[j].slot].ref));
  return WEFT_OK;
}

static void drop_derefs(const plan_item *it, kernel *k) {
  for (int j = 0; j < it->n_in; j++)
    if (it->in[j].from_ref && !it->in[j].wants_ref) weft__tensor_clear((weft_tensor *)(uintptr_t)k->in[j]);
}

weft_err weft__item_error(const plan_item *it, weft_err err) {
  if (strstr(weft__error_message(), "{{node ")) return err;
  return weft__fail_in(err, "%s {{node %s}}", it->node->op_name, it->node->name);
}

weft_err weft__item_wait_gpu(const plan *p, const plan_item *it, bool first, weft_err err) {
  return !err && it->device && (first || p->careful) ? it->device->ops->sync(it->device) : err;
}

weft_err weft__kernel_check_outputs(const kernel *k) {
  for (int i = 0; i < k->n_out; i++)
    if (!k->out[i].t.buf && !k->out[i].ref && !k->out[i].dead)
      return weft__fail(WEFT_INTERNAL, "Missing %d-th output from {{node %s}}", i, k->node->name);
  return WEFT_OK;
}

weft_err weft__item_run(frame *f, int i, plan_run *run) {
  const plan_item *it = &f->plan->item[i];
  kernel *k = &f->kernel[i];
  WEFT_TRY(resolve(it, k, f->slot));
  WEFT_TRY(weft__item_own_inputs(it, k));
  int64_t begin = run->log ? weft__clock_now_ns() : 0;
  if (weft__guard_size) weft__guard_outputs(k);
  weft_err err = it->run(k);
  if (weft__guard_size && !k->pending) weft__guard_check_outputs(k);
  err = weft__item_wait_gpu(f->plan, it, f->stats != NULL, err);
  if (!err) err = weft__kernel_check_outputs(k);
  if (run->log && !err) weft__step_log_add(run->log, it, k->out, begin, weft__clock_now_ns());
  drop_derefs(it, k);
  if (k->scratch && !f->recording) weft__gpu_scratch_release(&k->scratch);
  if (err) return weft__item_error(it, err);
  if (f->stats) weft__buffer_stats_note(f->stats, f->plan, i, f->slot);
  for (int j = 0; j < it->n_release; j++) weft__tensor_clear(&f->slot[it->release[j]].t);
  return WEFT_OK;
}

weft_err weft__plan_check_time(const plan_run *run) {
  if (run->step.cancel && weft__cancel_fired(run->step.cancel)) return weft__cancel_raise(run->step.cancel);
  if (weft__interrupt_pending() > 1) /* the first one ends only what waits */
    return weft__fail(WEFT_CANCELLED, "The step was interrupted twice");
  if (run->deadline_ns && weft__clock_now_ns() > run->deadline_ns)
    return weft__fail(WEFT_DEADLINE_EXCEEDED, "Timed out waiting for the step to finish");
  return run->step.asked_ns ? weft__step_check_time(&run->step) : WEFT_OK;
}

/* The value of a _Recv lies in its slot when the plan comes to it. */
static bool has_arrived(const frame *f, const plan_item *it) {
  return f->plan->staged && it->n_out == 1 && (it->op->flags & OP_ASYNC);
}

static weft_err run_items(frame *f, plan_run *run, int from, int to) {
  for (int i = from; i < to; i++) {
    const plan_item *it = &f->plan->item[i];
    if (f->once_done && (it->op->flags & OP_ONCE)) continue;
    WEFT_TRY(weft__plan_check_time(run));
    if (has_arrived(f, it)) {
      if (f->stats) f->stats[it->first_out] = (buffer_stats){.root = -1, .alias = -1};
      continue;
    }
    WEFT_TRY(weft__item_run(f, i, run));
  }
  if (to == f->plan->n_item) f->once_done = true;
  return WEFT_OK;
}

/* As run_items, with each GPU segment launched as a whole where that is possible. */
static weft_err run_gpu_segments(frame *f, plan_run *run, int from, int to) {
  const plan *p = f->plan;
  for (int s = 0; s < p->n_gpu_segment; s++) {
    const plan_gpu_segment *at = &p->gpu_segment[s];
    bool done;
    if (at->from < from || at->to > to) continue;
    WEFT_TRY(run_items(f, run, from, at->from));
    WEFT_TRY(weft__plan_check_time(run));
    WEFT_TRY(weft__cuda_graph_run(f, run, s, &done));
    from = done ? at->to : at->from;
  }
  return run_items(f, run, from, to);
}

weft_err weft__frame_run(frame *f, plan_run *run, int from, int to) {
  const uint64_t mode = weft__denormal_flush();
  const bool whole = f->cuda_graph && !run->log && f->once_done && !f->plan->careful;
  const weft_err err = whole ? run_gpu_segments(f, run, from, to) : run_items(f, run, from, to);
  weft__denormal_restore(mode);
  return err;
}

/* ---- fetching ---- */

static int by_address(const void *a, const void *b) {
  const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
  return x < y ? -1 : x > y;
}

/* The buffers of the feeds, in order, so that thousands of fetches are looked up among thousands of feeds. */
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

/* A fetched value is the caller's: what shares memory with a feed or a running step is copied. */
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

weft_err weft__plan_fetch(const plan *p, const value *slot, const plan_run *run) {
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

weft_err weft__frame_begin(frame **out, plan *p, const plan_run *run) {
  frame *f;
  WEFT_TRY(
      weft__frame_acquire(&f, p, shapes_key(p->n_feed, run->feed), weft__resources_generation(run->step.resources)));
  f->step = run->step;
  f->step.deadline_ns = run->deadline_ns;
  for (int i = 0; i < p->n_feed; i++) weft__tensor_share(&f->slot[i].t, run->feed[i]);
  *out = f;
  return WEFT_OK;
}

/* Waits for a device.  Which kernel failed is not known: the message says among whose it is. */
static weft_err end_device(const plan *p, device *d) {
  const weft_err err = d->ops->sync(d);
  const weft_node *first = NULL, *last = NULL;
  for (int i = 0; err && i < p->n_item; i++)
    if (p->item[i].device == d) {
      last = p->item[i].node;
      if (!first) first = last;
    }
  if (!last) return err;
  return weft__fail_in(err, "%s, {{node %s}} to {{node %s}} (WEFT_GPU_NO_REPLAY=1 tells which)", d->name, first->name,
                       last->name);
}

weft_err weft__plan_end(plan *p, weft_err err) {
  if (!p->n_device) return err;
  for (int left = p->careful; left > 0 && !atomic_compare_exchange_weak(&p->careful, &left, left - 1);) continue;
  status first = {0};
  weft__status_update(&first, err);
  for (int i = 0; i < p->n_device; i++) weft__status_update(&first, end_device(p, p->device[i]));
  err = weft__status_raise(&first);
  weft__status_finish(&first);
  return err;
}

weft_err weft__plan_run(plan *p, plan_run *run) {
  frame *f;
  WEFT_TRY(weft__frame_begin(&f, p, run));
  weft_err err = weft__frame_run(f, run, 0, p->n_item);
  err = weft__plan_end(p, err);
  if (!err) err = weft__plan_fetch(p, f->slot, run);
  weft__frame_release(f, err == WEFT_OK);
  return err;
}
