/* core.c - one completion queue for the process, and the thread that polls it.
 *
 * Servers and channels share both: a second thread would be one more switch between an event and the code that waits
 * for it (an empty call took 45 us with two, 31 us with one).  gRPC is initialized with the first user and shut down
 * with the last.  A process that was forked in between must not use it, since its threads are gone.  The state is
 * process-wide; net/transport.h says why.
 *
 * Locks: core_lock over the users, held while gRPC is started and stopped; backup_lock over what the backup poller
 * and the thread that shuts gRPC down wait for.  Callbacks run without either. */
#include "net/grpc/core.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory_limit.h"
#include "base/metrics.h"
#include "net/grpc/inflate.h"
#include "net/process.h"
#include <grpc/byte_buffer_reader.h>
#include <grpc/support/log.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* ---- the queue ---- */

static pthread_mutex_t core_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  int users;
  pid_t pid;
  grpc_completion_queue *queue;
  pthread_t thread, backup;
  bool has_backup;
  bool stopping;              /* guarded by backup_lock */
  atomic_uint callback_phase; /* odd while a callback runs on the polling thread */
  atomic_bool backup_sleeps;  /* the backup poller waits for the next callback; cleared under backup_lock */
} core;

static void core_dispatch(const grpc_event *e) {
  if (e->type != GRPC_OP_COMPLETE) return;
  tag *t = e->tag;
  (void)atomic_load_explicit(&t->posted, memory_order_acquire);
  t->done(t->arg, e->success);
}

static pthread_mutex_t backup_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t backup_wake = PTHREAD_COND_INITIALIZER;

static void core_wake_backup(void) {
  pthread_mutex_lock(&backup_lock);
  atomic_store(&core.backup_sleeps, false);
  pthread_cond_signal(&backup_wake);
  pthread_mutex_unlock(&backup_lock);
}

static void *core_poll_thread(void *queue) {
  for (;;) {
    grpc_event e = grpc_completion_queue_next(queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    if (e.type == GRPC_QUEUE_SHUTDOWN) return NULL;
    atomic_fetch_add(&core.callback_phase, 1); /* before the flag is read: core_backup_interval does the reverse */
    if (atomic_load(&core.backup_sleeps)) core_wake_backup();
    core_dispatch(&e);
    atomic_fetch_add_explicit(&core.callback_phase, 1, memory_order_relaxed);
  }
}

/* ---- the backup poller: a callback that takes long must not make the process look dead to its peers, so a second
 * thread polls until the callback returns.  While there are no callbacks it sleeps, so that an idle process stays
 * idle ---- */

/* Returns how long the backup poller waits, in ms, if the phase was `seen` and is `now`; -1: until a callback begins.
 */
static int64_t core_backup_interval(unsigned seen, unsigned now) {
  if (now != seen || (now & 1)) return CALLBACK_SLOW_MS;
  atomic_store(&core.backup_sleeps, true);
  if (atomic_load(&core.callback_phase) == now) return -1;
  atomic_store(&core.backup_sleeps, false);
  return CALLBACK_SLOW_MS;
}

/* Returns true if gRPC is being shut down, which ends the wait. */
static bool core_stops_within(int64_t ms) {
  struct timespec until = weft__clock_deadline(ms < 0 ? -1 : ms * NS_PER_MS);
  pthread_mutex_lock(&backup_lock);
  while (!core.stopping && (ms >= 0 || atomic_load(&core.backup_sleeps)) &&
         pthread_cond_clockwait(&backup_wake, &backup_lock, CLOCK_MONOTONIC, &until) == 0)
    continue;
  bool stopping = core.stopping;
  pthread_mutex_unlock(&backup_lock);
  return stopping;
}

static void *core_backup_thread(void *queue) {
  int64_t interval = CALLBACK_SLOW_MS;
  for (unsigned seen = 0; !core_stops_within(interval);) {
    unsigned now = atomic_load_explicit(&core.callback_phase, memory_order_relaxed);
    while (now == seen && (now & 1) && now == atomic_load_explicit(&core.callback_phase, memory_order_relaxed)) {
      gpr_timespec until =
          gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(CALLBACK_SLOW_MS, GPR_TIMESPAN));
      grpc_event e = grpc_completion_queue_next(queue, until, NULL);
      core_dispatch(&e);
    }
    interval = core_backup_interval(seen, now);
    seen = now;
  }
  return NULL;
}

static void core_stop_backup(void) {
  pthread_mutex_lock(&backup_lock);
  core.stopping = true;
  pthread_cond_signal(&backup_wake);
  pthread_mutex_unlock(&backup_lock);
  if (core.has_backup) pthread_join(core.backup, NULL);
  core.has_backup = false;
}

static void core_log(gpr_log_func_args *a) {
  weft__log_at(LOG_DEBUG, WEFT_COMPONENT, a->file, a->line, "gRPC: %s", a->message);
}

/* ---- shutting down ---- */

/* grpc_shutdown waits for gRPC's timer threads without a deadline, and also for one that it could not start
 * (pthread_create failed).  So it runs on a thread of its own, and a process that has waited too long goes on
 * without it. */
enum { SHUTDOWN_TIMEOUT_S = 5 };
static pthread_cond_t shutdown_done = PTHREAD_COND_INITIALIZER; /* guarded, with the next two, by backup_lock */
static bool grpc_is_shut_down, grpc_is_stuck;

static void *core_shutdown_thread(void *none) {
  grpc_shutdown();
  pthread_mutex_lock(&backup_lock);
  grpc_is_shut_down = true;
  grpc_is_stuck = false;
  pthread_cond_signal(&shutdown_done);
  pthread_mutex_unlock(&backup_lock);
  return none;
}

static void core_shut_down_grpc(void) {
  pthread_t t;
  struct timespec until = weft__clock_deadline(SHUTDOWN_TIMEOUT_S * NS_PER_S);
  grpc_is_shut_down = false;
  if (pthread_create(&t, NULL, core_shutdown_thread, NULL) != 0)
    return; /* gRPC stays initialized, which the next start does not mind */
  pthread_detach(t);
  pthread_mutex_lock(&backup_lock);
  while (!grpc_is_shut_down && pthread_cond_clockwait(&shutdown_done, &backup_lock, CLOCK_MONOTONIC, &until) == 0)
    continue;
  bool late = grpc_is_stuck = !grpc_is_shut_down;
  pthread_mutex_unlock(&backup_lock);
  if (late)
    weft__log(LOG_WARNING, "gRPC did not stop within %d s, as happens when it could not start a thread: left as it is",
              SHUTDOWN_TIMEOUT_S);
}

static void core_stop(bool has_thread) {
  core_stop_backup();
  grpc_completion_queue_shutdown(core.queue);
  if (has_thread)
    pthread_join(core.thread, NULL);
  else
    core_poll_thread(core.queue); /* returns at once, since the queue was shut down */
  grpc_completion_queue_destroy(core.queue);
  core_shut_down_grpc();
}

static weft_err core_start(void) {
  pthread_mutex_lock(&backup_lock);
  bool is_stuck = grpc_is_stuck;
  pthread_mutex_unlock(&backup_lock);
  if (is_stuck)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED,
                      "gRPC did not stop when it was last used in this process; start the program again");
  gpr_set_log_function(core_log);
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  grpc_init();
  core.pid = weft__process_id();
  core.queue = grpc_completion_queue_create_for_next(NULL);
  core.stopping = false;
  int failed = pthread_create(&core.thread, NULL, core_poll_thread, core.queue);
  if (!failed) core.has_backup = pthread_create(&core.backup, NULL, core_backup_thread, core.queue) == 0;
  if (!failed) return WEFT_OK;
  core_stop(false);
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "The network's thread could not be started (error %d)", failed);
}

weft_err weft__core_retain(grpc_completion_queue **out) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&core_lock);
  if (core.users == 0) err = core_start();
  if (core.pid != weft__process_id())
    err = weft__fail(WEFT_FAILED_PRECONDITION,
                     "The network was started in process %d, before this process (%d) was "
                     "forked from it; start it after forking",
                     (int)core.pid, weft__process_id());
  if (err == WEFT_OK) core.users++;
  *out = err == WEFT_OK ? core.queue : NULL;
  pthread_mutex_unlock(&core_lock);
  return err;
}

void weft__core_release(void) {
  pthread_mutex_lock(&core_lock);
  if (--core.users == 0) core_stop(true);
  pthread_mutex_unlock(&core_lock);
}

grpc_call_error weft__core_start_batch(grpc_call *on, const grpc_op *ops, size_t n, tag *t) {
  return grpc_call_start_batch(on, ops, n, weft__core_post(t), NULL);
}

/* ---- bytes ---- */

typedef struct sent_message { /* keeps the pieces of a message until the last one is sent */
  atomic_int refs;
  message m;
} sent_message;

static void sent_message_release(void *arg) {
  sent_message *l = arg;
  if (atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) != 1) return;
  weft__message_finish(&l->m);
  weft__free(l);
}

weft_err weft__core_from_message(grpc_byte_buffer **out, message *m) {
  enum { FEW = 8 };
  grpc_slice few[FEW], *slices = few;
  WEFT_TRY(weft__message_own(m));
  int n = m->n_piece;
  sent_message *l = weft__alloc(sizeof *l);
  if (n > FEW) slices = weft__alloc((size_t)n * sizeof *slices);
  if (!l || !slices) {
    weft__free(l);
    if (slices != few) weft__free(slices);
    return WEFT_OOM;
  }
  weft__metrics_add(METRICS_BYTES_OUT, m->size);
  weft__message_move(&l->m, m);
  atomic_init(&l->refs, n + 1);
  for (int i = 0; i < n; i++) {
    const piece *p = weft__message_piece(&l->m, i);
    slices[i] = grpc_slice_new_with_user_data((void *)(uintptr_t)p->data, p->size, sent_message_release, l);
  }
  *out = grpc_raw_byte_buffer_create(slices, (size_t)n);
  for (int i = 0; i < n; i++) grpc_slice_unref(slices[i]);
  if (slices != few) weft__free(slices);
  sent_message_release(l);
  return WEFT_OK;
}

typedef struct received_message { /* keeps the slices of a message until the last one is released */
  atomic_int refs;
  grpc_byte_buffer *buffer;
  grpc_byte_buffer_reader reader;
} received_message;

static void received_message_release(void *arg) {
  received_message *a = arg;
  if (atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1) return;
  grpc_byte_buffer_reader_destroy(&a->reader);
  grpc_byte_buffer_destroy(a->buffer);
  weft__free(a);
}

weft_err weft__core_to_message(message *out, grpc_byte_buffer *b) {
  if (!b) return WEFT_OK;
  if (b->data.raw.compression != GRPC_COMPRESS_NONE) { /* left so by a listener without authentication */
    weft_err err = weft__inflate_to_message(out, b);
    grpc_byte_buffer_destroy(b);
    weft__metrics_add(METRICS_BYTES_IN, out->size);
    return err;
  }
  received_message *a = weft__alloc(sizeof *a);
  if (!a || !grpc_byte_buffer_reader_init(&a->reader, b)) {
    weft__free(a);
    grpc_byte_buffer_destroy(b);
    return weft__fail(WEFT_INTERNAL, "A message could not be decompressed, or no memory was left to read it");
  }
  a->buffer = b;
  atomic_init(&a->refs, 1);
  weft_err err = WEFT_OK;
  grpc_slice *s;
  while (err == WEFT_OK && grpc_byte_buffer_reader_peek(&a->reader, &s)) {
    atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
    err = weft__message_add(out, (piece){GRPC_SLICE_START_PTR(*s), GRPC_SLICE_LENGTH(*s), received_message_release, a});
  }
  weft__metrics_add(METRICS_BYTES_IN, out->size);
  if (err != WEFT_OK) weft__message_finish(out);
  received_message_release(a);
  return err;
}

/* ---- settings ---- */

grpc_slice weft__core_bearer(const char *token) {
  static const char before[] = "Bearer ";
  size_t head = sizeof before - 1, size = token ? strlen(token) : 0;
  if (!token) return grpc_empty_slice();
  grpc_slice s = grpc_slice_malloc(head + size);
  memcpy(GRPC_SLICE_START_PTR(s), before, head);
  memcpy(GRPC_SLICE_START_PTR(s) + head, token, size);
  return s;
}

void weft__core_args_add(core_args *a, const char *key, int value) {
  a->arg[a->all.num_args++] =
      (grpc_arg){.type = GRPC_ARG_INTEGER, .key = (char *)(uintptr_t)key, .value.integer = value};
  a->all.args = a->arg;
}

void weft__core_args_common(core_args *a) {
  *a = (core_args){.all.num_args = 0};
  weft__core_args_add(a, GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, INT_MAX);
  weft__core_args_add(a, GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, INT_MAX);
  weft__core_args_add(a, GRPC_ARG_HTTP2_MAX_FRAME_SIZE, 1 << 20);          /* large tensors in few frames */
  weft__core_args_add(a, GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 16 << 20); /* few waits for HTTP/2's flow control */
  weft__core_args_add(a, GRPC_ARG_HTTP2_BDP_PROBE, 0);                     /* so the window need not be measured */
  weft__core_args_add(a, GRPC_ARG_ENABLE_CHANNELZ, 0);
  weft__core_args_add(a, GRPC_ARG_ENABLE_CENSUS, 0);
  weft__core_args_add(a, GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0); /* compressed messages are still read */
}

void weft__core_args_quota(core_args *a) {
  const size_t ceiling = weft__memory_limit();
  if (!ceiling) return;
  grpc_resource_quota *quota = grpc_resource_quota_create("weft");
  grpc_resource_quota_resize(quota, ceiling / 2);
  a->arg[a->all.num_args++] = (grpc_arg){.type = GRPC_ARG_POINTER,
                                         .key = (char *)(uintptr_t)GRPC_ARG_RESOURCE_QUOTA,
                                         .value.pointer = {quota, grpc_resource_quota_arg_vtable()}};
  a->all.args = a->arg;
  a->quota = quota;
}

void weft__core_args_finish(core_args *a) {
  if (a->quota) grpc_resource_quota_unref(a->quota);
}
#endif
