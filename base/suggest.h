/* suggest.h - the error for a name that is not known, with the name that was probably meant.
 *
 *   suggestion s = {.what = "optimizer", .name = name};
 *   for (...) weft__suggest_offer(&s, known[i]);
 *   return weft__suggest_fail(&s, WEFT_INVALID_ARGUMENT);
 *
 * gives "unknown optimizer 'adam'; did you mean 'Adam'?", or, where nothing is near, the known names if they are
 * few. */
#ifndef WEFT_BASE_SUGGEST_H
#define WEFT_BASE_SUGGEST_H

#include "base/status.h"

typedef struct suggestion {
  const char *what, *name;
  const char *nearest; /* the nearest of the offered names; borrowed */
  int distance;        /* its distance, in edits */
  int offered;
  char list[400]; /* the offered names, as far as they fit */
} suggestion;

/* Adds a known name, which must stay valid as long as s is used. */
void weft__suggest_offer(suggestion *s, const char *known);
/* Returns the nearest name if it is near enough to have been meant, else NULL.  Letters that differ only in case
 * count less. */
const char *weft__suggest_nearest(const suggestion *s);
/* Sets the message and returns code. */
weft_err weft__suggest_fail(const suggestion *s, weft_err code);

#endif
