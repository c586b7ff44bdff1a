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

/* ---- data ----------------------------------------------------------------------------------- */

/* All of an idx file (MNIST's), plain or gzipped (PATH or PATH.gz, whichever is there), as a tensor: uint8, int8,
 * int16, int32, float or double.  WEFT_DATA_LOSS says what is wrong with the file. */
WEFT_API weft_err weft_idx_read(weft_tensor **out, const char *path);

/* ---- variables ------------------------------------------------------------------------------ */

/* ---- checkpoints ---------------------------------------------------------------------------- */

/* ---- step stats ----------------------------------------------------------------------------- */

/* A serialised RunMetadata (of weft_session_run_with, or TensorFlow's) as a table: for each device the ops and the
 * max_nodes nodes (0: all) that took the time; weft_free.  weft_trace_json has the same for Chrome's trace viewer. */
WEFT_API weft_err weft_trace_table(char **out, const void *metadata, size_t size, int max_nodes);

#ifdef __cplusplus
}
#endif
#endif
