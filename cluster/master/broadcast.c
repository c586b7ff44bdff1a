/* broadcast.c - a count of answers still out, and a thread that waits for it to reach zero. */
#include "cluster/master/broadcast.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"

typedef struct asking {
  atomic_int left;
  sync_event answered; /* by all of them */
  cancel cancel;       /* ours: ends the calls when the asker's own fires or the program is interrupted */
} asking;

typedef struct one {
  asking *all;
  ask *ask;
} one;

static void on_reply(void *arg, weft_err err, message *reply) {
  one *o = arg;
  asking *all = o->all;
  weft__status_update(&o->ask->status, err);
  if (reply) weft__message_move(&o->ask->reply, reply);
  if (atomic_fetch_sub(&all->left, 1) == 1) weft__rpc_event_set(&all->answered);
}

static void pass_on(void *arg) { weft__cancel_fire(arg, WEFT_CANCELLED, "The operation was cancelled"); }

static void wait_for_answers(asking *all) {
  while (!weft__rpc_event_wait(&all->answered, (int64_t)WEFT_WAIT_SLICE_MS * 1000000))
    if (weft__interrupt_pending())
      weft__cancel_fire(&all->cancel, WEFT_CANCELLED, "Interrupted while waiting for other tasks");
}

static weft_err first_failure(const ask *list, int n) {
  for (int i = 0; i < n; i++) {
    weft_err err = weft__status_raise(&list[i].status);
    if (err) return weft__fail(err, "From %s:\n%s", weft__peer_task(list[i].to), list[i].status.message);
  }
  return WEFT_OK;
}

weft_err weft__ask_all(ask *list, int n, const char *method, const call_opts *opts) {
  asking all = {.left = n};
  cancel_watch watch;
  one *ones = weft__alloc((size_t)(n ? n : 1) * sizeof *ones);
  if (!ones) return WEFT_OOM;
  weft__cancel_init(&all.cancel);
  weft_err err = opts->cancel ? weft__cancel_watch_add(opts->cancel, &watch, pass_on, &all.cancel) : WEFT_OK;
  if (!err) {
    call_opts ours = *opts;
    ours.cancel = &all.cancel;
    for (int i = 0; i < n; i++) {
      ones[i] = (one){&all, &list[i]};
      weft__peer_call(list[i].to, method, &list[i].request, &ours, on_reply, &ones[i]);
    }
    if (n > 0) wait_for_answers(&all);
    if (opts->cancel) weft__cancel_watch_remove(opts->cancel, &watch);
    err = first_failure(list, n);
  }
  weft__cancel_finish(&all.cancel);
  weft__free(ones);
  return err;
}

int64_t weft__ms_left(int64_t deadline_ns) {
  int64_t left = (deadline_ns - weft__clock_now_ns()) / 1000000;
  return deadline_ns == 0 ? 0 : left > 0 ? left : 1;
}

void weft__asks_finish(ask *list, int n) {
  for (int i = 0; i < n; i++) {
    weft__message_finish(&list[i].request);
    weft__message_finish(&list[i].reply);
    weft__status_finish(&list[i].status);
  }
}
