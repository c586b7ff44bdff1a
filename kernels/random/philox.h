/* philox.h - the random number generator of a node.
 *
 * A random node of a session has one generator (base/philox.h).  Every run of that node reserves its blocks from it. */
#ifndef WEFT_KERNELS_RANDOM_PHILOX_H
#define WEFT_KERNELS_RANDOM_PHILOX_H

#include "base/philox.h"
#include "graph/kernel.h"

/* The .prepare and .unprepare of an op with seed and seed2.  If both are zero, the generator is seeded from the
 * system. */
weft_err weft__random_prepare(const weft_node *node, void **state);
void weft__random_unprepare(void *state);
/* Reserves `blocks` blocks for this run of the node, and stores a generator that starts at the first of them. */
weft_err weft__random_take(const kernel *k, uint64_t blocks, philox *out);
/* Computes two normal numbers from the two doubles of a block (Box-Muller). */
void weft__philox_to_normals(const uint32_t w[4], double y[2]);

#endif
