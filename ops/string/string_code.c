/* string_code.c - web-safe base 64: EncodeBase64, DecodeBase64. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void string_code_encode(text *t, const str *s, bool pad) {
  for (size_t i = 0; i < s->size; i += 3) {
    size_t n = s->size - i < 3 ? s->size - i : 3;
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; j++) bits = bits << 8 | (j < n ? (unsigned char)s->data[i + j] : 0);
    char four[4];
    for (int j = 0; j < 4; j++) four[j] = alphabet[bits >> (18 - 6 * j) & 63];
    weft__text_add(t, four, n + 1);
    if (pad) weft__text_add(t, "==", 3 - n);
  }
}

static weft_err string_code_encode_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  bool pad = weft__node_bool(k->node, "pad", false);
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  text t = {0};
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < weft__tensor_count(x) && err == WEFT_OK; i++) {
    if ((err = weft__long_turn(k, i))) break;
    t.size = 0;
    string_code_encode(&t, TENSOR_DATA(x, str) + i, pad);
    err = t.failed ? WEFT_OOM : weft__str_set(TENSOR_DATA(y, str) + i, weft__text_get(&t), t.size);
  }
  weft__text_finish(&t);
  return err;
}

/* Appends the decoded bytes.  Returns NULL, or the text of an error. */
static const char *string_code_decode(text *t, const str *s) {
  size_t n = s->size;
  if (n % 4 == 0) /* '=' is padding only in a whole group of four */
    for (int i = 0; i < 2 && n > 0 && s->data[n - 1] == '='; i++) n--;
  if (n % 4 == 1) return "Base64 string length cannot be 1 modulo 4.";
  uint32_t bits = 0;
  for (size_t i = 0; i < n; i++) {
    const char *at = s->data[i] ? strchr(alphabet, s->data[i]) : NULL;
    if (!at) return "Invalid character found in base64.";
    bits = bits << 6 | (uint32_t)(at - alphabet);
    int filled = weft__int_sat(i % 4); /* characters 1, 2 and 3 of a group each complete a byte */
    if (filled > 0) weft__text_add(t, &(char){(char)(bits >> (6 - 2 * filled))}, 1);
  }
  return NULL;
}

static weft_err string_code_decode_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  text t = {0};
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < weft__tensor_count(x) && err == WEFT_OK; i++) {
    if ((err = weft__long_turn(k, i))) break;
    t.size = 0;
    const char *wrong = string_code_decode(&t, TENSOR_DATA(x, str) + i);
    if (wrong)
      err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s", wrong);
    else
      err = t.failed ? WEFT_OOM : weft__str_set(TENSOR_DATA(y, str) + i, weft__text_get(&t), t.size);
  }
  weft__text_finish(&t);
  return err;
}

static const op_case encode_cases[] = {
    {"str[4] \"a\" \"ab\" \"abc\" \"\"", "str[4] \"YQ\" \"YWI\" \"YWJj\" \"\"", NULL, 0},
    {"str[3] \"a\" \"ab\" \"abc\"", "str[3] \"YQ==\" \"YWI=\" \"YWJj\"", "pad=true", 0},
    {"str[] \"\xC3\xBF?>\"", "str[] \"w78_Pg\"", NULL, 0},
    {0},
};

static const op_case decode_cases[] = {
    {"str[5] \"YQ\" \"YWI\" \"YWJj\" \"w78_Pg==\" \"\"", "str[5] \"a\" \"ab\" \"abc\" \"\xC3\xBF?>\" \"\"", NULL, 0},
    {"str[1] \"Y\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[1] \"YQ+/\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[1] \"YQ=\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(string_code) = {
    {"EncodeBase64(input:string) -> (output:string) | pad:bool=false", "Bytes spelt in 64 safe characters.",
     .infer = weft__infer_same, .cpu = string_code_encode_cpu, .no_grad = true, .cases = encode_cases},
    {"DecodeBase64(input:string) -> (output:string)", "The bytes that 64 safe characters spell.",
     .infer = weft__infer_same, .cpu = string_code_decode_cpu, .no_grad = true, .cases = decode_cases},
    {0},
};
