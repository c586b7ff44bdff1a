/* resolving_connection.c - a connection to a host name: resolves it, connects, then hands calls to a direct
 * connection.
 *
 * The name is looked up again before each attempt, since a task that was restarted may have another address.  Calls
 * wait in a list until the connection is ready.  A thread looks up and connects; it lives as long as calls wait, and
 * fails those whose deadline has passed.  A fail-fast call (without wait_for_ready) fails with the step that failed.
 *
 * Lock: the connection's, over the list and the current direct connection.  Under it a watch is added to a token, a
 * direct connection is asked whether it is idle, and the thread is started.  Callbacks run without it. */
#include "net/grpc/connection.h"
#include "base/assert.h"
#include "net/grpc/name_lookup.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/clock.h"
#include "base/list.h"
#include <string.h>

enum { CHECK_INTERVAL_MS = 5, LOOKUP_VALID_MS = 1000, TRY_OTHER_FAMILY_MS = 300 };

typedef struct resolving_connection resolving_connection;

typedef struct pending_call { /* a call that waits for the connection to be ready */
  resolving_connection *conn;
  list_link link; /* of the connection's pending calls, or of calls taken from them */
  bool is_pending;
  message request;
  call_opts opts;
  int64_t deadline_ns; /* 0: none */
  cancel_watch watch;
  rpc_callback *fn;
  void *arg;
  char *method; /* behind the struct */
} pending_call;

typedef struct retired_connection { /* to addresses that are not used any more */
  struct retired_connection *next;
  grpc_connection *connection;
} retired_connection;

struct resolving_connection {
  grpc_connection base;
  char *address, *host; /* "ps0:2222", "ps0" */
  int port;
  channel_opts opts;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t wake;
  grpc_connection *current; /* direct, to the addresses of `target`; NULL: none yet */
  bool is_connected;        /* `current` was ready when last asked: calls need not wait */
  char *target;
  int handovers; /* calls that are being handed to a direct connection */
  retired_connection *retired;
  linked_list pending; /* calls that wait */
  int finishing;       /* calls taken from `pending` whose callback has not returned yet */
  bool connecting, closing;
  pthread_t thread; /* the last one that was started; */
  bool has_thread;  /* it must be joined */
  /* of the thread alone */
  name_lookup *lookup;
  lookup_result found;
  int family;
  int64_t found_ns, failed_ns; /* when the name was resolved; since when connecting fails, 0: it does not */
};

/* ---- calls that wait ---- */

/* Takes a call out of the pending ones.  The caller holds the lock, and runs the callback later. */
static void pending_call_remove(pending_call *p) {
  weft__list_remove(&p->link);
  p->is_pending = false;
  p->conn->finishing++;
}

static void pending_call_free(pending_call *p) {
  weft__message_finish(&p->request);
  weft__free(p);
}

static void resolving_connection_finished_one(resolving_connection *conn) {
  pthread_mutex_lock(&conn->lock);
  if (--conn->finishing == 0) pthread_cond_broadcast(&conn->wake);
  pthread_mutex_unlock(&conn->lock);
}

/* Runs the callback of a call that was taken from the list, and frees it; err's message is this thread's. */
static void pending_call_fail(pending_call *p, weft_err err) {
  resolving_connection *conn = p->conn;
  status kept = {0};
  weft__status_update(&kept, err);
  if (p->opts.cancel) weft__cancel_watch_remove(p->opts.cancel, &p->watch);
  err = weft__status_raise(&kept);
  weft__status_finish(&kept);
  p->fn(p->arg, err, NULL);
  pending_call_free(p);
  resolving_connection_finished_one(conn);
}

static void pending_call_on_cancel(void *arg) {
  pending_call *p = arg;
  resolving_connection *conn = p->conn;
  pthread_mutex_lock(&conn->lock);
  bool was_pending = p->is_pending;
  if (was_pending) pending_call_remove(p);
  pthread_mutex_unlock(&conn->lock);
  if (was_pending) pending_call_fail(p, weft__cancel_raise(p->opts.cancel));
}

typedef bool pending_call_filter(const pending_call *p, int64_t now_ns);
static bool is_any(const pending_call *p, int64_t now_ns) { return (void)p, (void)now_ns, true; }
static bool is_fail_fast(const pending_call *p, int64_t now_ns) { return (void)now_ns, !p->opts.wait_for_ready; }
static bool is_late(const pending_call *p, int64_t now_ns) { return p->deadline_ns && p->deadline_ns <= now_ns; }

/* Moves the pending calls that the filter accepts to `taken`, which this initializes, in their order. */
static void resolving_connection_take_calls(resolving_connection *conn, pending_call_filter *which,
                                            linked_list *taken) {
  int64_t now = weft__clock_now_ns();
  weft__list_init(taken);
  pthread_mutex_lock(&conn->lock);
  for (list_link *link = conn->pending.head.next, *next; link != &conn->pending.head; link = next) {
    next = link->next;
    pending_call *p = WEFT_LIST_ITEM(link, pending_call, link);
    if (!which(p, now)) continue;
    pending_call_remove(p);
    weft__list_append(taken, &p->link);
  }
  pthread_mutex_unlock(&conn->lock);
}

/* Removes the first of the taken calls; NULL: none is left. */
static pending_call *pending_call_next(linked_list *taken) {
  list_link *link = weft__list_first(taken);
  if (!link) return NULL;
  weft__list_remove(link);
  return WEFT_LIST_ITEM(link, pending_call, link);
}

/* Hands a call that was taken from the pending ones to the current direct connection. */
static void pending_call_hand_over(pending_call *p) {
  resolving_connection *conn = p->conn;
  call_opts opts = p->opts;
  if (opts.cancel) weft__cancel_watch_remove(opts.cancel, &p->watch);
  if (p->deadline_ns) {
    int64_t left = (p->deadline_ns - weft__clock_now_ns()) / NS_PER_MS;
    opts.timeout_ms = left > 0 ? left : 1;
  }
  conn->current->ops->call(conn->current, p->method, &p->request, &opts, p->fn, p->arg);
  pending_call_free(p);
  resolving_connection_finished_one(conn);
}

static void resolving_connection_hand_over(resolving_connection *conn, pending_call_filter *which) {
  linked_list taken;
  resolving_connection_take_calls(conn, which, &taken);
  for (pending_call *p; (p = pending_call_next(&taken));) { pending_call_hand_over(p); }
}

static void resolving_connection_fail_late(resolving_connection *conn) {
  linked_list taken;
  resolving_connection_take_calls(conn, is_late, &taken);
  for (pending_call *p; (p = pending_call_next(&taken));) {
    if (conn->lookup)
      pending_call_fail(p, weft__fail(WEFT_DEADLINE_EXCEEDED,
                                      "%s: resolving %s took longer than %lld ms (is DNS reachable?)", conn->address,
                                      conn->host, (long long)p->opts.timeout_ms));
    else
      pending_call_fail(p, weft__fail(WEFT_DEADLINE_EXCEEDED, "%s: connecting to %s took longer than %lld ms",
                                      conn->address, conn->target ? conn->target : conn->host,
                                      (long long)p->opts.timeout_ms));
  }
}

/* ---- connecting ---- */

/* Destroys retired connections that have no calls any more, or all of them. */
static void resolving_connection_free_retired(resolving_connection *conn, bool all) {
  pthread_mutex_lock(&conn->lock);
  retired_connection **at = &conn->retired, *gone = NULL;
  while (*at) {
    retired_connection *r = *at;
    if (!all && (conn->handovers || !weft__direct_connection_is_idle(r->connection))) {
      at = &r->next;
      continue;
    }
    *at = r->next;
    r->next = gone;
    gone = r;
  }
  pthread_mutex_unlock(&conn->lock);
  for (retired_connection *next; gone; gone = next) {
    next = gone->next;
    gone->connection->ops->destroy(gone->connection);
    weft__free(gone);
  }
}

/* Makes a direct connection to these addresses the current one, and retires the one before. */
static weft_err resolving_connection_use_target(resolving_connection *conn, const char *target) {
  if (conn->target && strcmp(conn->target, target) == 0) return WEFT_OK;
  grpc_connection *made = NULL;
  retired_connection *r = conn->current ? weft__alloc_zero(1, sizeof *r) : NULL;
  char *copy = weft__strdup(target);
  weft_err err = copy && (r || !conn->current)
                     ? weft__direct_connection_create(&made, target, conn->address, conn->host, &conn->opts)
                     : WEFT_OOM;
  if (err) {
    weft__free(r);
    weft__free(copy);
    return err;
  }
  pthread_mutex_lock(&conn->lock);
  if (r) {
    *r = (retired_connection){conn->retired, conn->current};
    conn->retired = r;
  }
  conn->current = made;
  conn->is_connected = false;
  char *before = conn->target;
  conn->target = copy;
  pthread_mutex_unlock(&conn->lock);
  weft__free(before);
  conn->failed_ns = 0;
  return WEFT_OK;
}

static void resolving_connection_fail_fast(resolving_connection *conn, weft_err code, const char *why) {
  linked_list taken;
  resolving_connection_take_calls(conn, is_fail_fast, &taken);
  for (pending_call *p; (p = pending_call_next(&taken));) {
    pending_call_fail(p, weft__fail(code, "%s: cannot resolve %s: %s", conn->address, conn->host, why));
  }
}

/* Looks the name up, unless the last result is recent.  Returns false if no address is known. */
static bool resolving_connection_look_up(resolving_connection *conn) {
  int64_t now = weft__clock_now_ns();
  if (!conn->lookup && conn->found_ns && now - conn->found_ns < LOOKUP_VALID_MS * NS_PER_MS) return conn->found.n > 0;
  if (!conn->lookup) conn->lookup = weft__name_lookup_start(conn->host, conn->port);
  lookup_result r;
  if (!conn->lookup || !weft__name_lookup_result(conn->lookup, &r)) return false;
  weft__name_lookup_release(conn->lookup);
  conn->lookup = NULL;
  weft__lookup_result_finish(&conn->found);
  conn->found = r;
  conn->found_ns = now;
  if (conn->family >= r.n) conn->family = 0;
  return r.n > 0;
}

/* Takes the next step: looking up, connecting, or handing calls over. */
static void resolving_connection_advance(resolving_connection *conn) {
  int64_t now = weft__clock_now_ns();
  if (!resolving_connection_look_up(conn)) {
    if (!conn->lookup)
      resolving_connection_fail_fast(conn, WEFT_UNAVAILABLE,
                                     conn->found.why[0] ? conn->found.why : "no memory or thread to do it");
    return;
  }
  weft_err err = resolving_connection_use_target(conn, conn->found.target[conn->family]);
  if (err) {
    resolving_connection_fail_fast(conn, err, weft__error_message());
    return;
  }
  direct_state state = weft__direct_connection_state(conn->current, true);
  if (state == DIRECT_READY) {
    pthread_mutex_lock(&conn->lock);
    conn->is_connected = true;
    pthread_mutex_unlock(&conn->lock);
    resolving_connection_hand_over(conn, is_any);
  }
  if (state == DIRECT_FAILED) resolving_connection_hand_over(conn, is_fail_fast); /* it fails them with the reason */
  if (state != DIRECT_FAILED)
    conn->failed_ns = 0;
  else if (!conn->failed_ns)
    conn->failed_ns = now;
  else if (conn->found.n > 1 && now - conn->failed_ns > TRY_OTHER_FAMILY_MS * NS_PER_MS)
    conn->family = !conn->family, conn->failed_ns = 0;
}

static void *resolving_connection_thread(void *arg) {
  resolving_connection *conn = arg;
  for (;;) {
    resolving_connection_advance(conn);
    resolving_connection_fail_late(conn);
    resolving_connection_free_retired(conn, false);
    struct timespec until = weft__clock_deadline(CHECK_INTERVAL_MS * NS_PER_MS);
    pthread_mutex_lock(&conn->lock);
    bool over = conn->closing || weft__list_is_empty(&conn->pending);
    if (!over) pthread_cond_clockwait(&conn->wake, &conn->lock, CLOCK_MONOTONIC, &until);
    if (over) conn->connecting = false;
    pthread_mutex_unlock(&conn->lock);
    if (over) return NULL;
  }
}

/* Starts the thread unless it runs; false: no thread can be started.  The caller holds the lock. */
static bool resolving_connection_start_thread(resolving_connection *conn) {
  WEFT_ASSERT(weft__lock_is_held(&conn->lock));
  if (conn->connecting) return true;
  if (conn->has_thread)
    pthread_join(conn->thread, NULL); /* it has cleared `connecting`, and takes no lock after that */
  conn->has_thread = conn->connecting = pthread_create(&conn->thread, NULL, resolving_connection_thread, conn) == 0;
  return conn->connecting;
}

/* ---- calls ---- */

static void resolving_connection_add_call(resolving_connection *conn, const char *method, message *request,
                                          const call_opts *opts, rpc_callback *fn, void *arg) {
  size_t size = strlen(method) + 1;
  pending_call *p = weft__alloc_zero(1, sizeof *p + size);
  weft_err err = p ? weft__message_own(request) : WEFT_OOM;
  if (!err) {
    p->method = memcpy(p + 1, method, size);
    p->conn = conn, p->opts = *opts, p->fn = fn, p->arg = arg;
    if (opts->timeout_ms > 0) p->deadline_ns = weft__clock_after_ms(opts->timeout_ms);
    pthread_mutex_lock(&conn->lock); /* so that a token that fires meanwhile finds the call pending */
    if (opts->cancel) err = weft__cancel_watch_add(opts->cancel, &p->watch, pending_call_on_cancel, p);
    if (!err) {
      weft__message_move(&p->request, request);
      weft__list_append(&conn->pending, &p->link);
      p->is_pending = true;
      pthread_cond_broadcast(&conn->wake);
      if (!resolving_connection_start_thread(conn)) {
        pending_call_remove(p);
        pthread_mutex_unlock(&conn->lock);
        pending_call_fail(p,
                          weft__fail(WEFT_RESOURCE_EXHAUSTED, "%s: cannot start a thread to connect", conn->address));
        return;
      }
    }
    pthread_mutex_unlock(&conn->lock);
    if (!err) return;
  }
  weft__free(p);
  weft__message_finish(request);
  fn(arg, err, NULL);
}

static void resolving_connection_call(grpc_connection *base, const char *method, message *request,
                                      const call_opts *opts, rpc_callback *fn, void *arg) {
  resolving_connection *conn = (resolving_connection *)base;
  pthread_mutex_lock(&conn->lock);
  grpc_connection *to = conn->is_connected ? conn->current : NULL;
  if (to) conn->handovers++;
  pthread_mutex_unlock(&conn->lock);
  bool ready = to && weft__direct_connection_state(to, false) == DIRECT_READY;
  if (ready) to->ops->call(to, method, request, opts, fn, arg);
  if (to) {
    pthread_mutex_lock(&conn->lock);
    if (!ready && conn->current == to) conn->is_connected = false;
    if (--conn->handovers == 0) pthread_cond_broadcast(&conn->wake);
    pthread_mutex_unlock(&conn->lock);
  }
  if (!ready) resolving_connection_add_call(conn, method, request, opts, fn, arg);
}

/* ---- the connection ---- */

static void resolving_connection_destroy(grpc_connection *base) {
  resolving_connection *conn = (resolving_connection *)base;
  pthread_mutex_lock(&conn->lock);
  conn->closing = true;
  pthread_cond_broadcast(&conn->wake);
  pthread_mutex_unlock(&conn->lock);
  if (conn->has_thread) pthread_join(conn->thread, NULL);
  linked_list taken;
  resolving_connection_take_calls(conn, is_any, &taken);
  for (pending_call *p; (p = pending_call_next(&taken));) {
    pending_call_fail(p, weft__fail(WEFT_CANCELLED, "%s: the connection was closed by this side", conn->address));
  }
  pthread_mutex_lock(&conn->lock);
  while (conn->finishing || conn->handovers) pthread_cond_wait(&conn->wake, &conn->lock);
  pthread_mutex_unlock(&conn->lock);
  if (conn->current) conn->current->ops->destroy(conn->current);
  resolving_connection_free_retired(conn, true);
  weft__name_lookup_release(conn->lookup);
  weft__lookup_result_finish(&conn->found);
  pthread_cond_destroy(&conn->wake);
  pthread_mutex_destroy(&conn->lock);
  weft__free(conn->target);
  weft__free(conn->address);
  weft__free(conn->host);
  weft__free(conn);
}

weft_err weft__resolving_connection_create(grpc_connection **out, const char *address, const char *host, int port,
                                           const channel_opts *opts) {
  static const grpc_connection_ops ops = {resolving_connection_call, resolving_connection_destroy};
  *out = NULL;
  resolving_connection *conn = weft__alloc_zero(1, sizeof *conn);
  if (!conn) return WEFT_OOM;
  conn->base.ops = &ops;
  conn->port = port;
  conn->opts = *opts;
  weft__list_init(&conn->pending);
  pthread_mutex_init(&conn->lock, NULL);
  pthread_cond_init(&conn->wake, NULL);
  if ((conn->address = weft__strdup(address)) && (conn->host = weft__strdup(host))) return *out = &conn->base, WEFT_OK;
  resolving_connection_destroy(&conn->base);
  return WEFT_OOM;
}
#endif
