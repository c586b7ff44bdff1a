/* client_prepared.c - partial runs and callables of a session whose master is in another process.
 *
 * The master checks and tracks them; here are only the calls: PartialRunSetup and RunStep, MakeCallable, RunCallable
 * and ReleaseCallable. */
#include "cluster/master/client.h"

#include "base/alloc.h"
#include "exec/requests.h"
#include "rpc.pb-c.h"
#include "tensor/tensor_proto.h"
#include <string.h>

enum { RELEASE_MS = 2000, SLACK_MS = 1000 };

/* Adds the names of a request to fields 1, 2 and 3 above `field`: feeds, fetches and targets. */
static weft_err add_names(message *m, client *s, const plan_request *r, int field) {
  weft_graph *g = s->base.graph;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&g->lock);
  for (int i = 0; i < r->n_feed && !err; i++)
    err = weft__client_add_name(m, field, weft__client_output_name(g, r->feed[i]));
  for (int i = 0; i < r->n_fetch && !err; i++)
    err = weft__client_add_name(m, field + 1, weft__client_output_name(g, r->fetch[i]));
  for (int i = 0; i < r->n_target && !err; i++)
    err = weft__client_add_name(m, field + 2, weft__strdup(g->node[r->target[i]]->name));
  pthread_mutex_unlock(&g->lock);
  return err;
}

/* Sends a request that fill has completed behind the session's handle; the caller frees the answer. */
typedef weft_err fill_fn(message *m, client *s, const void *arg);

static weft_err call_session(client *s, const char *method, fill_fn *fill, const void *arg, int64_t timeout_ms,
                             const ProtobufCMessageDescriptor *d, ProtobufCMessage **answer, cancel *token) {
  run_entry a;
  cancel_link link;
  message m = {0};
  *answer = NULL;
  WEFT_TRY(weft__client_begin_call(s, &a, false));
  weft_err err = weft__cancel_link_on(&link, token, &a.cancel);
  if (!err) err = weft__client_update_session(s, &a, timeout_ms);
  if (!err) err = weft__message_add_string(&m, 1, s->handle, strlen(s->handle));
  if (!err) err = fill(&m, s, arg);
  if (!err) err = weft__client_call_master(s, &a, method, &m, timeout_ms ? timeout_ms + SLACK_MS : 0, d, answer);
  weft__message_finish(&m);
  weft__cancel_link_off(&link);
  weft__client_end_call(s, &a);
  return err;
}

/* ---- partial runs -------------------------------------------------------------------------------- */

typedef struct client_partial {
  partial_run base;
  client *session;
  char *handle;    /* on the master */
  atomic_int left; /* feeds and fetches that were not used yet */
} client_partial;

static int distinct_outputs(int n, const weft_out *outs) {
  int count = 0;
  for (int i = 0; i < n; i++) {
    int j = 0;
    while (j < i && (outs[j].node != outs[i].node || outs[j].slot != outs[i].slot)) j++;
    count += j == i;
  }
  return count;
}

static weft_err client_partial_call(partial_run *base, const plan_request *r, const weft_tensor *const *feed,
                                    weft_tensor **fetched, const run_opts *opts) {
  client_partial *p = (client_partial *)base;
  weft_err err = weft__client_run_step(p->session, r, feed, fetched, opts, p->handle);
  const int used = r->n_feed + distinct_outputs(r->n_fetch, r->fetch);
  if (!err && atomic_fetch_sub(&p->left, used) <= used) atomic_store(&base->over, true);
  /* An invalid call leaves the partial run as it was; the master answers the next one if it does not. */
  if (err && err != WEFT_INVALID_ARGUMENT) atomic_store(&base->over, true);
  return err;
}

/* The protocol has no call that ends a partial run: the master ends it with the session. */
static void client_partial_destroy(partial_run *base) {
  weft__free(((client_partial *)base)->handle);
  weft__free(base);
}

static weft_err fill_partial_setup(message *m, client *s, const void *arg) {
  WEFT_TRY(add_names(m, s, arg, 2));
  return weft__message_add_varint(m, 5, weft__client_new_request_id());
}

weft_err weft__client_partial_setup(weft_session *base, const plan_request *r, partial_run **out) {
  static const partial_run_ops ops = {client_partial_call, client_partial_destroy};
  client *s = (client *)base;
  ProtobufCMessage *answer;
  WEFT_TRY(weft__request_check_fixed(base->graph, r));
  client_partial *p = weft__alloc_zero(1, sizeof *p);
  if (!p) return WEFT_OOM;
  weft_err err = call_session(s, MASTER "PartialRunSetup", fill_partial_setup, r, s->opts.timeout_ms,
                              &tensorflow__partial_run_setup_response__descriptor, &answer, NULL);
  if (!err) p->handle = weft__strdup(((Tensorflow__PartialRunSetupResponse *)answer)->partial_run_handle);
  if (answer) protobuf_c_message_free_unpacked(answer, NULL);
  if (!err && !p->handle) err = WEFT_OOM;
  p->base.ops = &ops;
  p->session = s;
  atomic_init(&p->left, r->n_feed + distinct_outputs(r->n_fetch, r->fetch));
  if (err)
    client_partial_destroy(&p->base);
  else
    *out = &p->base;
  return err;
}

/* ---- callables ----------------------------------------------------------------------------------- */

typedef struct client_callable {
  callable base;
  client *session;
  int64_t handle;       /* on the master */
  plan_request request; /* its own copy of the lists */
} client_callable;

typedef struct callable_call {
  const client_callable *callable;
  const weft_tensor *const *feed;
} callable_call;

static weft_err fill_make_callable(message *m, client *s, const void *arg) {
  message options = {0};
  weft_err err = add_names(&options, s, arg, 1);
  if (!err) err = weft__message_add_message(m, 2, &options);
  weft__message_finish(&options);
  return err ? err : weft__message_add_varint(m, 3, weft__client_new_request_id());
}

static weft_err fill_run_callable(message *m, client *s, const void *arg) {
  const callable_call *c = arg;
  (void)s;
  WEFT_TRY(weft__message_add_varint(m, 2, (uint64_t)c->callable->handle));
  for (int i = 0; i < c->callable->base.n_feed; i++) WEFT_TRY(weft__message_add_tensor(m, 3, c->feed[i]));
  return weft__message_add_varint(m, 4, weft__client_new_request_id());
}

static weft_err fill_release_callable(message *m, client *s, const void *arg) {
  (void)s;
  return weft__message_add_varint(m, 2, (uint64_t)((const client_callable *)arg)->handle);
}

static weft_err read_values(const callable *c, const Tensorflow__RunCallableResponse *answer, weft_tensor **fetched) {
  if (answer->n_fetch != (size_t)c->n_fetch)
    return weft__fail(WEFT_INTERNAL, "the master's answer has %zu values, expected %d", answer->n_fetch, c->n_fetch);
  weft_err err = WEFT_OK;
  for (int i = 0; i < c->n_fetch && !err; i++) err = weft__tensor_from_proto(&fetched[i], answer->fetch[i]);
  for (int i = 0; i < c->n_fetch && err; i++) {
    weft_tensor_destroy(fetched[i]);
    fetched[i] = NULL;
  }
  return err;
}

static weft_err client_callable_run(callable *base, const weft_tensor *const *feed, weft_tensor **fetched,
                                    const run_opts *opts) {
  client_callable *c = (client_callable *)base;
  const callable_call args = {c, feed};
  if (opts && opts->metadata) /* RunCallable has no options: a run with metadata is a step of its own */
    return weft__client_run_step(c->session, &c->request, feed, fetched, opts, NULL);
  const int64_t timeout_ms = opts && opts->timeout_ms ? opts->timeout_ms : c->session->opts.timeout_ms;
  ProtobufCMessage *answer;
  weft_err err = call_session(c->session, MASTER "RunCallable", fill_run_callable, &args, timeout_ms,
                              &tensorflow__run_callable_response__descriptor, &answer, opts ? opts->cancel : NULL);
  if (!err) err = read_values(base, (const Tensorflow__RunCallableResponse *)answer, fetched);
  if (answer) protobuf_c_message_free_unpacked(answer, NULL);
  return err;
}

/* The master frees the callable with the session if it misses the call. */
static void client_callable_destroy(callable *base) {
  client_callable *c = (client_callable *)base;
  ProtobufCMessage *answer;
  call_session(c->session, MASTER "ReleaseCallable", fill_release_callable, c, RELEASE_MS,
               &tensorflow__release_callable_response__descriptor, &answer, NULL);
  if (answer) protobuf_c_message_free_unpacked(answer, NULL);
  weft__request_finish(&c->request);
  weft__free(c);
}

weft_err weft__client_make_callable(weft_session *base, const plan_request *r, callable **out) {
  static const callable_ops ops = {client_callable_run, client_callable_destroy};
  client *s = (client *)base;
  ProtobufCMessage *answer;
  client_callable *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_OOM;
  weft_err err = weft__request_copy(&c->request, r);
  if (err) {
    weft__free(c);
    return err;
  }
  err = call_session(s, MASTER "MakeCallable", fill_make_callable, r, s->opts.timeout_ms,
                     &tensorflow__make_callable_response__descriptor, &answer, NULL);
  if (!err) c->handle = ((Tensorflow__MakeCallableResponse *)answer)->handle;
  if (answer) protobuf_c_message_free_unpacked(answer, NULL);
  c->base.ops = &ops;
  c->session = s;
  if (err) {
    weft__request_finish(&c->request);
    weft__free(c);
  } else {
    *out = &c->base;
  }
  return err;
}
