/* held_tensors.c - creates variants that hold tensors, and turns them into strings and back. */
#include "state/held_tensors.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cast.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"
#include <string.h>

static void held_tensors_destroy(object *o) {
  held_tensors *v = (held_tensors *)o;
  for (int i = 0; i < v->n; i++) weft__tensor_clear(&v->t[i]);
  weft__free(v);
}

weft_err weft__held_tensors_create(held_tensors **out, const char *type, int n) {
  held_tensors *v = weft__alloc_zero(1, sizeof *v + sizeof v->t[0] * (size_t)n);
  if (!v) return WEFT_OOM;
  atomic_init(&v->base.base.refs, 1);
  v->base.base.destroy = held_tensors_destroy;
  v->base.type = type;
  v->n = n;
  *out = v;
  return WEFT_OK;
}

void weft__held_tensors_put(weft_tensor *t, int64_t i, held_tensors *v) { TENSOR_DATA(t, object *)[i] = &v->base.base; }

held_tensors *weft__held_tensors_at(const weft_tensor *t, int64_t i, const char *type) {
  resource *r = t->dtype == WEFT_VARIANT && i < weft__tensor_count(t) ? (resource *)TENSOR_DATA(t, object *)[i] : NULL;
  return r && strcmp(r->type, type) == 0 ? (held_tensors *)r : NULL;
}

/* ---- as strings ---- */

static const char *const held_types[] = {HELD_TENSOR, HELD_RAGGED, HELD_COMPRESSED};
enum { N_HELD_TYPES = sizeof held_types / sizeof *held_types };

/* Returns the literal of a type's name; NULL: no variant that holds tensors. */
static const char *held_type(const char *name) {
  for (int i = 0; i < N_HELD_TYPES; i++)
    if (strcmp(held_types[i], name) == 0) return held_types[i];
  return NULL;
}

static weft_err held_pack(Tensorflow__VariantTensorDataProto *p, str *out) {
  uint8_t *packed = weft__alloc(tensorflow__variant_tensor_data_proto__get_packed_size(p) + 1);
  if (!packed) return WEFT_OOM;
  const weft_err err = weft__str_set(out, packed, tensorflow__variant_tensor_data_proto__pack(p, packed));
  weft__free(packed);
  return err;
}

static weft_err held_encode(const held_tensors *v, str *out) {
  arena a = {0};
  Tensorflow__VariantTensorDataProto p = TENSORFLOW__VARIANT_TENSOR_DATA_PROTO__INIT;
  p.type_name = (char *)(uintptr_t)v->base.type;
  p.n_tensors = (size_t)v->n;
  p.tensors = weft__arena_alloc(&a, sizeof *p.tensors * (size_t)(v->n + 1));
  weft_err err = p.tensors ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < v->n && !err; i++) {
    Tensorflow__TensorProto *t = weft__arena_alloc(&a, sizeof *t);
    if (!t) {
      err = WEFT_OOM;
      break;
    }
    tensorflow__tensor_proto__init(t);
    p.tensors[i] = t;
    err = weft__tensor_to_proto(t, &v->t[i], &a);
  }
  if (!err) err = held_pack(&p, out);
  weft__arena_finish(&a);
  return err;
}

weft_err weft__held_tensors_encode(const weft_tensor *variants, weft_tensor *out) {
  WEFT_TRY(weft__tensor_init(out, WEFT_STRING, &variants->shape));
  for (int64_t i = 0; i < weft__tensor_count(variants); i++) {
    const resource *r = (const resource *)TENSOR_DATA(variants, object *)[i];
    if (!r || !held_type(r->type))
      return weft__fail(WEFT_UNIMPLEMENTED, "a variant that holds a %s cannot be written to a file",
                        r ? r->type : "nothing");
    WEFT_TRY(held_encode((const held_tensors *)r, &TENSOR_DATA(out, str)[i]));
  }
  return WEFT_OK;
}

static weft_err held_decode(const Tensorflow__VariantTensorDataProto *p, held_tensors **out) {
  const char *type = held_type(p->type_name ? p->type_name : "");
  if (!type || p->n_tensors > INT32_MAX)
    return weft__fail(WEFT_DATA_LOSS, "a variant in the file holds a %s", p->type_name ? p->type_name : "nothing");
  WEFT_TRY(weft__held_tensors_create(out, type, weft__int_sat((int64_t)p->n_tensors)));
  for (int i = 0; i < (*out)->n; i++) {
    weft_tensor *t = NULL;
    WEFT_TRY(weft__tensor_from_proto(&t, p->tensors[i]));
    weft__tensor_share(&(*out)->t[i], t);
    weft_tensor_destroy(t);
  }
  return WEFT_OK;
}

/* Checks row splits over `rows` rows: kernels use them as offsets. */
static weft_err held_check_splits(const weft_tensor *t, int64_t rows) {
  bool good = (t->dtype == WEFT_INT32 || t->dtype == WEFT_INT64) && t->shape.rank == 1 && t->shape.dim[0] > 0 &&
              weft__tensor_int(t, 0) == 0 && weft__tensor_int(t, t->shape.dim[0] - 1) == rows;
  for (int64_t i = 1; good && i < t->shape.dim[0]; i++) good = weft__tensor_int(t, i) >= weft__tensor_int(t, i - 1);
  if (good) return WEFT_OK;
  return weft__fail(WEFT_DATA_LOSS, "the row splits of a variant in the file, of shape %s, do not divide %lld rows",
                    weft__shape_text(&t->shape), (long long)rows);
}

/* Checks that a variant from a file has the tensors of its type; those of an element are checked when it is taken. */
static weft_err held_check(const held_tensors *v) {
  const bool is_one = strcmp(v->base.type, HELD_TENSOR) == 0, is_ragged = strcmp(v->base.type, HELD_RAGGED) == 0;
  if ((is_one && v->n != 1) || (is_ragged && v->n < 1))
    return weft__fail(WEFT_DATA_LOSS, "a %s in the file consists of %d tensors", v->base.type, v->n);
  for (int i = 0; is_ragged && i + 1 < v->n; i++) {
    const shape *next = &v->t[i + 1].shape;
    const int64_t rows = next->rank ? next->dim[0] : -1;
    WEFT_TRY(held_check_splits(&v->t[i], i + 2 < v->n ? rows - 1 : rows));
  }
  return WEFT_OK;
}

weft_err weft__held_tensors_decode(const weft_tensor *strings, weft_tensor *out) {
  WEFT_TRY(weft__tensor_init(out, WEFT_VARIANT, &strings->shape));
  for (int64_t i = 0; i < weft__tensor_count(strings); i++) {
    const str *s = &TENSOR_DATA(strings, str)[i];
    ProtobufCMessage *m = NULL;
    held_tensors *v = NULL;
    if (weft__proto_unpack(&m, &tensorflow__variant_tensor_data_proto__descriptor, s->size ? s->data : "", s->size))
      return weft__fail(WEFT_DATA_LOSS, "a string in the file is no variant: %s", weft__error_message());
    weft_err err = held_decode((const Tensorflow__VariantTensorDataProto *)m, &v);
    if (!err) err = held_check(v);
    protobuf_c_message_free_unpacked(m, NULL);
    if (v) weft__held_tensors_put(out, i, v);
    if (err) return err;
  }
  return WEFT_OK;
}
