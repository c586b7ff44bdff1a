/* queue_runner.c - creates and runs QueueRunnerDefs.
 *
 * An enqueue that finds the end of its input (OUT_OF_RANGE, or the codes of the definition) ends its thread.  The
 * last thread closes the queue, so that consumers see the end too.  Any other failure stops the coordinator.  When
 * the coordinator stops, one more thread closes the queue and cancels pending enqueues.  An enqueue that waits for
 * something else (in synchronous training, the chief's for gradients) is cut off after a short time.  If the queue
 * always has room, this time comes before the queue is closed: the chief may be about to enqueue the tokens of its
 * last step, for which the others wait.
 *
 * Programs may forget to stop or join the coordinator.  So a session that is destroyed first makes its threads leave
 * it. */
#include "train/session/queue_runner.h"

#include "base/alloc.h"
#include "base/log.h"
#include "graph/build.h"
#include "graph/collection.h"
#include "proto/scan.h"
#include "tf.pb-c.h"
#include "train/session/coordinator.h"
#include "train/model/nodes.h"
#include "train/session/run.h"
#include <time.h>

#define RUNNERS "queue_runners"

/* ---- making ---- */

/* Adds a node named after the queue, in the current scope. */
static weft_out close_node(weft_graph *g, weft_out queue, bool cancel_pending) {
  const char *name = g->node[queue.node]->name, *last = strrchr(name, '/');
  char *full = weft__sprintf("%s_Close", last ? last + 1 : name);
  if (!full) weft__status_update(&g->sticky, WEFT_OOM);
  weft_out o =
      full ? weft__b_node(g, "QueueCloseV2", full, 1, &queue, 1, &A_BOOL("cancel_pending_enqueues", cancel_pending))
           : WEFT_NONE;
  weft__free(full);
  return o;
}

static weft_err list_def(weft_graph *g, const Tensorflow__QueueRunnerDef *d, const char *list) {
  size_t size = tensorflow__queue_runner_def__get_packed_size(d);
  uint8_t *packed = weft__alloc(size + 1);
  if (!packed) return WEFT_OOM;
  tensorflow__queue_runner_def__pack(d, packed);
  weft_err err = weft__collection_add_bytes(g, list ? list : RUNNERS, packed, size);
  weft__free(packed);
  return err;
}

weft_err weft__queue_runner_add(weft_graph *g, weft_out queue, int n, const weft_out *enqueue, const char *list) {
  Tensorflow__QueueRunnerDef d = TENSORFLOW__QUEUE_RUNNER_DEF__INIT;
  int32_t closed = WEFT_OUT_OF_RANGE;
  WEFT_TRY(weft__b_ok(g));
  if (n <= 0) return weft__fail(WEFT_INVALID_ARGUMENT, "a queue runner needs at least one enqueue op");
  weft_out close = close_node(g, queue, false), cancel_it = close_node(g, queue, true);
  WEFT_TRY(weft__b_ok(g));
  char **names = weft__alloc(sizeof *names * (size_t)n);
  if (!names) return WEFT_OOM;
  for (int i = 0; i < n; i++) names[i] = (char *)(uintptr_t)g->node[enqueue[i].node]->name;
  d.queue_name = (char *)(uintptr_t)g->node[queue.node]->name;
  d.n_enqueue_op_name = (size_t)n;
  d.enqueue_op_name = names;
  d.close_op_name = (char *)(uintptr_t)g->node[close.node]->name;
  d.cancel_op_name = (char *)(uintptr_t)g->node[cancel_it.node]->name;
  d.n_queue_closed_exception_types = 1;
  d.queue_closed_exception_types = &closed;
  weft_err err = list_def(g, &d, list);
  weft__free(names);
  return err;
}

/* ---- running ---- */

enum { CUT_OFF_MS = 500 };

typedef struct runner { /* shared by its threads and by the session, which knows it as a user */
  session_user user;
  atomic_int shares, enqueuing;
  atomic_bool ended;    /* an enqueue found the end of its input */
  cancel cut_off;       /* cancels the enqueuing runs */
  pthread_mutex_t lock; /* guards the next three */
  pthread_cond_t changed;
  int inside; /* threads that may use the session */
  bool gone;  /* no more threads may use it */
  weft_session *sess;
  weft_coordinator *coordinator;
  Tensorflow__QueueRunnerDef *def;
  int close, cancel_it; /* nodes */
  bool has_room_always;
} runner;

typedef struct enqueuer {
  runner *r;
  int node;
} enqueuer;

static void drop_share(runner *r) {
  if (atomic_fetch_sub(&r->shares, 1) != 1) return;
  weft__cancel_finish(&r->cut_off);
  pthread_cond_destroy(&r->changed);
  pthread_mutex_destroy(&r->lock);
  tensorflow__queue_runner_def__free_unpacked(r->def, NULL);
  weft__free(r);
}

static bool runner_enter(runner *r) {
  pthread_mutex_lock(&r->lock);
  bool may = !r->gone;
  r->inside += may;
  pthread_mutex_unlock(&r->lock);
  return may;
}

static void runner_exit(runner *r) {
  pthread_mutex_lock(&r->lock);
  r->inside--;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
}

/* Called after the session is closed, so no run of it lasts. */
static void runner_end(session_user *u) {
  runner *r = (runner *)u;
  pthread_mutex_lock(&r->lock);
  r->gone = true;
  while (r->inside > 0) pthread_cond_wait(&r->changed, &r->lock);
  pthread_mutex_unlock(&r->lock);
  drop_share(r);
}

static bool means_end(const runner *r, weft_err err) {
  if (r->def->n_queue_closed_exception_types == 0) return err == WEFT_OUT_OF_RANGE;
  for (size_t i = 0; i < r->def->n_queue_closed_exception_types; i++)
    if (r->def->queue_closed_exception_types[i] == (int)err) return true;
  return false;
}

/* Called while the session is held: it cannot be destroyed while its runners start. */
static void enter_to_enqueue(runner *r) {
  (void)runner_enter(r);
  atomic_fetch_add(&r->shares, 1);
  atomic_fetch_add(&r->enqueuing, 1);
}

/* Ends one of the enqueuing threads with err.  After the last of them, the queue is closed. */
static weft_err runner_leave(runner *r, weft_err err) {
  if (atomic_fetch_sub(&r->enqueuing, 1) == 1 && atomic_load(&r->ended)) {
    status kept = {0}; /* closing sets its own message */
    weft__status_update(&kept, err);
    if (weft__run_target(r->sess, r->close) != WEFT_OK)
      weft__log(LOG_DEBUG, "Ignored exception: %s", weft__error_message());
    err = weft__status_raise(&kept);
    weft__status_finish(&kept);
  }
  runner_exit(r);
  drop_share(r);
  return err;
}

static weft_err enqueue_until_end(void *arg) {
  enqueuer *e = arg;
  runner *r = e->r;
  plan_request q = {.n_target = 1, .target = &e->node};
  weft_err err = WEFT_OK;
  while (!err && !weft__coordinator_should_stop(r->coordinator))
    err = weft__session_run(r->sess, &q, NULL, NULL, &(run_opts){.cancel = &r->cut_off});
  if (err && means_end(r, err)) {
    err = WEFT_OK;
    atomic_store(&r->ended, true);
  }
  weft__free(e);
  return runner_leave(r, err);
}

static void wait_a_moment(runner *r) {
  for (int ms = 0; ms < CUT_OFF_MS && atomic_load(&r->enqueuing) > 0; ms += 10)
    nanosleep(&(struct timespec){0, 10000000}, NULL);
}

static void close_queue(runner *r) {
  if (r->has_room_always) wait_a_moment(r);
  if (weft__run_target(r->sess, r->cancel_it) != WEFT_OK)
    weft__log(LOG_DEBUG, "Ignored exception: %s", weft__error_message());
  if (!r->has_room_always) wait_a_moment(r);
  weft__cancel_fire(&r->cut_off, WEFT_CANCELLED, "The queue runner of %s was stopped", r->def->queue_name);
  if (weft__session_leave(r->sess, &r->user)) drop_share(r);
}

static weft_err close_at_stop(void *arg) {
  runner *r = arg;
  weft__coordinator_wait(r->coordinator, -1);
  if (runner_enter(r)) {
    close_queue(r);
    runner_exit(r);
  }
  drop_share(r);
  return WEFT_OK;
}

static weft_err start_enqueuer(runner *r, const char *enqueue) {
  enqueuer *e = weft__alloc_zero(1, sizeof *e);
  char *name = weft__sprintf("QueueRunnerThread-%s-%s", r->def->queue_name, enqueue);
  weft_err err = e && name ? weft__n_find(r->sess->graph, enqueue, &e->node) : WEFT_OOM;
  if (!err) {
    e->r = r;
    enter_to_enqueue(r);
    err = weft__coordinator_start(r->coordinator, name, -1, enqueue_until_end, e);
    if (err) (void)runner_leave(r, err);
  }
  weft__free(name);
  if (err) weft__free(e);
  return err;
}

static weft_err find_nodes(runner *r) {
  const Tensorflow__QueueRunnerDef *d = r->def;
  const weft_graph *g = r->sess->graph;
  int queue;
  WEFT_TRY(weft__n_find(g, d->close_op_name, &r->close));
  if (*d->cancel_op_name) WEFT_TRY(weft__n_find(g, d->cancel_op_name, &r->cancel_it));
  r->has_room_always =
      weft__n_find(g, d->queue_name, &queue) == WEFT_OK && weft__node_int(g->node[queue], "capacity", 0) < 0;
  return WEFT_OK;
}

static weft_err start_threads(runner *r, int *started) {
  const Tensorflow__QueueRunnerDef *d = r->def;
  WEFT_TRY(find_nodes(r));
  for (size_t i = 0; i < d->n_enqueue_op_name; i++) {
    WEFT_TRY(start_enqueuer(r, d->enqueue_op_name[i]));
    if (started) ++*started;
  }
  if (!*d->cancel_op_name) return WEFT_OK; /* nothing is done at the stop: join() ends with the last enqueuer */
  char *name = weft__sprintf("QueueRunnerThread-%s-close_on_stop", d->queue_name);
  if (!name) return WEFT_OOM;
  atomic_fetch_add(&r->shares, 1);
  weft_err err = weft__coordinator_start(r->coordinator, name, -1, close_at_stop, r);
  if (err)
    drop_share(r);
  else if (started)
    ++*started;
  weft__free(name);
  return err;
}

weft_err weft__queue_runner_start(weft_session *sess, weft_coordinator *c, const void *def, size_t size, int *started) {
  ProtobufCMessage *m;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__queue_runner_def__descriptor, def, size));
  runner *r = weft__alloc_zero(1, sizeof *r);
  if (!r) {
    protobuf_c_message_free_unpacked(m, NULL);
    return WEFT_OOM;
  }
  weft__cancel_init(&r->cut_off);
  pthread_mutex_init(&r->lock, NULL);
  pthread_cond_init(&r->changed, NULL);
  r->sess = sess;
  r->coordinator = c;
  r->def = (Tensorflow__QueueRunnerDef *)m;
  r->user.end = runner_end;
  atomic_init(&r->shares, 1); /* the session's reference */
  weft__session_join(sess, &r->user);
  enter_to_enqueue(r); /* so that none of the first threads believes that it is the last */
  return runner_leave(r, start_threads(r, started));
}

weft_err weft__queue_runners_start(weft_session *sess, weft_coordinator *c, const char *list, int *started) {
  const collection *runners = weft__collection_get(sess->graph, list ? list : RUNNERS);
  if (started) *started = 0;
  if (!runners || runners->kind != COLLECTION_BYTES) return WEFT_OK;
  for (int i = 0; i < runners->n; i++)
    WEFT_TRY(weft__queue_runner_start(sess, c, runners->s[i].data, runners->s[i].size, started));
  return WEFT_OK;
}
