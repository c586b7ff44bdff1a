/* loss.h - tf.losses: a loss for each element, weighted, reduced to one number, and added to a collection. */
#ifndef WEFT_TRAIN_MODEL_LOSS_H
#define WEFT_TRAIN_MODEL_LOSS_H

#include "train/model/named.h"
#include "weft/train.h"

/* kind is the name in tf.losses.  WEFT_NONE on failure, and the graph keeps the error (graph/build.h). */
weft_out weft__loss(weft_graph *g, const char *kind, weft_out labels, weft_out predictions, const weft_loss_opts *o);
/* Returns the sum of "losses", with "regularization_losses" if requested. */
weft_out weft__total_loss(weft_graph *g, const char *name, bool regularization);

#endif
