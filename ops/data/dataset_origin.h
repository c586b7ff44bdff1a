/* dataset_origin.h - how a data set was created, from which DatasetToGraph writes a graph that creates it again. */
#ifndef WEFT_OPS_DATA_DATASET_ORIGIN_H
#define WEFT_OPS_DATA_DATASET_ORIGIN_H

#include "graph/kernel.h"
#include "state/dataset.h"
#include "tf.pb-c.h"

typedef struct dataset_origin {
  object base;
  Tensorflow__NodeDef *node;               /* without name, inputs, device and attributes that begin with _ */
  Tensorflow__FunctionDefLibrary *library; /* the functions that it calls, and those that these call */
  const char *stateful;                    /* an op of these functions that keeps or reads state; NULL: none */
  Tensorflow__GraphDef *message;           /* owns the above */
} dataset_origin;

/* Stores in d the kernel's node and inputs, unless d has an origin already. */
weft_err weft__dataset_remember(const kernel *k, dataset *d);
/* Computes a hash of the graph that creates d: equal for programs that build the pipeline in the same way.
 * (ops/data/dataset_graph.c) */
weft_err weft__dataset_hash(dataset *d, uint64_t *out);

#endif
