/* connection.c - a line over gRPC: calls begun on a channel, each one batch and one event.
 *
 * A line knows its calls, so that destroying it can cancel them and wait.  A call is freed by its
 * event, after the reply.  Lock: the line's, over its ring of calls. */
#include "net/grpc/connection.h"
#include "net/grpc/tls_probe.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/cast.h"
#include "base/clock.h"
#include <arpa/inet.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct grpc_line grpc_line;

typedef struct out_call {
  tag ended;
  grpc_line *line;
  struct out_call *next, *prev; /* the line's ring */
  grpc_call *call;
  grpc_byte_buffer *request, *reply;
  grpc_metadata_array initial, trailing;
  grpc_metadata token;
  grpc_status_code code;
  grpc_slice details;
  cancel *cancel;
  cancel_watch watch;
  int64_t timeout_ms;
  rpc_callback *fn;
  void *arg;
  char *method; /* behind the struct */
} out_call;

struct grpc_line {
  line base;
  char *address, *target;
  bool has_tls;
  probe *probe;           /* NULL under TLS */
  atomic_llong closed_ns; /* since when each connection is closed before it stands; 0: it is not */
  bool has_token;
  grpc_slice bearer; /* "Bearer TOKEN" */
  grpc_channel *channel;
  grpc_completion_queue *queue;
  pthread_mutex_t lock;
  pthread_cond_t empty;
  out_call calls; /* the ring's head */
};

/* ---- the end of a call ---- */

static _Thread_local grpc_call *answered; /* while its reply is given */

/* Out of "ipv4:10.0.0.1:2222", "ipv6:[::1]:2222" or "ipv6:%5B::1%5D:2222". */
bool weft__grpc_host(char *buf, size_t room) {
  char *peer = answered ? grpc_call_get_peer(answered) : NULL;
  char *begin = peer ? strchr(peer, ':') : NULL, *end = peer ? strrchr(peer, ':') : NULL;
  bool found = begin && end > begin && strncmp(peer, "ipv", 3) == 0;
  if (found) {
    begin++;
    if (*begin == '[') begin++, end = strchr(begin, ']');
    if (strncasecmp(begin, "%5b", 3) == 0) begin += 3, end = strchr(begin, '%');
    found = end && (size_t)(end - begin) < room;
  }
  if (found) snprintf(buf, room, "%.*s", weft__int_sat(end - begin), begin);
  gpr_free(peer);
  return found;
}

static bool has_words(const out_call *c, const char *words) {
  return memmem(GRPC_SLICE_START_PTR(c->details), GRPC_SLICE_LENGTH(c->details), words, strlen(words)) != NULL;
}

/* Waiting does not help when the two sides disagree about TLS: what gRPC takes for a lost connection is a refusal. */
static weft_err raise_refusal(const out_call *c) {
  enum { CLOSED_MS = 5000 };
  grpc_line *l = c->line;
  const char *a = l->address;
  bool closed = has_words(c, "failed to connect") && has_words(c, "Socket closed");
  int64_t now = weft__now_ns();
  int64_t since = atomic_load(&l->closed_ns);
  if (!closed) atomic_store(&l->closed_ns, 0);
  if (closed && !since) atomic_store(&l->closed_ns, since = now);
  if (l->has_tls && has_words(c, "wrong version number"))
    return weft__fail(WEFT_UNAUTHENTICATED,
                      "%s does not speak TLS, and this process does (WEFT_TLS_CERT is set here, but not there)", a);
  if (l->has_tls && (has_words(c, "certificate verify failed") || has_words(c, "is not in peer certificate")))
    return weft__fail(WEFT_UNAUTHENTICATED,
                      "%s: its certificate is not one of the CA in WEFT_TLS_CA, or is for another host", a);
  if (l->has_tls && closed && now - since > CLOSED_MS * INT64_C(1000000))
    return weft__fail(
        WEFT_UNAUTHENTICATED,
        "%s closes each connection during the TLS handshake: it does not accept this certificate (WEFT_TLS_CERT)", a);
  if (l->has_tls || !closed) return WEFT_OK;
  weft__probe_start(l->probe, l->target);
  if (!weft__probe_saw_tls(l->probe)) return WEFT_OK;
  return weft__fail(
      WEFT_UNAUTHENTICATED,
      "%s speaks TLS, and this process has no certificate (set WEFT_TLS_CERT, WEFT_TLS_KEY and WEFT_TLS_CA)", a);
}

/* gRPC's own words name neither the call nor the address. */
static weft_err raise_status(const out_call *c) {
  const char *text = (const char *)GRPC_SLICE_START_PTR(c->details), *address = c->line->address;
  int size = weft__int_sat(GRPC_SLICE_LENGTH(c->details));
  weft_err code = (int)c->code > WEFT_OK && (int)c->code <= WEFT_UNAUTHENTICATED ? (weft_err)c->code : WEFT_UNKNOWN;
  if (code == WEFT_UNKNOWN && size == 14 && memcmp(text, "Stream removed", 14) == 0) code = WEFT_UNAVAILABLE;
  if (code == WEFT_UNAVAILABLE) {
    WEFT_TRY(raise_refusal(c));
    return weft__fail(code, "%s: %.*s", address, size, text);
  }
  if (code == WEFT_DEADLINE_EXCEEDED && size == 17 && memcmp(text, "Deadline Exceeded", 17) == 0)
    return weft__fail(code, "%s: %s was not answered within %lld ms", address, c->method, (long long)c->timeout_ms);
  if (code == WEFT_UNIMPLEMENTED && size == 0)
    return weft__fail(code, "%s does not speak TensorFlow's protocol (%s)", address, c->method);
  return weft__fail(code, "%.*s", size, text);
}

static void free_call(out_call *c) {
  if (c->call) grpc_call_unref(c->call);
  if (c->request) grpc_byte_buffer_destroy(c->request);
  grpc_metadata_array_destroy(&c->initial);
  grpc_metadata_array_destroy(&c->trailing);
  grpc_slice_unref(c->details);
  weft__free(c);
}

static void unlist(out_call *c) {
  grpc_line *l = c->line;
  pthread_mutex_lock(&l->lock);
  c->prev->next = c->next;
  c->next->prev = c->prev;
  if (l->calls.next == &l->calls) pthread_cond_broadcast(&l->empty);
  pthread_mutex_unlock(&l->lock);
}

static void call_ended(void *arg, bool ok) {
  (void)ok; /* the status says it */
  out_call *c = arg;
  message reply = {0};
  bool cancelled = c->cancel && !weft__cancel_off(c->cancel, &c->watch);
  weft_err err = WEFT_OK;
  if (c->code == GRPC_STATUS_OK)
    err = weft__core_to_message(&reply, c->reply);
  else if (c->reply)
    grpc_byte_buffer_destroy(c->reply);
  if (c->code != GRPC_STATUS_OK)
    err = cancelled && c->code == GRPC_STATUS_CANCELLED ? weft__cancel_raise(c->cancel) : raise_status(c);
  answered = c->call;
  c->fn(c->arg, err, err == WEFT_OK ? &reply : NULL);
  answered = NULL;
  weft__message_finish(&reply);
  unlist(c); /* last: whoever destroys the line waits for the callback too */
  free_call(c);
}

/* ---- the beginning ---- */

static void cancel_call(void *arg) { grpc_call_cancel(((out_call *)arg)->call, NULL); }

static gpr_timespec deadline_of(int64_t timeout_ms) {
  if (timeout_ms <= 0) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(timeout_ms, GPR_TIMESPAN));
}

static grpc_call_error start_batch(out_call *c, bool wait_for_ready) {
  grpc_op op[6] = {{.op = GRPC_OP_SEND_INITIAL_METADATA},  {.op = GRPC_OP_SEND_MESSAGE},
                   {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT}, {.op = GRPC_OP_RECV_INITIAL_METADATA},
                   {.op = GRPC_OP_RECV_MESSAGE},           {.op = GRPC_OP_RECV_STATUS_ON_CLIENT}};
  if (wait_for_ready)
    op[0].flags = GRPC_INITIAL_METADATA_WAIT_FOR_READY | GRPC_INITIAL_METADATA_WAIT_FOR_READY_EXPLICITLY_SET;
  if (c->line->has_token) {
    c->token.key = grpc_slice_from_static_string("authorization");
    c->token.value = c->line->bearer;
    op[0].data.send_initial_metadata.count = 1;
    op[0].data.send_initial_metadata.metadata = &c->token;
  }
  op[1].data.send_message.send_message = c->request;
  op[3].data.recv_initial_metadata.recv_initial_metadata = &c->initial;
  op[4].data.recv_message.recv_message = &c->reply;
  op[5].data.recv_status_on_client.trailing_metadata = &c->trailing;
  op[5].data.recv_status_on_client.status = &c->code;
  op[5].data.recv_status_on_client.status_details = &c->details;
  return weft__core_start(c->call, op, 6, &c->ended);
}

static weft_err make_call(out_call **out, grpc_line *l, const char *method, message *request, const call_opts *opts) {
  size_t size = strlen(method) + 1;
  WEFT_TRY(weft__check_size(method, request->size));
  out_call *c = weft__alloc_zero(1, sizeof *c + size);
  if (!c) return WEFT_OOM;
  c->method = memcpy(c + 1, method, size);
  c->line = l;
  c->ended = (tag){.done = call_ended, .arg = c};
  c->cancel = opts->cancel;
  c->timeout_ms = opts->timeout_ms;
  c->details = grpc_empty_slice();
  grpc_metadata_array_init(&c->initial);
  grpc_metadata_array_init(&c->trailing);
  weft_err err = weft__core_from_message(&c->request, request);
  if (err == WEFT_OK) {
    grpc_slice path = grpc_slice_from_copied_string(method); /* outlives this struct in the core */
    c->call = grpc_channel_create_call(l->channel, NULL, 0, l->queue, path, NULL, deadline_of(c->timeout_ms), NULL);
    grpc_slice_unref(path);
  }
  if (err == WEFT_OK && c->cancel) err = weft__cancel_on(c->cancel, &c->watch, cancel_call, c);
  if (err == WEFT_OK)
    *out = c;
  else
    free_call(c);
  return err;
}

static void begin_call(line *base, const char *method, message *request, const call_opts *opts, rpc_callback *fn,
                       void *arg) {
  grpc_line *l = (grpc_line *)base;
  out_call *c = NULL;
  weft_err err = make_call(&c, l, method, request, opts);
  weft__message_finish(request);
  if (err != WEFT_OK) {
    fn(arg, err, NULL);
    return;
  }
  c->fn = fn, c->arg = arg;
  pthread_mutex_lock(&l->lock);
  c->next = &l->calls, c->prev = l->calls.prev;
  c->prev->next = c->next->prev = c;
  pthread_mutex_unlock(&l->lock);
  grpc_call_error failed = start_batch(c, opts->wait_for_ready);
  if (failed == GRPC_CALL_OK) return;
  c->code = GRPC_STATUS_INTERNAL;
  c->details = grpc_slice_from_static_string(grpc_call_error_to_string(failed));
  call_ended(c, false);
}

/* ---- the line ---- */

static void destroy_line(line *base) {
  grpc_line *l = (grpc_line *)base;
  pthread_mutex_lock(&l->lock);
  for (out_call *c = l->calls.next; c != &l->calls; c = c->next) grpc_call_cancel(c->call, NULL);
  while (l->calls.next != &l->calls) pthread_cond_wait(&l->empty, &l->lock);
  pthread_mutex_unlock(&l->lock);
  if (l->channel) grpc_channel_destroy(l->channel);
  if (l->queue) weft__core_release();
  pthread_cond_destroy(&l->empty);
  pthread_mutex_destroy(&l->lock);
  grpc_slice_unref(l->bearer);
  weft__probe_release(l->probe);
  weft__free(l->address);
  weft__free(l->target);
  weft__free(l);
}

static bool uses_tls(const security *s) { return s->certificate && s->key && s->ca; }

static grpc_channel_credentials *credentials(const security *s) {
  if (!uses_tls(s)) return grpc_insecure_credentials_create();
  grpc_ssl_pem_key_cert_pair pair = {s->key, s->certificate};
  return grpc_ssl_credentials_create(s->ca, &pair, NULL, NULL);
}

static void make_args(core_args *a, bool keepalive) {
  weft__core_args_common(a);
  weft__core_args_add(a, GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, RETRY_FIRST_MS);
  weft__core_args_add(a, GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, RETRY_LAST_MS);
  weft__core_args_add(a, GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, ATTEMPT_MS);
  weft__core_args_add(a, GRPC_ARG_ENABLE_HTTP_PROXY, 0); /* http_proxy is for the web, not for a cluster */
  weft__core_args_add(a, GRPC_ARG_ENABLE_RETRIES, 0);
  weft__core_args_add(a, GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1); /* a connection of its own */
  if (!keepalive) return;
  weft__core_args_add(a, GRPC_ARG_KEEPALIVE_TIME_MS, PING_EVERY_MS);
  weft__core_args_add(a, GRPC_ARG_KEEPALIVE_TIMEOUT_MS, DEAD_AFTER_MS);
  weft__core_args_add(a, GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  weft__core_args_add(a, GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0); /* 0: any number */
}

static void add_text(core_args *a, const char *key, const char *value) {
  a->arg[a->all.num_args++] =
      (grpc_arg){.type = GRPC_ARG_STRING, .key = (char *)(uintptr_t)key, .value.string = (char *)(uintptr_t)value};
  a->all.args = a->arg;
}

static weft_err open_channel(grpc_line *l, const char *host, const channel_opts *opts) {
  core_args args;
  make_args(&args, opts->keepalive);
  if (host) add_text(&args, GRPC_SSL_TARGET_NAME_OVERRIDE_ARG, host); /* what the certificate says */
  if (host) add_text(&args, GRPC_ARG_DEFAULT_AUTHORITY, l->address);
  WEFT_TRY(weft__core_retain(&l->queue));
  grpc_channel_credentials *how = credentials(&opts->security);
  if (!how)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s: the certificate, key or CA given for TLS cannot be read", l->address);
  l->channel = grpc_channel_create(l->target, how, &args.all);
  grpc_channel_credentials_release(how);
  return WEFT_OK;
}

weft_err weft__grpc_line_open(line **out, const char *target, const char *address, const char *host,
                              const channel_opts *opts) {
  static const line_kind kind = {begin_call, destroy_line};
  *out = NULL;
  grpc_line *l = weft__alloc_zero(1, sizeof *l);
  if (!l) return WEFT_OOM;
  l->base.kind = &kind;
  l->calls.next = l->calls.prev = &l->calls;
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->empty, NULL);
  l->bearer = weft__core_bearer(opts->security.token);
  l->has_token = opts->security.token != NULL;
  l->has_tls = uses_tls(&opts->security);
  l->address = weft__strdup(address);
  l->target = weft__strdup(target);
  if (!l->has_tls) l->probe = weft__probe_create();
  weft_err err = l->address && l->target && (l->has_tls || l->probe) ? open_channel(l, host, opts) : WEFT_OOM;
  if (err == WEFT_OK)
    *out = &l->base;
  else
    destroy_line(&l->base);
  return err;
}

line_state weft__grpc_line_state(line *base, bool connect) {
  grpc_line *l = (grpc_line *)base;
  grpc_connectivity_state s = grpc_channel_check_connectivity_state(l->channel, connect);
  return s == GRPC_CHANNEL_READY ? LINE_READY : s == GRPC_CHANNEL_TRANSIENT_FAILURE ? LINE_FAILED : LINE_CONNECTING;
}

bool weft__grpc_line_is_idle(line *base) {
  grpc_line *l = (grpc_line *)base;
  pthread_mutex_lock(&l->lock);
  bool idle = l->calls.next == &l->calls;
  pthread_mutex_unlock(&l->lock);
  return idle;
}

/* ---- addresses ---- */

/* "host:port" and "[host]:port" apart. */
static bool split(const char *address, char *host, size_t room, int *number) {
  const char *colon = strrchr(address, ':'), *first = address;
  size_t n = colon ? (size_t)(colon - address) : 0;
  if (n > 2 && address[0] == '[' && colon[-1] == ']') first++, n -= 2;
  if (!n || n >= room) return false;
  memcpy(host, first, n);
  host[n] = 0;
  char *end;
  long v = strtol(colon + 1, &end, 10);
  if (end == colon + 1 || *end || v < 0 || v > 65535) return false;
  *number = weft__int_sat(v);
  return true;
}

/* An address in numbers, or localhost, needs no resolver; *name: the host is a name.  NULL: no memory, or a name. */
static char *target_of(const char *host, int number, bool *name) {
  struct in6_addr bytes;
  char plain[256];
  const char *scope = strchr(host, '%');
  *name = false;
  snprintf(plain, sizeof plain, "%.*s", weft__int_sat(scope ? scope - host : (ptrdiff_t)strlen(host)), host);
  if (strcmp(host, "localhost") == 0) return weft__sprintf("ipv4:127.0.0.1:%d", number);
  if (inet_pton(AF_INET, host, &bytes) == 1) return weft__sprintf("ipv4:%s:%d", host, number);
  if (inet_pton(AF_INET6, plain, &bytes) == 1)
    return weft__sprintf("ipv6:[%s%s%s]:%d", plain, scope ? "%25" : "", scope ? scope + 1 : "", number);
  *name = true;
  return NULL;
}

weft_err weft__grpc_connect(line **out, const char *address, const channel_opts *opts) {
  char host[256];
  int number;
  bool name;
  *out = NULL;
  if (!split(address, host, sizeof host, &number))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Could not interpret \"%s\" as a host-port pair.", address);
  char *target = target_of(host, number, &name);
  if (name) return weft__named_line_open(out, address, host, number, opts);
  if (!target) return WEFT_OOM;
  weft_err err = weft__grpc_line_open(out, target, address, strcmp(host, "localhost") == 0 ? host : NULL, opts);
  weft__free(target);
  return err;
}
#endif
