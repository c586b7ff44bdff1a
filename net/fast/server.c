/* server.c - a port of the fast transport: connections that showed the key, and the calls on them.
 *
 * A call is listed with its connection until it is answered, so that losing the connection, or the caller's
 * word, fires its token.  The port outlives its connections, and a connection its calls. */
#include "base/alloc.h"
#include "base/clock.h"
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

enum { GREET_WITHIN_MS = 5000, QUEUE_MOST = 64 << 20 /* bytes of answers that wait for one caller to read them */ };

typedef struct in_conn in_conn;

typedef struct in_call {
  call base;
  in_conn *conn;
  uint64_t id;
  atomic_int refs; /* the handler's, and of whoever fires its token */
  bool fired;
  struct in_call *next, *prev; /* the connection's ring */
  char method[];
} in_call;

struct in_conn {
  conn conn;
  fast_port *port;
  int64_t came_ns;
  bool sent_away;              /* closed because it did not show the key; guarded by the port's lock */
  struct in_conn *next, *prev; /* the port's ring */
  pthread_mutex_t lock;        /* guards what follows */
  in_call *calls;              /* a ring, or NULL */
  char peer[64];
};

typedef struct door { /* a listening socket */
  source source;
  fast_port *port;
  bool waits; /* to try again after accepting failed; at the first wheel only */
} door;

struct fast_port {
  door local, tcp; /* fd -1: none */
  int number;      /* of the TCP port */
  char name[48];
  uint8_t key[FAST_KEY_SIZE];
  rpc_handler *fn;
  void *arg;
  ticker ticker;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t quiet;
  in_conn *conns; /* a ring, or NULL; a call keeps its own here.  The oldest comes first */
  accept_log closed;
  atomic_bool closing;
};

/* ---- rings ---- */

#define RING_ADD(head, item)                                                                                           \
  do {                                                                                                                 \
    (item)->next = (head) ? (head) : (item);                                                                           \
    (item)->prev = (head) ? (head)->prev : (item);                                                                     \
    (item)->prev->next = (item)->next->prev = (item);                                                                  \
    (head) = (item)->next;                                                                                             \
  } while (0)
#define RING_DROP(head, item)                                                                                          \
  do {                                                                                                                 \
    (item)->prev->next = (item)->next;                                                                                 \
    (item)->next->prev = (item)->prev;                                                                                 \
    if ((head) == (item)) (head) = (item)->next == (item) ? NULL : (item)->next;                                       \
  } while (0)

/* ---- calls ---- */

static void release_call(in_call *c) {
  if (atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1) return;
  weft__message_finish(&c->base.request);
  weft__cancel_finish(&c->base.cancel);
  weft__conn_release(&c->conn->conn);
  weft__free(c);
}

static void answer_call(call *base, weft_err err, message *answer) {
  in_call *c = (in_call *)base;
  char cut[ERROR_TEXT_MAX + 1];
  if (err == WEFT_OK && answer) err = weft__check_size(c->base.method, answer->size);
  const char *text = err == WEFT_OK ? "" : weft__error_text(cut, weft__error_message());
  pthread_mutex_lock(&c->conn->lock);
  RING_DROP(c->conn->calls, c);
  pthread_mutex_unlock(&c->conn->lock);
  if (err != WEFT_OK && answer) weft__message_finish(answer);
  weft__conn_send(&c->conn->conn, &(frame_head){.kind = FRAME_ANSWER, .code = (uint8_t)err, .id = c->id}, text, answer,
                  false);
  release_call(c);
}

static const char *peer_of(call *c) { return ((in_call *)c)->conn->peer; }

/* A call of this connection that is still to be told, with a reference: the one with this id, or any (0). */
static in_call *take_untold(in_conn *c, uint64_t id) {
  in_call *found = NULL;
  pthread_mutex_lock(&c->lock);
  for (in_call *i = c->calls; i && !found; i = i->next == c->calls ? NULL : i->next)
    if (!i->fired && (id == 0 || i->id == id)) found = i;
  if (found) {
    found->fired = true;
    atomic_fetch_add_explicit(&found->refs, 1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&c->lock);
  return found;
}

static void fire(in_call *c) {
  weft__cancel_fire(&c->base.cancel, WEFT_CANCELLED, "%s: the caller gave up or its connection was lost", c->method);
  release_call(c);
}

static bool take_call(in_conn *from, const frame_head *h, const char *method, message *body) {
  static const call_ops ops = {answer_call, peer_of};
  fast_port *p = from->port;
  in_call *c = weft__alloc_zero(1, sizeof *c + h->text + 1);
  if (!c) return false;
  memcpy(c->method, method, h->text);
  c->base.ops = &ops;
  c->base.method = c->method;
  c->conn = from;
  c->id = h->id;
  if (h->timeout_ms) c->base.deadline_ns = weft__now_ns() + (int64_t)h->timeout_ms * 1000000;
  weft__message_move(&c->base.request, body);
  weft__cancel_init(&c->base.cancel);
  atomic_init(&c->refs, 1);
  weft__conn_retain(&from->conn);
  pthread_mutex_lock(&from->lock);
  RING_ADD(from->calls, c);
  pthread_mutex_unlock(&from->lock);
  if (atomic_load(&p->closing))
    answer_call(&c->base, weft__fail(WEFT_UNAVAILABLE, "%s: the server is closing", method), NULL);
  else if (h->code == WEFT_RESOURCE_EXHAUSTED) /* see conn.c: its body was dropped */
    answer_call(&c->base,
                weft__fail(WEFT_RESOURCE_EXHAUSTED, "%s: out of memory for the request%s", method, weft__memory_text()),
                NULL);
  else
    p->fn(p->arg, &c->base);
  return true;
}

/* ---- connections ---- */

static bool take_greeting(in_conn *c, const char *text, size_t size) {
  char want[2 * FAST_KEY_SIZE + 1];
  weft__socket_key_text(want, c->port->key);
  if (!weft__tokens_equal(want, sizeof want - 1, text, size)) return false;
  c->conn.trusted = true;
  weft__conn_send(&c->conn, &(frame_head){.kind = FRAME_GREETING}, "", NULL, false);
  return true;
}

static bool take_frame(conn *base, const frame_head *h, const char *text, message *body) {
  in_conn *c = (in_conn *)base;
  if (!base->trusted) return h->kind == FRAME_GREETING && take_greeting(c, text, h->text);
  if (h->kind == FRAME_CALL) return take_call(c, h, text, body);
  if (h->kind != FRAME_CANCEL) return false;
  in_call *given_up = h->id ? take_untold(c, h->id) : NULL;
  if (given_up) fire(given_up);
  return true;
}

static void conn_lost(conn *base, const char *why) {
  (void)why; /* callers go when they are done */
  in_conn *c = (in_conn *)base;
  for (in_call *i; (i = take_untold(c, 0));) fire(i);
  weft__conn_release(base);
}

static void free_conn(conn *base) {
  in_conn *c = (in_conn *)base;
  fast_port *p = c->port;
  pthread_mutex_lock(&p->lock);
  RING_DROP(p->conns, c);
  pthread_cond_broadcast(&p->quiet);
  pthread_mutex_unlock(&p->lock);
  pthread_mutex_destroy(&c->lock);
  weft__free(c);
}

static void name_peer(in_conn *c, int fd) {
  struct ucred who;
  socklen_t size = sizeof who;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.pid > 0)
    snprintf(c->peer, sizeof c->peer, "process %d of this host", (int)who.pid);
  else
    snprintf(c->peer, sizeof c->peer, "a task of another host");
}

/* Closes the oldest connection that has not shown the key, if there are as many of them as there may be.  Locked.
 * Returns how many to log. */
static int limit_strangers(fast_port *p) {
  in_conn *oldest = NULL;
  int n = 0;
  for (in_conn *c = p->conns; c; c = c->next == p->conns ? NULL : c->next) {
    if (atomic_load(&c->conn.trusted) || c->sent_away) continue;
    if (!oldest) oldest = c;
    n++;
  }
  if (n < weft__accept_cap()) return 0;
  oldest->sent_away = true;
  weft__conn_close(&oldest->conn);
  return weft__accept_log_add(&p->closed, 1);
}

static void tell_closed(int n) {
  if (n)
    weft__log(LOG_WARNING, "The fast transport closed %d connection%s that did not show the key (at most %d at once)",
              n, n > 1 ? "s" : "", weft__accept_cap());
}

static void let_in(fast_port *p, int fd) {
  static const conn_kind kind = {take_frame, conn_lost, free_conn, QUEUE_MOST};
  in_conn *c = weft__alloc_zero(1, sizeof *c);
  if (!c) {
    close(fd);
    return;
  }
  c->port = p;
  c->came_ns = weft__now_ns();
  name_peer(c, fd);
  pthread_mutex_init(&c->lock, NULL);
  pthread_mutex_lock(&p->lock);
  int closed = limit_strangers(p);
  RING_ADD(p->conns, c);
  pthread_mutex_unlock(&p->lock);
  tell_closed(closed);
  weft__loop_tick_soon();
  if (weft__conn_start(&c->conn, &kind, fd) == WEFT_OK) return;
  close(fd);
  weft__conn_release(&c->conn);
  weft__conn_release(&c->conn);
}

static void somebody_knocks(source *s, uint32_t events) {
  (void)events;
  for (int fd; (fd = weft__socket_accept(s->fd)) >= 0 || errno == EACCES;)
    if (fd >= 0) let_in(((door *)s)->port, fd);
  if (errno == EAGAIN || errno == EWOULDBLOCK) return;
  if (errno == EBUSY) { /* others may wait, of which the loop would not tell again */
    weft__loop_later(s, false);
    return;
  }
  ((door *)s)->waits = true; /* until the next tick */
  weft__loop_tick_soon();
}

static void try_again(door *d) {
  if (!d->waits) return;
  d->waits = false;
  weft__loop_again(&d->source, false);
}

/* Whoever does not show the key in time is sent away. */
static bool tick(ticker *t, int64_t now_ns) {
  fast_port *p = (fast_port *)((char *)t - offsetof(fast_port, ticker));
  bool strangers = false;
  try_again(&p->local);
  try_again(&p->tcp);
  pthread_mutex_lock(&p->lock);
  for (in_conn *c = p->conns; c; c = c->next == p->conns ? NULL : c->next) {
    if (atomic_load(&c->conn.trusted) || c->sent_away) continue;
    strangers = true;
    c->sent_away = now_ns - c->came_ns > (int64_t)GREET_WITHIN_MS * 1000000;
    if (c->sent_away) weft__conn_close(&c->conn);
  }
  pthread_mutex_unlock(&p->lock);
  return strangers;
}

/* ---- the port ---- */

static weft_err open_door(door *d, fast_port *p) {
  d->port = p;
  d->source.ready = somebody_knocks;
  return weft__loop_add(&d->source);
}

static weft_err open_doors(fast_port *p, const listener_opts *opts) {
  const security *s = &opts->security;
  bool tls = s->certificate && s->key && s->ca;
  uint64_t number[2];
  if (getrandom(p->key, sizeof p->key, 0) != sizeof p->key || getrandom(number, sizeof number, 0) != sizeof number)
    return weft__fail(WEFT_INTERNAL, "No random numbers for the key of the fast transport");
  snprintf(p->name, sizeof p->name, "weft-%016llx%016llx", (unsigned long long)number[0],
           (unsigned long long)number[1]);
  if (weft__socket_listen_local(&p->local.source.fd, p->name) != WEFT_OK) p->name[0] = 0;
  if (!tls && weft__socket_listen_tcp(&p->tcp.source.fd, opts->host, &p->number) != WEFT_OK) p->number = 0;
  if (p->local.source.fd >= 0) WEFT_TRY(open_door(&p->local, p));
  return p->tcp.source.fd >= 0 ? open_door(&p->tcp, p) : WEFT_OK;
}

weft_err weft__fast_listen(fast_port **out, const listener_opts *opts, rpc_handler *fn, void *arg) {
  *out = NULL;
  fast_port *p = weft__alloc_zero(1, sizeof *p);
  if (!p) return WEFT_OOM;
  p->fn = fn, p->arg = arg;
  p->local.source.fd = p->tcp.source.fd = -1;
  p->ticker.tick = tick;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->quiet, NULL);
  weft_err err = weft__loop_retain();
  if (err != WEFT_OK) {
    weft__free(p);
    return err;
  }
  weft__accept_retain();
  err = open_doors(p, opts);
  weft__loop_tick_on(&p->ticker);
  if (err == WEFT_OK)
    *out = p;
  else
    weft__fast_close(p);
  return err;
}

weft_err weft__fast_way(const fast_port *p, message *out) {
  Weft__FastEndpoint way = WEFT__FAST_ENDPOINT__INIT;
  way.local = (char *)(uintptr_t)p->name;
  way.port = p->number;
  way.key = (ProtobufCBinaryData){sizeof p->key, (uint8_t *)(uintptr_t)p->key};
  return weft__message_pack(out, &way.base);
}

static bool wait_quiet(fast_port *p) {
  struct timespec until = weft__deadline((int64_t)CLOSE_WAIT_MS * 1000000);
  pthread_mutex_lock(&p->lock);
  while (p->conns && pthread_cond_clockwait(&p->quiet, &p->lock, CLOCK_MONOTONIC, &until) == 0) continue;
  bool quiet = !p->conns;
  pthread_mutex_unlock(&p->lock);
  return quiet;
}

void weft__fast_close(fast_port *p) {
  weft__loop_tick_off(&p->ticker);
  weft__loop_drop(&p->local.source);
  weft__loop_drop(&p->tcp.source);
  weft__accept_release();
  pthread_mutex_lock(&p->lock);
  atomic_store(&p->closing, true);
  for (in_conn *c = p->conns; c; c = c->next == p->conns ? NULL : c->next) weft__conn_close(&c->conn);
  pthread_mutex_unlock(&p->lock);
  if (!wait_quiet(p)) { /* a handler still holds a call: what it will touch must stay */
    weft__log(LOG_ERROR, "The fast transport was closed while a call was still being answered");
    return;
  }
  weft__loop_release();
  pthread_cond_destroy(&p->quiet);
  pthread_mutex_destroy(&p->lock);
  weft__free(p);
}
