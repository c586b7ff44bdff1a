/* partition.h - cuts the part of a graph that one request needs into one graph per task.
 *
 * Where an edge leads from one task to another, the producer's part gets a _Send and the consumer's a _Recv with the
 * same name; several consumers of one value on one task share it.  Feeds enter and fetches leave at the client's
 * device, which is on the task that runs the request.
 *
 * The caller owns the parts. */
#ifndef WEFT_EXEC_PASSES_PARTITION_H
#define WEFT_EXEC_PASSES_PARTITION_H

#include "exec/passes/cut.h"
#include "graph/graphdef.h"

typedef struct task_part {
  int task;
  Tensorflow__GraphDef def; /* valid as long as the parts and the graph */
  int64_t room;             /* of def.node */
} task_part;

typedef struct parts {
  arena arena;
  int n_part;
  task_part *part;   /* only tasks that have something to run */
  int client;        /* which of them runs on the client's task; -1: none does */
  char **feed_name;  /* per feed: the node of the client's part that gets it; NULL: no node reads it */
  char **fetch_name; /* per fetch: "node:slot" of the client's part */
} parts;

/* Returns the rendezvous key of a feed or fetch "name:slot" in a run by_name, which the caller frees with weft__free;
 * NULL if memory is short. */
char *weft__partition_client_key(const device_info *client, const char *tensor_name);
/* Makes the parts, which the caller finishes; after an error there is nothing to finish.  Takes the graph's lock. */
weft_err weft__partition(parts *out, const cut *c);
void weft__partition_parts_finish(parts *p);

#endif
