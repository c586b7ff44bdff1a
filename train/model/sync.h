/* sync.h - SyncReplicasOptimizer: averages the gradients of workers on the ps before they are applied. */
#ifndef WEFT_TRAIN_MODEL_SYNC_H
#define WEFT_TRAIN_MODEL_SYNC_H

#include "train/model/average.h"
#include "train/model/optimizer.h"

typedef struct weft_sync weft_sync;
struct weft_sync {
  weft_optimizer *o;
  char *name;
  int aggregate, replicas; /* gradients per step; workers */
  weft_average *average;   /* NULL: none */
  int n_averaged;
  weft_out *averaged;
  /* Set by apply: */
  weft_out step, local_step, queue;
  weft_out train, sync, close, cancel; /* close, cancel: for the token queue */
  weft_out local_init, chief_init, ready_for_local_init;
};

/* Borrows the optimizer, and later the averages; the caller destroys *out before them.  INVALID_ARGUMENT if aggregate
 * is below 1.  weft__sync_average copies the list.  weft__sync_apply returns the train op and sets the rest of *s;
 * WEFT_NONE on failure, and the graph keeps the error (graph/build.h). */
weft_err weft__sync_create(weft_sync **out, weft_optimizer *o, int aggregate, int replicas, const char *name);
void weft__sync_destroy(weft_sync *s);
weft_err weft__sync_average(weft_sync *s, weft_average *a, int n, const weft_out *variables);
weft_out weft__sync_apply(weft_sync *s, int n, const weft_out *vars, const grad_value *d, weft_out step);
weft_out weft__sync_init_tokens(weft_sync *s, int tokens); /* -1: the number of gradients per step */

#endif
