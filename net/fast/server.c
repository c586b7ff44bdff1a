/* server.c - the server side of the fast transport: authenticated connections, and the calls on them.
 *
 * A call stays in the list of its connection until it is answered, so that a lost connection or the caller's cancel
 * frame fires its token.  The listener outlives its connections, and a connection its calls.
 *
 * A connection that has not shown the key is unauthenticated.  It is evicted after GREETING_TIMEOUT_MS, or as the
 * oldest when there are too many of them.
 *
 * Locks: the listener's, over its list of connections; under it connections are shut down.  Each connection's, over
 * its list of calls; it is a leaf.  Handlers and tokens run without either. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory_limit.h"
#include "net/accept.h"
#include "net/fast/conn.h"
#include "net/fast/fast.h"
#include "net/fast/socket.h"
#include "peer.pb-c.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  GREETING_TIMEOUT_MS = 5000,
  MAX_QUEUED_BYTES = 64 << 20, /* of responses, before one caller's requests are read no further */
};

typedef struct server_conn server_conn;

typedef struct server_call {
  call base;
  server_conn *conn;
  uint64_t id;
  atomic_int refs; /* the handler's, and one while the token is being fired */
  bool cancelled;  /* the token was fired, or is being */
  list_link link;  /* of the connection's calls */
  char method[];
} server_call;

struct server_conn {
  conn conn;
  fast_listener *listener;
  int64_t accepted_ns;
  bool evicted;         /* shut down because it is unauthenticated; guarded by the listener's lock */
  list_link link;       /* of the listener's connections */
  pthread_mutex_t lock; /* guards what follows */
  linked_list calls;
  char peer[64];
};

typedef struct listen_socket {
  source source;
  fast_listener *listener;
  bool retry_accept; /* at the next tick, since accepting failed; in dispatch of the primary loop only */
} listen_socket;

struct fast_listener {
  listen_socket local, tcp; /* fd -1: none */
  int tcp_port;             /* 0: none */
  char unix_name[48];
  uint8_t key[FAST_KEY_SIZE];
  loop_group *loops; /* borrowed: the listener of net/rpc.c keeps it */
  rpc_handler *fn;
  void *arg;
  ticker ticker;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t conn_gone;
  linked_list conns; /* the oldest first; a call keeps its connection here */
  accept_log evictions;
  atomic_bool closing;
};

/* ---- calls ---- */

static void server_call_release(server_call *c) {
  if (atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1) return;
  weft__message_finish(&c->base.request);
  weft__cancel_finish(&c->base.cancel);
  weft__conn_release(&c->conn->conn);
  weft__free(c);
}

static void server_call_respond(call *base, weft_err err, message *response) {
  server_call *c = (server_call *)base;
  char cut[ERROR_TEXT_MAX + 1];
  if (err == WEFT_OK && response) err = weft__rpc_check_size(c->base.method, response->size);
  const char *text = err == WEFT_OK ? "" : weft__rpc_error_text(cut, weft__error_message());
  pthread_mutex_lock(&c->conn->lock);
  weft__list_remove(&c->link);
  pthread_mutex_unlock(&c->conn->lock);
  if (err != WEFT_OK && response) weft__message_finish(response);
  weft__conn_send(&c->conn->conn, &(frame_head){.kind = FRAME_RESPONSE, .code = (uint8_t)err, .id = c->id}, text,
                  response, false);
  server_call_release(c);
}

static const char *server_call_peer(call *c) { return ((server_call *)c)->conn->peer; }

/* Returns a call whose token was not fired yet, with a reference and marked as canceled: the one with this id, or any
 * (0).  NULL: there is none. */
static server_call *server_conn_next_to_cancel(server_conn *c, uint64_t id) {
  server_call *found = NULL;
  pthread_mutex_lock(&c->lock);
  WEFT_LIST_FOR_EACH(link, &c->calls) {
    server_call *i = WEFT_LIST_ITEM(link, server_call, link);
    if (i->cancelled || (id != 0 && i->id != id)) continue;
    found = i;
    break;
  }
  if (found) {
    found->cancelled = true;
    atomic_fetch_add_explicit(&found->refs, 1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&c->lock);
  return found;
}

static void server_call_cancel(server_call *c) {
  weft__cancel_fire(&c->base.cancel, WEFT_CANCELLED, "%s: the caller gave up or its connection was lost", c->method);
  server_call_release(c);
}

static bool server_conn_on_call(server_conn *from, const frame_head *h, const char *method, message *body) {
  static const call_ops ops = {server_call_respond, server_call_peer};
  fast_listener *l = from->listener;
  server_call *c = weft__alloc_zero(1, sizeof *c + h->text + 1);
  if (!c) return false;
  memcpy(c->method, method, h->text);
  c->base.ops = &ops;
  c->base.method = c->method;
  c->conn = from;
  c->id = h->id;
  if (h->timeout_ms) c->base.deadline_ns = weft__clock_after_ms(h->timeout_ms);
  weft__message_move(&c->base.request, body);
  weft__cancel_init(&c->base.cancel);
  atomic_init(&c->refs, 1);
  weft__conn_retain(&from->conn);
  pthread_mutex_lock(&from->lock);
  weft__list_append(&from->calls, &c->link);
  pthread_mutex_unlock(&from->lock);
  if (atomic_load(&l->closing))
    server_call_respond(&c->base, weft__fail(WEFT_UNAVAILABLE, "%s: the server is closing", method), NULL);
  else if (h->code == WEFT_RESOURCE_EXHAUSTED) /* conn.c had no memory for its body and dropped it */
    server_call_respond(
        &c->base,
        weft__fail(WEFT_RESOURCE_EXHAUSTED, "%s: out of memory for the request%s", method, weft__memory_limit_text()),
        NULL);
  else
    l->fn(l->arg, &c->base);
  return true;
}

/* ---- connections ---- */

static bool server_conn_on_greeting(server_conn *c, const char *text, size_t size) {
  char expected[2 * FAST_KEY_SIZE + 1];
  weft__socket_key_text(expected, c->listener->key);
  if (!weft__rpc_tokens_equal(expected, sizeof expected - 1, text, size)) return false;
  c->conn.authenticated = true;
  weft__conn_send(&c->conn, &(frame_head){.kind = FRAME_GREETING}, "", NULL, false);
  return true;
}

static bool server_conn_on_frame(conn *base, const frame_head *h, const char *text, message *body) {
  server_conn *c = (server_conn *)base;
  if (!base->authenticated) return h->kind == FRAME_GREETING && server_conn_on_greeting(c, text, h->text);
  if (h->kind == FRAME_CALL) return server_conn_on_call(c, h, text, body);
  if (h->kind != FRAME_CANCEL) return false;
  server_call *cancelled_call = h->id ? server_conn_next_to_cancel(c, h->id) : NULL;
  if (cancelled_call) server_call_cancel(cancelled_call);
  return true;
}

static void server_conn_on_lost(conn *base, const char *why) {
  (void)why; /* not logged: callers disconnect when they are done */
  server_conn *c = (server_conn *)base;
  for (server_call *i; (i = server_conn_next_to_cancel(c, 0));) server_call_cancel(i);
  weft__conn_release(base);
}

/* Other threads find the connection in the listener's list and lock it there, so it is removed first. */
static void server_conn_destroy(conn *base) {
  server_conn *c = (server_conn *)base;
  fast_listener *l = c->listener;
  pthread_mutex_lock(&l->lock);
  weft__list_remove(&c->link);
  pthread_cond_broadcast(&l->conn_gone);
  pthread_mutex_unlock(&l->lock);
  weft__conn_finish(base);
  pthread_mutex_destroy(&c->lock);
  weft__free(c);
}

/* Names the peer for messages. */
static void server_conn_set_peer(server_conn *c, int fd) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0)
    snprintf(c->peer, sizeof c->peer, "process %d of this host", (int)peer.pid);
  else
    snprintf(c->peer, sizeof c->peer, "a task of another host");
}

/* Evicts the oldest unauthenticated connection if there are too many of them.  Returns how many evictions to log now.
 * Locked. */
static int listener_evict_oldest(fast_listener *l) {
  WEFT_ASSERT(weft__lock_is_held(&l->lock));
  server_conn *oldest = NULL;
  int n = 0;
  WEFT_LIST_FOR_EACH(link, &l->conns) {
    server_conn *c = WEFT_LIST_ITEM(link, server_conn, link);
    if (atomic_load(&c->conn.authenticated) || c->evicted) continue;
    if (!oldest) oldest = c;
    n++;
  }
  if (n < weft__accept_max_unauthenticated()) return 0;
  oldest->evicted = true;
  weft__conn_close(&oldest->conn);
  return weft__accept_log_add(&l->evictions, 1);
}

static void listener_log_evictions(int n) {
  if (n)
    weft__log(LOG_WARNING, "The fast transport closed %d unauthenticated connection%s (at most %d at once)", n,
              n > 1 ? "s" : "", weft__accept_max_unauthenticated());
}

static void listener_add_conn(fast_listener *l, int fd) {
  static const conn_callbacks callbacks = {server_conn_on_frame, server_conn_on_lost, server_conn_destroy,
                                           MAX_QUEUED_BYTES};
  server_conn *c = weft__alloc_zero(1, sizeof *c);
  if (!c) {
    close(fd);
    return;
  }
  c->listener = l;
  c->accepted_ns = weft__clock_now_ns();
  server_conn_set_peer(c, fd);
  pthread_mutex_init(&c->lock, NULL);
  weft__list_init(&c->calls);
  weft__conn_init(&c->conn, &callbacks, fd);
  pthread_mutex_lock(&l->lock);
  int evictions = listener_evict_oldest(l);
  weft__list_append(&l->conns, &c->link);
  pthread_mutex_unlock(&l->lock);
  listener_log_evictions(evictions);
  weft__loop_tick_often(l->loops);
  if (weft__conn_start(&c->conn, l->loops) != WEFT_OK) weft__conn_release(&c->conn);
}

static void listen_socket_on_ready(source *s, uint32_t events) {
  (void)events;
  for (int fd; (fd = weft__socket_accept(s->fd)) >= 0 || errno == EACCES;)
    if (fd >= 0) listener_add_conn(((listen_socket *)s)->listener, fd);
  if (errno == EAGAIN || errno == EWOULDBLOCK) return;
  if (errno == EBUSY) { /* more connections may wait, which epoll does not report again */
    weft__loop_rearm_deferred(s, false);
    return;
  }
  ((listen_socket *)s)->retry_accept = true;
  weft__loop_tick_often(((listen_socket *)s)->listener->loops);
}

static void listen_socket_retry(listen_socket *s) {
  if (!s->retry_accept) return;
  s->retry_accept = false;
  weft__loop_rearm(&s->source, false);
}

/* Retries accepting, and evicts connections that did not show the key in time. */
static bool listener_tick(ticker *t, int64_t now_ns) {
  fast_listener *l = (fast_listener *)((char *)t - offsetof(fast_listener, ticker));
  bool any_left = false;
  listen_socket_retry(&l->local);
  listen_socket_retry(&l->tcp);
  pthread_mutex_lock(&l->lock);
  WEFT_LIST_FOR_EACH(link, &l->conns) {
    server_conn *c = WEFT_LIST_ITEM(link, server_conn, link);
    if (atomic_load(&c->conn.authenticated) || c->evicted) continue;
    any_left = true;
    c->evicted = now_ns - c->accepted_ns > GREETING_TIMEOUT_MS * NS_PER_MS;
    if (c->evicted) weft__conn_close(&c->conn);
  }
  pthread_mutex_unlock(&l->lock);
  return any_left;
}

/* ---- the listener ---- */

static weft_err listen_socket_register(listen_socket *s, fast_listener *l) {
  s->listener = l;
  s->source.on_ready = listen_socket_on_ready;
  return weft__loop_add(l->loops, &s->source);
}

static weft_err listener_open_sockets(fast_listener *l, const listener_opts *opts) {
  const security *s = &opts->security;
  bool tls = s->certificate && s->key && s->ca;
  uint64_t random[2];
  if (getrandom(l->key, sizeof l->key, 0) != sizeof l->key || getrandom(random, sizeof random, 0) != sizeof random)
    return weft__fail(WEFT_INTERNAL, "The system gave no random numbers for the key of the fast transport");
  snprintf(l->unix_name, sizeof l->unix_name, "weft-%016llx%016llx", (unsigned long long)random[0],
           (unsigned long long)random[1]);
  if (weft__socket_listen_unix(&l->local.source.fd, l->unix_name) != WEFT_OK) l->unix_name[0] = 0;
  if (!tls && weft__socket_listen_tcp(&l->tcp.source.fd, opts->host, &l->tcp_port) != WEFT_OK) l->tcp_port = 0;
  if (l->local.source.fd >= 0) WEFT_TRY(listen_socket_register(&l->local, l));
  return l->tcp.source.fd >= 0 ? listen_socket_register(&l->tcp, l) : WEFT_OK;
}

weft_err weft__fast_listener_create(fast_listener **out, loop_group *loops, const listener_opts *opts, rpc_handler *fn,
                                    void *arg) {
  *out = NULL;
  fast_listener *l = weft__alloc_zero(1, sizeof *l);
  if (!l) return WEFT_OOM;
  weft__list_init(&l->conns);
  l->loops = loops, l->fn = fn, l->arg = arg;
  l->local.source.fd = l->tcp.source.fd = -1;
  l->ticker.tick = listener_tick;
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->conn_gone, NULL);
  weft__accept_retain();
  weft_err err = listener_open_sockets(l, opts);
  weft__loop_add_ticker(l->loops, &l->ticker);
  if (err == WEFT_OK)
    *out = l;
  else
    (void)weft__fast_listener_destroy(l); /* it has no calls to wait for */
  return err;
}

weft_err weft__fast_listener_endpoint(const fast_listener *l, message *out) {
  Weft__FastEndpoint endpoint = WEFT__FAST_ENDPOINT__INIT;
  endpoint.local = (char *)(uintptr_t)l->unix_name;
  endpoint.port = l->tcp_port;
  endpoint.protocol = FAST_PROTOCOL;
  endpoint.key = (ProtobufCBinaryData){sizeof l->key, (uint8_t *)(uintptr_t)l->key};
  return weft__message_pack(out, &endpoint.base);
}

/* Waits, at most CLOSE_WAIT_MS, until all connections are freed. */
static bool listener_wait_for_conns(fast_listener *l) {
  struct timespec until = weft__clock_deadline(CLOSE_WAIT_MS * NS_PER_MS);
  pthread_mutex_lock(&l->lock);
  while (!weft__list_is_empty(&l->conns) &&
         pthread_cond_clockwait(&l->conn_gone, &l->lock, CLOCK_MONOTONIC, &until) == 0)
    continue;
  bool all_gone = weft__list_is_empty(&l->conns);
  pthread_mutex_unlock(&l->lock);
  return all_gone;
}

bool weft__fast_listener_destroy(fast_listener *l) {
  weft__loop_remove_ticker(l->loops, &l->ticker);
  weft__loop_remove_and_close(l->loops, &l->local.source);
  weft__loop_remove_and_close(l->loops, &l->tcp.source);
  weft__accept_release();
  pthread_mutex_lock(&l->lock);
  atomic_store(&l->closing, true);
  WEFT_LIST_FOR_EACH(link, &l->conns) { weft__conn_close(&WEFT_LIST_ITEM(link, server_conn, link)->conn); }
  pthread_mutex_unlock(&l->lock);
  if (!listener_wait_for_conns(l)) { /* a handler still holds a call and will touch the listener: it is not freed */
    weft__log(LOG_ERROR, "The fast transport was closed while a call was still being answered");
    return false;
  }
  pthread_cond_destroy(&l->conn_gone);
  pthread_mutex_destroy(&l->lock);
  weft__free(l);
  return true;
}
