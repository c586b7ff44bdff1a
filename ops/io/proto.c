/* proto.c - DecodeProtoV2 and EncodeProto: fields of serialized protobuf messages as tensors, and back.
 *
 * The type of the message comes from a FileDescriptorSet, which is in a file or in the attribute itself, or is one of
 * TensorFlow's own messages.  Decoding walks the bytes of each message twice: first to count the values of each field,
 * because the largest count of the batch is the last dimension, then to store them. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "codec/descriptor.h"
#include "graph/kernel.h"
#include "io/confine.h"
#include "io/file.h"
#include "proto/put.h"
#include <stdlib.h>
#include <string.h>

typedef struct proto_plan {
  proto_message message;
  int n; /* of the fields that the op names */
  const proto_field **field;
} proto_plan;

/* ---- making the plan ---- */

static weft_err plan_source(const weft_node *node, const char *message, proto_message *out) {
  const attr_str source = weft__node_str(node, "descriptor_source");
  static const char local[] = "local://", inside[] = "bytes://";
  if (source.size == 0 || (source.size == sizeof local - 1 && memcmp(source.data, local, source.size) == 0))
    return weft__descriptor_find_local(message, out);
  const uint8_t *data = (const uint8_t *)source.data;
  if (source.size >= sizeof inside - 1 && memcmp(source.data, inside, sizeof inside - 1) == 0)
    return weft__descriptor_find((bytes){data + sizeof inside - 1, data + source.size}, message, out);
  text all = {0};
  weft_err err = weft__path_allowed(source.data);
  if (!err) err = weft__file_read(source.data, &all);
  data = (const uint8_t *)weft__text_get(&all);
  if (!err) err = weft__descriptor_find((bytes){data, data + all.size}, message, out);
  weft__text_finish(&all);
  return err;
}

static bool plan_fits(proto_type t, weft_dtype d) {
  switch (t) {
  case PROTO_DOUBLE: return d == WEFT_DOUBLE;
  case PROTO_FLOAT: return d == WEFT_FLOAT || d == WEFT_DOUBLE;
  case PROTO_INT64:
  case PROTO_SFIXED64:
  case PROTO_SINT64: return d == WEFT_INT64;
  case PROTO_FIXED64:
  case PROTO_UINT64: return d == WEFT_UINT64;
  case PROTO_INT32:
  case PROTO_SFIXED32:
  case PROTO_SINT32: return d == WEFT_INT32 || d == WEFT_INT64;
  case PROTO_FIXED32:
  case PROTO_UINT32: return d == WEFT_UINT32 || d == WEFT_UINT64;
  case PROTO_ENUM: return d == WEFT_INT32;
  case PROTO_BOOL: return d == WEFT_BOOL;
  default: return d == WEFT_STRING;
  }
}

static const proto_field *plan_find(const proto_message *m, attr_str name) {
  for (int64_t i = 0; i < m->n; i++)
    if (strlen(m->field[i].name) == name.size && memcmp(m->field[i].name, name.data, name.size) == 0)
      return &m->field[i];
  return NULL;
}

static weft_err plan_fields(const weft_node *node, const char *types_attr, proto_plan *p) {
  const attr *names = weft__node_attr(node, "field_names"), *types = weft__node_attr(node, types_attr);
  const char *message = weft__node_str(node, "message_type").data;
  p->n = names ? names->n : 0;
  p->field = weft__alloc_zero((size_t)p->n + 1, sizeof *p->field);
  if (!p->field) return WEFT_OOM;
  if (p->n != (types ? types->n : 0))
    return weft__fail(WEFT_INVALID_ARGUMENT, "field_names and %s attributes must be the same length: %d and %d",
                      types_attr, p->n, types ? types->n : 0);
  for (int i = 0; i < p->n; i++) {
    p->field[i] = plan_find(&p->message, names->ss[i]);
    if (!p->field[i])
      return weft__fail(WEFT_INVALID_ARGUMENT, "Unknown field: %s in message type %s", names->ss[i].data, message);
    if (!plan_fits(p->field[i]->type, types->types[i]))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Unexpected output type for %s.%s: %s", message, names->ss[i].data,
                        weft__dtype_name(types->types[i]));
  }
  return WEFT_OK;
}

static void plan_free(void *state) {
  proto_plan *p = state;
  if (!p) return;
  weft__descriptor_finish(&p->message);
  weft__free(p->field);
  weft__free(p);
}

static weft_err plan_make(const weft_node *node, const char *types_attr, void **state) {
  proto_plan *p = weft__alloc_zero(1, sizeof *p);
  if (!p) return WEFT_OOM;
  const char *message = weft__node_str(node, "message_type").data;
  weft_err err = plan_source(node, message, &p->message);
  if (err == WEFT_NOT_FOUND)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "No descriptor found for message type %s", message);
  if (!err) err = plan_fields(node, types_attr, p);
  if (err)
    plan_free(p);
  else
    *state = p;
  return err;
}

/* ---- decoding ---- */

static weft_err decode_prepare(const weft_node *node, void **state) {
  const attr_str format = weft__node_str(node, "message_format");
  if (strcmp(format.data, "binary") != 0 && strcmp(format.data, "text") != 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "format must be one of binary or text");
  if (format.data[0] == 't')
    return weft__fail(WEFT_UNIMPLEMENTED, "Weft's DecodeProtoV2 reads message_format='binary' only, not 'text'");
  WEFT_TRY(plan_make(node, "output_types", state));
  const proto_plan *p = *state;
  for (int i = 0; weft__node_bool(node, "sanitize", false) && i < p->n; i++)
    if (p->field[i]->type == PROTO_MESSAGE) { /* numbers and strings are the same either way */
      plan_free(*state);
      *state = NULL;
      return weft__fail(WEFT_UNIMPLEMENTED, "Weft's DecodeProtoV2 does not sanitize messages inside messages: leave "
                                            "sanitize=True out, or decode the inner message by itself");
    }
  return WEFT_OK;
}

typedef struct decoding {
  const proto_plan *plan;
  int32_t *sizes;     /* of this message, one per field */
  weft_tensor **out;  /* NULL while counting */
  int64_t row, *wide; /* the message; the room of each field */
} decoding;

static int64_t proto_unzigzag(uint64_t v) { return (int64_t)(v >> 1) ^ -(int64_t)(v & 1); }

/* Stores a number with the bits v, which is of the field's type, as an element of the tensor. */
static void decode_number(const proto_field *f, uint64_t v, weft_tensor *t, int64_t i) {
  float f32;
  double f64;
  const uint32_t low = (uint32_t)v;
  memcpy(&f32, &low, sizeof f32);
  memcpy(&f64, &v, sizeof f64);
  const bool is_signed = f->type == PROTO_SFIXED32 || f->type == PROTO_INT32 || f->type == PROTO_ENUM;
  int64_t whole = f->type == PROTO_SINT32   ? (int64_t)weft__bits_int32((uint64_t)proto_unzigzag(low))
                  : f->type == PROTO_SINT64 ? proto_unzigzag(v)
                                            : (int64_t)v;
  if (is_signed) whole = weft__bits_int32(low);
  if (f->type == PROTO_UINT32 || f->type == PROTO_FIXED32) whole = (int64_t)low;
  switch (t->dtype) {
  case WEFT_DOUBLE: TENSOR_DATA(t, double)[i] = f->type == PROTO_FLOAT ? (double)f32 : f64; break;
  case WEFT_FLOAT: TENSOR_DATA(t, float)[i] = f32; break;
  case WEFT_BOOL: TENSOR_DATA(t, bool)[i] = v != 0; break;
  case WEFT_INT32:
  case WEFT_UINT32: TENSOR_DATA(t, int32_t)[i] = (int32_t)whole; break;
  default: TENSOR_DATA(t, int64_t)[i] = whole; break;
  }
}

static int wire_of(proto_type t) {
  switch (t) {
  case PROTO_DOUBLE:
  case PROTO_FIXED64:
  case PROTO_SFIXED64: return WIRE_FIXED64;
  case PROTO_FLOAT:
  case PROTO_FIXED32:
  case PROTO_SFIXED32: return WIRE_FIXED32;
  case PROTO_STRING:
  case PROTO_BYTES:
  case PROTO_MESSAGE: return WIRE_BYTES;
  case PROTO_GROUP: return -1;
  default: return WIRE_VARINT;
  }
}

static bool proto_read_varint(bytes *in, uint64_t *out) {
  uint64_t v = 0;
  for (int shift = 0; shift < 64 && in->at < in->end; shift += 7) {
    const uint8_t byte = *in->at++;
    v |= (uint64_t)(byte & 0x7f) << shift;
    *out = v;
    if (byte < 0x80) return true;
  }
  return false;
}

static bool read_fixed(bytes *in, size_t size, uint64_t *out) {
  *out = 0;
  if ((size_t)(in->end - in->at) < size) return false;
  memcpy(out, in->at, size);
  in->at += size;
  return true;
}

/* Counts n more values of a field.  The counts are an output, of int32. */
static weft_err decode_count(const decoding *d, int i, int64_t n) {
  const int64_t total = d->plan->field[i]->repeated ? d->sizes[i] + n : 1;
  if (total > INT32_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "field %s of message %lld has more than %d values",
                      d->plan->field[i]->name, (long long)d->row, INT32_MAX);
  d->sizes[i] = weft__int_sat(total);
  return WEFT_OK;
}

/* Adds a value of a field: counts it, or stores it.  A later value of a field that is not repeated replaces the first.
 */
static weft_err decode_value(const decoding *d, int i, uint64_t number, bytes content) {
  const proto_field *f = d->plan->field[i];
  const int64_t at = f->repeated ? d->sizes[i] : 0;
  WEFT_TRY(decode_count(d, i, 1));
  if (!d->out) return WEFT_OK;
  weft_tensor *t = d->out[i];
  if (t->dtype == WEFT_STRING)
    return weft__str_set(&TENSOR_DATA(t, str)[d->row * d->wide[i] + at], content.at,
                         (size_t)(content.end - content.at));
  decode_number(f, number, t, d->row * d->wide[i] + at);
  return WEFT_OK;
}

static weft_err decode_packed(const decoding *d, int i, int wire, bytes content, bool *ok) {
  const int64_t each = wire == WIRE_FIXED64 ? 8 : 4, size = content.end - content.at;
  if (!d->out && wire != WIRE_VARINT) { /* by their bytes, of which there may be gigabytes */
    *ok = size % each == 0;
    return *ok ? decode_count(d, i, size / each) : WEFT_OK;
  }
  while (content.at < content.end) {
    uint64_t number = 0;
    *ok = wire == WIRE_VARINT ? proto_read_varint(&content, &number)
                              : read_fixed(&content, wire == WIRE_FIXED64 ? 8 : 4, &number);
    if (!*ok) return WEFT_OK;
    WEFT_TRY(decode_value(d, i, number, (bytes){0}));
  }
  return WEFT_OK;
}

/* Walks over a message.  *ok becomes false if it is malformed. */
static weft_err decode_message(const decoding *d, bytes in, bool *ok) {
  const proto_plan *p = d->plan;
  while (in.at < in.end && *ok) {
    uint32_t field = 0;
    int wire = 0;
    bytes content = {0};
    uint64_t number = 0;
    *ok = weft__wire_next(&in, &field, &wire, &content, &number);
    for (int i = 0, met = 0; i < p->n && *ok && !met; i++) {
      if (p->field[i]->number != field) continue;
      met = 1; /* a field that is named twice has its values only once, as in TensorFlow */
      const int wanted = wire_of(p->field[i]->type);
      if (wire == WIRE_FIXED32 || wire == WIRE_FIXED64)
        *ok = read_fixed(&(bytes){content.at, content.end}, wire == WIRE_FIXED64 ? 8 : 4, &number);
      if (*ok && wire == wanted)
        WEFT_TRY(decode_value(d, i, number, content));
      else if (*ok && wire == WIRE_BYTES && p->field[i]->repeated)
        WEFT_TRY(decode_packed(d, i, wanted, content, ok));
    }
  }
  return WEFT_OK;
}

/* Sets all elements to the default value of the field. */
static weft_err decode_defaults(const proto_field *f, weft_tensor *t) {
  const int64_t n = weft__tensor_count(t);
  const char *s = f->fallback;
  for (int64_t i = 0; i < n; i++) {
    if (t->dtype == WEFT_STRING)
      WEFT_TRY(weft__str_set(&TENSOR_DATA(t, str)[i], s, strlen(s)));
    else if (t->dtype == WEFT_BOOL)
      TENSOR_DATA(t, bool)[i] = strcmp(s, "true") == 0;
    else if (t->dtype == WEFT_FLOAT || t->dtype == WEFT_DOUBLE)
      weft__tensor_set_real(t, i, *s ? t->dtype == WEFT_FLOAT ? (double)strtof(s, NULL) : strtod(s, NULL) : 0);
    else if (weft__dtype_size(t->dtype) == 4)
      TENSOR_DATA(t, int32_t)[i] = (int32_t)strtoll(s, NULL, 10);
    else
      TENSOR_DATA(t, int64_t)[i] = s[0] == '-' ? strtoll(s, NULL, 10) : (int64_t)strtoull(s, NULL, 10);
  }
  return WEFT_OK;
}

static weft_err decode_all(kernel *k, decoding *d, int32_t *sizes) {
  const int64_t n = weft__tensor_count(k->in[0]);
  for (d->row = 0; d->row < n; d->row++) {
    bool ok = true;
    const str *s = &TENSOR_DATA(k->in[0], str)[d->row];
    d->sizes = sizes + d->row * d->plan->n;
    memset(d->sizes, 0, (size_t)d->plan->n * sizeof *d->sizes);
    WEFT_TRY(weft__kernel_in(k, decode_message(d, weft__bytes(s), &ok)));
    if (!ok) return weft__kernel_fail(k, WEFT_DATA_LOSS, "Unable to parse binary protobuf");
    for (int i = 0; i < d->plan->n && !d->out; i++)
      if (d->sizes[i] > d->wide[i]) d->wide[i] = d->sizes[i];
  }
  return WEFT_OK;
}

static weft_err decode_run(kernel *k, decoding *d, weft_tensor **out) {
  const shape *batch = &k->in[0]->shape;
  shape s = *batch;
  if (s.rank >= WEFT_MAX_RANK) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "bytes has too many dimensions");
  s.dim[s.rank++] = d->plan->n;
  weft_tensor *sizes = weft__out(k, 0, &s);
  if (!sizes) return WEFT_OOM;
  for (int i = 0; i < d->plan->n; i++) d->wide[i] = !d->plan->field[i]->repeated;
  WEFT_TRY(decode_all(k, d, TENSOR_DATA(sizes, int32_t)));
  for (int i = 0; i < d->plan->n; i++) {
    s.dim[batch->rank] = d->wide[i];
    out[i] = weft__out(k, i + 1, &s);
    if (!out[i]) return WEFT_OOM;
    WEFT_TRY(decode_defaults(d->plan->field[i], out[i]));
  }
  d->out = out;
  return decode_all(k, d, TENSOR_DATA(sizes, int32_t));
}

static weft_err proto_decode_cpu(kernel *k) {
  const proto_plan *p = k->state;
  decoding d = {.plan = p, .wide = weft__alloc_zero((size_t)p->n + 1, sizeof *d.wide)};
  weft_tensor **out = weft__alloc_zero((size_t)p->n + 1, sizeof *out);
  const weft_err err = d.wide && out ? decode_run(k, &d, out) : WEFT_OOM;
  weft__free(d.wide);
  weft__free(out);
  return err;
}

static weft_err proto_decode_infer(infer *s) {
  const attr *types = weft__node_attr(s->node, "output_types");
  if (s->in[0].rank < 0 || s->in[0].rank >= WEFT_MAX_RANK) return WEFT_OK;
  for (int i = 0; i < s->n_out; i++) {
    s->out[i] = s->in[0];
    s->out[i].dim[s->out[i].rank++] = i == 0 ? (types ? types->n : 0) : -1;
  }
  return WEFT_OK;
}

/* ---- encoding ---- */

static weft_err encode_prepare(const weft_node *node, void **state) { return plan_make(node, "Tinput_types", state); }

static void encode_value(const proto_field *f, const weft_tensor *t, int64_t i, text *out) {
  const int wire = wire_of(f->type);
  if (wire == WIRE_BYTES) {
    const str *s = &TENSOR_DATA(t, str)[i];
    weft__put_varint(out, s->size);
    if (s->size) weft__text_add(out, s->data, s->size);
    return;
  }
  uint64_t bits = 0;
  if (f->type == PROTO_FLOAT) {
    const float v = (float)weft__tensor_double(t, i);
    memcpy(&bits, &v, sizeof v);
  } else if (f->type == PROTO_DOUBLE) {
    memcpy(&bits, &TENSOR_DATA(t, double)[i], sizeof bits);
  } else {
    const int64_t v = t->dtype == WEFT_BOOL ? TENSOR_DATA(t, bool)[i] : weft__tensor_int(t, i);
    bits = (uint64_t)v;
    if (f->type == PROTO_INT32 || f->type == PROTO_ENUM) bits = (uint64_t)(int64_t)weft__bits_int32((uint64_t)v);
    if (f->type == PROTO_UINT32) bits = (uint32_t)v;
    if (f->type == PROTO_SINT32 || f->type == PROTO_SINT64) bits = (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
  }
  if (wire == WIRE_VARINT)
    weft__put_varint(out, bits);
  else
    weft__text_add(out, (const char *)&bits, wire == WIRE_FIXED64 ? 8 : 4);
}

/* Appends `size` values of a field, from element `at` on. */
static void encode_field(const proto_field *f, const weft_tensor *t, int64_t at, int32_t size, text *out) {
  const int wire = wire_of(f->type);
  if (size > 0 && f->packed && f->repeated && wire != WIRE_BYTES) {
    text list = {0};
    for (int32_t j = 0; j < size; j++) encode_value(f, t, at + j, &list);
    weft__put_varint(out, (uint64_t)f->number << 3 | WIRE_BYTES);
    weft__put_varint(out, list.size);
    weft__text_add(out, weft__text_get(&list), list.size);
    out->failed = out->failed || list.failed;
    weft__text_finish(&list);
    return;
  }
  for (int32_t j = 0; j < size; j++) {
    weft__put_varint(out, (uint64_t)f->number << 3 | (unsigned)wire);
    encode_value(f, t, at + j, out);
  }
}

/* Checks that all values have the same batch as sizes, and that no size is beyond its values. */
static weft_err encode_check(const kernel *k, const proto_plan *p) {
  const shape *sizes = &k->in[0]->shape;
  if (sizes->rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "sizes must be at least rank 1, but has shape %s",
                             weft__shape_text(sizes));
  if (sizes->dim[sizes->rank - 1] != p->n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Last dim of sizes should be the number of fields %d, is %lld",
                             p->n, (long long)sizes->dim[sizes->rank - 1]);
  const int64_t rows = p->n ? weft__shape_count(sizes) / p->n : 0;
  for (int i = 0; i < p->n; i++) {
    const shape *v = &k->in[i + 1]->shape;
    bool same = v->rank == sizes->rank;
    for (int j = 0; j < sizes->rank - 1 && same; j++) same = v->dim[j] == sizes->dim[j];
    if (!same)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Values must match up to the last dimension: values of field %s have shape %s, sizes %s",
                               p->field[i]->name, weft__shape_text(v), weft__shape_text(sizes));
    for (int64_t row = 0; row < rows; row++) {
      const int32_t size = TENSOR_DATA(k->in[0], int32_t)[row * p->n + i];
      if (size > v->dim[v->rank - 1])
        return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                                 "Size to write %d larger than value buffer %lld for field %s", size,
                                 (long long)v->dim[v->rank - 1], p->field[i]->name);
    }
  }
  return WEFT_OK;
}

/* Returns the next field by number after `last`, or -1. */
static int encode_next(const proto_plan *p, int64_t last) {
  int found = -1;
  for (int i = 0; i < p->n; i++)
    if (p->field[i]->number > last && (found < 0 || p->field[i]->number < p->field[found]->number)) found = i;
  return found;
}

static weft_err proto_encode_cpu(kernel *k) {
  const proto_plan *p = k->state;
  WEFT_TRY(encode_check(k, p));
  shape s = k->in[0]->shape;
  s.rank--;
  weft_tensor *y = weft__out(k, 0, &s);
  if (!y) return WEFT_OOM;
  text one = {0};
  weft_err err = WEFT_OK;
  for (int64_t row = 0; row < weft__tensor_count(y) && !err; row++) {
    one.size = 0;
    for (int i = encode_next(p, 0); i >= 0; i = encode_next(p, p->field[i]->number)) {
      const shape *v = &k->in[i + 1]->shape;
      const int32_t size = TENSOR_DATA(k->in[0], int32_t)[row * p->n + i];
      encode_field(p->field[i], k->in[i + 1], row * v->dim[v->rank - 1], size, &one);
    }
    err = one.failed ? WEFT_OOM : weft__str_set(&TENSOR_DATA(y, str)[row], weft__text_get(&one), one.size);
  }
  weft__text_finish(&one);
  return err;
}

static weft_err encode_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 2));
  for (int i = 0; i < s->n_in; i++)
    if (s->in[i].rank > 0 && s->out[0].rank < 0) {
      s->out[0] = s->in[i];
      s->out[0].rank--;
    }
  return WEFT_OK;
}

OPS(proto) = {
    {"DecodeProtoV2(bytes:string) -> (sizes:int32, values:@output_types) | message_type:string "
     "field_names:list(string) output_types:list(type)>=0 descriptor_source:string='local://' "
     "message_format:string='binary' sanitize:bool=false",
     "Fields of serialized messages, and how many values each has.", .flags = OP_NO_FOLD, .infer = proto_decode_infer,
     .cpu = proto_decode_cpu, .no_grad = true, .prepare = decode_prepare, .unprepare = plan_free},
    {"EncodeProto(sizes:int32, values:@Tinput_types) -> (bytes:string) | field_names:list(string) message_type:string "
     "descriptor_source:string='local://' Tinput_types:list(type)>=1",
     "Serialized messages with these values of their fields.", .flags = OP_NO_FOLD, .infer = encode_infer,
     .cpu = proto_encode_cpu, .no_grad = true, .prepare = encode_prepare, .unprepare = plan_free},
    {.scenario = "tests/python/test_proto_ops.py"},
};
