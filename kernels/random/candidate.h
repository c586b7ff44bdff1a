/* candidate.h - the shape rule of the ops that sample candidate classes. */
#ifndef WEFT_KERNELS_RANDOM_CANDIDATE_H
#define WEFT_KERNELS_RANDOM_CANDIDATE_H

#include "graph/infer.h"

/* The inputs are true classes [batch, num_true]; the outputs are num_sampled classes and the expected counts of
 * both. */
weft_err weft__candidate_infer(infer *s);

#endif
