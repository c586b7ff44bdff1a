/* http.h - a small HTTP server for pages that people and Prometheus read.  GET only: nothing can be changed by it.
 *
 * Where the build has no libmicrohttpd, listening fails with UNIMPLEMENTED. */
#ifndef WEFT_NET_HTTP_H
#define WEFT_NET_HTTP_H

#include "base/status.h"
#include "base/text.h"

typedef struct http http;

typedef struct http_reply {
  int code;         /* 200, 404 */
  const char *type; /* "text/html; charset=utf-8": a literal */
  text body;        /* the server's to finish */
} http_reply;
/* Fills in the answer to a path ("/metrics").  Called on the server's thread, one at a time; may wait a little. */
typedef void http_handler(void *arg, const char *path, http_reply *reply);

typedef struct http_opts {
  const char *host;  /* "127.0.0.1", "::1", "0.0.0.0": a number */
  int port;          /* 0: any free one */
  const char *token; /* asked for as "Authorization: Bearer TOKEN" or "?token=TOKEN"; NULL: none */
  bool only_local;   /* names of other hosts are refused, so that no web page can ask through a browser of this one */
} http_opts;
weft_err weft__http_listen(http **out, const http_opts *opts, http_handler *fn, void *arg); /* strings are copied */
int weft__http_port(const http *h);
void weft__http_close(http *h); /* waits for a handler that runs; NULL is fine */

#endif
