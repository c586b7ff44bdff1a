/* string_unicode.c - converts between text and characters: UnicodeDecode, UnicodeDecodeWithOffsets, UnicodeEncode,
 * UnicodeTranscode, UnicodeScript. codec/unicode.h has the encodings. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "base/text.h"
#include "codec/unicode.h"
#include "kernels/array/index.h"
#include "kernels/ragged/ragged.h"
#include "kernels/work/long_work.h"
#include <string.h>

/* ---- the attributes of an op ---- */

typedef struct conversion {
  const kernel *k;
  unicode_encoding from, to;
  bool strict, ignore, control; /* control: also replace control characters */
  int32_t replacement;
} conversion;

static weft_err read_attributes(const kernel *k, conversion *c) {
  const attr_str from = weft__node_str(k->node, "input_encoding"), to = weft__node_str(k->node, "output_encoding"),
                 errors = weft__node_str(k->node, "errors");
  const int64_t replacement = weft__node_int(k->node, "replacement_char", 65533);
  *c = (conversion){.k = k, .strict = !strcmp(errors.data, "strict"), .ignore = !strcmp(errors.data, "ignore")};
  c->from = weft__unicode_encoding(from.data, from.size);
  c->to = weft__unicode_encoding(to.data, to.size);
  c->control = weft__node_bool(k->node, "replace_control_characters", false);
  if (replacement < 0 || replacement > 0x10FFFF || (replacement >= 0xD800 && replacement <= 0xDFFF))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "replacement_char out of unicode codepoint range: %lld",
                             (long long)replacement);
  c->replacement = weft__int_sat(replacement);
  if (from.size && c->from == UNICODE_NONE)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Could not create converter for input encoding: %s (Weft has UTF-8, UTF-16, UTF-32, "
                             "US-ASCII and ISO-8859-1)",
                             from.data);
  return WEFT_OK;
}

/* ---- characters of strings ---- */

typedef struct characters {
  int32_t *c;
  int64_t *start; /* the byte offset of each character in its string */
  int64_t n, room, room_start;
} characters;

static weft_err add_character(characters *all, int32_t c, size_t start) {
  int32_t *grown = weft__array_grow(all->c, &all->room, all->n + 1, sizeof *grown);
  if (!grown) return WEFT_OOM;
  all->c = grown;
  int64_t *starts = weft__array_grow(all->start, &all->room_start, all->n + 1, sizeof *starts);
  if (!starts) return WEFT_OOM;
  all->start = starts;
  all->c[all->n] = c;
  all->start[all->n++] = (int64_t)start;
  return WEFT_OK;
}

/* Adds the characters of one string. */
static weft_err string_unicode_decode(const conversion *v, const str *s, characters *all) {
  const unsigned char *data = (const unsigned char *)(s->size ? s->data : "");
  unicode_encoding from = v->from;
  size_t at = 0;
  weft__unicode_start(&from, data, s->size, &at);
  for (bool first = true; at < s->size; first = false) {
    const size_t start = first ? 0 : at;
    int32_t c = 0;
    const bool valid = weft__unicode_read(from, data, s->size, &at, &c);
    if (!valid && v->strict)
      return weft__kernel_fail(v->k, WEFT_INVALID_ARGUMENT, "Invalid formatting on input string at byte %zu", start);
    if (!valid && v->ignore) continue;
    if (!valid || (v->control && c <= 0x1F)) c = v->replacement;
    WEFT_TRY(add_character(all, c, start));
  }
  return WEFT_OK;
}

static void characters_finish(characters *all) {
  weft__free(all->c);
  weft__free(all->start);
}

/* ---- UnicodeDecode ---- */

static weft_err string_unicode_decode_infer(infer *s) {
  const int64_t n = s->in[0].rank < 0 ? -1 : weft__shape_count(&s->in[0]);
  s->out[0] = SHAPE1(n < 0 ? -1 : n + 1);
  for (int i = 1; i < s->n_out; i++) s->out[i] = SHAPE1(-1);
  return WEFT_OK;
}

static weft_err put_characters(kernel *k, const characters *all) {
  weft_tensor *out = weft__out(k, 1, &SHAPE1(all->n)), *starts = k->n_out > 2 ? weft__out(k, 2, &SHAPE1(all->n)) : NULL;
  if (!out || (k->n_out > 2 && !starts)) return WEFT_OOM;
  if (all->n) memcpy(out->data, all->c, (size_t)all->n * sizeof *all->c);
  if (starts && all->n) memcpy(starts->data, all->start, (size_t)all->n * sizeof *all->start);
  return WEFT_OK;
}

static weft_err string_unicode_decode_cpu(kernel *k) {
  const weft_tensor *in = k->in[0];
  const int64_t n = weft__tensor_count(in);
  conversion v;
  characters all = {0};
  WEFT_TRY(read_attributes(k, &v));
  weft_tensor *splits = weft__out(k, 0, &SHAPE1(n + 1));
  if (!splits) return WEFT_OOM;
  weft__index_put(splits, 0, 0);
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < n && !err; i++) {
    if ((err = weft__long_turn(k, i))) break;
    err = string_unicode_decode(&v, TENSOR_DATA(in, str) + i, &all);
    weft__index_put(splits, i + 1, all.n);
  }
  if (!err) err = put_characters(k, &all);
  characters_finish(&all);
  return err;
}

/* ---- UnicodeEncode ---- */

static weft_err add_encoded(const conversion *v, int32_t c, text *out) {
  unsigned char bytes[4];
  if (!weft__unicode_is_character(c)) {
    if (v->strict)
      return weft__kernel_fail(v->k, WEFT_INVALID_ARGUMENT,
                               "Code point is out of range for Unicode, or a noncharacter: %d", c);
    if (!v->ignore)
      c = v->replacement;
    else if (c < 0 || c > 0x10FFFF)
      return WEFT_OK;
  }
  weft__text_add(out, (const char *)bytes, weft__unicode_write(v->to, c, bytes));
  return WEFT_OK;
}

static weft_err encode_infer(infer *s) {
  shape splits;
  WEFT_TRY(weft__infer_rank(s, 0, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &splits));
  s->out[0] = SHAPE1(splits.dim[0] > 0 ? splits.dim[0] - 1 : -1);
  return WEFT_OK;
}

static weft_err string_unicode_encode_cpu(kernel *k) {
  conversion v;
  text row = {0};
  WEFT_TRY(read_attributes(k, &v));
  WEFT_TRY(weft__kernel_vector(k, 0, "input_values"));
  WEFT_TRY(weft__ragged_check_splits(k, k->in[1], k->in[0]->shape.dim[0]));
  const int64_t n = k->in[1]->shape.dim[0] - 1;
  weft_tensor *out = weft__out(k, 0, &SHAPE1(n));
  if (!out) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < n && !err; i++) {
    if ((err = weft__long_turn(k, i))) break;
    row.size = 0;
    for (int64_t j = weft__index_at(k->in[1], i); j < weft__index_at(k->in[1], i + 1) && !err; j++)
      err = add_encoded(&v, TENSOR_DATA(k->in[0], int32_t)[j], &row);
    if (!err) err = row.failed ? WEFT_OOM : weft__str_set(TENSOR_DATA(out, str) + i, row.data, row.size);
  }
  weft__text_finish(&row);
  return err;
}

/* ---- UnicodeTranscode ---- */

static weft_err transcode_one(const conversion *v, const str *s, str *to) {
  characters all = {0};
  text made = {0};
  weft_err err = string_unicode_decode(v, s, &all);
  for (int64_t i = 0; i < all.n && !err; i++) {
    unsigned char bytes[4];
    weft__text_add(&made, (const char *)bytes, weft__unicode_write(v->to, all.c[i], bytes));
  }
  if (!err) err = made.failed ? WEFT_OOM : weft__str_set(to, made.data, made.size);
  weft__text_finish(&made);
  characters_finish(&all);
  return err;
}

static weft_err transcode_cpu(kernel *k) {
  conversion v;
  WEFT_TRY(read_attributes(k, &v));
  weft_tensor *out = weft__out(k, 0, &k->in[0]->shape);
  if (!out) return WEFT_OOM;
  for (int64_t i = 0; i < weft__tensor_count(out); i++)
    WEFT_TRY(transcode_one(&v, TENSOR_DATA(k->in[0], str) + i, TENSOR_DATA(out, str) + i));
  return WEFT_OK;
}

/* ---- UnicodeScript ---- */

static weft_err script_cpu(kernel *k) {
  weft_tensor *out = weft__out(k, 0, &k->in[0]->shape);
  if (!out) return WEFT_OOM;
  for (int64_t i = 0; i < weft__tensor_count(out); i++)
    TENSOR_DATA(out, int32_t)[i] = weft__unicode_script(TENSOR_DATA(k->in[0], int32_t)[i]);
  return WEFT_OK;
}

/* ---- cases ---- */

#define SOME "str[3] \"h\u00e9\U0001F600\" \"\" \"a\\nb\""

static const op_case decode_cases[] = {
    {SOME, NULL, "input_encoding='UTF-8'", 0},
    {SOME, NULL, "input_encoding='UTF-8' Tsplits=int32 replace_control_characters=true replacement_char=63", 0},
    {SOME, NULL, "input_encoding='US-ASCII' errors='ignore'", 0},
    {SOME, NULL, "input_encoding='ISO-8859-1'", 0},
    {SOME, NULL, "input_encoding='UTF-16-BE'", 0},
    {SOME, NULL, "input_encoding='UTF-32-LE'", 0},
    {"str[2,1] \"ab\" \"c\"", NULL, "input_encoding='utf-8'", 0},
    {SOME, "error INVALID_ARGUMENT", "input_encoding='US-ASCII' errors='strict'", 0},
    {SOME, "error INVALID_ARGUMENT", "input_encoding='nope'", 0},
    {0},
};

/* int64 splits only: TensorFlow aborts if int32 ones are requested. */
static const op_case offset_cases[] = {
    {SOME, NULL, "input_encoding='UTF-8'", CASE_FIXED_TYPE},
    {SOME, NULL, "input_encoding='US-ASCII' errors='ignore'", CASE_FIXED_TYPE},
    {SOME, NULL, "input_encoding='UTF-16-BE'", CASE_FIXED_TYPE},
    {0},
};

static const op_case encode_cases[] = {
    {"i32[7] 104 233 128512 55296 1114112 -1 97; i64[4] 0 3 6 7", NULL, "output_encoding='UTF-8'", 0},
    {"i32[7] 104 233 128512 55296 1114112 -1 97; i32[4] 0 3 6 7", NULL, "output_encoding='UTF-16-BE' errors='ignore'",
     0},
    {"i32[4] 104 233 128512 65534; i64[3] 0 3 4", NULL, "output_encoding='UTF-32-BE' replacement_char=63", 0},
    {"i32[1] 55296; i64[2] 0 1", "error INVALID_ARGUMENT", "output_encoding='UTF-8' errors='strict'", 0},
    {"i32[1] 97; i64[2] 0 2", "error INVALID_ARGUMENT", "output_encoding='UTF-8'", 0},
    {0},
};

static const op_case transcode_cases[] = {
    {SOME, NULL, "input_encoding='UTF-8' output_encoding='UTF-16-BE'", 0},
    {SOME, NULL, "input_encoding='ISO-8859-1' output_encoding='UTF-8'", 0},
    {SOME, NULL, "input_encoding='US-ASCII' output_encoding='UTF-8' replacement_char=63", 0},
    {SOME, NULL, "input_encoding='UTF-8' output_encoding='UTF-32-BE' replace_control_characters=true", 0},
    {SOME, "error INVALID_ARGUMENT", "input_encoding='US-ASCII' output_encoding='UTF-8' errors='strict'", 0},
    {0},
};

static const op_case script_cases[] = {
    {"i32[8] 97 233 1078 12354 20013 128512 -1 1114112", NULL, NULL, 0},
    {"i32[6] 1114111 0 57344 1425 2437 66560", NULL, NULL, 0},
    {"i32[300] seq", NULL, NULL, 0},
    {0},
};

#define INPUT                                                                                                          \
  "input_encoding:string errors:string{'strict','replace','ignore'}='replace' replacement_char:int=65533 "             \
  "replace_control_characters:bool=false"
#define SPLITS " Tsplits:type{int32,int64}=int64"

OPS(string_unicode) = {
    {"UnicodeDecode(input:string) -> (row_splits:Tsplits, char_values:int32) | " INPUT SPLITS,
     "The characters of each string.", .infer = string_unicode_decode_infer, .cpu = string_unicode_decode_cpu,
     .cases = decode_cases},
    {"UnicodeDecodeWithOffsets(input:string) -> (row_splits:Tsplits, char_values:int32, char_to_byte_starts:int64) "
     "| " INPUT SPLITS,
     "The characters of each string, and the byte where each begins.", .infer = string_unicode_decode_infer,
     .cpu = string_unicode_decode_cpu, .cases = offset_cases},
    {"UnicodeEncode(input_values:int32, input_splits:Tsplits) -> (output:string) | "
     "errors:string{'ignore','replace','strict'}='replace' output_encoding:string{'UTF-8','UTF-16-BE','UTF-32-BE'} "
     "replacement_char:int=65533" SPLITS,
     "Strings of rows of characters.", .infer = encode_infer, .cpu = string_unicode_encode_cpu, .cases = encode_cases},
    {"UnicodeTranscode(input:string) -> (output:string) | input_encoding:string "
     "output_encoding:string{'UTF-8','UTF-16-BE','UTF-32-BE'} errors:string{'strict','replace','ignore'}='replace' "
     "replacement_char:int=65533 replace_control_characters:bool=false",
     "Strings in another encoding.", .infer = weft__infer_same, .cpu = transcode_cpu, .cases = transcode_cases},
    {"UnicodeScript(input:int32) -> (output:int32)", "The script of each character, by its number in ICU.",
     .infer = weft__infer_same, .cpu = script_cpu, .cases = script_cases},
    {0},
};
