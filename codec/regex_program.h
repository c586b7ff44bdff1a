/* regex_program.h - the instructions of a compiled pattern, for the machines that run them (regex.c, regex_dfa.c).
 *
 * A program is not changed after it was compiled.  Any thread may run it. */
#ifndef WEFT_CODEC_REGEX_PROGRAM_H
#define WEFT_CODEC_REGEX_PROGRAM_H

#include "codec/regex.h"
#include <stdatomic.h>

typedef enum inst_kind {
  I_SET,    /* matches one rune of `set`, then goes to x */
  I_SPLIT,  /* goes to x, or else to y */
  I_SAVE,   /* stores the position in slot `arg`, then goes to x */
  I_ASSERT, /* checks the regex_kind in `arg`, then goes to x */
  I_MATCH
} inst_kind;

typedef struct inst {
  inst_kind kind;
  int x, y, arg;
  const rune_set *set;
} inst;

struct regex_dfa;

struct regex {
  arena arena;
  inst *code;
  int n;
  int64_t capacity;
  int groups;
  bool failed;                      /* out of memory while compiling */
  atomic_bool no_dfa;               /* it cannot be made, or a test runs the threads only */
  _Atomic(struct regex_dfa *) idle; /* one that no call uses, or NULL */
};

static inline bool weft__regex_in_set(const rune_set *set, int rune) {
  if (rune < 0) return false;
  for (int i = 0; i < set->n; i++)
    if (rune >= set->range[i].low && rune <= set->range[i].high) return !set->negated;
  return set->negated;
}

static inline bool weft__regex_word_char(int c) {
  return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

#endif
