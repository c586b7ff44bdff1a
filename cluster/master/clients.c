/* clients.c - the table of sessions, and a sweep that frees unused ones.
 *
 * While there are sessions, a timer starts a sweep every few seconds.  The sweep runs on the blocking pool, since
 * closing a session may wait.  The lock guards the table and every session's client_usage.  Sessions are trimmed,
 * closed and freed without it. */
#include "cluster/master/clients.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/block.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "net/socket_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDLE_S = 60, TTL_S = 3600, SESSIONS_MAX = 1000, MEMORY_SHARE = 4, SWEEPS_PER_IDLE = 6, SWEEP_MAX_S = 10 };
enum { NODE_BYTES = 1100 }; /* estimated memory of a node, in addition to the bytes of its message */

struct clients {
  blocking_pool *blocking_pool;
  timers *timers;
  int64_t idle_ns, ttl_ns;
  size_t bytes_max;
  timer sweep;
  pthread_mutex_t lock; /* guards what follows, and every session's client_usage */
  map sessions;         /* handle -> client_session, with a reference */
  size_t bytes;
  bool stopped, sweeping; /* sweeping: the timer is set, or a sweep runs */
};

/* ---- creation ---- */

static double clients_setting(const char *name, double otherwise) {
  const char *text = getenv(name);
  char *end = NULL;
  double given = text && *text ? strtod(text, &end) : -1;
  if (text && *text && (*end || !(given > 0 && given < 1e9))) {
    weft__log(LOG_WARNING, "%s=%s is not a number above 0: using %g", name, text, otherwise);
    return otherwise;
  }
  return given > 0 ? given : otherwise;
}

weft_err weft__clients_create(clients **out, blocking_pool *e, timers *ts) {
  clients *t = weft__alloc_zero(1, sizeof *t);
  if (!t) return WEFT_OOM;
  t->blocking_pool = e;
  t->timers = ts;
  t->idle_ns = (int64_t)(clients_setting("WEFT_SESSION_IDLE_SECS", IDLE_S) * (double)NS_PER_S);
  t->ttl_ns = (int64_t)(clients_setting("WEFT_SESSION_TTL", TTL_S) * (double)NS_PER_S);
  const double quarter = (double)(weft__block_limit() / MEMORY_SHARE);
  t->bytes_max = (size_t)(clients_setting("WEFT_SESSION_MEMORY_MB", quarter / 1e6) * 1e6);
  pthread_mutex_init(&t->lock, NULL);
  *out = t;
  return WEFT_OK;
}

void weft__clients_stop(clients *t) {
  pthread_mutex_lock(&t->lock);
  t->stopped = true;
  pthread_mutex_unlock(&t->lock);
  weft__timer_cancel(t->timers, &t->sweep);
}

void weft__clients_destroy(clients *t) {
  if (!t) return;
  weft__map_finish(&t->sessions);
  pthread_mutex_destroy(&t->lock);
  weft__free(t);
}

/* ---- the table ---- */

static client_session *clients_at(const clients *t, int i) {
  return t->sessions.entries[i].key ? t->sessions.entries[i].value : NULL;
}

/* Removes the session from the table and returns the table's reference, or NULL.  The lock is held. */
static client_session *clients_unlist(clients *t, const char *session_handle) {
  WEFT_ASSERT(weft__lock_is_held(&t->lock));
  client_session *s = weft__map_remove(&t->sessions, session_handle);
  if (s) t->bytes -= weft__client_session_usage(s)->bytes;
  return s;
}

client_session *weft__clients_remove(clients *t, const char *session_handle) {
  pthread_mutex_lock(&t->lock);
  client_session *s = clients_unlist(t, session_handle);
  pthread_mutex_unlock(&t->lock);
  return s;
}

client_session *weft__clients_remove_any(clients *t) {
  client_session *s = NULL;
  pthread_mutex_lock(&t->lock);
  for (int i = 0; i < t->sessions.used && !s; i++)
    if (clients_at(t, i)) s = clients_unlist(t, t->sessions.entries[i].key);
  pthread_mutex_unlock(&t->lock);
  return s;
}

client_session **weft__clients_list(clients *t, int *n) {
  *n = 0;
  pthread_mutex_lock(&t->lock);
  client_session **list = t->sessions.count ? weft__alloc((size_t)t->sessions.count * sizeof *list) : NULL;
  for (int i = 0; list && i < t->sessions.used; i++)
    if (clients_at(t, i)) weft__client_session_retain(list[(*n)++] = clients_at(t, i));
  pthread_mutex_unlock(&t->lock);
  return list;
}

clients_count weft__clients_count(clients *t) {
  clients_count n = {0};
  pthread_mutex_lock(&t->lock);
  n.open = t->sessions.count;
  for (int i = 0; i < t->sessions.used; i++)
    n.idle += clients_at(t, i) && weft__client_session_usage(clients_at(t, i))->idle;
  pthread_mutex_unlock(&t->lock);
  return n;
}

/* ---- acquiring and releasing ---- */

/* Notes that a call on the session begins.  The lock is held. */
static void clients_mark_used(client_session *s, call *c) {
  client_usage *u = weft__client_session_usage(s);
  u->calls++;
  u->idle = false;
  u->closed_ns = 0;
  snprintf(u->peer, sizeof u->peer, "%s", weft__call_peer(c));
}

weft_err weft__clients_acquire(clients *t, const char *session_handle, call *c, client_session **out) {
  pthread_mutex_lock(&t->lock);
  *out = weft__map_get(&t->sessions, session_handle);
  if (*out) {
    weft__client_session_retain(*out);
    clients_mark_used(*out, c);
  }
  pthread_mutex_unlock(&t->lock);
  if (*out) return WEFT_OK;
  return weft__fail(WEFT_ABORTED, "Session %.64s is not found. Possibly, this master has restarted.", session_handle);
}

void weft__clients_release(clients *t, client_session *s) {
  client_usage *u = weft__client_session_usage(s);
  pthread_mutex_lock(&t->lock);
  u->calls--;
  u->last_ns = weft__clock_now_ns();
  pthread_mutex_unlock(&t->lock);
  weft__client_session_release(s);
}

/* ---- eviction ---- */

/* Returns true if a is evicted before b: first those without a connection, then the least recently used.  The lock is
 * held. */
static bool clients_evict_before(const client_usage *a, const client_usage *b) {
  if ((a->closed_ns != 0) != (b->closed_ns != 0)) return a->closed_ns != 0;
  return a->last_ns < b->last_ns;
}

/* Removes the session to evict from the table.  NULL if the limits are kept, or all sessions are in use. */
static client_session *clients_take_surplus(clients *t) {
  client_session *worst = NULL;
  pthread_mutex_lock(&t->lock);
  const bool over = t->sessions.count > SESSIONS_MAX || t->bytes > t->bytes_max;
  for (int i = 0; over && i < t->sessions.used; i++) {
    client_session *s = clients_at(t, i);
    if (!s || weft__client_session_usage(s)->calls) continue;
    if (!worst || clients_evict_before(weft__client_session_usage(s), weft__client_session_usage(worst))) worst = s;
  }
  if (worst) clients_unlist(t, weft__client_session_handle(worst));
  pthread_mutex_unlock(&t->lock);
  return worst;
}

static void clients_close_session(client_session *s) {
  weft__client_session_close(s, NULL);
  weft__client_session_release(s);
}

static int clients_evict_surplus(clients *t) {
  int n = 0;
  for (client_session *s; (s = clients_take_surplus(t)); n++) {
    weft__log(LOG_INFO, "Evicting the session %s of %s: there are too many, and it is the least recently used",
              weft__client_session_handle(s), weft__client_session_usage(s)->peer);
    clients_close_session(s);
  }
  return n;
}

/* ---- the sweep ---- */

static void clients_schedule_sweep(clients *t);

/* Notes which of these sessions have lost their connection.  The socket table is read without the lock. */
static void clients_check_connections(clients *t, int n, client_session *const *list) {
  const char **from = weft__alloc((size_t)n * sizeof *from);
  connection_state *state = weft__alloc((size_t)n * sizeof *state);
  char(*name)[sizeof((client_usage *)0)->peer] = weft__alloc((size_t)n * sizeof *name);
  const bool known = from && state && name;
  pthread_mutex_lock(&t->lock);
  for (int i = 0; known && i < n; i++) {
    memcpy(name[i], weft__client_session_usage(list[i])->peer, sizeof name[i]);
    from[i] = name[i];
  }
  pthread_mutex_unlock(&t->lock);
  if (known) weft__socket_table_find(n, from, state);
  const int64_t now = weft__clock_now_ns();
  pthread_mutex_lock(&t->lock);
  for (int i = 0; known && i < n; i++) {
    client_usage *u = weft__client_session_usage(list[i]);
    if (u->calls || strcmp(u->peer, name[i]) != 0) continue; /* used meanwhile */
    if (state[i] == CONNECTION_OPEN)
      u->closed_ns = 0;
    else if (!u->closed_ns)
      /* of a client that no transport knows any more, the last call counts as the end */
      u->closed_ns = state[i] == CONNECTION_CLOSED ? now : u->last_ns;
  }
  pthread_mutex_unlock(&t->lock);
  weft__free((void *)from);
  weft__free(state);
  weft__free(name);
}

/* Frees what the session can create again, if it has been idle long enough.  Returns true if it did. */
static bool clients_trim_session(clients *t, client_session *s) {
  client_usage *u = weft__client_session_usage(s);
  const int64_t now = weft__clock_now_ns();
  pthread_mutex_lock(&t->lock);
  const bool gone = u->closed_ns && now - u->closed_ns >= t->idle_ns, unused = now - u->last_ns >= t->ttl_ns;
  const bool due = !u->calls && !u->idle && (gone || unused);
  pthread_mutex_unlock(&t->lock);
  if (!due || !weft__client_session_trim(s)) return false;
  pthread_mutex_lock(&t->lock);
  if (!u->calls) u->idle = true;
  pthread_mutex_unlock(&t->lock);
  return true;
}

/* Closes a session whose client has been away longer than WEFT_SESSION_IDLE_SECS and WEFT_SESSION_TTL together.
 * Returns true if it did. */
static bool clients_expire_session(clients *t, client_session *s) {
  const client_usage *u = weft__client_session_usage(s);
  pthread_mutex_lock(&t->lock);
  const char *session_handle = weft__client_session_handle(s);
  bool due = !u->calls && u->closed_ns && weft__clock_now_ns() - u->closed_ns >= t->idle_ns + t->ttl_ns;
  due = due && weft__map_get(&t->sessions, session_handle) == s && clients_unlist(t, session_handle);
  pthread_mutex_unlock(&t->lock);
  if (due) clients_close_session(s);
  return due;
}

static void clients_sweep(void *arg) {
  clients *t = arg;
  int n, freed = 0;
  client_session **list = weft__clients_list(t, &n);
  if (n) clients_check_connections(t, n, list);
  for (int i = 0; i < n; i++) {
    freed += clients_trim_session(t, list[i]) || clients_expire_session(t, list[i]);
    weft__client_session_release(list[i]);
  }
  weft__free((void *)list);
  freed += clients_evict_surplus(t);
  if (freed) weft__block_trim_all();
  clients_schedule_sweep(t);
}

static void clients_on_timer(void *arg) {
  clients *t = arg;
  if (weft__blocking_pool_run(t->blocking_pool, clients_sweep, t) != WEFT_OK) clients_schedule_sweep(t);
}

/* Sets the timer, unless the table is empty: then the next session that is added sets it. */
static void clients_schedule_sweep(clients *t) {
  int64_t pause =
      t->idle_ns / SWEEPS_PER_IDLE < SWEEP_MAX_S * NS_PER_S ? t->idle_ns / SWEEPS_PER_IDLE : SWEEP_MAX_S * NS_PER_S;
  pthread_mutex_lock(&t->lock);
  t->sweeping = t->sessions.count > 0 && !t->stopped;
  if (t->sweeping) weft__timer_set(t->timers, &t->sweep, weft__clock_now_ns() + pause, clients_on_timer, t);
  pthread_mutex_unlock(&t->lock);
}

/* ---- adding ---- */

/* Adds a message with nodes to the estimated memory of a session.  The lock is held. */
static void clients_count_bytes(clients *t, client_session *s, size_t size) {
  WEFT_ASSERT(weft__lock_is_held(&t->lock));
  client_usage *u = weft__client_session_usage(s);
  const size_t before = u->bytes;
  u->received += size;
  u->bytes = u->received + (size_t)weft__client_session_nodes(s) * NODE_BYTES;
  t->bytes = t->bytes - before + u->bytes;
}

weft_err weft__clients_add(clients *t, client_session *s, call *c) {
  client_usage *u = weft__client_session_usage(s);
  pthread_mutex_lock(&t->lock);
  weft_err err = t->stopped ? weft__fail(WEFT_UNAVAILABLE, "This task is going away") : WEFT_OK;
  if (!err) err = weft__map_put(&t->sessions, weft__client_session_handle(s), s);
  if (!err) {
    u->calls = 1; /* this call, so that the session is not evicted here */
    snprintf(u->peer, sizeof u->peer, "%s", weft__call_peer(c));
    clients_count_bytes(t, s, weft__call_request(c)->size);
  }
  const bool begin = !err && !t->sweeping;
  t->sweeping = t->sweeping || begin;
  pthread_mutex_unlock(&t->lock);
  if (err) return err;
  if (begin) clients_schedule_sweep(t);
  if (clients_evict_surplus(t)) weft__block_trim_all();
  weft__client_session_retain(s);
  weft__clients_release(t, s);
  return WEFT_OK;
}

void weft__clients_grow(clients *t, client_session *s, size_t size) {
  pthread_mutex_lock(&t->lock);
  const bool listed = weft__map_get(&t->sessions, weft__client_session_handle(s)) == s;
  if (listed) clients_count_bytes(t, s, size);
  pthread_mutex_unlock(&t->lock);
}
