/* strings.c - ops on single strings: Substr, StringLength, StringStrip. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "codec/regex.h"
#include "codec/utf8.h"
#include "kernels/work/long_work.h"
#include <string.h>

static bool in_utf8(const kernel *k) { return weft__node_str_is(k->node, "unit", "UTF8_CHAR"); }

/* ---- StringLength ---- */

static weft_err length_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  bool utf8 = in_utf8(k);
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  for (int64_t i = 0; i < weft__tensor_count(x); i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const str *s = TENSOR_DATA(x, str) + i;
    TENSOR_DATA(y, int32_t)[i] = (int32_t)(utf8 ? weft__utf8_length(s) : (int64_t)s->size);
  }
  return WEFT_OK;
}

/* ---- Substr ---- */

static weft_err substr_infer(infer *s) {
  if (s->in[1].rank >= 0 && s->in[2].rank >= 0 && !weft__shape_compatible(&s->in[1], &s->in[2]))
    return weft__infer_fail(s, "Shapes must be equal, but are %s and %s", weft__shape_text(&s->in[1]),
                            weft__shape_text(&s->in[2]));
  return weft__infer_broadcast(s);
}

/* Returns the offset of character n of s, or the end if there are fewer. */
static size_t strings_character(const str *s, int64_t n) {
  size_t i = 0;
  for (; i < s->size; i++)
    if (weft__utf8_begins(s->data[i]) && n-- == 0) break;
  return i;
}

/* Copies the part of s given by pos and len.  As in TensorFlow, a negative len means up to the end. */
static weft_err substr_one(kernel *k, bool utf8, const str *s, const int64_t part[2], int64_t at, str *out) {
  const int64_t pos = part[0], len = part[1];
  int64_t length = utf8 ? weft__utf8_length(s) : (int64_t)s->size, from = pos < 0 ? pos + length : pos;
  if (from < 0 || from > length || (utf8 && len < 0)) {
    if (utf8)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "pos %lld out of range for string at index %lld",
                               (long long)pos, (long long)at);
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "pos %lld out of range for string b'%.*s' at index %lld",
                             (long long)pos, weft__int_sat(s->size), s->size ? s->data : "", (long long)at);
  }
  int64_t to = len < 0 || len > length - from ? length : from + len;
  size_t begin = utf8 ? strings_character(s, from) : (size_t)from, end = utf8 ? strings_character(s, to) : (size_t)to;
  return weft__str_set(out, s->size ? s->data + begin : "", end - begin);
}

/* Returns the index of the element that element i of the broadcast shape `out` reads. */
static int64_t element_of(const shape *s, const shape *out, int64_t i) {
  int64_t offset = 0, run = 1;
  for (int d = out->rank - 1, e = s->rank - 1; e >= 0; d--, e--) {
    int64_t at = i % out->dim[d];
    i /= out->dim[d];
    if (s->dim[e] != 1) offset += at * run;
    run *= s->dim[e];
  }
  return offset;
}

static weft_err substr_cpu(kernel *k) {
  const weft_tensor *x = k->in[0], *pos = k->in[1], *len = k->in[2];
  shape out;
  if (!weft__shape_equal(&pos->shape, &len->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "pos and len should have the same shape, got: %s vs. %s",
                             weft__shape_text(&pos->shape), weft__shape_text(&len->shape));
  if (weft__shape_broadcast(&out, &x->shape, &pos->shape) != WEFT_OK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Incompatible shapes: %s vs. %s", weft__shape_text(&x->shape),
                             weft__shape_text(&pos->shape));
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return WEFT_OOM;
  const int64_t n = weft__tensor_count(y);
  const bool utf8 = in_utf8(k), direct = weft__shape_equal(&x->shape, &out), one = weft__tensor_count(pos) == 1;
  for (int64_t i = 0; i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const int64_t p = one ? 0 : element_of(&pos->shape, &out, i), e = direct ? i : element_of(&x->shape, &out, i);
    const int64_t part[] = {weft__tensor_int(pos, p), weft__tensor_int(len, p)};
    WEFT_TRY(substr_one(k, utf8, TENSOR_DATA(x, str) + e, part, i, TENSOR_DATA(y, str) + i));
  }
  return WEFT_OK;
}

/* ---- StringStrip ---- */

static bool strings_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static weft_err strip_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  for (int64_t i = 0; i < weft__tensor_count(x); i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const str *s = TENSOR_DATA(x, str) + i;
    size_t from = 0, to = s->size;
    while (from < to && strings_is_space(s->data[from])) from++;
    while (to > from && strings_is_space(s->data[to - 1])) to--;
    WEFT_TRY(weft__str_set(TENSOR_DATA(y, str) + i, s->size ? s->data + from : "", to - from));
  }
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case length_cases[] = {
    {"str[3] \"a\" \"\" \"hello world\"", "i32[3] 1 0 11", NULL, 0},
    {"str[1] \"h\xC3\xA9llo\"", "i32[1] 5", "unit='UTF8_CHAR'", 0},
    {"str[] \"h\xC3\xA9llo\"", "i32[] 6", "unit='BYTE'", 0},
    {0},
};

static const op_case substr_cases[] = {
    {"str[2] \"hello\" \"world\"; i32[] 1; i32[] 3", "str[2] \"ell\" \"orl\"", NULL, 0},
    {"str[2] \"hello\" \"world\"; i64[2] 1 -3; i64[2] 3 9", "str[2] \"ell\" \"rld\"", NULL, 0},
    {"str[2] \"hello\" \"world\"; i32[2,1] 1 2; i32[2,1] 1 2", "str[2,2] \"e\" \"o\" \"ll\" \"rl\"", NULL, 0},
    {"str[] \"h\xC3\xA9llo\"; i32[2] 1 2; i32[2] 1 2", "str[2] \"\xC3\xA9\" \"ll\"", "unit='UTF8_CHAR'", 0},
    {"str[1] \"ab\"; i32[] 2; i32[] 1", "str[1] \"\"", NULL, 0},
    {"str[1] \"ab\"; i32[] 3; i32[] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"str[1] \"ab\"; i32[] -3; i32[] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"str[2] \"ab\"; i32[3] 0; i32[3] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"str[2] \"ab\"; i32[] 0; i32[2] 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case strip_cases[] = {
    {"str[3] \"  a b \" \"\" \"   \"", "str[3] \"a b\" \"\" \"\"", NULL, 0},
    {0},
};

#define UNIT "unit:string{'BYTE','UTF8_CHAR'}='BYTE'"

OPS(strings) = {
    {"StringLength(input:string) -> (output:int32) | " UNIT, "How long each string is.", .infer = weft__infer_same,
     .cpu = length_cpu, .cases = length_cases},
    {"Substr(input:string, pos:T, len:T) -> (output:string) | T:type{int32,int64} " UNIT, "A part of each string.",
     .infer = substr_infer, .cpu = substr_cpu, .cases = substr_cases},
    {"StringStrip(input:string) -> (output:string)", "White space at both ends left out.", .infer = weft__infer_same,
     .cpu = strip_cpu, .cases = strip_cases},
    {0},
};
