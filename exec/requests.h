/* requests.h - a table from requests (feeds, fetches and targets) to the plans that were made for them.
 *
 * Requests are compared by value.  Entries stay until the owner is destroyed, because a graph only grows: a plan that
 * was right stays right.  Not thread safe: the owner's lock guards the table. */
#ifndef WEFT_EXEC_REQUESTS_H
#define WEFT_EXEC_REQUESTS_H

#include "exec/plan.h"

enum { REQUEST_BUCKETS = 256 };

typedef struct request_entry {
  uint64_t hash;
  plan_request request; /* its own copy of the lists */
  void *made;
  struct request_entry *next;
} request_entry;

typedef struct requests {
  request_entry *bucket[REQUEST_BUCKETS];
} requests;

/* The hash and the comparison read the lists, in their order: equal requests have equal hashes. */
uint64_t weft__request_hash(const plan_request *r);
bool weft__request_equal(const plan_request *a, const plan_request *b);
/* Copies the lists of a request; *out is {0} if this fails. */
weft_err weft__request_copy(plan_request *out, const plan_request *r);
void weft__request_finish(plan_request *r);                                         /* frees the lists of a copy */
void *weft__requests_find(const requests *t, uint64_t hash, const plan_request *r); /* what was made; NULL if nothing */
/* Adds an entry with a copy of the lists and nothing made yet. */
weft_err weft__requests_add(requests *t, uint64_t hash, const plan_request *r, request_entry **out);
void weft__requests_drop(requests *t, request_entry *e); /* the one added last in its bucket: making failed */
void weft__requests_finish(requests *t, void (*destroy)(void *made));

#endif
