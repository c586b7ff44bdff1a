/* train.h - optimizers, layers, losses, checkpoints, summaries and supervision.  Programs include weft.h, which states the rules. */
#ifndef WEFT_TRAIN_H
#define WEFT_TRAIN_H

#include "weft/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
