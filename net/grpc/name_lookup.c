/* name_lookup.c - getaddrinfo on detached threads, since it can neither be cancelled nor given a deadline. */
#include "net/grpc/name_lookup.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/text.h"
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

struct lookup {
  lookup *next;
  int refs; /* the thread's, and of those who asked */
  bool done;
  resolved result;
  int number;
  char host[]; /* what follows is guarded by the lock above */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list, and refs, done and result of all */
static lookup *running;

void weft__resolved_finish(resolved *r) {
  for (int i = 0; i < r->n; i++) weft__free(r->target[i]);
  *r = (resolved){0};
}

/* ---- what getaddrinfo says, as targets ---- */

/* gRPC reads a target as a URI: the '%' of a scope is escaped. */
static void add_address(text *to, const struct addrinfo *a, int number) {
  char host[128] = "";
  if (getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST) != 0) return;
  if (a->ai_family == AF_INET) {
    weft__text_printf(to, "%s%s:%d", to->size ? "," : "ipv4:", host, number);
    return;
  }
  char *scope = strchr(host, '%');
  if (scope) *scope++ = 0;
  weft__text_printf(to, "%s[%s%s%s]:%d", to->size ? "," : "ipv6:", host, scope ? "%25" : "", scope ? scope : "",
                    number);
}

/* The family that the system prefers comes first. */
static void make_targets(resolved *r, const struct addrinfo *found, int number) {
  const int first = found->ai_family, family[RESOLVE_FAMILIES] = {first, first == AF_INET ? AF_INET6 : AF_INET};
  for (int i = 0; i < RESOLVE_FAMILIES; i++) {
    text t = {0};
    for (const struct addrinfo *a = found; a; a = a->ai_next)
      if (a->ai_family == family[i]) add_address(&t, a, number);
    if (t.size && !t.failed && (r->target[r->n] = weft__strdup(t.data))) r->n++;
    weft__text_finish(&t);
  }
  if (!r->n) snprintf(r->why, sizeof r->why, "no address of a known family");
}

static void look_up(resolved *r, const char *host, int number) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  int failed = getaddrinfo(host, NULL, &hints, &found);
  if (failed)
    snprintf(r->why, sizeof r->why, "%s", gai_strerror(failed));
  else
    make_targets(r, found, number);
  if (found) freeaddrinfo(found);
}

/* ---- lookups ---- */

/* With the lock held. */
static void drop(lookup *l) {
  if (--l->refs) return;
  weft__resolved_finish(&l->result);
  weft__free(l);
}

static void *run_lookup(void *arg) {
  lookup *l = arg;
  resolved r = {0};
  look_up(&r, l->host, l->number);
  pthread_mutex_lock(&lock);
  l->result = r;
  l->done = true;
  for (lookup **at = &running; *at; at = &(*at)->next)
    if (*at == l) {
      *at = l->next;
      break;
    }
  drop(l);
  pthread_mutex_unlock(&lock);
  return NULL;
}

static lookup *start_lookup(const char *host, int number) {
  pthread_t thread;
  size_t size = strlen(host) + 1;
  lookup *l = weft__alloc_zero(1, sizeof *l + size);
  if (!l) return NULL;
  memcpy(l->host, host, size);
  l->number = number;
  l->refs = 2;
  if (pthread_create(&thread, NULL, run_lookup, l) != 0) {
    weft__free(l);
    return NULL;
  }
  pthread_detach(thread);
  l->next = running;
  running = l;
  return l;
}

lookup *weft__lookup_begin(const char *host, int number) {
  pthread_mutex_lock(&lock); /* the thread cannot end before it is listed */
  lookup *l = running;
  while (l && (strcmp(l->host, host) != 0 || l->number != number)) l = l->next;
  if (l)
    l->refs++;
  else
    l = start_lookup(host, number);
  pthread_mutex_unlock(&lock);
  return l;
}

bool weft__lookup_done(lookup *l, resolved *out) {
  *out = (resolved){0};
  pthread_mutex_lock(&lock);
  bool done = l->done;
  for (int i = 0; done && i < l->result.n; i++)
    if ((out->target[out->n] = weft__strdup(l->result.target[i]))) out->n++;
  memcpy(out->why, l->result.why, sizeof out->why);
  pthread_mutex_unlock(&lock);
  return done;
}

void weft__lookup_release(lookup *l) {
  if (!l) return;
  pthread_mutex_lock(&lock);
  drop(l);
  pthread_mutex_unlock(&lock);
}
#endif
