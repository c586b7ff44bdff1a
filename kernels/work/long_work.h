/* long_work.h - how a kernel whose cost can be far above its bytes ends with its step.
 *
 * An executor checks the time between two nodes.  A kernel with a quadratic loop, or with a count that an attribute or
 * a scalar gives, may run for hours on inputs of some kilobytes.  Such a kernel reports what it has computed, and
 * returns an error soon after its step was canceled or has passed its deadline:
 *
 *     long_work work = weft__long_work(k);
 *     int64_t spent = 0;
 *     for (...) {
 *       if (weft__long_work_spent(&work, &spent, cost of this turn)) break;
 *       ...
 *     }
 *     WEFT_TRY(weft__long_work_end(&work));
 *
 * Several threads may share one long_work; each has its own `spent`, which lives as long as its loops.  While constants
 * are folded, the step has a deadline of its own (graph/fold.c), so such a node is left for the program's step. */
#ifndef WEFT_KERNELS_WORK_LONG_WORK_H
#define WEFT_KERNELS_WORK_LONG_WORK_H

#include "graph/kernel.h"
#include <stdatomic.h>

enum { LONG_WORK_PIECE = 1 << 21 }; /* elementary operations between two checks: some milliseconds */

typedef struct long_work {
  const kernel *kernel;
  atomic_bool over; /* set once the step has ended, and never reset: the result lacks something */
} long_work;

static inline long_work weft__long_work(const kernel *k) { return (long_work){.kernel = k}; }
/* Returns true if the step has ended; from then on always.  Any thread may call it. */
bool weft__long_work_over(long_work *w);
/* Adds the cost, in elementary operations, and checks the step when they amount to a piece. */
static inline bool weft__long_work_spent(long_work *w, int64_t *spent, int64_t cost) {
  *spent += cost;
  if (*spent < LONG_WORK_PIECE) return false;
  if (weft__long_work_over(w)) return true; /* so will the next call: nested loops end one by one */
  *spent = 0;
  return false;
}
/* For a loop on the kernel's own thread whose turns cost less than ten microseconds each: checks the step at every so
 * many of them, and returns its error if it has ended. */
enum { LONG_TURNS = 1 << 15 };
weft_err weft__long_check(const kernel *k);
static inline weft_err weft__long_turn(const kernel *k, int64_t turn) {
  return (turn & (LONG_TURNS - 1)) == LONG_TURNS - 1 ? weft__long_check(k) : WEFT_OK;
}
/* Returns true if a check has found that the step has ended; checks nothing itself.  w may be NULL. */
static inline bool weft__long_work_is_over(const long_work *w) {
  return w && atomic_load_explicit(&w->over, memory_order_relaxed);
}
/* Returns the error of a step that ended before the work did, or OK.  Called by the kernel's thread, after the work. */
weft_err weft__long_work_end(long_work *w);
/* Like weft__kernel_loop, with a check of the step every LONG_LOOP_NS by the cost of the items, in nanoseconds; none if
 * all items cost less.  Returns the error of a step that ended before all items were computed, or OK.  fn may be called
 * more often than without the checks.  Not for loops that change variables: one that ends early would leave a variable
 * half changed. */
enum { LONG_LOOP_NS = 10000000 };
weft_err weft__long_loop(const kernel *k, int64_t n, int64_t cost, pool_loop *fn, void *arg);

#endif
