/* candidate.h - what the ops that sample candidate classes have in common. */
#ifndef WEFT_KERNELS_RANDOM_CANDIDATE_H
#define WEFT_KERNELS_RANDOM_CANDIDATE_H

#include "graph/infer.h"

/* Shapes of a sampler: true classes [batch, num_true] give num_sampled classes and the expected counts of both. */
weft_err weft__candidate_infer(infer *s);

#endif
