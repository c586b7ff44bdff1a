/* dataset.h - data sets, which describe where elements come from, and iterators, which produce the elements.
 *
 * A variant tensor holds a data set, which is constant.  An iterator visits its elements once, from first to last, and
 * owns the iterators of its inputs.  An element is a fixed number of tensors, its components (`part`).  The kinds of
 * data sets are in ops/data/dataset_*.c.
 *
 * One thread at a time may use an iterator.  `next` runs for a step: the program's step, or the step of the pass if a
 * thread of the pipeline prefetches.  A wait ends when that step is canceled, past its deadline or interrupted; the
 * iterator can be used again afterwards. */
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
  void (*destroy)(dataset *d);     /* optional: frees the kind's own fields */
  weft_err (*begin)(iterator *it); /* optional: the rest of the struct is zero; creates the iterators of its inputs */
  /* Fills out, n_part empty tensors, or sets *end.  After the end, further calls set *end again. */
  weft_err (*next)(iterator *it, const step *st, weft_tensor *out, bool *end);
  void (*finish)(iterator *it);       /* optional; also after a failed begin */
  bool passes;                        /* its elements have the components of its first input's elements */
  int64_t (*count)(const dataset *d); /* optional: the number of elements; without it DATASET_UNKNOWN */
  int64_t (*rows)(
      const dataset *d); /* optional: the rows of a batch, -1: unknown; without it the input's if it `passes` */
} dataset_kind;

enum { DATASET_INFINITE = -1, DATASET_UNKNOWN = -2 }; /* TensorFlow's numbers for a cardinality */

struct dataset {
  resource base;
  const dataset_kind *kind;
  int n_input, n_part;
  dataset **input;  /* references */
  weft_dtype *type; /* of the components */
  /* For DatasetToGraph (ops/data/dataset_origin.h): the node that created it, and the tensors that the node got. */
  object *origin; /* NULL: it has no node of its own */
  int n_given;
  weft_tensor *given;
  dataset *copied; /* a reference: the data set that owns the kind's own fields; NULL: this one does */
};

/* One pass over a data set: the step for which its threads work, and objects that live as long as the pass. */
typedef struct dataset_pass {
  step step; /* its id is 0: it is not a step of the program */
  cancel cancel;
  char *session;
  atomic_llong asked_ns; /* when an element was last requested; INT64_MAX while a request runs */
  dataset *root;         /* a reference: the data set of the first iterator of the pass */
  pthread_mutex_t lock;  /* guards what follows */
  struct dataset_pass_entry *memory;
  int n_memory, n_kept; /* entries now, and after the last sweep */
  dataset *stats;       /* a reference: the data set that says where statistics go; NULL: nowhere */
  uint64_t entropy;     /* of the seeds of data sets without one; 0: none was asked for yet */
  uint64_t n_seeds;     /* drawn so far */
} dataset_pass;

struct iterator {
  dataset *set; /* a reference */
  dataset_pass *pass;
};

/* ---- data sets ---- */
/* Creates a data set whose kind's own fields are zero; retains the inputs.  The caller owns the one reference. */
weft_err weft__dataset_create(dataset **out, const dataset_kind *kind, int n_input, dataset *const *input, int n_part,
                              const weft_dtype *type);
/* Creates a copy of d that reads other inputs, d->n_input of them.  It has no origin, and shares the kind's own fields
 * with d, which lives as long as the copy. */
weft_err weft__dataset_copy(dataset **out, dataset *d, dataset *const *input);
void weft__dataset_release(dataset *d);                          /* does nothing for NULL */
weft_err weft__dataset_get(const weft_tensor *t, dataset **out); /* borrowed */
/* The number of elements as far as it is known without producing them; DATASET_INFINITE, DATASET_UNKNOWN. */
int64_t weft__dataset_count(const dataset *d);
int64_t weft__dataset_count_of_input(const dataset *d); /* a kind's .count: as many as its first input has */
int64_t weft__dataset_rows(const dataset *d); /* the number of rows of the batches that it gives; -1: unknown */
int64_t weft__dataset_rows_of_inputs(const dataset *d); /* a kind's .rows: those of all inputs if they are equal */
int64_t weft__dataset_rows_unknown(const dataset *d);   /* a kind's .rows */

/* ---- iterators ---- */
weft_err weft__dataset_pass_init(dataset_pass *p, const step *st); /* copies resources, pools and session of a step */
void weft__dataset_pass_finish(dataset_pass *p);
/* Called before and after a request for an element.  Prefetching that runs for WEFT_DATASET_IDLE_SECS (600) without a
 * request ends with CANCELLED.  A thread that only waits for space to prefetch into exits after a tenth of that. */
void weft__dataset_pass_request_begin(dataset_pass *p);
void weft__dataset_pass_request_end(dataset_pass *p);
bool weft__dataset_pass_is_idle(const dataset_pass *p); /* true: such a thread should exit */
/* Finds the object of `of` (a data set or a function) in this pass, or creates it with `make`, under the lock of the
 * pass, which retains `of`: otherwise a later data set at the same address would find the object. *out is borrowed, and
 * lives as long as the caller refers to `of`, but not longer than the pass. */
typedef weft_err dataset_pass_make(const void *of, object **out);
weft_err weft__dataset_pass_object(dataset_pass *p, object *of, dataset_pass_make *make, object **out);
/* Draws seeds for a data set that was given none.  Passes with the same entropy draw the same, in the same order. */
weft_err weft__dataset_pass_seeds(dataset_pass *p, uint64_t seed[2]);
/* Stores the entropy of the pass, which is drawn from the system if it has none yet. */
weft_err weft__dataset_pass_entropy(dataset_pass *p, uint64_t *out);
/* Returns the data set that says where statistics go (ops/data/dataset_stats.c), or NULL; the caller releases it.
 * Unless `set` is NULL, it takes that place. */
dataset *weft__dataset_pass_stats(dataset_pass *p, dataset *set);
/* The caller destroys *out.  d is retained; p must outlive the iterator. */
weft_err weft__iterator_create(iterator **out, dataset *d, dataset_pass *p);
void weft__iterator_destroy(
    iterator *it); /* waits for its threads; the pass was canceled if it has any; does nothing for NULL */
/* Produces the next element, or sets *end.  Data sets use it for their inputs too, so that an endless loop ends with
 * the step.  Returns INVALID_ARGUMENT if a component does not have the declared type. */
weft_err weft__iterator_next(iterator *it, const step *st, weft_tensor *out, bool *end);

/* ---- components of an element ---- */
weft_tensor *weft__components_alloc(int n); /* n empty tensors, freed with weft__components_free */
void weft__components_clear(weft_tensor *t, int n);
void weft__components_free(weft_tensor *t, int n);
/* Moves n components; `to` is empty before, `from` is empty afterwards. */
void weft__components_move(weft_tensor *to, weft_tensor *from, int n);
void weft__components_share(weft_tensor *to, const weft_tensor *from, int n);

/* ---- waiting ---- */
weft_err weft__step_check_time(
    const step *st); /* an error if the step is canceled or past its deadline, or if its pass is idle */
weft_err weft__step_check(const step *st); /* also an error if the program was interrupted: for waits */
/* Waits for the condition for at most WEFT_WAIT_SLICE_MS.  Returns an error if the step must not wait any longer. */
weft_err weft__step_wait(const step *st, pthread_cond_t *cond, pthread_mutex_t *lock);

/* ---- functions ---- */
typedef struct captured { /* a function, and the captured values that follow its arguments */
  function *f;
  int n;
  weft_tensor *more;
} captured;
/* Retains f and keeps n tensors. */
weft_err weft__captured_init(captured *c, function *f, const weft_tensor *const *more, int n);
void weft__captured_finish(captured *c);
/* Calls the function.  State that it keeps between calls, such as random generators, belongs to the pass. */
weft_err weft__captured_call(const captured *c, dataset_pass *p, const step *st, const weft_tensor *arg, int n_arg,
                             weft_tensor *out, int n_out);

#endif
