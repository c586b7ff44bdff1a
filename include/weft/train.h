/* train.h - optimizers, layers, losses, checkpoints, summaries and supervision.  Programs include weft.h, which
 * states the rules.
 *
 * A call here makes many nodes.  One that is refused on the way leaves those it had made, as TensorFlow does; nothing
 * uses them, and the graph keeps the message. */
#ifndef WEFT_TRAIN_H
#define WEFT_TRAIN_H

#include "weft/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- variables ------------------------------------------------------------------------------ */

/* ---- checkpoints ---------------------------------------------------------------------------- */

#ifdef __cplusplus
}
#endif
#endif
