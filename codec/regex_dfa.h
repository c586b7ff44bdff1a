/* regex_dfa.h - a deterministic automaton of a compiled pattern: one table lookup for each rune of a text.
 *
 * It is made while it runs, and has only the states that texts have led to.  It gives the same matches as the threads
 * in regex.c, without groups.  One thread uses it at a time. */
#ifndef WEFT_CODEC_REGEX_DFA_H
#define WEFT_CODEC_REGEX_DFA_H

#include "codec/regex.h"

typedef struct regex_dfa regex_dfa;

typedef enum dfa_answer {
  DFA_NO_MATCH,
  DFA_MATCH,
  DFA_GAVE_UP /* too many states, or too much time for this way; the caller runs the threads from *begin on */
} dfa_answer;

/* Returns NULL if the pattern is too large for it or memory is short.  The program must live longer. */
regex_dfa *weft__regex_dfa_create(const regex *r);
void weft__regex_dfa_destroy(regex_dfa *d);
/* Tells whether the whole text matches. */
dfa_answer weft__regex_dfa_full(regex_dfa *d, const char *s, size_t size);
/* Finds the first match that begins at *begin or later.  If it gives up, no match begins before the new *begin. */
dfa_answer weft__regex_dfa_search(regex_dfa *d, const char *s, size_t size, size_t *begin, size_t *end);

#endif
