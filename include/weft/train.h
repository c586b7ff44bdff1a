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

/* A saver adds nodes to the graph that write its variables to files and read them back: TensorFlow's nodes and
 * TensorFlow's files.  A checkpoint is whole or absent, whenever the process ends.  Any thread may save. */
typedef struct weft_saver weft_saver;
typedef struct weft_saver_opts {
  int n_variable; /* 0: every variable of the collection "variables" */
  const weft_out *variables;
  const char *const *names; /* in the checkpoint; NULL, or an entry that is: the variable's own */
  const char *name;         /* of the name scope; NULL: "save" */
  const char *filename;     /* when none is fed; NULL: "model" */
  int max_to_keep;          /* 0: the last 5; < 0: all */
  double keep_every_hours;  /* and one for each such span; 0: 10000 */
  bool sharded;             /* one file for each device that has variables, written there */
  bool reshape;        /* a variable may have another shape than was saved, if the number of elements is the same */
  bool relative_paths; /* in the state file, even when the folder was named by an absolute path */
  bool pad_step;       /* "model-00000012" */
} weft_saver_opts;
/* opts may be NULL.  The graph must outlive the saver.  A failure leaves the graph as it was. */
WEFT_API weft_err weft_saver_create(weft_saver **out, weft_graph *g, const weft_saver_opts *opts);
/* From a serialised SaverDef, whose nodes are in the graph already. */
WEFT_API weft_err weft_saver_adopt(weft_saver **out, weft_graph *g, const void *saver_def, size_t size);
WEFT_API void weft_saver_destroy(weft_saver *s);
WEFT_API weft_err weft_saver_def(void **out, size_t *size, const weft_saver *s); /* serialised; weft_free */

typedef struct weft_save_opts {
  const int64_t *step;         /* NULL: none; else the checkpoint is called "path-step" */
  const weft_out *global_step; /* the same, as an output to be run */
  const char *latest_filename; /* of the state file; NULL: "checkpoint" */
  const char *meta_suffix;     /* NULL: "meta" */
  bool no_meta_graph;          /* leaves PATH.meta out */
  bool no_state;               /* leaves the state file and older checkpoints alone */
} weft_save_opts;
/* Makes the folder if need be.  *saved (weft_free; may be NULL) is the checkpoint's name. */
WEFT_API weft_err weft_saver_save(weft_saver *s, weft_session *sess, const char *path, const weft_save_opts *opts,
                                  char **saved);
WEFT_API weft_err weft_saver_restore(weft_saver *s, weft_session *sess, const char *path);
/* The newest of a folder that can be read (*restored: weft_free; NULL when it has none).  Damaged ones are logged and
 * passed over. */
WEFT_API weft_err weft_saver_restore_latest(weft_saver *s, weft_session *sess, const char *dir,
                                            const char *latest_filename, char **restored);

/* The checkpoints of a folder, as its state file lists them: oldest first. */
typedef struct weft_checkpoint_state weft_checkpoint_state;
/* *out is NULL when there is no readable state file. */
WEFT_API weft_err weft_checkpoint_state_read(weft_checkpoint_state **out, const char *dir, const char *latest_filename);
WEFT_API weft_err weft_checkpoint_state_write(const char *dir, const char *latest, int n, const char *const *all,
                                              const char *latest_filename, bool relative_paths);
WEFT_API void weft_checkpoint_state_destroy(weft_checkpoint_state *s);
WEFT_API const char *weft_checkpoint_state_latest(const weft_checkpoint_state *s);
WEFT_API int weft_checkpoint_state_size(const weft_checkpoint_state *s);
WEFT_API const char *weft_checkpoint_state_path(const weft_checkpoint_state *s, int i);
/* The last one if its files exist, else *out is NULL; weft_free. */
WEFT_API weft_err weft_checkpoint_latest(char **out, const char *dir, const char *latest_filename);
WEFT_API bool weft_checkpoint_exists(const char *prefix);

/* Those a saver will delete in time.  set: times in seconds since 1970, or NULL; recover: times are the files', those
 * that do not exist are left out. */
WEFT_API weft_err weft_saver_kept(weft_checkpoint_state **out, weft_saver *s);
WEFT_API weft_err weft_saver_set_kept(weft_saver *s, int n, const char *const *paths, const double *times);
WEFT_API weft_err weft_saver_recover_kept(weft_saver *s, int n, const char *const *paths);

/* ---- step stats ----------------------------------------------------------------------------- */

/* A serialised RunMetadata (of weft_session_run_with, or TensorFlow's) as a table: for each device the ops and the
 * max_nodes nodes (0: all) that took the time; weft_free.  weft_trace_json has the same for Chrome's trace viewer. */
WEFT_API weft_err weft_trace_table(char **out, const void *metadata, size_t size, int max_nodes);

#ifdef __cplusplus
}
#endif
#endif
