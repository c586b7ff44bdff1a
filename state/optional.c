/* optional.c - creates optionals. */
#include "state/optional.h"

#include "base/alloc.h"

static void optional_destroy(object *o) {
  optional *v = (optional *)o;
  for (int i = 0; i < v->n; i++) weft__tensor_clear(&v->t[i]);
  weft__free(v);
}

weft_err weft__optional_create(optional **out, int n) {
  optional *v = weft__alloc_zero(1, sizeof *v + sizeof v->t[0] * (size_t)(n < 0 ? 0 : n));
  if (!v) return WEFT_OOM;
  atomic_init(&v->base.base.refs, 1);
  v->base.base.destroy = optional_destroy;
  v->base.type = OPTIONAL_TYPE;
  v->n = n;
  *out = v;
  return WEFT_OK;
}

weft_err weft__optional_get(const weft_tensor *t, optional **out) {
  return weft__variant_get(t, OPTIONAL_TYPE, (resource **)out);
}

weft_err weft__optional_zeros(optional **out, const optional *like) {
  optional *v = NULL;
  WEFT_TRY(weft__optional_create(&v, like->n));
  weft_err err = WEFT_OK;
  for (int i = 0; i < v->n && !err; i++) err = weft__variant_zeros(&v->t[i], &like->t[i]);
  if (err)
    weft__object_release(&v->base.base);
  else
    *out = v;
  return err;
}
