/* saver.h - variables to and from checkpoint files, through nodes of the graph that TensorFlow's Saver would make.
 *
 * A saver keeps no pointer to a session: it knows its nodes by the names in its SaverDef, so one made from an
 * imported MetaGraphDef is as good as one that built its nodes.  Any thread may save and restore. */
#ifndef WEFT_TRAIN_CHECKPOINT_SAVER_H
#define WEFT_TRAIN_CHECKPOINT_SAVER_H

#include "exec/session.h"
#include "weft/train.h"

/* The nodes, under the name scope opts->name.  *def is a serialized SaverDef, the caller's to weft__free.  A failure
 * leaves the graph as it was. */
weft_err weft__saver_build(weft_graph *g, const weft_saver_opts *opts, uint8_t **def, size_t *size);

weft_err weft__saver_create(weft_saver **out, weft_graph *g, const weft_saver_opts *opts);
weft_err weft__saver_adopt(weft_saver **out, weft_graph *g, const void *saver_def, size_t size);
void weft__saver_destroy(weft_saver *s);
weft_err weft__saver_def(const weft_saver *s, void **out, size_t *size);
weft_err weft__saver_save(weft_saver *s, weft_session *sess, const char *path, const weft_save_opts *opts,
                          char **saved);
/* For what saves from time to time: does nothing when that checkpoint is being saved, or has just been restored (killed
 * while it is written over, the only one would be gone). */
weft_err weft__saver_save_progress(weft_saver *s, weft_session *sess, const char *path, const weft_save_opts *opts);
weft_err weft__saver_restore(weft_saver *s, weft_session *sess, const char *path);
/* The newest checkpoint that `dir` names and that can be read; *restored is NULL when there is none.  Each that cannot
 * be read is logged and the one before it tried; when none is left, the first one's error comes back. */
weft_err weft__saver_restore_latest(weft_saver *s, weft_session *sess, const char *dir, const char *latest_filename,
                                    char **restored);
weft_err weft__saver_kept(weft_saver *s, weft_checkpoint_state **out); /* what it will delete in time, oldest first */
weft_err weft__saver_set_kept(weft_saver *s, int n, const char *const *paths, const double *times);
weft_err weft__saver_recover_kept(weft_saver *s, int n, const char *const *paths);

#endif
