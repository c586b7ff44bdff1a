/* cluster.h - a program's cluster: the one of dist/ under a public name. */
#ifndef WEFT_API_CLUSTER_H
#define WEFT_API_CLUSTER_H

#include "dist/cluster.h"
#include "net/rpc.h"

struct weft_cluster {
  cluster all;
};

/* The token and PEM texts to be used: those given, else the environment's.  Paths are files to read. */
typedef struct credentials {
  security security; /* of the texts below */
  char *token, *certificate, *key, *ca;
} credentials;
weft_err weft__credentials_find(credentials *out, const char *token, const char *cert, const char *key, const char *ca);
void weft__credentials_finish(credentials *c);

#endif
