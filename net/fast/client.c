/* client.c - a line of the fast transport: calls in flight by number, over one connection.
 *
 * A call is listed, watched and sent under the line's lock; whoever unlists it (the answer, its token, its
 * deadline, the loss of the connection, the end of the line) replies, so it is answered exactly once. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/gate.h"
#include "net/fast/conn.h"
#include "net/fast/fast.h"
#include "net/fast/socket.h"
#include "peer.pb-c.h"
#include <string.h>
#include <unistd.h>

typedef struct out_call {
  fast_line *line;
  uint64_t id;
  bool listed;
  struct out_call *next; /* of a list that is being ended */
  cancel *cancel;
  cancel_watch watch;
  int64_t timeout_ms, deadline_ns; /* 0: none */
  rpc_callback *fn;
  void *arg;
  char *method; /* behind the struct */
} out_call;

struct fast_line {
  conn conn;
  ticker ticker;
  char *address;
  fast_changed *changed;
  void *arg;
  atomic_int busy;      /* replies being made, the connection as long as it is there, LEAVING */
  gate quiet;           /* open: nothing but LEAVING is left of these */
  pthread_mutex_t lock; /* guards what follows */
  out_call **slot;      /* an id's low half is its place here, the high half makes it new */
  uint32_t n_slot, search, turn;
  bool lost, closing;
};
enum { LEAVING = 1 << 30 };

/* ---- the table ---- */

static weft_err list(fast_line *l, out_call *c) {
  for (uint32_t i = 0; i < l->n_slot; i++, l->search++)
    if (!l->slot[l->search % l->n_slot]) break;
  if (l->n_slot == 0 || l->slot[l->search % l->n_slot]) {
    uint32_t n = l->n_slot ? 2 * l->n_slot : 16;
    out_call **more = weft__realloc(l->slot, n * sizeof *more);
    if (!more) return WEFT_OOM;
    memset(more + l->n_slot, 0, (n - l->n_slot) * sizeof *more);
    l->slot = more;
    l->search = l->n_slot;
    l->n_slot = n;
  }
  uint32_t place = l->search++ % l->n_slot;
  c->id = (uint64_t)++l->turn << 32 | place;
  c->listed = true;
  l->slot[place] = c;
  return WEFT_OK;
}

static void unlist(fast_line *l, out_call *c) {
  l->slot[(uint32_t)c->id] = NULL;
  c->listed = false;
  atomic_fetch_add(&l->busy, 1);
}

/* Every call, or those whose time is up, taken out of the table.  *left (or NULL): there are others whose time will come. */
static out_call *unlist_all(fast_line *l, int64_t late_ns, bool *left) {
  out_call *taken = NULL;
  for (uint32_t i = 0; i < l->n_slot; i++) {
    out_call *c = l->slot[i];
    if (!c || (late_ns && !c->deadline_ns)) continue;
    if (late_ns && c->deadline_ns > late_ns) {
      if (left) *left = true;
      continue;
    }
    unlist(l, c);
    c->next = taken;
    taken = c;
  }
  return taken;
}

/* ---- ends ---- */

/* The line may be gone afterwards; no lock is taken, for its caller has begun the next call by now. */
static void quieter(fast_line *l) {
  if (atomic_fetch_sub(&l->busy, 1) == LEAVING + 1) (void)weft__gate_open(&l->quiet);
}

/* Replies to a call that was unlisted; err's message is this thread's. */
static void reply(out_call *c, weft_err err, message *answer) {
  fast_line *l = c->line;
  status kept = {0};
  weft__status_keep(&kept, err);
  if (c->cancel) weft__cancel_off(c->cancel, &c->watch);
  err = weft__status_raise(&kept);
  weft__status_finish(&kept);
  c->fn(c->arg, err, err == WEFT_OK ? answer : NULL);
  weft__free(c);
  quieter(l);
}

static void send_cancel(fast_line *l, uint64_t id) {
  weft__conn_send(&l->conn, &(frame_head){.kind = FRAME_CANCEL, .id = id}, "", NULL, false);
}

static void cancelled(void *arg) { /* the token fired */
  out_call *c = arg;
  fast_line *l = c->line;
  pthread_mutex_lock(&l->lock);
  bool ours = c->listed;
  if (ours) unlist(l, c);
  pthread_mutex_unlock(&l->lock);
  if (!ours) return;
  send_cancel(l, c->id);
  reply(c, weft__cancel_raise(c->cancel), NULL);
}

static bool tick(ticker *t, int64_t now_ns) {
  fast_line *l = (fast_line *)((char *)t - offsetof(fast_line, ticker));
  bool more = false;
  pthread_mutex_lock(&l->lock);
  out_call *late = unlist_all(l, now_ns, &more);
  pthread_mutex_unlock(&l->lock);
  for (out_call *next; late; late = next) {
    next = late->next;
    send_cancel(l, late->id);
    reply(late,
          weft__fail(WEFT_DEADLINE_EXCEEDED, "%s: %s was not answered within %lld ms", l->address, late->method,
                     (long long)late->timeout_ms),
          NULL);
  }
  return more;
}

static void end_all(fast_line *l, out_call *c, weft_err code, const char *why) {
  for (out_call *next; c; c = next) {
    next = c->next;
    reply(c, weft__fail(code, "%s: %s", l->address, why), NULL);
  }
}

/* ---- what comes ---- */

static bool take_answer(fast_line *l, const frame_head *h, const char *text, message *body) {
  pthread_mutex_lock(&l->lock);
  uint32_t place = (uint32_t)h->id;
  out_call *c = place < l->n_slot ? l->slot[place] : NULL;
  if (c && c->id == h->id)
    unlist(l, c);
  else
    c = NULL; /* given up by its caller */
  pthread_mutex_unlock(&l->lock);
  if (!c) return true;
  weft_err code = h->code <= WEFT_UNAUTHENTICATED ? (weft_err)h->code : WEFT_UNKNOWN;
  reply(c, code ? weft__fail(code, "%s", text) : WEFT_OK, body);
  return true;
}

static bool take_frame(conn *base, const frame_head *h, const char *text, message *body) {
  fast_line *l = (fast_line *)base;
  if (h->kind == FRAME_ANSWER && base->trusted) return take_answer(l, h, text, body);
  if (h->kind != FRAME_GREETING || base->trusted) return false;
  base->trusted = true;
  l->changed(l->arg, l, true);
  return true;
}

static void line_lost(conn *base, const char *why) {
  fast_line *l = (fast_line *)base;
  pthread_mutex_lock(&l->lock);
  l->lost = true;
  out_call *all = unlist_all(l, 0, NULL);
  pthread_mutex_unlock(&l->lock);
  l->changed(l->arg, l, false);
  end_all(l, all, WEFT_UNAVAILABLE, why);
  quieter(l);
}

static void free_line(conn *base) {
  fast_line *l = (fast_line *)base;
  pthread_mutex_destroy(&l->lock);
  weft__free(l->slot);
  weft__free(l->address);
  weft__free(l);
}

/* ---- calls ---- */

static out_call *make_call(fast_line *l, const char *method, const call_opts *opts, rpc_callback *fn, void *arg) {
  size_t size = strlen(method) + 1;
  out_call *c = weft__alloc_zero(1, sizeof *c + size);
  if (!c) return NULL;
  c->method = memcpy(c + 1, method, size);
  c->line = l;
  c->fn = fn, c->arg = arg;
  c->cancel = opts->cancel;
  c->timeout_ms = opts->timeout_ms > 0 ? opts->timeout_ms : 0;
  if (c->timeout_ms) c->deadline_ns = weft__now_ns() + c->timeout_ms * 1000000;
  return c;
}

/* Lists, watches and sends; locked, so that a token that fires meanwhile waits until the call is sent. */
static weft_err begin(fast_line *l, out_call *c, message *request, bool more) {
  uint32_t left = c->timeout_ms < UINT32_MAX ? (uint32_t)c->timeout_ms : UINT32_MAX;
  WEFT_TRY(list(l, c));
  weft_err err = c->cancel ? weft__cancel_on(c->cancel, &c->watch, cancelled, c) : WEFT_OK;
  if (err == WEFT_OK)
    weft__conn_send(&l->conn, &(frame_head){.kind = FRAME_CALL, .id = c->id, .timeout_ms = left}, c->method, request,
                    more);
  else
    l->slot[(uint32_t)c->id] = NULL;
  return err;
}

bool weft__fast_call(fast_line *l, const char *method, message *request, const call_opts *opts, rpc_callback *fn,
                     void *arg) {
  weft_err err = weft__check_size(method, request->size);
  out_call *c = err == WEFT_OK ? make_call(l, method, opts, fn, arg) : NULL;
  if (err == WEFT_OK && !c) err = WEFT_OOM;
  pthread_mutex_lock(&l->lock);
  bool lost = l->lost || l->closing;
  if (err == WEFT_OK && !lost) err = begin(l, c, request, opts->more);
  pthread_mutex_unlock(&l->lock);
  if (err == WEFT_OK && !lost && opts->timeout_ms > 0) weft__loop_tick_soon();
  if (err == WEFT_OK && !lost) return true; /* c may be gone */
  weft__free(c);
  if (lost) return false;
  weft__message_finish(request);
  fn(arg, err, NULL);
  return true;
}

void weft__fast_flush(fast_line *l) { weft__conn_flush(&l->conn); }

/* ---- the line ---- */

static weft_err open_socket(const Weft__FastEndpoint *way, const char *host, int *fd) {
  weft_err err = way->local[0] ? weft__socket_local(fd, way->local)
                               : weft__fail(WEFT_UNAVAILABLE, "no fast way to %s is known", host);
  if (err != WEFT_OK && way->port > 0 && host[0]) err = weft__socket_tcp(fd, host, way->port);
  return err;
}

static weft_err greet(fast_line *l, const Weft__FastEndpoint *way, const char *host, const conn_kind *kind) {
  int fd = -1;
  char key[2 * FAST_KEY_SIZE + 1];
  if (way->key.len != FAST_KEY_SIZE) return weft__fail(WEFT_INVALID_ARGUMENT, "%s: no key", l->address);
  WEFT_TRY(open_socket(way, host, &fd));
  weft_err err = weft__conn_start(&l->conn, kind, fd);
  if (err != WEFT_OK) {
    close(fd);
    return err;
  }
  weft__conn_send(&l->conn, &(frame_head){.kind = FRAME_GREETING}, weft__socket_key_text(key, way->key.data), NULL,
                  false);
  weft__loop_tick_on(&l->ticker);
  return WEFT_OK;
}

weft_err weft__fast_connect(fast_line **out, const char *address, const char *host, message *way, fast_changed *changed,
                            void *arg) {
  static const conn_kind kind = {take_frame, line_lost, free_line};
  ProtobufCMessage *unpacked;
  *out = NULL;
  WEFT_TRY(weft__message_unpack(&unpacked, way, &weft__fast_endpoint__descriptor));
  fast_line *l = weft__alloc_zero(1, sizeof *l);
  weft_err err = l && (l->address = weft__strdup(address)) ? weft__loop_retain() : WEFT_OOM;
  if (err == WEFT_OK) {
    pthread_mutex_init(&l->lock, NULL);
    atomic_init(&l->busy, 1);
    l->ticker.tick = tick;
    l->changed = changed, l->arg = arg;
    *out = l;
    err = greet(l, (Weft__FastEndpoint *)unpacked, host, &kind);
    if (err != WEFT_OK) weft__loop_release();
  }
  if (err != WEFT_OK && l) {
    weft__free(l->address);
    weft__free(l);
    *out = NULL;
  }
  protobuf_c_message_free_unpacked(unpacked, NULL);
  return err;
}

void weft__fast_disconnect(fast_line *l) {
  weft__loop_tick_off(&l->ticker);
  pthread_mutex_lock(&l->lock);
  l->closing = true;
  out_call *all = unlist_all(l, 0, NULL);
  pthread_mutex_unlock(&l->lock);
  end_all(l, all, WEFT_CANCELLED, "the connection was closed by this side");
  weft__conn_close(&l->conn);
  if (atomic_fetch_or(&l->busy, LEAVING) > 0)
    while (!weft__gate_wait(&l->quiet, (int64_t)LOOP_TICK_MS * 1000000)) continue;
  weft__conn_release(&l->conn);
  weft__loop_release();
}
