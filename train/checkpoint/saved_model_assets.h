/* saved_model_assets.h - the files that belong to a SavedModel, as feeds for the init op that runs after loading. */
#ifndef WEFT_TRAIN_CHECKPOINT_SAVED_MODEL_ASSETS_H
#define WEFT_TRAIN_CHECKPOINT_SAVED_MODEL_ASSETS_H

#include "exec/session.h"
#include "tf.pb-c.h"

typedef struct asset_feeds { /* starts as zeros */
  int n;
  int64_t cap_tensor, cap_path;
  weft_out *tensor;
  weft_tensor **path; /* owned: one string each */
} asset_feeds;

/* Finds the assets of the graph, which was imported with `prefix` from the folder `dir`.  The caller finishes the
 * feeds, also after an error. */
weft_err weft__saved_model_assets(asset_feeds *f, const weft_graph *g, const Tensorflow__MetaGraphDef *m,
                                  const char *dir, const char *prefix);
void weft__saved_model_assets_finish(asset_feeds *f);

#endif
