/* step.c - registering the parts of a request, and running them. */
#include "cluster/master/step.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cluster/master/broadcast.h"
#include "exec/executors/steplog.h"
#include "ops/all.h"
#include "rpc.pb-c.h"
#include <stdio.h>
#include <stdlib.h>

enum { FORGET_MS = 10000 };

typedef struct remote { /* a part on another task */
  peer *on;
  uint8_t *head; /* what every RunGraph of it begins with, packed */
  size_t head_size;
  char *graph; /* its handle there */
  bool tidy;   /* it is Weft: no CleanupGraph needed after a step that succeeds */
  bool asked;  /* the local part begins by asking it for values */
} remote;

struct cluster_step {
  worker *worker;
  char session[WEFT_HANDLE_SIZE];
  const char *device; /* the client's, for traces; the session's */
  part *local;        /* NULL: nothing runs here */
  int n_given;        /* feeds of the request, and what each stands for */
  const weft_node **given;
  int *given_slot;
  int n_feed; /* those that the local part takes */
  int *feed;  /* which of the request's they are */
  int n_fetch;
  int n_remote, n_part; /* remotes that are registered, and for how many there is room */
  remote *remote;
};

/* ---- making ------------------------------------------------------------------------------------ */

static weft_err find_ends(cluster_step *s, const weft_graph *g, const parts *p, const plan_request *r, bool by_name,
                          weft_out *feed, weft_out *fetch) {
  for (int i = 0; i < r->n_feed && !by_name; i++) {
    if (!p->feed_name[i]) continue;
    s->feed[s->n_feed] = i;
    WEFT_TRY(weft__graph_find_out(g, p->feed_name[i], &feed[s->n_feed++]));
  }
  s->n_fetch = by_name ? 0 : r->n_fetch;
  for (int i = 0; i < s->n_fetch; i++) WEFT_TRY(weft__graph_find_out(g, p->fetch_name[i], &fetch[i]));
  return WEFT_OK;
}

/* The graph passes to the part, or is destroyed. */
static weft_err make_local(cluster_step *s, const parts *p, const plan_request *r, const step_place *at) {
  const op_table *ops;
  weft_graph *g;
  WEFT_TRY(weft__ops_table(&ops));
  WEFT_TRY(weft__graph_create(&g, ops));
  weft_out *feed = weft__alloc(sizeof *feed * (size_t)(r->n_feed + 1));
  weft_out *fetch = weft__alloc(sizeof *fetch * (size_t)(r->n_fetch + 1));
  weft_err err = feed && fetch ? WEFT_OK : WEFT_OOM;
  if (!err) err = weft__graph_import_proto(g, &p->part[p->client].def, &(import_opts){.part = true});
  if (!err) err = find_ends(s, g, p, r, at->by_name, feed, fetch);
  if (err)
    weft__graph_destroy(g);
  else
    err = weft__part_create(&s->local, s->worker, at->session, g, s->n_feed, feed, s->n_fetch, fetch);
  weft__free(feed);
  weft__free(fetch);
  return err;
}

static weft_err pack_register(message *m, const Tensorflow__GraphDef *def, const char *session) {
  Tensorflow__RegisterGraphRequest q = TENSORFLOW__REGISTER_GRAPH_REQUEST__INIT;
  q.session_handle = (char *)(uintptr_t)session;
  q.graph_def = (Tensorflow__GraphDef *)(uintptr_t)def;
  q.create_worker_session_called = true;
  return weft__message_pack(m, &q.base);
}

/* The fields of RunGraphRequest that are the same in every step. */
static weft_err pack_head(remote *r, const char *graph_handle, const char *session) {
  Tensorflow__RunGraphRequest q = TENSORFLOW__RUN_GRAPH_REQUEST__INIT;
  q.graph_handle = (char *)(uintptr_t)graph_handle;
  q.session_handle = (char *)(uintptr_t)session;
  q.store_errors_in_response_body = true;
  q.create_worker_session_called = true;
  q.weft_tidy = r->tidy = weft__peer_kind(r->on) == PEER_WEFT;
  r->head_size = tensorflow__run_graph_request__get_packed_size(&q);
  if (!(r->head = weft__alloc(r->head_size + 1))) return WEFT_OOM;
  tensorflow__run_graph_request__pack(&q, r->head);
  return WEFT_OK;
}

static weft_err take_handle(remote *r, ask *a, const char *session) {
  ProtobufCMessage *m;
  WEFT_TRY(weft__message_unpack(&m, &a->reply, &tensorflow__register_graph_response__descriptor));
  const char *graph = ((Tensorflow__RegisterGraphResponse *)m)->graph_handle;
  r->graph = weft__strdup(graph);
  weft_err err = r->graph ? pack_head(r, graph, session) : WEFT_OOM;
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

static weft_err register_remotes(cluster_step *s, const parts *p, const step_place *at, ask *asks,
                                 const call_opts *how) {
  int n = 0;
  for (int i = 0; i < p->n_part; i++) {
    if (i == p->client) continue;
    asks[n].to = s->remote[n].on = at->task[p->part[i].task];
    WEFT_TRY(pack_register(&asks[n++].request, &p->part[i].def, at->session));
  }
  WEFT_TRY(weft__ask_all(asks, n, "/tensorflow.WorkerService/RegisterGraph", how));
  for (s->n_remote = 0; s->n_remote < n; s->n_remote++) {
    remote *r = &s->remote[s->n_remote];
    WEFT_TRY(take_handle(r, &asks[s->n_remote], at->session));
    r->asked = s->local && weft__part_asks(s->local, weft__peer_task(r->on));
  }
  return WEFT_OK;
}

static weft_err note_feeds(cluster_step *s, weft_graph *g, const plan_request *r) {
  s->given = weft__alloc_zero((size_t)r->n_feed + 1, sizeof *s->given);
  s->given_slot = weft__alloc_zero((size_t)r->n_feed + 1, sizeof *s->given_slot);
  if (!s->given || !s->given_slot) return WEFT_OOM;
  pthread_mutex_lock(&g->lock);
  for (int i = 0; i < r->n_feed; i++) {
    s->given[i] = g->node[r->feed[i].node];
    s->given_slot[i] = r->feed[i].slot;
  }
  s->n_given = r->n_feed;
  pthread_mutex_unlock(&g->lock);
  return WEFT_OK;
}

static weft_err make(cluster_step *s, const parts *p, const plan_request *r, const step_place *at,
                     const call_opts *how) {
  ask *asks = weft__alloc_zero((size_t)p->n_part + 1, sizeof *asks);
  s->remote = weft__alloc_zero((size_t)p->n_part + 1, sizeof *s->remote);
  s->feed = weft__alloc_zero((size_t)r->n_feed + 1, sizeof *s->feed);
  weft_err err = asks && s->remote && s->feed ? WEFT_OK : WEFT_OOM;
  s->n_part = s->remote ? p->n_part : 0;
  if (!err) err = note_feeds(s, at->graph, r);
  if (!err && p->client >= 0) err = make_local(s, p, r, at);
  if (!err) err = register_remotes(s, p, at, asks, how);
  if (asks) weft__asks_finish(asks, p->n_part);
  weft__free(asks);
  return err;
}

weft_err weft__step_create(cluster_step **out, const parts *p, const plan_request *r, const step_place *at,
                           int64_t deadline_ns, cancel *c) {
  cluster_step *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  s->worker = at->worker;
  snprintf(s->session, sizeof s->session, "%s", at->session);
  s->device = at->device;
  call_opts how = {.cancel = c, .timeout_ms = weft__ms_left(deadline_ns)};
  weft_err err = make(s, p, r, at, &how);
  if (err)
    weft__step_destroy(s);
  else
    *out = s;
  return err;
}

void weft__step_destroy(cluster_step *s) {
  if (!s) return;
  weft__part_release(s->local);
  for (int i = 0; i < s->n_part; i++) {
    weft__free(s->remote[i].head);
    weft__free(s->remote[i].graph);
  }
  weft__free(s->remote);
  weft__free(s->feed);
  weft__free((void *)s->given);
  weft__free(s->given_slot);
  weft__free(s);
}

static void on_forgotten(void *arg, weft_err err, message *reply) { (void)arg, (void)err, (void)reply; }

/* A task that misses one forgets the part with the session. */
void weft__step_forget(cluster_step *s) {
  for (int i = 0; s && i < s->n_remote; i++) {
    message m = {0};
    Tensorflow__DeregisterGraphRequest q = TENSORFLOW__DEREGISTER_GRAPH_REQUEST__INIT;
    q.session_handle = s->session;
    q.graph_handle = s->remote[i].graph;
    q.create_worker_session_called = true;
    weft__message_init(&m);
    if (weft__message_pack(&m, &q.base) == WEFT_OK)
      weft__peer_call(s->remote[i].on, "/tensorflow.WorkerService/DeregisterGraph", &m,
                      &(call_opts){.timeout_ms = FORGET_MS}, on_forgotten, NULL);
    else
      weft__message_finish(&m);
  }
  weft__step_destroy(s);
}

/* ---- running ----------------------------------------------------------------------------------- */

typedef struct step_run {
  cluster_step *step;
  int64_t id;
  cancel *cancel;
  atomic_int left;      /* parts that still run, and whoever begins them */
  sync_event ended;     /* opened by the last */
  pthread_mutex_t lock; /* guards what follows */
  status failure;       /* the first, or the first that is no consequence of another */
  bool derived;
  int64_t failed_ns; /* when it came, on the monotonic clock */
  text stats;        /* when traced: pieces of RunMetadata, which protobuf merges by appending */
} step_run;

typedef struct remote_run {
  step_run *run;
  const remote *part;
} remote_run;

static const char derived_mark[] = "[_Derived_]";

static void cancel_others(step_run *r) {
  weft__cancel_fire(r->cancel, WEFT_CANCELLED, "%sThe step was cancelled because another part of it failed",
                    derived_mark);
}

/* A part has ended.  Its error is kept unless a better one is there; a genuine one ends the other parts at once, a
 * consequence of another error leaves that one a moment to arrive. */
static void part_ended(step_run *r, weft_err err) {
  bool derived = err && strstr(weft__error_message(), derived_mark) != NULL;
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
    if (!derived) cancel_others(r);
  }
  if (atomic_fetch_sub(&r->left, 1) == 1) weft__rpc_event_set(&r->ended);
}

static void local_ended(void *arg, weft_err err) { part_ended(arg, err); }

static void add_stats(step_run *r, const Tensorflow__RunGraphResponse *p) {
  if (!p->step_stats) return;
  Tensorflow__RunMetadata m = TENSORFLOW__RUN_METADATA__INIT;
  m.step_stats = p->step_stats;
  pthread_mutex_lock(&r->lock);
  uint8_t *to = (uint8_t *)weft__text_reserve(&r->stats, tensorflow__run_metadata__get_packed_size(&m));
  if (to) r->stats.size += tensorflow__run_metadata__pack(&m, to);
  pthread_mutex_unlock(&r->lock);
}

static weft_err read_response(step_run *r, const remote *from, message *reply) {
  ProtobufCMessage *m;
  if (reply->size == 0) return WEFT_OK;
  WEFT_TRY(weft__message_unpack(&m, reply, &tensorflow__run_graph_response__descriptor));
  const Tensorflow__RunGraphResponse *p = (const Tensorflow__RunGraphResponse *)m;
  weft_err err = WEFT_OK;
  if (p->status_code != 0)
    err = weft__fail((weft_err)p->status_code, "From %s:\n%s", weft__peer_task(from->on), p->status_error_message);
  else
    add_stats(r, p);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

static void remote_ended(void *arg, weft_err err, message *reply) {
  remote_run *u = arg;
  step_run *r = u->run;
  if (err)
    err = weft__fail_in(err, "From %s", weft__peer_task(u->part->on));
  else
    err = read_response(r, u->part, reply);
  weft__free(u);
  part_ended(r, err);
}

/* Numbers that no other master makes up: a step's, and a request's. */
int64_t weft__step_id(void) {
  static _Thread_local uint64_t state;
  if (state == 0) {
    char digits[WEFT_HANDLE_SIZE];
    weft__make_handle(digits);
    state = strtoull(digits, NULL, 16) | 1;
  }
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int64_t)(state & ((UINT64_C(1) << 56) - 1)) | INT64_C(1);
}

enum { STEP_ID = 2, EXEC_OPTS = 5, REQUEST_ID = 11 };

static weft_err pack_run(message *m, const remote *p, int64_t id, bool trace) {
  static const uint8_t record_timeline[] = {3 << 3, 1};
  WEFT_TRY(weft__message_add_copy(m, p->head, p->head_size));
  WEFT_TRY(weft__message_add_varint(m, STEP_ID, (uint64_t)id));
  WEFT_TRY(weft__message_add_varint(m, REQUEST_ID, (uint64_t)weft__step_id()));
  return trace ? weft__message_add_string(m, EXEC_OPTS, record_timeline, sizeof record_timeline) : WEFT_OK;
}

static void begin_remote(step_run *r, const remote *p, bool trace) {
  message m = {0};
  weft__message_init(&m);
  remote_run *u = weft__alloc(sizeof *u);
  weft_err err = u ? pack_run(&m, p, r->id, trace) : WEFT_OOM;
  if (err) {
    weft__message_finish(&m);
    weft__free(u);
    part_ended(r, err);
    return;
  }
  *u = (remote_run){r, p};
  weft__peer_call(p->on, "/tensorflow.WorkerService/RunGraph", &m, &(call_opts){.cancel = r->cancel, .more = p->asked},
                  remote_ended, u);
}

enum { DERIVED_GRACE_MS = 1000 };

/* Why the parts that still run should end; WEFT_OK: they should not. */
static weft_err reason_to_end(step_run *r, int64_t deadline_ns) {
  int64_t now = weft__clock_now_ns();
  if (deadline_ns && now > deadline_ns)
    return weft__fail(WEFT_DEADLINE_EXCEEDED, "Timed out waiting for the step to finish");
  if (weft__interrupt_pending()) return weft__fail(WEFT_CANCELLED, "The step was interrupted while it waited");
  pthread_mutex_lock(&r->lock);
  bool hopeless = r->failure.code && now > r->failed_ns + (int64_t)DERIVED_GRACE_MS * 1000000;
  pthread_mutex_unlock(&r->lock);
  return hopeless ? weft__fail(WEFT_CANCELLED, "%sAnother part of the step failed", derived_mark) : WEFT_OK;
}

static void wait_for_parts(step_run *r, int64_t deadline_ns) {
  bool told = false;
  for (;;) {
    int64_t slice = (int64_t)WEFT_WAIT_SLICE_MS * 1000000, left = deadline_ns - weft__clock_now_ns();
    if (deadline_ns && !told && left < slice) slice = left > 0 ? left : 0;
    if (weft__rpc_event_wait(&r->ended, slice)) return;
    weft_err why = told ? WEFT_OK : reason_to_end(r, deadline_ns);
    if (!why) continue;
    told = true;
    weft__cancel_fire(r->cancel, why, "%s", weft__error_message());
  }
}

static void on_cleaned(void *arg, weft_err err, message *reply) { (void)arg, (void)err, (void)reply; }

/* Nobody waits for these: a task that misses one drops the step with the session. */
static void clean_up(cluster_step *s, int64_t id, bool failed) {
  for (int i = 0; i < s->n_remote; i++) {
    message m = {0};
    if (s->remote[i].tidy && !failed) continue;
    weft__message_init(&m);
    if (weft__message_add_varint(&m, 1, (uint64_t)id) == WEFT_OK)
      weft__peer_call(s->remote[i].on, "/tensorflow.WorkerService/CleanupGraph", &m, &(call_opts){.timeout_ms = 10000},
                      on_cleaned, NULL);
    else
      weft__message_finish(&m);
  }
}

static weft_err take_metadata(step_run *r, const step_log *log, const char *device_name, const run_opts *opts) {
  uint8_t *own;
  size_t size;
  WEFT_TRY(weft__step_log_pack(log, device_name, &own, &size));
  weft__text_add(&r->stats, (const char *)own, size);
  weft__free(own);
  if (r->stats.failed) return WEFT_OOM;
  *opts->metadata = weft__alloc(r->stats.size + 1);
  if (!*opts->metadata) return WEFT_OOM;
  memcpy(*opts->metadata, r->stats.data, r->stats.size);
  *opts->metadata_size = r->stats.size;
  return WEFT_OK;
}

/* The deadline is the part's own: it runs on this thread, which does not come to wait before the part has ended. */
static void begin_local(step_run *r, const weft_tensor **fed, const weft_tensor *const *feed, weft_tensor **fetched,
                        int64_t deadline_ns, part_run *run) {
  for (int i = 0; i < r->step->n_feed; i++) fed[i] = feed[r->step->feed[i]];
  run->step = r->id;
  run->feed = fed;
  run->fetched = fetched;
  run->cancel = r->cancel;
  run->deadline_ns = deadline_ns;
  run->done = local_ended;
  run->arg = r;
  weft__part_run(r->step->local, run);
}

static weft_err check_feeds(const cluster_step *s, const weft_tensor *const *feed) {
  for (int i = 0; i < s->n_given; i++) WEFT_TRY(weft__check_feed(s->given[i], s->given_slot[i], feed[i]));
  return WEFT_OK;
}

/* What the step ends with: a part's own error, or why it was ended from outside, which the parts only echo. */
static weft_err final_error(const step_run *r) {
  weft_err err = weft__status_raise(&r->failure);
  if (!err || !r->derived || !weft__cancel_fired(r->cancel)) return err;
  weft_err why = weft__cancel_raise(r->cancel);
  return strstr(weft__error_message(), derived_mark) ? weft__status_raise(&r->failure) : why;
}

static weft_err run_step(cluster_step *s, int64_t id, const weft_tensor *const *feed, weft_tensor **fetched, cancel *c,
                         int64_t deadline_ns, const run_opts *opts) {
  bool trace = opts && opts->trace;
  const weft_tensor *few[16], **fed = s->n_feed <= 16 ? few : weft__alloc(sizeof *fed * (size_t)s->n_feed);
  part_run local = {0};
  step_run r = {.step = s, .id = id, .cancel = c, .left = s->n_remote + (s->local != NULL) + 1};
  if (!fed) return WEFT_OOM;
  weft_err err = trace ? weft__step_log_create(&local.log) : WEFT_OK;
  pthread_mutex_init(&r.lock, NULL);
  for (int i = 0; i < s->n_fetch; i++) fetched[i] = NULL;
  if (!err) {
    for (int i = 0; i < s->n_remote; i++) begin_remote(&r, &s->remote[i], trace);
    if (s->local) begin_local(&r, fed, feed, fetched, deadline_ns, &local);
    for (int i = 0; i < s->n_remote; i++)
      if (s->remote[i].asked) weft__peer_flush(s->remote[i].on); /* should the local part not have got so far */
    part_ended(&r, WEFT_OK);
    wait_for_parts(&r, deadline_ns);
    clean_up(s, r.id, r.failure.code != WEFT_OK);
    err = final_error(&r);
  }
  if (!err && trace && opts->metadata) err = take_metadata(&r, local.log, s->device, opts);
  for (int i = 0; i < s->n_fetch && err; i++) {
    weft_tensor_destroy(fetched[i]);
    fetched[i] = NULL;
  }
  weft__step_log_destroy(local.log);
  weft__status_finish(&r.failure);
  weft__text_finish(&r.stats);
  pthread_mutex_destroy(&r.lock);
  if (fed != few) weft__free((void *)fed);
  return err;
}

weft_err weft__step_run(cluster_step *s, const weft_tensor *const *feed, weft_tensor **fetched, cancel *c,
                        int64_t deadline_ns, const run_opts *opts) {
  WEFT_TRY(check_feeds(s, feed));
  int64_t id = weft__step_id();
  weft_err err = run_step(s, id, feed, fetched, c, deadline_ns, opts);
  weft__worker_cleanup(s->worker, id);
  return err;
}

weft_err weft__step_run_as(cluster_step *s, int64_t id, cancel *c, int64_t deadline_ns) {
  return run_step(s, id, NULL, NULL, c, deadline_ns, NULL);
}
