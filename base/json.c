/* json.c - a recursive-descent parser: one pass, one token of look-ahead, recursion bounded by DEPTH. */
#include "base/json.h"
#include "base/assert.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 64, NUMBER = 64 /* characters of a number */ };

typedef struct json_reader {
  arena *arena;
  const char *begin, *at, *end;
  int depth;
} json_reader;

static weft_err json_fail(const json_reader *r, const char *what) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "JSON: %s at byte %zu", what, (size_t)(r->at - r->begin));
}

static void json_skip_space(json_reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

/* Skips white space, and consumes the character if it comes next. */
static bool json_accept(json_reader *r, char c) {
  json_skip_space(r);
  if (r->at >= r->end || *r->at != c) return false;
  r->at++;
  return true;
}

static bool json_accept_word(json_reader *r, const char *word) {
  size_t n = strlen(word);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
  r->at += n;
  return true;
}

/* ---- strings ---- */

static int json_read_hex4(json_reader *r) {
  int value = 0;
  if (r->end - r->at < 4) return -1;
  for (int i = 0; i < 4; i++) {
    int c = (unsigned char)r->at[i];
    if (!isxdigit(c)) return -1;
    value = value * 16 + (isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
  }
  r->at += 4;
  return value;
}

static char *json_put_utf8(char *to, int c) {
  if (c < 0x80) return *to++ = (char)c, to;
  if (c < 0x800) {
    *to++ = (char)(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      *to++ = (char)(0xE0 | c >> 12);
    } else {
      *to++ = (char)(0xF0 | c >> 18);
      *to++ = (char)(0x80 | (c >> 12 & 63));
    }
    *to++ = (char)(0x80 | (c >> 6 & 63));
  }
  *to++ = (char)(0x80 | (c & 63));
  return to;
}

/* Reads the code point after "\u", which may be written as a pair of surrogates. */
static weft_err json_read_unicode(json_reader *r, char **to) {
  int c = json_read_hex4(r);
  if (c >= 0xD800 && c < 0xDC00) {
    int low = json_accept_word(r, "\\u") ? json_read_hex4(r) : -1;
    if (low < 0xDC00 || low > 0xDFFF) return json_fail(r, "half of a surrogate pair");
    c = 0x10000 + (c - 0xD800) * 0x400 + (low - 0xDC00);
  } else if (c <= 0 || (c >= 0xDC00 && c < 0xE000)) {
    return json_fail(r, "a \\u that is no letter");
  }
  *to = json_put_utf8(*to, c);
  return WEFT_OK;
}

static weft_err json_read_escape(json_reader *r, char **to) {
  static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
  if (r->at >= r->end) return json_fail(r, "the text ends inside a string");
  char c = *r->at++;
  if (c == 'u') return json_read_unicode(r, to);
  const char *found = c ? strchr(from, c) : NULL;
  if (!found) return json_fail(r, "an unknown escape");
  *(*to)++ = into[found - from];
  return WEFT_OK;
}

/* Reads a string after its opening quote.  Its value is never longer than its spelling. */
static weft_err json_read_string(json_reader *r, const char **out) {
  const char *close = r->at;
  while (close < r->end && *close != '"') close += *close == '\\' && r->end - close > 1 ? 2 : 1;
  char *to = weft__arena_alloc(r->arena, (size_t)(close - r->at) + 1);
  if (!to) return WEFT_RESOURCE_EXHAUSTED;
  *out = to;
  while (r->at < r->end && *r->at != '"') {
    if ((unsigned char)*r->at < 0x20) return json_fail(r, "a control letter inside a string");
    if (*r->at != '\\')
      *to++ = *r->at++;
    else if (r->at++, json_read_escape(r, &to) != WEFT_OK)
      return WEFT_INVALID_ARGUMENT;
  }
  if (r->at >= r->end) return json_fail(r, "the text ends inside a string");
  r->at++;
  return WEFT_OK;
}

/* ---- values ---- */

static weft_err json_read_value(json_reader *r, json **out);

static weft_err json_read_number(json_reader *r, json *j) {
  char digits[NUMBER];
  size_t n = 0;
  while (r->at + n < r->end && n < NUMBER - 1 && r->at[n] && strchr("+-.0123456789eE", r->at[n])) n++;
  memcpy(digits, r->at, n);
  digits[n] = 0;
  char *stop = digits;
  j->kind = JSON_NUMBER;
  j->number = n && digits[0] != '+' && digits[0] != '.' ? strtod(digits, &stop) : 0;
  if (n == 0 || stop != digits + n) return json_fail(r, "neither a value nor a number");
  r->at += n;
  return WEFT_OK;
}

/* Reads the members of an array or an object up to the closing character. */
static weft_err json_read_members(json_reader *r, json *j, char close) {
  if (++r->depth > DEPTH) return json_fail(r, "nested too deep");
  json **tail = &j->first;
  while (!json_accept(r, close)) {
    const char *key = NULL;
    if (j->first && !json_accept(r, ',')) return json_fail(r, "a comma is missing");
    if (j->kind == JSON_OBJECT) {
      if (!json_accept(r, '"')) return json_fail(r, "a name is missing");
      WEFT_TRY(json_read_string(r, &key));
      if (!json_accept(r, ':')) return json_fail(r, "a colon is missing");
    }
    WEFT_TRY(json_read_value(r, tail));
    (*tail)->key = key;
    tail = &(*tail)->next;
  }
  r->depth--;
  return WEFT_OK;
}

static weft_err json_read_value(json_reader *r, json **out) {
  json *j = *out = weft__arena_alloc(r->arena, sizeof *j);
  if (!j) return WEFT_RESOURCE_EXHAUSTED;
  if (json_accept(r, '"')) return j->kind = JSON_STRING, json_read_string(r, &j->text);
  if (json_accept(r, '[')) return j->kind = JSON_ARRAY, json_read_members(r, j, ']');
  if (json_accept(r, '{')) return j->kind = JSON_OBJECT, json_read_members(r, j, '}');
  if (json_accept_word(r, "null")) return WEFT_OK;
  j->kind = JSON_BOOL;
  if (json_accept_word(r, "true")) return j->truth = true, WEFT_OK;
  if (json_accept_word(r, "false")) return WEFT_OK;
  return json_read_number(r, j);
}

weft_err weft__json_parse(json **out, arena *a, const char *text, size_t size) {
  json_reader r = {a, text, text, text + size, 0};
  WEFT_TRY(json_read_value(&r, out));
  WEFT_ASSERT(r.depth == 0 && r.at <= r.end);
  json_skip_space(&r);
  return r.at == r.end ? WEFT_OK : json_fail(&r, "something after the end");
}

const json *weft__json_get(const json *j, const char *key) {
  const json *found = NULL;
  if (!j || j->kind != JSON_OBJECT) return NULL;
  for (const json *m = j->first; m; m = m->next)
    if (strcmp(m->key, key) == 0) found = m;
  return found;
}
