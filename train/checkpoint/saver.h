/* saver.h - saves variables to checkpoint files and restores them, through the nodes that TensorFlow's Saver would
 * build.
 *
 * A saver keeps no pointer to a session.  It finds its nodes by the names in its SaverDef, so it also works with an
 * imported MetaGraphDef.  Any thread may save and restore. */
#ifndef WEFT_TRAIN_CHECKPOINT_SAVER_H
#define WEFT_TRAIN_CHECKPOINT_SAVER_H

#include "exec/session.h"
#include "weft/train.h"

/* Builds the nodes in the name scope opts->name. *def is a serialized SaverDef, which the caller frees with
 * weft__free.  A failure leaves the graph unchanged. */
weft_err weft__saver_build(weft_graph *g, const weft_saver_opts *opts, uint8_t **def, size_t *size);

/* Builds the nodes, and a saver of them, which the caller destroys.  The graph must outlive it.  A failure leaves the
 * graph unchanged. */
weft_err weft__saver_create(weft_saver **out, weft_graph *g, const weft_saver_opts *opts);
/* The same, for nodes that the graph has already: a serialized SaverDef, which is copied, names them. */
weft_err weft__saver_adopt(weft_saver **out, weft_graph *g, const void *saver_def, size_t size);
void weft__saver_destroy(weft_saver *s);
/* Copies the SaverDef; the caller frees *out with weft__free. */
weft_err weft__saver_def(const weft_saver *s, void **out, size_t *size);
/* Saves a checkpoint, and deletes old ones that it need not keep.  *saved (weft__free; may be NULL) is its name. */
weft_err weft__saver_save(weft_saver *s, weft_session *sess, const char *path, const weft_save_opts *opts,
                          char **saved);
/* For periodic saves: does nothing if that checkpoint is being saved or has just been restored.  Otherwise a kill
 * while it is overwritten would destroy the only checkpoint. */
weft_err weft__saver_save_progress(weft_saver *s, weft_session *sess, const char *path, const weft_save_opts *opts);
/* Restores a checkpoint.  Returns INVALID_ARGUMENT if there is none at the path, or if it does not fit the graph, and
 * NOT_FOUND if it lacks a variable. */
weft_err weft__saver_restore(weft_saver *s, weft_session *sess, const char *path);
/* Restores the newest readable checkpoint that `dir` names; *restored is NULL if there is none.  An unreadable one
 * is logged and the previous one is tried.  If none is readable, the first error is returned. */
weft_err weft__saver_restore_latest(weft_saver *s, weft_session *sess, const char *dir, const char *latest_filename,
                                    char **restored);
/* Lists the checkpoints that it will delete eventually, oldest first; the caller destroys *out. */
weft_err weft__saver_kept(weft_saver *s, weft_checkpoint_state **out);
/* Replaces that list.  times: when each was saved, in seconds since 1970; NULL: unknown. */
weft_err weft__saver_set_kept(weft_saver *s, int n, const char *const *paths, const double *times);
/* Replaces that list by those of the paths that exist, with the times of their files. */
weft_err weft__saver_recover_kept(weft_saver *s, int n, const char *const *paths);

#endif
