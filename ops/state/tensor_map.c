/* tensor_map.c - maps from tensors to tensors, stored in variants: EmptyTensorMap and the ops that read and change a
 * map.
 *
 * An op that changes a map returns a new map that shares the tensors.  Entries are in the order of insertion. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "state/variant.h"
#include <string.h>

#define TENSOR_MAP_TYPE "tensor map"

typedef struct map_pair {
  weft_tensor key, value;
} map_pair;

typedef struct tensor_map { /* immutable once a second reference exists */
  resource base;
  int64_t n;
  map_pair pair[];
} tensor_map;

static void tensor_map_destroy(object *o) {
  tensor_map *m = (tensor_map *)o;
  for (int64_t i = 0; i < m->n; i++) {
    weft__tensor_clear(&m->pair[i].key);
    weft__tensor_clear(&m->pair[i].value);
  }
  weft__free(m);
}

/* Creates a map of n empty pairs. */
static weft_err tensor_map_create(tensor_map **out, int64_t n) {
  tensor_map *m = weft__alloc_zero(1, sizeof *m + (size_t)n * sizeof *m->pair);
  if (!m) return WEFT_OOM;
  atomic_init(&m->base.base.refs, 1);
  m->base.base.destroy = tensor_map_destroy;
  m->base.type = TENSOR_MAP_TYPE;
  m->n = n;
  *out = m;
  return WEFT_OK;
}

static weft_err tensor_map_in(const kernel *k, tensor_map **out) {
  return weft__kernel_in(k, weft__variant_get(k->in[0], TENSOR_MAP_TYPE, (resource **)out));
}

/* ---- keys ---- */

static bool keys_equal(const weft_tensor *a, const weft_tensor *b) {
  if (a->dtype != b->dtype || !weft__shape_equal(&a->shape, &b->shape)) return false;
  if (weft__dtype_is_plain(a->dtype)) return !memcmp(a->data, b->data, weft__tensor_bytes(a));
  for (int64_t i = 0, n = weft__tensor_count(a); i < n; i++) {
    const str *x = &TENSOR_DATA(a, str)[i], *y = &TENSOR_DATA(b, str)[i];
    if (x->size != y->size || (x->size && memcmp(x->data, y->data, x->size))) return false;
  }
  return true;
}

static weft_err tensor_map_check_key(const kernel *k) {
  const weft_dtype t = k->in[1]->dtype;
  return t == WEFT_RESOURCE || t == WEFT_VARIANT ? weft__kernel_no_type(k, t) : WEFT_OK;
}

/* Returns the index of a key, or n if the map does not have it. */
static int64_t tensor_map_find(const tensor_map *m, const weft_tensor *key) {
  int64_t i = 0;
  while (i < m->n && !keys_equal(&m->pair[i].key, key)) i++;
  return i;
}

static weft_err key_missing(const kernel *k, const char *what) {
  text t = {0};
  weft__tensor_print(&t, k->in[1], 3);
  const weft_err err =
      weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Trying to %s. Could not find key \"%s\".", what, weft__text_get(&t));
  weft__text_finish(&t);
  return err;
}

/* ---- ops ---- */

static weft_err empty_map_cpu(kernel *k) {
  tensor_map *m = NULL;
  WEFT_TRY(tensor_map_create(&m, 0));
  return weft__variant_output(k, 0, &m->base);
}

static void share_pair(map_pair *to, const map_pair *from) {
  weft__tensor_share(&to->key, &from->key);
  weft__tensor_share(&to->value, &from->value);
}

static weft_err tensor_map_insert_cpu(kernel *k) {
  tensor_map *old = NULL, *m = NULL;
  WEFT_TRY(tensor_map_in(k, &old));
  WEFT_TRY(tensor_map_check_key(k));
  const int64_t at = tensor_map_find(old, k->in[1]);
  WEFT_TRY(tensor_map_create(&m, at == old->n ? old->n + 1 : old->n));
  for (int64_t i = 0; i < old->n; i++)
    if (i != at) share_pair(&m->pair[i], &old->pair[i]);
  weft_err err = weft__tensor_keep(&m->pair[at].key, k->in[1]);
  if (!err) err = weft__tensor_keep(&m->pair[at].value, k->in[2]);
  if (!err) return weft__variant_output(k, 0, &m->base);
  weft__object_release(&m->base.base);
  return err;
}

static weft_err erase_cpu(kernel *k) {
  tensor_map *old = NULL, *m = NULL;
  WEFT_TRY(tensor_map_in(k, &old));
  WEFT_TRY(tensor_map_check_key(k));
  const int64_t at = tensor_map_find(old, k->in[1]);
  if (at == old->n) return key_missing(k, "erase non-existent item");
  WEFT_TRY(tensor_map_create(&m, old->n - 1));
  for (int64_t i = 0; i < m->n; i++) share_pair(&m->pair[i], &old->pair[i + (i >= at)]);
  return weft__variant_output(k, 0, &m->base);
}

static weft_err lookup_cpu(kernel *k) {
  tensor_map *m = NULL;
  WEFT_TRY(tensor_map_in(k, &m));
  WEFT_TRY(tensor_map_check_key(k));
  const int64_t at = tensor_map_find(m, k->in[1]);
  if (at == m->n) return key_missing(k, "lookup non-existent key");
  const weft_tensor *found = &m->pair[at].value;
  if (found->dtype != k->node->out_type[0])
    return weft__kernel_fail(k, WEFT_INTERNAL, "the value is of type %s, but value_dtype is %s",
                             weft__dtype_name(found->dtype), weft__dtype_name(k->node->out_type[0]));
  return weft__out_share(k, 0, found);
}

static weft_err has_key_cpu(kernel *k) {
  tensor_map *m = NULL;
  WEFT_TRY(tensor_map_in(k, &m));
  WEFT_TRY(tensor_map_check_key(k));
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  TENSOR_DATA(out, bool)[0] = tensor_map_find(m, k->in[1]) < m->n;
  return WEFT_OK;
}

static weft_err tensor_map_size_cpu(kernel *k) {
  tensor_map *m = NULL;
  WEFT_TRY(tensor_map_in(k, &m));
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  TENSOR_DATA(out, int32_t)[0] = weft__int_sat(m->n);
  return WEFT_OK;
}

static weft_err check_stack(const kernel *k, const tensor_map *m) {
  if (!m->n) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "TensorMapStackKeys cannot be called on empty map.");
  const shape *s = &m->pair[0].key.shape;
  if (s->rank == WEFT_MAX_RANK) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "keys have too many dimensions");
  for (int64_t i = 0; i < m->n; i++) {
    if (m->pair[i].key.dtype != k->node->out_type[0])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Key does not match requested dtype.");
    if (!weft__shape_equal(s, &m->pair[i].key.shape))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Keys must all have the same shape.");
  }
  return WEFT_OK;
}

static weft_err tensor_map_stack_cpu(kernel *k) {
  tensor_map *m = NULL;
  WEFT_TRY(tensor_map_in(k, &m));
  WEFT_TRY(check_stack(k, m));
  const shape *of = &m->pair[0].key.shape;
  shape s = {.rank = of->rank + 1};
  s.dim[0] = m->n;
  memcpy(s.dim + 1, of->dim, (size_t)of->rank * sizeof *s.dim);
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  const int64_t count = weft__shape_count(of);
  for (int64_t i = 0; i < m->n; i++)
    WEFT_TRY(weft__elements_copy(out->dtype, (char *)out->data + (size_t)(i * count) * weft__dtype_size(out->dtype),
                                 m->pair[i].key.data, count));
  return WEFT_OK;
}

#define MAP "(input_handle:variant"
OPS(tensor_map) = {
    {"EmptyTensorMap() -> (handle:variant)", "A map without entries.", OP_NO_FOLD, .infer = weft__infer_scalar,
     .cpu = empty_map_cpu},
    {"TensorMapInsert" MAP ", key:key_dtype, value:value_dtype) -> (output_handle:variant) | key_dtype:type "
     "value_dtype:type",
     "A map with one more entry, or another value.", OP_NO_FOLD, .infer = weft__infer_scalar,
     .cpu = tensor_map_insert_cpu, .narrow = NARROW_ALL},
    {"TensorMapErase" MAP ", key:key_dtype) -> (output_handle:variant) | key_dtype:type value_dtype:type",
     "A map without that entry.", OP_NO_FOLD, .infer = weft__infer_scalar, .cpu = erase_cpu, .narrow = NARROW_ALL},
    {"TensorMapLookup" MAP ", key:key_dtype) -> (value:value_dtype) | key_dtype:type value_dtype:type",
     "The value of a key.", OP_NO_FOLD, .infer = weft__infer_none, .cpu = lookup_cpu, .narrow = NARROW_ALL},
    {"TensorMapHasKey" MAP ", key:key_dtype) -> (has_key:bool) | key_dtype:type", "Has the map that key?", OP_NO_FOLD,
     .infer = weft__infer_scalar, .cpu = has_key_cpu, .narrow = NARROW_ALL},
    {"TensorMapSize" MAP ") -> (size:int32)", "How many entries the map has.", OP_NO_FOLD, .infer = weft__infer_scalar,
     .cpu = tensor_map_size_cpu},
    {"TensorMapStackKeys" MAP ") -> (keys:key_dtype) | key_dtype:type", "The keys as one tensor.", OP_NO_FOLD,
     .infer = weft__infer_none, .cpu = tensor_map_stack_cpu, .narrow = NARROW_ALL},
    {.scenario = "tests/parity/test_tensor_maps.py"},
};
