/* http.c - libmicrohttpd behind three functions: who is authorized, what may be requested, and the headers that keep
 * a page from loading or sending anything elsewhere.
 *
 * A client may send its request as slowly as it likes.  So connections are limited in number, and the oldest is
 * evicted: libmicrohttpd itself would stop accepting at its limit, and could not be stopped then.
 *
 * The library is loaded when the first server listens: with its own dependencies it would be a tenth of the memory
 * of an idle ps.  Its functions are process-wide; net/transport.h says why.
 *
 * Lock: the server's, over its list of connections; under it one is shut down, which does not wait. */
#include "net/http.h"

#include "base/alloc.h"
#include "net/internal.h"
#include <string.h>

#ifdef WEFT_HAVE_MICROHTTPD
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

enum {
  IDLE_TIMEOUT_S = 20,
  CONNECTIONS_MAX = 64,
  CONNECTIONS_CLOSING = 8 /* evicted, and not closed by the library yet */
};

struct http {
  struct MHD_Daemon *daemon;
  http_handler *fn;
  void *arg;
  char *token;
  bool only_local;
  pthread_mutex_t lock;      /* guards what follows */
  int open[CONNECTIONS_MAX]; /* sockets, the oldest first; the library closes one only after http_on_connection */
  int n_open;
};

/* ---- the library ---- */

#define MHD_FUNCTIONS(X)                                                                                               \
  X(start_daemon)                                                                                                      \
  X(stop_daemon)                                                                                                       \
  X(get_daemon_info)                                                                                                   \
  X(get_connection_info)                                                                                               \
  X(lookup_connection_value)                                                                                           \
  X(create_response_from_buffer)                                                                                       \
  X(add_response_header)                                                                                               \
  X(queue_response)                                                                                                    \
  X(destroy_response)

static struct {
  pthread_once_t once;
  char missing[200]; /* why the library cannot be used; "": it can */
#define DECLARE(f) __typeof__ (&MHD_##f)(f);
  MHD_FUNCTIONS(DECLARE)
} mhd = {.once = PTHREAD_ONCE_INIT};

static void mhd_load(void) {
  void *library = dlopen(WEFT_MICROHTTPD_FILE, RTLD_NOW | RTLD_LOCAL); /* never unloaded */
#define FIND(f)                                                                                                        \
  if (library && !(*(void **)&mhd.f = dlsym(library, "MHD_" #f))) library = NULL;
  MHD_FUNCTIONS(FIND)
  if (!library) snprintf(mhd.missing, sizeof mhd.missing, "%s", dlerror());
}

/* ---- authorization ---- */

static bool http_token_matches(const http *h, const char *given) {
  return given && weft__rpc_tokens_equal(h->token, strlen(h->token), given, strlen(given));
}

static bool http_is_authorized(const http *h, struct MHD_Connection *c) {
  static const char bearer[] = "Bearer ";
  const char *header = mhd.lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
  if (!h->token) return true;
  if (header && strncmp(header, bearer, sizeof bearer - 1) == 0 && http_token_matches(h, header + sizeof bearer - 1))
    return true;
  return http_token_matches(h, mhd.lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token"));
}

/* Accepts "localhost:80", "127.0.0.1", "[::1]:80", and no name at all, since every browser sends one. */
static bool http_is_local_host(struct MHD_Connection *c) {
  static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
  const char *name = mhd.lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
  for (int i = 0; name && i < 3; i++) {
    const size_t n = strlen(names[i]);
    if (strncmp(name, names[i], n) == 0 && (name[n] == 0 || name[n] == ':')) return true;
  }
  return !name;
}

/* ---- responses ---- */

static enum MHD_Result http_send_response(struct MHD_Connection *c, http_response *r) {
  static const char *const headers[][2] = {
      {"Cache-Control", "no-store"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                                  "connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'"},
  };
  struct MHD_Response *response =
      mhd.create_response_from_buffer(r->body.size, (void *)(uintptr_t)weft__text_get(&r->body), MHD_RESPMEM_MUST_COPY);
  if (!response) return MHD_NO;
  mhd.add_response_header(response, "Content-Type", r->type);
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
    mhd.add_response_header(response, headers[i][0], headers[i][1]);
  if (r->code == MHD_HTTP_UNAUTHORIZED) mhd.add_response_header(response, "WWW-Authenticate", "Bearer");
  enum MHD_Result sent = mhd.queue_response(c, (unsigned)r->code, response);
  mhd.destroy_response(response);
  return sent;
}

static void http_refuse(http_response *r, int code, const char *why) {
  r->code = code;
  weft__text_puts(&r->body, why);
}

static enum MHD_Result http_handle_request(void *arg, struct MHD_Connection *c, const char *path, const char *method,
                                           const char *version, const char *data, size_t *size, void **state) {
  http *h = arg;
  http_response r = {.code = MHD_HTTP_OK, .type = "text/plain; charset=utf-8"};
  (void)version, (void)data, (void)size, (void)state;
  if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
    http_refuse(&r, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are supported\n");
  else if (h->only_local && !http_is_local_host(c))
    http_refuse(&r, MHD_HTTP_FORBIDDEN, "this page is for this host only: open it as localhost\n");
  else if (!http_is_authorized(h, c))
    http_refuse(&r, MHD_HTTP_UNAUTHORIZED,
                "this cluster asks for a token: Authorization: Bearer TOKEN, or ?token=TOKEN in the address\n");
  else
    h->fn(h->arg, path, &r);
  enum MHD_Result sent = http_send_response(c, &r);
  weft__text_finish(&r.body);
  return sent;
}

/* ---- connections ---- */

static void http_forget_connection(http *h, int i) {
  memmove(&h->open[i], &h->open[i + 1], (size_t)(--h->n_open - i) * sizeof h->open[0]);
}

/* The library has accepted a connection, or is about to close one. */
static void http_on_connection(void *arg, struct MHD_Connection *c, void **context,
                               enum MHD_ConnectionNotificationCode what) {
  http *h = arg;
  (void)context;
  const union MHD_ConnectionInfo *info = mhd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (!info) return;
  pthread_mutex_lock(&h->lock);
  for (int i = 0; what == MHD_CONNECTION_NOTIFY_CLOSED && i < h->n_open; i++)
    if (h->open[i] == info->connect_fd) http_forget_connection(h, i);
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    if (h->n_open == CONNECTIONS_MAX) {
      shutdown(h->open[0], SHUT_RDWR);
      http_forget_connection(h, 0);
    }
    h->open[h->n_open++] = info->connect_fd;
  }
  pthread_mutex_unlock(&h->lock);
}

/* ---- listening ---- */

/* Errors of libmicrohttpd are read from its return codes, not from its log. */
static void http_ignore_log(void *arg, const char *format, va_list args) { (void)arg, (void)format, (void)args; }

static bool http_make_address(struct sockaddr_storage *at, const http_opts *o) {
  struct sockaddr_in *four = (struct sockaddr_in *)at;
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)at;
  if (inet_pton(AF_INET, o->host, &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons((uint16_t)o->port);
    return true;
  }
  six->sin6_family = AF_INET6;
  six->sin6_port = htons((uint16_t)o->port);
  return inet_pton(AF_INET6, o->host, &six->sin6_addr) == 1;
}

weft_err weft__http_listen(http **out, const http_opts *o, http_handler *fn, void *arg) {
  struct sockaddr_storage at = {0};
  pthread_once(&mhd.once, mhd_load);
  if (mhd.missing[0]) return weft__fail(WEFT_UNIMPLEMENTED, "%s:%d: %s", o->host, o->port, mhd.missing);
  if (!http_make_address(&at, o))
    return weft__fail(WEFT_INVALID_ARGUMENT, "cannot listen on %s: not a numeric address", o->host);
  http *h = weft__alloc_zero(1, sizeof *h);
  if (!h) return WEFT_OOM;
  h->fn = fn, h->arg = arg, h->only_local = o->only_local;
  pthread_mutex_init(&h->lock, NULL);
  if (o->token && !(h->token = weft__strdup(o->token))) return weft__http_close(h), WEFT_OOM;
  unsigned flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG;
  if (at.ss_family == AF_INET6) flags |= MHD_USE_IPv6;
  errno = 0;
  h->daemon = mhd.start_daemon(flags, 0, NULL, NULL, http_handle_request, h, MHD_OPTION_EXTERNAL_LOGGER,
                               http_ignore_log, NULL, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&at,
                               MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_TIMEOUT_S, MHD_OPTION_CONNECTION_LIMIT,
                               (unsigned)(CONNECTIONS_MAX + CONNECTIONS_CLOSING), MHD_OPTION_NOTIFY_CONNECTION,
                               http_on_connection, h, MHD_OPTION_END);
  if (h->daemon) return *out = h, WEFT_OK;
  weft_err err = weft__fail(WEFT_UNAVAILABLE, "%s:%d: %s", o->host, o->port, strerror(errno ? errno : EADDRINUSE));
  weft__http_close(h);
  return err;
}

int weft__http_port(const http *h) {
  const union MHD_DaemonInfo *info = mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}

void weft__http_close(http *h) {
  if (!h) return;
  if (h->daemon) mhd.stop_daemon(h->daemon);
  pthread_mutex_destroy(&h->lock);
  weft__free(h->token);
  weft__free(h);
}

#else

weft_err weft__http_listen(http **out, const http_opts *o, http_handler *fn, void *arg) {
  (void)out, (void)fn, (void)arg;
  return weft__fail(WEFT_UNIMPLEMENTED, "%s:%d: this Weft was built without libmicrohttpd", o->host, o->port);
}

int weft__http_port(const http *h) { return h ? 0 : 0; }
void weft__http_close(http *h) { (void)h; }

#endif
