/* name_lookup.h - resolves host names by the system's resolver: /etc/hosts, DNS, whatever nsswitch.conf says.
 *
 * gRPC's own resolver asks DNS for addresses of both families and waits for both, also for names of /etc/hosts.
 *
 * Functions may be called on any thread and do not wait. */
#ifndef WEFT_NET_GRPC_NAME_LOOKUP_H
#define WEFT_NET_GRPC_NAME_LOOKUP_H

#include "net/grpc/core.h"

#ifdef WEFT_HAVE_GRPC
enum { RESOLVE_FAMILIES = 2 };
typedef struct lookup_result {
  int n;                          /* targets; 0: the name was not resolved */
  char *target[RESOLVE_FAMILIES]; /* "ipv4:10.0.0.1:2222,10.0.0.2:2222", one for each family */
  char why[128];                  /* it was not resolved */
} lookup_result;
/* Frees the targets; r is not used afterwards. */
void weft__lookup_result_finish(lookup_result *r);

typedef struct name_lookup name_lookup;
/* Looks a name up on a thread of its own, which may take long.  Callers that want the same name at the same time share
 * one lookup.  The caller releases it.  NULL: no memory, or no thread. */
name_lookup *weft__name_lookup_start(const char *host, int port);
/* Returns true if the lookup has ended, and copies its result to *out, which the caller finishes.  Otherwise *out is
 * empty.  A target that there was no memory to copy is missing. */
bool weft__name_lookup_result(name_lookup *l, lookup_result *out);
void weft__name_lookup_release(name_lookup *l); /* NULL is fine */
#endif

#endif
