/* opdef.c - parses the one-line op definitions.
 *
 * We write the definitions and a test checks them, so the parser is strict.  Its errors are INTERNAL and name the
 * line and the position. */
#include "graph/opdef.h"

#include "base/alloc.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct cursor {
  const char *line, *at;
  arena *arena;
} cursor;

#define MAX_LIST 64

static weft_err opdef_syntax(const cursor *c, const char *what) {
  return weft__fail(WEFT_INTERNAL, "op definition: expected %s at '%.24s' in '%.60s'", what, c->at, c->line);
}

static void skip_space(cursor *c) {
  while (*c->at == ' ') c->at++;
}

static bool opdef_take(cursor *c, const char *token) {
  skip_space(c);
  size_t n = strlen(token);
  if (strncmp(c->at, token, n) != 0) return false;
  c->at += n;
  return true;
}

static weft_err opdef_name(cursor *c, const char **out) {
  skip_space(c);
  const char *begin = c->at;
  while (isalnum((unsigned char)*c->at) || *c->at == '_' || *c->at == '>') c->at++;
  if (c->at == begin) return opdef_syntax(c, "a name");
  *out = weft__arena_strndup(c->arena, begin, (size_t)(c->at - begin));
  return *out ? WEFT_OK : WEFT_OOM;
}

/* ---- values -------------------------------------------------------------------------------- */

static weft_err value_string(cursor *c, attr_str *out) {
  if (!opdef_take(c, "'")) return opdef_syntax(c, "a string in single quotes");
  const char *end = strchr(c->at, '\'');
  if (!end) return opdef_syntax(c, "a closing quote");
  out->size = (size_t)(end - c->at);
  out->data = weft__arena_strndup(c->arena, c->at, out->size);
  c->at = end + 1;
  return out->data ? WEFT_OK : WEFT_OOM;
}

static weft_err value_type(cursor *c, weft_dtype *out) {
  const char *word;
  WEFT_TRY(opdef_name(c, &word));
  *out = weft__dtype_parse(word, strlen(word));
  return *out == WEFT_INVALID ? opdef_syntax(c, "a type before this place") : WEFT_OK;
}

static weft_err value_shape(cursor *c, shape *out) {
  *out = SHAPE_UNKNOWN;
  if (opdef_take(c, "?")) return WEFT_OK;
  if (!opdef_take(c, "[")) return opdef_syntax(c, "a shape");
  out->rank = 0;
  while (!opdef_take(c, "]")) {
    if (out->rank && !opdef_take(c, ",")) return opdef_syntax(c, "','");
    if (out->rank == WEFT_MAX_RANK) return opdef_syntax(c, "fewer dimensions");
    char *end;
    out->dim[out->rank++] = strtoll(c->at, &end, 10);
    if (end == c->at) return opdef_syntax(c, "a dimension");
    c->at = end;
  }
  return WEFT_OK;
}

/* Parses tensor(uint8,[4],255 0 0 255). */
static weft_err value_tensor(cursor *c, weft_tensor **out) {
  weft_dtype type;
  shape s;
  if (!opdef_take(c, "tensor(")) return opdef_syntax(c, "tensor(type,shape,values)");
  WEFT_TRY(value_type(c, &type));
  if (type != WEFT_UINT8 || !opdef_take(c, ",")) return opdef_syntax(c, "a uint8 tensor");
  WEFT_TRY(value_shape(c, &s));
  if (!opdef_take(c, ",")) return opdef_syntax(c, "','");
  WEFT_TRY(weft__tensor_create(out, type, &s));
  for (int64_t i = 0, n = weft__shape_count(&s); i < n; i++) {
    char *end;
    TENSOR_DATA(*out, uint8_t)[i] = (uint8_t)strtol(c->at, &end, 10);
    c->at = end;
  }
  return opdef_take(c, ")") ? WEFT_OK : opdef_syntax(c, "')'");
}

static weft_err value_number(cursor *c, attr *out) {
  char *end;
  if (out->kind == ATTR_INT) {
    out->i = strtoll(c->at, &end, 10);
  } else {
    out->f = strtof(c->at, &end);
  }
  if (end == c->at) return opdef_syntax(c, "a number");
  c->at = end;
  return WEFT_OK;
}

static weft_err value_one(cursor *c, attr *out) {
  skip_space(c);
  switch (out->kind) {
  case ATTR_STRING: return value_string(c, &out->s);
  case ATTR_INT:
  case ATTR_FLOAT: return value_number(c, out);
  case ATTR_BOOL:
    out->b = opdef_take(c, "true");
    return out->b || opdef_take(c, "false") ? WEFT_OK : opdef_syntax(c, "true or false");
  case ATTR_TYPE: return value_type(c, &out->type);
  case ATTR_SHAPE:
    out->shape = weft__arena_alloc(c->arena, sizeof *out->shape);
    return out->shape ? value_shape(c, out->shape) : WEFT_OOM;
  case ATTR_TENSOR: return value_tensor(c, &out->tensor);
  default: return opdef_syntax(c, "a value of a known kind");
  }
}

/* Combines `n` scalar values into a list of their kind. */
static weft_err opdef_gather(cursor *c, attr *out, const attr *item, int n) {
  out->is_list = true;
  out->n = n;
  size_t count = (size_t)(n ? n : 1);
#define GATHER(member, from)                                                                                           \
  {                                                                                                                    \
    out->member = weft__arena_alloc(c->arena, count * sizeof *out->member);                                            \
    if (!out->member) return WEFT_OOM;                                                                                 \
    for (int i = 0; i < n; i++) out->member[i] = item[i].from;                                                         \
    return WEFT_OK;                                                                                                    \
  }
  switch (out->kind) {
  case ATTR_STRING: GATHER(ss, s)
  case ATTR_INT: GATHER(is, i)
  case ATTR_FLOAT: GATHER(fs, f)
  case ATTR_BOOL: GATHER(bs, b)
  case ATTR_TYPE: GATHER(types, type)
  case ATTR_SHAPE: GATHER(shapes, shape[0])
  default: return opdef_syntax(c, "a list of a simple kind");
  }
#undef GATHER
}

static weft_err value_list(cursor *c, attr *out, const char *open, const char *close) {
  attr item[MAX_LIST] = {{0}};
  int n = 0;
  if (!opdef_take(c, open)) return opdef_syntax(c, open);
  while (!opdef_take(c, close)) {
    if (n && !opdef_take(c, ",")) return opdef_syntax(c, "','");
    if (n == MAX_LIST) return opdef_syntax(c, "a shorter list");
    item[n].kind = out->kind;
    WEFT_TRY(value_one(c, &item[n++]));
  }
  return opdef_gather(c, out, item, n);
}

/* Parses allowed values.  TF's two long lists of types have the names from TF's documentation. */
static weft_err value_allowed(cursor *c, attr *out) {
  static const char number[] = "{float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
                               "qint16,quint16,uint16,complex128,half,uint32,uint64}";
  static const char real[] = "{float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64}";
  const char *full = opdef_take(c, "{number}") ? number : opdef_take(c, "{real}") ? real : NULL;
  if (!full) return value_list(c, out, "{", "}");
  cursor inner = {full, full, c->arena};
  return value_list(&inner, out, "{", "}");
}

/* ---- arguments and attributes -------------------------------------------------------------- */

static weft_err opdef_argument(cursor *c, arg_def *out) {
  WEFT_TRY(opdef_name(c, &out->name));
  if (!opdef_take(c, ":")) return opdef_syntax(c, "':'");
  out->is_ref = opdef_take(c, "&");
  if (opdef_take(c, "@")) return opdef_name(c, &out->list_attr);
  const char *word;
  WEFT_TRY(opdef_name(c, &word));
  if (opdef_take(c, "*")) {
    out->number_attr = word;
    WEFT_TRY(opdef_name(c, &word));
  }
  out->type = weft__dtype_parse(word, strlen(word));
  if (out->type == WEFT_INVALID) out->type_attr = word;
  return WEFT_OK;
}

static weft_err opdef_arguments(cursor *c, arg_def **out, int *n) {
  arg_def list[MAX_LIST] = {{0}};
  *n = 0;
  if (!opdef_take(c, "(")) return opdef_syntax(c, "'('");
  while (!opdef_take(c, ")")) {
    if (*n && !opdef_take(c, ",")) return opdef_syntax(c, "','");
    if (*n == MAX_LIST) return opdef_syntax(c, "fewer arguments");
    WEFT_TRY(opdef_argument(c, &list[(*n)++]));
  }
  *out = weft__arena_copy(c->arena, list, sizeof list[0] * (size_t)(*n ? *n : 1));
  return *out ? WEFT_OK : WEFT_OOM;
}

static weft_err opdef_kind_of(cursor *c, attr_kind *kind, bool *is_list) {
  static const struct {
    const char *word;
    attr_kind kind;
  } kinds[] = {{"string", ATTR_STRING}, {"int", ATTR_INT},     {"float", ATTR_FLOAT},   {"bool", ATTR_BOOL},
               {"type", ATTR_TYPE},     {"shape", ATTR_SHAPE}, {"tensor", ATTR_TENSOR}, {"func", ATTR_FUNC}};
  *is_list = opdef_take(c, "list(");
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (!opdef_take(c, kinds[i].word)) continue;
    *kind = kinds[i].kind;
    return *is_list && !opdef_take(c, ")") ? opdef_syntax(c, "')'") : WEFT_OK;
  }
  return opdef_syntax(c, "an attribute kind");
}

static weft_err opdef_attribute(cursor *c, attr_def *out) {
  WEFT_TRY(opdef_name(c, &out->name));
  if (!opdef_take(c, ":")) return opdef_syntax(c, "':'");
  WEFT_TRY(opdef_kind_of(c, &out->kind, &out->is_list));
  if (*c->at == '{') {
    out->allowed.kind = out->kind;
    WEFT_TRY(value_allowed(c, &out->allowed));
  }
  if (*c->at == '>' && opdef_take(c, ">=")) {
    char *end;
    out->has_min = true;
    out->min = strtoll(c->at, &end, 10);
    c->at = end;
  }
  if (*c->at != '=') return WEFT_OK;
  c->at++;
  out->has_default = true;
  out->default_value.name = out->name;
  out->default_value.kind = out->kind;
  if (out->is_list) return value_list(c, &out->default_value, "[", "]");
  return value_one(c, &out->default_value);
}

static weft_err opdef_attributes(cursor *c, attr_def **out, int *n) {
  attr_def list[MAX_LIST] = {{0}};
  *n = 0;
  while (skip_space(c), *c->at && *c->at != ';') {
    if (*n == MAX_LIST) return opdef_syntax(c, "fewer attributes");
    WEFT_TRY(opdef_attribute(c, &list[(*n)++]));
  }
  *out = weft__arena_copy(c->arena, list, sizeof list[0] * (size_t)(*n ? *n : 1));
  return *out ? WEFT_OK : WEFT_OOM;
}

static weft_err opdef_flags(cursor *c, opdef *out) {
  while (skip_space(c), *c->at) {
    if (opdef_take(c, "stateful"))
      out->stateful = true;
    else if (opdef_take(c, "commutative"))
      out->commutative = true;
    else if (opdef_take(c, "aggregate"))
      out->aggregate = true;
    else if (opdef_take(c, "uninit"))
      out->uninit_ok = true;
    else
      return opdef_syntax(c, "a flag");
  }
  return WEFT_OK;
}

weft_err weft__opdef_parse(opdef *out, const char *line, arena *a) {
  cursor c = {line, line, a};
  *out = (opdef){0};
  WEFT_TRY(opdef_name(&c, &out->name));
  WEFT_TRY(opdef_arguments(&c, &out->in, &out->n_in));
  if (!opdef_take(&c, "->")) return opdef_syntax(&c, "'->'");
  WEFT_TRY(opdef_arguments(&c, &out->out, &out->n_out));
  if (opdef_take(&c, "|")) WEFT_TRY(opdef_attributes(&c, &out->attr, &out->n_attr));
  if (opdef_take(&c, ";")) WEFT_TRY(opdef_flags(&c, out));
  skip_space(&c);
  return *c.at ? opdef_syntax(&c, "the end") : WEFT_OK;
}

const attr_def *weft__opdef_attr(const opdef *d, const char *attr_name) {
  for (int i = 0; i < d->n_attr; i++)
    if (strcmp(d->attr[i].name, attr_name) == 0) return &d->attr[i];
  return NULL;
}

void weft__opdef_release(opdef *d) {
  for (int i = 0; i < d->n_attr; i++) weft__attr_release(&d->attr[i].default_value);
}
