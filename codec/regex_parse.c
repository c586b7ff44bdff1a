/* regex_parse.c - parses the text of a pattern to a tree, by recursive descent.
 *
 * The depth of recursion and the sizes that repetitions multiply are bounded, so that no pattern can exhaust the
 * stack or memory.  The error messages are RE2's. */
#include "base/alloc.h"
#include "codec/regex.h"

#include <string.h>

enum { MAX_NESTING = 500, MAX_TIMES = 1000, MAX_RUNE = 0x10FFFF };

enum { FOLD = 1, MULTI_LINE = 2, DOT_NL = 4, UNGREEDY = 8 };

typedef struct parser {
  arena *arena;
  const char *begin, *s, *end;
  int flags, groups, depth;
  text *why;
  weft_err err;
} parser;

int weft__rune(const char *s, size_t size, int *length) {
  const unsigned char *p = (const unsigned char *)s;
  static const int least[] = {0, 0, 0x80, 0x800, 0x10000};
  int n = p[0] < 0x80 ? 1 : p[0] >= 0xC2 && p[0] < 0xE0 ? 2 : (p[0] & 0xF0) == 0xE0 ? 3 : (p[0] & 0xF8) == 0xF0 ? 4 : 0;
  *length = 1;
  if (n == 1) return p[0];
  if (n == 0 || (size_t)n > size) return -1;
  int rune = p[0] & (0xFF >> (n + 1));
  for (int i = 1; i < n; i++) {
    if ((p[i] & 0xC0) != 0x80) return -1;
    rune = rune << 6 | (p[i] & 0x3F);
  }
  if (rune < least[n] || rune > MAX_RUNE || (rune >= 0xD800 && rune < 0xE000)) return -1;
  *length = n;
  return rune;
}

/* ---- helpers ---- */

static regex_node *regex_refuse(parser *p, const char *what, const char *from, const char *to) {
  if (p->err == WEFT_OK) {
    p->err = WEFT_INVALID_ARGUMENT;
    weft__text_puts(p->why, what);
    if (from) weft__text_puts(p->why, ": ");
    if (from) weft__text_add(p->why, from, (size_t)(to - from));
  }
  return NULL;
}

static regex_node *regex_make(parser *p, regex_kind kind, regex_node *left, regex_node *right) {
  regex_node *n = weft__arena_alloc(p->arena, sizeof *n);
  if (!n) {
    p->err = WEFT_OOM;
    return NULL;
  }
  n->kind = kind;
  n->left = left;
  n->right = right;
  return n;
}

static bool regex_more(const parser *p) { return p->s < p->end; }
static bool next_is(const parser *p, const char *word) {
  size_t n = strlen(word);
  return (size_t)(p->end - p->s) >= n && memcmp(p->s, word, n) == 0;
}
static bool regex_skip(parser *p, const char *word) {
  if (!next_is(p, word)) return false;
  p->s += strlen(word);
  return true;
}

/* Reads the next rune of the pattern. */
static int regex_take(parser *p) {
  int length, rune = weft__rune(p->s, (size_t)(p->end - p->s), &length);
  if (rune < 0) regex_refuse(p, "invalid UTF-8", NULL, NULL);
  p->s += length;
  return rune;
}

/* ---- sets of runes ---- */

static void set_add(parser *p, rune_set *set, int low, int high) {
  const weft_err err = WEFT_ARENA_RESERVE(p->arena, set->range, set->capacity, set->n + 1);
  if (err)
    p->err = err;
  else
    set->range[set->n++] = (rune_range){low, high};
}

static int clip_low(int v, int low) { return v < low ? low : v; }
static int clip_high(int v, int high) { return v > high ? high : v; }

/* Adds the other case of the letters in [low, high]. */
static void set_add_folded(parser *p, rune_set *set, int low, int high) {
  set_add(p, set, low, high);
  if (!(p->flags & FOLD)) return;
  int a = clip_low(low, 'a'), z = clip_high(high, 'z');
  if (a <= z) set_add(p, set, a - 32, z - 32);
  a = clip_low(low, 'A'), z = clip_high(high, 'Z');
  if (a <= z) set_add(p, set, a + 32, z + 32);
}

/* Returns the ranges of a named class, as pairs of runes. */
static const char *class_pairs(int letter) {
  switch (letter) {
  case 'd': return "09";
  case 's': return "\t\n\f\r  ";
  case 'w': return "09AZ__az";
  default: return NULL;
  }
}

/* Adds the ranges, or everything outside them if negated.  The ranges ascend. */
static void add_pairs(parser *p, rune_set *set, const char *pairs, size_t n, bool negated) {
  int from = 0;
  for (size_t i = 0; i < n; i += 2) {
    if (!negated)
      set_add_folded(p, set, pairs[i], pairs[i + 1]);
    else if (from < pairs[i])
      set_add(p, set, from, pairs[i] - 1);
    from = pairs[i + 1] + 1;
  }
  if (negated) set_add(p, set, from, MAX_RUNE);
}

/* If \d, \S, ... comes next, adds it and returns true. */
static bool perl_class(parser *p, rune_set *set) {
  if (p->end - p->s < 2 || p->s[0] != '\\') return false;
  int letter = p->s[1];
  const char *pairs = class_pairs(letter | 0x20);
  if (!pairs) return false;
  p->s += 2;
  add_pairs(p, set, pairs, strlen(pairs), letter < 'a');
  return true;
}

/* Parses [:alpha:] inside a class. */
static bool posix_class(parser *p, rune_set *set) {
  static const struct {
    const char *name, *pairs;
  } classes[] = {{"alnum", "09AZaz"},  {"alpha", "AZaz"},     {"ascii", NULL},     {"blank", "\t\t  "},
                 {"cntrl", NULL},      {"digit", "09"},       {"graph", "!~"},     {"lower", "az"},
                 {"print", " ~"},      {"punct", "!/:@[`{~"}, {"space", "\t\r  "}, {"upper", "AZ"},
                 {"word", "09AZ__az"}, {"xdigit", "09AFaf"}};
  if (!next_is(p, "[:")) return false;
  const char *close = p->s + 2;
  while (close + 1 < p->end && memcmp(close, ":]", 2) != 0) close++;
  if (close + 1 >= p->end) return false;
  const char *name = p->s + 2;
  bool negated = *name == '^';
  if (negated) name++;
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    if (strlen(classes[i].name) != (size_t)(close - name) || memcmp(name, classes[i].name, (size_t)(close - name)) != 0)
      continue;
    p->s = close + 2;
    if (classes[i].pairs)
      add_pairs(p, set, classes[i].pairs, strlen(classes[i].pairs), negated);
    else if (classes[i].name[0] == 'a')
      add_pairs(p, set, "\0\177", 2, negated);
    else
      add_pairs(p, set, "\0\037\177\177", 4, negated);
    return true;
  }
  regex_refuse(p, "invalid character class range", p->s, close + 2);
  return true;
}

static int hex_digit(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses \xFF or \x{10FFFF}, after the x.  Returns -1 if it is neither. */
static int hex_rune(parser *p) {
  int v = 0, digits = 0;
  bool braced = regex_skip(p, "{");
  while (regex_more(p) && hex_digit(*p->s) >= 0 && v <= MAX_RUNE && (braced || digits < 2)) {
    v = v * 16 + hex_digit(*p->s++);
    digits++;
  }
  if (braced && !regex_skip(p, "}")) return -1;
  return digits < (braced ? 1 : 2) || v > MAX_RUNE ? -1 : v;
}

/* Parses a backslash escape that stands for one rune. */
static int regex_escaped(parser *p) {
  static const char letters[] = "aftnrv", meant[] = "\a\f\t\n\r\v";
  const char *from = p->s++;
  if (!regex_more(p)) {
    regex_refuse(p, "trailing \\", NULL, NULL);
    return -1;
  }
  int c = regex_take(p), v = -1;
  const char *letter = c > 0 && c < 128 ? strchr(letters, c) : NULL;
  if (letter) return meant[letter - letters];
  if (c == 'x')
    v = hex_rune(p);
  else if (c == '0' || (c >= '1' && c <= '7' && regex_more(p) && *p->s >= '0' && *p->s <= '7')) {
    v = c - '0';
    for (int i = 0; i < 2 && regex_more(p) && *p->s >= '0' && *p->s <= '7'; i++) v = v * 8 + *p->s++ - '0';
  } else if (c >= 0 && c < 128 && !(c >= '0' && c <= '9') && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z')) {
    v = c; /* punctuation stands for itself */
  }
  if (v < 0) regex_refuse(p, "invalid escape sequence", from, p->s);
  return v;
}

static int class_rune(parser *p, const char *open) {
  if (!regex_more(p)) {
    regex_refuse(p, "missing ]", open, p->end);
    return -1;
  }
  return *p->s == '\\' ? regex_escaped(p) : regex_take(p);
}

/* Parses [...]. */
static regex_node *parse_bracket(parser *p) {
  const char *open = p->s++;
  regex_node *n = regex_make(p, RE_SET, NULL, NULL);
  if (!n) return NULL;
  n->set.negated = regex_skip(p, "^");
  for (bool first = true; p->err == WEFT_OK && (first || !regex_more(p) || *p->s != ']'); first = false) {
    const char *from = p->s;
    if (regex_more(p) && (posix_class(p, &n->set) || perl_class(p, &n->set))) continue;
    int low = class_rune(p, open), high = low;
    if (p->end - p->s >= 2 && p->s[0] == '-' && p->s[1] != ']') {
      p->s++;
      high = class_rune(p, open);
      if (p->err == WEFT_OK && high < low) return regex_refuse(p, "invalid character class range", from, p->s);
    }
    if (p->err == WEFT_OK) set_add_folded(p, &n->set, low, high);
  }
  p->s++; /* the closing bracket */
  return n;
}

static regex_node *parse_literal(parser *p, int rune) {
  regex_node *n = regex_make(p, RE_SET, NULL, NULL);
  if (n) set_add_folded(p, &n->set, rune, rune);
  return n;
}

static regex_node *any_rune(parser *p) {
  regex_node *n = regex_make(p, RE_SET, NULL, NULL);
  if (!n) return NULL;
  n->set.negated = true;
  if (!(p->flags & DOT_NL)) set_add(p, &n->set, '\n', '\n');
  return n;
}

/* ---- atoms ---- */

static regex_node *parse_alternatives(parser *p);

/* Parses (?i) or (?i-s:...).  Returns true after the flags; *scoped is set if a group with these flags follows. */
static bool read_flags(parser *p, const char *open, bool *scoped) {
  int sign = 1, flags = p->flags;
  for (; regex_more(p); p->s++) {
    int bit = *p->s == 'i' ? FOLD : *p->s == 'm' ? MULTI_LINE : *p->s == 's' ? DOT_NL : *p->s == 'U' ? UNGREEDY : 0;
    if (bit)
      flags = sign > 0 ? flags | bit : flags & ~bit;
    else if (*p->s == '-' && sign > 0)
      sign = -1;
    else
      break;
  }
  *scoped = regex_more(p) && *p->s == ':';
  if (!regex_more(p))
    regex_refuse(p, "missing )", p->begin, p->end);
  else if (*p->s != ':' && *p->s != ')')
    regex_refuse(p, "invalid perl operator", open, p->s + 1);
  p->s++;
  if (p->err == WEFT_OK) p->flags = flags;
  return p->err == WEFT_OK;
}

/* After "(?P<": skips the name and its bracket. */
static void skip_name(parser *p, const char *open) {
  const char *name = p->s;
  while (regex_more(p) &&
         (*p->s == '_' || (*p->s >= '0' && *p->s <= '9') || ((*p->s | 0x20) >= 'a' && (*p->s | 0x20) <= 'z')))
    p->s++;
  if (p->s == name || !regex_skip(p, ">")) regex_refuse(p, "invalid named capture group", open, p->end);
}

static regex_node *regex_group(parser *p) {
  const char *open = p->s++;
  int before = p->flags, number = -1;
  bool scoped = true;
  if (regex_skip(p, "?P<")) {
    skip_name(p, open);
    number = ++p->groups;
  } else if (regex_skip(p, "?")) {
    if (!read_flags(p, open, &scoped)) return NULL;
    if (!scoped) return regex_make(p, RE_EMPTY, NULL, NULL); /* the flags apply to the end of the enclosing group */
  } else {
    number = ++p->groups;
  }
  if (++p->depth > MAX_NESTING) return regex_refuse(p, "nesting too deep", open, p->end);
  if (number >= REGEX_MAX_GROUPS) return regex_refuse(p, "too many groups", open, p->end);
  regex_node *inside = parse_alternatives(p);
  p->depth--;
  p->flags = before;
  if (p->err != WEFT_OK) return NULL;
  if (!regex_skip(p, ")")) return regex_refuse(p, "missing )", p->begin, p->end);
  if (number < 0) return inside;
  regex_node *n = regex_make(p, RE_GROUP, inside, NULL);
  if (n) n->min = number;
  return n;
}

static regex_node **regex_append(parser *p, regex_kind kind, regex_node **at, regex_node *one);

static regex_node *regex_quoted(parser *p) { /* after \Q */
  regex_node *all = NULL, **at = &all;
  while (regex_more(p) && p->err == WEFT_OK && !regex_skip(p, "\\E"))
    at = regex_append(p, RE_CAT, at, parse_literal(p, regex_take(p)));
  return all ? all : regex_make(p, RE_EMPTY, NULL, NULL);
}

static regex_node *regex_escape(parser *p) {
  if (regex_skip(p, "\\A")) return regex_make(p, RE_BEGIN_TEXT, NULL, NULL);
  if (regex_skip(p, "\\z")) return regex_make(p, RE_END_TEXT, NULL, NULL);
  if (regex_skip(p, "\\b")) return regex_make(p, RE_WORD, NULL, NULL);
  if (regex_skip(p, "\\B")) return regex_make(p, RE_NOT_WORD, NULL, NULL);
  if (regex_skip(p, "\\Q")) return regex_quoted(p);
  regex_node *n = regex_make(p, RE_SET, NULL, NULL);
  if (!n || perl_class(p, &n->set)) return n;
  int rune = regex_escaped(p);
  return p->err == WEFT_OK ? parse_literal(p, rune) : NULL;
}

static regex_node *regex_atom(parser *p) {
  switch (*p->s) {
  case '(': return regex_group(p);
  case '[': return parse_bracket(p);
  case '\\': return regex_escape(p);
  case '.': p->s++; return any_rune(p);
  case '^': p->s++; return regex_make(p, p->flags & MULTI_LINE ? RE_BEGIN_LINE : RE_BEGIN_TEXT, NULL, NULL);
  case '$': p->s++; return regex_make(p, p->flags & MULTI_LINE ? RE_END_LINE : RE_END_TEXT, NULL, NULL);
  case '*':
  case '+':
  case '?': return regex_refuse(p, "no argument for repetition operator", p->s, p->s + 1);
  default: break;
  }
  int rune = regex_take(p);
  return p->err == WEFT_OK ? parse_literal(p, rune) : NULL;
}

/* ---- repetition, sequence, alternatives ---- */

static bool regex_digits(parser *p, int *v) {
  const char *from = p->s;
  for (*v = 0; regex_more(p) && *p->s >= '0' && *p->s <= '9'; p->s++)
    if (*v <= MAX_TIMES) *v = *v * 10 + *p->s - '0';
  return p->s > from;
}

/* Parses {2} {2,} {2,5}; anything else is literal text. */
static bool parse_braces(parser *p, int *min, int *max) {
  const char *from = p->s++;
  bool ok = regex_digits(p, min);
  *max = *min;
  if (ok && regex_skip(p, ",") && !regex_digits(p, max)) *max = -1;
  if (ok && regex_skip(p, "}")) return true;
  p->s = from;
  return false;
}

static bool parse_repetition(parser *p, int *min, int *max) {
  if (!regex_more(p)) return false;
  if (*p->s == '{') return parse_braces(p, min, max);
  if (*p->s != '*' && *p->s != '+' && *p->s != '?') return false;
  *min = *p->s == '+';
  *max = *p->s == '?' ? 1 : -1;
  p->s++;
  return true;
}

/* Returns the maximum number of runes that a tree can match, which repetitions multiply.  It is bounded, as in RE2. */
static long regex_weight(const regex_node *n) {
  long sum = 0;
  for (; n && (n->kind == RE_CAT || n->kind == RE_ALT); n = n->right) sum += 1 + regex_weight(n->left);
  if (!n) return sum;
  long one = 1 + regex_weight(n->left);
  int times = n->kind != RE_TIMES ? 1 : n->max > n->min ? n->max : n->min;
  return sum + (times > 1 ? one * times : one);
}

static regex_node *regex_repeated(parser *p) {
  regex_node *n = regex_atom(p);
  const char *from = p->s;
  int min, max;
  if (p->err != WEFT_OK || !parse_repetition(p, &min, &max)) return n;
  if (min > MAX_TIMES || max > MAX_TIMES || (max >= 0 && max < min))
    return regex_refuse(p, "invalid repetition size", from, p->s);
  regex_node *times = regex_make(p, RE_TIMES, n, NULL);
  if (!times) return NULL;
  times->min = min;
  times->max = max;
  times->greedy = !regex_skip(p, "?");
  if (p->flags & UNGREEDY) times->greedy = !times->greedy;
  if (parse_repetition(p, &min, &max)) return regex_refuse(p, "bad repetition operator", from, p->s);
  if (regex_weight(times) > 100L * MAX_TIMES) return regex_refuse(p, "pattern too large - compile failed", NULL, NULL);
  return times;
}

/* Appends to a list that grows at its right end, so that its length does not add depth. */
static regex_node **regex_append(parser *p, regex_kind kind, regex_node **at, regex_node *one) {
  if (!*at) {
    *at = one;
    return at;
  }
  regex_node *n = regex_make(p, kind, *at, one);
  if (!n) return at;
  *at = n;
  return &n->right;
}

static regex_node *regex_sequence(parser *p) {
  regex_node *all = NULL, **at = &all;
  while (regex_more(p) && *p->s != '|' && *p->s != ')' && p->err == WEFT_OK)
    at = regex_append(p, RE_CAT, at, regex_repeated(p));
  return all ? all : regex_make(p, RE_EMPTY, NULL, NULL);
}

static regex_node *parse_alternatives(parser *p) {
  regex_node *all = regex_sequence(p), **at = &all;
  while (p->err == WEFT_OK && regex_skip(p, "|")) at = regex_append(p, RE_ALT, at, regex_sequence(p));
  return all;
}

weft_err weft__regex_parse(arena *a, const char *pattern, size_t size, regex_node **out, int *groups, text *why) {
  parser p = {.arena = a, .begin = pattern, .s = pattern, .end = pattern + size, .why = why};
  *out = parse_alternatives(&p);
  if (p.err == WEFT_OK && regex_more(&p)) regex_refuse(&p, "unexpected )", p.begin, p.end);
  *groups = p.groups;
  return p.err;
}
