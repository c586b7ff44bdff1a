/* staging.h - staging areas: tuples of tensors that wait between two parts of a graph, in the order of arrival or by
 * key.
 *
 * A request that cannot be served yet waits without a thread, and its step's token cancels it.  Any thread may call
 * these functions; a staging area is a reference-counted resource. */
#ifndef WEFT_STATE_STAGING_H
#define WEFT_STATE_STAGING_H

#include "state/resource.h"

typedef enum staging_kind { STAGING_FIFO, STAGING_MAP, STAGING_ORDERED_MAP } staging_kind;

#define STAGING_TYPE "staging area"

typedef struct staging_spec {
  staging_kind kind;
  int n;                          /* tensors in a tuple; 0: not known before the first put */
  int64_t capacity, memory_limit; /* tuples, and bytes; 0: no limit */
} staging_spec;

typedef struct staging staging;

/* The kinds of requests.  Tuples are numbered from 0 in a FIFO; in a map they have keys. */
typedef enum staging_act { STAGING_PUT, STAGING_TAKE, STAGING_TAKE_ANY, STAGING_PEEK } staging_act;

typedef struct staging_request {
  staging_act act;
  int64_t key;                    /* or the number to peek at */
  int n;                          /* tensors that are put or wanted */
  const int32_t *index;           /* their positions in the tuple; NULL: 0, 1, ... */
  const weft_tensor *const *part; /* PUT: borrowed for the call */
} staging_request;

/* Called once, when the request was served or canceled.  got: n tensors, borrowed for the call; key: that of the
 * tuple. */
typedef void staging_fn(void *arg, weft_err err, const weft_tensor *got, int64_t key);

weft_err weft__staging_create(staging **out, const staging_spec *spec); /* the caller owns the one reference */
/* Borrowed from s.  All but `n` is constant; read `n` after weft__staging_set_size has returned. */
const staging_spec *weft__staging_spec(const staging *s);
/* Stores the size of a tuple where it was not known.  Returns INVALID_ARGUMENT if it is another one. */
weft_err weft__staging_set_size(staging *s, int n);
/* Submits a request, which is copied.  It is served at once if possible; otherwise it waits until a later request makes
 * that possible, or until c fires.  fn is called exactly once, on any thread, without a lock, perhaps before this
 * returns.  Its error is INVALID_ARGUMENT if the request does not fit the area, RESOURCE_EXHAUSTED, or the one that
 * fired c. */
void weft__staging_submit(staging *s, const staging_request *r, cancel *c, staging_fn *fn, void *arg);
int64_t weft__staging_size(staging *s, bool incomplete); /* tuples that are complete, or those that are not */
void weft__staging_clear(staging *s);

#endif
