/* dataset.h - functions and types that the ops which create data sets share. */
#ifndef WEFT_OPS_DATA_DATASET_H
#define WEFT_OPS_DATA_DATASET_H

#include "graph/kernel.h"
#include "state/dataset.h"

/* Creates a data set whose inputs are the node's first n_input arguments.  The types of its components are those of
 * the attribute output_types or Toutput_types (one string if there is neither), or those of its input if the kind
 * `passes`. */
weft_err weft__dataset_of(kernel *k, const dataset_kind *kind, int n_input, dataset **out);
/* Sets output 0 to d, unless err says that creating it failed.  Takes the reference to d in both cases. */
weft_err weft__dataset_out(kernel *k, dataset *d, weft_err err);
/* Reads argument i, a scalar.  Returns INVALID_ARGUMENT, with its name, if it is not one. */
weft_err weft__dataset_int(const kernel *k, int i, const char *name, int64_t *out);

/* The kernel of CacheDataset with a file name.  (ops/data/dataset_cache.c) */
weft_err weft__dataset_cache_file(kernel *k, const char *path, size_t size);

/* The .prepare and .unprepare of ops with a function `f` or `predicate`, which becomes k->state. */
weft_err weft__dataset_prepare_f(const weft_node *n, void **state);
weft_err weft__dataset_prepare_predicate(const weft_node *n, void **state);
void weft__dataset_unprepare(void *state);
/* Stores the function and the values of the list argument `arg` in c. */
weft_err weft__dataset_capture(kernel *k, captured *c, function *f, const char *arg);
/* The same for the argument other_arguments and k->state. */
weft_err weft__dataset_capture_f(kernel *k, captured *c);

/* The iterator of a data set with one input, whose iterator is created by weft__dataset_walk_begin. */
typedef struct walk {
  iterator base;
  iterator *from;
  weft_tensor *got; /* memory for an element of the input */
} walk;
weft_err weft__dataset_walk_begin(iterator *it);
void weft__dataset_walk_finish(iterator *it);

/* The iterator of a data set with several inputs, whose iterators are all created by weft__dataset_several_begin.
 * (ops/data/dataset_order.c) */
typedef struct several {
  iterator base;
  iterator **from;
  int at;
} several;
weft_err weft__dataset_several_begin(iterator *it);
void weft__dataset_several_finish(iterator *it);

/* Batches, whose components have a new first dimension.  (ops/data/dataset_batch.c) */
extern const dataset_kind weft__batch_kind;
weft_err weft__dataset_batch_set(dataset *d, int64_t size, bool drop_remainder);
/* (ops/data/dataset_parallel.c) */
extern const dataset_kind weft__parallel_map_kind;
captured *weft__dataset_parallel_map_set(dataset *d, int64_t calls, bool keeps_cardinality);
/* Handles the error of a map's function: OUT_OF_RANGE ends the data set or, with keeps_cardinality, becomes
 * INVALID_ARGUMENT.  Other errors are returned unchanged. */
weft_err weft__dataset_map_ended(weft_err err, bool keeps_cardinality, bool *end);

/* Sets out to a variant that holds n elements, whose components follow one another in `row`.  Takes ownership of
 * row. (ops/data/dataset_group.c) */
weft_err weft__dataset_stored_create(weft_tensor *out, int n_part, const weft_dtype *type, weft_tensor *row, int64_t n);
/* Output 0 of the kernel becomes such a data set of its inputs: n_part of them are the components of an element. */
weft_err weft__dataset_stored_out(kernel *k, int n_part, const weft_dtype *type);

/* (ops/data/dataset_order.c) */
extern const dataset_kind weft__repeat_kind;
void weft__dataset_repeat_set(dataset *d, int64_t count); /* < 0: without end */
extern const dataset_kind weft__shard_kind;
enum { SHARD_HINT = -1 }; /* a count of shards: an AutoShardDataset sets count and index */
/* Every count-th element, from `index` on, which is in [0, count).  With for_all it is an error if a later shard has
 * no element. */
weft_err weft__dataset_shard_create(dataset **out, dataset *in, int64_t count, int64_t index, bool for_all);
bool weft__dataset_shard_is_hint(const dataset *d);

/* Returns true if d reads the files whose names it was given.  (ops/data/dataset_file.c) */
bool weft__dataset_is_files(const dataset *d);
/* Creates the data set of every count-th file, from `index` on.  It is an error if it has files and
 * others of the count have none. */
weft_err weft__dataset_files_share(dataset **out, const dataset *d, int64_t count, int64_t index);

#define DATASET_FLAGS .flags = OP_NO_FOLD, .infer = weft__infer_scalar
#define OUTPUTS "output_types:list(type)>=1 output_shapes:list(shape)>=1"
#define METADATA " metadata:string=''"

#endif
