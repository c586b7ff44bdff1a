/* open.h - a session by its target: this process, a server of this process, or one elsewhere; and with which secrets. */
#ifndef WEFT_CLUSTER_OPEN_H
#define WEFT_CLUSTER_OPEN_H

#include "exec/session.h"
#include "net/rpc.h"

/* opts may be NULL.  Reports the graph's sticky error, if any. */
weft_err weft__session_open(weft_session **out, weft_graph *g, const weft_session_opts *opts);
weft_err weft__session_open_as(weft_session **out, weft_graph *g, const weft_session_opts *opts, session_role role);

/* The token and PEM texts to be used: those given, else the environment's.  Paths are files to read. */
typedef struct credentials {
  security security; /* of the texts below */
  char *token, *certificate, *key, *ca;
} credentials;
weft_err weft__credentials_find(credentials *out, const char *token, const char *cert, const char *key, const char *ca);
void weft__credentials_finish(credentials *c);

#endif
