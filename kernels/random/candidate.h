/* candidate.h - the shape rule and the check of the ops that sample candidate classes. */
#ifndef WEFT_KERNELS_RANDOM_CANDIDATE_H
#define WEFT_KERNELS_RANDOM_CANDIDATE_H

#include "graph/infer.h"
#include "graph/kernel.h"

/* The inputs are true classes [batch, num_true]; the outputs are num_sampled classes and the expected counts of
 * both. */
weft_err weft__candidate_infer(infer *s);

/* Fails unless input 0 is a matrix of num_true columns whose classes are in [0, range). */
weft_err weft__candidate_check(const kernel *k, int64_t range);

#endif
