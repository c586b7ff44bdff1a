/* start.c - chooses the executor of a run, and the thread on which it begins. */
#include "exec/executors/start.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "exec/executors/dataflow.h"
#include "exec/executors/sequential.h"
#include "exec/executors/staged.h"

static weft_err run_timed(plan *p, plan_run *given) {
  int64_t begin = weft__clock_now_ns();
  weft_err err = weft__sequential_run(p, given);
  weft__cost_note(&p->straight.cost, weft__clock_now_ns() - begin);
  return err;
}

static void pool_run(void *arg) {
  active_run r = *(active_run *)arg;
  weft__free(arg);
  r.done(r.arg, run_timed(r.plan, r.given));
}

/* Submits a straight run to the pool; returns false if memory is short.  The run needs no lock and watches no token:
 * one thread runs it, and checks the token between nodes. */
static bool start_on_pool(plan *p, plan_run *given, pool *tasks, run_done *done, void *arg) {
  active_run *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return false;
  r->plan = p, r->given = given, r->tasks = tasks, r->done = done, r->arg = arg;
  if (weft__pool_submit(tasks, pool_run, r) == WEFT_OK) return true;
  weft__free(r);
  return false;
}

void weft__run_start(plan *p, plan_run *given, pool *tasks, bool borrowed, run_done *done, void *arg) {
  if (p->executor == PLAN_DATAFLOW) {
    weft__dataflow_start(p, given, tasks, borrowed, done, arg);
    return;
  }
  if (p->executor == PLAN_STAGED) {
    weft__staged_start(p, given, tasks, borrowed, done, arg);
    return;
  }
  bool here = !borrowed || weft__cost_is_short(&p->straight.cost, p);
  if (!here && start_on_pool(p, given, tasks, done, arg)) return;
  done(arg, run_timed(p, given));
}

weft_err weft__run_wait(plan *p, plan_run *given, pool *tasks) {
  switch (p->executor) {
  case PLAN_DATAFLOW: return weft__dataflow_run(p, given, tasks);
  case PLAN_STAGED: return weft__staged_run(p, given);
  case PLAN_SEQUENTIAL: break;
  }
  return weft__sequential_run(p, given);
}
