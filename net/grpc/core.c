/* core.c - one completion queue for the process, and the thread that empties it.
 *
 * Servers and channels share both: a second thread is one more switch between an event and the code
 * that waits for it (an empty call took 45 us with two, 31 us with one).  gRPC is initialised with the first user and shut
 * down with the last; a process forked in between must not use it, since its threads are gone. */
#include "net/grpc/core.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory_limit.h"
#include "base/pulse.h"
#include <grpc/byte_buffer_reader.h>
#include <grpc/support/log.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* ---- the queue ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  int users;
  pid_t pid;
  grpc_completion_queue *queue;
  pthread_t thread, relief;
  bool has_relief;
  bool stopping;       /* guarded by relief_lock */
  atomic_uint working; /* odd while the poller is in a callback */
} core;

static void dispatch(const grpc_event *e) {
  if (e->type != GRPC_OP_COMPLETE) return;
  tag *t = e->tag;
  (void)atomic_load_explicit(&t->posted, memory_order_acquire);
  t->done(t->arg, e->success);
}

static void *poll_queue(void *queue) {
  for (;;) {
    grpc_event e = grpc_completion_queue_next(queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    if (e.type == GRPC_QUEUE_SHUTDOWN) return NULL;
    atomic_fetch_add_explicit(&core.working, 1, memory_order_relaxed);
    dispatch(&e);
    atomic_fetch_add_explicit(&core.working, 1, memory_order_relaxed);
  }
}

/* ---- relief: a callback that takes long (an op it ran was not the trifle it used to be) must not make the process look
 * dead to its peers, so a second thread polls while the first is held up ---- */

static pthread_mutex_t relief_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t relief_wake = PTHREAD_COND_INITIALIZER;

static bool stopping_within(int64_t ms) {
  struct timespec until = weft__deadline(ms * 1000000);
  pthread_mutex_lock(&relief_lock);
  while (!core.stopping && pthread_cond_clockwait(&relief_wake, &relief_lock, CLOCK_MONOTONIC, &until) == 0) continue;
  bool stopping = core.stopping;
  pthread_mutex_unlock(&relief_lock);
  return stopping;
}

static void *relieve(void *queue) {
  for (unsigned seen = 0; !stopping_within(HELD_UP_MS);) {
    unsigned now = atomic_load_explicit(&core.working, memory_order_relaxed);
    while (now == seen && (now & 1) && now == atomic_load_explicit(&core.working, memory_order_relaxed)) {
      gpr_timespec soon = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(HELD_UP_MS, GPR_TIMESPAN));
      grpc_event e = grpc_completion_queue_next(queue, soon, NULL);
      dispatch(&e);
    }
    seen = now;
  }
  return NULL;
}

static void stop_relief(void) {
  pthread_mutex_lock(&relief_lock);
  core.stopping = true;
  pthread_cond_signal(&relief_wake);
  pthread_mutex_unlock(&relief_lock);
  if (core.has_relief) pthread_join(core.relief, NULL);
  core.has_relief = false;
}

static void pass_log(gpr_log_func_args *a) { weft__log_at(LOG_DEBUG, a->file, a->line, "gRPC: %s", a->message); }

/* ---- the end ---- */

/* gRPC waits at its end for its timer threads, without a deadline, and counts one that it could not start (pthread_create
 * failed) as started.  So it ends on a thread of its own; a process that has waited too long goes on without it. */
enum { SHUTDOWN_SECONDS = 5 };
static pthread_cond_t shutdown_done = PTHREAD_COND_INITIALIZER; /* guarded, with the two, by relief_lock */
static bool shut_down, stuck;

static void *shut_down_grpc(void *none) {
  grpc_shutdown();
  pthread_mutex_lock(&relief_lock);
  shut_down = true;
  stuck = false;
  pthread_cond_signal(&shutdown_done);
  pthread_mutex_unlock(&relief_lock);
  return none;
}

static void end_grpc(void) {
  pthread_t t;
  struct timespec until = weft__deadline((int64_t)SHUTDOWN_SECONDS * 1000000000);
  shut_down = false;
  if (pthread_create(&t, NULL, shut_down_grpc, NULL) != 0)
    return; /* it stays initialised: the next start finds it so */
  pthread_detach(t);
  pthread_mutex_lock(&relief_lock);
  while (!shut_down && pthread_cond_clockwait(&shutdown_done, &relief_lock, CLOCK_MONOTONIC, &until) == 0) continue;
  bool late = stuck = !shut_down;
  pthread_mutex_unlock(&relief_lock);
  if (late)
    weft__log(LOG_WARNING, "gRPC did not stop within %d s, as happens when it could not start a thread: left as it is",
              SHUTDOWN_SECONDS);
}

static void stop(bool has_thread) {
  stop_relief();
  grpc_completion_queue_shutdown(core.queue);
  if (has_thread)
    pthread_join(core.thread, NULL);
  else
    poll_queue(core.queue); /* to its end, which comes first */
  grpc_completion_queue_destroy(core.queue);
  end_grpc();
}

static weft_err start(void) {
  pthread_mutex_lock(&relief_lock);
  bool blocked = stuck;
  pthread_mutex_unlock(&relief_lock);
  if (blocked)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED,
                      "gRPC did not stop when it was last used in this process; start the program again");
  gpr_set_log_function(pass_log);
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  grpc_init();
  core.pid = getpid();
  core.queue = grpc_completion_queue_create_for_next(NULL);
  core.stopping = false;
  int failed = pthread_create(&core.thread, NULL, poll_queue, core.queue);
  if (!failed) core.has_relief = pthread_create(&core.relief, NULL, relieve, core.queue) == 0;
  if (!failed) return WEFT_OK;
  stop(false);
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "The network's thread could not be started (error %d)", failed);
}

weft_err weft__core_retain(grpc_completion_queue **out) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&lock);
  if (core.users == 0) err = start();
  if (core.pid != getpid())
    err = weft__fail(WEFT_FAILED_PRECONDITION,
                     "The network was started in process %d, before this process (%d) was "
                     "forked from it; start it after forking",
                     (int)core.pid, (int)getpid());
  if (err == WEFT_OK) core.users++;
  *out = err == WEFT_OK ? core.queue : NULL;
  pthread_mutex_unlock(&lock);
  return err;
}

void weft__core_release(void) {
  pthread_mutex_lock(&lock);
  if (--core.users == 0) stop(true);
  pthread_mutex_unlock(&lock);
}

grpc_call_error weft__core_start(grpc_call *on, const grpc_op *ops, size_t n, tag *t) {
  return grpc_call_start_batch(on, ops, n, weft__core_post(t), NULL);
}

/* ---- bytes ---- */

typedef struct leaving { /* keeps the pieces of one message until the last is sent */
  atomic_int refs;
  message m;
} leaving;

static void release_leaving(void *arg) {
  leaving *l = arg;
  if (atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) != 1) return;
  weft__message_finish(&l->m);
  weft__free(l);
}

weft_err weft__core_from_message(grpc_byte_buffer **out, message *m) {
  enum { FEW = 8 };
  grpc_slice few[FEW], *slices = few;
  WEFT_TRY(weft__message_own(m));
  int n = m->n_piece;
  leaving *l = weft__alloc(sizeof *l);
  if (n > FEW) slices = weft__alloc((size_t)n * sizeof *slices);
  if (!l || !slices) {
    weft__free(l);
    if (slices != few) weft__free(slices);
    return WEFT_OOM;
  }
  weft__pulse_add(PULSE_OUT, m->size);
  weft__message_move(&l->m, m);
  atomic_init(&l->refs, n + 1);
  for (int i = 0; i < n; i++) {
    const piece *p = weft__message_piece(&l->m, i);
    slices[i] = grpc_slice_new_with_user_data((void *)(uintptr_t)p->data, p->size, release_leaving, l);
  }
  *out = grpc_raw_byte_buffer_create(slices, (size_t)n);
  for (int i = 0; i < n; i++) grpc_slice_unref(slices[i]);
  if (slices != few) weft__free(slices);
  release_leaving(l);
  return WEFT_OK;
}

typedef struct arrived { /* keeps the slices of one message */
  atomic_int refs;
  grpc_byte_buffer *buffer;
  grpc_byte_buffer_reader reader;
} arrived;

static void release_arrived(void *arg) {
  arrived *a = arg;
  if (atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1) return;
  grpc_byte_buffer_reader_destroy(&a->reader);
  grpc_byte_buffer_destroy(a->buffer);
  weft__free(a);
}

weft_err weft__core_to_message(message *out, grpc_byte_buffer *b) {
  if (!b) return WEFT_OK;
  arrived *a = weft__alloc(sizeof *a);
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
    err = weft__message_add(out, (piece){GRPC_SLICE_START_PTR(*s), GRPC_SLICE_LENGTH(*s), release_arrived, a});
  }
  weft__pulse_add(PULSE_IN, out->size);
  if (err != WEFT_OK) weft__message_finish(out);
  release_arrived(a);
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
  weft__core_args_add(a, GRPC_ARG_HTTP2_MAX_FRAME_SIZE, 1 << 20);          /* large tensors in few frames, */
  weft__core_args_add(a, GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 16 << 20); /* with few waits for the window, */
  weft__core_args_add(a, GRPC_ARG_HTTP2_BDP_PROBE, 0);                     /* which need not be measured then */
  weft__core_args_add(a, GRPC_ARG_ENABLE_CHANNELZ, 0);
  weft__core_args_add(a, GRPC_ARG_ENABLE_CENSUS, 0);
  weft__core_args_add(a, GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0); /* what comes compressed is still read */
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
