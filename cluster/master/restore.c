/* restore.c - repeats the broadcast until no task has a run left that began before.
 *
 * There is no lock and no state: the calling thread waits. */
#include "cluster/master/restore.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "recv_batch.pb-c.h"
#include "cluster/master/broadcast.h"
#include <time.h>

#define METHOD "/weft.Worker/Restore"
enum { PAUSE_MS = 5, TIMEOUT_S = 60 };

static weft_err restore_count_running(broadcast_call *a, int *n_running) {
  ProtobufCMessage *m;
  WEFT_TRY(weft__message_unpack(&m, &a->reply, &weft__restore_response__descriptor));
  *n_running += ((const Weft__RestoreResponse *)m)->running;
  protobuf_c_message_free_unpacked(m, NULL);
  return WEFT_OK;
}

/* Sends one broadcast and adds up the runs that have not ended.  A task without the method is left out. */
static weft_err restore_call_peers(broadcast_call *calls, int n, Weft__RestoreRequest *q, cancel *c, int *n_running) {
  weft_err err = WEFT_OK;
  for (int i = 0; i < n && !err; i++) err = weft__message_pack(&calls[i].request, &q->base);
  if (err || n == 0) return err;
  err = weft__broadcast(calls, n, METHOD, &(call_opts){.cancel = c});
  if (err && err != WEFT_UNIMPLEMENTED) return err;
  for (int i = 0; i < n; i++) { /* the first error may hide another task's */
    weft_err own = calls[i].status.code;
    if (own && own != WEFT_UNIMPLEMENTED) return weft__status_raise(&calls[i].status);
    if (!own) WEFT_TRY(restore_count_running(&calls[i], n_running));
  }
  return WEFT_OK;
}

static weft_err restore_call_all(worker *own, peer *const *peers_list, int n, const char *session, bool begin,
                                 cancel *c, int *n_running) {
  Weft__RestoreRequest q = WEFT__RESTORE_REQUEST__INIT;
  q.session_handle = (char *)(uintptr_t)session;
  q.begin = begin;
  WEFT_TRY(weft__worker_restore(own, session, begin, n_running));
  broadcast_call *calls = weft__alloc_zero((size_t)n + 1, sizeof *calls);
  int used = 0;
  if (!calls) return WEFT_OOM;
  for (int i = 0; i < n; i++)
    if (weft__peer_kind(peers_list[i]) != PEER_TF) calls[used++].to = peers_list[i];
  weft_err err = restore_call_peers(calls, used, &q, c, n_running);
  weft__broadcast_finish(calls, used);
  weft__free(calls);
  return err;
}

weft_err weft__restore_announce(worker *own, peer *const *peers_list, int n, const char *session, bool begin,
                                cancel *c) {
  const int64_t until = weft__clock_now_ns() + TIMEOUT_S * NS_PER_S;
  for (;;) {
    int n_running = 0;
    WEFT_TRY(restore_call_all(own, peers_list, n, session, begin, c, &n_running));
    if (!begin || n_running == 0) return WEFT_OK;
    if (weft__cancel_fired(c)) return weft__cancel_raise(c);
    if (weft__clock_now_ns() > until)
      return weft__fail(WEFT_DEADLINE_EXCEEDED,
                        "%d runs of other workers did not end within %d s, and the variables cannot be restored",
                        n_running, TIMEOUT_S);
    nanosleep(&(struct timespec){0, PAUSE_MS * NS_PER_MS}, NULL);
  }
}
