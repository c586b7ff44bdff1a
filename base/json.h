/* json.h - reads JSON (RFC 8259) into a tree that lives in an arena.  Nesting is bounded. */
#ifndef WEFT_BASE_JSON_H
#define WEFT_BASE_JSON_H

#include "base/arena.h"
#include "base/status.h"

typedef enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } json_kind;

typedef struct json {
  json_kind kind;
  bool truth;         /* of a bool */
  double number;      /* of a number */
  const char *text;   /* of a string: UTF-8, NUL-terminated; a NUL inside is refused */
  const char *key;    /* of a member of an object */
  struct json *first; /* of an array or an object */
  struct json *next;  /* after this one in the same array or object */
} json;

/* INVALID_ARGUMENT says what and at which byte. */
weft_err weft__json_parse(json **out, arena *a, const char *text, size_t size);
/* The member of that name (the last, if there are several); NULL if there is none or `j` is NULL or no object. */
const json *weft__json_get(const json *j, const char *key);

#endif
