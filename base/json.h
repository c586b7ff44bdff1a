/* json.h - parses JSON (RFC 8259) into a tree in an arena.
 *
 * Nesting is bounded, so that a document cannot exhaust the stack.  Not thread safe: a tree belongs to the owner of its
 * arena. */
#ifndef WEFT_BASE_JSON_H
#define WEFT_BASE_JSON_H

#include "base/arena.h"
#include "base/status.h"

typedef enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } json_kind;

typedef struct json {
  json_kind kind;
  bool truth;         /* of a bool */
  double number;      /* of a number */
  const char *text;   /* of a string: UTF-8, NUL-terminated; the parser refuses a NUL inside */
  const char *key;    /* of a member of an object */
  struct json *first; /* element of an array, or member of an object */
  struct json *next;  /* after this one in the same array or object */
} json;

/* Parses the text into *out, whose memory is all from `a`.  Returns INVALID_ARGUMENT with the problem and its byte, or
 * RESOURCE_EXHAUSTED. */
weft_err weft__json_parse(json **out, arena *a, const char *text, size_t size);
/* Returns the member with that key, borrowed from the tree; the last one if there are several.  Returns NULL if there
 * is none, or if `j` is NULL or not an object. */
const json *weft__json_get(const json *j, const char *key);

#endif
