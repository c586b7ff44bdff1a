/* metric.h - tf.metrics: metrics over many batches, accumulated in local variables. */
#ifndef WEFT_TRAIN_MODEL_METRIC_H
#define WEFT_TRAIN_MODEL_METRIC_H

#include "train/model/variable_nodes.h"
#include "weft/train.h"

/* *value is the metric so far.  *update adds a batch and returns the metric after it. */
weft_err weft__metric(weft_graph *g, const char *kind, weft_out labels, weft_out predictions, const weft_metric_opts *o,
                      weft_out *value, weft_out *update);

#endif
