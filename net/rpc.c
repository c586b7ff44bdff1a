/* rpc.c - listeners, calls on the server side, and calls that wait for their response; the transports do the work.
 *
 * A listener is a gRPC listener and, unless the options say otherwise, a fast one.  No locks.
 *
 * Include cycle with net/call, net/fast/fast, net/internal, net/transport: rpc.c chooses a transport for each call, and
 * the transports carry the calls declared here. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "net/fast/fast.h"
#include "net/transport.h"
#include <string.h>

/* ---- functions that the transports share ---- */

const char *weft__rpc_error_text(char *buf, const char *text) {
  static const char cut[] = " ... [truncated]";
  size_t size = strlen(text);
  if (size <= ERROR_TEXT_MAX) return text;
  memcpy(buf, text, ERROR_TEXT_MAX);
  memcpy(buf + ERROR_TEXT_MAX - (sizeof cut - 1), cut, sizeof cut);
  return buf;
}

weft_err weft__rpc_check_size(const char *method, size_t size) {
  if (size < (size_t)MESSAGE_LIMIT_MIB << 20) return WEFT_OK;
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "%s: a message of %zu bytes is too large: at most %d MiB can be sent",
                    method, size, MESSAGE_LIMIT_MIB);
}

bool weft__rpc_tokens_equal(const void *want, size_t want_size, const void *got, size_t got_size) {
  const unsigned char *w = want, *g = got;
  volatile unsigned char difference = want_size != got_size;
  for (size_t i = 0; i < got_size; i++) difference |= (unsigned char)(g[i] ^ (want_size ? w[i % want_size] : 0));
  return !difference;
}

/* ---- calls on the server side ---- */

const char *weft__call_method(const call *c) { return c->method; }
message *weft__call_request(call *c) { return &c->request; }
cancel *weft__call_cancel(call *c) { return &c->cancel; }
int64_t weft__call_deadline_ns(const call *c) { return c->deadline_ns; }
const char *weft__call_peer(call *c) { return c->ops->peer(c); }
void weft__call_respond(call *c, weft_err err, message *response) { c->ops->respond(c, err, response); }

/* ---- listeners ---- */

struct listener {
  grpc_listener *grpc;
  loop_group *loops;   /* retained; NULL: no fast transport */
  fast_listener *fast; /* NULL: none */
  rpc_handler *fn;
  void *arg;
};

/* Handles a call by gRPC: a request for the fast endpoint here, all others by the handler. */
static void listener_route(void *arg, call *c) {
  listener *l = arg;
  if (!l->fast || strcmp(c->method, FAST_METHOD) != 0) {
    l->fn(l->arg, c);
    return;
  }
  message response = {0};
  weft__call_respond(c, weft__fast_listener_endpoint(l->fast, &response), &response);
  weft__message_finish(&response);
}

/* Destroys the fast listener and releases its loops.  If a handler still uses the listener, the loops stay. */
static void listener_destroy_fast(listener *l) {
  bool freed = !l->fast || weft__fast_listener_destroy(l->fast);
  if (l->loops && freed) weft__transport_release_loops(l->loops);
}

weft_err weft__listener_create(listener **out, const listener_opts *opts, rpc_handler *fn, void *arg) {
  *out = NULL;
  listener *l = weft__alloc_zero(1, sizeof *l);
  if (!l) return WEFT_OOM;
  l->fn = fn, l->arg = arg;
  weft_err err = opts->only_grpc ? WEFT_OK : weft__transport_retain_loops(&l->loops);
  if (err == WEFT_OK && l->loops) err = weft__fast_listener_create(&l->fast, l->loops, opts, fn, arg);
  if (err == WEFT_OK) err = weft__grpc_listener_create(&l->grpc, opts, listener_route, l);
  if (err == WEFT_OK) {
    *out = l;
    return WEFT_OK;
  }
  status kept = {0};
  weft__status_update(&kept, err);
  listener_destroy_fast(l);
  weft__free(l);
  err = weft__status_raise(&kept);
  weft__status_finish(&kept);
  return err;
}

int weft__listener_port(const listener *l) { return weft__grpc_listener_port(l->grpc); }

void weft__listener_destroy(listener *l) {
  if (!l) return;
  bool closed = weft__grpc_listener_destroy(l->grpc);
  listener_destroy_fast(l);
  if (closed) weft__free(l); /* else a handler that has not answered will still use it */
}

/* ---- waiting for a response ---- */

typedef struct call_waiter {
  sync_event done; /* set after the next two were written */
  status err;
  message *response;
  cancel cancel; /* the token of the call: fired by an interrupt or by the caller's token */
  cancel *callers;
} call_waiter;

static void call_waiter_on_response(void *arg, weft_err err, message *response) {
  call_waiter *w = arg;
  weft__status_update(&w->err, err);
  if (response) weft__message_move(w->response, response);
  weft__rpc_event_set(&w->done);
}

static void call_waiter_on_cancel(void *arg) {
  call_waiter *w = arg;
  weft__cancel_fire_error(&w->cancel, weft__cancel_raise(w->callers));
}

weft_err weft__channel_call_wait(channel *c, const char *method, message *request, const call_opts *opts,
                                 message *response) {
  call_waiter w = {.response = response, .callers = opts ? opts->cancel : NULL};
  call_opts own = opts ? *opts : (call_opts){0};
  cancel_watch watch;
  weft_err err = WEFT_OK;
  weft__cancel_init(&w.cancel);
  own.cancel = &w.cancel;
  if (w.callers) err = weft__cancel_watch_add(w.callers, &watch, call_waiter_on_cancel, &w);
  if (err == WEFT_OK) {
    weft__channel_call(c, method, request, &own, call_waiter_on_response, &w);
    while (!weft__rpc_event_wait(&w.done, WEFT_WAIT_SLICE_MS * NS_PER_MS))
      if (weft__interrupt_pending()) weft__cancel_fire(&w.cancel, WEFT_CANCELLED, "%s was interrupted", method);
    if (w.callers) weft__cancel_watch_remove(w.callers, &watch);
    err = weft__status_raise(&w.err);
  } else {
    weft__message_finish(request);
  }
  weft__status_finish(&w.err);
  weft__cancel_finish(&w.cancel);
  return err;
}
