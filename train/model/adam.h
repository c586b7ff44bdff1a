/* adam.h - the parts of Adam that need more than one op. */
#ifndef WEFT_TRAIN_MODEL_ADAM_H
#define WEFT_TRAIN_MODEL_ADAM_H

#include "train/model/optimizer.h"

/* Creates beta1_power and beta2_power, colocated with the variable whose name sorts first. */
weft_err weft__adam_slots(weft_optimizer *o, int n, const weft_out *vars);
/* Decays all of m and v, and adds the given rows. */
weft_out weft__adam_slices(update *u);
/* Updates the powers after the updates have read them. */
weft_out weft__adam_finish(weft_optimizer *o, const char *name, int n, const int *updates);

#endif
