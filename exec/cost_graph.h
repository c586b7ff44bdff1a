/* cost_graph.h - TensorFlow's CostGraphDef: what the nodes of a step cost, when GraphOptions.build_cost_model asks.
 *
 * A cost model belongs to a session.  It counts the runs of each request and keeps the longest time of each node.
 * Functions may be called from any thread. */
#ifndef WEFT_EXEC_COST_GRAPH_H
#define WEFT_EXEC_COST_GRAPH_H

#include "base/text.h"
#include "exec/passes/partition.h"

typedef struct cost_model cost_model;

typedef struct cost_schedule { /* the runs of a request that are measured */
  int64_t every, after;        /* build_cost_model and build_cost_model_after */
  bool skips_first;            /* the first `after` runs are never measured: TensorFlow's session of one process */
} cost_schedule;

/* The caller destroys *out; fails only if memory is short. */
weft_err weft__cost_model_create(cost_model **out, cost_schedule when);
void weft__cost_model_destroy(cost_model *m); /* NULL is allowed */
/* Counts a run of the request with this hash.  Returns true if it is to be measured.  False for NULL. */
bool weft__cost_model_count(cost_model *m, uint64_t request);

/* Appends the cost graphs of the parts to a serialized RunMetadata.  metadata holds the step stats of the run; g has
 * the types and shapes of nodes that the stats do not name, because they were fused or folded. */
weft_err weft__cost_graph_add(text *out, const text *metadata, const parts *p, const weft_graph *g, cost_model *m,
                              uint64_t request);
/* Packs the cost graph of a whole graph; stats is a serialized StepStats.  The caller frees it with weft__free. */
weft_err weft__cost_graph_pack(const weft_graph *g, const uint8_t *stats, size_t stats_size, uint8_t **out,
                               size_t *size);

#endif
