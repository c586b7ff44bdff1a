/* tensor_list.c - creates and copies tensor lists. */
#include "state/tensor_list.h"

#include "base/alloc.h"

static void tensor_list_destroy(object *o) {
  tensor_list *l = (tensor_list *)o;
  for (int64_t i = 0; i < l->n; i++) weft__tensor_clear(&l->t[i]);
  weft__free(l->t);
  weft__free(l);
}

weft_err weft__tensor_list_create(tensor_list **out, weft_dtype dtype, const shape *element, int64_t n) {
  if (n < 0 || n > INT32_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "The num_elements to reserve must be a non negative number, but got %lld",
                      (long long)n);
  tensor_list *l = weft__alloc_zero(1, sizeof *l);
  if (!l) return WEFT_OOM;
  atomic_init(&l->base.base.refs, 1);
  l->base.base.destroy = tensor_list_destroy;
  l->base.type = TENSOR_LIST_TYPE;
  l->dtype = dtype;
  l->element = *element;
  l->max = -1;
  l->t = weft__alloc_zero((size_t)n + 1, sizeof *l->t);
  if (!l->t) {
    weft__free(l);
    return WEFT_OOM;
  }
  l->n = n;
  *out = l;
  return WEFT_OK;
}

weft_err weft__tensor_list_copy(tensor_list **out, const tensor_list *from, int64_t n) {
  WEFT_TRY(weft__tensor_list_create(out, from->dtype, &from->element, n));
  (*out)->max = from->max;
  for (int64_t i = 0; i < n && i < from->n; i++)
    if (from->t[i].buf) weft__tensor_share(&(*out)->t[i], &from->t[i]);
  return WEFT_OK;
}

weft_err weft__tensor_list_get(const weft_tensor *t, tensor_list **out) {
  return weft__variant_get(t, TENSOR_LIST_TYPE, (resource **)out);
}

weft_err weft__tensor_list_zeros(tensor_list **out, const tensor_list *like) {
  tensor_list *l = NULL;
  WEFT_TRY(weft__tensor_list_create(&l, like->dtype, &like->element, like->n));
  weft_err err = WEFT_OK;
  l->max = like->max;
  for (int64_t i = 0; i < l->n && !err; i++)
    if (like->t[i].buf) err = weft__variant_zeros(&l->t[i], &like->t[i]);
  if (err)
    weft__object_release(&l->base.base);
  else
    *out = l;
  return err;
}
