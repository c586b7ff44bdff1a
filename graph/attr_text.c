/* attr_text.c - parses attributes in text form, each like the default value in an op definition. */
#include "graph/attr_text.h"

#include "base/cast.h"
#include <ctype.h>
#include <stdio.h>

/* Returns the end of the attribute that begins at `at`: a space outside quotes and brackets. */
static const char *attr_end(const char *at) {
  int depth = 0;
  bool quote = false;
  for (; *at; at++) {
    if (*at == '\'') quote = !quote;
    if (quote) continue;
    if (*at == '[' || *at == '(') depth++;
    if (*at == ']' || *at == ')') depth--;
    if (isspace((unsigned char)*at) && depth == 0) break;
  }
  return at;
}

static const char *kind_word(attr_kind kind) {
  static const char *const words[] = {"", "string", "int", "float", "bool", "type", "shape", "tensor", "func", ""};
  return words[kind];
}

static weft_err read_one(const opdef *d, const char *at, const char *end, arena *a, attr *out) {
  const char *equals = memchr(at, '=', (size_t)(end - at));
  if (!equals)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s: '%.*s' is not name=value", d->name, weft__int_sat(end - at), at);
  char *name = weft__arena_strndup(a, at, (size_t)(equals - at));
  const attr_def *def = name ? weft__opdef_attr(d, name) : NULL;
  if (!def)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s has no attribute '%.*s'", d->name, weft__int_sat(equals - at), at);
  char line[2048];
  int size = snprintf(line, sizeof line, def->is_list ? "X() -> () | %s:list(%s)=%.*s" : "X() -> () | %s:%s=%.*s",
                      def->name, kind_word(def->kind), weft__int_sat(end - equals - 1), equals + 1);
  opdef parsed;
  if (size >= (int)sizeof line || weft__opdef_parse(&parsed, line, a) != WEFT_OK)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s: '%.*s' is not a value for the %s '%s'", d->name,
                      weft__int_sat(end - equals - 1), equals + 1, kind_word(def->kind), def->name);
  *out = parsed.attr[0].default_value;
  return WEFT_OK;
}

weft_err weft__attrs_read(const opdef *d, const char *text, arena *a, attr *list, int room, int *n) {
  for (const char *at = text ? text : ""; *at;) {
    while (isspace((unsigned char)*at)) at++;
    if (!*at) break;
    const char *end = attr_end(at);
    if (*n == room) return weft__fail(WEFT_INVALID_ARGUMENT, "%s: more than %d attributes", d->name, room);
    WEFT_TRY(read_one(d, at, end, a, &list[*n]));
    (*n)++;
    at = end;
  }
  return WEFT_OK;
}
