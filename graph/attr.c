/* attr.c - values of attributes: copies and compares them, and releases their tensors.
 *
 * Everything except tensors is in an arena and is freed with it, so release only concerns tensors. */
#include "graph/attr.h"
#include "base/arena.h"
#include "base/assert.h"

static weft_err no_memory(const char *name) {
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "no memory for attribute '%s'", name ? name : "");
}

/* Copies bytes and appends a NUL, so that they can be used as a C string. */
static bool copy_str(attr_str *dst, attr_str src, arena *a) {
  dst->data = weft__arena_strndup(a, src.data ? src.data : "", src.size);
  dst->size = src.size;
  return dst->data != NULL;
}

static void *copy_array(const void *src, int n, size_t each, arena *a) {
  WEFT_ASSERT(n >= 0);
  /* One byte more, so that an empty list is not NULL. */
  char *p = weft__arena_alloc(a, (size_t)n * each + 1);
  if (p && n) memcpy(p, src, (size_t)n * each);
  return p;
}

static bool copy_list(attr *dst, const attr *src, arena *a) {
  switch (src->kind) {
  case ATTR_STRING:
    if (!(dst->ss = copy_array(src->ss, src->n, sizeof *src->ss, a))) return false;
    for (int i = 0; i < src->n; i++)
      if (!copy_str(&dst->ss[i], src->ss[i], a)) return false;
    return true;
  case ATTR_INT: return (dst->is = copy_array(src->is, src->n, sizeof *src->is, a)) != NULL;
  case ATTR_FLOAT: return (dst->fs = copy_array(src->fs, src->n, sizeof *src->fs, a)) != NULL;
  case ATTR_BOOL: return (dst->bs = copy_array(src->bs, src->n, sizeof *src->bs, a)) != NULL;
  case ATTR_TYPE: return (dst->types = copy_array(src->types, src->n, sizeof *src->types, a)) != NULL;
  case ATTR_SHAPE: return (dst->shapes = copy_array(src->shapes, src->n, sizeof *src->shapes, a)) != NULL;
  case ATTR_TENSOR:
    if (!(dst->tensors = copy_array(src->tensors, src->n, sizeof *src->tensors, a))) return false;
    for (int i = 0; i < src->n; i++) weft_tensor_retain(dst->tensors[i]);
    return true;
  default: return true; /* an empty list of unknown kind */
  }
}

static bool copy_single(attr *dst, const attr *src, arena *a) {
  switch (src->kind) {
  case ATTR_STRING:
  case ATTR_FUNC:
  case ATTR_OPAQUE: return copy_str(&dst->s, src->s, a);
  case ATTR_SHAPE: return (dst->shape = weft__arena_copy(a, src->shape, sizeof *src->shape)) != NULL;
  case ATTR_TENSOR: weft_tensor_retain(dst->tensor); return true;
  default: return true;
  }
}

weft_err weft__attr_copy(attr *dst, const attr *src, arena *a) {
  attr copy = *src;
  if (src->name && !(copy.name = weft__arena_strdup(a, src->name))) return no_memory(src->name);
  if (src->is_list ? !copy_list(&copy, src, a) : !copy_single(&copy, src, a)) return no_memory(src->name);
  *dst = copy;
  return WEFT_OK;
}

void weft__attr_release(attr *a) {
  if (a->kind != ATTR_TENSOR) return;
  if (a->is_list)
    for (int i = 0; i < a->n; i++) weft_tensor_destroy(a->tensors[i]);
  else
    weft_tensor_destroy(a->tensor);
  a->kind = ATTR_NONE;
  a->n = 0;
}

/* ---- equality ---- */

static bool same_bytes(const void *a, const void *b, size_t size) { return size == 0 || memcmp(a, b, size) == 0; }

static bool same_str(attr_str a, attr_str b) { return a.size == b.size && same_bytes(a.data, b.data, a.size); }

static bool same_tensor(const weft_tensor *a, const weft_tensor *b) {
  if (a == b) return true;
  if (a->dtype != b->dtype || !weft__shape_equal(&a->shape, &b->shape)) return false;
  int64_t n = weft__tensor_count(a);
  if (a->dtype != WEFT_STRING) return same_bytes(a->data, b->data, weft__tensor_bytes(a));
  const str *s = a->data, *t = b->data;
  for (int64_t i = 0; i < n; i++)
    if (s[i].size != t[i].size || !same_bytes(s[i].data, t[i].data, s[i].size)) return false;
  return true;
}

static bool same_single(const attr *a, const attr *b) {
  switch (a->kind) {
  case ATTR_STRING:
  case ATTR_FUNC:
  case ATTR_OPAQUE: return same_str(a->s, b->s);
  case ATTR_INT: return a->i == b->i;
  case ATTR_FLOAT: return same_bytes(&a->f, &b->f, sizeof a->f);
  case ATTR_BOOL: return a->b == b->b;
  case ATTR_TYPE: return a->type == b->type;
  case ATTR_SHAPE: return weft__shape_equal(a->shape, b->shape);
  case ATTR_TENSOR: return same_tensor(a->tensor, b->tensor);
  case ATTR_NONE: break;
  }
  return true;
}

static bool same_item(const attr *a, const attr *b, int i) {
  WEFT_ASSERT(a->kind == b->kind && i < a->n && i < b->n);
  switch (a->kind) {
  case ATTR_STRING: return same_str(a->ss[i], b->ss[i]);
  case ATTR_INT: return a->is[i] == b->is[i];
  case ATTR_FLOAT: return same_bytes(&a->fs[i], &b->fs[i], sizeof a->fs[i]);
  case ATTR_BOOL: return a->bs[i] == b->bs[i];
  case ATTR_TYPE: return a->types[i] == b->types[i];
  case ATTR_SHAPE: return weft__shape_equal(&a->shapes[i], &b->shapes[i]);
  case ATTR_TENSOR: return same_tensor(a->tensors[i], b->tensors[i]);
  default: return false;
  }
}

bool weft__attr_equal(const attr *a, const attr *b) {
  if (a->is_list != b->is_list) return false;
  if (a->is_list && a->n == 0 && b->n == 0) return true; /* the bytes of an empty list do not tell its kind */
  if (a->kind != b->kind) return false;
  if (!a->is_list) return same_single(a, b);
  if (a->n != b->n) return false;
  for (int i = 0; i < a->n; i++)
    if (!same_item(a, b, i)) return false;
  return true;
}
