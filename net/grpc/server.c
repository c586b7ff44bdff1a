/* server.c - a port over gRPC: every method of every service is one kind of call to it.
 *
 * Without TLS our own acceptor listens; with TLS gRPC does, and if it stops accepting, a further gRPC server takes the
 * port over while the first goes on serving the connections it has.
 *
 * A call passes four events: it came (asked for in advance, several at a time), its message was read,
 * its answer was sent, and it is closed, which comes early when the caller gave up.  The last two come
 * in any order and the call is freed with the second.  The port counts its calls and is freed after
 * them: gRPC's own shutdown waits for connections, not for a handler that still has to answer. */
#include "net/grpc/acceptor.h"
#include "net/grpc/listener_watchdog.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/log.h"
#include <errno.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
  WAITING_CALLS = 8, /* asked for in advance */
  CALLER_PING_MS = 10000,
  CALLER_DEAD_MS = 20000,
  HANDSHAKE_MS = 10000,
  SERVERS_MAX = 8
};

typedef struct grpc_port grpc_port;

typedef struct served { /* one gRPC server of the port */
  grpc_port *port;
  grpc_server *server; /* NULL: the place is free */
  tag shut;
  bool leaving, is_shut; /* told to shut down; has done so.  Guarded by the port's lock */
} served;

struct grpc_port {
  port base;
  served served[SERVERS_MAX]; /* more than the first only if gRPC's listener had to be replaced */
  acceptor *acceptor;         /* NULL under TLS */
  watch *watch;               /* NULL without */
  char host[256];
  security security;
  grpc_completion_queue *queue;
  rpc_handler *fn;
  void *arg;
  bool has_token;
  grpc_slice bearer;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int calls; /* that came and are not freed */
};

typedef struct in_call {
  call base;
  grpc_port *port;
  served *from;
  grpc_call *call;
  grpc_call_details details;
  grpc_metadata_array metadata;
  grpc_byte_buffer *request, *answer;
  int cancelled;
  char *method, peer[100];
  tag came, read, closed, sent;
  atomic_int ends; /* of sent and closed, those still to come */
} in_call;

/* ---- the end ---- */

static void free_call(in_call *c) {
  if (c->call) grpc_call_unref(c->call);
  grpc_call_details_destroy(&c->details);
  grpc_metadata_array_destroy(&c->metadata);
  if (c->answer) grpc_byte_buffer_destroy(c->answer);
  gpr_free(c->method);
  weft__message_finish(&c->base.request);
  weft__cancel_finish(&c->base.cancel);
  weft__free(c);
}

static void count_call(grpc_port *p, int change) {
  pthread_mutex_lock(&p->lock);
  p->calls += change;
  if (p->calls == 0) pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->lock);
}

static void end_one(in_call *c) {
  grpc_port *p = c->port;
  if (atomic_fetch_sub_explicit(&c->ends, 1, memory_order_acq_rel) != 1) return;
  free_call(c);
  count_call(p, -1);
}

static void call_sent(void *arg, bool ok) {
  (void)ok; /* a caller that is gone hears nothing */
  end_one(arg);
}

static void call_closed(void *arg, bool ok) {
  in_call *c = arg;
  if (!ok || c->cancelled)
    weft__cancel_fire(&c->base.cancel, WEFT_CANCELLED, "%s: the caller gave up or its connection was lost",
                      c->base.method);
  end_one(c);
}

static void send_answer(in_call *c, weft_err err, message *answer) {
  char cut[ERROR_TEXT_MAX + 1];
  message none = {0};
  grpc_slice details = grpc_empty_slice();
  if (!answer) answer = &none;
  if (err == WEFT_OK) err = weft__check_size(c->base.method, answer->size);
  if (err == WEFT_OK) err = weft__core_from_message(&c->answer, answer);
  grpc_op op[3] = {
      {.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_SEND_STATUS_FROM_SERVER}, {.op = GRPC_OP_SEND_MESSAGE}};
  if (err != WEFT_OK) details = grpc_slice_from_copied_string(weft__error_text(cut, weft__error_message()));
  op[1].data.send_status_from_server.status = (grpc_status_code)err;
  op[1].data.send_status_from_server.status_details = err != WEFT_OK ? &details : NULL;
  op[2].data.send_message.send_message = c->answer;
  grpc_call_error failed = weft__core_start(c->call, op, err == WEFT_OK ? 3 : 2, &c->sent);
  grpc_slice_unref(details);
  weft__message_finish(answer);
  if (failed == GRPC_CALL_OK) return;
  grpc_call_cancel_with_status(c->call, GRPC_STATUS_INTERNAL, grpc_call_error_to_string(failed), NULL);
  end_one(c);
}

static void answer_call(call *c, weft_err err, message *answer) { send_answer((in_call *)c, err, answer); }

/* ---- the beginning ---- */

static const char *peer_of(call *base) {
  in_call *c = (in_call *)base;
  if (c->peer[0]) return c->peer;
  char *peer = grpc_call_get_peer(c->call);
  weft__acceptor_peer(c->peer, sizeof c->peer, peer);
  gpr_free(peer);
  return c->peer;
}

/* The connection of a call that was let in may stay. */
static void trust_connection(const in_call *c) {
  if (!c->port->acceptor || !weft__acceptor_has_strangers(c->port->acceptor)) return;
  char *peer = grpc_call_get_peer(c->call);
  weft__acceptor_trust(c->port->acceptor, peer);
  gpr_free(peer);
}

static void call_read(void *arg, bool ok) {
  in_call *c = arg;
  weft_err err = weft__core_to_message(&c->base.request, c->request);
  if (err == WEFT_OK && (!ok || !c->request))
    err = weft__fail(WEFT_INTERNAL, "%s: the request did not arrive whole", c->base.method);
  if (err == WEFT_OK)
    c->port->fn(c->port->arg, &c->base);
  else
    send_answer(c, err, NULL);
}

static bool may_call(const in_call *c) {
  if (!c->port->has_token) return true;
  grpc_slice want = c->port->bearer;
  for (size_t i = 0; i < c->metadata.count; i++) {
    grpc_slice got = c->metadata.metadata[i].value;
    if (grpc_slice_str_cmp(c->metadata.metadata[i].key, "authorization") == 0)
      return weft__tokens_equal(GRPC_SLICE_START_PTR(want), GRPC_SLICE_LENGTH(want), GRPC_SLICE_START_PTR(got),
                                GRPC_SLICE_LENGTH(got));
  }
  return false;
}

static int64_t deadline_ns(gpr_timespec deadline) {
  if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0) return 0;
  gpr_timespec left = gpr_time_sub(deadline, gpr_now(deadline.clock_type));
  return weft__now_ns() + (int64_t)left.tv_sec * 1000000000 + left.tv_nsec;
}

static weft_err wait_for_call(served *from);

static void call_came(void *arg, bool ok) {
  in_call *c = arg;
  if (!ok) { /* the port is being shut down */
    free_call(c);
    return;
  }
  if (wait_for_call(c->from) != WEFT_OK)
    weft__log(LOG_ERROR, "A listener lost one of its %d places: %s", WAITING_CALLS, weft__error_message());
  count_call(c->port, 1);
  c->method = grpc_slice_to_c_string(c->details.method);
  c->base.method = c->method;
  c->base.deadline_ns = deadline_ns(c->details.deadline);
  atomic_store(&c->ends, 2);
  grpc_op closed = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER}, read = {.op = GRPC_OP_RECV_MESSAGE};
  closed.data.recv_close_on_server.cancelled = &c->cancelled;
  read.data.recv_message.recv_message = &c->request;
  weft__core_start(c->call, &closed, 1, &c->closed);
  if (!may_call(c)) {
    send_answer(c,
                weft__fail(WEFT_UNAUTHENTICATED, "%s: this cluster asks for a token, and the call has %s", c->method,
                           "none or another"),
                NULL);
  } else {
    trust_connection(c);
    weft__core_start(c->call, &read, 1, &c->read);
  }
}

static weft_err wait_for_call(served *from) {
  grpc_port *p = from->port;
  static const call_ops ops = {answer_call, peer_of};
  in_call *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_OOM;
  c->base.ops = &ops;
  c->port = p;
  c->from = from;
  weft__cancel_init(&c->base.cancel);
  grpc_call_details_init(&c->details);
  grpc_metadata_array_init(&c->metadata);
  c->came = (tag){.done = call_came, .arg = c};
  c->read = (tag){.done = call_read, .arg = c};
  c->closed = (tag){.done = call_closed, .arg = c};
  c->sent = (tag){.done = call_sent, .arg = c};
  void *came = weft__core_post(&c->came);
  grpc_call_error failed =
      grpc_server_request_call(from->server, &c->call, &c->details, &c->metadata, p->queue, p->queue, came);
  if (failed == GRPC_CALL_OK) return WEFT_OK; /* its event comes, also when the port closes */
  free_call(c);
  return weft__fail(WEFT_INTERNAL, "%s", grpc_call_error_to_string(failed));
}

/* ---- the port ---- */

static void server_shut(void *arg, bool ok) {
  (void)ok;
  served *s = arg;
  pthread_mutex_lock(&s->port->lock);
  s->is_shut = true;
  pthread_cond_broadcast(&s->port->changed);
  pthread_mutex_unlock(&s->port->lock);
}

/* With the lock held. */
static bool all_shut(const grpc_port *p) {
  for (int i = 0; i < SERVERS_MAX; i++)
    if (p->served[i].server && !p->served[i].is_shut) return false;
  return true;
}

static bool wait_shut(grpc_port *p) {
  struct timespec until = weft__deadline((int64_t)CLOSE_WAIT_MS * 1000000);
  pthread_mutex_lock(&p->lock);
  while ((!all_shut(p) || p->calls) && pthread_cond_clockwait(&p->changed, &p->lock, CLOCK_MONOTONIC, &until) == 0)
    continue;
  bool done = all_shut(p) && !p->calls;
  pthread_mutex_unlock(&p->lock);
  return done;
}

static void free_port(grpc_port *p) {
  for (int i = 0; i < SERVERS_MAX; i++)
    if (p->served[i].server) grpc_server_destroy(p->served[i].server);
  weft__acceptor_close(p->acceptor);
  if (p->queue) weft__core_release();
  grpc_slice_unref(p->bearer);
  pthread_cond_destroy(&p->changed);
  pthread_mutex_destroy(&p->lock);
  weft__free(p);
}

static void shut_server(served *s) {
  if (!s->server || s->leaving) return;
  s->leaving = true;
  s->shut = (tag){.done = server_shut, .arg = s};
  grpc_server_shutdown_and_notify(s->server, s->port->queue, weft__core_post(&s->shut));
}

static bool destroy_port(port *base) {
  grpc_port *p = (grpc_port *)base;
  weft__watch_stop(p->watch);
  weft__acceptor_stop(p->acceptor); /* freed with the port: a call that comes meanwhile still asks it */
  for (int i = 0; i < SERVERS_MAX; i++) {
    shut_server(&p->served[i]);
    if (p->served[i].server) grpc_server_cancel_all_calls(p->served[i].server);
  }
  bool shut = wait_shut(p);
  if (shut)
    free_port(p);
  else /* a handler still holds a call: what it will touch must stay */
    weft__log(LOG_ERROR, "The listener on port %d was closed while a call was still being answered", base->number);
  return shut;
}

/* ---- opening ---- */

static bool uses_tls(const security *s) { return s->certificate && s->key && s->ca; }

/* gRPC tells only its log why a port was not bound: trying it ourselves says more.  NULL: it is not the address. */
static const char *why_not_bound(const char *host, int number) {
  char service[16], name[256];
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found;
  size_t size = strlen(host);
  bool bracketed = size > 2 && host[0] == '[' && host[size - 1] == ']';
  snprintf(service, sizeof service, "%d", number);
  snprintf(name, sizeof name, "%.*s", weft__int_sat(bracketed ? size - 2 : size), host + bracketed);
  int failed = getaddrinfo(name, service, &hints, &found);
  if (failed) return gai_strerror(failed);
  int s = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol);
  bool bound = s >= 0 && bind(s, found->ai_addr, found->ai_addrlen) == 0;
  const char *why = bound ? NULL : strerror(errno);
  if (s >= 0) close(s);
  freeaddrinfo(found);
  return why;
}

static weft_err bind_tls(grpc_port *p, grpc_server *server) {
  char address[300];
  grpc_ssl_pem_key_cert_pair pair = {p->security.key, p->security.certificate};
  grpc_server_credentials *how = grpc_ssl_server_credentials_create_ex(
      p->security.ca, &pair, 1, GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY, NULL);
  snprintf(address, sizeof address, "%s:%d", p->host, p->base.number);
  int bound = how ? grpc_server_add_http2_port(server, address, how) : 0;
  if (how) grpc_server_credentials_release(how);
  if (bound > 0) return p->base.number = bound, WEFT_OK;
  const char *why = how ? why_not_bound(p->host, p->base.number) : NULL;
  if (why) return weft__fail(WEFT_UNKNOWN, "Could not listen on %s: %s", address, why);
  return weft__fail(WEFT_INVALID_ARGUMENT, "Could not listen on %s: the certificate, key or CA cannot be used",
                    address);
}

static grpc_server *make_server(grpc_port *p) {
  core_args args;
  weft__core_args_common(&args);
  weft__core_args_add(&args, GRPC_ARG_ALLOW_REUSEPORT, 0);
  weft__core_args_add(&args, GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, HANDSHAKE_MS);
  weft__core_args_add(&args, GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0); /* Weft's peers ping; 0: nobody is punished */
  weft__core_args_add(&args, GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, PING_EVERY_MS / 2);
  weft__core_args_add(&args, GRPC_ARG_KEEPALIVE_TIME_MS, CALLER_PING_MS); /* a caller whose host is gone says nothing */
  weft__core_args_add(&args, GRPC_ARG_KEEPALIVE_TIMEOUT_MS, CALLER_DEAD_MS);
  weft__core_args_add(&args, GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  weft__core_args_add(&args, GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  weft__core_args_quota(&args);
  grpc_server *server = grpc_server_create(&args.all, NULL);
  weft__core_args_finish(&args);
  grpc_server_register_completion_queue(server, p->queue, NULL);
  return server;
}

/* A place for one more server; the oldest makes room, once the connections it has are gone. */
static served *find_place(grpc_port *p) {
  served *found = NULL;
  pthread_mutex_lock(&p->lock);
  for (int i = 0; i < SERVERS_MAX && !found; i++)
    if (!p->served[i].server || p->served[i].is_shut) found = &p->served[i];
  pthread_mutex_unlock(&p->lock);
  if (found && found->server) {
    grpc_server_destroy(found->server);
    found->server = NULL;
    found->leaving = found->is_shut = false;
  }
  for (int i = 0; i < SERVERS_MAX && !found; i++) shut_server(&p->served[i]);
  return found;
}

static weft_err open_server(void *arg) {
  grpc_port *p = arg;
  served *s = find_place(p);
  if (!s) return weft__fail(WEFT_UNAVAILABLE, "its %d earlier listeners are still being closed", SERVERS_MAX);
  grpc_server *server = make_server(p);
  weft_err err = p->acceptor ? WEFT_OK : bind_tls(p, server);
  grpc_server_start(server); /* also to shut it down */
  pthread_mutex_lock(&p->lock);
  s->port = p, s->server = server;
  pthread_mutex_unlock(&p->lock);
  for (int i = 0; !err && i < WAITING_CALLS; i++) err = wait_for_call(s);
  if (!err && p->acceptor) err = weft__acceptor_start(p->acceptor, server);
  if (err) shut_server(s);
  return err;
}

static weft_err open_port(grpc_port *p) {
  WEFT_TRY(weft__core_retain(&p->queue));
  if (!uses_tls(&p->security)) WEFT_TRY(weft__acceptor_listen(&p->acceptor, p->host, &p->base.number));
  WEFT_TRY(open_server(p));
  return p->acceptor ? WEFT_OK : weft__watch_start(&p->watch, p->base.number, open_server, p);
}

weft_err weft__grpc_listen(port **out, const listener_opts *opts, rpc_handler *fn, void *arg) {
  static const port_kind kind = {destroy_port};
  *out = NULL;
  grpc_port *p = weft__alloc_zero(1, sizeof *p);
  if (!p) return WEFT_OOM;
  p->base.kind = &kind;
  p->base.number = opts->port;
  p->fn = fn, p->arg = arg;
  p->security = opts->security;
  snprintf(p->host, sizeof p->host, "%s", opts->host);
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->changed, NULL);
  p->bearer = weft__core_bearer(opts->security.token);
  p->has_token = opts->security.token != NULL;
  weft_err err = open_port(p);
  if (!err) return *out = &p->base, WEFT_OK;
  status kept = {0};
  weft__status_keep(&kept, err);
  destroy_port(&p->base);
  err = weft__status_raise(&kept);
  weft__status_finish(&kept);
  return err;
}
#endif
