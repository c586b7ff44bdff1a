/* dataset.h - data sets: descriptions of where elements come from, and iterators that bring them.
 *
 * A variant holds a data set; it never changes.  An iterator walks one once, from front to back, and has the iterators
 * of its inputs below it.  An element is a fixed number of tensors (parts).  What each kind of data set does is in
 * ops/dataset_*.c.
 *
 * One thread at a time asks an iterator.  `next` runs on behalf of a step: the program's, or that of the pass when
 * a thread of the pipeline works ahead.  Waits end when that step is cancelled, too late or interrupted; the
 * iterator can be asked again afterwards. */
#ifndef WEFT_STATE_DATASET_H
#define WEFT_STATE_DATASET_H

#include "graph/function.h"
#include "state/variant.h"

#define DATASET_TYPE "data set"

typedef struct dataset dataset;
typedef struct iterator iterator;

typedef struct dataset_kind {
  const char *name;
  size_t size, iterator_size;      /* of the structs whose first member is a dataset or an iterator */
  void (*destroy)(dataset *d);     /* optional: what the kind keeps */
  weft_err (*begin)(iterator *it); /* optional: the rest of the struct is zero; inputs are not begun */
  /* out: n_part empty tensors to be filled.  After *end there is nothing more, however often it is asked. */
  weft_err (*next)(iterator *it, const step *st, weft_tensor *out, bool *end);
  void (*finish)(iterator *it); /* optional; also after a failed begin */
  bool passes;                  /* its elements have the parts of its first input's, whatever its node declares */
} dataset_kind;

struct dataset {
  resource base;
  const dataset_kind *kind;
  int n_input, n_part;
  dataset **input;  /* references */
  weft_dtype *type; /* of the parts */
};

/* One run through a data set, and what its threads work on behalf of. */
typedef struct dataset_pass {
  step step; /* id 0: of no program's step */
  cancel cancel;
  char *session;
  atomic_llong asked_ns; /* the step's: when an element was last asked for, INT64_MAX while one is */
  pthread_mutex_t lock;  /* guards what follows */
  struct dataset_pass_entry *memory;
} dataset_pass;

struct iterator {
  dataset *set; /* a reference */
  dataset_pass *pass;
};

/* ---- data sets ---- */
/* All but the kind's own fields, which are zero; inputs are retained. */
weft_err weft__dataset_create(dataset **out, const dataset_kind *kind, int n_input, dataset *const *input, int n_part,
                              const weft_dtype *type);
void weft__dataset_release(dataset *d);                          /* NULL is fine */
weft_err weft__dataset_get(const weft_tensor *t, dataset **out); /* borrowed */

/* ---- iterators ---- */
weft_err weft__dataset_pass_init(dataset_pass *p,
                                 const step *st); /* takes resources, threads and session from a step */
void weft__dataset_pass_finish(dataset_pass *p);
/* Around the making of an element that somebody asks for.  Work ahead that goes on for WEFT_DATASET_IDLE_SECS (600) after
 * that, because an element never comes, ends with CANCELLED; a thread that only waits for room leaves after a tenth of it. */
void weft__dataset_pass_request_begin(dataset_pass *p);
void weft__dataset_pass_request_end(dataset_pass *p);
bool weft__dataset_pass_is_idle(const dataset_pass *p); /* is it time for such a thread to leave? */
/* What belongs to `of` (a data set, a function) for as long as the pass lasts: made when first asked for; borrowed. */
typedef weft_err dataset_pass_make(const void *of, object **out);
weft_err weft__dataset_pass_object(dataset_pass *p, const void *of, dataset_pass_make *make, object **out);
weft_err weft__iterator_create(iterator **out, dataset *d, dataset_pass *p);
void weft__iterator_destroy(iterator *it); /* stops its threads; NULL is fine */
/* Every element that any data set asks of another passes here, so that one that asks for ever ends with the step.
 * INVALID_ARGUMENT if a part of it is not of the type that its data set declares. */
weft_err weft__iterator_next(iterator *it, const step *st, weft_tensor *out, bool *end);

/* ---- parts ---- */
weft_tensor *weft__components_alloc(int n); /* n empty tensors; weft__components_free */
void weft__components_clear(weft_tensor *t, int n);
void weft__components_free(weft_tensor *t, int n);
/* Moves n parts; `to` were empty, `from` are afterwards. */
void weft__components_move(weft_tensor *to, weft_tensor *from, int n);
void weft__components_share(weft_tensor *to, const weft_tensor *from, int n);

/* ---- waiting ---- */
weft_err
weft__step_check_time(const step *st); /* an error once the step is cancelled or too late, or works ahead for nobody */
weft_err weft__step_check(const step *st); /* also when the program was interrupted: for waits */
/* Sleeps until the condition is signalled or for a moment; an error when the step shall wait no longer. */
weft_err weft__step_wait(const step *st, pthread_cond_t *cond, pthread_mutex_t *lock);

/* ---- functions ---- */
typedef struct captured { /* a function and the values that follow its arguments */
  function *f;
  int n;
  weft_tensor *more;
} captured;
/* Keeps f (one more reference) and n tensors. */
weft_err weft__captured_init(captured *c, function *f, const weft_tensor *const *more, int n);
void weft__captured_finish(captured *c);
/* What the function keeps between calls (generators of random numbers) is the pass's. */
weft_err weft__captured_call(const captured *c, dataset_pass *p, const step *st, const weft_tensor *arg, int n_arg,
                             weft_tensor *out, int n_out);

#endif
