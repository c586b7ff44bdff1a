/* client.c - the client side of the fast transport: pending calls by number, over one connection.
 *
 * A call is added to the table, watched and sent under the client's lock.  The thread that removes it from the table
 * runs its callback: the response, its token, its deadline, the loss of the connection or the end of the client.  So
 * the callback runs exactly once.
 *
 * Lock: the client's, over the table of pending calls.  Under it a watch is added to a token and a frame is sent.
 * Callbacks run without it. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/slot_table.h"
#include "base/sync_event.h"
#include "net/fast/conn.h"
#include "net/fast/fast.h"
#include "net/fast/socket.h"
#include "peer.pb-c.h"
#include <string.h>
#include <unistd.h>

typedef struct client_call {
  fast_client *client;
  uint64_t id;
  bool pending;             /* in the table */
  struct client_call *next; /* in the list that client_take_calls returns */
  cancel *cancel;
  cancel_watch watch;
  int64_t timeout_ms, deadline_ns; /* 0: none */
  rpc_callback *fn;
  void *arg;
  char *method; /* behind the struct */
} client_call;

struct fast_client {
  conn conn;
  ticker ticker;
  char *address;
  loop_group *loops; /* borrowed: the channel keeps it */
  fast_client_changed *on_change;
  void *arg;
  atomic_int active;    /* callbacks that run, one for the connection until it is lost, and CLOSING */
  sync_event idle;      /* set when `active` has come down to CLOSING */
  pthread_mutex_t lock; /* guards what follows */
  slot_table calls;     /* the pending calls by their ids */
  bool lost, closing;
};
enum { CLOSING = 1 << 30 };

/* ---- the table of pending calls; all with the lock held ---- */

static weft_err client_add_call(fast_client *client, client_call *c) {
  WEFT_ASSERT(weft__lock_is_held(&client->lock));
  WEFT_TRY(weft__slot_table_add(&client->calls, c, &c->id));
  c->pending = true;
  return WEFT_OK;
}

static void client_remove_call(fast_client *client, client_call *c) {
  weft__slot_table_remove(&client->calls, c->id);
  c->pending = false;
  atomic_fetch_add(&client->active, 1);
}

/* Removes every call, or those whose deadline has passed (late_ns), and returns them as a list.  *remain (or
 * NULL) becomes true if calls with a later deadline remain. */
static client_call *client_take_calls(fast_client *client, int64_t late_ns, bool *remain) {
  client_call *taken = NULL;
  for (int64_t i = 0; i < client->calls.capacity; i++) {
    client_call *c = client->calls.slot[i].item;
    if (!c || (late_ns && !c->deadline_ns)) continue;
    if (late_ns && c->deadline_ns > late_ns) {
      if (remain) *remain = true;
      continue;
    }
    client_remove_call(client, c);
    c->next = taken;
    taken = c;
  }
  return taken;
}

/* ---- the end of a call ---- */

/* The client may be gone afterwards.  No lock is taken: on the hot path the caller is sending its next call by now. */
static void client_end_use(fast_client *client) {
  if (atomic_fetch_sub(&client->active, 1) == CLOSING + 1) (void)weft__sync_event_set(&client->idle);
}

/* Runs the callback of a call that was removed from the table, and frees it; err's message is this thread's. */
static void client_call_finish(client_call *c, weft_err err, message *response) {
  fast_client *client = c->client;
  status kept = {0};
  weft__status_update(&kept, err);
  if (c->cancel) weft__cancel_watch_remove(c->cancel, &c->watch);
  err = weft__status_raise(&kept);
  weft__status_finish(&kept);
  c->fn(c->arg, err, err == WEFT_OK ? response : NULL);
  weft__free(c);
  client_end_use(client);
}

static void client_send_cancel(fast_client *client, uint64_t id) {
  weft__conn_send(&client->conn, &(frame_head){.kind = FRAME_CANCEL, .id = id}, "", NULL, false);
}

/* The call's token fired. */
static void client_call_cancelled(void *arg) {
  client_call *c = arg;
  fast_client *client = c->client;
  pthread_mutex_lock(&client->lock);
  bool ours = c->pending;
  if (ours) client_remove_call(client, c);
  pthread_mutex_unlock(&client->lock);
  if (!ours) return;
  client_send_cancel(client, c->id);
  client_call_finish(c, weft__cancel_raise(c->cancel), NULL);
}

static bool client_expire_calls(ticker *t, int64_t now_ns) {
  fast_client *client = (fast_client *)((char *)t - offsetof(fast_client, ticker));
  bool more = false;
  pthread_mutex_lock(&client->lock);
  client_call *late = client_take_calls(client, now_ns, &more);
  pthread_mutex_unlock(&client->lock);
  for (client_call *next; late; late = next) {
    next = late->next;
    client_send_cancel(client, late->id);
    client_call_finish(late,
                       weft__fail(WEFT_DEADLINE_EXCEEDED, "%s: %s was not answered within %lld ms", client->address,
                                  late->method, (long long)late->timeout_ms),
                       NULL);
  }
  return more;
}

static void client_fail_calls(fast_client *client, client_call *c, weft_err code, const char *why) {
  for (client_call *next; c; c = next) {
    next = c->next;
    client_call_finish(c, weft__fail(code, "%s: %s", client->address, why), NULL);
  }
}

/* ---- what the peer sends ---- */

static bool client_on_response(fast_client *client, const frame_head *h, const char *text, message *body) {
  pthread_mutex_lock(&client->lock);
  client_call *c = weft__slot_table_get(&client->calls, h->id); /* NULL: canceled, or past its deadline */
  if (c) client_remove_call(client, c);
  pthread_mutex_unlock(&client->lock);
  if (!c) return true;
  weft_err code = h->code <= WEFT_UNAUTHENTICATED ? (weft_err)h->code : WEFT_UNKNOWN;
  client_call_finish(c, code ? weft__rpc_error(weft__fail(code, "%s", text)) : WEFT_OK, body);
  return true;
}

static bool client_on_frame(conn *base, const frame_head *h, const char *text, message *body) {
  fast_client *client = (fast_client *)base;
  if (h->kind == FRAME_RESPONSE && base->authenticated) return client_on_response(client, h, text, body);
  if (h->kind != FRAME_GREETING || base->authenticated) return false;
  base->authenticated = true;
  client->on_change(client->arg, client, true);
  return true;
}

static void client_on_lost(conn *base, const char *why) {
  fast_client *client = (fast_client *)base;
  pthread_mutex_lock(&client->lock);
  client->lost = true;
  client_call *all = client_take_calls(client, 0, NULL);
  pthread_mutex_unlock(&client->lock);
  client->on_change(client->arg, client, false);
  client_fail_calls(client, all, WEFT_UNAVAILABLE, why);
  client_end_use(client);
}

static void client_free(fast_client *client) {
  pthread_mutex_destroy(&client->lock);
  weft__slot_table_finish(&client->calls);
  weft__free(client->address);
  weft__free(client);
}

static void client_destroy(conn *base) {
  weft__conn_finish(base);
  client_free((fast_client *)base);
}

/* ---- calls ---- */

static client_call *client_call_create(fast_client *client, const char *method, const call_opts *opts, rpc_callback *fn,
                                       void *arg) {
  size_t size = strlen(method) + 1;
  client_call *c = weft__alloc_zero(1, sizeof *c + size);
  if (!c) return NULL;
  c->method = memcpy(c + 1, method, size);
  c->client = client;
  c->fn = fn, c->arg = arg;
  c->cancel = opts->cancel;
  c->timeout_ms = opts->timeout_ms > 0 ? opts->timeout_ms : 0;
  if (c->timeout_ms) c->deadline_ns = weft__clock_after_ms(c->timeout_ms);
  return c;
}

/* Adds the call to the table and sends it.  Locked, so that a token that fires meanwhile waits until the call is
 * sent. */
static weft_err client_send_call(fast_client *client, client_call *c, message *request, bool more) {
  uint32_t timeout_ms = c->timeout_ms < UINT32_MAX ? (uint32_t)c->timeout_ms : UINT32_MAX;
  WEFT_TRY(client_add_call(client, c));
  weft_err err = c->cancel ? weft__cancel_watch_add(c->cancel, &c->watch, client_call_cancelled, c) : WEFT_OK;
  if (err == WEFT_OK)
    weft__conn_send(&client->conn, &(frame_head){.kind = FRAME_CALL, .id = c->id, .timeout_ms = timeout_ms}, c->method,
                    request, more);
  else
    weft__slot_table_remove(&client->calls, c->id);
  return err;
}

bool weft__fast_client_call(fast_client *client, const char *method, message *request, const call_opts *opts,
                            rpc_callback *fn, void *arg) {
  weft_err err = weft__rpc_check_size(method, request->size);
  client_call *c = err == WEFT_OK ? client_call_create(client, method, opts, fn, arg) : NULL;
  if (err == WEFT_OK && !c) err = WEFT_OOM;
  pthread_mutex_lock(&client->lock);
  bool lost = client->lost || client->closing;
  if (err == WEFT_OK && !lost) err = client_send_call(client, c, request, opts->more);
  pthread_mutex_unlock(&client->lock);
  if (err == WEFT_OK && !lost && opts->timeout_ms > 0) weft__loop_tick_often(client->loops);
  if (err == WEFT_OK && !lost) return true; /* c may be gone by now */
  weft__free(c);
  if (lost) return false;
  weft__message_finish(request);
  fn(arg, err, NULL);
  return true;
}

void weft__fast_client_flush(fast_client *client) { weft__conn_flush(&client->conn); }

/* ---- the client ---- */

static weft_err client_open_socket(const Weft__FastEndpoint *endpoint, const char *host, int *fd) {
  weft_err err = endpoint->local[0] ? weft__socket_connect_unix(fd, endpoint->local)
                                    : weft__fail(WEFT_UNAVAILABLE, "the fast transport has no address for %s", host);
  if (err != WEFT_OK && endpoint->port > 0 && host[0]) err = weft__socket_connect_tcp(fd, host, endpoint->port);
  return err;
}

/* Checks that the peer speaks as we do; otherwise its calls go by gRPC. */
static weft_err client_check_endpoint(const fast_client *client, const Weft__FastEndpoint *endpoint) {
  const uint32_t protocol = endpoint->protocol ? endpoint->protocol : 1;
  if (endpoint->key.len != FAST_KEY_SIZE)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s: the peer sent no key for the fast transport", client->address);
  if (protocol != FAST_PROTOCOL)
    return weft__fail(WEFT_FAILED_PRECONDITION,
                      "%s: the peer has protocol %u of the fast transport, this task has %d; they use gRPC",
                      client->address, protocol, FAST_PROTOCOL);
  return WEFT_OK;
}

/* On failure the client is freed. */
static weft_err client_connect(fast_client *client, const Weft__FastEndpoint *endpoint, const char *host,
                               const conn_callbacks *callbacks) {
  int fd = -1;
  char key[2 * FAST_KEY_SIZE + 1];
  weft_err err = client_check_endpoint(client, endpoint);
  if (err == WEFT_OK) err = client_open_socket(endpoint, host, &fd);
  if (err != WEFT_OK) {
    client_free(client); /* its connection was not initialized */
    return err;
  }
  weft__conn_init(&client->conn, callbacks, fd);
  err = weft__conn_start(&client->conn, client->loops);
  if (err != WEFT_OK) {
    weft__conn_release(&client->conn);
    return err;
  }
  weft__conn_send(&client->conn, &(frame_head){.kind = FRAME_GREETING}, weft__socket_key_text(key, endpoint->key.data),
                  NULL, false);
  weft__loop_add_ticker(client->loops, &client->ticker);
  return WEFT_OK;
}

weft_err weft__fast_client_create(fast_client **out, loop_group *loops, const char *address, const char *host,
                                  message *endpoint, fast_client_changed *on_change, void *arg) {
  static const conn_callbacks callbacks = {client_on_frame, client_on_lost, client_destroy};
  ProtobufCMessage *unpacked;
  *out = NULL;
  WEFT_TRY(weft__message_unpack(&unpacked, endpoint, &weft__fast_endpoint__descriptor));
  fast_client *client = weft__alloc_zero(1, sizeof *client);
  weft_err err = client && (client->address = weft__strdup(address)) ? WEFT_OK : WEFT_OOM;
  if (err != WEFT_OK) {
    weft__free(client);
  } else {
    pthread_mutex_init(&client->lock, NULL);
    atomic_init(&client->active, 1);
    client->ticker.tick = client_expire_calls;
    client->loops = loops, client->on_change = on_change, client->arg = arg;
    *out = client; /* set before a callback can run */
    err = client_connect(client, (Weft__FastEndpoint *)unpacked, host, &callbacks);
    if (err != WEFT_OK) *out = NULL;
  }
  protobuf_c_message_free_unpacked(unpacked, NULL);
  return err;
}

void weft__fast_client_destroy(fast_client *client) {
  weft__loop_remove_ticker(client->loops, &client->ticker);
  pthread_mutex_lock(&client->lock);
  client->closing = true;
  client_call *all = client_take_calls(client, 0, NULL);
  pthread_mutex_unlock(&client->lock);
  client_fail_calls(client, all, WEFT_CANCELLED, "the connection was closed by this side");
  weft__conn_close(&client->conn);
  if (atomic_fetch_or(&client->active, CLOSING) > 0)
    while (!weft__sync_event_wait(&client->idle, LOOP_TICK_MS * NS_PER_MS)) continue;
  weft__conn_release(&client->conn);
}
