/* decode_json_example.c - DecodeJSONExample: converts JSON to tf.train.Example messages, by the JSON mapping of
 * protobuf.
 *
 * Names may have either form (int64List or int64_list).  Integers may be numbers or strings.  Bytes may use either
 * base 64 alphabet.  Like TensorFlow, it writes lists unpacked and features in the order of the text. */
#include "base/alloc.h"
#include "base/json.h"
#include "base/text.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "proto/put.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static weft_err json_refused(const char *what, const json *j) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "Error while parsing JSON: %s%s%.100s", what, j->key ? " in " : "",
                    j->key ? j->key : "");
}

static int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static weft_err put_base64(text *t, const json *j) {
  if (j->kind != JSON_STRING) return json_refused("a value of bytesList is no string", j);
  text decoded = {0};
  uint32_t bits = 0;
  int have = 0;
  size_t n = strlen(j->text);
  while (n && j->text[n - 1] == '=') n--;
  for (size_t i = 0; i < n; i++) {
    const int digit = base64_digit(j->text[i]);
    if (digit < 0 || n % 4 == 1) {
      weft__text_finish(&decoded);
      return json_refused("a value of bytesList is not in base 64", j);
    }
    bits = (bits << 6 | (uint32_t)digit) & 0xffffff;
    have += 6;
    if (have >= 8) weft__text_add(&decoded, (char[]){(char)(bits >> (have -= 8) & 0xff)}, 1);
  }
  weft__put_message(t, 1, &decoded);
  return WEFT_OK;
}

static weft_err decode_json_example_put_float(text *t, const json *j) {
  double v = j->number;
  char *end = NULL;
  if (j->kind == JSON_STRING) {
    const bool spelled = !strcmp(j->text, "NaN") || !strcmp(j->text, "Infinity") || !strcmp(j->text, "-Infinity");
    v = strtod(j->text, &end);
    if (!j->text[0] || *end || (!isfinite(v) && !spelled)) return json_refused("a value of floatList is no number", j);
  } else if (j->kind != JSON_NUMBER)
    return json_refused("a value of floatList is no number", j);
  if (isfinite(v) && fabs(v) > (double)__FLT_MAX__) return json_refused("a value of floatList is too large", j);
  const float f = (float)v;
  weft__put_varint(t, 1 << 3 | 5);
  weft__text_add(t, (const char *)&f, sizeof f);
  return WEFT_OK;
}

static weft_err put_int64(text *t, const json *j) {
  int64_t v = 0;
  if (j->kind == JSON_STRING) {
    char *end = NULL;
    errno = 0;
    v = strtoll(j->text, &end, 10);
    if (!j->text[0] || *end || errno) return json_refused("a value of int64List is no integer", j);
  } else if (j->kind == JSON_NUMBER && j->number == floor(j->number) && fabs(j->number) < 0x1p63)
    v = (int64_t)j->number;
  else
    return json_refused("a value of int64List is no integer", j);
  weft__put_varint(t, 1 << 3);
  weft__put_varint(t, (uint64_t)v);
  return WEFT_OK;
}

/* ---- messages ---- */

typedef weft_err json_put(text *t, const json *j);

static const struct {
  const char *name, *other;
  json_put *put;
} lists[] = {{"bytesList", "bytes_list", put_base64},
             {"floatList", "float_list", decode_json_example_put_float},
             {"int64List", "int64_list", put_int64}};

static weft_err check_object(const json *j) {
  return j->kind == JSON_OBJECT ? WEFT_OK : json_refused("an object is expected", j);
}

/* {"value": [...]} */
static weft_err decode_json_example_put_values(text *t, const json *list, json_put *put) {
  WEFT_TRY(check_object(list));
  for (const json *j = list->first; j; j = j->next) {
    if (strcmp(j->key, "value")) return json_refused("Cannot find field", j);
    if (j->kind == JSON_NULL) continue;
    if (j->kind != JSON_ARRAY) WEFT_TRY(put(t, j)); /* a single value needs no array */
    for (const json *v = j->first; v; v = v->next) WEFT_TRY(put(t, v));
  }
  return WEFT_OK;
}

/* {"int64List": {...}} */
static weft_err put_feature(text *t, const json *feature) {
  WEFT_TRY(check_object(feature));
  int given = 0;
  for (const json *j = feature->first; j; j = j->next) {
    int i = 0;
    while (i < 3 && strcmp(j->key, lists[i].name) && strcmp(j->key, lists[i].other)) i++;
    if (i == 3) return json_refused("Cannot find field", j);
    if (j->kind == JSON_NULL) continue;
    if (given++) return json_refused("a feature has two lists", j);
    text values = {0};
    const weft_err err = decode_json_example_put_values(&values, j, lists[i].put);
    if (err) weft__text_finish(&values);
    WEFT_TRY(err);
    weft__put_message(t, i + 1, &values);
  }
  return WEFT_OK;
}

/* {NAME: {...}}: the entries of a map */
static weft_err put_features(text *t, const json *features) {
  WEFT_TRY(check_object(features));
  for (const json *j = features->first; j; j = j->next) {
    text entry = {0}, feature = {0};
    weft__put_bytes(&entry, 1, j->key, strlen(j->key));
    const weft_err err = put_feature(&feature, j);
    weft__put_message(&entry, 2, &feature);
    weft__put_message(t, 1, &entry);
    WEFT_TRY(err);
  }
  return WEFT_OK;
}

/* Reads a message that has only this field. */
static weft_err put_only(text *t, const json *j, const char *field, json_put *put, bool nested) {
  WEFT_TRY(check_object(j));
  for (const json *m = j->first; m; m = m->next) {
    if (strcmp(m->key, field)) return json_refused("Cannot find field", m);
    if (m->kind == JSON_NULL) continue;
    text inner = {0};
    const weft_err err = put(nested ? &inner : t, m);
    if (nested) weft__put_message(t, 1, &inner);
    WEFT_TRY(err);
  }
  return WEFT_OK;
}

static weft_err put_feature_map(text *t, const json *j) { return put_only(t, j, "feature", put_features, false); }

static weft_err decode_one(const str *from, str *to) {
  arena a = {0};
  text t = {0};
  json *j = NULL;
  weft_err err = weft__json_parse(&j, &a, from->size ? from->data : "", from->size);
  if (!err) err = put_only(&t, j, "features", put_feature_map, true);
  if (!err) err = t.failed ? WEFT_OOM : weft__str_set(to, weft__text_get(&t), t.size);
  weft__text_finish(&t);
  weft__arena_finish(&a);
  return err;
}

static weft_err decode_json_example_cpu(kernel *k) {
  const weft_tensor *in = k->in[0];
  weft_tensor *out = weft__out(k, 0, &in->shape);
  if (!out) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (int64_t i = 0, n = weft__tensor_count(in); i < n && !err; i++)
    err = decode_one(&TENSOR_DATA(in, str)[i], &TENSOR_DATA(out, str)[i]);
  return weft__kernel_in(k, err);
}

static const op_case json_cases[] = {
    {"str[2] \"{}\" \"{}\"", "str[2] \"\" \"\"", NULL, 0},
    {"str[] \"[]\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[] \"\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(decode_json_example) = {
    {"DecodeJSONExample(json_examples:string) -> (binary_examples:string)", "tf.train.Example messages from JSON.",
     .infer = weft__infer_same, .cpu = decode_json_example_cpu, .cases = json_cases},
    {0},
};
