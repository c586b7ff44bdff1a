/* skip_forwards.h - items of a GPU that hand on their input, such as a Reshape to the same shape or a Sum over no axes.
 *
 * Gradients are full of them: that of a product without broadcasting ends in both.  They take no time, but a chain or a
 * group ends at each of them.  Their readers read the input instead. */
#ifndef WEFT_EXEC_PASSES_SKIP_FORWARDS_H
#define WEFT_EXEC_PASSES_SKIP_FORWARDS_H

#include "exec/plan.h"

/* Lets the readers of such items in a straight plan read what they hand on, and removes those that nothing needs.
 * Returns RESOURCE_EXHAUSTED if memory is short. */
weft_err weft__skip_forwards(plan *p);

#endif
