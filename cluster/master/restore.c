/* restore.c - asks until no task has a run left that began before. */
#include "cluster/master/restore.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "bundle.pb-c.h"
#include "cluster/master/broadcast.h"
#include <time.h>

#define METHOD "/weft.Worker/Restore"
enum { PAUSE_MS = 5, PATIENCE_S = 60 };

static weft_err count_running(ask *a, int *left) {
  ProtobufCMessage *m;
  WEFT_TRY(weft__message_unpack(&m, &a->reply, &weft__restore_response__descriptor));
  *left += ((const Weft__RestoreResponse *)m)->running;
  protobuf_c_message_free_unpacked(m, NULL);
  return WEFT_OK;
}

/* One round of questions; *left is how many runs there are still. */
static weft_err tell_others(ask *asks, int n, Weft__RestoreRequest *q, cancel *c, int *left) {
  weft_err err = WEFT_OK;
  for (int i = 0; i < n && !err; i++) err = weft__message_pack(&asks[i].request, &q->base);
  if (err || n == 0) return err;
  err = weft__ask_all(asks, n, METHOD, &(call_opts){.cancel = c});
  if (err && err != WEFT_UNIMPLEMENTED) return err;
  for (int i = 0; i < n; i++) { /* the first failure may hide another task's */
    weft_err own = asks[i].status.code;
    if (own && own != WEFT_UNIMPLEMENTED) return weft__status_raise(&asks[i].status);
    if (!own) WEFT_TRY(count_running(&asks[i], left));
  }
  return WEFT_OK;
}

static weft_err tell_all(worker *own, peer *const *others, int n, const char *session, bool begin, cancel *c,
                         int *left) {
  Weft__RestoreRequest q = WEFT__RESTORE_REQUEST__INIT;
  q.session_handle = (char *)(uintptr_t)session;
  q.begin = begin;
  WEFT_TRY(weft__worker_restore(own, session, begin, left));
  ask *asks = weft__alloc_zero((size_t)n + 1, sizeof *asks);
  int used = 0;
  if (!asks) return WEFT_OOM;
  for (int i = 0; i < n; i++)
    if (weft__peer_kind(others[i]) != PEER_TF) asks[used++].to = others[i];
  weft_err err = tell_others(asks, used, &q, c, left);
  weft__asks_finish(asks, used);
  weft__free(asks);
  return err;
}

weft_err weft__restore_tell(worker *own, peer *const *others, int n, const char *session, bool begin, cancel *c) {
  const int64_t until = weft__clock_now_ns() + PATIENCE_S * INT64_C(1000000000);
  for (;;) {
    int left = 0;
    WEFT_TRY(tell_all(own, others, n, session, begin, c, &left));
    if (!begin || left == 0) return WEFT_OK;
    if (weft__cancel_fired(c)) return weft__cancel_raise(c);
    if (weft__clock_now_ns() > until)
      return weft__fail(WEFT_DEADLINE_EXCEEDED,
                        "%d runs of other workers did not end within %d s, and the variables cannot be restored", left,
                        PATIENCE_S);
    nanosleep(&(struct timespec){0, PAUSE_MS * 1000000L}, NULL);
  }
}
