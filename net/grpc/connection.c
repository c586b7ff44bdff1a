/* connection.c - a connection over gRPC to numeric addresses: each call is one batch and one event.
 *
 * A connection knows its pending calls, so that destroying it can cancel them and wait.  A call is freed by its event,
 * after its callback.
 *
 * Lock: the connection's, over its list of calls; under it calls are canceled, which only posts events. */
#include "net/grpc/connection.h"
#include "net/grpc/tls_probe.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/list.h"
#include <arpa/inet.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct direct_connection direct_connection;

typedef struct client_call {
  tag done;
  direct_connection *conn;
  list_link link; /* of the connection's calls */
  grpc_call *call;
  grpc_byte_buffer *request, *response;
  grpc_metadata_array initial, trailing;
  grpc_metadata token;
  grpc_status_code code;
  grpc_slice details;
  cancel *cancel;
  cancel_watch watch;
  int64_t timeout_ms;
  rpc_callback *fn;
  void *arg;
  char *method; /* behind the struct */
} client_call;

struct direct_connection {
  grpc_connection base;
  char *address, *target;
  bool has_tls;
  tls_probe *probe;             /* NULL under TLS */
  atomic_llong closed_since_ns; /* since when the peer closes each connection during the handshake; 0: it does not */
  bool has_token;
  grpc_slice bearer; /* "Bearer TOKEN" */
  grpc_channel *channel;
  grpc_completion_queue *queue;
  pthread_mutex_t lock;
  pthread_cond_t empty;
  linked_list calls; /* guarded by the lock */
};

/* ---- the end of a call ---- */

static _Thread_local grpc_call *responding_call; /* while its callback runs on this thread */

/* Parses "ipv4:10.0.0.1:2222", "ipv6:[::1]:2222" or "ipv6:%5B::1%5D:2222". */
bool weft__grpc_response_host(char *buf, size_t room) {
  char *peer = responding_call ? grpc_call_get_peer(responding_call) : NULL;
  char *begin = peer ? strchr(peer, ':') : NULL, *end = peer ? strrchr(peer, ':') : NULL;
  bool found = begin && end > begin && strncmp(peer, "ipv", 3) == 0;
  if (found) {
    begin++;
    if (*begin == '[') begin++, end = strchr(begin, ']');
    if (strncasecmp(begin, "%5b", 3) == 0) begin += 3, end = strchr(begin, '%');
    found = end && (size_t)(end - begin) < room;
  }
  if (found) snprintf(buf, room, "%.*s", weft__int_sat(end - begin), begin);
  gpr_free(peer);
  return found;
}

static bool status_contains(const client_call *c, const char *words) {
  return memmem(GRPC_SLICE_START_PTR(c->details), GRPC_SLICE_LENGTH(c->details), words, strlen(words)) != NULL;
}

/* Fails if the two sides disagree about TLS, which gRPC reports as a lost connection: retrying does not help then. */
static weft_err client_call_raise_tls_error(const client_call *c) {
  enum { CLOSED_MS = 5000 };
  direct_connection *conn = c->conn;
  const char *a = conn->address;
  bool closed = status_contains(c, "failed to connect") && status_contains(c, "Socket closed");
  int64_t now = weft__clock_now_ns();
  int64_t since = atomic_load(&conn->closed_since_ns);
  if (!closed) atomic_store(&conn->closed_since_ns, 0);
  if (closed && !since) atomic_store(&conn->closed_since_ns, since = now);
  if (conn->has_tls && status_contains(c, "wrong version number"))
    return weft__fail(WEFT_UNAUTHENTICATED,
                      "%s does not speak TLS, and this process does (WEFT_TLS_CERT is set here, but not there)", a);
  if (conn->has_tls &&
      (status_contains(c, "certificate verify failed") || status_contains(c, "is not in peer certificate")))
    return weft__fail(WEFT_UNAUTHENTICATED,
                      "%s: its certificate is not one of the CA in WEFT_TLS_CA, or is for another host", a);
  if (conn->has_tls && closed && now - since > CLOSED_MS * NS_PER_MS)
    return weft__fail(
        WEFT_UNAUTHENTICATED,
        "%s closes each connection during the TLS handshake: it does not accept this certificate (WEFT_TLS_CERT)", a);
  if (conn->has_tls || !closed) return WEFT_OK;
  weft__tls_probe_start(conn->probe, conn->target);
  if (!weft__tls_probe_saw_tls(conn->probe)) return WEFT_OK;
  return weft__fail(
      WEFT_UNAUTHENTICATED,
      "%s speaks TLS, and this process has no certificate (set WEFT_TLS_CERT, WEFT_TLS_KEY and WEFT_TLS_CA)", a);
}

/* Fails with the call's status.  gRPC's own messages name neither the call nor the address, so they are added. */
static weft_err client_call_raise_status(const client_call *c) {
  const char *text = (const char *)GRPC_SLICE_START_PTR(c->details), *address = c->conn->address;
  int size = weft__int_sat(GRPC_SLICE_LENGTH(c->details));
  weft_err code = (int)c->code > WEFT_OK && (int)c->code <= WEFT_UNAUTHENTICATED ? (weft_err)c->code : WEFT_UNKNOWN;
  if (code == WEFT_UNKNOWN && size == 14 && memcmp(text, "Stream removed", 14) == 0) code = WEFT_UNAVAILABLE;
  if (code == WEFT_UNAVAILABLE) {
    WEFT_TRY(client_call_raise_tls_error(c));
    return weft__rpc_error(weft__fail(code, "%s: %.*s", address, size, text));
  }
  if (code == WEFT_DEADLINE_EXCEEDED && size == 17 && memcmp(text, "Deadline Exceeded", 17) == 0)
    return weft__fail(code, "%s: %s was not answered within %lld ms", address, c->method, (long long)c->timeout_ms);
  if (code == WEFT_UNIMPLEMENTED && size == 0)
    return weft__fail(code, "%s does not speak TensorFlow's protocol (%s)", address, c->method);
  return weft__rpc_error(weft__fail(code, "%.*s", size, text));
}

static void client_call_free(client_call *c) {
  if (c->call) grpc_call_unref(c->call);
  if (c->request) grpc_byte_buffer_destroy(c->request);
  grpc_metadata_array_destroy(&c->initial);
  grpc_metadata_array_destroy(&c->trailing);
  grpc_slice_unref(c->details);
  weft__free(c);
}

static void client_call_remove(client_call *c) {
  direct_connection *conn = c->conn;
  pthread_mutex_lock(&conn->lock);
  weft__list_remove(&c->link);
  if (weft__list_is_empty(&conn->calls)) pthread_cond_broadcast(&conn->empty);
  pthread_mutex_unlock(&conn->lock);
}

static void client_call_on_done(void *arg, bool ok) {
  (void)ok; /* the status says the same */
  client_call *c = arg;
  message response = {0};
  bool cancelled = c->cancel && !weft__cancel_watch_remove(c->cancel, &c->watch);
  weft_err err = WEFT_OK;
  if (c->code == GRPC_STATUS_OK)
    err = weft__core_to_message(&response, c->response);
  else if (c->response)
    grpc_byte_buffer_destroy(c->response);
  if (c->code != GRPC_STATUS_OK)
    err = cancelled && c->code == GRPC_STATUS_CANCELLED ? weft__cancel_raise(c->cancel) : client_call_raise_status(c);
  responding_call = c->call;
  c->fn(c->arg, err, err == WEFT_OK ? &response : NULL);
  responding_call = NULL;
  weft__message_finish(&response);
  client_call_remove(c); /* last: destroying the connection waits for this, and so for the callback too */
  client_call_free(c);
}

/* ---- the beginning ---- */

static void client_call_cancel(void *arg) { grpc_call_cancel(((client_call *)arg)->call, NULL); }

static gpr_timespec grpc_deadline_after(int64_t timeout_ms) {
  if (timeout_ms <= 0) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(timeout_ms, GPR_TIMESPAN));
}

static grpc_call_error client_call_start(client_call *c, bool wait_for_ready) {
  grpc_op op[6] = {{.op = GRPC_OP_SEND_INITIAL_METADATA},  {.op = GRPC_OP_SEND_MESSAGE},
                   {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT}, {.op = GRPC_OP_RECV_INITIAL_METADATA},
                   {.op = GRPC_OP_RECV_MESSAGE},           {.op = GRPC_OP_RECV_STATUS_ON_CLIENT}};
  if (wait_for_ready)
    op[0].flags = GRPC_INITIAL_METADATA_WAIT_FOR_READY | GRPC_INITIAL_METADATA_WAIT_FOR_READY_EXPLICITLY_SET;
  if (c->conn->has_token) {
    c->token.key = grpc_slice_from_static_string("authorization");
    c->token.value = c->conn->bearer;
    op[0].data.send_initial_metadata.count = 1;
    op[0].data.send_initial_metadata.metadata = &c->token;
  }
  op[1].data.send_message.send_message = c->request;
  op[3].data.recv_initial_metadata.recv_initial_metadata = &c->initial;
  op[4].data.recv_message.recv_message = &c->response;
  op[5].data.recv_status_on_client.trailing_metadata = &c->trailing;
  op[5].data.recv_status_on_client.status = &c->code;
  op[5].data.recv_status_on_client.status_details = &c->details;
  return weft__core_start_batch(c->call, op, 6, &c->done);
}

static weft_err client_call_create(client_call **out, direct_connection *conn, const char *method, message *request,
                                   const call_opts *opts) {
  size_t size = strlen(method) + 1;
  WEFT_TRY(weft__rpc_check_size(method, request->size));
  client_call *c = weft__alloc_zero(1, sizeof *c + size);
  if (!c) return WEFT_OOM;
  c->method = memcpy(c + 1, method, size);
  c->conn = conn;
  c->done = (tag){.done = client_call_on_done, .arg = c};
  c->cancel = opts->cancel;
  c->timeout_ms = opts->timeout_ms;
  c->details = grpc_empty_slice();
  grpc_metadata_array_init(&c->initial);
  grpc_metadata_array_init(&c->trailing);
  weft_err err = weft__core_from_message(&c->request, request);
  if (err == WEFT_OK) {
    grpc_slice path = grpc_slice_from_copied_string(method); /* the core may use it for longer than this struct lives */
    c->call = grpc_channel_create_call(conn->channel, NULL, 0, conn->queue, path, NULL,
                                       grpc_deadline_after(c->timeout_ms), NULL);
    grpc_slice_unref(path);
  }
  if (err == WEFT_OK && c->cancel) err = weft__cancel_watch_add(c->cancel, &c->watch, client_call_cancel, c);
  if (err == WEFT_OK)
    *out = c;
  else
    client_call_free(c);
  return err;
}

static void direct_connection_call(grpc_connection *base, const char *method, message *request, const call_opts *opts,
                                   rpc_callback *fn, void *arg) {
  direct_connection *conn = (direct_connection *)base;
  client_call *c = NULL;
  weft_err err = client_call_create(&c, conn, method, request, opts);
  weft__message_finish(request);
  if (err != WEFT_OK) {
    fn(arg, err, NULL);
    return;
  }
  c->fn = fn, c->arg = arg;
  pthread_mutex_lock(&conn->lock);
  weft__list_append(&conn->calls, &c->link);
  pthread_mutex_unlock(&conn->lock);
  grpc_call_error failed = client_call_start(c, opts->wait_for_ready);
  if (failed == GRPC_CALL_OK) return;
  c->code = GRPC_STATUS_INTERNAL;
  c->details = grpc_slice_from_static_string(grpc_call_error_to_string(failed));
  client_call_on_done(c, false);
}

/* ---- the connection ---- */

static void direct_connection_destroy(grpc_connection *base) {
  direct_connection *conn = (direct_connection *)base;
  pthread_mutex_lock(&conn->lock);
  WEFT_LIST_FOR_EACH(link, &conn->calls) { grpc_call_cancel(WEFT_LIST_ITEM(link, client_call, link)->call, NULL); }
  while (!weft__list_is_empty(&conn->calls)) pthread_cond_wait(&conn->empty, &conn->lock);
  pthread_mutex_unlock(&conn->lock);
  if (conn->channel) grpc_channel_destroy(conn->channel);
  if (conn->queue) weft__core_release();
  pthread_cond_destroy(&conn->empty);
  pthread_mutex_destroy(&conn->lock);
  grpc_slice_unref(conn->bearer);
  weft__tls_probe_release(conn->probe);
  weft__free(conn->address);
  weft__free(conn->target);
  weft__free(conn);
}

static bool uses_tls(const security *s) { return s->certificate && s->key && s->ca; }

static grpc_channel_credentials *client_credentials(const security *s) {
  if (!uses_tls(s)) return grpc_insecure_credentials_create();
  grpc_ssl_pem_key_cert_pair pair = {s->key, s->certificate};
  return grpc_ssl_credentials_create(s->ca, &pair, NULL, NULL);
}

static void client_args_init(core_args *a) {
  weft__core_args_common(a);
  weft__core_args_add(a, GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, RETRY_MIN_MS);
  weft__core_args_add(a, GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, RETRY_MAX_MS);
  weft__core_args_add(a, GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, CONNECT_TIMEOUT_MS);
  weft__core_args_add(a, GRPC_ARG_ENABLE_HTTP_PROXY, 0); /* http_proxy is meant for the web, not for a cluster */
  weft__core_args_add(a, GRPC_ARG_ENABLE_RETRIES, 0);
  weft__core_args_add(a, GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1); /* not shared with other channels */
}

static void client_args_add_text(core_args *a, const char *key, const char *value) {
  a->arg[a->all.num_args++] =
      (grpc_arg){.type = GRPC_ARG_STRING, .key = (char *)(uintptr_t)key, .value.string = (char *)(uintptr_t)value};
  a->all.args = a->arg;
}

static weft_err direct_connection_open(direct_connection *conn, const char *host, const channel_opts *opts) {
  core_args args;
  client_args_init(&args);
  if (host) client_args_add_text(&args, GRPC_SSL_TARGET_NAME_OVERRIDE_ARG, host); /* the name in the certificate */
  if (host) client_args_add_text(&args, GRPC_ARG_DEFAULT_AUTHORITY, conn->address);
  WEFT_TRY(weft__core_retain(&conn->queue));
  grpc_channel_credentials *creds = client_credentials(&opts->security);
  if (!creds)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s: the certificate, key or CA given for TLS cannot be read",
                      conn->address);
  conn->channel = grpc_channel_create(conn->target, creds, &args.all);
  grpc_channel_credentials_release(creds);
  return WEFT_OK;
}

weft_err weft__direct_connection_create(grpc_connection **out, const char *target, const char *address,
                                        const char *host, const channel_opts *opts) {
  static const grpc_connection_ops ops = {direct_connection_call, direct_connection_destroy};
  *out = NULL;
  direct_connection *conn = weft__alloc_zero(1, sizeof *conn);
  if (!conn) return WEFT_OOM;
  conn->base.ops = &ops;
  weft__list_init(&conn->calls);
  pthread_mutex_init(&conn->lock, NULL);
  pthread_cond_init(&conn->empty, NULL);
  conn->bearer = weft__core_bearer(opts->security.token);
  conn->has_token = opts->security.token != NULL;
  conn->has_tls = uses_tls(&opts->security);
  conn->address = weft__strdup(address);
  conn->target = weft__strdup(target);
  if (!conn->has_tls) conn->probe = weft__tls_probe_create();
  weft_err err = conn->address && conn->target && (conn->has_tls || conn->probe)
                     ? direct_connection_open(conn, host, opts)
                     : WEFT_OOM;
  if (err == WEFT_OK)
    *out = &conn->base;
  else
    direct_connection_destroy(&conn->base);
  return err;
}

direct_state weft__direct_connection_state(grpc_connection *base, bool connect) {
  direct_connection *conn = (direct_connection *)base;
  grpc_connectivity_state s = grpc_channel_check_connectivity_state(conn->channel, connect);
  return s == GRPC_CHANNEL_READY               ? DIRECT_READY
         : s == GRPC_CHANNEL_TRANSIENT_FAILURE ? DIRECT_FAILED
                                               : DIRECT_CONNECTING;
}

bool weft__direct_connection_is_idle(grpc_connection *base) {
  direct_connection *conn = (direct_connection *)base;
  pthread_mutex_lock(&conn->lock);
  bool idle = weft__list_is_empty(&conn->calls);
  pthread_mutex_unlock(&conn->lock);
  return idle;
}

/* ---- addresses ---- */

/* Splits "host:port" or "[host]:port". */
static bool address_split(const char *address, char *host, size_t room, int *port) {
  const char *colon = strrchr(address, ':'), *first = address;
  size_t n = colon ? (size_t)(colon - address) : 0;
  if (n > 2 && address[0] == '[' && colon[-1] == ']') first++, n -= 2;
  if (!n || n >= room) return false;
  memcpy(host, first, n);
  host[n] = 0;
  char *end;
  long v = strtol(colon + 1, &end, 10);
  if (end == colon + 1 || *end || v < 0 || v > 65535) return false;
  *port = weft__int_sat(v);
  return true;
}

/* Returns gRPC's target for a numeric address or localhost, which need no resolver.  NULL: no memory, or *is_name. */
static char *address_target(const char *host, int port, bool *is_name) {
  struct in6_addr bytes;
  char plain[256];
  const char *scope = strchr(host, '%');
  *is_name = false;
  snprintf(plain, sizeof plain, "%.*s", weft__int_sat(scope ? scope - host : (ptrdiff_t)strlen(host)), host);
  if (strcmp(host, "localhost") == 0) return weft__sprintf("ipv4:127.0.0.1:%d", port);
  if (inet_pton(AF_INET, host, &bytes) == 1) return weft__sprintf("ipv4:%s:%d", host, port);
  if (inet_pton(AF_INET6, plain, &bytes) == 1)
    return weft__sprintf("ipv6:[%s%s%s]:%d", plain, scope ? "%25" : "", scope ? scope + 1 : "", port);
  *is_name = true;
  return NULL;
}

weft_err weft__grpc_connection_create(grpc_connection **out, const char *address, const channel_opts *opts) {
  char host[256];
  int port;
  bool is_name;
  *out = NULL;
  if (!address_split(address, host, sizeof host, &port))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Could not interpret \"%s\" as a host-port pair.", address);
  char *target = address_target(host, port, &is_name);
  if (is_name) return weft__resolving_connection_create(out, address, host, port, opts);
  if (!target) return WEFT_OOM;
  weft_err err =
      weft__direct_connection_create(out, target, address, strcmp(host, "localhost") == 0 ? host : NULL, opts);
  weft__free(target);
  return err;
}
#endif
