/* helper.h - calls functions of TensorFlow's Python API that only add nodes, by name.
 *
 * C programs use the typed functions of include/weft/train.h.  A front end has parameters that are numbers, arrays
 * or tensors; it passes them as operands to a helper that it calls by name.  Both build the same nodes. */
#ifndef WEFT_TRAIN_MODEL_HELPER_H
#define WEFT_TRAIN_MODEL_HELPER_H

#include "train/model/named.h"
#include "weft/train.h"

/* Builds the nodes of helper `kind` and stores its outputs.  Returns INVALID_ARGUMENT if there is no such helper or
 * the number of operands is wrong, and the graph's error if a node was refused. */
weft_err weft__helper(weft_graph *g, const char *kind, int n, const term *in, const weft_helper_opts *o, weft_out *out);

#endif
