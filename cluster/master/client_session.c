/* client_session.c - translates the requests of a client, which name nodes and carry messages, into runs of a session.
 *
 * The lock guards the version of the graph, and the list of callables and partial runs.  It is held while nodes are
 * imported, so that the version and the graph agree, and not while anything runs.  Partial runs and callables belong to
 * the session.
 *
 * Include cycle with cluster/master/clients, cluster/master/master: the master finds sessions in the table, and a
 * session runs on the components of its master. */
#include "cluster/master/client_session.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "cluster/config.h"
#include "cluster/named_tensor.h"
#include "cluster/request_dedup.h"
#include "cluster/master/session.h"
#include "exec/feeds.h"
#include "graph/graphdef.h"
#include "ops/all.h"
#include "tensor/tensor_proto.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct request_names { /* a request as the client gives it */
  size_t n_feed, n_fetch, n_target;
  char **feed, **fetch, **target;
} request_names;

typedef struct prepared { /* a partial run or a callable, which the client names by a number */
  int refs;               /* the session's list holds one, and each call in progress; guarded by the session's lock */
  int64_t id, timeout_ms;
  partial_run *partial; /* exactly one of these two is set */
  callable *callable;
  struct prepared *next;
} prepared;

/* The number of request ids that a session remembers, since a client that missed a response sends its request again. */
enum { REQUEST_IDS = 10000 };

enum { /* fields of the responses (proto/rpc.proto) */
       RUN_STEP_TENSOR = 1,
       RUN_STEP_METADATA = 2,
       RUN_STEP_STATUS_CODE = 3,
       RUN_STEP_STATUS_MESSAGE = 4,
       PARTIAL_RUN_SETUP_HANDLE = 1,
       EXTEND_SESSION_VERSION = 4,
       LIST_DEVICES_LOCAL = 1,
       MAKE_CALLABLE_HANDLE = 1,
       RUN_CALLABLE_FETCH = 1
};

struct client_session {
  atomic_int refs;
  weft_graph *graph;
  weft_session *session;
  request_dedup *dedup;
  client_usage usage;
  atomic_int nodes;     /* of the graph, for readers without its lock */
  pthread_mutex_t lock; /* guards what follows */
  int64_t version;      /* of the graph: how often it was extended */
  prepared *prepared;
  int64_t next_callable, next_partial;
};

static void prepared_destroy(prepared *p) {
  weft__partial_run_destroy(p->partial);
  weft__callable_destroy(p->callable);
  weft__free(p);
}

/* ---- creation and closing ----------------------------------------------------------------------- */

static weft_err client_session_open(client_session *s, master *m, const Tensorflow__ConfigProto *config) {
  session_opts o = {0};
  weft_err err = config ? weft__config_apply(&o, config) : WEFT_OK;
  if (!err) err = weft__master_open(&s->session, m, s->graph, &o);
  weft__free((char *)(uintptr_t)o.config_text);
  return err;
}

weft_err weft__client_session_create(client_session **out, master *m, const Tensorflow__CreateSessionRequest *r) {
  const op_table *ops;
  WEFT_TRY(weft__ops_table(&ops));
  client_session *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  atomic_store(&s->refs, 1);
  pthread_mutex_init(&s->lock, NULL);
  weft_err err = weft__request_dedup_create(&s->dedup, REQUEST_IDS);
  if (!err) err = weft__graph_create(&s->graph, ops);
  if (!err && r->graph_def) err = weft__graph_import_proto(s->graph, r->graph_def, NULL);
  if (!err) err = client_session_open(s, m, r->config);
  if (!err) atomic_store(&s->nodes, s->graph->n_node);
  if (err)
    weft__client_session_release(s);
  else
    *out = s;
  return err;
}

void weft__client_session_retain(client_session *s) { atomic_fetch_add(&s->refs, 1); }

void weft__client_session_release(client_session *s) {
  if (!s || atomic_fetch_sub(&s->refs, 1) > 1) return;
  if (s->session) weft__session_close(s->session); /* cancels the partial runs */
  while (s->prepared) {
    prepared *p = s->prepared;
    s->prepared = p->next;
    prepared_destroy(p);
  }
  weft__session_destroy(s->session);
  weft__graph_destroy(s->graph);
  weft__request_dedup_destroy(s->dedup);
  pthread_mutex_destroy(&s->lock);
  weft__free(s);
}

weft_err weft__client_session_close(client_session *s, cancel *c) {
  if (c) WEFT_TRY(weft__cluster_session_stop(s->session, c)); /* if c fires first, the last release closes it */
  return weft__session_close(s->session);
}

void weft__client_session_refuse(client_session *s, weft_err code, const char *why) {
  weft__cluster_session_refuse(s->session, code, why);
}

bool weft__client_session_trim(client_session *s) {
  if (!weft__cluster_session_trim(s->session)) return false;
  weft__request_dedup_clear(s->dedup);
  return true;
}

client_usage *weft__client_session_usage(client_session *s) { return &s->usage; }
int weft__client_session_nodes(const client_session *s) { return atomic_load(&s->nodes); }
const char *weft__client_session_handle(const client_session *s) { return weft__cluster_session_handle(s->session); }

/* ---- finding the outputs that a request names -------------------------------------------------- */

/* Finds "node:slot", or "node" for its first output.  The errors are TensorFlow's. */
static weft_err client_session_find_output(const client_session *s, const char *name, bool is_feed, weft_out *out) {
  const char *colon = strrchr(name, ':');
  char *of = weft__strndup(name, colon ? (size_t)(colon - name) : strlen(name)), *end = NULL;
  if (!of) return WEFT_OOM;
  const weft_node *n = weft__graph_find(s->graph, of);
  weft__free(of);
  const long slot = colon ? strtol(colon + 1, &end, 10) : 0;
  if (!n || (colon && (*end || end == colon + 1 || slot < 0)))
    return is_feed ? weft__fail(WEFT_NOT_FOUND, "FeedInputs: unable to find feed output %s", name)
                   : weft__fail(WEFT_NOT_FOUND, "FetchOutputs node %s: not found", name);
  if (slot >= n->n_out)
    return is_feed ? weft__fail(WEFT_INVALID_ARGUMENT, "FeedInputs: %s should have output index < %d", name, n->n_out)
                   : weft__fail(WEFT_INVALID_ARGUMENT, "FetchOutputs %s: output index too large, must be < %d", name,
                                n->n_out);
  *out = weft__graph_out(n->graph, n->id, (int)slot /* an int, since it is below n_out */);
  return WEFT_OK;
}

/* Finds the fetches, none of which may be fed. */
static weft_err client_session_find_fetches(client_session *s, const request_names *n, const feeds *fed,
                                            weft_out *fetch) {
  if (fed->twice >= 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Endpoint \"%s\" fed more than once.", n->feed[fed->twice]);
  for (size_t i = 0; i < n->n_fetch; i++) {
    WEFT_TRY(client_session_find_output(s, n->fetch[i], false, &fetch[i]));
    if (weft__feeds_find(fed, fetch[i]) >= 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "%s is both fed and fetched.", n->fetch[i]);
  }
  return WEFT_OK;
}

static weft_err client_session_find_names(client_session *s, const request_names *n, weft_out *feed, weft_out *fetch,
                                          int *target) {
  feeds fed;
  for (size_t i = 0; i < n->n_feed; i++) WEFT_TRY(client_session_find_output(s, n->feed[i], true, &feed[i]));
  WEFT_TRY(weft__feeds_init(&fed, weft__int_sat(n->n_feed), feed));
  weft_err err = client_session_find_fetches(s, n, &fed, fetch);
  weft__feeds_finish(&fed);
  WEFT_TRY(err);
  for (size_t i = 0; i < n->n_target; i++) {
    weft_node *node = weft__graph_find(s->graph, n->target[i]);
    if (!node) return weft__fail(WEFT_NOT_FOUND, "PruneForTargets: Some target nodes not found: %s ", n->target[i]);
    target[i] = node->id;
  }
  return WEFT_OK;
}

/* Fills in the request.  Its lists are one allocation, r->feed, which the caller frees with weft__free. */
static weft_err client_session_find_request(client_session *s, const request_names *n, plan_request *r) {
  weft_out *outs = weft__alloc((n->n_feed + n->n_fetch + n->n_target + 1) * sizeof *outs);
  if (!outs) return WEFT_OOM;
  int *target = (int *)(outs + n->n_feed + n->n_fetch);
  *r = (plan_request){.n_feed = weft__int_sat(n->n_feed),
                      .n_fetch = weft__int_sat(n->n_fetch),
                      .n_target = weft__int_sat(n->n_target),
                      .feed = outs,
                      .fetch = outs + n->n_feed,
                      .target = target};
  pthread_mutex_lock(&s->graph->lock);
  weft_err err = client_session_find_names(s, n, outs, outs + n->n_feed, target);
  pthread_mutex_unlock(&s->graph->lock);
  if (err) weft__free(outs);
  return err;
}

/* ---- running ----------------------------------------------------------------------------------- */

typedef struct run_tensors { /* the tensors of one run */
  int n_fed, n_fetched;
  weft_tensor **fed, **fetched;
} run_tensors;

static weft_err run_tensors_init(run_tensors *x, const plan_request *r) {
  *x = (run_tensors){.fed = weft__alloc_zero((size_t)r->n_feed + 1, sizeof *x->fed),
                     .fetched = weft__alloc_zero((size_t)r->n_fetch + 1, sizeof *x->fetched)};
  x->n_fetched = r->n_fetch;
  return x->fed && x->fetched ? WEFT_OK : WEFT_OOM;
}

static void run_tensors_finish(run_tensors *x) {
  for (int i = 0; i < x->n_fed; i++) weft_tensor_destroy(x->fed[i]);
  for (int i = 0; i < x->n_fetched && x->fetched; i++) weft_tensor_destroy(x->fetched[i]);
  weft__free(x->fed);
  weft__free(x->fetched);
}

static weft_err run_tensors_add_proto(run_tensors *x, const Tensorflow__TensorProto *t) {
  if (!t) return weft__fail(WEFT_INVALID_ARGUMENT, "feed %d has no value", x->n_fed);
  WEFT_TRY(weft__tensor_from_proto(&x->fed[x->n_fed], t));
  x->n_fed++;
  return WEFT_OK;
}

static weft_err client_session_run(client_session *s, call *c, const plan_request *r, run_tensors *x,
                                   const Tensorflow__RunOptions *options, uint8_t **metadata, size_t *metadata_size) {
  run_opts o = {.cancel = weft__call_cancel(c)};
  if (options) {
    o.timeout_ms = options->timeout_in_ms;
    o.trace = options->trace_level > 0;
    o.partition_graphs = options->output_partition_graphs;
    o.collective_graph_key = options->experimental ? options->experimental->collective_graph_key : 0;
  }
  o.metadata = metadata;
  o.metadata_size = metadata_size;
  return weft__session_run(s->session, r, (const weft_tensor *const *)x->fed, x->fetched, &o);
}

/* Moves the tensors of the list to the run. */
static weft_err run_tensors_add_named(run_tensors *x, named_tensor_list *fed) {
  for (int i = 0; i < fed->n; i++) {
    if (!fed->item[i].tensor) return weft__fail(WEFT_INVALID_ARGUMENT, "feed %d has no value", i);
    x->fed[x->n_fed++] = fed->item[i].tensor;
    fed->item[i].tensor = NULL;
  }
  return WEFT_OK;
}

static char **feed_names(const named_tensor_list *fed) {
  char **list = weft__alloc(((size_t)fed->n + 1) * sizeof *list);
  for (int i = 0; i < fed->n && list; i++) list[i] = fed->item[i].name;
  return list;
}

static weft_err client_session_run_whole(client_session *s, call *c, const Tensorflow__RunStepRequest *q,
                                         named_tensor_list *fed, message *answer) {
  plan_request r;
  run_tensors x;
  uint8_t *metadata = NULL;
  size_t metadata_size = 0;
  request_names n = {
      .n_feed = (size_t)fed->n, .n_fetch = q->n_fetch, .n_target = q->n_target, .fetch = q->fetch, .target = q->target};
  if (!(n.feed = feed_names(fed))) return WEFT_OOM;
  weft_err err = client_session_find_request(s, &n, &r);
  weft__free(n.feed);
  if (err) return err;
  err = run_tensors_init(&x, &r);
  if (!err) err = run_tensors_add_named(&x, fed);
  if (!err) err = client_session_run(s, c, &r, &x, q->options, &metadata, &metadata_size);
  for (int i = 0; i < r.n_fetch && !err; i++)
    err = weft__message_add_named_tensor(answer, RUN_STEP_TENSOR, q->fetch[i], x.fetched[i]);
  if (!err && metadata_size) err = weft__message_add_string(answer, RUN_STEP_METADATA, metadata, metadata_size);
  weft__free(metadata);
  run_tensors_finish(&x);
  weft__free((void *)(uintptr_t)r.feed);
  return err;
}

/* ---- partial runs ------------------------------------------------------------------------------ */

/* Returns the link to the entry of the list, or to NULL.  The lock is held. */
static prepared **client_session_find_prepared(client_session *s, int64_t id, bool partial) {
  WEFT_ASSERT(weft__lock_is_held(&s->lock));
  prepared **at = &s->prepared;
  while (*at && ((*at)->id != id || ((*at)->partial != NULL) != partial)) at = &(*at)->next;
  return at;
}

/* Makes an entry with the next number of its kind.  The number is never given again, even if the setup fails. */
static weft_err client_session_new_prepared(client_session *s, int64_t *next, prepared **out) {
  prepared *p = weft__alloc_zero(1, sizeof *p);
  if (!p) return WEFT_OOM;
  p->refs = 1;
  pthread_mutex_lock(&s->lock);
  p->id = (*next)++;
  pthread_mutex_unlock(&s->lock);
  *out = p;
  return WEFT_OK;
}

static void client_session_list_prepared(client_session *s, prepared *p) {
  pthread_mutex_lock(&s->lock);
  p->next = s->prepared;
  s->prepared = p;
  pthread_mutex_unlock(&s->lock);
}

/* Returns the entry with a reference, or NULL. */
static prepared *client_session_use_prepared(client_session *s, int64_t id, bool partial) {
  pthread_mutex_lock(&s->lock);
  prepared *found = *client_session_find_prepared(s, id, partial);
  if (found) found->refs++;
  pthread_mutex_unlock(&s->lock);
  return found;
}

static void prepared_release(client_session *s, prepared *p) {
  pthread_mutex_lock(&s->lock);
  const bool last = --p->refs == 0;
  pthread_mutex_unlock(&s->lock);
  if (last) prepared_destroy(p);
}

/* Takes the entry off the list, if it is there, and drops the list's reference.  Returns false if it is not there. */
static bool client_session_drop_prepared(client_session *s, int64_t id, bool partial) {
  pthread_mutex_lock(&s->lock);
  prepared **at = client_session_find_prepared(s, id, partial), *gone = *at;
  if (gone) *at = gone->next;
  pthread_mutex_unlock(&s->lock);
  if (gone) prepared_release(s, gone);
  return gone != NULL;
}

weft_err weft__client_session_setup_partial(client_session *s, call *c, const ProtobufCMessage *m, message *answer) {
  const Tensorflow__PartialRunSetupRequest *q = (const Tensorflow__PartialRunSetupRequest *)m;
  request_names n = {q->n_feed, q->n_fetch, q->n_target, q->feed, q->fetch, q->target};
  char digits[24];
  plan_request r;
  (void)c;
  WEFT_TRY(weft__request_dedup_check(s->dedup, "PartialRunSetup", q->request_id));
  prepared *p;
  WEFT_TRY(client_session_new_prepared(s, &s->next_partial, &p));
  weft_err err = client_session_find_request(s, &n, &r);
  if (!err) {
    err = weft__session_partial_setup(s->session, &r, &p->partial);
    weft__free((void *)(uintptr_t)r.feed);
  }
  if (err) {
    weft__free(p);
    return err;
  }
  snprintf(digits, sizeof digits, "%lld", (long long)p->id);
  client_session_list_prepared(s, p);
  return weft__message_add_string(answer, PARTIAL_RUN_SETUP_HANDLE, digits, strlen(digits));
}

static weft_err client_session_call_partial(client_session *s, call *c, prepared *p,
                                            const Tensorflow__RunStepRequest *q, named_tensor_list *fed,
                                            message *answer) {
  plan_request r;
  run_tensors x;
  request_names n = {.n_feed = (size_t)fed->n, .n_fetch = q->n_fetch, .fetch = q->fetch};
  if (!(n.feed = feed_names(fed))) return WEFT_OOM;
  weft_err err = client_session_find_request(s, &n, &r);
  weft__free((void *)n.feed);
  if (err) return err;
  err = run_tensors_init(&x, &r);
  if (!err) err = run_tensors_add_named(&x, fed);
  const run_opts o = {.cancel = weft__call_cancel(c)};
  if (!err) err = weft__partial_run_call(p->partial, &r, (const weft_tensor *const *)x.fed, x.fetched, &o);
  for (size_t i = 0; i < q->n_fetch && !err; i++)
    err = weft__message_add_named_tensor(answer, RUN_STEP_TENSOR, q->fetch[i], x.fetched[i]);
  run_tensors_finish(&x);
  weft__free((void *)(uintptr_t)r.feed);
  return err;
}

static weft_err client_session_run_partial(client_session *s, call *c, const Tensorflow__RunStepRequest *q,
                                           named_tensor_list *fed, message *answer) {
  char *end = NULL;
  const int64_t id = strtoll(q->partial_run_handle, &end, 10);
  prepared *p = *end ? NULL : client_session_use_prepared(s, id, true);
  if (!p) return weft__fail(WEFT_INVALID_ARGUMENT, "Must run PartialRunSetup before performing partial runs");
  status result = {0};
  weft__status_update(&result, client_session_call_partial(s, c, p, q, fed, answer));
  if (atomic_load(&p->partial->over)) client_session_drop_prepared(s, id, true);
  prepared_release(s, p);
  weft_err err = weft__status_raise(&result);
  weft__status_finish(&result);
  return err;
}

weft_err weft__client_session_run_step(client_session *s, call *c, const ProtobufCMessage *m, message *answer) {
  const Tensorflow__RunStepRequest *q = (const Tensorflow__RunStepRequest *)m;
  named_tensor_list fed;
  WEFT_TRY(weft__request_dedup_check(s->dedup, "RunStep", q->request_id));
  WEFT_TRY(weft__named_tensors_read(&fed, weft__call_request(c), WEFT_STEP_FEEDS));
  weft_err err = *q->partial_run_handle ? client_session_run_partial(s, c, q, &fed, answer)
                                        : client_session_run_whole(s, c, q, &fed, answer);
  weft__named_tensors_finish(&fed);
  if (!err || !q->store_errors_in_response_body) return err;
  weft__message_finish(answer);
  weft__message_init(answer);
  const char *why = weft__error_message();
  WEFT_TRY(weft__message_add_varint(answer, RUN_STEP_STATUS_CODE, (uint64_t)err));
  return weft__message_add_string(answer, RUN_STEP_STATUS_MESSAGE, why, strlen(why));
}

/* ---- the graph --------------------------------------------------------------------------------- */

weft_err weft__client_session_extend(client_session *s, call *c, const ProtobufCMessage *m, message *answer) {
  const Tensorflow__ExtendSessionRequest *q = (const Tensorflow__ExtendSessionRequest *)m;
  weft_err err = WEFT_OK;
  (void)c;
  pthread_mutex_lock(&s->lock);
  int64_t version = s->version;
  if (q->current_graph_version != version)
    err = weft__fail(WEFT_ABORTED, "Mismatched graph versions: the session has %lld, the extension was made for %lld",
                     (long long)version, (long long)q->current_graph_version);
  if (!err && q->graph_def) err = weft__graph_import_proto(s->graph, q->graph_def, &(import_opts){.extend = true});
  if (!err) version = ++s->version;
  atomic_store(&s->nodes, s->graph->n_node);
  pthread_mutex_unlock(&s->lock);
  return err ? err : weft__message_add_varint(answer, EXTEND_SESSION_VERSION, (uint64_t)version);
}

static weft_err client_session_add_device(message *answer, const device_info *d) {
  Tensorflow__DeviceAttributes a = TENSORFLOW__DEVICE_ATTRIBUTES__INIT;
  a.name = d->name;
  a.device_type = d->type;
  a.memory_limit = d->memory_limit;
  a.incarnation = d->incarnation;
  a.physical_device_desc = d->description;
  WEFT_TRY(weft__message_add_length(answer, LIST_DEVICES_LOCAL, tensorflow__device_attributes__get_packed_size(&a)));
  return weft__message_pack(answer, &a.base);
}

weft_err weft__client_session_devices(client_session *s, call *c, const ProtobufCMessage *m, message *answer) {
  device_info *list;
  int n;
  (void)m;
  WEFT_TRY(weft__cluster_session_devices(s->session, weft__call_cancel(c), &list, &n));
  weft_err err = WEFT_OK;
  for (int i = 0; i < n && !err; i++) err = client_session_add_device(answer, &list[i]);
  weft__place_infos_free(list, n);
  return err;
}

/* ---- callables --------------------------------------------------------------------------------- */

weft_err weft__client_session_make_callable(client_session *s, call *c, const ProtobufCMessage *m, message *answer) {
  const Tensorflow__MakeCallableRequest *q = (const Tensorflow__MakeCallableRequest *)m;
  const Tensorflow__CallableOptions *o = q->options;
  plan_request r;
  (void)c;
  WEFT_TRY(weft__request_dedup_check(s->dedup, "MakeCallable", q->request_id));
  if (!o) return weft__fail(WEFT_INVALID_ARGUMENT, "MakeCallable without options");
  prepared *made;
  WEFT_TRY(client_session_new_prepared(s, &s->next_callable, &made));
  made->timeout_ms = o->run_options ? o->run_options->timeout_in_ms : 0;
  request_names n = {o->n_feed, o->n_fetch, o->n_target, o->feed, o->fetch, o->target};
  weft_err err = client_session_find_request(s, &n, &r);
  if (!err) {
    err = weft__session_make_callable(s->session, &r, &made->callable);
    weft__free((void *)(uintptr_t)r.feed);
  }
  if (err) {
    weft__free(made);
    return err;
  }
  const int64_t id = made->id;
  client_session_list_prepared(s, made);
  return weft__message_add_varint(answer, MAKE_CALLABLE_HANDLE, (uint64_t)id);
}

static weft_err client_session_no_callable(int64_t id) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "No such callable handle: %lld", (long long)id);
}

static weft_err client_session_call(call *c, const prepared *p, const Tensorflow__RunCallableRequest *q,
                                    message *answer) {
  const plan_request size = {.n_feed = weft__int_sat(q->n_feed), .n_fetch = p->callable->n_fetch};
  const run_opts o = {.cancel = weft__call_cancel(c), .timeout_ms = p->timeout_ms};
  run_tensors x;
  weft_err err = run_tensors_init(&x, &size);
  for (size_t i = 0; i < q->n_feed && !err; i++) err = run_tensors_add_proto(&x, q->feed[i]);
  if (!err) err = weft__callable_run(p->callable, x.n_fed, (const weft_tensor *const *)x.fed, x.fetched, &o);
  for (int i = 0; i < size.n_fetch && !err; i++)
    err = weft__message_add_tensor(answer, RUN_CALLABLE_FETCH, x.fetched[i]);
  run_tensors_finish(&x);
  return err;
}

weft_err weft__client_session_run_callable(client_session *s, call *c, const ProtobufCMessage *m, message *answer) {
  const Tensorflow__RunCallableRequest *q = (const Tensorflow__RunCallableRequest *)m;
  WEFT_TRY(weft__request_dedup_check(s->dedup, "RunCallable", q->request_id));
  prepared *found = client_session_use_prepared(s, q->handle, false);
  if (!found) return client_session_no_callable(q->handle);
  weft_err err = client_session_call(c, found, q, answer);
  prepared_release(s, found);
  return err;
}

weft_err weft__client_session_release_callable(client_session *s, call *c, const ProtobufCMessage *m, message *answer) {
  const Tensorflow__ReleaseCallableRequest *q = (const Tensorflow__ReleaseCallableRequest *)m;
  (void)c, (void)answer;
  return client_session_drop_prepared(s, q->handle, false) ? WEFT_OK : client_session_no_callable(q->handle);
}
