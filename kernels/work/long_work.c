/* long_work.c - checks the step of a kernel that computes for long. */
#include "kernels/work/long_work.h"

#include "state/dataset.h"

bool weft__long_work_over(long_work *w) {
  if (atomic_load_explicit(&w->over, memory_order_relaxed)) return true;
  if (!w->kernel->step || weft__step_check_time(w->kernel->step) == WEFT_OK) return false;
  atomic_store_explicit(&w->over, true, memory_order_relaxed);
  return true;
}

/* An idle pass may be asked for an element again after its work was cut short: then the check itself finds nothing. */
weft_err weft__long_work_end(long_work *w) {
  if (!atomic_load_explicit(&w->over, memory_order_relaxed)) return WEFT_OK;
  WEFT_TRY(weft__step_check_time(w->kernel->step));
  return weft__fail(WEFT_CANCELLED, "The step ended while a kernel was computing");
}

weft_err weft__long_check(const kernel *k) {
  return k->step ? weft__kernel_in(k, weft__step_check_time(k->step)) : WEFT_OK;
}

typedef struct long_range {
  long_work work;
  pool_loop *fn;
  void *arg;
  int64_t piece; /* items between two checks */
} long_range;

static void long_range_run(void *arg, int64_t begin, int64_t end) {
  long_range *r = arg;
  for (int64_t next; begin < end; begin = next) {
    next = end - begin > r->piece ? begin + r->piece : end;
    if (weft__long_work_over(&r->work)) return;
    r->fn(r->arg, begin, next);
  }
}

weft_err weft__long_loop(const kernel *k, int64_t n, int64_t cost, pool_loop *fn, void *arg) {
  long_range r = {.work = weft__long_work(k), .fn = fn, .arg = arg};
  r.piece = LONG_LOOP_NS / (cost > 0 ? cost : 1);
  if (r.piece < 1) r.piece = 1;
  if (n <= r.piece) {
    weft__kernel_loop(k, n, cost, fn, arg);
    return WEFT_OK;
  }
  weft__kernel_loop(k, n, cost, long_range_run, &r);
  return weft__kernel_in(k, weft__long_work_end(&r.work));
}
