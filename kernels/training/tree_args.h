/* tree_args.h - what the ops of boosted trees share: their shape rule, and checks of their arguments. */
#ifndef WEFT_KERNELS_TRAINING_TREE_ARGS_H
#define WEFT_KERNELS_TRAINING_TREE_ARGS_H

#include "graph/op.h"
#include "graph/kernel.h"
#include "state/trees/tree_ensemble.h"

/* The dimensions of each output argument, a letter each: a digit is that size, ? is unknown, and the others are
 * attributes.  An output argument that is a list has the same dimensions in every element. */
weft_err weft__tree_infer_dims(infer *s, const char *const *out);

/* Reads input i, a float with one element.  Returns INVALID_ARGUMENT if it has more, or is not a finite number of at
 * least `least`. */
weft_err weft__tree_float(const kernel *k, int i, const char *arg, double least, double *out);
/* The range of the inputs of an argument that is a list, and how many they are. */
weft_err weft__tree_list(const kernel *k, const char *arg, int *first, int *count);
/* Returns INVALID_ARGUMENT unless input i is a vector of n elements (any number: n < 0). */
weft_err weft__tree_vector(const kernel *k, int i, const char *arg, int64_t n);
/* Finds the ensemble of input 0; the caller releases it. */
weft_err weft__tree_ensemble_of(const kernel *k, tree_ensemble **out);

/* The features of a batch: [examples] or [examples, dims] each. */
typedef struct tree_batch {
  tree_features features;
  const int32_t **bucket;
  int64_t *dims;
  int64_t examples;
} tree_batch;
/* Reads the list `bucketized_features`; the caller clears the batch, also after a failure. */
weft_err weft__tree_batch_read(const kernel *k, tree_batch *b);
void weft__tree_batch_clear(tree_batch *b);

#endif
