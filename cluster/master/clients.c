/* clients.c - the table, and an errand that a timer begins now and then while there are sessions. */
#include "cluster/master/clients.h"

#include "base/alloc.h"
#include "base/block.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "net/socket_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
enum { IDLE_S = 60, TTL_S = 3600, SESSIONS_MAX = 1000, MEMORY_PART = 4, LOOKS = 6, LOOK_MAX_S = 10 };
enum { NODE_BYTES = 1100 }; /* of memory for a node, beside the bytes it came in */

struct clients {
  errands *errands;
  timers *timers;
  int64_t idle_ns, ttl_ns;
  size_t bytes_max;
  timer sweep;
  pthread_mutex_t lock; /* guards what follows, and every session's client_use */
  map sessions;         /* handle -> client_session, each with the reference of the table */
  size_t bytes;
  bool stopped, sweeping; /* sweeping: the timer is set, or its errand is under way */
};

/* ---- life ---- */

static double setting(const char *name, double otherwise) {
  const char *text = getenv(name);
  char *end = NULL;
  double given = text && *text ? strtod(text, &end) : -1;
  if (text && *text && (*end || !(given > 0 && given < 1e9))) {
    weft__log(LOG_WARNING, "%s=%s is no number above 0: %g is used instead", name, text, otherwise);
    return otherwise;
  }
  return given > 0 ? given : otherwise;
}

weft_err weft__clients_create(clients **out, errands *e, timers *ts) {
  clients *t = weft__alloc_zero(1, sizeof *t);
  if (!t) return WEFT_OOM;
  t->errands = e;
  t->timers = ts;
  t->idle_ns = (int64_t)(setting("WEFT_SESSION_IDLE_SECS", IDLE_S) * (double)SECOND);
  t->ttl_ns = (int64_t)(setting("WEFT_SESSION_TTL", TTL_S) * (double)SECOND);
  const double quarter = (double)(weft__block_limit() / MEMORY_PART);
  t->bytes_max = (size_t)(setting("WEFT_SESSION_MEMORY_MB", quarter / 1e6) * 1e6);
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

static client_session *at(const clients *t, int i) {
  return t->sessions.entries[i].key ? t->sessions.entries[i].value : NULL;
}

/* With the lock held; the table's reference passes to the caller. */
static client_session *take_off(clients *t, const char *text_handle) {
  client_session *s = weft__map_remove(&t->sessions, text_handle);
  if (s) t->bytes -= weft__client_session_use(s)->bytes;
  return s;
}

client_session *weft__clients_remove(clients *t, const char *text_handle) {
  pthread_mutex_lock(&t->lock);
  client_session *s = take_off(t, text_handle);
  pthread_mutex_unlock(&t->lock);
  return s;
}

client_session *weft__clients_remove_any(clients *t) {
  client_session *s = NULL;
  pthread_mutex_lock(&t->lock);
  for (int i = 0; i < t->sessions.used && !s; i++)
    if (at(t, i)) s = take_off(t, t->sessions.entries[i].key);
  pthread_mutex_unlock(&t->lock);
  return s;
}

client_session **weft__clients_list(clients *t, int *n) {
  *n = 0;
  pthread_mutex_lock(&t->lock);
  client_session **list = t->sessions.count ? weft__alloc((size_t)t->sessions.count * sizeof *list) : NULL;
  for (int i = 0; list && i < t->sessions.used; i++)
    if (at(t, i)) weft__client_session_retain(list[(*n)++] = at(t, i));
  pthread_mutex_unlock(&t->lock);
  return list;
}

clients_count weft__clients_count(clients *t) {
  clients_count n = {0};
  pthread_mutex_lock(&t->lock);
  n.open = t->sessions.count;
  for (int i = 0; i < t->sessions.used; i++) n.idle += at(t, i) && weft__client_session_use(at(t, i))->idle;
  pthread_mutex_unlock(&t->lock);
  return n;
}

/* ---- use ---- */

/* With the lock held. */
static void use(client_session *s, call *c) {
  client_use *u = weft__client_session_use(s);
  u->calls++;
  u->idle = false;
  u->closed_ns = 0;
  snprintf(u->peer, sizeof u->peer, "%s", weft__call_peer(c));
}

weft_err weft__clients_begin(clients *t, const char *text_handle, call *c, client_session **out) {
  pthread_mutex_lock(&t->lock);
  *out = weft__map_get(&t->sessions, text_handle);
  if (*out) {
    weft__client_session_retain(*out);
    use(*out, c);
  }
  pthread_mutex_unlock(&t->lock);
  if (*out) return WEFT_OK;
  return weft__fail(WEFT_ABORTED, "Session %.64s is not found. Possibly, this master has restarted.", text_handle);
}

void weft__clients_end(clients *t, client_session *s) {
  client_use *u = weft__client_session_use(s);
  pthread_mutex_lock(&t->lock);
  u->calls--;
  u->last_ns = weft__clock_now_ns();
  pthread_mutex_unlock(&t->lock);
  weft__client_session_release(s);
}

/* ---- the end of sessions ---- */

/* With the lock held: should a go rather than b?  One without a connection, then the one used longest ago. */
static bool goes_first(const client_use *a, const client_use *b) {
  if ((a->closed_ns != 0) != (b->closed_ns != 0)) return a->closed_ns != 0;
  return a->last_ns < b->last_ns;
}

/* A session that is too much, taken off the table; NULL: none is, or all are in use. */
static client_session *take_surplus(clients *t) {
  client_session *worst = NULL;
  pthread_mutex_lock(&t->lock);
  const bool over = t->sessions.count > SESSIONS_MAX || t->bytes > t->bytes_max;
  for (int i = 0; over && i < t->sessions.used; i++) {
    client_session *s = at(t, i);
    if (!s || weft__client_session_use(s)->calls) continue;
    if (!worst || goes_first(weft__client_session_use(s), weft__client_session_use(worst))) worst = s;
  }
  if (worst) take_off(t, weft__client_session_handle(worst));
  pthread_mutex_unlock(&t->lock);
  return worst;
}

static void end_session(client_session *s) {
  weft__client_session_close(s, NULL);
  weft__client_session_release(s);
}

static int end_surplus(clients *t) {
  int n = 0;
  for (client_session *s; (s = take_surplus(t)); n++) {
    weft__log(LOG_INFO, "The session %s of %s goes: there are too many, and it was used longest ago",
              weft__client_session_handle(s), weft__client_session_use(s)->peer);
    end_session(s);
  }
  return n;
}

/* ---- looking ---- */

static void look_later(clients *t);

/* Notes which of these sessions have lost their connection. */
static void note_connections(clients *t, int n, client_session *const *list) {
  const char **from = weft__alloc((size_t)n * sizeof *from);
  connection_state *state = weft__alloc((size_t)n * sizeof *state);
  char(*name)[sizeof((client_use *)0)->peer] = weft__alloc((size_t)n * sizeof *name);
  const bool known = from && state && name;
  pthread_mutex_lock(&t->lock);
  for (int i = 0; known && i < n; i++) {
    memcpy(name[i], weft__client_session_use(list[i])->peer, sizeof name[i]);
    from[i] = name[i];
  }
  pthread_mutex_unlock(&t->lock);
  if (known) weft__socket_table_find(n, from, state);
  const int64_t now = weft__clock_now_ns();
  pthread_mutex_lock(&t->lock);
  for (int i = 0; known && i < n; i++) {
    client_use *u = weft__client_session_use(list[i]);
    if (u->calls || strcmp(u->peer, name[i]) != 0) continue; /* used meanwhile */
    if (state[i] == CONNECTION_OPEN)
      u->closed_ns = 0;
    else if (!u->closed_ns)
      u->closed_ns = state[i] == CONNECTION_CLOSED ? now : u->last_ns;
  }
  pthread_mutex_unlock(&t->lock);
  weft__free((void *)from);
  weft__free(state);
  weft__free(name);
}

/* Frees what the session can make again, when its time has come; true: it did. */
static bool idle_one(clients *t, client_session *s) {
  client_use *u = weft__client_session_use(s);
  const int64_t now = weft__clock_now_ns();
  pthread_mutex_lock(&t->lock);
  const bool gone = u->closed_ns && now - u->closed_ns >= t->idle_ns, forgotten = now - u->last_ns >= t->ttl_ns;
  const bool due = !u->calls && !u->idle && (gone || forgotten);
  pthread_mutex_unlock(&t->lock);
  if (!due || !weft__client_session_trim(s)) return false;
  pthread_mutex_lock(&t->lock);
  if (!u->calls) u->idle = true;
  pthread_mutex_unlock(&t->lock);
  return true;
}

/* Ends a session whose client has been away for so long that it will not come back; true: it did. */
static bool end_one(clients *t, client_session *s) {
  const client_use *u = weft__client_session_use(s);
  pthread_mutex_lock(&t->lock);
  const char *text_handle = weft__client_session_handle(s);
  bool due = !u->calls && u->closed_ns && weft__clock_now_ns() - u->closed_ns >= t->idle_ns + t->ttl_ns;
  due = due && weft__map_get(&t->sessions, text_handle) == s && take_off(t, text_handle);
  pthread_mutex_unlock(&t->lock);
  if (due) end_session(s);
  return due;
}

static void look(void *arg) {
  clients *t = arg;
  int n, freed = 0;
  client_session **list = weft__clients_list(t, &n);
  if (n) note_connections(t, n, list);
  for (int i = 0; i < n; i++) {
    freed += idle_one(t, list[i]) || end_one(t, list[i]);
    weft__client_session_release(list[i]);
  }
  weft__free((void *)list);
  freed += end_surplus(t);
  if (freed) weft__block_trim_all();
  look_later(t);
}

static void on_timer(void *arg) {
  clients *t = arg;
  if (weft__errand_run(t->errands, look, t) != WEFT_OK) look_later(t);
}

/* Sets the timer, unless there is nothing to look at: then the next session does. */
static void look_later(clients *t) {
  int64_t pause = t->idle_ns / LOOKS < LOOK_MAX_S * SECOND ? t->idle_ns / LOOKS : LOOK_MAX_S * SECOND;
  pthread_mutex_lock(&t->lock);
  t->sweeping = t->sessions.count > 0 && !t->stopped;
  if (t->sweeping) weft__timer_set(t->timers, &t->sweep, weft__clock_now_ns() + pause, on_timer, t);
  pthread_mutex_unlock(&t->lock);
}

/* ---- coming ---- */

/* With the lock held: a message of so many bytes has brought nodes. */
static void reckon(clients *t, client_session *s, size_t size) {
  client_use *u = weft__client_session_use(s);
  const size_t before = u->bytes;
  u->received += size;
  u->bytes = u->received + (size_t)weft__client_session_nodes(s) * NODE_BYTES;
  t->bytes = t->bytes - before + u->bytes;
}

weft_err weft__clients_add(clients *t, client_session *s, call *c) {
  client_use *u = weft__client_session_use(s);
  pthread_mutex_lock(&t->lock);
  weft_err err = t->stopped ? weft__fail(WEFT_UNAVAILABLE, "This task is going away") : WEFT_OK;
  if (!err) err = weft__map_put(&t->sessions, weft__client_session_handle(s), s);
  if (!err) {
    u->calls = 1; /* this one: it is not the one to go */
    snprintf(u->peer, sizeof u->peer, "%s", weft__call_peer(c));
    reckon(t, s, weft__call_request(c)->size);
  }
  const bool begin = !err && !t->sweeping;
  t->sweeping = t->sweeping || begin;
  pthread_mutex_unlock(&t->lock);
  if (err) return err;
  if (begin) look_later(t);
  if (end_surplus(t)) weft__block_trim_all();
  weft__client_session_retain(s);
  weft__clients_end(t, s);
  return WEFT_OK;
}

void weft__clients_grow(clients *t, client_session *s, size_t size) {
  pthread_mutex_lock(&t->lock);
  const bool listed = weft__map_get(&t->sessions, weft__client_session_handle(s)) == s;
  if (listed) reckon(t, s, size);
  pthread_mutex_unlock(&t->lock);
}
