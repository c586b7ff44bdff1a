/* collective_step.h - the ids of steps with collective ops: different masters run them together, so that all use the
 * same id.
 *
 * Functions may be called from any thread. */
#ifndef WEFT_CLUSTER_MASTER_COLLECTIVE_STEP_H
#define WEFT_CLUSTER_MASTER_COLLECTIVE_STEP_H

#include "cluster/worker/worker.h"
#include "tf.pb-c.h"

/* TensorFlow's key of a graph with collective ops, made from their instance keys.  `seen` collects the keys of several
 * graphs; 0: there are none. */
typedef struct collective_keys {
  int n;
  int64_t capacity;
  int32_t *key; /* freed by weft__collective_keys_finish */
} collective_keys;
weft_err weft__collective_keys_add(collective_keys *seen, const Tensorflow__GraphDef *g);
int64_t weft__collective_keys_finish(collective_keys *seen);

/* The id of the next step with this key.  Asks the leader if it must, and waits for it until the deadline (0: none) or
 * until c fires. */
weft_err weft__collective_step_begin(worker *w, int64_t graph_key, int64_t deadline_ns, cancel *c, int64_t *id);
/* The step has ended: drops it here, or keeps what other tasks have yet to fetch. */
void weft__collective_step_end(worker *w, int64_t graph_key, int64_t id, weft_err err);

#endif
