/* adam.h - the parts of Adam that are more than one op. */
#ifndef WEFT_TRAIN_MODEL_ADAM_H
#define WEFT_TRAIN_MODEL_ADAM_H

#include "train/model/optimizer.h"

/* beta1_power and beta2_power, beside the variable whose name sorts first. */
weft_err weft__adam_slots(weft_optimizer *o, int n, const weft_out *vars);
/* All of m and v decay; the rows that came are added. */
weft_out weft__adam_slices(update *u);
/* The powers grow once the updates have read them. */
weft_out weft__adam_finish(weft_optimizer *o, const char *name, int n, const int *updates);

#endif
