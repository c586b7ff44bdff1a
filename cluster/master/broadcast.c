/* broadcast.c - starts the calls, counts the ones that are pending, and waits until none is.
 *
 * There is no lock.  Each reply writes only its own call; the count is atomic, and the last reply sets the event.  The
 * calls get a token of their own, so that an interrupt can cancel them without firing the caller's token. */
#include "cluster/master/broadcast.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"

typedef struct broadcast {
  atomic_int pending;  /* calls that have not ended */
  sync_event answered; /* set by the last reply */
  cancel cancel;       /* of the calls: fired with the caller's token, or when the program is interrupted */
} broadcast;

typedef struct broadcast_arg { /* of the callback of one call */
  broadcast *broadcast;
  broadcast_call *call;
} broadcast_arg;

static void broadcast_on_reply(void *arg, weft_err err, message *reply) {
  broadcast_arg *o = arg;
  broadcast *all = o->broadcast;
  weft__status_update(&o->call->status, err);
  if (reply) weft__message_move(&o->call->reply, reply);
  if (atomic_fetch_sub(&all->pending, 1) == 1) weft__rpc_event_set(&all->answered);
}

static void broadcast_on_cancel(void *arg) { weft__cancel_fire(arg, WEFT_CANCELLED, "The operation was cancelled"); }

static void broadcast_wait(broadcast *all) {
  while (!weft__rpc_event_wait(&all->answered, WEFT_WAIT_SLICE_MS * NS_PER_MS))
    if (weft__interrupt_pending())
      weft__cancel_fire(&all->cancel, WEFT_CANCELLED, "Interrupted while waiting for other tasks");
}

static weft_err broadcast_first_error(const broadcast_call *calls, int n) {
  for (int i = 0; i < n; i++) {
    weft_err err = weft__status_raise(&calls[i].status);
    if (err) return weft__fail_again(err, "From %s:\n%s", weft__peer_task(calls[i].to), calls[i].status.message);
  }
  return WEFT_OK;
}

weft_err weft__broadcast(broadcast_call *calls, int n, const char *method, const call_opts *opts) {
  broadcast all = {.pending = n};
  cancel_watch watch;
  broadcast_arg *args = weft__alloc((size_t)(n ? n : 1) * sizeof *args);
  if (!args) return WEFT_OOM;
  weft__cancel_init(&all.cancel);
  weft_err err =
      opts->cancel ? weft__cancel_watch_add(opts->cancel, &watch, broadcast_on_cancel, &all.cancel) : WEFT_OK;
  if (!err) {
    call_opts ours = *opts;
    ours.cancel = &all.cancel;
    for (int i = 0; i < n; i++) {
      args[i] = (broadcast_arg){&all, &calls[i]};
      weft__peer_call(calls[i].to, method, &calls[i].request, &ours, broadcast_on_reply, &args[i]);
    }
    if (n > 0) broadcast_wait(&all);
    if (opts->cancel) weft__cancel_watch_remove(opts->cancel, &watch);
    err = broadcast_first_error(calls, n);
  }
  weft__cancel_finish(&all.cancel);
  weft__free(args);
  return err;
}

int64_t weft__broadcast_timeout_ms(int64_t deadline_ns) {
  int64_t left = (deadline_ns - weft__clock_now_ns()) / NS_PER_MS;
  return deadline_ns == 0 ? 0 : left > 0 ? left : 1;
}

void weft__broadcast_finish(broadcast_call *calls, int n) {
  for (int i = 0; i < n; i++) {
    weft__message_finish(&calls[i].request);
    weft__message_finish(&calls[i].reply);
    weft__status_finish(&calls[i].status);
  }
}
