/* regex_fuzz.c - a pattern, a rewrite and a text, each ended by a line feed: expects a match, a new text, or an
 * error, and the same from the automaton of states as from the threads.
 *
 * Patterns and texts are cut at 64 and 512 bytes, because matching takes time proportional to their product. */
#include "codec/regex_program.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct line {
  const char *at;
  size_t size;
} line;

/* Returns the bytes up to the next line feed, at most `most` of them, and advances *data past it. */
static line next_line(const uint8_t **data, size_t *left, size_t most) {
  const uint8_t *from = *data, *feed = *left ? memchr(from, '\n', *left) : NULL;
  const size_t size = feed ? (size_t)(feed - from) : *left, step = feed ? size + 1 : size;
  *data += step;
  *left -= step;
  return (line){(const char *)from, size < most ? size : most};
}

/* Appends what the regex makes of the text to `out`. */
static void run_regex(regex *r, line s, line rewrite, text *out) {
  bool matches = false;
  weft__regex_full(r, s.at, s.size, &matches);
  weft__text_puts(out, matches ? "whole " : "part ");
  for (int all = 0; all < 2; all++) weft__regex_replace(r, s.at, s.size, rewrite.at, rewrite.size, all, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const line pattern = next_line(&data, &size, 64), rewrite = next_line(&data, &size, 64);
  const line s = next_line(&data, &size, 512);
  regex *r = NULL;
  if (weft__regex_create(&r, pattern.at, pattern.size) != WEFT_OK) return 0;
  text fast = {0}, slow = {0};
  run_regex(r, s, rewrite, &fast);
  atomic_store(&r->no_dfa, true);
  run_regex(r, s, rewrite, &slow);
  if (!fast.failed && !slow.failed && (fast.size != slow.size || memcmp(fast.data, slow.data, fast.size) != 0)) abort();
  weft__text_finish(&fast);
  weft__text_finish(&slow);
  weft__regex_destroy(r);
  return 0;
}
