/* sync_run.h - synchronous training at run time: the chief's queue runner and its tokens, and the hook that manages
 * both. */
#ifndef WEFT_TRAIN_SESSION_SYNC_RUN_H
#define WEFT_TRAIN_SESSION_SYNC_RUN_H

#include "train/session/hook.h"
#include "train/model/sync.h"

/* Returns the chief's queue runner as a serialized QueueRunnerDef; free it with weft__free. */
weft_err weft__sync_runner_def(const weft_sync *s, uint8_t **def, size_t *size);
/* SyncReplicasOptimizer.make_session_run_hook. tokens -1: the number of gradients per step. */
weft_err weft__hook_sync(weft_hook **out, weft_sync *s, bool chief, int tokens);

#endif
