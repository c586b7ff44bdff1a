/* input.h - input pipelines made of queues: producers, shuffling, epochs and batches. */
#ifndef WEFT_TRAIN_MODEL_INPUT_H
#define WEFT_TRAIN_MODEL_INPUT_H

#include "graph/graph.h"
#include "weft/train.h"

/* Counts the uses of x in a local variable.  The use after `epochs` uses fails with OUT_OF_RANGE. */
weft_out weft__input_limit_epochs(weft_graph *g, weft_out x, int64_t epochs, const char *name);
/* Queues of the rows of x; of n strings, or of the elements of x if n is 0; of the numbers below limit, or below the
 * value of x if x is an output. */
weft_out weft__input_producer(weft_graph *g, weft_out x, const weft_producer_opts *opts);
weft_out weft__input_string_producer(weft_graph *g, weft_out x, int n, const char *const *strings,
                                     const weft_producer_opts *opts);
weft_out weft__input_range_producer(weft_graph *g, weft_out x, int64_t limit, const weft_producer_opts *opts);
/* Dequeues one row of each of n tensors at a time, into out[n]. */
void weft__input_slice_producer(weft_graph *g, int n, const weft_out *x, weft_out *out, const weft_producer_opts *opts);
/* x has lists * n tensors, list by list.  The outputs are the slots of the returned node. */
weft_out weft__input_batch(weft_graph *g, int lists, int n, const weft_out *x, const weft_batch_opts *opts,
                           bool shuffle);

#endif
