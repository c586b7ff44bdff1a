/* server.h - one task of a cluster, listening: the master, the worker and the membership behind one port. */
#ifndef WEFT_DIST_SERVER_H
#define WEFT_DIST_SERVER_H

#include "dist/master.h"

typedef struct weft_server weft_server;

typedef struct server_opts {
  const char *job;
  int task;
  const char *bind; /* "host:port" to listen on when the listed address cannot be bound; NULL: from the cluster */
  security security;
  session_opts session; /* default for sessions of other processes */
  bool serve;           /* a bare task: join never returns by itself */
} server_opts;

weft_err weft__server_create(weft_server **out, const cluster *c, const server_opts *opts);
weft_err weft__server_start(weft_server *s);
weft_err weft__server_join(weft_server *s);
void weft__server_destroy(weft_server *s);
const char *weft__server_target(const weft_server *s); /* "grpc://localhost:2222" */
master *weft__server_master(weft_server *s);
/* A server of this process that has this target, or NULL: its sessions need no wire. */
weft_server *weft__server_at(const char *target);

/* client.c: a session on a server of another process. */
weft_err weft__client_open(weft_session **out, const char *target, weft_graph *g, const session_opts *opts,
                           const security *s);

#endif
