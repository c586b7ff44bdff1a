/* open.h - opens a session by its target, and finds the credentials for it.
 *
 * The target is this process (none), a server of this process, or a server elsewhere ("grpc://host:port"). */
#ifndef WEFT_CLUSTER_OPEN_H
#define WEFT_CLUSTER_OPEN_H

#include "exec/session.h"
#include "net/rpc.h"

/* Opens a session that the caller destroys; the graph outlives it.  opts may be NULL.  Returns the graph's sticky
 * error, if it has one.  Does not wait for other tasks. */
weft_err weft__session_open(weft_session **out, weft_graph *g, const weft_session_opts *opts);
/* The same for a session with a role in a supervised job. */
weft_err weft__session_open_as(weft_session **out, weft_graph *g, const weft_session_opts *opts, session_role role);

/* Returns the value that the program gave or, if it gave none (NULL), that of the environment variable; NULL if the
 * value is empty.  So a program can override the environment with "".  The result is borrowed. */
const char *weft__open_given_or_env(const char *given, const char *name);

typedef struct credentials {
  security security; /* points at the texts below */
  char *token, *certificate, *key, *ca;
} credentials;
/* Reads the token and the PEM files.  An argument that is NULL is taken from the environment (WEFT_TOKEN or
 * WEFT_TOKEN_FILE, WEFT_TLS_CERT, WEFT_TLS_KEY, WEFT_TLS_CA); "" means none.  cert, key and ca are paths.  The caller
 * finishes *out, which is empty after an error. */
weft_err weft__credentials_find(credentials *out, const char *token, const char *cert, const char *key, const char *ca);
void weft__credentials_finish(credentials *c);

#endif
