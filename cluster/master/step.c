/* step.c - registers the parts of a request on their tasks, and runs them.
 *
 * A run starts a RunGraph call per remote part, runs the local part on the calling thread, and waits for all of them.
 * The lock of a run guards its first error and the traces; it is a leaf.  The step itself does not change after it is
 * made. */
#include "cluster/master/step.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "cluster/config.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cluster/master/broadcast.h"
#include "cluster/master/collective_step.h"
#include "exec/executors/steplog.h"
#include "ops/all.h"
#include "rpc.pb-c.h"
#include <stdio.h>
#include <stdlib.h>

enum { DEREGISTER_MS = 10000, CLEANUP_CALL_MS = 10000 }; /* timeouts of calls whose answers nothing waits for */

typedef struct remote_part { /* a part on another task */
  peer *on;
  uint8_t *head; /* the beginning of all its RunGraph requests, packed */
  size_t head_size;
  char *graph;         /* its handle there */
  bool auto_cleanup;   /* the task is Weft: a step that succeeds needs no CleanupGraph */
  bool local_receives; /* the local part's first stage receives from it, so RunGraph is sent with that RecvTensor */
} remote_part;

struct cluster_step {
  worker *worker;
  char session[WEFT_HANDLE_SIZE];
  const char *device; /* the client's, for traces; borrowed from the task */
  part *local;        /* NULL: nothing runs here */
  int n_request_feed; /* the feeds of the request: their nodes and slots */
  const weft_node **request_feed;
  int *request_feed_slot;
  int n_feed; /* the feeds of the local part */
  int *feed;  /* the position of each in the request */
  int n_fetch;
  progress progress;    /* which fetches are the loss and the step */
  int64_t graph_key;    /* of its collective ops; 0: it has none */
  int n_remote, n_part; /* remote parts that are registered; allocated ones */
  remote_part *remote;
};

/* ---- creation ----------------------------------------------------------------------------------- */

/* Finds the outputs of the local part that are fed and fetched.  by_name: a partial run sends and receives values by
 * their names, so the part has neither. */
static weft_err step_find_feeds_and_fetches(cluster_step *s, const weft_graph *g, const parts *p, const plan_request *r,
                                            bool by_name, weft_out *feed, weft_out *fetch) {
  for (int i = 0; i < r->n_feed && !by_name; i++) {
    if (!p->feed_name[i]) continue;
    s->feed[s->n_feed] = i;
    WEFT_TRY(weft__graph_find_out(g, p->feed_name[i], &feed[s->n_feed++]));
  }
  s->n_fetch = by_name ? 0 : r->n_fetch;
  for (int i = 0; i < s->n_fetch; i++) WEFT_TRY(weft__graph_find_out(g, p->fetch_name[i], &fetch[i]));
  return WEFT_OK;
}

/* Compiles the part of this task. */
static weft_err step_make_local(cluster_step *s, const parts *p, const plan_request *r, const step_context *ctx) {
  const op_table *ops;
  weft_graph *g;
  WEFT_TRY(weft__ops_table(&ops));
  WEFT_TRY(weft__graph_create(&g, ops));
  g->mixed_precision = ctx->mixed_precision;
  weft_out *feed = weft__alloc(sizeof *feed * (size_t)(r->n_feed + 1));
  weft_out *fetch = weft__alloc(sizeof *fetch * (size_t)(r->n_fetch + 1));
  weft_err err = feed && fetch ? WEFT_OK : WEFT_OOM;
  if (!err) err = weft__graph_import_proto(g, &p->part[p->client].def, &(import_opts){.part = true});
  if (!err) err = step_find_feeds_and_fetches(s, g, p, r, ctx->by_name, feed, fetch);
  if (err)
    weft__graph_destroy(g);
  else
    err = weft__part_create(&s->local, s->worker, ctx->session, g, s->n_feed, feed, s->n_fetch, fetch);
  weft__free(feed);
  weft__free(fetch);
  return err;
}

static weft_err step_pack_register(message *m, const Tensorflow__GraphDef *def, const step_context *ctx) {
  Tensorflow__RegisterGraphRequest q = TENSORFLOW__REGISTER_GRAPH_REQUEST__INIT;
  Tensorflow__GraphOptions options = TENSORFLOW__GRAPH_OPTIONS__INIT;
  Tensorflow__RewriterConfig rewrite = TENSORFLOW__REWRITER_CONFIG__INIT;
  rewrite.auto_mixed_precision = REWRITE_ON;
  options.rewrite_options = &rewrite;
  if (ctx->mixed_precision) q.graph_options = &options;
  q.session_handle = (char *)(uintptr_t)ctx->session;
  q.graph_def = (Tensorflow__GraphDef *)(uintptr_t)def;
  q.create_worker_session_called = true;
  return weft__message_pack(m, &q.base);
}

/* Packs the fields of RunGraphRequest that are the same in every step. */
static weft_err step_pack_head(remote_part *r, const char *graph_handle, const char *session) {
  Tensorflow__RunGraphRequest q = TENSORFLOW__RUN_GRAPH_REQUEST__INIT;
  q.graph_handle = (char *)(uintptr_t)graph_handle;
  q.session_handle = (char *)(uintptr_t)session;
  q.store_errors_in_response_body = true;
  q.create_worker_session_called = true;
  q.weft_auto_cleanup = r->auto_cleanup = weft__peer_kind(r->on) == PEER_WEFT;
  r->head_size = tensorflow__run_graph_request__get_packed_size(&q);
  if (!(r->head = weft__alloc(r->head_size + 1))) return WEFT_OOM;
  tensorflow__run_graph_request__pack(&q, r->head);
  return WEFT_OK;
}

static weft_err step_read_handle(remote_part *r, broadcast_call *a, const char *session) {
  ProtobufCMessage *m;
  WEFT_TRY(weft__message_unpack(&m, &a->reply, &tensorflow__register_graph_response__descriptor));
  const char *graph = ((Tensorflow__RegisterGraphResponse *)m)->graph_handle;
  r->graph = weft__strdup(graph);
  weft_err err = r->graph ? step_pack_head(r, graph, session) : WEFT_OOM;
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

static weft_err step_register_remotes(cluster_step *s, const parts *p, const step_context *ctx, broadcast_call *calls,
                                      const call_opts *how) {
  int n = 0;
  for (int i = 0; i < p->n_part; i++) {
    if (i == p->client) continue;
    calls[n].to = s->remote[n].on = ctx->task[p->part[i].task];
    WEFT_TRY(step_pack_register(&calls[n++].request, &p->part[i].def, ctx));
  }
  WEFT_TRY(weft__broadcast(calls, n, "/tensorflow.WorkerService/RegisterGraph", how));
  for (s->n_remote = 0; s->n_remote < n; s->n_remote++) {
    remote_part *r = &s->remote[s->n_remote];
    WEFT_TRY(step_read_handle(r, &calls[s->n_remote], ctx->session));
    r->local_receives = s->local && weft__part_receives_from(s->local, weft__peer_task(r->on));
  }
  return WEFT_OK;
}

static weft_err step_note_feeds(cluster_step *s, weft_graph *g, const plan_request *r) {
  s->request_feed = weft__alloc_zero((size_t)r->n_feed + 1, sizeof *s->request_feed);
  s->request_feed_slot = weft__alloc_zero((size_t)r->n_feed + 1, sizeof *s->request_feed_slot);
  if (!s->request_feed || !s->request_feed_slot) return WEFT_OOM;
  pthread_mutex_lock(&g->lock);
  for (int i = 0; i < r->n_feed; i++) {
    s->request_feed[i] = g->node[r->feed[i].node];
    s->request_feed_slot[i] = r->feed[i].slot;
  }
  s->n_request_feed = r->n_feed;
  pthread_mutex_unlock(&g->lock);
  return WEFT_OK;
}

static weft_err step_note_collectives(cluster_step *s, const parts *p) {
  collective_keys seen = {0};
  weft_err err = WEFT_OK;
  for (int i = 0; i < p->n_part && !err; i++) err = weft__collective_keys_add(&seen, &p->part[i].def);
  s->graph_key = weft__collective_keys_finish(&seen);
  return err;
}

static weft_err step_make(cluster_step *s, const parts *p, const plan_request *r, const step_context *ctx,
                          const call_opts *how) {
  broadcast_call *calls = weft__alloc_zero((size_t)p->n_part + 1, sizeof *calls);
  s->remote = weft__alloc_zero((size_t)p->n_part + 1, sizeof *s->remote);
  s->feed = weft__alloc_zero((size_t)r->n_feed + 1, sizeof *s->feed);
  weft_err err = calls && s->remote && s->feed ? WEFT_OK : WEFT_OOM;
  s->n_part = s->remote ? p->n_part : 0;
  if (!err) err = step_note_feeds(s, ctx->graph, r);
  if (!err) err = step_note_collectives(s, p);
  if (!err && p->client >= 0) err = step_make_local(s, p, r, ctx);
  if (!err) err = step_register_remotes(s, p, ctx, calls, how);
  if (calls) weft__broadcast_finish(calls, p->n_part);
  weft__free(calls);
  return err;
}

weft_err weft__cluster_step_create(cluster_step **out, const parts *p, const plan_request *r, const step_context *ctx,
                                   int64_t deadline_ns, cancel *c) {
  cluster_step *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  s->worker = ctx->worker;
  snprintf(s->session, sizeof s->session, "%s", ctx->session);
  s->device = ctx->device;
  call_opts how = {.cancel = c, .timeout_ms = weft__broadcast_timeout_ms(deadline_ns)};
  weft_err err = weft__progress_find(&s->progress, ctx->graph, r);
  if (!err) err = step_make(s, p, r, ctx, &how);
  if (err)
    weft__cluster_step_destroy(s);
  else
    *out = s;
  return err;
}

const progress *weft__cluster_step_progress(const cluster_step *s) { return &s->progress; }

void weft__cluster_step_destroy(cluster_step *s) {
  if (!s) return;
  weft__part_release(s->local);
  for (int i = 0; i < s->n_part; i++) {
    weft__free(s->remote[i].head);
    weft__free(s->remote[i].graph);
  }
  weft__free(s->remote);
  weft__free(s->feed);
  weft__free((void *)s->request_feed);
  weft__free(s->request_feed_slot);
  weft__progress_finish(&s->progress);
  weft__free(s);
}

static void step_ignore_reply(void *arg, weft_err err, message *reply) { (void)arg, (void)err, (void)reply; }

/* Sends DeregisterGraph without waiting for answers.  A task that misses the call frees its part with the session. */
void weft__cluster_step_deregister(cluster_step *s) {
  for (int i = 0; s && i < s->n_remote; i++) {
    message m = {0};
    Tensorflow__DeregisterGraphRequest q = TENSORFLOW__DEREGISTER_GRAPH_REQUEST__INIT;
    q.session_handle = s->session;
    q.graph_handle = s->remote[i].graph;
    q.create_worker_session_called = true;
    weft__message_init(&m);
    if (weft__message_pack(&m, &q.base) == WEFT_OK)
      weft__peer_call(s->remote[i].on, "/tensorflow.WorkerService/DeregisterGraph", &m,
                      &(call_opts){.timeout_ms = DEREGISTER_MS}, step_ignore_reply, NULL);
    else
      weft__message_finish(&m);
  }
  weft__cluster_step_destroy(s);
}

/* ---- running ----------------------------------------------------------------------------------- */

typedef struct step_run {
  cluster_step *step;
  int64_t id;
  cancel *cancel;
  atomic_int left;      /* parts that have not ended, and one for the thread that starts them */
  sync_event ended;     /* set by the last part */
  pthread_mutex_t lock; /* guards what follows */
  status failure;       /* the first error, or the first that is not derived from another */
  bool derived;         /* the error is derived: a consequence of another part's error */
  int64_t failed_ns;    /* when the first error came (monotonic) */
  text *stats;          /* NULL, or pieces of RunMetadata, which protobuf merges by appending */
} step_run;

typedef struct remote_run {
  step_run *run;
  const remote_part *part;
} remote_run;

static void step_cancel_parts(step_run *r) {
  weft_err err = weft__fail(WEFT_CANCELLED, WEFT_DERIVED "The step was cancelled because another part of it failed");
  weft__cancel_fire_error(r->cancel, weft__error_add_facts(err, ERROR_DERIVED));
}

/* Notes the end of a part.  Its error is kept if it is the first, or the first that is not derived.  An error of its
 * own cancels the other parts at once.  A derived error does not: its cause should get time to arrive. */
static void step_part_ended(step_run *r, weft_err err) {
  bool derived = err && weft__error_has(ERROR_DERIVED);
  if (err) {
    pthread_mutex_lock(&r->lock);
    if (r->failure.code == WEFT_OK) r->failed_ns = weft__clock_now_ns();
    if (r->failure.code == WEFT_OK || (r->derived && !derived)) {
      weft__status_finish(&r->failure);
      r->failure = (status){0};
      weft__status_update(&r->failure, err);
      r->derived = derived;
    }
    pthread_mutex_unlock(&r->lock);
    if (!derived) step_cancel_parts(r);
  }
  const int before = atomic_fetch_sub(&r->left, 1);
  WEFT_ASSERT(before > 0);
  if (before == 1) weft__rpc_event_set(&r->ended);
}

static void step_local_ended(void *arg, weft_err err) { step_part_ended(arg, err); }

static void step_add_stats(step_run *r, const Tensorflow__RunGraphResponse *p) {
  if (!p->step_stats || !r->stats) return;
  Tensorflow__RunMetadata m = TENSORFLOW__RUN_METADATA__INIT;
  m.step_stats = p->step_stats;
  pthread_mutex_lock(&r->lock);
  uint8_t *to = (uint8_t *)weft__text_reserve(r->stats, tensorflow__run_metadata__get_packed_size(&m));
  if (to) r->stats->size += tensorflow__run_metadata__pack(&m, to);
  pthread_mutex_unlock(&r->lock);
}

static weft_err step_read_response(step_run *r, const remote_part *from, message *reply) {
  ProtobufCMessage *m;
  if (reply->size == 0) return WEFT_OK;
  WEFT_TRY(weft__message_unpack(&m, reply, &tensorflow__run_graph_response__descriptor));
  const Tensorflow__RunGraphResponse *p = (const Tensorflow__RunGraphResponse *)m;
  weft_err err = WEFT_OK;
  if (p->status_code != 0)
    err = weft__rpc_error(
        weft__fail((weft_err)p->status_code, "From %s:\n%s", weft__peer_task(from->on), p->status_error_message));
  else
    step_add_stats(r, p);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

static void step_remote_ended(void *arg, weft_err err, message *reply) {
  remote_run *remote = arg;
  step_run *r = remote->run;
  if (err)
    err = weft__fail_in(err, "From %s", weft__peer_task(remote->part->on));
  else
    err = step_read_response(r, remote->part, reply);
  weft__free(remote);
  step_part_ended(r, err);
}

/* Returns 55 random bits and a lowest bit of 1.  So the ids of different masters do not collide, and an id is never 0,
 * which request_dedup takes as "no id". */
int64_t weft__cluster_step_new_id(void) {
  static _Thread_local uint64_t state;
  if (state == 0) {
    char digits[WEFT_HANDLE_SIZE];
    weft__session_make_handle(digits);
    state = strtoull(digits, NULL, 16) | 1;
  }
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int64_t)(state & ((UINT64_C(1) << 56) - 1)) | INT64_C(1);
}

enum { STEP_ID = 2, EXEC_OPTS = 5, REQUEST_ID = 11 }; /* fields of RunGraphRequest (proto/rpc.proto) */

static weft_err step_pack_run(message *m, const remote_part *p, int64_t id, bool trace) {
  static const uint8_t record_timeline[] = {3 << 3, 1}; /* ExecutorOpts: its field 3, record_timeline, is true */
  WEFT_TRY(weft__message_add_copy(m, p->head, p->head_size));
  WEFT_TRY(weft__message_add_varint(m, STEP_ID, (uint64_t)id));
  WEFT_TRY(weft__message_add_varint(m, REQUEST_ID, (uint64_t)weft__cluster_step_new_id()));
  return trace ? weft__message_add_string(m, EXEC_OPTS, record_timeline, sizeof record_timeline) : WEFT_OK;
}

static void step_start_remote(step_run *r, const remote_part *p) {
  message m = {0};
  weft__message_init(&m);
  remote_run *remote = weft__alloc(sizeof *remote);
  weft_err err = remote ? step_pack_run(&m, p, r->id, r->stats != NULL) : WEFT_OOM;
  if (err) {
    weft__message_finish(&m);
    weft__free(remote);
    step_part_ended(r, err);
    return;
  }
  *remote = (remote_run){r, p};
  weft__peer_call(p->on, "/tensorflow.WorkerService/RunGraph", &m,
                  &(call_opts){.cancel = r->cancel, .more = p->local_receives}, step_remote_ended, remote);
}

enum { DERIVED_GRACE_MS = 1000 }; /* after a derived error, the part that caused it gets this long to report */

/* Returns an error if the parts that still run should be canceled. */
static weft_err step_check_wait(step_run *r, int64_t deadline_ns) {
  int64_t now = weft__clock_now_ns();
  if (deadline_ns && now > deadline_ns)
    return weft__fail(WEFT_DEADLINE_EXCEEDED, "Timed out waiting for the step to finish");
  if (weft__interrupt_pending()) return weft__fail(WEFT_CANCELLED, "The step was interrupted while it waited");
  pthread_mutex_lock(&r->lock);
  bool grace_over = r->failure.code && now > r->failed_ns + DERIVED_GRACE_MS * NS_PER_MS;
  pthread_mutex_unlock(&r->lock);
  if (!grace_over) return WEFT_OK;
  return weft__error_add_facts(weft__fail(WEFT_CANCELLED, WEFT_DERIVED "Another part of the step failed"),
                               ERROR_DERIVED);
}

/* Waits until all parts have ended.  If step_check_wait returns an error, cancels them first; each then ends soon. */
static void step_wait(step_run *r, int64_t deadline_ns) {
  bool canceled = false;
  for (;;) {
    int64_t slice = WEFT_WAIT_SLICE_MS * NS_PER_MS, left = deadline_ns - weft__clock_now_ns();
    if (deadline_ns && !canceled && left < slice) slice = left > 0 ? left : 0;
    if (weft__rpc_event_wait(&r->ended, slice)) return;
    weft_err why = canceled ? WEFT_OK : step_check_wait(r, deadline_ns);
    if (!why) continue;
    canceled = true;
    weft__cancel_fire_error(r->cancel, why);
  }
}

/* Sends CleanupGraph without waiting for answers: a task that misses the call drops the step later by itself. */
static void step_cleanup_remotes(cluster_step *s, int64_t id, bool failed) {
  for (int i = 0; i < s->n_remote; i++) {
    message m = {0};
    if (s->remote[i].auto_cleanup && !failed) continue;
    weft__message_init(&m);
    if (weft__message_add_varint(&m, 1, (uint64_t)id) == WEFT_OK)
      weft__peer_call(s->remote[i].on, "/tensorflow.WorkerService/CleanupGraph", &m,
                      &(call_opts){.timeout_ms = CLEANUP_CALL_MS}, step_ignore_reply, NULL);
    else
      weft__message_finish(&m);
  }
}

/* Runs the local part on this thread.  The part watches the deadline itself, since this thread cannot meanwhile. */
static void step_start_local(step_run *r, const weft_tensor **fed, const weft_tensor *const *feed,
                             weft_tensor **fetched, int64_t deadline_ns, part_run *run) {
  for (int i = 0; i < r->step->n_feed; i++) fed[i] = feed[r->step->feed[i]];
  run->step = r->id;
  run->feed = fed;
  run->fetched = fetched;
  run->cancel = r->cancel;
  run->deadline_ns = deadline_ns;
  run->done = step_local_ended;
  run->arg = r;
  weft__part_run(r->step->local, run);
}

static weft_err step_check_feeds(const cluster_step *s, const weft_tensor *const *feed) {
  for (int i = 0; i < s->n_request_feed; i++)
    WEFT_TRY(weft__session_check_feed(s->request_feed[i], s->request_feed_slot[i], feed[i]));
  return WEFT_OK;
}

/* Returns the result of the step.  It is the error of a part.  If that is derived and the step was canceled for a
 * reason that is not, it is this reason. */
static weft_err step_final_error(const step_run *r) {
  weft_err err = weft__status_raise(&r->failure);
  if (!err || !r->derived || !weft__cancel_fired(r->cancel)) return err;
  weft_err why = weft__cancel_raise(r->cancel);
  return weft__error_has(ERROR_DERIVED) ? weft__status_raise(&r->failure) : why;
}

static weft_err step_run_parts(cluster_step *s, int64_t id, const weft_tensor *const *feed, weft_tensor **fetched,
                               cancel *c, int64_t deadline_ns, text *stats) {
  const weft_tensor *few[16], **fed = s->n_feed <= 16 ? few : weft__alloc(sizeof *fed * (size_t)s->n_feed);
  part_run local = {0};
  step_run r = {.step = s, .id = id, .cancel = c, .left = s->n_remote + (s->local != NULL) + 1, .stats = stats};
  if (!fed) return WEFT_OOM;
  weft_err err = stats ? weft__step_log_create(&local.log) : WEFT_OK;
  pthread_mutex_init(&r.lock, NULL);
  for (int i = 0; i < s->n_fetch; i++) fetched[i] = NULL;
  if (!err) {
    for (int i = 0; i < s->n_remote; i++) step_start_remote(&r, &s->remote[i]);
    if (s->local) step_start_local(&r, fed, feed, fetched, deadline_ns, &local);
    for (int i = 0; i < s->n_remote; i++)
      if (s->remote[i].local_receives)
        weft__peer_flush(s->remote[i].on); /* if the local part ended before its first receive */
    step_part_ended(&r, WEFT_OK);
    step_wait(&r, deadline_ns);
    step_cleanup_remotes(s, r.id, r.failure.code != WEFT_OK);
    err = step_final_error(&r);
  }
  if (!err && stats) err = weft__step_log_write(local.log, s->device, stats);
  for (int i = 0; i < s->n_fetch && err; i++) {
    weft_tensor_destroy(fetched[i]);
    fetched[i] = NULL;
  }
  weft__step_log_destroy(local.log);
  weft__status_finish(&r.failure);
  pthread_mutex_destroy(&r.lock);
  if (fed != few) weft__free((void *)fed);
  return err;
}

weft_err weft__cluster_step_run(cluster_step *s, const weft_tensor *const *feed, weft_tensor **fetched, cancel *c,
                                int64_t deadline_ns, int64_t graph_key, text *stats) {
  WEFT_TRY(step_check_feeds(s, feed));
  int64_t id = weft__cluster_step_new_id();
  if (!graph_key) graph_key = s->graph_key;
  if (graph_key) WEFT_TRY(weft__collective_step_begin(s->worker, graph_key, deadline_ns, c, &id));
  status result = {0}; /* the cleanup makes errors of its own, which must not replace the message of this one */
  weft__status_update(&result, step_run_parts(s, id, feed, fetched, c, deadline_ns, stats));
  if (graph_key)
    weft__collective_step_end(s->worker, graph_key, id, result.code);
  else
    weft__worker_cleanup_step(s->worker, id);
  weft_err err = weft__status_raise(&result);
  weft__status_finish(&result);
  return err;
}

weft_err weft__cluster_step_run_by_name(cluster_step *s, int64_t id, cancel *c, int64_t deadline_ns) {
  return step_run_parts(s, id, NULL, NULL, c, deadline_ns, NULL);
}
