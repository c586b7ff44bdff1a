/* branch_run.c - runs the branches of a group, and chooses how.
 *
 * A branch runs on one thread, and so do the loops of its items.  After the run that recorded the stats of the buffers,
 * both ways take turns for a few runs; then the one whose latest runs took less time is used.  Now and then the other
 * one is tried again, because sizes and the load of the machine change. */
#include "exec/branches/branch_run.h"

#include "base/cast.h"
#include "base/clock.h"
#include "exec/branches/branches.h"
#include "exec/executors/frame.h"
#include "exec/executors/item.h"
#include "exec/passes/owned_inputs.h"

enum { TRIALS = 16, TRY_AGAIN = 256, LEAST_NS = 20000 };

typedef struct branch_work {
  frame *frame;
  plan_run *run;
  const plan_group *group;
  pthread_mutex_t lock; /* guards the two that follow */
  int failed;           /* the first branch that failed; n_branch: none */
  status failure;       /* its error */
} branch_work;

static void note_failure(branch_work *w, int branch, weft_err err) {
  pthread_mutex_lock(&w->lock);
  if (branch < w->failed) {
    weft__status_finish(&w->failure);
    weft__status_update(&w->failure, err);
    w->failed = branch;
  }
  pthread_mutex_unlock(&w->lock);
}

static weft_err run_branch(const branch_work *w, int branch) {
  for (int i = w->group->begin[branch]; i < w->group->begin[branch + 1]; i++)
    WEFT_TRY(weft__item_run(w->frame, i, w->run));
  return WEFT_OK;
}

static void run_lanes(void *arg, int64_t begin, int64_t end) {
  branch_work *w = arg;
  const int first = weft__lane_begin(w->group, weft__int_sat(begin));
  for (int b = first; b < weft__lane_begin(w->group, weft__int_sat(end)); b++) {
    const weft_err err = run_branch(w, b);
    if (err) note_failure(w, b, err);
  }
}

/* Copies the indices that a peer could change.  It is done before the threads begin, because branches may read one
 * slot. */
static weft_err own_inputs(frame *f, const plan_group *g) {
  for (int i = g->from; i < g->to; i++) WEFT_TRY(weft__item_own_inputs(&f->plan->item[i], &f->kernel[i]));
  return WEFT_OK;
}

static weft_err run_on_threads(frame *f, plan_run *run, const plan_group *g) {
  WEFT_TRY(own_inputs(f, g));
  branch_work w = {.frame = f, .run = run, .group = g, .failed = g->n_branch};
  pthread_mutex_init(&w.lock, NULL);
  weft__pool_loop(run->step.intra, g->n_lane, 1, run_lanes, &w);
  const weft_err err = weft__status_raise(&w.failure);
  weft__status_finish(&w.failure);
  pthread_mutex_destroy(&w.lock);
  return err;
}

static weft_err run_in_order(frame *f, plan_run *run, const plan_group *g) {
  for (int i = g->from; i < g->to; i++) WEFT_TRY(weft__item_run(f, i, run));
  return WEFT_OK;
}

/* Threads must save a tenth: they take a processor that others could use. */
static bool choose_threads(plan_group *g) {
  const unsigned run = atomic_fetch_add_explicit(&g->runs, 1, memory_order_relaxed);
  const double shared = atomic_load_explicit(&g->cost[true], memory_order_relaxed),
               alone = atomic_load_explicit(&g->cost[false], memory_order_relaxed);
  const bool threads = alone > LEAST_NS && shared < 0.9 * alone;
  return run < TRIALS ? run % 2 == 1 : run % TRY_AGAIN == 0 ? !threads : threads;
}

/* Keeps the mean of the last runs.  The minimum would not do: threads are slow whenever the other processors are busy.
 * A run that was interrupted for long counts as four. */
static void note_cost(atomic_uint *cost, int64_t ns) {
  const int64_t old = atomic_load_explicit(cost, memory_order_relaxed), most = old ? 4 * old : NS_PER_S;
  const int64_t now = ns < most ? ns + 1 : most;
  atomic_store_explicit(cost, (unsigned)(old ? old + (now - old) / 8 : now), memory_order_relaxed);
}

weft_err weft__branches_run(frame *f, plan_run *run, plan_group *g) {
  const bool can = f->layout && weft__pool_threads(run->step.intra) > 1, threads = can && choose_threads(g);
  const int64_t start = can ? weft__clock_now_ns() : 0;
  WEFT_TRY(threads ? run_on_threads(f, run, g) : run_in_order(f, run, g));
  if (can) note_cost(&g->cost[threads], weft__clock_now_ns() - start);
  for (int i = 0; i < g->n_release; i++) weft__tensor_clear(&f->slot[g->release[i]].t);
  return WEFT_OK;
}
