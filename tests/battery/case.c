/* case.c - parses the notation of cases; tests/parity/cases.py parses the same notation in Python. */
#include "tests/battery/case.h"

#include "base/alloc.h"
#include <ctype.h>
#include <stdlib.h>

static weft_err bad(const char *what, const char *at) {
  return weft__fail(WEFT_INTERNAL, "case: %s at '%.40s'", what, at);
}

const char *case_part_end(const char *at) {
  bool quoted = false;
  for (; *at && (quoted || *at != ';'); at++) {
    if (*at == '\\' && quoted && at[1])
      at++;
    else if (*at == '"')
      quoted = !quoted;
  }
  return at;
}

/* ---- values ------------------------------------------------------------------------------------- */

static weft_dtype short_type(const char *name, size_t n) {
  static const struct {
    const char *name;
    weft_dtype type;
  } types[] = {{"f16", WEFT_HALF},   {"bf16", WEFT_BFLOAT16}, {"f32", WEFT_FLOAT},     {"f64", WEFT_DOUBLE},
               {"i8", WEFT_INT8},    {"i16", WEFT_INT16},     {"i32", WEFT_INT32},     {"i64", WEFT_INT64},
               {"u8", WEFT_UINT8},   {"u16", WEFT_UINT16},    {"u32", WEFT_UINT32},    {"u64", WEFT_UINT64},
               {"bool", WEFT_BOOL},  {"str", WEFT_STRING},    {"c64", WEFT_COMPLEX64}, {"c128", WEFT_COMPLEX128},
               {"qi8", WEFT_QINT8},  {"qu8", WEFT_QUINT8},    {"qi16", WEFT_QINT16},   {"qu16", WEFT_QUINT16},
               {"qi32", WEFT_QINT32}};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strlen(types[i].name) == n && memcmp(types[i].name, name, n) == 0) return types[i].type;
  return WEFT_INVALID;
}

static void put_number(weft_tensor *t, int64_t i, double re, double im, int64_t whole) {
  switch (t->dtype) {
  case WEFT_HALF: TENSOR_DATA(t, uint16_t)[i] = weft__half_from_float((float)re); break;
  case WEFT_BFLOAT16: TENSOR_DATA(t, uint16_t)[i] = weft__bfloat16_from_float((float)re); break;
  case WEFT_FLOAT: TENSOR_DATA(t, float)[i] = (float)re; break;
  case WEFT_DOUBLE: TENSOR_DATA(t, double)[i] = re; break;
  case WEFT_COMPLEX64: TENSOR_DATA(t, float)[2 * i] = (float)re, TENSOR_DATA(t, float)[2 * i + 1] = (float)im; break;
  case WEFT_COMPLEX128: TENSOR_DATA(t, double)[2 * i] = re, TENSOR_DATA(t, double)[2 * i + 1] = im; break;
  default: memcpy((char *)t->data + (size_t)i * weft__dtype_size(t->dtype), &whole, weft__dtype_size(t->dtype));
  }
}

static bool is_whole(weft_dtype t) {
  dtype_class c = weft__dtype_class(t);
  return c == CLASS_INT || c == CLASS_UINT || c == CLASS_BOOL;
}

/* A small generator of its own: the numbers need only be spread and the same each time. */
static double uniform(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*state >> 11) / 9007199254740992.0;
}

static weft_err generate(weft_tensor *t, const char *kind, uint64_t seed) {
  uint64_t state = 12345 + 977 * seed;
  int64_t below = strncmp(kind, "below:", 6) == 0 ? strtoll(kind + 6, NULL, 10) : 0;
  for (int64_t i = 0, n = weft__tensor_count(t); i < n; i++) {
    double u = uniform(&state), v;
    if (below)
      v = (double)(int64_t)(u * (double)below);
    else if (strncmp(kind, "rand", 4) == 0)
      v = is_whole(t->dtype) ? (double)(int64_t)(u * 11) - 5 : 2 * u - 1;
    else if (strncmp(kind, "pos", 3) == 0)
      v = is_whole(t->dtype) ? 1 + (double)(int64_t)(u * 5) : .1 + 1.9 * u;
    else if (strncmp(kind, "unit", 4) == 0)
      v = .001 + .998 * u;
    else if (strncmp(kind, "seq", 3) == 0)
      v = (double)i;
    else if (strncmp(kind, "normal", 6) == 0)
      v = u + uniform(&state) + uniform(&state) - 1.5;
    else
      return bad("unknown generator", kind);
    int64_t whole = t->dtype == WEFT_BOOL ? v > 0 : (int64_t)v;
    if (weft__dtype_class(t->dtype) == CLASS_UINT && whole < 0) whole = -whole;
    put_number(t, i, v, 2 * uniform(&state) - 1, whole);
  }
  return WEFT_OK;
}

/* "a\n\x01": the escapes of C as far as cases use them.  Returns the place after the closing quote. */
static const char *quoted(const char *at, char *out, size_t *size) {
  *size = 0;
  for (at++; *at && *at != '"'; at++) {
    char c = *at;
    if (c == '\\' && at[1]) {
      c = *++at;
      if (c == 'n')
        c = '\n';
      else if (c == 't')
        c = '\t';
      else if (c == 'r')
        c = '\r';
      else if (c == '0')
        c = 0;
      else if (c == 'x')
        c = (char)strtol((char[]){at[1], at[2], 0}, NULL, 16), at += 2;
    }
    if (*size < 4095) out[(*size)++] = c;
  }
  return *at ? at + 1 : at;
}

static const char *skip(const char *at, const char *end) {
  while (at < end && isspace((unsigned char)*at)) at++;
  return at;
}

static weft_err fill_strings(weft_tensor *t, const char *at, const char *end) {
  char text[4096];
  size_t size = 0;
  for (int64_t i = 0, n = weft__tensor_count(t); i < n; i++) {
    at = skip(at, end);
    if (at < end && *at == '"') at = quoted(at, text, &size);
    WEFT_TRY(weft__str_set(&TENSOR_DATA(t, str)[i], text, size));
  }
  return WEFT_OK;
}

/* A number: "1", "-2.5e3", "0x1f", "nan", "inf", "true", "1+2i". */
static const char *number(const char *at, weft_dtype type, double *re, double *im, int64_t *whole) {
  char *end;
  *im = 0;
  if (strncmp(at, "true", 4) == 0 || strncmp(at, "false", 5) == 0) {
    *re = (double)(*whole = *at == 't');
    return at + (*at == 't' ? 4 : 5);
  }
  if (is_whole(type)) {
    *whole = *at == '-' ? strtoll(at, &end, 0) : (int64_t)strtoull(at, &end, 0);
    *re = (double)*whole;
    return end;
  }
  *re = strtod(at, &end);
  if (*end == 'i' || *end == 'j')
    *im = *re, *re = 0, end++;
  else if (weft__dtype_class(type) == CLASS_COMPLEX && (*end == '+' || *end == '-')) {
    *im = strtod(end, &end);
    end += *end == 'i' || *end == 'j';
  }
  return end;
}

static weft_err fill_numbers(weft_tensor *t, const char *at, const char *end) {
  double re = 0, im = 0;
  int64_t whole = 0;
  for (int64_t i = 0, n = weft__tensor_count(t); i < n; i++) {
    at = skip(at, end);
    if (at < end) {
      const char *next = number(at, t->dtype, &re, &im, &whole);
      if (next == at) return bad("a number was expected", at);
      at = next;
    }
    put_number(t, i, re, im, whole); /* the last one repeats */
  }
  return WEFT_OK;
}

static bool is_generator(const char *at) {
  static const char *const kinds[] = {"rand", "pos", "unit", "seq", "normal", "below:"};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (strncmp(at, kinds[i], strlen(kinds[i])) == 0) return true;
  return false;
}

weft_err case_value(weft_tensor **out, const char *begin, const char *end, uint64_t seed, bool *is_variable) {
  const char *at = skip(begin, end);
  *is_variable = *at == '&';
  at += *is_variable;
  const char *bracket = memchr(at, '[', (size_t)(end - at));
  if (!bracket) return bad("TYPE[DIMS] was expected", begin);
  weft_dtype type = short_type(at, (size_t)(bracket - at));
  if (type == WEFT_INVALID) return bad("unknown type", at);
  shape s = {0};
  for (at = bracket + 1; *at != ']';) {
    char *next;
    if (s.rank == WEFT_MAX_RANK) return bad("too many dimensions", begin);
    s.dim[s.rank++] = strtoll(at, &next, 10);
    if (next == at) return bad("a dimension was expected", at);
    at = *next == ',' ? next + 1 : next;
  }
  WEFT_TRY(weft__tensor_create(out, type, &s));
  at = skip(at + 1, end);
  weft_err err = type == WEFT_STRING ? fill_strings(*out, at, end)
                 : is_generator(at)  ? generate(*out, at, seed)
                                     : fill_numbers(*out, at, end);
  if (err) weft_tensor_destroy(*out);
  return err;
}

weft_err case_read(test_case *out, const op *o, const op_case *c) {
  *out = (test_case){.op = o, .from = c};
  for (const char *at = c->in ? c->in : ""; *skip(at, at + strlen(at));) {
    const char *end = case_part_end(at);
    if (out->n_in == MAX_INPUTS) return bad("too many inputs", at);
    case_input *in = &out->in[out->n_in];
    weft_err err = case_value(&in->value, at, end, (uint64_t)out->n_in, &in->is_variable);
    if (err) {
      case_finish(out);
      return err;
    }
    out->n_in++;
    at = *end ? end + 1 : end;
  }
  return WEFT_OK;
}

void case_finish(test_case *c) {
  for (int i = 0; i < c->n_in; i++) weft_tensor_destroy(c->in[i].value);
  c->n_in = 0;
}
