/* cut.h - the input of partitioning: a request on a graph, and where each node runs.  The caller owns all of it. */
#ifndef WEFT_EXEC_PASSES_CUT_H
#define WEFT_EXEC_PASSES_CUT_H

#include "exec/passes/place.h"
#include "exec/plan.h"

typedef struct cut {
  weft_graph *graph;
  const plan_request *request;
  const int *where; /* per node: an index into device */
  const device_info *device;
  const int *task; /* per device: the number of its task */
  int n_task;
  int client;     /* the device of feeds and fetches */
  bool weft_only; /* all tasks are Weft's */
  bool by_name; /* feeds and fetches come and go through the step's rendezvous, under their names, as the run goes on */
  bool shown;   /* for RunMetadata, not to be run: nodes keep every attribute and only the edges of the graph */
  bool arguments; /* shown: feeds are _Arg nodes and fetches _Retval nodes, as in TensorFlow's session of one process */
} cut;

#endif
