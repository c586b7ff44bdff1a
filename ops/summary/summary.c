/* summary.c - ScalarSummary, TensorSummary, TensorSummaryV2, MergeSummary: values as Summary messages. */
#include "ops/summary/summary.h"
#include "base/arena.h"
#include "base/cast.h"
#include "graph/op.h"
#include "codec/example.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"

/* ---- ScalarSummary ---- */

static weft_err scalar_cpu(kernel *k) {
  const weft_tensor *tags = k->in[0], *values = k->in[1];
  const str *tag = tags->data;
  const int64_t n = weft__tensor_count(tags);
  if (!weft__shape_equal(&tags->shape, &values->shape)) {
    const bool one = n == 1;
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "tags and values are not the same shape: %s != %s%s%.*s%s",
                             weft__shape_text(&tags->shape), weft__shape_text(&values->shape), one ? " (tag '" : "",
                             one ? weft__int_sat(tag->size) : 0, one && tag->data ? tag->data : "", one ? "')" : "");
  }
  text summary = {0}, one = {0};
  for (int64_t i = 0; i < n; i++) {
    weft__put_bytes(&one, 1, tag[i].data, tag[i].size);
    weft__put_float(&one, 2, (float)weft__tensor_double(values, i));
    weft__put_message(&summary, 1, &one);
  }
  const weft_err err = weft__summary_out(k, &summary);
  weft__text_finish(&one);
  weft__text_finish(&summary);
  return err;
}

/* ---- TensorSummary ---- */

static weft_err summary_put_tensor(text *t, int field, const weft_tensor *x) {
  arena a = {0};
  Tensorflow__TensorProto proto = TENSORFLOW__TENSOR_PROTO__INIT;
  weft_err err = weft__tensor_to_proto(&proto, x, &a);
  uint8_t *packed = NULL;
  if (err == WEFT_OK) {
    const size_t size = tensorflow__tensor_proto__get_packed_size(&proto);
    if ((packed = weft__alloc(size + 1))) {
      tensorflow__tensor_proto__pack(&proto, packed);
      weft__put_bytes(t, field, packed, size);
    } else
      err = WEFT_OOM;
  }
  weft__free(packed);
  weft__arena_finish(&a);
  return err;
}

/* Writes the Value built so far, with x and the metadata (NULL: none), into a Summary. */
static weft_err finish_tensor(text *summary, text *one, const weft_tensor *x, const str *metadata) {
  const weft_err err = summary_put_tensor(one, 8, x);
  if (metadata) weft__put_bytes(one, 9, metadata->data, metadata->size);
  weft__put_message(summary, 1, one);
  weft__text_finish(one);
  return err;
}

weft_err weft__summary_put_tensor(text *summary, const str *tag, const weft_tensor *x, const str *metadata) {
  static const str none;
  if (metadata && weft__proto_scan(&tensorflow__summary_metadata__descriptor, metadata->size ? metadata->data : "",
                                   metadata->size) != WEFT_OK)
    metadata = &none; /* TensorFlow writes the part that it could parse */
  text one = {0};
  weft__put_bytes(&one, 1, tag->data, tag->size);
  return finish_tensor(summary, &one, x, metadata);
}

static weft_err tensor_cpu(kernel *k) {
  text one = {0}, summary = {0};
  weft__put_bytes(&one, 7, k->node->name, strlen(k->node->name));
  weft_err err = finish_tensor(&summary, &one, k->in[0], NULL);
  if (err == WEFT_OK) err = weft__summary_out(k, &summary);
  weft__text_finish(&summary);
  return err;
}

static weft_err tensor_v2_cpu(kernel *k) {
  text summary = {0};
  WEFT_TRY(weft__kernel_scalar(k, 0, "tag"));
  WEFT_TRY(weft__kernel_scalar(k, 2, "serialized_summary_metadata"));
  weft_err err = weft__summary_put_tensor(&summary, k->in[0]->data, k->in[1], k->in[2]->data);
  if (err == WEFT_OK) err = weft__summary_out(k, &summary);
  weft__text_finish(&summary);
  return err;
}

/* ---- MergeSummary ---- */

static weft_err note_tag(const kernel *k, map *seen, bytes one) {
  bytes tag = {0}, found;
  uint32_t field;
  int wire;
  uint64_t number;
  while (one.at < one.end && weft__wire_next(&one, &field, &wire, &found, &number))
    if (field == 1 && wire == WIRE_BYTES) tag = found;
  if (tag.at == tag.end) return WEFT_OK; /* a TensorSummary has no tag */
  char *key = weft__strndup((const char *)tag.at, (size_t)(tag.end - tag.at));
  if (!key) return WEFT_OOM;
  weft_err err = WEFT_OK;
  if (weft__map_get(seen, key))
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Duplicate tag %s found in summary inputs ", key);
  else
    err = weft__map_put(seen, key, seen);
  weft__free(key);
  return err;
}

static weft_err merge_one(const kernel *k, map *seen, text *summary, const str *s) {
  if (weft__proto_scan(&tensorflow__summary__descriptor, s->size ? s->data : "", s->size) != WEFT_OK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Could not parse one of the summary inputs");
  bytes in = weft__bytes(s), one;
  uint32_t field;
  int wire;
  uint64_t number;
  while (in.at < in.end && weft__wire_next(&in, &field, &wire, &one, &number)) {
    if (field != 1 || wire != WIRE_BYTES) continue;
    WEFT_TRY(note_tag(k, seen, one));
    weft__put_bytes(summary, 1, one.at, (size_t)(one.end - one.at));
  }
  return WEFT_OK;
}

static weft_err summary_merge_cpu(kernel *k) {
  map seen = {0};
  text summary = {0};
  weft_err err = WEFT_OK;
  for (int i = 0; i < k->n_in; i++)
    for (int64_t j = 0; j < weft__tensor_count(k->in[i]) && err == WEFT_OK; j++)
      err = merge_one(k, &seen, &summary, TENSOR_DATA(k->in[i], const str) + j);
  if (err == WEFT_OK) err = weft__summary_out(k, &summary);
  weft__text_finish(&summary);
  weft__map_finish(&seen);
  return err;
}

static const op_case scalar_cases[] = {
    {"str[] \"a\"; f32[] 1.5", NULL, NULL, 0},
    {"str[] \"a\"; i64[] 7", NULL, NULL, 0},
    {"str[2] \"a\" \"b\"; f32[2] 1 0", NULL, NULL, 0},
    {"str[1,2] \"a\" \"b\"; bf16[1,2] 1 2", NULL, NULL, 0},
    {"str[] \"loss\"; f64[] nan", NULL, NULL, CASE_FIXED_TYPE},
    {"str[0]; f32[0]", NULL, NULL, 0},
    {"str[] \"a\"; f32[1] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"str[2] \"a\" \"b\"; f32[] 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};
static const op_case tensor_cases[] = {
    {"f32[2] 1 2", NULL, "description='d' labels=['x'] display_name='n'", 0},
    {"i32[2,2] seq", NULL, NULL, 0},
    {"str[2] \"a\" \"bc\"", NULL, NULL, CASE_FIXED_TYPE},
    {"bool[3] true false true", NULL, NULL, CASE_FIXED_TYPE},
    {0},
};
static const op_case tensor_v2_cases[] = {
    {"str[] \"t\"; f32[2] 1 2; str[] \"\"", NULL, NULL, 0},
    {"str[] \"t\"; str[2] \"a\" \"bc\"; str[] \"\"", NULL, NULL, CASE_FIXED_TYPE},
    {0},
};
static const op_case merge_cases[] = {
    {"str[] \"\"; str[] \"\"", "str[] \"\"", NULL, 0},
    {"str[] \"not a summary\"; str[] \"\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(summary) = {
    {"ScalarSummary(tags:string, values:T) -> (summary:string) | T:type{real}",
     "A Summary with one simple value for each tag.", .infer = weft__infer_scalar, .cpu = scalar_cpu, .no_grad = true,
     .cases = scalar_cases},
    {"TensorSummary(tensor:T) -> (summary:string) | T:type description:string='' labels:list(string)=[] "
     "display_name:string=''",
     "A Summary with a tensor, named by its node.", .infer = weft__infer_scalar, .cpu = tensor_cpu, .no_grad = true,
     .cases = tensor_cases},
    {"TensorSummaryV2(tag:string, tensor:T, serialized_summary_metadata:string) -> (summary:string) | T:type",
     "A Summary with a tensor, a tag and metadata.", .infer = weft__infer_scalar, .cpu = tensor_v2_cpu, .no_grad = true,
     .cases = tensor_v2_cases},
    {"MergeSummary(inputs:N*string) -> (summary:string) | N:int>=1", "The values of several Summaries in one.",
     .infer = weft__infer_scalar, .cpu = summary_merge_cpu, .no_grad = true, .cases = merge_cases},
    {0},
};
