/* checkpoint_state.h - the file `checkpoint` of a folder: it lists the checkpoints and names the latest one. */
#ifndef WEFT_TRAIN_CHECKPOINT_CHECKPOINT_STATE_H
#define WEFT_TRAIN_CHECKPOINT_CHECKPOINT_STATE_H

#include "weft/train.h"

struct weft_checkpoint_state {
  char *latest;
  char **all; /* oldest first */
  int n;
  int64_t capacity; /* of all */
};

/* Reads the file. *out is NULL if the file is missing or cannot be parsed; the latter is logged.  Relative paths in
 * the file are returned relative to `dir`. */
weft_err weft__checkpoint_state_read(weft_checkpoint_state **out, const char *dir, const char *latest_filename);
/* Writes the file atomically.  Adds `latest` to `all` if it is missing.  If `dir` is relative, paths become relative
 * to it; `relative` does the same for absolute paths. */
weft_err weft__checkpoint_state_write(const char *dir, const char *latest, int n, const char *const *all,
                                      const char *latest_filename, bool relative);
void weft__checkpoint_state_destroy(weft_checkpoint_state *s);
/* Returns true if there are files of this prefix, of either version. */
bool weft__checkpoint_exists(const char *prefix);
/* Returns the latest checkpoint if its files exist; otherwise *out is NULL. */
weft_err weft__checkpoint_latest(char **out, const char *dir, const char *latest_filename);

#endif
