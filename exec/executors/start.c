/* start.c - which executor, and on which thread. */
#include "exec/executors/start.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "exec/executors/dataflow.h"
#include "exec/executors/staged.h"

enum { BRIEF_NS = 30000 };

typedef struct handed { /* a straight run on its way to the pool */
  plan *plan;
  plan_run *run;
  run_done *done;
  void *arg;
} handed;

static weft_err run_timed(plan *p, plan_run *run) {
  int64_t begin = weft__clock_now_ns();
  weft_err err = weft__plan_run(p, run);
  weft__cost_note(&p->cost, weft__clock_now_ns() - begin);
  return err;
}

static void run_handed(void *arg) {
  handed h = *(handed *)arg;
  weft__free(arg);
  h.done(h.arg, run_timed(h.plan, h.run));
}

static bool hand_over(plan *p, plan_run *run, pool *tasks, run_done *done, void *arg) {
  handed *h = weft__alloc(sizeof *h);
  if (!h) return false;
  *h = (handed){p, run, done, arg};
  if (weft__pool_submit(tasks, run_handed, h) == WEFT_OK) return true;
  weft__free(h);
  return false;
}

void weft__run_start(plan *p, plan_run *run, pool *tasks, bool borrowed, run_done *done, void *arg) {
  if (p->dataflow) {
    weft__dataflow_start(p, run, tasks, borrowed, done, arg);
    return;
  }
  if (p->staged) {
    weft__staged_start(p, run, tasks, borrowed, done, arg);
    return;
  }
  unsigned cost = atomic_load_explicit(&p->cost, memory_order_relaxed);
  bool brief = cost > 0 && cost < BRIEF_NS && !p->waits;
  if (borrowed && !brief && hand_over(p, run, tasks, done, arg)) return;
  done(arg, run_timed(p, run));
}

weft_err weft__run_wait(plan *p, plan_run *run, pool *tasks) {
  if (p->dataflow) return weft__dataflow_run(p, run, tasks);
  return p->staged ? weft__staged_run(p, run) : weft__plan_run(p, run);
}
