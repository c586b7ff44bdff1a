/* saved_model.h - a folder that a model is served from: saved_model.pb with the graphs, variables/ with a checkpoint. */
#ifndef WEFT_TRAIN_CHECKPOINT_SAVED_MODEL_H
#define WEFT_TRAIN_CHECKPOINT_SAVED_MODEL_H

#include "exec/session.h"
#include "weft/train.h"

weft_err weft__saved_model_create(weft_saved_model **out, const char *dir);
void weft__saved_model_destroy(weft_saved_model *m);
weft_err weft__saved_model_add(weft_saved_model *m, weft_graph *g, weft_session *sess,
                               const weft_saved_model_opts *opts);
weft_err weft__saved_model_write(weft_saved_model *m);

/* *meta (weft__free; may be NULL) is the serialised MetaGraphDef that was imported. */
weft_err weft__saved_model_load(const char *dir, weft_graph *g, weft_session *sess, int n_tag, const char *const *tags,
                                const char *prefix, uint8_t **meta, size_t *size);

#endif
