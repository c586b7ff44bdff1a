/* regex.h - regular expressions in RE2's syntax, on UTF-8.
 *
 * Any thread may use a regex, several at once too.  Matching takes time proportional to pattern size times text size
 * for every pattern, because there is no backtracking.  Not supported: \C, Unicode classes (\pN) and case folding
 * beyond ASCII. */
#ifndef WEFT_CODEC_REGEX_H
#define WEFT_CODEC_REGEX_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

typedef struct regex regex;

enum { REGEX_MAX_GROUPS = 100 };

/* Returns INVALID_ARGUMENT "Invalid pattern: a(, error: missing ): a(" if the pattern is invalid. */
weft_err weft__regex_create(regex **out, const char *pattern, size_t size);
void weft__regex_destroy(regex *r);
/* Sets *matches if the whole text matches.  Fails only if memory is short. */
weft_err weft__regex_full(regex *r, const char *s, size_t size, bool *matches);
/* Replaces the first match, or all.  In the rewrite, \0..\9 are groups and \\ is a backslash. */
weft_err weft__regex_replace(regex *r, const char *s, size_t size, const char *rewrite, size_t rewrite_size, bool all,
                             text *out);

/* ---- between the parser and the machine ---- */
typedef struct rune_range {
  int low, high;
} rune_range;

typedef struct rune_set {
  bool negated;
  int n;
  int64_t capacity;
  rune_range *range;
} rune_set;

typedef enum regex_kind {
  RE_EMPTY,
  RE_SET,   /* one rune of `set` */
  RE_CAT,   /* left, right */
  RE_ALT,   /* left, right */
  RE_TIMES, /* left, min..max times (max < 0: any), greedy or not */
  RE_GROUP, /* left, captured as group `min` */
  RE_BEGIN_TEXT,
  RE_END_TEXT,
  RE_BEGIN_LINE,
  RE_END_LINE,
  RE_WORD,
  RE_NOT_WORD
} regex_kind;

typedef struct regex_node {
  regex_kind kind;
  struct regex_node *left, *right;
  rune_set set;
  int min, max;
  bool greedy;
} regex_node;

/* Parses a pattern to a tree in the arena. *why is RE2's description of an error. */
weft_err weft__regex_parse(arena *a, const char *pattern, size_t size, regex_node **out, int *groups, text *why);
/* Returns the rune at s (size > 0) and its length; -1 and length 1 if the bytes are not UTF-8. */
int weft__rune(const char *s, size_t size, int *length);

#endif
