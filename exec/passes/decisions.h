/* decisions.h - finds the values that decide how often the loops of a request iterate and which branches it takes, as
 * far as they follow from feeds alone, and computes them before a run.
 *
 * An example is the longest sequence_length of a dynamic_rnn, or a fed is_training.  A plan that was made for such
 * values has no loops and branches (exec/passes/unroll.h, exec/variants.h).
 *
 * The nodes are those of the program's graph, which outlives the decisions.  After they were found, they do not change,
 * so any thread may compute them. */
#ifndef WEFT_EXEC_PASSES_DECISIONS_H
#define WEFT_EXEC_PASSES_DECISIONS_H

#include "exec/plan.h"
#include "graph/frames.h"

typedef struct decisions decisions;

/* Finds them among the `n_order` nodes of the request.  *out, which the caller destroys, is NULL if there are none.
 * Returns RESOURCE_EXHAUSTED. */
weft_err weft__decisions_find(decisions **out, const weft_graph *g, const plan_request *r, const frames *f,
                              const int *order, int n_order);
void weft__decisions_destroy(decisions *d); /* NULL is allowed */
int weft__decisions_count(const decisions *d);
weft_out weft__decisions_out(const decisions *d, int i);
/* Computes each value from the feeds of a run, whose types are right.  Returns an error if a kernel fails, or if a
 * value is no scalar. */
weft_err weft__decisions_compute(const decisions *d, const weft_tensor *const *feed, int64_t *values);

#endif
