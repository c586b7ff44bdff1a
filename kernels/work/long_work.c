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
