/* channel.c - the way to one address: gRPC always, and Weft's own transport once it is found.
 *
 * A channel to a peer known to be Weft asks it, over gRPC, for its fast way in and connects; calls change
 * over when the connection stands and back when it is lost, and the channel asks again.  Lines that were
 * lost stay until the channel goes: a callback may still be on one, and there are few. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/fast/fast.h"
#include "net/transport.h"
#include <stdatomic.h>
#include <string.h>

enum { ASK_AGAIN_MS = 200, ASK_WITHIN_MS = 10000 };

struct channel {
  grpc_connection *grpc;
  char *address;
  bool upgrades;
  _Atomic(fast_client *) fast; /* NULL: calls go by gRPC */
  pthread_mutex_t lock;        /* guards what follows */
  bool asking;                 /* from the question until the connection is lost */
  int64_t asked_ns;
  pthread_mutex_t connecting; /* guards what follows; never taken under the other */
  fast_client **all;          /* every line there was */
  int n_all;
  loop_group *loops; /* retained with the first of them */
};

/* ---- changing over ---- */

static void change(void *arg, fast_client *l, bool usable) {
  channel *c = arg;
  atomic_store(&c->fast, usable ? l : NULL);
  if (usable) return;
  pthread_mutex_lock(&c->lock);
  c->asking = false;
  pthread_mutex_unlock(&c->lock);
}

static weft_err connect_fast(channel *c, message *way) {
  fast_client **more = weft__realloc((void *)c->all, (size_t)(c->n_all + 1) * sizeof *more);
  if (!more) return WEFT_OOM;
  c->all = more;
  char host[64];
  if (!weft__grpc_response_host(host, sizeof host)) host[0] = 0;
  if (!c->loops) WEFT_TRY(weft__transport_retain_loops(&c->loops));
  weft_err err = weft__fast_client_create(&c->all[c->n_all], c->loops, c->address, host, way, change, c);
  c->n_all += !err;
  if (c->n_all > 0) return err;
  weft__transport_release_loops(c->loops);
  c->loops = NULL;
  return err;
}

static void take_way(void *arg, weft_err err, message *way) {
  channel *c = arg;
  pthread_mutex_lock(&c->connecting);
  if (err == WEFT_OK) err = connect_fast(c, way);
  pthread_mutex_unlock(&c->connecting);
  if (err == WEFT_OK) return;
  if (err != WEFT_CANCELLED) /* which is the channel's own end */
    weft__log(LOG_DEBUG, "%s is called by gRPC alone: %s", c->address, weft__error_message());
  pthread_mutex_lock(&c->lock);
  c->asking = false;
  pthread_mutex_unlock(&c->lock);
}

static void ask_way(channel *c) {
  int64_t now = weft__now_ns();
  pthread_mutex_lock(&c->lock);
  bool ask = !c->asking && (!c->asked_ns || now - c->asked_ns > (int64_t)ASK_AGAIN_MS * 1000000);
  if (ask) c->asking = true, c->asked_ns = now;
  pthread_mutex_unlock(&c->lock);
  call_opts opts = {.timeout_ms = ASK_WITHIN_MS, .wait_for_ready = true};
  if (ask) c->grpc->ops->call(c->grpc, FAST_METHOD, &(message){0}, &opts, take_way, c);
}

/* ---- the channel ---- */

weft_err weft__channel_create(channel **out, const char *address, const channel_opts *opts) {
  *out = NULL;
  channel *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_OOM;
  pthread_mutex_init(&c->lock, NULL);
  pthread_mutex_init(&c->connecting, NULL);
  c->address = weft__strdup(address);
  c->upgrades = opts && opts->keepalive;
  weft_err err =
      c->address ? weft__grpc_connection_create(&c->grpc, address, opts ? opts : &(channel_opts){0}) : WEFT_OOM;
  if (err == WEFT_OK) {
    if (c->upgrades) ask_way(c);
    *out = c;
  } else {
    weft__channel_destroy(c);
  }
  return err;
}

void weft__channel_destroy(channel *c) {
  if (!c) return;
  if (c->grpc) c->grpc->ops->destroy(c->grpc); /* first: no line is made after it */
  for (int i = 0; i < c->n_all; i++) weft__fast_client_destroy(c->all[i]);
  if (c->loops) weft__transport_release_loops(c->loops);
  weft__free((void *)c->all);
  weft__free(c->address);
  pthread_mutex_destroy(&c->connecting);
  pthread_mutex_destroy(&c->lock);
  weft__free(c);
}

bool weft__channel_is_fast(channel *c) { return atomic_load(&c->fast) != NULL; }

void weft__channel_call(channel *c, const char *method, message *request, const call_opts *opts, rpc_callback *fn,
                        void *arg) {
  static const call_opts none = {0};
  fast_client *fast = atomic_load_explicit(&c->fast, memory_order_acquire);
  if (!opts) opts = &none;
  if (fast && !opts->only_grpc && weft__fast_client_call(fast, method, request, opts, fn, arg)) return;
  if (c->upgrades) ask_way(c);
  c->grpc->ops->call(c->grpc, method, request, opts, fn, arg);
}

void weft__channel_flush(channel *c) {
  fast_client *fast = atomic_load_explicit(&c->fast, memory_order_acquire);
  if (fast) weft__fast_client_flush(fast);
}
