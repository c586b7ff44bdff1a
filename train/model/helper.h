/* helper.h - functions of TensorFlow's Python API that only add nodes, by their names.
 *
 * The typed functions of include/weft/train.h serve C programs.  A front end has parameters that are numbers, arrays or
 * tensors; it calls a helper by its name and passes operands.  Both build the same nodes. */
#ifndef WEFT_TRAIN_MODEL_HELPER_H
#define WEFT_TRAIN_MODEL_HELPER_H

#include "train/model/named.h"
#include "weft/train.h"

/* INVALID_ARGUMENT if there is no helper of this kind, or the number of operands is wrong. */
weft_err weft__helper(weft_graph *g, const char *kind, int n, const term *in, const weft_helper_opts *o, weft_out *out);

#endif
