/* channel.c - calls one address: by gRPC, and by the fast transport once it is connected.
 *
 * A channel to a peer known to be Weft requests its fast endpoint over gRPC and connects to it.  Calls use the fast
 * client while it is connected, and gRPC before and after; when it is lost, the channel requests the endpoint
 * again.  Lost clients are kept until the channel is destroyed: a callback may still run on one, and there are few.
 *
 * A child that was forked has none of the threads that serve a channel.  There calls fail at once, and destroying a
 * channel leaves it as it is: its sockets and its state in gRPC are also the parent's.
 *
 * Locks: `lock` over the request, a leaf; `clients_lock` over the fast clients, under which one is created.  Never
 * both. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/fast/fast.h"
#include "net/process.h"
#include "net/transport.h"
#include <stdatomic.h>
#include <string.h>

enum { REQUEST_INTERVAL_MS = 200, REQUEST_TIMEOUT_MS = 10000 };

struct channel {
  grpc_connection *grpc;
  char *address;
  bool wants_fast;
  pid_t pid;                    /* of the process that created it */
  _Atomic(fast_client *) fast;  /* NULL: calls go by gRPC */
  pthread_mutex_t lock;         /* guards what follows */
  bool requesting;              /* from the request until the connection is lost */
  int64_t requested_ns;         /* the last time; 0: never */
  pthread_mutex_t clients_lock; /* guards what follows */
  fast_client **clients;        /* all that were created, also lost ones */
  int n_client;
  int64_t client_capacity;
  loop_group *loops; /* retained with the first client; NULL: there is none */
};

/* ---- the fast transport ---- */

static void channel_on_fast_change(void *arg, fast_client *client, bool usable) {
  channel *c = arg;
  atomic_store(&c->fast, usable ? client : NULL);
  if (usable) return;
  pthread_mutex_lock(&c->lock);
  c->requesting = false;
  pthread_mutex_unlock(&c->lock);
}

/* Creates a client for the peer's endpoint.  In the callback of the request, with clients_lock held. */
static weft_err channel_connect_fast(channel *c, message *endpoint) {
  WEFT_TRY(WEFT_ARRAY_RESERVE(c->clients, c->client_capacity, c->n_client + 1));
  char host[64];
  if (!weft__grpc_response_host(host, sizeof host)) host[0] = 0;
  if (!c->loops) WEFT_TRY(weft__transport_retain_loops(&c->loops));
  weft_err err = weft__fast_client_create(&c->clients[c->n_client], c->loops, c->address, host, endpoint,
                                          channel_on_fast_change, c);
  c->n_client += !err;
  if (c->n_client > 0) return err;
  weft__transport_release_loops(c->loops);
  c->loops = NULL;
  return err;
}

static void channel_on_endpoint(void *arg, weft_err err, message *endpoint) {
  channel *c = arg;
  pthread_mutex_lock(&c->clients_lock);
  if (err == WEFT_OK) err = channel_connect_fast(c, endpoint);
  pthread_mutex_unlock(&c->clients_lock);
  if (err == WEFT_OK) return;
  if (err != WEFT_CANCELLED) /* CANCELLED: the channel is being destroyed */
    weft__log(LOG_DEBUG, "%s: calls go by gRPC, not by the fast transport: %s", c->address, weft__error_message());
  pthread_mutex_lock(&c->lock);
  c->requesting = false;
  pthread_mutex_unlock(&c->lock);
}

/* Requests the peer's fast endpoint, unless that was done a moment ago. */
static void channel_request_endpoint(channel *c) {
  int64_t now = weft__clock_now_ns();
  pthread_mutex_lock(&c->lock);
  bool due = !c->requesting && (!c->requested_ns || now - c->requested_ns > REQUEST_INTERVAL_MS * NS_PER_MS);
  if (due) c->requesting = true, c->requested_ns = now;
  pthread_mutex_unlock(&c->lock);
  call_opts opts = {.timeout_ms = REQUEST_TIMEOUT_MS, .wait_for_ready = true};
  if (due) c->grpc->ops->call(c->grpc, FAST_METHOD, &(message){0}, &opts, channel_on_endpoint, c);
}

/* ---- the channel ---- */

weft_err weft__channel_create(channel **out, const char *address, const channel_opts *opts) {
  *out = NULL;
  channel *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_OOM;
  pthread_mutex_init(&c->lock, NULL);
  pthread_mutex_init(&c->clients_lock, NULL);
  c->address = weft__strdup(address);
  c->pid = weft__process_id();
  c->wants_fast = opts && opts->fast;
  weft_err err =
      c->address ? weft__grpc_connection_create(&c->grpc, address, opts ? opts : &(channel_opts){0}) : WEFT_OOM;
  if (err == WEFT_OK) {
    if (c->wants_fast) channel_request_endpoint(c);
    *out = c;
  } else {
    weft__channel_destroy(c);
  }
  return err;
}

void weft__channel_destroy(channel *c) {
  if (!c || c->pid != weft__process_id()) return;
  if (c->grpc) c->grpc->ops->destroy(c->grpc); /* first: no fast client is created after it */
  for (int i = 0; i < c->n_client; i++) weft__fast_client_destroy(c->clients[i]);
  if (c->loops) weft__transport_release_loops(c->loops);
  weft__free((void *)c->clients);
  weft__free(c->address);
  pthread_mutex_destroy(&c->clients_lock);
  pthread_mutex_destroy(&c->lock);
  weft__free(c);
}

bool weft__channel_is_fast(channel *c) { return atomic_load(&c->fast) != NULL; }

void weft__channel_call(channel *c, const char *method, message *request, const call_opts *opts, rpc_callback *fn,
                        void *arg) {
  static const call_opts none = {0};
  fast_client *fast = atomic_load_explicit(&c->fast, memory_order_acquire);
  if (!opts) opts = &none;
  if (c->pid != weft__process_id()) {
    message response = {0};
    weft__message_finish(request);
    fn(arg,
       weft__fail(
           WEFT_FAILED_PRECONDITION,
           "%s to %s: the connection belongs to process %d, from which this process (%d) was forked; fork before "
           "the first session of a cluster is opened",
           method, c->address, (int)c->pid, weft__process_id()),
       &response);
    return;
  }
  if (fast && !opts->only_grpc && weft__fast_client_call(fast, method, request, opts, fn, arg)) return;
  if (c->wants_fast) channel_request_endpoint(c);
  c->grpc->ops->call(c->grpc, method, request, opts, fn, arg);
}

void weft__channel_flush(channel *c) {
  fast_client *fast = atomic_load_explicit(&c->fast, memory_order_acquire);
  if (fast && c->pid == weft__process_id()) weft__fast_client_flush(fast);
}
