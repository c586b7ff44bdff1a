/* variant.c - variants in and out of tensors.
 *
 * Include cycle with state/optional, state/tensor_list: zeros and sums of variants are those of what they hold, and
 * each kind makes variants. */
#include "state/variant.h"

#include "base/alloc.h"
#include "state/optional.h"
#include "state/tensor_list.h"

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

static weft_err zeros_of_kind(resource **out, const weft_tensor *like) {
  const resource *r = weft__tensor_count(like) > 0 ? (const resource *)TENSOR_DATA(like, object *)[0] : NULL;
  if (r && strcmp(r->type, OPTIONAL_TYPE) == 0) return weft__optional_zeros((optional **)out, (const optional *)r);
  tensor_list *l = NULL;
  WEFT_TRY(weft__tensor_list_get(like, &l));
  return weft__tensor_list_zeros((tensor_list **)out, l);
}

weft_err weft__variant_zeros(weft_tensor *out, const weft_tensor *like) {
  resource *made = NULL;
  if (like->dtype == WEFT_VARIANT) WEFT_TRY(zeros_of_kind(&made, like));
  weft_err err = weft__tensor_init(out, like->dtype, &like->shape);
  if (err && made) weft__object_release(&made->base);
  if (err) return err;
  if (made) TENSOR_DATA(out, object *)[0] = &made->base;
  if (weft__dtype_is_plain(like->dtype)) memset(out->data, 0, weft__tensor_bytes(out));
  return WEFT_OK;
}
