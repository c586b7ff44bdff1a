/* sequential.c - runs the items of a straight plan in order.  Per item it allocates nothing, hashes nothing and takes
 * no lock. */
#include "exec/executors/sequential.h"

#include "base/assert.h"
#include "base/denormal.h"
#include "exec/branches/branch_run.h"
#include "exec/executors/cuda_graph.h"
#include "state/resource.h"

static uint64_t hash_mix(uint64_t h, uint64_t v) { return (h ^ v) * UINT64_C(0x9E3779B97F4A7C15) + (h >> 29); }

/* Returns the key of a frame: a hash of the shapes of the feeds, which determine the sizes of the plan's values.  If
 * two sets of shapes had the same hash, memory might be planned too small; weft__out then allocates from the heap. */
static uint64_t shapes_key(int n, const weft_tensor *const *feed) {
  uint64_t h = 1469598103934665603u;
  for (int i = 0; i < n; i++) {
    h = hash_mix(h, (uint64_t)feed[i]->shape.rank);
    for (int d = 0; d < feed[i]->shape.rank; d++) h = hash_mix(h, (uint64_t)feed[i]->shape.dim[d]);
  }
  return h;
}

/* Returns true for a _Recv of a staged plan: its value is already in its slot. */
static bool has_arrived(const frame *f, const plan_item *it) {
  return f->plan->executor == PLAN_STAGED && it->n_out == 1 && (it->op->flags & OP_ASYNC);
}

/* Not in a run that looks at each item by itself. */
static bool copies_at_once(const frame *f, const plan_run *run, int to) {
  const plan_straight *s = &f->plan->straight;
  return s->copy_to > s->copy_from && s->copy_to <= to && !f->stats && !run->log && !f->plan->sync_runs;
}

static weft_err run_items(frame *f, plan_run *run, int from, int to) {
  WEFT_ASSERT(from >= 0 && from <= to && to <= f->plan->n_item);
  for (int i = from; i < to; i++) {
    const plan_item *it = &f->plan->item[i];
    if (f->once_done && (it->op->flags & OP_ONCE)) continue;
    WEFT_TRY(weft__run_check_time(run));
    if (i == f->plan->straight.copy_from && copies_at_once(f, run, to)) {
      i = f->plan->straight.copy_to;
      WEFT_TRY(weft__items_copy(f, f->plan->straight.copy_from, i--, run));
      continue;
    }
    if (has_arrived(f, it)) {
      if (f->stats) f->stats[it->first_out] = (buffer_stats){.root = -1, .alias = -1};
      continue;
    }
    if (it->group) {
      plan_group *g = &f->plan->straight.group[it->group - 1];
      WEFT_TRY(weft__branches_run(f, run, g));
      i = g->to - 1;
      continue;
    }
    WEFT_TRY(weft__item_run(f, i, run));
  }
  if (to == f->plan->n_item) f->once_done = true;
  return WEFT_OK;
}

/* As run_items, but launches each GPU segment as a whole if possible; otherwise its items run one by one.  A GPU
 * segment never spans two stages: the first item of a stage is a _Recv, which cannot be captured. */
static weft_err run_gpu_segments(frame *f, plan_run *run, int from, int to) {
  const plan *p = f->plan;
  for (int s = 0; s < p->straight.n_gpu_segment; s++) {
    const plan_gpu_segment *at = &p->straight.gpu_segment[s];
    bool done;
    if (at->from < from || at->to > to) continue;
    WEFT_TRY(run_items(f, run, from, at->from));
    WEFT_TRY(weft__run_check_time(run));
    WEFT_TRY(weft__cuda_graph_run(f, run, s, &done));
    from = done ? at->to : at->from;
  }
  return run_items(f, run, from, to);
}

weft_err weft__frame_run(frame *f, plan_run *run, int from, int to) {
  const uint64_t mode = weft__denormal_flush();
  const bool whole = f->cuda_graph && !run->log && f->once_done && !f->plan->sync_runs;
  const weft_err err = whole ? run_gpu_segments(f, run, from, to) : run_items(f, run, from, to);
  weft__denormal_restore(mode);
  return err;
}

weft_err weft__frame_begin(frame **out, plan *p, const plan_run *run) {
  frame *f;
  WEFT_TRY(
      weft__frame_acquire(&f, p, shapes_key(p->n_feed, run->feed), weft__resources_generation(run->step.resources)));
  const weft_err err = p->straight.n_gpu_segment && f->layout && !f->cuda_graph ? weft__cuda_graph_create(f) : WEFT_OK;
  if (err) {
    weft__frame_release(f, false);
    return err;
  }
  f->step = run->step;
  f->step.deadline_ns = run->deadline_ns;
  if (weft__frame_runs(f)) p->device[0]->ops->order_copies_in(p->device[0]);
  f->mark = 0;
  for (int i = 0; i < p->n_feed; i++) weft__tensor_share(&f->slot[i].t, run->feed[i]);
  *out = f;
  return WEFT_OK;
}

weft_err weft__sequential_run(plan *p, plan_run *run) {
  frame *f;
  WEFT_TRY(weft__frame_begin(&f, p, run));
  weft_err err = weft__frame_run(f, run, 0, p->n_item);
  const bool early = !err && p->straight.ends_early && !p->sync_runs && !run->log;
  err = early ? weft__run_end_early(p, &f->mark) : weft__run_results(p, run, f->slot, err);
  weft__frame_release(f, err == WEFT_OK);
  return err;
}
