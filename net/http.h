/* http.h - a small HTTP server for pages that people and Prometheus read.  GET only: nothing can be changed through it.
 *
 * In a build without libmicrohttpd, listening fails with UNIMPLEMENTED.  Functions may be called on any thread. */
#ifndef WEFT_NET_HTTP_H
#define WEFT_NET_HTTP_H

#include "base/status.h"
#include "base/text.h"

typedef struct http http;

typedef struct http_response {
  int code;         /* 200, 404 */
  const char *type; /* "text/html; charset=utf-8": a literal */
  text body;        /* the server finishes it */
} http_response;
/* Fills in the response to a path ("/metrics").  Called on the server's thread, one at a time; may block for a
 * second or two. */
typedef void http_handler(void *arg, const char *path, http_response *response);

typedef struct http_opts {
  const char *host;  /* a numeric address: "127.0.0.1", "::1", "0.0.0.0" */
  int port;          /* 0: any free one */
  const char *token; /* required as "Authorization: Bearer TOKEN" or "?token=TOKEN"; NULL: none */
  bool only_local;   /* a Host header of another host is refused, so that no web page can use a browser on this host */
} http_opts;
/* Strings are copied.  UNAVAILABLE: the address cannot be used; INVALID_ARGUMENT: it is not numeric. */
weft_err weft__http_listen(http **out, const http_opts *opts, http_handler *fn, void *arg);
int weft__http_port(const http *h);
void weft__http_close(http *h); /* waits for a handler that runs, so not in one; NULL is fine */

#endif
