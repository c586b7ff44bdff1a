/* global_step.h - the variable that counts steps for the whole job. */
#ifndef WEFT_TRAIN_MODEL_GLOBAL_STEP_H
#define WEFT_TRAIN_MODEL_GLOBAL_STEP_H

#include "train/model/variable_nodes.h"

/* Returns the global step: from the collection "global_step", or the variable of that name; WEFT_NONE if there is
 * neither. */
weft_out weft__global_step(const weft_graph *g);
weft_out weft__global_step_make(weft_graph *g);

#endif
