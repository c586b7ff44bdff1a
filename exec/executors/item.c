/* item.c - runs one item of a frame, and what every executor does around a kernel. */
#include "exec/executors/item.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/guard.h"
#include "exec/executors/guarded.h"
#include "exec/executors/steplog.h"
#include "exec/passes/owned_inputs.h"
#include "kernels/gpu/gpu_host.h"
#include "state/variable.h"

#include <string.h>

weft_err weft__item_resolve(const plan_item *it, kernel *k, int j, variable *v) {
  k->ref[j] = it->in[j].wants_ref ? v : NULL;
  if (!it->in[j].wants_ref) return weft__variable_read(v, (weft_tensor *)(uintptr_t)k->in[j]);
  if (it->op->opdef.uninit_ok || weft__variable_initialized(v)) return WEFT_OK;
  return weft__variable_uninitialized_error(v);
}

static weft_err item_resolve_references(const plan_item *it, kernel *k, const value *slot) {
  for (int j = 0; j < it->n_in; j++)
    if (it->in[j].from_ref) WEFT_TRY(weft__item_resolve(it, k, j, slot[it->in[j].slot].ref));
  return WEFT_OK;
}

static void drop_derefs(const plan_item *it, kernel *k) {
  for (int j = 0; j < it->n_in; j++)
    if (it->in[j].from_ref && !it->in[j].wants_ref) weft__tensor_clear((weft_tensor *)(uintptr_t)k->in[j]);
}

/* Names the node that failed.  A receive is not named: its error is that of another part or of the network, and the
 * program has no node of that name. */
weft_err weft__item_error(const plan_item *it, weft_err err) {
  if (weft__error_has(ERROR_NAMES_NODE) || weft__node_is(it->node, KIND_RECV)) return err;
  weft__error_add_facts(err, ERROR_NAMES_NODE);
  return weft__fail_in(err, "%s {{node %s}}", it->node->op_name, it->node->name);
}

weft_err weft__item_wait_gpu(const plan *p, const plan_item *it, bool first, weft_err err) {
  return !err && it->device && (first || p->sync_runs) ? it->device->ops->sync(it->device) : err;
}

weft_err weft__kernel_check_outputs(const kernel *k) {
  for (int i = 0; i < k->n_out; i++)
    if (!k->out[i].t.buf && !k->out[i].ref && !k->out[i].dead)
      return weft__fail_node(WEFT_INTERNAL, "Missing %d-th output from {{node %s}}", i, k->node->name);
  return WEFT_OK;
}

weft_err weft__item_run(frame *f, int i, plan_run *run) {
  WEFT_ASSERT(i >= 0 && i < f->plan->n_item);
  const plan_item *it = &f->plan->item[i];
  kernel *k = &f->kernel[i];
  WEFT_TRY(item_resolve_references(it, k, f->slot));
  WEFT_TRY(weft__item_own_inputs(it, k));
  int64_t begin = run->log ? weft__clock_now_ns() : 0;
  if (run->log) weft__step_log_begin();
  if (weft__guard_size) weft__guard_outputs(k);
  weft_err err = it->run(k);
  if (weft__guard_size && !k->pending) weft__guard_check_outputs(k);
  err = weft__item_wait_gpu(f->plan, it, f->stats != NULL, err);
  if (!err) err = weft__kernel_check_outputs(k);
  if (run->log && !err) weft__step_log_add(run->log, it, k, begin, weft__clock_now_ns());
  drop_derefs(it, k);
  if (k->scratch && !f->capturing) weft__gpu_scratch_release(&k->scratch);
  if (err) return weft__item_error(it, err);
  if (f->stats) weft__buffer_stats_note(f->stats, f->plan, i, f->slot);
  for (int j = 0; j < it->n_release; j++) weft__tensor_clear(&f->slot[it->release[j]].t);
  return WEFT_OK;
}

/* A value that is on a device already is copied by itself. */
static weft_err copy_by_itself(frame *f, int i, plan_run *run, bool *done) {
  const weft_tensor *in = f->kernel[i].in[0];
  *done = in->buf && in->buf->memory;
  return *done ? weft__item_run(f, i, run) : WEFT_OK;
}

weft_err weft__items_copy(frame *f, int from, int to, plan_run *run) {
  enum { TOGETHER = 256 };
  weft_tensor *dst[TOGETHER];
  const weft_tensor *src[TOGETHER];
  const plan_item *item = f->plan->item;
  device *d = item[from].device;
  for (int i = from, n; i < to;) {
    const int first = i;
    for (n = 0; i < to && n < TOGETHER; i++) {
      bool done;
      WEFT_TRY(copy_by_itself(f, i, run, &done));
      if (done) continue;
      src[n] = f->kernel[i].in[0];
      dst[n] = weft__out(&f->kernel[i], 0, &src[n]->shape);
      if (!dst[n++]) return weft__item_error(&item[i], WEFT_RESOURCE_EXHAUSTED);
    }
    const weft_err err = d->ops->copy_in_many(d, n, dst, src);
    if (err) return weft__item_error(&item[first], err);
    for (int j = first; j < i; j++)
      for (int r = 0; r < item[j].n_release; r++) weft__tensor_clear(&f->slot[item[j].release[r]].t);
  }
  return WEFT_OK;
}
