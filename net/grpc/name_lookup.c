/* name_lookup.c - getaddrinfo on detached threads, since it can neither be canceled nor given a deadline.
 *
 * A lookup is reference-counted: its thread holds one reference, each caller another.  The list of running lookups is
 * process-wide; net/transport.h says why.  lookups_lock guards the list and the results.  A thread is started while it
 * is held, so that a second caller of the same name finds the lookup in the list. */
#include "net/grpc/name_lookup.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/text.h"
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

struct name_lookup {
  name_lookup *next;
  int refs; /* guarded by lookups_lock, as are next, done and result */
  bool done;
  lookup_result result;
  int port;
  char host[];
};

static pthread_mutex_t lookups_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list and what it links */
static name_lookup *lookups_running;

void weft__lookup_result_finish(lookup_result *r) {
  for (int i = 0; i < r->n; i++) weft__free(r->target[i]);
  *r = (lookup_result){0};
}

/* ---- from getaddrinfo's result to gRPC's targets ---- */

/* Adds an address.  gRPC parses a target as a URI, so the '%' of a scope is escaped. */
static void target_add_address(text *to, const struct addrinfo *a, int port) {
  char host[128] = "";
  if (getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST) != 0) return;
  if (a->ai_family == AF_INET) {
    weft__text_printf(to, "%s%s:%d", to->size ? "," : "ipv4:", host, port);
    return;
  }
  char *scope = strchr(host, '%');
  if (scope) *scope++ = 0;
  weft__text_printf(to, "%s[%s%s%s]:%d", to->size ? "," : "ipv6:", host, scope ? "%25" : "", scope ? scope : "", port);
}

/* Makes a target for each family; the one that the system prefers comes first. */
static void lookup_result_make_targets(lookup_result *r, const struct addrinfo *found, int port) {
  const int first = found->ai_family, family[RESOLVE_FAMILIES] = {first, first == AF_INET ? AF_INET6 : AF_INET};
  for (int i = 0; i < RESOLVE_FAMILIES; i++) {
    text t = {0};
    for (const struct addrinfo *a = found; a; a = a->ai_next)
      if (a->ai_family == family[i]) target_add_address(&t, a, port);
    if (t.size && !t.failed && (r->target[r->n] = weft__strdup(t.data))) r->n++;
    weft__text_finish(&t);
  }
  if (!r->n) snprintf(r->why, sizeof r->why, "no address of a known family");
}

static void lookup_result_resolve(lookup_result *r, const char *host, int port) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  int failed = getaddrinfo(host, NULL, &hints, &found);
  if (failed)
    snprintf(r->why, sizeof r->why, "%s", gai_strerror(failed));
  else
    lookup_result_make_targets(r, found, port);
  if (found) freeaddrinfo(found);
}

/* ---- lookups ---- */

/* Drops a reference.  The caller holds the lock. */
static void name_lookup_drop(name_lookup *l) {
  if (--l->refs) return;
  weft__lookup_result_finish(&l->result);
  weft__free(l);
}

static void *name_lookup_thread(void *arg) {
  name_lookup *l = arg;
  lookup_result r = {0};
  lookup_result_resolve(&r, l->host, l->port);
  pthread_mutex_lock(&lookups_lock);
  l->result = r;
  l->done = true;
  for (name_lookup **at = &lookups_running; *at; at = &(*at)->next)
    if (*at == l) {
      *at = l->next;
      break;
    }
  name_lookup_drop(l);
  pthread_mutex_unlock(&lookups_lock);
  return NULL;
}

static name_lookup *name_lookup_create(const char *host, int port) {
  pthread_t thread;
  size_t size = strlen(host) + 1;
  name_lookup *l = weft__alloc_zero(1, sizeof *l + size);
  if (!l) return NULL;
  memcpy(l->host, host, size);
  l->port = port;
  l->refs = 2;
  if (pthread_create(&thread, NULL, name_lookup_thread, l) != 0) {
    weft__free(l);
    return NULL;
  }
  pthread_detach(thread);
  l->next = lookups_running;
  lookups_running = l;
  return l;
}

name_lookup *weft__name_lookup_start(const char *host, int port) {
  pthread_mutex_lock(&lookups_lock); /* also so that the thread cannot end before it is in the list */
  name_lookup *l = lookups_running;
  while (l && (strcmp(l->host, host) != 0 || l->port != port)) l = l->next;
  if (l)
    l->refs++;
  else
    l = name_lookup_create(host, port);
  pthread_mutex_unlock(&lookups_lock);
  return l;
}

bool weft__name_lookup_result(name_lookup *l, lookup_result *out) {
  *out = (lookup_result){0};
  pthread_mutex_lock(&lookups_lock);
  bool done = l->done;
  for (int i = 0; done && i < l->result.n; i++)
    if ((out->target[out->n] = weft__strdup(l->result.target[i]))) out->n++;
  memcpy(out->why, l->result.why, sizeof out->why);
  pthread_mutex_unlock(&lookups_lock);
  return done;
}

void weft__name_lookup_release(name_lookup *l) {
  if (!l) return;
  pthread_mutex_lock(&lookups_lock);
  name_lookup_drop(l);
  pthread_mutex_unlock(&lookups_lock);
}
#endif
