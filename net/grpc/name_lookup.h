/* name_lookup.h - host names by the system's resolver: /etc/hosts, DNS, whatever nsswitch.conf says.
 *
 * gRPC's own asks DNS for addresses of both families and waits for both, also for names of /etc/hosts. */
#ifndef WEFT_NET_GRPC_NAME_LOOKUP_H
#define WEFT_NET_GRPC_NAME_LOOKUP_H

#include "net/grpc/core.h"

#ifdef WEFT_HAVE_GRPC
enum { RESOLVE_FAMILIES = 2 };
typedef struct resolved {
  int n;                          /* of the next; 0: the name was not resolved */
  char *target[RESOLVE_FAMILIES]; /* "ipv4:10.0.0.1:2222,10.0.0.2:2222", a target of gRPC for each family */
  char why[128];                  /* it was not */
} resolved;
void weft__resolved_finish(resolved *r);

typedef struct lookup lookup;
/* Looks a name up on a thread of its own, which may take long.  There is one for a name at a time: who asks while it
 * runs shares it.  NULL: no memory, or no thread. */
lookup *weft__lookup_begin(const char *host, int number);
bool weft__lookup_done(lookup *l, resolved *out); /* *out is a copy; false: not yet */
void weft__lookup_release(lookup *l);             /* NULL is fine; does not wait */
#endif

#endif
