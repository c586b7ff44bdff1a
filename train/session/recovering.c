/* recovering.c - a session around a session that is replaced when a task is lost.
 *
 * The session that a program runs is the outer one; it runs the inner one, which can be replaced.  The first thread
 * that sees the loss replaces the inner session.  The runs of other threads are canceled when the old session closes;
 * these threads wait for the new one and retry.  The generation number counts the replacements, so that each loss is
 * handled once.  The outer session's lock is not held while inner sessions run, open or close. */
#include "train/session/recovering.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include <pthread.h>

enum { TRIES_MAX = 1000 }; /* attempts to open a new session, if tasks are lost again meanwhile */

typedef struct recovering {
  weft_session base;
  recovery how;
  atomic_int shares;    /* references: the object is freed with the last one */
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t changed;
  weft_session *inner;
  int users, generation; /* calls that use the inner session; replacements so far */
  bool replacing, closed;
  status failed; /* why the last replacement could not be made: all later runs fail with it */
} recovering;

static recovering *recovering_of(weft_session *s) { return (recovering *)s; }

static void recovering_wait_slice(recovering *r) {
  WEFT_ASSERT(weft__lock_is_held(&r->lock));
  struct timespec until = weft__clock_deadline(WEFT_WAIT_SLICE_MS * NS_PER_MS);
  pthread_cond_clockwait(&r->changed, &r->lock, CLOCK_MONOTONIC, &until);
}

/* Returns the current inner session, which is not destroyed before recovering_leave. */
static weft_err recovering_enter(recovering *r, const run_opts *opts, weft_session **inner, int *generation) {
  cancel *token = opts ? opts->cancel : NULL;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&r->lock);
  while (r->replacing && !r->closed && !weft__interrupt_pending() && !(token && weft__cancel_fired(token)))
    recovering_wait_slice(r);
  if (r->closed)
    err = weft__fail(WEFT_CANCELLED, "Session has been closed.");
  else if (r->replacing)
    err = token && weft__cancel_fired(token)
              ? weft__cancel_raise(token)
              : weft__fail(WEFT_CANCELLED, "Interrupted while a lost session was replaced");
  else
    err = weft__status_raise(&r->failed);
  if (!err) {
    *inner = r->inner;
    WEFT_ASSERT(r->inner && !r->replacing);
    *generation = r->generation;
    r->users++;
  }
  pthread_mutex_unlock(&r->lock);
  return err;
}

/* Ends the use of the inner session.  *replaced: it has been replaced since recovering_enter, or is being replaced. */
static void recovering_leave(recovering *r, int generation, bool *replaced) {
  pthread_mutex_lock(&r->lock);
  WEFT_ASSERT(r->users > 0 && generation <= r->generation);
  r->users--;
  *replaced = !r->closed && (r->replacing || r->generation != generation);
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
}

static bool means_lost(weft_err err) { return err == WEFT_UNAVAILABLE || err == WEFT_ABORTED; }

/* Waits a moment before another attempt.  Returns false if there should be none. */
static bool may_try_again(recovering *r) {
  pthread_mutex_lock(&r->lock);
  recovering_wait_slice(r);
  bool closed = r->closed;
  pthread_mutex_unlock(&r->lock);
  return !closed && weft__interrupt_count() == 0;
}

/* Opens a session to replace the lost one.  Retries if a task is lost again meanwhile, for example while a
 * checkpoint hook saves. */
static weft_err make_another(recovering *r, weft_session **out) {
  for (int tries = 0;; tries++) {
    weft_session *fresh = NULL;
    if (r->how.defers_interrupts) weft__interrupt_undefer();
    weft_err err = r->how.reopen(r->how.arg, &fresh);
    if (r->how.defers_interrupts) weft__interrupt_defer();
    if (!err && r->how.reopened) err = r->how.reopened(r->how.arg, fresh);
    if (!err) {
      *out = fresh;
      return WEFT_OK;
    }
    status kept = {0};
    weft__status_update(&kept, err);
    weft__session_destroy(fresh);
    bool again = means_lost(err) && tries < TRIES_MAX && may_try_again(r);
    if (!again) err = weft__status_raise(&kept);
    weft__status_finish(&kept);
    if (!again) return err;
  }
}

/* Replaces the inner session.  The lock is held on entry and on return, but not meanwhile.  Closing the old session
 * cancels its runs, so its users leave soon. */
static void recovering_replace(recovering *r) {
  WEFT_ASSERT(weft__lock_is_held(&r->lock) && !r->replacing);
  weft_session *old = r->inner, *fresh = NULL;
  r->replacing = true;
  pthread_mutex_unlock(&r->lock);
  weft__session_close(old);
  pthread_mutex_lock(&r->lock);
  while (r->users) recovering_wait_slice(r);
  WEFT_ASSERT(r->replacing && r->inner == old);
  r->inner = NULL;
  pthread_mutex_unlock(&r->lock);
  weft__session_destroy(old);
  weft_err err = make_another(r, &fresh);
  pthread_mutex_lock(&r->lock);
  weft__status_update(&r->failed, err);
  r->inner = fresh;
  r->generation++;
  r->replacing = false;
  pthread_cond_broadcast(&r->changed);
}

static weft_err recovering_recover(recovering *r, int generation) {
  weft__log(LOG_INFO,
            "An error was raised. This may be due to a preemption in a connected worker or parameter server. The "
            "current session will be closed and a new session will be created. Error: %s",
            weft__error_message());
  pthread_mutex_lock(&r->lock);
  if (!r->closed && !r->replacing && r->generation == generation) recovering_replace(r);
  weft_err err = weft__status_raise(&r->failed);
  pthread_mutex_unlock(&r->lock);
  return err;
}

/* Returns true if the error of a run means that a task, or the state on one, was lost. */
static bool recovering_lost(recovering *r, weft_session *inner, weft_err err) {
  if (means_lost(err)) return true;
  if (err != WEFT_FAILED_PRECONDITION || !r->how.state_lost || !weft__error_has(ERROR_UNINITIALIZED)) return false;
  status kept = {0};
  weft__status_update(&kept, err);
  bool gone = r->how.state_lost(r->how.arg, inner);
  weft__status_raise(&kept); /* the check may have set another message */
  weft__status_finish(&kept);
  return gone;
}

static weft_err recovering_run(weft_session *s, const plan_request *q, const weft_tensor *const *feed,
                               weft_tensor **fetched, const run_opts *opts) {
  recovering *r = recovering_of(s);
  for (;;) {
    weft_session *inner;
    int generation;
    bool replaced;
    WEFT_TRY(recovering_enter(r, opts, &inner, &generation));
    weft_err err = weft__session_run(inner, q, feed, fetched, opts);
    bool lost = err && recovering_lost(r, inner, err);
    recovering_leave(r, generation, &replaced);
    if (!err) return WEFT_OK;
    bool caller_canceled = opts && opts->cancel && weft__cancel_fired(opts->cancel);
    if (replaced && (lost || (err == WEFT_CANCELLED && !caller_canceled))) continue; /* that ended this run */
    if (!lost) return r->how.failed ? r->how.failed(r->how.arg, err) : err;
    WEFT_TRY(recovering_recover(r, generation));
  }
}

static weft_err close_all(weft_session *s) {
  recovering *r = recovering_of(s);
  pthread_mutex_lock(&r->lock);
  r->closed = true;
  weft_session *inner = r->replacing ? NULL : r->inner;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
  weft_err err = inner ? weft__session_close(inner) : WEFT_OK;
  if (err == WEFT_ABORTED || err == WEFT_UNAVAILABLE) err = WEFT_OK; /* the master lost the session: it is closed */
  pthread_mutex_lock(&r->lock);
  while (r->users || r->replacing) recovering_wait_slice(r);
  pthread_mutex_unlock(&r->lock);
  return err;
}

void weft__recovering_share(weft_session *s) { atomic_fetch_add(&recovering_of(s)->shares, 1); }

void weft__recovering_drop(weft_session *s) {
  if (!s || atomic_fetch_sub(&recovering_of(s)->shares, 1) != 1) return;
  recovering *r = recovering_of(s);
  weft__session_destroy(r->inner);
  weft__status_finish(&r->failed);
  pthread_cond_destroy(&r->changed);
  pthread_mutex_destroy(&r->lock);
  weft__free(r);
}

static weft_err recovering_devices(weft_session *s, device_info **out, int *n) {
  weft_session *inner;
  int generation;
  bool replaced;
  WEFT_TRY(recovering_enter(recovering_of(s), NULL, &inner, &generation));
  weft_err err = weft__session_devices(inner, out, n);
  recovering_leave(recovering_of(s), generation, &replaced);
  return err;
}

weft_err weft__recovering_create(weft_session **out, weft_session *first, const recovery *how) {
  static const session_ops ops = {recovering_run, close_all, weft__recovering_drop, recovering_devices};
  recovering *r = weft__alloc_zero(1, sizeof *r);
  if (!r) {
    weft__session_destroy(first);
    return WEFT_OOM;
  }
  r->base = (weft_session){.ops = &ops, .graph = first->graph};
  r->how = *how;
  r->inner = first;
  atomic_init(&r->shares, 1);
  pthread_mutex_init(&r->lock, NULL);
  pthread_cond_init(&r->changed, NULL);
  *out = &r->base;
  return WEFT_OK;
}
