/* text_read.c - protobuf's text format becomes the bytes of the message it describes.
 *
 * No message is made on the way: the code that unpacks the bytes checks what they hold, as if they had come from a
 * file.  A field that the descriptor has not is read over, as an unknown one is on the wire. */
#include "base/alloc.h"
#include "proto/text.h"
#include "tf.pb-c.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 100, NAME_MAX_SIZE = 128 };
enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 }; /* wire types */

typedef struct reader {
  const char *at, *end;
  int line, depth;
  proto_enum_fn *number_of;
} reader;

typedef char name[NAME_MAX_SIZE];

static weft_err text_refuse(const reader *r, const char *what) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "line %d: %s", r->line, what);
}

/* ---- tokens ---- */

/* Returns the next character after spaces and comments; 0 at the end. */
static char text_peek(reader *r) {
  for (; r->at < r->end; r->at++) {
    if (*r->at == '#')
      while (r->at + 1 < r->end && r->at[1] != '\n') r->at++;
    else if (*r->at == '\n')
      r->line++;
    else if (!isspace((unsigned char)*r->at))
      return *r->at;
  }
  return 0;
}

static bool text_took(reader *r, char c) {
  if (!c || text_peek(r) != c) return false;
  r->at++;
  return true;
}

/* A name, a number or a keyword; whatever no punctuation ends. */
static weft_err read_word(reader *r, name out) {
  size_t n = 0;
  text_peek(r);
  for (; r->at < r->end && *r->at && (isalnum((unsigned char)*r->at) || strchr("_.+-", *r->at)); r->at++) {
    if (n + 1 == NAME_MAX_SIZE) return text_refuse(r, "a word that is too long");
    out[n++] = *r->at;
  }
  out[n] = 0;
  return n ? WEFT_OK : text_refuse(r, r->at < r->end ? "neither a name nor a value" : "it breaks off");
}

/* Up to `most` digits of a base. */
static unsigned read_digits(reader *r, int base, int most) {
  unsigned value = 0;
  for (; most > 0 && r->at < r->end; most--, r->at++) {
    const int c = tolower((unsigned char)*r->at), digit = isdigit(c) ? c - '0' : isalpha(c) ? c - 'a' + 10 : base;
    if (digit >= base) break;
    value = value * (unsigned)base + (unsigned)digit;
  }
  return value;
}

static weft_err read_escape(reader *r, text *out) {
  static const char names[] = "abfnrtv\\'\"?", meanings[] = "\a\b\f\n\r\t\v\\'\"?";
  if (r->at == r->end) return text_refuse(r, "a string that does not end");
  const char *known = *r->at ? strchr(names, *r->at) : NULL; /* which would find its own end */
  char byte;
  if (known)
    byte = meanings[known - names], r->at++;
  else if (*r->at == 'x' || *r->at == 'X')
    r->at++, byte = (char)read_digits(r, 16, 2);
  else if (*r->at >= '0' && *r->at <= '7')
    byte = (char)read_digits(r, 8, 3);
  else
    return text_refuse(r, "an escape that is not known");
  weft__text_add(out, &byte, 1);
  return WEFT_OK;
}

/* "one" 'after another' are one string. */
static weft_err read_string(reader *r, text *out) {
  if (text_peek(r) != '"' && text_peek(r) != '\'') return text_refuse(r, "no string where one belongs");
  while (text_peek(r) == '"' || text_peek(r) == '\'') {
    const char quote = *r->at++;
    for (;;) {
      const char *begin = r->at;
      while (r->at < r->end && *r->at != quote && *r->at != '\\' && *r->at != '\n') r->at++;
      weft__text_add(out, begin, (size_t)(r->at - begin));
      if (r->at == r->end || *r->at == '\n') return text_refuse(r, "a string that does not end");
      if (*r->at++ == quote) break;
      WEFT_TRY(read_escape(r, out));
    }
  }
  return WEFT_OK;
}

/* ---- bytes ---- */

static void text_read_put_varint(text *out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) weft__text_add(out, &(char){(char)(v | 0x80)}, 1);
  weft__text_add(out, &(char){(char)v}, 1);
}

static void put_tag(text *out, const ProtobufCFieldDescriptor *f, int wire) {
  text_read_put_varint(out, (uint64_t)f->id << 3 | (unsigned)wire);
}

static void put_fixed(text *out, uint64_t bits, int bytes) {
  for (int i = 0; i < bytes; i++) weft__text_add(out, &(char){(char)(bits >> (8 * i))}, 1);
}

static void put_bytes(text *out, const ProtobufCFieldDescriptor *f, const text *data) {
  put_tag(out, f, LENGTH);
  text_read_put_varint(out, data->size);
  weft__text_add(out, weft__text_get(data), data->size);
  out->failed |= data->failed;
}

/* ---- values ---- */

static weft_err text_read_put_float(reader *r, text *out, const ProtobufCFieldDescriptor *f, const char *word) {
  char *end;
  const double value = strtod(word, &end);
  if (end == word || (*end && strcmp(end, "f") != 0)) return text_refuse(r, "no number where one belongs");
  const float single = (float)value;
  uint32_t bits32;
  uint64_t bits64;
  memcpy(&bits32, &single, sizeof bits32);
  memcpy(&bits64, &value, sizeof bits64);
  const bool is_double = f->type == PROTOBUF_C_TYPE_DOUBLE;
  put_tag(out, f, is_double ? FIXED64 : FIXED32);
  put_fixed(out, is_double ? bits64 : bits32, is_double ? 8 : 4);
  return WEFT_OK;
}

/* A whole number, a truth, or the name of one: TensorFlow's enumerations are numbers in our messages. */
static weft_err read_whole(reader *r, const char *word, uint64_t *value) {
  char *end;
  const bool is_name = isalpha((unsigned char)*word) || *word == '_';
  int32_t named;
  *value = *word == '-' ? (uint64_t)strtoll(word, &end, 0) : strtoull(word, &end, 0);
  if (!is_name) return end != word && !*end ? WEFT_OK : text_refuse(r, "no whole number where one belongs");
  if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
    *value = word[0] == 't';
    return WEFT_OK;
  }
  if (!r->number_of || !r->number_of(word, &named))
    return weft__fail(WEFT_INVALID_ARGUMENT, "line %d: '%s' is no number and names none", r->line, word);
  *value = (uint64_t)(int64_t)named;
  return WEFT_OK;
}

static weft_err put_whole(reader *r, text *out, const ProtobufCFieldDescriptor *f, const char *word) {
  uint64_t value = 0;
  WEFT_TRY(read_whole(r, word, &value));
  switch (f->type) {
  case PROTOBUF_C_TYPE_SFIXED32:
  case PROTOBUF_C_TYPE_FIXED32: put_tag(out, f, FIXED32), put_fixed(out, value, 4); break;
  case PROTOBUF_C_TYPE_SFIXED64:
  case PROTOBUF_C_TYPE_FIXED64: put_tag(out, f, FIXED64), put_fixed(out, value, 8); break;
  case PROTOBUF_C_TYPE_SINT32:
  case PROTOBUF_C_TYPE_SINT64: put_tag(out, f, VARINT), text_read_put_varint(out, value << 1 ^ -(value >> 63)); break;
  default: put_tag(out, f, VARINT), text_read_put_varint(out, value);
  }
  return WEFT_OK;
}

static weft_err read_fields(reader *r, text *out, const ProtobufCMessageDescriptor *d, char closing);

static weft_err put_message(reader *r, text *out, const ProtobufCFieldDescriptor *f) {
  text inside = {0};
  const char closing = text_took(r, '{') ? '}' : text_took(r, '<') ? '>' : 0;
  if (!closing) return text_refuse(r, "no { where a message belongs");
  weft_err err = read_fields(r, &inside, f ? f->descriptor : NULL, closing);
  if (!err && f) put_bytes(out, f, &inside);
  weft__text_finish(&inside);
  return err;
}

static weft_err text_read_put_string(reader *r, text *out, const ProtobufCFieldDescriptor *f) {
  text value = {0};
  weft_err err = read_string(r, &value);
  if (!err && f) put_bytes(out, f, &value);
  weft__text_finish(&value);
  return err;
}

/* One value; f: NULL if the message has no such field. */
static weft_err put_value(reader *r, text *out, const ProtobufCFieldDescriptor *f) {
  const char c = text_peek(r);
  name word;
  if (f ? f->type == PROTOBUF_C_TYPE_MESSAGE : c == '{' || c == '<') return put_message(r, out, f);
  if (f ? f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_BYTES : c == '"' || c == '\'')
    return text_read_put_string(r, out, f);
  WEFT_TRY(read_word(r, word));
  if (!f) return WEFT_OK;
  return f->type == PROTOBUF_C_TYPE_FLOAT || f->type == PROTOBUF_C_TYPE_DOUBLE ? text_read_put_float(r, out, f, word)
                                                                               : put_whole(r, out, f, word);
}

/* The content of an Any as text writes it, "[type.googleapis.com/tensorflow.AssetFileDef] { ... }", becomes the two
 * fields of an Any: the URL and the bytes of the message.  A message of another type is read over. */
static weft_err text_read_any(reader *r, text *out, const ProtobufCMessageDescriptor *any) {
  char url[NAME_MAX_SIZE];
  size_t n = 0;
  for (; r->at < r->end && *r->at && *r->at != ']' && n + 1 < sizeof url; r->at++) url[n++] = *r->at;
  url[n] = 0;
  if (!text_took(r, ']')) return text_refuse(r, "the type of an Any that does not end");
  text_took(r, ':');
  const char *type = strrchr(url, '/');
  const bool known = strcmp(type ? type + 1 : url, "tensorflow.AssetFileDef") == 0;
  const ProtobufCFieldDescriptor value = {
      .name = "value", .id = 2, .type = PROTOBUF_C_TYPE_MESSAGE, .descriptor = &tensorflow__asset_file_def__descriptor};
  text address = {0};
  if (known) weft__text_puts(&address, url);
  if (known) put_bytes(out, protobuf_c_message_descriptor_get_field_by_name(any, "type_url"), &address);
  weft__text_finish(&address);
  return put_message(r, out, known ? &value : NULL);
}

/* name: value, name { ... }, name: [value, ...] */
static weft_err text_read_field(reader *r, text *out, const ProtobufCMessageDescriptor *d) {
  name field;
  if (text_took(r, '['))
    return d == &tensorflow__any__descriptor ? text_read_any(r, out, d)
                                             : text_refuse(r, "an extension, which is not read");
  WEFT_TRY(read_word(r, field));
  const ProtobufCFieldDescriptor *f = d ? protobuf_c_message_descriptor_get_field_by_name(d, field) : NULL;
  if (!text_took(r, ':') && text_peek(r) != '{' && text_peek(r) != '<') return text_refuse(r, "no ':' after a name");
  if (!text_took(r, '[')) return put_value(r, out, f);
  if (text_took(r, ']')) return WEFT_OK;
  do WEFT_TRY(put_value(r, out, f));
  while (text_took(r, ','));
  return text_took(r, ']') ? WEFT_OK : text_refuse(r, "a list that does not end");
}

/* Up to the character that closes the message; 0: to the end of the text. */
static weft_err read_fields(reader *r, text *out, const ProtobufCMessageDescriptor *d, char closing) {
  if (++r->depth > DEPTH_MAX) return text_refuse(r, "messages nested too deep");
  while (!text_took(r, closing)) {
    if (!text_peek(r)) {
      if (!closing && r->at == r->end) break;
      return text_refuse(r, "it breaks off");
    }
    WEFT_TRY(text_read_field(r, out, d));
    if (!text_took(r, ',')) text_took(r, ';');
  }
  r->depth--;
  return WEFT_OK;
}

weft_err weft__proto_from_text(text *out, const ProtobufCMessageDescriptor *d, const char *source, size_t size,
                               proto_enum_fn *number_of) {
  reader r = {.at = source, .end = source + size, .line = 1, .number_of = number_of};
  WEFT_TRY(read_fields(&r, out, d, 0));
  return out->failed ? WEFT_OOM : WEFT_OK;
}
