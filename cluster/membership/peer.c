/* peer.c - calls to other tasks, and the health thread, which greets them and notices lost ones.
 *
 * A pending call has a token of its own, linked to the caller's, so that it can be canceled from here.  The connection
 * to a peer is replaced in two cases: when the peer does not answer, because the system retries sends on a dead
 * connection for minutes, and when the first answer shows that the peer is Weft, because the new connection has pings.
 * Destroying a connection may wait, so the health thread destroys those that nothing uses any more.
 *
 * Each peer has a lock that guards everything in it; another guards what all peers share and is taken after a peer's.
 * Both are held for a few lines and never while a callback runs. */
#include "cluster/membership/peer.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/map.h"
#include <stdio.h>
#include <string.h>

enum { FIRST_CHECK_MS = 100, GREET_PERIOD_MS = 400, SILENCE_MS = 1300, LATE_MS = 400 };

typedef struct peer_connection {
  channel *channel;
  int refs; /* one of the peer, one of each call; guarded by the peer's lock */
  struct peer_connection *next;
} peer_connection;

typedef struct pending_call {
  peer *peer;
  peer_connection *connection;
  cancel cancel;      /* the token of the call on the transport */
  cancel *from;       /* the caller's, or NULL */
  cancel_watch watch; /* on it */
  bool waits;         /* true: the call waits until the peer comes up, and does not end when the peer counts as lost */
  bool is_get_status; /* a greeting of a TensorFlow task */
  const char *method; /* a literal */
  int64_t began_ns;
  rpc_callback *fn;
  void *arg;
  int refs;       /* one of the peer's list, one of each thread that cancels it; guarded by the peer's lock */
  list_link link; /* of the peer's calls */
} pending_call;

struct peer {
  peers *all;
  char task[WEFT_TASK_NAME_SIZE];
  char *address;
  int number;
  bool self;
  pthread_mutex_t lock;        /* guards what follows */
  peer_connection *connection; /* NULL: not used yet, or dropped */
  linked_list calls;           /* the oldest first */
  int n_call, monitors;
  peer_kind kind;
  bool greeting; /* a greeting is in progress */
  bool again;    /* another greeting follows it, after again_ms */
  int64_t again_ms;
  int64_t heard_ns, greeted_ns; /* when it last answered and was last greeted; heard_ns is 0 while it is lost */
  atomic_uint given_up;         /* read without the lock */
  peer_departure departure;
};

struct peers {
  security security;
  peer_hooks hooks;
  cancel closing; /* cancels greetings */
  int n;
  peer *peer;
  map by_task;
  pthread_t thread;
  pthread_mutex_t lock; /* guards what follows; taken after a peer's */
  pthread_cond_t wake;
  bool stop, active, started;
  int64_t ticked_ns; /* when the health thread ran last */
  int64_t late_ns;   /* when it ran late for the last time, which means that this process had been stopped */
  peer_connection *retired;
};

/* ---- creation ---- */

static weft_err peers_init_peer(peers *all, int i, const char *job, const cluster_task *t, const char *self) {
  peer *p = &all->peer[i];
  weft__task_name(p->task, sizeof p->task, job, t->index);
  p->all = all;
  p->number = i;
  p->self = strcmp(p->task, self) == 0;
  weft__list_init(&p->calls);
  p->address = weft__strdup(t->address);
  pthread_mutex_init(&p->lock, NULL);
  all->n++;
  return p->address ? weft__map_put(&all->by_task, p->task, p) : WEFT_OOM;
}

weft_err weft__peers_create(peers **out, const cluster *c, const char *self, const security *s) {
  peers *all = weft__alloc_zero(1, sizeof *all);
  if (!all) return WEFT_OOM;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&all->wake, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&all->lock, NULL);
  weft__cancel_init(&all->closing);
  if (s) all->security = *s;
  all->peer = weft__alloc_zero((size_t)weft__cluster_size(c) + 1, sizeof *all->peer);
  weft_err err = all->peer ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < c->n_job && !err; i++)
    for (int j = 0; j < c->job[i].n_task && !err; j++)
      err = peers_init_peer(all, all->n, c->job[i].name, &c->job[i].task[j], self);
  if (err)
    weft__peers_destroy(all);
  else
    *out = all;
  return err;
}

void weft__peers_set_hooks(peers *p, const peer_hooks *hooks) { p->hooks = *hooks; }

weft_err weft__peers_find(peers *all, const char *name, peer **out) {
  char task[WEFT_TASK_NAME_SIZE];
  const char *index = strstr(name, "/task:"), *end = index ? strchr(index + 1, '/') : NULL;
  size_t n = end ? (size_t)(end - name) : strlen(name);
  if (n < sizeof task) {
    memcpy(task, name, n);
    task[n] = 0;
    *out = weft__map_get(&all->by_task, task);
    if (*out) return WEFT_OK;
  }
  return weft__fail(WEFT_NOT_FOUND, "the cluster has no task '%.*s'", n > 200 ? 200 : weft__int_sat(n), name);
}

int weft__peers_count(const peers *p) { return p->n; }
peer *weft__peers_at(const peers *p, int i) { return &p->peer[i]; }
int weft__peer_number(const peer *p) { return p->number; }
const char *weft__peer_task(const peer *p) { return p->task; }
const char *weft__peer_address(const peer *p) { return p->address; }
bool weft__peer_is_self(const peer *p) { return p->self; }
unsigned weft__peer_given_up(const peer *p) { return atomic_load(&p->given_up); }

peer_kind weft__peer_kind(peer *p) {
  pthread_mutex_lock(&p->lock);
  peer_kind kind = p->kind;
  pthread_mutex_unlock(&p->lock);
  return kind;
}

/* ---- connections ---- */

/* Returns the connection for a call, with a reference.  The peer is locked. */
static weft_err peer_get_connection(peer *p, peer_connection **out) {
  WEFT_ASSERT(weft__lock_is_held(&p->lock));
  if (!p->connection) {
    peer_connection *conn = weft__alloc_zero(1, sizeof *conn);
    if (!conn) return WEFT_OOM;
    channel_opts opts = {p->all->security, p->kind == PEER_WEFT};
    weft_err err = weft__channel_create(&conn->channel, p->address, &opts);
    if (err) return weft__free(conn), err;
    conn->refs = 1;
    p->connection = conn;
  }
  p->connection->refs++;
  *out = p->connection;
  return WEFT_OK;
}

/* Drops a reference.  The last one passes the connection to the health thread.  The peer is locked. */
static void peer_release_connection(peer *p, peer_connection *conn) {
  WEFT_ASSERT(weft__lock_is_held(&p->lock) && (!conn || conn->refs > 0));
  if (!conn || --conn->refs) return;
  pthread_mutex_lock(&p->all->lock);
  conn->next = p->all->retired;
  p->all->retired = conn;
  p->all->active = true;
  pthread_cond_signal(&p->all->wake);
  pthread_mutex_unlock(&p->all->lock);
}

/* Makes later calls use a new connection.  The peer is locked. */
static void peer_forget_connection(peer *p) {
  peer_release_connection(p, p->connection);
  p->connection = NULL;
}

static void peer_set_kind(peer *p, peer_kind kind) {
  WEFT_ASSERT(weft__lock_is_held(&p->lock));
  if (kind == p->kind) return;
  p->kind = kind;
  if (kind == PEER_WEFT) peer_forget_connection(p); /* the next one may use the fast transport */
}

void weft__peer_note_greeting(peer *p, bool restarted) {
  pthread_mutex_lock(&p->lock);
  if (restarted) peer_forget_connection(p); /* it may be in a reconnect delay, during which calls fail */
  peer_set_kind(p, PEER_WEFT);
  pthread_mutex_unlock(&p->lock);
}

/* ---- the health thread ---- */

static void *peers_health_thread(void *arg);

/* Starts the health thread if it does not run, and wakes it. */
static void peers_wake_health(peers *all) {
  pthread_mutex_lock(&all->lock);
  if (!all->started && !all->stop) all->started = pthread_create(&all->thread, NULL, peers_health_thread, all) == 0;
  if (!all->active) pthread_cond_signal(&all->wake);
  all->active = true;
  pthread_mutex_unlock(&all->lock);
}

static void pending_call_release(pending_call *pending) {
  WEFT_ASSERT(pending->refs > 0);
  if (--pending->refs) return;
  weft__cancel_finish(&pending->cancel);
  weft__free(pending);
}

/* Cancels the pending calls; those that wait for the peer to come up only if `waiting_too`.  Tokens are fired without
 * the lock, 64 at a time. */
static void peer_cancel_calls(peer *p, bool waiting_too, weft_err code, const char *why) {
  pending_call *some[64];
  bool more = true;
  pthread_mutex_lock(&p->lock);
  while (more) {
    int n = 0;
    more = false;
    WEFT_LIST_FOR_EACH(link, &p->calls) {
      pending_call *pending = WEFT_LIST_ITEM(link, pending_call, link);
      if ((pending->waits && !waiting_too) || weft__cancel_fired(&pending->cancel)) continue;
      more = n == 64;
      if (more) break;
      pending->refs++;
      some[n++] = pending;
    }
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < n; i++) weft__cancel_fire(&some[i]->cancel, code, "%s at %s: %s", p->task, p->address, why);
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < n; i++) pending_call_release(some[i]);
  }
  pthread_mutex_unlock(&p->lock);
}

/* The peer does not answer: cancels its calls, drops its connection and calls the hook. */
static void peer_on_lost(peer *p, bool was_present, const char *why) {
  pthread_mutex_lock(&p->lock);
  peer_forget_connection(p);
  if (was_present) atomic_fetch_add(&p->given_up, 1);
  pthread_mutex_unlock(&p->lock);
  peer_cancel_calls(p, was_present, WEFT_UNAVAILABLE, was_present ? "it does not answer any more" : why);
  if (was_present && p->all->hooks.on_lost) p->all->hooks.on_lost(p->all->hooks.arg, p);
}

/* Greets the peers that have pending calls or are monitored, if they are due.  Returns the time until the next is due,
 * in ns; -1 if there are none. */
static int64_t peers_greet_due(peers *all, int64_t now) {
  int64_t wait = -1;
  for (int i = 0; i < all->n; i++) {
    peer *p = &all->peer[i];
    pthread_mutex_lock(&p->lock);
    bool needed = !p->self && (p->n_call > 0 || p->monitors > 0);
    int64_t last = p->heard_ns > p->greeted_ns ? p->heard_ns : p->greeted_ns,
            left = last + GREET_PERIOD_MS * NS_PER_MS - now;
    bool due = needed && !p->greeting && left <= 0;
    pthread_mutex_unlock(&p->lock);
    if (left <= 0) left = GREET_PERIOD_MS * NS_PER_MS;
    if (needed && (wait < 0 || left < wait)) wait = left;
    if (due) weft__peer_greet(p, 0);
  }
  return wait;
}

static void peer_connection_destroy(peer_connection *conn) {
  weft__channel_destroy(conn->channel);
  weft__free(conn);
}

static void peer_connections_destroy(peer_connection *conn) {
  while (conn) {
    peer_connection *next = conn->next;
    peer_connection_destroy(conn);
    conn = next;
  }
}

static void *peers_health_thread(void *arg) {
  peers *all = arg;
  int64_t wait = FIRST_CHECK_MS * NS_PER_MS; /* used if active */
  pthread_mutex_lock(&all->lock);
  while (!all->stop) {
    struct timespec until = weft__clock_deadline(all->active ? wait : -1);
    int64_t before = weft__clock_now_ns();
    bool was_active = all->active;
    pthread_cond_timedwait(&all->wake, &all->lock, &until);
    int64_t now = weft__clock_now_ns();
    if (was_active && now - before > wait + LATE_MS * NS_PER_MS) all->late_ns = now;
    all->ticked_ns = now;
    if (all->stop) break;
    peer_connection *retired = all->retired;
    all->retired = NULL;
    all->active = false; /* calls that start from now on set it again */
    pthread_mutex_unlock(&all->lock);
    peer_connections_destroy(retired);
    int64_t next = peers_greet_due(all, now);
    pthread_mutex_lock(&all->lock);
    wait = next < 0 ? FIRST_CHECK_MS * NS_PER_MS : next;
    all->active |= next >= 0;
  }
  pthread_mutex_unlock(&all->lock);
  return NULL;
}

/* ---- greetings ---- */

static void peer_on_greeting_reply(void *arg, weft_err err, message *reply);

static void peer_send_greeting(peer *p, int64_t timeout_ms) {
  message hello = {0};
  peer_connection *conn = NULL;
  pthread_mutex_lock(&p->lock);
  peer_kind kind = p->kind;
  weft_err err = peer_get_connection(p, &conn);
  p->greeted_ns = weft__clock_now_ns();
  pthread_mutex_unlock(&p->lock);
  if (!err && kind != PEER_TF && p->all->hooks.write_hello)
    err = p->all->hooks.write_hello(p->all->hooks.arg, p, &hello);
  pending_call *pending = err ? NULL : weft__alloc_zero(1, sizeof *pending);
  if (!pending) { /* out of memory: as if it had not answered */
    weft__message_finish(&hello);
    pthread_mutex_lock(&p->lock);
    peer_release_connection(p, conn);
    p->greeting = false;
    pthread_mutex_unlock(&p->lock);
    return;
  }
  *pending = (pending_call){.peer = p, .connection = conn, .is_get_status = kind == PEER_TF};
  call_opts opts = {.timeout_ms = timeout_ms ? timeout_ms : SILENCE_MS, .only_grpc = true, .cancel = &p->all->closing};
  weft__channel_call(conn->channel, pending->is_get_status ? "/tensorflow.WorkerService/GetStatus" : WEFT_HELLO_METHOD,
                     &hello, &opts, peer_on_greeting_reply, pending);
}

/* Updates the peer from the result of a greeting.  Returns true if the peer is lost.  The peer is locked. */
static bool peer_note_reply(peer *p, const pending_call *pending, weft_err err) {
  if (err != WEFT_UNAVAILABLE && err != WEFT_DEADLINE_EXCEEDED) { /* any other answer shows that it is alive */
    p->heard_ns = weft__clock_now_ns();
    if (err == WEFT_OK) peer_set_kind(p, pending->is_get_status ? PEER_TF : PEER_WEFT);
    if (err == WEFT_UNIMPLEMENTED) peer_set_kind(p, PEER_TF);
    return false;
  }
  peers *all = p->all;
  pthread_mutex_lock(&all->lock); /* if this process was stopped itself, it cannot tell whether the peer is lost */
  bool self_late =
      all->late_ns > p->greeted_ns ||
      (all->started && all->active && weft__clock_now_ns() - all->ticked_ns > (GREET_PERIOD_MS + LATE_MS) * NS_PER_MS);
  pthread_mutex_unlock(&all->lock);
  if (self_late || p->heard_ns > p->greeted_ns) return false;
  p->kind = PEER_UNKNOWN;                                   /* another program may replace it */
  return p->heard_ns != 0 || err == WEFT_DEADLINE_EXCEEDED; /* the calls of a refused connection end by themselves */
}

static void peer_on_greeting_reply(void *arg, weft_err err, message *reply) {
  pending_call *pending = arg;
  peer *p = pending->peer;
  peers *all = p->all;
  char why[256]; /* the step that failed: resolve, connect or the greeting itself */
  snprintf(why, sizeof why, "no answer yet: %s", err ? weft__error_message() : "");
  pthread_mutex_lock(&p->lock);
  WEFT_ASSERT(p->greeting && pending->connection->refs > 0);
  bool was_status = pending->is_get_status, lost = peer_note_reply(p, pending, err), was_present = p->heard_ns != 0;
  if (lost) p->heard_ns = 0;
  peer_release_connection(p, pending->connection);
  int64_t timeout_ms = p->again_ms;
  bool again = p->again && !weft__cancel_fired(&all->closing);
  p->greeting = again;
  p->again = false;
  pthread_mutex_unlock(&p->lock);
  weft__free(pending);
  if (all->hooks.on_reply && was_status && err == WEFT_OK)
    err = weft__fail(WEFT_UNIMPLEMENTED, "%s is TensorFlow", p->task);
  if (all->hooks.on_reply) all->hooks.on_reply(all->hooks.arg, p, err, err == WEFT_OK ? reply : NULL);
  if (lost) peer_on_lost(p, was_present, why);
  if (again) peer_send_greeting(p, timeout_ms);
}

void weft__peer_greet(peer *p, int64_t timeout_ms) {
  pthread_mutex_lock(&p->lock);
  bool under_way = p->greeting;
  if (under_way) {
    p->again = true;
    p->again_ms = timeout_ms;
  }
  p->greeting = true;
  pthread_mutex_unlock(&p->lock);
  if (!under_way) peer_send_greeting(p, timeout_ms);
}

void weft__peers_greet_all(peer *of) {
  for (int i = 0; i < of->all->n; i++)
    if (!of->all->peer[i].self) weft__peer_greet(&of->all->peer[i], 0);
}

void weft__peer_set_departure(peer *p, peer_departure d) {
  pthread_mutex_lock(&p->lock);
  p->departure = d;
  pthread_mutex_unlock(&p->lock);
}

peer_departure weft__peer_get_departure(peer *p) {
  pthread_mutex_lock(&p->lock);
  peer_departure d = p->departure;
  pthread_mutex_unlock(&p->lock);
  return d;
}

void weft__peer_monitor(peer *p, int change) {
  pthread_mutex_lock(&p->lock);
  p->monitors += change;
  WEFT_ASSERT(p->monitors >= 0);
  pthread_mutex_unlock(&p->lock);
  if (change > 0) peers_wake_health(p->all);
}

/* ---- calls ---- */

/* Passes the caller's cancellation on.  The reference keeps the token alive if the transport answers while it fires. */
static void pending_call_on_cancel(void *arg) {
  pending_call *pending = arg;
  peer *p = pending->peer;
  weft_err code = weft__cancel_raise(pending->from);
  pthread_mutex_lock(&p->lock);
  pending->refs++;
  pthread_mutex_unlock(&p->lock);
  weft__cancel_fire_error(&pending->cancel, code);
  pthread_mutex_lock(&p->lock);
  pending_call_release(pending);
  pthread_mutex_unlock(&p->lock);
}

static void pending_call_on_reply(void *arg, weft_err err, message *reply) {
  pending_call *pending = arg;
  peer *p = pending->peer;
  bool refused = err == WEFT_UNAVAILABLE && !weft__cancel_fired(&pending->cancel);
  if (pending->from) weft__cancel_watch_remove(pending->from, &pending->watch);
  if (refused) weft__fail_in(err, "%s", p->task);
  pending->fn(pending->arg, err, reply);
  pthread_mutex_lock(&p->lock);
  if (err == WEFT_OK && p->connection == pending->connection) p->heard_ns = weft__clock_now_ns();
  bool maybe_lost = refused && p->heard_ns && !p->greeting &&
                    !p->self; /* it may be lost, or the call failed for another reason: greet it */
  WEFT_ASSERT(p->n_call > 0);
  weft__list_remove(&pending->link);
  if (!maybe_lost) p->n_call--; /* else at the end of this function: peers_destroy frees the peer when it is 0 */
  peer_release_connection(p, pending->connection);
  pending_call_release(pending);
  pthread_mutex_unlock(&p->lock);
  if (!maybe_lost) return;
  weft__peer_greet(p, 0);
  pthread_mutex_lock(&p->lock);
  p->n_call--;
  pthread_mutex_unlock(&p->lock);
}

/* Lists the call and gets its connection.  *first: nothing is known of the peer yet. */
static weft_err pending_call_start(peer *p, pending_call *pending, bool *first) {
  pthread_mutex_lock(&p->lock);
  weft_err err = peer_get_connection(p, &pending->connection);
  if (!err) {
    *first = p->kind == PEER_UNKNOWN && !p->greeting && !p->self;
    weft__list_append(&p->calls, &pending->link);
    p->n_call++;
  }
  pthread_mutex_unlock(&p->lock);
  return err;
}

void weft__peer_call(peer *p, const char *method, message *request, const call_opts *opts, rpc_callback *fn,
                     void *arg) {
  pending_call *pending = weft__alloc_zero(1, sizeof *pending);
  bool first = false;
  weft_err err = pending ? WEFT_OK : WEFT_OOM;
  if (pending) {
    *pending =
        (pending_call){.peer = p, .method = method, .began_ns = weft__clock_now_ns(), .fn = fn, .arg = arg, .refs = 1};
    weft__cancel_init(&pending->cancel);
    pending->from = opts ? opts->cancel : NULL;
    pending->waits = opts && opts->wait_for_ready;
    if (pending->from) err = weft__cancel_watch_add(pending->from, &pending->watch, pending_call_on_cancel, pending);
    if (err) pending->from = NULL;
    if (!err) err = pending_call_start(p, pending, &first);
  }
  if (err) {
    weft__message_finish(request);
    if (pending && pending->from) weft__cancel_watch_remove(pending->from, &pending->watch);
    fn(arg, err, NULL);
    if (pending) pending_call_release(pending);
    return;
  }
  call_opts own = {.timeout_ms = opts ? opts->timeout_ms : 0,
                   .wait_for_ready = pending->waits,
                   .more = opts && opts->more,
                   .cancel = &pending->cancel};
  channel *c = pending->connection->channel; /* `pending` may be freed before the call returns */
  weft__channel_call(c, method, request, &own, pending_call_on_reply, pending);
  peers_wake_health(p->all);
  if (first) weft__peer_greet(p, 0);
}

void weft__peer_flush(peer *p) {
  pthread_mutex_lock(&p->lock);
  if (p->connection)
    weft__channel_flush(p->connection->channel); /* a replaced connection fails its unsent calls when it is destroyed */
  pthread_mutex_unlock(&p->lock);
}

/* The list is in the order in which the calls began. */
bool weft__peer_oldest_call(peer *p, int64_t *began_ns, const char **method) {
  pthread_mutex_lock(&p->lock);
  list_link *oldest = weft__list_first(&p->calls);
  if (oldest) {
    const pending_call *pending = WEFT_LIST_ITEM(oldest, pending_call, link);
    *began_ns = pending->began_ns, *method = pending->method;
  }
  pthread_mutex_unlock(&p->lock);
  return oldest != NULL;
}

/* ---- destruction ---- */

static void peers_stop_health(peers *all) {
  pthread_mutex_lock(&all->lock);
  all->stop = true;
  bool started = all->started;
  pthread_cond_signal(&all->wake);
  pthread_mutex_unlock(&all->lock);
  if (started) pthread_join(all->thread, NULL);
}

/* Cancels the calls to a peer and waits until they have ended.  The transport ends every call. */
static void peer_drain(peer *p) {
  for (bool quiet = false; !quiet;) {
    peer_cancel_calls(p, true, WEFT_CANCELLED, "the server is being shut down");
    pthread_mutex_lock(&p->lock);
    quiet = p->n_call == 0 && !p->greeting;
    pthread_mutex_unlock(&p->lock);
    if (!quiet) nanosleep(&(struct timespec){0, NS_PER_MS}, NULL);
  }
}

void weft__peers_destroy(peers *all) {
  if (!all) return;
  peers_stop_health(all);
  weft__cancel_fire(&all->closing, WEFT_CANCELLED, "the server is being shut down");
  for (int i = 0; i < all->n; i++) peer_drain(&all->peer[i]);
  for (int i = 0; i < all->n; i++)
    if (all->peer[i].connection) peer_connection_destroy(all->peer[i].connection);
  peer_connections_destroy(all->retired);
  for (int i = 0; i < all->n; i++) {
    WEFT_ASSERT(weft__list_is_empty(&all->peer[i].calls) && !all->peer[i].greeting);
    weft__free(all->peer[i].address);
    pthread_mutex_destroy(&all->peer[i].lock);
  }
  weft__map_finish(&all->by_task);
  weft__cancel_finish(&all->closing);
  pthread_cond_destroy(&all->wake);
  pthread_mutex_destroy(&all->lock);
  weft__free(all->peer);
  weft__free(all);
}
