/* philox.h - the random numbers of a node.
 *
 * A random node of a session has one generator (base/philox.h), which every run of that node takes
 * its blocks from. */
#ifndef WEFT_KERNELS_RANDOM_PHILOX_H
#define WEFT_KERNELS_RANDOM_PHILOX_H

#include "base/philox.h"
#include "graph/kernel.h"

/* For op->prepare and op->unprepare of an op with seed and seed2.  Both zero: seeded from the system. */
weft_err weft__random_prepare(const weft_node *node, void **state);
void weft__random_unprepare(void *state);
/* The blocks this run of the node may use: a generator at the first of `blocks` reserved ones. */
weft_err weft__random_take(const kernel *k, uint64_t blocks, philox *out);
/* Box-Muller on the two doubles of a block: two normal numbers. */
void weft__philox_to_normals(const uint32_t w[4], double y[2]);

#endif
