/* run_metadata.h - adds partition graphs and cost graphs to the RunMetadata of a run.
 *
 * These functions keep nothing between calls and have no lock. */
#ifndef WEFT_EXEC_RUN_METADATA_H
#define WEFT_EXEC_RUN_METADATA_H

#include "exec/cost_graph.h"
#include "exec/session.h"

typedef struct metadata_graphs { /* what a run is asked for */
  bool partition_graphs;         /* the graph that each device ran */
  cost_model *costs;             /* a cost graph, of this model; NULL: none */
} metadata_graphs;

/* Appends the graphs to a serialized RunMetadata.  stats is one that has the step stats of the run.  The cut needs no
 * tasks: each of its n_device devices gets a graph.  The owner of the cut's lists locks them meanwhile. */
weft_err weft__run_metadata_add(text *out, const text *stats, const cut *c, int n_device, const metadata_graphs *what);
/* Gives the text to the caller of a run, and empties it.  Destroys what was fetched if err is set or memory was
 * short. */
weft_err weft__run_metadata_finish(text *t, weft_err err, const run_opts *opts, int n_fetch, weft_tensor **fetched);

#endif
