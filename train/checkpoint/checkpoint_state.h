/* checkpoint_state.h - the file `checkpoint` of a folder: which checkpoints there are, and which is the last. */
#ifndef WEFT_TRAIN_CHECKPOINT_CHECKPOINT_STATE_H
#define WEFT_TRAIN_CHECKPOINT_CHECKPOINT_STATE_H

#include "weft/train.h"

struct weft_checkpoint_state {
  char *latest;
  char **all; /* oldest first */
  int n;
};

/* *out is NULL when there is no such file, or one that cannot be read, which is logged.  Relative paths in the file
 * come out below `dir`. */
weft_err weft__checkpoint_state_read(weft_checkpoint_state **out, const char *dir, const char *latest_filename);
/* Written whole.  `latest` is added to `all` if it is not there.  A relative `dir` makes relative paths relative to
 * it; `relative` does so for absolute ones too. */
weft_err weft__checkpoint_state_write(const char *dir, const char *latest, int n, const char *const *all,
                                      const char *latest_filename, bool relative);
void weft__checkpoint_state_destroy(weft_checkpoint_state *s);
/* Returns true if there are files of this prefix, of either version. */
bool weft__checkpoint_exists(const char *prefix);
/* The last one, when its files exist; *out NULL otherwise. */
weft_err weft__checkpoint_latest(char **out, const char *dir, const char *latest_filename);

#endif
