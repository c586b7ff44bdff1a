/* suggest.c - which of the known names was probably meant. */
#include "base/suggest.h"

#include "base/cast.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 60, EDIT = 4, CASE = 1, FEW = 16 };

/* Returns how much it costs to write b where a is: nothing, a letter of another case, or an edit. */
static int suggest_cost(char a, char b) {
  if (a == b) return 0;
  return tolower((unsigned char)a) == tolower((unsigned char)b) ? CASE : EDIT;
}

static int suggest_least(int a, int b, int c) { return a < b ? (a < c ? a : c) : b < c ? b : c; }

/* Returns the weighted Levenshtein distance; an underscore more or less costs as little as a letter's case. */
static int suggest_distance(const char *a, const char *b) {
  const size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST || m > LONGEST) return 1000;
  int row[LONGEST + 1] = {0};
  for (size_t j = 1; j <= m; j++) row[j] = row[j - 1] + (b[j - 1] == '_' ? CASE : EDIT);
  for (size_t i = 1; i <= n; i++) {
    const int drop = a[i - 1] == '_' ? CASE : EDIT;
    int corner = row[0];
    row[0] += drop;
    for (size_t j = 1; j <= m; j++) {
      const int add = b[j - 1] == '_' ? CASE : EDIT;
      const int best = suggest_least(corner + suggest_cost(a[i - 1], b[j - 1]), row[j] + drop, row[j - 1] + add);
      corner = row[j];
      row[j] = best;
    }
  }
  return row[m];
}

void weft__suggest_offer(suggestion *s, const char *known) {
  const int distance = suggest_distance(s->name, known);
  const size_t used = strlen(s->list);
  if (!s->nearest || distance < s->distance || (distance == s->distance && strcmp(known, s->nearest) < 0)) {
    s->nearest = known;
    s->distance = distance;
  }
  snprintf(s->list + used, sizeof s->list - used, "%s'%s'", used ? ", " : "", known);
  s->offered++;
}

const char *weft__suggest_nearest(const suggestion *s) {
  const int size = weft__int_sat(strlen(s->name));
  const int limit = EDIT * (size < 5 ? 1 : size < 9 ? 2 : 3);
  return s->nearest && s->distance <= limit && s->distance < EDIT * size ? s->nearest : NULL;
}

weft_err weft__suggest_fail(const suggestion *s, weft_err code) {
  const char *nearest = weft__suggest_nearest(s);
  if (nearest) return weft__fail(code, "unknown %s '%s'; did you mean '%s'?", s->what, s->name, nearest);
  if (s->offered > FEW) return weft__fail(code, "unknown %s '%s'", s->what, s->name);
  return weft__fail(code, "unknown %s '%s'; known are %s", s->what, s->name, s->list);
}
