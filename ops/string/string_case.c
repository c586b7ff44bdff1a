/* string_case.c - StringLower and StringUpper.
 *
 * The C library's tables map one character to one. Unicode has more rules: some small letters have several capitals
 * ("\u00DF" has "SS"), and a sigma at the end of a word has a small letter of its own. */
#include "base/alloc.h"
#include "base/text.h"
#include "codec/regex.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include <locale.h>
#include <string.h>
#include <wctype.h>

typedef struct capitals {
  int small, large[3]; /* zeros after the last */
} capitals;

/* In order of the small letters; the Greek ones with an iota at U+1F80 are computed. */
static const capitals CAPITALS[] = {{0xdf, {0x53, 0x53}},
                                    {0x149, {0x2bc, 0x4e}},
                                    {0x1f0, {0x4a, 0x30c}},
                                    {0x390, {0x399, 0x308, 0x301}},
                                    {0x3b0, {0x3a5, 0x308, 0x301}},
                                    {0x587, {0x535, 0x552}},
                                    {0x1e96, {0x48, 0x331}},
                                    {0x1e97, {0x54, 0x308}},
                                    {0x1e98, {0x57, 0x30a}},
                                    {0x1e99, {0x59, 0x30a}},
                                    {0x1e9a, {0x41, 0x2be}},
                                    {0x1f50, {0x3a5, 0x313}},
                                    {0x1f52, {0x3a5, 0x313, 0x300}},
                                    {0x1f54, {0x3a5, 0x313, 0x301}},
                                    {0x1f56, {0x3a5, 0x313, 0x342}},
                                    {0x1fb2, {0x1fba, 0x399}},
                                    {0x1fb3, {0x391, 0x399}},
                                    {0x1fb4, {0x386, 0x399}},
                                    {0x1fb6, {0x391, 0x342}},
                                    {0x1fb7, {0x391, 0x342, 0x399}},
                                    {0x1fbc, {0x391, 0x399}},
                                    {0x1fc2, {0x1fca, 0x399}},
                                    {0x1fc3, {0x397, 0x399}},
                                    {0x1fc4, {0x389, 0x399}},
                                    {0x1fc6, {0x397, 0x342}},
                                    {0x1fc7, {0x397, 0x342, 0x399}},
                                    {0x1fcc, {0x397, 0x399}},
                                    {0x1fd2, {0x399, 0x308, 0x300}},
                                    {0x1fd3, {0x399, 0x308, 0x301}},
                                    {0x1fd6, {0x399, 0x342}},
                                    {0x1fd7, {0x399, 0x308, 0x342}},
                                    {0x1fe2, {0x3a5, 0x308, 0x300}},
                                    {0x1fe3, {0x3a5, 0x308, 0x301}},
                                    {0x1fe4, {0x3a1, 0x313}},
                                    {0x1fe6, {0x3a5, 0x342}},
                                    {0x1fe7, {0x3a5, 0x308, 0x342}},
                                    {0x1ff2, {0x1ffa, 0x399}},
                                    {0x1ff3, {0x3a9, 0x399}},
                                    {0x1ff4, {0x38f, 0x399}},
                                    {0x1ff6, {0x3a9, 0x342}},
                                    {0x1ff7, {0x3a9, 0x342, 0x399}},
                                    {0x1ffc, {0x3a9, 0x399}},
                                    {0xfb00, {0x46, 0x46}},
                                    {0xfb01, {0x46, 0x49}},
                                    {0xfb02, {0x46, 0x4c}},
                                    {0xfb03, {0x46, 0x46, 0x49}},
                                    {0xfb04, {0x46, 0x46, 0x4c}},
                                    {0xfb05, {0x53, 0x54}},
                                    {0xfb06, {0x53, 0x54}},
                                    {0xfb13, {0x544, 0x546}},
                                    {0xfb14, {0x544, 0x535}},
                                    {0xfb15, {0x544, 0x53b}},
                                    {0xfb16, {0x54e, 0x546}},
                                    {0xfb17, {0x544, 0x53d}}};

static const capitals *capitals_of(int rune) {
  size_t from = 0, to = sizeof CAPITALS / sizeof *CAPITALS;
  while (from < to) {
    const size_t middle = (from + to) / 2;
    if (CAPITALS[middle].small == rune) return &CAPITALS[middle];
    if (CAPITALS[middle].small < rune)
      from = middle + 1;
    else
      to = middle;
  }
  return NULL;
}

/* Characters that a word's end may have behind its last letter, such as accents: most of what Unicode calls
 * case-ignorable. */
static bool case_ignorable(int r) {
  static const int range[][2] = {
      {0x27, 0x27},     {0x2E, 0x2E},     {0x3A, 0x3A},     {0x5E, 0x5E},     {0x60, 0x60},     {0xA8, 0xA8},
      {0xAD, 0xAD},     {0xAF, 0xAF},     {0xB4, 0xB4},     {0xB7, 0xB8},     {0x2B0, 0x36F},   {0x374, 0x375},
      {0x37A, 0x37A},   {0x384, 0x385},   {0x387, 0x387},   {0x483, 0x489},   {0x559, 0x559},   {0x591, 0x5BD},
      {0x1AB0, 0x1ACE}, {0x1D2C, 0x1D6A}, {0x1DC0, 0x1DFF}, {0x1FBD, 0x1FBD}, {0x1FBF, 0x1FC1}, {0x1FCD, 0x1FCF},
      {0x1FDD, 0x1FDF}, {0x1FED, 0x1FEF}, {0x1FFD, 0x1FFE}, {0x200B, 0x200F}, {0x2018, 0x2019}, {0x2024, 0x2024},
      {0x2027, 0x2027}, {0x20D0, 0x20F0}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}};
  for (size_t i = 0; i < sizeof range / sizeof *range && r >= range[i][0]; i++)
    if (r <= range[i][1]) return true;
  return false;
}

static bool case_has(int r, locale_t tables) { return iswlower_l((wint_t)r, tables) || iswupper_l((wint_t)r, tables); }

/* Returns whether the nearest character behind offset `at`, or before it, that is not ignorable has a case. */
static bool cased_behind(const str *s, size_t at, locale_t tables) {
  int length = 1, rune = 0;
  for (; at < s->size; at += (size_t)length) {
    rune = weft__rune(s->data + at, s->size - at, &length);
    if (!case_ignorable(rune)) return case_has(rune, tables);
  }
  return false;
}

static bool cased_before(const str *s, size_t at, locale_t tables) {
  while (at > 0) {
    size_t from = at - 1;
    while (from > 0 && at - from < 4 && ((unsigned char)s->data[from] & 0xC0) == 0x80) from--;
    int length, rune = weft__rune(s->data + from, at - from, &length);
    if (!case_ignorable(rune)) return case_has(rune, tables);
    at = from;
  }
  return false;
}

static void put_rune(text *t, wint_t r) {
  char b[4];
  size_t n = r < 0x80 ? 1 : r < 0x800 ? 2 : r < 0x10000 ? 3 : 4;
  static const unsigned lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (size_t i = n; i-- > 0; r >>= 6) b[i] = (char)(i == 0 ? lead[n] | r : 0x80 | (r & 0x3F));
  weft__text_add(t, b, n);
}

static void put_upper(text *t, int r, locale_t tables) {
  const capitals *c = r < 0xDF ? NULL : capitals_of(r);
  if (c) {
    for (int i = 0; i < 3 && c->large[i]; i++) put_rune(t, (wint_t)c->large[i]);
  } else if (r >= 0x1F80 && r < 0x1FB0) {
    put_rune(t, (r < 0x1F90 ? 0x1F08 : r < 0x1FA0 ? 0x1F28 : 0x1F68) + ((wint_t)r & 7));
    put_rune(t, 0x399);
  } else {
    put_rune(t, towupper_l((wint_t)r, tables));
  }
}

/* The character r of s lies in the bytes [at, end). */
static void put_lower(text *t, const str *s, size_t at, size_t end, int r, locale_t tables) {
  if (r == 0x130) {
    weft__text_puts(t, "i\xCC\x87");
  } else if (r == 0x3A3 && cased_before(s, at, tables) && !cased_behind(s, end, tables)) {
    put_rune(t, 0x3C2);
  } else {
    put_rune(t, towlower_l((wint_t)r, tables));
  }
}

/* Bytes that are not UTF-8 become "\uFFFD". */
static weft_err turn_utf8(const kernel *k, text *t, const str *s, bool up, locale_t tables) {
  int64_t turn = 0;
  for (size_t i = 0; i < s->size; turn++) {
    WEFT_TRY(weft__long_turn(k, turn));
    int length, rune = weft__rune(s->data + i, s->size - i, &length);
    const size_t end = i + (size_t)length;
    if (rune < 0) rune = 0xFFFD;
    if (up)
      put_upper(t, rune, tables);
    else
      put_lower(t, s, i, end, rune, tables);
    i = end;
  }
  return WEFT_OK;
}

static weft_err turn_ascii(const kernel *k, text *t, const str *s, bool up) {
  const char first = up ? 'a' : 'A', last = up ? 'z' : 'Z';
  char *to = weft__text_reserve(t, s->size);
  for (size_t i = 0; to && i < s->size; i++) {
    WEFT_TRY(weft__long_turn(k, (int64_t)i));
    const char c = s->data[i];
    to[i] = c >= first && c <= last ? (char)(c ^ 0x20) : c;
  }
  t->size += to ? s->size : 0;
  return WEFT_OK;
}

static weft_err turn_all(kernel *k, bool up, locale_t tables) {
  const weft_tensor *x = k->in[0];
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  text t = {0};
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < weft__tensor_count(x) && err == WEFT_OK; i++) {
    const str *s = TENSOR_DATA(x, str) + i;
    t.size = 0;
    if ((err = weft__long_turn(k, i))) break;
    if ((err = tables ? turn_utf8(k, &t, s, up, tables) : turn_ascii(k, &t, s, up))) break;
    err = t.failed ? WEFT_OOM : weft__str_set(TENSOR_DATA(y, str) + i, weft__text_get(&t), t.size);
  }
  weft__text_finish(&t);
  return err;
}

static weft_err turn_case(kernel *k, bool up) {
  attr_str encoding = weft__node_str(k->node, "encoding");
  if (encoding.size == 0) return turn_all(k, up, (locale_t)0);
  if (strcmp(encoding.data, "utf-8") != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "only utf-8 or '' (no encoding) is supported, received %s",
                             encoding.data);
  locale_t tables = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  if (!tables) return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "this system has no C.UTF-8 tables");
  weft_err err = turn_all(k, up, tables);
  freelocale(tables);
  return err;
}

static weft_err lower_cpu(kernel *k) { return turn_case(k, false); }
static weft_err upper_cpu(kernel *k) { return turn_case(k, true); }

static const op_case lower_cases[] = {
    {"str[2] \"aBc1\" \"\"", "str[2] \"abc1\" \"\"", NULL, 0},
    {"str[1] \"\xC3\x89T\"", "str[1] \"\xC3\x89t\"", NULL, 0},
    {"str[1] \"\xC3\x89T\"", "str[1] \"\xC3\xA9t\"", "encoding='utf-8'", 0},
    {"str[1] \"a\"", "error INVALID_ARGUMENT", "encoding='latin'", 0},
    /* the last sigma of a word, one alone, and one that an accent follows; then a capital i with a dot */
    {"str[4] \"\xCE\x91\xCE\xA3\xCE\xA3 \xCE\xA3.\xCE\x91\" \"\xCE\xA3\" \"\xCE\x91\xCE\xA3\xCC\x81 x\" \"\xC4\xB0\"",
     "str[4] \"\xCE\xB1\xCF\x83\xCF\x82 \xCF\x83.\xCE\xB1\" \"\xCF\x83\" \"\xCE\xB1\xCF\x82\xCC\x81 x\" \"i\xCC\x87\"",
     "encoding='utf-8'", 0},
    {0},
};

static const op_case upper_cases[] = {
    {"str[2] \"aBc1\" \"\"", "str[2] \"ABC1\" \"\"", NULL, 0},
    {"str[1] \"\xC3\xA9t\"", "str[1] \"\xC3\x89T\"", "encoding='utf-8'", 0},
    {"str[3] \"\xC3\x9F\" \"\xEF\xAC\x83\" \"\xE1\xBE\x80\xE1\xBE\xB3\"",
     "str[3] \"SS\" \"FFI\" \"\xE1\xBC\x88\xCE\x99\xCE\x91\xCE\x99\"", "encoding='utf-8'", 0},
    {0},
};

OPS(string_case) = {
    {"StringLower(input:string) -> (output:string) | encoding:string=''", "Capitals made small.",
     .infer = weft__infer_same, .cpu = lower_cpu, .cases = lower_cases},
    {"StringUpper(input:string) -> (output:string) | encoding:string=''", "Small letters made capitals.",
     .infer = weft__infer_same, .cpu = upper_cpu, .cases = upper_cases},
    {0},
};
