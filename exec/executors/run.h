/* run.h - one run of a plan, whichever executor runs it: its cancellation, first failure, end and cost.
 *
 * Any thread may report a failure.  The first one counts.  It fires the step's cancel token, which wakes whatever
 * waits; the executor ends the run when nothing of it is under way any more. */
#ifndef WEFT_EXEC_EXECUTORS_RUN_H
#define WEFT_EXEC_EXECUTORS_RUN_H

#include "base/clock.h"
#include "base/pool.h"
#include "exec/plan.h"

/* What a caller gives to a run of a plan: the values of one step.  It outlives the run. */
typedef struct plan_run {
  const weft_tensor *const *feed; /* n_feed */
  weft_tensor **fetched;          /* n_fetch; set on success, the caller's to destroy */
  step step;                      /* filled in by the session */
  int64_t deadline_ns;            /* on the monotonic clock; 0: none */
  bool keeps_feeds;               /* what is fetched may share memory with the feeds */
  struct step_log *log;           /* NULL, or where to note what ran when (exec/executors/steplog.h) */
} plan_run;

typedef void run_done(void *arg, weft_err err);

typedef struct active_run {
  plan *plan;
  plan_run *given; /* the caller's */
  pool *tasks;     /* takes work that does not run on the thread at hand (exec/executors/start.h) */
  run_done *done;  /* called once, at the end, with arg; NULL: a thread waits for the end */
  void *arg;
  cancel_watch watch;
  bool watching;
  atomic_bool failed;   /* a failure was reported */
  pthread_mutex_t lock; /* guards the failure and the fields that the executor lists; a leaf */
  pthread_cond_t wake;  /* for the thread that waits */
  status failure;       /* the first */
} active_run;

/* Create and destroy the lock and the condition variable, which an executor may keep from run to run. */
void weft__run_init(active_run *r);
void weft__run_finish(active_run *r);
/* Begins a run, and watches the step's token: when it fires, the step receives nothing more.  Fails if it has fired
 * already. */
weft_err weft__run_begin(active_run *r, plan *p, plan_run *given, pool *tasks, run_done *done, void *arg);
/* Reports a failure.  The caller must itself be unfinished work of the run, such as a receive that is still counted:
 * otherwise the run may end and be freed meanwhile. */
void weft__run_fail(active_run *r, weft_err err);
/* For threads that wait: as weft__run_check_time, and CANCELLED if the program was interrupted. */
weft_err weft__run_check_wait(const active_run *r);
/* Ends a run whose result is err and that has no active work: fetches from its slots unless it failed.  Returns the
 * error for the caller or for `done`. */
weft_err weft__run_end(active_run *r, const value *slot, weft_err err);

/* ---- parts that need no run object ---- */

/* For executors, between two nodes: the code and message with which the step was canceled, DEADLINE_EXCEEDED, or OK. */
weft_err weft__run_check_time(const plan_run *given);
/* Waits for the plan's GPUs and, if neither err nor they report an error, fetches the results from the slots.  Returns
 * err, or else the GPUs' first error. */
weft_err weft__run_results(plan *p, const plan_run *given, const value *slot, weft_err err);
/* Ends a run from which the host reads nothing, while its kernels may run: waits for the runs before it.  *mark is that
 * of device_ops.end_step. */
weft_err weft__run_end_early(const plan *p, uint64_t *mark);
/* Updates an estimate of a cost.  The estimate stays close to the minimum, because longer times include preemption; it
 * rises slowly if the work really takes longer.  Several runs of a plan may update it at once, without a lock; then one
 * of the measurements is lost, which does no harm. */
static inline void weft__cost_note(atomic_uint *cost, int64_t ns) {
  unsigned old = atomic_load_explicit(cost, memory_order_relaxed), now = (unsigned)(ns > NS_PER_S ? NS_PER_S : ns + 1);
  unsigned next = old == 0 || now < old ? now : old + (now - old) / 64;
  atomic_store_explicit(cost, next, memory_order_relaxed);
}
/* Returns true if the work is so short that any thread may do it.  Work of unknown cost is not. */
static inline bool weft__cost_is_short(const atomic_uint *cost, const plan *p) {
  enum { SHORT_NS = 30000 };
  const unsigned ns = atomic_load_explicit(cost, memory_order_relaxed);
  return ns > 0 && ns < SHORT_NS && !p->waits;
}

#endif
