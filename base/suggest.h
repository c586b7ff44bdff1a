/* suggest.h - the error for a name that is not known, with the name that was probably meant.
 *
 *   suggestion s = {.what = "optimizer", .name = name};
 *   for (...) weft__suggest_offer(&s, known[i]);
 *   return weft__suggest_fail(&s, WEFT_INVALID_ARGUMENT);
 *
 * gives "unknown optimizer 'adam'; did you mean 'Adam'?", or, where nothing is near, the known names if they are few. */
#ifndef WEFT_BASE_SUGGEST_H
#define WEFT_BASE_SUGGEST_H

#include "base/status.h"

typedef struct suggestion {
  const char *what, *name;
  const char *nearest; /* of those offered; borrowed */
  int distance;        /* of it, in edits */
  int offered;
  char list[400]; /* those offered, as far as they fit */
} suggestion;

void weft__suggest_offer(suggestion *s, const char *known);
/* The nearest name if it is near enough to have been meant, else NULL.  Letters of another case count less than others. */
const char *weft__suggest_nearest(const suggestion *s);
weft_err weft__suggest_fail(const suggestion *s, weft_err code);

#endif
