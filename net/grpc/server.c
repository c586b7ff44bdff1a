/* server.c - a listener over gRPC: every method of every service is one kind of call to it.
 *
 * Our own acceptor listens, with TLS and without, since gRPC's listener stops for good when it runs out of descriptors.
 *
 * A call passes four events: it was received (calls are requested in advance, several at a time), its message was
 * read, its response was sent, and it was closed, which comes early when the caller gave up.  The last two come in
 * any order, and the call is freed with the second.  The listener counts its calls and is freed after them: gRPC's
 * own shutdown waits for connections, not for a handler that still has to answer.
 *
 * Lock: the listener's, over the count of calls and the end of the server; it is a leaf. */
#include "net/grpc/acceptor.h"
#include "net/grpc/inflate.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <stdio.h>
#include <string.h>

enum {
  REQUESTED_CALLS = 8, /* in advance */
  PEER_PING_MS = 350,  /* how often a peer may ping */
  CALLER_PING_MS = 10000,
  CALLER_DEAD_MS = 20000,
  HANDSHAKE_MS = 10000
};

struct grpc_listener {
  int port; /* the one that was bound */
  grpc_server *server;
  acceptor *acceptor;
  external_port *tls; /* of the server; NULL: no TLS */
  tag shutdown_done;
  char host[256];
  security security;
  grpc_completion_queue *queue;
  rpc_handler *fn;
  void *arg;
  bool has_token;
  grpc_slice bearer;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int calls; /* received and not freed */
  bool is_shut_down;
};

typedef struct server_call {
  call base;
  grpc_listener *listener;
  grpc_call *call;
  grpc_call_details details;
  grpc_metadata_array metadata;
  grpc_byte_buffer *request, *response;
  int cancelled;
  char *method, peer[100];
  tag received, read, closed, sent;
  atomic_int ends_left; /* of sent and closed, the events still to come */
} server_call;

/* ---- the end ---- */

static void server_call_free(server_call *c) {
  if (c->call) grpc_call_unref(c->call);
  grpc_call_details_destroy(&c->details);
  grpc_metadata_array_destroy(&c->metadata);
  if (c->response) grpc_byte_buffer_destroy(c->response);
  gpr_free(c->method);
  weft__message_finish(&c->base.request);
  weft__cancel_finish(&c->base.cancel);
  weft__free(c);
}

static void listener_count_calls(grpc_listener *l, int change) {
  pthread_mutex_lock(&l->lock);
  l->calls += change;
  if (l->calls == 0) pthread_cond_broadcast(&l->changed);
  pthread_mutex_unlock(&l->lock);
}

static void server_call_end_one(server_call *c) {
  grpc_listener *l = c->listener;
  if (atomic_fetch_sub_explicit(&c->ends_left, 1, memory_order_acq_rel) != 1) return;
  server_call_free(c);
  listener_count_calls(l, -1);
}

static void server_call_on_sent(void *arg, bool ok) {
  (void)ok; /* a caller that is gone needs no response */
  server_call_end_one(arg);
}

static void server_call_on_closed(void *arg, bool ok) {
  server_call *c = arg;
  if (!ok || c->cancelled)
    weft__cancel_fire(&c->base.cancel, WEFT_CANCELLED, "%s: the caller gave up or its connection was lost",
                      c->base.method);
  server_call_end_one(c);
}

static void server_call_send_response(server_call *c, weft_err err, message *response) {
  char cut[ERROR_TEXT_MAX + 1];
  message none = {0};
  grpc_slice details = grpc_empty_slice();
  if (!response) response = &none;
  if (err == WEFT_OK) err = weft__rpc_check_size(c->base.method, response->size);
  if (err == WEFT_OK) err = weft__core_from_message(&c->response, response);
  grpc_op op[3] = {
      {.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_SEND_STATUS_FROM_SERVER}, {.op = GRPC_OP_SEND_MESSAGE}};
  if (err != WEFT_OK) details = grpc_slice_from_copied_string(weft__rpc_error_text(cut, weft__error_message()));
  op[1].data.send_status_from_server.status = (grpc_status_code)err;
  op[1].data.send_status_from_server.status_details = err != WEFT_OK ? &details : NULL;
  op[2].data.send_message.send_message = c->response;
  grpc_call_error failed = weft__core_start_batch(c->call, op, err == WEFT_OK ? 3 : 2, &c->sent);
  grpc_slice_unref(details);
  weft__message_finish(response);
  if (failed == GRPC_CALL_OK) return;
  grpc_call_cancel_with_status(c->call, GRPC_STATUS_INTERNAL, grpc_call_error_to_string(failed), NULL);
  server_call_end_one(c);
}

static void server_call_respond(call *c, weft_err err, message *response) {
  server_call_send_response((server_call *)c, err, response);
}

/* ---- the beginning ---- */

static const char *server_call_peer(call *base) {
  server_call *c = (server_call *)base;
  if (c->peer[0]) return c->peer;
  char *peer = grpc_call_get_peer(c->call);
  weft__acceptor_peer(c->peer, sizeof c->peer, peer);
  gpr_free(peer);
  return c->peer;
}

/* The connection of a call that was allowed is authenticated and may stay. */
static void server_call_mark_authenticated(const server_call *c) {
  if (!weft__acceptor_has_unauthenticated(c->listener->acceptor)) return;
  char *peer = grpc_call_get_peer(c->call);
  weft__acceptor_mark_authenticated(c->listener->acceptor, peer);
  gpr_free(peer);
}

static void server_call_on_read(void *arg, bool ok) {
  server_call *c = arg;
  weft_err err = weft__core_to_message(&c->base.request, c->request);
  if (err == WEFT_OK && (!ok || !c->request))
    err = weft__fail(WEFT_INTERNAL, "%s: the request did not arrive whole", c->base.method);
  if (err == WEFT_OK)
    c->listener->fn(c->listener->arg, &c->base);
  else
    server_call_send_response(c, err, NULL);
}

static bool server_call_is_allowed(const server_call *c) {
  if (!c->listener->has_token) return true;
  grpc_slice want = c->listener->bearer;
  for (size_t i = 0; i < c->metadata.count; i++) {
    grpc_slice got = c->metadata.metadata[i].value;
    if (grpc_slice_str_cmp(c->metadata.metadata[i].key, "authorization") == 0)
      return weft__rpc_tokens_equal(GRPC_SLICE_START_PTR(want), GRPC_SLICE_LENGTH(want), GRPC_SLICE_START_PTR(got),
                                    GRPC_SLICE_LENGTH(got));
  }
  return false;
}

static int64_t deadline_ns(gpr_timespec deadline) {
  if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0) return 0;
  gpr_timespec left = gpr_time_sub(deadline, gpr_now(deadline.clock_type));
  return weft__clock_now_ns() + left.tv_sec * NS_PER_S + left.tv_nsec;
}

static weft_err listener_request_call(grpc_listener *l);

static void server_call_on_received(void *arg, bool ok) {
  server_call *c = arg;
  if (!ok) { /* the server is being shut down */
    server_call_free(c);
    return;
  }
  if (listener_request_call(c->listener) != WEFT_OK)
    weft__log(LOG_ERROR, "A listener accepts fewer calls at a time, of %d: %s", REQUESTED_CALLS, weft__error_message());
  listener_count_calls(c->listener, 1);
  c->method = grpc_slice_to_c_string(c->details.method);
  c->base.method = c->method;
  c->base.deadline_ns = deadline_ns(c->details.deadline);
  atomic_store(&c->ends_left, 2);
  grpc_op closed = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER}, read = {.op = GRPC_OP_RECV_MESSAGE};
  closed.data.recv_close_on_server.cancelled = &c->cancelled;
  read.data.recv_message.recv_message = &c->request;
  weft__core_start_batch(c->call, &closed, 1, &c->closed);
  if (!server_call_is_allowed(c)) {
    server_call_send_response(c,
                              weft__fail(WEFT_UNAUTHENTICATED, "%s: this cluster asks for a token, and the call has %s",
                                         c->method, "none or another"),
                              NULL);
  } else {
    server_call_mark_authenticated(c);
    weft__core_start_batch(c->call, &read, 1, &c->read);
  }
}

static weft_err listener_request_call(grpc_listener *l) {
  static const call_ops ops = {server_call_respond, server_call_peer};
  server_call *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_OOM;
  c->base.ops = &ops;
  c->listener = l;
  weft__cancel_init(&c->base.cancel);
  grpc_call_details_init(&c->details);
  grpc_metadata_array_init(&c->metadata);
  c->received = (tag){.done = server_call_on_received, .arg = c};
  c->read = (tag){.done = server_call_on_read, .arg = c};
  c->closed = (tag){.done = server_call_on_closed, .arg = c};
  c->sent = (tag){.done = server_call_on_sent, .arg = c};
  void *received = weft__core_post(&c->received);
  grpc_call_error failed =
      grpc_server_request_call(l->server, &c->call, &c->details, &c->metadata, l->queue, l->queue, received);
  if (failed == GRPC_CALL_OK) return WEFT_OK; /* its event comes, also when the server shuts down */
  server_call_free(c);
  return weft__fail(WEFT_INTERNAL, "%s", grpc_call_error_to_string(failed));
}

/* ---- shutting down ---- */

static void listener_on_shutdown(void *arg, bool ok) {
  (void)ok;
  grpc_listener *l = arg;
  pthread_mutex_lock(&l->lock);
  l->is_shut_down = true;
  pthread_cond_broadcast(&l->changed);
  pthread_mutex_unlock(&l->lock);
}

static bool listener_wait_shutdown(grpc_listener *l) {
  struct timespec until = weft__clock_deadline(CLOSE_WAIT_MS * NS_PER_MS);
  pthread_mutex_lock(&l->lock);
  while ((!l->is_shut_down || l->calls) && pthread_cond_clockwait(&l->changed, &l->lock, CLOCK_MONOTONIC, &until) == 0)
    continue;
  bool done = l->is_shut_down && !l->calls;
  pthread_mutex_unlock(&l->lock);
  return done;
}

static void listener_free(grpc_listener *l) {
  if (l->server) grpc_server_destroy(l->server);
  weft__acceptor_close(l->acceptor);
  if (l->queue) weft__core_release();
  grpc_slice_unref(l->bearer);
  pthread_cond_destroy(&l->changed);
  pthread_mutex_destroy(&l->lock);
  weft__free(l);
}

static void listener_shut_down(grpc_listener *l) {
  l->is_shut_down = !l->server;
  if (!l->server) return;
  l->shutdown_done = (tag){.done = listener_on_shutdown, .arg = l};
  grpc_server_shutdown_and_notify(l->server, l->queue, weft__core_post(&l->shutdown_done));
  grpc_server_cancel_all_calls(l->server);
}

bool weft__grpc_listener_destroy(grpc_listener *l) {
  weft__acceptor_stop(l->acceptor); /* freed with the listener, since a call that is received meanwhile still uses it */
  listener_shut_down(l);
  bool done = listener_wait_shutdown(l);
  if (done)
    listener_free(l);
  else /* a handler still holds a call and will touch the listener: it is not freed */
    weft__log(LOG_ERROR, "The listener on port %d was closed while a call was still being answered", l->port);
  return done;
}

int weft__grpc_listener_port(const grpc_listener *l) { return l->port; }

/* ---- opening ---- */

static bool security_has_tls(const security *s) { return s->certificate && s->key && s->ca; }

static weft_err listener_add_tls(grpc_listener *l) {
  grpc_ssl_pem_key_cert_pair pair = {l->security.key, l->security.certificate};
  grpc_server_credentials *creds = grpc_ssl_server_credentials_create_ex(
      l->security.ca, &pair, 1, GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY, NULL);
  bool added = creds && weft__external_port_add(l->server, creds, &l->tls);
  if (creds) grpc_server_credentials_release(creds);
  if (added) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "cannot listen on %s:%d: the certificate, key or CA cannot be used", l->host,
                    l->port);
}

static grpc_server *listener_create_server(grpc_listener *l) {
  core_args args;
  weft__core_args_common(&args);
  weft__core_args_add(&args, GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, HANDSHAKE_MS);
  weft__core_args_add(&args, GRPC_ARG_HTTP2_MAX_PING_STRIKES,
                      0); /* Weft's peers before 0.2 ping often; 0: no peer is disconnected for it */
  weft__core_args_add(&args, GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, PEER_PING_MS);
  weft__core_args_add(&args, GRPC_ARG_KEEPALIVE_TIME_MS, CALLER_PING_MS); /* notices a caller whose host is gone */
  weft__core_args_add(&args, GRPC_ARG_KEEPALIVE_TIMEOUT_MS, CALLER_DEAD_MS);
  weft__core_args_add(&args, GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  weft__core_args_add(&args, GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  if (!l->has_token && !security_has_tls(&l->security) && weft__inflate_available())
    weft__core_args_add(&args, GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0); /* see inflate.h */
  if (security_has_tls(&l->security)) weft__external_port_args(&args, &l->tls);
  weft__core_args_quota(&args);
  grpc_server *server = grpc_server_create(&args.all, NULL);
  weft__core_args_finish(&args);
  grpc_server_register_completion_queue(server, l->queue, NULL);
  return server;
}

static weft_err listener_open(grpc_listener *l) {
  WEFT_TRY(weft__core_retain(&l->queue));
  WEFT_TRY(weft__acceptor_listen(&l->acceptor, l->host, &l->port));
  l->server = listener_create_server(l);
  weft_err err = security_has_tls(&l->security) ? listener_add_tls(l) : WEFT_OK;
  grpc_server_start(l->server); /* also if it failed: only a started server can be shut down */
  for (int i = 0; !err && i < REQUESTED_CALLS; i++) err = listener_request_call(l);
  return err ? err : weft__acceptor_start(l->acceptor, l->server, l->tls);
}

weft_err weft__grpc_listener_create(grpc_listener **out, const listener_opts *opts, rpc_handler *fn, void *arg) {
  *out = NULL;
  grpc_listener *l = weft__alloc_zero(1, sizeof *l);
  if (!l) return WEFT_OOM;
  l->port = opts->port;
  l->fn = fn, l->arg = arg;
  l->security = opts->security;
  snprintf(l->host, sizeof l->host, "%s", opts->host);
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->changed, NULL);
  l->bearer = weft__core_bearer(opts->security.token);
  l->has_token = opts->security.token != NULL;
  weft_err err = listener_open(l);
  if (!err) return *out = l, WEFT_OK;
  status kept = {0};
  weft__status_update(&kept, err);
  (void)weft__grpc_listener_destroy(l);
  err = weft__status_raise(&kept);
  weft__status_finish(&kept);
  return err;
}
#endif
