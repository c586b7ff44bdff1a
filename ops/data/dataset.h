/* dataset.h - what the ops that make data sets share. */
#ifndef WEFT_OPS_DATA_DATASET_H
#define WEFT_OPS_DATA_DATASET_H

#include "graph/kernel.h"
#include "state/dataset.h"

/* A data set whose inputs are the node's first n_input arguments and whose parts have the types that the attribute
 * output_types (Toutput_types; neither: one string) says, or those of its input where the kind passes elements on. */
weft_err weft__dataset_of(kernel *k, const dataset_kind *kind, int n_input, dataset **out);
/* Output 0 becomes d, unless err says that making it failed; takes d over either way. */
weft_err weft__dataset_out(kernel *k, dataset *d, weft_err err);
/* Argument i, a scalar. */
weft_err weft__dataset_int(const kernel *k, int i, const char *name, int64_t *out);

/* CacheDataset with a file name.  (ops/data/dataset_cache.c) */
weft_err weft__dataset_cache_file(kernel *k, const char *path, size_t size);

/* .prepare and .unprepare of ops with a function `f`: it is k->state. */
weft_err weft__dataset_prepare_f(const weft_node *n, void **state);
weft_err weft__dataset_prepare_predicate(const weft_node *n, void **state);
void weft__dataset_unprepare(void *state);
/* Keeps the node's function and the values of its list argument. */
weft_err weft__dataset_capture(kernel *k, captured *c, function *f, const char *arg);
/* As above for the argument other_arguments and k->state. */
weft_err weft__dataset_capture_f(kernel *k, captured *c);

/* A data set that walks its only input: the iterator of it, begun by weft__walk_begin. */
typedef struct walk {
  iterator base;
  iterator *from;
  weft_tensor *got; /* room for an element of the input */
} walk;
weft_err weft__walk_begin(iterator *it);
void weft__walk_finish(iterator *it);

/* A data set with several inputs: their iterators, all begun by weft__several_begin.  (ops/data/dataset_order.c) */
typedef struct several {
  iterator base;
  iterator **from;
  int at;
} several;
weft_err weft__several_begin(iterator *it);
void weft__several_finish(iterator *it);

/* A batch being filled: parts grow along a new first dimension.  (ops/data/dataset_batch.c) */
extern const dataset_kind weft__batch_kind;
weft_err weft__batch_set(dataset *d, int64_t size, bool drop_remainder);
/* (ops/data/dataset_parallel.c) */
extern const dataset_kind weft__parallel_map_kind;
captured *weft__parallel_map_set(dataset *d, int64_t calls, bool keeps_cardinality);
/* What a map does with the end of sequence that its function raised. */
weft_err weft__map_ended(weft_err err, bool keeps_cardinality, bool *end);

/* A variant that holds the n elements of `row`, one behind the other; takes row over.  (ops/data/dataset_group.c) */
weft_err weft__stored_create(weft_tensor *out, int n_part, const weft_dtype *type, weft_tensor *row, int64_t n);

/* (ops/data/dataset_order.c) */
extern const dataset_kind weft__repeat_kind;
void weft__repeat_set(dataset *d, int64_t count); /* < 0: without end */
extern const dataset_kind weft__shard_kind;
void weft__shard_set(dataset *d, int64_t count, int64_t index); /* index is in [0, count) */

#define DATASET_FLAGS .flags = OP_NO_FOLD, .infer = weft__infer_scalar
#define OUTPUTS "output_types:list(type)>=1 output_shapes:list(shape)>=1"
#define METADATA " metadata:string=''"

#endif
