/* variant.c - variants in and out of tensors. */
#include "state/variant.h"
#include "base/alloc.h"

weft_err weft__variant_output(kernel *k, int i, resource *v) {
  weft_tensor *t = weft__out(k, i, &SHAPE_SCALAR);
  if (!t) {
    weft__object_release(&v->base);
    return WEFT_OOM;
  }
  TENSOR_DATA(t, object *)[0] = &v->base;
  return WEFT_OK;
}

weft_err weft__variant_create(weft_tensor **out, resource *v) {
  weft_err err = weft__tensor_create(out, WEFT_VARIANT, &SHAPE_SCALAR);
  if (err)
    weft__object_release(&v->base);
  else
    TENSOR_DATA(*out, object *)[0] = &v->base;
  return err;
}

weft_err weft__variant_get(const weft_tensor *t, const char *type, resource **out) {
  resource *r = t->dtype == WEFT_VARIANT && weft__tensor_count(t) > 0 ? (resource *)TENSOR_DATA(t, object *)[0] : NULL;
  if (!r) return weft__fail(WEFT_INVALID_ARGUMENT, "Expected a %s, got an empty tensor", type);
  if (strcmp(r->type, type) != 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Expected a %s, but the variant holds a %s", type, r->type);
  *out = r;
  return WEFT_OK;
}
