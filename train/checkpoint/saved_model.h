/* saved_model.h - SavedModel: a folder with saved_model.pb, which has the graphs, and variables/, which has a
 * checkpoint. */
#ifndef WEFT_TRAIN_CHECKPOINT_SAVED_MODEL_H
#define WEFT_TRAIN_CHECKPOINT_SAVED_MODEL_H

#include "base/text.h"
#include "exec/session.h"
#include "weft/train.h"
#include <protobuf-c/protobuf-c.h>

/* Creates a model that will be written to dir; the caller destroys it.  Returns ALREADY_EXISTS if the folder exists and
 * is not empty. */
weft_err weft__saved_model_create(weft_saved_model **out, const char *dir);
void weft__saved_model_destroy(weft_saved_model *m);
/* Adds a graph, which is copied.  With a session its variables are saved at once; only the first graph may have one
 * (FAILED_PRECONDITION).  Returns INVALID_ARGUMENT if there is no tag, or if opts->init is no node of the graph. */
weft_err weft__saved_model_add(weft_saved_model *m, weft_graph *g, weft_session *sess,
                               const weft_saved_model_opts *opts);
/* Writes DIR/saved_model.pb, and creates the folder if needed. */
weft_err weft__saved_model_write(weft_saved_model *m);

/* Imports the graph with exactly these tags into g, restores the variables in the session (NULL: only imports) and runs
 * the model's init op.  *meta (weft__free; may be NULL) is the serialized MetaGraphDef that was imported. */
weft_err weft__saved_model_load(const char *dir, weft_graph *g, weft_session *sess, int n_tag, const char *const *tags,
                                const char *prefix, uint8_t **meta, size_t *size);

/* Reads DIR/saved_model.pb, or the bytes that DIR/saved_model.pbtxt describes.  NOT_FOUND if there is neither. */
weft_err weft__saved_model_read(const char *dir, text *file);
/* Unpacks the next graph of the file into *meta, which the caller frees with protobuf-c; NULL if there are no more.
 * Advances *p. *bytes and *size are the serialized graph, which points into the file. */
weft_err weft__saved_model_next(const uint8_t **p, const uint8_t *end, ProtobufCMessage **meta, const uint8_t **bytes,
                                size_t *size);
/* Describes the graphs and signatures of the folder, as text or as a JSON array.  The caller frees it with
 * weft__free. */
weft_err weft__saved_model_describe(char **out, const char *dir, bool as_json);

#endif
